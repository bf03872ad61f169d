//===-- Codec.cpp - acldvppJpegDecodeAsync and the like -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ascend/dvpp/Jpeg.h"
#include "ascend/src/Context.h"

#include <cstring>

using namespace atc::ascend;

namespace {

/// Rows and planes of decoded pictures are aligned as the decoder of the device does it.
constexpr uint32_t rowAlignment = 128, planeAlignment = 16;

uint32_t aligned(uint32_t value, uint32_t to) { return (value + to - 1) / to * to; }

/// Returns the format that a JPEG file is decoded to without another wish.
acldvppPixelFormat formatOf(const ImageHeader &header) {
  switch (header.subsampling) {
  case ACL_JPEG_CSS_444:
    return PIXEL_FORMAT_YVU_SEMIPLANAR_444;
  case ACL_JPEG_CSS_422:
    return PIXEL_FORMAT_YVU_SEMIPLANAR_422;
  case ACL_JPEG_CSS_440:
    return PIXEL_FORMAT_YVU_SEMIPLANAR_440;
  default:
    return PIXEL_FORMAT_YVU_SEMIPLANAR_420;
  }
}

aclError checkFile(const char *function, const void *data, uint32_t size) {
  if (!data)
    return fail(ACL_ERROR_INVALID_PARAM, function, "data is NULL");
  if (size == 0)
    return fail(ACL_ERROR_INVALID_PARAM, function, "size is 0");
  return ACL_SUCCESS;
}

aclError jpegHeader(const char *function, const void *data, uint32_t size, ImageHeader &header) {
  ACL_TRY(checkFile(function, data, size));
  std::string error;
  if (readJpegHeader(data, size, header, error))
    return ACL_SUCCESS;
  return fail(ACL_ERROR_UNSUPPORTED_JPEG, function, "the file is no JPEG that can be read: %s",
              error.c_str());
}

aclError pngHeader(const char *function, const void *data, uint32_t size, ImageHeader &header) {
  ACL_TRY(checkFile(function, data, size));
  std::string error;
  if (readPngHeader(data, size, header, error))
    return ACL_SUCCESS;
  return fail(ACL_ERROR_INVALID_PARAM, function, "the file is no PNG that can be read: %s",
              error.c_str());
}

/// Writes the bytes of a decoded picture.
aclError predict(const char *function, const ImageHeader &header, acldvppPixelFormat format,
                 uint32_t *result) {
  const FormatFacts *facts = factsOf(format);
  if (!facts)
    return fail(ACL_ERROR_FORMAT_NOT_MATCH, function, "a file cannot be decoded to format %d",
                int(format));
  if (header.width > maxSide || header.height > maxSide)
    return fail(ACL_ERROR_INVALID_PARAM, function, "the picture has %u x %u pixels; %u are decoded",
                header.width, header.height, maxSide);
  Picture picture;
  picture.widthStride = aligned(header.width * facts->bytes, rowAlignment);
  picture.heightStride = aligned(header.height, planeAlignment);
  *result = static_cast<uint32_t>(pictureBytes(picture, *facts));
  return ACL_SUCCESS;
}

/// Fills what the program has left open of a picture that a file becomes, and checks it.
aclError shapePicture(const char *function, const ImageHeader &header, Picture &picture,
                      std::shared_ptr<Block> &block) {
  const FormatFacts *facts = factsOf(picture.format);
  if (!facts)
    return fail(ACL_ERROR_FORMAT_NOT_MATCH, function, "a file cannot be decoded to format %d",
                int(picture.format));
  if ((picture.width && picture.width != header.width &&
       picture.width != aligned(header.width, 2)) ||
      (picture.height && picture.height != header.height &&
       picture.height != aligned(header.height, 2)))
    return fail(ACL_ERROR_INVALID_PARAM, function,
                "the picture has %u x %u pixels, outputDesc %u x %u", header.width, header.height,
                picture.width, picture.height);
  picture.width = header.width;
  picture.height = header.height;
  if (picture.widthStride == 0)
    picture.widthStride = aligned(header.width * facts->bytes, rowAlignment);
  if (picture.heightStride == 0)
    picture.heightStride = aligned(header.height, planeAlignment);
  return checkPicture(function, "outputDesc", picture, block);
}

/// Puts a task behind the others that decodes to a description: `decode` writes the picture.
template <typename Decode>
aclError enqueueDecode(const char *function, const std::shared_ptr<PicDesc> &desc,
                       const Picture &shaped, std::shared_ptr<Block> file,
                       std::shared_ptr<Block> target, aclrtStream stream, Decode decode) {
  return enqueue(function, stream, [=, kept = std::pair(file, target)] {
    std::string error;
    const bool good = decode(shaped, error);
    desc->change([&](Picture &picture) {
      picture.width = shaped.width;
      picture.height = shaped.height;
      picture.widthStride = shaped.widthStride;
      picture.heightStride = shaped.heightStride;
      picture.format = shaped.format;
      picture.retCode = good ? 0 : 1;
    });
    return good ? ACL_SUCCESS
                : fail(ACL_ERROR_UNSUPPORTED_JPEG, function, "the file cannot be decoded: %s",
                       error.c_str());
  });
}

/// Writes what a program has asked for of a header: a null pointer asks for nothing.
void writeHeader(const ImageHeader &header, uint32_t *width, uint32_t *height,
                 int32_t *components) {
  if (width)
    *width = header.width;
  if (height)
    *height = header.height;
  if (components)
    *components = header.components;
}

Area whole(const Picture &picture) { return {0, picture.width - 1, 0, picture.height - 1}; }

} // namespace

aclError acldvppJpegGetImageInfo(const void *data, uint32_t size, uint32_t *width, uint32_t *height,
                                 int32_t *components) {
  acldvppJpegFormat format;
  return acldvppJpegGetImageInfoV2(data, size, width, height, components, &format);
}

aclError acldvppJpegGetImageInfoV2(const void *data, uint32_t size, uint32_t *width,
                                   uint32_t *height, int32_t *components,
                                   acldvppJpegFormat *format) {
  ImageHeader header;
  ACL_TRY(jpegHeader(__func__, data, size, header));
  writeHeader(header, width, height, components);
  if (format)
    *format = header.subsampling;
  return ACL_SUCCESS;
}

aclError acldvppJpegPredictDecSize(const void *data, uint32_t dataSize,
                                   acldvppPixelFormat outputPixelFormat, uint32_t *decSize) {
  ACL_REQUIRE(decSize);
  ImageHeader header;
  ACL_TRY(jpegHeader(__func__, data, dataSize, header));
  const bool open = outputPixelFormat == PIXEL_FORMAT_UNKNOWN;
  return predict(__func__, header, open ? formatOf(header) : outputPixelFormat, decSize);
}

aclError acldvppPngGetImageInfo(const void *data, uint32_t dataSize, uint32_t *width,
                                uint32_t *height, int32_t *components) {
  ImageHeader header;
  ACL_TRY(pngHeader(__func__, data, dataSize, header));
  writeHeader(header, width, height, components);
  return ACL_SUCCESS;
}

static acldvppPixelFormat pngFormat(const ImageHeader &header, acldvppPixelFormat wanted) {
  if (wanted != PIXEL_FORMAT_UNKNOWN)
    return wanted;
  return header.components % 2 == 0 ? PIXEL_FORMAT_RGBA_8888 : PIXEL_FORMAT_RGB_888;
}

aclError acldvppPngPredictDecSize(const void *data, uint32_t dataSize,
                                  acldvppPixelFormat outputPixelFormat, uint32_t *decSize) {
  ACL_REQUIRE(decSize);
  ImageHeader header;
  ACL_TRY(pngHeader(__func__, data, dataSize, header));
  return predict(__func__, header, pngFormat(header, outputPixelFormat), decSize);
}

aclError acldvppJpegDecodeAsync(acldvppChannelDesc *channelDesc, const void *data, uint32_t size,
                                acldvppPicDesc *outputDesc, aclrtStream stream) {
  Channel channel;
  ACL_TRY(findChannel(__func__, channelDesc, channel));
  ACL_FIND(desc, picDescs(), outputDesc);
  std::shared_ptr<Block> file, target;
  ACL_TRY(checkFile(__func__, data, size));
  ACL_TRY(requireDevice(__func__, "data", data, size, file));
  ImageHeader header;
  ACL_TRY(jpegHeader(__func__, data, size, header));
  Picture picture = desc->get();
  if (picture.format == PIXEL_FORMAT_UNKNOWN)
    picture.format = formatOf(header);
  ACL_TRY(shapePicture(__func__, header, picture, target));
  return enqueueDecode(__func__, desc, picture, file, target, stream,
                       [=](const Picture &shaped, std::string &error) {
                         Planes planes;
                         if (!decodeJpeg(data, size, planes, error))
                           return false;
                         // JPEG has the full range.
                         planes = resizePlanes(planes, shaped.width, shaped.height,
                                               *factsOf(shaped.format), 0,
                                               ACL_DVPP_CSC_MATRIX_BT601_WIDE);
                         storePlanes(planes, shaped, whole(shaped));
                         return true;
                       });
}

aclError acldvppPngDecodeAsync(acldvppChannelDesc *channelDesc, const void *data, uint32_t size,
                               acldvppPicDesc *outputDesc, aclrtStream stream) {
  Channel channel;
  ACL_TRY(findChannel(__func__, channelDesc, channel));
  ACL_FIND(desc, picDescs(), outputDesc);
  std::shared_ptr<Block> file, target;
  ACL_TRY(checkFile(__func__, data, size));
  ACL_TRY(requireDevice(__func__, "data", data, size, file));
  ImageHeader header;
  ACL_TRY(pngHeader(__func__, data, size, header));
  Picture picture = desc->get();
  picture.format = pngFormat(header, picture.format);
  if (picture.format != PIXEL_FORMAT_RGB_888 && picture.format != PIXEL_FORMAT_RGBA_8888)
    ACL_FAIL(ACL_ERROR_FORMAT_NOT_MATCH, "a PNG file is decoded to RGB888 or RGBA8888, not to %d",
             int(picture.format));
  ACL_TRY(shapePicture(__func__, header, picture, target));
  return enqueueDecode(__func__, desc, picture, file, target, stream,
                       [=](const Picture &shaped, std::string &error) {
                         const size_t bytes = factsOf(shaped.format)->bytes;
                         std::vector<uint8_t> pixels;
                         if (!decodePng(data, size, bytes == 4, pixels, error))
                           return false;
                         // The program may have written another file to the memory since.
                         if (pixels.size() != size_t(shaped.width) * shaped.height * bytes) {
                           error = "it was changed while the task waited";
                           return false;
                         }
                         for (uint32_t y = 0; y < shaped.height; ++y)
                           memcpy(static_cast<char *>(shaped.data) + size_t(y) * shaped.widthStride,
                                  pixels.data() + size_t(y) * shaped.width * bytes,
                                  shaped.width * bytes);
                         return true;
                       });
}

/// Returns the format whose samples a JPEG file gets from a picture.
static const FormatFacts *encodedFormat(const FormatFacts *facts) {
  return facts->rgb ? factsOf(PIXEL_FORMAT_YUV_SEMIPLANAR_420) : facts;
}

aclError acldvppJpegPredictEncSize(const acldvppPicDesc *inputDesc,
                                   const acldvppJpegeConfig *config, uint32_t *size) {
  ACL_FIND(desc, picDescs(), inputDesc);
  ACL_FIND(settings, jpegConfigs(), config);
  ACL_REQUIRE(size);
  Picture picture = desc->get();
  std::shared_ptr<Block> block;
  ACL_TRY(checkPicture(__func__, "inputDesc", picture, block));
  // Blocks may take more than their samples, and there is a header.
  const uint64_t samples = uint64_t(aligned(picture.width, 16)) * aligned(picture.height, 16) * 3;
  *size = static_cast<uint32_t>(std::min<uint64_t>(samples * 3 / 2 + 8192, UINT32_MAX));
  return ACL_SUCCESS;
}

aclError acldvppJpegEncodeAsync(acldvppChannelDesc *channelDesc, acldvppPicDesc *inputDesc,
                                const void *data, uint32_t *size, acldvppJpegeConfig *config,
                                aclrtStream stream) {
  Channel channel;
  ACL_TRY(findChannel(__func__, channelDesc, channel));
  ACL_FIND(desc, picDescs(), inputDesc);
  ACL_FIND(settings, jpegConfigs(), config);
  ACL_REQUIRE(data);
  ACL_REQUIRE(size);
  Picture picture = desc->get();
  std::shared_ptr<Block> source, target;
  ACL_TRY(checkPicture(__func__, "inputDesc", picture, source));
  const uint32_t room = *size;
  if (room == 0)
    ACL_FAIL(ACL_ERROR_INVALID_PARAM, "*size is 0; it is the room at data");
  ACL_TRY(requireDevice(__func__, "data", data, room, target));
  const int quality = settings->level == 0 ? 100 : int(settings->level);
  return enqueue("acldvppJpegEncodeAsync", stream, [=, kept = std::pair(source, target)] {
    const FormatFacts &format = *encodedFormat(factsOf(picture.format));
    Planes planes = loadPlanes(picture, whole(picture));
    planes = resizePlanes(planes, picture.width, picture.height, format, 0,
                          ACL_DVPP_CSC_MATRIX_BT601_WIDE);
    std::vector<uint8_t> file;
    std::string error;
    if (!encodeJpeg(planes, format, quality, file, error))
      return fail(ACL_ERROR_FAILURE, "acldvppJpegEncodeAsync", "the picture cannot be encoded: %s",
                  error.c_str());
    if (file.size() > room)
      return fail(ACL_ERROR_INVALID_PARAM, "acldvppJpegEncodeAsync",
                  "the file has %zu bytes, there is room for %u", file.size(), room);
    memcpy(const_cast<void *>(data), file.data(), file.size());
    *size = static_cast<uint32_t>(file.size());
    return ACL_SUCCESS;
  });
}
