//===-- ProgramEncoder.h - npu.program becomes instructions ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_BACKENDS_NPU_PROGRAMENCODER_H
#define OPENATC_BACKENDS_NPU_PROGRAMENCODER_H

#include "dialects/npu/Npu.h"

namespace atc::npu {

/// The instructions of a program whose buffers have places. Fails with a
/// diagnostic at the op that has no encoding: a buffer without a place, a type
/// the NPU does not have.
mlir::FailureOr<Program> encodeProgram(ir::ProgramOp program);

} // namespace atc::npu

#endif // OPENATC_BACKENDS_NPU_PROGRAMENCODER_H
