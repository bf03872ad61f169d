//===-- DvppTest.cpp - pictures: decode, encode, resize, crop, paste ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#define ENABLE_DVPP_INTERFACE
#include "acl/ops/acl_dvpp.h"
#include "test/ascend/AclTest.h"

#include <cstdlib>
#include <cstring>
#include <png.h>
#include <vector>

namespace {

/// A picture in device memory with a description.
struct Image {
  Image(acldvppPixelFormat format, uint32_t width, uint32_t height, uint32_t rowBytes,
        double planes) {
    stride = (rowBytes + 15) / 16 * 16;
    rows = (height + 1) / 2 * 2;
    bytes = static_cast<uint32_t>(stride * rows * planes);
    REQUIRE(acldvppMalloc(&data, bytes) == ACL_SUCCESS);
    memset(data, 0, bytes);
    desc = acldvppCreatePicDesc();
    GOOD(acldvppSetPicDescData(desc, data));
    GOOD(acldvppSetPicDescSize(desc, bytes));
    GOOD(acldvppSetPicDescFormat(desc, format));
    GOOD(acldvppSetPicDescWidth(desc, width));
    GOOD(acldvppSetPicDescHeight(desc, height));
    GOOD(acldvppSetPicDescWidthStride(desc, stride));
    GOOD(acldvppSetPicDescHeightStride(desc, rows));
  }
  Image(const Image &) = delete;
  Image &operator=(const Image &) = delete;
  ~Image() {
    CHECK(acldvppDestroyPicDesc(desc) == ACL_SUCCESS);
    CHECK(acldvppFree(data) == ACL_SUCCESS);
  }
  uint8_t &at(uint32_t x, uint32_t y) { return static_cast<uint8_t *>(data)[y * stride + x]; }
  uint8_t &chroma(uint32_t x, uint32_t y) {
    return static_cast<uint8_t *>(data)[stride * rows + y * stride + x];
  }

  void *data = nullptr;
  acldvppPicDesc *desc = nullptr;
  uint32_t stride = 0, rows = 0, bytes = 0;
};

struct Nv12 : Image {
  Nv12(uint32_t width, uint32_t height)
      : Image(PIXEL_FORMAT_YUV_SEMIPLANAR_420, width, height, width, 1.5) {}
};

/// AscendCL with a created channel.
struct Media : Started {
  Media() {
    GOOD(acldvppCreateChannel(channel));
    CHECK(acldvppGetChannelDescChannelId(channel) != 0);
  }
  ~Media() {
    CHECK(acldvppDestroyChannel(channel) == ACL_SUCCESS);
    CHECK(acldvppDestroyChannelDesc(channel) == ACL_SUCCESS);
    CHECK(acldvppDestroyResizeConfig(resize) == ACL_SUCCESS);
  }
  acldvppChannelDesc *channel = acldvppCreateChannelDesc();
  acldvppResizeConfig *resize = acldvppCreateResizeConfig();
};

void fillGradient(Nv12 &image, uint32_t width, uint32_t height) {
  for (uint32_t y = 0; y < height; ++y)
    for (uint32_t x = 0; x < width; ++x)
      image.at(x, y) = static_cast<uint8_t>(40 + 2 * x + y);
  for (uint32_t y = 0; y < height / 2; ++y)
    for (uint32_t x = 0; x < width; x += 2) {
      image.chroma(x, y) = static_cast<uint8_t>(100 + x / 2);
      image.chroma(x + 1, y) = static_cast<uint8_t>(150 - y);
    }
}

} // namespace

TEST_CASE("a picture is resized") {
  Media media;
  Nv12 source(64, 32), same(64, 32), half(32, 16);
  fillGradient(source, 64, 32);
  GOOD(acldvppVpcResizeAsync(media.channel, source.desc, same.desc, media.resize, nullptr));
  GOOD(acldvppVpcResizeAsync(media.channel, source.desc, half.desc, media.resize, nullptr));
  GOOD(aclrtSynchronizeStream(nullptr));
  CHECK(memcmp(source.data, same.data, source.bytes) == 0);
  // The middle of each block of 2 x 2.
  for (uint32_t y = 0; y < 16; ++y)
    for (uint32_t x = 0; x < 32; ++x)
      CHECK(half.at(x, y) == Approx(40 + 4 * x + 1 + 2 * y + 0.5).margin(0.51));
  CHECK(half.chroma(0, 0) == Approx(100.5).margin(0.6));
  GOOD(acldvppSetResizeConfigInterpolation(media.resize, 3));
  GOOD(acldvppVpcResizeAsync(media.channel, source.desc, half.desc, media.resize, nullptr));
  GOOD(aclrtSynchronizeStream(nullptr));
  CHECK(half.at(5, 3) == source.at(10, 6));
  BAD(ACL_ERROR_INVALID_PARAM, acldvppSetResizeConfigInterpolation(media.resize, 6));
}

TEST_CASE("pictures that do not fit are refused") {
  Media media;
  Nv12 source(64, 32), target(32, 16);
  auto resize = [&] {
    return acldvppVpcResizeAsync(media.channel, source.desc, target.desc, media.resize, nullptr);
  };
  BAD(ACL_ERROR_INVALID_PARAM,
      acldvppVpcResizeAsync(nullptr, source.desc, target.desc, media.resize, nullptr));
  BAD(ACL_ERROR_INVALID_PARAM,
      acldvppVpcResizeAsync(media.channel, source.desc, target.desc, nullptr, nullptr));
  BAD(ACL_ERROR_INVALID_RESOURCE_HANDLE,
      acldvppVpcResizeAsync(media.channel, reinterpret_cast<acldvppPicDesc *>(media.resize),
                            target.desc, media.resize, nullptr));
  GOOD(acldvppSetPicDescWidthStride(target.desc, 40)); // no multiple of 16
  BAD(ACL_ERROR_INVALID_PARAM, resize());
  GOOD(acldvppSetPicDescWidthStride(target.desc, 16)); // less than the width
  BAD(ACL_ERROR_INVALID_PARAM, resize());
  GOOD(acldvppSetPicDescWidthStride(target.desc, 64)); // more than there is memory for
  BAD(ACL_ERROR_INVALID_PARAM, resize());
  GOOD(acldvppSetPicDescWidthStride(target.desc, 0));
  GOOD(resize());
  GOOD(acldvppSetPicDescFormat(target.desc, PIXEL_FORMAT_RGB_565));
  BAD(ACL_ERROR_FORMAT_NOT_MATCH, resize());
  GOOD(acldvppSetPicDescFormat(target.desc, PIXEL_FORMAT_YUV_SEMIPLANAR_420));
  std::vector<char> host(target.bytes);
  GOOD(acldvppSetPicDescData(target.desc, host.data()));
  BAD(ACL_ERROR_INVALID_PARAM, resize());
  acldvppChannelDesc *closed = acldvppCreateChannelDesc();
  BAD(ACL_ERROR_INVALID_PARAM,
      acldvppVpcResizeAsync(closed, source.desc, target.desc, media.resize, nullptr));
  GOOD(acldvppDestroyChannelDesc(closed));
  GOOD(aclrtSynchronizeStream(nullptr));
}

TEST_CASE("areas are cut out and pasted") {
  Media media;
  Nv12 source(64, 32), cut(16, 8), pasted(64, 32);
  fillGradient(source, 64, 32);
  acldvppRoiConfig *area = acldvppCreateRoiConfig(8, 23, 4, 11);
  acldvppRoiConfig *position = acldvppCreateRoiConfig(32, 47, 16, 23);
  GOOD(acldvppVpcCropAsync(media.channel, source.desc, cut.desc, area, nullptr));
  GOOD(acldvppVpcCropAndPasteAsync(media.channel, source.desc, pasted.desc, area, position,
                                   nullptr));
  GOOD(aclrtSynchronizeStream(nullptr));
  for (uint32_t y = 0; y < 8; ++y)
    for (uint32_t x = 0; x < 16; ++x) {
      CHECK(cut.at(x, y) == source.at(x + 8, y + 4));
      CHECK(pasted.at(x + 32, y + 16) == source.at(x + 8, y + 4));
    }
  for (uint32_t y = 0; y < 4; ++y)
    for (uint32_t x = 0; x < 16; ++x)
      CHECK(pasted.chroma(x + 32, y + 8) == source.chroma(x + 8, y + 2));
  CHECK(pasted.at(31, 16) == 0);
  CHECK(pasted.at(48, 23) == 0);
  GOOD(acldvppSetRoiConfig(area, 8, 64, 4, 11));
  BAD(ACL_ERROR_INVALID_PARAM,
      acldvppVpcCropAsync(media.channel, source.desc, cut.desc, area, nullptr));
  BAD(ACL_ERROR_INVALID_PARAM,
      acldvppVpcCropAsync(media.channel, source.desc, cut.desc, nullptr, nullptr));
  GOOD(acldvppDestroyRoiConfig(area));
  GOOD(acldvppDestroyRoiConfig(position));
  BAD(ACL_ERROR_INVALID_RESOURCE_HANDLE, acldvppSetRoiConfigLeft(area, 0));
}

TEST_CASE("areas reach the column and the row that make sides even") {
  // Programs round corners to even and odd numbers, whatever the size that they computed.
  Media media;
  Nv12 source(64, 32), odd(15, 7);
  fillGradient(source, 64, 32);
  acldvppRoiConfig *area = acldvppCreateRoiConfig(8, 23, 4, 11);
  acldvppRoiConfig *position = acldvppCreateRoiConfig(0, 15, 0, 7);
  GOOD(acldvppVpcCropAndPasteAsync(media.channel, source.desc, odd.desc, area, position, nullptr));
  GOOD(aclrtSynchronizeStream(nullptr));
  for (uint32_t y = 0; y < 8; ++y)
    for (uint32_t x = 0; x < 16; ++x)
      CHECK(odd.at(x, y) == source.at(x + 8, y + 4));
  for (uint32_t y = 0; y < 4; ++y)
    for (uint32_t x = 0; x < 16; ++x)
      CHECK(odd.chroma(x, y) == source.chroma(x + 8, y + 2));
  // Back, from the same columns and rows.
  Nv12 back(64, 32);
  GOOD(acldvppVpcCropAndPasteAsync(media.channel, odd.desc, back.desc, position, area, nullptr));
  GOOD(aclrtSynchronizeStream(nullptr));
  CHECK(back.at(23, 11) == source.at(23, 11));
  GOOD(acldvppSetRoiConfig(position, 0, 16, 0, 7));
  BAD(ACL_ERROR_INVALID_PARAM,
      acldvppVpcCropAndPasteAsync(media.channel, source.desc, odd.desc, area, position, nullptr));
  GOOD(acldvppSetRoiConfig(position, 0, 15, 0, 8));
  BAD(ACL_ERROR_INVALID_PARAM,
      acldvppVpcCropAndPasteAsync(media.channel, source.desc, odd.desc, area, position, nullptr));
  // No column follows where the stride ends with the picture.
  Image tight(PIXEL_FORMAT_RGB_888, 5, 8, 16, 1);
  GOOD(acldvppSetRoiConfig(position, 0, 5, 0, 7));
  BAD(ACL_ERROR_INVALID_PARAM,
      acldvppVpcCropAndPasteAsync(media.channel, source.desc, tight.desc, area, position, nullptr));
  GOOD(acldvppSetRoiConfig(position, 0, 4, 0, 7));
  GOOD(
      acldvppVpcCropAndPasteAsync(media.channel, source.desc, tight.desc, area, position, nullptr));
  GOOD(aclrtSynchronizeStream(nullptr));
  GOOD(acldvppDestroyRoiConfig(area));
  GOOD(acldvppDestroyRoiConfig(position));
}

TEST_CASE("batches of areas") {
  Media media;
  acldvppBatchPicDesc *from = acldvppCreateBatchPicDesc(2), *to = acldvppCreateBatchPicDesc(3);
  CHECK(acldvppCreateBatchPicDesc(0) == nullptr);
  CHECK(acldvppGetPicDesc(from, 2) == nullptr);
  Nv12 first(64, 32), second(32, 32), a(16, 16), b(16, 16), c(16, 16);
  fillGradient(first, 64, 32);
  fillGradient(second, 32, 32);
  auto copy = [](acldvppPicDesc *target, Image &image) {
    GOOD(acldvppSetPicDescData(target, image.data));
    GOOD(acldvppSetPicDescSize(target, image.bytes));
    GOOD(acldvppSetPicDescFormat(target, acldvppGetPicDescFormat(image.desc)));
    GOOD(acldvppSetPicDescWidth(target, acldvppGetPicDescWidth(image.desc)));
    GOOD(acldvppSetPicDescHeight(target, acldvppGetPicDescHeight(image.desc)));
  };
  copy(acldvppGetPicDesc(from, 0), first);
  copy(acldvppGetPicDesc(from, 1), second);
  copy(acldvppGetPicDesc(to, 0), a);
  copy(acldvppGetPicDesc(to, 1), b);
  copy(acldvppGetPicDesc(to, 2), c);
  acldvppRoiConfig *areas[] = {acldvppCreateRoiConfig(0, 15, 0, 15),
                               acldvppCreateRoiConfig(48, 63, 16, 31),
                               acldvppCreateRoiConfig(16, 31, 0, 15)};
  uint32_t counts[] = {2, 1};
  GOOD(acldvppVpcBatchCropResizeAsync(media.channel, from, counts, 2, to, areas, media.resize,
                                      nullptr));
  GOOD(aclrtSynchronizeStream(nullptr));
  CHECK(a.at(3, 4) == first.at(3, 4));
  CHECK(b.at(3, 4) == first.at(51, 20));
  CHECK(c.at(3, 4) == second.at(19, 4));
  counts[1] = 2;
  BAD(ACL_ERROR_INVALID_PARAM,
      acldvppVpcBatchCropAsync(media.channel, from, counts, 2, to, areas, nullptr));
  for (acldvppRoiConfig *area : areas)
    GOOD(acldvppDestroyRoiConfig(area));
  acldvppPicDesc *inside = acldvppGetPicDesc(to, 0);
  GOOD(acldvppDestroyBatchPicDesc(from));
  GOOD(acldvppDestroyBatchPicDesc(to));
  CHECK(acldvppGetPicDescWidth(inside) == 0); // went with its batch
}

TEST_CASE("formats are converted") {
  Media media;
  // The matrix that a channel has at first is BT.601 wide.
  Image rgb(PIXEL_FORMAT_RGB_888, 16, 4, 48, 1), bgr(PIXEL_FORMAT_BGRA_8888, 16, 4, 64, 1);
  Nv12 yuv(16, 4);
  for (uint32_t y = 0; y < 4; ++y)
    for (uint32_t x = 0; x < 16; ++x) {
      rgb.at(3 * x, y) = 200;
      rgb.at(3 * x + 1, y) = 100;
      rgb.at(3 * x + 2, y) = 50;
    }
  GOOD(acldvppVpcConvertColorAsync(media.channel, rgb.desc, yuv.desc, nullptr));
  GOOD(acldvppVpcConvertColorAsync(media.channel, yuv.desc, bgr.desc, nullptr));
  GOOD(aclrtSynchronizeStream(nullptr));
  CHECK(yuv.at(7, 2) == 124);     // 0.299 R + 0.587 G + 0.114 B
  CHECK(yuv.chroma(6, 1) == 86);  // 128 + 0.564 (B - Y)
  CHECK(yuv.chroma(7, 1) == 182); // 128 + 0.713 (R - Y)
  CHECK(bgr.at(4 * 9, 3) == Approx(50).margin(1));
  CHECK(bgr.at(4 * 9 + 1, 3) == Approx(100).margin(1));
  CHECK(bgr.at(4 * 9 + 2, 3) == Approx(200).margin(1));
  CHECK(bgr.at(4 * 9 + 3, 3) == 255);
  // Every format comes back from YUV 4:4:4, where nothing is averaged.
  const std::pair<acldvppPixelFormat, uint32_t> formats[] = {
      {PIXEL_FORMAT_YVU_SEMIPLANAR_444, 16}, {PIXEL_FORMAT_YUV_PACKED_444, 48},
      {PIXEL_FORMAT_YVU_PLANAR_444, 16},     {PIXEL_FORMAT_YUYV_PACKED_422, 32},
      {PIXEL_FORMAT_VYUY_PACKED_422, 32},    {PIXEL_FORMAT_YUV_SEMIPLANAR_422, 16},
      {PIXEL_FORMAT_YVU_PLANAR_420, 16},     {PIXEL_FORMAT_YVU_SEMIPLANAR_440, 16}};
  for (auto [format, row] : formats) {
    INFO("format " << format);
    Image between(format, 16, 4, row, 3);
    Nv12 back(16, 4);
    GOOD(acldvppVpcConvertColorAsync(media.channel, yuv.desc, between.desc, nullptr));
    GOOD(acldvppVpcConvertColorAsync(media.channel, between.desc, back.desc, nullptr));
    GOOD(aclrtSynchronizeStream(nullptr));
    CHECK(memcmp(back.data, yuv.data, yuv.bytes) == 0);
  }
}

TEST_CASE("borders and pyramids") {
  Media media;
  Image source(PIXEL_FORMAT_YUV_400, 32, 8, 32, 1), target(PIXEL_FORMAT_YUV_400, 40, 12, 40, 1),
      small(PIXEL_FORMAT_YUV_400, 16, 4, 16, 1);
  memset(source.data, 77, source.bytes);
  acldvppBorderConfig *border = acldvppCreateBorderConfig();
  GOOD(acldvppSetBorderConfigLeft(border, 6));
  GOOD(acldvppSetBorderConfigRight(border, 2));
  GOOD(acldvppSetBorderConfigTop(border, 1));
  GOOD(acldvppSetBorderConfigBottom(border, 3));
  GOOD(acldvppSetBorderConfigValue(border, 0, 9));
  BAD(ACL_ERROR_INVALID_PARAM, acldvppSetBorderConfigValue(border, 4, 9));
  GOOD(acldvppVpcMakeBorderAsync(media.channel, source.desc, target.desc, border, nullptr));
  GOOD(acldvppVpcPyrDownAsync(media.channel, source.desc, small.desc, nullptr, nullptr));
  GOOD(aclrtSynchronizeStream(nullptr));
  CHECK((target.at(5, 5) == 9 && target.at(6, 1) == 77 && target.at(6, 0) == 9));
  CHECK((target.at(37, 8) == 77 && target.at(38, 8) == 9 && target.at(6, 9) == 9));
  CHECK((small.at(0, 0) == 77 && small.at(15, 3) == 77));
  BAD(ACL_ERROR_INVALID_PARAM,
      acldvppVpcPyrDownAsync(media.channel, source.desc, target.desc, nullptr, nullptr));
  GOOD(acldvppDestroyBorderConfig(border));
}

TEST_CASE("odd borders around subsampled pictures, and borders far larger than the picture") {
  Media media;
  Nv12 source(8, 8), target(10, 10), wide(64, 64), dot(2, 2);
  memset(source.data, 77, source.bytes);
  memset(dot.data, 50, dot.bytes);
  for (acldvppBorderType type :
       {BORDER_CONSTANT, BORDER_REPLICATE, BORDER_REFLECT, BORDER_REFLECT_101}) {
    memset(target.data, 0, target.bytes);
    memset(wide.data, 0, wide.bytes);
    acldvppBorderConfig *border = acldvppCreateBorderConfig();
    GOOD(acldvppSetBorderConfigBorderType(border, type));
    for (uint32_t i = 0; i < 4; ++i)
      GOOD(acldvppSetBorderConfigValue(border, i, 77));
    auto setAll = [&](uint32_t size) {
      GOOD(acldvppSetBorderConfigLeft(border, size));
      GOOD(acldvppSetBorderConfigRight(border, size));
      GOOD(acldvppSetBorderConfigTop(border, size));
      GOOD(acldvppSetBorderConfigBottom(border, size));
    };
    setAll(1);
    GOOD(acldvppVpcMakeBorderAsync(media.channel, source.desc, target.desc, border, nullptr));
    GOOD(aclrtSynchronizeStream(nullptr));
    for (uint32_t y = 0; y < 10; ++y)
      for (uint32_t x = 0; x < 10; ++x)
        CHECK((target.at(x, y) == 77 && target.chroma(x, y / 2) == 77));
    setAll(31);
    GOOD(acldvppVpcMakeBorderAsync(media.channel, dot.desc, wide.desc, border, nullptr));
    GOOD(aclrtSynchronizeStream(nullptr));
    CHECK(wide.at(0, 0) == (type == BORDER_CONSTANT ? 77 : 50));
    GOOD(acldvppDestroyBorderConfig(border));
  }
}

TEST_CASE("reflections repeat") {
  Media media;
  Image source(PIXEL_FORMAT_YUV_400, 3, 2, 3, 1), target(PIXEL_FORMAT_YUV_400, 17, 4, 17, 1);
  for (uint32_t x = 0; x < 3; ++x)
    source.at(x, 0) = source.at(x, 1) = uint8_t('a' + x);
  acldvppBorderConfig *border = acldvppCreateBorderConfig();
  GOOD(acldvppSetBorderConfigLeft(border, 7));
  GOOD(acldvppSetBorderConfigRight(border, 7));
  GOOD(acldvppSetBorderConfigTop(border, 1));
  GOOD(acldvppSetBorderConfigBottom(border, 1));
  for (bool isEdgeOnce : {false, true}) {
    GOOD(
        acldvppSetBorderConfigBorderType(border, isEdgeOnce ? BORDER_REFLECT_101 : BORDER_REFLECT));
    GOOD(acldvppVpcMakeBorderAsync(media.channel, source.desc, target.desc, border, nullptr));
    GOOD(aclrtSynchronizeStream(nullptr));
    const std::string row(reinterpret_cast<char *>(&target.at(0, 1)), 17);
    CHECK(row == (isEdgeOnce ? "bcbabcbabcbabcbab" : "aabccbaabccbaabcc"));
  }
  GOOD(acldvppDestroyBorderConfig(border));
}

TEST_CASE("JPEG files are written and read") {
  Media media;
  Nv12 source(64, 48);
  fillGradient(source, 64, 48);
  acldvppJpegeConfig *config = acldvppCreateJpegeConfig();
  GOOD(acldvppSetJpegeConfigLevel(config, 100));
  BAD(ACL_ERROR_INVALID_PARAM, acldvppSetJpegeConfigLevel(config, 101));
  uint32_t room = 0;
  GOOD(acldvppJpegPredictEncSize(source.desc, config, &room));
  DeviceMemory file(room);
  uint32_t size = room;
  GOOD(acldvppJpegEncodeAsync(media.channel, source.desc, file.data, &size, config, nullptr));
  GOOD(aclrtSynchronizeStream(nullptr));
  REQUIRE((size > 100 && size < room));
  uint32_t width = 0, height = 0, bytes = 0;
  int32_t components = 0;
  acldvppJpegFormat format;
  GOOD(acldvppJpegGetImageInfoV2(file.data, size, &width, &height, &components, &format));
  CHECK((width == 64 && height == 48 && components == 3 && format == ACL_JPEG_CSS_420));
  GOOD(acldvppJpegPredictDecSize(file.data, size, PIXEL_FORMAT_YUV_SEMIPLANAR_420, &bytes));
  CHECK(bytes == 128 * 48 * 3 / 2);
  DeviceMemory decoded(bytes);
  acldvppPicDesc *desc = acldvppCreatePicDesc();
  GOOD(acldvppSetPicDescData(desc, decoded.data));
  GOOD(acldvppSetPicDescSize(desc, bytes));
  GOOD(acldvppSetPicDescFormat(desc, PIXEL_FORMAT_YUV_SEMIPLANAR_420));
  GOOD(acldvppJpegDecodeAsync(media.channel, file.data, size, desc, nullptr));
  GOOD(aclrtSynchronizeStream(nullptr));
  CHECK(acldvppGetPicDescRetCode(desc) == 0);
  CHECK((acldvppGetPicDescWidth(desc) == 64 && acldvppGetPicDescWidthStride(desc) == 128));
  const auto *data = static_cast<const uint8_t *>(decoded.data);
  for (uint32_t y = 0; y < 48; ++y)
    for (uint32_t x = 0; x < 64; ++x)
      REQUIRE(abs(data[y * 128 + x] - source.at(x, y)) <= 3);
  for (uint32_t y = 0; y < 24; ++y)
    for (uint32_t x = 0; x < 64; ++x)
      REQUIRE(abs(data[(48 + y) * 128 + x] - source.chroma(x, y)) <= 3);
  // Too little room, a cut file, and what is no file.
  size = 64;
  GOOD(acldvppJpegEncodeAsync(media.channel, source.desc, file.data, &size, config, nullptr));
  BAD(ACL_ERROR_INVALID_PARAM, aclrtSynchronizeStream(nullptr));
  BAD(ACL_ERROR_UNSUPPORTED_JPEG,
      acldvppJpegGetImageInfo(source.data, 100, &width, &height, &components));
  BAD(ACL_ERROR_UNSUPPORTED_JPEG,
      acldvppJpegDecodeAsync(media.channel, source.data, 100, desc, nullptr));
  BAD(ACL_ERROR_INVALID_PARAM, acldvppJpegDecodeAsync(media.channel, nullptr, 100, desc, nullptr));
  GOOD(acldvppDestroyPicDesc(desc));
  GOOD(acldvppDestroyJpegeConfig(config));
}

TEST_CASE("PNG files are read") {
  Media media;
  // 2 x 1 pixels of RGB.
  const uint8_t colours[] = {255, 0, 0, 1, 2, 3};
  png_image image = {};
  image.version = PNG_IMAGE_VERSION;
  image.width = 2;
  image.height = 1;
  image.format = PNG_FORMAT_RGB;
  uint8_t bytes[256];
  png_alloc_size_t length = sizeof(bytes);
  REQUIRE(png_image_write_to_memory(&image, bytes, &length, 0, colours, 0, nullptr));
  const auto fileSize = static_cast<uint32_t>(length);
  DeviceMemory file(256), pixels(4096);
  memcpy(file.data, bytes, length);
  uint32_t width = 0, height = 0;
  int32_t components = 0;
  GOOD(acldvppPngGetImageInfo(file.data, fileSize, &width, &height, &components));
  CHECK((width == 2 && height == 1 && components == 3));
  BAD(ACL_ERROR_INVALID_PARAM,
      acldvppPngGetImageInfo(pixels.data, 100, &width, &height, &components));
  acldvppPicDesc *desc = acldvppCreatePicDesc();
  GOOD(acldvppSetPicDescData(desc, pixels.data));
  GOOD(acldvppSetPicDescSize(desc, 4096));
  GOOD(acldvppSetPicDescFormat(desc, PIXEL_FORMAT_RGB_888));
  GOOD(acldvppPngDecodeAsync(media.channel, file.data, fileSize, desc, nullptr));
  GOOD(aclrtSynchronizeStream(nullptr));
  CHECK(memcmp(pixels.data, colours, 6) == 0);
  CHECK((acldvppGetPicDescWidth(desc) == 2 && acldvppGetPicDescWidthStride(desc) == 128));
  // The file ends before its pixels do: the task reports it.
  GOOD(acldvppPngDecodeAsync(media.channel, file.data, fileSize - 18, desc, nullptr));
  CHECK(aclrtSynchronizeStream(nullptr) != ACL_SUCCESS);
  CHECK(acldvppGetPicDescRetCode(desc) == 1);
  GOOD(acldvppSetPicDescFormat(desc, PIXEL_FORMAT_YUV_SEMIPLANAR_420));
  BAD(ACL_ERROR_FORMAT_NOT_MATCH,
      acldvppPngDecodeAsync(media.channel, file.data, fileSize, desc, nullptr));
  GOOD(acldvppDestroyPicDesc(desc));
}

TEST_CASE("histograms count values, and tables replace them") {
  Media media;
  Nv12 source(32, 16), target(32, 16);
  fillGradient(source, 32, 16);
  uint32_t *counts = nullptr;
  uint16_t length = 0;
  acldvppHist *hist = acldvppCreateHist();
  REQUIRE(acldvppGetHistDims(hist) == 3);
  GOOD(acldvppVpcCalcHistAsync(media.channel, source.desc, hist, nullptr, nullptr));
  GOOD(aclrtSynchronizeStream(nullptr));
  CHECK(acldvppGetHistRetCode(hist) == 0);
  GOOD(acldvppGetHistData(hist, 0, &counts, &length));
  REQUIRE(length == 256);
  // 40 + 2x + y is 42 at (0, 2) and (1, 0); rows with 50 are 0, 2 ... 10.
  CHECK((counts[40] == 1 && counts[42] == 2 && counts[50] == 6 && counts[39] == 0));
  GOOD(acldvppGetHistData(hist, 1, &counts, &length));
  CHECK((counts[100] == 8 && counts[115] == 8 && counts[116] == 0));
  GOOD(acldvppClearHist(hist));
  CHECK(counts[100] == 0);
  BAD(ACL_ERROR_INVALID_PARAM, acldvppGetHistData(hist, 3, &counts, &length));
  BAD(ACL_ERROR_INVALID_PARAM,
      acldvppVpcCalcHistAsync(media.channel, source.desc, hist, &length, nullptr));
  GOOD(acldvppDestroyHist(hist));
  BAD(ACL_ERROR_INVALID_RESOURCE_HANDLE,
      acldvppVpcCalcHistAsync(media.channel, source.desc, hist, nullptr, nullptr));

  acldvppLutMap *table = acldvppCreateLutMap();
  REQUIRE(acldvppGetLutMapDims(table) == 3);
  for (uint32_t channel = 0; channel < 3; ++channel) {
    uint8_t *values = nullptr;
    uint32_t size = 0;
    GOOD(acldvppGetLutMapData(table, channel, &values, &size));
    REQUIRE(size == 256);
    for (uint32_t i = 0; i < size; ++i)
      values[i] = uint8_t(channel == 0 ? 255 - i : i);
  }
  GOOD(acldvppVpcEqualizeHistAsync(media.channel, source.desc, target.desc, table, nullptr));
  GOOD(aclrtSynchronizeStream(nullptr));
  CHECK((target.at(3, 5) == 255 - source.at(3, 5) && target.chroma(4, 3) == source.chroma(4, 3)));
  Nv12 other(64, 16);
  BAD(ACL_ERROR_INVALID_PARAM,
      acldvppVpcEqualizeHistAsync(media.channel, source.desc, other.desc, table, nullptr));
  GOOD(acldvppDestroyLutMap(table));
  BAD(ACL_ERROR_INVALID_RESOURCE_HANDLE, acldvppDestroyLutMap(table));
}
