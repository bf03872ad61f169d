//===-- Objects.cpp - channels, areas, settings, batches ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ascend/dvpp/Objects.h"

#include <atomic>
#include <cstring>

namespace atc::ascend {

DVPP_TABLE(Area, areas, Area)
DVPP_TABLE(ResizeConfig, resizeConfigs, Resize)
DVPP_TABLE(JpegConfig, jpegConfigs, JpegEncode)
DVPP_TABLE(Border, borders, Border)
DVPP_TABLE(Channel, channels, Channel)
DVPP_TABLE(Batch, batches, Batch)

Batch::~Batch() {
  for (acldvppPicDesc *picture : pictures)
    picDescs().remove(picture);
}

aclError findChannel(const char *function, const acldvppChannelDesc *handle, Channel &channel) {
  if (!handle)
    return fail(ACL_ERROR_INVALID_PARAM, function, "channelDesc is NULL");
  auto found = channels().find(handle);
  if (!found)
    return fail(ACL_ERROR_INVALID_RESOURCE_HANDLE, function,
                "channelDesc (%p) was destroyed, or is no channel",
                static_cast<const void *>(handle));
  channel = *found;
  if (channel.id == 0)
    return fail(ACL_ERROR_INVALID_PARAM, function,
                "the channel is not created; call acldvppCreateChannel first");
  return ACL_SUCCESS;
}

static std::atomic<uint64_t> nextChannel{1};

} // namespace atc::ascend

using namespace atc::ascend;

/// Returns a setting of an object, or `otherwise` and a message.
template <typename T, typename Handle, typename Read, typename Result>
static Result readSetting(const char *function, HandleTable<T> &table, const Handle *handle,
                          const Read &read, Result otherwise) {
  auto found = table.find(handle);
  if (found)
    return read(*found);
  fail(handle ? ACL_ERROR_INVALID_RESOURCE_HANDLE : ACL_ERROR_INVALID_PARAM, function,
       "the handle (%p) was destroyed, or is of another kind", static_cast<const void *>(handle));
  return otherwise;
}

aclError acldvppMalloc(void **devPtr, size_t size) {
  aclrtContext context = nullptr;
  ACL_TRY(aclrtGetCurrentContext(&context));
  return allocate(__func__, devPtr, size, true);
}

aclError acldvppFree(void *devPtr) { return release(__func__, devPtr, true); }

acldvppChannelDesc *acldvppCreateChannelDesc() {
  return static_cast<acldvppChannelDesc *>(channels().add(std::make_shared<Channel>()));
}

aclError acldvppDestroyChannelDesc(acldvppChannelDesc *channelDesc) {
  return destroyObject(__func__, channels(), channelDesc);
}

aclError acldvppCreateChannel(acldvppChannelDesc *channelDesc) {
  ACL_FIND(found, channels(), channelDesc);
  aclrtContext context = nullptr;
  ACL_TRY(aclrtGetCurrentContext(&context));
  if (found->id != 0)
    ACL_FAIL(ACL_ERROR_INVALID_PARAM, "the channel is created already");
  found->id = nextChannel.fetch_add(1);
  return ACL_SUCCESS;
}

aclError acldvppDestroyChannel(acldvppChannelDesc *channelDesc) {
  ACL_FIND(found, channels(), channelDesc);
  if (found->id == 0)
    ACL_FAIL(ACL_ERROR_INVALID_PARAM, "the channel is not created");
  found->id = 0;
  return ACL_SUCCESS;
}

uint64_t acldvppGetChannelDescChannelId(const acldvppChannelDesc *channelDesc) {
  return readSetting(
      __func__, channels(), channelDesc, [](const Channel &channel) { return channel.id; },
      uint64_t{0});
}

aclError acldvppSetChannelDescMode(acldvppChannelDesc *channelDesc, uint32_t mode) {
  ACL_FIND(found, channels(), channelDesc);
  if (mode > 15)
    ACL_FAIL(ACL_ERROR_INVALID_PARAM, "mode is %u; give a sum of 1, 2, 4 and 8", mode);
  found->mode = mode;
  return ACL_SUCCESS;
}

aclError acldvppSetChannelDescParam(acldvppChannelDesc *channelDesc,
                                    acldvppChannelDescParamType paramType, size_t length,
                                    const void *param) {
  ACL_FIND(found, channels(), channelDesc);
  ACL_REQUIRE(param);
  const size_t size = paramType == ACL_DVPP_CHANNEL_ID_UINT64 ? 8 : 4;
  if (length != size)
    ACL_FAIL(ACL_ERROR_INVALID_PARAM, "length is %zu, the parameter has %zu bytes", length, size);
  uint32_t value = 0;
  memcpy(&value, param, 4);
  switch (paramType) {
  case ACL_DVPP_CSC_MATRIX_UINT32:
    if (value > ACL_DVPP_CSC_MATRIX_BT2020_NARROW)
      ACL_FAIL(ACL_ERROR_INVALID_PARAM, "the matrix is %u; give 0 to 5", value);
    found->matrix = acldvppCscMatrix(value);
    return ACL_SUCCESS;
  case ACL_DVPP_MODE_UINT32:
    return acldvppSetChannelDescMode(channelDesc, value);
  case ACL_DVPP_CHANNEL_HEIGHT_UINT32:
  case ACL_DVPP_CHANNEL_WIDTH_UINT32:
    return ACL_SUCCESS; // sizes are those of the pictures
  default:
    ACL_FAIL(ACL_ERROR_INVALID_PARAM, "parameter %d cannot be set", int(paramType));
  }
}

aclError acldvppGetChannelDescParam(const acldvppChannelDesc *channelDesc,
                                    acldvppChannelDescParamType paramType, size_t length,
                                    size_t *paramRetSize, void *param) {
  ACL_FIND(found, channels(), channelDesc);
  ACL_REQUIRE(paramRetSize);
  ACL_REQUIRE(param);
  uint64_t value = 0;
  switch (paramType) {
  case ACL_DVPP_CSC_MATRIX_UINT32:
    value = found->matrix;
    break;
  case ACL_DVPP_MODE_UINT32:
    value = found->mode;
    break;
  case ACL_DVPP_CHANNEL_ID_UINT64:
    value = found->id;
    break;
  default:
    ACL_FAIL(ACL_ERROR_INVALID_PARAM, "parameter %d cannot be read", int(paramType));
  }
  const size_t size = paramType == ACL_DVPP_CHANNEL_ID_UINT64 ? 8 : 4;
  if (length < size)
    ACL_FAIL(ACL_ERROR_INVALID_PARAM, "length is %zu, the parameter has %zu bytes", length, size);
  memcpy(param, &value, size);
  *paramRetSize = size;
  return ACL_SUCCESS;
}

acldvppBatchPicDesc *acldvppCreateBatchPicDesc(uint32_t batchSize) {
  if (batchSize < 1 || batchSize > 256) {
    fail(ACL_ERROR_INVALID_PARAM, __func__, "batchSize is %u; give 1 to 256", batchSize);
    return nullptr;
  }
  auto batch = std::make_shared<Batch>();
  for (uint32_t i = 0; i < batchSize; ++i)
    batch->pictures.push_back(acldvppCreatePicDesc());
  return static_cast<acldvppBatchPicDesc *>(batches().add(std::move(batch)));
}

acldvppPicDesc *acldvppGetPicDesc(acldvppBatchPicDesc *batchPicDesc, uint32_t index) {
  return readSetting(
      __func__, batches(), batchPicDesc,
      [&](const Batch &batch) -> acldvppPicDesc * {
        if (index < batch.pictures.size())
          return batch.pictures[index];
        fail(ACL_ERROR_INVALID_PARAM, "acldvppGetPicDesc",
             "index is %u, the batch has %zu pictures", index, batch.pictures.size());
        return nullptr;
      },
      static_cast<acldvppPicDesc *>(nullptr));
}

aclError acldvppDestroyBatchPicDesc(acldvppBatchPicDesc *batchPicDesc) {
  return destroyObject(__func__, batches(), batchPicDesc);
}

acldvppRoiConfig *acldvppCreateRoiConfig(uint32_t left, uint32_t right, uint32_t top,
                                         uint32_t bottom) {
  return static_cast<acldvppRoiConfig *>(
      areas().add(std::make_shared<Area>(Area{left, right, top, bottom})));
}

aclError acldvppDestroyRoiConfig(acldvppRoiConfig *roiConfig) {
  return destroyObject(__func__, areas(), roiConfig);
}

#define DVPP_SETTER(function, Handle, table, Type, field)                                          \
  aclError function(Handle *config, Type value) {                                                  \
    ACL_FIND(found, table(), config);                                                              \
    found->field = value;                                                                          \
    return ACL_SUCCESS;                                                                            \
  }
#define DVPP_GETTER(function, Handle, table, Type, field)                                          \
  Type function(const Handle *config) {                                                            \
    return readSetting(                                                                            \
        __func__, table(), config, [](const auto &object) { return object.field; }, Type{});       \
  }

DVPP_SETTER(acldvppSetRoiConfigLeft, acldvppRoiConfig, areas, uint32_t, left)
DVPP_SETTER(acldvppSetRoiConfigRight, acldvppRoiConfig, areas, uint32_t, right)
DVPP_SETTER(acldvppSetRoiConfigTop, acldvppRoiConfig, areas, uint32_t, top)
DVPP_SETTER(acldvppSetRoiConfigBottom, acldvppRoiConfig, areas, uint32_t, bottom)

aclError acldvppSetRoiConfig(acldvppRoiConfig *config, uint32_t left, uint32_t right, uint32_t top,
                             uint32_t bottom) {
  ACL_FIND(found, areas(), config);
  *found = {left, right, top, bottom};
  return ACL_SUCCESS;
}

acldvppResizeConfig *acldvppCreateResizeConfig() {
  return static_cast<acldvppResizeConfig *>(resizeConfigs().add(std::make_shared<ResizeConfig>()));
}

aclError acldvppDestroyResizeConfig(acldvppResizeConfig *resizeConfig) {
  return destroyObject(__func__, resizeConfigs(), resizeConfig);
}

aclError acldvppSetResizeConfigInterpolation(acldvppResizeConfig *resizeConfig,
                                             uint32_t interpolation) {
  ACL_FIND(found, resizeConfigs(), resizeConfig);
  if (interpolation > 5)
    ACL_FAIL(ACL_ERROR_INVALID_PARAM, "interpolation is %u; give 0 to 5", interpolation);
  found->interpolation = interpolation;
  return ACL_SUCCESS;
}

DVPP_GETTER(acldvppGetResizeConfigInterpolation, acldvppResizeConfig, resizeConfigs, uint32_t,
            interpolation)

acldvppJpegeConfig *acldvppCreateJpegeConfig() {
  return static_cast<acldvppJpegeConfig *>(jpegConfigs().add(std::make_shared<JpegConfig>()));
}

aclError acldvppDestroyJpegeConfig(acldvppJpegeConfig *jpegeConfig) {
  return destroyObject(__func__, jpegConfigs(), jpegeConfig);
}

aclError acldvppSetJpegeConfigLevel(acldvppJpegeConfig *jpegeConfig, uint32_t level) {
  ACL_FIND(found, jpegConfigs(), jpegeConfig);
  if (level > 100)
    ACL_FAIL(ACL_ERROR_INVALID_PARAM, "level is %u; give 0 to 100", level);
  found->level = level;
  return ACL_SUCCESS;
}

DVPP_GETTER(acldvppGetJpegeConfigLevel, acldvppJpegeConfig, jpegConfigs, uint32_t, level)

acldvppBorderConfig *acldvppCreateBorderConfig() {
  return static_cast<acldvppBorderConfig *>(borders().add(std::make_shared<Border>()));
}

aclError acldvppDestroyBorderConfig(acldvppBorderConfig *borderConfig) {
  return destroyObject(__func__, borders(), borderConfig);
}

aclError acldvppSetBorderConfigValue(acldvppBorderConfig *borderConfig, uint32_t index,
                                     double value) {
  ACL_FIND(found, borders(), borderConfig);
  if (index >= found->values.size() || !(value >= 0 && value <= 255))
    ACL_FAIL(ACL_ERROR_INVALID_PARAM, "value %u is %g; give values 0 to 3, each 0 to 255", index,
             value);
  found->values[index] = value;
  return ACL_SUCCESS;
}

double acldvppGetBorderConfigValue(const acldvppBorderConfig *borderConfig, uint32_t index) {
  return readSetting(
      __func__, borders(), borderConfig,
      [&](const Border &border) {
        return index < border.values.size() ? border.values[index] : -1.0;
      },
      -1.0);
}

aclError acldvppSetBorderConfigBorderType(acldvppBorderConfig *borderConfig,
                                          acldvppBorderType borderType) {
  ACL_FIND(found, borders(), borderConfig);
  if (borderType < BORDER_CONSTANT || borderType > BORDER_REFLECT_101)
    ACL_FAIL(ACL_ERROR_INVALID_PARAM, "borderType is %d; give 0 to 3", int(borderType));
  found->type = borderType;
  return ACL_SUCCESS;
}

DVPP_GETTER(acldvppGetBorderConfigBorderType, acldvppBorderConfig, borders, acldvppBorderType, type)
DVPP_SETTER(acldvppSetBorderConfigTop, acldvppBorderConfig, borders, uint32_t, top)
DVPP_SETTER(acldvppSetBorderConfigBottom, acldvppBorderConfig, borders, uint32_t, bottom)
DVPP_SETTER(acldvppSetBorderConfigLeft, acldvppBorderConfig, borders, uint32_t, left)
DVPP_SETTER(acldvppSetBorderConfigRight, acldvppBorderConfig, borders, uint32_t, right)
DVPP_GETTER(acldvppGetBorderConfigTop, acldvppBorderConfig, borders, uint32_t, top)
DVPP_GETTER(acldvppGetBorderConfigBottom, acldvppBorderConfig, borders, uint32_t, bottom)
DVPP_GETTER(acldvppGetBorderConfigLeft, acldvppBorderConfig, borders, uint32_t, left)
DVPP_GETTER(acldvppGetBorderConfigRight, acldvppBorderConfig, borders, uint32_t, right)
