//===-- ExecuteParts.h - shared by the files of Execute ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_NPU_SIMULATOR_EXECUTEPARTS_H
#define OPENATC_NPU_SIMULATOR_EXECUTEPARTS_H

#include "npu/simulator/Execute.h"

namespace atc::npu {

/// An iteration of an instruction with its clamped ranges.
struct Iteration {
  const Instruction &in;
  const Frame &frame;
  CoreMemory &memory;
  Range::Cut cut[3];
  /// Return the memory, the value and the element type of a part of the instruction.
  uint8_t *address(unsigned index) const { return memory.at(in.addresses[index], frame); }
  int64_t field(unsigned index) const { return in.fields[index]; }
  DataType type(unsigned index) const { return DataType(in.fields[index]); }
};

/// Each executes one iteration of the instruction that the first argument names. All instructions
/// with addresses have one; an instruction without its function does not link.
#define NPU_INSTRUCTION(Name, ...) void executeAs(Name, const Iteration &it);
#include "npu/isa/Isa.def"

} // namespace atc::npu

#endif
