//===-- ImageOptions.h - how images become inputs ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_QUANTIZE_IMAGEOPTIONS_H
#define OPENATC_QUANTIZE_IMAGEOPTIONS_H

#include <vector>

namespace atc::quantize {

/// The conversion of the pixels of an image file to elements of an input, as in AIPP: (pixel - mean
/// - min) * factor. Each list has one value per channel of the model, or one for all of them; an
/// empty list changes nothing.
struct ImageOptions {
  enum class Colors { Default, Rgb, Bgr, Gray };
  enum class Layout { Default, Nchw, Nhwc };
  Colors colors = Colors::Default; ///< RGB, or gray for an input with one channel
  Layout layout = Layout::Default; ///< position of the channels; default: derived from the shape
  std::vector<double> mean, min, factor;
};

} // namespace atc::quantize

#endif // OPENATC_QUANTIZE_IMAGEOPTIONS_H
