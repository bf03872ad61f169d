//===-- ProgramEncoder.h - encodes npu.program as instructions ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_BACKENDS_NPU_PROGRAMENCODER_H
#define OPENATC_BACKENDS_NPU_PROGRAMENCODER_H

#include "dialects/npu/Npu.h"

#include "mlir/IR/BuiltinOps.h"

namespace atc::npu {

/// Returns the instructions of a verified program whose buffers have been allocated, of a mixed one
/// with those of its part on vector cores. Fails with a diagnostic at a buffer without an offset,
/// and at an op that is no instruction.
mlir::FailureOr<Program> encodeProgram(ir::ProgramOp program);

/// Returns the names of the programs that are a part of mixed ones: no launch names them.
llvm::DenseSet<mlir::StringRef> vectorPartsIn(mlir::ModuleOp module);

} // namespace atc::npu

#endif // OPENATC_BACKENDS_NPU_PROGRAMENCODER_H
