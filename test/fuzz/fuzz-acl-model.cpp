//===-- fuzz-acl-model.cpp - no .om file or bundle crashes AscendCL -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A model is loaded from a changed file, alone and as both parts of a bundle, and all that
// AscendCL tells of it is asked. Nothing is run, as the code in a file is trusted by design.

#include "acl/acl.h"
#include "test/fuzz/om/OmMutator.h"

#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

namespace {

/// The largest number of profiles that a caller would make room for.
constexpr size_t maxGears = 1000;

/// Asks for everything about one input or output.
void ask(aclmdlDesc *desc, size_t index) {
  auto dims = std::make_unique<aclmdlIODims>();
  auto range = std::make_unique<aclmdlIODimsRange>();
  aclmdlGetInputSizeByIndex(desc, index);
  aclmdlGetOutputSizeByIndex(desc, index);
  for (const char *name :
       {aclmdlGetInputNameByIndex(desc, index), aclmdlGetOutputNameByIndex(desc, index)})
    if (name && std::strlen(name)) {
      size_t found = 0;
      aclmdlGetInputIndexByName(desc, name, &found);
      aclmdlGetOutputIndexByName(desc, name, &found);
      aclmdlGetTensorRealName(desc, name);
      aclmdlGetOpAttr(desc, name, "_datadump_original_op_names");
    }
  aclmdlGetInputDims(desc, index, dims.get());
  aclmdlGetInputDimsV2(desc, index, dims.get());
  aclmdlGetOutputDims(desc, index, dims.get());
  aclmdlGetCurOutputDims(desc, index, dims.get());
  aclmdlGetInputDimsRange(desc, index, range.get());
  aclmdlGetInputDataType(desc, index);
  aclmdlGetOutputDataType(desc, index);
  aclmdlGetInputFormat(desc, index);
  aclmdlGetOutputFormat(desc, index);
  auto sizes = std::make_unique<aclmdlHW>();
  aclmdlGetDynamicHW(desc, index, sizes.get());
}

void ask(aclmdlDesc *desc) {
  for (size_t index = 0; index <= aclmdlGetNumInputs(desc) || index <= aclmdlGetNumOutputs(desc);
       ++index)
    ask(desc, index);
  auto batches = std::make_unique<aclmdlBatch>();
  aclmdlGetDynamicBatch(desc, batches.get());
  size_t gears = 0;
  if (aclmdlGetInputDynamicGearCount(desc, SIZE_MAX, &gears) == ACL_SUCCESS && gears <= maxGears) {
    std::vector<aclmdlIODims> all(gears);
    aclmdlGetInputDynamicDims(desc, SIZE_MAX, all.data(), gears);
  }
}

void askForImages(uint32_t model, size_t inputs) {
  for (size_t index = 0; index <= inputs; ++index) {
    aclmdlInputAippType type;
    size_t attached = 0;
    aclmdlGetAippType(model, index, &type, &attached);
    auto info = std::make_unique<aclAippInfo>();
    aclmdlGetFirstAippInfo(model, index, info.get());
  }
}

bool loadAlone(const std::vector<char> &file) {
  size_t work = 0, weights = 0;
  aclmdlQuerySizeFromMem(file.data(), file.size(), &work, &weights);
  aclmdlDesc *desc = aclmdlCreateDesc();
  if (aclmdlGetDescFromMem(desc, file.data(), file.size()) == ACL_SUCCESS)
    ask(desc);
  uint32_t model = 0;
  const bool isLoaded = aclmdlLoadFromMem(file.data(), file.size(), &model) == ACL_SUCCESS;
  if (isLoaded) {
    if (aclmdlGetDesc(desc, model) != ACL_SUCCESS)
      std::abort();
    ask(desc);
    askForImages(model, aclmdlGetNumInputs(desc));
    if (aclmdlUnload(model) != ACL_SUCCESS)
      std::abort();
  }
  aclmdlDestroyDesc(desc);
  return isLoaded;
}

/// The table of a bundle is changed by bytes that stand at the end of the file.
void loadBundle(const std::vector<char> &file) {
  uint64_t table[5] = {2, 16 + sizeof(table), file.size(), 16 + sizeof(table), file.size()};
  const auto last = file.empty() ? uint8_t(0) : uint8_t(file.back());
  if (last & 1)
    table[last / 2 % 5] += (last & 128) ? uint64_t(INT64_MAX) : last;
  std::vector<char> bundle(16 + sizeof(table) + file.size());
  std::memcpy(bundle.data(), "OpenATC bundle 1", 16);
  std::memcpy(bundle.data() + 16, table, sizeof(table));
  if (!file.empty())
    std::memcpy(bundle.data() + 16 + sizeof(table), file.data(), file.size());
  aclmdlBundleQueryInfo *query = aclmdlBundleCreateQueryInfo();
  size_t models = 0, work = 0, weights = 0;
  if (aclmdlBundleQueryInfoFromMem(bundle.data(), bundle.size(), query) == ACL_SUCCESS &&
      aclmdlBundleGetQueryModelNum(query, &models) == ACL_SUCCESS)
    for (size_t i = 0; i <= models; ++i)
      aclmdlBundleGetSize(query, i, &work, &weights);
  aclmdlBundleDestroyQueryInfo(query);
  uint32_t id = 0, model = 0;
  if (aclmdlBundleLoadFromMem(bundle.data(), bundle.size(), &id) == ACL_SUCCESS) {
    for (size_t i = 0; aclmdlBundleGetModelNum(id, &models) == ACL_SUCCESS && i <= models; ++i)
      aclmdlBundleGetModelId(id, i, &model);
    aclmdlBundleUnload(id);
  }
}

} // namespace

/// Returns 0 for files that are loaded.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const bool started = [] {
    setenv("OPENATC_ACL_THREADS", "1", 1);
    return aclInit(nullptr) == ACL_SUCCESS;
  }();
  if (!started || aclrtSetDevice(0) != ACL_SUCCESS)
    std::abort();
  std::vector<char> file(data, data + size);
  atc::fuzz::repairHash(file);
  const bool isLoaded = loadAlone(file);
  loadBundle(file);
  if (aclrtResetDeviceForce(0) != ACL_SUCCESS)
    std::abort();
  return isLoaded ? 0 : -1;
}
