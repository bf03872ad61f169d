//===-- Decompose.h - divides convolutions into two smaller ones ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_QUANTIZE_ONNX_DECOMPOSE_H
#define OPENATC_QUANTIZE_ONNX_DECOMPOSE_H

#include "quantize/onnx/OnnxModel.h"

namespace atc::quantize {

/// The limits of the decomposition.
struct DecomposeOptions {
  /// The share of the squared weights that the two convolutions must keep.
  double energy = 0.9;
  /// The share of the operations that a divided convolution may have at most.
  double maxCost = 0.8;
};

/// A convolution that is now two.
struct DecomposedLayer {
  std::string name, first, second; ///< of the nodes
  int64_t rank = 0;                ///< channels between the two
  double energy = 0;               ///< of the weights that is kept
  double cost = 0;                 ///< operations, relative to before
};

/// The weights [C x height, O x width] of two convolutions whose product is nearest to a kernel.
struct KernelFactors {
  std::vector<float> vertical;   ///< [rank, C, height, 1]
  std::vector<float> horizontal; ///< [O, rank, 1, width]
  int64_t rank = 0;
  double energy = 0;
};

/// Returns the factors of least rank that keep `energy` of a kernel [O, C, height, width].
KernelFactors factorizeKernel(llvm::ArrayRef<float> kernel, llvm::ArrayRef<int64_t> dims,
                              double energy);

/// Divides each convolution over two dims without groups and dilations, whose strides are below 3
/// and whose kernel is larger than 2 in both dims, into one along the height and one along the
/// width, where that keeps the energy and saves operations. Returns the layers that were divided.
std::vector<DecomposedLayer> decompose(OnnxModel &model, const DecomposeOptions &options);

/// Returns the layers as JSON text: an object from each node's name to its facts.
std::string decomposedJson(llvm::ArrayRef<DecomposedLayer> layers);

} // namespace atc::quantize

#endif // OPENATC_QUANTIZE_ONNX_DECOMPOSE_H
