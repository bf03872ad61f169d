//===-- Bundles.cpp - files of several models are loaded ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ascend/src/AtcCall.h"
#include "ascend/src/BundleFormat.h"
#include "ascend/src/Errors.h"

#include "acl/acl_mdl.h"

#include <map>
#include <mutex>

using namespace atc::ascend;

namespace {

/// Keeps the ids of the models of each bundle.
struct Bundles {
  std::mutex mutex;
  std::map<uint32_t, std::vector<uint32_t>> byId;
  uint32_t next = 1;
};

Bundles &bundles() {
  static auto &only = *new Bundles;
  return only;
}

void unloadAll(const std::vector<uint32_t> &models) {
  for (uint32_t model : models)
    aclmdlUnload(model);
}

aclError loadBundle(const char *function, std::string_view bytes, uint32_t *bundleId) {
  // A file of one model is a bundle of one.
  auto parts = isBundle(bytes) ? modelsOfBundle(bytes) : std::vector<std::string_view>{bytes};
  if (!parts)
    return fail(ACL_ERROR_PARSE_MODEL, function, "the bundle is damaged");
  std::vector<uint32_t> models;
  for (std::string_view part : *parts) {
    uint32_t model = 0;
    if (aclError code = aclmdlLoadFromMem(part.data(), part.size(), &model); code != ACL_SUCCESS) {
      unloadAll(models);
      return code;
    }
    models.push_back(model);
  }
  std::lock_guard lock(bundles().mutex);
  *bundleId = bundles().next++;
  bundles().byId.emplace(*bundleId, std::move(models));
  return ACL_SUCCESS;
}

aclError noBundle(const char *function, uint32_t bundleId) {
  return fail(ACL_ERROR_INVALID_BUNDLE_MODEL_ID, function, "no bundle with id %u is loaded",
              bundleId);
}

} // namespace

aclError aclmdlBundleLoadFromFile(const char *modelPath, uint32_t *bundleId) {
  ACL_REQUIRE(modelPath);
  ACL_REQUIRE(bundleId);
  const std::string bytes = textOfFile(modelPath);
  if (bytes.empty())
    ACL_FAIL(ACL_ERROR_READ_MODEL_FAILURE, "the file '%s' cannot be read, or is empty", modelPath);
  return loadBundle(__func__, bytes, bundleId);
}

aclError aclmdlBundleLoadFromMem(const void *model, size_t modelSize, uint32_t *bundleId) {
  ACL_REQUIRE(model);
  ACL_REQUIRE(bundleId);
  if (modelSize == 0)
    ACL_FAIL(ACL_ERROR_INVALID_PARAM, "modelSize is 0");
  return loadBundle(__func__, {static_cast<const char *>(model), modelSize}, bundleId);
}

aclError aclmdlBundleUnload(uint32_t bundleId) {
  std::vector<uint32_t> models;
  {
    std::lock_guard lock(bundles().mutex);
    auto found = bundles().byId.find(bundleId);
    if (found == bundles().byId.end())
      return noBundle(__func__, bundleId);
    models = std::move(found->second);
    bundles().byId.erase(found);
  }
  unloadAll(models);
  return ACL_SUCCESS;
}

aclError aclmdlBundleGetModelNum(uint32_t bundleId, size_t *modelNum) {
  ACL_REQUIRE(modelNum);
  std::lock_guard lock(bundles().mutex);
  auto found = bundles().byId.find(bundleId);
  if (found == bundles().byId.end())
    return noBundle(__func__, bundleId);
  *modelNum = found->second.size();
  return ACL_SUCCESS;
}

aclError aclmdlBundleGetModelId(uint32_t bundleId, size_t index, uint32_t *modelId) {
  ACL_REQUIRE(modelId);
  std::lock_guard lock(bundles().mutex);
  auto found = bundles().byId.find(bundleId);
  if (found == bundles().byId.end())
    return noBundle(__func__, bundleId);
  if (index >= found->second.size())
    ACL_FAIL(ACL_ERROR_INVALID_PARAM, "index is %zu, the bundle has %zu models", index,
             found->second.size());
  *modelId = found->second[index];
  return ACL_SUCCESS;
}
