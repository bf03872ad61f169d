//===-- TileMoves.h - random changes of tiles -------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_TUNING_TILEMOVES_H
#define OPENATC_TUNING_TILEMOVES_H

#include "tuning/GroupMoves.h"

#include <string>

namespace atc::tuning {

/// Returns a tile's text (passes/npu/contraction/TileChoice.h) after one random change of a size,
/// of the division among cores or of the order. Empty where `text` is no tile. The result need not
/// be possible.
std::string moveTile(llvm::StringRef text, const Draw &draw);

/// Returns a choice of npu-select-boxes, a percentage, after a random change; empty where `text` is
/// none.
std::string moveBox(llvm::StringRef text, const Draw &draw);

} // namespace atc::tuning

#endif // OPENATC_TUNING_TILEMOVES_H
