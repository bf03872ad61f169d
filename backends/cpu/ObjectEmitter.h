//===-- ObjectEmitter.h - kernels in the LLVM dialect become objects ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_BACKENDS_CPU_OBJECTEMITTER_H
#define OPENATC_BACKENDS_CPU_OBJECTEMITTER_H

#include "backends/cpu/CodeGenerator.h"
#include "mlir/IR/BuiltinOps.h"

namespace atc::cpu {

/// Registers what the emitter translates; call it on the registry of the
/// context.
void registerEmitterDialects(mlir::DialectRegistry &registry);

struct EmitOptions {
  /// Threads that generate code.
  unsigned threads = 2;
  /// Where to put the LLVM IR and the assembly of every part; empty keeps
  /// neither.
  std::string tempDir;
};

/// Makes position-independent ELF objects of a module in the LLVM
/// dialect. The kernels are spread over several objects that are compiled at
/// the same time; `kernels` is empty afterwards.
llvm::Expected<std::vector<Object>> emitObjects(mlir::ModuleOp kernels, const CpuLevel &level,
                                                const EmitOptions &options);

} // namespace atc::cpu

#endif // OPENATC_BACKENDS_CPU_OBJECTEMITTER_H
