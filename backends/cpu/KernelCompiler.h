//===-- KernelCompiler.h - compiles kernel functions to a code image ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_BACKENDS_CPU_KERNELCOMPILER_H
#define OPENATC_BACKENDS_CPU_KERNELCOMPILER_H

#include "backends/cpu/HostKernels.h"
#include "backends/cpu/ObjectCache.h"
#include "backends/cpu/ObjectEmitter.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace atc::cpu {

/// The code of all kernels of a module for one level.
struct CompiledLevel {
  CpuLevel level;
  std::vector<char> image;
  /// The offset into the image and the number of tasks of each kernel.
  std::vector<uint64_t> entries, tasks;
  uint64_t scratchBytes = 0; ///< per thread, the maximum over the kernels
};

/// Returns the kernel functions of a module, in the order that all of the backend uses.
llvm::SmallVector<mlir::func::FuncOp> kernelsOf(mlir::ModuleOp module);

/// The options of compileKernels.
struct KernelCompilerOptions : EmitOptions {
  /// Called when a stage begins, with its name.
  std::function<void(llvm::StringRef)> onStage;
  /// The host kernels to compile with the module. Their entries follow those of its own kernels and
  /// have no tasks.
  std::vector<HostKernel> hostKernels;
  /// Where the code of host kernels is kept.
  CacheOptions cache;
};

/// Compiles the kernels of `module`, which is not changed. Errors that have a location in the model
/// are diagnostics of the context; the returned error then only says that there are some.
llvm::Expected<CompiledLevel> compileKernels(mlir::ModuleOp module, const CpuLevel &level,
                                             const KernelCompilerOptions &options = {});

/// Writes the text of a module into a folder of intermediate files.
llvm::Error writeModule(mlir::ModuleOp module, llvm::StringRef folder, llvm::StringRef name);

} // namespace atc::cpu

#endif // OPENATC_BACKENDS_CPU_KERNELCOMPILER_H
