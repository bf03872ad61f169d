//===-- Detector.cpp - JPEG pictures to boxes, on the device --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Draws a picture with squares and stores it as JPEG, as a camera would. Then decodes it, fits it
// into the size of the model without a change of its proportions, executes the model, whose AIPP
// takes YUV420SP, removes overlapping boxes, and cuts out and encodes what was found.
// Usage: detector MODEL FOLDER

#define ENABLE_DVPP_INTERFACE
#include "acl/ops/acl_dvpp.h"
#include "test/ascend/programs/Program.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace {

constexpr uint32_t alignUp(uint32_t value, uint32_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

/// A picture in memory of the media unit, YUV420SP.
struct Image {
  Image(uint32_t width, uint32_t height, uint32_t widthAlign, uint32_t heightAlign)
      : width(width), height(height), widthStride(alignUp(width, widthAlign)),
        heightStride(alignUp(height, heightAlign)), bytes(widthStride * heightStride * 3 / 2) {
    CHECK_ACL(acldvppMalloc(&data, bytes));
    desc = acldvppCreatePicDesc();
    CHECK_ACL(acldvppSetPicDescData(desc, data));
    CHECK_ACL(acldvppSetPicDescSize(desc, bytes));
    CHECK_ACL(acldvppSetPicDescFormat(desc, PIXEL_FORMAT_YUV_SEMIPLANAR_420));
    CHECK_ACL(acldvppSetPicDescWidth(desc, width));
    CHECK_ACL(acldvppSetPicDescHeight(desc, height));
    CHECK_ACL(acldvppSetPicDescWidthStride(desc, widthStride));
    CHECK_ACL(acldvppSetPicDescHeightStride(desc, heightStride));
  }
  Image(const Image &) = delete;
  Image &operator=(const Image &) = delete;
  ~Image() {
    CHECK_ACL(acldvppDestroyPicDesc(desc));
    CHECK_ACL(acldvppFree(data));
  }
  /// Fills a rectangle of a picture on the host with a colour.
  void paint(std::vector<uint8_t> &host, uint32_t left, uint32_t top, uint32_t side, uint8_t y,
             uint8_t u, uint8_t v) const {
    for (uint32_t row = top; row < std::min(top + side, height); ++row)
      for (uint32_t column = left; column < std::min(left + side, width); ++column) {
        host[row * widthStride + column] = y;
        const size_t chroma = size_t(heightStride + row / 2) * widthStride + column / 2 * 2;
        host[chroma] = u;
        host[chroma + 1] = v;
      }
  }
  void upload(const std::vector<uint8_t> &host) {
    CHECK_ACL(aclrtMemcpy(data, bytes, host.data(), host.size(), ACL_MEMCPY_HOST_TO_DEVICE));
  }

  const uint32_t width, height, widthStride, heightStride, bytes;
  void *data = nullptr;
  acldvppPicDesc *desc = nullptr;
};

struct Box {
  float left, top, right, bottom, score;
  int kind;
  float area() const { return (right - left) * (bottom - top); }
};

float overlap(const Box &a, const Box &b) {
  const float width = std::min(a.right, b.right) - std::max(a.left, b.left);
  const float height = std::min(a.bottom, b.bottom) - std::max(a.top, b.top);
  const float common = std::max(width, 0.f) * std::max(height, 0.f);
  return common / (a.area() + b.area() - common);
}

/// The unit that decodes, resizes and encodes pictures.
class Media {
public:
  explicit Media(aclrtStream stream) : stream(stream) {
    CHECK_ACL(acldvppCreateChannel(channel));
    CHECK_ACL(acldvppSetJpegeConfigLevel(jpeg, 100));
  }
  ~Media() {
    CHECK_ACL(acldvppDestroyJpegeConfig(jpeg));
    CHECK_ACL(acldvppDestroyResizeConfig(resizing));
    CHECK_ACL(acldvppDestroyChannel(channel));
    CHECK_ACL(acldvppDestroyChannelDesc(channel));
  }

  std::vector<char> encode(const Image &image) {
    uint32_t size = 0;
    CHECK_ACL(acldvppJpegPredictEncSize(image.desc, jpeg, &size));
    void *memory = nullptr;
    CHECK_ACL(acldvppMalloc(&memory, size));
    CHECK_ACL(acldvppJpegEncodeAsync(channel, image.desc, memory, &size, jpeg, stream));
    CHECK_ACL(aclrtSynchronizeStream(stream));
    std::vector<char> bytes(size);
    CHECK_ACL(aclrtMemcpy(bytes.data(), size, memory, size, ACL_MEMCPY_DEVICE_TO_HOST));
    CHECK_ACL(acldvppFree(memory));
    return bytes;
  }

  /// Decodes to the strides that the size of a chip's decoder asks for.
  std::unique_ptr<Image> decode(const std::vector<char> &bytes) {
    uint32_t width = 0, height = 0, size = 0;
    int32_t components = 0;
    acldvppJpegFormat format;
    CHECK_ACL(acldvppJpegGetImageInfoV2(bytes.data(), uint32_t(bytes.size()), &width, &height,
                                        &components, &format));
    EXPECT(components == 3 && format == ACL_JPEG_CSS_420);
    auto image = std::make_unique<Image>(width, height, 64, 16);
    CHECK_ACL(acldvppJpegPredictDecSize(bytes.data(), uint32_t(bytes.size()),
                                        PIXEL_FORMAT_YUV_SEMIPLANAR_420, &size));
    void *memory = nullptr;
    CHECK_ACL(acldvppMalloc(&memory, bytes.size()));
    CHECK_ACL(
        aclrtMemcpy(memory, bytes.size(), bytes.data(), bytes.size(), ACL_MEMCPY_HOST_TO_DEVICE));
    CHECK_ACL(acldvppJpegDecodeAsync(channel, memory, uint32_t(bytes.size()), image->desc, stream));
    CHECK_ACL(aclrtSynchronizeStream(stream));
    EXPECT(acldvppGetPicDescRetCode(image->desc) == 0);
    CHECK_ACL(acldvppFree(memory));
    return image;
  }

  /// Pastes `source` into the middle of a gray picture, as large as fits; returns the scale.
  float fit(const Image &source, Image &target, uint32_t &left, uint32_t &top) {
    std::vector<uint8_t> gray(target.bytes, 128);
    target.upload(gray);
    const float scale = std::min(float(target.width) / float(source.width),
                                 float(target.height) / float(source.height));
    const uint32_t width = uint32_t(float(source.width) * scale) / 2 * 2;
    const uint32_t height = uint32_t(float(source.height) * scale) / 2 * 2;
    left = (target.width - width) / 2 / 16 * 16; // pastes begin at multiples of 16
    top = (target.height - height) / 2 / 2 * 2;
    acldvppRoiConfig *all =
        acldvppCreateRoiConfig(0, source.width / 2 * 2 - 1, 0, source.height / 2 * 2 - 1);
    acldvppRoiConfig *position =
        acldvppCreateRoiConfig(left, left + width - 1, top, top + height - 1);
    CHECK_ACL(acldvppVpcCropResizePasteAsync(channel, source.desc, target.desc, all, position,
                                             resizing, stream));
    CHECK_ACL(aclrtSynchronizeStream(stream));
    CHECK_ACL(acldvppDestroyRoiConfig(all));
    CHECK_ACL(acldvppDestroyRoiConfig(position));
    return scale;
  }

  void crop(const Image &source, Image &target, uint32_t left, uint32_t top) {
    acldvppRoiConfig *area =
        acldvppCreateRoiConfig(left, left + target.width - 1, top, top + target.height - 1);
    CHECK_ACL(acldvppVpcCropAsync(channel, source.desc, target.desc, area, stream));
    CHECK_ACL(aclrtSynchronizeStream(stream));
    CHECK_ACL(acldvppDestroyRoiConfig(area));
  }

private:
  const aclrtStream stream;
  acldvppChannelDesc *channel = acldvppCreateChannelDesc();
  acldvppResizeConfig *resizing = acldvppCreateResizeConfig();
  acldvppJpegeConfig *jpeg = acldvppCreateJpegeConfig();
};

/// Returns the boxes of the model's output, [cells, 4 + kinds]: centre, size and scores.
std::vector<Box> boxesOf(const std::vector<float> &values, size_t columns, float limit) {
  std::vector<Box> found;
  for (size_t row = 0; row + columns <= values.size(); row += columns) {
    const float *cell = &values[row];
    const float *best = std::max_element(cell + 4, cell + columns);
    if (*best >= limit)
      found.push_back({cell[0] - cell[2] / 2, cell[1] - cell[3] / 2, cell[0] + cell[2] / 2,
                       cell[1] + cell[3] / 2, *best, int(best - cell - 4)});
  }
  std::sort(found.begin(), found.end(),
            [](const Box &a, const Box &b) { return a.score > b.score; });
  std::vector<Box> kept;
  for (const Box &box : found)
    if (std::none_of(kept.begin(), kept.end(), [&](const Box &other) {
          return other.kind == box.kind && overlap(other, box) > 0.1f;
        }))
      kept.push_back(box);
  return kept;
}

} // namespace

int main(int argc, char **argv) {
  EXPECT(argc == 3);
  Resource resource;
  EXPECT(resource.mode == ACL_HOST);
  Media media(resource.stream);
  const std::string picture = std::string(argv[2]) + "/camera.jpg";
  {
    Image drawn(126, 96, 16, 2); // a width that no stride of a decoder has
    std::vector<uint8_t> host(drawn.bytes, 128);
    drawn.paint(host, 0, 0, 126, 60, 128, 128);
    drawn.paint(host, 16, 16, 32, 82, 90, 240);  // red
    drawn.paint(host, 64, 48, 32, 41, 240, 110); // blue
    drawn.upload(host);
    const std::vector<char> bytes = media.encode(drawn);
    std::ofstream(picture, std::ios::binary).write(bytes.data(), long(bytes.size()));
  }
  const auto decoded = media.decode(readFile(picture));

  Model model(argv[1]);
  aclmdlIODims dims;
  CHECK_ACL(aclmdlGetInputDims(model.desc, 0, &dims));
  EXPECT(aclmdlGetInputDataType(model.desc, 0) == ACL_UINT8 && dims.dimCount == 4);
  Image input(64, 64, 16, 2);
  EXPECT(aclmdlGetInputSizeByIndex(model.desc, 0) == input.bytes);
  uint32_t left = 0, top = 0;
  const float scale = media.fit(*decoded, input, left, top);

  // The model reads what the media unit wrote; nothing is copied.
  aclDataBuffer *buffer = aclmdlGetDatasetBuffer(model.inputs, 0);
  void *own = aclGetDataBufferAddr(buffer);
  CHECK_ACL(aclUpdateDataBuffer(buffer, input.data, input.bytes));
  model.execute();
  CHECK_ACL(aclUpdateDataBuffer(buffer, own, input.bytes));

  CHECK_ACL(aclmdlGetCurOutputDims(model.desc, 0, &dims));
  EXPECT(dims.dimCount == 3);
  const size_t columns = size_t(dims.dims[2]);
  int index = 0;
  for (const Box &box : boxesOf(model.get(0, size_t(dims.dims[1]) * columns), columns, 0.5f)) {
    const float x = (box.left - float(left)) / scale, y = (box.top - float(top)) / scale;
    const float side = (box.right - box.left) / scale;
    printf("%s %.0f %.0f %.0f %.2f", box.kind == 0 ? "red" : "blue", x, y, side, box.score);
    // What was found becomes a picture of its own.
    Image part(32, 32, 16, 2);
    media.crop(*decoded, part, uint32_t(std::max(x, 0.f)) / 2 * 2,
               uint32_t(std::max(y, 0.f)) / 2 * 2);
    const std::vector<char> bytes = media.encode(part);
    const auto again = media.decode(bytes);
    std::vector<uint8_t> host(again->bytes);
    CHECK_ACL(aclrtMemcpy(host.data(), host.size(), again->data, again->bytes,
                          ACL_MEMCPY_DEVICE_TO_HOST));
    const size_t centre = size_t(again->heightStride + 8) * again->widthStride + 16;
    printf(" u %d v %d\n", host[centre], host[centre + 1]);
    std::ofstream(std::string(argv[2]) + "/found" + std::to_string(index++) + ".jpg",
                  std::ios::binary)
        .write(bytes.data(), long(bytes.size()));
  }
  return 0;
}
