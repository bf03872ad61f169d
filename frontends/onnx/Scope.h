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

/// Graphs inside each other that a model may have. What works on them, here and in MLIR, calls
/// itself for each level; the runtime takes blocks of one level less than 64.
constexpr unsigned maxGraphDepth = 60;

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

  /// What the graph states about one of its outputs or inner tensors; null where it states
  /// nothing. Of two statements the one of an output counts, and the first.
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
  llvm::StringMap<const onnx::ValueInfoProto *> infos; ///< with a shape; made when first asked
};

/// Finds what nodes read. The reads of a graph inside a node are collected once, however many
/// graphs stand around it, and kept until forget().
class NodeReads {
public:
  /// Visits every tensor that a node reads: its inputs, and what the graphs among its
  /// attributes take from around them, each name of such a graph once.
  void forEach(const onnx::NodeProto &node, llvm::function_ref<void(llvm::StringRef)> visit);

  /// Drops what is kept about the graphs inside the nodes of `graph`, which may change or
  /// cease to exist from now on.
  void forget(const onnx::GraphProto &graph);

private:
  llvm::ArrayRef<llvm::StringRef> freeReads(const onnx::GraphProto &graph);

  /// The names, in the order of their first reads, that each graph takes from around it.
  llvm::DenseMap<const onnx::GraphProto *, std::vector<llvm::StringRef>> known;
};

/// The graphs among a node's attributes.
void forEachGraph(const onnx::NodeProto &node,
                  llvm::function_ref<void(const onnx::GraphProto &)> visit);

} // namespace atc::onnx_import

#endif // OPENATC_FRONTENDS_ONNX_SCOPE_H
