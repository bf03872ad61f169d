//===-- Buffers.h - data buffers and tensor descriptions ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASCEND_SRC_BUFFERS_H
#define ASCEND_SRC_BUFFERS_H

#include "ascend/src/Handles.h"

#include "acl/acl_base.h"

#include <optional>
#include <string>
#include <vector>

namespace atc::ascend {

/// Memory of the program: an address and a size in bytes.
struct DataBuffer {
  std::mutex mutex; // guards both: aclUpdateDataBuffer may come from any thread
  void *data = nullptr;
  size_t bytes = 0;

  /// Returns both at one time.
  std::pair<void *, size_t> get() {
    std::lock_guard lock(mutex);
    return {data, bytes};
  }
  void set(void *newData, size_t newBytes) {
    std::lock_guard lock(mutex);
    data = newData;
    bytes = newBytes;
  }
};

/// Describes a tensor as the program states it. It must not be changed while another thread uses
/// it, as everywhere in AscendCL.
struct TensorDesc {
  aclDataType type = ACL_DT_UNDEFINED;
  aclFormat format = ACL_FORMAT_UNDEFINED;
  std::vector<int64_t> dims;
  std::string name;

  bool unknownRank = false;
  std::vector<std::pair<int64_t, int64_t>> ranges;
  /// The format and dims that getters return where the program has stated others for the memory;
  /// those of the memory are the members above.
  std::optional<aclFormat> statedFormat;
  std::optional<std::vector<int64_t>> statedDims;
  std::string dynamicInput;
  bool isConstant = false;
  std::vector<char> constant;
  aclMemType memType = ACL_MEMTYPE_DEVICE;

  const std::vector<int64_t> &askedDims() const { return statedDims ? *statedDims : dims; }

  /// Returns the number of elements; 0 where a dim is not known.
  size_t elements() const;
};

/// Return the process-wide tables that own the objects behind handles.
ACL_FUNC_VISIBILITY HandleTable<DataBuffer> &dataBuffers();
ACL_FUNC_VISIBILITY HandleTable<TensorDesc> &tensorDescs();

/// Returns the bits of an element; 0 for types without a size.
ACL_FUNC_VISIBILITY size_t bitsOf(aclDataType type);

/// Returns the name of a type as users write it, such as "float16".
const char *nameOf(aclDataType type);

/// Returns dims as text, such as "[1,3,224,224]".
std::string textOf(const std::vector<int64_t> &dims);

} // namespace atc::ascend

#endif
