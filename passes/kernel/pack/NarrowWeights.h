//===-- NarrowWeights.h - weights of f32 stored in 16 bits ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_KERNEL_PACK_NARROWWEIGHTS_H
#define OPENATC_PASSES_KERNEL_PACK_NARROWWEIGHTS_H

#include "mlir/IR/BuiltinAttributes.h"

namespace atc::kernel {

/// The storage of constant weights of f32. Products and sums are computed in f32 in all cases.
struct WeightStorage {
  enum Kind {
    Float32,
    Exact, ///< in 16 bits where no weight changes
    Half,
    BFloat
  };
  Kind kind = Exact;
  bool convertsHalfs = true; ///< an instruction makes floats of f16; Exact stores none without one

  /// Returns the storage with a name: f32, exact, f16 or bf16. Nothing for other names.
  static std::optional<WeightStorage> parse(llvm::StringRef name, bool convertsHalfs);

  /// Returns a constant of f32 as one of f16 or bf16; null where it stays, because of what the
  /// storage says or because a weight is too large.
  mlir::ElementsAttr narrow(mlir::ElementsAttr weights) const;
};

/// Returns packed weights of f32 [...][channels][b] as f16 in pairs of channels, of the given shape
/// [...][pairs][2 * b]: element 2 * j + i of pair p is the weight of channel 2 * p + i for column
/// j, 0 past the last channel. Null where a weight is too large or the data cannot be read.
mlir::ElementsAttr packPairs(mlir::ElementsAttr weights, int64_t channels,
                             llvm::ArrayRef<int64_t> shape);

} // namespace atc::kernel

#endif // OPENATC_PASSES_KERNEL_PACK_NARROWWEIGHTS_H
