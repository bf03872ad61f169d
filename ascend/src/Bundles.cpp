//===-- Bundles.cpp - files of several models are loaded ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ascend/src/AtcCall.h"
#include "ascend/src/BundleFormat.h"
#include "ascend/src/Errors.h"
#include "ascend/src/NumberedTable.h"

#include "acl/acl_mdl.h"

#include <utility>
#include <vector>

using namespace atc::ascend;

namespace {

/// Keeps the ids of the models of each bundle.
NumberedTable<uint32_t, std::vector<uint32_t>> &bundles() {
  static auto &only = *new NumberedTable<uint32_t, std::vector<uint32_t>>;
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
  *bundleId = bundles().add(std::move(models));
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
    ACL_FAIL(ACL_ERROR_GE_EXEC_MODEL_PATH_INVALID, "the file '%s' cannot be read, or is empty",
             modelPath);
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
  const auto models = bundles().take(bundleId);
  if (!models)
    return noBundle(__func__, bundleId);
  unloadAll(*models);
  return ACL_SUCCESS;
}

aclError aclmdlBundleGetModelNum(uint32_t bundleId, size_t *modelNum) {
  ACL_REQUIRE(modelNum);
  const auto models = bundles().find(bundleId);
  if (!models)
    return noBundle(__func__, bundleId);
  *modelNum = models->size();
  return ACL_SUCCESS;
}

aclError aclmdlBundleGetModelId(uint32_t bundleId, size_t index, uint32_t *modelId) {
  ACL_REQUIRE(modelId);
  const auto models = bundles().find(bundleId);
  if (!models)
    return noBundle(__func__, bundleId);
  if (index >= models->size())
    ACL_FAIL(ACL_ERROR_INVALID_PARAM, "index is %zu, the bundle has %zu models", index,
             models->size());
  *modelId = (*models)[index];
  return ACL_SUCCESS;
}
