//===-- SparseTensor.h - tensors that are stored without their zeros ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_FRONTENDS_TFLITE_SPARSETENSOR_H
#define OPENATC_FRONTENDS_TFLITE_SPARSETENSOR_H

#include <optional>
#include <string>

#include "frontends/tflite/schema/tflite_generated.h"
#include "llvm/ADT/StringRef.h"

namespace atc::tflite {

/// Returns all elements of a tensor, of `size` bytes each, of which the file stores `stored`. Its
/// dims are not negative, and no more than 2^40 elements. Returns nothing, with the reason in
/// `error`, where the tables of its indices do not fit its shape or its bytes.
std::optional<std::string> expandSparse(const fb::Tensor &tensor, size_t size,
                                        llvm::StringRef stored, std::string &error);

} // namespace atc::tflite

#endif // OPENATC_FRONTENDS_TFLITE_SPARSETENSOR_H
