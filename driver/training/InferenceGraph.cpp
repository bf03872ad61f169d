//===-- InferenceGraph.cpp - a graph of training becomes one of inference -===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "driver/training/InferenceGraph.h"

#include <onnx/onnx_pb.h>

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"

using llvm::StringRef;

namespace atc::driver {

/// Removes the elements behind the first `count` ones.
template <typename List> static void shorten(List &list, int count) {
  while (list.size() > count)
    list.RemoveLast();
}

/// Removes the outputs of a graph that no node of it computes, such as next running statistics.
static void removeOutputs(onnx::GraphProto &graph, const llvm::StringSet<> &names) {
  auto &outputs = *graph.mutable_output();
  outputs.erase(std::remove_if(outputs.begin(), outputs.end(),
                               [&](const auto &output) { return names.contains(output.name()); }),
                outputs.end());
}

/// Adds the names that nodes read, those inside of branches and loops too.
static void addReadNames(const onnx::NodeProto &node, llvm::StringSet<> &names) {
  for (const std::string &input : node.input())
    names.insert(input);
  for (const onnx::AttributeProto &attribute : node.attribute()) {
    auto addGraph = [&](const onnx::GraphProto &graph) {
      for (const onnx::NodeProto &inner : graph.node())
        addReadNames(inner, names);
      for (const onnx::ValueInfoProto &output : graph.output())
        names.insert(output.name());
    };
    addGraph(attribute.g());
    llvm::for_each(attribute.graphs(), addGraph);
  }
}

static void removeUnused(onnx::GraphProto &graph) {
  llvm::StringSet<> needed;
  for (const onnx::ValueInfoProto &output : graph.output())
    needed.insert(output.name());
  auto &nodes = *graph.mutable_node();
  for (int i = nodes.size() - 1; i >= 0; --i)
    if (llvm::any_of(nodes[i].output(),
                     [&](const std::string &output) { return needed.contains(output); }))
      addReadNames(nodes[i], needed);
    else
      nodes[i].clear_output();
  nodes.erase(std::remove_if(nodes.begin(), nodes.end(),
                             [](const auto &node) { return node.output_size() == 0; }),
              nodes.end());
  auto drop = [&](auto &list) {
    list.erase(std::remove_if(list.begin(), list.end(),
                              [&](const auto &each) { return !needed.contains(each.name()); }),
               list.end());
  };
  drop(*graph.mutable_input());
  drop(*graph.mutable_initializer());
}

void makeInferenceGraph(onnx::GraphProto &graph, StringRef ownLoss) {
  llvm::StringSet<> gone;
  for (onnx::NodeProto &node : *graph.mutable_node()) {
    if (node.op_type() == "Dropout")
      shorten(*node.mutable_input(), 1);
    if (node.op_type() != "BatchNormalization")
      continue;
    for (onnx::AttributeProto &attribute : *node.mutable_attribute())
      if (attribute.name() == "training_mode")
        attribute.set_i(0);
    for (int i = 1; i < node.output_size(); ++i)
      gone.insert(node.output(i));
    shorten(*node.mutable_output(), 1);
  }
  if (!ownLoss.empty())
    gone.insert(ownLoss);
  removeOutputs(graph, gone);
  if (!ownLoss.empty())
    removeUnused(graph);
}

} // namespace atc::driver
