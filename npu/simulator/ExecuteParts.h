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
  uint8_t *address(unsigned index) const { return memory.at(in.addresses[index], frame); }
  int64_t field(unsigned index) const { return in.fields[index]; }
  DataType type(unsigned index) const { return DataType(in.fields[index]); }
};

/// Each executes one iteration of an instruction with this opcode.
void executeMmad(const Iteration &it);
void executeMoveL0C(const Iteration &it);
void executeRequantize(const Iteration &it);
void executeRequantizeAdd(const Iteration &it);
void executeImg2Col(const Iteration &it);
void executeVector(const Iteration &it);

} // namespace atc::npu

#endif
