//===-- DynamicDim.h - a placeholder for a dynamic dim while importing ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A model whose inputs have one dynamic dim is imported with a placeholder as its size: a
// prime that no number of the model is a multiple of. What grows with the dim is then a
// multiple of it everywhere, in types and in the integers of shape computations. That holds
// as long as those only move, multiply and divide sizes; PlaceholderRules refuses all nodes
// that do more, and so the import.

#ifndef OPENATC_FRONTENDS_ONNX_DYNAMICDIM_H
#define OPENATC_FRONTENDS_ONNX_DYNAMICDIM_H

#include <onnx/onnx_pb.h>
#include <optional>
#include <string>

#include "frontends/ModelOptions.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseSet.h"

namespace atc::onnx_import {

struct DynamicDim {
  std::string name;        ///< as the model calls it; "?" where it has no name
  int64_t size = 0;        ///< the placeholder
  InputShapes inputShapes; ///< of all inputs, with the placeholder
};

/// Returns the dynamic dim of the inputs of `graph` under `given` (--input_shape), and a
/// placeholder for it. Nothing where there is none, more than one, or an input of unknown
/// rank. Dims are one where they have one name; a dim without a name is one of its own.
std::optional<DynamicDim> findDynamicDim(const onnx::GraphProto &graph, const InputShapes &given);

/// Checks, node by node, that sizes with a placeholder stand for sizes with any number.
class PlaceholderRules {
public:
  explicit PlaceholderRules(int64_t size) : size(size) {}

  /// Returns why a node with these inputs (null: left out) may not be imported; empty where
  /// it may.
  std::string whyRefused(const onnx::NodeProto &node, llvm::ArrayRef<mlir::Value> inputs);

  /// Takes notice of what a node that was allowed has become. Returns why it may not stay;
  /// empty where it may.
  std::string whyUnsound(const onnx::NodeProto &node, llvm::ArrayRef<mlir::Value> inputs,
                         llvm::ArrayRef<mlir::Value> outputs);

private:
  bool grows(mlir::Value value) const;
  bool isMultiple(int64_t number) const { return number != 0 && number % size == 0; }
  std::string whyNoSize(const onnx::NodeProto &node, llvm::ArrayRef<mlir::Value> inputs) const;

  int64_t size;
  /// Constants of integers some of which are sizes with the placeholder.
  llvm::DenseSet<mlir::Value> sizes;
};

} // namespace atc::onnx_import

#endif // OPENATC_FRONTENDS_ONNX_DYNAMICDIM_H
