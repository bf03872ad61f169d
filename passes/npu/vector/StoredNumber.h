//===-- StoredNumber.h - recognizes quantization in scalar code ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_NPU_VECTOR_STOREDNUMBER_H
#define OPENATC_PASSES_NPU_VECTOR_STOREDNUMBER_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

#include <optional>

namespace atc::npu {

/// A value saturate(round(real) + offset) of `type` (ui8 or i8).
struct StoredNumber {
  mlir::Value real;
  double offset = 0;      ///< an integer
  mlir::Value beforeKept; ///< the operand of the clamp to the range of `type`
  mlir::Type type;
};

/// Matches the code before `store`, a conversion to 8 bits; returns nothing if it is another op or
/// the code has another form.
std::optional<StoredNumber> storedNumberOf(mlir::Operation *store);

/// Returns whether a float is clamped to what a byte holds.
bool isKeptInByte(mlir::Value value, bool isUnsigned);

/// Where `value` is op(x, constant): returns the constant and replaces `value` by x.
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
