//===-- Footprint.h - which bytes an instruction touches --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_NPU_ISA_FOOTPRINT_H
#define OPENATC_NPU_ISA_FOOTPRINT_H

#include "npu/isa/Checked.h"
#include "npu/isa/Isa.h"

#include <functional>

namespace atc::npu {

/// The movement of an operand along one range: a step of `stride` bytes for every `group`
/// positions, with the number of steps rounded up to a multiple of `pad`. A term without a range
/// (range < 0) makes `count` steps. `Number` is int64_t for programs that `verify` has passed,
/// Checked for all others.
template <typename Number> struct TermOf {
  int range = -1;
  Number count = Number(1);
  int group = 1, pad = 1;
  Number stride = Number(0);
  bool given = false; ///< the stride is a field, which must keep blocks aligned
};

/// An operand of an instruction, in all its iterations. The instruction accesses `bytes` bytes at
/// every offset that the terms reach.
template <typename Number> struct OperandOf {
  unsigned address = 0;
  bool read = false, written = false;
  TermOf<Number> terms[3];
  unsigned termCount = 0;
  Number bytes = Number(0);
};
using Operand = OperandOf<int64_t>;
using CheckedOperand = OperandOf<Checked>;

/// Writes the operands that the instruction uses and returns their number. Unused ones (the bias of
/// an mmad without bias) are left out. The image of an img2col has no terms.
unsigned operandsOf(const Instruction &instruction, Operand (&operands)[4]);
unsigned operandsOf(const Instruction &instruction, CheckedOperand (&operands)[4]);

/// The bytes of one operand in one iteration: `bytes` bytes at base + i * stride[0] + j * stride[1]
/// + ..., where all counts are at least 1. Only for programs that `verify` has passed: only there
/// it is known that these sums fit into 64 bits.
struct Box {
  Memory memory = Memory::GM;
  uint8_t argument = 0, address = 0;
  bool read = false, written = false;
  int64_t base = 0, count[3] = {1, 1, 1}, stride[3] = {}, bytes = 0;
  /// Returns the lowest address of the box.
  int64_t begin() const { return base + reach(true); }
  /// Returns the end of the highest byte of the box.
  int64_t end() const { return base + reach(false) + bytes; }

private:
  int64_t reach(bool low) const {
    int64_t sum = 0;
    for (unsigned i = 0; i < 3; ++i)
      if ((stride[i] < 0) == low)
        sum += stride[i] * (count[i] - 1);
    return sum;
  }
};

/// Writes the boxes of one iteration and returns their number; none if a range is empty. The guard
/// is not evaluated. The image of an img2col is given as whole rows.
unsigned boxesOf(const Instruction &instruction, const Frame &frame, Box (&boxes)[4]);

/// A range [begin, end) of bytes of a memory or gm argument that an instruction accesses.
struct Interval {
  Memory memory;
  uint8_t argument;
  bool read, written;
  int64_t begin, end;
};
/// Calls `callback` with the accessed bytes of one iteration as intervals; adjacent ones of an
/// operand are merged.
void footprint(const Instruction &instruction, const Frame &frame,
               const std::function<void(const Interval &)> &callback);

} // namespace atc::npu

#endif
