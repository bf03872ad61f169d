//===-- SupportedOps.cpp - what the CPU backend has kernels for -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/kernel/LayoutRules.h"
#include "passes/kernel/LowerGraph.h"

#include "dialects/graph/ConstantData.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using atc::graph::ConstantBytes;

namespace atc::kernel {

namespace {

std::string textOf(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

/// "float64", "bfloat16", "uint8", "bool".
std::string nameOf(Type element) {
  if (isa<Float16Type, Float32Type, Float64Type>(element))
    return "float" + std::to_string(element.getIntOrFloatBitWidth());
  if (element.isBF16())
    return "bfloat16";
  if (element.isInteger(1))
    return "bool";
  if (isa<IntegerType>(element))
    return (element.isUnsignedInteger() ? "uint" : "int") +
           std::to_string(element.getIntOrFloatBitWidth());
  return textOf(element);
}

/// Returns the reason why a tensor cannot be a buffer.
std::string tensorFault(Type type) {
  auto ranked = dyn_cast<RankedTensorType>(type);
  if (!ranked || !ranked.hasStaticShape())
    return "the shape of " + describeType(type) +
           " is not known; state input shapes with --input_shape";
  Type element = ranked.getElementType();
  unsigned width = element.isIntOrFloat() ? element.getIntOrFloatBitWidth() : 0;
  if (width != 1 && width != 8 && width != 16 && width != 32 && width != 64)
    return "elements of type " + nameOf(element) + " cannot be stored";
  return "";
}

/// Returns the reason why an op on tensors without elements is not supported: they can be inputs
/// and results, but kernels cannot compute on them.
std::string emptyFault(Operation *op) {
  if (isa<graph::ConstantOp, func::ReturnOp>(op))
    return "";
  for (TypeRange types : {TypeRange(op->getOperandTypes()), TypeRange(op->getResultTypes())})
    for (Type type : types)
      if (llvm::is_contained(cast<RankedTensorType>(type).getShape(), 0))
        return describeType(type) + " has no elements";
  return "";
}

bool isReadable(Value value) {
  auto constant = value.getDefiningOp<graph::ConstantOp>();
  return !constant || succeeded(ConstantBytes::get(constant.getValue()));
}

std::string contractionFault(Operation *op) {
  Type element = tensorType(op->getResult(0)).getElementType();
  return element.isF32() ? "" : "it computes on float32 only, not on " + nameOf(element);
}

std::string weightFault(Value weight, StringRef what) {
  return !weight || isKnown(weight) ? "" : ("the " + what + " must be a constant").str();
}

std::string imageFault(Operation *op) {
  int64_t rank = tensorType(op->getOperand(0)).getRank();
  if (rank != 4)
    return "its input has rank " + std::to_string(rank) +
           ", but only images (rank 4) are supported";
  if (blockOf(op->getOperand(0)) && blockOf(op->getResult(0)))
    return "";
  return "its images are not in blocks; run kernel-assign-layout first";
}

template <typename OpT> std::string haloFault(OpT op) {
  Window h = windowOf(op, 0), w = windowOf(op, 1);
  Halo needs{h.before, w.before, h.after(), w.after()};
  for (auto [has, need] : llvm::zip(haloOf(op.getInput().getType()), needs))
    if (has < need)
      return "its input has no halo for its pads; run kernel-assign-halo first";
  return "";
}

std::string convFault(graph::ConvOp op) {
  for (std::string fault :
       {imageFault(op), contractionFault(op), weightFault(op.getFilter(), "filter"),
        weightFault(op.getBias(), "bias"), weightFault(op.getSlope(), "slope")})
    if (!fault.empty())
      return fault;
  return haloFault(op);
}

template <typename OpT> std::string sumFault(OpT op) {
  for (std::string fault :
       {weightFault(op.getFilter(), "filter"), weightFault(op.getBias(), "bias")})
    if (!fault.empty())
      return fault;
  return "";
}

std::string integerConvFault(graph::IntegerConvOp op) {
  for (std::string fault : {imageFault(op), sumFault(op)})
    if (!fault.empty())
      return fault;
  return haloFault(op);
}

std::string padFault(graph::PadOp op) {
  auto isNegative = [](int64_t size) { return size < 0; };
  if (op.getMode() == graph::PadMode::Constant ||
      (llvm::none_of(op.getLow(), isNegative) && llvm::none_of(op.getHigh(), isNegative)))
    return "";
  return "negative pads are supported in constant mode only";
}

std::string gatherFault(graph::GatherOp op) {
  Type element = tensorType(op.getIndices()).getElementType();
  return element.isInteger(32) || element.isInteger(64)
             ? ""
             : "its indices must be int32 or int64, not " + nameOf(element);
}

/// The first function that LowerMath has no formula for in f64.
std::string doubleMathFault(ArrayRef<Operation *> ops) {
  for (Operation *op : ops)
    if (isa<math::AcosOp, math::AsinOp, math::AsinhOp, math::AtanOp, math::AtanhOp, math::CosOp,
            math::ErfOp, math::SinOp, math::TanOp, math::TanhOp>(op) &&
        op->getResult(0).getType().isF64())
      return (op->getName().stripDialect() + " of float64 has no kernel").str();
  return "";
}

/// Returns the reason for the formula of an elementwise op, which is built for this check.
std::string formulaFault(Operation *op) {
  auto isDouble = [](Type type) { return getElementTypeOrSelf(type).isF64(); };
  if (!llvm::any_of(op->getOperandTypes(), isDouble))
    return "";
  SmallVector<Operation *> ops;
  if (isa<graph::MapOp>(op)) {
    op->walk([&](Operation *inner) { ops.push_back(inner); });
    return doubleMathFault(ops);
  }
  Block formula;
  for (Type type : op->getOperandTypes()) {
    Type element = getElementTypeOrSelf(type);
    if (element.isUnsignedInteger())
      element = IntegerType::get(op->getContext(), element.getIntOrFloatBitWidth());
    formula.addArgument(element, op->getLoc());
  }
  OpBuilder builder(op->getContext());
  builder.setInsertionPointToEnd(&formula);
  cast<graph::ElementwiseOpInterface>(op).buildScalar(builder, op->getLoc(),
                                                      formula.getArguments());
  for (Operation &inner : formula)
    ops.push_back(&inner);
  return doubleMathFault(ops);
}

/// Returns what is wrong with a reduction that compares unsigned elements: buffers of kernels have
/// signless ones, which compare as signed.
std::string comparisonFault(Operation *op) {
  Type element = tensorType(op->getOperand(0)).getElementType();
  return element.isUnsignedInteger() ? "reductions of unsigned elements have no kernel" : "";
}

std::string operatorFault(Operation *op) {
  if (isElementwise(op)) {
    auto powers = op->walk([](Operation *inner) {
      return isa<math::IPowIOp>(inner) ? WalkResult::interrupt() : WalkResult::advance();
    });
    bool isIntegerPower =
        isa<graph::PowOp>(op) && !isa<FloatType>(tensorType(op->getResult(0)).getElementType());
    if (powers.wasInterrupted() || isIntegerPower)
      return "powers of integers have no kernel";
    return formulaFault(op);
  }
  return llvm::TypeSwitch<Operation *, std::string>(op)
      .Case<graph::ConvOp>(convFault)
      .Case<graph::MaxPoolOp, graph::AveragePoolOp>([](Operation *op) { return imageFault(op); })
      .Case([](graph::FullyConnectedOp op) {
        for (std::string fault : {contractionFault(op), weightFault(op.getFilter(), "filter"),
                                  weightFault(op.getBias(), "bias")})
          if (!fault.empty())
            return fault;
        return std::string();
      })
      .Case<graph::IntegerConvOp>(integerConvFault)
      .Case<graph::IntegerFullyConnectedOp>(sumFault<graph::IntegerFullyConnectedOp>)
      .Case([](graph::MatMulOp op) { return contractionFault(op); })
      .Case<graph::PadOp>(padFault)
      .Case<graph::GatherOp>(gatherFault)
      .Case<graph::ReduceOp, graph::ArgMaxOp, graph::ArgMinOp>(comparisonFault)
      .Case<graph::ConstantOp, graph::SoftmaxOp, graph::LogSoftmaxOp, graph::RelayoutOp,
            graph::ReshapeOp, graph::TransposeOp, graph::ExpandOp, graph::TileOp, graph::ConcatOp,
            graph::SliceOp, graph::DepthToSpaceOp, graph::SpaceToDepthOp, graph::ResizeOp,
            func::ReturnOp>([](Operation *) { return std::string(); })
      .Default([](Operation *) { return std::string("there is no kernel for it"); });
}

} // namespace

std::string describeType(Type type) {
  auto ranked = dyn_cast<RankedTensorType>(type);
  // Other types than tensors come from models written in MLIR.
  if (!ranked)
    return textOf(type);
  std::string text;
  for (int64_t dim : ranked.getShape())
    text += (text.empty() ? "" : ",") + (ShapedType::isDynamic(dim) ? "?" : std::to_string(dim));
  return nameOf(ranked.getElementType()) + " [" + text + "]";
}

std::string whyUnsupported(Operation *op, const TargetKernels &target) {
  for (Value operand : op->getOperands()) {
    if (std::string fault = tensorFault(operand.getType()); !fault.empty())
      return fault;
    if (!isReadable(operand))
      return "the data of a constant it reads is missing";
  }
  for (Type type : op->getResultTypes())
    if (std::string fault = tensorFault(type); !fault.empty())
      return fault;
  if (std::string fault = emptyFault(op); !fault.empty())
    return fault;
  return target.has(op) ? "" : operatorFault(op);
}

} // namespace atc::kernel
