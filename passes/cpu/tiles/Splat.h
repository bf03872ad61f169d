//===-- Splat.h - a constant in all lanes ---------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_CPU_TILES_SPLAT_H
#define OPENATC_PASSES_CPU_TILES_SPLAT_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/TypeUtilities.h"

namespace atc::cpu {

/// Returns a constant of `type`, a scalar or a vector of floats or integers.
inline mlir::Value splat(mlir::ImplicitLocOpBuilder &b, mlir::Type type, double number) {
  mlir::Type element = mlir::getElementTypeOrSelf(type);
  mlir::TypedAttr value;
  if (mlir::isa<mlir::FloatType>(element))
    value = b.getFloatAttr(element, number);
  else
    value = b.getIntegerAttr(element, static_cast<int64_t>(number));
  if (auto vector = mlir::dyn_cast<mlir::VectorType>(type))
    value = mlir::DenseElementsAttr::get(vector, mlir::Attribute(value));
  return mlir::arith::ConstantOp::create(b, value);
}

} // namespace atc::cpu

#endif // OPENATC_PASSES_CPU_TILES_SPLAT_H
