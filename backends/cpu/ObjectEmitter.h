//===-- ObjectEmitter.h - kernels in the LLVM dialect become objects ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_BACKENDS_CPU_OBJECTEMITTER_H
#define OPENATC_BACKENDS_CPU_OBJECTEMITTER_H

#include "backends/cpu/CpuLevels.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/SmallVector.h"

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
llvm::Expected<std::vector<llvm::SmallVector<char, 0>>>
emitObjects(mlir::ModuleOp kernels, const CpuLevel &level, const EmitOptions &options);

/// Makes an object of the host kernels with these symbols (`atc_kernel_Conv`) and of
/// what they call, out of the bitcode of all of them.
/// Bit t of `types`: elements of the type that ONNX calls t can occur; there is no code
/// for others.
llvm::Expected<llvm::SmallVector<char, 0>> emitHostKernels(llvm::ArrayRef<std::string> symbols,
                                                           uint64_t types, const CpuLevel &level,
                                                           const EmitOptions &options);

} // namespace atc::cpu

#endif // OPENATC_BACKENDS_CPU_OBJECTEMITTER_H
