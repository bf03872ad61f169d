//===-- VideoTest.cpp - channels that decode and encode video -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#define ENABLE_DVPP_INTERFACE
#include "acl/ops/acl_dvpp.h"
#include "test/ascend/AclTest.h"

#include <atomic>
#include <cmath>
#include <cstring>
#include <vector>

#include <pthread.h>
#include <unistd.h>

namespace {

// Picture number i of each stream has 64 x 64 pixels: Y is 50 + 30 i on the left and 200 - 20 i on
// the right, U is 90 + 10 i, V is 160.

/// Four pictures of H.265, each with its bytes.
const std::vector<std::vector<uint8_t>> h265Pictures = {
    {0x00, 0x00, 0x00, 0x01, 0x40, 0x01, 0x0c, 0x01, 0xff, 0xff, 0x01, 0x60, 0x00, 0x00, 0x03, 0x00,
     0x90, 0x00, 0x00, 0x03, 0x00, 0x00, 0x03, 0x00, 0x1e, 0x92, 0x80, 0x90, 0x00, 0x00, 0x00, 0x01,
     0x42, 0x01, 0x01, 0x01, 0x60, 0x00, 0x00, 0x03, 0x00, 0x90, 0x00, 0x00, 0x03, 0x00, 0x00, 0x03,
     0x00, 0x1e, 0xa0, 0x20, 0x81, 0x05, 0x96, 0x4a, 0x92, 0x4c, 0xae, 0x68, 0x08, 0x00, 0x00, 0x03,
     0x00, 0x08, 0x00, 0x00, 0x03, 0x00, 0xc8, 0x40, 0x00, 0x00, 0x00, 0x01, 0x44, 0x01, 0xc1, 0x72,
     0xb4, 0x22, 0x40, 0x00, 0x00, 0x00, 0x01, 0x28, 0x01, 0xaf, 0x78, 0xeb, 0x02, 0x01, 0xff, 0xf4,
     0xa2, 0x5f, 0xfd, 0xa4, 0xfa, 0x5b, 0xa0, 0x14, 0x95, 0xff, 0x84, 0xe2, 0x40, 0xc3, 0xe0},
    {0x00, 0x00, 0x00, 0x01, 0x02, 0x01, 0xd0, 0x09, 0x7e, 0x10, 0xf0,
     0x2b, 0x81, 0x78, 0xe1, 0x03, 0x84, 0x18, 0x47, 0xf2, 0x4c, 0x8d,
     0x7f, 0xfb, 0x3a, 0x79, 0xff, 0xf6, 0xe1, 0xb3, 0x87, 0x8f},
    {0x00, 0x00, 0x00, 0x01, 0x02, 0x01, 0xd0, 0x11, 0xff, 0xd4, 0x43, 0xa0,
     0x10, 0x60, 0x23, 0x8e, 0x12, 0x38, 0x49, 0x84, 0x50, 0xf2, 0x4c, 0x8d,
     0x7f, 0xfb, 0xb0, 0xf9, 0xff, 0xf7, 0xc5, 0xb3, 0x87, 0x8f},
    {0x00, 0x00, 0x00, 0x01, 0x02, 0x01, 0xd0, 0x18, 0x9f, 0xfd, 0xcc, 0xa4,
     0x07, 0x60, 0x3e, 0x84, 0x05, 0x84, 0x05, 0x98, 0x45, 0xf2, 0x33, 0x7e,
     0xf4, 0x17, 0xe2, 0x7f, 0xf4, 0xa3, 0x9d, 0x6d, 0x03, 0xb6},
};

/// Six pictures of H.264, main profile, of which four refer to later ones (sent as 0 3 1 2 5 4).
const std::vector<std::vector<uint8_t>> h264WithB = {
    {0x00, 0x00, 0x00, 0x01, 0x67, 0x4d, 0x40, 0x0a, 0xec, 0xa2, 0x13, 0x42, 0x00, 0x00,
     0x03, 0x00, 0x02, 0x00, 0x00, 0x03, 0x00, 0x64, 0x1e, 0x24, 0x4b, 0x2c, 0x00, 0x00,
     0x00, 0x01, 0x68, 0xeb, 0xe3, 0xcb, 0x20, 0x00, 0x00, 0x00, 0x01, 0x65, 0x88, 0x84,
     0x00, 0x2f, 0xff, 0xfe, 0xdb, 0x5b, 0xf3, 0x2c, 0xa7, 0x58, 0x6a, 0xb0, 0xc9, 0xb1,
     0xb4, 0xaa, 0xeb, 0xf5, 0xc2, 0x5c, 0x96, 0x54, 0xad, 0xed, 0xed, 0x7a, 0xdb, 0xa1,
     0x6d, 0xd3, 0x1c, 0x3f, 0x16, 0x7d, 0xf1, 0x3b, 0xd4, 0x41},
    {0x00, 0x00, 0x00, 0x01, 0x41, 0x9a, 0x23, 0x6c, 0x42, 0xbf, 0xbe, 0xcc, 0x13,
     0xcc, 0xaf, 0x83, 0x73, 0xc0, 0xe5, 0xb4, 0xe0, 0xbf, 0x2d, 0x1c, 0x96, 0x5c,
     0xc7, 0x56, 0x59, 0x47, 0xde, 0x9c, 0x0a, 0xaa, 0xae, 0x7a, 0x17, 0xa6, 0xf6},
    {0x00, 0x00, 0x00, 0x01, 0x41, 0x9e, 0x41, 0x78, 0x85, 0x7f, 0x0c, 0x39},
    {0x00, 0x00, 0x00, 0x01, 0x01, 0x9e, 0x62, 0x6a, 0x42, 0xbf, 0x0c, 0x38},
    {0x00, 0x00, 0x00, 0x01, 0x41, 0x9a, 0x65, 0x49, 0xa8, 0x41, 0x68, 0x99, 0x4c,
     0x14, 0xf0, 0xaf, 0x89, 0x63, 0xd1, 0x1b, 0x64, 0x13, 0xe0, 0x7c, 0x27, 0x7b,
     0xc9, 0x1e, 0x8b, 0xf3, 0x3e, 0x86, 0x5f, 0xff, 0x10, 0x7f, 0x44, 0xfe, 0xca,
     0xcb, 0x54, 0xb8, 0x0f, 0x67, 0x39, 0x57, 0xa6, 0x83, 0xe8, 0x8d, 0x5c, 0xe1},
    {0x00, 0x00, 0x00, 0x01, 0x01, 0x9e, 0x84, 0x6a, 0x42, 0xbf, 0x0c, 0x39},
};

/// The thread that runs callbacks, as programs have one.
struct Reporter {
  Reporter() {
    REQUIRE(aclrtGetCurrentContext(&context) == ACL_SUCCESS);
    REQUIRE(pthread_create(&thread, nullptr, &run, this) == 0);
  }
  ~Reporter() {
    stop = true;
    if (cancel)
      pthread_cancel(thread);
    pthread_join(thread, nullptr);
  }
  static void *run(void *self) {
    auto *reporter = static_cast<Reporter *>(self);
    aclrtSetCurrentContext(reporter->context);
    while (!reporter->stop)
      aclrtProcessReport(reporter->cancel ? reporter->timeout.load() : 10);
    return nullptr;
  }

  aclrtContext context = nullptr;
  pthread_t thread{};
  std::atomic<bool> stop{false}, cancel{false};
  std::atomic<int32_t> timeout{60000};
};

/// Holds what callbacks report.
struct Results {
  struct One {
    uint32_t code = 0, width = 0, height = 0, size = 0;
    uint8_t left = 0, right = 0, u = 0, v = 0;
    uint8_t skipped = 0;
  };
  std::vector<One> all;
};

void decoded(acldvppStreamDesc *, acldvppPicDesc *output, void *userData) {
  auto &results = *static_cast<Results *>(userData);
  Results::One one;
  if (!output) {
    one.skipped = 1;
    results.all.push_back(one);
    return;
  }
  one.code = acldvppGetPicDescRetCode(output);
  one.width = acldvppGetPicDescWidth(output);
  one.height = acldvppGetPicDescHeight(output);
  one.size = acldvppGetPicDescSize(output);
  auto *pixels = static_cast<uint8_t *>(acldvppGetPicDescData(output));
  if (one.code == 0) {
    const uint32_t stride = acldvppGetPicDescWidthStride(output);
    const uint32_t rows = acldvppGetPicDescHeightStride(output);
    one.left = pixels[20 * stride + 10];
    one.right = pixels[20 * stride + 50];
    one.u = pixels[rows * stride + 10 * stride + 20];
    one.v = pixels[rows * stride + 10 * stride + 21];
  }
  results.all.push_back(one);
  acldvppFree(pixels);
  acldvppDestroyPicDesc(output);
}

/// A channel that decodes with callbacks to `decoded`.
struct Decoding {
  explicit Decoding(acldvppStreamFormat format) {
    GOOD(aclvdecSetChannelDescChannelId(desc, 10));
    GOOD(aclvdecSetChannelDescThreadId(desc, uint64_t(reporter.thread)));
    GOOD(aclvdecSetChannelDescCallback(desc, decoded));
    GOOD(aclvdecSetChannelDescEnType(desc, format));
    GOOD(aclvdecSetChannelDescOutPicFormat(desc, PIXEL_FORMAT_YUV_SEMIPLANAR_420));
  }
  ~Decoding() {
    GOOD(acldvppDestroyStreamDesc(part));
    GOOD(aclvdecDestroyChannelDesc(desc));
  }
  /// Creates the channel; false where this build has no library for the format.
  bool create() {
    const aclError code = aclvdecCreateChannel(desc);
    if (code == ACL_ERROR_API_NOT_SUPPORT) {
      WARN("skipped: " << aclGetRecentErrMsg());
      return false;
    }
    REQUIRE(code == ACL_SUCCESS);
    return true;
  }
  /// Sends bytes, and an output of `room` bytes.
  aclError send(const std::vector<uint8_t> &bytes, uint32_t room = 64 * 64 * 3 / 2) {
    void *data = nullptr;
    REQUIRE(acldvppMalloc(&data, bytes.size()) == ACL_SUCCESS);
    memcpy(data, bytes.data(), bytes.size());
    GOOD(acldvppSetStreamDescData(part, data));
    GOOD(acldvppSetStreamDescSize(part, uint32_t(bytes.size())));
    acldvppPicDesc *output = acldvppCreatePicDesc();
    void *pixels = nullptr;
    REQUIRE(acldvppMalloc(&pixels, room) == ACL_SUCCESS);
    GOOD(acldvppSetPicDescData(output, pixels));
    GOOD(acldvppSetPicDescSize(output, room));
    GOOD(acldvppSetPicDescFormat(output, PIXEL_FORMAT_YUV_SEMIPLANAR_420));
    const aclError code = aclvdecSendFrame(desc, part, output, nullptr, &results);
    GOOD(acldvppFree(data)); // the channel keeps it until it is decoded
    return code;
  }

  Reporter reporter;
  Results results;
  acldvppStreamDesc *part = acldvppCreateStreamDesc();
  aclvdecChannelDesc *desc = aclvdecCreateChannelDesc();
};

bool near(int value, int wanted) { return value >= wanted - 8 && value <= wanted + 8; }

void checkPictures(const std::vector<Results::One> &all, size_t count) {
  REQUIRE(all.size() == count);
  for (size_t i = 0; i < count; ++i) {
    INFO("picture " << i << ": " << int(all[i].left) << " " << int(all[i].right));
    CHECK(all[i].code == 0);
    CHECK((all[i].width == 64 && all[i].height == 64 && all[i].size == 64 * 64 * 3 / 2));
    CHECK(near(all[i].left, 50 + 30 * int(i)));
    CHECK(near(all[i].right, 200 - 20 * int(i)));
    CHECK(near(all[i].u, 90 + 10 * int(i)));
    CHECK(near(all[i].v, 160));
  }
}

} // namespace

TEST_CASE("H.265 is decoded, one callback per picture") {
  Started started;
  Decoding decoding(H265_MAIN_LEVEL);
  if (!decoding.create())
    return;
  for (const auto &bytes : h265Pictures)
    CHECK(decoding.send(bytes) == ACL_SUCCESS);
  GOOD(aclvdecDestroyChannel(decoding.desc));
  checkPictures(decoding.results.all, h265Pictures.size());
}

TEST_CASE("H.264 is decoded in the order in which pictures are shown") {
  Started started;
  Decoding decoding(H264_MAIN_LEVEL);
  if (!decoding.create())
    return;
  SECTION("a picture per call") {
    for (const auto &bytes : h264WithB)
      CHECK(decoding.send(bytes) == ACL_SUCCESS);
  }
  SECTION("all pictures in one call, outputs with the next") {
    std::vector<uint8_t> all;
    for (const auto &bytes : h264WithB)
      all.insert(all.end(), bytes.begin(), bytes.end());
    for (int i = 0; i < 2; ++i)
      CHECK(decoding.send(all) == ACL_SUCCESS);
    GOOD(aclvdecDestroyChannel(decoding.desc));
    REQUIRE(decoding.results.all.size() == 2);
    CHECK(near(decoding.results.all[0].left, 50));
    return;
  }
  // The end of the stream waits for all callbacks, and another stream may follow.
  acldvppStreamDesc *end = acldvppCreateStreamDesc();
  GOOD(acldvppSetStreamDescEos(end, 1));
  GOOD(aclvdecSendFrame(decoding.desc, end, nullptr, nullptr, nullptr));
  checkPictures(decoding.results.all, h264WithB.size());
  CHECK(decoding.send(h264WithB[0]) == ACL_SUCCESS);
  GOOD(aclvdecSendFrame(decoding.desc, end, nullptr, nullptr, nullptr));
  CHECK(decoding.results.all.size() == h264WithB.size() + 1);
  CHECK(near(decoding.results.all.back().left, 50));
  GOOD(acldvppDestroyStreamDesc(end));
  GOOD(aclvdecDestroyChannel(decoding.desc));
}

TEST_CASE("a picture that cannot be decoded has a code, and one may be skipped") {
  Started started;
  Decoding decoding(H265_MAIN_LEVEL);
  if (!decoding.create())
    return;
  CHECK(decoding.send(h265Pictures[0], 100) == ACL_SUCCESS); // no room
  CHECK(decoding.send(std::vector<uint8_t>(200, 0x55)) == ACL_SUCCESS);
  void *data = nullptr;
  REQUIRE(acldvppMalloc(&data, h265Pictures[0].size()) == ACL_SUCCESS);
  memcpy(data, h265Pictures[0].data(), h265Pictures[0].size());
  GOOD(acldvppSetStreamDescData(decoding.part, data));
  GOOD(acldvppSetStreamDescSize(decoding.part, uint32_t(h265Pictures[0].size())));
  GOOD(aclvdecSendSkippedFrame(decoding.desc, decoding.part, nullptr, &decoding.results));
  GOOD(acldvppFree(data));
  GOOD(aclvdecDestroyChannel(decoding.desc));
  const auto &all = decoding.results.all;
  REQUIRE(all.size() == 3);
  CHECK(all[0].code != 0);
  CHECK(all[0].skipped + all[1].skipped + all[2].skipped == 1);
  CHECK(all[1].code + all[2].code != 0);
  BAD(ACL_ERROR_INVALID_PARAM, aclvdecDestroyChannel(decoding.desc));
}

TEST_CASE("channels of video say what they lack") {
  Started started;
  aclvdecChannelDesc *desc = aclvdecCreateChannelDesc();
  GOOD(aclvdecSetChannelDescOutPicWidth(desc, 1920));
  CHECK(aclvdecGetChannelDescOutPicWidth(desc) == 1920);
  uint32_t value = 0;
  size_t size = 0;
  GOOD(aclvdecGetChannelDescParam(desc, ACL_VDEC_OUT_PIC_WIDTH_UINT32, 4, &size, &value));
  CHECK((value == 1920 && size == 4));
  BAD(ACL_ERROR_INVALID_PARAM, aclvdecCreateChannel(desc)); // no callback
  GOOD(aclvdecSetChannelDescCallback(desc, decoded));
  BAD(ACL_ERROR_INVALID_PARAM, aclvdecCreateChannel(desc)); // no thread
  acldvppStreamDesc *part = acldvppCreateStreamDesc();
  BAD(ACL_ERROR_INVALID_RESOURCE_HANDLE, aclvdecSendFrame(desc, part, nullptr, nullptr, nullptr));
  GOOD(acldvppDestroyStreamDesc(part));
  GOOD(aclvdecDestroyChannelDesc(desc));
  BAD(ACL_ERROR_INVALID_RESOURCE_HANDLE, aclvdecDestroyChannelDesc(desc));

  aclvencChannelDesc *encoder = aclvencCreateChannelDesc();
  GOOD(aclvencSetChannelDescThreadId(encoder, 1));
  GOOD(
      aclvencSetChannelDescCallback(encoder, [](acldvppPicDesc *, acldvppStreamDesc *, void *) {}));
  GOOD(aclvencSetChannelDescPicWidth(encoder, 63));
  GOOD(aclvencSetChannelDescPicHeight(encoder, 64));
  BAD(ACL_ERROR_INVALID_PARAM, aclvencCreateChannel(encoder)); // odd
  GOOD(aclvencSetChannelDescPicWidth(encoder, 64));
  GOOD(aclvencSetChannelDescEnType(encoder, acldvppStreamFormat(4)));
  BAD(ACL_ERROR_API_NOT_SUPPORT, aclvencCreateChannel(encoder)); // no such format
  GOOD(aclvencDestroyChannelDesc(encoder));
}

namespace {

/// The bytes that an encoder's callback was given.
struct Stream {
  std::vector<std::vector<uint8_t>> pictures;
  static void add(acldvppPicDesc *, acldvppStreamDesc *output, void *userData) {
    CHECK(acldvppGetStreamDescRetCode(output) == 0);
    auto *data = static_cast<uint8_t *>(acldvppGetStreamDescData(output));
    const uint32_t size = acldvppGetStreamDescSize(output);
    static_cast<Stream *>(userData)->pictures.emplace_back(data, data + size);
  }
};

/// Describes a channel that encodes pictures of this size and passes them on to a Stream, in the
/// thread that reports what is decoded.
aclvencChannelDesc *describeEncoder(const Decoding &decoding, uint32_t width, uint32_t height) {
  aclvencChannelDesc *desc = aclvencCreateChannelDesc();
  GOOD(aclvencSetChannelDescThreadId(desc, uint64_t(decoding.reporter.thread)));
  GOOD(aclvencSetChannelDescCallback(desc, &Stream::add));
  GOOD(aclvencSetChannelDescPicWidth(desc, width));
  GOOD(aclvencSetChannelDescPicHeight(desc, height));
  return desc;
}

} // namespace

TEST_CASE("what is encoded is decoded again") {
  Started started;
  const auto format = GENERATE(H264_MAIN_LEVEL, H265_MAIN_LEVEL);
  Decoding decoding(format);
  if (!decoding.create())
    return;
  Stream stream;
  aclvencChannelDesc *desc = describeEncoder(decoding, 64, 64);
  GOOD(aclvencSetChannelDescEnType(desc, format));
  GOOD(aclvencSetChannelDescPicFormat(desc, PIXEL_FORMAT_YUV_SEMIPLANAR_420));
  GOOD(aclvencSetChannelDescKeyFrameInterval(desc, 16));
  GOOD(aclvencCreateChannel(desc));
  aclvencFrameConfig *config = aclvencCreateFrameConfig();
  acldvppPicDesc *picture = acldvppCreatePicDesc();
  constexpr int count = 5;
  for (int i = 0; i < count; ++i) {
    void *pixels = nullptr;
    REQUIRE(acldvppMalloc(&pixels, 64 * 64 * 3 / 2) == ACL_SUCCESS);
    auto *bytes = static_cast<uint8_t *>(pixels);
    for (int at = 0; at < 64 * 64; ++at)
      bytes[at] = uint8_t(at % 64 < 32 ? 50 + 30 * i : 200 - 20 * i);
    for (int at = 0; at < 64 * 32; at += 2) {
      bytes[64 * 64 + at] = uint8_t(90 + 10 * i);
      bytes[64 * 64 + at + 1] = 160;
    }
    GOOD(acldvppSetPicDescData(picture, pixels));
    GOOD(acldvppSetPicDescSize(picture, 64 * 64 * 3 / 2));
    GOOD(acldvppSetPicDescFormat(picture, PIXEL_FORMAT_YUV_SEMIPLANAR_420));
    GOOD(acldvppSetPicDescWidth(picture, 64));
    GOOD(acldvppSetPicDescHeight(picture, 64));
    GOOD(aclvencSetFrameConfigForceIFrame(config, i == 3));
    GOOD(aclvencSendFrame(desc, picture, nullptr, config, &stream));
    GOOD(acldvppFree(pixels));
  }
  GOOD(acldvppSetPicDescWidth(picture, 32));
  BAD(ACL_ERROR_INVALID_PARAM, aclvencSendFrame(desc, picture, nullptr, config, &stream));
  GOOD(aclvencSetFrameConfigEos(config, 1));
  GOOD(aclvencSendFrame(desc, nullptr, nullptr, config, nullptr));
  CHECK(stream.pictures.size() == count);
  GOOD(aclvencDestroyChannel(desc));
  GOOD(aclvencDestroyChannelDesc(desc));
  GOOD(aclvencDestroyFrameConfig(config));
  GOOD(acldvppDestroyPicDesc(picture));
  for (const auto &bytes : stream.pictures)
    CHECK(decoding.send(bytes) == ACL_SUCCESS);
  GOOD(aclvdecDestroyChannel(decoding.desc));
  checkPictures(decoding.results.all, count);
}

TEST_CASE("pictures of H.265 keep their details at a bit rate, whatever their size") {
  Started started;
  constexpr uint32_t width = 90, height = 58, stride = 96;
  constexpr uint32_t bytes = stride * height * 3 / 2;
  const auto rate = GENERATE(30000u, 400u);
  Decoding decoding(H265_MAIN_LEVEL);
  if (!decoding.create())
    return;
  Stream stream;
  aclvencChannelDesc *desc = describeEncoder(decoding, width, height);
  GOOD(aclvencSetChannelDescMaxBitRate(desc, rate));
  GOOD(aclvencCreateChannel(desc));
  aclvencFrameConfig *config = aclvencCreateFrameConfig();
  // The description says where the picture is only; the rest is the channel's.
  acldvppPicDesc *picture = acldvppCreatePicDesc();
  void *memory = nullptr;
  REQUIRE(acldvppMalloc(&memory, bytes) == ACL_SUCCESS);
  GOOD(acldvppSetPicDescData(picture, memory));
  GOOD(acldvppSetPicDescSize(picture, bytes));
  auto *pixels = static_cast<uint8_t *>(memory);
  unsigned noise = 1;
  for (uint32_t y = 0; y < height * 3 / 2; ++y)
    for (uint32_t x = 0; x < stride; ++x) {
      noise = noise * 1103515245 + 12345;
      const int wave = int(60 * std::sin(x * 0.11) + 50 * std::cos(y * 0.17)); // and an edge
      pixels[y * stride + x] =
          uint8_t(120 + wave + (x > 40 && y > 20 ? 30 : 0) + (noise >> 16) % 5);
    }
  const std::vector<uint8_t> original(pixels, pixels + bytes);
  for (int i = 0; i < 3; ++i)
    GOOD(aclvencSendFrame(desc, picture, nullptr, config, &stream));
  GOOD(aclvencSetFrameConfigEos(config, 1));
  GOOD(aclvencSendFrame(desc, nullptr, nullptr, config, nullptr));
  REQUIRE(stream.pictures.size() == 3);
  for (const auto &encoded : stream.pictures)
    CHECK(encoded.size() < rate * 1000 / 8 / 30 * 3 / 2);

  struct Decoded {
    std::vector<uint8_t> pixels;
    static void take(acldvppStreamDesc *, acldvppPicDesc *output, void *userData) {
      CHECK(acldvppGetPicDescRetCode(output) == 0);
      CHECK((acldvppGetPicDescWidth(output) == width && acldvppGetPicDescHeight(output) == height));
      auto *data = static_cast<uint8_t *>(acldvppGetPicDescData(output));
      static_cast<Decoded *>(userData)->pixels.assign(data, data + bytes);
    }
  } decoded;
  GOOD(aclvdecDestroyChannel(decoding.desc));
  GOOD(aclvdecSetChannelDescCallback(decoding.desc, &Decoded::take));
  GOOD(aclvdecCreateChannel(decoding.desc));
  acldvppPicDesc *output = acldvppCreatePicDesc();
  GOOD(acldvppSetPicDescData(output, memory));
  GOOD(acldvppSetPicDescSize(output, bytes));
  GOOD(acldvppSetPicDescFormat(output, PIXEL_FORMAT_YUV_SEMIPLANAR_420));
  void *data = nullptr;
  REQUIRE(acldvppMalloc(&data, stream.pictures[2].size()) == ACL_SUCCESS);
  memcpy(data, stream.pictures[2].data(), stream.pictures[2].size());
  GOOD(acldvppSetStreamDescData(decoding.part, data));
  GOOD(acldvppSetStreamDescSize(decoding.part, uint32_t(stream.pictures[2].size())));
  GOOD(aclvdecSendFrame(decoding.desc, decoding.part, output, nullptr, &decoded));
  GOOD(aclvdecDestroyChannel(decoding.desc));
  REQUIRE(decoded.pixels.size() == bytes);
  double luma = 0, chroma = 0;
  for (uint32_t y = 0; y < height * 3 / 2; ++y)
    for (uint32_t x = 0; x < width; ++x) {
      const double difference = double(decoded.pixels[y * stride + x]) - original[y * stride + x];
      (y < height ? luma : chroma) += difference * difference;
    }
  const double limit = rate > 10000 ? 4 : 60; // mean squares: 42 and 30 dB
  CHECK(luma / (width * height) < limit);
  CHECK(chroma / (width * height / 2) < limit);
  for (acldvppPicDesc *each : {picture, output})
    GOOD(acldvppDestroyPicDesc(each));
  GOOD(acldvppFree(data));
  GOOD(acldvppFree(memory));
  GOOD(aclvencDestroyChannel(desc));
  GOOD(aclvencDestroyChannelDesc(desc));
  GOOD(aclvencDestroyFrameConfig(config));
}

TEST_CASE("a thread that waits for callbacks can be cancelled") {
  Started started;
  const bool endless = GENERATE(false, true);
  aclrtStream stream = nullptr;
  GOOD(aclrtCreateStream(&stream));
  {
    Reporter reporter;
    reporter.timeout = endless ? -1 : 60000;
    GOOD(aclrtSubscribeReport(uint64_t(reporter.thread), stream));
    reporter.cancel = true; // its next wait ends by that alone
    usleep(30000);
  }
  GOOD(aclrtDestroyStream(stream));
}
