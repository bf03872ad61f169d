//===-- SupportedOps.cpp - what the CPU backend has kernels for -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/graph/Graph.h"
#include "passes/kernel/LayoutRules.h"
#include "passes/kernel/LowerGraph.h"

#include "dialects/graph/ConstantData.h"
#include "dialects/graph/DerivedConstants.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/TypeSwitch.h"

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
std::string tensorError(Type type) {
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
std::string emptyError(Operation *op) {
  if (isa<graph::ConstantOp, func::ReturnOp>(op))
    return "";
  for (TypeRange types : {TypeRange(op->getOperandTypes()), TypeRange(op->getResultTypes())})
    for (Type type : types)
      if (llvm::is_contained(cast<RankedTensorType>(type).getShape(), 0))
        return describeType(type) + " has no elements";
  return "";
}

/// Returns whether the bytes of a constant can be read. Those of deferred ones are not made for
/// this: all weights of a model would be in memory once more.
bool isReadable(Value value) {
  auto constant = value.getDefiningOp<graph::ConstantOp>();
  return !constant || succeeded(ConstantBytes::get(graph::storedSource(constant.getValue())));
}

std::string contractionError(Operation *op) {
  Type element = tensorType(op->getResult(0)).getElementType();
  return element.isF32() ? "" : "it computes on float32 only, not on " + nameOf(element);
}

/// Returns whether a value depends on constants only, so that graph-fold-constants could have
/// computed it.
bool isOfConstants(Value value) {
  SetVector<Value> values;
  values.insert(value);
  for (unsigned i = 0; i < values.size(); ++i) {
    Operation *op = values[i].getDefiningOp();
    if (!op || (op->getNumOperands() == 0 && !isa<graph::ConstantOp>(op)))
      return false;
    values.insert(op->operand_begin(), op->operand_end());
  }
  return true;
}

std::string weightError(Value weight, StringRef what) {
  if (!weight || isKnown(weight))
    return "";
  if (isOfConstants(weight))
    return ("the " + what +
            " is computed of constants, but with more work or elements than max-work or "
            "max-elements of graph-fold-constants allow at compile time; store the computed " +
            what + " in the model")
        .str();
  return ("the " + what + " must be a constant").str();
}

std::string imageError(Operation *op) {
  int64_t rank = tensorType(op->getOperand(0)).getRank();
  if (rank != 4)
    return "its input has rank " + std::to_string(rank) +
           ", but only images (rank 4) are supported";
  if (blockOf(op->getOperand(0)) && blockOf(op->getResult(0)))
    return "";
  return "its images are not in blocks; run kernel-assign-layout first";
}

template <typename OpT> std::string haloError(OpT op) {
  Window h = windowOf(op, 0), w = windowOf(op, 1);
  Halo needs{h.before, w.before, h.after(), w.after()};
  for (auto [has, need] : llvm::zip(haloOf(op.getInput().getType()), needs))
    if (has < need)
      return "its input has no halo for its pads; run kernel-assign-halo first";
  return "";
}

std::string convError(graph::ConvOp op) {
  for (std::string errorText :
       {imageError(op), contractionError(op), weightError(op.getFilter(), "filter"),
        weightError(op.getBias(), "bias"), weightError(op.getSlope(), "slope")})
    if (!errorText.empty())
      return errorText;
  return haloError(op);
}

template <typename OpT> std::string sumError(OpT op) {
  for (std::string errorText :
       {weightError(op.getFilter(), "filter"), weightError(op.getBias(), "bias")})
    if (!errorText.empty())
      return errorText;
  return "";
}

std::string integerConvError(graph::IntegerConvOp op) {
  for (std::string errorText : {imageError(op), sumError(op)})
    if (!errorText.empty())
      return errorText;
  return haloError(op);
}

std::string padError(graph::PadOp op) {
  auto isNegative = [](int64_t size) { return size < 0; };
  if (op.getMode() == graph::PadMode::Constant ||
      (llvm::none_of(op.getLow(), isNegative) && llvm::none_of(op.getHigh(), isNegative)))
    return "";
  return "negative pads are supported in constant mode only";
}

std::string gatherError(graph::GatherOp op) {
  Type element = tensorType(op.getIndices()).getElementType();
  return element.isInteger(32) || element.isInteger(64)
             ? ""
             : "its indices must be int32 or int64, not " + nameOf(element);
}

/// The first function that LowerMath has no formula for in f64.
std::string doubleMathError(ArrayRef<Operation *> ops) {
  for (Operation *op : ops)
    if (isa<math::AcosOp, math::AcoshOp, math::AsinOp, math::AsinhOp, math::AtanOp, math::Atan2Op,
            math::AtanhOp, math::CbrtOp, math::CosOp, math::ErfOp, math::ErfcOp, math::ExpM1Op,
            math::Log1pOp, math::Log2Op, math::Log10Op, math::SinOp, math::TanOp, math::TanhOp>(
            op) &&
        op->getResult(0).getType().isF64())
      return (op->getName().stripDialect() + " of float64 has no kernel").str();
  return "";
}

/// Returns the reason for the formula of an elementwise op, which is built for this check.
std::string formulaError(Operation *op) {
  auto isDouble = [](Type type) { return getElementTypeOrSelf(type).isF64(); };
  if (!llvm::any_of(op->getOperandTypes(), isDouble))
    return "";
  SmallVector<Operation *> ops;
  if (isa<graph::MapOp>(op)) {
    op->walk([&](Operation *inner) { ops.push_back(inner); });
    return doubleMathError(ops);
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
  return doubleMathError(ops);
}

/// Returns what is wrong with a reduction that compares unsigned elements: buffers of kernels have
/// signless ones, which compare as signed.
std::string comparisonError(Operation *op) {
  Type element = tensorType(op->getOperand(0)).getElementType();
  return element.isUnsignedInteger() ? "reductions of unsigned elements have no kernel" : "";
}

std::string fullyConnectedError(graph::FullyConnectedOp op) {
  for (std::string errorText : {contractionError(op), weightError(op.getFilter(), "filter"),
                                weightError(op.getBias(), "bias")})
    if (!errorText.empty())
      return errorText;
  return "";
}

/// Returns no reason: kernels compute whatever such an op can state.
std::string noError(Operation *) { return ""; }

std::string operatorError(Operation *op) {
  if (isElementwise(op)) {
    auto powers = op->walk([](Operation *inner) {
      return isa<math::IPowIOp>(inner) ? WalkResult::interrupt() : WalkResult::advance();
    });
    bool isIntegerPower =
        isa<graph::PowOp>(op) && !isa<FloatType>(tensorType(op->getResult(0)).getElementType());
    if (powers.wasInterrupted() || isIntegerPower)
      return "powers of integers have no kernel";
    return formulaError(op);
  }
  return llvm::TypeSwitch<Operation *, std::string>(op)
#define OPENATC_LOWERED_OP(OP, LOWER, ERROR) .Case([](graph::OP op) { return ERROR(op); })
#include "passes/kernel/LoweredOps.def"
#undef OPENATC_LOWERED_OP
      .Case<graph::ConstantOp, func::ReturnOp>(noError)
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
    if (std::string errorText = tensorError(operand.getType()); !errorText.empty())
      return errorText;
    if (!isReadable(operand))
      return "the data of a constant it reads is missing";
  }
  for (Type type : op->getResultTypes())
    if (std::string errorText = tensorError(type); !errorText.empty())
      return errorText;
  if (std::string errorText = emptyError(op); !errorText.empty())
    return errorText;
  return target.has(op) ? "" : operatorError(op);
}

} // namespace atc::kernel
