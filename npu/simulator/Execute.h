//===-- Execute.h - the semantics of instructions ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_NPU_SIMULATOR_EXECUTE_H
#define OPENATC_NPU_SIMULATOR_EXECUTE_H

#include "npu/isa/Isa.h"
#include "npu/soc/Soc.h"

#include <array>
#include <vector>

namespace atc::npu {

/// The local memories of one core and the gm buffers of its launch.
class CoreMemory {
public:
  /// Allocates memories of the sizes of the table, zeroed.
  explicit CoreMemory(const SocTable &soc);
  /// Uses the caller's memories, which must outlive the object: each has the size that the SoC's
  /// table of the programs says, aligned to 64 bytes.
  explicit CoreMemory(const std::array<uint8_t *, kMemories> &memories) : local(memories) {}
  CoreMemory(CoreMemory &&) = default; ///< the memories keep their addresses
  CoreMemory(const CoreMemory &) = delete;
  CoreMemory &operator=(const CoreMemory &) = delete;
  /// The addresses of the gm buffers.
  std::vector<uint8_t *> arguments;
  uint8_t *data(Memory memory) { return local[unsigned(memory)]; }
  /// Returns the address of an operand in this iteration.
  uint8_t *at(const Address &address, const Frame &frame) {
    uint8_t *base =
        address.memory == Memory::GM ? arguments[address.argument] : data(address.memory);
    return base + frame.offset(address);
  }
  std::vector<float> left, right; ///< operands of the cube, converted to float

private:
  std::array<uint8_t *, kMemories> local = {};
  std::array<std::vector<uint8_t>, kMemories> owned;
};

/// Selects the implementation; both compute the same bits.
enum class Path { Best, Portable };
void choosePath(Path path);

/// Executes one iteration of an instruction that `verify` has passed. Control instructions (flags,
/// loops) do nothing here; the guard is not evaluated.
void execute(const Instruction &instruction, const Frame &frame, CoreMemory &memory);

} // namespace atc::npu

#endif
