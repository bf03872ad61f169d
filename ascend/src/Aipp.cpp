//===-- Aipp.cpp - parameters of dynamic image preprocessing ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ascend/src/Dataset.h"
#include "ascend/src/Errors.h"
#include "ascend/src/Model.h"
#include "ascend/src/memory/Memory.h"
#include "runtime-lite/abi/SmallFloats.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <type_traits>

#include <nlohmann/json.hpp>

using namespace atc::ascend;

namespace {

/// Parameters of one image in the layout of the device, 96 bytes.
struct ImageParameters {
  int8_t crop = 0, resize = 0, padding = 0, rotate = 0;
  int8_t reserved0[4] = {};
  int32_t cropStartW = 0, cropStartH = 0, cropW = 0, cropH = 0;
  int32_t resizeInW = 0, resizeInH = 0, resizeOutW = 0, resizeOutH = 0;
  int32_t paddingTop = 0, paddingBottom = 0, paddingLeft = 0, paddingRight = 0;
  int16_t mean[4] = {};
  aclFloat16 min[4] = {};
  aclFloat16 varReci[4] = {};
  int8_t reserved1[16] = {};
};
static_assert(sizeof(ImageParameters) == 96);

/// Parameters of all images, 64 bytes before those of each image.
struct Parameters {
  uint8_t inputFormat = 0;
  int8_t csc = 0, rbuvSwap = 0, axSwap = 0;
  int8_t batch = 0;
  int8_t reserved0[3] = {};
  int32_t sourceW = 0, sourceH = 0;
  int16_t matrix[9] = {};
  int16_t reserved1[3] = {};
  uint8_t outputBias[3] = {};
  uint8_t inputBias[3] = {};
  uint8_t reserved2[2] = {};
  int8_t reserved3[16] = {};
};
static_assert(sizeof(Parameters) == 64);

constexpr uint64_t maxBatch = 127;

struct Aipp {
  std::mutex mutex;
  Parameters all;
  std::vector<ImageParameters> images;

  size_t bytes() const { return sizeof(Parameters) + images.size() * sizeof(ImageParameters); }
};

HandleTable<Aipp> &aipps() {
  static auto &table = *new HandleTable<Aipp>(HandleKind::Aipp);
  return table;
}

aclError checkSwitch(const char *function, const char *name, int8_t value) {
  if (value == 0 || value == 1)
    return ACL_SUCCESS;
  return fail(ACL_ERROR_INVALID_PARAM, function, "%s is %d; give 0 or 1", name, int(value));
}

/// Changes the parameters of one image.
template <typename Change>
aclError changeImage(const char *function, aclmdlAIPP *handle, uint64_t index,
                     const Change &change) {
  if (!handle)
    return fail(ACL_ERROR_INVALID_PARAM, function, "aippParmsSet is NULL");
  auto aipp = aipps().find(handle);
  if (!aipp)
    return fail(ACL_ERROR_INVALID_RESOURCE_HANDLE, function,
                "aippParmsSet (%p) was destroyed, or is no set of parameters",
                static_cast<void *>(handle));
  std::lock_guard lock(aipp->mutex);
  if (index >= aipp->images.size())
    return fail(ACL_ERROR_INVALID_PARAM, function, "batchIndex is %llu, there are %zu images",
                (unsigned long long)index, aipp->images.size());
  return change(aipp->images[index]);
}

aclError checkSizes(const char *function, std::initializer_list<int32_t> sizes) {
  for (int32_t size : sizes)
    if (size < 0)
      return fail(ACL_ERROR_INVALID_PARAM, function, "a size or position is %d; give 0 or more",
                  size);
  return ACL_SUCCESS;
}

/// Writes parameters into the buffer of an input of dynamic AIPP.
aclError store(const char *function, aclmdlDataset *handle, size_t index, const char *name,
               const aclmdlAIPP *parameters) {
  if (!handle || !parameters)
    return fail(ACL_ERROR_INVALID_PARAM, function, "%s is NULL",
                handle ? "aippParmsSet" : "dataset");
  auto dataset = datasets().find(handle);
  auto aipp = aipps().find(parameters);
  if (!dataset || !aipp)
    return fail(ACL_ERROR_INVALID_RESOURCE_HANDLE, function,
                "%s was destroyed, or is of another "
                "kind",
                dataset ? "aippParmsSet" : "dataset");
  auto buffers = dataset->buffers();
  if (index >= buffers.size())
    return fail(ACL_ERROR_INVALID_PARAM, function, "the dataset has %zu buffers, none for '%s'",
                buffers.size(), name);
  auto [data, bytes] = buffers[index]->get();
  std::lock_guard lock(aipp->mutex);
  if (bytes < aipp->bytes())
    return fail(ACL_ERROR_INVALID_PARAM, function,
                "the buffer of '%s' has %zu bytes, the parameters need %zu", name, bytes,
                aipp->bytes());
  std::shared_ptr<Block> block;
  ACL_TRY(requireDevice(function, name, data, aipp->bytes(), block));
  memcpy(data, &aipp->all, sizeof(Parameters));
  memcpy(static_cast<char *>(data) + sizeof(Parameters), aipp->images.data(),
         aipp->images.size() * sizeof(ImageParameters));
  return ACL_SUCCESS;
}

aclError findDynamic(const char *function, uint32_t modelId, std::shared_ptr<Model> &model) {
  ACL_TRY(findModel(function, modelId, model));
  if (model->facts->aippInput)
    return ACL_SUCCESS;
  return fail(ACL_ERROR_INVALID_PARAM, function,
              "the model has no input '%s'; compile it with aipp_mode: dynamic",
              ACL_DYNAMIC_AIPP_NAME);
}

} // namespace

size_t atc::ascend::bytesOfImages(const void *parameters, size_t bytes) {
  Parameters all;
  if (bytes < sizeof all)
    return 0;
  memcpy(&all, parameters, sizeof all);
  if (all.sourceW < 1 || all.sourceH < 1)
    return 0;
  const size_t pixels = size_t(all.sourceW) * size_t(all.sourceH),
               images = (bytes - sizeof all) / sizeof(ImageParameters);
  switch (all.inputFormat) {
  case ACL_YUV420SP_U8:
    return images * (pixels * 3 / 2);
  case ACL_XRGB8888_U8:
    return images * pixels * 4;
  case ACL_RGB888_U8:
    return images * pixels * 3;
  case ACL_YUV400_U8:
    return images * pixels;
  default:
    return 0;
  }
}

aclmdlAIPP *aclmdlCreateAIPP(uint64_t batchSize) {
  if (batchSize < 1 || batchSize > maxBatch) {
    fail(ACL_ERROR_INVALID_PARAM, __func__, "batchSize is %llu; give 1 to %llu",
         (unsigned long long)batchSize, (unsigned long long)maxBatch);
    return nullptr;
  }
  auto aipp = std::make_shared<Aipp>();
  aipp->all.batch = static_cast<int8_t>(batchSize);
  ImageParameters image;
  for (aclFloat16 &value : image.varReci)
    value = atc::floatToHalf(1.0f);
  aipp->images.assign(batchSize, image);
  return static_cast<aclmdlAIPP *>(aipps().add(std::move(aipp)));
}

aclError aclmdlDestroyAIPP(const aclmdlAIPP *aippParmsSet) {
  ACL_FIND(found, aipps(), aippParmsSet);
  aipps().remove(aippParmsSet);
  return ACL_SUCCESS;
}

aclError aclmdlGetAippDataSize(uint64_t batchSize, size_t *size) {
  ACL_REQUIRE(size);
  if (batchSize < 1 || batchSize > maxBatch)
    ACL_FAIL(ACL_ERROR_INVALID_PARAM, "batchSize is %llu; give 1 to %llu",
             (unsigned long long)batchSize, (unsigned long long)maxBatch);
  *size = sizeof(Parameters) + batchSize * sizeof(ImageParameters);
  return ACL_SUCCESS;
}

aclError aclmdlSetAIPPInputFormat(aclmdlAIPP *aippParmsSet, aclAippInputFormat inputFormat) {
  ACL_FIND(found, aipps(), aippParmsSet);
  if (inputFormat < ACL_YUV420SP_U8 || inputFormat > ACL_YUV400_U8)
    ACL_FAIL(ACL_ERROR_INVALID_PARAM,
             "inputFormat is %d; give ACL_YUV420SP_U8 (1), ACL_XRGB8888_U8 (2), ACL_RGB888_U8 (3) "
             "or ACL_YUV400_U8 (4)",
             int(inputFormat));
  std::lock_guard lock(found->mutex);
  found->all.inputFormat = static_cast<uint8_t>(inputFormat);
  return ACL_SUCCESS;
}

aclError aclmdlSetAIPPCscParams(aclmdlAIPP *aippParmsSet, int8_t cscSwitch, int16_t cscMatrixR0C0,
                                int16_t cscMatrixR0C1, int16_t cscMatrixR0C2, int16_t cscMatrixR1C0,
                                int16_t cscMatrixR1C1, int16_t cscMatrixR1C2, int16_t cscMatrixR2C0,
                                int16_t cscMatrixR2C1, int16_t cscMatrixR2C2,
                                uint8_t cscOutputBiasR0, uint8_t cscOutputBiasR1,
                                uint8_t cscOutputBiasR2, uint8_t cscInputBiasR0,
                                uint8_t cscInputBiasR1, uint8_t cscInputBiasR2) {
  ACL_FIND(found, aipps(), aippParmsSet);
  ACL_TRY(checkSwitch(__func__, "cscSwitch", cscSwitch));
  const int16_t matrix[9] = {cscMatrixR0C0, cscMatrixR0C1, cscMatrixR0C2,
                             cscMatrixR1C0, cscMatrixR1C1, cscMatrixR1C2,
                             cscMatrixR2C0, cscMatrixR2C1, cscMatrixR2C2};
  std::lock_guard lock(found->mutex);
  found->all.csc = cscSwitch;
  memcpy(found->all.matrix, matrix, sizeof(matrix));
  const uint8_t biases[6] = {cscOutputBiasR0, cscOutputBiasR1, cscOutputBiasR2,
                             cscInputBiasR0,  cscInputBiasR1,  cscInputBiasR2};
  memcpy(found->all.outputBias, biases, 3);
  memcpy(found->all.inputBias, biases + 3, 3);
  return ACL_SUCCESS;
}

aclError aclmdlSetAIPPRbuvSwapSwitch(aclmdlAIPP *aippParmsSet, int8_t rbuvSwapSwitch) {
  ACL_FIND(found, aipps(), aippParmsSet);
  ACL_TRY(checkSwitch(__func__, "rbuvSwapSwitch", rbuvSwapSwitch));
  std::lock_guard lock(found->mutex);
  found->all.rbuvSwap = rbuvSwapSwitch;
  return ACL_SUCCESS;
}

aclError aclmdlSetAIPPAxSwapSwitch(aclmdlAIPP *aippParmsSet, int8_t axSwapSwitch) {
  ACL_FIND(found, aipps(), aippParmsSet);
  ACL_TRY(checkSwitch(__func__, "axSwapSwitch", axSwapSwitch));
  std::lock_guard lock(found->mutex);
  found->all.axSwap = axSwapSwitch;
  return ACL_SUCCESS;
}

aclError aclmdlSetAIPPSrcImageSize(aclmdlAIPP *aippParmsSet, int32_t srcImageSizeW,
                                   int32_t srcImageSizeH) {
  ACL_FIND(found, aipps(), aippParmsSet);
  if (srcImageSizeW < 2 || srcImageSizeH < 1 || srcImageSizeW > 4096 || srcImageSizeH > 4096)
    ACL_FAIL(
        ACL_ERROR_INVALID_PARAM,
        "the image is %d wide and %d high; give a width of 2 to 4096 and a height of 1 to 4096",
        srcImageSizeW, srcImageSizeH);
  std::lock_guard lock(found->mutex);
  found->all.sourceW = srcImageSizeW;
  found->all.sourceH = srcImageSizeH;
  return ACL_SUCCESS;
}

aclError aclmdlSetAIPPScfParams(aclmdlAIPP *aippParmsSet, int8_t scfSwitch, int32_t scfInputSizeW,
                                int32_t scfInputSizeH, int32_t scfOutputSizeW,
                                int32_t scfOutputSizeH, uint64_t batchIndex) {
  ACL_TRY(checkSwitch(__func__, "scfSwitch", scfSwitch));
  ACL_TRY(checkSizes(__func__, {scfInputSizeW, scfInputSizeH, scfOutputSizeW, scfOutputSizeH}));
  return changeImage(__func__, aippParmsSet, batchIndex, [&](ImageParameters &image) {
    image.resize = scfSwitch;
    image.resizeInW = scfInputSizeW;
    image.resizeInH = scfInputSizeH;
    image.resizeOutW = scfOutputSizeW;
    image.resizeOutH = scfOutputSizeH;
    return ACL_SUCCESS;
  });
}

aclError aclmdlSetAIPPCropParams(aclmdlAIPP *aippParmsSet, int8_t cropSwitch, int32_t cropStartPosW,
                                 int32_t cropStartPosH, int32_t cropSizeW, int32_t cropSizeH,
                                 uint64_t batchIndex) {
  ACL_TRY(checkSwitch(__func__, "cropSwitch", cropSwitch));
  ACL_TRY(checkSizes(__func__, {cropStartPosW, cropStartPosH, cropSizeW, cropSizeH}));
  return changeImage(__func__, aippParmsSet, batchIndex, [&](ImageParameters &image) {
    image.crop = cropSwitch;
    image.cropStartW = cropStartPosW;
    image.cropStartH = cropStartPosH;
    image.cropW = cropSizeW;
    image.cropH = cropSizeH;
    return ACL_SUCCESS;
  });
}

aclError aclmdlSetAIPPPaddingParams(aclmdlAIPP *aippParmsSet, int8_t paddingSwitch,
                                    int32_t paddingSizeTop, int32_t paddingSizeBottom,
                                    int32_t paddingSizeLeft, int32_t paddingSizeRight,
                                    uint64_t batchIndex) {
  ACL_TRY(checkSwitch(__func__, "paddingSwitch", paddingSwitch));
  for (int32_t size : {paddingSizeTop, paddingSizeBottom, paddingSizeLeft, paddingSizeRight})
    if (size < 0 || size > 32)
      ACL_FAIL(ACL_ERROR_INVALID_PARAM, "a padding is %d; give 0 to 32", size);
  return changeImage(__func__, aippParmsSet, batchIndex, [&](ImageParameters &image) {
    image.padding = paddingSwitch;
    image.paddingTop = paddingSizeTop;
    image.paddingBottom = paddingSizeBottom;
    image.paddingLeft = paddingSizeLeft;
    image.paddingRight = paddingSizeRight;
    return ACL_SUCCESS;
  });
}

aclError aclmdlSetAIPPDtcPixelMean(aclmdlAIPP *aippParmsSet, int16_t dtcPixelMeanChn0,
                                   int16_t dtcPixelMeanChn1, int16_t dtcPixelMeanChn2,
                                   int16_t dtcPixelMeanChn3, uint64_t batchIndex) {
  return changeImage(__func__, aippParmsSet, batchIndex, [&](ImageParameters &image) {
    const int16_t mean[4] = {dtcPixelMeanChn0, dtcPixelMeanChn1, dtcPixelMeanChn2,
                             dtcPixelMeanChn3};
    memcpy(image.mean, mean, sizeof(mean));
    return ACL_SUCCESS;
  });
}

aclError aclmdlSetAIPPDtcPixelMin(aclmdlAIPP *aippParmsSet, float dtcPixelMinChn0,
                                  float dtcPixelMinChn1, float dtcPixelMinChn2,
                                  float dtcPixelMinChn3, uint64_t batchIndex) {
  return changeImage(__func__, aippParmsSet, batchIndex, [&](ImageParameters &image) {
    const float min[4] = {dtcPixelMinChn0, dtcPixelMinChn1, dtcPixelMinChn2, dtcPixelMinChn3};
    for (int i = 0; i < 4; ++i)
      image.min[i] = atc::floatToHalf(min[i]);
    return ACL_SUCCESS;
  });
}

aclError aclmdlSetAIPPPixelVarReci(aclmdlAIPP *aippParmsSet, float dtcPixelVarReciChn0,
                                   float dtcPixelVarReciChn1, float dtcPixelVarReciChn2,
                                   float dtcPixelVarReciChn3, uint64_t batchIndex) {
  return changeImage(__func__, aippParmsSet, batchIndex, [&](ImageParameters &image) {
    const float varReci[4] = {dtcPixelVarReciChn0, dtcPixelVarReciChn1, dtcPixelVarReciChn2,
                              dtcPixelVarReciChn3};
    for (int i = 0; i < 4; ++i)
      image.varReci[i] = atc::floatToHalf(varReci[i]);
    return ACL_SUCCESS;
  });
}

aclError aclmdlSetInputAIPP(uint32_t modelId, aclmdlDataset *dataset, size_t index,
                            const aclmdlAIPP *aippParmsSet) {
  std::shared_ptr<Model> model;
  ACL_TRY(findDynamic(__func__, modelId, model));
  if (index >= model->facts->inputs.size() || !model->facts->isAippInput(index))
    ACL_FAIL(ACL_ERROR_INVALID_PARAM, "index is %zu, that of '%s' is %zu", index,
             ACL_DYNAMIC_AIPP_NAME, *model->facts->aippInput);
  return store(__func__, dataset, index, model->facts->inputs[index].name.c_str(), aippParmsSet);
}

aclError aclmdlSetAIPPByInputIndex(uint32_t modelId, aclmdlDataset *dataset, size_t index,
                                   const aclmdlAIPP *aippParmsSet) {
  aclmdlInputAippType type;
  size_t attached = 0;
  ACL_TRY(aclmdlGetAippType(modelId, index, &type, &attached));
  if (type != ACL_DATA_WITH_DYNAMIC_AIPP)
    ACL_FAIL(ACL_ERROR_INVALID_PARAM, "input %zu is no image with dynamic AIPP", index);
  return aclmdlSetInputAIPP(modelId, dataset, attached, aippParmsSet);
}

/// Writes a loaded model that has an input `index`.
static aclError findModelOfInput(const char *function, uint32_t modelId, size_t index,
                                 std::shared_ptr<Model> &model) {
  ACL_TRY(findModel(function, modelId, model));
  if (index < model->facts->inputs.size())
    return ACL_SUCCESS;
  return fail(ACL_ERROR_INVALID_PARAM, function, "index is %zu, the model has %zu inputs", index,
              model->facts->inputs.size());
}

aclError aclmdlGetAippType(uint32_t modelId, size_t index, aclmdlInputAippType *type,
                           size_t *dynamicAttachedDataIndex) {
  ACL_REQUIRE(type);
  ACL_REQUIRE(dynamicAttachedDataIndex);
  std::shared_ptr<Model> model;
  ACL_TRY(findModelOfInput(__func__, modelId, index, model));
  const ModelFacts &facts = *model->facts;
  const Port &port = facts.inputs[index];
  *dynamicAttachedDataIndex = ACL_INVALID_NODE_INDEX;
  *type = ACL_DATA_WITHOUT_AIPP;
  if (facts.isAippInput(index)) {
    *type = ACL_DYNAMIC_AIPP_NODE;
  } else if (facts.imageParameters[index]) {
    *type = ACL_DATA_WITH_DYNAMIC_AIPP;
    *dynamicAttachedDataIndex = *facts.imageParameters[index];
  } else if (port.element == OM_U8 && !facts.aipp[index].empty()) {
    *type = ACL_DATA_WITH_STATIC_AIPP;
  }
  return ACL_SUCCESS;
}

namespace {

void setDims(aclmdlIODims &target, const std::string &name, const Dims &dims) {
  snprintf(target.name, sizeof target.name, "%s", name.c_str());
  target.dimCount = std::min<size_t>(dims.size(), ACL_MAX_DIM_CNT);
  std::copy_n(dims.begin(), target.dimCount, target.dims);
}

/// Copies the parameters that a model states.
void setParameters(aclAippInfo &info, const nlohmann::json &stated) {
  const auto copy = [&](auto &target, const char *name) {
    using Number = std::remove_reference_t<decltype(target)>;
    target = static_cast<Number>(stated.value(name, 0.0));
  };
  copy(info.srcImageSizeW, "src_image_size_w");
  copy(info.srcImageSizeH, "src_image_size_h");
  copy(info.cropSwitch, "crop");
  copy(info.loadStartPosW, "load_start_pos_w");
  copy(info.loadStartPosH, "load_start_pos_h");
  copy(info.cropSizeW, "crop_size_w");
  copy(info.cropSizeH, "crop_size_h");
  copy(info.resizeSwitch, "resize");
  copy(info.resizeOutputW, "resize_output_w");
  copy(info.resizeOutputH, "resize_output_h");
  copy(info.paddingSwitch, "padding");
  copy(info.leftPaddingSize, "left_padding_size");
  copy(info.rightPaddingSize, "right_padding_size");
  copy(info.topPaddingSize, "top_padding_size");
  copy(info.bottomPaddingSize, "bottom_padding_size");
  copy(info.cscSwitch, "csc_switch");
  copy(info.rbuvSwapSwitch, "rbuv_swap_switch");
  copy(info.axSwapSwitch, "ax_swap_switch");
  copy(info.singleLineMode, "single_line_mode");
  copy(info.matrixR0C0, "matrix_r0c0");
  copy(info.matrixR0C1, "matrix_r0c1");
  copy(info.matrixR0C2, "matrix_r0c2");
  copy(info.matrixR1C0, "matrix_r1c0");
  copy(info.matrixR1C1, "matrix_r1c1");
  copy(info.matrixR1C2, "matrix_r1c2");
  copy(info.matrixR2C0, "matrix_r2c0");
  copy(info.matrixR2C1, "matrix_r2c1");
  copy(info.matrixR2C2, "matrix_r2c2");
  copy(info.outputBias0, "output_bias_0");
  copy(info.outputBias1, "output_bias_1");
  copy(info.outputBias2, "output_bias_2");
  copy(info.inputBias0, "input_bias_0");
  copy(info.inputBias1, "input_bias_1");
  copy(info.inputBias2, "input_bias_2");
  copy(info.meanChn0, "mean_chn_0");
  copy(info.meanChn1, "mean_chn_1");
  copy(info.meanChn2, "mean_chn_2");
  copy(info.meanChn3, "mean_chn_3");
  copy(info.minChn0, "min_chn_0");
  copy(info.minChn1, "min_chn_1");
  copy(info.minChn2, "min_chn_2");
  copy(info.minChn3, "min_chn_3");
  copy(info.varReciChn0, "var_reci_chn_0");
  copy(info.varReciChn1, "var_reci_chn_1");
  copy(info.varReciChn2, "var_reci_chn_2");
  copy(info.varReciChn3, "var_reci_chn_3");
}

/// Describes the image and what the model reads of it, in each gear.
void setShapes(aclAippInfo &info, const Port &image, const nlohmann::json &stated) {
  const auto element = static_cast<om_dtype>(stated.value("type", 0));
  Dims read = stated.value("dims", Dims());
  const bool last = stated.value("last", false);
  info.srcFormat = read.size() != 4 ? ACL_FORMAT_ND : last ? ACL_FORMAT_NHWC : ACL_FORMAT_NCHW;
  info.srcDatatype = typeOf(element);
  info.srcDimNum = read.size();
  const std::vector<Dims> gears =
      image.ofGear.empty() ? std::vector<Dims>{image.dims} : image.ofGear;
  info.shapeCount = std::min<size_t>(gears.size(), ACL_MAX_SHAPE_COUNT);
  // Neither is cut out nor resized to one size: each gear has its own.
  const bool keepsSize = !info.cropSwitch && !info.resizeSwitch;
  for (size_t i = 0; i < info.shapeCount; ++i) {
    if (read.size() == 4 && gears[i].size() == 4) {
      const int64_t rows = gears[i][1];
      read[0] = gears[i][0];
      if (keepsSize) {
        read[last ? 1 : 2] = (info.inputFormat == ACL_YUV420SP_U8 ? rows * 2 / 3 : rows) +
                             info.topPaddingSize + info.bottomPaddingSize;
        read[last ? 2 : 3] = gears[i][2] + info.leftPaddingSize + info.rightPaddingSize;
      }
    }
    aclAippDims &target = info.outDims[i];
    setDims(target.srcDims, image.name, gears[i]);
    target.srcSize = denseBytes(image.element, gears[i]);
    setDims(target.aippOutdims, image.name, read);
    target.aippOutSize = denseBytes(element, read);
  }
}

} // namespace

aclError aclmdlGetFirstAippInfo(uint32_t modelId, size_t index, aclAippInfo *aippInfo) {
  ACL_REQUIRE(aippInfo);
  std::shared_ptr<Model> model;
  ACL_TRY(findModelOfInput(__func__, modelId, index, model));
  const ModelFacts &facts = *model->facts;
  const auto stated = nlohmann::json::parse(facts.aipp[index], nullptr, false);
  if (!stated.is_object())
    ACL_FAIL(ACL_ERROR_GE_AIPP_NOT_EXIST, "input %zu has no AIPP, or its model is of an older atc",
             index);
  *aippInfo = {};
  aippInfo->inputFormat = static_cast<aclAippInputFormat>(stated.value("input_format", 0));
  setParameters(*aippInfo, stated);
  setShapes(*aippInfo, facts.inputs[index], stated);
  return ACL_SUCCESS;
}
