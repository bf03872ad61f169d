//===-- ImageDecoder.cpp - images from files ------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "kernels/image/Image.h"

namespace atc::kernels {

namespace {

/// Parses an integer of a PNM header.
int64_t pnmNumber(Bytes file, int64_t &at) {
  auto isSpace = [](uint8_t c) { return c == ' ' || (c >= 9 && c <= 13); };
  for (; at < file.size && (isSpace(file[at]) || file[at] == '#'); ++at)
    if (file[at] == '#') // a comment, to the end of its line
      while (at + 1 < file.size && file[at + 1] != '\n')
        ++at;
  int64_t value = 0;
  if (file[at] < '0' || file[at] > '9')
    return -1;
  for (; file[at] >= '0' && file[at] <= '9'; ++at)
    value = minimum(value * 10 + file[at] - '0', int64_t(1) << 30);
  return value;
}

} // namespace

bool decodePnm(Context &c, Bytes file, Image &image) {
  const int kind = file[1] - '0'; // 1 to 3: as text; 4 to 6: as bytes
  if (file[0] != 'P' || kind < 1 || kind > 6)
    return false;
  int64_t at = 2;
  const bool bits = kind % 3 == 1, color = kind % 3 == 0, text = kind <= 3;
  const int64_t width = pnmNumber(file, at), height = pnmNumber(file, at);
  const int64_t max = bits ? 1 : pnmNumber(file, at);
  if (max < 1 || max > 65535)
    return false;
  ++at; // one white space
  const int64_t samples = color ? 3 : 1, bytes = max > 255 ? 2 : 1;
  const int64_t row = bits ? ceilDiv(width, 8) : width * samples * bytes;
  if (width < 1 || height < 1 || (!text && row * height > file.size - at) ||
      (text && width * height > file.size) || !image.make(c, width, height))
    return false;
  image.channels = int(samples);
  for (int64_t y = 0; y < height; ++y)
    for (int64_t x = 0; x < width; ++x) {
      uint8_t value[3];
      for (int64_t s = 0; s < samples; ++s) {
        int64_t sample;
        if (text && bits) { // digits need no space between them
          while (at < file.size && file[at] != '0' && file[at] != '1')
            ++at;
          sample = file[at++] == '1';
        } else if (text) {
          sample = pnmNumber(file, at);
        } else if (bits) {
          sample = file[at + y * row + x / 8] >> (7 - x % 8) & 1;
        } else {
          sample = file.number(at + y * row + (x * samples + s) * bytes, int(bytes), true);
        }
        sample = minimum(maximum(sample, int64_t(0)), max);
        value[s] = uint8_t(bits ? (sample ? 0 : 255) : (sample * 255 + max / 2) / max);
      }
      image.set(x, y, value[0], value[color ? 1 : 0], value[color ? 2 : 0]);
    }
  return true;
}

bool decodeBmp(Context &c, Bytes file, Image &image) {
  if (!file.starts("BM"))
    return false;
  const int64_t start = file.number(10, 4, false), header = file.number(14, 4, false);
  const int64_t width = int32_t(file.number(18, 4, false));
  int64_t height = int32_t(file.number(22, 4, false));
  const int64_t bits = file.number(28, 2, false), compression = file.number(30, 4, false);
  const bool down = height < 0;
  height = down ? -height : height;
  if (header < 40 || (compression != 0 && !(compression == 3 && bits == 32)) ||
      (bits != 1 && bits != 4 && bits != 8 && bits != 24 && bits != 32))
    return false;
  const int64_t row = ceilDiv(width * bits, 32) * 4, palette = 14 + header;
  if (width < 1 || height < 1 || row * height > file.size - start || !image.make(c, width, height))
    return false;
  image.channels = bits < 24 ? 1 : int(bits / 8);
  for (int64_t y = 0; y < height; ++y) {
    const int64_t from = start + (down ? y : height - 1 - y) * row;
    for (int64_t x = 0; x < width; ++x) {
      int64_t at = from + x * (bits / 8);
      if (bits <= 8)
        at = palette +
             4 * (file[from + x * bits / 8] >> (8 - bits - x * bits % 8) & ((1 << bits) - 1));
      image.set(x, y, file[at + 2], file[at + 1], file[at]);
    }
  }
  return true;
}

bool decodeTiff(Context &c, Bytes file, Image &image) {
  const bool big = file.starts("MM");
  if ((!big && !file.starts("II")) || file.number(2, 2, big) != 42)
    return false;
  const int64_t directory = file.number(4, 4, big), entries = file.number(directory, 2, big);
  // The value of a tag, the i-th of several.
  auto tag = [&](int64_t wanted, int64_t i, int64_t fallback) {
    for (int64_t e = 0; e < entries; ++e) {
      const int64_t entry = directory + 2 + 12 * e;
      if (file.number(entry, 2, big) != wanted)
        continue;
      const int size = file.number(entry + 2, 2, big) == 3 ? 2 : 4;
      const int64_t count = file.number(entry + 4, 4, big);
      const int64_t at = count * size <= 4 ? entry + 8 : file.number(entry + 8, 4, big);
      return i < count ? file.number(at + i * size, size, big) : fallback;
    }
    return fallback;
  };
  const int64_t width = tag(256, 0, 0), height = tag(257, 0, 0), bits = tag(258, 0, 1),
                compression = tag(259, 0, 1), meaning = tag(262, 0, 1), samples = tag(277, 0, 1),
                rowsPerStrip = tag(278, 0, height);
  const bool zlib = compression == 8 || compression == 32946;
  if (bits != 8 || (compression != 1 && !zlib) || meaning > 2 || tag(284, 0, 1) != 1 ||
      samples < (meaning == 2 ? 3 : 1) || samples > 8 || rowsPerStrip < 1 || tag(317, 0, 1) != 1)
    return false;
  const int64_t row = width * samples;
  // Strips may share their bytes, but each has a place of its own in the file's table.
  const int64_t strips = ceilDiv(height, rowsPerStrip);
  if (row > file.size * (zlib ? kMaxInflation : 1) /
                maximum(minimum(rowsPerStrip, height), int64_t(1)) ||
      strips > file.size / 2 || !image.make(c, width, height))
    return false;
  image.channels = int(samples);
  uint8_t *inflated = zlib ? c.scratch<uint8_t>(row * minimum(rowsPerStrip, height)) : nullptr;
  if (zlib && !inflated)
    return false;
  for (int64_t y = 0, strip = 0; y < height; y += rowsPerStrip, ++strip) {
    const int64_t rows = minimum(rowsPerStrip, height - y);
    Bytes data = file.from(tag(273, strip, -1));
    if (zlib) {
      if (!inflateZlib(data, inflated, row * rows))
        return false;
      data = {inflated, row * rows};
    }
    if (data.size < row * rows)
      return false;
    for (int64_t i = 0; i < rows * width; ++i) {
      const uint8_t *from = data.data + i * samples;
      const uint8_t gray = meaning == 0 ? uint8_t(255 - from[0]) : from[0];
      image.set(i % width, y + i / width, gray, meaning == 2 ? from[1] : gray,
                meaning == 2 ? from[2] : gray);
    }
  }
  return true;
}

/// Without `channels` a file that cannot be read is an image without pixels, as ONNX has it. With
/// it such a file fails the call, and there are 1 or 3 channels, or with 0 those of the file, as
/// TensorFlow has it.
ATC_KERNEL(ImageDecoder) {
  const Tensor data = in(0);
  const bool isStrict = has("channels");
  const int64_t wanted = integer("channels", 3);
  const bool bgr = is("pixel_format", "RGB", "BGR");
  bool gray = is("pixel_format", "RGB", "Grayscale") || wanted == 1;
  if (!gray && !bgr && !is("pixel_format", "RGB", "RGB"))
    return fail("pixel_format is none of RGB, BGR, Grayscale");
  if (!data.known())
    return;
  const Bytes file{data.as<uint8_t>(), data.count()};
  Image image;
  image.isGray = wanted == 1;
  const bool found = decodeBmp(*this, file, image) || decodePng(*this, file, image) ||
                     decodeJpeg(*this, file, image) || decodeTiff(*this, file, image) ||
                     decodePnm(*this, file, image);
  if (!found && isStrict)
    return fail("the bytes are no image in one of the formats that are supported: BMP, PNG, "
                "TIFF, PNM, JPEG with Huffman codes");
  if (wanted == 0 && image.channels != 1 && image.channels != 3)
    return fail("the file has % channels, but without a number of channels in the model it must "
                "have 1 or 3",
                image.channels);
  gray |= wanted == 0 && image.channels == 1;
  if (!found) // an image that cannot be read is one without pixels
    image.width = image.height = 0;
  uint8_t *out = make<uint8_t>(0, U8, Dims(image.height, image.width, int64_t(gray ? 1 : 3)));
  if (!out)
    return;
  const int64_t count = image.height * image.width;
  for (int64_t i = 0; i < count; ++i) {
    const uint8_t *from = image.pixels + 3 * i;
    if (gray) {
      // The luma of ITU-R BT.601 in 16 bits.
      out[i] = uint8_t((from[0] * 19595 + from[1] * 38470 + from[2] * 7471 + 0x8000) >> 16);
      continue;
    }
    out[3 * i] = from[bgr ? 2 : 0];
    out[3 * i + 1] = from[1];
    out[3 * i + 2] = from[bgr ? 0 : 2];
  }
}

} // namespace atc::kernels
