//===-- GraphIndex.cpp - who makes and reads which tensor -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frontends/onnx/GraphIndex.h"

#include <queue>

#include "frontends/onnx/GraphImporter.h"
#include "support/NearestName.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace atc::onnx_import {

std::string nameOf(const onnx::NodeProto &node) {
  if (!node.name().empty())
    return node.name();
  auto named = find_if(node.output(), [](const std::string &output) { return !output.empty(); });
  return named == node.output().end() ? "" : *named;
}

StringMap<const onnx::NodeProto *> madeNames(const onnx::GraphProto &graph) {
  StringMap<const onnx::NodeProto *> names;
  unsigned number = 0;
  for (const onnx::NodeProto &node : graph.node())
    if (node.name().empty())
      names[node.op_type() + "_" + std::to_string(number++)] = &node;
  for (const onnx::NodeProto &node : graph.node())
    names.erase(node.name());
  return names;
}

NodeAliases listAliases(const onnx::GraphProto &graph) {
  NodeAliases aliases;
  for (const auto &entry : madeNames(graph))
    aliases.emplace(entry.getKey().str(), nameOf(*entry.second));
  return aliases;
}

GraphIndex::GraphIndex(onnx::GraphProto &graph, NodeReads &reads, Diagnostics &diagnostics,
                       IsOuter isOuter)
    : graph(graph), reads(reads), diags(diagnostics), isOuter(std::move(isOuter)) {
  auto duplicate = [&](StringRef kind, StringRef name, const Twine &where) {
    diags.error("E13009", kind + " '" + name + "' is defined twice" + where +
                              ": every tensor of a graph must have one definition");
  };
  // Before IR version 4 every initializer was an input as well; so that is no
  // second definition.
  StringSet<> inputs;
  for (const onnx::ValueInfoProto &input : graph.input()) {
    sources.insert(input.name());
    if (!inputs.insert(input.name()).second)
      duplicate("input", input.name(), "");
  }
  StringSet<> initializers;
  auto addInitializer = [&](StringRef name) {
    sources.insert(name);
    if (!initializers.insert(name).second)
      duplicate("initializer", name, "");
  };
  for (const onnx::TensorProto &tensor : graph.initializer())
    addInitializer(tensor.name());
  for (const onnx::SparseTensorProto &tensor : graph.sparse_initializer())
    addInitializer(tensor.values().name());

  for (auto [index, node] : enumerate(graph.node()))
    for (const std::string &output : node.output()) {
      if (output.empty())
        continue;
      auto [at, isNew] = producers.try_emplace(output, static_cast<int>(index));
      if (sources.contains(output))
        duplicate("tensor", output, ", as an input or initializer and by " + describeNode(node));
      else if (!isNew)
        duplicate("tensor", output,
                  ", by " + describeNode(graph.node(at->second)) + " and by " + describeNode(node));
    }
}

/// Returns what --out_nodes may name: outputs of nodes, and tensors.
static std::vector<std::string> listOutputs(const onnx::GraphProto &graph) {
  std::vector<std::string> names;
  for (const onnx::NodeProto &node : graph.node())
    for (auto [i, output] : enumerate(node.output())) {
      if (!node.name().empty())
        names.push_back(node.name() + ":" + std::to_string(i));
      names.push_back(output);
    }
  return names;
}

/// Returns the node of a name, or null.
static const onnx::NodeProto *findNode(const onnx::GraphProto &graph, StringRef name) {
  for (const onnx::NodeProto &node : graph.node())
    if (!name.empty() && node.name() == name)
      return &node;
  return madeNames(graph).lookup(name);
}

bool GraphIndex::resolveOutputs(ArrayRef<std::string> requested,
                                std::vector<std::string> &tensors) {
  unsigned before = diags.numErrors();
  if (requested.empty()) {
    if (graph.output_size() == 0)
      diags.error("E16004", "graph '" + graph.name() + "' has no outputs");
    // A tensor may be several outputs.
    for (const onnx::ValueInfoProto &output : graph.output()) {
      if (!isDefined(output.name()))
        diags.error("E16001", "output '" + output.name() +
                                  "' of the graph is not produced: no input, initializer or "
                                  "node output has this name");
      tensors.push_back(output.name());
    }
    return diags.numErrors() == before;
  }

  for (StringRef request : requested) {
    if (isDefined(request)) {
      tensors.push_back(request.str());
      continue;
    }
    auto [name, number] = request.rsplit(':');
    unsigned index = 0;
    bool isIndexed = !number.getAsInteger(10, index);
    const onnx::NodeProto *node = findNode(graph, name);
    if (!isIndexed || !node)
      diags.error("E10016", "'" + request +
                                "' given with --out_nodes is not in the model: it must be "
                                "\"node name:output index\" or the name of a tensor" +
                                didYouMean(request.str(), listOutputs(graph)));
    else if (static_cast<int>(index) >= node->output_size() || node->output(index).empty())
      diags.error("E10016", "'" + request + "' given with --out_nodes: " + describeNode(*node) +
                                " has " + Twine(node->output_size()) + " outputs, counted from 0");
    else
      tensors.push_back(node->output(index));
  }
  for (auto [index, tensor] : enumerate(tensors))
    if (is_contained(ArrayRef(tensors).take_front(index), tensor))
      diags.error("E10001", "--out_nodes names tensor '" + tensor + "' twice");
  return diags.numErrors() == before;
}

bool GraphIndex::collectNeeded(ArrayRef<std::string> tensors, std::vector<bool> &needed) {
  unsigned before = diags.numErrors();
  StringSet<> reported;
  std::vector<int> work;
  auto require = [&](StringRef tensor, const onnx::NodeProto *reader) {
    if (tensor.empty() || sources.contains(tensor))
      return;
    auto producer = producers.find(tensor);
    if (producer == producers.end()) {
      if (isOuter && isOuter(tensor))
        return;
      if (reader && reported.insert(tensor).second)
        diags.error("E16001", "tensor '" + tensor + "', read by " + describeNode(*reader) +
                                  ", is not defined: no input, initializer or node output has "
                                  "this name");
      return;
    }
    if (!needed[producer->second]) {
      needed[producer->second] = true;
      work.push_back(producer->second);
    }
  };
  for (const std::string &tensor : tensors)
    require(tensor, nullptr);
  while (!work.empty()) {
    const onnx::NodeProto &node = graph.node(work.back());
    work.pop_back();
    reads.forEach(node, [&](StringRef tensor) { require(tensor, &node); });
  }
  return diags.numErrors() == before;
}

bool GraphIndex::order(ArrayRef<std::string> tensors, std::vector<onnx::NodeProto *> &nodes) {
  std::vector<bool> pending(graph.node_size(), false);
  if (!collectNeeded(tensors, pending))
    return false;

  // Among the nodes that are ready, always takes the first one in the file.
  std::vector<int> missing(graph.node_size(), 0);
  std::vector<std::vector<int>> readers(graph.node_size());
  std::priority_queue<int, std::vector<int>, std::greater<int>> ready;
  for (int index = 0; index < graph.node_size(); ++index) {
    if (!pending[index])
      continue;
    reads.forEach(graph.node(index), [&](StringRef tensor) {
      auto producer = producers.find(tensor);
      if (producer == producers.end() || sources.contains(tensor))
        return;
      ++missing[index];
      readers[producer->second].push_back(index);
    });
    if (missing[index] == 0)
      ready.push(index);
  }
  while (!ready.empty()) {
    int index = ready.top();
    ready.pop();
    pending[index] = false;
    nodes.push_back(graph.mutable_node(index));
    for (int reader : readers[index])
      if (--missing[reader] == 0)
        ready.push(reader);
  }
  if (!is_contained(pending, true))
    return true;
  reportCycle(pending);
  return false;
}

void GraphIndex::reportCycle(const std::vector<bool> &pending) {
  // Every pending node reads from a pending node: walking back must come round.
  std::vector<int> position(graph.node_size(), -1), path;
  int index = llvm::find(pending, true) - pending.begin();
  while (position[index] < 0) {
    position[index] = path.size();
    path.push_back(index);
    int next = -1;
    reads.forEach(graph.node(index), [&](StringRef tensor) {
      auto producer = producers.find(tensor);
      if (next < 0 && producer != producers.end() && pending[producer->second])
        next = producer->second;
    });
    index = next;
  }
  constexpr size_t maxNamed = 20;
  size_t first = position[index], length = path.size() - first;
  std::string cycle = describeNode(graph.node(index));
  for (size_t at = path.size(); at-- > first;) {
    // For a long cycle the beginning and the last step suffice.
    if (path.size() - at == maxNamed && length > maxNamed + 1) {
      cycle += " -> " + std::to_string(at - first) + " more nodes";
      at = first;
    }
    cycle += " -> " + describeNode(graph.node(path[at]));
  }
  diags.error("E16004", "graph '" + graph.name() + "' has a cycle: " + cycle);
}

} // namespace atc::onnx_import
