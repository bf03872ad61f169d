//===-- LowerControlFlow.cpp - While and If as v1 control flow ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frontends/tf/LowerControlFlow.h"

#include "frontends/tf/LoopFrames.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/Twine.h"

using namespace llvm;

namespace atc::tf_import {

using Nodes = google::protobuf::RepeatedPtrField<pb::NodeDef>;

static bool isWhile(StringRef op) { return op == "While" || op == "StatelessWhile"; }
static bool isIf(StringRef op) { return op == "If" || op == "StatelessIf"; }

bool hasCalls(const pb::GraphDef &graph) {
  StringSet<> functions;
  for (const pb::FunctionDef &function : graph.library().function())
    functions.insert(function.signature().name());
  for (const pb::NodeDef &node : graph.node())
    if (isWhile(node.op()) || isIf(node.op()) || functions.contains(node.op()) ||
        StringRef(node.op()).ends_with("PartitionedCall"))
      return true;
  return false;
}

namespace {

/// Lowers the nodes of one graph or function.
class Lowering {
public:
  Lowering(Nodes &nodes, bool isFunction, Diagnostics &diags)
      : nodes(nodes), isFunction(isFunction), diags(diags) {
    for (const pb::NodeDef &node : nodes)
      names.insert(node.name());
  }

  bool run() {
    Nodes old;
    old.Swap(&nodes);
    bool good = true;
    for (pb::NodeDef &node : old) {
      if (isWhile(node.op()))
        good &= lowerWhile(node);
      else if (isIf(node.op()))
        good &= lowerIf(node);
      else
        *nodes.Add() = std::move(node);
    }
    for (pb::NodeDef &node : nodes)
      for (std::string &input : *node.mutable_input())
        input = renamed(input);
    return good;
  }

  /// Redirects an input that reads result k of a lowered node to the node that computes it.
  std::string renamed(const std::string &input) const {
    StringRef text = input;
    const bool isControl = text.consume_front("^");
    auto [node, rest] = text.split(':');
    auto found = results.find(node);
    if (found == results.end())
      return input;
    // "node:output:2" in a function, "node:2" or "node" in a graph.
    StringRef number = isFunction ? rest.split(':').second : rest;
    size_t index = 0;
    if (!number.empty() && number.getAsInteger(10, index))
      return input;
    const std::vector<std::string> &made = found->second;
    if (isControl)
      return made.empty() ? input : "^" + made.front();
    return index < made.size() ? output(made[index]) : input;
  }

private:
  bool fail(const pb::NodeDef &node, const Twine &text) {
    diags.error("E14001", "node '" + node.name() + "' (" + node.op() + "): " + text);
    return false;
  }

  /// The name of an output as inputs have it.
  std::string output(const std::string &node, StringRef name = "output", int index = 0) const {
    if (isFunction)
      return node + ":" + name.str() + ":0";
    return index ? node + ":" + std::to_string(index) : node;
  }
  std::string onTrue(const std::string &node) const { return output(node, "output_true", 1); }
  std::string onFalse(const std::string &node) const { return output(node, "output_false", 0); }
  /// Result `index` of a call.
  std::string result(const std::string &call, int index) const {
    if (isFunction)
      return call + ":output:" + std::to_string(index);
    return index ? call + ":" + std::to_string(index) : call;
  }

  pb::NodeDef &add(const std::string &name, const char *op, std::vector<std::string> inputs) {
    pb::NodeDef &node = *nodes.Add();
    std::string unique = name;
    while (!names.insert(unique).second)
      unique += "_";
    node.set_name(unique);
    node.set_op(op);
    for (std::string &input : inputs)
      *node.add_input() = std::move(input);
    return node;
  }

  std::string call(const pb::NodeDef &of, const char *attribute,
                   const std::vector<std::string> &inputs) {
    pb::NodeDef &node = add(of.name() + "/" + attribute, "PartitionedCall", inputs);
    *(*node.mutable_attr())["f"].mutable_func() = of.attr().at(attribute).func();
    return node.name();
  }

  bool hasFunctions(const pb::NodeDef &node, const char *first, const char *second) {
    for (const char *name : {first, second})
      if (auto found = node.attr().find(name);
          found == node.attr().end() || !found->second.has_func())
        return fail(node, "attribute '" + Twine(name) + "' is missing; the operator needs it");
    return true;
  }

  bool lowerWhile(const pb::NodeDef &node) {
    if (!hasFunctions(node, "cond", "body"))
      return false;
    std::vector<std::string> switches, mergeOutputs, bodyInputs;
    std::vector<pb::NodeDef *> made;
    std::vector<std::string> inputs = dataInputs(node);
    for (auto [index, input] : enumerate(inputs)) {
      std::string suffix = std::to_string(index);
      pb::NodeDef &enter = add(node.name() + "/enter_" + suffix, "Enter", {input});
      (*enter.mutable_attr())["frame_name"].set_s(node.name());
      std::string from = output(enter.name());
      pb::NodeDef &merge = add(node.name() + "/merge_" + suffix, "Merge", {from});
      made.push_back(&merge);
      mergeOutputs.push_back(output(merge.name()));
    }
    std::string condition = call(node, "cond", mergeOutputs);
    std::string again = add(node.name() + "/again", "LoopCond", {result(condition, 0)}).name();
    for (auto [index, merge] : enumerate(mergeOutputs)) {
      switches.push_back(
          add(node.name() + "/switch_" + std::to_string(index), "Switch", {merge, output(again)})
              .name());
      bodyInputs.push_back(onTrue(switches.back()));
    }
    std::string body = call(node, "body", bodyInputs);
    std::vector<std::string> &exits = results[node.name()];
    for (size_t index = 0; index < inputs.size(); ++index) {
      std::string suffix = std::to_string(index);
      std::string next = add(node.name() + "/next_" + suffix, "NextIteration",
                             {result(body, static_cast<int>(index))})
                             .name();
      made[index]->add_input(output(next));
      exits.push_back(
          add(node.name() + "/exit_" + suffix, "Exit", {onFalse(switches[index])}).name());
    }
    return true;
  }

  bool lowerIf(const pb::NodeDef &node) {
    std::vector<std::string> inputs = dataInputs(node);
    if (!hasFunctions(node, "then_branch", "else_branch"))
      return false;
    if (inputs.empty())
      return fail(node, "input 0 (cond) is missing; the operator needs it");
    std::string condition = inputs.front();
    if (auto type = node.attr().find("Tcond");
        type != node.attr().end() && type->second.type() != pb::DT_BOOL) {
      pb::NodeDef &cast = add(node.name() + "/cond", "Cast", {condition});
      (*cast.mutable_attr())["DstT"].set_type(pb::DT_BOOL);
      condition = isFunction ? cast.name() + ":y:0" : cast.name();
    }
    std::string side = add(node.name() + "/side", "Switch", {condition, condition}).name();
    std::vector<std::string> thenInputs, elseInputs;
    for (size_t index = 1; index < inputs.size(); ++index) {
      std::string name = add(node.name() + "/switch_" + std::to_string(index), "Switch",
                             {inputs[index], condition})
                             .name();
      thenInputs.push_back(onTrue(name));
      elseInputs.push_back(onFalse(name));
    }
    std::string then = call(node, "then_branch", thenInputs);
    std::string other = call(node, "else_branch", elseInputs);
    auto types = node.attr().find("Tout");
    const int count = types == node.attr().end() ? 1 : types->second.list().type_size();
    std::vector<std::string> &merges = results[node.name()];
    for (int index = 0; index < count; ++index) {
      std::string suffix = std::to_string(index);
      // A result that reads nothing of the condition still stands on one side of it.
      std::string first =
          add(node.name() + "/then_" + suffix, "Identity", {result(then, index), onTrue(side)})
              .name();
      std::string second =
          add(node.name() + "/else_" + suffix, "Identity", {result(other, index), onFalse(side)})
              .name();
      merges.push_back(
          add(node.name() + "/merge_" + suffix, "Merge", {output(second), output(first)}).name());
    }
    return true;
  }

  Nodes &nodes;
  bool isFunction;
  Diagnostics &diags;
  StringSet<> names;
  StringMap<std::vector<std::string>> results; ///< the nodes that make them, by lowered nodes
};

} // namespace

bool lowerControlFlow(pb::GraphDef &graph, ArrayRef<std::string *> outputs,
                      Diagnostics &diagnostics) {
  Lowering main(*graph.mutable_node(), /*isFunction=*/false, diagnostics);
  bool good = main.run();
  for (std::string *output : outputs)
    *output = main.renamed(*output);
  for (pb::FunctionDef &function : *graph.mutable_library()->mutable_function()) {
    Lowering lowering(*function.mutable_node_def(), /*isFunction=*/true, diagnostics);
    good &= lowering.run();
    for (auto &[name, tensor] : *function.mutable_ret())
      tensor = lowering.renamed(tensor);
  }
  return good;
}

} // namespace atc::tf_import
