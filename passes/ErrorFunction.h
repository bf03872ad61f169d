//===-- ErrorFunction.h - coefficients of erf in f32 -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_ERRORFUNCTION_H
#define OPENATC_PASSES_ERRORFUNCTION_H

namespace atc {

/// erf(x) is x P(x^2) / Q(x^2) for |x| up to kErfEnd, where it is 1 in f32: fitted to a relative
/// error of 2e-8. Coefficients are those of the lowest power first. All targets compute this
/// formula, so that integers that are rounded behind it are the same.
inline constexpr double kErfEnd = 3.925;
inline constexpr double kErfNumerator[] = {1.12837915,    0.19059401,    0.0527693376,
                                           0.00377256226, 0.00028484402, 2.04602851e-06};
inline constexpr double kErfDenominator[] = {1.0,          0.502242274,   0.114182832,
                                             0.0149832225, 0.00116386108, 3.8047811e-05};

} // namespace atc

#endif // OPENATC_PASSES_ERRORFUNCTION_H
