//===-- ProgramEncoder.h - encodes npu.program as instructions ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_BACKENDS_NPU_PROGRAMENCODER_H
#define OPENATC_BACKENDS_NPU_PROGRAMENCODER_H

#include "dialects/npu/Npu.h"

namespace atc::npu {

/// Returns the instructions of a verified program whose buffers have been allocated. Fails with a
/// diagnostic at a buffer without an offset, and at an op that is no instruction.
mlir::FailureOr<Program> encodeProgram(ir::ProgramOp program);

} // namespace atc::npu

#endif // OPENATC_BACKENDS_NPU_PROGRAMENCODER_H
