//===-- ImportControl.cpp - conditions and loops --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frontends/tflite/OpTable.h"

namespace atc::tflite {
namespace {

std::vector<std::string> rawInputs(OpContext &c, unsigned first) {
  std::vector<std::string> names;
  for (unsigned i = first; i < c.numInputs(); ++i)
    names.push_back(c.raw(i).name);
  return names;
}

/// Sets all outputs; the integers of quantized ones are what a subgraph returns.
void setStored(OpContext &c, const std::vector<Value> &results) {
  for (unsigned i = 0; i < c.numOutputs() && !c.failed(); ++i)
    c.setOutput({results[i].name, isQuantized(c.outputTensor(i))}, i);
}

/// Fills `body` with a subgraph; `results` are the outputs behind `front`.
bool fillBody(OpContext &c, onnx::GraphProto &body, int64_t subgraph,
              const std::vector<std::string> &inputs, std::vector<std::string> &results) {
  std::optional<std::vector<std::string>> made = c.model.inlineSubgraph(body, subgraph, inputs);
  if (made)
    results = std::move(*made);
  return made.has_value();
}

void importIf(OpContext &c) {
  const auto *p = c.options<fb::IfOptions>();
  if (!p)
    return c.fail("has no parameters");
  Value condition = c.raw(0);
  const std::vector<std::string> inputs = rawInputs(c, 1);
  if (c.failed())
    return;
  if (c.rank(0) != 0)
    condition = c.reshape(condition, {});
  const int64_t branches[] = {p->then_subgraph(), p->else_subgraph()};
  setStored(c, c.regionNode("If", {condition}, c.numOutputs(), {"then_branch", "else_branch"},
                            [&](unsigned index, onnx::GraphProto &body) {
                              std::vector<std::string> results;
                              if (!fillBody(c, body, branches[index], inputs, results))
                                return false;
                              for (const std::string &name : results)
                                body.add_output()->set_name(name);
                              return results.size() == c.numOutputs();
                            }));
}

void describe(OpContext &c, onnx::ValueInfoProto &info, const std::string &name, unsigned input) {
  info.set_name(name);
  onnx::TypeProto::Tensor &type = *info.mutable_type()->mutable_tensor_type();
  type.set_elem_type(onnxType(c.inputTensor(input).type()));
  type.mutable_shape();
  for (int64_t dim : c.dims(input)) {
    onnx::TensorShapeProto::Dimension &stated = *type.mutable_shape()->add_dim();
    if (dim >= 0)
      stated.set_dim_value(dim);
  }
}

/// Fills `body` with the branches from `branch` on, each but the last one behind its condition.
bool fillBranches(OpContext &c, onnx::GraphProto &body, llvm::ArrayRef<int32_t> branches,
                  llvm::ArrayRef<Value> conditions, const std::vector<std::string> &inputs) {
  std::vector<std::string> results;
  if (branches.size() == 1) {
    if (!fillBody(c, body, branches[0], inputs, results))
      return false;
  } else {
    const std::string name = c.model.uniqueName("case");
    onnx::NodeProto &choice = addOnnxNode(body, "If", name, {conditions[0].name}, {});
    for (bool isTaken : {true, false}) {
      onnx::AttributeProto &attribute = *choice.add_attribute();
      attribute.set_name(isTaken ? "then_branch" : "else_branch");
      attribute.set_type(onnx::AttributeProto::GRAPH);
      attribute.mutable_g()->set_name(c.model.uniqueName("branch"));
      if (!fillBranches(c, *attribute.mutable_g(),
                        isTaken ? branches.take_front() : branches.drop_front(),
                        conditions.drop_front(!isTaken), inputs))
        return false;
    }
    for (unsigned i = 0; i < c.numOutputs(); ++i)
      results.push_back(choice.add_output()->assign(c.model.uniqueName("value")));
  }
  for (const std::string &name : results)
    body.add_output()->set_name(name);
  return results.size() == c.numOutputs();
}

/// An index without a branch takes the last one.
void importCase(OpContext &c) {
  const auto *p = c.options2<fb::StablehloCaseOptions>();
  constexpr unsigned maxBranches = 64;
  if (!p || !p->branches() || p->branches()->size() == 0 || p->branches()->size() > maxBranches)
    return c.fail("must have 1 to " + llvm::Twine(maxBranches) + " branches");
  const std::vector<int32_t> branches(p->branches()->begin(), p->branches()->end());
  Value index = c.reshape(c.indices(0), {});
  std::vector<Value> conditions;
  for (size_t i = 0; i < branches.size(); ++i)
    conditions.push_back(c.node("Equal", {index, c.intScalar(i)}));
  const std::vector<std::string> inputs = rawInputs(c, 1);
  if (c.failed())
    return;
  if (branches.size() == 1)
    conditions.push_back(conditions[0]);
  setStored(c, c.regionNode("If", {conditions[0]}, c.numOutputs(), {"then_branch", "else_branch"},
                            [&](unsigned side, onnx::GraphProto &body) {
                              const llvm::ArrayRef<int32_t> all = branches;
                              const bool isLast = side == 0 || all.size() == 1;
                              return fillBranches(
                                  c, body, isLast ? all.take_front() : all.drop_front(),
                                  llvm::ArrayRef(conditions).drop_front(isLast ? 0 : 1), inputs);
                            }));
}

/// Imports the subgraph that computes the same as the operator.
void importComposite(OpContext &c) {
  const auto *p = c.options2<fb::CompositeOptions>();
  if (!p)
    return c.fail("has no parameters");
  const std::vector<std::string> inputs = rawInputs(c, 0);
  std::vector<std::string> results;
  if (c.failed() || !fillBody(c, c.graph.graph, p->decomposition(), inputs, results))
    return;
  if (results.size() != c.numOutputs())
    return c.fail("has " + llvm::Twine(c.numOutputs()) + " results, but its subgraph " +
                  llvm::Twine(results.size()));
  for (unsigned i = 0; i < results.size() && !c.failed(); ++i)
    c.setOutput({results[i], isQuantized(c.outputTensor(i))}, i);
}

/// The condition is computed once in front of the loop, and at the end of each iteration.
void importWhile(OpContext &c) {
  const auto *p = c.options<fb::WhileOptions>();
  if (!p)
    return c.fail("has no parameters");
  const std::vector<std::string> inputs = rawInputs(c, 0);
  if (c.failed() || c.numOutputs() != c.numInputs())
    return c.fail("must have as many results as inputs");
  std::vector<std::string> first;
  if (!fillBody(c, c.graph.graph, p->cond_subgraph(), inputs, first) || first.size() != 1)
    return c.fail("its condition cannot be imported");
  std::vector<Value> operands = {Value{}, {first[0]}};
  for (const std::string &name : inputs)
    operands.push_back({name});
  setStored(
      c, c.regionNode(
             "Loop", operands, c.numOutputs(), {"body"}, [&](unsigned, onnx::GraphProto &body) {
               onnx::ValueInfoProto &count = *body.add_input(), &goesOn = *body.add_input();
               count.set_name(c.model.uniqueName("iteration"));
               count.mutable_type()->mutable_tensor_type()->set_elem_type(onnx::TensorProto::INT64);
               count.mutable_type()->mutable_tensor_type()->mutable_shape();
               goesOn.set_name(c.model.uniqueName("condition"));
               goesOn.mutable_type()->mutable_tensor_type()->set_elem_type(onnx::TensorProto::BOOL);
               goesOn.mutable_type()->mutable_tensor_type()->mutable_shape();
               std::vector<std::string> state, next, condition;
               for (unsigned i = 0; i < c.numInputs(); ++i) {
                 state.push_back(c.model.uniqueName("state"));
                 describe(c, *body.add_input(), state.back(), i);
               }
               if (!fillBody(c, body, p->body_subgraph(), state, next) ||
                   next.size() != state.size() ||
                   !fillBody(c, body, p->cond_subgraph(), next, condition) || condition.size() != 1)
                 return false;
               body.add_output()->set_name(condition[0]);
               for (const std::string &name : next)
                 body.add_output()->set_name(name);
               return true;
             }));
}

} // namespace

llvm::ArrayRef<OpRow> controlOps() {
  using enum fb::BuiltinOperator;
  static const OpRow rows[] = {{IF, importIf},
                               {STABLEHLO_CASE, importCase},
                               {STABLEHLO_COMPOSITE, importComposite},
                               {WHILE, importWhile}};
  return rows;
}

} // namespace atc::tflite
