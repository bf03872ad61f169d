//===-- ImageFile.h - reads image files as inputs of a model --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_QUANTIZE_IMAGEFILE_H
#define OPENATC_QUANTIZE_IMAGEFILE_H

#include "openatc/om.hpp"
#include "quantize/ImageOptions.h"

#include <optional>
#include <string>

namespace atc::quantize {

/// Returns whether a file name is that of an image: .bmp .png .jpg .jpeg .ppm .pgm .pnm
bool isImageFile(const std::string &path);

/// Converts images to an input: decodes, resizes (bilinear; averages when shrinking), reorders
/// channels, normalizes and stores in the input's layout.
class ImageReader {
public:
  /// Returns a reader; on failure nothing, and sets `errorText` to the reason why the input does
  /// not accept images.
  static std::optional<ImageReader> make(const ::om::Tensor &input, const ImageOptions &options,
                                         std::string &errorText);

  /// Returns the number of images that fill the input.
  int64_t perInput() const { return images; }
  /// Reads image `index` of an input into the input's memory. On failure returns false and sets
  /// `errorText` to what is wrong with the file.
  bool read(const std::string &path, void *input, int64_t index, std::string &errorText) const;
  /// Only checks whether the file can be read.
  bool check(const std::string &path, std::string &errorText) const;

private:
  ImageReader() = default;
  void store(const float *pixels, void *to) const;

  om_dtype dtype = OM_F32;
  int64_t images = 1, height = 0, width = 0, channels = 0;
  bool channelsLast = false;
  const char *pixelFormat = "RGB";
  std::vector<double> subtract, factor; ///< one value per channel
};

} // namespace atc::quantize

#endif // OPENATC_QUANTIZE_IMAGEFILE_H
