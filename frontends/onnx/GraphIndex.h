//===-- GraphIndex.h - names of nodes, producers and uses of tensors ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_FRONTENDS_ONNX_GRAPHINDEX_H
#define OPENATC_FRONTENDS_ONNX_GRAPHINDEX_H

#include <functional>
#include <onnx/onnx_pb.h>
#include <string>
#include <vector>

#include "frontends/ModelNodes.h"
#include "frontends/onnx/Scope.h"
#include "support/Diagnostics.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

namespace atc::onnx_import {

/// Returns the name that the compiler calls a node by: its own, else that of its first output; ""
/// where it has neither.
std::string nameOf(const onnx::NodeProto &node);

/// Returns the nodes of a graph that have no name, each by the name that the Ascend toolchain gives
/// it: its type and its number among the nodes without a name ("Conv_0", "Relu_1"). A name that a
/// node has itself is not among them.
llvm::StringMap<const onnx::NodeProto *> madeNames(const onnx::GraphProto &graph);

/// Returns these names with the names that the compiler calls the nodes by.
NodeAliases listAliases(const onnx::GraphProto &graph);

/// Indexes the names of a graph and finds the nodes that the outputs need, in topological order.
class GraphIndex {
public:
  /// Returns whether an enclosing graph has a tensor.
  using IsOuter = std::function<bool(llvm::StringRef)>;

  /// Builds the index; reports names that are defined twice. `reads` must outlive the index.
  GraphIndex(onnx::GraphProto &graph, NodeReads &reads, Diagnostics &diagnostics,
             IsOuter isOuter = {});

  /// Computes the output tensors: those of the graph itself, or those that `requested` ("node:0" or
  /// a tensor's name) names. Returns false after an error.
  bool resolveOutputs(llvm::ArrayRef<std::string> requested, std::vector<std::string> &tensors);

  /// Computes the nodes that `tensors` need in topological order. Keeps the order of the file where
  /// that is valid. Returns false after an error.
  bool order(llvm::ArrayRef<std::string> tensors, std::vector<onnx::NodeProto *> &nodes);

private:
  bool isDefined(llvm::StringRef tensor) const {
    return sources.contains(tensor) || producers.contains(tensor);
  }
  bool collectNeeded(llvm::ArrayRef<std::string> tensors, std::vector<bool> &needed);
  void reportCycle(const std::vector<bool> &pending);

  onnx::GraphProto &graph;
  NodeReads &reads;
  Diagnostics &diags;
  IsOuter isOuter;
  llvm::StringSet<> sources;      // inputs and initializers
  llvm::StringMap<int> producers; // tensor -> node
};

} // namespace atc::onnx_import

#endif // OPENATC_FRONTENDS_ONNX_GRAPHINDEX_H
