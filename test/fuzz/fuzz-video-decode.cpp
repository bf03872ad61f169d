//===-- fuzz-video-decode.cpp - no stream crashes the decoders of video ---===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An input is a stream that arrives in parts, as programs send it: the bytes up to the middle, the
// rest, and the end. The libraries behind the decoders are not instrumented here; what they hand
// over is.

#include "ascend/dvpp/Picture.h"
#include "ascend/dvpp/VideoCodec.h"

#include <cstdlib>

using namespace atc::ascend;

namespace {

/// Returns whether a stream gave a picture and no error. Pictures that are none, and errors without
/// a reason, abort.
bool decodeStream(acldvppStreamFormat format, const uint8_t *data, size_t size) {
  std::string error;
  auto decoder = makeVideoDecoder(format, error);
  if (!decoder)
    return false;
  unsigned pictures = 0;
  const TakePicture take = [&](const Planes &planes) {
    if (planes.channels.size() != 3)
      std::abort();
    const Plane &luma = planes.channels[0];
    for (unsigned index = 0; index < 3; ++index) {
      const Plane &plane = planes.channels[index];
      const unsigned shift = index == 0 ? 0 : 1;
      if (plane.width != shifted(luma.width, shift) ||
          plane.height != shifted(luma.height, shift) ||
          plane.data.size() != size_t(plane.width) * plane.height || plane.width > maxSide)
        std::abort();
    }
    ++pictures;
  };
  bool good = true;
  // The callers send nothing in which no unit begins.
  auto send = [&](const uint8_t *part, size_t bytes) {
    if (nextUnit(part, bytes, 0) == bytes)
      return;
    error.clear();
    const bool decoded = decoder->decode(part, bytes, take, error);
    if (decoded != error.empty())
      std::abort();
    good = good && decoded;
  };
  const size_t middle = nextUnit(data, size, size / 2);
  send(data, middle);
  send(data + middle, size - middle);
  decoder->flush(take);
  return good && pictures > 0;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const bool h264 = decodeStream(H264_MAIN_LEVEL, data, size);
  const bool h265 = decodeStream(H265_MAIN_LEVEL, data, size);
  return h264 || h265 ? 0 : -1;
}
