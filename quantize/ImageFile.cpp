//===-- ImageFile.cpp - reads image files as inputs of a model ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Uses the kernels of ImageDecoder and Resize, and links no others, so that images need no other
// library.

#include "quantize/ImageFile.h"

#include "kernels/core/Numbers.h"
#include "kernels/native/NativeRows.h"
#include "support/InputText.h"
#include "support/ModelText.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <iterator>

namespace atc::quantize {

using kernels::native::Values;

bool isImageFile(const std::string &path) {
  std::string ending = std::filesystem::path(path).extension().string();
  std::transform(ending.begin(), ending.end(), ending.begin(),
                 [](unsigned char c) { return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c; });
  const std::string_view endings[] = {".bmp", ".png", ".jpg", ".jpeg", ".ppm", ".pgm", ".pnm"};
  return std::find(std::begin(endings), std::end(endings), ending) != std::end(endings);
}

std::optional<ImageReader> ImageReader::make(const ::om::Tensor &input, const ImageOptions &options,
                                             std::string &errorText) {
  auto fail = [&](const std::string &reason) {
    errorText = "input '" + printable(input.name) + "', which is " +
                typeText(input.dtype, input.dims) + ", takes no images: " + reason;
    return std::nullopt;
  };
  ImageReader reader;
  reader.dtype = input.dtype;
  if (input.dtype != OM_F32 && input.dtype != OM_F16 && input.dtype != OM_U8)
    return fail("its type must be float32, float16 or uint8");
  std::vector<int64_t> dims = input.dims;
  if (dims.size() == 2)
    dims.insert(dims.begin(), 1);
  if (dims.size() == 3)
    dims.insert(dims.begin(), 1);
  if (dims.size() != 4 ||
      std::any_of(dims.begin(), dims.end(), [](int64_t dim) { return dim < 1; }))
    return fail("it must have 2 to 4 dims");
  auto isColors = [](int64_t dim) { return dim == 1 || dim == 3; };
  using Layout = ImageOptions::Layout;
  reader.channelsLast = options.layout == Layout::Nhwc || (options.layout == Layout::Default &&
                                                           !isColors(dims[1]) && isColors(dims[3]));
  reader.channels = dims[reader.channelsLast ? 3 : 1];
  reader.height = dims[reader.channelsLast ? 1 : 2];
  reader.width = dims[reader.channelsLast ? 2 : 3];
  reader.images = dims[0];
  if (!isColors(reader.channels))
    return fail("it must have 1 or 3 channels, but has " + std::to_string(reader.channels) +
                (options.layout == Layout::Default ? " (input_format tells where they are)" : ""));
  using Colors = ImageOptions::Colors;
  const bool isGray = reader.channels == 1;
  if (options.colors != Colors::Default && (options.colors == Colors::Gray) != isGray)
    return fail(isGray ? "with one channel, image_format must be GRAY, not RGB or BGR"
                       : "with 3 channels, image_format must be RGB or BGR, not GRAY");
  reader.pixelFormat = isGray ? "Grayscale" : options.colors == Colors::Bgr ? "BGR" : "RGB";
  auto spread = [&](const std::vector<double> &list, double otherwise, const char *key,
                    std::vector<double> &into) {
    into.assign(reader.channels, otherwise);
    for (int64_t c = 0; c < reader.channels && !list.empty(); ++c)
      into[c] = list.size() == 1 ? list[0] : c < int64_t(list.size()) ? list[c] : otherwise;
    for (size_t c = reader.channels; c < list.size(); ++c)
      if (list[c] != otherwise)
        return key;
    return "";
  };
  std::vector<double> min;
  for (const char *wrong : {spread(options.mean, 0, "mean_chn", reader.subtract),
                            spread(options.min, 0, "min_chn", min),
                            spread(options.factor, 1, "var_reci_chn or std_chn", reader.factor)})
    if (*wrong)
      return fail(std::string(wrong) + " has more numbers than it has channels");
  for (int64_t c = 0; c < reader.channels; ++c)
    reader.subtract[c] += min[c];
  return reader;
}

/// The pixels of the largest image that is decoded. A file of 30 KB can state 2^28, which take 4 GB
/// while they are resized.
constexpr uint64_t kMaxPixels = uint64_t(1) << 26;

/// Returns the number of pixels that a file states, before it is decoded; 0 for the formats whose
/// pixels are as large as the file.
static uint64_t statedPixels(std::string_view file) {
  auto number = [&](size_t at, int bytes) {
    uint64_t value = 0;
    for (int i = 0; i < bytes; ++i)
      value = value << 8 | (at + i < file.size() ? uint8_t(file[at + i]) : 0);
    return value;
  };
  if (file.starts_with("\x89PNG"))
    return number(16, 4) * number(20, 4);
  if (!file.starts_with("\xff\xd8"))
    return 0;
  for (size_t at = 2; at + 9 <= file.size() && uint8_t(file[at]) == 0xff;) {
    const uint64_t marker = number(at + 1, 1);
    if (marker >= 0xc0 && marker <= 0xc3)
      return number(at + 5, 2) * number(at + 7, 2);
    at += 2 + number(at + 2, 2);
  }
  return 0;
}

/// Rows of pixels: bytes [height, width, channels].
static const host::Value *decode(const std::string &path, const char *pixelFormat, Values &values,
                                 std::string &errorText) {
  std::string bytes;
  if (const std::string reason = readInputText(path, bytes); !reason.empty()) {
    errorText = "the file \"" + path + "\" cannot be read: " + reason;
    return nullptr;
  }
  if (const uint64_t pixels = statedPixels(bytes); pixels > kMaxPixels) {
    errorText = "the image \"" + path + "\" has " + std::to_string(pixels) +
                " pixels, but the limit is " + std::to_string(kMaxPixels);
    return nullptr;
  }
  const int64_t size = bytes.size();
  host::Value *input = values.tensor(OM_U8, 1, &size);
  if (input) {
    std::memcpy(input->data, bytes.data(), bytes.size());
    const host::String format{pixelFormat, std::strlen(pixelFormat)};
    auto outcome =
        kernels::native::run(kernels::native::rows::ImageDecoder(), {input},
                             {{"pixel_format", host::AttributeKind::Strings, 1, &format}}, 1, 1,
                             /*onlyShapes=*/false, values);
    const host::Value *image = outcome.outputs[0];
    if (outcome.error.empty() && image && image->dims[0] && image->dims[1])
      return image;
  }
  errorText = "the file \"" + path +
              "\" is no image that can be read: it must be BMP, PNG, JPEG (with Huffman codes), "
              "PPM or PGM";
  return nullptr;
}

/// Returns the image as float32, resized to `height` rows of `width`.
static const float *resize(const host::Value &image, int64_t height, int64_t width,
                           Values &values) {
  host::Value *floats = values.tensor(OM_F32, 3, image.dims);
  if (!floats)
    return nullptr;
  const int64_t count = image.dims[0] * image.dims[1] * image.dims[2];
  std::copy_n(static_cast<const uint8_t *>(image.data), count, static_cast<float *>(floats->data));
  if (image.dims[0] == height && image.dims[1] == width)
    return static_cast<const float *>(floats->data);
  constexpr int64_t three = 3, yes = 1;
  host::Value *sizes = values.tensor(OM_I64, 1, &three);
  if (!sizes)
    return nullptr;
  const int64_t wanted[] = {height, width, image.dims[2]};
  std::memcpy(sizes->data, wanted, sizeof wanted);
  const host::String linear{"linear", 6};
  auto outcome =
      kernels::native::run(kernels::native::rows::Resize(), {floats, nullptr, nullptr, sizes},
                           {{"mode", host::AttributeKind::Strings, 1, &linear},
                            {"antialias", host::AttributeKind::Ints, 1, &yes},
                            {"exclude_outside", host::AttributeKind::Ints, 1, &yes}},
                           1, 1, /*onlyShapes=*/false, values);
  const host::Value *resized = outcome.outputs[0];
  return outcome.error.empty() && resized ? static_cast<const float *>(resized->data) : nullptr;
}

void ImageReader::store(const float *pixels, void *to) const {
  const int64_t plane = height * width;
  for (int64_t i = 0; i < plane; ++i)
    for (int64_t c = 0; c < channels; ++c) {
      const int64_t at = channelsLast ? i * channels + c : c * plane + i;
      const auto value = static_cast<float>((pixels[i * channels + c] - subtract[c]) * factor[c]);
      if (dtype == OM_F32) {
        static_cast<float *>(to)[at] = value;
      } else if (dtype == OM_U8) {
        static_cast<uint8_t *>(to)[at] =
            static_cast<uint8_t>(std::clamp(std::nearbyint(value), 0.0f, 255.0f));
      } else {
        static_cast<uint16_t *>(to)[at] = kernels::halfFromFloat(value);
      }
    }
}

bool ImageReader::read(const std::string &path, void *input, int64_t index,
                       std::string &errorText) const {
  Values values;
  const host::Value *image = decode(path, pixelFormat, values, errorText);
  if (!image)
    return false;
  const float *pixels = resize(*image, height, width, values);
  if (!pixels) {
    errorText = "there is no memory for the image \"" + path + "\"";
    return false;
  }
  const int64_t elementBytes = dtype == OM_F32 ? 4 : dtype == OM_F16 ? 2 : 1;
  store(pixels, static_cast<char *>(input) + index * height * width * channels * elementBytes);
  return true;
}

bool ImageReader::check(const std::string &path, std::string &errorText) const {
  Values values;
  return decode(path, pixelFormat, values, errorText) != nullptr;
}

} // namespace atc::quantize
