//===-- HiDecode.cpp - hi_mpi_vdec_..., hi_mpi_pngd_... -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "acl/dvpp/hi_dvpp_vdec.h"

#include "ascend/dvpp/HiVideo.h"
#include "ascend/dvpp/ReadyFile.h"
#include "ascend/src/stream/WaitingQueue.h"

#include "acl/acl_rt.h"

using namespace atc::ascend;

namespace {

struct DecodeChannel {
  hi_vdec_chn_attr attributes{};
  hi_vdec_chn_param parameters{};
  std::atomic<bool> started{false}, destroyed{false};
  std::atomic<hi_u32> sent{0};
  WaitingQueue<Decoded> pictures{256};
  ReadyFile ready;
  std::unique_ptr<HiVideoDecoder> video; ///< null for files of pictures
};

HiChannels<DecodeChannel> &jpegChannels() {
  static auto &channels = *new HiChannels<DecodeChannel>(HI_ID_VDEC, VDEC_MAX_CHN_NUM);
  return channels;
}

HiChannels<DecodeChannel> &pngChannels() {
  static auto &channels = *new HiChannels<DecodeChannel>(HI_ID_PNGD, PNGD_MAX_CHN_NUM);
  return channels;
}

using DecodeFunction = aclError (*)(acldvppChannelDesc *, const void *, uint32_t, acldvppPicDesc *,
                                    aclrtStream);

/// Decodes a file by a function of the first interface, on a stream of its own, and updates the
/// size, the strides and the format of the picture.
aclError decodeFile(DecodeFunction decode, const void *data, uint32_t bytes, hi_pic_info &picture) {
  acldvppChannelDesc *channel = acldvppCreateChannelDesc();
  acldvppPicDesc *desc = acldvppCreatePicDesc();
  aclrtStream stream = nullptr;
  aclError code = acldvppCreateChannel(channel);
  if (code == ACL_SUCCESS)
    code = aclrtCreateStream(&stream);
  if (code == ACL_SUCCESS) {
    acldvppSetPicDescData(desc, picture.picture_address);
    acldvppSetPicDescSize(desc, picture.picture_buffer_size);
    acldvppSetPicDescFormat(desc, acldvppPixelFormat(picture.picture_format));
    acldvppSetPicDescWidth(desc, picture.picture_width);
    acldvppSetPicDescHeight(desc, picture.picture_height);
    acldvppSetPicDescWidthStride(desc, picture.picture_width_stride);
    acldvppSetPicDescHeightStride(desc, picture.picture_height_stride);
    code = decode(channel, data, bytes, desc, stream);
    if (code == ACL_SUCCESS)
      code = aclrtSynchronizeStream(stream);
    picture.picture_width = acldvppGetPicDescWidth(desc);
    picture.picture_height = acldvppGetPicDescHeight(desc);
    picture.picture_width_stride = acldvppGetPicDescWidthStride(desc);
    picture.picture_height_stride = acldvppGetPicDescHeightStride(desc);
    picture.picture_format = hi_pixel_format(acldvppGetPicDescFormat(desc));
    aclrtDestroyStream(stream);
    acldvppDestroyChannel(channel);
  }
  acldvppDestroyPicDesc(desc);
  acldvppDestroyChannelDesc(channel);
  return code;
}

/// Takes the oldest picture of a channel.
hi_s32 takePicture(hi_mod_id module, const char *function, DecodeChannel &channel, hi_s32 timeout,
                   Decoded &taken) {
  if (timeout < -1)
    return hiFail(module, HI_ERR_ILLEGAL_PARAM, function,
                  "milli_sec is %d; give milliseconds, or -1", timeout);
  const bool came = channel.pictures.pop(timeout, channel.destroyed, [&](Decoded &oldest) {
    taken = oldest;
    return true;
  });
  channel.ready.follow(channel.pictures);
  return came ? HI_SUCCESS
              : hiFail(module, HI_ERR_BUF_EMPTY, function, "no picture is there, or comes in time");
}

hi_s32 destroyChannel(HiChannels<DecodeChannel> &channels, const char *function, hi_s32 id) {
  std::shared_ptr<DecodeChannel> channel;
  HI_TRY(channels.remove(function, id, channel));
  channel->destroyed = true;
  channel->pictures.wake();
  channel->ready.close();
  return HI_SUCCESS;
}

/// Makes a channel of the attributes; null with the error where they are not of pictures.
std::shared_ptr<DecodeChannel> makeChannel(const char *function, const hi_vdec_chn_attr *attr,
                                           hi_s32 &error) {
  if (!attr) {
    error = hiFail(HI_ID_VDEC, HI_ERR_NULL_PTR, function, "attr is NULL");
    return nullptr;
  }
  const bool isVideo = attr->type == HI_PT_H264 || attr->type == HI_PT_H265;
  if (!isVideo && attr->type != HI_PT_JPEG && attr->type != HI_PT_MJPEG) {
    error = hiFail(HI_ID_VDEC, HI_ERR_NOT_SUPPORT, function,
                   "type %d is not decoded; HI_PT_JPEG (26), HI_PT_H264 (96) and HI_PT_H265 (265) "
                   "are",
                   int(attr->type));
    return nullptr;
  }
  auto channel = std::make_shared<DecodeChannel>();
  if (isVideo) {
    channel->video = makeHiVideoDecoder(function, attr->type, error);
    if (!channel->video)
      return nullptr;
  }
  channel->attributes = *attr;
  channel->parameters.type = attr->type;
  return channel;
}

/// Decodes a picture of video where there is room for all that may come of it, also in time.
hi_s32 sendVideo(const char *function, hi_vdec_chn id, DecodeChannel &channel,
                 const hi_vdec_stream &stream, const hi_vdec_pic_info *output, hi_s32 timeout) {
  constexpr size_t kMaxWaiting = 224; // a stream that ends passes on up to 16 pictures
  if (!channel.pictures.waitForFewer(kMaxWaiting, timeout, channel.destroyed))
    return hiFail(HI_ID_VDEC, HI_ERR_BUF_FULL, function, "%zu pictures wait in channel %d",
                  kMaxWaiting, id);
  HI_TRY(channel.video->send(function, stream, output, [&](const Decoded &decoded) {
    channel.pictures.push(decoded, -1, channel.destroyed);
    channel.ready.follow(channel.pictures);
  }));
  ++channel.sent;
  return HI_SUCCESS;
}

} // namespace

namespace atc::ascend {

hi_s32 findVideoMatrix(const char *function, hi_s32 id, SharedMatrix &matrix) {
  std::shared_ptr<DecodeChannel> channel;
  HI_TRY(jpegChannels().find(function, id, channel));
  if (!channel->video)
    return hiFail(HI_ID_SYS, HI_ERR_NOT_SUPPORT, function,
                  "channel %d decodes files, which have the matrix of JPEG; channels of video have "
                  "one",
                  id);
  matrix = SharedMatrix(channel, &channel->video->matrix);
  return HI_SUCCESS;
}

} // namespace atc::ascend

namespace {

/// Finds a channel for a JPEG call with one pointer that must not be NULL.
hi_s32 findJpeg(const char *function, hi_vdec_chn id, const void *pointer,
                std::shared_ptr<DecodeChannel> &channel) {
  HI_TRY(jpegChannels().find(function, id, channel));
  return pointer ? HI_SUCCESS
                 : hiFail(HI_ID_VDEC, HI_ERR_NULL_PTR, function, "a pointer of the call is NULL");
}

} // namespace

hi_u32 hi_vdec_get_pic_buf_size(hi_payload_type type, hi_pic_buf_attr *buf_attr) {
  const FormatFacts *facts =
      buf_attr ? factsOf(acldvppPixelFormat(buf_attr->pixel_format)) : nullptr;
  if (!facts || buf_attr->width > maxSide || buf_attr->height > maxSide)
    return 0;
  const uint32_t to = buf_attr->align > 16 && buf_attr->align <= 1024 ? buf_attr->align : 16;
  Picture picture;
  picture.widthStride = (buf_attr->width * facts->bytes + to - 1) / to * to;
  picture.heightStride = (buf_attr->height + 15) / 16 * 16;
  return hi_u32(pictureBytes(picture, *facts));
}

// Decoders have memory of their own.
hi_u32 hi_vdec_get_tmv_buf_size(hi_payload_type type, hi_u32 width, hi_u32 height) { return 0; }

hi_s32 hi_mpi_vdec_create_chn(hi_vdec_chn chn, const hi_vdec_chn_attr *attr) {
  hi_s32 error = HI_SUCCESS;
  auto channel = makeChannel(__func__, attr, error);
  return channel ? jpegChannels().add(__func__, chn, std::move(channel)) : error;
}

hi_s32 hi_mpi_vdec_sys_create_chn(hi_vdec_chn *chn, const hi_vdec_chn_attr *attr) {
  hi_s32 error = HI_SUCCESS;
  auto channel = makeChannel(__func__, attr, error);
  return channel ? jpegChannels().addAny(__func__, chn, std::move(channel)) : error;
}

hi_s32 hi_mpi_vdec_destroy_chn(hi_vdec_chn chn) {
  return destroyChannel(jpegChannels(), __func__, chn);
}

hi_s32 hi_mpi_vdec_get_chn_attr(hi_vdec_chn chn, hi_vdec_chn_attr *attr) {
  std::shared_ptr<DecodeChannel> channel;
  HI_TRY(findJpeg(__func__, chn, attr, channel));
  *attr = channel->attributes;
  return HI_SUCCESS;
}

hi_s32 hi_mpi_vdec_set_chn_param(hi_vdec_chn chn, const hi_vdec_chn_param *chn_param) {
  std::shared_ptr<DecodeChannel> channel;
  HI_TRY(findJpeg(__func__, chn, chn_param, channel));
  channel->parameters = *chn_param;
  return HI_SUCCESS;
}

hi_s32 hi_mpi_vdec_get_chn_param(hi_vdec_chn chn, hi_vdec_chn_param *chn_param) {
  std::shared_ptr<DecodeChannel> channel;
  HI_TRY(findJpeg(__func__, chn, chn_param, channel));
  *chn_param = channel->parameters;
  return HI_SUCCESS;
}

hi_s32 hi_mpi_vdec_start_recv_stream(hi_vdec_chn chn) {
  std::shared_ptr<DecodeChannel> channel;
  HI_TRY(jpegChannels().find(__func__, chn, channel));
  channel->started = true;
  return HI_SUCCESS;
}

hi_s32 hi_mpi_vdec_stop_recv_stream(hi_vdec_chn chn) {
  std::shared_ptr<DecodeChannel> channel;
  HI_TRY(jpegChannels().find(__func__, chn, channel));
  channel->started = false;
  return HI_SUCCESS;
}

hi_s32 hi_mpi_vdec_query_status(hi_vdec_chn chn, hi_vdec_chn_status *status) {
  std::shared_ptr<DecodeChannel> channel;
  HI_TRY(findJpeg(__func__, chn, status, channel));
  *status = {};
  status->type = channel->attributes.type;
  status->left_decoded_frames = hi_u32(channel->pictures.size());
  if (channel->video)
    status->left_stream_frames = hi_u32(channel->video->size());
  status->is_started = channel->started ? HI_TRUE : HI_FALSE;
  status->recv_stream_frames = status->dec_stream_frames = channel->sent;
  return HI_SUCCESS;
}

hi_s32 hi_mpi_vdec_reset_chn(hi_vdec_chn chn) {
  std::shared_ptr<DecodeChannel> channel;
  HI_TRY(jpegChannels().find(__func__, chn, channel));
  if (channel->video)
    channel->video->reset();
  channel->pictures.clear();
  channel->ready.follow(channel->pictures);
  return HI_SUCCESS;
}

hi_s32 hi_mpi_vdec_send_stream(hi_vdec_chn chn, const hi_vdec_stream *stream,
                               hi_vdec_pic_info *vdec_pic_info, hi_s32 milli_sec) {
  std::shared_ptr<DecodeChannel> channel;
  HI_TRY(findJpeg(__func__, chn, stream, channel));
  if (!channel->started)
    return hiFail(HI_ID_VDEC, HI_ERR_NOT_PERM, __func__,
                  "channel %d takes no files; call hi_mpi_vdec_start_recv_stream", chn);
  if (channel->video)
    return sendVideo(__func__, chn, *channel, *stream, vdec_pic_info, milli_sec);
  Decoded decoded{*stream, {}, false};
  const bool isEnd = stream->len == 0 && stream->end_of_stream;
  if (!isEnd) {
    if (!vdec_pic_info)
      return hiFail(HI_ID_VDEC, HI_ERR_NULL_PTR, __func__, "vdec_pic_info is NULL");
    hi_vdec_pic_info &info = *vdec_pic_info;
    hi_img_info header;
    decoded.picture = {reinterpret_cast<void *>(info.vir_addr),
                       info.buffer_size,
                       info.width,
                       info.height,
                       info.width_stride,
                       info.height_stride,
                       info.pixel_format};
    // A stream that is not a JPEG file yields a frame that is marked as bad, as a damaged file
    // does.
    decoded.good = hi_mpi_dvpp_get_image_info(HI_PT_JPEG, stream, &header) == HI_SUCCESS;
    if (decoded.good) {
      const aclError code =
          decodeFile(acldvppJpegDecodeAsync, stream->addr, stream->len, decoded.picture);
      if (code != ACL_SUCCESS && code != ACL_ERROR_UNSUPPORTED_JPEG)
        return hiError(HI_ID_VDEC, code);
      decoded.good = code == ACL_SUCCESS;
    }
    info.width = decoded.picture.picture_width;
    info.height = decoded.picture.picture_height;
    info.width_stride = decoded.picture.picture_width_stride;
    info.height_stride = decoded.picture.picture_height_stride;
    info.pixel_format = decoded.picture.picture_format;
  }
  if (!channel->pictures.push(decoded, milli_sec < 0 ? -1 : milli_sec, channel->destroyed))
    return hiFail(HI_ID_VDEC, HI_ERR_BUF_FULL, __func__, "256 pictures wait in channel %d", chn);
  channel->ready.follow(channel->pictures);
  ++channel->sent;
  return HI_SUCCESS;
}

hi_s32 hi_mpi_vdec_get_frame(hi_vdec_chn chn, hi_video_frame_info *frame_info,
                             hi_vdec_supplement_info *supplement, hi_vdec_stream *stream,
                             hi_s32 milli_sec) {
  std::shared_ptr<DecodeChannel> channel;
  HI_TRY(findJpeg(__func__, chn, frame_info, channel));
  if (!stream)
    return hiFail(HI_ID_VDEC, HI_ERR_NULL_PTR, __func__, "stream is NULL");
  Decoded decoded;
  HI_TRY(takePicture(HI_ID_VDEC, __func__, *channel, milli_sec, decoded));
  const hi_pic_info &picture = decoded.picture;
  *frame_info = {};
  frame_info->mod_id = HI_ID_VDEC;
  hi_video_frame &frame = frame_info->v_frame;
  frame.width = picture.picture_width;
  frame.height = picture.picture_height;
  frame.field = HI_VIDEO_FIELD_FRAME;
  frame.pixel_format = picture.picture_format;
  frame.pts = decoded.stream.pts;
  frame.frame_flag = decoded.good ? 0 : 1;
  for (int plane = 0; plane < HI_MAX_COLOR_COMPONENT; ++plane) {
    frame.width_stride[plane] = picture.picture_width_stride;
    frame.height_stride[plane] = picture.picture_height_stride;
  }
  auto *data = static_cast<hi_u8 *>(picture.picture_address);
  frame.virt_addr[0] = data;
  if (data && picture.picture_format != HI_PIXEL_FORMAT_RGB_888)
    frame.virt_addr[1] =
        data + size_t(picture.picture_width_stride) * picture.picture_height_stride;
  if (supplement) {
    *supplement = {};
    supplement->type = channel->attributes.type;
  }
  *stream = decoded.stream;
  return HI_SUCCESS;
}

hi_s32 hi_mpi_vdec_release_frame(hi_vdec_chn chn, const hi_video_frame_info *frame_info) {
  std::shared_ptr<DecodeChannel> channel;
  return findJpeg(__func__, chn, frame_info, channel);
}

hi_s32 hi_mpi_vdec_get_fd(hi_vdec_chn chn) {
  std::shared_ptr<DecodeChannel> channel;
  HI_TRY(jpegChannels().find(__func__, chn, channel));
  const int file = channel->ready.open(channel->pictures);
  return file >= 0 ? file
                   : hiFail(HI_ID_VDEC, HI_ERR_NO_BUF, __func__,
                            "the process may open no more descriptors");
}

hi_s32 hi_mpi_vdec_close_fd(hi_vdec_chn chn) {
  std::shared_ptr<DecodeChannel> channel;
  HI_TRY(jpegChannels().find(__func__, chn, channel));
  channel->ready.close();
  return HI_SUCCESS;
}

/// Reads the header of a PNG file. `channels` 1 to 4 are the colour formats of the file.
static hi_s32 pngInfo(const char *function, const void *data, hi_u32 bytes, hi_img_info &info) {
  int32_t channels = 0;
  HI_TRY(hiError(HI_ID_PNGD,
                 acldvppPngGetImageInfo(data, bytes, &info.width, &info.height, &channels)));
  constexpr hi_png_color_format formats[5] = {HI_PNG_COLOR_FORMAT_BUTT, HI_PNG_COLOR_FORMAT_GRAY,
                                              HI_PNG_COLOR_FORMAT_AGRAY, HI_PNG_COLOR_FORMAT_RGB,
                                              HI_PNG_COLOR_FORMAT_ARGB};
  info.png_pixel_format = formats[channels >= 1 && channels <= 4 ? channels : 0];
  const hi_u32 pixel = channels % 2 == 0 ? 4 : 3;
  info.width_stride = (info.width * pixel + 127) / 128 * 128;
  info.height_stride = (info.height + 15) / 16 * 16;
  return hiError(HI_ID_PNGD,
                 acldvppPngPredictDecSize(data, bytes, PIXEL_FORMAT_UNKNOWN, &info.img_buf_size));
}

hi_s32 hi_mpi_dvpp_get_image_info(hi_payload_type img_type, const hi_vdec_stream *stream,
                                  hi_img_info *img_info) {
  if (!stream || !img_info)
    return hiFail(HI_ID_VDEC, HI_ERR_NULL_PTR, __func__, "%s is NULL",
                  stream ? "img_info" : "stream");
  *img_info = {};
  if (img_type == HI_PT_PNG)
    return pngInfo(__func__, stream->addr, stream->len, *img_info);
  if (img_type != HI_PT_JPEG)
    return hiFail(HI_ID_VDEC, HI_ERR_NOT_SUPPORT, __func__,
                  "type %d; give HI_PT_JPEG (26) or HI_PT_PNG (268)", int(img_type));
  int32_t channels = 0;
  acldvppJpegFormat format = ACL_JPEG_CSS_UNKNOWN;
  HI_TRY(hiError(HI_ID_VDEC, acldvppJpegGetImageInfoV2(stream->addr, stream->len, &img_info->width,
                                                       &img_info->height, &channels, &format)));
  // The values of the two enumerations are the same.
  img_info->pixel_format = hi_jpeg_raw_format(int(format));
  img_info->width_stride = (img_info->width + 127) / 128 * 128;
  img_info->height_stride = (img_info->height + 15) / 16 * 16;
  return hiError(HI_ID_VDEC,
                 acldvppJpegPredictDecSize(stream->addr, stream->len, PIXEL_FORMAT_UNKNOWN,
                                           &img_info->img_buf_size));
}

hi_s32 hi_mpi_pngd_create_chn(hi_pngd_chn chn, const hi_pngd_chn_attr *attr) {
  if (!attr)
    return hiFail(HI_ID_PNGD, HI_ERR_NULL_PTR, __func__, "attr is NULL");
  return pngChannels().add(__func__, chn, std::make_shared<DecodeChannel>());
}

hi_s32 hi_mpi_pngd_sys_create_chn(hi_pngd_chn *chn, const hi_pngd_chn_attr *attr) {
  if (!attr)
    return hiFail(HI_ID_PNGD, HI_ERR_NULL_PTR, __func__, "attr is NULL");
  return pngChannels().addAny(__func__, chn, std::make_shared<DecodeChannel>());
}

hi_s32 hi_mpi_pngd_destroy_chn(hi_pngd_chn chn) {
  return destroyChannel(pngChannels(), __func__, chn);
}

hi_s32 hi_mpi_pngd_get_image_info(const hi_img_stream *img_stream, hi_img_info *img_info) {
  if (!img_stream || !img_info)
    return hiFail(HI_ID_PNGD, HI_ERR_NULL_PTR, __func__, "%s is NULL",
                  img_stream ? "img_info" : "img_stream");
  *img_info = {};
  return pngInfo(__func__, img_stream->addr, img_stream->len, *img_info);
}

hi_s32 hi_mpi_pngd_send_stream(hi_pngd_chn chn, const hi_img_stream *img_stream,
                               hi_pic_info *pic_info, hi_s32 milli_sec) {
  std::shared_ptr<DecodeChannel> channel;
  HI_TRY(pngChannels().find(__func__, chn, channel));
  if (!img_stream || !pic_info)
    return hiFail(HI_ID_PNGD, HI_ERR_NULL_PTR, __func__, "%s is NULL",
                  img_stream ? "pic_info" : "img_stream");
  Decoded decoded;
  decoded.stream.addr = img_stream->addr;
  decoded.stream.len = img_stream->len;
  decoded.stream.pts = img_stream->pts;
  HI_TRY(hiError(HI_ID_PNGD,
                 decodeFile(acldvppPngDecodeAsync, img_stream->addr, img_stream->len, *pic_info)));
  decoded.picture = *pic_info;
  decoded.good = true;
  if (!channel->pictures.push(decoded, milli_sec < 0 ? -1 : milli_sec, channel->destroyed))
    return hiFail(HI_ID_PNGD, HI_ERR_BUF_FULL, __func__, "256 pictures wait in channel %d", chn);
  return HI_SUCCESS;
}

hi_s32 hi_mpi_pngd_get_image_data(hi_pngd_chn chn, hi_pic_info *pic_info, hi_img_stream *stream,
                                  hi_s32 milli_sec) {
  std::shared_ptr<DecodeChannel> channel;
  HI_TRY(pngChannels().find(__func__, chn, channel));
  if (!pic_info || !stream)
    return hiFail(HI_ID_PNGD, HI_ERR_NULL_PTR, __func__, "%s is NULL",
                  pic_info ? "stream" : "pic_info");
  Decoded decoded;
  HI_TRY(takePicture(HI_ID_PNGD, __func__, *channel, milli_sec, decoded));
  *pic_info = decoded.picture;
  *stream = {HI_PT_PNG, decoded.stream.addr, decoded.stream.len, decoded.stream.pts, {}};
  return HI_SUCCESS;
}
