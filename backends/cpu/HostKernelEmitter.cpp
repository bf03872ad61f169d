//===-- HostKernelEmitter.cpp - one host kernel becomes an object ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A kernel is an object of its own, with a copy of the functions it shares with some others: so its
// code depends on nothing else in the model, and can be kept. What all kernels share are two
// objects.

#include "backends/cpu/HostKernelEmitter.h"

#include "backends/cpu/CodeGenerator.h"
#include "backends/cpu/KernelBitcode.h"

#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/Linker/Linker.h"
#include "llvm/Transforms/IPO/GlobalDCE.h"
#include "llvm/Transforms/IPO/Internalize.h"

using namespace llvm;

namespace atc::cpu {

namespace {

/// The functions that code generation may call. Those of kernels/core/ArmLibrary.cpp exist on
/// ARMv7 only.
constexpr StringLiteral library[] = {
    "memcpy",           "memmove",          "memset",           "memcmp",
    "strcmp",           "strlen",           "__aeabi_uidiv",    "__aeabi_uidivmod",
    "__aeabi_idiv",     "__aeabi_idivmod",  "__aeabi_uldivmod", "__aeabi_ldivmod",
    "__aeabi_ul2f",     "__aeabi_l2f",      "__aeabi_ul2d",     "__aeabi_l2d",
    "__aeabi_f2ulz",    "__aeabi_f2lz",     "__aeabi_d2ulz",    "__aeabi_d2lz",
    "__aeabi_memcpy",   "__aeabi_memcpy4",  "__aeabi_memcpy8",  "__aeabi_memmove",
    "__aeabi_memmove4", "__aeabi_memmove8", "__aeabi_memset",   "__aeabi_memset4",
    "__aeabi_memset8",  "__aeabi_memclr",   "__aeabi_memclr4",  "__aeabi_memclr8"};
/// The functions around the body of a kernel (kernels/core/Support.h, Contract.h).
constexpr StringLiteral calls[] = {"atc_call_meets_contract", "atc_call_has_fitting_code",
                                   "atc_call_run_generated"};

/// Returns the functions of an object that all kernels share; none for a kernel.
ArrayRef<StringLiteral> sharedFunctions(StringRef symbol) {
  if (symbol == kLibraryObject)
    return library;
  return symbol == kCallsObject ? ArrayRef<StringLiteral>(calls) : ArrayRef<StringLiteral>();
}
bool isShared(StringRef name) { return is_contained(library, name) || is_contained(calls, name); }

/// Takes the functions that `symbol` stands for, and what they need, out of all kernels.
Expected<std::unique_ptr<Module>> takeOut(StringRef symbol, uint64_t types, const CpuLevel &level,
                                          StringRef bitcode, CodeGenerator &generator) {
  LLVMContext &context = generator.getContext();
  Expected<std::unique_ptr<Module>> all =
      getLazyBitcodeModule(MemoryBufferRef(bitcode, "kernels"), context);
  if (!all)
    return all.takeError();
  // The linker takes from the other module only what this module declares.
  auto module = std::make_unique<Module>(symbol, context);
  generator.setTarget(*module);
  auto declare = [&](StringRef name) {
    if (Function *function = (*all)->getFunction(name))
      module->getOrInsertFunction(name, function->getFunctionType());
  };
  const ArrayRef<StringLiteral> shared = sharedFunctions(symbol);
  for (StringRef name : shared)
    declare(name);
  if (shared.empty())
    declare(symbol);
  if (module->empty())
    return createStringError(inconvertibleErrorCode(), "there is no host kernel " + symbol);
  // The constants of kernels/core/Numbers.h and Lanes.h.
  auto *word = Type::getInt64Ty(context);
  auto define = [&](StringRef name, uint64_t value) {
    new GlobalVariable(*module, word, /*isConstant=*/true, GlobalValue::ExternalLinkage,
                       ConstantInt::get(word, value), name);
  };
  define("atc_kernel_types", types);
  define("atc_kernel_lanes", level.lanes);
  define("atc_kernel_wide_dot", level.hasWideDot());
  define("atc_kernel_tile_registers", level.hasTileRegisters());
  if (Linker::linkModules(*module, std::move(*all), Linker::Flags::LinkOnlyNeeded))
    return createStringError(inconvertibleErrorCode(), "the host kernels could not be linked");
  auto isOwn = [&](StringRef name) {
    return shared.empty() ? name == symbol : is_contained(shared, name);
  };
  for (Function &function : *module)
    if (isShared(function.getName()) && !isOwn(function.getName()) && !function.isDeclaration()) {
      function.deleteBody();
      function.setComdat(nullptr);
    }
  internalizeModule(*module, [&](const GlobalValue &value) { return isOwn(value.getName()); });
  // Nothing that only those functions needed belongs to what the object is kept by.
  generator.runPasses(*module, [](PassBuilder &) {
    ModulePassManager passes;
    passes.addPass(GlobalDCEPass());
    return passes;
  });
  return module;
}

} // namespace

/// Host kernels are written in C++: they need a whole pipeline of the optimizer.
Expected<Object> emitHostKernel(StringRef symbol, uint64_t types, const CpuLevel &level,
                                const std::string &tempDir, const ObjectCache *byContent) {
  auto generator = CodeGenerator::create(level);
  if (!generator)
    return generator.takeError();
  CodeGenerator &code = **generator;
  auto module = takeOut(symbol, types, level, kernelBitcode(level.arch), code);
  if (!module)
    return module.takeError();
  code.setAttributes(**module);
  std::string key;
  if (byContent) {
    key = ObjectCache::key({bitcodeOf(**module)});
    if (std::optional<Object> found = byContent->find(key))
      return std::move(*found);
  }
  code.runPasses(**module, [](PassBuilder &builder) {
    return builder.buildPerModuleDefaultPipeline(OptimizationLevel::O2);
  });
  if (!tempDir.empty())
    if (Error error = code.keep(**module, tempDir, level.name + ".host." + symbol.str()))
      return error;
  Object object;
  if (Error error = code.generate(**module, object))
    return error;
  if (byContent)
    byContent->store(key, object);
  return object;
}

} // namespace atc::cpu
