//===-- Residual.h - transforms and coefficients -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASCEND_DVPP_H265_RESIDUAL_H
#define ASCEND_DVPP_H265_RESIDUAL_H

#include "ascend/dvpp/h265/Arithmetic.h"

namespace atc::ascend::h265 {

/// A square of 8 or 16 values per side, row by row.
struct Block {
  unsigned log2Side;
  std::array<int16_t, 256> values{};

  unsigned side() const { return 1u << log2Side; }
};

/// Transforms differences of samples and divides the results by the step of `qp`. Returns the
/// levels; whether any is not 0 is `any`.
Block quantize(const Block &differences, int qp, bool &any);

/// Returns the differences that a decoder computes from the levels.
Block reconstruct(const Block &levels, int qp);

/// Appends the levels of a block that has one that is not 0.
void encodeLevels(const Block &levels, bool luma, ArithmeticEncoder &encoder);

} // namespace atc::ascend::h265

#endif
