//===-- AirControl.cpp - branches, loops and calls of an .air graph -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An operator names the graphs that it calls. A graph has a Data operator per input of the operator
// that it reads, and its NetOutput reads the operator's outputs.

#include "frontends/air/AirGraph.h"
#include "frontends/air/AirNames.h"
#include "frontends/onnx/Scope.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace atc::air {

/// AscendCL's numbers of element types.
static constexpr int kInt32 = 3, kInt64 = 9;
using onnx_import::maxGraphDepth;

static onnx::NodeProto &addNode(onnx::GraphProto &into, StringRef type,
                                ArrayRef<std::string> inputs, ArrayRef<std::string> outputs) {
  onnx::NodeProto &node = *into.add_node();
  node.set_op_type(type.str());
  node.set_name(outputs.front());
  for (const std::string &input : inputs)
    node.add_input(input);
  for (const std::string &output : outputs)
    node.add_output(output);
  return node;
}

static void addCast(onnx::GraphProto &into, const std::string &from, const std::string &to,
                    onnx::TensorProto::DataType type) {
  onnx::AttributeProto &attribute = *addNode(into, "Cast", {from}, {to}).add_attribute();
  attribute.set_name("to");
  attribute.set_type(onnx::AttributeProto::INT);
  attribute.set_i(type);
}

static void addBody(onnx::NodeProto &node, const char *name, onnx::GraphProto &body) {
  onnx::AttributeProto &attribute = *node.add_attribute();
  attribute.set_name(name);
  attribute.set_type(onnx::AttributeProto::GRAPH);
  attribute.mutable_g()->Swap(&body);
}

static void addInteger(onnx::GraphProto &into, const std::string &name, int type, int64_t value) {
  onnx::TensorProto &constant = *into.add_initializer();
  constant.set_name(name);
  constant.set_data_type(type == kInt64 ? onnx::TensorProto::INT64 : onnx::TensorProto::INT32);
  if (type == kInt64)
    constant.add_int64_data(value);
  else
    constant.add_int32_data(int32_t(value));
}

/// Returns the numbers first, first + 1 ... last - 1.
static SmallVector<size_t> range(size_t first, size_t last) {
  SmallVector<size_t> numbers;
  for (size_t i = first; i < last; ++i)
    numbers.push_back(i);
  return numbers;
}

/// Makes of the dims of `tensor` those that `other` may have, too. Returns false where the element
/// types or the ranks differ.
static bool join(SingleOpTensor &tensor, const SingleOpTensor &other) {
  if (tensor.type != other.type || tensor.dims.size() != other.dims.size())
    return false;
  for (auto [dim, same] : llvm::zip_equal(tensor.dims, other.dims))
    if (dim != same)
      dim = -1;
  return true;
}

static std::string text(const SingleOpTensor &tensor) {
  std::string dims;
  for (int64_t dim : tensor.dims)
    dims += (dims.empty() ? "" : ",") + (dim < 0 ? std::string("?") : std::to_string(dim));
  return onnx::TensorProto::DataType_Name(onnx::TensorProto::DataType(singleOpType(tensor))) + "[" +
         dims + "]";
}

pb::Graph *AirGraph::bodyOf(const pb::Op &op, int index) {
  if (depth + 1 >= maxGraphDepth) {
    fail("E16004", op,
         "graphs that operators call are nested deeper than " + Twine(maxGraphDepth) + " levels");
    return nullptr;
  }
  if (index >= op.subgraph_name_size()) {
    fail("E14001", op,
         "it names " + Twine(op.subgraph_name_size()) + " graphs, expected " + Twine(index + 1) +
             " or more");
    return nullptr;
  }
  auto found = file.graphs.find(op.subgraph_name(index));
  if (found != file.graphs.end())
    return found->second;
  fail("E12013", op, "the file has no graph '" + op.subgraph_name(index) + "'");
  return nullptr;
}

std::optional<std::vector<int64_t>> AirGraph::passedBy(const pb::Op &op, int index,
                                                       ArrayRef<size_t> inputs) {
  const unsigned before = diagnostics.numErrors();
  pb::Graph *body = bodyOf(op, index);
  if (!body)
    return std::nullopt;
  onnx::GraphProto unused;
  std::vector<int64_t> passed =
      AirGraph(*body, file, unused, prefix + op.name() + "/body/", depth + 1).passedInputs(inputs);
  return diagnostics.numErrors() == before ? std::optional(std::move(passed)) : std::nullopt;
}

std::optional<AirGraph::Values> AirGraph::build(const pb::Op &op, int index, onnx::GraphProto &into,
                                                const std::string &inner,
                                                ArrayRef<const AirValue *> arguments,
                                                ArrayRef<size_t> inputs) {
  pb::Graph *body = bodyOf(op, index);
  if (!body)
    return std::nullopt;
  into.set_name(into.name().empty() ? body->name() : into.name());
  return AirGraph(*body, file, into, inner, depth + 1).runBody(arguments, inputs);
}

void AirGraph::addResults(onnx::GraphProto &into, const std::string &inner, const Values &results) {
  // A result may be a tensor of a graph around this one, or the same tensor as another.
  for (auto [i, result] : llvm::enumerate(results)) {
    const std::string name = inner + "output:" + std::to_string(i);
    addNode(into, "Identity", {result.name}, {name});
    into.add_output()->set_name(name);
  }
}

std::string AirGraph::addCondition(onnx::GraphProto &into, const std::string &name,
                                   const AirValue &value) {
  // As the toolchain has it: a scalar is true that is not 0, any other tensor one with elements.
  std::string scalar = value.name;
  if (!value.tensor.dims.empty()) {
    scalar = name + "/size";
    addNode(into, "Size", {value.name}, {scalar});
  }
  addCast(into, scalar, name, onnx::TensorProto::BOOL);
  return name;
}

void AirGraph::define(const pb::Op &op, Values results) {
  for (auto [i, result] : llvm::enumerate(results))
    values[keyOf(op.name(), i)] = std::move(result);
}

void AirGraph::importControl(const pb::Op &op) {
  std::vector<const AirValue *> arguments;
  for (const std::string &key : dataInputs(op)) {
    auto found = values.find(key);
    if (found == values.end() && !key.empty()) {
      // An error of the operator that makes it has been reported.
      if (!positions.contains(splitInput(key).first))
        fail("E16001", op, "it reads '" + key + "', which no operator makes");
      return;
    }
    arguments.push_back(key.empty() ? nullptr : &found->second);
  }
  const StringRef type = op.type();
  if (type.ends_with("If"))
    return importIf(op, arguments);
  if (type.ends_with("Case"))
    return importCase(op, arguments);
  if (type.ends_with("While"))
    return importWhile(op, arguments);
  if (type == "For")
    return importFor(op, arguments);
  std::optional<Values> results =
      build(op, 0, whole, prefix + op.name() + "/", arguments, range(0, arguments.size()));
  if (!results)
    return;
  for (auto [i, result] : llvm::enumerate(*results)) {
    addNode(whole, "Identity", {result.name}, {outputName(op, i)});
    result.name = outputName(op, i);
  }
  define(op, std::move(*results));
}

//===----------------------------------------------------------------------===//
// Branches
//===----------------------------------------------------------------------===//

std::optional<AirGraph::Values> AirGraph::addIf(const pb::Op &op, onnx::GraphProto &into,
                                                const std::string &name,
                                                const std::string &condition,
                                                onnx::GraphProto &thenGraph, const Values &first,
                                                onnx::GraphProto &elseGraph, const Values &second) {
  if (first.size() != second.size()) {
    fail("E14001", op,
         "its branches have " + Twine(first.size()) + " and " + Twine(second.size()) + " outputs");
    return std::nullopt;
  }
  Values results;
  std::vector<std::string> names;
  for (auto [i, a, b] : llvm::enumerate(first, second)) {
    results.push_back({name + ":" + std::to_string(i), a.tensor});
    names.push_back(results.back().name);
    if (join(results.back().tensor, b.tensor))
      continue;
    fail("E14001", op,
         "output " + Twine(i) + " is " + text(a.tensor) + " in one branch and " + text(b.tensor) +
             " in another, expected one element type and rank");
    return std::nullopt;
  }
  if (names.empty())
    return results;
  addResults(thenGraph, name + "/then/", first);
  addResults(elseGraph, name + "/else/", second);
  onnx::NodeProto &node = addNode(into, "If", {condition}, names);
  node.set_name(name);
  addBody(node, "then_branch", thenGraph);
  addBody(node, "else_branch", elseGraph);
  return results;
}

void AirGraph::importIf(const pb::Op &op, ArrayRef<const AirValue *> arguments) {
  if (arguments.empty() || !arguments[0])
    return fail("E14001", op, "its condition is missing");
  const std::string name = prefix + op.name();
  const SmallVector<size_t> inputs = range(1, arguments.size());
  onnx::GraphProto branches[2];
  std::optional<Values> first =
      build(op, 0, branches[0], name + "/then_branch/", arguments, inputs);
  std::optional<Values> second =
      build(op, 1, branches[1], name + "/else_branch/", arguments, inputs);
  if (!first || !second)
    return;
  if (std::optional<Values> results =
          addIf(op, whole, name, addCondition(whole, name + "/cond", *arguments[0]), branches[0],
                *first, branches[1], *second))
    define(op, std::move(*results));
}

std::optional<AirGraph::Values> AirGraph::addBranches(const pb::Op &op, onnx::GraphProto &into,
                                                      const std::string &name,
                                                      const std::string &index, int first, int last,
                                                      ArrayRef<const AirValue *> arguments,
                                                      ArrayRef<size_t> inputs) {
  if (first == last)
    return build(op, first, into, name + "/branch/", arguments, inputs);
  // Halves, so that many branches do not nest deep.
  const int middle = first + (last - first + 1) / 2;
  onnx::GraphProto below, above;
  std::optional<Values> low = addBranches(op, below, name + "/" + std::to_string(first), index,
                                          first, middle - 1, arguments, inputs);
  std::optional<Values> high = addBranches(op, above, name + "/" + std::to_string(middle), index,
                                           middle, last, arguments, inputs);
  if (!low || !high)
    return std::nullopt;
  below.set_name(name + "/then");
  above.set_name(name + "/else");
  addInteger(into, name + "/middle", kInt32, middle);
  addNode(into, "Less", {index, name + "/middle"}, {name + "/less"});
  return addIf(op, into, name, name + "/less", below, *low, above, *high);
}

void AirGraph::importCase(const pb::Op &op, ArrayRef<const AirValue *> arguments) {
  if (arguments.empty() || !arguments[0])
    return fail("E14001", op, "the number of its branch is missing");
  if (arguments[0]->tensor.type != kInt32 && arguments[0]->tensor.type != kInt64)
    return fail("E14001", op,
                "the number of its branch is " + text(arguments[0]->tensor) + ", expected INT32");
  if (!op.subgraph_name_size())
    return fail("E14001", op, "it names no graph, expected one per branch");
  const std::string name = prefix + op.name();
  const int last = op.subgraph_name_size() - 1;
  // A number that no branch has, negative ones as well, is the last branch.
  addCast(whole, arguments[0]->name, name + "/number", onnx::TensorProto::INT32);
  addInteger(whole, name + "/zero", kInt32, 0);
  addInteger(whole, name + "/last", kInt32, last);
  addNode(whole, "Less", {name + "/number", name + "/zero"}, {name + "/negative"});
  addNode(whole, "Where", {name + "/negative", name + "/last", name + "/number"},
          {name + "/index"});
  std::optional<Values> results =
      addBranches(op, whole, name, name + "/index", 0, last, arguments, range(1, arguments.size()));
  if (!results)
    return;
  if (last == 0)
    for (auto [i, result] : llvm::enumerate(*results)) {
      addNode(whole, "Identity", {result.name}, {outputName(op, i)});
      result.name = outputName(op, i);
    }
  define(op, std::move(*results));
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

void AirGraph::addLoop(const pb::Op &op, ArrayRef<const AirValue *> arguments, size_t firstCarried,
                       ArrayRef<int64_t> passed, const std::string &trips, const std::string &first,
                       Body makeBody) {
  const size_t numResults = arguments.size() - firstCarried;
  if (passed.size() != numResults)
    return fail("E14001", op,
                "its body makes " + Twine(passed.size()) + " tensors, expected the " +
                    Twine(numResults) + " that the loop carries");
  const std::string name = prefix + op.name(), inner = name + "/body/";
  // What the body hands on is no tensor of the loop: shapes and axes stay the constants that they
  // are.
  SmallVector<size_t> carried;
  Values starts;
  for (size_t i = firstCarried; i < arguments.size(); ++i) {
    if (passed[i - firstCarried] == int64_t(i))
      continue;
    if (!arguments[i])
      return fail("E14001", op, "input " + Twine(i) + ", which the loop carries, is not given");
    carried.push_back(i);
    starts.push_back({inner + "input:" + std::to_string(i), arguments[i]->tensor});
  }
  // A dim that a round changes is of any size, and so are those that follow from it.
  constexpr int maxTrials = 8;
  onnx::GraphProto body;
  Values results;
  std::string condition;
  bool isStable = false;
  for (int trial = 0; trial < maxTrials && !isStable; ++trial) {
    body.Clear();
    body.set_name(name + "/body");
    body.add_input()->set_name(inner + "iteration");
    body.add_input()->set_name(inner + "condition");
    std::vector<const AirValue *> inside(arguments);
    for (auto [start, index] : llvm::zip_equal(starts, carried)) {
      inside[index] = &start;
      body.add_input()->set_name(start.name);
    }
    std::optional<Values> made = makeBody(body, inner, inside, condition);
    if (!made)
      return;
    results.clear();
    isStable = true;
    for (auto [start, index] : llvm::zip_equal(starts, carried)) {
      const AirValue &result = (*made)[index - firstCarried];
      const std::vector<int64_t> before = start.tensor.dims;
      if (!join(start.tensor, result.tensor))
        return fail("E14001", op,
                    "tensor " + Twine(index) + " that the loop carries is " + text(start.tensor) +
                        " before its body and " + text(result.tensor) +
                        " behind it, expected one element type and rank");
      isStable &= before == start.tensor.dims;
      results.push_back(result);
    }
  }
  if (!isStable)
    return fail("E14001", op, "the dims of what its body carries change without end");
  std::vector<std::string> inputs = {trips, first}, outputs;
  Values loopResults;
  for (size_t i = firstCarried, next = 0; i < arguments.size(); ++i) {
    if (next == carried.size() || carried[next] != i) {
      loopResults.push_back(arguments[i] ? *arguments[i] : AirValue());
      continue;
    }
    inputs.push_back(arguments[i]->name);
    outputs.push_back(outputName(op, i - firstCarried));
    loopResults.push_back({outputs.back(), starts[next++].tensor});
  }
  // A body that carries nothing makes nothing.
  if (!outputs.empty()) {
    body.add_output()->set_name(condition);
    addResults(body, inner, results);
    onnx::NodeProto &node = addNode(whole, "Loop", inputs, outputs);
    node.set_name(name);
    addBody(node, "body", body);
  }
  define(op, std::move(loopResults));
}

void AirGraph::importWhile(const pb::Op &op, ArrayRef<const AirValue *> arguments) {
  const std::string name = prefix + op.name();
  const SmallVector<size_t> inputs = range(0, arguments.size());
  auto pointers = [](const Values &values) {
    std::vector<const AirValue *> list;
    for (const AirValue &value : values)
      list.push_back(&value);
    return list;
  };
  auto buildCondition = [&](onnx::GraphProto &into, const std::string &inner,
                            ArrayRef<const AirValue *> state) -> std::optional<std::string> {
    std::optional<Values> results = build(op, 0, into, inner + "cond/", state, inputs);
    if (!results)
      return std::nullopt;
    if (results->size() != 1) {
      fail("E14001", op,
           "the graph of its condition makes " + Twine(results->size()) + " tensors, expected 1");
      return std::nullopt;
    }
    return addCondition(into, inner + "next", results->front());
  };
  const std::optional<std::vector<int64_t>> passed = passedBy(op, 1, inputs);
  if (!passed)
    return;
  std::optional<std::string> first = buildCondition(whole, name + "/first/", arguments);
  if (!first)
    return;
  addLoop(op, arguments, 0, *passed, "", *first,
          [&](onnx::GraphProto &into, const std::string &inner, ArrayRef<const AirValue *> state,
              std::string &condition) -> std::optional<Values> {
            std::optional<Values> results = build(op, 1, into, inner, state, inputs);
            if (!results)
              return std::nullopt;
            std::optional<std::string> next = buildCondition(into, inner, pointers(*results));
            if (!next)
              return std::nullopt;
            condition = *next;
            return results;
          });
}

void AirGraph::importFor(const pb::Op &op, ArrayRef<const AirValue *> arguments) {
  constexpr size_t firstCarried = 3;
  for (size_t i = 0; i < firstCarried; ++i)
    if (i >= arguments.size() || !arguments[i] || arguments[i]->tensor.type != kInt32)
      return fail("E14001", op,
                  "start, limit and delta are three tensors of INT32, expected as "
                  "its first inputs");
  const std::string name = prefix + op.name();
  // The body reads the number of the round in the place of `start`, and what the loop carries.
  SmallVector<size_t> inputs = {0};
  llvm::append_range(inputs, range(firstCarried, arguments.size()));
  const std::optional<std::vector<int64_t>> passed = passedBy(op, 0, inputs);
  if (!passed)
    return;
  // The rounds are the integer at or above (limit - start) / delta.
  auto wide = [&](size_t input, const char *suffix) {
    addCast(whole, arguments[input]->name, name + suffix, onnx::TensorProto::INT64);
    return name + suffix;
  };
  const std::string start = wide(0, "/start"), limit = wide(1, "/limit"), delta = wide(2, "/delta");
  addNode(whole, "Sub", {limit, start}, {name + "/distance"});
  addNode(whole, "Sign", {delta}, {name + "/sign"});
  addNode(whole, "Sub", {delta, name + "/sign"}, {name + "/rest"});
  addNode(whole, "Add", {name + "/distance", name + "/rest"}, {name + "/sum"});
  addNode(whole, "Div", {name + "/sum", delta}, {name + "/trips"});
  addLoop(op, arguments, firstCarried, *passed, name + "/trips", "",
          [&](onnx::GraphProto &into, const std::string &inner, ArrayRef<const AirValue *> state,
              std::string &condition) -> std::optional<Values> {
            addCast(into, inner + "iteration", inner + "round", onnx::TensorProto::INT32);
            addNode(into, "Mul", {inner + "round", arguments[2]->name}, {inner + "steps"});
            addNode(into, "Add", {arguments[0]->name, inner + "steps"}, {inner + "index"});
            condition = inner + "more";
            addNode(into, "Identity", {inner + "condition"}, {condition});
            const AirValue index = {inner + "index", arguments[0]->tensor};
            std::vector<const AirValue *> inside(state);
            inside[0] = &index;
            return build(op, 0, into, inner, inside, inputs);
          });
}

} // namespace atc::air
