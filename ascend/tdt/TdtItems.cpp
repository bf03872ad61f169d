//===-- TdtItems.cpp ----------------------------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ascend/tdt/TdtItems.h"

#include "ascend/src/Errors.h"

#include "acl/acl_mdl.h"

#include <algorithm>

namespace atc::ascend {

HandleTable<TdtItem> &tdtItems() {
  static auto &table = *new HandleTable<TdtItem>(HandleKind::TdtItem);
  return table;
}

HandleTable<TdtDataset> &tdtDatasets() {
  static auto &table = *new HandleTable<TdtDataset>(HandleKind::TdtDataset);
  return table;
}

void forgetReceived(TdtDataset &dataset) {
  if (!dataset.received)
    return;
  for (void *item : dataset.items)
    tdtItems().remove(item);
  dataset.items.clear();
  dataset.received = false;
}

} // namespace atc::ascend

using namespace atc::ascend;

acltdtTensorType acltdtGetTensorTypeFromItem(const acltdtDataItem *dataItem) {
  auto item = tdtItems().find(dataItem);
  return item ? item->type : ACL_TENSOR_DATA_UNDEFINED;
}

aclDataType acltdtGetDataTypeFromItem(const acltdtDataItem *dataItem) {
  auto item = tdtItems().find(dataItem);
  return item ? item->dataType : ACL_DT_UNDEFINED;
}

void *acltdtGetDataAddrFromItem(const acltdtDataItem *dataItem) {
  auto item = tdtItems().find(dataItem);
  return item ? item->data : nullptr;
}

size_t acltdtGetDataSizeFromItem(const acltdtDataItem *dataItem) {
  auto item = tdtItems().find(dataItem);
  return item ? item->bytes : 0;
}

size_t acltdtGetDimNumFromItem(const acltdtDataItem *dataItem) {
  auto item = tdtItems().find(dataItem);
  return item ? item->dims.size() : 0;
}

aclError acltdtGetDimsFromItem(const acltdtDataItem *dataItem, int64_t *dims, size_t dimNum) {
  ACL_FIND(item, tdtItems(), dataItem);
  if (dimNum < item->dims.size() || (!dims && dimNum > 0))
    ACL_FAIL(ACL_ERROR_INVALID_PARAM, "the item has %zu dims, there is room for %zu",
             item->dims.size(), dims ? dimNum : 0);
  std::copy(item->dims.begin(), item->dims.end(), dims);
  return ACL_SUCCESS;
}

aclError acltdtGetSliceInfoFromItem(const acltdtDataItem *dataItem, size_t *sliceNum,
                                    size_t *sliceId) {
  ACL_FIND(item, tdtItems(), dataItem);
  ACL_REQUIRE(sliceNum);
  ACL_REQUIRE(sliceId);
  *sliceNum = *sliceId = 0;
  return ACL_SUCCESS;
}

acltdtDataItem *acltdtCreateDataItem(acltdtTensorType tdtType, const int64_t *dims, size_t dimNum,
                                     aclDataType dataType, void *data, size_t size) {
  if ((!dims && dimNum > 0) || dimNum > ACL_MAX_DIM_CNT) {
    fail(ACL_ERROR_INVALID_PARAM, __func__, "dims is %p for %zu dims; give at most %d",
         static_cast<const void *>(dims), dimNum, ACL_MAX_DIM_CNT);
    return nullptr;
  }
  if (!data && size > 0) {
    fail(ACL_ERROR_INVALID_PARAM, __func__, "data is NULL for %zu bytes", size);
    return nullptr;
  }
  auto item = std::make_shared<TdtItem>();
  item->type = tdtType;
  item->dataType = dataType;
  item->dims.assign(dims, dims + dimNum);
  item->data = data;
  item->bytes = size;
  return static_cast<acltdtDataItem *>(tdtItems().add(std::move(item)));
}

aclError acltdtDestroyDataItem(acltdtDataItem *dataItem) {
  ACL_FIND(item, tdtItems(), dataItem);
  if (item->received)
    ACL_FAIL(ACL_ERROR_INVALID_PARAM, "the item was received and ends with its dataset");
  tdtItems().remove(dataItem);
  return ACL_SUCCESS;
}

acltdtDataset *acltdtCreateDataset() {
  return static_cast<acltdtDataset *>(tdtDatasets().add(std::make_shared<TdtDataset>()));
}

aclError acltdtDestroyDataset(acltdtDataset *dataset) {
  ACL_FIND(found, tdtDatasets(), dataset);
  tdtDatasets().remove(dataset);
  std::lock_guard lock(found->mutex);
  forgetReceived(*found);
  return ACL_SUCCESS;
}

acltdtDataItem *acltdtGetDataItem(const acltdtDataset *dataset, size_t index) {
  auto found = tdtDatasets().find(dataset);
  if (!found)
    return nullptr;
  std::lock_guard lock(found->mutex);
  return index < found->items.size() ? static_cast<acltdtDataItem *>(found->items[index]) : nullptr;
}

aclError acltdtAddDataItem(acltdtDataset *dataset, acltdtDataItem *dataItem) {
  ACL_FIND(found, tdtDatasets(), dataset);
  ACL_FIND(item, tdtItems(), dataItem);
  std::lock_guard lock(found->mutex);
  if (found->received)
    ACL_FAIL(ACL_ERROR_INVALID_PARAM, "the items of the dataset were received; create another");
  found->items.push_back(dataItem);
  return ACL_SUCCESS;
}

size_t acltdtGetDatasetSize(const acltdtDataset *dataset) {
  auto found = tdtDatasets().find(dataset);
  if (!found)
    return 0;
  std::lock_guard lock(found->mutex);
  return found->items.size();
}

const char *acltdtGetDatasetName(const acltdtDataset *dataset) {
  auto found = tdtDatasets().find(dataset);
  if (!found) {
    fail(dataset ? ACL_ERROR_INVALID_RESOURCE_HANDLE : ACL_ERROR_INVALID_PARAM, __func__,
         "dataset (%p) is NULL, was destroyed, or is no dataset",
         static_cast<const void *>(dataset));
    return nullptr;
  }
  std::lock_guard lock(found->mutex);
  return found->channel.c_str();
}
