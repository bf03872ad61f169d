//===-- QuantizeOnnx.cpp - calibrates and quantizes an ONNX model ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frontends/onnx/OnnxImport.h"
#include "quantize/Balance.h"
#include "quantize/Quantize.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace atc::quantize {

namespace {

class OnnxQuantizer {
public:
  OnnxQuantizer(OnnxModel &model, const QuantizeOptions &options, MLIRContext &context,
                Diagnostics &diagnostics)
      : model(model), options(options), context(context), diagnostics(diagnostics) {}

  bool run(DataSource &data, QuantizedOnnx &result);

private:
  bool check();
  OwningOpRef<ModuleOp> import(const onnx::ModelProto &proto);
  bool importAndPlan(OwningOpRef<ModuleOp> &module, Plan &plan);
  bool compare(QuantizedOnnx &result);

  OnnxModel &model;
  const QuantizeOptions &options;
  InputShapes shapes;
  MLIRContext &context;
  Diagnostics &diagnostics;
};

bool OnnxQuantizer::check() {
  std::set<std::string> nodes;
  for (const onnx::NodeProto &node : model.graph().node()) {
    nodes.insert(node.name());
    for (const std::string &output : node.output())
      nodes.insert(output); // stands for a node without a name
    if (node.op_type() == "QuantizeLinear" || node.op_type() == "DequantizeLinear" ||
        node.op_type() == "AscendQuant") {
      diagnostics.error("E10055", "the model is quantized already: it has a " + node.op_type() +
                                      " ('" + node.name() + "')");
      return false;
    }
  }
  for (const std::string &name : options.config.layerNames())
    if (!nodes.count(name))
      diagnostics.error("E10016", "the configuration names the node \"" + name +
                                      "\", which the model has not");
  return !diagnostics.hasErrors();
}

OwningOpRef<ModuleOp> OnnxQuantizer::import(const onnx::ModelProto &proto) {
  std::string bytes;
  if (!proto.SerializeToString(&bytes)) {
    diagnostics.error("E13004", "the model '" + options.name + "' is larger than 2 GB");
    return {};
  }
  auto module =
      importOnnxBuffer(bytes, options.name, /*folder=*/"", {shapes, {}}, context, diagnostics);
  if (failed(module) || diagnostics.hasErrors())
    return {};
  return std::move(*module);
}

/// Adds the quantized tensors to the outputs of a copy and runs it beside float.
bool OnnxQuantizer::compare(QuantizedOnnx &result) {
  onnx::ModelProto proto = result.qdq->model.proto;
  const size_t numOutputs = proto.graph().output_size();
  std::vector<std::string> names;
  std::vector<size_t> counterparts;
  std::map<std::string, size_t> listed;
  for (size_t i = 0; i < numOutputs; ++i) {
    counterparts.push_back(i);
    listed[proto.graph().output(i).name()] = i;
  }
  for (size_t i = 0; i < result.qdq->dequantized.size(); ++i) {
    const std::string &name = result.qdq->dequantized[i];
    auto [entry, isNew] = listed.emplace(name, proto.graph().output_size());
    counterparts.push_back(entry->second);
    names.push_back(result.calibration.table.tensors[i].name);
    if (!isNew)
      continue;
    onnx::ValueInfoProto &output = *proto.mutable_graph()->add_output();
    output.set_name(name);
    output.mutable_type()->mutable_tensor_type()->set_elem_type(onnx::TensorProto::FLOAT);
  }
  OwningOpRef<ModuleOp> module = import(proto);
  if (!module)
    return false;
  std::unique_ptr<HostModel> ours = HostModel::compile(*module, diagnostics);
  return ours && compareModels(*result.calibration.host, *ours, numOutputs, names, counterparts,
                               result.calibration.kept.samples, result.report, diagnostics);
}

bool OnnxQuantizer::importAndPlan(OwningOpRef<ModuleOp> &module, Plan &plan) {
  module = import(model.proto);
  if (!module)
    return false;
  const std::set<std::string> variables = model.variableNames();
  plan = makePlan(*module, options.config,
                  [&](StringRef name) { return variables.count(name.str()) != 0; });
  if (!plan.layers.empty())
    return true;
  diagnostics.error("E10055", "the model '" + options.name +
                                  "' has no layer that can be quantized: no convolution or "
                                  "matrix product of float32 with constant weights that is not "
                                  "skipped");
  return false;
}

bool OnnxQuantizer::run(DataSource &data, QuantizedOnnx &result) {
  if (!check())
    return false;
  simplify(model);
  if (!upgradeOpset(model, diagnostics))
    return false;

  shapes = options.inputShapes;
  if (shapes.empty())
    for (int i = 0; i < model.graph().input_size(); ++i) {
      const onnx::ValueInfoProto &input = model.graph().input(i);
      const auto &dims = input.type().tensor_type().shape().dim();
      const bool isOpen = llvm::any_of(dims, [](const auto &dim) { return dim.dim_value() <= 0; });
      auto known = isOpen ? data.shapeOf(input.name(), i) : std::nullopt;
      if (known && known->size() == size_t(dims.size()))
        shapes.emplace_back(input.name(), *known);
    }
  OwningOpRef<ModuleOp> module;
  Plan plan;
  if (!importAndPlan(module, plan))
    return false;
  ReplayedSource replayed(data);
  if (options.config.balance) {
    std::vector<Balance> balances;
    if (!findBalances(*module, plan, replayed, options.config.batchNum, balances, diagnostics))
      return false;
    applyBalances(model, balances);
    if (!importAndPlan(module, plan))
      return false;
  }
  if (!calibrate(*module, plan, options.config, replayed, options.progress, result.calibration,
                 diagnostics))
    return false;
  result.qdq = std::make_unique<QdqModel>(writeQdq(model, result.calibration.table));
  result.deploy = std::make_unique<OnnxModel>(writeDeploy(model, result.calibration.table));
  result.report.model = options.name;
  return !options.compare || compare(result);
}

} // namespace

std::unique_ptr<QuantizedOnnx> quantizeOnnx(std::unique_ptr<OnnxModel> model,
                                            const QuantizeOptions &options, DataSource &data,
                                            MLIRContext &context, Diagnostics &diagnostics) {
  auto result = std::make_unique<QuantizedOnnx>();
  const bool done = OnnxQuantizer(*model, options, context, diagnostics).run(data, *result);
  if (!done && !diagnostics.hasErrors())
    diagnostics.error("E19999", "the model could not be quantized");
  return done ? std::move(result) : nullptr;
}

} // namespace atc::quantize
