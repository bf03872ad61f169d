//===-- Objects.h - handles of the media library -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASCEND_DVPP_OBJECTS_H
#define ASCEND_DVPP_OBJECTS_H

#include "ascend/dvpp/Picture.h"

#include <array>

namespace atc::ascend {

/// The kinds of handles of this library, behind those of libascendcl.
enum class DvppKind : uint8_t {
  Channel,
  Picture,
  Batch,
  Area,
  Resize,
  JpegEncode,
  Border,
  Stream,
  VideoDecoder,
  VideoDecoderFrame,
  VideoEncoder,
  VideoEncoderFrame,
  Histogram,
  ValueMap
};

/// Returns the kind under which a handle of this object is registered.
constexpr uint8_t dvppKind(DvppKind kind) {
  return uint8_t(uint8_t(HandleKind::Dvpp) + uint8_t(kind));
}

/// Removes a handle; reports what is none.
template <typename T, typename Handle>
aclError destroyObject(const char *function, HandleTable<T> &table, Handle *handle) {
  if (!handle)
    return fail(ACL_ERROR_INVALID_PARAM, function, "the handle is NULL");
  if (!table.remove(handle))
    return fail(ACL_ERROR_INVALID_RESOURCE_HANDLE, function,
                "the handle (%p) was destroyed, or is of another kind",
                static_cast<const void *>(handle));
  return ACL_SUCCESS;
}

struct Area {
  uint32_t left = 0, right = 0, top = 0, bottom = 0; ///< all inclusive
  /// Return the size in pixels; both bounds belong to the area.
  uint32_t width() const { return right - left + 1; }
  uint32_t height() const { return bottom - top + 1; }
};

struct ResizeConfig {
  uint32_t interpolation = 0;
};

struct JpegConfig {
  uint32_t level = 100;
};

struct Border {
  uint32_t top = 0, bottom = 0, left = 0, right = 0;
  acldvppBorderType type = BORDER_CONSTANT;
  std::array<double, 4> values{};
};

struct Channel {
  uint64_t id = 0; ///< 0: not created
  uint32_t mode = 0;
  acldvppCscMatrix matrix = ACL_DVPP_CSC_MATRIX_BT601_WIDE;
};

/// Pictures whose handles belong to the batch.
struct Batch {
  std::vector<acldvppPicDesc *> pictures;
  ~Batch();
};

/// Return the process-wide tables that own the objects behind handles.
HandleTable<Area> &areas();
HandleTable<ResizeConfig> &resizeConfigs();
HandleTable<JpegConfig> &jpegConfigs();
HandleTable<Border> &borders();
HandleTable<Channel> &channels();
HandleTable<Batch> &batches();

/// Writes a copy of the channel; ACL_ERROR_INVALID_PARAM where it was not created.
aclError findChannel(const char *function, const acldvppChannelDesc *handle, Channel &channel);

} // namespace atc::ascend

// Defines one of the tables, which is never destroyed: threads of a program may outlive its main().
#define DVPP_TABLE(Type, function, kind)                                                           \
  HandleTable<Type> &function() {                                                                  \
    static auto &table = *new HandleTable<Type>(dvppKind(DvppKind::kind));                         \
    return table;                                                                                  \
  }

#endif
