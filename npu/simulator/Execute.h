//===-- Execute.h - what instructions compute -------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_NPU_SIMULATOR_EXECUTE_H
#define OPENATC_NPU_SIMULATOR_EXECUTE_H

#include "npu/isa/Isa.h"
#include "npu/soc/Soc.h"

#include <array>
#include <vector>

namespace atc::npu {

/// The memories of one core and the gm buffers of its launch.
class CoreMemory {
public:
  /// Allocates memories of the sizes of the table, zeroed.
  explicit CoreMemory(const SocTable &soc);
  /// Uses the caller's memories, which must stay alive: each has as many bytes as the
  /// table of the programs says, at a multiple of 64.
  explicit CoreMemory(const std::array<uint8_t *, kMemories> &memories) : local(memories) {}
  CoreMemory(CoreMemory &&) = default; ///< the memories stay where they are
  CoreMemory(const CoreMemory &) = delete;
  CoreMemory &operator=(const CoreMemory &) = delete;
  std::vector<uint8_t *> arguments;
  uint8_t *data(Memory memory) { return local[unsigned(memory)]; }
  uint8_t *at(const Address &address, const Frame &frame) {
    uint8_t *base =
        address.memory == Memory::GM ? arguments[address.argument] : data(address.memory);
    return base + frame.offset(address);
  }
  std::vector<float> left, right; ///< operands of the cube, unpacked

private:
  std::array<uint8_t *, kMemories> local = {};
  std::array<std::vector<uint8_t>, kMemories> owned;
};

/// Which code runs: both give the same bits.
enum class Path { Best, Portable };
void choosePath(Path path);

/// Runs one instance of an instruction that `verify` has passed. Instructions
/// that only steer (flags, loops) do nothing here; the guard is not asked.
void execute(const Instruction &instruction, const Frame &frame, CoreMemory &memory);

} // namespace atc::npu

#endif
