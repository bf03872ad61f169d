//===-- Aipp.cpp - images whose preprocessing is stated at run time -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Aipp(image, parameters): float32 [batch, channels, height, width] of the bytes of as many
// images. The parameters are what AscendCL's aclmdlSetInputAIPP writes: 64 bytes for all
// images, then 96 bytes for each. The arithmetic is that of static preprocessing
// (frontends/aipp/PixelMath.h).

#include "kernels/core/Numbers.h"
#include "kernels/core/Support.h"

namespace atc::kernels {

namespace {

enum PixelFormat : uint8_t { Yuv420sp = 1, Xrgb8888 = 2, Rgb888 = 3, Yuv400 = 4 };

constexpr int64_t kCommonBytes = 64, kImageBytes = 96;

template <typename T> T readAt(const char *bytes, int64_t at) {
  T value;
  copyBytes(&value, bytes + at, sizeof(T));
  return value;
}

/// Parameters that hold for all images.
struct Common {
  uint8_t format, batch;
  bool converts, swapsColours, swapsFirst;
  int32_t width, height;
  int16_t matrix[9];
  uint8_t after[3], before[3];

  explicit Common(const char *bytes)
      : format(readAt<uint8_t>(bytes, 0)), batch(readAt<uint8_t>(bytes, 4)), converts(bytes[1]),
        swapsColours(bytes[2]), swapsFirst(bytes[3]), width(readAt<int32_t>(bytes, 8)),
        height(readAt<int32_t>(bytes, 12)) {
    copyBytes(matrix, bytes + 16, sizeof matrix);
    copyBytes(after, bytes + 40, sizeof after);
    copyBytes(before, bytes + 43, sizeof before);
  }

  bool isYuv() const { return format == Yuv420sp; }
  int64_t channels() const { return format == Xrgb8888 ? 4 : format == Yuv400 ? 1 : 3; }
  int64_t bytes() const {
    const int64_t pixels = int64_t(width) * height;
    return isYuv() ? pixels * 3 / 2 : pixels * channels();
  }
};

/// Parameters of one image; sizes are in pixels.
struct PerImage {
  bool crops, resizes, pads;
  int32_t left, top, width, height, padTop, padBottom, padLeft, padRight;
  float mean[4], min[4], factor[4];

  PerImage(const char *bytes, const Common &common)
      : crops(bytes[0]), resizes(bytes[1]), pads(bytes[2]),
        left(crops ? readAt<int32_t>(bytes, 8) : 0), top(crops ? readAt<int32_t>(bytes, 12) : 0),
        width(crops ? readAt<int32_t>(bytes, 16) : common.width),
        height(crops ? readAt<int32_t>(bytes, 20) : common.height),
        padTop(pads ? readAt<int32_t>(bytes, 40) : 0),
        padBottom(pads ? readAt<int32_t>(bytes, 44) : 0),
        padLeft(pads ? readAt<int32_t>(bytes, 48) : 0),
        padRight(pads ? readAt<int32_t>(bytes, 52) : 0) {
    for (int64_t i = 0; i < 4; ++i) {
      mean[i] = readAt<int16_t>(bytes, 56 + 2 * i);
      min[i] = floatFromHalf(readAt<uint16_t>(bytes, 64 + 2 * i));
      factor[i] = floatFromHalf(readAt<uint16_t>(bytes, 72 + 2 * i));
    }
  }

  bool isInside(int32_t begin, int32_t size, int32_t whole) const {
    return begin >= 0 && size > 0 && begin <= whole && size <= whole - begin;
  }
};

/// Reports why the parameters of an image cannot be used; false after that.
bool check(Context &c, const Common &common, const PerImage &image, int64_t height, int64_t width) {
  if (image.resizes)
    c.fail("the parameters resize an image, which dynamic preprocessing does not do");
  else if (!image.isInside(image.top, image.height, common.height) ||
           !image.isInside(image.left, image.width, common.width))
    c.fail("the parameters crop % x % pixels from % rows down and % columns right, out of an image "
           "of % x %",
           image.height, image.width, image.top, image.left, common.height, common.width);
  else if (common.isYuv() && ((image.top | image.left | image.height | image.width) & 1))
    c.fail("the parameters crop YUV420SP at odd rows or columns");
  else if (int64_t(image.height) + image.padTop + image.padBottom != height ||
           int64_t(image.width) + image.padLeft + image.padRight != width || image.padTop < 0 ||
           image.padBottom < 0 || image.padLeft < 0 || image.padRight < 0)
    c.fail("the parameters make images of % x % pixels, the model reads % x %",
           int64_t(image.height) + image.padTop + image.padBottom,
           int64_t(image.width) + image.padLeft + image.padRight, height, width);
  else
    return true;
  return false;
}

/// Reads the channels of a pixel, swapped.
void readPixel(const Common &common, const uint8_t *bytes, int64_t y, int64_t x,
               int32_t *channels) {
  const int64_t width = common.width;
  if (common.isYuv()) {
    const uint8_t *pair = bytes + width * common.height + y / 2 * width + x / 2 * 2;
    channels[0] = bytes[y * width + x];
    channels[1] = pair[common.swapsColours];
    channels[2] = pair[!common.swapsColours];
    return;
  }
  const int64_t count = common.channels();
  const uint8_t *pixel = bytes + (y * width + x) * count;
  for (int64_t i = 0; i < count; ++i)
    channels[i] = pixel[common.swapsFirst && count == 4 ? (i + 1) % 4 : i];
  if (common.swapsColours && count >= 3) {
    const int32_t first = channels[0];
    channels[0] = channels[2];
    channels[2] = first;
  }
}

/// Converts the first three channels.
void convertColour(const Common &common, int32_t *channels) {
  int32_t converted[3];
  for (int64_t row = 0; row < 3; ++row) {
    int32_t sum = 0;
    for (int64_t i = 0; i < 3; ++i)
      sum += common.matrix[3 * row + i] *
             (channels[i] - (common.isYuv() ? int32_t(common.before[i]) : 0));
    const int32_t value = (sum >> 8) + (common.isYuv() ? 0 : int32_t(common.after[row]));
    converted[row] = minimum(maximum(value, 0), 255);
  }
  copyBytes(channels, converted, sizeof converted);
}

} // namespace

ATC_KERNEL(Aipp) {
  const Tensor images = in(0), parameters = in(1);
  const int64_t batch = integer("batch", 1), channels = integer("channels", 3);
  const int64_t height = integer("height", 1), width = integer("width", 1);
  // With a size of 0 nothing would limit the others, whose products could wrap.
  constexpr int64_t maxBatch = int64_t(1) << 32;
  if (batch < 1 || batch > maxBatch || channels < 1 || height < 1 || width < 1)
    return fail("cannot make % images of % channels and % x % pixels", batch, channels, height,
                width);
  float *out = make<float>(0, F32, Dims(batch, channels, height, width));
  if (!out)
    return;
  if (parameters.count() < kCommonBytes + batch * kImageBytes)
    return fail("the parameters have % bytes, expected %", parameters.count(),
                kCommonBytes + batch * kImageBytes);
  const Common common(parameters.bytes());
  if (common.format < Yuv420sp || common.format > Yuv400)
    return fail("the parameters state format %; set them (1: YUV420SP, 2: XRGB8888, 3: RGB888, 4: "
                "YUV400)",
                common.format);
  if (common.width < 1 || common.height < 1 || common.width > 4096 || common.height > 4096 ||
      (common.isYuv() && ((common.width | common.height) & 1)))
    return fail(
        "the parameters state images of % x % pixels; expected 1 to 4096, even for YUV420SP",
        common.height, common.width);
  if (channels > common.channels() || (common.converts && common.format == Yuv400))
    return fail("images of format % have not the % channels that the model reads", common.format,
                channels);
  if (images.count() < batch * common.bytes())
    return fail("the input has % bytes, the images need %", images.count(), batch * common.bytes());
  for (int64_t n = 0; n < batch; ++n)
    if (!check(*this, common, PerImage(parameters.bytes() + kCommonBytes + n * kImageBytes, common),
               height, width))
      return;
  parallel(batch * height, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      const int64_t n = row / height, y = row % height;
      const PerImage image(parameters.bytes() + kCommonBytes + n * kImageBytes, common);
      const uint8_t *bytes = images.as<uint8_t>() + n * common.bytes();
      for (int64_t x = 0; x < width; ++x) {
        const int64_t fromY = y - image.padTop, fromX = x - image.padLeft;
        const bool isPad = fromY < 0 || fromX < 0 || fromY >= image.height || fromX >= image.width;
        int32_t pixel[4] = {};
        if (!isPad) {
          readPixel(common, bytes, image.top + fromY, image.left + fromX, pixel);
          if (common.converts)
            convertColour(common, pixel);
        }
        for (int64_t i = 0; i < channels; ++i)
          out[((n * channels + i) * height + y) * width + x] =
              isPad ? 0 : (float(pixel[i]) - image.mean[i] - image.min[i]) * image.factor[i];
      }
    }
  });
}

} // namespace atc::kernels
