//===-- TileCosts.h - the cost model of tiled contractions -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_NPU_CONTRACTION_TILECOSTS_H
#define OPENATC_PASSES_NPU_CONTRACTION_TILECOSTS_H

#include "passes/npu/contraction/Contraction.h"

namespace atc::npu {

/// The estimated cycles of the busiest core, by queue; FIX counts as MTE3.
struct Estimate {
  double cycles = 0, cube = 0, vector = 0, mte1 = 0, mte2 = 0, mte3 = 0, scalar = 0;
  double fill = 0; ///< before the cube begins and after it ends
  /// Returns the name of the queue that takes longest.
  const char *limit() const;
};
/// Returns the estimate for a plan.
Estimate estimate(const Contraction &contraction, const Plan &plan, const SocTable &soc);

/// Returns up to `count` plans with low estimates in ascending order; they differ in more than
/// their chunks. Empty if there is no plan at all.
std::vector<Plan> selectPlans(const Contraction &contraction, const SocTable &soc, size_t count);
/// Returns the plan nearest to fixed tiles in l0, without reuse in l1 beyond them.
std::optional<Plan> fixedPlan(const Contraction &contraction, const SocTable &soc, int64_t m,
                              int64_t n, int64_t k);
/// Returns whether there is any plan.
bool hasPlan(const Contraction &contraction, const SocTable &soc);

} // namespace atc::npu

#endif // OPENATC_PASSES_NPU_CONTRACTION_TILECOSTS_H
