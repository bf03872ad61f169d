// Resizes a picture in YUV420SP with a channel of the picture processor.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Check.h"
#include "acl/ops/acl_dvpp.h"

static acldvppPicDesc *describe(void *data, uint32_t width, uint32_t height) {
  acldvppPicDesc *desc = acldvppCreatePicDesc();
  const uint32_t stride = (width + 15) / 16 * 16, rows = (height + 1) / 2 * 2;
  CHECK(acldvppSetPicDescData(desc, data));
  CHECK(acldvppSetPicDescFormat(desc, PIXEL_FORMAT_YUV_SEMIPLANAR_420));
  CHECK(acldvppSetPicDescWidth(desc, width));
  CHECK(acldvppSetPicDescHeight(desc, height));
  CHECK(acldvppSetPicDescWidthStride(desc, stride));
  CHECK(acldvppSetPicDescHeightStride(desc, rows));
  CHECK(acldvppSetPicDescSize(desc, stride * rows * 3 / 2));
  return desc;
}

/// resize in w h out w h
int main(int, char **argv) {
  CHECK(aclInit("./acl.json"));
  CHECK(aclrtSetDevice(0));
  aclrtContext context = nullptr;
  aclrtStream stream = nullptr;
  CHECK(aclrtCreateContext(&context, 0));
  CHECK(aclrtCreateStream(&stream));
  acldvppChannelDesc *channel = acldvppCreateChannelDesc();
  CHECK(acldvppCreateChannel(channel));
  const std::vector<char> picture = readFile(argv[1]);
  void *from = nullptr, *to = nullptr;
  CHECK(acldvppMalloc(&from, picture.size()));
  CHECK(
      aclrtMemcpy(from, picture.size(), picture.data(), picture.size(), ACL_MEMCPY_HOST_TO_DEVICE));
  const uint32_t width = atoi(argv[5]), height = atoi(argv[6]);
  const uint32_t size = (width + 15) / 16 * 16 * ((height + 1) / 2 * 2) * 3 / 2;
  CHECK(acldvppMalloc(&to, size));
  acldvppPicDesc *input = describe(from, atoi(argv[2]), atoi(argv[3]));
  acldvppPicDesc *output = describe(to, width, height);
  acldvppResizeConfig *config = acldvppCreateResizeConfig();
  CHECK(acldvppVpcResizeAsync(channel, input, output, config, stream));
  CHECK(aclrtSynchronizeStream(stream));
  std::vector<char> result(size);
  CHECK(aclrtMemcpy(result.data(), size, to, size, ACL_MEMCPY_DEVICE_TO_HOST));
  writeFile(argv[4], result.data(), size);
  CHECK(acldvppDestroyResizeConfig(config));
  CHECK(acldvppDestroyPicDesc(input));
  CHECK(acldvppDestroyPicDesc(output));
  CHECK(acldvppFree(from));
  CHECK(acldvppFree(to));
  CHECK(acldvppDestroyChannel(channel));
  CHECK(acldvppDestroyChannelDesc(channel));
  CHECK(aclrtDestroyStream(stream));
  CHECK(aclrtDestroyContext(context));
  CHECK(aclrtResetDevice(0));
  CHECK(aclFinalize());
  return 0;
}
