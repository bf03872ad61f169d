//===-- Png.cpp - PNG files through libpng ------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ascend/dvpp/Jpeg.h"

#include <png.h>

namespace atc::ascend {

bool readPngHeader(const void *data, size_t bytes, ImageHeader &header, std::string &error) {
  png_image image = {};
  image.version = PNG_IMAGE_VERSION;
  if (!png_image_begin_read_from_memory(&image, data, bytes)) {
    error = image.message;
    return false;
  }
  // Palettes are read as what their colours are.
  const int colours = image.format & PNG_FORMAT_FLAG_COLOR ? 3 : 1;
  header = {image.width, image.height, colours + (image.format & PNG_FORMAT_FLAG_ALPHA ? 1 : 0),
            ACL_JPEG_CSS_UNKNOWN};
  png_image_free(&image);
  return true;
}

bool decodePng(const void *data, size_t bytes, bool alpha, std::vector<uint8_t> &pixels,
               std::string &error) {
  png_image image = {};
  image.version = PNG_IMAGE_VERSION;
  if (!png_image_begin_read_from_memory(&image, data, bytes)) {
    error = image.message;
    return false;
  }
  if (image.width > 16384 || image.height > 16384) {
    error = "it has more than 16384 columns or rows";
    png_image_free(&image);
    return false;
  }
  image.flags |= PNG_IMAGE_FLAG_16BIT_sRGB; // values are scaled, not corrected
  image.format = PNG_FORMAT_RGBA;           // without alpha nothing is mixed with a background
  std::vector<uint8_t> all(PNG_IMAGE_SIZE(image));
  if (!png_image_finish_read(&image, nullptr, all.data(), 0, nullptr)) {
    error = image.message;
    png_image_free(&image);
    return false;
  }
  if (alpha) {
    pixels = std::move(all);
    return true;
  }
  pixels.resize(all.size() / 4 * 3);
  for (size_t i = 0; i < all.size() / 4; ++i)
    for (size_t channel = 0; channel < 3; ++channel)
      pixels[i * 3 + channel] = all[i * 4 + channel];
  return true;
}

} // namespace atc::ascend
