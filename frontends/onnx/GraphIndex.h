//===-- GraphIndex.h - who makes and reads which tensor -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_FRONTENDS_ONNX_GRAPHINDEX_H
#define OPENATC_FRONTENDS_ONNX_GRAPHINDEX_H

#include <functional>
#include <onnx/onnx_pb.h>
#include <string>
#include <vector>

#include "frontends/onnx/Scope.h"
#include "support/Diagnostics.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

namespace atc::onnx_import {

/// The names of a graph. Finds the nodes that the outputs need and their order.
class GraphIndex {
public:
  /// Tells whether a graph around this one has a tensor.
  using IsOuter = std::function<bool(llvm::StringRef)>;

  /// Reports names that are defined twice. `reads` must outlive the index.
  GraphIndex(onnx::GraphProto &graph, NodeReads &reads, Diagnostics &diagnostics,
             IsOuter isOuter = {});

  /// The tensors that leave the graph: those of the graph itself, or what
  /// `requested` ("node:0" or a tensor's name) asks for.
  bool resolveOutputs(llvm::ArrayRef<std::string> requested, std::vector<std::string> &tensors);

  /// The nodes that `tensors` need, each behind what it reads. The order of the
  /// file is kept where it is one.
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
