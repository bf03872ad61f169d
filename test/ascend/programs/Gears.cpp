//===-- Gears.cpp - one program for all kinds of dynamic models -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Asks a model which batches, sizes of images or dims it was compiled for, and executes it with
// each. Its input is ones; what is printed is the shape and the sum of the output.
// With `aipp`, sets the parameters of dynamic AIPP, and executes the model with a buffer for the
// largest image and with one for its own. With `shape D,D,...`, sets the shape of an
// input with dims of any size. Usage: gears MODEL [aipp WIDTH HEIGHT | shape DIMS...]

#include "test/ascend/programs/Program.h"

#include <cstring>
#include <sstream>

namespace {

/// Executes the model with ones of the type of its input, and prints what comes out.
void run(Model &model, const std::string &name, const aclmdlIODims *shape = nullptr) {
  aclDataBuffer *buffer = aclmdlGetDatasetBuffer(model.inputs, 0);
  const size_t bytes = aclGetDataBufferSizeV2(buffer);
  if (aclmdlGetInputDataType(model.desc, 0) == ACL_UINT8) {
    CHECK_ACL(aclrtMemset(aclGetDataBufferAddr(buffer), bytes, 1, bytes));
  } else {
    const std::vector<float> ones(bytes / sizeof(float), 1);
    model.set(0, ones.data(), bytes);
  }
  model.execute();
  aclmdlIODims dims;
  if (shape) {
    aclTensorDesc *desc = aclmdlGetDatasetTensorDesc(model.outputs, 0);
    EXPECT(desc);
    dims.dimCount = aclGetTensorDescNumDims(desc);
    for (size_t i = 0; i < dims.dimCount; ++i)
      CHECK_ACL(aclGetTensorDescDimV2(desc, i, &dims.dims[i]));
  } else {
    CHECK_ACL(aclmdlGetCurOutputDims(model.desc, 0, &dims));
  }
  size_t count = 1;
  printf("%s ->", name.c_str());
  for (size_t i = 0; i < dims.dimCount; ++i) {
    printf(" %ld", long(dims.dims[i]));
    count *= size_t(dims.dims[i]);
  }
  double sum = 0;
  for (float value : model.get(0, count))
    sum += value;
  printf(" sum %.3f\n", sum);
}

void runBatches(Model &model, size_t index, const aclmdlBatch &batches) {
  for (size_t i = 0; i < batches.batchCount; ++i) {
    CHECK_ACL(aclmdlSetDynamicBatchSize(model.id, model.inputs, index, batches.batch[i]));
    run(model, "batch " + std::to_string(batches.batch[i]));
  }
}

void runImages(Model &model, size_t index, const aclmdlHW &images) {
  for (size_t i = 0; i < images.hwCount; ++i) {
    CHECK_ACL(
        aclmdlSetDynamicHWSize(model.id, model.inputs, index, images.hw[i][0], images.hw[i][1]));
    run(model, "image " + std::to_string(images.hw[i][0]) + "x" + std::to_string(images.hw[i][1]));
  }
}

void runDims(Model &model, size_t index, size_t count) {
  std::vector<aclmdlIODims> gears(count);
  CHECK_ACL(aclmdlGetInputDynamicDims(model.desc, size_t(-1), gears.data(), count));
  for (aclmdlIODims &gear : gears) {
    CHECK_ACL(aclmdlSetInputDynamicDims(model.id, model.inputs, index, &gear));
    std::string name = "dims";
    for (size_t i = 0; i < gear.dimCount; ++i)
      name += " " + std::to_string(gear.dims[i]);
    run(model, name);
  }
}

/// Sets (x - 1) / 4 + 2 x for the three channels of an image in XRGB, without a conversion.
void setAipp(Model &model, int32_t width, int32_t height) {
  aclmdlInputAippType type;
  size_t attached = 0;
  CHECK_ACL(aclmdlGetAippType(model.id, 0, &type, &attached));
  EXPECT(type == ACL_DATA_WITH_DYNAMIC_AIPP && attached < aclmdlGetNumInputs(model.desc));
  size_t index = 0;
  CHECK_ACL(aclmdlGetInputIndexByName(model.desc, ACL_DYNAMIC_AIPP_NAME, &index));
  EXPECT(index == attached);
  aclmdlAIPP *aipp = aclmdlCreateAIPP(1);
  CHECK_ACL(aclmdlSetAIPPInputFormat(aipp, ACL_RGB888_U8));
  CHECK_ACL(aclmdlSetAIPPSrcImageSize(aipp, width, height));
  CHECK_ACL(aclmdlSetAIPPCscParams(aipp, 0, 256, 0, 0, 0, 256, 0, 0, 0, 256, 0, 0, 0, 0, 0, 0));
  CHECK_ACL(aclmdlSetAIPPRbuvSwapSwitch(aipp, 1));
  CHECK_ACL(aclmdlSetAIPPDtcPixelMean(aipp, 0, 0, 0, 0, 0));
  CHECK_ACL(aclmdlSetAIPPDtcPixelMin(aipp, 0.5f, 0.5f, 0.5f, 0, 0));
  CHECK_ACL(aclmdlSetAIPPPixelVarReci(aipp, 4, 4, 4, 1, 0));
  CHECK_ACL(aclmdlSetInputAIPP(model.id, model.inputs, index, aipp));
  CHECK_ACL(aclmdlDestroyAIPP(aipp));
  run(model, "aipp");
  aclDataBuffer *buffer = aclmdlGetDatasetBuffer(model.inputs, 0);
  CHECK_ACL(aclrtFree(aclGetDataBufferAddr(buffer)));
  const auto bytes = size_t(width) * size_t(height) * 3;
  void *memory = nullptr;
  CHECK_ACL(aclrtMalloc(&memory, bytes, ACL_MEM_MALLOC_HUGE_FIRST));
  CHECK_ACL(aclUpdateDataBuffer(buffer, memory, bytes));
  run(model, "own size");
  for (size_t fewer : {bytes - 1, size_t(0)}) {
    CHECK_ACL(aclUpdateDataBuffer(buffer, memory, fewer));
    EXPECT(aclmdlExecute(model.id, model.inputs, model.outputs) == ACL_ERROR_GE_PARAM_INVALID);
  }
}

/// Sets the shape of the input, and allocates memory of that size.
void runShape(Model &model, const std::string &text) {
  aclmdlIODims dims{};
  std::istringstream numbers(text);
  size_t count = 1;
  for (std::string number; std::getline(numbers, number, ',');) {
    dims.dims[dims.dimCount++] = std::stol(number);
    count *= std::stoul(number);
  }
  aclTensorDesc *desc =
      aclCreateTensorDesc(ACL_FLOAT, int(dims.dimCount), dims.dims, ACL_FORMAT_NCHW);
  CHECK_ACL(aclmdlSetDatasetTensorDesc(model.inputs, desc, 0));
  aclDataBuffer *buffer = aclmdlGetDatasetBuffer(model.inputs, 0);
  if (aclGetDataBufferAddr(buffer))
    CHECK_ACL(aclrtFree(aclGetDataBufferAddr(buffer)));
  void *memory = nullptr;
  CHECK_ACL(aclrtMalloc(&memory, count * 4, ACL_MEM_MALLOC_HUGE_FIRST));
  CHECK_ACL(aclUpdateDataBuffer(buffer, memory, count * 4));
  // The output gets memory when the model is executed, each time anew.
  aclDataBuffer *output = aclmdlGetDatasetBuffer(model.outputs, 0);
  if (aclGetDataBufferAddr(output))
    CHECK_ACL(aclrtFree(aclGetDataBufferAddr(output)));
  CHECK_ACL(aclUpdateDataBuffer(output, nullptr, 0));
  run(model, "shape " + text, &dims);
  aclDestroyTensorDesc(desc);
}

} // namespace

int main(int argc, char **argv) {
  EXPECT(argc > 1);
  Resource resource;
  Model model(argv[1]);
  if (argc > 3 && std::string(argv[2]) == "aipp") {
    setAipp(model, std::stoi(argv[3]), std::stoi(argv[4]));
    return 0;
  }
  for (int i = 3; i < argc; ++i)
    runShape(model, argv[i]);
  size_t index = 0, dims = 0;
  if (aclmdlGetInputIndexByName(model.desc, ACL_DYNAMIC_TENSOR_NAME, &index) != ACL_SUCCESS)
    return 0;
  aclmdlBatch batches;
  CHECK_ACL(aclmdlGetDynamicBatch(model.desc, &batches));
  aclmdlHW images;
  CHECK_ACL(aclmdlGetDynamicHW(model.desc, size_t(-1), &images));
  CHECK_ACL(aclmdlGetInputDynamicGearCount(model.desc, size_t(-1), &dims));
  EXPECT((batches.batchCount > 0) + (images.hwCount > 0) + (dims > 0) == 1);
  runBatches(model, index, batches);
  runImages(model, index, images);
  if (dims > 0)
    runDims(model, index, dims);
  // A choice that the model was not compiled for is refused, and the others stay.
  const aclError refused = aclmdlSetDynamicBatchSize(model.id, model.inputs, index, 77);
  EXPECT(refused != ACL_SUCCESS);
  EXPECT(batches.batchCount == 0 || refused == ACL_ERROR_GE_DYNAMIC_BATCH_SIZE_INVALID);
  const aclError none = aclmdlSetDynamicBatchSize(model.id, model.inputs, index, 0);
  EXPECT(none != ACL_SUCCESS && (batches.batchCount == 0 || none == ACL_ERROR_INVALID_PARAM));
  EXPECT(aclGetRecentErrMsg() != nullptr);
  return 0;
}
