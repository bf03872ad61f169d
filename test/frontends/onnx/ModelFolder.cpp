//===-- ModelFolder.cpp - runs stored models with stored answers ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "test/frontends/onnx/ModelFolder.h"

#include <cmath>
#include <fstream>

#include "dialects/graph/OpTraits.h"
#include "dialects/graph/interpreter/Interpreter.h"
#include "frontends/onnx/TensorData.h"
#include "llvm/Support/FileSystem.h"

using namespace mlir;

namespace atc::test {
namespace {

template <typename Proto> bool readProto(const std::string &path, Proto &proto) {
  std::ifstream file(path, std::ios::binary);
  return file && proto.ParseFromIstream(&file);
}

/// The tensors prefix_0.pb, prefix_1.pb, ... in a folder. Fails on a file that
/// is no tensor of a type we have (a sequence, strings).
bool readTensors(const std::string &prefix, std::vector<onnx::TensorProto> &tensors) {
  for (unsigned i = 0;; ++i) {
    std::string path = prefix + std::to_string(i) + ".pb";
    if (!llvm::sys::fs::exists(path))
      return true;
    MLIRContext context;
    onnx::TensorProto tensor;
    if (!readProto(path, tensor) || !onnx_import::convertElementType(tensor.data_type(), &context))
      return false;
    tensors.push_back(std::move(tensor));
  }
}

FailureOr<graph::Tensor> toTensor(onnx::TensorProto proto, MLIRContext &context) {
  onnx_import::ExternalFiles files("");
  llvm::Expected<ElementsAttr> value = onnx_import::takeTensor(proto, files, &context);
  if (!value) {
    llvm::consumeError(value.takeError());
    return failure();
  }
  return graph::Tensor::fromAttribute(*value);
}

/// Empty when the tensors agree.
std::string compare(const graph::Tensor &actual, const graph::Tensor &expected,
                    Tolerance tolerance) {
  if (actual.getElementType() != expected.getElementType() ||
      actual.getNumElements() != expected.getNumElements()) {
    std::string text;
    llvm::raw_string_ostream(text)
        << "has type " << actual.getType() << ", expected " << expected.getType();
    return text;
  }
  // Half precision: the steps in between may be rounded or not.
  if (expected.getElementType().isF16() || expected.getElementType().isBF16())
    tolerance.relative = std::max(tolerance.relative, 1e-2);
  std::vector<double> have = actual.toDoubles(), want = expected.toDoubles();
  for (size_t i = 0; i < have.size(); ++i) {
    bool isSame =
        have[i] == want[i] || (std::isnan(have[i]) && std::isnan(want[i])) ||
        std::abs(have[i] - want[i]) <= tolerance.absolute + tolerance.relative * std::abs(want[i]);
    if (!isSame)
      return "element " + std::to_string(i) + " is " + std::to_string(have[i]) + ", expected " +
             std::to_string(want[i]);
  }
  return "";
}

} // namespace

/// Makes initializers of the inputs from `first` on.
static void bakeInputs(onnx::ModelProto &model, std::vector<onnx::TensorProto> &inputs,
                       unsigned first) {
  onnx::GraphProto &graph = *model.mutable_graph();
  while (inputs.size() > first) {
    onnx::TensorProto *constant = graph.add_initializer();
    *constant = std::move(inputs.back());
    constant->set_name(graph.input(inputs.size() - 1).name());
    inputs.pop_back();
    graph.mutable_input()->RemoveLast();
  }
}

ModelResult runModel(const std::string &path, const std::string &data, Tolerance tolerance,
                     const InputShapes &shapes, unsigned firstConstant) {
  onnx::ModelProto model;
  std::vector<onnx::TensorProto> inputs, outputs;
  if (!readProto(path, model))
    return {ModelResult::Refused, "cannot be parsed"};
  if (!readTensors(data + "/input_", inputs) || !readTensors(data + "/output_", outputs) ||
      outputs.empty())
    return {ModelResult::Refused, "the stored data is not all tensors"};
  // An optional input that is left out has no file: then names do not match.
  if (static_cast<int>(inputs.size()) < model.graph().input_size() &&
      model.graph().initializer_size() == 0)
    return {ModelResult::Refused, "inputs are left out"};

  OnnxImportOptions options;
  options.inputShapes = shapes;
  bakeInputs(model, inputs, firstConstant);
  if (shapes.empty())
    for (auto [info, tensor] : llvm::zip(model.graph().input(), inputs))
      options.inputShapes.push_back({info.name(), {tensor.dims().begin(), tensor.dims().end()}});
  Imported result = importBytes(model.SerializeAsString(), options);
  if (!result)
    return {ModelResult::Refused, result.messages()};

  // The interpreter knows plain tensors; host kernels have tests of their own.
  bool onHost = false;
  result.module->walk([&](mlir::Operation *op) { onHost |= op->hasTrait<graph::RunsOnHost>(); });
  if (onHost)
    return {ModelResult::Refused, "has a host program"};
  auto function = result.module->lookupSymbol<func::FuncOp>("main");
  std::vector<graph::Tensor> arguments;
  for (auto [input, type] : llvm::zip(inputs, function.getArgumentTypes())) {
    FailureOr<graph::Tensor> tensor = toTensor(input, *result.context);
    if (failed(tensor))
      return {ModelResult::Refused, "an input cannot be read"};
    // Some stored inputs leave the dims of 1 away.
    arguments.push_back(std::move(*tensor).withType(cast<RankedTensorType>(type)));
  }
  auto results = graph::evaluateFunction(function, arguments);
  if (failed(results))
    return {ModelResult::Wrong, "the interpreter fails"};
  if (results->size() != outputs.size())
    return {ModelResult::Wrong, "has " + std::to_string(results->size()) + " outputs"};
  for (auto [actual, output] : llvm::zip(*results, outputs)) {
    FailureOr<graph::Tensor> expected = toTensor(output, *result.context);
    if (failed(expected))
      return {ModelResult::Refused, "an output cannot be read"};
    std::string difference = compare(actual, *expected, tolerance);
    if (!difference.empty())
      return {ModelResult::Wrong, "output '" + output.name() + "': " + difference};
  }
  return {ModelResult::Passed, ""};
}

std::string findShared(const std::string &name) {
  std::string path = std::string(OPENATC_SOURCE_DIR) + "/../shared/" + name;
  return llvm::sys::fs::exists(path) ? path : "";
}

} // namespace atc::test
