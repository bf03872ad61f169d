//===-- Verify.h - what is proved of a program before it runs ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_NPU_ISA_VERIFY_H
#define OPENATC_NPU_ISA_VERIFY_H

#include "npu/isa/Isa.h"
#include "npu/soc/Soc.h"

#include <string>

namespace atc::npu {

/// All faults of a program, one line each; none means that `execute` can run it:
/// loops, ivs, fields and memories are right, no iteration of any instruction
/// leaves its memory or argument, blocks are aligned, no number overflows, every
/// flag that is raised is waited for, and a core runs at most 2^40 instructions.
/// Loops are not walked; where bounds over all iterations (Proof.h) prove
/// nothing, up to 100000 iterations of an instruction are looked at.
std::vector<std::string> verify(const Program &program, const SocTable &soc);

} // namespace atc::npu

#endif
