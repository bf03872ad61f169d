//===-- Footprint.h - which bytes an instruction touches --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_NPU_ISA_FOOTPRINT_H
#define OPENATC_NPU_ISA_FOOTPRINT_H

#include "npu/isa/Isa.h"

#include <functional>

namespace atc::npu {

/// How an operand moves along one range: a step of `stride` bytes for every
/// `group` positions, as many steps as it takes, rounded up to `pad`. A term
/// without a range (range < 0) makes `count` steps.
struct Term {
  int range = -1;
  int64_t count = 1, group = 1, pad = 1, stride = 0;
  bool given = false; ///< the stride is a field, which must keep blocks aligned
};

/// One operand of an instruction wherever it runs. `bytes` are touched at every
/// place that the terms lead to.
struct Operand {
  unsigned address = 0;
  bool read = false, written = false;
  Term terms[3];
  unsigned termCount = 0;
  int64_t bytes = 0;
};

/// The operands that the instruction uses: unused ones (the bias of an mmad
/// without bias) are left out. For the image of an img2col there are no terms.
unsigned operandsOf(const Instruction &instruction, Operand (&operands)[4]);

/// The bytes of one operand in one iteration: `bytes` at base + i * stride[0] +
/// j * stride[1] + ..., all counts at least 1.
struct Box {
  Memory memory = Memory::GM;
  uint8_t argument = 0, address = 0;
  bool read = false, written = false;
  int64_t base = 0, count[3] = {1, 1, 1}, stride[3] = {}, bytes = 0;
  int64_t begin() const { return base + reach(true); }
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

/// The boxes of one iteration; none if a range is empty. The guard is not asked.
/// The image of an img2col is given as whole rows.
unsigned boxesOf(const Instruction &instruction, const Frame &frame, Box (&boxes)[4]);

struct Interval {
  Memory memory;
  uint8_t argument;
  bool read, written;
  int64_t begin, end;
};
/// The same as byte intervals; neighbours within an operand are one interval.
void footprint(const Instruction &instruction, const Frame &frame,
               const std::function<void(const Interval &)> &callback);

} // namespace atc::npu

#endif
