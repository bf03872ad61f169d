//===-- MultiHeadMatMul.h - products stored side by side --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The heads of an attention are small products whose rows are parts of the same long rows. Short
// transfers are slow, so several heads are moved into l1, and out of ub, at a time. Each product is
// one tile wide.

#ifndef OPENATC_PASSES_NPU_CONTRACTION_MULTIHEADMATMUL_H
#define OPENATC_PASSES_NPU_CONTRACTION_MULTIHEADMATMUL_H

#include "passes/npu/contraction/Contraction.h"

namespace atc::npu {

/// The sizes and the order of joined products.
struct JoinedPlan {
  int64_t images = 1, heads = 1; ///< number of outer products, and of those side by side
  bool swapped = false;          ///< the contraction's outers are the heads
  bool joinsLhs = false, joinsRhs = false, joinsOut = false;
  int64_t group = 1; ///< heads per transfer
  int64_t m = 16, n = 16, k = 16;
  int64_t coresImage = 1, coresGroup = 1, coresRow = 1;
  double cycles = 0; ///< of the busiest core, estimated

  /// Returns the cores along images, groups and rows.
  std::array<int64_t, 3> grid() const { return {coresImage, coresGroup, coresRow}; }
};

/// Returns the best plan; nothing where no operand's products are side by side, or where one is too
/// large.
std::optional<JoinedPlan> joinedPlanOf(const Contraction &contraction, const SocTable &soc);

/// Writes the whole program.
void writeJoinedProducts(ProgramWriter &writer, const Contraction &contraction,
                         const JoinedPlan &plan);

} // namespace atc::npu

#endif // OPENATC_PASSES_NPU_CONTRACTION_MULTIHEADMATMUL_H
