//===-- TransposeSquare.h - rows and columns change places in registers ---===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_KERNELS_CORE_TRANSPOSESQUARE_H
#define OPENATC_KERNELS_CORE_TRANSPOSESQUARE_H

#include <stdint.h>

namespace atc::kernels {

/// The integer that has the bits of an element.
template <uint64_t size> struct BitsOf;
template <> struct BitsOf<1> {
  using Type = uint8_t;
};
template <> struct BitsOf<2> {
  using Type = uint16_t;
};
template <> struct BitsOf<4> {
  using Type = uint32_t;
};
template <> struct BitsOf<8> {
  using Type = uint64_t;
};

/// Exchanges rows and columns of 16 x 16 elements, whose rows are `fromStep` and `toStep` elements
/// apart. A loop over elements would become scatters, which take ten times as long.
template <typename F>
inline void transposeSquare(F *to, int64_t toStep, const F *from, int64_t fromStep) {
  using Bits = typename BitsOf<sizeof(F)>::Type;
  typedef Bits Row __attribute__((vector_size(16 * sizeof(F))));
  typedef Bits Loose __attribute__((vector_size(16 * sizeof(F)), aligned(sizeof(F)), may_alias));
  Row rows[16], next[16];
#pragma clang loop unroll(full)
  for (int i = 0; i < 16; ++i)
    rows[i] = *reinterpret_cast<const Loose *>(from + i * fromStep);
  // Four times row i becomes the interleaved first or second halves of rows i / 2 and i / 2 + 8.
#pragma clang loop unroll(full)
  for (int round = 0; round < 4; ++round) {
#pragma clang loop unroll(full)
    for (int i = 0; i < 8; ++i) {
      next[2 * i] = __builtin_shufflevector(rows[i], rows[i + 8], 0, 16, 1, 17, 2, 18, 3, 19, 4, 20,
                                            5, 21, 6, 22, 7, 23);
      next[2 * i + 1] = __builtin_shufflevector(rows[i], rows[i + 8], 8, 24, 9, 25, 10, 26, 11, 27,
                                                12, 28, 13, 29, 14, 30, 15, 31);
    }
#pragma clang loop unroll(full)
    for (int i = 0; i < 16; ++i)
      rows[i] = next[i];
  }
#pragma clang loop unroll(full)
  for (int i = 0; i < 16; ++i)
    *reinterpret_cast<Loose *>(to + i * toStep) = rows[i];
}

/// Writes the columns of `rows` rows as rows. The last squares overlap the ones before.
template <typename F>
void transposeRows(F *to, int64_t toStep, const F *from, int64_t fromStep, int64_t rows,
                   int64_t columns) {
  constexpr int64_t size = 16;
  if (rows < size || columns < size) {
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t j = 0; j < columns; ++j)
        to[j * toStep + r] = from[r * fromStep + j];
    return;
  }
  auto start = [](int64_t i, int64_t count) { return i + size <= count ? i : count - size; };
  for (int64_t i = 0; i < rows; i += size)
    for (int64_t j = 0; j < columns; j += size) {
      const int64_t row = start(i, rows), column = start(j, columns);
      transposeSquare(to + column * toStep + row, toStep, from + row * fromStep + column, fromStep);
    }
}

} // namespace atc::kernels

#endif // OPENATC_KERNELS_CORE_TRANSPOSESQUARE_H
