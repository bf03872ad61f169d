//===-- AcceptedProgram.h - runs what the verifier let pass -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_TEST_NPU_ACCEPTEDPROGRAM_H
#define OPENATC_TEST_NPU_ACCEPTEDPROGRAM_H

#include "npu/isa/Isa.h"
#include "npu/soc/Soc.h"

namespace atc::npu::test {

/// Programs that are right and together have every opcode, cut ranges, guards,
/// buffers in turn, flags and signals; for both kinds of cores.
std::vector<Program> goodPrograms();

/// If `verify` accepts the program: runs each of its instructions in some of its
/// iterations, the corners among them, and the beginning of the whole program on the
/// timed machine, on guarded memory of just the size and with bounded work. Returns
/// how often an instruction touches something beyond its memory by its boxes, plus
/// one if a byte beside a buffer was written; what is read or written further out
/// ends the process. Returns -1 for programs that are refused.
int outOfBounds(const Program &program, const SocTable &soc);

} // namespace atc::npu::test

#endif
