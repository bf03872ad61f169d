//===-- CodeGenerator.cpp - LLVM modules become objects -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "backends/cpu/CodeGenerator.h"

#include "backends/cpu/ExpandRounding.h"
#include "support/OutputStream.h"

#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/DiagnosticHandler.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Transforms/Utils/Cloning.h"

#include <atomic>
#include <mutex>
#include <thread>

using namespace llvm;

namespace atc::cpu {

namespace {

Error failed(const Twine &text) { return createStringError(inconvertibleErrorCode(), text); }

const Target *findTarget(const CpuLevel &level, std::string &error) {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
    LLVMInitializeAArch64TargetInfo();
    LLVMInitializeAArch64Target();
    LLVMInitializeAArch64TargetMC();
    LLVMInitializeAArch64AsmPrinter();
    LLVMInitializeRISCVTargetInfo();
    LLVMInitializeRISCVTarget();
    LLVMInitializeRISCVTargetMC();
    LLVMInitializeRISCVAsmPrinter();
    LLVMInitializeARMTargetInfo();
    LLVMInitializeARMTarget();
    LLVMInitializeARMTargetMC();
    LLVMInitializeARMAsmPrinter();
  });
  return TargetRegistry::lookupTarget(Triple(level.triple()), error);
}

/// Keeps to itself that a loop was not unrolled: host kernels ask for it on every level, and what a
/// level's costs do not allow is nothing that a user could change.
struct WithoutMissedOptimizations : DiagnosticHandler {
  bool handleDiagnostics(const DiagnosticInfo &info) override {
    return isa<DiagnosticInfoOptimizationFailure>(info);
  }
};

} // namespace

CodeGenerator::CodeGenerator(const CpuLevel &level, std::unique_ptr<TargetMachine> machine)
    : level(level), machine(std::move(machine)) {
  context.setDiagnosticHandler(std::make_unique<WithoutMissedOptimizations>());
}

Expected<std::unique_ptr<CodeGenerator>> CodeGenerator::create(const CpuLevel &level) {
  std::string error;
  const Target *target = findTarget(level, error);
  if (!target)
    return failed("this LLVM has no " + level.arch + " code generator: " + error);
  TargetOptions options;
  options.AllowFPOpFusion = FPOpFusion::Fast;
  options.FunctionSections = false;
  std::unique_ptr<TargetMachine> machine(
      target->createTargetMachine(Triple(level.triple()), level.cpu, level.features, options,
                                  Reloc::PIC_, CodeModel::Small, CodeGenOptLevel::Default));
  return std::unique_ptr<CodeGenerator>(new CodeGenerator(level, std::move(machine)));
}

void CodeGenerator::setTarget(Module &module) const {
  module.setTargetTriple(machine->getTargetTriple());
  module.setDataLayout(machine->createDataLayout());
}

void CodeGenerator::setAttributes(Module &module) const {
  for (Function &function : module) {
    if (function.isDeclaration())
      continue;
    function.addFnAttr("target-cpu", level.cpu);
    if (!level.features.empty())
      function.addFnAttr("target-features", level.features);
    // Tiles are chosen for registers of this width.
    function.addFnAttr("prefer-vector-width", std::to_string(32 * level.lanes));
    function.addFnAttr("no-builtins");
    function.addFnAttr("frame-pointer", "none");
  }
}

void CodeGenerator::runPasses(Module &module,
                              function_ref<ModulePassManager(PassBuilder &)> build) {
  LoopAnalysisManager loops;
  FunctionAnalysisManager functions;
  CGSCCAnalysisManager graphs;
  ModuleAnalysisManager modules;
  PassBuilder builder(machine.get());
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(graphs);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, graphs, modules);
  build(builder).run(module, modules);
}

std::string bitcodeOf(const Module &module) {
  std::string bytes;
  raw_string_ostream os(bytes);
  WriteBitcodeToFile(module, os);
  return bytes;
}

Error CodeGenerator::generate(Module &module, CodeGenFileType type, Object &bytes) {
  if (!level.roundsFloats())
    expandRounding(module);
  raw_svector_ostream os(bytes);
  legacy::PassManager passes;
  if (machine->addPassesToEmitFile(passes, os, nullptr, type))
    return failed("this LLVM cannot write " + level.arch + " code");
  passes.run(module);
  return Error::success();
}

Error CodeGenerator::keep(Module &module, StringRef folder, StringRef name) {
  auto write = [&](StringRef suffix, function_ref<void(raw_ostream &)> print) -> Error {
    SmallString<128> path(folder);
    sys::path::append(path, name + suffix);
    std::string error;
    return writeStream(path.str().str(), print, error) ? Error::success() : failed(error);
  };
  if (Error error = write(".ll", [&](raw_ostream &os) { module.print(os, nullptr); }))
    return error;
  // Code generation changes the module, which is still needed.
  std::unique_ptr<Module> copy = CloneModule(module);
  Object text;
  if (Error error = generate(*copy, CodeGenFileType::AssemblyFile, text))
    return error;
  return write(".s", [&](raw_ostream &os) { os << StringRef(text.data(), text.size()); });
}

Error forEachInParallel(size_t count, unsigned threads, function_ref<Error(size_t)> work) {
  std::atomic<size_t> next{0};
  std::mutex mutex;
  std::vector<std::pair<size_t, std::string>> errors;
  auto run = [&] {
    for (size_t i = next++; i < count; i = next++)
      if (Error error = work(i)) {
        std::lock_guard<std::mutex> lock(mutex);
        errors.emplace_back(i, toString(std::move(error)));
      }
  };
  std::vector<std::thread> workers;
  for (size_t i = 1; i < std::min<size_t>(threads, count); ++i)
    workers.emplace_back(run);
  run();
  for (std::thread &worker : workers)
    worker.join();
  if (errors.empty())
    return Error::success();
  llvm::sort(errors);
  std::string text;
  for (const auto &[i, error] : errors)
    text += (text.empty() ? "" : "; ") + error;
  return failed(text);
}

} // namespace atc::cpu
