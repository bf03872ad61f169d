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
/// iterations, the corners among them, on memory of just the size. What an
/// instruction touches beyond its memory is counted, by its boxes and (with
/// AddressSanitizer) by what it does. Gives -1 for programs that are refused.
int outOfBounds(const Program &program, const SocTable &soc);

} // namespace atc::npu::test

#endif
