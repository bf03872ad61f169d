//===-- Image.h - decodes images ------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_KERNELS_IMAGE_IMAGE_H
#define OPENATC_KERNELS_IMAGE_IMAGE_H

#include "kernels/core/Support.h"

namespace atc::kernels {

/// Bytes that are read with bounds checks: bytes beyond the end read as 0.
struct Bytes {
  const uint8_t *data = nullptr;
  int64_t size = 0;
  uint8_t operator[](int64_t i) const { return i >= 0 && i < size ? data[i] : 0; }
  /// Returns whether these bytes stand at offset `at`.
  bool starts(const char *with, int64_t at = 0) const {
    const int64_t length = int64_t(__builtin_strlen(with));
    return at + length <= size && __builtin_memcmp(data + at, with, uint64_t(length)) == 0;
  }
  /// Returns an unsigned integer of 2 or 4 bytes at offset `at`.
  int64_t number(int64_t at, int bytes, bool bigEndian) const {
    uint32_t value = 0;
    for (int i = 0; i < bytes; ++i)
      value |= uint32_t((*this)[at + i]) << 8 * (bigEndian ? bytes - 1 - i : i);
    return value;
  }
  /// Returns the bytes from offset `at`; empty where it is out of range.
  Bytes from(int64_t at) const {
    return at < 0 || at > size ? Bytes() : Bytes{data + at, size - at};
  }
};

/// Rows of pixels, 3 bytes each: red, green and blue. The pixels live in scratch memory of the
/// call.
struct Image {
  int64_t width = 0, height = 0;
  uint8_t *pixels = nullptr;
  /// How many channels the file has, transparency included; colors of a palette are 3.
  int channels = 3;
  /// Whether the decoders of JPEG and PNG are to make gray pixels of colors as their common
  /// libraries do: of the first its luma, of the second by weights of the three.
  bool isGray = false;
  /// Allocates the pixels. Returns false where memory could not be allocated or a side is not in
  /// [1, 65536].
  bool make(Context &c, int64_t columns, int64_t rows) {
    constexpr int64_t max = 1 << 16;
    if (columns < 1 || rows < 1 || columns > max || rows > max)
      return false;
    width = columns;
    height = rows;
    pixels = c.scratch<uint8_t>(columns * rows * 3);
    return pixels != nullptr;
  }
  void set(int64_t x, int64_t y, uint8_t red, uint8_t green, uint8_t blue) {
    uint8_t *to = pixels + (y * width + x) * 3;
    to[0] = red, to[1] = green, to[2] = blue;
  }
};

/// Each decodes one format and returns false for malformed files and other formats. None allocates
/// memory for more pixels than the bytes of the file can describe.
bool decodeBmp(Context &c, Bytes file, Image &image);
bool decodePnm(Context &c, Bytes file, Image &image);
bool decodePng(Context &c, Bytes file, Image &image);
bool decodeTiff(Context &c, Bytes file, Image &image);
bool decodeJpeg(Context &c, Bytes file, Image &image);

/// The maximum number of bytes that a byte of a zlib stream inflates to: two bits make 258 of them.
constexpr int64_t kMaxInflation = 1032;

/// Inflates a zlib stream to `size` bytes; returns false where it is shorter or malformed.
bool inflateZlib(Bytes stream, uint8_t *out, int64_t size);

} // namespace atc::kernels

#endif // OPENATC_KERNELS_IMAGE_IMAGE_H
