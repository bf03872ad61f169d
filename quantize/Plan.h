//===-- Plan.h - which tensors of a network become integers ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_QUANTIZE_PLAN_H
#define OPENATC_QUANTIZE_PLAN_H

#include "dialects/graph/Graph.h"
#include "mlir/IR/BuiltinOps.h"
#include "quantize/Config.h"

namespace atc::quantize {

/// An activation that is stored as integers.
struct PlannedTensor {
  mlir::Value value;
  std::string name;
  /// The tensor whose parameters it has: another one's where an operator only moves
  /// numbers or picks some of them; else its own index.
  size_t group = 0;
  /// Of the layer that reads it.
  LayerConfig config;
};

/// A convolution or matrix product whose weights are known.
struct PlannedLayer {
  mlir::Operation *op = nullptr;
  std::string node, type;
  size_t input = 0; ///< index of the planned tensor
  int64_t axis = 0; ///< the dim of the weights that counts output channels
  int64_t groups = 1;
  LayerConfig config;

  mlir::Value filter() const { return op->getOperand(1); }
  mlir::Value bias() const;
};

struct Plan {
  std::vector<PlannedTensor> tensors; ///< in the order of the graph
  std::vector<PlannedLayer> layers;
};

/// The tensor's and the node's name that an importer gave an op or argument.
std::string tensorNameOf(mlir::Value value);
std::string nodeNameOf(mlir::Operation *op);

/// Chooses layers with constant weights, what they read and make, and the operators
/// between them that can work on integers, so that from the first layer to the last
/// no float is stored. `isKnown` says whether a tensor can be quantized by its name.
Plan makePlan(mlir::ModuleOp module, const QuantConfig &config,
              llvm::function_ref<bool(llvm::StringRef)> isKnown);

} // namespace atc::quantize

#endif // OPENATC_QUANTIZE_PLAN_H
