//===-- Verify.h - what is proved of a program before it runs ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_NPU_ISA_VERIFY_H
#define OPENATC_NPU_ISA_VERIFY_H

#include "npu/isa/Isa.h"
#include "npu/soc/Limits.h"
#include "npu/soc/Soc.h"

#include <string>

namespace atc::npu {

/// Returns all errors of a program, one line each, of which MaxErrors are listed.
/// None means that `execute` can run it: loops, ivs, fields and memories are right,
/// no iteration of any instruction leaves its memory or argument, blocks are
/// aligned, no number overflows, every flag that is raised is waited for, and what
/// it costs is within the limits of Limits.def.
/// Loops are not walked; where bounds over all iterations (Proof.h) prove nothing,
/// up to MaxPoints iterations of an instruction are looked at. `budget` holds what
/// is left for all programs of a model.
std::vector<std::string> verify(const Program &program, const SocTable &soc, VerifyBudget &budget);
/// Verifies a program that is alone.
std::vector<std::string> verify(const Program &program, const SocTable &soc);

} // namespace atc::npu

#endif
