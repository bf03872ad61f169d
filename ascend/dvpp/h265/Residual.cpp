//===-- Residual.cpp ----------------------------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ascend/dvpp/h265/Residual.h"

#include <algorithm>
#include <cstdlib>

namespace atc::ascend::h265 {
namespace {

/// 90.5 * cos(i * pi / 64), as the standard rounds it; 64 for i = 0.
constexpr int16_t cosines[33] = {64, 90, 90, 90, 89, 88, 87, 85, 83, 82, 80, 78, 75, 73, 70, 67, 64,
                                 61, 57, 54, 50, 46, 43, 38, 36, 31, 25, 22, 18, 13, 9,  4,  0};

using Matrix = std::array<std::array<int16_t, 16>, 16>;

/// Returns the matrix of the cosine transform of 1 << log2 values: a row per frequency.
constexpr Matrix makeMatrix(unsigned log2) {
  Matrix matrix{};
  for (unsigned row = 0; row < 1u << log2; ++row)
    for (unsigned column = 0; column < 1u << log2; ++column) {
      const unsigned angle = row * (2 * column + 1) * (32 >> log2) % 128;
      const unsigned half = angle > 64 ? 128 - angle : angle;
      matrix[row][column] = half > 32 ? int16_t(-cosines[64 - half]) : cosines[half];
    }
  return matrix;
}

constexpr Matrix matrices[2] = {makeMatrix(3), makeMatrix(4)};

/// Returns (the matrix or, with `inverse`, what turns it back) * the columns, rounded and shifted,
/// transposed: called twice it transforms columns and rows.
Block transformColumns(const Block &block, bool inverse, unsigned shift) {
  const Matrix &matrix = matrices[block.log2Side - 3];
  const unsigned side = block.side();
  Block result{block.log2Side};
  for (unsigned column = 0; column < side; ++column)
    for (unsigned row = 0; row < side; ++row) {
      int32_t sum = 1 << (shift - 1);
      for (unsigned k = 0; k < side; ++k)
        sum += (inverse ? matrix[k][row] : matrix[row][k]) * block.values[k * side + column];
      result.values[column * side + row] = int16_t(std::clamp(sum >> shift, -32768, 32767));
    }
  return result;
}

/// Coordinates of 4 x 4 positions from the upper left to the lower right, along diagonals upwards.
struct Coordinate {
  uint8_t x, y;
};
constexpr Coordinate diagonal4[16] = {{0, 0}, {0, 1}, {1, 0}, {0, 2}, {1, 1}, {2, 0},
                                      {0, 3}, {1, 2}, {2, 1}, {3, 0}, {1, 3}, {2, 2},
                                      {3, 1}, {2, 3}, {3, 2}, {3, 3}};
constexpr Coordinate diagonal2[4] = {{0, 0}, {0, 1}, {1, 0}, {1, 1}};

/// Appends a coordinate of the last level: its prefix.
void lastPrefix(unsigned value, unsigned log2, bool luma, unsigned context,
                ArithmeticEncoder &encoder) {
  const unsigned offset = luma ? 3 * (log2 - 2) + ((log2 - 1) >> 2) : 15;
  const unsigned shift = luma ? (log2 + 1) >> 2 : log2 - 2;
  const unsigned limit = 2 * log2 - 1;
  for (unsigned i = 0; i < value; ++i)
    encoder.bin(context + offset + (i >> shift), true);
  if (value < limit)
    encoder.bin(context + offset + (value >> shift), false);
}

unsigned prefixOf(unsigned coordinate) {
  if (coordinate < 4)
    return coordinate;
  const unsigned bits = unsigned(std::bit_width(coordinate)) - 2;
  return 2 * bits + 2 + (coordinate >> bits & 1);
}

void lastSuffix(unsigned coordinate, ArithmeticEncoder &encoder) {
  if (coordinate >= 4) {
    const unsigned bits = unsigned(std::bit_width(coordinate)) - 2;
    encoder.equalBins(coordinate & ((1u << bits) - 1), bits);
  }
}

/// Returns the context of whether a level is not 0.
unsigned significanceOf(Coordinate group, Coordinate position, unsigned neighbours, unsigned log2,
                        bool luma) {
  if (group.x + group.y + position.x + position.y == 0)
    return IsSignificant + (luma ? 0 : 27);
  unsigned context = 2;
  if (neighbours == 0)
    context = position.x + position.y == 0 ? 2 : position.x + position.y < 3 ? 1 : 0;
  else if (neighbours == 1)
    context = position.y == 0 ? 2 : position.y == 1 ? 1 : 0;
  else if (neighbours == 2)
    context = position.x == 0 ? 2 : position.x == 1 ? 1 : 0;
  if (luma)
    context += (group.x + group.y > 0 ? 3 : 0) + (log2 == 3 ? 9 : 21);
  else
    context += 27 + (log2 == 3 ? 9 : 12);
  return IsSignificant + context;
}

/// Appends what is left of a level, in the code that `rice` chooses.
void remaining(uint32_t value, unsigned rice, ArithmeticEncoder &encoder) {
  if (value < 3u << rice) {
    const unsigned length = value >> rice;
    encoder.equalBins((1u << (length + 1)) - 2, length + 1);
    encoder.equalBins(value & ((1u << rice) - 1), rice);
    return;
  }
  unsigned length = rice;
  value -= 3u << rice;
  while (value >= 1u << length)
    value -= 1u << length++;
  const unsigned ones = 3 + length - rice;
  encoder.equalBins((1u << (ones + 1)) - 2, ones + 1);
  encoder.equalBins(value, length);
}

/// Appends sizes and signs of the levels of a group that are not 0, the last first. `previous`
/// is what the group before has left: whether its last level was known to be greater than one.
void encodeSizes(const int16_t *levels, unsigned count, bool isFirst, bool luma, bool &previous,
                 bool isLastGroup, ArithmeticEncoder &encoder) {
  unsigned set = isFirst || !luma ? 0 : 2;
  if (!isLastGroup && previous)
    ++set;
  unsigned greater = 1;
  int firstGreater = -1;
  const unsigned flagged = std::min(count, 8u);
  for (unsigned i = 0; i < flagged; ++i) {
    const bool more = std::abs(levels[i]) > 1;
    encoder.bin(GreaterOne + (luma ? 0 : 16) + 4 * set + greater, more);
    if (more) {
      greater = 0;
      if (firstGreater < 0)
        firstGreater = int(i);
    } else if (greater > 0 && greater < 3) {
      ++greater;
    }
  }
  previous = greater == 0;
  if (firstGreater >= 0)
    encoder.bin(GreaterTwo + (luma ? 0 : 4) + set, std::abs(levels[firstGreater]) > 2);
  for (unsigned i = 0; i < count; ++i)
    encoder.equalBins(levels[i] < 0, 1);
  unsigned rice = 0;
  for (unsigned i = 0; i < count; ++i) {
    const int size = std::abs(levels[i]);
    // The part of the magnitude that the flags have already coded.
    const bool before = firstGreater < 0 || int(i) <= firstGreater;
    const int known = i >= 8 ? 1 : before ? (int(i) == firstGreater ? 3 : 2) : 2;
    if (size < known)
      continue;
    remaining(uint32_t(size - known), rice, encoder);
    if (size > 3 << rice)
      rice = std::min(rice + 1, 4u);
  }
}

} // namespace

Block quantize(const Block &differences, int qp, bool &any) {
  constexpr int scales[6] = {26214, 23302, 20560, 18396, 16384, 14564};
  const unsigned log2 = differences.log2Side;
  Block levels = transformColumns(transformColumns(differences, false, log2 - 1), false, log2 + 6);
  const unsigned bits = 21 + unsigned(qp) / 6 - log2;
  any = false;
  for (unsigned i = 0; i < levels.side() * levels.side(); ++i) {
    const int64_t size = std::abs(int(levels.values[i])) * int64_t(scales[qp % 6]);
    const int64_t level = (size + (int64_t(171) << (bits - 9))) >> bits;
    levels.values[i] = int16_t(std::min<int64_t>(level, 32767) * (levels.values[i] < 0 ? -1 : 1));
    any = any || level != 0;
  }
  return levels;
}

Block reconstruct(const Block &levels, int qp) {
  constexpr int scales[6] = {40, 45, 51, 57, 64, 72};
  const unsigned shift = levels.log2Side + 3;
  Block scaled{levels.log2Side};
  for (unsigned i = 0; i < levels.side() * levels.side(); ++i) {
    const int64_t value =
        (int64_t(levels.values[i]) * 16 * scales[qp % 6] << (qp / 6)) + (int64_t(1) << (shift - 1));
    scaled.values[i] = int16_t(std::clamp<int64_t>(value >> shift, -32768, 32767));
  }
  return transformColumns(transformColumns(scaled, true, 7), true, 12);
}

void encodeLevels(const Block &levels, bool luma, ArithmeticEncoder &encoder) {
  const unsigned log2 = levels.log2Side, side = levels.side(), groups = side / 4;
  const Coordinate *groupOrder = groups == 2 ? diagonal2 : diagonal4;
  auto at = [&](Coordinate group, Coordinate position) {
    return levels.values[(group.y * 4u + position.y) * side + group.x * 4u + position.x];
  };
  // Whether each group of 4 x 4 has levels. One more row and column stand for the neighbours right
  // of and below the last groups.
  bool coded[5][5] = {};
  int lastGroup = 0, lastPosition = 0;
  for (int g = 0; g < int(groups * groups); ++g)
    for (int p = 0; p < 16; ++p)
      if (at(groupOrder[g], diagonal4[p]) != 0) {
        coded[groupOrder[g].y][groupOrder[g].x] = true;
        lastGroup = g;
        lastPosition = p;
      }
  const unsigned lastX = groupOrder[lastGroup].x * 4u + diagonal4[lastPosition].x;
  const unsigned lastY = groupOrder[lastGroup].y * 4u + diagonal4[lastPosition].y;
  lastPrefix(prefixOf(lastX), log2, luma, LastX, encoder);
  lastPrefix(prefixOf(lastY), log2, luma, LastY, encoder);
  lastSuffix(lastX, encoder);
  lastSuffix(lastY, encoder);

  bool previous = false;
  for (int g = lastGroup; g >= 0; --g) {
    const Coordinate group = groupOrder[g];
    const unsigned neighbours =
        unsigned(coded[group.y][group.x + 1]) | unsigned(coded[group.y + 1][group.x]) << 1;
    const bool said = g < lastGroup && g > 0; // those of both ends are known to have levels
    const bool has = !said || coded[group.y][group.x];
    if (said)
      encoder.bin(GroupIsCoded + (luma ? 0 : 2) + (neighbours != 0), has);
    if (!has)
      continue;
    int16_t sizes[16];
    unsigned count = 0;
    for (int p = g == lastGroup ? lastPosition : 15; p >= 0; --p) {
      const int16_t level = at(group, diagonal4[p]);
      const bool isLast = g == lastGroup && p == lastPosition;
      const bool follows = p == 0 && said && count == 0; // one must be there
      if (!isLast && !follows)
        encoder.bin(significanceOf(group, diagonal4[p], neighbours, log2, luma), level != 0);
      if (level != 0)
        sizes[count++] = level;
    }
    if (count > 0)
      encodeSizes(sizes, count, g == 0, luma, previous, g == lastGroup, encoder);
  }
}

} // namespace atc::ascend::h265
