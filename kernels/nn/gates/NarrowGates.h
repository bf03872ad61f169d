//===-- NarrowGates.h - weights of gates in 24 bits ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A step of a recurrent cell with one sequence takes as long as reading the weights of the state.
// Narrow weights are f32 without the last 8 bits, rounded: 64 of them take 48 words. The words hold
// three quarters of the weights as they are, and in their low bytes the fourth quarter. A word is
// used as a float together with its low byte, with which it is rounded, so that only the fourth
// quarter needs arithmetic before it is multiplied, the same on all processors.

#ifndef OPENATC_KERNELS_NN_GATES_NARROWGATES_H
#define OPENATC_KERNELS_NN_GATES_NARROWGATES_H

#include "kernels/nn/gates/GateLayout.h"

namespace atc::kernels {

/// Converts weights between f32 and 24 bits. The relative error of a weight is at most 2^-16; those
/// below kTiny in magnitude have an error of at most kTiny.
struct NarrowGates {
  /// The number of weights in a quarter of a row.
  static constexpr int64_t kQuarter = GateLayout::kColumns / 4;
  /// No narrow weight that shares its word is subnormal: processors multiply those slowly.
  static constexpr float kTiny = 0x1p-60f;
  /// The largest magnitude that is converted.
  static constexpr float kLargest = 0x1p100f;

  /// Converts a row of kColumns weights to kNarrowWords words.
  static void convertRow(uint32_t *to, const float *from) {
    static_assert(GateLayout::kNarrowWords == 3 * kQuarter);
    for (int64_t i = 0; i < kQuarter; ++i) {
      const uint32_t bits = __builtin_bit_cast(uint32_t, from[3 * kQuarter + i]);
      const uint32_t last = (bits & kSign) | (((bits & ~kSign) + 128) & ~uint32_t(255));
      for (int64_t part = 0; part < 3; ++part)
        to[part * kQuarter + i] = wordOf(from[part * kQuarter + i], last >> (24 - 8 * part) & 255);
    }
  }

  /// Converts the packed weights of a direction, `from` in the layout of floats.
  static void convert(uint32_t *to, const float *from, const CellLayout &layout) {
    convertPanels(to, from, layout, [&](uint32_t *words, const float *weights) {
      for (int64_t row = 0; row < layout.depth; ++row)
        convertRow(words + row * GateLayout::kNarrowWords, weights + row * GateLayout::kColumns);
    });
  }

  /// Makes the last quarter of a row from the words of the others; each of `Words` is a vector or
  /// an integer. By reference, since a call by value with vectors depends on the CPU level.
  template <typename Words>
  static void makeLast(Words &last, const Words &first, const Words &second, const Words &third) {
    last = (first << 24) | ((second << 16) & 0x00ff0000u) | ((third << 8) & 0x0000ff00u);
  }

private:
  static constexpr uint32_t kSign = uint32_t(1) << 31;

  /// Returns the word whose low byte is `low` and whose value is closest to `weight`.
  static uint32_t wordOf(float weight, uint32_t low) {
    const uint32_t bits = __builtin_bit_cast(uint32_t, weight);
    const uint32_t tiny = __builtin_bit_cast(uint32_t, kTiny);
    const uint32_t magnitude = bits & ~kSign;
    return (bits & kSign) | (((magnitude < tiny ? tiny : magnitude) + 128 - low) & ~uint32_t(255)) |
           low;
  }
};

} // namespace atc::kernels

#endif // OPENATC_KERNELS_NN_GATES_NARROWGATES_H
