//===-- VideoEncode.cpp - channels that encode video --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ascend/dvpp/ChannelSlot.h"
#include "ascend/dvpp/VideoChannels.h"
#include "ascend/dvpp/VideoCodec.h"
#include "ascend/dvpp/VideoWorker.h"
#include "ascend/src/Errors.h"

#include <atomic>
#include <cstring>

namespace atc::ascend {

/// Encodes one stream; each picture is answered with its bytes.
class EncoderChannel {
public:
  EncoderChannel(const Encoder &desc, std::unique_ptr<VideoEncoder> codec)
      : callback(desc.callback), format(desc.format), buffer(desc.buffer),
        bufferSize(desc.bufferSize), codec(std::move(codec)), worker(desc.threadId) {}

  /// Encodes a picture, whose memory `source` shares.
  void send(acldvppPicDesc *input, const Picture &picture, std::shared_ptr<Block> source, bool key,
            void *userData) {
    worker.run([this, input, picture, source = std::move(source), key, userData] {
      std::vector<uint8_t> bytes;
      std::string error;
      bool good = false;
      if (!hasMemoryFor([&] {
            const Area all{0, picture.width - 1, 0, picture.height - 1};
            Planes planes = resizePlanes(loadPlanes(picture, all), picture.width, picture.height,
                                         *factsOf(PIXEL_FORMAT_YUV_SEMIPLANAR_420), 0,
                                         ACL_DVPP_CSC_MATRIX_BT601_NARROW);
            good = codec->encode(planes, key, bytes, error);
          }))
        error = "memory could not be allocated";
      answer(input, good, bytes, userData);
    });
  }

  /// Waits until the callbacks of all pictures were called; false where no thread runs them.
  bool finish() { return worker.drain(); }

private:
  /// Describes the bytes of a picture in device memory, which lasts until the callback returns.
  void answer(acldvppPicDesc *input, bool good, const std::vector<uint8_t> &bytes, void *userData) {
    auto part = std::make_shared<StreamPart>();
    part->format = format;
    std::shared_ptr<void> own;
    if (good && buffer && bufferSize >= bytes.size()) {
      part->data = buffer;
    } else if (good && !buffer &&
               allocate("aclvencSendFrame", &part->data, bytes.size(), true) == ACL_SUCCESS) {
      own.reset(part->data, [](void *memory) { release("aclvencSendFrame", memory, true); });
    }
    if (part->data) {
      memcpy(part->data, bytes.data(), bytes.size());
      part->size = uint32_t(bytes.size());
    } else {
      part->retCode = uint32_t(good ? ACL_ERROR_BAD_ALLOC : ACL_ERROR_FAILURE);
    }
    worker.call([function = callback, input, part, own, userData] {
      auto *handle = static_cast<acldvppStreamDesc *>(streamParts().add(part));
      function(input, handle, userData);
      streamParts().remove(handle);
    });
  }

  const aclvencCallback callback;
  const acldvppStreamFormat format;
  void *const buffer;
  const size_t bufferSize;
  std::unique_ptr<VideoEncoder> codec; // used by the worker's thread
  VideoWorker worker;                  // ends before what its tasks use
};

namespace {

std::mutex encodersMutex; // of Encoder::channel
std::atomic<uint32_t> nextChannel{0};

aclError checkSettings(const char *function, const Encoder &desc) {
  if (desc.width < 16 || desc.height < 16 || desc.width % 2 || desc.height % 2 ||
      desc.width > 4096 || desc.height > 4096)
    return fail(ACL_ERROR_INVALID_PARAM, function,
                "pictures have %u x %u pixels; give even numbers from 16 to 4096", desc.width,
                desc.height);
  if (desc.keyFrames < 1 || desc.keyFrames > 65536)
    return fail(ACL_ERROR_INVALID_PARAM, function, "the key frame interval is %u; give 1 to 65536",
                desc.keyFrames);
  if (desc.maxBitRate < 10 || desc.maxBitRate > 30000)
    return fail(ACL_ERROR_INVALID_PARAM, function,
                "the bit rate is %u kbit per second; give 10 to 30000", desc.maxBitRate);
  if (desc.sourceRate < 1 || desc.sourceRate > 120)
    return fail(ACL_ERROR_INVALID_PARAM, function,
                "there are %u pictures per second; give 1 to 120", desc.sourceRate);
  return ACL_SUCCESS;
}

} // namespace
} // namespace atc::ascend

using namespace atc::ascend;

aclError aclvencCreateChannel(aclvencChannelDesc *channelDesc) {
  ACL_FIND(desc, encoders(), channelDesc);
  if (!desc->callback)
    ACL_FAIL(ACL_ERROR_INVALID_PARAM, "no callback is set; call aclvencSetChannelDescCallback");
  if (desc->threadId == 0)
    ACL_FAIL(ACL_ERROR_INVALID_PARAM, "no thread is set for the callbacks; call "
                                      "aclvencSetChannelDescThreadId with its pthread_t");
  ACL_TRY(checkSettings(__func__, *desc));
  std::string error;
  auto codec = makeVideoEncoder(
      desc->format,
      VideoSettings{desc->width, desc->height, desc->sourceRate, desc->maxBitRate, desc->keyFrames},
      error);
  if (!codec)
    ACL_FAIL(ACL_ERROR_API_NOT_SUPPORT, "%s", error.c_str());
  ACL_TRY(startChannel(__func__, encodersMutex, desc->channel, *desc, std::move(codec)));
  desc->channelId = nextChannel++;
  return ACL_SUCCESS;
}

aclError aclvencDestroyChannel(aclvencChannelDesc *channelDesc) {
  ACL_FIND(desc, encoders(), channelDesc);
  return endChannel(__func__, encodersMutex, desc->channel);
}

aclError aclvencSendFrame(aclvencChannelDesc *channelDesc, acldvppPicDesc *input, void *reserve,
                          aclvencFrameConfig *config, void *userdata) {
  ACL_FIND(desc, encoders(), channelDesc);
  std::shared_ptr<EncoderChannel> channel;
  {
    std::lock_guard lock(encodersMutex);
    channel = desc->channel;
  }
  if (!channel)
    ACL_FAIL(ACL_ERROR_INVALID_PARAM,
             "channelDesc has no channel; call aclvencCreateChannel first");
  ACL_FIND(settings, encoderFrames(), config);
  if (settings->eos) {
    if (!channel->finish())
      ACL_FAIL(ACL_ERROR_RT_REPORT_TIMEOUT,
               "callbacks wait for their thread, which does not call aclrtProcessReport");
    return ACL_SUCCESS;
  }
  ACL_FIND(picture, picDescs(), input);
  Picture given = picture->get();
  if (given.width == 0 && given.height == 0) { // only memory was described
    given.width = desc->width;
    given.height = desc->height;
    given.format = desc->picture;
  }
  std::shared_ptr<Block> source;
  ACL_TRY(checkPicture(__func__, "input", given, source));
  if (given.width != desc->width || given.height != desc->height)
    ACL_FAIL(ACL_ERROR_INVALID_PARAM, "input has %u x %u pixels, the channel %u x %u", given.width,
             given.height, desc->width, desc->height);
  channel->send(input, given, std::move(source), settings->forceIFrame != 0, userdata);
  return ACL_SUCCESS;
}
