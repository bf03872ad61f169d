//===-- Dataset.h - lists of data buffers ------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASCEND_SRC_DATASET_H
#define ASCEND_SRC_DATASET_H

#include "ascend/src/Buffers.h"

#include "acl/acl_mdl.h"

#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace atc::ascend {

/// The buffers of all inputs, or of all outputs, in the order of the model. It shares them:
/// a buffer that is destroyed first is still what it was.
struct Dataset {
  struct Entry {
    aclDataBuffer *handle;
    std::shared_ptr<DataBuffer> buffer;
  };

  std::mutex mutex;
  std::vector<Entry> entries;
  std::map<size_t, aclTensorDesc *> descs; ///< handles that the dataset owns

  ~Dataset();

  /// Returns the buffers as they are now.
  std::vector<std::shared_ptr<DataBuffer>> buffers();
  /// Returns a copy of the description of an entry; null without one.
  std::shared_ptr<TensorDesc> desc(size_t index);
  /// Replaces the description of an entry.
  void setDesc(size_t index, const TensorDesc &desc);
};

/// Returns the process-wide table that owns the data sets behind handles.
HandleTable<Dataset> &datasets();

} // namespace atc::ascend

#endif
