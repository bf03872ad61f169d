//===-- TileCosts.h - what a tiled contraction costs -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_NPU_CONTRACTION_TILECOSTS_H
#define OPENATC_PASSES_NPU_CONTRACTION_TILECOSTS_H

#include "passes/npu/contraction/Contraction.h"

namespace atc::npu {

/// Cycles of the core that has most to do, by queue; FIX counts as MTE3.
struct Estimate {
  double cycles = 0, cube = 0, vector = 0, mte1 = 0, mte2 = 0, mte3 = 0, scalar = 0;
  double fill = 0; ///< before the cube begins and behind its end
  /// The queue that takes longest.
  const char *limit() const;
};
Estimate estimate(const Contraction &contraction, const Plan &plan, const SocTable &soc);

/// Up to `count` plans with low estimates, the lowest first; they differ in more
/// than their chunks. Empty if there is no plan at all.
std::vector<Plan> selectPlans(const Contraction &contraction, const SocTable &soc, size_t count);
/// The plan nearest to fixed tiles in l0, without reuse in l1 beyond them.
std::optional<Plan> fixedPlan(const Contraction &contraction, const SocTable &soc, int64_t m,
                              int64_t n, int64_t k);
/// Whether there is any plan.
bool hasPlan(const Contraction &contraction, const SocTable &soc);

} // namespace atc::npu

#endif // OPENATC_PASSES_NPU_CONTRACTION_TILECOSTS_H
