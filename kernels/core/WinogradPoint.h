//===-- WinogradPoint.h - the points of F(4x4, 3x3) in floats ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_KERNELS_CORE_WINOGRADPOINT_H
#define OPENATC_KERNELS_CORE_WINOGRADPOINT_H

namespace atc::kernels {

/// Winograd's F(4x4, 3x3) in floats multiplies polynomials by their values at 0, a, -a, 2a, -2a and
/// infinity, where a is this number. The textbook's a = 1 gives integers, but with values up to 8
/// times apart, whose differences cancel: 11/16 has a quarter of the maximum error (with inputs of
/// unit noise, 32 to 512 channels), as small as that of any other pair of points tried, and its
/// powers up to the fourth are exact in f32.
///
///   input of positions:  0    4a^4 d0 - 5a^2 d2 + d4
///                        +-a  (d4 - 4a^2 d2) +- a (d3 - 4a^2 d1)
///                        +-2a (d4 - a^2 d2) +- 2a (d3 - a^2 d1)
///                        inf  4a^4 d1 - 5a^2 d3 + d5
///   outputs:             y0 = m0 + (m1 + m2) + (m3 + m4)
///                        y1 = a ((m1 - m2) + 2 (m3 - m4))
///                        y2 = a^2 ((m1 + m2) + 4 (m3 + m4))
///                        y3 = a^3 ((m1 - m2) + 8 (m3 - m4)) + m5
inline constexpr double kWinogradPoint = 11. / 16;
inline constexpr double kWinogradPoint2 = kWinogradPoint * kWinogradPoint;
inline constexpr double kWinogradPoint3 = kWinogradPoint2 * kWinogradPoint;
inline constexpr double kWinogradPoint4 = kWinogradPoint2 * kWinogradPoint2;

} // namespace atc::kernels

#endif // OPENATC_KERNELS_CORE_WINOGRADPOINT_H
