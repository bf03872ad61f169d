//===-- BranchWrites.cpp - variables that a condition changes --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frontends/tf/variables/BranchWrites.h"

#include "frontends/tf/NodeDefs.h"
#include "frontends/tf/variables/VariableWrites.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

using namespace llvm;

namespace atc::tf_import {
namespace {

/// What a branch does with a variable that it takes.
struct VariableUse {
  std::vector<pb::NodeDef *> reads;
  pb::NodeDef *write = nullptr;
};

/// Removes what a node does, but not its place in the order of execution.
void makeNoOp(pb::NodeDef &node) {
  std::vector<std::string> order;
  for (const std::string &input : node.input())
    if (StringRef(input).starts_with("^"))
      order.push_back(input);
  node.set_op("NoOp");
  node.clear_attr();
  node.clear_input();
  for (std::string &input : order)
    node.add_input(std::move(input));
}

/// Whether a node runs before another one of the same function.
bool runsBefore(const pb::FunctionDef &function, StringRef first, StringRef second) {
  StringMap<const pb::NodeDef *> nodes;
  for (const pb::NodeDef &node : function.node_def())
    nodes[node.name()] = &node;
  StringSet<> seen;
  SmallVector<StringRef> open = {second};
  while (!open.empty()) {
    auto node = nodes.find(open.pop_back_val());
    if (node == nodes.end())
      continue;
    for (StringRef input : node->second->input()) {
      input.consume_front("^");
      if (nodeOf(input) == first)
        return true;
      if (seen.insert(nodeOf(input)).second)
        open.push_back(nodeOf(input));
    }
  }
  return false;
}

class Hoister {
public:
  explicit Hoister(pb::GraphDef &graph) : graph(graph) {
    for (pb::FunctionDef &function : *graph.mutable_library()->mutable_function())
      functions[function.signature().name()] = &function;
    countCalls(graph.node());
    for (const pb::FunctionDef &function : graph.library().function())
      countCalls(function.node_def());
  }

  void run() {
    for (pb::FunctionDef &function : *graph.mutable_library()->mutable_function())
      visit(function);
  }

private:
  void countCalls(const google::protobuf::RepeatedPtrField<pb::NodeDef> &nodes) {
    for (const pb::NodeDef &node : nodes) {
      ++calls[node.op()];
      for (const auto &[name, attribute] : node.attr()) {
        if (attribute.has_func())
          ++calls[attribute.func().name()];
        for (const pb::NameAttrList &function : attribute.list().func())
          ++calls[function.name()];
      }
    }
  }

  /// Returns the branches of a condition; none of other nodes, and where one is called from
  /// elsewhere, too.
  std::vector<pb::FunctionDef *> branchesOf(const pb::NodeDef &node) {
    std::vector<std::string> names;
    if (node.op() == "If" || node.op() == "StatelessIf") {
      for (const char *name : {"then_branch", "else_branch"})
        if (const pb::AttrValue *attribute = attributeOf(node, name))
          names.push_back(attribute->func().name());
    } else if (node.op() == "Case" || node.op() == "StatelessCase") {
      if (const pb::AttrValue *attribute = attributeOf(node, "branches"))
        for (const pb::NameAttrList &function : attribute->list().func())
          names.push_back(function.name());
    }
    std::vector<pb::FunctionDef *> branches;
    for (const std::string &name : names) {
      branches.push_back(functions.lookup(name));
      if (!branches.back() || calls.lookup(name) != 1)
        return {};
    }
    return branches;
  }

  /// Handles the conditions of a function, from the inside out.
  void visit(pb::FunctionDef &function) {
    // Functions that call themselves are refused later.
    if (!visited.insert(function.signature().name()).second)
      return;
    bool any = false;
    for (int i = 0, count = function.node_def_size(); i < count; ++i) {
      pb::NodeDef &node = *function.mutable_node_def(i);
      std::vector<pb::FunctionDef *> branches = branchesOf(node);
      if (branches.empty())
        continue;
      for (pb::FunctionDef *branch : branches)
        visit(*branch);
      std::vector<std::string> writes;
      for (int argument = 0; argument < branches[0]->signature().input_arg_size(); ++argument)
        hoist(function, node, branches, argument, writes);
      if (writes.empty())
        continue;
      any = true;
      orderBehind(function, node.name(), writes);
    }
    if (any)
      forwardWrites(function);
  }

  /// Lets what runs behind a condition run behind the writes, which do.
  static void orderBehind(pb::FunctionDef &function, const std::string &condition,
                          const std::vector<std::string> &writes) {
    for (pb::NodeDef &node : *function.mutable_node_def()) {
      if (!is_contained(node.input(), "^" + condition))
        continue;
      std::vector<std::string> inputs;
      for (const std::string &input : node.input())
        if (input != "^" + condition)
          inputs.push_back(input);
      for (const std::string &write : writes)
        inputs.push_back("^" + write);
      node.clear_input();
      for (std::string &input : inputs)
        node.add_input(std::move(input));
    }
  }

  /// Finds how a branch uses an argument; false where it is more than reads and one write behind
  /// them.
  static bool findUse(pb::FunctionDef &branch, const std::string &argument, VariableUse &use,
                      pb::DataType &type) {
    for (pb::NodeDef &node : *branch.mutable_node_def())
      for (int i = 0; i < node.input_size(); ++i) {
        if (nodeOf(node.input(i)) != argument)
          continue;
        const pb::AttrValue *element = attributeOf(node, "dtype");
        const bool isRead = node.op() == "ReadVariableOp",
                   isWrite = node.op() == "AssignVariableOp" && node.input_size() > 1 && !use.write;
        if (i != 0 || !element || (!isRead && !isWrite))
          return false;
        type = element->type();
        if (isRead)
          use.reads.push_back(&node);
        else
          use.write = &node;
      }
    for (const auto &[name, tensor] : branch.ret())
      if (nodeOf(tensor) == argument)
        return false;
    return !use.write || none_of(use.reads, [&](const pb::NodeDef *read) {
      return runsBefore(branch, use.write->name(), read->name());
    });
  }

  /// Makes a branch take the value of a variable and return its next one.
  static void passValue(pb::FunctionDef &branch, int argument, VariableUse &use,
                        pb::DataType type) {
    pb::OpDef::ArgDef &taken = *branch.mutable_signature()->mutable_input_arg(argument);
    taken.set_type(type);
    for (pb::NodeDef *read : use.reads) {
      const std::string value = read->name() + ":value:0";
      for (pb::NodeDef &node : *branch.mutable_node_def())
        for (std::string &input : *node.mutable_input())
          if (input == value)
            input = taken.name();
      for (auto &[name, tensor] : *branch.mutable_ret())
        if (tensor == value)
          tensor = taken.name();
      makeNoOp(*read);
    }
    const std::string name =
        "openatc_written_" + std::to_string(branch.signature().output_arg_size());
    pb::OpDef::ArgDef &output = *branch.mutable_signature()->add_output_arg();
    output.set_name(name);
    output.set_type(type);
    (*branch.mutable_ret())[name] = use.write ? use.write->input(1) : taken.name();
    if (use.write)
      makeNoOp(*use.write);
  }

  /// Moves the write of the variable that is an argument of the branches behind `condition`, and
  /// adds the name of the write to `writes`. Leaves all as it is where that is not possible.
  void hoist(pb::FunctionDef &function, pb::NodeDef &condition,
             const std::vector<pb::FunctionDef *> &branches, int argument,
             std::vector<std::string> &writes) {
    const int outputs = branches[0]->signature().output_arg_size();
    const std::string handle =
        argument + 1 < condition.input_size() ? condition.input(argument + 1) : "";
    const auto in = condition.mutable_attr()->find("Tin"),
               out = condition.mutable_attr()->find("Tout");
    if (handle.empty() || handle[0] == '^' || count(condition.input(), handle) != 1 ||
        in == condition.mutable_attr()->end() || out == condition.mutable_attr()->end() ||
        argument >= in->second.list().type_size() || out->second.list().type_size() != outputs)
      return;
    std::vector<VariableUse> uses(branches.size());
    pb::DataType type = pb::DT_INVALID;
    for (auto [branch, use] : zip_equal(branches, uses)) {
      const pb::OpDef &signature = branch->signature();
      const bool hasLists =
          any_of(signature.output_arg(), [](auto &each) { return !each.number_attr().empty(); }) ||
          any_of(signature.input_arg(), [](auto &each) { return !each.number_attr().empty(); });
      if (hasLists || signature.output_arg_size() != outputs ||
          argument >= signature.input_arg_size() ||
          signature.input_arg(argument).type() != pb::DT_RESOURCE ||
          !findUse(*branch, signature.input_arg(argument).name(), use, type))
        return;
    }
    if (none_of(uses, [](const VariableUse &use) { return use.write != nullptr; }))
      return;
    for (auto [branch, use] : zip_equal(branches, uses))
      passValue(*branch, argument, use, type);

    const std::string prefix = condition.name() + "/openatc_" + std::to_string(argument);
    pb::NodeDef &read = *function.add_node_def();
    read.set_name(prefix + "_before");
    read.set_op("ReadVariableOp");
    read.add_input(handle);
    for (const std::string &input : condition.input())
      if (StringRef(input).starts_with("^"))
        read.add_input(input);
    (*read.mutable_attr())["dtype"].set_type(type);
    condition.set_input(argument + 1, read.name() + ":value:0");
    in->second.mutable_list()->set_type(argument, type);
    out->second.mutable_list()->add_type(type);
    if (auto shapes = condition.mutable_attr()->find("output_shapes");
        shapes != condition.mutable_attr()->end())
      shapes->second.mutable_list()->add_shape()->set_unknown_rank(true);
    pb::NodeDef &write = *function.add_node_def();
    write.set_name(prefix + "_behind");
    write.set_op("AssignVariableOp");
    write.add_input(handle);
    write.add_input(condition.name() + ":output:" + std::to_string(outputs));
    write.add_input("^" + read.name());
    (*write.mutable_attr())["dtype"].set_type(type);
    writes.push_back(write.name());
  }

  pb::GraphDef &graph;
  StringMap<pb::FunctionDef *> functions;
  StringMap<int> calls;
  StringSet<> visited;
};

} // namespace

void hoistBranchWrites(pb::GraphDef &graph) { Hoister(graph).run(); }

} // namespace atc::tf_import
