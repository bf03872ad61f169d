//===-- ImageInputs.h - images as inputs of om-run ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_TOOLS_OMRUN_IMAGEINPUTS_H
#define OPENATC_TOOLS_OMRUN_IMAGEINPUTS_H

#include "openatc/om.hpp"

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace atc::tools {

/// The options about images, as amct has them.
struct ImageFlags {
  std::string colors,
      layout; ///< "RGB", "BGR", "GRAY"; "NCHW", "NHWC"; empty: as the input suggests
  std::vector<double> mean, min, factor, deviation;

  /// Returns whether the command line has one of them.
  bool isAnyGiven() const {
    return !colors.empty() || !layout.empty() || !mean.empty() || !min.empty() || !factor.empty() ||
           !deviation.empty();
  }
};

/// Adds the options of images to a command line; `flags` must outlive `app`.
void addImageOptions(CLI::App &app, ImageFlags &flags);

/// Returns whether a file name is that of an image.
bool isImage(const std::string &path);

/// Reads an image as a whole input: decodes, resizes, reorders channels, computes (pixel - mean -
/// min) * factor, and repeats it for the batch. `memory` has the bytes of `input`, whose dims are
/// known. On failure returns false and sets `error` to one line with an error code.
bool readImage(const std::string &path, const om::Tensor &input, const ImageFlags &flags,
               void *memory, std::string &error);

/// Fills a tensor with values that depend only on `seed`: floats from 0 to 1, 8-bit integers of any
/// value, other integers from 0 to 9 (indices of small tables), and bools. Elements of other types
/// stay as they are.
void fillRandom(const om::Tensor &tensor, uint64_t seed, void *memory);

} // namespace atc::tools

#endif // OPENATC_TOOLS_OMRUN_IMAGEINPUTS_H
