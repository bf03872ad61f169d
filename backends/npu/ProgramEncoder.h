//===-- ProgramEncoder.h - encodes npu.program as instructions ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_BACKENDS_NPU_PROGRAMENCODER_H
#define OPENATC_BACKENDS_NPU_PROGRAMENCODER_H

#include "dialects/npu/Npu.h"

namespace atc::npu {

/// Returns the attribute of an npu op that holds a range or field of its instruction:
/// "dst_outer" for "dstOuter". Mmad::useBias has none: the op has a bias or not.
std::string attributeName(llvm::StringRef part);

/// The instructions of a program whose buffers have places. Fails with a
/// diagnostic at the op that has no encoding: a buffer without a place, a type
/// the NPU does not have, an op without the attribute of one of its instruction's parts.
mlir::FailureOr<Program> encodeProgram(ir::ProgramOp program);

} // namespace atc::npu

#endif // OPENATC_BACKENDS_NPU_PROGRAMENCODER_H
