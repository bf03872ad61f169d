//===-- VideoChannels.h - channels that decode and encode video --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASCEND_DVPP_VIDEOCHANNELS_H
#define ASCEND_DVPP_VIDEOCHANNELS_H

#include "ascend/dvpp/Objects.h"

#include <memory>

namespace atc::ascend {

class DecoderChannel;
class EncoderChannel;

/// Describes the bytes of a stream, which are in device memory.
struct StreamPart {
  void *data = nullptr;
  uint32_t size = 0, retCode = 0;
  acldvppStreamFormat format = H264_MAIN_LEVEL;
  uint64_t timestamp = 0;
  uint8_t eos = 0;
};

/// Describes a channel that decodes. A width and height of 0 are those of the stream.
struct Decoder {
  uint32_t channelId = 0, width = 0, height = 0, refFrames = 8, bitDepth = 8, outMode = 0;
  uint32_t matrix = ACL_DVPP_CSC_MATRIX_BT601_WIDE;
  uint64_t threadId = 0;
  aclvdecCallback callback = nullptr;
  acldvppStreamFormat format = H265_MAIN_LEVEL;
  acldvppPixelFormat picture = PIXEL_FORMAT_YUV_SEMIPLANAR_420;
  std::shared_ptr<DecoderChannel> channel; ///< null until aclvdecCreateChannel
};

/// Describes a channel that encodes. Bit rates are in kbit per second, rates in pictures per
/// second.
struct Encoder {
  uint32_t channelId = 0, width = 0, height = 0, keyFrames = 16, bufferSize = 0, rcMode = 0,
           sourceRate = 30, maxBitRate = 2000, maxIpProp = 0;
  uint64_t threadId = 0;
  void *buffer = nullptr;
  aclvencCallback callback = nullptr;
  acldvppStreamFormat format = H265_MAIN_LEVEL;
  acldvppPixelFormat picture = PIXEL_FORMAT_YUV_SEMIPLANAR_420;
  std::shared_ptr<EncoderChannel> channel; ///< null until aclvencCreateChannel
};

struct DecoderFrame {};

struct EncoderFrame {
  uint8_t forceIFrame = 0, eos = 0;
};

/// Return the process-wide tables that own the objects behind handles.
HandleTable<StreamPart> &streamParts();
HandleTable<Decoder> &decoders();
HandleTable<Encoder> &encoders();
HandleTable<DecoderFrame> &decoderFrames();
HandleTable<EncoderFrame> &encoderFrames();

} // namespace atc::ascend

#endif
