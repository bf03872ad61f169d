//===-- Tensors.h - limits, shapes and elements of imported tensors -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_FRONTENDS_TENSORS_H
#define OPENATC_FRONTENDS_TENSORS_H

#include <string>

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/Support/Error.h"

namespace atc {

/// No tensor of a model may have more elements, and no dim may be larger; so
/// products of a few such numbers cannot overflow.
constexpr int64_t maxElements = int64_t(1) << 40;
constexpr int64_t maxDim = int64_t(1) << 31;

/// An .om file describes tensors of no more dims.
constexpr int64_t maxRank = 16;

/// What an importer itself may fill with computed elements.
constexpr int64_t maxMadeElements = int64_t(1) << 26;

/// "[1, 2, 3]".
std::string printDims(llvm::ArrayRef<int64_t> dims);

/// The number of elements, or why there cannot be such a tensor.
llvm::Expected<int64_t> countElements(llvm::ArrayRef<int64_t> dims);

/// The integer nearest to `value`, toward zero between two; 0 for NaN.
int64_t toInteger(double value);

/// The elements of a constant as numbers of one kind.
llvm::SmallVector<int64_t> readInts(mlir::ElementsAttr value);
llvm::SmallVector<double> readFloats(mlir::ElementsAttr value);

} // namespace atc

#endif // OPENATC_FRONTENDS_TENSORS_H
