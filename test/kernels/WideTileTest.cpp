//===-- WideTileTest.cpp - products with registers of 64 bytes ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The kernels in this process are compiled for smaller registers; vectors of 64 bytes are several
// of these here, so that the tiles can be tested on every machine.

#include "kernels/nn/WideTile.h"
#include "kernels/nn/gates/ByteGates.h"

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

#if defined(__x86_64__)
namespace {
/// Multiplies R rows of integers, which are limbs as they are, by a panel of bytes.
template <int R> void checkBytes(int64_t depth) {
  constexpr int64_t columns = ByteGates::kColumns;
  CAPTURE(R, depth);
  const int largest = ByteGates::zeroOf(depth) - 1;
  const auto size = static_cast<size_t>(columns * depth);
  std::vector<float> weights(size), rows(static_cast<size_t>(R * depth));
  unsigned seed = 5;
  auto next = [&](int limit) {
    seed = seed * 1664525u + 1013904223u;
    return static_cast<int>(seed >> 8) % (2 * limit + 1) - limit;
  };
  for (float &weight : weights)
    weight = static_cast<float>(next(127)) / 4;
  for (float &value : rows)
    value = static_cast<float>(next(largest));
  // The largest products have sums of nearly 32 bits.
  for (int64_t k = 0; k < depth; ++k) {
    weights[static_cast<size_t>(k * columns)] = 127 / 4.f;
    rows[static_cast<size_t>(k)] = float(largest);
    rows[static_cast<size_t>((R - 1) * depth + k)] = float(R > 1 ? -largest : largest);
  }
  for (int64_t j = 1; j < columns; ++j)
    weights[static_cast<size_t>(j)] = -127 / 4.f;
  rows[static_cast<size_t>((R / 2) * depth)] = float(largest);
  const CellLayout layout{4, 16, depth, GateStorage::Bytes};
  std::vector<uint32_t> words(static_cast<size_t>(layout.size()));
  REQUIRE(ByteGates::convert(words.data(), weights.data(), layout));
  const auto *panel = reinterpret_cast<const float *>(words.data());
  ByteRows bytes;
  bytes.set(rows.data(), depth, R, depth, /*findsLimbs=*/true);
  auto compare = [&](const float (&got)[R][columns]) {
    int64_t wrong = 0;
    for (int64_t r = 0; r < R; ++r)
      for (int64_t j = 0; j < columns; ++j) {
        int64_t want = 0;
        for (int64_t k = 0; k < depth; ++k)
          want += static_cast<int64_t>(rows[static_cast<size_t>(r * depth + k)]) *
                  static_cast<int64_t>(weights[static_cast<size_t>(k * columns + j)] * 4);
        wrong += got[r][j] != static_cast<float>(want) / 4;
      }
    CHECK(wrong == 0);
  };
  float got[R][columns];
  if (__builtin_cpu_supports("avx512vnni") && __builtin_cpu_supports("avx512vl")) {
    bytes.multiplyWide<R>(got, panel);
    compare(got);
  }
}
} // namespace

TEST_CASE("rows times bytes") {
  for (int64_t depth : {4, 64, 512, 1024, 2048}) {
    checkBytes<1>(depth);
    checkBytes<2>(depth);
    checkBytes<3>(depth);
  }
}

TEST_CASE("weights that are no multiples of a scale are no bytes") {
  const CellLayout layout{4, 16, 8, GateStorage::Bytes};
  std::vector<float> weights(64 * 8, 1);
  std::vector<uint32_t> words(static_cast<size_t>(layout.size()));
  CHECK(ByteGates::convert(words.data(), weights.data(), layout));
  weights[70] = 0.70710678f;
  CHECK_FALSE(ByteGates::convert(words.data(), weights.data(), layout));
  weights[70] = 1e-30f;
  weights[134] = 0;
  CHECK(ByteGates::convert(words.data(), weights.data(), layout));
  for (size_t k = 0; k < 8; ++k)
    weights[64 * k + 6] = 1e-30f;
  CHECK_FALSE(ByteGates::convert(words.data(), weights.data(), layout));
}
#endif
