//===-- AirGraph.cpp - makes an ONNX graph of an .air graph ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frontends/air/AirGraph.h"

#include "frontends/air/AirNames.h"

#include "llvm/ADT/STLExtras.h"

#include <map>

using namespace mlir;

namespace atc::air {

static bool isData(StringRef type) {
  return llvm::is_contained({"Data", "RefData", "AnnData", "AippData", "Placeholder"}, type);
}

static bool isControl(StringRef type) {
  return llvm::is_contained({"If", "_If", "StatelessIf", "Case", "StatelessCase", "While", "_While",
                             "StatelessWhile", "For", "PartitionedCall", "StatefulPartitionedCall"},
                            type);
}

static bool isConstant(StringRef type) {
  return llvm::is_contained({"Const", "Constant", "Variable"}, type);
}

void AirGraph::fail(ErrorCode code, const pb::Op &op, const Twine &what) {
  diagnostics.error(code, "operator '" + prefix + op.name() + "' (" + op.type() + "): " + what);
}

AirFile::AirFile(pb::Model &model, const OnnxImportOptions &options, MLIRContext &context,
                 Diagnostics &diagnostics)
    : options(options), context(context), diagnostics(diagnostics) {
  for (pb::Graph &graph : llvm::drop_begin(*model.mutable_graph()))
    if (!graphs.try_emplace(graph.name(), &graph).second)
      diagnostics.error("E13009", "the file has two graphs of the name '" + graph.name() + "'");
}

bool AirGraph::start() {
  const unsigned before = diagnostics.numErrors();
  for (auto [i, op] : llvm::enumerate(graph.op()))
    if (!positions.try_emplace(op.name(), i).second)
      fail("E13009", op, "another operator has this name");
  return diagnostics.numErrors() == before && sortOps();
}

bool AirGraph::run() {
  const unsigned before = diagnostics.numErrors();
  if (!start())
    return false;
  findOutputs(file.options.outputs);
  // Inputs stay inputs, whoever reads them.
  for (const pb::Op *op : inputOps())
    importData(*op);
  importOps();
  if (!file.unsupported.empty())
    diagnostics.error("E13010",
                      "there is no importer for these operators: " + file.unsupported.str());
  if (diagnostics.numErrors() == before)
    addOutputs();
  return diagnostics.numErrors() == before;
}

/// Returns the number that a Data operator has of its own; 0 where it states none.
static int64_t numberOf(const pb::Op &data) {
  auto found = data.attr().find("index");
  return found == data.attr().end() ? 0 : found->second.i();
}

std::vector<std::pair<const pb::Op *, int64_t>> AirGraph::argumentOps(ArrayRef<size_t> inputs) {
  // Files of the toolchain state the input itself; graphs that a program has built only number
  // their Data operators, or leave all of them at 0, the default, in the order of the inputs.
  const std::vector<const pb::Op *> ops = inputOps();
  const bool areNumbered = llvm::any_of(ops, [](const pb::Op *op) { return numberOf(*op) != 0; });
  std::vector<std::pair<const pb::Op *, int64_t>> arguments;
  std::map<int64_t, const pb::Op *> taken;
  for (auto [i, op] : llvm::enumerate(ops)) {
    if (auto found = op->attr().find("_parent_node_index"); found != op->attr().end()) {
      arguments.push_back({op, found->second.i()});
      continue;
    }
    const int64_t number = areNumbered ? numberOf(*op) : int64_t(i);
    if (auto [other, isNew] = taken.try_emplace(number, op); !isNew)
      fail("E14001", *op,
           "its index is " + Twine(number) + " as that of '" + other->second->name() +
               "'; number the Data operators of a graph that operators call from 0 on");
    const bool isThere = number >= 0 && number < int64_t(inputs.size());
    arguments.push_back({op, isThere ? int64_t(inputs[number]) : -1});
  }
  return arguments;
}

std::optional<std::vector<AirValue>> AirGraph::runBody(ArrayRef<const AirValue *> arguments,
                                                       ArrayRef<size_t> inputs) {
  const unsigned before = diagnostics.numErrors();
  if (!start())
    return std::nullopt;
  findOutputs({});
  for (auto [op, argument] : argumentOps(inputs)) {
    if (argument >= 0 && argument < int64_t(arguments.size()) && arguments[argument])
      values[keyOf(op->name(), 0)] = *arguments[argument];
    else if (isNeeded[positions[op->name()]])
      fail("E14001", *op, "it stands for an input that the operator that calls its graph has not");
  }
  importOps();
  std::vector<AirValue> results;
  for (const std::string &output : outputs) {
    auto found = values.find(output);
    if (found != values.end())
      results.push_back(found->second);
    else if (diagnostics.numErrors() == before && file.unsupported.empty())
      diagnostics.error("E16001", "graph '" + graph.name() + "' has the output '" + output +
                                      "', which no operator makes");
  }
  if (diagnostics.numErrors() != before || results.size() != outputs.size())
    return std::nullopt;
  return results;
}

std::vector<int64_t> AirGraph::passedInputs(ArrayRef<size_t> inputs) {
  if (!start())
    return {};
  findOutputs({});
  llvm::StringMap<int64_t> arguments;
  for (auto [op, argument] : argumentOps(inputs))
    arguments[keyOf(op->name(), 0)] = argument;
  std::vector<int64_t> passed;
  for (const std::string &output : outputs) {
    auto found = arguments.find(output);
    passed.push_back(found == arguments.end() ? -1 : found->second);
  }
  return passed;
}

bool AirGraph::sortOps() {
  // Without recursion: a file may have a chain of any length.
  enum State : char { New, Open, Done };
  std::vector<State> states(graph.op_size(), New);
  std::vector<std::pair<size_t, int>> stack;
  for (int root = 0; root < graph.op_size(); ++root) {
    if (states[root] == New)
      stack.push_back({root, 0});
    while (!stack.empty()) {
      auto &[index, next] = stack.back();
      const pb::Op &op = graph.op(index);
      states[index] = Open;
      if (next == op.input_size()) {
        states[index] = Done;
        order.push_back(index);
        stack.pop_back();
        continue;
      }
      auto found = positions.find(splitInput(op.input(next++)).first);
      if (found == positions.end() || states[found->second] == Done)
        continue;
      if (states[found->second] == Open) {
        fail("E16004", op, "it reads, through others, what it computes itself");
        return false;
      }
      stack.push_back({found->second, 0});
    }
  }
  return true;
}

/// Returns the results that a NetOutput reads, in the order of the calling operator's outputs where
/// it states them.
static std::vector<std::string> netOutputs(const pb::Op &op) {
  std::vector<std::pair<int64_t, std::string>> results;
  for (auto [i, input] : llvm::enumerate(dataInputs(op))) {
    int64_t number = int64_t(i);
    if (int(i) < op.input_desc_size())
      if (auto found = op.input_desc(i).attr().find("_parent_node_index");
          found != op.input_desc(i).attr().end() && found->second.i() >= 0)
        number = found->second.i();
    results.push_back({number, input});
  }
  llvm::stable_sort(results, llvm::less_first());
  std::vector<std::string> names;
  for (auto &[number, input] : results)
    names.push_back(std::move(input));
  return names;
}

void AirGraph::findOutputs(const std::vector<std::string> &named) {
  outputs = named;
  for (std::string &output : outputs) {
    auto [name, index] = splitInput(output);
    output = keyOf(name, index);
  }
  if (outputs.empty())
    for (const pb::Op &op : graph.op())
      if (op.type() == "NetOutput")
        llvm::append_range(outputs, netOutputs(op));
  if (outputs.empty())
    for (const std::string &output : graph.output()) {
      auto [name, index] = splitInput(output);
      // A file may list its NetOutput here, which is there no more.
      if (auto found = positions.find(name);
          found != positions.end() && graph.op(found->second).type() != "NetOutput")
        outputs.push_back(keyOf(name, std::max<int64_t>(index, 0)));
    }
  if (outputs.empty()) {
    llvm::StringMap<bool> isRead;
    for (const pb::Op &op : graph.op())
      for (const std::string &input : dataInputs(op))
        isRead[splitInput(input).first] = true;
    for (const pb::Op &op : graph.op())
      if (!isData(op.type()) && !isConstant(op.type()) && !isRead.contains(op.name()))
        outputs.push_back(keyOf(op.name(), 0));
  }
  isNeeded.assign(graph.op_size(), false);
  SmallVector<size_t> work;
  auto visit = [&](StringRef tensor) {
    auto found = positions.find(splitInput(tensor).first);
    if (found == positions.end() || isNeeded[found->second])
      return;
    isNeeded[found->second] = true;
    work.push_back(found->second);
  };
  for (const std::string &output : outputs)
    visit(output);
  while (!work.empty())
    for (const std::string &input : dataInputs(graph.op(work.pop_back_val())))
      visit(input);
}

std::vector<const pb::Op *> AirGraph::inputOps() {
  std::vector<std::pair<int64_t, const pb::Op *>> inputs;
  for (const pb::Op &op : graph.op()) {
    if (!isData(op.type()))
      continue;
    inputs.push_back({numberOf(op), &op});
  }
  llvm::stable_sort(inputs, llvm::less_first());
  std::vector<const pb::Op *> ops;
  for (auto [number, op] : inputs)
    ops.push_back(op);
  return ops;
}

void AirGraph::importOps() {
  // A body is imported as often as it is called, and each of them may call others so.
  constexpr int64_t maxOps = 500'000;
  file.numOps += int64_t(order.size());
  if (depth && file.numOps > maxOps) {
    diagnostics.error("E16006", "graph '" + graph.name() +
                                    "' and others that operators call have, each as often as it is "
                                    "called, more than " +
                                    Twine(maxOps) + " operators");
    return;
  }
  for (size_t index : order)
    if (isNeeded[index])
      importOp(*graph.mutable_op(index));
}

void AirGraph::importOp(pb::Op &op) {
  if (isData(op.type()))
    return;
  if (isConstant(op.type()))
    return importConstant(op);
  if (isControl(op.type()))
    return importControl(op);
  if (op.type() != "NetOutput")
    importOther(op);
}

void AirGraph::addOutputs() {
  llvm::StringMap<bool> isListed;
  for (const std::string &output : outputs) {
    auto found = values.find(output);
    if (found == values.end()) {
      diagnostics.error("E10016", "'" + output + "' is no tensor of the graph");
      continue;
    }
    if (isListed.insert({found->second.name, true}).second)
      whole.add_output()->set_name(found->second.name);
  }
  if (outputs.empty())
    diagnostics.error("E16004", "the graph has no output");
}

} // namespace atc::air
