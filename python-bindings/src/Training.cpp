//===-- Training.cpp - training steps for Python --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "python-bindings/src/Training.h"

#include "driver/training/InferenceGraph.h"
#include "driver/training/OnnxInitializers.h"
#include "driver/training/TrainingStep.h"
#include "python-bindings/src/ModuleParts.h"

using namespace mlir;

namespace atc::python {

std::shared_ptr<CompilerModule>
makeTrainingModule(const ModelRequest &model, const std::string &settings,
                   const std::function<void(const FloatTensor &, bool)> &each) {
  auto parts = std::make_unique<CompilerModule::Parts>();
  parts->source = model.path;
  Diagnostics diagnostics;
  driver::TrainingStep step;
  {
    driver::ContextMessages messages(*parts->context, diagnostics);
    messages.setCode("E19999");
    if (auto options = driver::parseTrainingOptions(settings, "the training", diagnostics))
      step = driver::makeTrainingStep(sourceOf(model), *options, *parts->context, messages,
                                      diagnostics);
  }
  throwErrors(diagnostics);
  for (const driver::InitialValue &value : step.initial)
    each({value.tensor.name, value.tensor.dims, value.tensor.elements.data()}, value.isParameter);
  parts->module = std::move(step.module);
  return std::make_shared<CompilerModule>(std::move(parts));
}

void writeOnnxInitializers(const ModelRequest &model, const std::vector<FloatTensor> &tensors,
                           const std::string &output, bool inference, const std::string &ownLoss) {
  std::vector<driver::FloatInitializer> values;
  for (const FloatTensor &tensor : tensors) {
    size_t count = 1;
    for (int64_t dim : tensor.dims)
      count *= static_cast<size_t>(dim);
    values.push_back({tensor.name, tensor.dims, ArrayRef(tensor.data, count)});
  }
  Diagnostics diagnostics;
  std::function<void(onnx::GraphProto &)> edit;
  if (inference)
    edit = [&](onnx::GraphProto &graph) { driver::makeInferenceGraph(graph, ownLoss); };
  driver::writeInitializers(model.path, model.bytes, values, output, edit, diagnostics);
  throwErrors(diagnostics);
}

void readOnnxInitializers(const std::string &path,
                          const std::function<void(const FloatTensor &)> &each) {
  Diagnostics diagnostics;
  driver::readInitializers(
      path,
      [&](const driver::FloatInitializer &value) {
        each({value.name, value.dims, value.elements.data()});
      },
      diagnostics);
  throwErrors(diagnostics);
}

} // namespace atc::python
