//===-- WideTileTest.cpp - products with registers of 64 bytes ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The kernels in this process are compiled for smaller registers; vectors of 64 bytes are several
// of these here, so that the tiles can be tested on every machine.

#include "kernels/nn/WideTile.h"

#include <catch2/catch.hpp>

#include <vector>

using namespace atc::kernels;

namespace {

/// Small integers, so that sums are exact in any order.
template <typename F> std::vector<F> numbers(int64_t count, unsigned seed) {
  std::vector<F> values(static_cast<size_t>(count));
  for (F &value : values) {
    seed = seed * 1664525u + 1013904223u;
    value = F(static_cast<int>(seed >> 28)) - F(7);
  }
  return values;
}

/// Multiplies the first k rows of panels that have `more` rows behind them.
template <typename F> void check(int64_t m, int64_t n, int64_t k, bool add, int64_t more = 0) {
  CAPTURE(m, n, k, add, more);
  const int64_t aRow = k + 3, cRow = n + 5, panelRows = k + more;
  const std::vector<F> a = numbers<F>(m * aRow, 1), b = numbers<F>(panelRows * n, 2);
  const std::vector<F> before = numbers<F>(m * cRow, 3);
  std::vector<F> c = before, packed(static_cast<size_t>(packedSize<F>(panelRows, n)));
  packPanels(packed.data(), b.data(), n, int64_t(1), panelRows, n, 0, ceilDiv(n, kPanel<F>));
  wide::multiply(c.data(), cRow, a.data(), aRow, packed.data(), m, n, k, add, panelRows);
  int64_t wrong = 0;
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < cRow; ++j) {
      const size_t at = static_cast<size_t>(i * cRow + j);
      F want = j >= n || add ? before[at] : F(0);
      for (int64_t l = 0; j < n && l < k; ++l)
        want += a[static_cast<size_t>(i * aRow + l)] * b[static_cast<size_t>(l * n + j)];
      wrong += c[at] != want;
    }
  CHECK(wrong == 0);
}

} // namespace

TEST_CASE("every number of rows and columns") {
  for (int64_t m : {1, 2, 3, 4, 7, 8, 11, 12, 13, 16, 20, 24, 28, 31})
    for (int64_t n : {1, 15, 16, 17, 32, 33, 47, 64})
      check<float>(m, n, 5, m % 2 == 0);
  for (int64_t m : {1, 12, 23})
    for (int64_t n : {3, 8, 17})
      check<double>(m, n, 9, n == 8);
}

TEST_CASE("sums that are longer than a block") {
  check<float>(13, 40, wide::kWideDepth, false);
  check<float>(12, 33, 2 * wide::kWideDepth + 1, false);
  check<float>(5, 16, wide::kWideDepth + 7, true);
  check<uint32_t>(9, 20, wide::kWideDepth + 1, false);
}

TEST_CASE("the first rows of longer panels") {
  check<float>(13, 40, 5, false, 3);
  check<float>(4, 17, wide::kWideDepth + 1, true, 7);
  check<double>(2, 9, 6, true, 1);
}
