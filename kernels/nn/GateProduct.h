//===-- GateProduct.h - products with packed weights of gates -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A step of a recurrent cell with one sequence reads all weights of the state for two operations
// per weight: it is as fast as the second cache. So weights are read once, in order, and 4 vectors
// of accumulators hide the latency of the additions. The products with the data have many rows;
// they use as many accumulators as there are registers.

#ifndef OPENATC_KERNELS_NN_GATEPRODUCT_H
#define OPENATC_KERNELS_NN_GATEPRODUCT_H

#include "kernels/nn/GateLayout.h"

namespace atc::kernels {

/// Holds the f32 lanes of a register of the CPU level: a constant like atc_kernel_types, for tiles
/// of accumulators that are to stay in registers. 4 in the process of the compiler.
extern "C" const uint64_t atc_kernel_lanes;

/// Computes c[i][j] = init(i)[j] + sum over k of a[i][k] * weights[j][k], for `rows` rows i and the
/// columns j = gate * hidden + unit of the layout's gates. Strides count elements.
template <typename F> struct GateProduct {
  GateLayout layout;
  const F *packed;
  F *c;
  int64_t cRow;
  const F *a;
  int64_t aRow;
  int64_t rows;

  /// Computes panels [begin, end) on this thread. init(i) returns the row to which the products of
  /// row i are added, a `const F *`; it may be the row of c itself.
  template <typename Init> void run(int64_t begin, int64_t end, Init init) const {
    for (int64_t panel = begin; panel < end; ++panel) {
      if (layout.unitsOf(panel) < layout.units()) {
        runLast(panel, init);
        continue;
      }
      // Tiles of about equal size: a row alone costs as much as it takes to read the panel.
      const int64_t maxRows = atc_kernel_lanes >= 8 ? 6 : 3;
      const int64_t tiles = (rows + maxRows - 1) / maxRows;
      for (int64_t strip = 0; strip < GateLayout::kColumns / kLanes; strip += 4)
        for (int64_t tile = 0; tile < tiles; ++tile)
          runRows(tile * rows / tiles, (tile + 1) * rows / tiles, panel, strip, init);
    }
  }

private:
  static constexpr int64_t kLanes = 64 / sizeof(F);
  typedef F Vec __attribute__((vector_size(64)));
  typedef F Loose __attribute__((vector_size(64), aligned(sizeof(F)), may_alias));

  /// Multiplies rows [begin, end), at most 6, by four strips of a whole panel.
  template <typename Init>
  void runRows(int64_t begin, int64_t end, int64_t panel, int64_t strip, Init init) const {
    switch (end - begin) {
    case 1:
      return runTile<1>(begin, panel, strip, init);
    case 2:
      return runTile<2>(begin, panel, strip, init);
    case 3:
      return runTile<3>(begin, panel, strip, init);
    case 4:
      return runTile<4>(begin, panel, strip, init);
    case 5:
      return runTile<5>(begin, panel, strip, init);
    default:
      return runTile<6>(begin, panel, strip, init);
    }
  }

  /// Multiplies R rows by four strips of a whole panel. Accumulators that do not fit the registers
  /// of the CPU are computed in turn.
  template <int R, typename Init>
  void runTile(int64_t row, int64_t panel, int64_t strip, Init init) const {
    if (R == 1 || atc_kernel_lanes >= 16)
      return runStrips<R, 4>(row, panel, strip, init);
    for (int64_t s = strip; s < strip + 4; ++s)
      runStrips<R, 1>(row, panel, s, init);
  }

  template <int R, int S, typename Init>
  void runStrips(int64_t row, int64_t panel, int64_t strip, Init init) const {
    Vec sums[R][S];
    int64_t column[S];
    const int64_t units = layout.units();
#pragma clang loop unroll(full)
    for (int s = 0; s < S; ++s) {
      const int64_t lane = (strip + s) * kLanes;
      column[s] = lane / units * layout.hidden + panel * units + lane % units;
    }
#pragma clang loop unroll(full)
    for (int r = 0; r < R; ++r)
#pragma clang loop unroll(full)
      for (int s = 0; s < S; ++s)
        sums[r][s] = *reinterpret_cast<const Loose *>(init(row + r) + column[s]);
    const F *b = packed + layout.offsetOf(panel) + strip * kLanes, *x = a + row * aRow;
    for (int64_t k = 0; k < layout.depth; ++k, b += GateLayout::kColumns) {
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
  template <typename Init> void runLast(int64_t panel, Init init) const {
    const int64_t count = layout.unitsOf(panel), columns = layout.gates * count;
    const F *b = packed + layout.offsetOf(panel);
    for (int64_t row = 0; row < rows; ++row) {
      F sums[GateLayout::kColumns];
      const F *from = init(row) + panel * layout.units(), *x = a + row * aRow;
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

#endif // OPENATC_KERNELS_NN_GATEPRODUCT_H
