//===-- VectorStore.cpp - how scalar code stores bytes ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/npu/vector/StoredNumber.h"
#include "passes/npu/vector/VectorPlan.h"

#include "mlir/Dialect/Math/IR/Math.h"

#include <cmath>

using namespace mlir;

namespace atc::npu {

std::optional<StoredNumber> storedNumberOf(Operation *store) {
  bool isUnsigned = isa_and_nonnull<arith::FPToUIOp>(store);
  if ((!isUnsigned && !isa_and_nonnull<arith::FPToSIOp>(store)) ||
      !store->getResult(0).getType().isInteger(8))
    return std::nullopt;
  StoredNumber number;
  number.type = IntegerType::get(store->getContext(), 8,
                                 isUnsigned ? IntegerType::Unsigned : IntegerType::Signless);
  Value value = store->getOperand(0);
  double min = isUnsigned ? 0 : -128, max = isUnsigned ? 255 : 127;
  bool above = false, below = false;
  for (;;) {
    Value low = value, high = value;
    if (peelConstant<arith::MaximumFOp>(low) == min) {
      above = true;
      value = low;
    } else if (peelConstant<arith::MinimumFOp>(high) == max) {
      below = true;
      value = high;
    } else {
      break;
    }
  }
  number.beforeKept = value;
  number.offset = peelConstant<arith::AddFOp>(value).value_or(0);
  auto round = value.getDefiningOp<math::RoundEvenOp>();
  if (!above || !below || !round || number.offset != std::floor(number.offset))
    return std::nullopt;
  number.real = round.getOperand();
  return number;
}

bool isKeptInByte(Value value, bool isUnsigned) {
  const double min = isUnsigned ? 0 : -128, max = isUnsigned ? 255 : 127;
  auto isInside = [&](std::optional<double> bound) {
    return bound && *bound >= min && *bound <= max;
  };
  bool above = false, below = false;
  while (!above || !below) {
    Value low = value, high = value;
    if (isInside(peelConstant<arith::MaximumFOp>(low))) {
      above = true;
      value = low;
    } else if (isInside(peelConstant<arith::MinimumFOp>(high))) {
      below = true;
      value = high;
    } else {
      return false;
    }
  }
  return true;
}

/// Instructions that store round to even and saturate: what does that before is
/// left out, but for a rounding in front of an offset.
std::optional<int> VectorPlan::readStore(Operation *store) {
  const bool isUnsigned = isa<arith::FPToUIOp>(store);
  if (!store->getResult(0).getType().isInteger(8))
    return readTruncation(store);
  std::optional<StoredNumber> number = storedNumberOf(store);
  if (!number && isKeptInByte(store->getOperand(0), isUnsigned)) {
    std::optional<int> step = readTruncation(store);
    storedType = IntegerType::get(store->getContext(), 8,
                                  isUnsigned ? IntegerType::Unsigned : IntegerType::Signless);
    return step;
  }
  if (!number)
    return std::nullopt;
  storedType = number->type;
  bool isShifted = isa<arith::AddFOp>(number->beforeKept.getDefiningOp());
  int step = valueOf(isShifted ? number->beforeKept : number->real);
  return step < 0 ? std::nullopt : std::optional(step);
}

/// Integers of 32 and 64 bits, and bytes of clamped floats: the conversion truncates, instructions
/// round to even, which is the same for what the code has rounded.
std::optional<int> VectorPlan::readTruncation(Operation *store) {
  storedType = store->getResult(0).getType();
  auto round = store->getOperand(0).getDefiningOp<math::RoundEvenOp>();
  const int step = valueOf(round ? round.getOperand() : store->getOperand(0));
  if (step < 0)
    return std::nullopt;
  return round ? step : truncated(step);
}

int VectorPlan::truncated(int number) {
  return select(binary(VectorOp::Less, number, constant(0)), unary(VectorOp::Ceil, number),
                unary(VectorOp::Floor, number));
}

} // namespace atc::npu
