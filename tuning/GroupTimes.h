//===-- GroupTimes.h - measured times of groups of layers -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_TUNING_GROUPTIMES_H
#define OPENATC_TUNING_GROUPTIMES_H

#include "passes/npu/schedule/GroupChoice.h"

#include <vector>

namespace atc::tuning {

/// The times of groups of layers in trials so far. A trial measures all of its groups at once, and
/// groups that are far from each other influence each other little: what was fast in different
/// trials is put together.
class GroupTimes {
public:
  /// Notes a trial: the groups of all kernels and the cycles of each kernel in all of its parts.
  /// All trials must have as many kernels.
  void note(llvm::ArrayRef<npu::Group> groups, llvm::ArrayRef<double> cycles);

  /// Returns the groups that cover all kernels and take the fewest cycles, where kernels up to a
  /// place at which both have groups that end are those of one trial, and kernels behind it those
  /// of another. Each such place costs `surplus`, a share of the fastest trial's cycles, because
  /// what a kernel costs also depends on those before it: L2 writes back later what they have left
  /// there. Returns nothing without a trial.
  std::vector<npu::Group> fastest(double surplus) const;

private:
  struct Trial {
    std::vector<npu::Group> groups;
    std::vector<double> cycles;
    std::vector<bool> ends; ///< before which kernels a group ends, and behind all
  };
  std::vector<Trial> trials;
};

} // namespace atc::tuning

#endif // OPENATC_TUNING_GROUPTIMES_H
