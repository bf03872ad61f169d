//===-- Jpeg.cpp - JPEG images, sequential and progressive with Huffman codes ===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Uses the arithmetic of the common decoders, so that pixels are equal to the last bit: a transform
// in 13-bit fixed point, and linear interpolation of chroma.

#include "kernels/image/Image.h"

namespace atc::kernels {

namespace {

constexpr uint8_t kZigzag[64] = {0,  1,  8,  16, 9,  2,  3,  10, 17, 24, 32, 25, 18, 11, 4,  5,
                                 12, 19, 26, 33, 40, 48, 41, 34, 27, 20, 13, 6,  7,  14, 21, 28,
                                 35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23, 30, 37, 44, 51,
                                 58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63};

uint8_t clampByte(int64_t value) { return uint8_t(value < 0 ? 0 : value > 255 ? 255 : value); }

struct JpegCode {
  uint8_t counts[17] = {}, symbols[256] = {};
};

struct Component {
  int id = 0, h = 1, v = 1, table = 0, dc = 0, ac = 0, last = 0;
  /// Samples of whole blocks, and how many of them belong to the image.
  int64_t stride = 0, width = 0, height = 0;
  uint8_t *samples = nullptr;
  /// The coefficients of all blocks of a progressive image, which its scans refine; `blocks` is the
  /// number of blocks per row. Null for other images.
  int16_t *coefficients = nullptr;
  int64_t blocks = 0;
  bool isScanned = false;
};

/// The part of the coefficients that a scan of a progressive image adds: bits `low` and above of
/// coefficients [first, last], or bit `low` where those above are there already.
struct Band {
  int first = 0, last = 63, low = 0;
  bool refines = false;
  int64_t emptyBlocks = 0; ///< how many of the next blocks have no more coefficients
};

struct EntropyReader {
  Bytes bytes;
  int64_t at = 0;
  unsigned buffer = 0;
  int count = 0;
  bool ended = false;

  int bit() {
    if (!count) {
      buffer = bytes[at];
      if (at >= bytes.size || (buffer == 0xff && bytes[at + 1] != 0)) {
        ended |= at > bytes.size + 64 || at >= bytes.size;
        buffer = 0; // a marker: zeros until it is read
        at += at >= bytes.size;
      } else {
        at += buffer == 0xff ? 2 : 1;
      }
      count = 8;
    }
    return int(buffer >> --count & 1);
  }
  int bits(int wanted) {
    int value = 0;
    for (int i = 0; i < wanted; ++i)
      value = value << 1 | bit();
    return value;
  }
  /// Reads a value of `size` bits; values that begin with a 0 bit are negative.
  int number(int size) {
    const int value = bits(size);
    return size && value < 1 << (size - 1) ? value - (1 << size) + 1 : value;
  }
  int symbol(const JpegCode &code) {
    int value = 0, first = 0, index = 0;
    for (int length = 1; length <= 16; ++length) {
      value |= bit();
      const int here = code.counts[length];
      if (value - here < first)
        return code.symbols[(index + value - first) & 255];
      index += here;
      first = (first + here) << 1;
      value <<= 1;
    }
    return -1;
  }
  /// Behind the next restart marker.
  void restart() {
    count = 0;
    while (at + 1 < bytes.size &&
           !(bytes[at] == 0xff && bytes[at + 1] >= 0xd0 && bytes[at + 1] <= 0xd7))
      ++at;
    at += 2;
  }
};

/// Computes one dimension of the inverse transform of 8 values, `step` apart.
void transform8(int64_t *x, int64_t step, int shift) {
  const int64_t a2 = x[2 * step], a6 = x[6 * step];
  const int64_t even = (a2 + a6) * 4433;
  const int64_t e2 = even - a6 * 15137, e3 = even + a2 * 6270;
  const int64_t e0 = (x[0] + x[4 * step]) * 8192, e1 = (x[0] - x[4 * step]) * 8192;
  const int64_t tops[4] = {e0 + e3, e1 + e2, e1 - e2, e0 - e3};
  const int64_t o7 = x[7 * step], o5 = x[5 * step], o3 = x[3 * step], o1 = x[step];
  const int64_t sum = (o7 + o3 + o5 + o1) * 9633;
  const int64_t z1 = (o7 + o1) * -7373, z2 = (o5 + o3) * -20995;
  const int64_t z3 = (o7 + o3) * -16069 + sum, z4 = (o5 + o1) * -3196 + sum;
  const int64_t odds[4] = {o1 * 12299 + z1 + z4, o3 * 25172 + z2 + z3, o5 * 16819 + z2 + z4,
                           o7 * 2446 + z1 + z3};
  const int64_t half = int64_t(1) << (shift - 1);
  for (int i = 0; i < 4; ++i) {
    x[i * step] = (tops[i] + odds[i] + half) >> shift;
    x[(7 - i) * step] = (tops[i] - odds[i] + half) >> shift;
  }
}

struct Jpeg {
  Context &c;
  Bytes file;
  uint16_t tables[4][64] = {};
  JpegCode codes[8] = {}; ///< four for DC, four for AC
  Component components[3] = {};
  int componentCount = 0, maxH = 1, maxV = 1;
  int64_t width = 0, height = 0, restartInterval = 0, blocksX = 0, blocksY = 0;
  int64_t adobe = -1;
  bool isProgressive = false;

  bool frame(Bytes part) {
    height = part.number(1, 2, true);
    width = part.number(3, 2, true);
    componentCount = part[5];
    if (part[0] != 8 || (componentCount != 1 && componentCount != 3) || width < 1 || height < 1)
      return false;
    for (int i = 0; i < componentCount; ++i) {
      Component &component = components[i];
      component.id = part[6 + 3 * i];
      component.h = part[7 + 3 * i] >> 4;
      component.v = part[7 + 3 * i] & 15;
      component.table = part[8 + 3 * i] & 3;
      if (component.h < 1 || component.h > 4 || component.v < 1 || component.v > 4)
        return false;
      maxH = maximum(maxH, component.h);
      maxV = maximum(maxV, component.v);
    }
    blocksX = ceilDiv(width, 8 * maxH);
    blocksY = ceilDiv(height, 8 * maxV);
    // A block takes two bits or more, a code for DC and one for AC; of a progressive image, whose
    // blocks without AC may be counted together, one.
    int64_t blocks = 0;
    for (int i = 0; i < componentCount; ++i)
      blocks += ceilDiv(ceilDiv(width * components[i].h, maxH), 8) *
                ceilDiv(ceilDiv(height * components[i].v, maxV), 8);
    if (blocks > file.size * (isProgressive ? 8 : 4))
      return false;
    for (int i = 0; i < componentCount; ++i) {
      Component &component = components[i];
      if (maxH % component.h || maxV % component.v)
        return false;
      component.stride = blocksX * 8 * component.h;
      component.width = ceilDiv(width * component.h, maxH);
      component.height = ceilDiv(height * component.v, maxV);
      component.samples = c.scratch<uint8_t>(component.stride * blocksY * 8 * component.v);
      if (!component.samples)
        return false;
      component.blocks = blocksX * component.h;
      const int64_t count = 64 * component.blocks * blocksY * component.v;
      component.coefficients = isProgressive ? c.scratch<int16_t>(count) : nullptr;
      if (isProgressive && !component.coefficients)
        return false;
      for (int64_t j = 0; isProgressive && j < count; ++j)
        component.coefficients[j] = 0;
    }
    return true;
  }

  /// Computes the samples of a block from its coefficients.
  void transform(int64_t (&values)[64], Component &component, int64_t x, int64_t y) {
    for (int i = 0; i < 8; ++i)
      transform8(values + i, 8, 11);
    for (int i = 0; i < 8; ++i)
      transform8(values + 8 * i, 1, 18);
    uint8_t *to = component.samples + y * 8 * component.stride + x * 8;
    for (int i = 0; i < 64; ++i)
      to[i / 8 * component.stride + i % 8] = clampByte(values[i] + 128);
  }

  bool block(EntropyReader &reader, Component &component, int64_t x, int64_t y) {
    int64_t values[64] = {};
    const uint16_t *table = tables[component.table];
    const int size = reader.symbol(codes[component.dc]);
    if (size < 0 || size > 15)
      return false;
    component.last += reader.number(size);
    values[0] = int64_t(component.last) * table[0];
    for (int i = 1; i < 64; ++i) {
      const int symbol = reader.symbol(codes[4 + component.ac]);
      if (symbol < 0)
        return false;
      const int bits = symbol & 15, zeros = symbol >> 4;
      if (!bits && zeros != 15)
        break;
      i += zeros;
      if (i > 63)
        return false;
      values[kZigzag[i]] = int64_t(reader.number(bits)) * table[i];
    }
    transform(values, component, x, y);
    return true;
  }

  /// Adds what a scan has of a block of a progressive image.
  bool refine(EntropyReader &reader, Component &component, Band &band, int64_t x, int64_t y) {
    int16_t *values = component.coefficients + 64 * (y * component.blocks + x);
    if (band.first == 0) {
      if (band.refines) {
        values[0] = int16_t(values[0] | reader.bit() << band.low);
        return true;
      }
      const int size = reader.symbol(codes[component.dc]);
      if (size < 0 || size > 15)
        return false;
      component.last += reader.number(size);
      values[0] = int16_t(int64_t(component.last) * (1 << band.low));
      return true;
    }
    const int one = 1 << band.low;
    auto correct = [&](int16_t &value) {
      if (reader.bit() && !((value < 0 ? -value : value) & one))
        value = int16_t(value + (value < 0 ? -one : one));
    };
    int i = band.first;
    for (; !band.emptyBlocks && i <= band.last; ++i) {
      const int symbol = reader.symbol(codes[4 + component.ac]);
      if (symbol < 0)
        return false;
      const int bits = symbol & 15;
      int zeros = symbol >> 4;
      if (!bits && zeros != 15) {
        band.emptyBlocks = (1 << zeros) + reader.bits(zeros);
        break;
      }
      if (!band.refines) {
        i += zeros;
        if (i > 63)
          return false;
        values[kZigzag[i]] = int16_t(reader.number(bits) * one);
        continue;
      }
      const int added = bits ? (reader.bit() ? one : -one) : 0;
      // Coefficients that are there already are corrected on the way, and do not count.
      for (; i <= band.last; ++i) {
        int16_t &value = values[kZigzag[i]];
        if (value)
          correct(value);
        else if (--zeros < 0)
          break;
      }
      if (added && i <= band.last)
        values[kZigzag[i]] = int16_t(added);
    }
    if (!band.emptyBlocks)
      return true;
    --band.emptyBlocks;
    for (; band.refines && i <= band.last; ++i)
      if (values[kZigzag[i]])
        correct(values[kZigzag[i]]);
    return true;
  }

  bool readBand(Bytes part, int count, Band &band) const {
    band.first = part[1 + 2 * count];
    band.last = part[2 + 2 * count];
    band.low = part[3 + 2 * count] & 15;
    band.refines = part[3 + 2 * count] >> 4 != 0;
    // DC has scans of its own, and AC those of single components.
    return band.first <= band.last && band.last < 64 && band.low < 14 &&
           (band.first == 0 ? band.last == 0 : count == 1);
  }

  bool scan(Bytes part, Bytes data) {
    const int count = part[0];
    if (!componentCount || (count != 1 && count != componentCount))
      return false; // scans have one component or all
    Component *scanned[3] = {};
    for (int i = 0; i < count; ++i) {
      for (Component &component : components)
        if (&component < components + componentCount && component.id == part[1 + 2 * i])
          scanned[i] = &component;
      if (!scanned[i] || (count > 1 && scanned[i] != components + i))
        return false;
      scanned[i]->dc = part[2 + 2 * i] >> 4 & 3;
      scanned[i]->ac = part[2 + 2 * i] & 3;
      // Of a progressive image the first scan of a component has its DC.
      scanned[i]->isScanned |= !isProgressive || part[1 + 2 * count] == 0;
      scanned[i]->last = 0;
    }
    Band band;
    if (isProgressive && !readBand(part, count, band))
      return false;
    // Blocks of a single component do not come in groups.
    const bool single = count == 1;
    const int64_t columns = single ? ceilDiv(scanned[0]->width, 8) : blocksX;
    const int64_t rows = single ? ceilDiv(scanned[0]->height, 8) : blocksY;
    EntropyReader reader{data};
    for (int64_t mcu = 0; mcu < columns * rows; ++mcu) {
      if (restartInterval && mcu && mcu % restartInterval == 0) {
        reader.restart();
        for (Component &component : components)
          component.last = 0;
        band.emptyBlocks = 0;
      }
      for (int i = 0; i < count; ++i) {
        Component &component = *scanned[i];
        const int h = single ? 1 : component.h, v = single ? 1 : component.v;
        for (int b = 0; b < h * v; ++b) {
          const int64_t x = mcu % columns * h + b % h, y = mcu / columns * v + b / h;
          if (isProgressive ? !refine(reader, component, band, x, y)
                            : !block(reader, component, x, y))
            return false;
        }
      }
      if (reader.ended)
        return false;
    }
    return true;
  }

  bool isComplete() const {
    for (int i = 0; i < componentCount; ++i)
      if (!components[i].isScanned)
        return false;
    return componentCount > 0;
  }

  /// Computes the samples of a progressive image, whose scans are all there.
  void transformAll() {
    for (int i = 0; i < componentCount; ++i)
      for (int64_t at = 0; at < components[i].blocks * blocksY * components[i].v; ++at) {
        int64_t values[64];
        for (int k = 0; k < 64; ++k)
          values[k] = components[i].coefficients[64 * at + k];
        for (int k = 0; k < 64; ++k)
          values[kZigzag[k]] *= tables[components[i].table][k];
        transform(values, components[i], at % components[i].blocks, at / components[i].blocks);
      }
  }

  /// The samples of a component at the size of the image.
  uint8_t *upsampled(const Component &k) {
    uint8_t *out = c.scratch<uint8_t>(width * height + 1);
    const int h = maxH / k.h, v = maxV / k.v;
    const bool fancy = h <= 2 && v <= 2 && (h == 1 || k.width > 2);
    for (int64_t y = 0; out && y < height; ++y) {
      const uint8_t *row = k.samples + y / v * k.stride;
      // Where one row is upsampled to two, the nearer row has three times the weight.
      const int64_t other = minimum(maximum(y / v + (y % 2 ? 1 : -1), int64_t(0)), k.height - 1);
      const uint8_t *near = k.samples + other * k.stride;
      const bool two = v == 2;
      auto sum = [&](int64_t x) { return two ? 3 * row[x] + near[x] : int(row[x]); };
      for (int64_t x = 0; x < width; ++x) {
        const int64_t at = x / h;
        int value;
        if (!fancy) {
          value = row[at];
        } else if (h == 1) {
          value = two ? (sum(at) + (y % 2 ? 2 : 1)) >> 2 : row[at];
        } else {
          const bool right = x % 2;
          const int64_t beside = at + (right ? 1 : -1);
          const bool edge = beside < 0 || beside >= k.width;
          const int mixed = edge ? 4 * sum(at) : 3 * sum(at) + sum(beside);
          value = two ? (mixed + (right ? 7 : 8)) >> 4 : (mixed + (right ? 2 : 1)) >> 2;
        }
        out[y * width + x] = uint8_t(value);
      }
    }
    return out;
  }

  /// Reads the Huffman codes of a segment (DHT).
  void readCodes(Bytes part) {
    for (int64_t i = 0; i + 17 <= part.size;) {
      JpegCode &code = codes[(part[i] >> 4 & 1) * 4 + (part[i] & 3)];
      int64_t count = 0;
      for (int l = 1; l <= 16; ++l)
        count += code.counts[l] = part[i + l];
      for (int64_t s = 0; s < count && s < 256; ++s)
        code.symbols[s] = part[i + 17 + s];
      i += 17 + count;
    }
  }

  /// Reads the quantization tables of a segment (DQT).
  void readTables(Bytes part) {
    for (int64_t i = 0; i < part.size;) {
      const int bytes = part[i] >> 4 ? 2 : 1;
      for (int s = 0; s < 64; ++s)
        tables[part[i] & 3][s] = uint16_t(part.number(i + 1 + s * bytes, bytes, true));
      i += 1 + 64 * bytes;
    }
  }

  /// Converts the decoded components to the image's red, green and blue. Returns false where the
  /// kernel must return.
  bool store(Image &image) {
    const uint8_t *planes[3] = {};
    for (int i = 0; i < componentCount; ++i)
      if (!(planes[i] = upsampled(components[i])))
        return false;
    const int64_t count = width * height;
    image.channels = componentCount;
    for (int64_t i = 0; i < count; ++i) {
      const int64_t y = planes[0][i];
      const int64_t x = i % width, row = i / width;
      if (componentCount == 1 || (image.isGray && adobe != 0)) {
        image.set(x, row, uint8_t(y), uint8_t(y), uint8_t(y));
      } else if (adobe == 0) { // the components are red, green and blue
        image.set(x, row, uint8_t(y), planes[1][i], planes[2][i]);
      } else {
        const int64_t cb = planes[1][i] - 128, cr = planes[2][i] - 128;
        image.set(x, row, clampByte(y + ((91881 * cr + 32768) >> 16)),
                  clampByte(y + ((-22554 * cb - 46802 * cr + 32768) >> 16)),
                  clampByte(y + ((116130 * cb + 32768) >> 16)));
      }
    }
    return true;
  }
};

} // namespace

bool decodeJpeg(Context &c, Bytes file, Image &image) {
  if (!file.starts("\xff\xd8"))
    return false;
  Jpeg jpeg{c, file};
  // A scan is a pass over all blocks, however few bytes it has.
  constexpr int maxScans = 256;
  int scans = 0;
  bool hasEnd = false;
  for (int64_t at = 2; at + 2 <= file.size && (jpeg.isProgressive || !jpeg.isComplete());) {
    if (file[at] != 0xff) {
      ++at;
      continue;
    }
    const int marker = file[at + 1];
    if (marker == 0xff || marker == 0 || marker == 1 || (marker >= 0xd0 && marker <= 0xd8)) {
      at += marker == 0xff ? 1 : 2;
      continue;
    }
    if (marker == 0xd9) {
      hasEnd = true;
      break;
    }
    const int64_t size = file.number(at + 2, 2, true) - 2;
    if (size < 0 || at + 4 + size > file.size)
      return false;
    const Bytes part{file.data + at + 4, size};
    at += 4 + size;
    if (marker <= 0xc2 && marker >= 0xc0) {
      jpeg.isProgressive = marker == 0xc2;
      if (jpeg.componentCount || !jpeg.frame(part))
        return false;
    } else if (marker == 0xc4) {
      jpeg.readCodes(part);
    } else if (marker == 0xdb) {
      jpeg.readTables(part);
    } else if (marker == 0xdd) {
      jpeg.restartInterval = part.number(0, 2, true);
    } else if (marker == 0xee && part.starts("Adobe")) {
      jpeg.adobe = part[11];
    } else if (marker == 0xda) {
      if (++scans > maxScans || !jpeg.scan(part, file.from(at)))
        return false;
    } else if (marker >= 0xc3 && marker <= 0xcf && marker != 0xc8 && marker != 0xcc) {
      return false; // lossless or arithmetic
    }
  }
  // Only the end says that no scan of a progressive image is missing.
  if (!jpeg.isComplete() || (jpeg.isProgressive && !hasEnd) ||
      !image.make(c, jpeg.width, jpeg.height))
    return false;
  if (jpeg.isProgressive)
    jpeg.transformAll();
  return jpeg.store(image);
}

} // namespace atc::kernels
