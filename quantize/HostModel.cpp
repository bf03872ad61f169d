//===-- HostModel.cpp - a module compiled for this machine and loaded -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "quantize/HostModel.h"

#include "backends/om/ModuleToOm.h"
#include "passes/cpu/Pipelines.h"
#include "passes/graph/Passes.h"
#include "passes/om/Schedule.h"

#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"

#include <mutex>
#include <thread>

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

namespace {

bool writeModule(ModuleOp module, OutputFile &file, std::string &fault) {
  graph::GraphPipelineOptions graph;
  PassManager pm(module.getContext());
  graph::buildGraphPipeline(pm, graph);
  cpu::buildCpuBufferPipeline(pm);
  cpu::buildCpuSchedulePipeline(pm);
  if (failed(pm.run(module))) {
    fault = "the passes for this machine's CPU failed";
    return false;
  }
  auto level = cpu::hostCpuLevel();
  if (!level) {
    fault = toString(level.takeError());
    return false;
  }
  cpu::KernelCompilerOptions options;
  options.threads = std::max(1u, std::thread::hardware_concurrency());
  std::vector<cpu::CompiledLevel> levels;
  auto compiled = cpu::compileKernels(module, *level, options);
  if (!compiled) {
    fault = toString(compiled.takeError());
    return false;
  }
  levels.push_back(std::move(*compiled));
  auto description = om::moduleToOm(module, levels);
  if (!description) {
    fault = toString(description.takeError());
    return false;
  }
  description->model.producer = "OpenATC";
  description->model.name = "calibration";
  return om::writeOm(description->model, file, fault);
}

} // namespace

/// Compiling frees and makes constants, so the copy gets a context of its own.
static OwningOpRef<ModuleOp> copyInto(MLIRContext &context, ModuleOp module) {
  std::string bytes;
  llvm::raw_string_ostream os(bytes);
  if (failed(writeBytecodeToFile(module, os)))
    return {};
  return parseSourceString<ModuleOp>(bytes, ParserConfig(&context), "module");
}

std::unique_ptr<HostModel> HostModel::compile(ModuleOp module, Diagnostics &diagnostics) {
  MLIRContext context(module.getContext()->getDialectRegistry());
  context.loadAllAvailableDialects();
  context.printOpOnDiagnostic(false);
  std::mutex lock; // passes speak from several threads
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    std::lock_guard<std::mutex> guard(lock);
    if (diagnostic.getSeverity() == DiagnosticSeverity::Error)
      diagnostics.error("E19999", diagnostic.str());
    return success();
  });
  OwningOpRef<ModuleOp> copy = copyInto(context, module);
  std::string fault = "it cannot be copied";
  // What is mapped stays when the file is gone.
  OutputFile file = OutputFile::unnamed();
  if (!copy || !writeModule(*copy, file, fault)) {
    if (!diagnostics.hasErrors())
      diagnostics.error(
          file.hasFailed() ? "E13004" : "E19999",
          "the model cannot be compiled for calibration: " +
              (file.hasFailed() ? "there is no room for it in " + file.path() + ": " + file.reason()
                                : fault));
    return nullptr;
  }
  std::unique_ptr<HostModel> host(new HostModel());
  ::om::Error error;
  host->model = ::om::Model::loadFile(file.descriptorPath(), error);
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
