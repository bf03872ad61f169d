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

VariableWrite describeWrite(const pb::NodeDef &node, const std::string &prefix) {
  if (const pb::AttrValue *origin = attributeOf(node, originAttribute))
    return {"", prefix + origin->list().s(0), origin->list().s(1)};
  return {"", prefix + node.name(), node.op()};
}

bool writesVariable(StringRef op) {
  // Among the operators on resources, only the gathers do not write.
  return (op.starts_with("Assign") && op.contains("Variable")) ||
         (op.starts_with("Resource") && !op.starts_with("ResourceGather")) ||
         op.starts_with("RngSkip") || op.starts_with("RngReadAndSkip");
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
  StringMap<std::string> names;
  for (const pb::NodeDef &node : graph.node()) {
    if (attributeOf(node, stateAttribute))
      states.insert(node.name());
    if (const pb::AttrValue *name = attributeOf(node, variableNameAttribute))
      names[node.name()] = "variable '" + name->s() + "'";
  }
  std::string first;
  for (const VariableWrite &write : writes) {
    if (states.contains(write.variable))
      continue;
    const std::string node = "node '" + write.node + "' (" + write.op + ") ";
    const auto name = names.find(write.variable);
    switch (readers.of(write.variable)) {
    case Reader::None:
      break;
    case Reader::Seeds:
      if (counted.insert(write.variable).second && counted.size() == 1)
        first = node;
      break;
    case Reader::Results:
      diagnostics.error(
          "E13010", node + "changes " + (name == names.end() ? "a variable" : name->second) +
                        " while the model runs, and it is no state: the shape of a state is "
                        "known, and functions, in an order that the model states, only read it, "
                        "gather from it, assign, add, subtract, or scatter to it (not by "
                        "ResourceScatterMul or Div)");
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
