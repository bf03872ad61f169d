//===-- VideoCodec.cpp --------------------------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ascend/dvpp/VideoCodec.h"

#include "ascend/src/Errors.h"

#include <cstring>

namespace atc::ascend {

size_t nextUnit(const uint8_t *data, size_t bytes, size_t from) {
  for (size_t at = from; at + 3 <= bytes; ++at)
    if (data[at] == 0 && data[at + 1] == 0 && data[at + 2] == 1)
      return at > from && data[at - 1] == 0 ? at - 1 : at;
  return bytes;
}

bool passPicture(const uint8_t *const planes[3], const int strides[3], int width, int height,
                 const TakePicture &take, std::string &error) {
  if (width < 1 || height < 1 || uint32_t(width) > maxSide || uint32_t(height) > maxSide) {
    error = "its pictures have " + std::to_string(width) + " x " + std::to_string(height) +
            " pixels; 1 to " + std::to_string(maxSide) + " per side are decoded";
    return false;
  }
  Planes copy;
  bool isWhole = false;
  const bool isStored = hasMemoryFor([&] {
    for (unsigned index = 0; index < 3; ++index) {
      const unsigned shift = index == 0 ? 0 : 1;
      Plane plane(shifted(uint32_t(width), shift), shifted(uint32_t(height), shift));
      if (!planes[index] || strides[index] < 0 || uint32_t(strides[index]) < plane.width) {
        error = "the decoder gave no picture";
        return;
      }
      for (uint32_t y = 0; y < plane.height; ++y)
        memcpy(&plane.at(0, y), planes[index] + size_t(y) * size_t(strides[index]), plane.width);
      copy.channels.push_back(std::move(plane));
    }
    isWhole = true;
  });
  if (!isStored)
    error = "memory could not be allocated";
  if (!isWhole)
    return false;
  take(std::move(copy));
  return true;
}

std::unique_ptr<VideoDecoder> makeVideoDecoder(acldvppStreamFormat format, std::string &error) {
  if (format == H265_MAIN_LEVEL) {
#ifdef OPENATC_WITH_H265
    return makeH265Decoder();
#else
    error = "this library was built without libde265 (Debian: libde265-dev), which decodes H.265";
    return nullptr;
#endif
  }
  if (format < H264_BASELINE_LEVEL || format > H264_HIGH_LEVEL) {
    error = "the stream's format is " + std::to_string(int(format)) + "; give 0 to 3";
    return nullptr;
  }
#ifdef OPENATC_WITH_H264
  return makeH264Decoder();
#else
  error = "this library was built without OpenH264 (Debian: libopenh264-dev), which decodes H.264";
  return nullptr;
#endif
}

std::unique_ptr<VideoEncoder> makeVideoEncoder(acldvppStreamFormat format,
                                               const VideoSettings &settings, std::string &error) {
  if (format == H265_MAIN_LEVEL)
    return makeH265Encoder(settings);
  if (format < H264_BASELINE_LEVEL || format > H264_HIGH_LEVEL) {
    error = "the stream's format is " + std::to_string(int(format)) + "; give 0 to 3";
    return nullptr;
  }
#ifdef OPENATC_WITH_H264
  auto encoder = makeH264Encoder(settings);
  if (!encoder)
    error = "OpenH264 refuses " + std::to_string(settings.width) + " x " +
            std::to_string(settings.height) + " pixels at " + std::to_string(settings.bitRate) +
            " kbit per second";
  return encoder;
#else
  error = "this library was built without OpenH264 (Debian: libopenh264-dev), which encodes H.264";
  return nullptr;
#endif
}

} // namespace atc::ascend
