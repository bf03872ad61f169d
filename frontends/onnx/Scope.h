//===-- Scope.h - the names that a graph can use --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_FRONTENDS_ONNX_SCOPE_H
#define OPENATC_FRONTENDS_ONNX_SCOPE_H

#include <onnx/onnx_pb.h>

#include "mlir/IR/Value.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"

namespace atc::onnx_import {

/// A graph while it is imported: the main one, a branch, the body of a loop or of a
/// function. A branch or body sees the tensors of the graph around it.
struct Scope {
  Scope(onnx::GraphProto &graph, int64_t opset, Scope *parent)
      : graph(graph), opset(opset), parent(parent) {
    for (onnx::TensorProto &tensor : *graph.mutable_initializer())
      initializers[tensor.name()] = &tensor;
    for (onnx::SparseTensorProto &tensor : *graph.mutable_sparse_initializer())
      sparseInitializers[tensor.values().name()] = &tensor;
  }

  /// The innermost scope that has `tensor`; null where none has.
  Scope *find(llvm::StringRef tensor) {
    for (Scope *scope = this; scope; scope = scope->parent)
      if (scope->values.contains(tensor) || scope->initializers.contains(tensor) ||
          scope->sparseInitializers.contains(tensor))
        return scope;
    return nullptr;
  }

  onnx::GraphProto &graph;
  int64_t opset;
  Scope *parent;
  llvm::StringMap<mlir::Value> values;
  llvm::StringMap<onnx::TensorProto *> initializers;
  llvm::StringMap<onnx::SparseTensorProto *> sparseInitializers;
};

/// Every tensor that a node reads: its inputs, and what the graphs among its
/// attributes take from around them.
void forEachRead(const onnx::NodeProto &node, llvm::function_ref<void(llvm::StringRef)> visit);

/// The graphs among a node's attributes.
void forEachGraph(const onnx::NodeProto &node,
                  llvm::function_ref<void(const onnx::GraphProto &)> visit);

} // namespace atc::onnx_import

#endif // OPENATC_FRONTENDS_ONNX_SCOPE_H
