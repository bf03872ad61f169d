//===-- Slice.cpp -------------------------------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ascend/dvpp/h265/Slice.h"

#include "ascend/dvpp/h265/Residual.h"

#include <algorithm>
#include <cstdlib>

namespace atc::ascend::h265 {
namespace {

/// The directions that are tried: the mean of the neighbours, and copies of one side of them.
enum Mode : uint8_t { Planar = 0, Mean = 1, FromLeft = 10, FromAbove = 26 };

constexpr uint32_t treeSide = 2 * kBlockSide;

/// Returns the quantization parameter of U and V.
int chromaParameter(int qp) {
  constexpr int8_t middle[14] = {29, 30, 31, 32, 33, 33, 34, 34, 35, 35, 36, 36, 37, 37};
  return qp < 30 ? qp : qp > 43 ? qp - 6 : middle[qp - 30];
}

uint8_t toSample(int value) { return uint8_t(std::clamp(value, 0, 255)); }

/// The samples to the left of a block, above it, and in the corner between them.
struct Neighbours {
  std::array<uint8_t, kBlockSide> left, above;
  uint8_t corner;
};

/// Returns the neighbours that are decoded already; where a side is outside of the picture, the
/// samples that the standard puts there.
Neighbours neighboursOf(const Plane &decoded, uint32_t x, uint32_t y, uint32_t side) {
  Neighbours result;
  const bool hasLeft = x > 0, hasAbove = y > 0;
  for (uint32_t i = 0; i < side; ++i) {
    result.left[i] = hasLeft ? decoded.at(x - 1, y + i) : hasAbove ? decoded.at(x, y - 1) : 128;
    result.above[i] = hasAbove ? decoded.at(x + i, y - 1) : hasLeft ? decoded.at(x - 1, y) : 128;
  }
  result.corner = hasLeft && hasAbove ? decoded.at(x - 1, y - 1)
                  : hasLeft           ? result.left[0]
                                      : result.above[0];
  return result;
}

Block predict(const Neighbours &near, Mode mode, unsigned log2, bool luma) {
  Block result{log2};
  const uint32_t side = result.side();
  auto at = [&](uint32_t column, uint32_t row) -> int16_t & {
    return result.values[row * side + column];
  };
  int mean = int(side);
  for (uint32_t i = 0; i < side; ++i)
    mean += near.left[i] + near.above[i];
  mean >>= log2 + 1;
  for (uint32_t row = 0; row < side; ++row)
    for (uint32_t column = 0; column < side; ++column)
      at(column, row) = mode == Mean       ? int16_t(mean)
                        : mode == FromLeft ? near.left[row]
                                           : near.above[column];
  if (!luma)
    return result;
  // Edges of luma become smooth.
  for (uint32_t i = 0; i < side; ++i) {
    if (mode == FromLeft)
      at(i, 0) = toSample(near.left[0] + ((near.above[i] - near.corner) >> 1));
    if (mode == FromAbove)
      at(0, i) = toSample(near.above[0] + ((near.left[i] - near.corner) >> 1));
    if (mode == Mean && i > 0) {
      at(i, 0) = int16_t((near.above[i] + 3 * mean + 2) >> 2);
      at(0, i) = int16_t((near.left[i] + 3 * mean + 2) >> 2);
    }
  }
  if (mode == Mean)
    at(0, 0) = int16_t((near.left[0] + 2 * mean + near.above[0] + 2) >> 2);
  return result;
}

class SliceEncoder {
public:
  SliceEncoder(const Planes &picture, int qp, BitWriter &writer)
      : picture(picture), decoded(picture), qp(qp), encoder(writer, qp),
        columns(picture.channels[0].width / kBlockSide),
        modes(columns * (picture.channels[0].height / kBlockSide), Mean) {}

  void run() {
    const uint32_t width = picture.channels[0].width, height = picture.channels[0].height;
    for (uint32_t y = 0; y < height; y += treeSide)
      for (uint32_t x = 0; x < width; x += treeSide) {
        // All trees are divided once; at the borders that goes without saying.
        if (x + treeSide <= width && y + treeSide <= height)
          encoder.bin(SplitFlag + (x > 0) + (y > 0), true);
        for (uint32_t part = 0; part < 4; ++part) {
          const uint32_t left = x + part % 2 * kBlockSide, top = y + part / 2 * kBlockSide;
          if (left < width && top < height)
            encodeBlock(left, top);
        }
        encoder.endOfSlice(x + treeSide >= width && y + treeSide >= height);
      }
  }

private:
  Block differencesTo(const Plane &plane, uint32_t x, uint32_t y, const Block &prediction) {
    Block result{prediction.log2Side};
    for (uint32_t row = 0; row < result.side(); ++row)
      for (uint32_t column = 0; column < result.side(); ++column) {
        const uint32_t position = row * result.side() + column;
        result.values[position] =
            int16_t(plane.at(x + column, y + row) - prediction.values[position]);
      }
    return result;
  }

  Mode choose(uint32_t x, uint32_t y, const Neighbours &near) {
    Mode best = Mean;
    int min = INT32_MAX;
    for (Mode mode : {Mean, FromLeft, FromAbove}) {
      int sum = 0;
      const Block differences =
          differencesTo(picture.channels[0], x, y, predict(near, mode, 4, true));
      for (int16_t value : differences.values)
        sum += std::abs(value);
      if (sum < min) {
        min = sum;
        best = mode;
      }
    }
    return best;
  }

  /// Appends the mode, by the modes that its neighbours make likely.
  void encodeMode(uint32_t x, uint32_t y, Mode mode) {
    const uint32_t position = y / kBlockSide * columns + x / kBlockSide;
    const uint8_t left = x > 0 ? modes[position - 1] : uint8_t(Mean);
    const uint8_t above = y % treeSide != 0 ? modes[position - columns] : uint8_t(Mean);
    modes[position] = mode;
    std::array<uint8_t, 3> likely;
    if (left == above && left < 2)
      likely = {Planar, Mean, FromAbove};
    else if (left == above)
      likely = {left, uint8_t(2 + (left + 29) % 32), uint8_t(2 + (left - 1) % 32)};
    else // Planar is no mode of a block
      likely = {left, above, Planar};
    const auto found = std::find(likely.begin(), likely.end(), mode);
    encoder.bin(ModeIsLikely, found != likely.end());
    if (found != likely.end()) {
      const uint32_t index = uint32_t(found - likely.begin());
      encoder.equalBins(index == 0 ? 0 : index + 1, index == 0 ? 1 : 2);
      return;
    }
    std::sort(likely.begin(), likely.end());
    uint32_t rest = mode;
    for (int i = 2; i >= 0; --i)
      rest -= rest > likely[size_t(i)];
    encoder.equalBins(rest, 5);
  }

  void encodeBlock(uint32_t x, uint32_t y) {
    const Mode mode = choose(x, y, neighboursOf(decoded.channels[0], x, y, kBlockSide));
    encoder.bin(PartMode, true); // not divided
    encodeMode(x, y, mode);
    encoder.bin(ChromaMode, false); // that of luma
    Block levels[3];
    bool any[3];
    for (unsigned channel = 0; channel < 3; ++channel) {
      const bool luma = channel == 0;
      const uint32_t left = luma ? x : x / 2, top = luma ? y : y / 2;
      const int parameter = luma ? qp : chromaParameter(qp);
      Plane &plane = decoded.channels[channel];
      const unsigned log2 = luma ? 4 : 3;
      const Block prediction =
          predict(neighboursOf(plane, left, top, 1u << log2), mode, log2, luma);
      levels[channel] = quantize(differencesTo(picture.channels[channel], left, top, prediction),
                                 parameter, any[channel]);
      const Block differences =
          any[channel] ? reconstruct(levels[channel], parameter) : Block{log2};
      for (uint32_t row = 0; row < prediction.side(); ++row)
        for (uint32_t column = 0; column < prediction.side(); ++column) {
          const uint32_t position = row * prediction.side() + column;
          plane.at(left + column, top + row) =
              toSample(prediction.values[position] + differences.values[position]);
        }
    }
    encoder.bin(ChromaIsCoded, any[1]);
    encoder.bin(ChromaIsCoded, any[2]);
    encoder.bin(LumaIsCoded + 1, any[0]);
    for (unsigned channel = 0; channel < 3; ++channel)
      if (any[channel])
        encodeLevels(levels[channel], channel == 0, encoder);
  }

  const Planes &picture;
  Planes decoded; // what a decoder has, up to the block that is encoded
  const int qp;
  ArithmeticEncoder encoder;
  const uint32_t columns;
  std::vector<uint8_t> modes; // by block
};

} // namespace

void encodeBlocks(const Planes &picture, int qp, BitWriter &writer) {
  SliceEncoder(picture, qp, writer).run();
}

} // namespace atc::ascend::h265
