//===-- Bundles.cpp - files of several models are loaded ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ascend/src/AtcCall.h"
#include "ascend/src/BundleFormat.h"
#include "ascend/src/Errors.h"
#include "ascend/src/Handles.h"
#include "ascend/src/Library.h"
#include "ascend/src/Load.h"
#include "ascend/src/Model.h"
#include "ascend/src/NumberedTable.h"
#include "ascend/src/memory/Memory.h"

#include "acl/acl_mdl.h"

#include <algorithm>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

using namespace atc::ascend;

namespace {

/// The bytes of a file and its models, which are parts of them.
struct Contents {
  std::string bytes;
  std::vector<std::string_view> models;
};

/// Number of a model that the bundle has not loaded. Others may have been unloaded by aclmdlUnload.
constexpr uint32_t notLoaded = UINT32_MAX;

/// A bundle that a program has opened.
struct Bundle {
  std::mutex mutex;
  std::shared_ptr<const Contents> contents; ///< null where all models were loaded at once
  std::vector<uint32_t> ids;                ///< of each model, or notLoaded
};

NumberedTable<uint32_t, std::shared_ptr<Bundle>> &bundles() {
  static auto &only = *new NumberedTable<uint32_t, std::shared_ptr<Bundle>>;
  return only;
}

/// The result of aclmdlBundleQueryInfoFromFile or ...FromMem; `contents` is null before the call.
struct BundleQuery {
  std::mutex mutex;
  std::shared_ptr<const Contents> contents;
};

HandleTable<BundleQuery> &queries() {
  static auto &table = *new HandleTable<BundleQuery>(HandleKind::BundleQuery);
  return table;
}

/// Finds the models that a file has; a file of one model is a bundle of one.
aclError findModels(const char *function, std::string_view bytes,
                    std::vector<std::string_view> &models) {
  auto found = isBundle(bytes) ? modelsOfBundle(bytes) : std::vector<std::string_view>{bytes};
  if (!found)
    return fail(ACL_ERROR_GE_PARAM_INVALID, function, "the bundle is damaged");
  models = std::move(*found);
  return ACL_SUCCESS;
}

aclError keepContents(const char *function, std::string bytes,
                      std::shared_ptr<const Contents> &result) {
  auto contents = std::make_shared<Contents>();
  contents->bytes = std::move(bytes);
  std::vector<std::string_view> &models = contents->models;
  ACL_TRY(findModels(function, contents->bytes, models));
  // What loads models checks all of them; here they are only kept.
  for (size_t i = 0; i < models.size(); ++i)
    if (!isModel(models[i]))
      return fail(ACL_ERROR_GE_PARAM_INVALID, function,
                  "part %zu of %zu is no model; expected an .om file of this project's atc, or a "
                  "bundle of them",
                  i, models.size());
  result = std::move(contents);
  return ACL_SUCCESS;
}

aclError readFile(const char *function, const char *path, std::string &bytes) {
  if (!path)
    return fail(ACL_ERROR_INVALID_PARAM, function, "the path is NULL");
  bytes = textOfFile(path);
  if (bytes.empty())
    return fail(ACL_ERROR_GE_EXEC_MODEL_PATH_INVALID, function,
                "the file '%s' cannot be read, or is empty", path);
  return ACL_SUCCESS;
}

aclError requireMemory(const char *function, const void *model, size_t size,
                       std::string_view &bytes) {
  if (!model)
    return fail(ACL_ERROR_INVALID_PARAM, function, "model is NULL");
  if (size == 0)
    return fail(ACL_ERROR_INVALID_PARAM, function, "modelSize is 0");
  bytes = {static_cast<const char *>(model), size};
  return ACL_SUCCESS;
}

aclError keepFile(const char *function, const char *path, std::shared_ptr<const Contents> &result) {
  std::string bytes;
  ACL_TRY(readFile(function, path, bytes));
  return keepContents(function, std::move(bytes), result);
}

aclError keepMemory(const char *function, const void *model, size_t size,
                    std::shared_ptr<const Contents> &result) {
  std::string_view bytes;
  ACL_TRY(requireMemory(function, model, size, bytes));
  return keepContents(function, std::string(bytes), result);
}

uint32_t addBundle(std::shared_ptr<const Contents> contents, std::vector<uint32_t> ids) {
  auto bundle = std::make_shared<Bundle>();
  bundle->contents = std::move(contents);
  bundle->ids = std::move(ids);
  return bundles().add(std::move(bundle));
}

/// Unloads the models that the program has not unloaded itself.
void unloadAll(const std::vector<uint32_t> &ids) {
  for (uint32_t id : ids)
    if (isLoaded(id))
      aclmdlUnload(id);
}

/// Loads all models of a file. They have their bytes then: the file's are not kept.
aclError loadBundle(const char *function, std::string_view bytes, uint32_t *bundleId) {
  std::vector<std::string_view> models;
  ACL_TRY(findModels(function, bytes, models));
  std::vector<uint32_t> ids;
  for (std::string_view model : models) {
    uint32_t id = 0;
    if (aclError code = aclmdlLoadFromMem(model.data(), model.size(), &id); code != ACL_SUCCESS) {
      unloadAll(ids);
      return code;
    }
    ids.push_back(id);
  }
  *bundleId = addBundle(nullptr, std::move(ids));
  return ACL_SUCCESS;
}

/// Opens a file, none of whose models is loaded then.
aclError openBundle(const char *function, std::shared_ptr<const Contents> contents, void *variables,
                    size_t variableBytes, uint32_t *bundleId) {
  ACL_TRY(requireStarted(function));
  if (variables) {
    std::shared_ptr<Block> block;
    ACL_TRY(requireDevice(function, "varWeightPtr", variables, variableBytes, block));
  }
  const size_t count = contents->models.size();
  *bundleId = addBundle(std::move(contents), std::vector<uint32_t>(count, notLoaded));
  return ACL_SUCCESS;
}

aclError requireBundle(const char *function, uint32_t bundleId,
                       std::optional<std::shared_ptr<Bundle>> found,
                       std::shared_ptr<Bundle> &bundle) {
  if (!found)
    return fail(ACL_ERROR_INVALID_BUNDLE_MODEL_ID, function, "no bundle with id %u is loaded",
                bundleId);
  bundle = std::move(*found);
  return ACL_SUCCESS;
}

aclError findBundle(const char *function, uint32_t bundleId, std::shared_ptr<Bundle> &bundle) {
  return requireBundle(function, bundleId, bundles().find(bundleId), bundle);
}

aclError requireIndex(const char *function, size_t index, size_t count) {
  if (index < count)
    return ACL_SUCCESS;
  return fail(ACL_ERROR_INVALID_PARAM, function, "index is %zu, the bundle has %zu models", index,
              count);
}

/// Loads one model of an open bundle with `load`, which gets its bytes.
aclError loadPart(const char *function, uint32_t bundleId, size_t index, uint32_t *modelId,
                  const std::function<aclError(std::string_view, uint32_t *)> &load) {
  if (!modelId)
    return fail(ACL_ERROR_INVALID_PARAM, function, "modelId is NULL");
  std::shared_ptr<Bundle> bundle;
  ACL_TRY(findBundle(function, bundleId, bundle));
  std::lock_guard lock(bundle->mutex);
  ACL_TRY(requireIndex(function, index, bundle->ids.size()));
  if (!bundle->contents)
    return fail(ACL_ERROR_INVALID_PARAM, function,
                "the bundle was loaded as a whole; open it with aclmdlBundleInitFromFile to load "
                "its models one by one");
  if (uint32_t &id = bundle->ids[index]; !isLoaded(id)) {
    ACL_TRY(load(bundle->contents->models[index], &id));
    *modelId = id;
    return ACL_SUCCESS;
  }
  return fail(ACL_ERROR_INVALID_PARAM, function, "model %zu of the bundle is loaded already",
              index);
}

/// Writes what a query has found; ACL_ERROR_INVALID_PARAM where it has not read a file yet.
aclError findContents(const char *function, const aclmdlBundleQueryInfo *handle,
                      std::shared_ptr<const Contents> &contents) {
  auto query = queries().find(handle);
  if (!query)
    return fail(handle ? ACL_ERROR_INVALID_RESOURCE_HANDLE : ACL_ERROR_INVALID_PARAM, function,
                "queryInfo (%p) was destroyed, or is of another kind",
                static_cast<const void *>(handle));
  std::lock_guard lock(query->mutex);
  contents = query->contents;
  if (!contents)
    return fail(ACL_ERROR_INVALID_PARAM, function,
                "queryInfo is empty; call aclmdlBundleQueryInfoFromFile first");
  return ACL_SUCCESS;
}

} // namespace

aclError aclmdlBundleLoadFromFile(const char *modelPath, uint32_t *bundleId) {
  ACL_REQUIRE(bundleId);
  std::string bytes;
  ACL_TRY(readFile(__func__, modelPath, bytes));
  return loadBundle(__func__, bytes, bundleId);
}

aclError aclmdlBundleLoadFromMem(const void *model, size_t modelSize, uint32_t *bundleId) {
  ACL_REQUIRE(bundleId);
  std::string_view bytes;
  ACL_TRY(requireMemory(__func__, model, modelSize, bytes));
  return loadBundle(__func__, bytes, bundleId);
}

aclError aclmdlBundleUnload(uint32_t bundleId) {
  std::shared_ptr<Bundle> bundle;
  ACL_TRY(requireBundle(__func__, bundleId, bundles().take(bundleId), bundle));
  std::lock_guard lock(bundle->mutex);
  unloadAll(std::exchange(bundle->ids, {}));
  return ACL_SUCCESS;
}

aclError aclmdlBundleGetModelNum(uint32_t bundleId, size_t *modelNum) {
  ACL_REQUIRE(modelNum);
  std::shared_ptr<Bundle> bundle;
  ACL_TRY(findBundle(__func__, bundleId, bundle));
  std::lock_guard lock(bundle->mutex);
  *modelNum = bundle->ids.size();
  return ACL_SUCCESS;
}

aclError aclmdlBundleGetModelId(uint32_t bundleId, size_t index, uint32_t *modelId) {
  ACL_REQUIRE(modelId);
  std::shared_ptr<Bundle> bundle;
  ACL_TRY(findBundle(__func__, bundleId, bundle));
  std::lock_guard lock(bundle->mutex);
  ACL_TRY(requireIndex(__func__, index, bundle->ids.size()));
  if (!isLoaded(bundle->ids[index]))
    ACL_FAIL(ACL_ERROR_INVALID_PARAM,
             "model %zu of the bundle is not loaded; call aclmdlBundleLoadModel first", index);
  *modelId = bundle->ids[index];
  return ACL_SUCCESS;
}

aclmdlBundleQueryInfo *aclmdlBundleCreateQueryInfo() {
  return static_cast<aclmdlBundleQueryInfo *>(queries().add(std::make_shared<BundleQuery>()));
}

aclError aclmdlBundleDestroyQueryInfo(aclmdlBundleQueryInfo *queryInfo) {
  ACL_FIND(found, queries(), queryInfo);
  queries().remove(queryInfo);
  return ACL_SUCCESS;
}

aclError aclmdlBundleQueryInfoFromFile(const char *fileName, aclmdlBundleQueryInfo *queryInfo) {
  ACL_FIND(found, queries(), queryInfo);
  std::shared_ptr<const Contents> contents;
  ACL_TRY(keepFile(__func__, fileName, contents));
  std::lock_guard lock(found->mutex);
  found->contents = std::move(contents);
  return ACL_SUCCESS;
}

aclError aclmdlBundleQueryInfoFromMem(const void *model, size_t modelSize,
                                      aclmdlBundleQueryInfo *queryInfo) {
  ACL_FIND(found, queries(), queryInfo);
  std::shared_ptr<const Contents> contents;
  ACL_TRY(keepMemory(__func__, model, modelSize, contents));
  std::lock_guard lock(found->mutex);
  found->contents = std::move(contents);
  return ACL_SUCCESS;
}

aclError aclmdlBundleGetQueryModelNum(const aclmdlBundleQueryInfo *queryInfo, size_t *modelNum) {
  ACL_REQUIRE(modelNum);
  std::shared_ptr<const Contents> contents;
  ACL_TRY(findContents(__func__, queryInfo, contents));
  *modelNum = contents->models.size();
  return ACL_SUCCESS;
}

aclError aclmdlBundleGetVarWeightSize(const aclmdlBundleQueryInfo *queryInfo,
                                      size_t *variableWeightSize) {
  ACL_REQUIRE(variableWeightSize);
  std::shared_ptr<const Contents> contents;
  ACL_TRY(findContents(__func__, queryInfo, contents));
  *variableWeightSize = reportedSize(0);
  return ACL_SUCCESS;
}

aclError aclmdlBundleGetSize(const aclmdlBundleQueryInfo *queryInfo, size_t index, size_t *workSize,
                             size_t *constWeightSize) {
  std::shared_ptr<const Contents> contents;
  ACL_TRY(findContents(__func__, queryInfo, contents));
  ACL_TRY(requireIndex(__func__, index, contents->models.size()));
  const std::string_view model = contents->models[index];
  return aclmdlQuerySizeFromMem(model.data(), model.size(), workSize, constWeightSize);
}

aclError aclmdlBundleInitFromFile(const char *modelPath, void *varWeightPtr, size_t varWeightSize,
                                  uint32_t *bundleId) {
  ACL_REQUIRE(bundleId);
  std::shared_ptr<const Contents> contents;
  ACL_TRY(keepFile(__func__, modelPath, contents));
  return openBundle(__func__, std::move(contents), varWeightPtr, varWeightSize, bundleId);
}

aclError aclmdlBundleInitFromMem(const void *model, size_t modelSize, void *varWeightPtr,
                                 size_t varWeightSize, uint32_t *bundleId) {
  ACL_REQUIRE(bundleId);
  std::shared_ptr<const Contents> contents;
  ACL_TRY(keepMemory(__func__, model, modelSize, contents));
  return openBundle(__func__, std::move(contents), varWeightPtr, varWeightSize, bundleId);
}

aclError aclmdlBundleLoadModel(uint32_t bundleId, size_t index, uint32_t *modelId) {
  return loadPart(__func__, bundleId, index, modelId, [](std::string_view model, uint32_t *id) {
    return aclmdlLoadFromMem(model.data(), model.size(), id);
  });
}

aclError aclmdlBundleLoadModelWithMem(uint32_t bundleId, size_t index, void *workPtr,
                                      size_t workSize, void *weightPtr, size_t weightSize,
                                      uint32_t *modelId) {
  return loadPart(__func__, bundleId, index, modelId, [&](std::string_view model, uint32_t *id) {
    return aclmdlLoadFromMemWithMem(model.data(), model.size(), id, workPtr, workSize, weightPtr,
                                    weightSize);
  });
}

aclError aclmdlBundleLoadModelWithConfig(uint32_t bundleId, size_t index,
                                         aclmdlConfigHandle *handle, uint32_t *modelId) {
  const char *function = __func__;
  return loadPart(function, bundleId, index, modelId, [&](std::string_view model, uint32_t *id) {
    return loadWithMemoryOf(function, handle, model, id);
  });
}

aclError aclmdlBundleUnloadModel(uint32_t bundleId, uint32_t modelId) {
  std::shared_ptr<Bundle> bundle;
  ACL_TRY(findBundle(__func__, bundleId, bundle));
  std::lock_guard lock(bundle->mutex);
  const auto found = std::find(bundle->ids.begin(), bundle->ids.end(), modelId);
  if (found == bundle->ids.end() || modelId == notLoaded)
    ACL_FAIL(ACL_ERROR_GE_EXEC_MODEL_ID_INVALID, "the bundle has no loaded model with id %u",
             modelId);
  *found = notLoaded;
  return aclmdlUnload(modelId);
}
