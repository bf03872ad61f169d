//===-- KernelCompiler.cpp - kernel functions become a code image ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "backends/cpu/KernelCompiler.h"

#include "backends/cpu/ImageLinker.h"
#include "passes/cpu/Pipelines.h"
#include "passes/cpu/tiles/CpuTileChoice.h"
#include "passes/cpu/tiles/KernelBuilder.h"
#include "passes/cpu/tiles/Scratch.h"
#include "passes/om/CallBodies.h"
#include "support/OutputStream.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/Path.h"

using namespace mlir;

namespace atc::cpu {

namespace {

llvm::Error failed(const Twine &text) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), text);
}

llvm::Error run(ModuleOp module, const CpuLevel &level, StringRef stage,
                const KernelCompilerOptions &options, void (*build)(OpPassManager &)) {
  PassManager pm(module.getContext());
  // Kernels expand to many operations: to verify them after each of 30 passes took a quarter of a
  // compilation. Builds with asserts do so, others once after each pipeline.
#ifdef NDEBUG
  pm.enableVerifier(false);
#endif
  build(pm);
  if (mlir::failed(pm.run(module)) || mlir::failed(verify(module)))
    return failed("the kernels could not be compiled for " + level.name);
  if (options.tempDir.empty())
    return llvm::Error::success();
  return writeModule(module, options.tempDir, level.name + "." + stage.str() + ".mlir");
}

} // namespace

SmallVector<func::FuncOp> kernelsOf(ModuleOp module) {
  return llvm::filter_to_vector(module.getOps<func::FuncOp>(), [](func::FuncOp function) {
    return function->hasAttr(kKernelAttr);
  });
}

llvm::Error writeModule(ModuleOp module, StringRef folder, StringRef name) {
  SmallString<128> path(folder);
  llvm::sys::path::append(path, name);
  const auto flags = OpPrintingFlags().elideLargeElementsAttrs().elideLargeResourceString();
  std::string error;
  if (!writeStream(
          path.str().str(), [&](llvm::raw_ostream &os) { module.print(os, flags); }, error))
    return failed(error);
  return llvm::Error::success();
}

llvm::Expected<CompiledLevel> compileKernels(ModuleOp module, const CpuLevel &level,
                                             const KernelCompilerOptions &options) {
  auto stage = [&](StringRef name) {
    if (options.onStage)
      options.onStage(name);
  };
  CompiledLevel result;
  result.level = level;
  OwningOpRef<ModuleOp> kernels = ModuleOp::create(module.getLoc(), module.getName());
  (*kernels)->setAttr(kLevelAttr, level.attribute(module.getContext()));
  copyChoiceTable(module, *kernels);
  std::vector<std::string> names;
  for (func::FuncOp kernel : kernelsOf(module)) {
    func::FuncOp copy = kernel.clone();
    copy.setPublic();
    kernels->push_back(copy);
    names.push_back(kernel.getSymName().str());
  }

  stage("expand kernels");
  if (llvm::Error error = run(*kernels, level, "loops", options, buildCpuExpandPipeline))
    return error;
  stage("lower to LLVM");
  if (llvm::Error error = run(*kernels, level, "llvm", options, buildCpuLoopsToLLVMPipeline))
    return error;
  SymbolTable functions(*kernels);
  for (const std::string &name : names) {
    auto entry = functions.lookup<LLVM::LLVMFuncOp>(name);
    const bool isCalled = module.lookupSymbol(name)->hasAttr(om::kCalledAttr);
    result.tasks.push_back(isCalled ? 0 : entry->getAttrOfType<IntegerAttr>(kTasksAttr).getInt());
    if (auto scratch = entry->getAttrOfType<IntegerAttr>(kScratchAttr))
      result.scratchBytes = std::max<uint64_t>(result.scratchBytes, scratch.getInt());
  }

  stage("generate code");
  const ObjectCache cache(options.cache);
  auto objects = emitObjects(*kernels, level, options, cache);
  if (!objects)
    return objects.takeError();
  if (!options.hostKernels.empty() || level.needsLibrary()) {
    stage("generate host kernels");
    auto hosts = emitHostKernels(options.hostKernels, level, options, cache);
    if (!hosts)
      return hosts.takeError();
    llvm::move(*hosts, std::back_inserter(*objects));
    for (const HostKernel &kernel : options.hostKernels)
      names.push_back(kernel.symbol());
    result.tasks.resize(names.size(), 0);
  }
  stage("link code");
  SmallVector<StringRef> views;
  for (const auto &object : *objects)
    views.emplace_back(object.data(), object.size());
  auto image = linkImage(views);
  if (!image)
    return image.takeError();
  for (const std::string &name : names) {
    auto function = image->functions.find(name);
    if (function == image->functions.end())
      return failed("the code of kernel '" + name + "' is missing");
    result.entries.push_back(function->second);
  }
  result.image = std::move(image->bytes);
  return result;
}

} // namespace atc::cpu
