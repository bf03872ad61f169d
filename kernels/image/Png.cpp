//===-- Png.cpp - PNG images, and the compression they use ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "kernels/image/Image.h"

namespace atc::kernels {

namespace {

/// Bits of a deflate stream, lowest first.
struct BitReader {
  Bytes bytes;
  int64_t at = 0; ///< in bits
  bool ended() const { return at > bytes.size * 8; }
  unsigned bits(int count) {
    unsigned value = 0;
    for (int i = 0; i < count; ++i, ++at)
      value |= unsigned(bytes[at >> 3] >> (at & 7) & 1) << i;
    return value;
  }
};

/// A canonical Huffman code.
struct Code {
  uint16_t counts[16] = {}, symbols[288];

  void build(const uint8_t *lengths, int size) {
    uint16_t starts[17] = {};
    for (int i = 0; i < size; ++i)
      ++counts[lengths[i]];
    counts[0] = 0;
    for (int length = 1; length < 16; ++length)
      starts[length + 1] = uint16_t(starts[length] + counts[length]);
    for (int i = 0; i < size; ++i)
      if (lengths[i])
        symbols[starts[lengths[i]]++] = uint16_t(i);
  }
  int decode(BitReader &reader) const {
    int code = 0, first = 0, index = 0;
    for (int length = 1; length < 16; ++length) {
      code |= int(reader.bits(1));
      const int count = counts[length];
      if (code - count < first)
        return symbols[index + code - first];
      index += count;
      first = (first + count) << 1;
      code <<= 1;
    }
    return -1;
  }
};

constexpr uint16_t kLengthBase[29] = {3,  4,  5,  6,   7,   8,   9,   10,  11, 13,
                                      15, 17, 19, 23,  27,  31,  35,  43,  51, 59,
                                      67, 83, 99, 115, 131, 163, 195, 227, 258};
constexpr uint8_t kLengthBits[29] = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2,
                                     2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0};
constexpr uint16_t kDistanceBase[30] = {
    1,   2,   3,   4,   5,   7,    9,    13,   17,   25,   33,   49,   65,    97,    129,
    193, 257, 385, 513, 769, 1025, 1537, 2049, 3073, 4097, 6145, 8193, 12289, 16385, 24577};
constexpr uint8_t kOrder[19] = {16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15};

bool readCodes(BitReader &reader, Code &literals, Code &distances) {
  const int literalCount = int(reader.bits(5)) + 257, distanceCount = int(reader.bits(5)) + 1;
  const int lengthCount = int(reader.bits(4)) + 4;
  uint8_t lengths[320] = {};
  for (int i = 0; i < lengthCount; ++i)
    lengths[kOrder[i]] = uint8_t(reader.bits(3));
  Code code;
  code.build(lengths, 19);
  if (literalCount > 286)
    return false;
  __builtin_memset(lengths, 0, sizeof lengths);
  for (int i = 0; i < literalCount + distanceCount;) {
    const int symbol = code.decode(reader);
    if (symbol < 0 || reader.ended() || (symbol == 16 && i == 0))
      return false;
    if (symbol < 16) {
      lengths[i++] = uint8_t(symbol);
      continue;
    }
    const uint8_t repeated = symbol == 16 ? lengths[i - 1] : 0;
    int count = int(symbol == 16   ? 3 + reader.bits(2)
                    : symbol == 17 ? 3 + reader.bits(3)
                                   : 11 + reader.bits(7));
    if (i + count > literalCount + distanceCount)
      return false;
    for (; count > 0; --count)
      lengths[i++] = repeated;
  }
  literals.build(lengths, literalCount);
  distances.build(lengths + literalCount, distanceCount);
  return true;
}

} // namespace

bool inflateZlib(Bytes stream, uint8_t *out, int64_t size) {
  if ((stream[0] & 15) != 8 || (stream[1] & 32))
    return false;
  BitReader reader{stream.from(2)};
  int64_t made = 0;
  for (bool last = false; !last && made < size;) {
    last = reader.bits(1);
    const unsigned kind = reader.bits(2);
    if (kind == 0) {
      reader.at = (reader.at + 7) / 8 * 8;
      int64_t length = reader.bits(16);
      reader.bits(16);
      if (reader.at / 8 + length > reader.bytes.size)
        return false;
      for (; length > 0 && made < size; --length)
        out[made++] = uint8_t(reader.bits(8));
      continue;
    }
    Code literals, distances;
    if (kind == 1) {
      uint8_t lengths[288];
      for (int i = 0; i < 288; ++i)
        lengths[i] = i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : 8;
      literals.build(lengths, 288);
      for (int i = 0; i < 30; ++i)
        lengths[i] = 5;
      distances.build(lengths, 30);
    } else if (kind != 2 || !readCodes(reader, literals, distances)) {
      return false;
    }
    for (;;) {
      const int symbol = literals.decode(reader);
      if (symbol < 0 || reader.ended())
        return false;
      if (symbol == 256 || made == size)
        break;
      if (symbol < 256) {
        out[made++] = uint8_t(symbol);
        continue;
      }
      if (symbol > 285)
        return false;
      int64_t length = kLengthBase[symbol - 257] + reader.bits(kLengthBits[symbol - 257]);
      const int far = distances.decode(reader);
      if (far < 0 || far > 29)
        return false;
      const int64_t distance = kDistanceBase[far] + reader.bits(far < 2 ? 0 : far / 2 - 1);
      if (distance > made)
        return false;
      for (; length > 0 && made < size; --length, ++made)
        out[made] = out[made - distance];
    }
  }
  return made == size;
}

namespace {

/// Undoes the filters of rows in place; each row begins with the index of its filter.
bool unfilter(uint8_t *data, int64_t rows, int64_t width, int64_t pixel) {
  for (int64_t y = 0; y < rows; ++y) {
    uint8_t *row = data + y * (width + 1) + 1;
    const uint8_t *above = row - (width + 1);
    const int filter = row[-1];
    if (filter > 4)
      return false;
    for (int64_t i = 0; i < width; ++i) {
      const int left = i >= pixel ? row[i - pixel] : 0, up = y ? above[i] : 0;
      const int corner = y && i >= pixel ? above[i - pixel] : 0;
      int predicted = 0;
      if (filter == 1) {
        predicted = left;
      } else if (filter == 2) {
        predicted = up;
      } else if (filter == 3) {
        predicted = (left + up) / 2;
      } else if (filter == 4) {
        const int estimate = left + up - corner;
        auto gap = [estimate](int value) {
          return value < estimate ? estimate - value : value - estimate;
        };
        predicted = gap(left) <= gap(up) && gap(left) <= gap(corner) ? left
                    : gap(up) <= gap(corner)                         ? up
                                                                     : corner;
      }
      row[i] = uint8_t(row[i] + predicted);
    }
  }
  return true;
}

} // namespace

bool decodePng(Context &c, Bytes file, Image &image) {
  if (!file.starts("\x89PNG\r\n\x1a\n") || !file.starts("IHDR", 12))
    return false;
  const int64_t width = file.number(16, 4, true), height = file.number(20, 4, true);
  const int64_t bits = file[24], kind = file[25];
  const bool interlaced = file[28] == 1;
  const int64_t samples = kind == 2 ? 3 : kind == 4 ? 2 : kind == 6 ? 4 : 1;
  if ((kind > 4 && kind != 6) || kind == 1 || file[26] || file[27] || file[28] > 1 ||
      (bits != 1 && bits != 2 && bits != 4 && bits != 8 && bits != 16) ||
      (samples > 1 && bits < 8) ||
      ceilDiv(width * samples * bits, 8) >
          file.size * kMaxInflation / maximum(height, int64_t(1)) ||
      !image.make(c, width, height))
    return false;
  // Concatenates all chunks of the compressed data.
  uint8_t *stream = c.scratch<uint8_t>(file.size);
  int64_t length = 0;
  Bytes palette;
  image.channels = int(kind == 3 ? 3 : samples);
  for (int64_t at = 8; stream && at + 12 <= file.size;) {
    const int64_t size = file.number(at, 4, true);
    if (size > file.size - at - 12)
      return false;
    if (file.starts("IDAT", at + 4)) {
      copyBytes(stream + length, file.data + at + 8, size);
      length += size;
    } else if (file.starts("PLTE", at + 4)) {
      palette = {file.data + at + 8, size};
    } else if (file.starts("tRNS", at + 4)) {
      image.channels += 1;
    }
    at += size + 12;
  }
  // Seven passes of an interlaced image: first column and row, steps.
  constexpr uint8_t passes[7][4] = {{0, 0, 8, 8}, {4, 0, 8, 8}, {0, 4, 4, 8}, {2, 0, 4, 4},
                                    {0, 2, 2, 4}, {1, 0, 2, 2}, {0, 1, 1, 2}};
  auto passOf = [&](int pass, int64_t &x, int64_t &y, int64_t &stepX, int64_t &stepY) {
    x = interlaced ? passes[pass][0] : 0;
    y = interlaced ? passes[pass][1] : 0;
    stepX = interlaced ? passes[pass][2] : 1;
    stepY = interlaced ? passes[pass][3] : 1;
  };
  int64_t total = 0, x0, y0, stepX, stepY;
  auto rowBytes = [&](int64_t columns) { return ceilDiv(columns * samples * bits, 8); };
  for (int pass = 0; pass < (interlaced ? 7 : 1); ++pass) {
    passOf(pass, x0, y0, stepX, stepY);
    const int64_t columns = ceilDiv(width - x0, stepX), rows = ceilDiv(height - y0, stepY);
    total += columns > 0 && rows > 0 ? rows * (rowBytes(columns) + 1) : 0;
  }
  uint8_t *data = stream ? c.scratch<uint8_t>(total + 1) : nullptr;
  if (!data || !inflateZlib({stream, length}, data, total))
    return false;
  for (int pass = 0; pass < (interlaced ? 7 : 1); ++pass) {
    passOf(pass, x0, y0, stepX, stepY);
    const int64_t columns = ceilDiv(width - x0, stepX), rows = ceilDiv(height - y0, stepY);
    if (columns <= 0 || rows <= 0)
      continue;
    const int64_t row = rowBytes(columns);
    if (!unfilter(data, rows, row, maximum(samples * bits / 8, int64_t(1))))
      return false;
    for (int64_t y = 0; y < rows; ++y)
      for (int64_t x = 0; x < columns; ++x) {
        const uint8_t *from = data + y * (row + 1) + 1;
        auto sample = [&](int64_t s) {
          const int64_t bit = (x * samples + s) * bits;
          return bits >= 8 ? from[bit / 8]
                           : uint8_t(from[bit / 8] >> (8 - bits - bit % 8) & ((1 << bits) - 1));
        };
        uint8_t value[3];
        for (int i = 0; i < 3; ++i)
          value[i] = kind == 3                ? palette[sample(0) * 3 + i]
                     : kind == 2 || kind == 6 ? sample(i)
                     : bits < 8               ? uint8_t(sample(0) * 255 / ((1 << bits) - 1))
                                              : sample(0);
        if (image.isGray && (value[0] != value[1] || value[0] != value[2]))
          // The weights of ITU-R BT.601 in 15 bits, rounded down as the common library does.
          value[0] = value[1] = value[2] =
              uint8_t((9797 * value[0] + 19234 * value[1] + 3737 * value[2]) >> 15);
        image.set(x0 + x * stepX, y0 + y * stepY, value[0], value[1], value[2]);
      }
    data += rows * (row + 1);
  }
  return true;
}

} // namespace atc::kernels
