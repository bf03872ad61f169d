//===-- Picture.h - descriptions of pictures and their formats ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASCEND_DVPP_PICTURE_H
#define ASCEND_DVPP_PICTURE_H

#ifndef ENABLE_DVPP_INTERFACE
#define ENABLE_DVPP_INTERFACE
#endif

#include "acl/ops/acl_dvpp.h"
#include "ascend/src/Errors.h"
#include "ascend/src/Handles.h"
#include "ascend/src/memory/Memory.h"

#include <mutex>
#include <vector>

namespace atc::ascend {

/// The maximum number of columns and of rows of a picture.
inline constexpr uint32_t maxSide = 16384;

/// Describes a picture as the program states it.
struct Picture {
  void *data = nullptr;
  uint32_t size = 0;
  acldvppPixelFormat format = PIXEL_FORMAT_YUV_400;
  uint32_t width = 0, height = 0, widthStride = 0, heightStride = 0, retCode = 0;
};

/// A description; tasks change it while the program may read it.
class PicDesc {
public:
  /// Returns a copy of the description.
  Picture get() {
    std::lock_guard lock(mutex);
    return picture;
  }
  /// Changes the description under its lock.
  template <typename Change> void change(const Change &action) {
    std::lock_guard lock(mutex);
    action(picture);
  }

private:
  std::mutex mutex;
  Picture picture;
};

/// Returns the process-wide table that owns the descriptions behind handles.
HandleTable<PicDesc> &picDescs();

enum class Layout { Gray, SemiPlanar, Planar, Packed, Packed422 };

/// Describes how a format stores its channels: YUV or, with `rgb`, RGB.
struct FormatFacts {
  acldvppPixelFormat format;
  const char *name;
  Layout layout;
  bool rgb;
  unsigned xShift, yShift; ///< chroma has width >> xShift columns and height >> yShift rows
  unsigned bytes;          ///< per pixel of a row of the first plane
  /// The byte offsets of channels 0, 1 and 2 in a pixel, or in a pair of pixels of Packed422 (the
  /// second Y is 2 bytes behind the first). For SemiPlanar only those of channels 1 and 2.
  unsigned offsets[3];
  int alpha; ///< where alpha is; -1 without
};

/// Returns the facts of a format; null where it is none that is computed with here.
const FormatFacts *factsOf(acldvppPixelFormat format);

/// Checks a picture and fills strides that are 0: rows a multiple of 16 bytes, planes a
/// multiple of 2 rows, and device memory for all of it, which `block` shares.
aclError checkPicture(const char *function, const char *what, Picture &picture,
                      std::shared_ptr<Block> &block);

/// Returns the bytes of a picture with its strides.
size_t pictureBytes(const Picture &picture, const FormatFacts &facts);

} // namespace atc::ascend

#endif
