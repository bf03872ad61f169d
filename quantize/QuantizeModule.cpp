//===-- QuantizeModule.cpp - calibrates a module of the graph dialect -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/graph/ConstantData.h"
#include "dialects/graph/QuantTypes.h"
#include "dialects/graph/ops/BinaryOps.h"
#include "dialects/graph/ops/ConvOps.h"
#include "dialects/graph/ops/QuantOps.h"
#include "dialects/graph/ops/StructureOps.h"
#include "passes/graph/ConstantUtils.h"
#include "passes/graph/Passes.h"
#include "passes/graph/quant/QuantizeWeights.h"
#include "passes/om/Schedule.h"
#include "quantize/Balance.h"
#include "quantize/Quantize.h"

#include "mlir/Pass/PassManager.h"

using namespace mlir;

namespace atc::quantize {

namespace {

/// Removes the results behind the first `count`.
void dropResults(ModuleOp module, unsigned count) {
  func::FuncOp main = om::findMain(module);
  auto ret = cast<func::ReturnOp>(main.getBody().front().getTerminator());
  const unsigned added = ret.getNumOperands() - count;
  SmallVector<DictionaryAttr> attributes;
  for (unsigned i = 0; i < count; ++i)
    attributes.push_back(main.getResultAttrDict(i));
  ret.getOperandsMutable().erase(count, added);
  main.setAllResultAttrs(ArrayRef<DictionaryAttr>());
  main.setType(FunctionType::get(module.getContext(), main.getArgumentTypes(),
                                 SmallVector<Type>(ret.getOperandTypes())));
  main.setAllResultAttrs(attributes);
}

/// Multiplies the values of a constant operand by `factor(index)`.
void scaleConstant(OpOperand &operand, llvm::function_ref<float(int64_t)> factor) {
  auto constant = operand.get().getDefiningOp<graph::ConstantOp>();
  auto bytes = graph::ConstantBytes::get(constant.getValue());
  if (failed(bytes))
    return;
  ArrayRef<float> values = bytes->expandedAs<float>();
  std::vector<float> scaled(values.begin(), values.end());
  for (int64_t i = 0, n = scaled.size(); i < n; ++i)
    scaled[i] *= factor(i);
  OpBuilder builder(constant);
  auto type = cast<RankedTensorType>(constant.getType());
  operand.set(graph::ConstantOp::create(builder, constant.getLoc(),
                                        graph::makeConstant<float>(type, scaled, "balanced")));
}

/// Replaces the weights of a layer by those of the integers that calibration has chosen, which are
/// their own nearest ones.
void setIntegers(const PlannedLayer &layer, const LayerEntry &entry, int64_t axis) {
  OpOperand &operand = layer.op->getOpOperand(1);
  const auto type = cast<RankedTensorType>(operand.get().getType());
  if (static_cast<int64_t>(entry.integers.size()) != type.getNumElements())
    return;
  const graph::WeightView view{{}, type.getShape(), axis};
  std::vector<float> values;
  for (int64_t i = 0, n = entry.integers.size(); i < n; ++i)
    values.push_back(static_cast<float>(entry.integers[i]) * entry.weightScales[view.channelOf(i)]);
  OpBuilder builder(layer.op);
  operand.set(graph::ConstantOp::create(builder, operand.get().getLoc(),
                                        graph::makeConstant<float>(type, values, "rounded")));
}

/// Applies a balance to a module, as applyBalances does to an ONNX model.
void applyBalance(const Balance &balance, Value tensor, graph::ConvOp producer) {
  ArrayRef<float> factors = balance.factors;
  const SmallVector<Operation *> readers(tensor.getUsers());
  for (Operation *reader : readers) {
    auto conv = cast<graph::ConvOp>(reader);
    const ArrayRef<int64_t> dims = cast<RankedTensorType>(conv.getFilter().getType()).getShape();
    const int64_t rows = dims[0] / int64_t(conv.getGroups()), inputs = dims[1];
    const int64_t row =
        cast<RankedTensorType>(conv.getFilter().getType()).getNumElements() / dims[0];
    scaleConstant(conv.getFilterMutable(), [&](int64_t i) {
      return factors[i / row / rows * inputs + i % row / (row / inputs)];
    });
  }
  if (producer) {
    const auto type = cast<RankedTensorType>(producer.getFilter().getType());
    const int64_t row = type.getNumElements() / type.getDimSize(0);
    scaleConstant(producer.getFilterMutable(), [&](int64_t i) { return 1 / factors[i / row]; });
    for (OpOperand &bias : producer.getBiasMutable())
      scaleConstant(bias, [&](int64_t i) { return 1 / factors[i]; });
    return;
  }
  OpBuilder builder(tensor.getContext());
  builder.setInsertionPointAfterValue(tensor);
  const auto type = cast<RankedTensorType>(tensor.getType());
  SmallVector<int64_t> dims(type.getRank(), 1);
  dims[1] = factors.size();
  SmallVector<double> inverse;
  for (float factor : factors)
    inverse.push_back(1 / factor);
  Location loc = NameLoc::get(builder.getStringAttr(balance.tensor + "_balanced"));
  Value constant = graph::createConstant(
      builder, loc, RankedTensorType::get(dims, type.getElementType()), inverse);
  Value divided = graph::MulOp::create(builder, loc, type, tensor, constant);
  for (Operation *reader : readers)
    reader->setOperand(0, divided);
}

void applyToModule(ModuleOp module, ArrayRef<Balance> balances) {
  std::map<std::string, Value> tensors;
  module.walk([&](Operation *op) {
    for (Value result : op->getResults())
      tensors[tensorNameOf(result)] = result;
  });
  for (const Balance &balance : balances) {
    graph::ConvOp producer;
    if (!balance.producer.empty())
      producer = tensors.at(balance.producer).getDefiningOp<graph::ConvOp>();
    applyBalance(balance, tensors.at(balance.tensor), producer);
  }
}

/// Adds what the rounding of the weights takes from the means.
void correctBias(const PlannedLayer &layer, ArrayRef<float> correction) {
  auto conv = dyn_cast<graph::ConvOp>(layer.op);
  auto linear = dyn_cast<graph::FullyConnectedOp>(layer.op);
  if (correction.empty() || (!conv && !linear))
    return;
  SmallVector<double> values(correction.begin(), correction.end());
  OpBuilder builder(layer.op);
  Location loc = layer.op->getLoc();
  if (Value bias = layer.bias()) {
    auto known = graph::getVectorConstant(bias);
    if (!known || known->size() != values.size())
      return;
    for (size_t i = 0; i < values.size(); ++i)
      values[i] += (*known)[i];
    loc = bias.getLoc();
  }
  const int64_t count = values.size();
  Value corrected = graph::createConstant(
      builder, loc, RankedTensorType::get({count}, builder.getF32Type()), values);
  (conv ? conv.getBiasMutable() : linear.getBiasMutable()).assign(corrected);
}

void writeAttributes(ModuleOp module, const Plan &plan, const QuantTable &table) {
  MLIRContext *context = module.getContext();
  func::FuncOp main = om::findMain(module);
  for (size_t i = 0; i < plan.tensors.size(); ++i) {
    const QuantParams &params = table.tensors[i].params;
    auto stored = IntegerType::get(context, 8,
                                   params.isSigned ? IntegerType::Signless : IntegerType::Unsigned);
    Type type = graph::getQuantType(stored, params.scale, int64_t(params.zeroPoint));
    if (!type)
      continue;
    if (auto argument = dyn_cast<BlockArgument>(plan.tensors[i].value))
      main.setArgAttr(argument.getArgNumber(), "graph.quantization", TypeAttr::get(type));
    else
      plan.tensors[i].value.getDefiningOp()->setAttr("graph.quantization", TypeAttr::get(type));
  }
  for (size_t i = 0; i < plan.layers.size(); ++i) {
    const PlannedLayer &layer = plan.layers[i];
    const LayerEntry &entry = table.layers[i];
    SmallVector<int64_t> zeros(entry.weightScales.size(), 0);
    const int64_t axis = layer.config.perChannel ? layer.axis : -1;
    if (Type type =
            graph::getQuantType(IntegerType::get(context, 8), entry.weightScales, zeros, axis))
      layer.op->setAttr("graph.weight_quantization", TypeAttr::get(type));
    setIntegers(layer, entry, axis);
    correctBias(layer, entry.biasCorrection);
  }
}

/// Runs the module with the quantized tensors as results beside float.
bool compare(ModuleOp module, const Plan &plan, unsigned numResults, Quantization &result,
             Diagnostics &diagnostics) {
  const Calibration &calibration = result.calibration;
  std::vector<ComparedTensor> tensors;
  SmallVector<Value> values;
  for (const PlannedTensor &tensor : plan.tensors) {
    Value real = tensor.value; // a tensor without readers has no quantize and dequantize
    for (Operation *user : tensor.value.getUsers())
      if (auto quantize = dyn_cast<graph::QuantizeOp>(user))
        for (Operation *reader : quantize->getUsers())
          if (auto dequantize = dyn_cast<graph::DequantizeOp>(reader))
            real = dequantize.getResult();
    tensors.push_back(
        {tensor.name, calibration.firstTensor + values.size(), numResults + values.size()});
    values.push_back(real);
  }
  addResults(module, values);
  std::unique_ptr<HostModel> ours = HostModel::compile(module, diagnostics);
  dropResults(module, numResults);
  return ours && compareModels(*calibration.host, *ours, numResults, tensors,
                               samplesOf(calibration.kept.samples), result.report, diagnostics);
}

/// Checks that the configuration names nodes that there are.
void checkNames(ModuleOp module, const QuantConfig &config, Diagnostics &diagnostics) {
  std::set<std::string> nodes;
  module.walk([&](Operation *op) { nodes.insert(nodeNameOf(op)); });
  for (const std::string &name : config.layerNames())
    if (!nodes.count(name))
      diagnostics.error("E10016", "the configuration names the node \"" + name +
                                      "\", which the model has not");
}

} // namespace

bool quantizeModule(ModuleOp module, const QuantizeOptions &options, DataSource &data,
                    Quantization &result, Diagnostics &diagnostics) {
  Calibration &calibration = result.calibration;
  checkNames(module, options.config, diagnostics);
  if (!checkInputs(module, diagnostics) || diagnostics.hasErrors())
    return false;
  PassManager prepare(module.getContext());
  graph::buildWeightPasses(prepare);
  if (failed(prepare.run(module))) {
    diagnostics.error("E19999", "the graph passes in front of the quantization failed");
    return false;
  }
  auto plan = [&] {
    // Two tensors of one name would be one to the table.
    std::map<std::string, int> names;
    module.walk([&](Operation *op) {
      for (Value result : op->getResults())
        ++names[tensorNameOf(result)];
    });
    return makePlan(module, options.config,
                    [&](StringRef name) { return !name.empty() && names[name.str()] <= 1; });
  };
  Plan planned = plan();
  if (planned.layers.empty()) {
    diagnostics.error("E10055", "the model '" + options.name +
                                    "' has no layer that can be quantized: no convolution or "
                                    "matrix product of float32 with constant weights that is not "
                                    "skipped");
    return false;
  }
  const unsigned numResults = om::findMain(module).getNumResults();
  ReplayedSource replayed(data);
  bool done = true;
  if (options.config.balances()) {
    std::vector<Balance> balances;
    done = findBalances(module, planned, options.config, replayed, balances, diagnostics);
    dropResults(module, numResults);
    applyToModule(module, balances);
    planned = plan();
  }
  done = done && calibrate(module, planned, options.config, replayed, options.progress, calibration,
                           diagnostics);
  dropResults(module, numResults);
  if (!done)
    return false;
  writeAttributes(module, planned, calibration.table);
  PassManager expand(module.getContext());
  expand.addNestedPass<func::FuncOp>(graph::createGraphInsertQuantization());
  if (failed(expand.run(module))) {
    diagnostics.error("E19999", "the scales cannot be written into the graph");
    return false;
  }
  result.report.model = options.name;
  return !options.compare || compare(module, planned, numResults, result, diagnostics);
}

} // namespace atc::quantize
