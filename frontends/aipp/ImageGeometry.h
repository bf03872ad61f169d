//===-- ImageGeometry.h - sizes of an image on its way to the model -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_FRONTENDS_AIPP_IMAGEGEOMETRY_H
#define OPENATC_FRONTENDS_AIPP_IMAGEGEOMETRY_H

#include "frontends/aipp/AippFile.h"

#include <optional>

namespace atc::aipp {

/// Sizes along one axis, in pixels: `source` is cropped to `size` pixels from `start`, which
/// are resized to `resized` and padded to what the model reads.
struct AxisGeometry {
  int64_t source, start, size, resized, padBefore, padAfter;
};

struct ImageGeometry {
  AxisGeometry height, width;
};

/// Infers what the entry leaves out from the height and the width that the model reads, and
/// reports each size that does not fit (E70014) or is not allowed for the format (E10052).
/// `input` names the input in messages. Returns nothing after an error.
std::optional<ImageGeometry> inferGeometry(const AippEntry &entry, llvm::StringRef input,
                                           int64_t modelHeight, int64_t modelWidth,
                                           Diagnostics &diagnostics);

} // namespace atc::aipp

#endif // OPENATC_FRONTENDS_AIPP_IMAGEGEOMETRY_H
