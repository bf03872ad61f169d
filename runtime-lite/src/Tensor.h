//===-- Tensor.h - element types and stored layouts -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_RUNTIME_TENSOR_H
#define OPENATC_RUNTIME_TENSOR_H

#include "openatc/om.h"
#include "runtime-lite/schema/om_generated.h"

namespace atc::rt {

/// How many bytes the stored and the plain dense form of a tensor take.
struct TensorSize {
  uint64_t elements;    ///< product of the logical dims
  uint64_t denseBytes;  ///< plain, dense
  uint64_t storedBytes; ///< from the first to past the last element, by the strides
  bool dense;           ///< stored as plain and dense
};

/// Measures a tensor. Null on success, else what is wrong with its description.
const char *measureTensor(const om::fb::Tensor &tensor, TensorSize &size);

/// Copies a measured tensor stored at `from` into plain dense layout at `to`.
void unpackTensor(const om::fb::Tensor &tensor, const char *from, char *to);

} // namespace atc::rt

#endif
