//===-- TileConv.h - convolutions of 8-bit images in tile registers -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A tile register has 64 bytes of the windows of 16 pixels, which are four blocks of channels and
// lie apart: the windows of some pixels are copied side by side first, once for all output
// channels. Weights are read as they are stored, where a word of four channels of 16 output
// channels is a row.

#ifndef OPENATC_KERNELS_CONV_TILECONV_H
#define OPENATC_KERNELS_CONV_TILECONV_H

#include "kernels/conv/ByteBlocks.h"
#include "kernels/core/DotTiles.h"

#if defined(__x86_64__)

namespace atc::kernels::bytes {

/// A convolution by whole blocks of channels. Only where hasTileRegisters().
struct TileConv : ByteConv {
  static constexpr int64_t kPixels = 2 * DotTiles::kRows; ///< that are multiplied at once
  static constexpr int64_t kTask = 4 * kPixels; ///< the pixels for which weights are read once
  static constexpr int64_t kSide = 4; ///< the output blocks whose weights are side by side
  static constexpr int64_t kRow = 64; ///< bytes per row of a register
  static constexpr int64_t kStep = kPixels * kRow;

  /// Returns whether tiles are worth it: windows of whole blocks that fill a register, and enough
  /// pixels.
  bool serves() const {
    return plan.lanes == kBlock && quads == blocks * (kBlock / kQuad) &&
           words() >= DotTiles::kWords && plan.window.out.product() >= DotTiles::kRows;
  }
  int64_t steps() const { return ceilDiv(words(), DotTiles::kWords); }
  /// Returns the bytes of working space per task.
  int64_t space(Context &c) const { return spaceFor(c, kTask / kPixels, steps(), kStep); }
  int64_t parts() const { return ceilDiv(plan.window.out.product(), kTask); }

  /// Computes some pixels of all output channels of an image and group, and may leave the registers
  /// in use: release() ends that.
  ATC_TILE_REGISTERS void run(uint8_t *windows, int64_t at, int64_t group, int64_t part) const {
    const int64_t pixels = plan.window.out.product(), begin = part * kTask;
    const int64_t end = minimum(pixels, begin + kTask), plane = pixels * kBlock;
    const uint8_t *from = image.data + (at * plan.inBlocks + group * blocks) * image.plane;
    for (int64_t pixel = begin; pixel < end; pixel += kPixels)
      gather(windows + (pixel - begin) * kRow * steps(), from, pixel,
             minimum(kPixels, end - pixel));
    int64_t shaped = 0;
    for (int64_t first = 0; first < outBlocks; first += kSide) {
      const int64_t side = minimum(kSide, outBlocks - first), block = group * outBlocks + first;
      const int8_t *w = weights + block * words() * kWord;
      for (int64_t b = 0; b < side; b += 2) {
        uint8_t *to = result + (at * plan.outBlocks + block + b) * plane;
        for (int64_t pixel = begin; pixel < end; pixel += kPixels) {
          const uint8_t *own = windows + (pixel - begin) * kRow * steps();
          const int64_t count = minimum(kPixels, end - pixel);
          if (count != shaped)
            DotTiles::shape(count);
          shaped = count;
          side - b > 1
              ? product<2>(to + pixel * kBlock, own, w + b * kWord, side, block + b, count)
              : product<1>(to + pixel * kBlock, own, w + b * kWord, side, block + b, count);
        }
      }
    }
  }

  /// Ends the use of the registers: the system need not save them any more.
  ATC_TILE_REGISTERS static void release() { _tile_release(); }

private:
  static constexpr int64_t kWord = kBlock * kQuad; ///< bytes of the weights of a word

  /// Copies the windows of up to kPixels pixels: [step, pixel, 64 bytes], zeros behind the last
  /// word.
  ATC_WIDE_DOT void gather(uint8_t *to, const uint8_t *from, int64_t pixel, int64_t count) const {
    const uint8_t *at[kPixels];
    for (int64_t p = 0; p < count; ++p)
      at[p] = from + windowAt(pixel + p);
    int64_t chunk = 0;
    for (int64_t tap = 0, taps = plan.window.taps(); tap < taps; ++tap)
      for (int64_t block = 0; block < blocks; ++block, ++chunk) {
        const int64_t offset = offsets[tap] + block * image.plane;
        uint8_t *own = to + chunk / 4 * kStep + chunk % 4 * kBlock;
        for (int64_t p = 0; p < count; ++p)
          copyBlock(own + p * kRow, at[p] + offset);
      }
    for (; chunk % 4; ++chunk)
      for (int64_t p = 0; p < count; ++p)
        _mm_storeu_si128(
            reinterpret_cast<__m128i *>(to + chunk / 4 * kStep + chunk % 4 * kBlock + p * kRow),
            _mm_setzero_si128());
  }
  ATC_WIDE_DOT_PART static void copyBlock(uint8_t *to, const uint8_t *from) {
    _mm_storeu_si128(reinterpret_cast<__m128i *>(to),
                     _mm_loadu_si128(reinterpret_cast<const __m128i *>(from)));
  }

  /// Computes up to kPixels pixels of P output blocks.
  template <int P>
  ATC_TILE_REGISTERS __attribute__((noinline)) void product(uint8_t *to, const uint8_t *a,
                                                            const int8_t *w, int64_t side,
                                                            int64_t block, int64_t count) const {
    constexpr int64_t rows = DotTiles::kWords, wide = 2 * DotTiles::kColumns;
    alignas(64) int32_t sums[kPixels * wide];
    const int64_t wRow = side * kWord, whole = words() / rows, rest = words() % rows;
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
    for (int64_t s = 0; s < whole; ++s, a += kStep, w += rows * wRow) {
      for (int64_t i = 0; i < rows; ++i)
        for (int64_t p = 0; p < P; ++p)
          __builtin_prefetch(w + (rows + i) * wRow + p * kWord);
      step<P>(a, w, wRow, count);
    }
    if (rest) {
      // What lies behind the weights is not read; the windows have zeros there.
      alignas(64) int8_t last[rows * P * kWord] = {};
      for (int64_t i = 0; i < rest; ++i)
        for (int64_t p = 0; p < P; ++p)
          _mm512_store_si512(last + (i * P + p) * kWord,
                             _mm512_loadu_si512(w + i * wRow + p * kWord));
      step<P>(a, last, P * kWord, count);
    }
    constexpr int64_t bytes = wide * int64_t(sizeof(int32_t));
    int32_t *below = sums + DotTiles::kRows * wide;
    _tile_stored(0, sums, bytes);
    if constexpr (P > 1)
      _tile_stored(1, sums + DotTiles::kColumns, bytes);
    if (count > DotTiles::kRows) {
      _tile_stored(2, below, bytes);
      if constexpr (P > 1)
        _tile_stored(3, below + DotTiles::kColumns, bytes);
    }
    const int64_t plane = plan.window.out.product() * kBlock;
    // A copy, which what is written cannot be a part of.
    const Requantizer own = finish;
    for (int64_t b = 0; b < P; ++b) {
      int64_t p = 0;
      for (; p + 4 <= count; p += 4) {
        const int32_t *from = sums + p * wide + b * kBlock;
        own.store4(to + b * plane + p * kBlock, _mm512_load_si512(from),
                   _mm512_load_si512(from + wide), _mm512_load_si512(from + 2 * wide),
                   _mm512_load_si512(from + 3 * wide), (block + b) * kBlock);
      }
      for (; p < count; ++p)
        own.store(to + b * plane + p * kBlock, _mm512_load_si512(sums + p * wide + b * kBlock),
                  (block + b) * kBlock);
    }
  }

  /// Adds the products of 64 bytes of the windows.
  template <int P>
  ATC_TILE_REGISTERS __attribute__((always_inline)) static void
  step(const uint8_t *a, const int8_t *w, int64_t wRow, int64_t count) {
    _tile_loadd(4, a, kRow);
    _tile_loadd(6, w, wRow);
    _tile_dpbusd(0, 4, 6);
    if (count > DotTiles::kRows) {
      _tile_loadd(5, a + DotTiles::kRows * kRow, kRow);
      _tile_dpbusd(2, 5, 6);
    }
    if constexpr (P > 1) {
      _tile_loadd(7, w + kWord, wRow);
      _tile_dpbusd(1, 4, 7);
      if (count > DotTiles::kRows)
        _tile_dpbusd(3, 5, 7);
    }
  }
};

} // namespace atc::kernels::bytes

#endif // __x86_64__
#endif // OPENATC_KERNELS_CONV_TILECONV_H
