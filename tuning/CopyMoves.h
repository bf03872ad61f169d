//===-- CopyMoves.h - candidates with other copies of buffers ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_TUNING_COPYMOVES_H
#define OPENATC_TUNING_COPYMOVES_H

#include "tuning/Trial.h"

namespace atc::tuning {

/// Sets the number of copies of buffers of each kernel whose first launch begins between two shares
/// of the model's time, in a trial with the time of each launch. A tile that the candidate has for
/// such a kernel was selected for another number, and is removed: npu-select-tiles selects one.
/// Returns whether there is such a kernel.
bool setCopies(Choices &candidate, const TrialResult &apart, const std::string &copies,
               double begin = 0, double end = 1);

/// Returns `base` with the copies of each kernel that were the fastest for it: its own, or those of
/// one of the candidates. `trials` are those of the candidates; those that are not done do not
/// count.
Choices fastestCopies(const Choices &base, const TrialResult &apart,
                      const std::vector<Choices> &candidates,
                      const std::vector<TrialResult> &trials);

} // namespace atc::tuning

#endif // OPENATC_TUNING_COPYMOVES_H
