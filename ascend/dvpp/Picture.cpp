//===-- Picture.cpp -----------------------------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ascend/dvpp/Picture.h"

#include "ascend/dvpp/Objects.h"

namespace atc::ascend {
namespace {

constexpr FormatFacts allFacts[] = {
    {PIXEL_FORMAT_YUV_400, "YUV400", Layout::Gray, false, 0, 0, 1, {0, 0, 0}, -1},
    {PIXEL_FORMAT_YUV_SEMIPLANAR_420,
     "YUV420SP",
     Layout::SemiPlanar,
     false,
     1,
     1,
     1,
     {0, 0, 1},
     -1},
    {PIXEL_FORMAT_YVU_SEMIPLANAR_420,
     "YVU420SP",
     Layout::SemiPlanar,
     false,
     1,
     1,
     1,
     {0, 1, 0},
     -1},
    {PIXEL_FORMAT_YUV_SEMIPLANAR_422,
     "YUV422SP",
     Layout::SemiPlanar,
     false,
     1,
     0,
     1,
     {0, 0, 1},
     -1},
    {PIXEL_FORMAT_YVU_SEMIPLANAR_422,
     "YVU422SP",
     Layout::SemiPlanar,
     false,
     1,
     0,
     1,
     {0, 1, 0},
     -1},
    {PIXEL_FORMAT_YUV_SEMIPLANAR_444,
     "YUV444SP",
     Layout::SemiPlanar,
     false,
     0,
     0,
     1,
     {0, 0, 1},
     -1},
    {PIXEL_FORMAT_YVU_SEMIPLANAR_444,
     "YVU444SP",
     Layout::SemiPlanar,
     false,
     0,
     0,
     1,
     {0, 1, 0},
     -1},
    {PIXEL_FORMAT_YUV_SEMIPLANAR_440,
     "YUV440SP",
     Layout::SemiPlanar,
     false,
     0,
     1,
     1,
     {0, 0, 1},
     -1},
    {PIXEL_FORMAT_YVU_SEMIPLANAR_440,
     "YVU440SP",
     Layout::SemiPlanar,
     false,
     0,
     1,
     1,
     {0, 1, 0},
     -1},
    {PIXEL_FORMAT_YUYV_PACKED_422, "YUYV", Layout::Packed422, false, 1, 0, 2, {0, 1, 3}, -1},
    {PIXEL_FORMAT_UYVY_PACKED_422, "UYVY", Layout::Packed422, false, 1, 0, 2, {1, 0, 2}, -1},
    {PIXEL_FORMAT_YVYU_PACKED_422, "YVYU", Layout::Packed422, false, 1, 0, 2, {0, 3, 1}, -1},
    {PIXEL_FORMAT_VYUY_PACKED_422, "VYUY", Layout::Packed422, false, 1, 0, 2, {1, 2, 0}, -1},
    {PIXEL_FORMAT_YUV_PACKED_444, "YUV444 packed", Layout::Packed, false, 0, 0, 3, {0, 1, 2}, -1},
    {PIXEL_FORMAT_RGB_888, "RGB888", Layout::Packed, true, 0, 0, 3, {0, 1, 2}, -1},
    {PIXEL_FORMAT_BGR_888, "BGR888", Layout::Packed, true, 0, 0, 3, {2, 1, 0}, -1},
    {PIXEL_FORMAT_ARGB_8888, "ARGB8888", Layout::Packed, true, 0, 0, 4, {1, 2, 3}, 0},
    {PIXEL_FORMAT_ABGR_8888, "ABGR8888", Layout::Packed, true, 0, 0, 4, {3, 2, 1}, 0},
    {PIXEL_FORMAT_RGBA_8888, "RGBA8888", Layout::Packed, true, 0, 0, 4, {0, 1, 2}, 3},
    {PIXEL_FORMAT_BGRA_8888, "BGRA8888", Layout::Packed, true, 0, 0, 4, {2, 1, 0}, 3},
    {PIXEL_FORMAT_YVU_PLANAR_420, "YVU420 planar", Layout::Planar, false, 1, 1, 1, {0, 2, 1}, -1},
    {PIXEL_FORMAT_YVU_PLANAR_422, "YVU422 planar", Layout::Planar, false, 1, 0, 1, {0, 2, 1}, -1},
    {PIXEL_FORMAT_YVU_PLANAR_444, "YVU444 planar", Layout::Planar, false, 0, 0, 1, {0, 2, 1}, -1},
    {PIXEL_FORMAT_BGR_888_PLANAR, "BGR888 planar", Layout::Planar, true, 0, 0, 1, {2, 1, 0}, -1},
};

} // namespace

HandleTable<PicDesc> &picDescs() {
  static auto &table = *new HandleTable<PicDesc>(dvppKind(DvppKind::Picture));
  return table;
}

const FormatFacts *factsOf(acldvppPixelFormat format) {
  for (const FormatFacts &facts : allFacts)
    if (facts.format == format)
      return &facts;
  return nullptr;
}

size_t pictureBytes(const Picture &picture, const FormatFacts &facts) {
  const size_t plane = size_t(picture.widthStride) * picture.heightStride;
  switch (facts.layout) {
  case Layout::SemiPlanar:
    return plane + 2 * (plane >> facts.xShift >> facts.yShift);
  case Layout::Planar:
    return plane + 2 * (plane >> facts.xShift >> facts.yShift);
  default:
    return plane;
  }
}

aclError checkPicture(const char *function, const char *what, Picture &picture,
                      std::shared_ptr<Block> &block) {
  const FormatFacts *facts = factsOf(picture.format);
  if (!facts)
    return fail(ACL_ERROR_FORMAT_NOT_MATCH, function,
                "%s has format %d, which is not computed with here", what, int(picture.format));
  if (picture.width < 1 || picture.height < 1 || picture.width > maxSide ||
      picture.height > maxSide)
    return fail(ACL_ERROR_INVALID_PARAM, function, "%s has %u x %u pixels; give 1 to %u", what,
                picture.width, picture.height, maxSide);
  const uint32_t row = picture.width * facts->bytes;
  if (picture.widthStride == 0)
    picture.widthStride = (row + 15) / 16 * 16;
  if (picture.heightStride == 0)
    picture.heightStride = (picture.height + 1) / 2 * 2;
  if (picture.widthStride < row || picture.widthStride % 16 != 0 ||
      picture.widthStride > 4 * maxSide)
    return fail(ACL_ERROR_INVALID_PARAM, function,
                "%s has a width stride of %u; give a multiple of 16 from %u (%u pixels of %s)",
                what, picture.widthStride, row, picture.width, facts->name);
  if (picture.heightStride < picture.height || picture.heightStride % 2 != 0 ||
      picture.heightStride > maxSide)
    return fail(ACL_ERROR_INVALID_PARAM, function,
                "%s has a height stride of %u; give a multiple of 2 from %u", what,
                picture.heightStride, picture.height);
  const size_t bytes = pictureBytes(picture, *facts);
  if (picture.size < bytes)
    return fail(ACL_ERROR_INVALID_PARAM, function,
                "%s has %u bytes, %s with strides %u and %u "
                "needs %zu",
                what, picture.size, facts->name, picture.widthStride, picture.heightStride, bytes);
  return requireDevice(function, what, picture.data, bytes, block);
}

} // namespace atc::ascend

using namespace atc::ascend;

acldvppPicDesc *acldvppCreatePicDesc() {
  return static_cast<acldvppPicDesc *>(picDescs().add(std::make_shared<PicDesc>()));
}

aclError acldvppDestroyPicDesc(acldvppPicDesc *picDesc) {
  return destroyObject(__func__, picDescs(), picDesc);
}

#define DVPP_PICTURE_FIELD(Name, field, Type)                                                      \
  aclError acldvppSetPicDesc##Name(acldvppPicDesc *picDesc, Type value) {                          \
    ACL_FIND(found, picDescs(), picDesc);                                                          \
    found->change([&](Picture &picture) { picture.field = value; });                               \
    return ACL_SUCCESS;                                                                            \
  }                                                                                                \
  Type acldvppGetPicDesc##Name(const acldvppPicDesc *picDesc) {                                    \
    auto found = picDescs().find(picDesc);                                                         \
    if (!found) {                                                                                  \
      fail(picDesc ? ACL_ERROR_INVALID_RESOURCE_HANDLE : ACL_ERROR_INVALID_PARAM, __func__,        \
           "picDesc (%p) was destroyed, or is no picture", static_cast<const void *>(picDesc));    \
      return Type{};                                                                               \
    }                                                                                              \
    return found->get().field;                                                                     \
  }

using Address = void *;
DVPP_PICTURE_FIELD(Data, data, Address)
DVPP_PICTURE_FIELD(Size, size, uint32_t)
DVPP_PICTURE_FIELD(Format, format, acldvppPixelFormat)
DVPP_PICTURE_FIELD(Width, width, uint32_t)
DVPP_PICTURE_FIELD(Height, height, uint32_t)
DVPP_PICTURE_FIELD(WidthStride, widthStride, uint32_t)
DVPP_PICTURE_FIELD(HeightStride, heightStride, uint32_t)
DVPP_PICTURE_FIELD(RetCode, retCode, uint32_t)
