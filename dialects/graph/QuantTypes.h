//===-- QuantTypes.h - the element types of quantized tensors -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_DIALECTS_GRAPH_QUANTTYPES_H
#define OPENATC_DIALECTS_GRAPH_QUANTTYPES_H

#include "mlir/IR/BuiltinTypes.h"
#include <optional>

namespace atc::graph {

/// What a `!quant.uniform` element type says: real = (stored - zeroPoint) * scale.
struct QuantParams {
  /// i8 or ui8 (or another width).
  mlir::IntegerType stored;
  /// One for the tensor, or one for each index of dim `axis`.
  llvm::SmallVector<float> scales;
  llvm::SmallVector<int64_t> zeroPoints;
  int64_t axis = -1;
  int64_t least = 0, most = 0;

  bool isPerTensor() const { return axis < 0; }
  float scale() const { return scales.front(); }
  int64_t zeroPoint() const { return zeroPoints.front(); }
};

/// Nothing for a type that is not quantized, or in another way (by blocks).
std::optional<QuantParams> getQuantParams(mlir::Type elementType);

/// A type for `stored` integers (i8, ui8, ...) of all their range. Null where
/// the numbers make none: a scale that is not positive and finite, a zero point
/// out of range.
mlir::Type getQuantType(mlir::IntegerType stored, llvm::ArrayRef<float> scales,
                        llvm::ArrayRef<int64_t> zeroPoints, int64_t axis = -1);

/// The integers that elements of a quantized type are: i8 or ui8. Other types
/// are what they are.
mlir::Type getStoredType(mlir::Type elementType);
mlir::RankedTensorType getStoredType(mlir::RankedTensorType type);

} // namespace atc::graph

#endif // OPENATC_DIALECTS_GRAPH_QUANTTYPES_H
