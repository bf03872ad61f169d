//===-- HiVideo.cpp -----------------------------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ascend/dvpp/HiVideo.h"
#include "ascend/src/Errors.h"

namespace atc::ascend {
namespace {

acldvppStreamFormat formatOf(hi_payload_type type) {
  return type == HI_PT_H265 ? H265_MAIN_LEVEL : H264_MAIN_LEVEL;
}

/// Writes a picture to the memory of an output; false where it does not fit, or memory for its
/// conversion is missing.
bool store(const Planes &planes, Decoded &result, uint32_t bytes, acldvppCscMatrix matrix) {
  hi_pic_info &info = result.picture;
  Picture picture;
  picture.data = info.picture_address;
  picture.size = bytes;
  picture.format = info.picture_format == HI_PIXEL_FORMAT_UNKNOWN
                       ? PIXEL_FORMAT_YUV_SEMIPLANAR_420
                       : acldvppPixelFormat(info.picture_format);
  picture.width = info.picture_width ? info.picture_width : planes.channels[0].width;
  picture.height = info.picture_height ? info.picture_height : planes.channels[0].height;
  picture.widthStride = info.picture_width_stride;
  picture.heightStride = info.picture_height_stride;
  std::shared_ptr<Block> block;
  if (checkPicture("hi_mpi_vdec_send_stream", "vdec_pic_info", picture, block) != ACL_SUCCESS)
    return false;
  if (!hasMemoryFor([&] {
        storePlanes(resizePlanes(planes, picture.width, picture.height, *factsOf(picture.format), 0,
                                 matrix),
                    picture, Area{0, picture.width - 1, 0, picture.height - 1});
      }))
    return false;
  info.picture_width = picture.width;
  info.picture_height = picture.height;
  info.picture_width_stride = picture.widthStride;
  info.picture_height_stride = picture.heightStride;
  info.picture_format = hi_pixel_format(picture.format);
  return true;
}

} // namespace

TakePicture HiVideoDecoder::take(bool &came, const Ready &ready) {
  return [this, &came, &ready](Planes planes) {
    came = true;
    if (waiting.empty())
      return; // more pictures than outputs
    Sent sent = std::move(waiting.front());
    waiting.pop_front();
    Decoded &result = sent.result;
    result.good = !result.stream.need_display || store(planes, result, sent.bytes, matrix);
    ready(result);
  };
}

hi_s32 HiVideoDecoder::send(const char *function, const hi_vdec_stream &stream,
                            const hi_vdec_pic_info *output, const Ready &ready) {
  std::lock_guard lock(mutex);
  bool came = false;
  if (stream.len == 0 && stream.end_of_stream) {
    codec->flush(take(came, ready));
    for (const Sent &sent : waiting)
      ready(sent.result);
    waiting.clear();
    ready(Decoded{stream, {}, false});
    return HI_SUCCESS;
  }
  if (!output)
    return hiFail(HI_ID_VDEC, HI_ERR_NULL_PTR, function, "vdec_pic_info is NULL");
  Sent sent{{stream, {}, false}, output->buffer_size, nullptr};
  std::shared_ptr<Block> source;
  HI_TRY(hiError(HI_ID_VDEC,
                 requireDevice(function, "the data of stream", stream.addr, stream.len, source)));
  sent.result.picture = {reinterpret_cast<void *>(output->vir_addr),
                         output->buffer_size,
                         output->width,
                         output->height,
                         output->width_stride,
                         output->height_stride,
                         output->pixel_format};
  if (stream.need_display)
    HI_TRY(hiError(HI_ID_VDEC,
                   requireDevice(function, "vdec_pic_info", sent.result.picture.picture_address,
                                 output->buffer_size, sent.memory)));
  waiting.push_back(std::move(sent));
  std::string error;
  bool good = false;
  if (!hasMemoryFor([&] {
        good = nextUnit(stream.addr, stream.len, 0) < stream.len &&
               codec->decode(stream.addr, stream.len, take(came, ready), error);
      }))
    error = "memory could not be allocated";
  if (!good && !came && !waiting.empty()) { // a frame that says so
    const Sent failed = std::move(waiting.back());
    waiting.pop_back();
    ready(failed.result);
  }
  return HI_SUCCESS;
}

void HiVideoDecoder::reset() {
  std::lock_guard lock(mutex);
  waiting.clear();
  codec->flush([](const Planes &) {});
}

size_t HiVideoDecoder::size() {
  std::lock_guard lock(mutex);
  return waiting.size();
}

std::unique_ptr<HiVideoDecoder> makeHiVideoDecoder(const char *function, hi_payload_type type,
                                                   hi_s32 &error) {
  std::string reason;
  auto codec = makeVideoDecoder(formatOf(type), reason);
  if (codec)
    return std::make_unique<HiVideoDecoder>(std::move(codec));
  error = hiFail(HI_ID_VDEC, HI_ERR_NOT_SUPPORT, function, "%s", reason.c_str());
  return nullptr;
}

std::unique_ptr<VideoEncoder> makeHiVideoEncoder(const char *function, const hi_venc_chn_attr &attr,
                                                 hi_s32 &error) {
  const hi_venc_rc_mode mode = attr.rc_attr.rc_mode;
  const bool isH265 = attr.venc_attr.type == HI_PT_H265;
  if (mode != (isH265 ? HI_VENC_RC_MODE_H265_CBR : HI_VENC_RC_MODE_H264_CBR) &&
      mode != (isH265 ? HI_VENC_RC_MODE_H265_VBR : HI_VENC_RC_MODE_H264_VBR)) {
    error =
        hiFail(HI_ID_VENC, HI_ERR_NOT_SUPPORT, function,
               "rc_mode is %d; the modes CBR and VBR of the channel's type are encoded", int(mode));
    return nullptr;
  }
  // The fields of both modes are the same: the last one is the bit rate, or its maximum.
  const hi_venc_h264_cbr &rate = attr.rc_attr.h264_cbr;
  const VideoSettings settings{attr.venc_attr.pic_width, attr.venc_attr.pic_height,
                               rate.src_frame_rate, rate.bit_rate, rate.gop};
  const bool isSize = settings.width >= 16 && settings.height >= 16 && settings.width <= 4096 &&
                      settings.height <= 4096 && settings.width % 2 == 0 &&
                      settings.height % 2 == 0;
  if (!isSize || settings.rate < 1 || settings.rate > 240 || settings.bitRate < 2 ||
      settings.bitRate > 614400 || settings.keyFrames < 1 || settings.keyFrames > 65536) {
    error = hiFail(HI_ID_VENC, HI_ERR_ILLEGAL_PARAM, function,
                   "%u x %u pixels, %u pictures per second, %u kbit per second, gop %u; give even "
                   "sizes from 16 to 4096, 1 to 240, 2 to 614400, 1 to 65536",
                   settings.width, settings.height, settings.rate, settings.bitRate,
                   settings.keyFrames);
    return nullptr;
  }
  std::string reason;
  auto codec = makeVideoEncoder(formatOf(attr.venc_attr.type), settings, reason);
  if (!codec)
    error = hiFail(HI_ID_VENC, HI_ERR_NOT_SUPPORT, function, "%s", reason.c_str());
  return codec;
}

hi_s32 encodeVideo(const char *function, VideoEncoder &codec, hi_payload_type type, Picture picture,
                   bool key, std::vector<uint8_t> &bytes, hi_u32 &unitType) {
  std::shared_ptr<Block> source;
  HI_TRY(hiError(HI_ID_VENC, checkPicture(function, "frame", picture, source)));
  const Area all{0, picture.width - 1, 0, picture.height - 1};
  const Planes planes =
      resizePlanes(loadPlanes(picture, all), picture.width, picture.height,
                   *factsOf(PIXEL_FORMAT_YUV_SEMIPLANAR_420), 0, ACL_DVPP_CSC_MATRIX_BT601_NARROW);
  std::string error;
  if (!codec.encode(planes, key, bytes, error))
    return hiFail(HI_ID_VENC, HI_ERR_ILLEGAL_PARAM, function, "%s", error.c_str());
  for (size_t unit = nextUnit(bytes.data(), bytes.size(), 0); unit + 5 < bytes.size();) {
    const size_t header = unit + (bytes[unit + 2] == 1 ? 3 : 4);
    unitType = type == HI_PT_H265 ? bytes[header] >> 1 & 63 : bytes[header] & 31;
    unit = nextUnit(bytes.data(), bytes.size(), header);
  }
  return HI_SUCCESS;
}

} // namespace atc::ascend
