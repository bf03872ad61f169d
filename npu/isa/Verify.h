//===-- Verify.h - checks a program before it runs --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_NPU_ISA_VERIFY_H
#define OPENATC_NPU_ISA_VERIFY_H

#include "npu/isa/Isa.h"
#include "npu/soc/Limits.h"
#include "npu/soc/Soc.h"

#include <string>

namespace atc::npu {

/// Returns all errors of a program, one line each, of which MaxErrors are listed. No error means
/// that `execute` can run it: loops, ivs, fields and memories are valid, no iteration of any
/// instruction leaves its memory or argument, blocks are aligned, no value overflows, every flag
/// that is set is waited for, and its cost is within the limits of Limits.def.
/// Loops are not enumerated; where bounds over all iterations (Proof.h) prove nothing, up to
/// MaxPoints iterations of an instruction are checked one by one. `budget` is shared by all
/// programs of a model and reduced by the cost of the check.
std::vector<std::string> verify(const Program &program, const SocTable &soc, VerifyBudget &budget);
/// Verifies a single program with a budget of its own.
std::vector<std::string> verify(const Program &program, const SocTable &soc);

} // namespace atc::npu

#endif
