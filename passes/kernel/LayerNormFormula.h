//===-- LayerNormFormula.h - recognizes decomposed layer norms --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_KERNEL_LAYERNORMFORMULA_H
#define OPENATC_PASSES_KERNEL_LAYERNORMFORMULA_H

#include "dialects/kernel/Kernel.h"

namespace atc::kernel {

/// The buffers and the number of a layer norm over the last dim, or of an RMS norm, which does not
/// subtract the mean.
struct LayerNorm {
  mlir::Value input;       ///< a buffer of @main with the shape of the result
  mlir::Value gamma, beta; ///< weights with one value per column; null where there is none
  double epsilon = 0;
  bool isCentered = true; ///< false for an RMS norm
};

/// Returns the layer norm or RMS norm of which `map`, a kernel of @main, writes the result; nothing
/// where it computes something else. Elementwise ops are already fused into maps, in various ways.
/// So the formula is matched across them: a value in a map's body that is read from a buffer is the
/// value that the map writing this buffer yields.
std::optional<LayerNorm> matchLayerNorm(MapOp map);

} // namespace atc::kernel

#endif // OPENATC_PASSES_KERNEL_LAYERNORMFORMULA_H
