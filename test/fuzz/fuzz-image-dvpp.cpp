//===-- fuzz-image-dvpp.cpp - no picture crashes libacl_dvpp's decoders ---===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ascend/dvpp/Jpeg.h"

#include <cstdlib>

using namespace atc::ascend;

/// Returns 0 for files that are decoded. A decoder that fails says why.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  // Above this the time of one input is that of its pixels.
  constexpr uint64_t maxPixels = 1 << 20;
  bool decoded = false;
  ImageHeader header;
  std::string error;
  if (readJpegHeader(data, size, header, error) &&
      uint64_t(header.width) * header.height < maxPixels) {
    Planes planes;
    error.clear();
    decoded = decodeJpeg(data, size, planes, error);
    if (decoded != error.empty())
      std::abort();
    for (const Plane &plane : planes.channels)
      if (decoded && plane.data.size() != size_t(plane.width) * plane.height)
        std::abort();
  }
  if (readPngHeader(data, size, header, error) &&
      uint64_t(header.width) * header.height < maxPixels)
    for (bool alpha : {false, true}) {
      std::vector<uint8_t> pixels;
      error.clear();
      if (decodePng(data, size, alpha, pixels, error) != error.empty())
        std::abort();
      decoded |= error.empty();
    }
  return decoded ? 0 : -1;
}
