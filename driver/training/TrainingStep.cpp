//===-- TrainingStep.cpp - makes the training step of a model -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "driver/training/TrainingStep.h"

#include "dialects/graph/ConstantData.h"
#include "frontends/onnx/OnnxImport.h"
#include "passes/graph/Passes.h"
#include "passes/train/Functions.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace atc::driver {

/// Runs the passes from the imported model to its step. Returns false after an error.
static bool runPasses(ModuleOp module, const TrainingOptions &options) {
  PassManager pm(module.getContext());
  auto add = [&](std::unique_ptr<Pass> pass) { pm.addNestedPass<func::FuncOp>(std::move(pass)); };
  add(graph::createGraphInferShapes());
  add(createCanonicalizerPass());
  add(graph::createGraphCse());
  add(train::createTrainExpandDropout(options.dropout));
  add(train::createTrainExpandRecurrent());
  add(train::createTrainAddLoss(options.loss));
  add(train::createTrainShardParameters(options.shard));
  add(train::createTrainDifferentiate(
      {options.optimizer.lossScale > 0 ? train::kLossScale.str() : std::string()}));
  if (options.recompute)
    add(train::createTrainRecompute());
  add(train::createTrainExchangeGradients(options.exchange));
  add(train::createTrainApplyOptimizer(options.optimizer));
  if (options.offloadOptimizer)
    add(train::createTrainOffload());
  add(train::createTrainLowerConvolutions());
  add(createCanonicalizerPass());
  return succeeded(pm.run(module));
}

std::vector<om::InitialState> initialStates(const TrainingStep &step,
                                            const TrainingOptions &options) {
  llvm::StringSet<> names;
  if (auto pairs = (*step.module)->getAttrOfType<ArrayAttr>(train::kStatesAttr))
    for (auto pair : pairs.getAsRange<ArrayAttr>())
      names.insert(cast<StringAttr>(pair[0]).getValue());
  std::vector<om::InitialState> states;
  for (const InitialValue &value : step.initial)
    if (names.contains(value.tensor.name))
      states.push_back(om::InitialState::ofFloats(value.tensor.name, value.tensor.elements.vec()));
  if (names.contains(train::kLossScale))
    states.push_back(om::InitialState::ofFloats(train::kLossScale.str(),
                                                {static_cast<float>(options.optimizer.lossScale)}));
  if (names.contains(train::kRandom))
    states.push_back(
        om::InitialState::ofFloats(train::kRandom.str(), {static_cast<float>(options.seed), 0, 0}));
  return states;
}

TrainingStep makeTrainingStep(const ModelSource &source, const TrainingOptions &options,
                              MLIRContext &context, ContextMessages &messages,
                              Diagnostics &diagnostics) {
  TrainingStep step;
  if (source.format != ModelFormat::Onnx) {
    diagnostics.error("E15006", "'" + source.path +
                                    "' is not an ONNX model: only these can be trained, whose "
                                    "initializers are the parameters");
    return step;
  }
  OnnxImportOptions import = {source.inputShapes, source.outNodes};
  import.training = &options.import;
  import.onParameter = [&](StringRef name, ElementsAttr value, bool isParameter) {
    // For the types that can be trained, the attribute stores the elements as they are, unless it
    // is a splat.
    auto bytes = graph::ConstantBytes::get(value);
    const auto dims = value.getShapedType().getShape().vec();
    if (succeeded(bytes) && !bytes->isSplat() && !bytes->ownsBytes()) {
      step.initial.push_back({{name.str(), dims, bytes->as<float>()}, isParameter});
    } else if (succeeded(bytes)) {
      ArrayRef<float> elements = bytes->expandedAs<float>();
      step.expanded.emplace_back(elements.begin(), elements.end());
      step.initial.push_back({{name.str(), dims, step.expanded.back()}, isParameter});
    }
  };
  auto module = source.bytes ? importOnnxBuffer(*source.bytes, source.path, /*folder=*/"", import,
                                                context, diagnostics)
                             : importOnnx(source.path, import, context, diagnostics);
  if (failed(module) || diagnostics.hasErrors()) {
    messages.fail("the model '" + source.path + "' cannot be read");
    return step;
  }
  if (options.optimizer.lossScale > 0) {
    auto main = (*module)->lookupSymbol<func::FuncOp>("main");
    train::appendArgument(main, RankedTensorType::get({}, Float32Type::get(&context)),
                          train::kLossScale.str());
  }
  if (runPasses(**module, options))
    step.module = std::move(*module);
  else
    messages.fail("the training step of '" + source.path + "' cannot be made");
  return step;
}

} // namespace atc::driver
