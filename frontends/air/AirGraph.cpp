//===-- AirGraph.cpp - makes an ONNX graph of an .air graph ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frontends/air/AirGraph.h"

#include "frontends/air/AirNames.h"
#include "frontends/onnx/singleop/SingleOpGraph.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace atc::air {

static bool isData(StringRef type) {
  return llvm::is_contained({"Data", "RefData", "AnnData", "AippData", "Placeholder"}, type);
}

static bool isConstant(StringRef type) {
  return llvm::is_contained({"Const", "Constant", "Variable"}, type);
}

void AirGraph::fail(ErrorCode code, const pb::Op &op, const Twine &what) {
  diagnostics.error(code, "operator '" + op.name() + "' (" + op.type() + "): " + what);
}

bool AirGraph::run() {
  const unsigned before = diagnostics.numErrors();
  model.set_ir_version(9);
  model.add_opset_import()->set_version(single_op::opset);
  model.mutable_graph()->set_name(graph.name());
  for (auto [i, op] : llvm::enumerate(graph.op()))
    if (!positions.try_emplace(op.name(), i).second)
      fail("E13009", op, "another operator has this name");
  if (diagnostics.numErrors() != before || !sortOps())
    return false;
  findOutputs();
  importInputs();
  for (size_t index : order)
    if (isNeeded[index])
      importOp(*graph.mutable_op(index));
  if (!unsupported.empty())
    diagnostics.error("E13010", "there is no importer for these operators: " + unsupported.str());
  if (diagnostics.numErrors() == before)
    addOutputs();
  return diagnostics.numErrors() == before;
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

void AirGraph::findOutputs() {
  outputs = options.outputs;
  for (std::string &output : outputs) {
    auto [name, index] = splitInput(output);
    output = keyOf(name, index);
  }
  if (outputs.empty())
    for (const pb::Op &op : graph.op())
      if (op.type() == "NetOutput")
        llvm::append_range(outputs, dataInputs(op));
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

void AirGraph::importInputs() {
  // Inputs stay inputs, whoever reads them, in the order of their numbers, and then of the file.
  std::vector<std::pair<int64_t, int>> inputs;
  for (auto [i, op] : llvm::enumerate(graph.op())) {
    if (!isData(op.type()))
      continue;
    auto found = op.attr().find("index");
    inputs.push_back({found == op.attr().end() ? 0 : found->second.i(), int(i)});
  }
  llvm::sort(inputs);
  for (auto [number, index] : inputs)
    importData(graph.op(index));
}

void AirGraph::importOp(pb::Op &op) {
  if (isData(op.type()))
    return;
  if (isConstant(op.type()))
    return importConstant(op);
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
      model.mutable_graph()->add_output()->set_name(found->second.name);
  }
  if (outputs.empty())
    diagnostics.error("E16004", "the graph has no output");
}

} // namespace atc::air
