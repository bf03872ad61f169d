//===-- Plan.h - selects the tensors to quantize --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_QUANTIZE_PLAN_H
#define OPENATC_QUANTIZE_PLAN_H

#include "dialects/graph/GraphDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "quantize/Config.h"

namespace atc::quantize {

/// An activation that is stored as integers.
struct PlannedTensor {
  mlir::Value value;
  std::string name;
  /// The tensor whose parameters it has: that of another tensor where an operator only moves or
  /// selects elements; else its own index.
  size_t group = 0;
  /// The settings of the layer that reads it.
  LayerConfig config;
};

/// A convolution or matrix product with constant weights.
struct PlannedLayer {
  mlir::Operation *op = nullptr;
  std::string node, type;
  size_t input = 0; ///< index of the planned tensor
  int64_t axis = 0; ///< the dim of the weights that indexes output channels
  int64_t groups = 1;
  LayerConfig config;

  /// Returns the weights.
  mlir::Value filter() const { return op->getOperand(1); }
  /// Returns the bias; null where there is none.
  mlir::Value bias() const;
};

/// The tensors and layers to quantize.
struct Plan {
  std::vector<PlannedTensor> tensors; ///< in the order of the graph
  std::vector<PlannedLayer> layers;
};

/// Return the names of the tensor and the node that an importer gave an op or argument.
std::string tensorNameOf(mlir::Value value);
std::string nodeNameOf(mlir::Operation *op);

/// Selects layers with constant weights, their inputs and outputs, and the operators between them
/// that can compute on integers, so that no float is stored between the first layer and the last.
/// `isKnown` returns whether a tensor can be quantized by its name.
Plan makePlan(mlir::ModuleOp module, const QuantConfig &config,
              llvm::function_ref<bool(llvm::StringRef)> isKnown);

} // namespace atc::quantize

#endif // OPENATC_QUANTIZE_PLAN_H
