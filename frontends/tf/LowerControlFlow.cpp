//===-- LowerControlFlow.cpp - While, If and Case as v1 control flow ------===//
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
static bool isCase(StringRef op) { return op == "Case" || op == "StatelessCase"; }
/// Returns whether an operator is the form of Case in frozen graphs: a Switch with an output for
/// each branch.
static bool isSwitchOfMany(StringRef op) { return op == "_SwitchN"; }

bool hasCalls(const pb::GraphDef &graph) {
  StringSet<> functions;
  for (const pb::FunctionDef &function : graph.library().function())
    functions.insert(function.signature().name());
  for (const pb::NodeDef &node : graph.node())
    if (isWhile(node.op()) || isIf(node.op()) || isCase(node.op()) || isSwitchOfMany(node.op()) ||
        functions.contains(node.op()) || StringRef(node.op()).ends_with("PartitionedCall"))
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
      else if (isCase(node.op()))
        good &= lowerCase(node);
      else if (isSwitchOfMany(node.op()))
        good &= lowerSwitch(node);
      else if (node.op() == "Merge" && dataInputs(node).size() > 2)
        lowerMerge(node);
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

  std::string call(const pb::NodeDef &of, const std::string &name, const pb::NameAttrList &function,
                   const std::vector<std::string> &inputs) {
    pb::NodeDef &node = add(of.name() + "/" + name, "PartitionedCall", inputs);
    *(*node.mutable_attr())["f"].mutable_func() = function;
    (*node.mutable_attr())[loweredAttribute].set_b(name == "cond" || name == "body");
    return node.name();
  }
  std::string call(const pb::NodeDef &of, const char *attribute,
                   const std::vector<std::string> &inputs) {
    return call(of, attribute, of.attr().at(attribute).func(), inputs);
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
    inputs.erase(inputs.begin());
    Sides sides = part(node, "", condition, inputs);
    std::string then = call(node, "then_branch", sides.onTrue);
    std::string other = call(node, "else_branch", sides.onFalse);
    results[node.name()] = join(node, "", sides, resultsOf(node, then), resultsOf(node, other));
    return true;
  }

  /// Makes the chain of conditions: index == 0, else index == 1, ..., else the last branch, which
  /// an index out of range takes as well.
  bool lowerCase(const pb::NodeDef &node) {
    std::vector<std::string> inputs = dataInputs(node);
    auto branches = node.attr().find("branches");
    const int count = branches == node.attr().end() ? 0 : branches->second.list().func_size();
    if (count == 0)
      return fail(node, "attribute 'branches' is missing; the operator needs it");
    if (inputs.empty())
      return fail(node, "input 0 (branch_index) is missing; the operator needs it");
    std::vector<Sides> sides;
    std::vector<std::vector<std::string>> made;
    for (int number = 0; number < count; ++number) {
      const std::string suffix = "_" + std::to_string(number);
      const pb::NameAttrList &function = branches->second.list().func(number);
      std::vector<std::string> arguments;
      if (number + 1 < count) {
        sides.push_back(part(node, suffix, isNumber(inputs[0], number), inputs));
        arguments = sides.back().onTrue;
        // The index stands on the other side as well, where the next condition reads it.
        inputs = sides.back().onFalse;
      } else {
        arguments = inputs;
      }
      arguments.erase(arguments.begin());
      made.push_back(resultsOf(node, call(node, "branch" + suffix, function, arguments)));
    }
    std::vector<std::string> chosen = made.back();
    for (int number = count - 2; number >= 0; --number) {
      std::vector<std::string> merges =
          join(node, "_" + std::to_string(number), sides[number], made[number], chosen);
      results[node.name()] = merges;
      for (auto [to, merge] : zip_equal(chosen, merges))
        to = output(merge);
    }
    if (count == 1)
      for (std::string &value : chosen)
        results[node.name()].push_back(add(node.name() + "/only", "Identity", {value}).name());
    return true;
  }

  /// Returns whether the index of a branch is `number`: the same tensor for all that ask.
  std::string isNumber(const std::string &index, int number) {
    std::string &answer = answers[index + "=" + std::to_string(number)];
    if (!answer.empty())
      return answer;
    const std::string base = "branch_" + std::to_string(number);
    pb::NodeDef &wanted = add(base + "/number", "Const", {});
    (*wanted.mutable_attr())["dtype"].set_type(pb::DT_INT32);
    pb::TensorProto &value = *(*wanted.mutable_attr())["value"].mutable_tensor();
    value.set_dtype(pb::DT_INT32);
    value.mutable_tensor_shape();
    value.add_int_val(number);
    answer = output(add(base + "/taken", "Equal", {index, output(wanted.name())}).name(), "z");
    return answer;
  }

  /// Makes a chain of Switches of two outputs.
  bool lowerSwitch(const pb::NodeDef &node) {
    std::vector<std::string> inputs = dataInputs(node);
    auto outs = node.attr().find("num_outs");
    if (inputs.size() != 2 || outs == node.attr().end() || outs->second.i() < 1)
      return fail(node, "expected 2 inputs and an attribute 'num_outs'");
    const int count = static_cast<int>(std::min<int64_t>(outs->second.i(), 1 << 16));
    std::string value = inputs[0];
    auto keep = [&](int number, const std::string &from) {
      results[node.name()].push_back(
          add(node.name() + "/out_" + std::to_string(number), "Identity", {from}).name());
    };
    for (int number = 0; number + 1 < count; ++number) {
      const std::string name = add(node.name() + "/switch_" + std::to_string(number), "Switch",
                                   {value, isNumber(inputs[1], number)})
                                   .name();
      keep(number, onTrue(name));
      value = onFalse(name);
    }
    keep(count - 1, value);
    return true;
  }

  /// Makes a chain of Merges of two inputs.
  void lowerMerge(pb::NodeDef &node) {
    std::vector<std::string> inputs = dataInputs(node);
    std::string rest = inputs.back();
    for (size_t index = inputs.size() - 2; index > 0; --index)
      rest = output(
          add(node.name() + "/merge_" + std::to_string(index), "Merge", {inputs[index], rest})
              .name());
    node.clear_input();
    node.add_input(inputs.front());
    node.add_input(rest);
    *nodes.Add() = std::move(node);
  }

  /// Values on each side of a condition, and the condition itself there.
  struct Sides {
    std::vector<std::string> onTrue, onFalse;
    std::string side;
  };

  Sides part(const pb::NodeDef &node, const std::string &suffix, const std::string &condition,
             ArrayRef<std::string> values) {
    Sides sides;
    sides.side = add(node.name() + "/side" + suffix, "Switch", {condition, condition}).name();
    for (auto [index, value] : enumerate(values)) {
      std::string name = add(node.name() + "/switch" + suffix + "_" + std::to_string(index),
                             "Switch", {value, condition})
                             .name();
      sides.onTrue.push_back(onTrue(name));
      sides.onFalse.push_back(onFalse(name));
    }
    return sides;
  }

  /// Returns the nodes that choose between the values of both sides.
  std::vector<std::string> join(const pb::NodeDef &node, const std::string &suffix,
                                const Sides &sides, ArrayRef<std::string> then,
                                ArrayRef<std::string> other) {
    std::vector<std::string> merges;
    for (auto [index, values] : enumerate(zip_equal(then, other))) {
      const std::string end = suffix + "_" + std::to_string(index);
      // A result that reads nothing of the condition still stands on one side of it.
      std::string first =
          add(node.name() + "/then" + end, "Identity", {std::get<0>(values), onTrue(sides.side)})
              .name();
      std::string second =
          add(node.name() + "/else" + end, "Identity", {std::get<1>(values), onFalse(sides.side)})
              .name();
      merges.push_back(
          add(node.name() + "/merge" + end, "Merge", {output(second), output(first)}).name());
    }
    return merges;
  }

  /// Returns the results of a branch of `node`.
  std::vector<std::string> resultsOf(const pb::NodeDef &node, const std::string &call) const {
    auto types = node.attr().find("Tout");
    const int count = types == node.attr().end() ? 1 : types->second.list().type_size();
    std::vector<std::string> values;
    for (int index = 0; index < count; ++index)
      values.push_back(result(call, index));
    return values;
  }

  Nodes &nodes;
  bool isFunction;
  Diagnostics &diags;
  StringSet<> names;
  StringMap<std::string> answers;              ///< of isNumber()
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
