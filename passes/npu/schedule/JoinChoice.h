//===-- JoinChoice.h - runs of launches as text -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The choice of npu-join-launches: the lengths of runs of launches, in the order of the schedule,
// each of which becomes one launch. "3 1 1 5": the first three and the last five are joined.

#ifndef OPENATC_PASSES_NPU_SCHEDULE_JOINCHOICE_H
#define OPENATC_PASSES_NPU_SCHEDULE_JOINCHOICE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>

namespace atc::npu {

/// An entry of the table of choices with which launches stay apart unless a choice joins them, with
/// any value: the tuner needs times of single kernels.
inline constexpr llvm::StringLiteral kApartKey = "npu-join-launches|apart";

/// Returns the text for lengths of runs.
std::string textOfRuns(llvm::ArrayRef<unsigned> lengths);

/// Returns the lengths that `text` spells; nothing where it is not of that form or does not cover
/// `count` launches.
std::optional<llvm::SmallVector<unsigned>> parseRuns(llvm::StringRef text, unsigned count);

} // namespace atc::npu

#endif // OPENATC_PASSES_NPU_SCHEDULE_JOINCHOICE_H
