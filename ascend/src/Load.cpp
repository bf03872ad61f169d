//===-- Load.cpp - the forms in which models are loaded -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ascend/src/Load.h"
#include "ascend/src/Context.h"
#include "ascend/src/Errors.h"
#include "ascend/src/Library.h"
#include "ascend/src/Model.h"
#include "ascend/src/memory/Memory.h"

#include <algorithm>
#include <cstring>

using namespace atc::ascend;

namespace {

/// A request to load a model: from a path or from memory. Memory that the program provides for runs
/// is checked, but not used.
struct Request {
  const char *path = nullptr;
  const void *data = nullptr;
  size_t bytes = 0;
  void *work = nullptr, *weights = nullptr;
  size_t workBytes = 0, weightBytes = 0;
};

/// Checks memory of the program for `bytes`, which must have the size that programs are told.
aclError checkMemory(const char *function, const char *what, const void *address, size_t given,
                     size_t bytes) {
  if (!address)
    return ACL_SUCCESS;
  const size_t needed = reportedSize(bytes);
  if (given < needed)
    return fail(ACL_ERROR_INVALID_PARAM, function, "%s has %zu bytes, the model needs %zu", what,
                given, needed);
  std::shared_ptr<Block> block;
  return requireDevice(function, what, address, given, block);
}

aclError loadModel(const char *function, const Request &request, uint32_t *modelId) {
  if (!modelId)
    return fail(ACL_ERROR_INVALID_PARAM, function, "modelId is NULL");
  ACL_TRY(requireStarted(function));
  std::shared_ptr<Context> context;
  ACL_TRY(currentContext(function, context));
  std::shared_ptr<Model> model;
  ACL_TRY(request.path ? Model::load(function, request.path, true, model)
                       : Model::load(function, request.data, request.bytes, true, model));
  ACL_TRY(
      checkMemory(function, "workPtr", request.work, request.workBytes, model->facts->workBytes));
  ACL_TRY(checkMemory(function, "weightPtr", request.weights, request.weightBytes,
                      model->facts->weightBytes));
  *modelId = addModel(std::move(model));
  return ACL_SUCCESS;
}

aclError loadPath(const char *function, Request request, const char *path, uint32_t *modelId) {
  if (!path)
    return fail(ACL_ERROR_INVALID_PARAM, function, "modelPath is NULL");
  request.path = path;
  return loadModel(function, request, modelId);
}

aclError loadBytes(const char *function, Request request, const void *data, size_t bytes,
                   uint32_t *modelId) {
  request.data = data;
  request.bytes = bytes;
  return loadModel(function, request, modelId);
}

aclError writeSizes(const Model &model, size_t *workSize, size_t *weightSize) {
  *workSize = reportedSize(model.facts->workBytes);
  *weightSize = reportedSize(model.facts->weightBytes);
  return ACL_SUCCESS;
}

/// Holds the options of aclmdlSetConfigOpt.
struct LoadConfig {
  size_t type = 0;
  std::string path;
  Request request;
};

HandleTable<LoadConfig> &loadConfigs() {
  static auto &table = *new HandleTable<LoadConfig>(HandleKind::LoadConfig);
  return table;
}

/// Copies the value of an option to `target`.
template <typename T>
aclError readOption(const char *function, const void *value, size_t size, T &target) {
  if (size != sizeof(T))
    return fail(ACL_ERROR_INVALID_PARAM, function, "valueSize is %zu, the option takes %zu", size,
                sizeof(T));
  memcpy(&target, value, sizeof(T));
  return ACL_SUCCESS;
}

} // namespace

size_t atc::ascend::reportedSize(size_t bytes) {
  return std::max<size_t>((bytes + 511) / 512 * 512, 512);
}

aclError atc::ascend::loadWithMemoryOf(const char *function, const aclmdlConfigHandle *handle,
                                       std::string_view bytes, uint32_t *modelId) {
  auto found = loadConfigs().find(handle);
  if (!found)
    return fail(handle ? ACL_ERROR_INVALID_RESOURCE_HANDLE : ACL_ERROR_INVALID_PARAM, function,
                "handle (%p) was destroyed, or is no configuration",
                static_cast<const void *>(handle));
  return loadBytes(function, found->request, bytes.data(), bytes.size(), modelId);
}

aclError aclmdlLoadFromFile(const char *modelPath, uint32_t *modelId) {
  return loadPath(__func__, {}, modelPath, modelId);
}

aclError aclmdlLoadFromMem(const void *model, size_t modelSize, uint32_t *modelId) {
  return loadBytes(__func__, {}, model, modelSize, modelId);
}

static Request withMemory(void *workPtr, size_t workSize, void *weightPtr, size_t weightSize) {
  Request request;
  request.work = workPtr;
  request.workBytes = workSize;
  request.weights = weightPtr;
  request.weightBytes = weightSize;
  return request;
}

aclError aclmdlLoadFromFileWithMem(const char *modelPath, uint32_t *modelId, void *workPtr,
                                   size_t workSize, void *weightPtr, size_t weightSize) {
  return loadPath(__func__, withMemory(workPtr, workSize, weightPtr, weightSize), modelPath,
                  modelId);
}

aclError aclmdlLoadFromMemWithMem(const void *model, size_t modelSize, uint32_t *modelId,
                                  void *workPtr, size_t workSize, void *weightPtr,
                                  size_t weightSize) {
  return loadBytes(__func__, withMemory(workPtr, workSize, weightPtr, weightSize), model, modelSize,
                   modelId);
}

aclError aclmdlQuerySize(const char *fileName, size_t *workSize, size_t *weightSize) {
  ACL_REQUIRE(workSize);
  ACL_REQUIRE(weightSize);
  std::shared_ptr<Model> model;
  ACL_TRY(Model::load(__func__, fileName, false, model));
  return writeSizes(*model, workSize, weightSize);
}

aclError aclmdlQuerySizeFromMem(const void *model, size_t modelSize, size_t *workSize,
                                size_t *weightSize) {
  ACL_REQUIRE(workSize);
  ACL_REQUIRE(weightSize);
  std::shared_ptr<Model> loaded;
  ACL_TRY(Model::load(__func__, model, modelSize, false, loaded));
  return writeSizes(*loaded, workSize, weightSize);
}

aclError aclmdlQueryExeOMDesc(const char *fileName, aclmdlExeOMDesc *mdlPartitionSize) {
  ACL_REQUIRE(mdlPartitionSize);
  aclmdlExeOMDesc result = {};
  ACL_TRY(aclmdlQuerySize(fileName, &result.workSize, &result.weightSize));
  *mdlPartitionSize = result;
  return ACL_SUCCESS;
}

aclmdlConfigHandle *aclmdlCreateConfigHandle() {
  return static_cast<aclmdlConfigHandle *>(loadConfigs().add(std::make_shared<LoadConfig>()));
}

aclError aclmdlDestroyConfigHandle(aclmdlConfigHandle *handle) {
  ACL_FIND(found, loadConfigs(), handle);
  loadConfigs().remove(handle);
  return ACL_SUCCESS;
}

aclError aclmdlSetConfigOpt(aclmdlConfigHandle *handle, aclmdlConfigAttr attr,
                            const void *attrValue, size_t valueSize) {
  ACL_FIND(found, loadConfigs(), handle);
  ACL_REQUIRE(attrValue);
  Request &request = found->request;
  auto read = [&](auto &target) {
    return readOption("aclmdlSetConfigOpt", attrValue, valueSize, target);
  };
  switch (attr) {
  case ACL_MDL_PRIORITY_INT32: {
    int32_t priority = 0;
    return read(priority);
  }
  case ACL_MDL_LOAD_TYPE_SIZET: {
    size_t type = 0;
    ACL_TRY(read(type));
    if (type < ACL_MDL_LOAD_FROM_FILE || type > ACL_MDL_LOAD_FROM_MEM_WITH_Q)
      ACL_FAIL(ACL_ERROR_INVALID_PARAM, "the load type is %zu; give 1 to 6", type);
    found->type = type;
    return ACL_SUCCESS;
  }
  case ACL_MDL_PATH_PTR: {
    const char *path = nullptr;
    ACL_TRY(read(path));
    ACL_REQUIRE(path);
    found->path = path;
    return ACL_SUCCESS;
  }
  case ACL_MDL_MEM_ADDR_PTR:
    return read(request.data);
  case ACL_MDL_MEM_SIZET:
    return read(request.bytes);
  case ACL_MDL_WEIGHT_ADDR_PTR:
    return read(request.weights);
  case ACL_MDL_WEIGHT_SIZET:
    return read(request.weightBytes);
  case ACL_MDL_WORKSPACE_ADDR_PTR:
    return read(request.work);
  case ACL_MDL_WORKSPACE_SIZET:
    return read(request.workBytes);
  case ACL_MDL_WORKSPACE_MEM_OPTIMIZE:
  case ACL_MDL_MEM_MALLOC_POLICY_SIZET: {
    size_t ignored = 0;
    return read(ignored);
  }
  case ACL_MDL_WEIGHT_PATH_PTR: {
    // Weights are part of the .om, whatever --external_weight says: there is no folder to look in.
    const char *folder = nullptr;
    ACL_TRY(read(folder));
    ACL_REQUIRE(folder);
    return ACL_SUCCESS;
  }
  case ACL_MDL_MODEL_DESC_PTR:
  case ACL_MDL_MODEL_DESC_SIZET:
  case ACL_MDL_KERNEL_PTR:
  case ACL_MDL_KERNEL_SIZET:
  case ACL_MDL_KERNEL_ARGS_PTR:
  case ACL_MDL_KERNEL_ARGS_SIZET:
  case ACL_MDL_STATIC_TASK_PTR:
  case ACL_MDL_STATIC_TASK_SIZET:
  case ACL_MDL_DYNAMIC_TASK_PTR:
  case ACL_MDL_DYNAMIC_TASK_SIZET:
  case ACL_MDL_FIFO_PTR:
  case ACL_MDL_FIFO_SIZET:
    ACL_FAIL(ACL_ERROR_API_NOT_SUPPORT,
             "a model has working memory and weights here; leave out its other parts, whose sizes "
             "aclmdlQueryExeOMDesc writes as 0");
  case ACL_MDL_INPUTQ_NUM_SIZET:
  case ACL_MDL_INPUTQ_ADDR_PTR:
  case ACL_MDL_OUTPUTQ_NUM_SIZET:
  case ACL_MDL_OUTPUTQ_ADDR_PTR:
    ACL_FAIL(ACL_ERROR_API_NOT_SUPPORT, "models are not fed by queues here; execute them");
  }
  ACL_FAIL(ACL_ERROR_INVALID_PARAM, "attr is %d, which is none of aclmdlConfigAttr", int(attr));
}

aclError aclmdlLoadWithConfig(const aclmdlConfigHandle *handle, uint32_t *modelId) {
  ACL_FIND(found, loadConfigs(), handle);
  Request request = found->request;
  if (found->type == ACL_MDL_LOAD_FROM_FILE || found->type == ACL_MDL_LOAD_FROM_MEM) {
    request.work = nullptr;
    request.weights = nullptr;
  }
  switch (found->type) {
  case ACL_MDL_LOAD_FROM_FILE:
  case ACL_MDL_LOAD_FROM_FILE_WITH_MEM:
    if (found->path.empty())
      ACL_FAIL(ACL_ERROR_INVALID_PARAM, "set ACL_MDL_PATH_PTR first");
    request.data = nullptr;
    return loadPath(__func__, request, found->path.c_str(), modelId);
  case ACL_MDL_LOAD_FROM_MEM:
  case ACL_MDL_LOAD_FROM_MEM_WITH_MEM:
    return loadBytes(__func__, request, request.data, request.bytes, modelId);
  case 0:
    ACL_FAIL(ACL_ERROR_INVALID_PARAM, "set ACL_MDL_LOAD_TYPE_SIZET first");
  }
  ACL_FAIL(ACL_ERROR_API_NOT_SUPPORT, "models are not fed by queues here; execute them");
}

aclError aclmdlSetExternalWeightAddress(aclmdlConfigHandle *handle, const char *weightFileName,
                                        void *devPtr, size_t size) {
  ACL_FIND(found, loadConfigs(), handle);
  ACL_REQUIRE(weightFileName);
  ACL_REQUIRE(devPtr);
  if (size == 0)
    ACL_FAIL(ACL_ERROR_INVALID_PARAM, "size is 0");
  std::shared_ptr<Block> block;
  return requireDevice(__func__, "devPtr", devPtr, size, block);
}

aclError aclmdlLoadFromFileWithQ(const char *, uint32_t *, const uint32_t *, size_t,
                                 const uint32_t *, size_t) {
  ACL_FAIL(ACL_ERROR_API_NOT_SUPPORT, "models are not fed by queues here; execute them");
}

aclError aclmdlLoadFromMemWithQ(const void *, size_t, uint32_t *, const uint32_t *, size_t,
                                const uint32_t *, size_t) {
  ACL_FAIL(ACL_ERROR_API_NOT_SUPPORT, "models are not fed by queues here; execute them");
}
