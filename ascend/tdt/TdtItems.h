//===-- TdtItems.h - items and datasets that channels pass -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASCEND_SRC_TDTITEMS_H
#define ASCEND_SRC_TDTITEMS_H

#include "acl/acl_tdt.h"
#include "ascend/src/Handles.h"

#include <string>
#include <vector>

namespace atc::ascend {

/// Describes a tensor, or the end of a sequence, on its way through a channel.
struct TdtItem {
  acltdtTensorType type = ACL_TENSOR_DATA_UNDEFINED;
  aclDataType dataType = ACL_DT_UNDEFINED;
  std::vector<int64_t> dims;
  void *data = nullptr; ///< The caller's memory, or `own`.
  size_t bytes = 0;
  std::vector<uint8_t> own; ///< The data of a received item.
  bool received = false;    ///< Whether the item ends with its dataset.
};

/// Lists items by their handles.
struct TdtDataset {
  std::mutex mutex;
  std::vector<void *> items;
  bool received = false; ///< Whether the items end with the dataset.
  std::string channel;   ///< The name of the channel it was received from.
};

/// Return the process-wide tables that own the objects behind handles.
HandleTable<TdtItem> &tdtItems();
HandleTable<TdtDataset> &tdtDatasets();

/// Removes the items that a dataset has received. The caller holds its mutex.
void forgetReceived(TdtDataset &dataset);

} // namespace atc::ascend

#endif
