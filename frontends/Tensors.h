//===-- Tensors.h - limits, shapes and elements of imported tensors -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_FRONTENDS_TENSORS_H
#define OPENATC_FRONTENDS_TENSORS_H

#include <string>

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/Support/Error.h"

namespace atc {

/// The maximum number of elements of a tensor, and of a dim, so that products of a few such numbers
/// cannot overflow.
constexpr int64_t maxElements = int64_t(1) << 40;
constexpr int64_t maxDim = int64_t(1) << 31;

/// The maximum number of dims; that of .om files.
constexpr int64_t maxRank = 16;

/// The maximum number of elements that an importer itself computes for a constant.
constexpr int64_t maxMadeElements = int64_t(1) << 26;

/// Returns dims as "[1, 2, 3]".
std::string printDims(llvm::ArrayRef<int64_t> dims);

/// Returns the number of elements, or an error where a limit is exceeded.
llvm::Expected<int64_t> countElements(llvm::ArrayRef<int64_t> dims);

/// Returns `value` truncated toward zero and saturated; 0 for NaN.
int64_t toInteger(double value);

/// Return the elements of a constant, converted to one type.
llvm::SmallVector<int64_t> readInts(mlir::ElementsAttr value);
llvm::SmallVector<double> readFloats(mlir::ElementsAttr value);

} // namespace atc

#endif // OPENATC_FRONTENDS_TENSORS_H
