//===-- LinearOps.cpp - conv, conv_transpose, fully_connected as one ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/graph/LinearOps.h"

#include "dialects/graph/ops/ConvOps.h"
#include "dialects/graph/ops/StructureOps.h"
#include "passes/graph/ConstantUtils.h"
#include "passes/graph/Float32Nodes.h"
#include "passes/graph/RewriteUtils.h"

using namespace mlir;
using namespace atc::graph;

LinearOp::LinearOp(Operation *candidate) {
  if (candidate && candidate->hasTrait<AddsBias>())
    op = candidate;
}

RankedTensorType LinearOp::getType() const { return getTensorType(op->getResult(0)); }

Value LinearOp::getBias() const {
  MutableOperandRange bias = getBiasMutable();
  return bias.empty() ? Value() : bias[0].get();
}

MutableOperandRange LinearOp::getBiasMutable() const {
  if (auto conv = dyn_cast<ConvOp>(op))
    return conv.getBiasMutable();
  if (auto conv = dyn_cast<ConvTransposeOp>(op))
    return conv.getBiasMutable();
  return cast<FullyConnectedOp>(op).getBiasMutable();
}

int64_t LinearOp::getChannelDim() const {
  return isa<FullyConnectedOp>(op) ? getType().getRank() - 1 : 1;
}

ActivationAttr LinearOp::getActivation() const {
  if (auto conv = dyn_cast<ConvOp>(op))
    return conv.getActivationAttr();
  if (auto fullyConnected = dyn_cast<FullyConnectedOp>(op))
    return fullyConnected.getActivationAttr();
  return {};
}

bool LinearOp::hasResidual() const {
  auto conv = dyn_cast<ConvOp>(op);
  return conv && conv.getResidual();
}

/// The scale of every row of the filter. In a conv and a fully_connected row m
/// makes channel m; the filter of a conv_transpose is [C, M / groups, ...].
static SmallVector<double> getRowScales(LinearOp linear, ArrayRef<double> channelScales) {
  auto conv = dyn_cast<ConvTransposeOp>(linear.getOperation());
  if (!conv)
    return SmallVector<double>(channelScales);
  ArrayRef<int64_t> shape = getTensorType(conv.getFilter()).getShape();
  int64_t groups = conv.getGroups();
  int64_t inputsAGroup = shape[0] / groups;
  SmallVector<double> rows;
  rows.reserve(shape[0] * shape[1]);
  for (int64_t c = 0; c < shape[0]; ++c)
    for (int64_t m = 0; m < shape[1]; ++m)
      rows.push_back(channelScales[c / inputsAGroup * shape[1] + m]);
  return rows;
}

std::optional<ChannelAffine> atc::graph::getBatchNormAffine(BatchNormOp op) {
  return getBatchNormAffine(op.getScale(), op.getBias(), op.getMean(), op.getVariance(),
                            op.getEpsilon().convertToDouble());
}

std::optional<ChannelAffine> atc::graph::getBatchNormAffine(Value scaleValue, Value shiftValue,
                                                            Value meanValue, Value varianceValue,
                                                            double epsilon) {
  auto scale = getVectorConstant(scaleValue), shift = getVectorConstant(shiftValue);
  auto mean = getVectorConstant(meanValue), variance = getVectorConstant(varianceValue);
  if (!scale || !shift || !mean || !variance || scale->size() != shift->size() ||
      scale->size() != mean->size() || scale->size() != variance->size())
    return std::nullopt;
  ChannelAffine affine;
  for (size_t i = 0; i < scale->size(); ++i) {
    affine.scale.push_back((*scale)[i] / std::sqrt((*variance)[i] + epsilon));
    affine.shift.push_back((*shift)[i] - (*mean)[i] * affine.scale.back());
  }
  return affine;
}

LogicalResult atc::graph::applyAffine(OpBuilder &builder, LinearOp linear, ArrayRef<double> scale,
                                      ArrayRef<double> shift) {
  RankedTensorType type = linear.getType();
  if (!isa<FloatType>(type.getElementType()) || ShapedType::isDynamic(linear.getNumChannels()))
    return failure();
  auto isFinite = [](double x) { return std::isfinite(x); };
  if (!llvm::all_of(scale, isFinite) || !llvm::all_of(shift, isFinite))
    return failure();

  ElementsAttr filter = getConstant(linear.getFilter());
  if (!scale.empty() && filter)
    filter = scaleRows(filter, getRowScales(linear, scale));
  // The bytes of a constant may be missing, in modules that were printed without them.
  if (!scale.empty() && !filter)
    return failure();
  SmallVector<double> bias(linear.getNumChannels(), 0.0);
  if (Value value = linear.getBias()) {
    auto constant = getVectorConstant(value);
    if (!constant)
      return failure();
    bias = *constant;
  }
  for (auto [i, b] : llvm::enumerate(bias))
    b = b * (scale.empty() ? 1.0 : scale[i]) + (shift.empty() ? 0.0 : shift[i]);

  builder.setInsertionPoint(linear.getOperation());
  Location loc = linear->getLoc();
  if (!scale.empty())
    linear->setOperand(1, ConstantOp::create(builder, derivedLoc(loc, "weight"), filter));
  if (linear.getBias() || !shift.empty()) {
    auto biasType = RankedTensorType::get({linear.getNumChannels()}, type.getElementType());
    linear.getBiasMutable().assign(
        createConstant(builder, derivedLoc(loc, "bias"), biasType, bias));
  }
  return success();
}

/// Returns where a layer is from that computes what `user` does, too. It makes the tensor of
/// `user`, whose node then names it; where one of both nodes is to compute in f32 and the other one
/// is not, the layer keeps its own: a normalization that becomes weights does not say how they
/// multiply.
static Location foldedLoc(LinearOp linear, Operation *user) {
  const Location loc = user->getLoc();
  const StringRef node = nodeNameOf(linear->getLoc());
  auto tensor = dyn_cast<NameLoc>(loc);
  if (!tensor || node.empty() || Float32Nodes(user).mayJoin(linear.getOperation(), user))
    return loc;
  MLIRContext *context = user->getContext();
  return NameLoc::get(tensor.getName(), NameLoc::get(StringAttr::get(context, node)));
}

LogicalResult atc::graph::foldAffine(PatternRewriter &rewriter, LinearOp linear, Operation *user,
                                     ArrayRef<double> scale, ArrayRef<double> shift) {
  if (!linear->hasOneUse() || !linear.isBare() || user->getResult(0).getType() != linear.getType())
    return failure();
  // Nothing is made before it is known that it will be used.
  rewriter.startOpModification(linear.getOperation());
  const Location old = linear->getLoc();
  linear->setLoc(foldedLoc(linear, user));
  if (failed(applyAffine(rewriter, linear, scale, shift))) {
    linear->setLoc(old);
    rewriter.cancelOpModification(linear.getOperation());
    return failure();
  }
  rewriter.finalizeOpModification(linear.getOperation());
  rewriter.replaceOp(user, linear.getOperation());
  return success();
}
