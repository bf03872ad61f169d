//===-- Tensors.h - the objects that aclnn functions take --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASCEND_ACLNN_TENSORS_H
#define ASCEND_ACLNN_TENSORS_H

#include "ascend/src/Handles.h"

#include "aclnn/acl_meta.h"

#include <string>
#include <vector>

namespace atc::ascend {

using Dims = std::vector<int64_t>;

/// The codes of aclnn functions.
enum : aclnnStatus { aclnnIsNull = 161001, aclnnIsInvalid = 161002, aclnnRuntimeError = 361001 };

/// A view of device memory, as the program states it.
struct Tensor {
  aclDataType type = ACL_DT_UNDEFINED;
  aclFormat format = ACL_FORMAT_ND;
  Dims dims, strides, storageDims;
  int64_t offset = 0;
  void *data = nullptr;
};

/// A value of one element: the object behind an aclScalar handle.
struct Scalar {
  aclDataType type = ACL_DT_UNDEFINED;
  char bytes[8] = {};

  /// Returns it as a float of 64 bits.
  double value() const;
};

template <typename T> struct Array {
  std::vector<T> values;
};

/// A list that owns what its handles are of.
template <typename T> struct List {
  std::vector<void *> handles;
  std::vector<std::shared_ptr<T>> items;
};

/// Return the process-wide tables that own the objects behind handles.
HandleTable<Tensor> &tensors();
HandleTable<Scalar> &scalars();
HandleTable<Array<int64_t>> &intArrays();
HandleTable<Array<float>> &floatArrays();
HandleTable<Array<bool>> &boolArrays();
HandleTable<List<Tensor>> &tensorLists();
HandleTable<List<Scalar>> &scalarLists();

/// Returns the strides of dense elements.
Dims denseStrides(const Dims &dims);

/// Returns the product of dims.
int64_t countOf(const Dims &dims);

} // namespace atc::ascend

#endif
