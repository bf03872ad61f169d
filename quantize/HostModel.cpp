//===-- HostModel.cpp - a module compiled for this machine and loaded -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "quantize/HostModel.h"

#include "driver/Compiler.h"
#include "driver/targets/MakeTarget.h"
#include "passes/om/Schedule.h"

using namespace mlir;

namespace atc::quantize {

void addResults(ModuleOp module, ArrayRef<Value> values) {
  func::FuncOp main = om::findMain(module);
  auto ret = cast<func::ReturnOp>(main.getBody().front().getTerminator());
  const unsigned first = ret.getNumOperands();
  ret.getOperandsMutable().append(values);
  SmallVector<Type> types(ret.getOperandTypes());
  main.setType(FunctionType::get(module.getContext(), main.getArgumentTypes(), types));
  for (unsigned i = 0; i < values.size(); ++i)
    main.setResultAttr(first + i, om::kNameAttr,
                       StringAttr::get(module.getContext(), "observed." + Twine(i)));
}

/// Returns the `.om` file of a copy for this machine's CPU; nothing after an error.
static std::optional<::om::Buffer> compileForHost(ModuleOp module, Diagnostics &diagnostics) {
  driver::CompilerOptions options;
  options.source.path = "calibration";
  driver::TargetRequest request;
  request.target = "cpu";
  options.target = driver::makeTarget(request, diagnostics);
  if (!options.target)
    return std::nullopt;
  auto context = driver::makeCompilerContext();
  driver::Compiler compiler(*context, std::move(options), diagnostics);
  OwningOpRef<ModuleOp> copy = driver::copyModule(module, *context);
  if (!copy) {
    diagnostics.error("E19999", "the model cannot be copied for calibration");
    return std::nullopt;
  }
  compiler.setModule(std::move(copy));
  return compiler.emitBytes();
}

std::unique_ptr<HostModel> HostModel::compile(ModuleOp module, Diagnostics &diagnostics) {
  std::optional<::om::Buffer> file = compileForHost(module, diagnostics);
  if (!file)
    return nullptr;
  std::unique_ptr<HostModel> host(new HostModel());
  host->file = std::move(*file);
  ::om::Error error;
  host->model = ::om::Model::loadMemory(host->file.data(), host->file.size(), error);
  if (host->model)
    host->session = ::om::Session(host->model, error);
  if (!host->model || !host->session) {
    diagnostics.error("E10041", std::string("the model compiled for calibration cannot be "
                                            "loaded: ") +
                                    error.message());
    return nullptr;
  }
  host->inputTensors = host->model.inputs();
  host->outputTensors = host->model.outputs();
  for (const ::om::Tensor &tensor : host->outputTensors)
    host->results.emplace_back(tensor.bytes);
  return host;
}

std::vector<::om::Buffer> HostModel::makeInputs() const {
  std::vector<::om::Buffer> buffers;
  for (const ::om::Tensor &tensor : inputTensors)
    buffers.emplace_back(tensor.bytes);
  return buffers;
}

bool HostModel::run(const std::vector<::om::Buffer> &inputs, Diagnostics &diagnostics) {
  std::vector<const void *> from;
  std::vector<void *> to;
  for (const ::om::Buffer &buffer : inputs)
    from.push_back(buffer.data());
  for (const ::om::Buffer &buffer : results)
    to.push_back(buffer.data());
  ::om::Error error;
  if (session.run(from.data(), to.data(), error))
    return true;
  diagnostics.error("E19999", std::string("the model cannot be run: ") + error.message());
  return false;
}

ArrayRef<float> HostModel::floats(size_t index) const {
  if (outputTensors[index].dtype != OM_F32)
    return {};
  return {results[index].data<float>(), outputTensors[index].elements};
}

} // namespace atc::quantize
