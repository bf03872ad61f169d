//===-- QuantizedNetworks.cpp - which networks are computed in integers ---===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/graph/ops/BinaryOps.h"
#include "dialects/graph/ops/ConvOps.h"
#include "dialects/graph/ops/QuantOps.h"
#include "dialects/graph/ops/ShapeOps.h"
#include "passes/Remarks.h"
#include "passes/kernel/LayoutRules.h"
#include "passes/npu/Pipelines.h"
#include "passes/npu/select/Int8Contractions.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using atc::kernel::tensorType;

namespace atc::npu {

namespace {

Operation *onlyUserOf(Value value) {
  return value.hasOneUse() ? *value.getUsers().begin() : nullptr;
}

/// Remarks that a network is computed in floats because of one contraction.
void remarkFloats(Operation *contraction, StringRef reason) {
  remarkMissed("npu-select-int8-contractions", contraction->getLoc(), "InFloats")
      << "the quantized network is computed in floats, also because of this contraction: "
      << reason;
}

/// Returns whether channels are scaled separately after an op that is not linear, as amct balances
/// them after a clip: an epilogue of the cube has one factor per channel, which comes before it.
bool isBalancedBehind(Operation *contraction) {
  bool isBent = false;
  Value value = contraction->getResult(0);
  for (Operation *user = onlyUserOf(value);
       user && user->getNumResults() == 1 && !isa<graph::QuantizeOp>(user);
       user = onlyUserOf(value)) {
    if (isa<graph::MulOp, graph::DivOp>(user)) {
      for (Value operand : user->getOperands())
        if (isBent && operand != value && kernel::isKnown(operand) &&
            tensorType(operand).getNumElements() > 1)
          return true;
    } else {
      isBent = true;
    }
    value = user->getResult(0);
  }
  return false;
}

/// Returns whether an operand holds integers of a quantized tensor. Ops that only move or compare
/// elements work on stored integers as well.
bool isQuantized(Value value) {
  Operation *op = value.getDefiningOp();
  while (isa_and_nonnull<graph::TransposeOp, graph::ReshapeOp, graph::MaxPoolOp>(op))
    op = op->getOperand(0).getDefiningOp();
  return isa_and_nonnull<graph::DequantizeOp>(op);
}

/// Returns why the cube cannot compute a contraction in bytes, whatever graph passes make of the
/// code around it; an empty string if it may.
StringRef whyNoIntegers(Operation &op) {
  if (!isQuantized(op.getOperand(0)) || !isQuantized(op.getOperand(1)))
    return "it has an operand that is not quantized";
  if (isa<graph::ConvTransposeOp>(op))
    return "it is a transposed convolution";
  if (isBalancedBehind(&op))
    return "its channels are scaled separately behind an operator that is not linear";
  auto conv = dyn_cast<graph::ConvOp>(op);
  if (conv && !suitsBytes({int64_t(conv.getGroups()), tensorType(conv.getInput()).getDimSize(1),
                           conv.getType().getDimSize(1)}))
    return kGroupsDoNotSuit;
  return "";
}

} // namespace

/// Returns whether there are QDQ convolutions, and products with constants, that the cube can
/// compute in bytes.
bool canSumIntegers(func::FuncOp main) {
  bool any = false;
  Operation *obstacle = nullptr;
  StringRef reason;
  for (Operation &op : main.getOps()) {
    if (!op.hasTrait<graph::IsContraction>())
      continue;
    StringRef why = whyNoIntegers(op);
    any |= why.empty() || (isQuantized(op.getOperand(0)) && isQuantized(op.getOperand(1)));
    if (!why.empty() && !obstacle) {
      obstacle = &op;
      reason = why;
    }
    if (obstacle && any) {
      remarkFloats(obstacle, reason);
      return false;
    }
  }
  return any && !obstacle;
}

bool sumsNearlyAllIntegers(func::FuncOp main) {
  constexpr double maxShareOnCpu = 0.02;
  double all = 0, marked = 0;
  auto count = [&](auto op) {
    const RankedTensorType filter = tensorType(op.getFilter());
    const double macs = double(tensorType(op.getResult()).getNumElements()) *
                        double(filter.getNumElements()) / double(filter.getDimSize(0));
    all += macs;
    marked += op->hasAttr(kernel::kCubeSumsAttr) ? macs : 0;
  };
  for (Operation &op : main.getOps())
    TypeSwitch<Operation *>(&op).Case<graph::IntegerConvOp, graph::IntegerFullyConnectedOp>(count);
  if (marked > 0 && all - marked <= maxShareOnCpu * all)
    return true;
  for (Operation &op : main.getOps())
    if (isa<graph::IntegerConvOp, graph::IntegerFullyConnectedOp>(op) && !sumEpilogueOf(&op))
      remarkFloats(&op, whyNoSums(&op));
  return false;
}

} // namespace atc::npu
