//===-- VariableValues.cpp - functions that take the values of variables ---===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frontends/tf/variables/VariableValues.h"

#include <map>
#include <memory>
#include <optional>
#include <tuple>

#include "frontends/tf/NodeDefs.h"
#include "frontends/tf/variables/VariableAccess.h"
#include "frontends/tf/variables/VariableStates.h"
#include "frontends/tf/variables/VariableWrites.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

using namespace llvm;

namespace atc::tf_import {
namespace {

bool isControl(StringRef input) { return input.starts_with("^"); }

/// The functions that a node calls, all with its inputs from `firstInput` on.
struct Callees {
  std::vector<std::string> attributes; ///< with the functions' names; empty for an operator
  std::vector<pb::FunctionDef *> functions;
  int firstInput = 0;
  bool isLoop = false, isPartitioned = true;
  const char *inputTypes = "Tin", *outputTypes = "Tout";
};

/// The order of execution of a function's nodes.
class NodeOrder {
public:
  explicit NodeOrder(const pb::FunctionDef &function) {
    StringMap<int> numbers;
    const int count = function.node_def_size();
    for (int i = 0; i < count; ++i)
      numbers[function.node_def(i).name()] = i;
    before.resize(count);
    std::vector<SmallVector<int>> behind(count);
    std::vector<int> waits(count);
    for (int i = 0; i < count; ++i)
      for (StringRef input : function.node_def(i).input()) {
        input.consume_front("^");
        auto found = numbers.find(nodeOf(input));
        if (found == numbers.end())
          continue;
        before[i].push_back(found->second);
        behind[found->second].push_back(i);
        ++waits[i];
      }
    for (int i = 0; i < count; ++i)
      if (waits[i] == 0)
        nodes.push_back(i);
    for (size_t next = 0; next < nodes.size(); ++next)
      for (int node : behind[nodes[next]])
        if (--waits[node] == 0)
          nodes.push_back(node);
  }

  /// The numbers of the nodes, each behind all that it waits for. Nodes of circles are missing.
  std::vector<int> nodes;

  bool isComplete() const { return nodes.size() == before.size(); }

  /// Whether each user of a variable runs behind one write and before the next one, and the writes
  /// one behind the other. `users` has the writers as well, which `isWriter` tells.
  bool isSequence(ArrayRef<int> users, const std::vector<bool> &isWriter) const {
    if (!isComplete())
      return false;
    // How many writes are known to run before a node and, from the end on, which is the first one
    // known to run behind it.
    std::vector<int> earlier(before.size()), later(before.size());
    int count = 0;
    for (int node : nodes) {
      for (int each : before[node])
        earlier[node] = std::max(earlier[node], earlier[each] + (isWriter[each] ? 1 : 0));
      if (isWriter[node] && earlier[node] != count++)
        return false;
    }
    later.assign(before.size(), count);
    for (int node : reverse(nodes))
      for (int each : before[node])
        later[each] = std::min(later[each], isWriter[node] ? earlier[node] : later[node]);
    return all_of(users, [&](int user) { return isWriter[user] || earlier[user] == later[user]; });
  }

private:
  std::vector<SmallVector<int>> before;
};

/// The order of a function's nodes, and the readers of each tensor.
struct FunctionIndex {
  explicit FunctionIndex(const pb::FunctionDef &function) : order(function) {
    for (int number = 0; number < function.node_def_size(); ++number) {
      const pb::NodeDef &node = function.node_def(number);
      for (int i = 0; i < node.input_size() && !isControl(node.input(i)); ++i) {
        readers[nodeOf(node.input(i))].emplace_back(number, i);
        read.insert(nodeOf(node.input(i)));
      }
    }
    for (const auto &[name, tensor] : function.ret())
      read.insert(nodeOf(tensor));
  }

  NodeOrder order;
  StringMap<SmallVector<std::pair<int, int>>> readers; ///< nodes and their inputs
  StringSet<> read;                                    ///< nodes that something reads
};

class ValuePasser {
public:
  explicit ValuePasser(pb::GraphDef &graph) : graph(graph) {
    for (pb::FunctionDef &function : *graph.mutable_library()->mutable_function())
      functions[function.signature().name()] = &function;
  }

  /// Handles a function that the main graph calls.
  void run(const pb::NodeDef &call) {
    const std::optional<Callees> callees = calleesOf(call);
    if (!callees || callees->attributes.size() > 1 || callees->isLoop)
      return;
    pb::FunctionDef &function = *callees->functions.front();
    if (!done.insert(function.signature().name()).second)
      return;
    StringMap<VariableValue> values;
    std::vector<std::pair<std::string, VariableUse>> written;
    for (int i = 0; i < function.signature().input_arg_size(); ++i) {
      if (function.signature().input_arg(i).type() != pb::DT_RESOURCE || isTwice(call, i))
        continue;
      VariableUse use = useOf(function, i, /*isBody=*/false, 0);
      if (use.isKnown && use.writes)
        written.emplace_back(function.signature().input_arg(i).name(), std::move(use));
    }
    if (written.empty())
      return;
    for (const auto &[handle, use] : written)
      values[handle] = {handle + "/openatc_before:value:0", use.type};
    pb::FunctionDef changed = function;
    rewrite(changed, values);
    for (const auto &[handle, use] : written) {
      pb::NodeDef &read = addNode(changed, handle + "/openatc_before", "ReadVariableOp");
      read.add_input(handle);
      (*read.mutable_attr())["dtype"].set_type(use.type);
      pb::NodeDef &write = addNode(changed, handle + "/openatc_behind", "AssignVariableOp");
      write.add_input(handle);
      write.add_input(values[handle].tensor);
      write.add_input("^" + read.name());
      (*write.mutable_attr())["dtype"].set_type(use.type);
      pb::AttrValue::ListValue &origin = *(*write.mutable_attr())[originAttribute].mutable_list();
      origin.add_s(use.writer);
      origin.add_s(use.writerOp);
    }
    function = std::move(changed);
    indices.erase(function.signature().name());
  }

private:
  static constexpr unsigned maxDepth = 100;

  /// Whether a node has the tensor of input `index` once more.
  static bool isTwice(const pb::NodeDef &node, int index) {
    return index >= node.input_size() || llvm::count(node.input(), node.input(index)) != 1;
  }

  std::optional<Callees> calleesOf(const pb::NodeDef &node) {
    Callees callees;
    const StringRef op = node.op();
    std::vector<std::string> names;
    auto add = [&](const char *attribute) {
      const pb::AttrValue *value = attributeOf(node, attribute);
      names.push_back(value ? value->func().name() : "");
      callees.attributes.push_back(attribute);
    };
    if (op == "PartitionedCall" || op == "StatefulPartitionedCall") {
      add("f");
    } else if (op == "If" || op == "StatelessIf") {
      add("then_branch");
      add("else_branch");
      callees.firstInput = 1;
    } else if (op == "Case" || op == "StatelessCase") {
      if (const pb::AttrValue *branches = attributeOf(node, "branches"))
        for (const pb::NameAttrList &branch : branches->list().func()) {
          names.push_back(branch.name());
          callees.attributes.emplace_back("branches");
        }
      callees.firstInput = 1;
    } else if (op == "While" || op == "StatelessWhile") {
      add("body");
      add("cond");
      callees.isLoop = true;
      callees.inputTypes = callees.outputTypes = "T";
    } else {
      names.push_back(node.op());
      callees.isPartitioned = false;
    }
    for (const std::string &name : names) {
      callees.functions.push_back(functions.lookup(name));
      if (!callees.functions.back())
        return std::nullopt;
    }
    if (names.empty())
      return std::nullopt;
    return callees;
  }

  /// Returns what a function does with an argument. The body of a loop returns it as well.
  VariableUse useOf(const pb::FunctionDef &function, int argument, bool isBody, unsigned depth) {
    auto [known, isNew] =
        uses.try_emplace({function.signature().name(), argument, isBody}, VariableUse());
    if (!isNew)
      return known->second;
    VariableUse &use = known->second;
    use.isKnown = false; // of functions that call themselves
    VariableUse found;
    found.isKnown = depth < maxDepth && argument < function.signature().input_arg_size() &&
                    findUse(function, argument, isBody, depth, found);
    return use = found;
  }

  bool findUse(const pb::FunctionDef &function, int argument, bool isBody, unsigned depth,
               VariableUse &use) {
    const pb::OpDef &signature = function.signature();
    const std::string &name = signature.input_arg(argument).name();
    auto isList = [](const pb::OpDef::ArgDef &each) {
      return !each.number_attr().empty() || !each.type_list_attr().empty();
    };
    if (any_of(signature.input_arg(), isList) || any_of(signature.output_arg(), isList) ||
        signature.input_arg(argument).type() != pb::DT_RESOURCE)
      return false;
    for (const auto &[output, tensor] : function.ret())
      if (nodeOf(tensor) == name && !(isBody && signature.output_arg_size() > argument &&
                                      signature.output_arg(argument).name() == output))
        return false;
    if (isBody) {
      if (signature.output_arg_size() <= argument)
        return false;
      auto ret = function.ret().find(signature.output_arg(argument).name());
      if (ret == function.ret().end() || nodeOf(ret->second) != name)
        return false;
    }
    std::unique_ptr<FunctionIndex> &index = indices[signature.name()];
    if (!index)
      index = std::make_unique<FunctionIndex>(function);
    auto readers = index->readers.find(name);
    if (readers == index->readers.end())
      return true;
    std::vector<int> users;
    std::vector<bool> isWriter(function.node_def_size());
    for (auto [number, i] : readers->second) {
      const pb::NodeDef &node = function.node_def(number);
      VariableUse own;
      if (isTwice(node, i) || !useOfNode(node, i, depth, own) || !use.add(own, ""))
        return false;
      isWriter[number] = own.writes;
      // Reads that nothing needs are everywhere, and ordered by nothing.
      if (node.op() != "ReadVariableOp" || index->read.contains(node.name()))
        users.push_back(number);
    }
    return !use.writes || index->order.isSequence(users, isWriter);
  }

  /// Finds what a node does with a variable whose handle is its input.
  bool useOfNode(const pb::NodeDef &node, int input, unsigned depth, VariableUse &use) {
    if (std::optional<Callees> callees = calleesOf(node)) {
      const int argument = input - callees->firstInput;
      if (argument < 0)
        return false;
      if (callees->isPartitioned) {
        const pb::AttrValue *in = attributeOf(node, callees->inputTypes),
                            *out = attributeOf(node, callees->outputTypes);
        if (!in || !out || argument >= in->list().type_size() ||
            any_of(callees->functions, [&](const pb::FunctionDef *function) {
              return !(callees->isLoop && function == callees->functions[1]) &&
                     function->signature().output_arg_size() != out->list().type_size();
            }))
          return false;
      }
      for (const auto &[number, function] : enumerate(callees->functions)) {
        VariableUse own = useOf(*function, argument, callees->isLoop && number == 0, depth + 1);
        const bool isCondition = callees->isLoop && number == 1;
        if (!own.isKnown || (isCondition && own.writes) || !use.add(own, node.name() + "/"))
          return false;
      }
      return true;
    }
    return input == 0 && addAccess(node, use);
  }

  /// Replaces handles by `values`, from which on those are what the variables have at the end.
  void rewrite(pb::FunctionDef &function, StringMap<VariableValue> &values) {
    StringMap<std::string> renamed;
    for (int number : NodeOrder(function).nodes)
      for (int i = 0; i < function.node_def(number).input_size(); ++i) {
        const std::string input = function.node_def(number).input(i);
        if (isControl(input))
          break;
        auto value = values.find(nodeOf(input));
        if (value == values.end())
          continue;
        if (std::optional<Callees> callees = calleesOf(function.node_def(number))) {
          rewriteCall(*function.mutable_node_def(number), *callees, values);
          break;
        }
        rewriteAccess(function, number, value->second, renamed);
      }
    auto rename = [&](std::string &tensor) {
      if (auto name = renamed.find(tensor); name != renamed.end())
        tensor = name->second;
    };
    for (pb::NodeDef &node : *function.mutable_node_def())
      for (std::string &input : *node.mutable_input())
        rename(input);
    for (auto &[name, tensor] : *function.mutable_ret())
      rename(tensor);
    for (auto &value : values)
      rename(value.second.tensor);
  }

  /// Lets the functions of a call take and return values.
  void rewriteCall(pb::NodeDef &node, const Callees &callees, StringMap<VariableValue> &values) {
    std::vector<int> arguments, returned;
    std::vector<std::pair<int, VariableValue *>> taken;
    for (int i = 0; i < node.input_size(); ++i) {
      if (isControl(node.input(i)))
        break;
      auto value = values.find(nodeOf(node.input(i)));
      if (value == values.end())
        continue;
      const int argument = i - callees.firstInput;
      arguments.push_back(argument);
      taken.emplace_back(i, &value->second);
      if (any_of(enumerate(callees.functions), [&](const auto &each) {
            return useOf(*each.value(), argument, callees.isLoop && each.index() == 0, 0).writes;
          }))
        returned.push_back(argument);
    }
    const int outputs = callees.functions.front()->signature().output_arg_size();
    std::vector<pb::DataType> types;
    for (const auto &[input, value] : taken)
      types.push_back(value->type);
    std::vector<std::string> names;
    for (const auto &[number, function] : enumerate(callees.functions)) {
      const Role role = !callees.isLoop ? Role::Call : number == 0 ? Role::Body : Role::Condition;
      names.push_back(copyOf(*function, arguments, types, returned, role));
    }
    if (!callees.isPartitioned)
      node.set_op(names.front());
    for (size_t number = 0; number < callees.attributes.size(); ++number) {
      pb::AttrValue &attribute = (*node.mutable_attr())[callees.attributes[number]];
      (attribute.has_list() ? attribute.mutable_list()->mutable_func(static_cast<int>(number))
                            : attribute.mutable_func())
          ->set_name(names[number]);
    }
    auto shapes = node.mutable_attr()->find("output_shapes");
    const bool hasShapes = shapes != node.mutable_attr()->end();
    int next = outputs;
    for (auto [argument, operand] : zip_equal(arguments, taken)) {
      auto &[input, value] = operand;
      node.set_input(input, value->tensor);
      if (callees.isPartitioned)
        (*node.mutable_attr())[callees.inputTypes].mutable_list()->set_type(argument, value->type);
      if (callees.isLoop && hasShapes && argument < shapes->second.list().shape_size()) {
        pb::TensorShapeProto &shape = *shapes->second.mutable_list()->mutable_shape(argument);
        shape.Clear();
        shape.set_unknown_rank(true);
      }
      if (!is_contained(returned, argument))
        continue;
      const int index = callees.isLoop ? argument : next++;
      if (callees.isPartitioned) {
        value->tensor = node.name() + ":output:" + std::to_string(index);
        if (!callees.isLoop)
          (*node.mutable_attr())[callees.outputTypes].mutable_list()->add_type(value->type);
      } else {
        value->tensor = node.name() + ":" + returnedName(index) + ":0";
      }
      if (!callees.isLoop && hasShapes)
        shapes->second.mutable_list()->add_shape()->set_unknown_rank(true);
    }
  }

  enum class Role { Call, Body, Condition };

  static std::string returnedName(int index) { return "openatc_written_" + std::to_string(index); }

  /// Returns the name of a copy of a function whose `arguments` are values; it returns those that
  /// are `returned`.
  std::string copyOf(const pb::FunctionDef &function, const std::vector<int> &arguments,
                     const std::vector<pb::DataType> &types, const std::vector<int> &returned,
                     Role role) {
    std::string &name = copies[{function.signature().name(), arguments, returned, role}];
    if (!name.empty())
      return name;
    name = function.signature().name() + "/openatc_values_" + std::to_string(copies.size());
    pb::FunctionDef copy = function;
    copy.mutable_signature()->set_name(name);
    StringMap<VariableValue> values;
    for (auto [argument, type] : zip_equal(arguments, types)) {
      pb::OpDef::ArgDef &taken = *copy.mutable_signature()->mutable_input_arg(argument);
      taken.set_type(type);
      values[taken.name()] = {taken.name(), type};
    }
    rewrite(copy, values);
    for (auto [argument, type] : zip_equal(arguments, types)) {
      const std::string &taken = copy.signature().input_arg(argument).name();
      std::string result;
      if (role == Role::Body) {
        pb::OpDef::ArgDef &output = *copy.mutable_signature()->mutable_output_arg(argument);
        output.set_type(type);
        result = output.name();
      } else if (role == Role::Call && is_contained(returned, argument)) {
        result = returnedName(copy.signature().output_arg_size());
        pb::OpDef::ArgDef &output = *copy.mutable_signature()->add_output_arg();
        output.set_name(result);
        output.set_type(type);
      } else {
        continue;
      }
      (*copy.mutable_ret())[result] = values[taken].tensor;
    }
    pb::FunctionDef &added = *graph.mutable_library()->add_function();
    added = std::move(copy);
    functions[name] = &added;
    return name;
  }

  pb::GraphDef &graph;
  StringMap<pb::FunctionDef *> functions;
  std::map<std::tuple<std::string, int, bool>, VariableUse> uses;
  std::map<std::tuple<std::string, std::vector<int>, std::vector<int>, Role>, std::string> copies;
  StringMap<std::unique_ptr<FunctionIndex>> indices;
  StringSet<> done;
};

} // namespace

void passVariableValues(pb::GraphDef &graph, const std::vector<NamedTensor> &outputs) {
  const StringSet<> needed = neededNodes(graph, outputs);
  ValuePasser passer(graph);
  for (const pb::NodeDef &node : graph.node())
    if (needed.contains(node.name()))
      passer.run(node);
}

} // namespace atc::tf_import
