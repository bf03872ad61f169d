//===-- Planes.h - a picture as planes of channels ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASCEND_DVPP_PLANES_H
#define ASCEND_DVPP_PLANES_H

#include "ascend/dvpp/Objects.h"

#include <cstdint>
#include <vector>

namespace atc::ascend {

/// Holds a channel: dense rows of bytes.
struct Plane {
  uint32_t width = 0, height = 0;
  std::vector<uint8_t> data;

  Plane() = default;
  Plane(uint32_t width, uint32_t height, uint8_t value = 0)
      : width(width), height(height), data(size_t(width) * height, value) {}
  /// Return the sample at column x and row y, which must lie in the plane.
  uint8_t &at(uint32_t x, uint32_t y) { return data[size_t(y) * width + x]; }
  uint8_t at(uint32_t x, uint32_t y) const { return data[size_t(y) * width + x]; }
};

/// A picture of one channel (Y) or three: Y, U, V, where the last two may be smaller, or
/// R, G, B.
struct Planes {
  bool rgb = false;
  std::vector<Plane> channels;
};

/// Returns the columns or rows of a channel that is subsampled by 1 << shift.
inline uint32_t shifted(uint32_t size, unsigned shift) {
  return (size + (1u << shift) - 1) >> shift;
}

/// Reads an area of a picture, whose strides are set.
Planes loadPlanes(const Picture &picture, const Area &area);

/// Writes planes with the subsampling of the picture's format into an area of it.
void storePlanes(const Planes &planes, const Picture &picture, const Area &area);

/// The weights of red and blue in Y, and whether Y has 16 to 235 only.
struct ColorMatrix {
  double red, blue;
  bool narrow;
};

/// Returns the weights that a name of a matrix stands for.
ColorMatrix matrixOf(acldvppCscMatrix matrix);

/// Resizes to `width` x `height` pixels in a format: chroma gets that format's subsampling, and
/// YUV becomes RGB or the other way by the matrix.
Planes resizePlanes(const Planes &planes, uint32_t width, uint32_t height,
                    const FormatFacts &format, uint32_t interpolation, acldvppCscMatrix matrix);

/// Adds a border to a plane.
Plane addBorder(const Plane &plane, uint32_t top, uint32_t bottom, uint32_t left, uint32_t right,
                acldvppBorderType type, uint8_t value);

} // namespace atc::ascend

#endif
