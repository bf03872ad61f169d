//===-- HiEncode.cpp - hi_mpi_venc_... ----------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "acl/dvpp/hi_dvpp_venc.h"

#include "ascend/dvpp/HiEncodeSettings.h"
#include "ascend/dvpp/HiVideo.h"
#include "ascend/dvpp/ReadyFile.h"
#include "ascend/src/stream/WaitingQueue.h"

#include "acl/acl_rt.h"

#include <cstring>

using namespace atc::ascend;

namespace {

/// Holds a JPEG file, or the bytes of a picture of video, in device memory.
struct Encoded {
  hi_u8 *data = nullptr;
  hi_u32 bytes = 0, unitType = 0;
  hi_u64 pts = 0, input = 0;
  bool own = false; ///< Whether the channel has allocated `data`.
};

struct EncodeChannel {
  explicit EncodeChannel(const hi_venc_chn_attr &attributes)
      : settings(attributes), attributes(attributes.venc_attr) {}

  bool encodesVideo() const { return attributes.type != HI_PT_JPEG; }

  EncodeSettings settings;
  hi_venc_jpeg_param parameters{};
  std::atomic<bool> started{false}, destroyed{false};
  std::atomic<hi_u32> sent{0};
  std::mutex mutex;
  std::map<void *, bool> taken; ///< Memory that hi_mpi_venc_release_stream frees.
  WaitingQueue<Encoded> files{256};
  ReadyFile ready;
  const hi_venc_attr attributes;
  std::mutex codecMutex;
  std::unique_ptr<VideoEncoder> video; ///< null for files of pictures; under `codecMutex`
  std::atomic<bool> wantsKey{false};
};

HiChannels<EncodeChannel> &encodeChannels() {
  static auto &channels = *new HiChannels<EncodeChannel>(HI_ID_VENC, VENC_MAX_CHN_NUM);
  return channels;
}

/// Makes a channel of the attributes; null with the error where they are not of pictures.
std::shared_ptr<EncodeChannel> makeChannel(const char *function, const hi_venc_chn_attr *attr,
                                           hi_s32 &error) {
  if (!attr) {
    error = hiFail(HI_ID_VENC, HI_ERR_NULL_PTR, function, "attr is NULL");
    return nullptr;
  }
  const hi_payload_type type = attr->venc_attr.type;
  if (type != HI_PT_JPEG && type != HI_PT_H264 && type != HI_PT_H265) {
    error = hiFail(HI_ID_VENC, HI_ERR_NOT_SUPPORT, function,
                   "type %d is not encoded; HI_PT_JPEG (26), HI_PT_H264 (96) and HI_PT_H265 (265) "
                   "are",
                   int(type));
    return nullptr;
  }
  auto channel = std::make_shared<EncodeChannel>(*attr);
  if (type != HI_PT_JPEG) {
    channel->video = makeHiVideoEncoder(function, *attr, error);
    if (!channel->video)
      return nullptr;
  }
  channel->parameters.qfactor = 90;
  return channel;
}

hi_s32 findChannelWith(const char *function, hi_venc_chn id, const void *pointer,
                       std::shared_ptr<EncodeChannel> &channel) {
  HI_TRY(encodeChannels().find(function, id, channel));
  return pointer ? HI_SUCCESS
                 : hiFail(HI_ID_VENC, HI_ERR_NULL_PTR, function, "a pointer of the call is NULL");
}

/// Returns the picture of a frame. A frame has no size: it is what its strides say, and the memory
/// is checked for that.
Picture pictureOf(const hi_video_frame &frame) {
  Picture picture;
  picture.data = frame.virt_addr[0];
  picture.format = acldvppPixelFormat(frame.pixel_format);
  picture.width = frame.width;
  picture.height = frame.height;
  picture.widthStride = frame.width_stride[0];
  picture.heightStride = frame.height_stride[0];
  if (const FormatFacts *facts = factsOf(picture.format)) {
    if (picture.widthStride == 0)
      picture.widthStride = (picture.width * facts->bytes + 15) / 16 * 16;
    if (picture.heightStride == 0)
      picture.heightStride = (picture.height + 1) / 2 * 2;
    picture.size = uint32_t(pictureBytes(picture, *facts));
  }
  return picture;
}

/// Holds a picture and a quality as handles of the first interface, until it ends.
class EncodeCall {
public:
  EncodeCall(const hi_video_frame &frame, hi_u32 quality) {
    const Picture picture = pictureOf(frame);
    acldvppSetPicDescData(desc, picture.data);
    acldvppSetPicDescSize(desc, picture.size);
    acldvppSetPicDescFormat(desc, picture.format);
    acldvppSetPicDescWidth(desc, picture.width);
    acldvppSetPicDescHeight(desc, picture.height);
    acldvppSetPicDescWidthStride(desc, picture.widthStride);
    acldvppSetPicDescHeightStride(desc, picture.heightStride);
    acldvppSetJpegeConfigLevel(config, quality > 100 ? 90 : quality);
  }
  EncodeCall(const EncodeCall &) = delete;
  EncodeCall &operator=(const EncodeCall &) = delete;
  ~EncodeCall() {
    acldvppDestroyPicDesc(desc);
    acldvppDestroyJpegeConfig(config);
  }

  aclError predict(uint32_t *bytes) { return acldvppJpegPredictEncSize(desc, config, bytes); }

  /// Encodes to device memory; *bytes is the room before, the size after.
  aclError encode(void *data, uint32_t *bytes) {
    acldvppChannelDesc *channel = acldvppCreateChannelDesc();
    aclrtStream stream = nullptr;
    aclError code = acldvppCreateChannel(channel);
    if (code == ACL_SUCCESS)
      code = aclrtCreateStream(&stream);
    if (code == ACL_SUCCESS) {
      code = acldvppJpegEncodeAsync(channel, desc, data, bytes, config, stream);
      if (code == ACL_SUCCESS)
        code = aclrtSynchronizeStream(stream);
      aclrtDestroyStream(stream);
      acldvppDestroyChannel(channel);
    }
    acldvppDestroyChannelDesc(channel);
    return code;
  }

private:
  acldvppPicDesc *desc = acldvppCreatePicDesc();
  acldvppJpegeConfig *config = acldvppCreateJpegeConfig();
};

/// Encodes a picture of video to memory of the channel.
hi_s32 encodeFrame(const char *function, EncodeChannel &channel, const hi_video_frame &frame,
                   Encoded &file) {
  const Picture picture = pictureOf(frame);
  const hi_venc_attr &wanted = channel.attributes;
  if (picture.width != wanted.pic_width || picture.height != wanted.pic_height)
    return hiFail(HI_ID_VENC, HI_ERR_ILLEGAL_PARAM, function,
                  "the frame has %u x %u pixels, the channel %u x %u", picture.width,
                  picture.height, wanted.pic_width, wanted.pic_height);
  std::vector<uint8_t> bytes;
  {
    std::lock_guard lock(channel.codecMutex);
    HI_TRY(encodeVideo(function, *channel.video, wanted.type, picture,
                       channel.wantsKey.exchange(false), bytes, file.unitType));
  }
  void *data = nullptr;
  HI_TRY(hiError(HI_ID_VENC, acldvppMalloc(&data, bytes.size())));
  memcpy(data, bytes.data(), bytes.size());
  file.data = static_cast<hi_u8 *>(data);
  file.bytes = hi_u32(bytes.size());
  file.own = true;
  return HI_SUCCESS;
}

/// Encodes a picture to `target`, or to memory of the channel where that has no address.
hi_s32 encodePicture(const EncodeChannel &channel, const hi_video_frame &frame,
                     const hi_img_stream *target, Encoded &file) {
  EncodeCall call(frame, channel.parameters.qfactor);
  void *data = target ? target->addr : nullptr;
  file.bytes = target ? target->len : 0;
  if (!target) {
    HI_TRY(hiError(HI_ID_VENC, call.predict(&file.bytes)));
    HI_TRY(hiError(HI_ID_VENC, acldvppMalloc(&data, file.bytes)));
    file.own = true;
  }
  file.data = static_cast<hi_u8 *>(data);
  return hiError(HI_ID_VENC, call.encode(data, &file.bytes));
}

/// Encodes a frame to `target`, or to memory of the channel where that has no address.
hi_s32 sendFrame(const char *function, hi_venc_chn id, const hi_video_frame_info *info,
                 const hi_img_stream *target, hi_s32 timeout) {
  std::shared_ptr<EncodeChannel> channel;
  HI_TRY(findChannelWith(function, id, info, channel));
  if (!channel->started)
    return hiFail(HI_ID_VENC, HI_ERR_NOT_PERM, function,
                  "channel %d takes no pictures; call hi_mpi_venc_start_chn", id);
  if (channel->encodesVideo() && target)
    return hiFail(HI_ID_VENC, HI_ERR_NOT_SUPPORT, function,
                  "channel %d encodes video; call hi_mpi_venc_send_frame", id);
  Encoded file;
  file.pts = info->v_frame.pts;
  file.input = reinterpret_cast<hi_u64>(info->v_frame.virt_addr[0]);
  hi_s32 error = channel->encodesVideo() ? encodeFrame(function, *channel, info->v_frame, file)
                                         : encodePicture(*channel, info->v_frame, target, file);
  if (!error && !channel->files.push(file, timeout < 0 ? -1 : timeout, channel->destroyed))
    error = hiFail(HI_ID_VENC, HI_ERR_BUF_FULL, function, "256 files wait in channel %d", id);
  if (error && file.own)
    acldvppFree(file.data);
  channel->ready.follow(channel->files);
  if (!error)
    ++channel->sent;
  return error;
}

} // namespace

hi_s32 atc::ascend::findEncodeSettings(const char *function, hi_s32 id,
                                       std::shared_ptr<EncodeSettings> &settings) {
  std::shared_ptr<EncodeChannel> channel;
  HI_TRY(encodeChannels().find(function, id, channel));
  settings = std::shared_ptr<EncodeSettings>(channel, &channel->settings);
  return HI_SUCCESS;
}

hi_s32 hi_mpi_venc_create_chn(hi_venc_chn chn, const hi_venc_chn_attr *attr) {
  hi_s32 error = HI_SUCCESS;
  auto channel = makeChannel(__func__, attr, error);
  return channel ? encodeChannels().add(__func__, chn, std::move(channel)) : error;
}

hi_s32 hi_mpi_venc_sys_create_chn(hi_venc_chn *chn, const hi_venc_chn_attr *attr) {
  hi_s32 error = HI_SUCCESS;
  auto channel = makeChannel(__func__, attr, error);
  return channel ? encodeChannels().addAny(__func__, chn, std::move(channel)) : error;
}

hi_s32 hi_mpi_venc_destroy_chn(hi_venc_chn chn) {
  std::shared_ptr<EncodeChannel> channel;
  HI_TRY(encodeChannels().remove(__func__, chn, channel));
  Encoded file;
  static const std::atomic<bool> never{false};
  while (channel->files.pop(0, never, [&](Encoded &oldest) {
    file = oldest;
    return true;
  }))
    if (file.own)
      acldvppFree(file.data);
  channel->destroyed = true;
  channel->files.wake();
  channel->ready.close();
  std::lock_guard lock(channel->mutex);
  for (auto &[data, own] : channel->taken)
    if (own)
      acldvppFree(data);
  channel->taken.clear();
  return HI_SUCCESS;
}

hi_s32 hi_mpi_venc_set_chn_attr(hi_venc_chn chn, const hi_venc_chn_attr *attr) {
  std::shared_ptr<EncodeChannel> channel;
  HI_TRY(findChannelWith(__func__, chn, attr, channel));
  const hi_venc_attr &given = attr->venc_attr, &held = channel->attributes;
  if (given.type != held.type || given.pic_width != held.pic_width ||
      given.pic_height != held.pic_height || given.profile != held.profile)
    return hiFail(HI_ID_VENC, HI_ERR_NOT_PERM, __func__,
                  "the type, the profile and the size of channel %d stay; the rate can be changed",
                  chn);
  std::unique_ptr<VideoEncoder> video;
  if (channel->encodesVideo()) {
    hi_s32 error = HI_SUCCESS;
    video = makeHiVideoEncoder(__func__, *attr, error);
    if (!video)
      return error;
  }
  // The next picture begins a stream of the new rate, with a picture that needs no other.
  std::scoped_lock lock(channel->codecMutex, channel->settings.mutex);
  channel->video = std::move(video);
  channel->settings.attributes = *attr;
  return HI_SUCCESS;
}

hi_s32 hi_mpi_venc_start_chn(hi_venc_chn chn, const hi_venc_start_param *recv_param) {
  std::shared_ptr<EncodeChannel> channel;
  HI_TRY(findChannelWith(__func__, chn, recv_param, channel));
  channel->started = true;
  return HI_SUCCESS;
}

hi_s32 hi_mpi_venc_stop_chn(hi_venc_chn chn) {
  std::shared_ptr<EncodeChannel> channel;
  HI_TRY(encodeChannels().find(__func__, chn, channel));
  channel->started = false;
  return HI_SUCCESS;
}

hi_s32 hi_mpi_venc_query_status(hi_venc_chn chn, hi_venc_chn_status *status) {
  std::shared_ptr<EncodeChannel> channel;
  HI_TRY(findChannelWith(__func__, chn, status, channel));
  *status = {};
  status->left_stream_frames = hi_u32(channel->files.size());
  status->cur_packs = status->left_stream_frames ? 1 : 0;
  return HI_SUCCESS;
}

hi_s32 hi_mpi_venc_get_fd(hi_venc_chn chn) {
  std::shared_ptr<EncodeChannel> channel;
  HI_TRY(encodeChannels().find(__func__, chn, channel));
  const int file = channel->ready.open(channel->files);
  return file >= 0 ? file
                   : hiFail(HI_ID_VENC, HI_ERR_NO_BUF, __func__,
                            "the process may open no more descriptors");
}

hi_s32 hi_mpi_venc_close_fd(hi_venc_chn chn) {
  std::shared_ptr<EncodeChannel> channel;
  HI_TRY(encodeChannels().find(__func__, chn, channel));
  channel->ready.close();
  return HI_SUCCESS;
}

hi_s32 hi_mpi_venc_request_idr(hi_venc_chn chn, hi_bool instant) {
  std::shared_ptr<EncodeChannel> channel;
  HI_TRY(encodeChannels().find(__func__, chn, channel));
  if (!channel->encodesVideo())
    return hiFail(HI_ID_VENC, HI_ERR_NOT_SUPPORT, __func__, "channel %d encodes no video", chn);
  channel->wantsKey = true;
  return HI_SUCCESS;
}

hi_s32 hi_mpi_venc_set_jpeg_param(hi_venc_chn chn, const hi_venc_jpeg_param *jpeg_param) {
  std::shared_ptr<EncodeChannel> channel;
  HI_TRY(findChannelWith(__func__, chn, jpeg_param, channel));
  const hi_u32 quality = jpeg_param->qfactor;
  if (quality == 0 || (quality > 100 && quality != 0xFFFFFFFFU))
    return hiFail(HI_ID_VENC, HI_ERR_ILLEGAL_PARAM, __func__,
                  "qfactor is %u; give 1 to 100, or 0xFFFFFFFF", quality);
  channel->parameters = *jpeg_param;
  return HI_SUCCESS;
}

hi_s32 hi_mpi_venc_get_jpeg_param(hi_venc_chn chn, hi_venc_jpeg_param *jpeg_param) {
  std::shared_ptr<EncodeChannel> channel;
  HI_TRY(findChannelWith(__func__, chn, jpeg_param, channel));
  *jpeg_param = channel->parameters;
  return HI_SUCCESS;
}

hi_s32 hi_mpi_venc_get_jpege_predicted_size(const hi_video_frame_info *frame,
                                            const hi_venc_jpeg_param *jpeg_param, hi_u32 *size) {
  if (!frame || !jpeg_param || !size)
    return hiFail(HI_ID_VENC, HI_ERR_NULL_PTR, __func__, "an argument is NULL");
  EncodeCall call(frame->v_frame, jpeg_param->qfactor);
  return hiError(HI_ID_VENC, call.predict(size));
}

hi_s32 hi_mpi_venc_send_frame(hi_venc_chn chn, const hi_video_frame_info *frame, hi_s32 milli_sec) {
  return sendFrame(__func__, chn, frame, nullptr, milli_sec);
}

hi_s32 hi_mpi_venc_send_jpege_frame(hi_venc_chn chn, const hi_video_frame_info *frame,
                                    const hi_img_stream *jpege_stream, hi_s32 milli_sec) {
  std::shared_ptr<EncodeChannel> channel;
  HI_TRY(findChannelWith(__func__, chn, jpege_stream, channel));
  return sendFrame(__func__, chn, frame, jpege_stream, milli_sec);
}

hi_s32 hi_mpi_venc_get_stream(hi_venc_chn chn, hi_venc_stream *stream, hi_s32 milli_sec) {
  std::shared_ptr<EncodeChannel> channel;
  HI_TRY(findChannelWith(__func__, chn, stream, channel));
  if (!stream->pack || stream->pack_cnt == 0)
    return hiFail(HI_ID_VENC, HI_ERR_ILLEGAL_PARAM, __func__,
                  "stream->pack is NULL, or pack_cnt 0; give room for one pack");
  if (milli_sec < -1)
    return hiFail(HI_ID_VENC, HI_ERR_ILLEGAL_PARAM, __func__,
                  "milli_sec is %d; give milliseconds, or -1", milli_sec);
  Encoded file;
  if (!channel->files.pop(milli_sec, channel->destroyed, [&](Encoded &oldest) {
        file = oldest;
        return true;
      }))
    return hiFail(HI_ID_VENC, HI_ERR_BUF_EMPTY, __func__, "no file is there, or comes in time");
  channel->ready.follow(channel->files);
  {
    std::lock_guard lock(channel->mutex);
    channel->taken[file.data] = file.own;
  }
  hi_venc_pack &pack = stream->pack[0];
  pack = {};
  pack.input_addr = file.input;
  pack.addr = file.data;
  pack.len = file.bytes;
  pack.pts = file.pts;
  pack.is_frame_end = HI_TRUE;
  if (channel->encodesVideo())
    pack.data_type.h264_type = file.unitType;
  else
    pack.data_type.jpeg_type = HI_VENC_JPEG_PACK_PIC;
  stream->pack_cnt = 1;
  stream->seq = channel->sent;
  stream->jpeg_info = {file.bytes, 0, channel->parameters.qfactor};
  return HI_SUCCESS;
}

hi_s32 hi_mpi_venc_release_stream(hi_venc_chn chn, hi_venc_stream *stream) {
  std::shared_ptr<EncodeChannel> channel;
  HI_TRY(findChannelWith(__func__, chn, stream, channel));
  if (!stream->pack || stream->pack_cnt == 0)
    return hiFail(HI_ID_VENC, HI_ERR_ILLEGAL_PARAM, __func__, "stream->pack is NULL");
  std::lock_guard lock(channel->mutex);
  auto taken = channel->taken.find(stream->pack[0].addr);
  if (taken == channel->taken.end())
    return hiFail(HI_ID_VENC, HI_ERR_ILLEGAL_PARAM, __func__,
                  "the stream was released, or is of another channel");
  if (taken->second)
    acldvppFree(taken->first);
  channel->taken.erase(taken);
  return HI_SUCCESS;
}
