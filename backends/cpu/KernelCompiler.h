//===-- KernelCompiler.h - kernel functions become a code image -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_BACKENDS_CPU_KERNELCOMPILER_H
#define OPENATC_BACKENDS_CPU_KERNELCOMPILER_H

#include "backends/cpu/ObjectCache.h"
#include "backends/cpu/ObjectEmitter.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace atc::cpu {

/// The code of all kernels of a module for one level.
struct CompiledLevel {
  CpuLevel level;
  std::vector<char> image;
  /// Offset into the image and number of tasks, in the order of the kernels.
  std::vector<uint64_t> entries, tasks;
};

/// The kernel functions of a module, in the order that all of the backend uses.
llvm::SmallVector<mlir::func::FuncOp> kernelsOf(mlir::ModuleOp module);

struct KernelCompilerOptions : EmitOptions {
  /// Called when a stage begins, with a word for it.
  std::function<void(llvm::StringRef)> onStage;
  /// Names of host kernels ("Conv"); their entries come behind those of the module's
  /// kernels and have no tasks.
  std::vector<std::string> hostKernels;
  /// Bit t: their values can have elements of the type that ONNX calls t.
  uint64_t hostTypes = ~uint64_t(0);
  /// Where the code of host kernels is kept.
  CacheOptions cache;
};

/// Compiles the kernels of `module`, which stays as it is. Faults that have a
/// place in the model are diagnostics of the context; the error then only says
/// that there are some.
llvm::Expected<CompiledLevel> compileKernels(mlir::ModuleOp module, const CpuLevel &level,
                                             const KernelCompilerOptions &options = {});

/// Prints a module into a folder of intermediate files.
llvm::Error writeModule(mlir::ModuleOp module, llvm::StringRef folder, llvm::StringRef name);

} // namespace atc::cpu

#endif // OPENATC_BACKENDS_CPU_KERNELCOMPILER_H
