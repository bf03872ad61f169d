//===-- ObjectEmitter.h - compiles the LLVM dialect to objects ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_BACKENDS_CPU_OBJECTEMITTER_H
#define OPENATC_BACKENDS_CPU_OBJECTEMITTER_H

#include "backends/cpu/CpuLevels.h"
#include "backends/cpu/Object.h"
#include "backends/cpu/ObjectCache.h"
#include "mlir/IR/BuiltinOps.h"

namespace atc::cpu {

/// Registers the dialect translations that the emitter needs; to be called on the registry of the
/// context.
void registerEmitterDialects(mlir::DialectRegistry &registry);

/// The options of code generation.
struct EmitOptions {
  /// The number of threads that generate code.
  unsigned threads = 2;
  /// The folder for the LLVM IR and the assembly of every object; empty keeps neither.
  std::string tempDir;
};

/// Compiles a module in the LLVM dialect to position-independent ELF objects. The kernels are
/// distributed over several objects that are compiled in parallel, unless `cache` has them;
/// `kernels` is empty afterwards.
llvm::Expected<std::vector<Object>> emitObjects(mlir::ModuleOp kernels, const CpuLevel &level,
                                                const EmitOptions &options,
                                                const ObjectCache &cache);

} // namespace atc::cpu

#endif // OPENATC_BACKENDS_CPU_OBJECTEMITTER_H
