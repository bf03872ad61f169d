//===-- ProgramEncoder.h - encodes npu.program as instructions ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_BACKENDS_NPU_PROGRAMENCODER_H
#define OPENATC_BACKENDS_NPU_PROGRAMENCODER_H

#include "dialects/npu/Npu.h"

namespace atc::npu {

/// Returns the name of the attribute of an npu op that holds a range or field of its instruction:
/// "dst_outer" for "dstOuter". Mmad::useBias has none: the op has a bias operand or not.
std::string attributeName(llvm::StringRef part);

/// Returns the instructions of a program whose buffers have been allocated. Fails with a diagnostic
/// at an op that has no encoding: a buffer without an offset, a type that the NPU does not have, or
/// an op without the attribute of a part of its instruction.
mlir::FailureOr<Program> encodeProgram(ir::ProgramOp program);

} // namespace atc::npu

#endif // OPENATC_BACKENDS_NPU_PROGRAMENCODER_H
