//===-- Tensor.h - element types and stored layouts -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_RUNTIME_TENSOR_H
#define OPENATC_RUNTIME_TENSOR_H

#include "openatc/om.h"
#include "runtime-lite/schema/om_generated.h"

namespace atc::rt {

/// The size of a tensor in its stored and in its dense form.
struct TensorSize {
  uint64_t elements;    ///< product of the logical dims
  uint64_t denseBytes;  ///< in dense row-major layout
  uint64_t storedBytes; ///< from the first to past the last element, by the strides
  bool dense;           ///< stored dense and row-major
};

/// Computes the sizes of a tensor. Returns null on success, else a text that says what is wrong
/// with its description.
const char *measureTensor(const om::fb::Tensor &tensor, TensorSize &size);

/// Describes a tensor that the verifier has accepted. The name and the dims stay in the file.
om_tensor_info describeTensor(const om::fb::Tensor &tensor);

/// Copies a measured tensor stored at `from` into dense row-major layout at `to`, which has room
/// for denseBytes.
__attribute__((cold)) void unpackTensor(const om::fb::Tensor &tensor, const char *from, char *to);

/// Returns OM_OK where the `count` elements of an input, or of the tiles of one, are indices that
/// its description allows, or no indices. Otherwise fills the error with one sentence.
om_status checkIndices(const om::fb::Tensor &tensor, const void *elements, uint64_t count,
                       om_error *error);
/// Checks the indices of a whole input; `elements` is null for an input that is not set.
om_status checkIndices(const om::fb::Tensor &tensor, const void *elements, om_error *error);

} // namespace atc::rt

#endif
