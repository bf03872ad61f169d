//===-- VideoDecode.cpp - channels that decode video --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ascend/dvpp/ChannelSlot.h"
#include "ascend/dvpp/VideoChannels.h"
#include "ascend/dvpp/VideoCodec.h"
#include "ascend/dvpp/VideoWorker.h"
#include "ascend/src/Errors.h"

namespace atc::ascend {

/// Decodes one stream. Pictures come in the order in which they are shown, and go to the outputs
/// in the order in which those were sent.
class DecoderChannel {
public:
  DecoderChannel(const Decoder &desc, std::unique_ptr<VideoDecoder> codec)
      : callback(desc.callback), format(desc.picture), width(desc.width), height(desc.height),
        matrix(acldvppCscMatrix(desc.matrix)), codec(std::move(codec)), worker(desc.threadId) {}

  /// Holds what a call sends; `output` is null where the picture is skipped.
  struct Sent {
    acldvppStreamDesc *input = nullptr;
    acldvppPicDesc *outputHandle = nullptr;
    std::shared_ptr<PicDesc> output;
    std::shared_ptr<Block> memory;
    void *userData = nullptr;
  };

  /// Decodes `bytes` bytes of device memory, which `source` shares.
  void send(const void *data, size_t bytes, std::shared_ptr<Block> source, Sent sent) {
    worker.run([this, data, bytes, source = std::move(source), sent = std::move(sent)] {
      waiting.push_back(sent);
      bool came = false;
      std::string error;
      bool good = false;
      const auto *units = static_cast<const uint8_t *>(data);
      if (!hasMemoryFor([&] {
            good =
                nextUnit(units, bytes, 0) < bytes && codec->decode(units, bytes, take(came), error);
          }))
        error = "memory could not be allocated";
      if (!good && !came && !waiting.empty()) {
        Sent failed = std::move(waiting.back());
        waiting.pop_back();
        giveUp(failed);
      }
    });
  }

  /// Passes on all pictures, and waits until the callbacks were called; false where no thread
  /// runs them.
  bool finish() {
    worker.run([this] {
      bool came = false;
      codec->flush(take(came));
      while (!waiting.empty()) {
        giveUp(waiting.front());
        waiting.pop_front();
      }
    });
    return worker.drain();
  }

private:
  TakePicture take(bool &came) {
    return [this, &came](Planes planes) {
      came = true;
      if (waiting.empty())
        return; // more pictures than outputs
      Sent sent = std::move(waiting.front());
      waiting.pop_front();
      if (sent.output)
        store(planes, sent);
      answer(sent);
    };
  }

  /// Writes a picture to the memory of an output and describes it there, or says there why not.
  void store(const Planes &planes, const Sent &sent) {
    Picture picture = sent.output->get();
    if (picture.format == PIXEL_FORMAT_YUV_400) // the value of a description that names none
      picture.format = format;
    picture.width = width ? width : planes.channels[0].width;
    picture.height = height ? height : planes.channels[0].height;
    std::shared_ptr<Block> block;
    if (aclError code = checkPicture("aclvdecSendFrame", "output", picture, block)) {
      sent.output->change([&](Picture &result) { result.retCode = uint32_t(code); });
      return;
    }
    const FormatFacts &facts = *factsOf(picture.format);
    if (!hasMemoryFor([&] {
          storePlanes(resizePlanes(planes, picture.width, picture.height, facts, 0, matrix),
                      picture, Area{0, picture.width - 1, 0, picture.height - 1});
        })) {
      sent.output->change([](Picture &result) { result.retCode = uint32_t(ACL_ERROR_BAD_ALLOC); });
      return;
    }
    picture.size = uint32_t(pictureBytes(picture, facts));
    picture.retCode = 0;
    sent.output->change([&](Picture &result) { result = picture; });
  }

  /// Answers a call whose bytes gave no picture.
  void giveUp(const Sent &sent) {
    if (sent.output)
      sent.output->change([](Picture &result) { result.retCode = uint32_t(ACL_ERROR_FAILURE); });
    answer(sent);
  }

  void answer(const Sent &sent) {
    worker.call(
        [function = callback, sent] { function(sent.input, sent.outputHandle, sent.userData); });
  }

  const aclvdecCallback callback;
  const acldvppPixelFormat format;
  const uint32_t width, height;
  const acldvppCscMatrix matrix;
  std::unique_ptr<VideoDecoder> codec; // used by the worker's thread
  std::deque<Sent> waiting;            // likewise
  VideoWorker worker;                  // ends before what its tasks use
};

namespace {

std::mutex decodersMutex; // of Decoder::channel

std::shared_ptr<DecoderChannel> channelOf(Decoder &desc) {
  std::lock_guard lock(decodersMutex);
  return desc.channel;
}

aclError sendToDecoder(const char *function, aclvdecChannelDesc *channelDesc,
                       acldvppStreamDesc *input, acldvppPicDesc *output, bool skipped,
                       void *userData) {
  auto desc = decoders().find(channelDesc);
  std::shared_ptr<DecoderChannel> channel = desc ? channelOf(*desc) : nullptr;
  if (!channel)
    return fail(channelDesc ? ACL_ERROR_INVALID_RESOURCE_HANDLE : ACL_ERROR_INVALID_PARAM, function,
                "channelDesc has no channel; call aclvdecCreateChannel first");
  auto stream = streamParts().find(input);
  if (!stream)
    return fail(input ? ACL_ERROR_INVALID_RESOURCE_HANDLE : ACL_ERROR_INVALID_PARAM, function,
                "input (%p) is no description of a stream", static_cast<const void *>(input));
  const StreamPart part = *stream;
  if (part.eos) {
    if (channel->finish())
      return ACL_SUCCESS;
    return fail(ACL_ERROR_RT_REPORT_TIMEOUT, function,
                "callbacks wait for their thread, which does not call aclrtProcessReport");
  }
  std::shared_ptr<Block> source;
  if (aclError code = requireDevice(function, "the data of input", part.data, part.size, source))
    return code;
  if (part.size == 0)
    return fail(ACL_ERROR_INVALID_PARAM, function, "input has 0 bytes");
  DecoderChannel::Sent sent;
  sent.input = input;
  sent.userData = userData;
  if (!skipped) {
    sent.output = picDescs().find(output);
    if (!sent.output)
      return fail(output ? ACL_ERROR_INVALID_RESOURCE_HANDLE : ACL_ERROR_INVALID_PARAM, function,
                  "output (%p) is no description of a picture", static_cast<const void *>(output));
    sent.outputHandle = output;
    const Picture picture = sent.output->get();
    if (aclError code =
            requireDevice(function, "the data of output", picture.data, picture.size, sent.memory))
      return code;
  }
  channel->send(part.data, part.size, std::move(source), std::move(sent));
  return ACL_SUCCESS;
}

} // namespace
} // namespace atc::ascend

using namespace atc::ascend;

aclError aclvdecCreateChannel(aclvdecChannelDesc *channelDesc) {
  ACL_FIND(desc, decoders(), channelDesc);
  if (!desc->callback)
    ACL_FAIL(ACL_ERROR_INVALID_PARAM, "no callback is set; call aclvdecSetChannelDescCallback");
  if (desc->threadId == 0)
    ACL_FAIL(ACL_ERROR_INVALID_PARAM, "no thread is set for the callbacks; call "
                                      "aclvdecSetChannelDescThreadId with its pthread_t");
  if (!factsOf(desc->picture))
    ACL_FAIL(ACL_ERROR_FORMAT_NOT_MATCH, "pictures of format %d are not written here",
             int(desc->picture));
  std::string error;
  auto codec = makeVideoDecoder(desc->format, error);
  if (!codec)
    ACL_FAIL(error.empty() ? ACL_ERROR_BAD_ALLOC : ACL_ERROR_API_NOT_SUPPORT, "%s",
             error.empty() ? "memory could not be allocated" : error.c_str());
  return startChannel(__func__, decodersMutex, desc->channel, *desc, std::move(codec));
}

aclError aclvdecDestroyChannel(aclvdecChannelDesc *channelDesc) {
  ACL_FIND(desc, decoders(), channelDesc);
  return endChannel(__func__, decodersMutex, desc->channel);
}

aclError aclvdecSendFrame(aclvdecChannelDesc *channelDesc, acldvppStreamDesc *input,
                          acldvppPicDesc *output, aclvdecFrameConfig *config, void *userData) {
  return sendToDecoder(__func__, channelDesc, input, output, false, userData);
}

aclError aclvdecSendSkippedFrame(aclvdecChannelDesc *channelDesc, acldvppStreamDesc *input,
                                 aclvdecFrameConfig *config, void *userData) {
  return sendToDecoder(__func__, channelDesc, input, nullptr, true, userData);
}
