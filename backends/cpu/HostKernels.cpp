//===-- HostKernels.cpp - host kernels become objects ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A kernel is an object of its own, with a copy of the functions it shares with others: so its code
// depends on nothing else in the model, and can be kept.

#include "backends/cpu/HostKernels.h"

#include "backends/cpu/CodeGenerator.h"
#include "backends/cpu/KernelBitcode.h"

#include "llvm/ADT/StringSet.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/Linker/Linker.h"
#include "llvm/Support/BLAKE3.h"
#include "llvm/Transforms/IPO/Internalize.h"

#include <atomic>

using namespace llvm;

namespace atc::cpu {

namespace {

/// The functions that code generation may call.
constexpr StringLiteral library[] = {"memcpy", "memmove", "memset", "memcmp", "strcmp", "strlen"};
/// Stands for the object of the library among the symbols of kernels.
constexpr StringLiteral libraryObject = "library";

bool isOfLibrary(StringRef name) { return is_contained(library, name); }

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
  const bool isLibrary = symbol == libraryObject;
  if (isLibrary)
    for (StringRef name : library)
      declare(name);
  else
    declare(symbol);
  // The constants of kernels/core/Numbers.h and Lanes.h.
  auto *word = Type::getInt64Ty(context);
  auto define = [&](StringRef name, uint64_t value) {
    new GlobalVariable(*module, word, /*isConstant=*/true, GlobalValue::ExternalLinkage,
                       ConstantInt::get(word, value), name);
  };
  define("atc_kernel_types", types);
  define("atc_kernel_lanes", level.lanes);
  define("atc_kernel_wide_dot", level.hasWideDot());
  if (Linker::linkModules(*module, std::move(*all), Linker::Flags::LinkOnlyNeeded))
    return createStringError(inconvertibleErrorCode(), "the host kernels could not be linked");
  // The library is in the one object that is named after it.
  if (!isLibrary)
    for (Function &function : *module)
      if (isOfLibrary(function.getName()) && !function.isDeclaration()) {
        function.deleteBody();
        function.setComdat(nullptr);
      }
  internalizeModule(*module, [&](const GlobalValue &value) {
    return isLibrary ? isOfLibrary(value.getName()) : value.getName() == symbol;
  });
  return module;
}

/// Host kernels are written in C++: they need a whole pipeline of the optimizer.
Expected<Object> emit(StringRef symbol, uint64_t types, const CpuLevel &level,
                      const EmitOptions &options) {
  auto generator = CodeGenerator::create(level);
  if (!generator)
    return generator.takeError();
  CodeGenerator &code = **generator;
  auto module = takeOut(symbol, types, level, kernelBitcode(level.arch), code);
  if (!module)
    return module.takeError();
  code.setAttributes(**module);
  code.runPasses(**module, [](PassBuilder &builder) {
    return builder.buildPerModuleDefaultPipeline(OptimizationLevel::O2);
  });
  if (!options.tempDir.empty())
    if (Error error = code.keep(**module, options.tempDir, level.name + ".host." + symbol.str()))
      return error;
  Object object;
  if (Error error = code.generate(**module, object))
    return error;
  return object;
}

} // namespace

Expected<std::vector<Object>> emitHostKernels(ArrayRef<HostKernel> kernels, const CpuLevel &level,
                                              const EmitOptions &options,
                                              const ObjectCache &cache) {
  const StringRef bitcode = kernelBitcode(level.arch);
  const auto source = BLAKE3::hash<16>(arrayRefFromStringRef(bitcode));
  const std::string laneText = std::to_string(level.lanes);
  const StringRef sourceText(reinterpret_cast<const char *>(source.data()), source.size());

  std::vector<Object> objects(1 + kernels.size());
  std::atomic<bool> stored{false};
  Error error = forEachInParallel(objects.size(), options.threads, [&](size_t i) -> Error {
    const std::string symbol = i == 0 ? libraryObject.str() : kernels[i - 1].symbol();
    const uint64_t types = i == 0 ? 0 : kernels[i - 1].types;
    const std::string key = ObjectCache::key({sourceText, level.arch, level.cpu, level.features,
                                              laneText, std::to_string(types), symbol});
    if (options.tempDir.empty())
      if (std::optional<Object> found = cache.find(key)) {
        objects[i] = std::move(*found);
        return Error::success();
      }
    Expected<Object> object = emit(symbol, types, level, options);
    if (!object)
      return object.takeError();
    cache.store(key, *object);
    stored = true;
    objects[i] = std::move(*object);
    return Error::success();
  });
  if (error)
    return error;
  if (stored)
    cache.prune();
  return objects;
}

} // namespace atc::cpu
