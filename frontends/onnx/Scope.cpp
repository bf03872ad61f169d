//===-- Scope.cpp - the names that a graph can use ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frontends/onnx/Scope.h"

#include "llvm/ADT/StringSet.h"

using namespace llvm;

namespace atc::onnx_import {

void forEachGraph(const onnx::NodeProto &node, function_ref<void(const onnx::GraphProto &)> visit) {
  for (const onnx::AttributeProto &attribute : node.attribute()) {
    if (attribute.type() == onnx::AttributeProto::GRAPH)
      visit(attribute.g());
    for (const onnx::GraphProto &graph : attribute.graphs())
      visit(graph);
  }
}

void NodeReads::forEach(const onnx::NodeProto &node, function_ref<void(StringRef)> visit) {
  for (const std::string &input : node.input())
    if (!input.empty())
      visit(input);
  forEachGraph(node, [&](const onnx::GraphProto &graph) {
    for (StringRef tensor : freeReads(graph))
      visit(tensor);
  });
}

ArrayRef<StringRef> NodeReads::freeReads(const onnx::GraphProto &graph) {
  if (auto found = known.find(&graph); found != known.end())
    return found->second;
  // Its own tensors, and then also what has been found.
  StringSet<> seen;
  for (const onnx::ValueInfoProto &input : graph.input())
    seen.insert(input.name());
  for (const onnx::TensorProto &tensor : graph.initializer())
    seen.insert(tensor.name());
  for (const onnx::SparseTensorProto &tensor : graph.sparse_initializer())
    seen.insert(tensor.values().name());
  for (const onnx::NodeProto &inner : graph.node())
    seen.insert_range(inner.output());
  std::vector<StringRef> reads;
  auto add = [&](StringRef tensor) {
    if (seen.insert(tensor).second)
      reads.push_back(tensor);
  };
  for (const onnx::NodeProto &inner : graph.node())
    forEach(inner, add);
  for (const onnx::ValueInfoProto &output : graph.output())
    add(output.name());
  return known[&graph] = std::move(reads);
}

void NodeReads::forget(const onnx::GraphProto &graph) {
  for (const onnx::NodeProto &node : graph.node())
    forEachGraph(node, [&](const onnx::GraphProto &inner) {
      // A graph that has been imported is already forgotten, together with its subgraphs.
      if (known.erase(&inner))
        forget(inner);
    });
}

} // namespace atc::onnx_import
