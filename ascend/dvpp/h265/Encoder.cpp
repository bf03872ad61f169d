//===-- Encoder.cpp - H.265 of intra pictures ---------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ascend/dvpp/VideoCodec.h"

#include "ascend/dvpp/h265/Slice.h"

#include <algorithm>
#include <cmath>

namespace atc::ascend {
namespace {

using namespace h265;

constexpr int minParameter = 10, maxParameter = 51;

uint32_t padded(uint32_t size) { return (size + kBlockSide - 1) / kBlockSide * kBlockSide; }

/// Repeats the last column and row up to whole blocks.
Plane pad(const Plane &plane, uint32_t width, uint32_t height) {
  Plane result(width, height);
  for (uint32_t y = 0; y < height; ++y)
    for (uint32_t x = 0; x < width; ++x)
      result.at(x, y) = plane.at(std::min(x, plane.width - 1), std::min(y, plane.height - 1));
  return result;
}

/// Encodes every picture by itself, so each is a key picture; its quantization follows the bit
/// rate.
class H265Encoder : public VideoEncoder {
public:
  explicit H265Encoder(const VideoSettings &settings) : settings(settings) {}

  bool encode(const Planes &planes, bool /*key*/, std::vector<uint8_t> &bytes,
              std::string &) override {
    Planes whole;
    for (const Plane &plane : planes.channels) {
      const bool luma = whole.channels.empty();
      whole.channels.push_back(pad(plane, padded(settings.width) / (luma ? 1 : 2),
                                   padded(settings.height) / (luma ? 1 : 2)));
    }
    const double wanted = settings.bitRate * 1000.0 / 8 / settings.rate;
    std::vector<uint8_t> slice;
    for (int attempt = 0; attempt < 4; ++attempt) {
      slice = encodeSlice(whole);
      const double excess = double(slice.size()) / wanted;
      if (excess <= 1.2 || parameter == maxParameter)
        break;
      // Bits are halved about every 6 steps.
      parameter =
          std::min(parameter + std::max(1, int(std::ceil(6 * std::log2(excess)))), maxParameter);
    }
    appendParameters(bytes);
    appendUnit(UnitType::IdrPicture, slice, bytes);
    if (const double spare = wanted / double(slice.size()); spare > 1.4)
      parameter = std::max(parameter - std::clamp(int(3 * std::log2(spare)), 1, 6), minParameter);
    return true;
  }

private:
  std::vector<uint8_t> encodeSlice(const Planes &picture) {
    BitWriter header;
    header.flag(true);  // the first slice of the picture
    header.flag(false); // earlier pictures are shown
    header.number(0);   // parameters
    header.number(2);   // intra
    header.signedNumber(parameter - 26);
    header.align();
    encodeBlocks(picture, parameter, header);
    return header.bytes;
  }

  /// Appends profile Main and the level that the size of pictures needs.
  void profile(BitWriter &writer) const {
    const uint64_t samples = uint64_t(padded(settings.width)) * padded(settings.height);
    writer.bits(1, 8);           // Main
    writer.bits(0x60000000, 32); // what else decodes it
    writer.flag(true);           // progressive
    writer.flag(false);
    writer.flag(false);
    writer.flag(true); // frames only
    writer.bits(0, 32);
    writer.bits(0, 12);
    const unsigned level = samples <= 552960    ? 93
                           : samples <= 2228224 ? 123
                           : samples <= 8912896 ? 153
                                                : 183;
    writer.bits(level, 8);
  }

  static void oneLayer(BitWriter &writer) {
    writer.flag(true);
    for (int i = 0; i < 3; ++i)
      writer.number(0); // one picture is kept, none waits
  }

  void appendParameters(std::vector<uint8_t> &bytes) const {
    BitWriter video;
    video.bits(0, 4);
    video.bits(3, 2); // a base layer
    video.bits(0, 9);
    video.flag(true);
    video.bits(0xFFFF, 16);
    profile(video);
    oneLayer(video);
    video.bits(0, 6);
    video.number(0);
    video.flag(true); // times
    video.bits(1, 32);
    video.bits(settings.rate, 32);
    video.flag(false);
    video.number(0);
    video.flag(false);
    video.align();
    appendUnit(UnitType::VideoParameters, video.bytes, bytes);

    BitWriter sequence;
    sequence.bits(1, 8); // one layer
    profile(sequence);
    sequence.number(0);
    sequence.number(1); // 4:2:0
    const uint32_t width = padded(settings.width), height = padded(settings.height);
    sequence.number(width);
    sequence.number(height);
    const bool cut = width != settings.width || height != settings.height;
    sequence.flag(cut);
    if (cut)
      for (uint32_t size : {0u, (width - settings.width) / 2, 0u, (height - settings.height) / 2})
        sequence.number(size);
    sequence.number(0); // 8 bits
    sequence.number(0);
    sequence.number(4);
    oneLayer(sequence);
    sequence.number(1); // blocks of 16,
    sequence.number(1); // trees of 32,
    sequence.number(0); // transforms of 4
    sequence.number(2); // to 16, which are not divided
    sequence.number(0);
    sequence.number(0);
    sequence.bits(0, 4); // no scaling lists, asymmetric parts, adaptive offsets, plain samples
    sequence.number(0);  // no sets of references
    sequence.bits(0, 5); // no long ones, motion, strong smoothing, usability, extension
    sequence.align();
    appendUnit(UnitType::SequenceParameters, sequence.bytes, bytes);

    BitWriter picture;
    picture.number(0);
    picture.number(0);
    picture.bits(0, 7); // no dependent slices, flags of output, extra bits, hidden signs, tables
    picture.number(0);
    picture.number(0);
    picture.signedNumber(0);
    picture.bits(0, 3); // no constrained prediction, skipped transforms, parameters per block
    picture.signedNumber(0);
    picture.signedNumber(0);
    picture.bits(0, 8); // no offsets, weights, bypass, tiles, wavefronts, filters across slices;
                        // edges of blocks are filtered as usual
    picture.bits(0, 2); // no scaling lists, changed lists
    picture.number(0);
    picture.bits(0, 2);
    picture.align();
    appendUnit(UnitType::PictureParameters, picture.bytes, bytes);
  }

  const VideoSettings settings;
  int parameter = 30;
};

} // namespace

std::unique_ptr<VideoEncoder> makeH265Encoder(const VideoSettings &settings) {
  return std::make_unique<H265Encoder>(settings);
}

} // namespace atc::ascend
