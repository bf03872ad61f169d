//===-- Proof.h - bounds of what an instruction touches ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The bytes of an operand over all iterations, without walking them. An operand
// is an affine address plus steps along ranges, and positions of ranges that are
// cut tie steps and ivs to each other: 0 <= start(ivs) + i < limit. The largest
// address under these is a linear program; any multipliers of its ties give a
// bound, and a few rounds over those at which the bound can turn give a tight
// one. Numbers are of 128 bits, for which those of a program are small enough.

#ifndef OPENATC_NPU_ISA_PROOF_H
#define OPENATC_NPU_ISA_PROOF_H

#include "npu/isa/Footprint.h"

namespace atc::npu {

using Wide = __int128;

/// The values of the ivs in which an instruction runs.
struct IvBox {
  int64_t low[kMaxIvs] = {}, high[kMaxIvs] = {};
  bool empty = false;
  IvBox(const Frame &frame, const Guard &guard);
};

struct Linear {
  Wide base = 0, strides[kMaxIvs] = {};
  Linear() = default;
  explicit Linear(const Affine &affine);
  void add(const Linear &other, Wide factor);
  Wide highest(const IvBox &box) const;
  Wide lowest(const IvBox &box) const;
};

/// Steps along one range: low <= j <= high moves by j * stride, and where it is
/// tied tieLow <= tie(ivs) + group * j <= tieHigh.
struct IvSteps {
  Wide stride = 0, low = 0, high = 0;
  bool tied = false, above = false; ///< with a lower bound, and with an upper one
  Linear tie;
  Wide group = 1, tieLow = 0, tieHigh = 0;
};

/// What one operand covers: `begin` is not above and `end` not below what it is.
struct Cover {
  Wide begin = 0, end = 0;
  bool tooLarge = false; ///< its numbers are not safe to compute with
};

class Proof {
public:
  Proof(const Instruction &instruction, const Frame &frame);
  /// No iteration touches anything: a range is always cut to nothing.
  bool never() const { return box.empty; }
  /// Positions of a range that can count, in any iteration.
  Wide positions(unsigned range) const { return last[range] - first[range] + 1; }
  /// Below `size` and from 0 on it need not be tight.
  Cover cover(const Operand &operand, Wide size) const;
  /// Can the operand take more than one step along the term?
  bool moves(const Term &term) const;
  const IvBox &ivs() const { return box; }

private:
  IvSteps steps(const Term &term) const;
  void image(Linear &address, IvSteps (&all)[8], unsigned &count, bool &tooLarge) const;
  Wide highest(Linear address, const IvSteps *all, unsigned count, Wide enough) const;

  const Instruction &in;
  const Frame &frame;
  IvBox box;
  Wide first[3] = {}, last[3] = {}; ///< positions that are not cut off everywhere
  bool constant[3] = {};            ///< the range's start is the same everywhere
};

} // namespace atc::npu

#endif
