//===-- VariableWrites.cpp - variables that a model changes while it runs -===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frontends/tf/variables/VariableWrites.h"

#include "frontends/tf/NodeDefs.h"
#include "frontends/tf/variables/VariableStates.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/StringSwitch.h"

using namespace llvm;

namespace atc::tf_import {

bool writesVariable(StringRef op) {
  // Among the operators on resources, only the gathers do not write.
  return (op.starts_with("Assign") && op.contains("Variable")) ||
         (op.starts_with("Resource") && !op.starts_with("ResourceGather")) ||
         op.starts_with("RngSkip") || op.starts_with("RngReadAndSkip");
}

/// Returns the value that a ReadVariableOp behind a write of its variable reads; null where there
/// is none, or several. Whatever may change the variable before has its handle as an input.
static const std::string *writtenBefore(const pb::NodeDef &read,
                                        const StringMap<const pb::NodeDef *> &nodes) {
  const std::string *value = nullptr;
  for (StringRef input : read.input()) {
    auto found = input.consume_front("^") ? nodes.find(input) : nodes.end();
    if (found == nodes.end())
      continue;
    const pb::NodeDef &before = *found->second;
    if (before.op() == "ReadVariableOp" || !is_contained(before.input(), read.input(0)))
      continue;
    // Calls and branches may write as well, so that one plain assignment alone is known to be read.
    if (value || before.op() != "AssignVariableOp" || before.input_size() < 2 ||
        before.input(0) != read.input(0))
      return nullptr;
    value = &before.input(1);
  }
  return value;
}

/// Makes AssignAddVariableOp and AssignSubVariableOp a read, the sum, and an assignment.
static void splitAdditions(pb::FunctionDef &function) {
  StringSet<> names;
  for (const pb::NodeDef &node : function.node_def())
    names.insert(node.name());
  std::vector<pb::NodeDef> added;
  for (pb::NodeDef &node : *function.mutable_node_def()) {
    const bool isSum = node.op() == "AssignAddVariableOp";
    const pb::AttrValue *type = attributeOf(node, "dtype");
    if ((!isSum && node.op() != "AssignSubVariableOp") || node.input_size() < 2 || !type)
      continue;
    auto add = [&](const char *op, const char *typeName) -> pb::NodeDef & {
      pb::NodeDef &made = added.emplace_back();
      std::string name = node.name() + "/" + op;
      while (!names.insert(name).second)
        name += "_";
      made.set_name(name);
      made.set_op(op);
      (*made.mutable_attr())[typeName] = *type;
      return made;
    };
    pb::NodeDef &read = add("ReadVariableOp", "dtype");
    read.add_input(node.input(0));
    for (int i = 2; i < node.input_size(); ++i)
      read.add_input(node.input(i));
    const std::string old = read.name();
    pb::NodeDef &sum = add(isSum ? "AddV2" : "Sub", "T");
    sum.add_input(old + ":value:0");
    sum.add_input(node.input(1));
    node.set_op("AssignVariableOp");
    node.set_input(1, sum.name() + ":z:0");
    node.add_input("^" + old);
  }
  for (pb::NodeDef &node : added)
    *function.add_node_def() = std::move(node);
}

void forwardWrites(pb::FunctionDef &function) {
  splitAdditions(function);
  StringMap<const pb::NodeDef *> nodes;
  for (const pb::NodeDef &node : function.node_def())
    nodes[node.name()] = &node;
  StringMap<std::string> values;
  for (const pb::NodeDef &node : function.node_def())
    if (node.op() == "ReadVariableOp" && node.input_size() > 0)
      if (const std::string *value = writtenBefore(node, nodes))
        values[node.name() + ":value:0"] = *value;
  auto replace = [&](std::string &tensor) {
    // The value written may be that of a read behind another write. All names on the way get its
    // end, so that a long way is gone once; a circle has no end, and any of its names is that.
    SmallVector<std::string *> way;
    for (auto value = values.find(tensor);
         value != values.end() && value->second != tensor && way.size() < values.size();
         value = values.find(tensor)) {
      way.push_back(&value->second);
      tensor = value->second;
    }
    for (std::string *name : way)
      *name = tensor;
  };
  if (values.empty())
    return;
  for (pb::NodeDef &node : *function.mutable_node_def())
    for (std::string &input : *node.mutable_input())
      replace(input);
  for (auto &[name, tensor] : *function.mutable_ret())
    replace(tensor);
}

void forwardWrites(pb::GraphDef &graph) {
  for (pb::FunctionDef &function : *graph.mutable_library()->mutable_function())
    forwardWrites(function);
}

namespace {

enum class Reader { None, Seeds, Results };

/// The input of an operator that random numbers are drawn from, -1 of others.
int seedInput(StringRef op) {
  return StringSwitch<int>(op)
      .Cases({"StatelessRandomGetKeyCounter", "StatelessRandomGetKeyCounterAlg"}, 0)
      .Cases({"StatelessRandomNormal", "StatelessRandomUniform", "StatelessRandomUniformInt",
              "StatelessRandomUniformFullInt", "StatelessTruncatedNormal"},
             1)
      .Case("StatelessMultinomial", 2)
      .Default(-1);
}

class Readers {
public:
  explicit Readers(const pb::GraphDef &graph) {
    for (const pb::NodeDef &node : graph.node()) {
      // Nodes of one shared name are one variable.
      const pb::AttrValue *shared = attributeOf(node, "shared_name");
      if (node.op() == "VarHandleOp" && shared && !shared->s().empty()) {
        variables[node.name()] = shared->s();
        handles[shared->s()].push_back(node.name());
      }
      for (const auto &[index, input] : enumerate(node.input()))
        readers[nodeOf(input)].emplace_back(&node, index);
    }
  }

  /// Returns what reads the variable behind a tensor; Results where nothing is known of it.
  Reader of(StringRef tensor) const {
    auto variable = variables.find(tensor);
    if (variable == variables.end())
      return Reader::Results;
    Reader result = Reader::None;
    SmallVector<StringRef> open(handles.at(variable->second).begin(),
                                handles.at(variable->second).end());
    StringSet<> seen;
    while (!open.empty()) {
      StringRef name = open.pop_back_val();
      auto found = readers.find(name);
      if (found == readers.end()) {
        // Nothing reads an output of the model; a handle that nothing reads is none.
        if (!variables.contains(name))
          return Reader::Results;
        continue;
      }
      for (const auto &[node, index] : found->second)
        if (seedInput(node->op()) == index)
          result = Reader::Seeds;
        else if (seen.insert(node->name()).second)
          open.push_back(node->name());
    }
    return result;
  }

private:
  StringMap<std::string> variables;
  StringMap<SmallVector<StringRef>> handles;
  StringMap<SmallVector<std::pair<const pb::NodeDef *, int>>> readers;
};

} // namespace

std::vector<std::string> writtenResults(const pb::GraphDef &graph,
                                        const std::vector<VariableWrite> &writes) {
  std::vector<std::string> variables;
  if (writes.empty())
    return variables;
  Readers readers(graph);
  StringMap<std::string> names;
  for (const pb::NodeDef &node : graph.node())
    if (const pb::AttrValue *name = attributeOf(node, variableNameAttribute))
      names[node.name()] = name->s();
  for (const VariableWrite &write : writes)
    if (!write.variable.empty() && readers.of(write.variable) == Reader::Results)
      if (auto name = names.find(write.variable); name != names.end())
        variables.push_back(name->second);
  return variables;
}

bool checkWrites(const pb::GraphDef &graph, const std::vector<VariableWrite> &writes,
                 Diagnostics &diagnostics) {
  if (writes.empty())
    return true;
  Readers readers(graph);
  StringSet<> counted, states;
  for (const pb::NodeDef &node : graph.node())
    if (attributeOf(node, stateAttribute))
      states.insert(node.name());
  std::string first;
  for (const VariableWrite &write : writes) {
    if (states.contains(write.variable))
      continue;
    const std::string node = "node '" + write.node + "' (" + write.op + ") ";
    switch (readers.of(write.variable)) {
    case Reader::None:
      break;
    case Reader::Seeds:
      if (counted.insert(write.variable).second && counted.size() == 1)
        first = node;
      break;
    case Reader::Results:
      diagnostics.error("E13010",
                        node + "changes a variable while the model runs, and not once in each "
                               "run behind all that reads it, as a state must be");
      return false;
    }
  }
  if (counted.empty())
    return true;
  const std::string others =
      counted.size() > 1 ? "and " + std::to_string(counted.size() - 1) + " more like it count"
                         : "counts";
  diagnostics.warning("W11015", first + others +
                                    " the random numbers of layers that draw them for the results: "
                                    "each run draws the same ones. Layers that augment images draw "
                                    "them unless the model is exported with training=False");
  return true;
}

} // namespace atc::tf_import
