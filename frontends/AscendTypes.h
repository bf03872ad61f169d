//===-- AscendTypes.h - operators in the words of the Ascend toolchain ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_FRONTENDS_ASCENDTYPES_H
#define OPENATC_FRONTENDS_ASCENDTYPES_H

#include "llvm/ADT/StringRef.h"

#include <string>
#include <vector>

namespace atc {

/// Returns whether an operator type of a settings file stands for a type of a model: the names
/// are equal, or the file has the Ascend toolchain's name of the ONNX or TensorFlow operator,
/// such as "Conv2D" of "Conv" or "ReduceSumD" of "ReduceSum".
bool isOperatorType(llvm::StringRef asked, llvm::StringRef type);

/// Returns whether the Ascend toolchain has operators of this type.
bool isAscendType(llvm::StringRef asked);

/// Returns whether a type of an ONNX or TensorFlow model is a convolution or a matrix product.
bool isContractionType(llvm::StringRef type);

/// Returns whether f16 loses much in an operator of an ONNX or TensorFlow model: sums over many
/// elements, exponentials and powers, norms.
bool isSensitiveType(llvm::StringRef type);

} // namespace atc

#endif // OPENATC_FRONTENDS_ASCENDTYPES_H
