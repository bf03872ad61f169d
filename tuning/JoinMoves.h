//===-- JoinMoves.h - random changes of joined launches ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_TUNING_JOINMOVES_H
#define OPENATC_TUNING_JOINMOVES_H

#include "tuning/GroupMoves.h"

#include <string>

namespace atc::tuning {

/// Returns the text of runs of launches (passes/npu/schedule/JoinChoice.h) after one to four random
/// changes: neighbours that are joined in `longest` are parted in `text`, or joined again. Empty
/// where one of the texts is not of that form, or nothing is joined in `longest`.
std::string moveRuns(llvm::StringRef text, llvm::StringRef longest, const Draw &draw);

} // namespace atc::tuning

#endif // OPENATC_TUNING_JOINMOVES_H
