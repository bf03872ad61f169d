//===-- QuantTypes.h - the element types of quantized tensors -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_DIALECTS_GRAPH_QUANTTYPES_H
#define OPENATC_DIALECTS_GRAPH_QUANTTYPES_H

#include "mlir/IR/BuiltinTypes.h"
#include <optional>

namespace atc::graph {

/// The parameters of a `!quant.uniform` element type: real = (stored - zeroPoint) * scale.
struct QuantParams {
  /// The storage type: i8 or ui8 (or another width).
  mlir::IntegerType stored;
  /// The scales: one for the tensor, or one per index of dim `axis`.
  llvm::SmallVector<float> scales;
  llvm::SmallVector<int64_t> zeroPoints;
  int64_t axis = -1;
  int64_t min = 0, max = 0;

  /// Returns whether there is one scale for all elements.
  bool isPerTensor() const { return axis < 0; }
  float scale() const { return scales.front(); }
  int64_t zeroPoint() const { return zeroPoints.front(); }
};

/// Returns the parameters; nothing for a type that is not quantized, or quantized by blocks.
std::optional<QuantParams> getQuantParams(mlir::Type elementType);

/// Returns a type for `stored` integers (i8, ui8, ...) of their full range. Null for invalid
/// parameters: a scale that is not positive and finite, or a zero point out of range.
mlir::Type getQuantType(mlir::IntegerType stored, llvm::ArrayRef<float> scales,
                        llvm::ArrayRef<int64_t> zeroPoints, int64_t axis = -1);

/// Returns the storage type of a quantized element type: i8 or ui8. Other types are returned
/// unchanged.
mlir::Type getStoredType(mlir::Type elementType);
mlir::RankedTensorType getStoredType(mlir::RankedTensorType type);

} // namespace atc::graph

#endif // OPENATC_DIALECTS_GRAPH_QUANTTYPES_H
