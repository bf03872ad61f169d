//===-- VariableStates.cpp - variables that keep a value for the next run -===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frontends/tf/variables/VariableStates.h"

#include "frontends/tf/LowerControlFlow.h"
#include "frontends/tf/NodeDefs.h"
#include "frontends/tf/variables/VariableWrites.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

using namespace llvm;

namespace atc::tf_import {
namespace {

using Nodes = google::protobuf::RepeatedPtrField<pb::NodeDef>;

/// A node on the way from the main graph to the write of a variable.
struct Step {
  pb::FunctionDef *function; ///< null for the main graph
  pb::NodeDef *node;         ///< a call; the last one writes
};

/// Looks for the one way to the write of a variable.
class WriteSearch {
public:
  explicit WriteSearch(pb::GraphDef &graph) : graph(graph) {
    for (pb::FunctionDef &function : *graph.mutable_library()->mutable_function())
      functions[function.signature().name()] = &function;
  }

  /// Returns the way through nodes that the outputs need; empty where there is none, or where the
  /// variable cannot be a state.
  std::vector<Step> run(StringRef variable, const StringSet<> &neededNodes) {
    needed = &neededNodes;
    path.clear();
    found.clear();
    isGood = true;
    visit(nullptr, *graph.mutable_node(), variable);
    return isGood ? found : std::vector<Step>();
  }

  pb::FunctionDef *callee(const pb::NodeDef &node) {
    const pb::AttrValue *attribute = attributeOf(node, "f");
    const bool isCall = StringRef(node.op()).ends_with("PartitionedCall");
    return functions.lookup(isCall && attribute ? attribute->func().name() : node.op());
  }

private:
  /// Looks at everything in a graph or function that a handle, an argument or a node, goes into.
  void visit(pb::FunctionDef *function, Nodes &nodes, StringRef handle) {
    // No chain of calls is this deep; the inliner refuses one.
    if (path.size() > 100)
      isGood = false;
    SmallVector<pb::NodeDef *> users;
    pb::NodeDef *towards = nullptr; // the write, or the call with the write
    for (pb::NodeDef &node : nodes) {
      if (!function && !needed->contains(node.name()))
        continue;
      const size_t before = found.size();
      bool reads = false;
      for (int i = 0; i < node.input_size() && isGood; ++i)
        if (nodeOf(node.input(i)) == handle) {
          reads = true;
          follow(function, node, i);
        }
      if (!isGood)
        return;
      if (reads)
        users.push_back(&node);
      if (found.size() != before)
        towards = &node;
    }
    // What reads the variable must do so before it is written.
    if (!towards)
      return;
    StringMap<const pb::NodeDef *> byName;
    StringSet<> read;
    for (const pb::NodeDef &node : nodes) {
      byName[node.name()] = &node;
      for (StringRef input : node.input())
        if (!input.starts_with("^"))
          read.insert(nodeOf(input));
    }
    if (function)
      for (const auto &[name, tensor] : function->ret())
        read.insert(nodeOf(tensor));
    StringSet<> before;
    SmallVector<StringRef> open = {towards->name()};
    while (!open.empty()) {
      auto node = byName.find(open.pop_back_val());
      if (node == byName.end())
        continue;
      for (StringRef input : node->second->input()) {
        input.consume_front("^");
        if (before.insert(nodeOf(input)).second)
          open.push_back(nodeOf(input));
      }
    }
    // In the main graph, nothing orders the nodes: the one call is all that there may be.
    for (const pb::NodeDef *user : users)
      if (user != towards && !before.contains(user->name()) &&
          (user->op() != "ReadVariableOp" || read.contains(user->name())))
        isGood = false;
  }

  void follow(pb::FunctionDef *function, pb::NodeDef &node, int input) {
    const StringRef op = node.op();
    if (pb::FunctionDef *called = callee(node)) {
      const auto &arguments = called->signature().input_arg();
      for (const auto &argument : arguments)
        if (!argument.number_attr().empty() || !argument.type_list_attr().empty())
          isGood = false;
      if (input >= arguments.size())
        isGood = false;
      if (!isGood)
        return;
      path.push_back({function, &node});
      visit(called, *called->mutable_node_def(), arguments[input].name());
      path.pop_back();
      return;
    }
    // Lowered conditions and loops pass handles through these; the model's own nodes do not.
    if (op == "Switch" || op == "Enter" || op == "Merge" || op == "Identity" || op == "_SwitchN" ||
        op == "IdentityN") {
      isGood &= !function;
      return;
    }
    if (!writesVariable(op))
      return;
    if (op != "AssignVariableOp" || !found.empty() || input != 0 || node.input_size() < 2 ||
        !function)
      isGood = false;
    path.push_back({function, &node});
    if (isGood)
      found = path;
    path.pop_back();
    // A branch or the body of a loop is a call that does not always run.
    for (const Step &step : found)
      if (attributeOf(*step.node, loweredAttribute))
        isGood = false;
  }

  pb::GraphDef &graph;
  StringMap<pb::FunctionDef *> functions;
  const StringSet<> *needed = nullptr; ///< of the main graph
  std::vector<Step> path, found;
  bool isGood = true;
};

/// Whether the model states all dims of a variable, as those of a state must be known.
bool hasKnownShape(const pb::NodeDef &variable) {
  const pb::AttrValue *shape = attributeOf(variable, "shape");
  return !shape || (!shape->shape().unknown_rank() &&
                    llvm::all_of(shape->shape().dim(), [](auto &dim) { return dim.size() >= 0; }));
}

} // namespace

StringSet<> neededNodes(const pb::GraphDef &graph, const std::vector<NamedTensor> &outputs) {
  StringMap<const pb::NodeDef *> byName;
  for (const pb::NodeDef &node : graph.node())
    byName[node.name()] = &node;
  StringSet<> needed;
  SmallVector<StringRef> open;
  for (const NamedTensor &output : outputs)
    open.push_back(nodeOf(output.tensor));
  while (!open.empty()) {
    StringRef name = open.pop_back_val();
    auto node = byName.find(name);
    if (node == byName.end() || !needed.insert(name).second)
      continue;
    for (StringRef input : node->second->input())
      if (!input.starts_with("^"))
        open.push_back(nodeOf(input));
  }
  return needed;
}

bool makeStates(pb::GraphDef &graph, const std::vector<std::string> &variables,
                std::vector<NamedTensor> &outputs) {
  // Other nodes of the main graph, which save and restore the variables, do not run.
  const StringSet<> needed = neededNodes(graph, outputs);
  WriteSearch search(graph);
  bool any = false;
  for (pb::NodeDef &variable : *graph.mutable_node()) {
    const pb::AttrValue *type = attributeOf(variable, "dtype");
    if (!type || !is_contained(variables, variable.name()) ||
        attributeOf(variable, stateAttribute) || !hasKnownShape(variable))
      continue;
    const std::vector<Step> way = search.run(variable.name(), needed);
    if (way.empty())
      continue;
    // From the write to the main graph, each function returns the value to its caller.
    const std::string result = variable.name() + "/next";
    std::string tensor = way.back().node->input(1);
    for (size_t level = way.size() - 1; level > 0; --level) {
      pb::FunctionDef &function = *way[level].function;
      pb::NodeDef &call = *way[level - 1].node;
      std::string name = "openatc_next_" + std::to_string(function.signature().output_arg_size());
      pb::OpDef::ArgDef &output = *function.mutable_signature()->add_output_arg();
      output.set_name(name);
      output.set_type(type->type());
      (*function.mutable_ret())[name] = tensor;
      const std::string index = std::to_string(function.signature().output_arg_size() - 1);
      const bool isInFunction = way[level - 1].function != nullptr,
                 isPartitioned = StringRef(call.op()).ends_with("PartitionedCall");
      tensor = !isInFunction   ? call.name() + ":" + index
               : isPartitioned ? call.name() + ":output:" + index
                               : call.name() + ":" + name + ":0";
    }
    NamedTensor output;
    output.name = result;
    output.tensor = tensor;
    output.type = type->type();
    outputs.push_back(std::move(output));
    (*variable.mutable_attr())[stateAttribute].set_s(result);
    any = true;
  }
  return any;
}

} // namespace atc::tf_import
