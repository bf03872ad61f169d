//===-- MatchResidualAdd.cpp - bodies that only add a residual -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/npu/contraction/Contraction.h"
#include "passes/npu/vector/StoredNumber.h"

using namespace mlir;

namespace atc::npu {

std::optional<Addition> additionOf(Block &body) {
  if (body.getNumArguments() != 2 || !body.getArgument(0).getType().isF32() ||
      !body.getArgument(1).getType().isInteger(8))
    return std::nullopt;
  std::optional<StoredNumber> stored =
      storedNumberOf(body.getTerminator()->getOperand(0).getDefiningOp());
  if (!stored)
    return std::nullopt;
  Addition addition;
  addition.result = stored->type;
  addition.resultOffset = stored->offset;
  Value value = stored->real;
  addition.resultFactor = peelConstant<arith::MulFOp>(value).value_or(1);
  if (Value total = value; peelConstant<arith::MaximumFOp>(total) == 0.0) {
    addition.relu = true;
    value = total;
  }
  auto sum = value.getDefiningOp<arith::AddFOp>();
  if (!sum)
    return std::nullopt;
  bool isSecond = sum.getLhs() == body.getArgument(0);
  if (!isSecond && sum.getRhs() != body.getArgument(0))
    return std::nullopt;
  Value residual = isSecond ? sum.getRhs() : sum.getLhs();
  addition.factor = peelConstant<arith::MulFOp>(residual).value_or(1);
  addition.offset = peelConstant<arith::SubFOp>(residual).value_or(0);
  Operation *read = residual.getDefiningOp();
  if (!isa_and_nonnull<arith::UIToFPOp, arith::SIToFPOp>(read) ||
      read->getOperand(0) != body.getArgument(1) || !residual.getType().isF32())
    return std::nullopt;
  addition.type =
      IntegerType::get(read->getContext(), 8,
                       isa<arith::UIToFPOp>(read) ? IntegerType::Unsigned : IntegerType::Signless);
  return addition;
}

} // namespace atc::npu
