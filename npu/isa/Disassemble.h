//===-- Disassemble.h - programs of the NPU as text -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   program `add`: 8 cores (8 x 1 x 1), gm0 6400, gm1 6400
//     0        loop i0 of 4
//     1  MTE2    move dst=ub[0 turns 2 x 4096 by i0] src=gm0[-64 + 64 c0 + 1920 i0] ...
//
// c0 .. c2 are the core's position in the grid, i0 .. i5 the loops, outermost first. Lengths of
// ranges are `rows=32 from -1 + 30 i0 below 100`; ranges of length 1 and fields that are 0 (block
// strides: 32) are omitted.

#ifndef OPENATC_NPU_ISA_DISASSEMBLE_H
#define OPENATC_NPU_ISA_DISASSEMBLE_H

#include "npu/isa/Isa.h"

#include <string>

namespace atc::npu {

/// Returns a program as text: one line for the program, then one per instruction.
std::string disassemble(const Program &program, std::string_view name = "");

/// Returns one instruction as text, without its index, queue and newline.
std::string disassemble(const Instruction &instruction);

} // namespace atc::npu

#endif
