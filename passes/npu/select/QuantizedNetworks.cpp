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

/// Returns the multiply-accumulates of a contraction.
double countMacs(Operation &op) {
  const double results = double(tensorType(op.getResult(0)).getNumElements());
  if (isa<graph::MatMulOp>(op))
    return results * double(tensorType(op.getOperand(0)).getShape().back());
  const RankedTensorType filter = tensorType(op.getOperand(1));
  const double depth = double(filter.getNumElements()) / double(filter.getDimSize(0));
  return isa<graph::ConvTransposeOp>(op)
             ? double(tensorType(op.getOperand(0)).getNumElements()) * depth
             : results * depth;
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
    if (why.empty())
      return true;
    any |= isQuantized(op.getOperand(0)) && isQuantized(op.getOperand(1));
    if (!obstacle) {
      obstacle = &op;
      reason = why;
    }
  }
  if (obstacle && any)
    remarkFloats(obstacle, reason);
  return false;
}

bool sumsEnoughIntegers(func::FuncOp main) {
  constexpr double maxShareOnCpu = 0.02;
  // Floats beside integers are stored a second time, in blocks of 16 channels: networks with a
  // larger share of them were mostly faster in floats.
  constexpr double minShareOfIntegers = 0.9;
  double all = 0, marked = 0, onCpu = 0;
  bool inHalves = false, resizes = false;
  for (Operation &op : main.getOps()) {
    const bool isOfIntegers = isa<graph::IntegerConvOp, graph::IntegerFullyConnectedOp>(op);
    // npu-decompose makes products of resizes only where nothing is computed in integers.
    resizes |= isa<graph::ResizeOp>(op) && tensorType(op.getResult(0)).getElementType().isF32();
    if (!op.hasTrait<graph::IsContraction>() && !isOfIntegers)
      continue;
    const double macs = countMacs(op);
    all += macs;
    if (op.hasAttr(kernel::kCubeSumsAttr))
      marked += macs;
    else if (isOfIntegers)
      onCpu += macs;
    else
      inHalves |= isa<graph::ConvOp>(op);
  }
  if (marked > 0 && marked >= minShareOfIntegers * all && onCpu <= maxShareOnCpu * all &&
      !(inHalves && resizes))
    return true;
  for (Operation &op : main.getOps())
    if (auto why = op.getAttrOfType<StringAttr>(kInHalvesAttr))
      remarkFloats(*op.user_begin(), why); // the map of its body has the node's name
    else if (isa<graph::IntegerConvOp, graph::IntegerFullyConnectedOp>(op) && !sumEpilogueOf(&op))
      remarkFloats(&op, whyNoSums(&op));
    else if (op.hasTrait<graph::IsContraction>())
      remarkFloats(&op, "it has an operand that is not quantized");
  return false;
}

} // namespace atc::npu
