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

void forEachRead(const onnx::NodeProto &node, function_ref<void(StringRef)> visit) {
  for (const std::string &input : node.input())
    if (!input.empty())
      visit(input);
  forEachGraph(node, [&](const onnx::GraphProto &graph) {
    StringSet<> own;
    for (const onnx::ValueInfoProto &input : graph.input())
      own.insert(input.name());
    for (const onnx::TensorProto &tensor : graph.initializer())
      own.insert(tensor.name());
    for (const onnx::SparseTensorProto &tensor : graph.sparse_initializer())
      own.insert(tensor.values().name());
    for (const onnx::NodeProto &inner : graph.node())
      own.insert_range(inner.output());
    auto visitFree = [&](StringRef tensor) {
      if (!own.contains(tensor))
        visit(tensor);
    };
    for (const onnx::NodeProto &inner : graph.node())
      forEachRead(inner, visitFree);
    for (const onnx::ValueInfoProto &output : graph.output())
      visitFree(output.name());
  });
}

} // namespace atc::onnx_import
