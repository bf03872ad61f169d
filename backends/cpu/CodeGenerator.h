//===-- CodeGenerator.h - LLVM modules become objects -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_BACKENDS_CPU_CODEGENERATOR_H
#define OPENATC_BACKENDS_CPU_CODEGENERATOR_H

#include "backends/cpu/CpuLevels.h"
#include "backends/cpu/Object.h"

#include "llvm/IR/Module.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Target/TargetMachine.h"

namespace atc::cpu {

/// Generates position-independent code for one CPU level. A generator has an LLVM context of
/// its own, so that several can work at the same time, each in its own thread.
class CodeGenerator {
public:
  /// Returns a generator for `level`, which must outlive it. Fails when this LLVM has no code
  /// generator for the level's architecture.
  static llvm::Expected<std::unique_ptr<CodeGenerator>> create(const CpuLevel &level);

  llvm::LLVMContext &getContext() { return context; }

  /// Sets the target triple and the data layout of `module`.
  void setTarget(llvm::Module &module) const;
  /// Sets processor, features and vector width on every function that `module` defines.
  void setAttributes(llvm::Module &module) const;
  /// Runs the pipeline that `build` returns.
  void runPasses(llvm::Module &module,
                 llvm::function_ref<llvm::ModulePassManager(llvm::PassBuilder &)> build);
  /// Generates an object of `module`, which code generation changes.
  llvm::Error generate(llvm::Module &module, Object &object) {
    return generate(module, llvm::CodeGenFileType::ObjectFile, object);
  }
  /// Writes the LLVM IR and the assembly of `module` to `<folder>/<name>.ll` and `.s`.
  llvm::Error keep(llvm::Module &module, llvm::StringRef folder, llvm::StringRef name);

private:
  CodeGenerator(const CpuLevel &level, std::unique_ptr<llvm::TargetMachine> machine);
  llvm::Error generate(llvm::Module &module, llvm::CodeGenFileType type, Object &bytes);

  const CpuLevel &level;
  llvm::LLVMContext context;
  std::unique_ptr<llvm::TargetMachine> machine;
};

/// Returns the bytes that the code of a module depends on, besides the code generator.
std::string bitcodeOf(const llvm::Module &module);

/// Calls `work(i)` for all i below `count` on at most `threads` threads, and returns the errors of
/// all calls as one.
llvm::Error forEachInParallel(size_t count, unsigned threads,
                              llvm::function_ref<llvm::Error(size_t)> work);

} // namespace atc::cpu

#endif // OPENATC_BACKENDS_CPU_CODEGENERATOR_H
