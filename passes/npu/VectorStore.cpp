//===-- VectorStore.cpp - how scalar code stores bytes ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/npu/VectorPlan.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

#include <cmath>

using namespace mlir;

namespace atc::npu {

/// The number that is stored as 8 bits. Instructions that store round to even and
/// saturate: what does that before is left out, and anything else has no store.
std::optional<int> VectorPlan::readStore(Operation *store) {
  bool isUnsigned = isa<arith::FPToUIOp>(store);
  auto constantBehind = [](Operation *op) -> std::optional<double> {
    FloatAttr number;
    if (op->getNumOperands() == 2 && matchPattern(op->getOperand(1), m_Constant(&number)))
      return number.getValueAsDouble();
    return std::nullopt;
  };
  Value value = store->getOperand(0);
  double least = isUnsigned ? 0 : -128, most = isUnsigned ? 255 : 127;
  bool above = false, below = false;
  while (Operation *bound = value.getDefiningOp()) {
    bool isMax = isa<arith::MaximumFOp>(bound), isMin = isa<arith::MinimumFOp>(bound);
    if ((!isMax && !isMin) || constantBehind(bound) != (isMax ? least : most))
      break;
    (isMax ? above : below) = true;
    value = bound->getOperand(0);
  }
  Operation *last = value.getDefiningOp();
  bool isShifted = isa_and_nonnull<arith::AddFOp>(last);
  Operation *round = isShifted ? last->getOperand(0).getDefiningOp() : last;
  if (!above || !below || !isa_and_nonnull<math::RoundEvenOp>(round))
    return std::nullopt;
  if (isShifted)
    if (auto shift = constantBehind(last); !shift || *shift != std::floor(*shift))
      return std::nullopt;
  storedType = IntegerType::get(store->getContext(), 8,
                                isUnsigned ? IntegerType::Unsigned : IntegerType::Signless);
  int step = valueOf(isShifted ? value : round->getOperand(0));
  return step < 0 ? std::nullopt : std::optional(step);
}

} // namespace atc::npu
