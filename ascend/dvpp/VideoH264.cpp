//===-- VideoH264.cpp - H.264 through OpenH264 --------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ascend/dvpp/VideoCodec.h"

#include <wels/codec_api.h>

#include <climits>
#include <cstring>

namespace atc::ascend {
namespace {

/// Makes a codec silent: what is wrong is in codes.
template <typename Codec, typename Option> void silence(Codec &codec, Option option) {
  int level = WELS_LOG_QUIET;
  codec.SetOption(option, &level);
}

/// Returns where the picture that begins at `begin` ends: before the first unit behind a slice
/// that is no slice, or is the first slice of a picture.
size_t endOfPicture(const uint8_t *data, size_t bytes, size_t begin) {
  bool sliced = false;
  size_t unit = nextUnit(data, bytes, begin);
  while (unit < bytes) {
    const size_t header = unit + (data[unit + 2] == 1 ? 3 : 4);
    if (header + 1 >= bytes)
      return bytes;
    const unsigned type = data[header] & 31;
    const bool slice = type == 1 || type == 5;
    // The first bit of a slice is 1 where its first macroblock is number 0.
    if (sliced && (!slice || (data[header + 1] & 0x80)))
      return unit;
    sliced = sliced || slice;
    unit = nextUnit(data, bytes, header);
  }
  return bytes;
}

class H264Decoder : public VideoDecoder {
public:
  explicit H264Decoder(ISVCDecoder *decoder) : decoder(decoder) { start(); }
  ~H264Decoder() override {
    decoder->Uninitialize();
    WelsDestroyDecoder(decoder);
  }

  bool decode(const uint8_t *data, size_t bytes, const TakePicture &take,
              std::string &error) override {
    if (bytes > INT_MAX) {
      error = "it has more than 2 GiB";
      return false;
    }
    bool good = true;
    for (size_t begin = 0; begin < bytes;) {
      const size_t end = endOfPicture(data, bytes, begin);
      uint8_t *planes[3] = {};
      SBufferInfo info{};
      const int state = decoder->DecodeFrameNoDelay(data + begin, int(end - begin), planes, &info);
      if (info.iBufferStatus == 1)
        good = pass(planes, info, take, error) && good;
      if (state != dsErrorFree && state != dsFramePending) {
        error = describe(state);
        good = false;
      }
      begin = end;
    }
    return good;
  }

  void flush(const TakePicture &take) override {
    std::string ignored; // what comes out in spite of an error is still a picture
    int waiting = 0;
    decoder->GetOption(DECODER_OPTION_NUM_OF_FRAMES_REMAINING_IN_BUFFER, &waiting);
    while (waiting-- > 0) {
      uint8_t *planes[3] = {};
      SBufferInfo info{};
      decoder->FlushFrame(planes, &info);
      if (info.iBufferStatus == 1)
        pass(planes, info, take, ignored);
    }
    decoder->Uninitialize();
    start();
  }

private:
  void start() {
    silence(*decoder, DECODER_OPTION_TRACE_LEVEL);
    SDecodingParam parameters{};
    parameters.eEcActiveIdc = ERROR_CON_DISABLE;
    parameters.sVideoProperty.size = sizeof(parameters.sVideoProperty);
    parameters.sVideoProperty.eVideoBsType = VIDEO_BITSTREAM_AVC;
    decoder->Initialize(&parameters);
  }

  static bool pass(uint8_t *const planes[3], const SBufferInfo &info, const TakePicture &take,
                   std::string &error) {
    const SSysMEMBuffer &memory = info.UsrData.sSystemBuffer;
    const int strides[3] = {memory.iStride[0], memory.iStride[1], memory.iStride[1]};
    return passPicture(planes, strides, memory.iWidth, memory.iHeight, take, error);
  }

  static std::string describe(int state) {
    if (state & dsNoParamSets)
      return "the parameter sets (SPS, PPS) of its pictures were not sent";
    if (state & dsRefLost)
      return "a picture that it refers to was lost";
    if (state & dsBitstreamError)
      return "the bytes are damaged";
    return "OpenH264 reports state " + std::to_string(state);
  }

  ISVCDecoder *const decoder;
};

class H264Encoder : public VideoEncoder {
public:
  H264Encoder(ISVCEncoder *encoder, const VideoSettings &settings)
      : encoder(encoder), settings(settings) {}
  ~H264Encoder() override {
    encoder->Uninitialize();
    WelsDestroySVCEncoder(encoder);
  }

  /// Returns whether the settings can be encoded.
  bool start() {
    silence(*encoder, ENCODER_OPTION_TRACE_LEVEL);
    SEncParamExt parameters{};
    encoder->GetDefaultParams(&parameters);
    parameters.iUsageType = CAMERA_VIDEO_REAL_TIME;
    parameters.iPicWidth = int(settings.width);
    parameters.iPicHeight = int(settings.height);
    parameters.iTargetBitrate = int(settings.bitRate) * 1000;
    parameters.iMaxBitrate = UNSPECIFIED_BIT_RATE;
    parameters.iRCMode = RC_BITRATE_MODE;
    parameters.fMaxFrameRate = float(settings.rate);
    parameters.uiIntraPeriod = settings.keyFrames;
    parameters.bEnableFrameSkip = false; // each picture that is sent has its bytes
    parameters.iMultipleThreadIdc = 1;
    parameters.sSpatialLayers[0].iVideoWidth = int(settings.width);
    parameters.sSpatialLayers[0].iVideoHeight = int(settings.height);
    parameters.sSpatialLayers[0].fFrameRate = float(settings.rate);
    parameters.sSpatialLayers[0].iSpatialBitrate = int(settings.bitRate) * 1000;
    return encoder->InitializeExt(&parameters) == cmResultSuccess;
  }

  bool encode(const Planes &planes, bool key, std::vector<uint8_t> &bytes,
              std::string &error) override {
    if (key)
      encoder->ForceIntraFrame(true);
    SSourcePicture picture{};
    picture.iColorFormat = videoFormatI420;
    picture.iPicWidth = int(settings.width);
    picture.iPicHeight = int(settings.height);
    picture.uiTimeStamp = (long long)(1000 * count++ / settings.rate);
    for (unsigned index = 0; index < 3; ++index) {
      const Plane &plane = planes.channels[index];
      picture.iStride[index] = int(plane.width);
      picture.pData[index] = const_cast<uint8_t *>(plane.data.data());
    }
    SFrameBSInfo info{};
    if (int code = encoder->EncodeFrame(&picture, &info); code != cmResultSuccess) {
      error = "OpenH264 reports code " + std::to_string(code);
      return false;
    }
    for (int layer = 0; layer < info.iLayerNum; ++layer) {
      const SLayerBSInfo &part = info.sLayerInfo[layer];
      size_t size = 0;
      for (int unit = 0; unit < part.iNalCount; ++unit)
        size += size_t(part.pNalLengthInByte[unit]);
      bytes.insert(bytes.end(), part.pBsBuf, part.pBsBuf + size);
    }
    return true;
  }

private:
  ISVCEncoder *const encoder;
  const VideoSettings settings;
  uint64_t count = 0;
};

} // namespace

std::unique_ptr<VideoDecoder> makeH264Decoder() {
  ISVCDecoder *decoder = nullptr;
  if (WelsCreateDecoder(&decoder) != 0 || !decoder)
    return nullptr;
  return std::make_unique<H264Decoder>(decoder);
}

std::unique_ptr<VideoEncoder> makeH264Encoder(const VideoSettings &settings) {
  ISVCEncoder *encoder = nullptr;
  if (WelsCreateSVCEncoder(&encoder) != 0 || !encoder)
    return nullptr;
  auto owner = std::make_unique<H264Encoder>(encoder, settings);
  return owner->start() ? std::move(owner) : nullptr;
}

} // namespace atc::ascend
