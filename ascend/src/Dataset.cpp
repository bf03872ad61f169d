//===-- Dataset.cpp -----------------------------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ascend/src/Dataset.h"

#include "ascend/src/Errors.h"

namespace atc::ascend {

HandleTable<Dataset> &datasets() {
  static auto &table = *new HandleTable<Dataset>(HandleKind::Dataset);
  return table;
}

Dataset::~Dataset() {
  for (auto &[index, handle] : descs)
    tensorDescs().remove(handle);
}

std::vector<std::shared_ptr<DataBuffer>> Dataset::buffers() {
  std::lock_guard lock(mutex);
  std::vector<std::shared_ptr<DataBuffer>> result;
  for (const Entry &entry : entries)
    result.push_back(entry.buffer);
  return result;
}

std::shared_ptr<TensorDesc> Dataset::desc(size_t index) {
  std::lock_guard lock(mutex);
  auto found = descs.find(index);
  if (found == descs.end())
    return nullptr;
  auto desc = tensorDescs().find(found->second);
  return desc ? std::make_shared<TensorDesc>(*desc) : nullptr;
}

void Dataset::setDesc(size_t index, const TensorDesc &desc) {
  auto *handle =
      static_cast<aclTensorDesc *>(tensorDescs().add(std::make_shared<TensorDesc>(desc)));
  std::lock_guard lock(mutex);
  auto [entry, added] = descs.try_emplace(index, handle);
  if (added)
    return;
  tensorDescs().remove(entry->second);
  entry->second = handle;
}

} // namespace atc::ascend

using namespace atc::ascend;

/// Finds the dataset of a function that does not return an error code; null, with a message, for a
/// bad handle.
static std::shared_ptr<Dataset> findDataset(const char *function, const aclmdlDataset *dataset) {
  auto found = datasets().find(dataset);
  if (!found)
    fail(dataset ? ACL_ERROR_INVALID_RESOURCE_HANDLE : ACL_ERROR_INVALID_PARAM, function,
         "dataset (%p) was destroyed, or is no dataset", static_cast<const void *>(dataset));
  return found;
}

aclmdlDataset *aclmdlCreateDataset() {
  return static_cast<aclmdlDataset *>(datasets().add(std::make_shared<Dataset>()));
}

aclError aclmdlDestroyDataset(const aclmdlDataset *dataset) {
  ACL_FIND(found, datasets(), dataset);
  datasets().remove(dataset);
  return ACL_SUCCESS;
}

aclError aclmdlAddDatasetBuffer(aclmdlDataset *dataset, aclDataBuffer *dataBuffer) {
  ACL_FIND(found, datasets(), dataset);
  ACL_FIND(buffer, dataBuffers(), dataBuffer);
  std::lock_guard lock(found->mutex);
  found->entries.push_back({dataBuffer, buffer});
  return ACL_SUCCESS;
}

size_t aclmdlGetDatasetNumBuffers(const aclmdlDataset *dataset) {
  auto found = findDataset(__func__, dataset);
  if (!found)
    return 0;
  std::lock_guard lock(found->mutex);
  return found->entries.size();
}

aclDataBuffer *aclmdlGetDatasetBuffer(const aclmdlDataset *dataset, size_t index) {
  auto found = findDataset(__func__, dataset);
  if (!found)
    return nullptr;
  std::lock_guard lock(found->mutex);
  if (index < found->entries.size())
    return found->entries[index].handle;
  fail(ACL_ERROR_INVALID_PARAM, __func__, "index is %zu, the dataset has %zu buffers", index,
       found->entries.size());
  return nullptr;
}

aclError aclmdlSetDatasetTensorDesc(aclmdlDataset *dataset, aclTensorDesc *tensorDesc,
                                    size_t index) {
  ACL_FIND(found, datasets(), dataset);
  if (size_t count = found->buffers().size(); index >= count)
    ACL_FAIL(ACL_ERROR_INVALID_PARAM, "index is %zu, the dataset has %zu buffers", index, count);
  if (!tensorDesc) { // takes the description away
    std::lock_guard lock(found->mutex);
    if (auto entry = found->descs.find(index); entry != found->descs.end()) {
      tensorDescs().remove(entry->second);
      found->descs.erase(entry);
    }
    return ACL_SUCCESS;
  }
  ACL_FIND(desc, tensorDescs(), tensorDesc);
  found->setDesc(index, *desc);
  return ACL_SUCCESS;
}

aclTensorDesc *aclmdlGetDatasetTensorDesc(const aclmdlDataset *dataset, size_t index) {
  auto found = findDataset(__func__, dataset);
  if (!found)
    return nullptr;
  std::lock_guard lock(found->mutex);
  auto desc = found->descs.find(index);
  return desc == found->descs.end() ? nullptr : desc->second;
}
