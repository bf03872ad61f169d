//===-- ImageFile.h - image files as inputs of a model --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_QUANTIZE_IMAGEFILE_H
#define OPENATC_QUANTIZE_IMAGEFILE_H

#include "openatc/om.hpp"
#include "quantize/Config.h"

namespace atc::quantize {

/// Whether a file's name is that of an image: .bmp .png .jpg .jpeg .ppm .pgm .pnm
bool isImageFile(const std::string &path);

/// How an input takes images: decoded, resized (bilinear; sizes that shrink are
/// averaged over), in the order and place of the input's channels, normalized.
class ImageReader {
public:
  /// On failure, `fault` says why the input takes none.
  static std::optional<ImageReader> make(const ::om::Tensor &input, const ImageOptions &options,
                                         std::string &fault);

  /// How many images fill the input.
  int64_t perInput() const { return images; }
  /// Reads image `index` of an input into the input's memory. On failure, `fault` says
  /// what is wrong with the file.
  bool read(const std::string &path, void *input, int64_t index, std::string &fault) const;
  /// Only whether the file can be read.
  bool check(const std::string &path, std::string &fault) const;

private:
  ImageReader() = default;
  void store(const float *pixels, void *to) const;

  om_dtype dtype = OM_F32;
  int64_t images = 1, height = 0, width = 0, channels = 0;
  bool channelsLast = false;
  const char *pixelFormat = "RGB";
  std::vector<double> subtract, factor; ///< one for each channel
};

} // namespace atc::quantize

#endif // OPENATC_QUANTIZE_IMAGEFILE_H
