//===-- Proof.h - bounds of what an instruction touches ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The bytes of an operand over all iterations, without walking them. An operand
// is an affine address plus steps along ranges, and positions of ranges that are
// cut tie steps and ivs to each other: 0 <= start(ivs) + i < limit. The largest
// address under these is a linear program; any multipliers of its ties give a
// bound, and a few rounds over those at which the bound can turn give a tight
// one. All numbers are Checked: the proof never sees one that can wrap.

#ifndef OPENATC_NPU_ISA_PROOF_H
#define OPENATC_NPU_ISA_PROOF_H

#include "npu/isa/Footprint.h"

namespace atc::npu {

/// The values of the ivs in which an instruction runs.
struct IvBox {
  Checked low[kMaxIvs], high[kMaxIvs];
  bool empty = false;
  /// Makes the box of all iterations that the guard admits.
  IvBox(const Frame &frame, const Guard &guard);
  /// Makes the box of a single iteration.
  explicit IvBox(const int64_t *ivs);
};

struct Linear {
  Checked base, strides[kMaxIvs];
  Linear() = default;
  explicit Linear(const Affine &affine);
  void add(const Linear &other, Checked factor);
  /// Return bounds over the box; lost where a sum or product is.
  Checked highest(const IvBox &box) const;
  Checked lowest(const IvBox &box) const;
};

/// Holds every number of an instruction that takes part in an address, as Checked,
/// and how many rounds the loops around it make. Its fields have passed the checks
/// of the verifier.
struct CheckedInstruction {
  CheckedInstruction(const Instruction &instruction, const Frame &frame);

  struct Range {
    Linear start;
    Checked length, limit;
    bool limited = false;
    bool counts = false; ///< cut to nothing it lets the instruction do nothing
  };
  struct Address {
    Linear offset;
    Checked slotBytes;
    unsigned slots = 1, depth = 0;
  };
  Opcode opcode;
  unsigned rangeCount = 0, operandCount = 0;
  Range ranges[3];
  Address addresses[4];
  Checked fields[19], trips[kMaxIvs];
  CheckedOperand operands[4];
};

/// Steps along one range: low <= j <= high moves by j * stride, and where it is
/// tied tieLow <= tie(ivs) + group * j <= tieHigh.
struct IvSteps {
  Checked stride, low, high;
  bool tied = false, above = false; ///< with a lower bound, and with an upper one
  Linear tie;
  Checked group = 1, tieLow, tieHigh;
};

/// Bounds the bytes of its memory that an operand touches: `begin` is not above the
/// first and `end` not below the end of the last; either may be lost, which proves
/// nothing.
struct Cover {
  Checked begin, end;
  /// A product of a stride and a position is beyond 2^60, so that the sums of an
  /// address need not fit into the 64 bits with which programs are executed.
  bool tooLarge = false;
  bool isInside(Checked size) const { return begin.isAtLeast(0) && end.isAtMost(size); }
};

class Proof {
public:
  /// Looks at the instruction in the iterations of the box; both must stay alive.
  Proof(const CheckedInstruction &instruction, const IvBox &box);
  /// Returns true if no iteration touches anything: a range is always cut to nothing.
  bool never() const { return nothing; }
  /// Returns how many positions of a range can count, in any iteration.
  Checked positions(unsigned range) const { return last[range] - first[range] + 1; }
  /// Bounds what an operand covers. In one iteration, and where no range is cut and
  /// no buffer taken in turn, both ends are those of the first and the last byte;
  /// else they need not be tight below `size` and from 0 on.
  Cover cover(unsigned operand, Checked size) const;
  /// Returns true if the operand can be anywhere but at the term's first step.
  bool moves(const TermOf<Checked> &term) const { return steps(term).high.isAbove(0); }

private:
  /// Steps of one operand: at most 3 of an image or of terms, 3 of ranges that it
  /// does not move along, and one of slots.
  struct StepList {
    static constexpr unsigned kMax = 8;
    IvSteps all[kMax];
    unsigned count = 0;
    IvSteps &add() { return all[count++] = IvSteps(); }
  };
  IvSteps steps(const TermOf<Checked> &term) const;
  void slots(const CheckedInstruction::Address &address, Linear &offset, StepList &list) const;
  void image(Linear &address, StepList &list, bool &tooLarge) const;
  Checked highest(Linear address, const StepList &list, Checked enough) const;

  const CheckedInstruction &in;
  const IvBox &box;
  bool nothing;
  Checked first[3], last[3]; ///< positions that are not cut off everywhere
  bool constant[3] = {};     ///< the range's start is the same everywhere
};

} // namespace atc::npu

#endif
