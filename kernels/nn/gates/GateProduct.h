//===-- GateProduct.h - products with packed weights of gates -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A step of a recurrent cell with one sequence reads all weights of the state for two operations
// per weight: it is as fast as the second cache. So weights are read once, in order, and 4 vectors
// of accumulators hide the latency of the additions. The products with the data have many rows;
// they use as many accumulators as there are registers.

#ifndef OPENATC_KERNELS_NN_GATES_GATEPRODUCT_H
#define OPENATC_KERNELS_NN_GATES_GATEPRODUCT_H

#include "kernels/core/Lanes.h"
#include "kernels/nn/gates/ByteGates.h"
#include "kernels/nn/gates/IntegerGates.h"
#include "kernels/nn/gates/NarrowGates.h"

namespace atc::kernels {

/// Names the rows to which products are added: row i begins at base + (index ? index[i] : i) *
/// stride. A stride of 0 is one row for all.
template <typename F> struct StartRows {
  const F *base;
  int64_t stride;
  const int64_t *index = nullptr;

  const F *operator[](int64_t i) const { return base + (index ? index[i] : i) * stride; }
};

/// Computes c[i][j] = start[i][j] + sum over k of a[i][k] * weights[j][k], for `rows` rows i and
/// the columns j = gate * hidden + unit of the layout's gates. Strides count elements. Rows of
/// `start` may be those of c.
template <typename F> struct GateProduct {
  GateLayout layout;
  const F *packed;
  F *c;
  int64_t cRow;
  const F *a;
  int64_t aRow;
  int64_t rows;
  StartRows<F> start;

  /// Computes panels [begin, end) on this thread, the last one first where `fromEnd`.
  void run(int64_t begin, int64_t end, bool fromEnd = false) const {
    if (layout.storage == GateStorage::Integers) {
      runIntegers(begin, end, fromEnd);
      return;
    }
    if (layout.storage == GateStorage::Bytes) {
      runBytes(begin, end, fromEnd);
      return;
    }
    forPanels(begin, end, fromEnd, [&](int64_t panel, const F *ahead) { runPanel(panel, ahead); });
  }

private:
  static constexpr int64_t kLanes = 64 / sizeof(F);
  typedef F Vec __attribute__((vector_size(64)));
  typedef F Loose __attribute__((vector_size(64), aligned(sizeof(F)), may_alias));
  /// Weights of more bytes are not expected to stay in the second cache from step to step.
  static constexpr int64_t kNearBytes = 3 << 19;

  /// Calls work(panel, ahead) for whole panels, where `ahead` is what is to be requested meanwhile,
  /// if anything. Multiplies by the last panel where it is not whole.
  template <typename Work>
  void forPanels(int64_t begin, int64_t end, bool fromEnd, Work &&work) const {
    const bool isFar = layout.size() * int64_t(sizeof(F)) > kNearBytes;
    for (int64_t i = begin; i < end; ++i) {
      const int64_t panel = fromEnd ? end - 1 - (i - begin) : i;
      const int64_t next = fromEnd ? panel - 1 : panel + 1;
      if (layout.unitsOf(panel) < layout.units())
        runLast(panel);
      else
        work(panel,
             isFar && next >= begin && next < end ? packed + layout.offsetOf(next) : nullptr);
    }
  }

  /// Multiplies by panels of integers, row by row.
  void runIntegers(int64_t begin, int64_t end, bool fromEnd) const {
    if constexpr (sizeof(F) == sizeof(float))
      for (int64_t row = 0; row < rows; ++row) {
        IntegerState state;
        state.set(a + row * aRow, layout.depth);
        forPanels(begin, end, fromEnd, [&](int64_t panel, const F *ahead) {
          int64_t column[4];
          findColumns(column, panel, 0);
          Vec sums[4];
          state.multiply(sums, packed + layout.offsetOf(panel), ahead);
#pragma clang loop unroll(full)
          for (int s = 0; s < 4; ++s) {
            const Vec from = *reinterpret_cast<const Loose *>(start[row] + column[s]);
            *reinterpret_cast<Loose *>(c + row * cRow + column[s]) = from + sums[s] * state.unit();
          }
        });
      }
  }

  /// Multiplies by panels of bytes, a few rows at a time.
  void runBytes(int64_t begin, int64_t end, bool fromEnd) const {
    if constexpr (sizeof(F) == sizeof(float))
      for (int64_t row = 0; row < rows; row += ByteRows::kRows) {
        GateProduct some = *this;
        some.rows = rows - row < ByteRows::kRows ? rows - row : ByteRows::kRows;
        some.a += row * aRow;
        some.c += row * cRow;
        if (start.index)
          some.start.index += row;
        else
          some.start.base += row * start.stride;
        ByteRows values;
        values.set(some.a, aRow, some.rows, layout.depth);
        some.forPanels(begin, end, fromEnd, [&](int64_t panel, const F *) {
          some.rows == 1   ? some.template addBytes<1>(values, panel)
          : some.rows == 2 ? some.template addBytes<2>(values, panel)
                           : some.template addBytes<3>(values, panel);
        });
      }
  }
  template <int R> void addBytes(const ByteRows &values, int64_t panel) const {
    float sums[R][GateLayout::kColumns];
    values.multiply<R>(sums, packed + layout.offsetOf(panel));
    int64_t column[4];
    findColumns(column, panel, 0);
    for (int r = 0; r < R; ++r)
      for (int s = 0; s < 4; ++s) {
        const Vec sum = *reinterpret_cast<const Loose *>(sums[r] + s * kLanes);
        const Vec from = *reinterpret_cast<const Loose *>(start[r] + column[s]);
        *reinterpret_cast<Loose *>(c + r * cRow + column[s]) = from + sum;
      }
  }

  /// Multiplies by a whole panel. Meanwhile it requests the panel `ahead`, if any: in the first two
  /// tiles, so that memory has time for it, or in the only one.
  void runPanel(int64_t panel, const F *ahead) const {
    if (layout.storage == GateStorage::Narrow)
      return runNarrowPanel(panel, ahead);
    // Tiles of about equal size: a row alone costs as much as it takes to read the panel.
    const int64_t maxRows = atc_kernel_lanes >= 8 ? 6 : 3;
    const int64_t tiles = (rows + maxRows - 1) / maxRows;
    for (int64_t strip = 0; strip < GateLayout::kColumns / kLanes; strip += 4)
      for (int64_t tile = 0; tile < tiles; ++tile) {
        const int64_t first = tile * rows / tiles, end = (tile + 1) * rows / tiles;
        if (ahead && tiles == 1)
          runRows<4>(first, end, panel, strip, ahead + strip * kLanes * layout.depth);
        else if (ahead && tile < 2)
          runRows<2>(first, end, panel, strip, ahead + (strip + 2 * tile) * kLanes * layout.depth);
        else
          runRows<0>(first, end, panel, strip, nullptr);
      }
  }

  /// Multiplies by a whole panel of narrow weights, which are of F32, row by row.
  void runNarrowPanel(int64_t panel, const F *ahead) const {
    if constexpr (sizeof(F) == sizeof(float))
      for (int64_t row = 0; row < rows; ++row)
        ahead &&row == 0 ? runNarrow<3>(row, panel, ahead) : runNarrow<0>(row, panel, nullptr);
  }

  /// Multiplies a row by a whole panel of narrow weights, and requests `Lines` cache lines behind
  /// `ahead` per row of the panel.
  template <int Lines> void runNarrow(int64_t row, int64_t panel, const F *ahead) const {
    typedef uint32_t Words __attribute__((vector_size(64)));
    typedef uint32_t LooseWords __attribute__((vector_size(64), aligned(4), may_alias));
    static_assert(kLanes == NarrowGates::kQuarter);
    Vec sums[4];
    int64_t column[4];
    findColumns(column, panel, 0);
    const F *from = start[row], *x = a + row * aRow;
#pragma clang loop unroll(full)
    for (int s = 0; s < 4; ++s)
      sums[s] = *reinterpret_cast<const Loose *>(from + column[s]);
    const F *b = packed + layout.offsetOf(panel);
    for (int64_t k = 0; k < layout.depth; ++k, b += GateLayout::kNarrowWords) {
#pragma clang loop unroll(full)
      for (int line = 0; line < Lines; ++line)
        __builtin_prefetch(ahead + (k * Lines + line) * kLanes, 0, 2);
      const LooseWords *words = reinterpret_cast<const LooseWords *>(b);
      const Words first = words[0], second = words[1], third = words[2];
      Words last;
      NarrowGates::makeLast(last, first, second, third);
      sums[0] += x[k] * __builtin_bit_cast(Vec, first);
      sums[1] += x[k] * __builtin_bit_cast(Vec, second);
      sums[2] += x[k] * __builtin_bit_cast(Vec, third);
      sums[3] += x[k] * __builtin_bit_cast(Vec, last);
    }
#pragma clang loop unroll(full)
    for (int s = 0; s < 4; ++s)
      *reinterpret_cast<Loose *>(c + row * cRow + column[s]) = sums[s];
  }

  /// Finds the first columns of the strips from `strip` on of a whole panel.
  template <int S>
  inline __attribute__((always_inline)) void findColumns(int64_t (&column)[S], int64_t panel,
                                                         int64_t strip) const {
    const int64_t units = layout.units();
#pragma clang loop unroll(full)
    for (int s = 0; s < S; ++s) {
      const int64_t lane = (strip + s) * kLanes;
      column[s] = lane / units * layout.hidden + panel * units + lane % units;
    }
  }

  /// Multiplies rows [begin, end), at most 6, by four strips of a whole panel.
  template <int Lines>
  void runRows(int64_t begin, int64_t end, int64_t panel, int64_t strip, const F *ahead) const {
    switch (end - begin) {
    case 1:
      return runTile<1, Lines>(begin, panel, strip, ahead);
    case 2:
      return runTile<2, Lines>(begin, panel, strip, ahead);
    case 3:
      return runTile<3, Lines>(begin, panel, strip, ahead);
    case 4:
      return runTile<4, Lines>(begin, panel, strip, ahead);
    case 5:
      return runTile<5, Lines>(begin, panel, strip, ahead);
    default:
      return runTile<6, Lines>(begin, panel, strip, ahead);
    }
  }

  /// Multiplies R rows by four strips of a whole panel. Accumulators that do not fit the registers
  /// of the CPU are computed in turn.
  template <int R, int Lines>
  void runTile(int64_t row, int64_t panel, int64_t strip, const F *ahead) const {
    if (R == 1 || atc_kernel_lanes >= 16)
      return runStrips<R, 4, Lines>(row, panel, strip, ahead);
    runStrips<R, 1, Lines>(row, panel, strip, ahead);
    for (int64_t s = strip + 1; s < strip + 4; ++s)
      runStrips<R, 1, 0>(row, panel, s, nullptr);
  }

  /// Multiplies R rows by S strips of a whole panel, and requests `Lines` cache lines behind
  /// `ahead` per row of the panel.
  template <int R, int S, int Lines>
  void runStrips(int64_t row, int64_t panel, int64_t strip, const F *ahead) const {
    Vec sums[R][S];
    int64_t column[S];
    findColumns(column, panel, strip);
#pragma clang loop unroll(full)
    for (int r = 0; r < R; ++r) {
      const F *from = start[row + r];
#pragma clang loop unroll(full)
      for (int s = 0; s < S; ++s)
        sums[r][s] = *reinterpret_cast<const Loose *>(from + column[s]);
    }
    const F *b = packed + layout.offsetOf(panel) + strip * kLanes, *x = a + row * aRow;
    for (int64_t k = 0; k < layout.depth; ++k, b += GateLayout::kColumns) {
#pragma clang loop unroll(full)
      for (int line = 0; line < Lines; ++line)
        __builtin_prefetch(ahead + (k * Lines + line) * kLanes, 0, 2);
      Vec w[S];
#pragma clang loop unroll(full)
      for (int s = 0; s < S; ++s)
        w[s] = reinterpret_cast<const Loose *>(b)[s];
#pragma clang loop unroll(full)
      for (int r = 0; r < R; ++r)
#pragma clang loop unroll(full)
        for (int s = 0; s < S; ++s)
          sums[r][s] += x[r * aRow + k] * w[s];
    }
#pragma clang loop unroll(full)
    for (int r = 0; r < R; ++r)
#pragma clang loop unroll(full)
      for (int s = 0; s < S; ++s)
        *reinterpret_cast<Loose *>(c + (row + r) * cRow + column[s]) = sums[r][s];
  }

  /// Multiplies by the last panel, which has fewer units.
  void runLast(int64_t panel) const {
    const int64_t count = layout.unitsOf(panel), columns = layout.gates * count;
    const F *b = packed + layout.offsetOf(panel);
    for (int64_t row = 0; row < rows; ++row) {
      F sums[GateLayout::kColumns];
      const F *from = start[row] + panel * layout.units(), *x = a + row * aRow;
      F *to = c + row * cRow + panel * layout.units();
      for (int64_t g = 0; g < layout.gates; ++g)
        for (int64_t j = 0; j < count; ++j)
          sums[g * count + j] = from[g * layout.hidden + j];
      for (int64_t k = 0; k < layout.depth; ++k)
        for (int64_t j = 0; j < columns; ++j)
          sums[j] += x[k] * b[k * columns + j];
      for (int64_t g = 0; g < layout.gates; ++g)
        for (int64_t j = 0; j < count; ++j)
          to[g * layout.hidden + j] = sums[g * count + j];
    }
  }
};

} // namespace atc::kernels

#endif // OPENATC_KERNELS_NN_GATES_GATEPRODUCT_H
