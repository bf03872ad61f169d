//===-- GateLayout.h - packed weights of recurrent cells ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The order of packed weights, which the compiler (for constants) and the kernels (for weights that
// depend on the inputs of a model) share. Packing is a permutation: packed weights have the dims
// and the number of elements of the weights as ONNX stores them, unless they take fewer bits, too.

#ifndef OPENATC_KERNELS_NN_GATES_GATELAYOUT_H
#define OPENATC_KERNELS_NN_GATES_GATELAYOUT_H

#include <stdint.h>

namespace atc::kernels {

/// How whole panels are stored: as they are, in 24 bits per weight (NarrowGates.h) or in 16
/// (IntegerGates.h), or, where that is exact, in 8 (ByteGates.h). The values are those of the
/// attribute "packed", of which one more says that weights of the data are bytes, too.
enum class GateStorage : uint8_t { Floats = 1, Narrow = 2, Integers = 3, Bytes = 4 };
inline constexpr int64_t kPackedAllBytes = 5;

/// Describes the layout of the weights [gates * hidden, depth] of `gates` gates (1, 2 or 4), packed
/// for products with few rows. A panel holds the columns of `units()` units of all gates, so that
/// whoever multiplies by it can advance these units: `depth` rows of [gates][units of the panel].
/// All panels but the last have kColumns columns; a row of these is stored in wordsPerRow() words.
struct GateLayout {
  static constexpr int64_t kColumns = 64, kNarrowWords = 48, kIntegerWords = 34;
  static constexpr int64_t kByteWords = 16, kByteTail = 128; ///< per row, and of a panel

  int64_t gates, hidden, depth;
  GateStorage storage = GateStorage::Floats;

  /// Returns the hidden units per panel.
  constexpr int64_t units() const { return kColumns / gates; }
  /// Returns the panels of all hidden units; the last one may be partly empty.
  constexpr int64_t panels() const { return (hidden + units() - 1) / units(); }
  /// Returns the number of units of a panel.
  constexpr int64_t unitsOf(int64_t panel) const {
    const int64_t left = hidden - panel * units();
    return left < units() ? left : units();
  }
  /// Returns the number of words that are stored per row of a whole panel.
  constexpr int64_t wordsPerRow() const {
    return storage == GateStorage::Integers ? kIntegerWords
           : storage == GateStorage::Narrow ? kNarrowWords
           : storage == GateStorage::Bytes  ? kByteWords + (kByteTail + depth - 1) / depth
                                            : kColumns;
  }
  /// Returns where a panel begins, in words.
  constexpr int64_t offsetOf(int64_t panel) const { return panel * wordsPerRow() * depth; }
  /// Returns the number of words of all panels per row of `depth`.
  constexpr int64_t columns() const {
    return gates * hidden - hidden / units() * (kColumns - wordsPerRow());
  }
  /// Returns the number of words of all panels.
  constexpr int64_t size() const { return columns() * depth; }

  /// Packs panels [begin, end) of `from` (row-major) into `to`, both at their beginning, as
  /// floats.
  template <typename T> void pack(T *to, const T *from, int64_t begin, int64_t end) const {
    for (int64_t panel = begin; panel < end; ++panel) {
      const int64_t count = unitsOf(panel), columns = gates * count;
      T *first = to + offsetOf(panel);
      // Few rows at a time, so that the lines of all columns stay in the cache.
      constexpr int64_t step = 32;
      for (int64_t k0 = 0; k0 < depth; k0 += step)
        for (int64_t column = 0; column < columns; ++column) {
          const int64_t unit = panel * units() + column % count;
          const T *row = from + (column / count * hidden + unit) * depth;
          for (int64_t k = k0; k < depth && k < k0 + step; ++k)
            first[k * columns + column] = row[k];
        }
    }
  }
};

/// Describes the packed weights of one direction of a cell: those of its gates together, and for a
/// GRU (3 gates) of the first two together, then of the last, which may be multiplied by another
/// state.
struct CellLayout {
  int64_t gates, hidden, depth;
  GateStorage storage = GateStorage::Floats;

  /// Returns the layout of the gates that are computed together: of a GRU all but the last.
  constexpr GateLayout together() const { return {gates == 3 ? 2 : gates, hidden, depth, storage}; }
  /// Returns whether one gate is computed after the others.
  constexpr bool hasLast() const { return gates == 3; }
  /// Returns the layout of the last gate of a GRU, whose weights begin at together().size().
  constexpr GateLayout last() const { return {1, hidden, depth, storage}; }
  /// Returns the number of words of a direction per row of `depth`, and of all of them.
  constexpr int64_t columns() const {
    return together().columns() + (hasLast() ? last().columns() : 0);
  }
  constexpr int64_t size() const { return columns() * depth; }

  /// Packs all weights of a direction as floats.
  template <typename T> void pack(T *to, const T *from) const {
    together().pack(to, from, 0, together().panels());
    if (hasLast())
      last().pack(to + together().size(), from + together().size(), 0, last().panels());
  }
};

/// Stores the packed weights of some gates in fewer bits: `from` has the layout of floats, and
/// `convertPanel` is called as convertPanel(to, from) for each whole panel.
template <typename Convert>
void convertPanels(uint32_t *to, const float *from, const GateLayout &layout,
                   Convert &&convertPanel) {
  const int64_t whole = layout.hidden / layout.units();
  for (int64_t panel = 0; panel < whole; ++panel)
    convertPanel(to + layout.offsetOf(panel), from + panel * GateLayout::kColumns * layout.depth);
  to += layout.offsetOf(whole);
  from += whole * GateLayout::kColumns * layout.depth;
  for (int64_t i = 0; i < layout.size() - layout.offsetOf(whole); ++i)
    to[i] = __builtin_bit_cast(uint32_t, from[i]);
}
template <typename Convert>
void convertPanels(uint32_t *to, const float *from, const CellLayout &layout,
                   Convert &&convertPanel) {
  convertPanels(to, from, layout.together(), convertPanel);
  const CellLayout floats{layout.gates, layout.hidden, layout.depth};
  if (layout.hasLast())
    convertPanels(to + layout.together().size(), from + floats.together().size(), layout.last(),
                  convertPanel);
}

} // namespace atc::kernels

#endif // OPENATC_KERNELS_NN_GATES_GATELAYOUT_H
