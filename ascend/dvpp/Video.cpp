//===-- Video.cpp - descriptions of video streams and channels ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ascend/dvpp/VideoChannels.h"

#include <cstring>

namespace atc::ascend {

DVPP_TABLE(StreamPart, streamParts, Stream)
DVPP_TABLE(Decoder, decoders, VideoDecoder)
DVPP_TABLE(Encoder, encoders, VideoEncoder)
DVPP_TABLE(DecoderFrame, decoderFrames, VideoDecoderFrame)
DVPP_TABLE(EncoderFrame, encoderFrames, VideoEncoderFrame)

namespace {

/// Copies a parameter of a type between an object and the program.
template <typename T>
aclError copyParameter(const char *function, T &field, size_t length, const void *from, void *to,
                       size_t *written) {
  if (from ? length != sizeof(T) : length < sizeof(T))
    return fail(ACL_ERROR_INVALID_PARAM, function, "length is %zu, the parameter has %zu bytes",
                length, sizeof(T));
  if (from) {
    memcpy(&field, from, sizeof(T));
  } else {
    memcpy(to, &field, sizeof(T));
    *written = sizeof(T);
  }
  return ACL_SUCCESS;
}

aclError parameter(const char *function, Decoder &desc, aclvdecChannelDescParamType type,
                   size_t length, const void *from, void *to, size_t *written) {
  auto copy = [&](auto &field) {
    return copyParameter(function, field, length, from, to, written);
  };
  switch (type) {
  case ACL_VDEC_CSC_MATRIX_UINT32:
    return copy(desc.matrix);
  case ACL_VDEC_OUT_MODE_UINT32:
    return copy(desc.outMode);
  case ACL_VDEC_THREAD_ID_UINT64:
    return copy(desc.threadId);
  case ACL_VDEC_CALLBACK_PTR:
    return copy(desc.callback);
  case ACL_VDEC_CHANNEL_ID_UINT32:
    return copy(desc.channelId);
  case ACL_VDEC_ENCODE_TYPE_UINT32:
    return copy(desc.format);
  case ACL_VDEC_OUT_PIC_FORMAT_UINT32:
    return copy(desc.picture);
  case ACL_VDEC_OUT_PIC_WIDTH_UINT32:
    return copy(desc.width);
  case ACL_VDEC_OUT_PIC_HEIGHT_UINT32:
    return copy(desc.height);
  case ACL_VDEC_REF_FRAME_NUM_UINT32:
    return copy(desc.refFrames);
  case ACL_VDEC_BIT_DEPTH_UINT32:
    return copy(desc.bitDepth);
  }
  return fail(ACL_ERROR_INVALID_PARAM, function, "parameter %d is unknown", int(type));
}

aclError parameter(const char *function, Encoder &desc, aclvencChannelDescParamType type,
                   size_t length, const void *from, void *to, size_t *written) {
  auto copy = [&](auto &field) {
    return copyParameter(function, field, length, from, to, written);
  };
  switch (type) {
  case ACL_VENC_THREAD_ID_UINT64:
    return copy(desc.threadId);
  case ACL_VENC_CALLBACK_PTR:
    return copy(desc.callback);
  case ACL_VENC_PIXEL_FORMAT_UINT32:
    return copy(desc.picture);
  case ACL_VENC_ENCODE_TYPE_UINT32:
    return copy(desc.format);
  case ACL_VENC_PIC_WIDTH_UINT32:
    return copy(desc.width);
  case ACL_VENC_PIC_HEIGHT_UINT32:
    return copy(desc.height);
  case ACL_VENC_KEY_FRAME_INTERVAL_UINT32:
    return copy(desc.keyFrames);
  case ACL_VENC_BUF_ADDR_PTR:
    return copy(desc.buffer);
  case ACL_VENC_BUF_SIZE_UINT32:
    return copy(desc.bufferSize);
  case ACL_VENC_RC_MODE_UINT32:
    return copy(desc.rcMode);
  case ACL_VENC_SRC_RATE_UINT32:
    return copy(desc.sourceRate);
  case ACL_VENC_MAX_BITRATE_UINT32:
    return copy(desc.maxBitRate);
  case ACL_VENC_MAX_IP_PROP_UINT32:
    return copy(desc.maxIpProp);
  }
  return fail(ACL_ERROR_INVALID_PARAM, function, "parameter %d is unknown", int(type));
}

} // namespace
} // namespace atc::ascend

using namespace atc::ascend;

#define DVPP_CREATE(function, Handle, table, Type)                                                 \
  Handle *function() { return static_cast<Handle *>(table().add(std::make_shared<Type>())); }
#define DVPP_DESTROY(function, Handle, table)                                                      \
  aclError function(Handle *handle) { return destroyObject(__func__, table(), handle); }
#define DVPP_SET(function, Handle, table, Type, field)                                             \
  aclError function(Handle *handle, Type value) {                                                  \
    ACL_FIND(found, table(), handle);                                                              \
    found->field = value;                                                                          \
    return ACL_SUCCESS;                                                                            \
  }
#define DVPP_GET(function, Handle, table, Type, field)                                             \
  Type function(const Handle *handle) {                                                            \
    if (auto found = table().find(handle))                                                         \
      return found->field;                                                                         \
    fail(handle ? ACL_ERROR_INVALID_RESOURCE_HANDLE : ACL_ERROR_INVALID_PARAM, __func__,           \
         "the handle (%p) was destroyed, or is of another kind",                                   \
         static_cast<const void *>(handle));                                                       \
    return Type{};                                                                                 \
  }
#define DVPP_FIELD(prefix, suffix, Handle, table, Type, field)                                     \
  DVPP_SET(prefix##Set##suffix, Handle, table, Type, field)                                        \
  DVPP_GET(prefix##Get##suffix, Handle, table, Type, field)

using Address = void *;

DVPP_CREATE(acldvppCreateStreamDesc, acldvppStreamDesc, streamParts, StreamPart)
DVPP_DESTROY(acldvppDestroyStreamDesc, acldvppStreamDesc, streamParts)
DVPP_FIELD(acldvpp, StreamDescData, acldvppStreamDesc, streamParts, Address, data)
DVPP_FIELD(acldvpp, StreamDescSize, acldvppStreamDesc, streamParts, uint32_t, size)
DVPP_FIELD(acldvpp, StreamDescFormat, acldvppStreamDesc, streamParts, acldvppStreamFormat, format)
DVPP_FIELD(acldvpp, StreamDescTimestamp, acldvppStreamDesc, streamParts, uint64_t, timestamp)
DVPP_FIELD(acldvpp, StreamDescRetCode, acldvppStreamDesc, streamParts, uint32_t, retCode)
DVPP_FIELD(acldvpp, StreamDescEos, acldvppStreamDesc, streamParts, uint8_t, eos)

DVPP_CREATE(aclvdecCreateChannelDesc, aclvdecChannelDesc, decoders, Decoder)
DVPP_DESTROY(aclvdecDestroyChannelDesc, aclvdecChannelDesc, decoders)
DVPP_FIELD(aclvdec, ChannelDescChannelId, aclvdecChannelDesc, decoders, uint32_t, channelId)
DVPP_FIELD(aclvdec, ChannelDescThreadId, aclvdecChannelDesc, decoders, uint64_t, threadId)
DVPP_FIELD(aclvdec, ChannelDescCallback, aclvdecChannelDesc, decoders, aclvdecCallback, callback)
DVPP_FIELD(aclvdec, ChannelDescEnType, aclvdecChannelDesc, decoders, acldvppStreamFormat, format)
DVPP_FIELD(aclvdec, ChannelDescOutPicFormat, aclvdecChannelDesc, decoders, acldvppPixelFormat,
           picture)
DVPP_FIELD(aclvdec, ChannelDescOutPicWidth, aclvdecChannelDesc, decoders, uint32_t, width)
DVPP_FIELD(aclvdec, ChannelDescOutPicHeight, aclvdecChannelDesc, decoders, uint32_t, height)
DVPP_FIELD(aclvdec, ChannelDescRefFrameNum, aclvdecChannelDesc, decoders, uint32_t, refFrames)
DVPP_FIELD(aclvdec, ChannelDescBitDepth, aclvdecChannelDesc, decoders, uint32_t, bitDepth)
DVPP_FIELD(aclvdec, ChannelDescOutMode, aclvdecChannelDesc, decoders, uint32_t, outMode)
DVPP_CREATE(aclvdecCreateFrameConfig, aclvdecFrameConfig, decoderFrames, DecoderFrame)
DVPP_DESTROY(aclvdecDestroyFrameConfig, aclvdecFrameConfig, decoderFrames)

DVPP_CREATE(aclvencCreateChannelDesc, aclvencChannelDesc, encoders, Encoder)
DVPP_DESTROY(aclvencDestroyChannelDesc, aclvencChannelDesc, encoders)
DVPP_FIELD(aclvenc, ChannelDescThreadId, aclvencChannelDesc, encoders, uint64_t, threadId)
DVPP_FIELD(aclvenc, ChannelDescCallback, aclvencChannelDesc, encoders, aclvencCallback, callback)
DVPP_FIELD(aclvenc, ChannelDescEnType, aclvencChannelDesc, encoders, acldvppStreamFormat, format)
DVPP_FIELD(aclvenc, ChannelDescPicFormat, aclvencChannelDesc, encoders, acldvppPixelFormat, picture)
DVPP_FIELD(aclvenc, ChannelDescPicWidth, aclvencChannelDesc, encoders, uint32_t, width)
DVPP_FIELD(aclvenc, ChannelDescPicHeight, aclvencChannelDesc, encoders, uint32_t, height)
DVPP_FIELD(aclvenc, ChannelDescKeyFrameInterval, aclvencChannelDesc, encoders, uint32_t, keyFrames)
DVPP_FIELD(aclvenc, ChannelDescBufAddr, aclvencChannelDesc, encoders, Address, buffer)
DVPP_FIELD(aclvenc, ChannelDescBufSize, aclvencChannelDesc, encoders, uint32_t, bufferSize)
DVPP_FIELD(aclvenc, ChannelDescRcMode, aclvencChannelDesc, encoders, uint32_t, rcMode)
DVPP_FIELD(aclvenc, ChannelDescSrcRate, aclvencChannelDesc, encoders, uint32_t, sourceRate)
DVPP_FIELD(aclvenc, ChannelDescMaxBitRate, aclvencChannelDesc, encoders, uint32_t, maxBitRate)
DVPP_CREATE(aclvencCreateFrameConfig, aclvencFrameConfig, encoderFrames, EncoderFrame)
DVPP_DESTROY(aclvencDestroyFrameConfig, aclvencFrameConfig, encoderFrames)
DVPP_FIELD(aclvenc, FrameConfigForceIFrame, aclvencFrameConfig, encoderFrames, uint8_t, forceIFrame)
DVPP_FIELD(aclvenc, FrameConfigEos, aclvencFrameConfig, encoderFrames, uint8_t, eos)

uint32_t aclvencGetChannelDescChannelId(const aclvencChannelDesc *channelDesc) {
  if (auto found = encoders().find(channelDesc))
    return found->channelId;
  fail(ACL_ERROR_INVALID_RESOURCE_HANDLE, __func__, "channelDesc is no channel");
  return 0;
}

aclError aclvdecSetChannelDescParam(aclvdecChannelDesc *channelDesc,
                                    aclvdecChannelDescParamType paramType, size_t length,
                                    const void *param) {
  ACL_FIND(found, decoders(), channelDesc);
  ACL_REQUIRE(param);
  return parameter(__func__, *found, paramType, length, param, nullptr, nullptr);
}

aclError aclvdecGetChannelDescParam(const aclvdecChannelDesc *channelDesc,
                                    aclvdecChannelDescParamType paramType, size_t length,
                                    size_t *paramRetSize, void *param) {
  ACL_FIND(found, decoders(), channelDesc);
  ACL_REQUIRE(param);
  ACL_REQUIRE(paramRetSize);
  return parameter(__func__, *found, paramType, length, nullptr, param, paramRetSize);
}

aclError aclvencSetChannelDescParam(aclvencChannelDesc *channelDesc,
                                    aclvencChannelDescParamType paramType, size_t length,
                                    const void *param) {
  ACL_FIND(found, encoders(), channelDesc);
  ACL_REQUIRE(param);
  return parameter(__func__, *found, paramType, length, param, nullptr, nullptr);
}

aclError aclvencGetChannelDescParam(const aclvencChannelDesc *channelDesc,
                                    aclvencChannelDescParamType paramType, size_t length,
                                    size_t *paramRetSize, void *param) {
  ACL_FIND(found, encoders(), channelDesc);
  ACL_REQUIRE(param);
  ACL_REQUIRE(paramRetSize);
  return parameter(__func__, *found, paramType, length, nullptr, param, paramRetSize);
}
