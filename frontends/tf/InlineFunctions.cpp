//===-- InlineFunctions.cpp - makes a graph without function calls --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frontends/tf/InlineFunctions.h"

#include <optional>

#include "frontends/tf/OperatorOutputs.h"
#include "frontends/tf/variables/VariableWrites.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

using namespace llvm;

namespace atc::tf_import {

using Attributes = google::protobuf::Map<std::string, pb::AttrValue>;
using Nodes = google::protobuf::RepeatedPtrField<pb::NodeDef>;

static bool isCallOperator(StringRef op) {
  return op == "PartitionedCall" || op == "StatefulPartitionedCall";
}

namespace {

/// The main graph or one call of a function.
struct Scope {
  StringMap<const pb::NodeDef *> nodes;
  const pb::FunctionDef *function = nullptr;
  const Attributes *attributes = nullptr;
  std::string prefix;
  /// The tensors of the caller that each argument of the function stands for.
  StringMap<std::vector<std::string>> arguments;
  StringMap<std::string> names;
  StringMap<std::vector<std::string>> callResults;
};

/// "node:output:2", taken apart.
struct Reference {
  StringRef node, output;
  uint64_t index = 0;
};

class Inliner {
public:
  Inliner(const pb::GraphDef &graph, const pb::OpList &operators, pb::GraphDef &result,
          std::vector<VariableWrite> &writes, Diagnostics &diagnostics)
      : graph(graph), result(result), diagnostics(diagnostics), writes(writes) {
    for (const pb::OpDef &op : operators.op())
      operatorDefs[op.name()] = &op;
    fileNodes = graph.node_size();
    for (const pb::FunctionDef &function : graph.library().function()) {
      fileNodes += function.node_def_size();
      functions[function.signature().name()] = &function;
      operatorDefs[function.signature().name()] = &function.signature();
    }
  }

  bool run(std::vector<NamedTensor> &inputs, std::vector<NamedTensor> &outputs);

private:
  bool fail(ErrorCode code, const Twine &text) {
    diagnostics.error(code, text);
    return false;
  }
  std::optional<Reference> parse(const Scope &scope, StringRef text);
  bool setNodes(Scope &scope, const Nodes &nodes);
  bool emitScope(Scope &scope, ArrayRef<StringRef> roots, unsigned depth);
  std::vector<const pb::NodeDef *> orderNodes(Scope &scope, ArrayRef<StringRef> roots);
  bool emitNode(Scope &scope, const pb::NodeDef &node);
  bool emitCall(Scope &scope, const pb::NodeDef &node, unsigned depth);
  bool openFunction(const pb::FunctionDef &function, const std::string &where, unsigned depth);
  bool openScope(Scope &inner, const pb::FunctionDef &function, std::string prefix);
  bool noteWrites(Scope &scope, unsigned depth);
  bool canWrite(const pb::FunctionDef &function, unsigned depth);
  bool noteWritesOfCall(Scope &scope, const pb::NodeDef &node, const pb::FunctionDef &function,
                        unsigned depth);
  std::string handleOf(const Scope &scope, StringRef text);
  std::optional<std::string> resolve(Scope &scope, StringRef text, StringRef user);
  const std::string &nameOf(Scope &scope, StringRef node);
  std::string uniqueName(std::string base);
  const pb::FunctionDef *calledFunction(const pb::NodeDef &node, bool &isCall);
  std::optional<uint64_t> outputIndex(const pb::NodeDef &node, const Reference &reference);
  bool spend(uint64_t bytes);
  bool addNode(uint64_t bytes);

  const pb::GraphDef &graph;
  pb::GraphDef &result;
  Diagnostics &diagnostics;
  StringMap<const pb::OpDef *> operatorDefs;
  StringMap<const pb::FunctionDef *> functions;
  /// Tensors of the main graph that are inputs of the model.
  StringMap<std::string> cuts;
  StringSet<> usedNames;
  StringSet<> activeFunctions;
  /// Whether functions, or those that they call, write variables.
  DenseMap<const pb::FunctionDef *, bool> writers;
  std::vector<VariableWrite> &writes; ///< of the functions that are called
  uint64_t spent = 0, fileNodes = 0;  ///< bytes; nodes of the graph and all functions
};

} // namespace

// Functions that call each other twice at every level grow exponentially.
static constexpr uint64_t maxInlinedBytes = 1ull << 31, maxAddedNodes = 500'000;
static constexpr unsigned maxDepth = 200;

bool Inliner::spend(uint64_t bytes) {
  spent += bytes + 256;
  return spent <= maxInlinedBytes ||
         fail("E13005", "the functions of the model call each other so often that the graph "
                        "without calls would have more than 2 GB");
}

/// Counts a node that stands in the result, of `bytes` bytes. False after an error.
bool Inliner::addNode(uint64_t bytes) {
  if (uint64_t(result.node_size()) < fileNodes + maxAddedNodes)
    return spend(bytes);
  return fail("E16006",
              "the functions of the model, each as often as it is called, have more than " +
                  Twine(maxAddedNodes) + " nodes beside the " + Twine(fileNodes) +
                  " of the file: call functions less often");
}

/// Returns how many outputs an attribute says that there are: a number, or one per type of a list.
static uint64_t outputCount(const std::string &name, const Attributes &attributes) {
  auto found = attributes.find(name);
  if (name.empty() || found == attributes.end())
    return 1;
  return found->second.has_list() ? found->second.list().type_size()
                                  : std::max<int64_t>(found->second.i(), 0);
}

static uint64_t argumentCount(const pb::OpDef::ArgDef &argument, const Attributes &attributes) {
  return outputCount(argument.number_attr().empty() ? argument.type_list_attr()
                                                    : argument.number_attr(),
                     attributes);
}

std::optional<Reference> Inliner::parse(const Scope &scope, StringRef text) {
  Reference reference;
  auto [node, rest] = text.split(':');
  reference.node = node;
  if (scope.function) {
    auto [output, index] = rest.split(':');
    // "argument:0" has an index where nodes have an output's name.
    if (index.empty() && !output.empty() && !output.getAsInteger(10, reference.index))
      return reference;
    reference.output = output;
    rest = index;
  }
  if (!rest.empty() && rest.getAsInteger(10, reference.index))
    return std::nullopt;
  return reference;
}

std::optional<uint64_t> Inliner::outputIndex(const pb::NodeDef &node, const Reference &reference) {
  if (reference.output.empty())
    return reference.index;
  // A call names its results by the one list it gives, not by the function's outputs.
  if (isCallOperator(node.op()))
    return reference.index;
  auto definition = operatorDefs.find(node.op());
  if (definition != operatorDefs.end()) {
    uint64_t index = 0;
    for (const pb::OpDef::ArgDef &output : definition->second->output_arg()) {
      if (output.name() == reference.output)
        return index + reference.index;
      index += argumentCount(output, node.attr());
    }
    return std::nullopt;
  }
  const SmallVector<KnownOutput> known = knownOutputs(node.op());
  if (known.empty())
    return reference.index;
  uint64_t index = 0;
  for (const KnownOutput &output : known) {
    if (output.name == reference.output)
      return index + reference.index;
    index += outputCount(output.count.str(), node.attr());
  }
  return std::nullopt;
}

bool Inliner::setNodes(Scope &scope, const Nodes &nodes) {
  for (const pb::NodeDef &node : nodes)
    if (!scope.nodes.try_emplace(node.name(), &node).second)
      return fail(
          "E13009",
          "two nodes have the name '" + node.name() + "'" +
              (scope.function ? " in function '" + scope.function->signature().name() + "'" : ""));
  return true;
}

std::string Inliner::uniqueName(std::string base) {
  if (usedNames.insert(base).second)
    return base;
  for (unsigned number = 1;; ++number) {
    std::string name = base + "_" + std::to_string(number);
    if (usedNames.insert(name).second)
      return name;
  }
}

const std::string &Inliner::nameOf(Scope &scope, StringRef node) {
  auto [known, isNew] = scope.names.try_emplace(node);
  if (isNew)
    known->second = uniqueName(scope.prefix + node.str());
  return known->second;
}

std::optional<std::string> Inliner::resolve(Scope &scope, StringRef text, StringRef user) {
  auto missing = [&](const Twine &reason) {
    diagnostics.error("E13005",
                      "node '" + scope.prefix + user + "' reads '" + text + "', " + reason);
    return std::nullopt;
  };
  std::optional<Reference> reference = parse(scope, text);
  if (!reference)
    return missing("which is not the name of a tensor");
  if (!scope.function) {
    auto cut = cuts.find((reference->node + ":" + Twine(reference->index)).str());
    if (cut != cuts.end())
      return cut->second;
  }
  auto argument = scope.arguments.find(reference->node);
  if (argument != scope.arguments.end()) {
    if (reference->index >= argument->second.size())
      return missing("but that argument has only " + Twine(argument->second.size()) + " values");
    return argument->second[reference->index];
  }
  auto node = scope.nodes.find(reference->node);
  if (node == scope.nodes.end())
    return missing("which does not exist");
  std::optional<uint64_t> index = outputIndex(*node->second, *reference);
  if (!index)
    return missing("but a node of type " + node->second->op() + " has no output of that name");
  bool isCall = false;
  calledFunction(*node->second, isCall);
  if (isCall) {
    auto results = scope.callResults.find(reference->node);
    if (results == scope.callResults.end())
      return missing("which in turn depends on this node");
    if (*index >= results->second.size())
      return missing("but that call has only " + Twine(results->second.size()) + " results");
    return results->second[*index];
  }
  const std::string &name = nameOf(scope, reference->node);
  return *index == 0 ? name : name + ":" + std::to_string(*index);
}

const pb::FunctionDef *Inliner::calledFunction(const pb::NodeDef &node, bool &isCall) {
  StringRef name = node.op();
  isCall = isCallOperator(name);
  if (isCall) {
    auto attribute = node.attr().find("f");
    if (attribute == node.attr().end())
      return nullptr;
    name = attribute->second.func().name();
  }
  auto function = functions.find(name);
  if (function == functions.end())
    return nullptr;
  isCall = true;
  return function->second;
}

/// Lists the nodes that `roots` need, each after the nodes it reads. (Loops of old
/// control flow close a circle; the edge that closes it does not count.)
std::vector<const pb::NodeDef *> Inliner::orderNodes(Scope &scope, ArrayRef<StringRef> roots) {
  struct Visit {
    const pb::NodeDef *node;
    int nextInput;
  };
  std::vector<const pb::NodeDef *> order;
  std::vector<Visit> stack;
  std::vector<std::string> pending;
  StringSet<> seen;
  auto closesLoop = [&](const pb::NodeDef &node, StringRef input) {
    auto from = scope.nodes.find(input.split(':').first);
    return node.op() == "Merge" && from != scope.nodes.end() &&
           from->second->op() == "NextIteration";
  };
  auto enter = [&](StringRef text) {
    std::optional<Reference> reference = parse(scope, text);
    if (!reference ||
        (!scope.function && cuts.contains((reference->node + ":" + Twine(reference->index)).str())))
      return;
    auto node = scope.nodes.find(reference->node);
    if (!scope.arguments.contains(reference->node) && node != scope.nodes.end() &&
        seen.insert(reference->node).second)
      stack.push_back({node->second, 0});
  };
  for (StringRef root : roots)
    pending.push_back(root.str());
  // The nodes that close a loop are placed after all nodes inside it.
  for (size_t next = 0; next < pending.size(); ++next) {
    enter(std::string(pending[next]));
    while (!stack.empty()) {
      Visit &top = stack.back();
      if (top.nextInput == top.node->input_size()) {
        order.push_back(top.node);
        stack.pop_back();
        continue;
      }
      StringRef input = top.node->input(top.nextInput++);
      if (closesLoop(*top.node, input))
        pending.push_back(input.str());
      else if (!input.starts_with("^"))
        enter(input);
    }
  }
  return order;
}

/// Replaces what names an attribute of the function by its value in this call.
static void substitute(pb::AttrValue &value, const Attributes *outer) {
  if (value.value_case() == pb::AttrValue::kPlaceholder && outer) {
    auto found = outer->find(value.placeholder());
    if (found != outer->end()) {
      pb::AttrValue actual = found->second;
      value = std::move(actual);
    }
  } else if (value.value_case() == pb::AttrValue::kFunc) {
    for (auto &[name, nested] : *value.mutable_func()->mutable_attr())
      substitute(nested, outer);
  }
}

bool Inliner::emitNode(Scope &scope, const pb::NodeDef &node) {
  pb::NodeDef emitted;
  emitted.set_name(nameOf(scope, node.name()));
  emitted.set_op(node.op());
  emitted.set_device(node.device());
  *emitted.mutable_attr() = node.attr();
  for (auto &[name, value] : *emitted.mutable_attr())
    substitute(value, scope.attributes);
  // Each call of a function has loops of its own.
  if (auto frame = emitted.mutable_attr()->find("frame_name");
      frame != emitted.mutable_attr()->end())
    frame->second.set_s(scope.prefix + frame->second.s());
  for (const std::string &input : node.input()) {
    if (StringRef(input).starts_with("^"))
      continue;
    std::optional<std::string> tensor = resolve(scope, input, node.name());
    if (!tensor)
      return false;
    *emitted.add_input() = std::move(*tensor);
  }
  if (!addNode(emitted.ByteSizeLong()))
    return false;
  *result.add_node() = std::move(emitted);
  return true;
}

/// The attributes that a call gives its function.
static Attributes callAttributes(const pb::NodeDef &node, const Attributes *outer) {
  Attributes attributes =
      isCallOperator(node.op()) ? node.attr().at("f").func().attr() : node.attr();
  for (auto &[key, value] : attributes)
    substitute(value, outer);
  return attributes;
}

/// Checks that the function may be called, and makes it active.
bool Inliner::openFunction(const pb::FunctionDef &function, const std::string &where,
                           unsigned depth) {
  const std::string &name = function.signature().name();
  if (!activeFunctions.insert(name).second)
    return fail("E13005", where + " calls function '" + name +
                              "' from within itself: recursion is "
                              "not supported");
  return depth < maxDepth ||
         fail("E13005", where + " is nested more than " + Twine(maxDepth) + " calls deep");
}

/// Sets the nodes of a scope whose names begin with `prefix`.
bool Inliner::openScope(Scope &inner, const pb::FunctionDef &function, std::string prefix) {
  inner.function = &function;
  inner.prefix = std::move(prefix);
  return spend(inner.prefix.size() + 64 * function.node_def_size()) &&
         setNodes(inner, function.node_def());
}

bool Inliner::emitCall(Scope &scope, const pb::NodeDef &node, unsigned depth) {
  bool isCall = false;
  const pb::FunctionDef *function = calledFunction(node, isCall);
  std::string where = "node '" + scope.prefix + node.name() + "'";
  if (!function) {
    auto attribute = node.attr().find("f");
    StringRef name =
        attribute == node.attr().end() ? "" : StringRef(attribute->second.func().name());
    return fail("E12013", where + " calls function '" + name + "', which the model does not have");
  }
  const std::string &name = function->signature().name();
  if (!openFunction(*function, where, depth))
    return false;
  Scope inner;
  const Attributes attributes = callAttributes(node, scope.attributes);
  inner.attributes = &attributes;
  if (!openScope(inner, *function, nameOf(scope, node.name()) + "/"))
    return false;

  std::vector<std::string> values;
  for (const std::string &input : node.input()) {
    if (StringRef(input).starts_with("^"))
      continue;
    std::optional<std::string> tensor = resolve(scope, input, node.name());
    if (!tensor)
      return false;
    if (!spend(tensor->size()))
      return false;
    values.push_back(std::move(*tensor));
  }
  size_t next = 0;
  bool fits = true;
  for (const pb::OpDef::ArgDef &argument : function->signature().input_arg()) {
    std::vector<std::string> &own = inner.arguments[argument.name()];
    uint64_t count = argumentCount(argument, attributes);
    for (; count > 0 && next < values.size(); --count)
      own.push_back(values[next++]);
    fits &= count == 0;
  }
  if (!fits || next != values.size())
    return fail("E13005", where + " passes " + Twine(values.size()) + " values to function '" +
                              name + "', which takes another number");
  // The calls inside have been noted with it.
  if (depth == 0 && !noteWrites(inner, depth))
    return false;

  std::vector<StringRef> roots;
  for (const pb::OpDef::ArgDef &output : function->signature().output_arg()) {
    auto ret = function->ret().find(output.name());
    if (ret == function->ret().end())
      return fail("E13005", "function '" + name + "' does not say what its output '" +
                                output.name() + "' is");
    roots.push_back(ret->second);
  }
  if (!emitScope(inner, roots, depth + 1))
    return false;
  std::vector<std::string> &results = scope.callResults[node.name()];
  for (StringRef root : roots) {
    std::optional<std::string> tensor = resolve(inner, root, "<return>");
    if (!tensor)
      return false;
    results.push_back(std::move(*tensor));
  }
  activeFunctions.erase(name);
  return true;
}

/// Returns the tensor of the main graph that a handle is; empty where it is not known. Lowered
/// branches and loops pass handles through these operators.
std::string Inliner::handleOf(const Scope &scope, StringRef text) {
  for (size_t steps = 0; steps <= scope.nodes.size(); ++steps) {
    std::optional<Reference> reference = parse(scope, text);
    if (!reference)
      break;
    if (auto own = scope.arguments.find(reference->node); own != scope.arguments.end())
      return reference->index < own->second.size() ? own->second[reference->index] : "";
    auto node = scope.nodes.find(reference->node);
    if (node == scope.nodes.end() || node->second->input_size() == 0 ||
        !is_contained({"Switch", "Enter", "Merge", "Identity"}, StringRef(node->second->op())))
      break;
    text = node->second->input(0);
  }
  return "";
}

/// Returns whether a function or one that it calls has an operator that writes. Too deep a nesting,
/// which is an error later, counts as one that does.
bool Inliner::canWrite(const pb::FunctionDef &function, unsigned depth) {
  if (depth > maxDepth)
    return true;
  // A function that calls itself is an error later.
  auto [known, isNew] = writers.try_emplace(&function, false);
  if (!isNew)
    return known->second;
  const bool result = llvm::any_of(function.node_def(), [&](const pb::NodeDef &node) {
    bool isCall = false;
    const pb::FunctionDef *called = calledFunction(node, isCall);
    return called ? canWrite(*called, depth + 1) : writesVariable(node.op());
  });
  return writers[&function] = result;
}

/// Collects the writes of a function and of those it calls. Everything in a function that has an
/// effect runs, even if no result needs it.
bool Inliner::noteWrites(Scope &scope, unsigned depth) {
  for (const pb::NodeDef &node : scope.function->node_def()) {
    bool isCall = false;
    if (const pb::FunctionDef *function = calledFunction(node, isCall)) {
      // Calls that double at every level and write nothing are not followed.
      if (canWrite(*function, depth) && !noteWritesOfCall(scope, node, *function, depth + 1))
        return false;
      continue;
    }
    if (!writesVariable(node.op()))
      continue;
    VariableWrite write = describeWrite(node, scope.prefix);
    // Optimizers write several variables; all others have theirs first.
    const StringRef op = node.op();
    if (node.input_size() > 0 && !op.starts_with("ResourceApply") &&
        !op.starts_with("ResourceSparseApply"))
      write.variable = handleOf(scope, node.input(0));
    if (!spend(write.variable.size() + write.node.size()))
      return false;
    writes.push_back(std::move(write));
  }
  return true;
}

bool Inliner::noteWritesOfCall(Scope &scope, const pb::NodeDef &node,
                               const pb::FunctionDef &function, unsigned depth) {
  if (!openFunction(function, "node '" + scope.prefix + node.name() + "'", depth))
    return false;
  Scope inner;
  const Attributes attributes = callAttributes(node, scope.attributes);
  inner.attributes = &attributes;
  if (!openScope(inner, function, scope.prefix + node.name() + "/"))
    return false;
  int next = 0; // data inputs come before control inputs
  for (const pb::OpDef::ArgDef &argument : function.signature().input_arg()) {
    std::vector<std::string> &own = inner.arguments[argument.name()];
    for (uint64_t n = argumentCount(argument, attributes); n > 0 && next < node.input_size(); --n) {
      own.push_back(handleOf(scope, node.input(next++)));
      if (!spend(own.back().size()))
        return false;
    }
  }
  if (!noteWrites(inner, depth))
    return false;
  activeFunctions.erase(function.signature().name());
  return true;
}

bool Inliner::emitScope(Scope &scope, ArrayRef<StringRef> roots, unsigned depth) {
  for (const pb::NodeDef *node : orderNodes(scope, roots)) {
    bool isCall = false;
    calledFunction(*node, isCall);
    if (!(isCall ? emitCall(scope, *node, depth) : emitNode(scope, *node)))
      return false;
  }
  return true;
}

bool Inliner::run(std::vector<NamedTensor> &inputs, std::vector<NamedTensor> &outputs) {
  Scope main;
  if (!setNodes(main, graph.node()))
    return false;
  // The names users know come first, so that no other node takes one.
  std::vector<std::string> outputNames;
  for (NamedTensor &input : inputs) {
    std::optional<Reference> reference = parse(main, input.tensor);
    if (!reference || !main.nodes.contains(reference->node))
      return fail("E13005", "the model's input '" + input.name + "' is tensor '" + input.tensor +
                                "', which does not exist");
    std::string name = uniqueName(input.name);
    cuts[(reference->node + ":" + Twine(reference->index)).str()] = name;
    pb::NodeDef &node = *result.add_node();
    node.set_name(name);
    node.set_op("Placeholder");
    (*node.mutable_attr())["dtype"].set_type(input.type);
    *(*node.mutable_attr())["shape"].mutable_shape() = input.shape;
    input.name = input.tensor = name;
  }
  for (const NamedTensor &output : outputs)
    outputNames.push_back(uniqueName(output.name));

  std::vector<StringRef> roots;
  for (const NamedTensor &output : outputs)
    roots.push_back(output.tensor);
  if (!emitScope(main, roots, 0))
    return false;
  for (auto [output, name] : llvm::zip(outputs, outputNames)) {
    std::optional<std::string> tensor = resolve(main, output.tensor, output.name);
    if (!tensor)
      return false;
    pb::NodeDef &node = *result.add_node();
    node.set_name(name);
    node.set_op("Identity");
    node.add_input(*tensor);
    (*node.mutable_attr())["T"].set_type(output.type);
    output.name = output.tensor = name;
  }
  *result.mutable_versions() = graph.versions();
  return true;
}

bool inlineFunctions(const pb::GraphDef &graph, const pb::OpList &operators,
                     std::vector<NamedTensor> &inputs, std::vector<NamedTensor> &outputs,
                     pb::GraphDef &result, std::vector<VariableWrite> &writes,
                     Diagnostics &diagnostics) {
  return Inliner(graph, operators, result, writes, diagnostics).run(inputs, outputs);
}

} // namespace atc::tf_import
