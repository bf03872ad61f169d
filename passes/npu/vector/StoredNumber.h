//===-- StoredNumber.h - how scalar code stores a byte -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_NPU_VECTOR_STOREDNUMBER_H
#define OPENATC_PASSES_NPU_VECTOR_STOREDNUMBER_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

#include <optional>

namespace atc::npu {

/// saturate(round(real) + offset), as a byte of `type` (ui8 or i8).
struct StoredNumber {
  mlir::Value real;
  double offset = 0;      ///< a whole number
  mlir::Value beforeKept; ///< what the bounds of `type` are applied to
  mlir::Type type;
};

/// Reads the code in front of `store`, a conversion to a byte; nothing if it is
/// another op or the code is of another form.
std::optional<StoredNumber> storedNumberOf(mlir::Operation *store);

/// The constant of `value` = op(x, constant), and x in place of `value`.
template <typename OpT> std::optional<double> peelConstant(mlir::Value &value) {
  auto op = value.getDefiningOp<OpT>();
  mlir::FloatAttr number;
  if (!op || !mlir::matchPattern(op.getRhs(), mlir::m_Constant(&number)))
    return std::nullopt;
  value = op.getLhs();
  return number.getValueAsDouble();
}

} // namespace atc::npu

#endif // OPENATC_PASSES_NPU_VECTOR_STOREDNUMBER_H
