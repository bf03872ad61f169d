//===-- Reciprocal.h - quotients by a scale without divisions -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Processors divide a vector in the time of ten or more multiplications. With 1 / scale as the sum
// of two floats, x / scale is a product and a fused multiply-add, with a relative error of at most
// 2^-46 before it is rounded to a float.
//
// For quantization, only quotients that round to the middle h of two integers below 256 must be the
// same as those of a division. They may differ where x / scale is within that error of h plus or
// minus half of a unit in its last place. With x = X and scale = S as integers of 24 bits, h has at
// most nine bits and fifteen zeros behind them, so that the quotient is M = h' * 2^16 +- 1 there:
// X * 2^24 (or 2^25) = S * M + R with |R| <= 12, therefore S = +-R modulo 2^16. R = 0 would make
// the quotient exactly M, which has more bits than a quotient that ends can have. So only
// scales whose last 16 bits are within 1 to 12 of 0 may need divisions. An exhaustive check of all
// mantissas found none that does: this bound is cheap to test and excludes a few too many.

#ifndef OPENATC_KERNELS_CORE_RECIPROCAL_H
#define OPENATC_KERNELS_CORE_RECIPROCAL_H

namespace atc::kernels {

/// 1 / scale as a sum.
struct Reciprocal {
  float high = 0, low = 0;

  /// Finds that of a scale; returns false for one that may need divisions.
  bool find(float scale) {
    unsigned bits;
    __builtin_memcpy(&bits, &scale, sizeof bits);
    constexpr unsigned kWord = 1u << 16, kNear = 12;
    const unsigned last = bits % kWord;
    if (!(scale > 0x1p-60f && scale < 0x1p60f) ||
        (last != 0 && (last <= kNear || last >= kWord - kNear)))
      return false;
    const double exact = 1 / double(scale);
    high = float(exact);
    low = float(exact - double(high));
    return true;
  }
};

} // namespace atc::kernels

#endif // OPENATC_KERNELS_CORE_RECIPROCAL_H
