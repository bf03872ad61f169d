//===-- ImageInputs.cpp - images and random values as inputs --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tools/om-run/ImageInputs.h"

#include "support/ErrorCodes.h"
#include "tools/common/CommandLine.h"

#ifdef OPENATC_HAS_IMAGES
#include "quantize/ImageFile.h"
#endif

#include <cstring>
#include <filesystem>
#include <random>

namespace atc::tools {

void addImageOptions(CLI::App &app, ImageFlags &flags) {
  const char *group = "Images (BMP, PNG, JPEG, PPM and PGM files as inputs)";
  app.add_option("--image_format", flags.colors,
                 "what the model was trained with: RGB (default), BGR or GRAY")
      ->type_name("RGB|BGR|GRAY")
      ->check(CLI::IsMember({"RGB", "BGR", "GRAY"}))
      ->group(group);
  app.add_option("--input_format", flags.layout,
                 "where the channels of the input are (default: as its shape suggests)")
      ->type_name("NCHW|NHWC")
      ->check(CLI::IsMember({"NCHW", "NHWC"}))
      ->group(group);
  auto add = [&](const char *name, std::vector<double> &list, const char *help) {
    app.add_option(name, list, help)
        ->type_name("X,...")
        ->delimiter(',')
        ->expected(1, 3)
        ->check(finiteNumber())
        ->group(group);
  };
  add("--mean_chn", flags.mean,
      "subtracted from the pixels, which are 0 to 255: a number, or one per channel");
  add("--min_chn", flags.min, "also subtracted, as in AIPP");
  add("--var_reci_chn", flags.factor, "factors of the differences, as in AIPP");
  add("--std_chn", flags.deviation, "or divisors of the differences");
}

#ifdef OPENATC_HAS_IMAGES
bool isImage(const std::string &path) { return quantize::isImageFile(path); }

static quantize::ImageOptions optionsOf(const ImageFlags &flags, std::string &errorText) {
  using quantize::ImageOptions;
  ImageOptions options;
  options.colors = flags.colors == "BGR"    ? ImageOptions::Colors::Bgr
                   : flags.colors == "GRAY" ? ImageOptions::Colors::Gray
                   : flags.colors == "RGB"  ? ImageOptions::Colors::Rgb
                                            : ImageOptions::Colors::Default;
  options.layout = flags.layout == "NHWC"   ? ImageOptions::Layout::Nhwc
                   : flags.layout == "NCHW" ? ImageOptions::Layout::Nchw
                                            : ImageOptions::Layout::Default;
  options.mean = flags.mean;
  options.min = flags.min;
  options.factor = flags.factor;
  if (!flags.factor.empty() && !flags.deviation.empty())
    errorText = "--var_reci_chn and --std_chn exclude each other";
  for (double deviation : flags.deviation) {
    if (deviation == 0)
      errorText = "--std_chn has a 0";
    options.factor.push_back(1 / deviation);
  }
  return options;
}

bool readImage(const std::string &path, const om::Tensor &input, const ImageFlags &flags,
               void *memory, std::string &error) {
  std::string errorText;
  const quantize::ImageOptions options = optionsOf(flags, errorText);
  std::error_code status;
  if (errorText.empty() && !std::filesystem::exists(path, status)) {
    error = codedLine("E13001", "the file '" + path + "' does not exist.");
    return false;
  }
  const auto reader =
      errorText.empty() ? quantize::ImageReader::make(input, options, errorText) : std::nullopt;
  // One image stands for all of a batch.
  if (reader && reader->read(path, memory, 0, errorText)) {
    const uint64_t bytes = input.bytes / reader->perInput();
    for (int64_t i = 1; i < reader->perInput(); ++i)
      std::memcpy(static_cast<char *>(memory) + i * bytes, memory, bytes);
    return true;
  }
  error = codedLine("E10014", errorText + ".");
  return false;
}
#else
bool isImage(const std::string &) { return false; }

bool readImage(const std::string &, const om::Tensor &, const ImageFlags &, void *,
               std::string &error) {
  error = "E10055: images are not supported: this om-run was built without the compiler.";
  return false;
}
#endif

void fillRandom(const om::Tensor &tensor, uint64_t seed, void *memory) {
  std::mt19937_64 random(seed);
  auto each = [&](auto *elements, auto value) {
    for (uint64_t i = 0; i < tensor.elements; ++i)
      elements[i] = static_cast<std::remove_reference_t<decltype(*elements)>>(value(random()));
  };
  const auto unit = [](uint64_t bits) { return static_cast<double>(bits >> 11) * 0x1p-53; };
  // Integers are often indices, for example of the two kinds of a token: all tables have rows 0 and
  // 1, or nearly all.
  const auto bit = [](uint64_t bits) { return bits >> 63; };
  const auto any = [](uint64_t bits) { return bits >> 56; };
  switch (tensor.dtype) {
  case OM_F32:
    return each(static_cast<float *>(memory), unit);
  case OM_F64:
    return each(static_cast<double *>(memory), unit);
  case OM_F16:
    // Eighths from 0 to 1, whose bits need no rounding.
    return each(static_cast<uint16_t *>(memory), [](uint64_t bits) {
      static constexpr uint16_t eighths[] = {0x0000, 0x3000, 0x3400, 0x3600,
                                             0x3800, 0x3900, 0x3a00, 0x3b00};
      return eighths[bits >> 61];
    });
  case OM_BF16:
    return each(static_cast<uint16_t *>(memory), [&](uint64_t bits) {
      const auto value = static_cast<float>(unit(bits));
      uint32_t word;
      std::memcpy(&word, &value, sizeof(word));
      return word >> 16;
    });
  case OM_I8:
  case OM_U8:
    return each(static_cast<uint8_t *>(memory), any);
  case OM_BOOL:
    return each(static_cast<uint8_t *>(memory), [](uint64_t bits) { return bits >> 63; });
  case OM_I16:
  case OM_U16:
    return each(static_cast<uint16_t *>(memory), bit);
  case OM_I32:
  case OM_U32:
    return each(static_cast<uint32_t *>(memory), bit);
  case OM_I64:
  case OM_U64:
    return each(static_cast<uint64_t *>(memory), bit);
  default:
    return;
  }
}

} // namespace atc::tools
