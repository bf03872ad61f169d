//===-- VideoCodec.h - H.264 and H.265 as planes -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASCEND_DVPP_VIDEOCODEC_H
#define ASCEND_DVPP_VIDEOCODEC_H

#include "ascend/dvpp/Planes.h"

#include <functional>
#include <memory>
#include <string>

namespace atc::ascend {

/// Takes a decoded picture: Y, U, V in 4:2:0. It throws nothing: it is called from codecs in C.
using TakePicture = std::function<void(Planes)>;

/// Decodes one stream of video. Pictures come in the order in which they are shown, so one may
/// come with a later call than that of its bytes.
class VideoDecoder {
public:
  virtual ~VideoDecoder() = default;
  /// Decodes whole pictures (NAL units behind start codes); false and what is wrong with them
  /// otherwise. The stream may go on behind an error.
  virtual bool decode(const uint8_t *data, size_t bytes, const TakePicture &take,
                      std::string &error) = 0;
  /// Passes on the pictures that wait for later ones, and makes the next call begin a stream.
  virtual void flush(const TakePicture &take) = 0;
};

/// The settings of a stream that is encoded.
struct VideoSettings {
  uint32_t width, height; ///< in pixels, even
  uint32_t rate;          ///< pictures per second
  uint32_t bitRate;       ///< kbit per second, at most
  uint32_t keyFrames;     ///< pictures from one that needs no other to the next such
};

/// Encodes one stream of video.
class VideoEncoder {
public:
  virtual ~VideoEncoder() = default;
  /// Encodes a picture of Y, U, V in 4:2:0 as one that needs no other (`key`) or as the stream
  /// wants it, and appends its bytes; false and what is wrong otherwise.
  virtual bool encode(const Planes &planes, bool key, std::vector<uint8_t> &bytes,
                      std::string &error) = 0;
};

/// Creates a decoder; null and the reason where the library for the format was not there when
/// this one was built.
std::unique_ptr<VideoDecoder> makeVideoDecoder(acldvppStreamFormat format, std::string &error);

/// Creates an encoder; null and the reason where the format or the settings cannot be encoded.
std::unique_ptr<VideoEncoder> makeVideoEncoder(acldvppStreamFormat format,
                                               const VideoSettings &settings, std::string &error);

/// Return the parts of makeVideoDecoder and makeVideoEncoder for one format each; null where
/// memory could not be allocated.
std::unique_ptr<VideoDecoder> makeH264Decoder();
std::unique_ptr<VideoDecoder> makeH265Decoder();
std::unique_ptr<VideoEncoder> makeH264Encoder(const VideoSettings &settings);
std::unique_ptr<VideoEncoder> makeH265Encoder(const VideoSettings &settings);

/// Returns where the first NAL unit at or behind `from` begins (its start code), or `bytes`.
size_t nextUnit(const uint8_t *data, size_t bytes, size_t from);

/// Copies a picture of 8 bits in 4:2:0 from the memory of a codec and passes it on. Sizes and
/// strides (bytes) are as the codec says, which had them from the stream: false and what is wrong
/// where they are no picture's, or memory could not be allocated for the copy.
bool passPicture(const uint8_t *const planes[3], const int strides[3], int width, int height,
                 const TakePicture &take, std::string &error);

} // namespace atc::ascend

#endif
