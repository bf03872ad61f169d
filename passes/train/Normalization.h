//===-- Normalization.h - gradients of normalizations -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_TRAIN_NORMALIZATION_H
#define OPENATC_PASSES_TRAIN_NORMALIZATION_H

#include "passes/train/GraphMath.h"

#include <optional>

namespace atc::train {

/// An op whose result is (x - mean(x)) / sqrt(mean((x - mean(x))^2) + epsilon), as batch, layer,
/// group and instance norms compute it in front of their scale.
struct Normalization {
  mlir::Operation *op;
  mlir::Value input; ///< x, with the shape of the result
  mlir::Value scale; ///< what multiplies x - mean(x), or divides it
  bool divides;
  llvm::SmallVector<int64_t> axes; ///< of the means
};

/// Returns the normalization whose last op is `op`; nothing where it is none.
std::optional<Normalization> matchNormalization(mlir::Operation *op);

/// Returns the gradient of a normalization's input, where `gradient` is that of its result: two
/// sums and one elementwise formula, where the rules of the single ops would build five sums.
mlir::Value normalizationGradient(const GraphMath &g, const Normalization &norm,
                                  mlir::Value gradient);

} // namespace atc::train

#endif // OPENATC_PASSES_TRAIN_NORMALIZATION_H
