//===-- Proof.h - bounds on what an instruction accesses --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Bounds the bytes of an operand over all iterations, without enumerating them. An operand is an
// affine address plus steps along ranges, and positions of clamped ranges relate steps and ivs: 0
// <= start(ivs) + i < limit. The highest address under these relations is a linear program. Any
// multipliers of the relations yield a bound, and a few rounds over the multipliers at which the
// bound can change its slope yield a tight one. All values are Checked: no value of the proof can
// overflow.

#ifndef OPENATC_NPU_ISA_PROOF_H
#define OPENATC_NPU_ISA_PROOF_H

#include "npu/isa/Footprint.h"

namespace atc::npu {

/// The values of the ivs in which an instruction runs.
struct IvBox {
  Checked low[kMaxIvs], high[kMaxIvs];
  bool empty = false;
  /// Computes the box of all iterations that the guard admits.
  IvBox(const Frame &frame, const Guard &guard);
  /// Makes the box of a single iteration.
  explicit IvBox(const int64_t *ivs);
};

/// An affine function of the ivs in Checked arithmetic.
struct Linear {
  Checked base, strides[kMaxIvs];
  Linear() = default;
  explicit Linear(const Affine &affine);
  /// Adds `factor` times another function.
  void add(const Linear &other, Checked factor);
  /// Return bounds over the box; lost where a sum or product is lost.
  Checked highest(const IvBox &box) const;
  Checked lowest(const IvBox &box) const;
};

/// The values of an instruction that take part in an address, as Checked, and the trip counts of
/// the loops around it. Its fields have passed the checks of the verifier.
struct CheckedInstruction {
  CheckedInstruction(const Instruction &instruction, const Frame &frame);

  struct Range {
    Linear start;
    Checked length, limit;
    bool limited = false;
    bool counts = false; ///< where it is clamped to nothing, the instruction does nothing
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
  Checked fields[kMaxFields], trips[kMaxIvs];
  CheckedOperand operands[4];
};

/// The steps of an operand along one range: low <= j <= high moves it by j * stride, and where the
/// steps are tied to the ivs, tieLow <= tie(ivs) + group * j <= tieHigh.
struct IvSteps {
  Checked stride, low, high;
  bool tied = false, above = false; ///< with a lower bound, and with an upper bound
  Linear tie;
  Checked group = 1, tieLow, tieHigh;
};

/// Bounds on the bytes of its memory that an operand accesses: `begin` is not above the first and
/// `end` not below the end of the last; either may be lost, which proves nothing.
struct Cover {
  Checked begin, end;
  /// A product of a stride and a position exceeds 2^60, so that the sums of an address need not fit
  /// into the 64 bits with which programs are executed.
  bool tooLarge = false;
  /// Returns whether all accesses are proven to lie in [0, size).
  bool isInside(Checked size) const { return begin.isAtLeast(0) && end.isAtMost(size); }
};

/// Bounds the accesses of one instruction over a box of iterations.
class Proof {
public:
  /// Analyzes the instruction in the iterations of the box; both must outlive the proof.
  Proof(const CheckedInstruction &instruction, const IvBox &box);
  /// Returns true if no iteration accesses anything: a range is always clamped to nothing.
  bool never() const { return nothing; }
  /// Returns the number of positions of a range that can be used in any iteration.
  Checked positions(unsigned range) const { return last[range] - first[range] + 1; }
  /// Bounds the accesses of an operand. For one iteration, and where no range is clamped and no
  /// buffer rotates, both ends are exact; otherwise they need not be tight between 0 and `size`.
  Cover cover(unsigned operand, Checked size) const;
  /// Returns true if the operand can be at another step of the term than the first.
  bool moves(const TermOf<Checked> &term) const { return steps(term).high.isAbove(0); }

private:
  /// The steps of one operand: at most 3 of an image or of terms, 3 of ranges along which it does
  /// not move, and one of slots.
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
  Checked first[3], last[3]; ///< positions that are not clamped away everywhere
  bool constant[3] = {};     ///< the range's start is the same everywhere
};

} // namespace atc::npu

#endif
