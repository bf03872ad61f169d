//===-- WeightNeeds.h - weights that L2 has to get from DDR -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Shared by the passes that bring weights into L2 ahead of their use.

#ifndef OPENATC_PASSES_NPU_SCHEDULE_WEIGHTNEEDS_H
#define OPENATC_PASSES_NPU_SCHEDULE_WEIGHTNEEDS_H

#include "passes/om/Schedule.h"

#include "mlir/IR/SymbolTable.h"

namespace atc::npu {

/// A weight that L2 does not hold when a launch needs it.
struct WeightNeed {
  mlir::Value weight;
  unsigned launch;
  unsigned after;           ///< the first launch that may name it
  int64_t bytes, named = 0; ///< bytes that launches have named so far
};

/// Returns the weights that launches of the NPU read from DDR, in the order of their use; one that
/// is used again after L2 has lost it is there again.
llvm::SmallVector<WeightNeed> weightNeeds(llvm::MutableArrayRef<om::LaunchOp> launches,
                                          llvm::ArrayRef<bool> onNpu,
                                          const mlir::SymbolTable &symbols, int64_t l2Bytes);

/// Returns whether a run finds the weights in L2 that the one before has read.
bool weightsStayInL2(llvm::MutableArrayRef<om::LaunchOp> launches, int64_t l2Bytes);

/// Returns the bytes of different buffers, without weights, that launches read and write.
int64_t bytesOfActivations(llvm::MutableArrayRef<om::LaunchOp> launches);

/// Moves the weights of a block in front of everything else, in their order, so that any launch can
/// name them.
void defineWeightsFirst(mlir::Block &block);

/// Returns the next `bytes` of a needed weight, which is defined in front of `launch`, and counts
/// them as named. Rounds `bytes` down to whole elements.
mlir::Value takePiece(om::LaunchOp launch, WeightNeed &need, int64_t &bytes);

/// Returns the key of a pass's choice that depends on the order of the weights alone, and so not on
/// groups of layers.
std::string keyOfWeights(mlir::func::FuncOp main, llvm::StringRef pass);

} // namespace atc::npu

#endif // OPENATC_PASSES_NPU_SCHEDULE_WEIGHTNEEDS_H
