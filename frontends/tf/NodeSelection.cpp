//===-- NodeSelection.cpp - which nodes of a graph are imported, in order -===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frontends/UnsupportedOps.h"
#include "frontends/tf/GraphImporter.h"
#include "frontends/tf/OpTable.h"
#include "frontends/tf/Signatures.h"
#include "support/NearestName.h"

using namespace mlir;

namespace atc::tf_import {

static bool isPlaceholder(const pb::NodeDef &node) { return node.op() == "Placeholder"; }

bool GraphImporter::indexNodes() {
  unsigned before = diags->numErrors();
  for (pb::NodeDef &node : *graph.mutable_node())
    if (!nodes.try_emplace(node.name(), &node).second)
      diags->error("E13009", "the graph has two nodes with the name '" + node.name() + "'");
  return diags->numErrors() == before;
}

std::vector<std::string> GraphImporter::nodeNames() const {
  std::vector<std::string> names;
  for (const pb::NodeDef &node : graph.node())
    names.push_back(node.name());
  return names;
}

bool GraphImporter::isInput(const pb::NodeDef &node) const {
  return isPlaceholder(node) || cuts.contains(node.name());
}

/// The outputs asked for, or of the signature, or what no node reads.
bool GraphImporter::resolveOutputs() {
  unsigned before = diags->numErrors();
  auto take = [&](const std::string &name, StringRef text, const Twine &origin) {
    TensorName tensor = TensorName::parse(text);
    if (!nodes.contains(tensor.node))
      diags->error("E10016", "there is no node '" + tensor.node + "', asked for by " + origin +
                                 didYouMean(tensor.node.str(), nodeNames()));
    else
      outputs.push_back({name, tensor});
  };
  for (const std::string &text : options.outputs)
    take(TensorName::parse(text).str(), text, "--out_nodes");
  // The next values of states are outputs in any case.
  for (const auto &[name, text] : boundary.outputs)
    if (options.outputs.empty() ||
        (llvm::any_of(boundary.states, [&](const auto &state) { return state.second == name; }) &&
         llvm::none_of(outputs, [&](const auto &output) { return output.name == name; })))
      take(name, text, "the signature of the model");
  if (!outputs.empty() || diags->numErrors() != before)
    return diags->numErrors() == before;

  llvm::StringSet<> read;
  for (const pb::NodeDef &node : graph.node())
    for (const std::string &input : node.input())
      read.insert(TensorName::parse(input).node);
  for (const pb::NodeDef &node : graph.node())
    if (!read.contains(node.name()) && !isPlaceholder(node) &&
        !llvm::is_contained({"Const", "NoOp", "Assert", "SaveV2"}, StringRef(node.op())))
      outputs.push_back({node.name(), TensorName{node.name()}});
  if (outputs.empty())
    diags->error("E16004", "the graph has no node that could be its output; --out_nodes names one");
  return !outputs.empty();
}

bool GraphImporter::resolveCuts() {
  unsigned before = diags->numErrors();
  for (const std::string &text : options.inputNodes) {
    TensorName tensor = TensorName::parse(text);
    if (!nodes.contains(tensor.node))
      diags->error("E10016", "there is no node '" + tensor.node + "', asked for by --input_nodes" +
                                 didYouMean(tensor.node.str(), nodeNames()));
    else if (tensor.index != 0)
      diags->error("E10017", "--input_nodes=\"" + text +
                                 "\": only output 0 of a node can become an input of the model");
    else
      cuts.insert(tensor.node);
  }
  return diags->numErrors() == before;
}

void GraphImporter::findConditions() {
  auto isOfLoop = [&](const pb::NodeDef &node) {
    const pb::NodeDef *predicate =
        node.input_size() > 1 ? nodes.lookup(TensorName::parse(node.input(1)).node) : nullptr;
    return predicate && predicate->op() == "LoopCond";
  };
  llvm::StringMap<SmallVector<StringRef, 1>> standIns;
  std::vector<StringRef> pending;
  for (const pb::NodeDef &node : graph.node()) {
    if (isInput(node))
      continue;
    if (node.op() == "Switch" && !isOfLoop(node))
      pending.push_back(node.name());
    else if (node.op() == "Identity" && node.input_size() != 0)
      standIns[TensorName::parse(node.input(0)).node].push_back(node.name());
    else if (node.op() == "NoOp")
      for (const std::string &input : node.input())
        standIns[TensorName::parse(input).node].push_back(node.name());
  }
  while (!pending.empty()) {
    const StringRef name = pending.back();
    pending.pop_back();
    if (conditions.insert(name).second)
      if (auto found = standIns.find(name); found != standIns.end())
        llvm::append_range(pending, found->second);
  }
}

bool GraphImporter::isNeeded(const TensorName &input) const {
  return !input.isControl || conditions.contains(input.node);
}

/// The nodes that the outputs need, up to the inputs.
bool GraphImporter::collectNodes() {
  unsigned before = diags->numErrors();
  findConditions();
  llvm::StringSet<> reached;
  std::vector<StringRef> pending;
  for (const Output &output : outputs)
    pending.push_back(output.tensor.node);
  while (!pending.empty()) {
    StringRef name = pending.back();
    pending.pop_back();
    if (!reached.insert(name).second)
      continue;
    pb::NodeDef &node = *nodes.lookup(name);
    if (isInput(node))
      continue;
    for (const std::string &input : node.input()) {
      TensorName tensor = TensorName::parse(input);
      if (!isNeeded(tensor))
        continue;
      if (nodes.contains(tensor.node))
        pending.push_back(tensor.node);
      else
        diags->error("E14001",
                     "input '" + input + "' of " + describeNode(node) + ": there is no such node");
    }
  }
  // An input that a command names stays one where the outputs that it asks for do not read it.
  for (const auto &[name, dims] : options.inputShapes)
    if (const pb::NodeDef *node = nodes.lookup(TensorName::parse(name).node);
        node && isPlaceholder(*node))
      reached.insert(node->name());
  for (const auto &cut : cuts)
    if (!reached.contains(cut.getKey()))
      diags->error("E10017",
                   "'" + cut.getKey() + "' given with --input_nodes is not needed by the outputs");
  for (pb::NodeDef &node : *graph.mutable_node())
    if (reached.contains(node.name()))
      needed.push_back(&node);
  return diags->numErrors() == before;
}

/// Whether an operator changes the variable that it reads first. Its result is the new
/// value; what else reads the variable would depend on the order of execution.
static bool changesVariable(StringRef op) {
  return op == "Assign" || (op.starts_with("Scatter") && op != "ScatterNd");
}

bool GraphImporter::checkVariables() {
  unsigned before = diags->numErrors();
  llvm::StringMap<unsigned> readers;
  for (const pb::NodeDef *node : needed)
    if (!isInput(*node))
      for (const std::string &input : node->input())
        if (TensorName tensor = TensorName::parse(input); !tensor.isControl)
          ++readers[tensor.node];
  for (const Output &output : outputs)
    ++readers[output.tensor.node];
  for (const pb::NodeDef *node : needed)
    if (!isInput(*node) && changesVariable(node->op()) && node->input_size() != 0 &&
        readers[TensorName::parse(node->input(0)).node] > 1)
      diags->error("E13010", describeNode(*node) + " changes '" + node->input(0) +
                                 "', which other nodes read: variables must not change");
  return diags->numErrors() == before;
}

/// Reports all nodes that have no row in the table as one error, otherwise those that do not
/// have what their operator takes.
bool GraphImporter::checkSupported() {
  UnsupportedOps unsupported;
  for (const pb::NodeDef *node : needed)
    if (!isInput(*node) && node->op() != "Const" && node->op() != "NoOp" && !findOp(node->op()) &&
        !findDynamicOp(node->op()))
      unsupported.add(node->op(), node->name());
  if (unsupported.empty()) {
    const unsigned before = diags->numErrors();
    for (const pb::NodeDef *node : needed)
      if (!isInput(*node))
        checkSignature(*node, *diags);
    return diags->numErrors() == before;
  }
  diags->error("E13010",
               "no importer for these operators: " + unsupported.str() +
                   ". The supported ones are listed in docs/tf-support.md; --out_nodes and "
                   "--input_nodes can cut off parts of the graph");
  return false;
}

bool GraphImporter::findLoops() {
  return frames.find(
      needed, nodes, [this](const pb::NodeDef &node) { return isInput(node); }, *diags);
}

/// Brings each node behind what it reads; those of loops are kept by their frames.
bool GraphImporter::sortNodes() {
  enum class State { Open, Done };
  llvm::StringMap<State> states;
  std::vector<pb::NodeDef *> sorted;
  for (pb::NodeDef *root : needed) {
    std::vector<pb::NodeDef *> stack{root};
    while (!stack.empty()) {
      pb::NodeDef *node = stack.back();
      auto [state, isNew] = states.try_emplace(node->name(), State::Open);
      if (!isNew) {
        // Everything that it reads stands in front of it by now.
        if (state->second == State::Open)
          sorted.push_back(node);
        state->second = State::Done;
        stack.pop_back();
        continue;
      }
      if (isInput(*node))
        continue;
      bool isAcyclic = true;
      auto visit = [&](StringRef name) {
        auto known = states.find(name);
        if (known == states.end())
          stack.push_back(nodes.lookup(name));
        else
          isAcyclic &= known->second == State::Done;
      };
      for (const std::string &input : node->input())
        if (TensorName tensor = TensorName::parse(input);
            isNeeded(tensor) && !frames.closesLoop(*node, tensor))
          visit(tensor.node);
      // A loop is over when its whole body has been run.
      if (const LoopFrame *loop = frames.ofExit(*node))
        for (const pb::NodeDef *next : loop->nextIterations)
          visit(next->name());
      if (!isAcyclic) {
        diags->error("E14001", describeNode(*node) + ": stands in a cycle of nodes");
        return false;
      }
    }
  }
  needed.clear();
  return frames.distribute(sorted, needed, *diags);
}

} // namespace atc::tf_import
