//===-- Gears.cpp - profiles of dynamic shapes --------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ascend/src/Dataset.h"
#include "ascend/src/Errors.h"
#include "ascend/src/ModelDesc.h"
#include "ascend/src/memory/Memory.h"

#include <algorithm>
#include <cstring>

using namespace atc::ascend;

namespace {

const char *optionOf(om_gear_kind kind) {
  switch (kind) {
  case OM_GEARS_BATCH:
    return "--dynamic_batch_size";
  case OM_GEARS_IMAGE:
    return "--dynamic_image_size";
  case OM_GEARS_DIMS:
    return "--dynamic_dims";
  default:
    return "no profiles";
  }
}

/// Finds model, dataset and the buffer of the input that chooses the gear.
struct Target {
  std::shared_ptr<Model> model;
  std::shared_ptr<DataBuffer> buffer;
};

aclError findTarget(const char *function, uint32_t modelId, aclmdlDataset *handle, size_t index,
                    om_gear_kind kind, Target &target) {
  ACL_TRY(findModel(function, modelId, target.model));
  if (!handle)
    return fail(ACL_ERROR_INVALID_PARAM, function, "dataset is NULL");
  auto dataset = datasets().find(handle);
  if (!dataset)
    return fail(ACL_ERROR_INVALID_RESOURCE_HANDLE, function,
                "dataset (%p) was destroyed, or is no dataset", static_cast<void *>(handle));
  const ModelFacts &facts = *target.model->facts;
  if (facts.gears != kind)
    return fail(ACL_ERROR_GE_DYNAMIC_BATCH_SIZE_INVALID, function,
                "the model was compiled with %s, this function is for %s", optionOf(facts.gears),
                optionOf(kind));
  if (!facts.shapeInput || index != *facts.shapeInput)
    return fail(ACL_ERROR_INVALID_PARAM, function, "index is %zu, that of '%s' is %zu", index,
                ACL_DYNAMIC_TENSOR_NAME, facts.shapeInput.value_or(0));
  auto buffers = dataset->buffers();
  if (index >= buffers.size())
    return fail(ACL_ERROR_INVALID_PARAM, function, "the dataset has %zu buffers, none for '%s'",
                buffers.size(), ACL_DYNAMIC_TENSOR_NAME);
  target.buffer = buffers[index];
  return ACL_SUCCESS;
}

/// Writes the values of a gear into the program's buffer, where the run finds them.
aclError setGear(const char *function, const Target &target, const Dims &values) {
  const ModelFacts &facts = *target.model->facts;
  auto gear = facts.gearOf(values);
  // The codes of the vendor's executor, for all kinds of profiles: programs compare with them.
  if (!gear)
    return fail(std::count(values.begin(), values.end(), 0)
                    ? ACL_ERROR_INVALID_PARAM
                    : ACL_ERROR_GE_DYNAMIC_BATCH_SIZE_INVALID,
                function, "%s is no profile of the model; it has: %s", textOf(values).c_str(),
                facts.listOfGears().c_str());
  auto [data, bytes] = target.buffer->get();
  const size_t needed = values.size() * sizeof(int64_t);
  if (bytes < needed)
    return fail(ACL_ERROR_GE_DYNAMIC_INPUT_LENGTH_INVALID, function,
                "the buffer of '%s' has %zu bytes, it needs %zu", ACL_DYNAMIC_TENSOR_NAME, bytes,
                needed);
  std::shared_ptr<Block> block;
  ACL_TRY(requireDevice(function, ACL_DYNAMIC_TENSOR_NAME, data, needed, block));
  memcpy(data, values.data(), needed);
  std::lock_guard lock(target.model->dimsMutex);
  target.model->currentDims.clear();
  for (const Port &port : facts.outputs)
    target.model->currentDims.push_back(port.ofGear[*gear]);
  return ACL_SUCCESS;
}

/// Returns the dims that the inputs have in each gear, one input behind the other.
std::vector<Dims> dimsOfGears(const ModelFacts &facts) {
  std::vector<Dims> gears(facts.gearValues.size());
  for (size_t gear = 0; gear < gears.size(); ++gear)
    for (size_t input = 0; input < facts.inputs.size(); ++input)
      if (input != facts.shapeInput) {
        const Dims &own = facts.inputs[input].ofGear[gear];
        gears[gear].insert(gears[gear].end(), own.begin(), own.end());
      }
  return gears;
}

} // namespace

aclError aclmdlSetDynamicBatchSize(uint32_t modelId, aclmdlDataset *dataset, size_t index,
                                   uint64_t batchSize) {
  Target target;
  ACL_TRY(findTarget(__func__, modelId, dataset, index, OM_GEARS_BATCH, target));
  return setGear(__func__, target, {static_cast<int64_t>(batchSize)});
}

aclError aclmdlSetDynamicHWSize(uint32_t modelId, aclmdlDataset *dataset, size_t index,
                                uint64_t height, uint64_t width) {
  Target target;
  ACL_TRY(findTarget(__func__, modelId, dataset, index, OM_GEARS_IMAGE, target));
  return setGear(__func__, target, {static_cast<int64_t>(height), static_cast<int64_t>(width)});
}

aclError aclmdlSetInputDynamicDims(uint32_t modelId, aclmdlDataset *dataset, size_t index,
                                   const aclmdlIODims *dims) {
  ACL_REQUIRE(dims);
  Target target;
  ACL_TRY(findTarget(__func__, modelId, dataset, index, OM_GEARS_DIMS, target));
  const ModelFacts &facts = *target.model->facts;
  if (dims->dimCount > ACL_MAX_DIM_CNT)
    ACL_FAIL(ACL_ERROR_INVALID_PARAM, "dimCount is %zu; it is 128 at most", dims->dimCount);
  const std::vector<Dims> gears = dimsOfGears(facts);
  const Dims given(dims->dims, dims->dims + dims->dimCount);
  if (auto found = std::find(gears.begin(), gears.end(), given); found != gears.end())
    return setGear(__func__, target, facts.gearValues[size_t(found - gears.begin())]);
  if (!gears.empty() && gears[0].size() != given.size())
    ACL_FAIL(ACL_ERROR_INVALID_PARAM, "dimCount is %zu, the inputs have %zu dims", dims->dimCount,
             gears[0].size());
  std::string all;
  for (const Dims &gear : gears)
    all += (all.empty() ? "" : ", ") + textOf(gear);
  ACL_FAIL(ACL_ERROR_GE_DYNAMIC_BATCH_SIZE_INVALID,
           "%s are the dims of no profile of the model; the inputs of its profiles have: %s",
           textOf(given).c_str(), all.c_str());
}

aclError aclmdlGetDynamicBatch(const aclmdlDesc *modelDesc, aclmdlBatch *batch) {
  std::shared_ptr<ModelDesc> desc;
  ACL_TRY(findFacts(__func__, modelDesc, desc));
  ACL_REQUIRE(batch);
  *batch = {};
  if (desc->facts->gears != OM_GEARS_BATCH)
    return ACL_SUCCESS;
  for (const Dims &values : desc->facts->gearValues)
    if (batch->batchCount < ACL_MAX_BATCH_NUM)
      batch->batch[batch->batchCount++] = static_cast<uint64_t>(values[0]);
  return ACL_SUCCESS;
}

aclError aclmdlGetDynamicHW(const aclmdlDesc *modelDesc, size_t index, aclmdlHW *hw) {
  std::shared_ptr<ModelDesc> desc;
  ACL_TRY(findFacts(__func__, modelDesc, desc));
  ACL_REQUIRE(hw);
  if (index != size_t(-1) && index >= desc->facts->inputs.size())
    ACL_FAIL(ACL_ERROR_INVALID_PARAM, "index is %zu; give -1", index);
  *hw = {};
  if (desc->facts->gears != OM_GEARS_IMAGE)
    return ACL_SUCCESS;
  for (const Dims &values : desc->facts->gearValues)
    if (hw->hwCount < ACL_MAX_HW_NUM) {
      hw->hw[hw->hwCount][0] = static_cast<uint64_t>(values[0]);
      hw->hw[hw->hwCount++][1] = static_cast<uint64_t>(values[1]);
    }
  return ACL_SUCCESS;
}

aclError aclmdlGetInputDynamicGearCount(const aclmdlDesc *modelDesc, size_t index,
                                        size_t *gearCount) {
  std::shared_ptr<ModelDesc> desc;
  ACL_TRY(findFacts(__func__, modelDesc, desc));
  ACL_REQUIRE(gearCount);
  if (index != size_t(-1))
    ACL_FAIL(ACL_ERROR_INVALID_PARAM, "index is %zu; it must be -1", index);
  *gearCount = desc->facts->gears == OM_GEARS_DIMS ? desc->facts->gearValues.size() : 0;
  return ACL_SUCCESS;
}

aclError aclmdlGetInputDynamicDims(const aclmdlDesc *modelDesc, size_t index, aclmdlIODims *dims,
                                   size_t gearCount) {
  size_t gears = 0;
  ACL_TRY(aclmdlGetInputDynamicGearCount(modelDesc, index, &gears));
  ACL_REQUIRE(dims);
  if (gearCount < gears)
    ACL_FAIL(ACL_ERROR_INVALID_PARAM, "gearCount is %zu, the model has %zu profiles", gearCount,
             gears);
  std::shared_ptr<ModelDesc> desc;
  ACL_TRY(findFacts(__func__, modelDesc, desc));
  const std::vector<Dims> all = dimsOfGears(*desc->facts);
  for (size_t gear = 0; gear < gears; ++gear)
    writeDims("", all[gear], dims[gear]);
  return ACL_SUCCESS;
}
