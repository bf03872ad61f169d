//===-- Scope.h - the names that a graph can use --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_FRONTENDS_ONNX_SCOPE_H
#define OPENATC_FRONTENDS_ONNX_SCOPE_H

#include <onnx/onnx_pb.h>

#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"

namespace atc::onnx_import {

/// The maximum nesting of graphs in a model. Functions that process them, here and in MLIR, are
/// recursive; the runtime accepts less than 64 levels of blocks.
constexpr unsigned maxGraphDepth = 60;

/// A graph being imported: the main one, a branch, the body of a loop or of a function. A branch or
/// body can use the tensors of its enclosing graph.
struct Scope {
  Scope(onnx::GraphProto &graph, int64_t opset, Scope *parent)
      : graph(graph), opset(opset), parent(parent) {
    for (onnx::TensorProto &tensor : *graph.mutable_initializer())
      initializers[tensor.name()] = &tensor;
    for (onnx::SparseTensorProto &tensor : *graph.mutable_sparse_initializer())
      sparseInitializers[tensor.values().name()] = &tensor;
  }

  /// Returns the innermost scope that has `tensor`; null where none has it.
  Scope *find(llvm::StringRef tensor) {
    for (Scope *scope = this; scope; scope = scope->parent)
      if (scope->values.contains(tensor) || scope->initializers.contains(tensor) ||
          scope->sparseInitializers.contains(tensor))
        return scope;
    return nullptr;
  }

  /// Returns the declaration of one of the graph's outputs or inner tensors; null where there is
  /// none. If there are several, that of an output takes precedence, then the first.
  const onnx::ValueInfoProto *findInfo(llvm::StringRef tensor) {
    if (infos.empty())
      for (const auto *list : {&graph.output(), &graph.value_info()})
        for (const onnx::ValueInfoProto &info : *list)
          if (info.type().tensor_type().has_shape())
            infos.try_emplace(info.name(), &info);
    return infos.lookup(tensor);
  }

  onnx::GraphProto &graph;
  int64_t opset;
  Scope *parent;
  llvm::StringMap<mlir::Value> values;
  llvm::StringMap<onnx::TensorProto *> initializers;
  llvm::StringMap<onnx::SparseTensorProto *> sparseInitializers;

private:
  llvm::StringMap<const onnx::ValueInfoProto *> infos; ///< with a shape; built on first use
};

/// Finds the tensors that nodes read. The reads of a graph inside a node are collected once,
/// however deeply it is nested, and kept until forget().
class NodeReads {
public:
  /// Visits every tensor that a node reads: its inputs, and the names that the graphs among its
  /// attributes take from enclosing graphs, each name once per such graph.
  void forEach(const onnx::NodeProto &node, llvm::function_ref<void(llvm::StringRef)> visit);

  /// Discards the reads of the graphs inside the nodes of `graph`, which may change or be destroyed
  /// afterwards.
  void forget(const onnx::GraphProto &graph);

private:
  llvm::ArrayRef<llvm::StringRef> freeReads(const onnx::GraphProto &graph);

  /// The names that each graph takes from enclosing graphs, in the order of their first reads.
  llvm::DenseMap<const onnx::GraphProto *, std::vector<llvm::StringRef>> known;
};

/// Visits the graphs among a node's attributes.
void forEachGraph(const onnx::NodeProto &node,
                  llvm::function_ref<void(const onnx::GraphProto &)> visit);

} // namespace atc::onnx_import

#endif // OPENATC_FRONTENDS_ONNX_SCOPE_H
