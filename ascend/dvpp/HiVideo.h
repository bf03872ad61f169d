//===-- HiVideo.h - video in channels of the second interface ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASCEND_DVPP_HIVIDEO_H
#define ASCEND_DVPP_HIVIDEO_H

#include "acl/dvpp/hi_dvpp_vdec.h"
#include "acl/dvpp/hi_dvpp_venc.h"
#include "ascend/dvpp/HiChannels.h"
#include "ascend/dvpp/VideoCodec.h"

#include <deque>

namespace atc::ascend {

/// Holds what a channel was sent, and the picture it became.
struct Decoded {
  hi_vdec_stream stream{};
  hi_pic_info picture{};
  bool good = false;
};

/// Decodes one stream of video in the thread that sends it. Pictures come in the order in which
/// they are shown, and go to the outputs in the order in which those were sent.
class HiVideoDecoder {
public:
  using Ready = std::function<void(const Decoded &)>;

  explicit HiVideoDecoder(std::unique_ptr<VideoDecoder> codec) : codec(std::move(codec)) {}

  /// Decodes the bytes of a picture, or ends the stream, and passes on what is ready.
  hi_s32 send(const char *function, const hi_vdec_stream &stream, const hi_vdec_pic_info *output,
              const Ready &ready);

  /// Forgets outputs that wait, and begins a stream.
  void reset();

  /// Returns the number of outputs that wait for a picture.
  size_t size();

  /// The matrix by which pictures are converted to RGB.
  std::atomic<acldvppCscMatrix> matrix{ACL_DVPP_CSC_MATRIX_BT601_WIDE};

private:
  struct Sent {
    Decoded result;
    uint32_t bytes;
    std::shared_ptr<Block> memory;
  };

  TakePicture take(bool &came, const Ready &ready);

  std::mutex mutex;
  std::unique_ptr<VideoDecoder> codec;
  std::deque<Sent> waiting;
};

/// Creates a decoder of HI_PT_H264 or HI_PT_H265; null with the error.
std::unique_ptr<HiVideoDecoder> makeHiVideoDecoder(const char *function, hi_payload_type type,
                                                   hi_s32 &error);

/// Creates an encoder for the attributes of a channel of video; null with the error.
std::unique_ptr<VideoEncoder> makeHiVideoEncoder(const char *function, const hi_venc_chn_attr &attr,
                                                 hi_s32 &error);

/// Encodes a picture, whose strides are set, and writes the type of its last NAL unit.
hi_s32 encodeVideo(const char *function, VideoEncoder &codec, hi_payload_type type, Picture picture,
                   bool key, std::vector<uint8_t> &bytes, hi_u32 &unitType);

} // namespace atc::ascend

#endif
