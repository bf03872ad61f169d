//===-- QuantizeOnnx.cpp - calibrates and quantizes an ONNX model ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/graph/Passes.h"
#include "quantize/Balance.h"
#include "quantize/Quantize.h"
#include "quantize/onnx/OnnxHost.h"

#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace atc::quantize {

namespace {

class OnnxQuantizer {
public:
  OnnxQuantizer(OnnxModel &model, const QuantizeOptions &options, MLIRContext &context,
                Diagnostics &diagnostics)
      : model(model), options(options), context(context), diagnostics(diagnostics) {
    this->options.config.resolve(model.aliases);
  }

  bool run(DataSource &data, Quantization &result);
  bool runSubset(const Quantization &all, Quantization &result);

private:
  bool check();
  bool importAndPlan(OwningOpRef<ModuleOp> &module, Plan &plan);
  void write(Quantization &result);
  bool compare(const Calibration &source, ArrayRef<size_t> sourceTensors, Quantization &result);

  OnnxModel &model;
  QuantizeOptions options;
  InputShapes shapes;
  MLIRContext &context;
  Diagnostics &diagnostics;
};

bool OnnxQuantizer::check() {
  std::set<std::string> nodes;
  for (const onnx::NodeProto &node : model.graph().node()) {
    nodes.insert(node.name());
    for (const std::string &output : node.output())
      nodes.insert(output); // identifies a node without a name
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

void OnnxQuantizer::write(Quantization &result) {
  result.floats = std::make_unique<OnnxModel>(model);
  result.qdq = std::make_unique<QdqModel>(writeQdq(model, result.calibration.table));
  result.deploy = std::make_unique<OnnxModel>(writeDeploy(model, result.calibration.table));
  result.report.model = options.name;
}

/// Adds the quantized tensors to the outputs of a copy and runs it beside the float model of
/// `source`, which has the tensors of the result's table at the indices `sourceTensors`.
bool OnnxQuantizer::compare(const Calibration &source, ArrayRef<size_t> sourceTensors,
                            Quantization &result) {
  onnx::ModelProto proto = result.qdq->model.proto;
  const size_t numOutputs = proto.graph().output_size();
  const std::vector<size_t> counterparts = addOutputs(proto, result.qdq->dequantized);
  const QuantTable &table = result.calibration.table;
  std::vector<ComparedTensor> tensors;
  for (size_t i = 0; i < table.tensors.size(); ++i)
    tensors.push_back({table.tensors[i].name, source.firstTensor + sourceTensors[i],
                       counterparts[numOutputs + i]});
  std::unique_ptr<HostModel> ours = compileOnnx(proto, options.name, shapes, context, diagnostics);
  return ours && compareModels(*source.host, *ours, numOutputs, tensors,
                               samplesOf(source.kept.samples), result.report, diagnostics);
}

bool OnnxQuantizer::importAndPlan(OwningOpRef<ModuleOp> &module, Plan &plan) {
  module = importProto(model.proto, options.name, shapes, context, diagnostics);
  if (!module || !checkInputs(*module, diagnostics))
    return false;
  // A Gemm whose weights are not transposed has them transposed in the graph.
  PassManager fold(&context);
  fold.addNestedPass<func::FuncOp>(graph::createGraphFoldConstants());
  if (failed(fold.run(*module))) {
    diagnostics.error("E19999", "the constants of the model cannot be folded");
    return false;
  }
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

bool OnnxQuantizer::run(DataSource &data, Quantization &result) {
  if (!check())
    return false;
  simplify(model);
  if (!upgradeOpset(model, diagnostics))
    return false;

  shapes = findInputShapes(model, options.inputShapes, data);
  OwningOpRef<ModuleOp> module;
  Plan plan;
  if (!importAndPlan(module, plan))
    return false;
  ReplayedSource replayed(data);
  if (options.config.balances()) {
    std::vector<Balance> balances;
    if (!findBalances(*module, plan, options.config, replayed, balances, diagnostics))
      return false;
    applyBalances(model, balances);
    if (!importAndPlan(module, plan))
      return false;
  }
  if (!calibrate(*module, plan, options.config, replayed, options.progress, result.calibration,
                 diagnostics))
    return false;
  write(result);
  const Calibration &calibration = result.calibration;
  return !options.compare ||
         compare(calibration,
                 llvm::to_vector(llvm::seq<size_t>(0, calibration.table.tensors.size())), result);
}

/// Computes a result from the calibration of `all`, to whose float model `model` is equal.
bool OnnxQuantizer::runSubset(const Quantization &all, Quantization &result) {
  const Calibration &source = all.calibration;
  for (const ::om::Tensor &input : source.host->inputs())
    shapes.emplace_back(input.name, input.dims);
  OwningOpRef<ModuleOp> module;
  Plan plan;
  if (!importAndPlan(module, plan))
    return false;
  std::set<std::string> tensors, layers;
  for (const PlannedTensor &tensor : plan.tensors)
    tensors.insert(tensor.name);
  for (const PlannedLayer &layer : plan.layers)
    layers.insert(tensorNameOf(layer.op->getResult(0)));
  Calibration &calibration = result.calibration;
  calibration.samples = source.samples;
  std::vector<size_t> sourceTensors;
  for (auto [index, entry] : llvm::enumerate(source.table.tensors)) {
    if (!tensors.count(entry.name))
      continue;
    sourceTensors.push_back(index);
    calibration.table.tensors.push_back(entry);
    calibration.histograms.push_back(source.histograms[index]);
  }
  for (auto [index, entry] : llvm::enumerate(source.table.layers)) {
    if (!layers.count(entry.output))
      continue;
    calibration.table.layers.push_back(entry);
    calibration.layerMacs.push_back(source.layerMacs[index]);
  }
  write(result);
  return compare(source, sourceTensors, result);
}

} // namespace

std::unique_ptr<Quantization> quantizeOnnx(std::unique_ptr<OnnxModel> model,
                                           const QuantizeOptions &options, DataSource &data,
                                           MLIRContext &context, Diagnostics &diagnostics) {
  auto result = std::make_unique<Quantization>();
  const bool done = OnnxQuantizer(*model, options, context, diagnostics).run(data, *result);
  if (!done && !diagnostics.hasErrors())
    diagnostics.error("E19999", "the model could not be quantized");
  return done ? std::move(result) : nullptr;
}

std::unique_ptr<Quantization> quantizeSubset(const Quantization &all,
                                             const QuantizeOptions &options, MLIRContext &context,
                                             Diagnostics &diagnostics) {
  OnnxModel model(*all.floats);
  auto result = std::make_unique<Quantization>();
  const bool done = OnnxQuantizer(model, options, context, diagnostics).runSubset(all, *result);
  return done ? std::move(result) : nullptr;
}

} // namespace atc::quantize
