//===-- SmallFloats.cpp - f16 and bf16 without instructions for them ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Without this, the code generator would call a library for instructions that the processor lacks.
//
//===----------------------------------------------------------------------===//

#include "passes/cpu/math/SmallFloats.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;

namespace atc::cpu {

Type withElement(Type shape, Type element) {
  if (auto vector = dyn_cast<VectorType>(shape))
    return vector.clone(element);
  return element;
}

namespace {

bool isSmallFloat(Type type) {
  Type element = getElementTypeOrSelf(type);
  return element.isF16() || element.isBF16();
}

/// Operations that only move bits, or that change the type itself.
bool keepsSmallFloats(Operation *op) {
  return isa<arith::ExtFOp, arith::TruncFOp, arith::SelectOp, arith::BitcastOp, arith::ConstantOp>(
      op);
}

/// op(f16) to truncf(op(extf(f16))). Comes before the expansions of functions, whose steps would
/// overflow and be rounded in 16 bits.
struct ComputeInF32 : RewritePattern {
  explicit ComputeInF32(MLIRContext *context)
      : RewritePattern(MatchAnyOpTypeTag(), /*benefit=*/10, context) {}

  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    bool reduces = isa<vector::ReductionOp, vector::FMAOp>(op);
    if (!reduces && !isa_and_nonnull<arith::ArithDialect, math::MathDialect>(op->getDialect()))
      return failure();
    if (keepsSmallFloats(op) || op->getNumResults() != 1 ||
        !(llvm::any_of(op->getOperandTypes(), isSmallFloat) ||
          isSmallFloat(op->getResultTypes().front())))
      return failure();

    Type f32 = rewriter.getF32Type();
    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      operands.push_back(isSmallFloat(operand.getType())
                             ? arith::ExtFOp::create(rewriter, op->getLoc(),
                                                     withElement(operand.getType(), f32), operand)
                                   .getResult()
                             : operand);
    Type type = op->getResultTypes().front();
    OperationState state(op->getLoc(), op->getName());
    state.addOperands(operands);
    state.addTypes(isSmallFloat(type) ? withElement(type, f32) : type);
    state.addAttributes(op->getAttrs());
    Value result = rewriter.create(state)->getResult(0);
    if (isSmallFloat(type))
      result = arith::TruncFOp::create(rewriter, op->getLoc(), type, result);
    rewriter.replaceOp(op, result);
    return success();
  }
};

/// Conversions between f64 and 16 bits go by way of f32.
template <typename ConvertOp> struct ConvertInTwoSteps : OpRewritePattern<ConvertOp> {
  using OpRewritePattern<ConvertOp>::OpRewritePattern;

  LogicalResult matchAndRewrite(ConvertOp op, PatternRewriter &rewriter) const override {
    Type from = op.getIn().getType(), to = op.getType();
    Type wide = getElementTypeOrSelf(isSmallFloat(from) ? to : from);
    if (!(isSmallFloat(from) || isSmallFloat(to)) || !wide.isF64())
      return failure();
    Type middle = withElement(to, rewriter.getF32Type());
    Value step = ConvertOp::create(rewriter, op.getLoc(), middle, op.getIn());
    rewriter.replaceOpWithNewOp<ConvertOp>(op, to, step);
    return success();
  }
};

/// Integer arithmetic on the bits of floats.
struct Bits {
  ImplicitLocOpBuilder b;
  Type i32, f32;

  Bits(Operation *op, PatternRewriter &rewriter, Type shape)
      : b(op->getLoc(), rewriter), i32(withElement(shape, b.getI32Type())),
        f32(withElement(shape, b.getF32Type())) {}

  Value number(uint32_t bits) {
    Attribute attr = b.getI32IntegerAttr(int32_t(bits));
    if (auto type = dyn_cast<VectorType>(i32))
      attr = DenseElementsAttr::get(type, attr);
    return arith::ConstantOp::create(b, cast<TypedAttr>(attr));
  }
  Value asFloat(Value bits) { return arith::BitcastOp::create(b, f32, bits); }
  Value asBits(Value value) { return arith::BitcastOp::create(b, i32, value); }
  Value both(Value x, uint32_t mask) { return arith::AndIOp::create(b, x, number(mask)); }
  Value either(Value x, Value y) { return arith::OrIOp::create(b, x, y); }
  Value up(Value x, uint32_t by) { return arith::ShLIOp::create(b, x, number(by)); }
  Value down(Value x, uint32_t by) { return arith::ShRUIOp::create(b, x, number(by)); }
  Value add(Value x, Value y) { return arith::AddIOp::create(b, x, y); }
  Value atLeast(Value x, uint32_t limit) {
    return arith::CmpIOp::create(b, arith::CmpIPredicate::uge, x, number(limit));
  }
  Value select(Value condition, Value x, Value y) {
    return arith::SelectOp::create(b, condition, x, y);
  }
};

struct ExtendF16 : OpRewritePattern<arith::ExtFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::ExtFOp op, PatternRewriter &rewriter) const override {
    if (!getElementTypeOrSelf(op.getIn()).isF16() || !getElementTypeOrSelf(op.getType()).isF32())
      return failure();
    Bits bits(op, rewriter, op.getType());
    Type i16 = withElement(op.getType(), rewriter.getI16Type());
    Value half = arith::BitcastOp::create(bits.b, i16, op.getIn());
    half = arith::ExtUIOp::create(bits.b, bits.i32, half);
    Value sign = bits.up(bits.both(half, 0x8000), 16);
    Value magnitude = bits.up(bits.both(half, 0x7fff), 13);
    // After the shift the exponent is 112 too small, also for subnormal numbers.
    Value scaled = arith::MulFOp::create(bits.b, bits.asFloat(magnitude),
                                         bits.asFloat(bits.number(0x77800000)));
    Value special = bits.either(magnitude, bits.number(0x7f800000));
    Value isSpecial = bits.atLeast(magnitude, 0x7c00u << 13);
    Value result = bits.select(isSpecial, special, bits.asBits(scaled));
    rewriter.replaceOp(op, bits.asFloat(bits.either(result, sign)));
    return success();
  }
};

struct TruncateToF16 : OpRewritePattern<arith::TruncFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::TruncFOp op, PatternRewriter &rewriter) const override {
    if (!getElementTypeOrSelf(op.getIn()).isF32() || !getElementTypeOrSelf(op.getType()).isF16())
      return failure();
    Bits bits(op, rewriter, op.getType());
    Value value = bits.asBits(op.getIn());
    Value sign = bits.down(bits.both(value, 0x80000000), 16);
    Value magnitude = bits.both(value, 0x7fffffff);

    // Normal: subtracts 112 from the exponent; the truncated bits are rounded half to even.
    Value odd = bits.both(bits.down(magnitude, 13), 1);
    Value normal = bits.down(bits.add(bits.add(magnitude, bits.number(0xc8000fff)), odd), 13);
    // Below 2^-14: an addition of 0.5 shifts and rounds the digits.
    Value shifted = arith::AddFOp::create(bits.b, bits.asFloat(magnitude),
                                          bits.asFloat(bits.number(0x3f000000)));
    Value small = bits.add(bits.asBits(shifted), bits.number(0u - 0x3f000000));
    Value special =
        bits.select(bits.atLeast(magnitude, 0x7f800001), bits.number(0x7e00), bits.number(0x7c00));

    Value result = bits.select(bits.atLeast(magnitude, 0x38800000), normal, small);
    result = bits.select(bits.atLeast(magnitude, 0x47800000), special, result);
    result = bits.either(result, sign);
    Type i16 = withElement(op.getType(), rewriter.getI16Type());
    result = arith::TruncIOp::create(bits.b, i16, result);
    rewriter.replaceOpWithNewOp<arith::BitcastOp>(op, op.getType(), result);
    return success();
  }
};

} // namespace

void populateSmallFloatPatterns(RewritePatternSet &patterns) {
  patterns.add<ComputeInF32, ConvertInTwoSteps<arith::ExtFOp>, ConvertInTwoSteps<arith::TruncFOp>>(
      patterns.getContext());
  arith::populateExpandBFloat16Patterns(patterns);
}

void populateF16ConversionPatterns(RewritePatternSet &patterns) {
  patterns.add<ExtendF16, TruncateToF16>(patterns.getContext());
}

} // namespace atc::cpu
