//===-- IntegersAsFloats.cpp - small integers for the vector unit ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/npu/VectorPasses.h"
#include "passes/npu/select/IntegerRanges.h"
#include "passes/npu/select/Partition.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace atc::npu {
#define GEN_PASS_DEF_NPUINTEGERSASFLOATS
#include "passes/npu/VectorPasses.h.inc"

namespace {

/// Integers up to here are numbers of f32, and so is what is computed of them up to here. The
/// smaller ones are the only ones that become the f32 of the same value: comparing them with any
/// integer as f32 gives the same answer.
constexpr int64_t kExact = 1 << 24;
/// A quotient of integers up to here is off by less than a half before it is rounded.
constexpr int64_t kExactDividend = 1 << 22;

bool isWide(Value value) {
  return value.getType().isSignlessInteger(32) || value.getType().isSignlessInteger(64);
}

std::optional<arith::CmpFPredicate> asFloat(arith::CmpIPredicate predicate) {
  switch (predicate) {
  case arith::CmpIPredicate::eq:
    return arith::CmpFPredicate::OEQ;
  case arith::CmpIPredicate::ne:
    return arith::CmpFPredicate::UNE;
  case arith::CmpIPredicate::slt:
    return arith::CmpFPredicate::OLT;
  case arith::CmpIPredicate::sle:
    return arith::CmpFPredicate::OLE;
  case arith::CmpIPredicate::sgt:
    return arith::CmpFPredicate::OGT;
  case arith::CmpIPredicate::sge:
    return arith::CmpFPredicate::OGE;
  default:
    return std::nullopt;
  }
}

/// Computes the body of one map with floats.
class FloatBody {
public:
  /// `ranges` are those of `map`, whose body is rewritten.
  FloatBody(kernel::MapOp map, const ValueRanges &ranges)
      : body(map.getBody().front()), ranges(ranges) {}

  /// Returns whether the floats are the integers, in every op.
  bool isExact() const {
    for (Operation &op : body.without_terminator()) {
      if (auto compare = dyn_cast<arith::CmpIOp>(op)) {
        if (!isExactCompare(compare))
          return false;
      } else if (auto conversion = dyn_cast<arith::SIToFPOp>(op)) {
        if (isWide(conversion.getIn()) && !isAny(conversion.getIn()) &&
            !isSmall(conversion.getIn(), kExact))
          return false;
      } else if (op.getNumResults() == 1 && isWide(op.getResult(0))) {
        if (!isExactOp(op))
          return false;
      } else if (llvm::any_of(op.getOperands(), [](Value value) {
                   return isWide(value) && !isa<BlockArgument>(value);
                 })) {
        // A narrower integer, such as of a cast to i8, is not computed of floats.
        return false;
      }
    }
    Value result = body.getTerminator()->getOperand(0);
    return !isWide(result) || isSmall(result, kExact);
  }

  void rewrite() {
    for (Operation &op : llvm::make_early_inc_range(body.without_terminator()))
      rewrite(op);
    Operation *yield = body.getTerminator();
    Value result = yield->getOperand(0);
    if (isWide(result)) {
      OpBuilder builder(yield);
      Value rounded = math::RoundEvenOp::create(builder, yield->getLoc(), floatOf(builder, result));
      yield->setOperand(
          0, arith::FPToSIOp::create(builder, yield->getLoc(), result.getType(), rounded));
    }
    for (Operation *op : llvm::reverse(replaced))
      op->erase();
  }

private:
  bool isSmall(Value value, int64_t limit) const {
    std::optional<IntegerRange> range = ranges.lookup(value);
    return range && range->size() <= limit;
  }

  /// Returns whether a value may be any integer: its f32 is the nearest one. That is so of what is
  /// read, and of the larger or smaller one of such values, since rounding keeps their order.
  static bool isAny(Value value) {
    APInt number;
    Operation *op = value.getDefiningOp();
    return !op || matchPattern(value, m_ConstantInt(&number)) ||
           (isa<arith::MaxSIOp, arith::MinSIOp>(op) && llvm::all_of(op->getOperands(), isAny));
  }

  bool isExactCompare(arith::CmpIOp compare) const {
    Value lhs = compare.getLhs(), rhs = compare.getRhs();
    if (!isWide(lhs))
      return false;
    auto isKnown = [&](Value value) { return isAny(value) || isSmall(value, kExact); };
    return asFloat(compare.getPredicate()) && isKnown(lhs) && isKnown(rhs) &&
           (isSmall(lhs, kExact - 1) || isSmall(rhs, kExact - 1));
  }

  bool isExactOp(Operation &op) const {
    // Constants are judged where they are used.
    if (isa<arith::ConstantOp>(op) || isAny(op.getResult(0)))
      return true;
    auto areSmall = [&](int64_t limit) {
      return llvm::all_of(op.getOperands(), [&](Value operand) {
        return !isWide(operand) || isSmall(operand, limit);
      });
    };
    if (!isSmall(op.getResult(0), kExact) || !areSmall(kExact))
      return false;
    if (isa<arith::DivSIOp>(op))
      return areSmall(kExactDividend);
    return isa<arith::AddIOp, arith::SubIOp, arith::MulIOp, arith::RemSIOp, arith::MaxSIOp,
               arith::MinSIOp, arith::SelectOp, arith::ExtUIOp, arith::ExtSIOp, arith::TruncIOp>(
        op);
  }

  Value constantOf(OpBuilder &builder, Location loc, double number) {
    return arith::ConstantOp::create(builder, loc, builder.getF32FloatAttr(float(number)));
  }

  /// Returns the f32 of an integer.
  Value floatOf(OpBuilder &builder, Value value) {
    if (Value known = floats.lookup(value))
      return known;
    APInt number;
    if (matchPattern(value, m_ConstantInt(&number)))
      return constantOf(builder, value.getLoc(), double(number.getSExtValue()));
    return arith::SIToFPOp::create(builder, value.getLoc(), builder.getF32Type(), value);
  }

  void rewrite(Operation &op) {
    OpBuilder builder(&op);
    Location loc = op.getLoc();
    if (auto compare = dyn_cast<arith::CmpIOp>(op)) {
      Value lhs = floatOf(builder, compare.getLhs()), rhs = floatOf(builder, compare.getRhs());
      compare.replaceAllUsesWith(
          arith::CmpFOp::create(builder, loc, *asFloat(compare.getPredicate()), lhs, rhs)
              .getResult());
      replaced.push_back(&op);
      return;
    }
    if (auto conversion = dyn_cast<arith::SIToFPOp>(op)) {
      Value number = floats.lookup(conversion.getIn());
      if (!number)
        return;
      if (!conversion.getType().isF32())
        number = arith::TruncFOp::create(builder, loc, conversion.getType(), number);
      conversion.replaceAllUsesWith(number);
      replaced.push_back(&op);
      return;
    }
    if (op.getNumResults() != 1 || !isWide(op.getResult(0)) || isa<arith::ConstantOp>(op))
      return;
    floats[op.getResult(0)] = compute(builder, op);
    replaced.push_back(&op);
  }

  Value compute(OpBuilder &builder, Operation &op) {
    Location loc = op.getLoc();
    auto in = [&](unsigned index) { return floatOf(builder, op.getOperand(index)); };
    auto binary = [&](auto tag) -> Value {
      Value a = in(0), b = in(1);
      return decltype(tag)::create(builder, loc, a, b);
    };
    return llvm::TypeSwitch<Operation *, Value>(&op)
        .Case<arith::AddIOp>([&](auto) { return binary(arith::AddFOp()); })
        .Case<arith::SubIOp>([&](auto) { return binary(arith::SubFOp()); })
        .Case<arith::MulIOp>([&](auto) { return binary(arith::MulFOp()); })
        .Case<arith::MaxSIOp>([&](auto) { return binary(arith::MaximumFOp()); })
        .Case<arith::MinSIOp>([&](auto) { return binary(arith::MinimumFOp()); })
        .Case<arith::RemSIOp>([&](auto) { return binary(arith::RemFOp()); })
        .Case<arith::DivSIOp>([&](auto) -> Value {
          // Subtracting the remainder leaves a multiple of the divisor, so that the division is
          // exact.
          Value a = in(0), b = in(1);
          Value whole =
              arith::SubFOp::create(builder, loc, a, arith::RemFOp::create(builder, loc, a, b));
          return math::RoundEvenOp::create(builder, loc,
                                           arith::DivFOp::create(builder, loc, whole, b));
        })
        .Case<arith::SelectOp>([&](arith::SelectOp select) -> Value {
          Value yes = in(1), no = in(2);
          return arith::SelectOp::create(builder, loc, select.getCondition(), yes, no);
        })
        .Case<arith::ExtUIOp>([&](arith::ExtUIOp extension) -> Value {
          if (isWide(extension.getIn()))
            return in(0);
          return arith::UIToFPOp::create(builder, loc, builder.getF32Type(), extension.getIn());
        })
        // An extension or a truncation keeps the value.
        .Default([&](Operation *) { return in(0); });
  }

  Block &body;
  const ValueRanges &ranges;
  llvm::DenseMap<Value, Value> floats; ///< of integers
  SmallVector<Operation *> replaced;
};

/// Returns whether a body computes with integers, other than to convert them to floats.
bool computesIntegers(kernel::MapOp map) {
  return llvm::any_of(map.getBody().getOps(), [](Operation &op) {
    return isa<arith::CmpIOp>(op) ||
           (op.getNumResults() == 1 && isWide(op.getResult(0)) && !isa<arith::ConstantOp>(op));
  });
}

struct IntegersAsFloatsPass : impl::NpuIntegersAsFloatsBase<IntegersAsFloatsPass> {
  void runOnOperation() override {
    std::optional<MainFunction> main = MainFunction::find(getOperation());
    if (!main)
      return;
    IntegerRanges ranges;
    for (Operation &op : llvm::make_early_inc_range(main->function.getBody().front())) {
      ranges.note(&op);
      if (auto map = dyn_cast<kernel::MapOp>(op);
          map && !main->hostNodes.contains(map) && computesIntegers(map))
        rewrite(map, ranges, main->soc);
    }
  }

private:
  /// Replaces a map that computes the same with floats, if the NPU computes it then.
  void rewrite(kernel::MapOp map, IntegerRanges &ranges, const SocTable &soc) {
    OpBuilder builder(map);
    auto copy = cast<kernel::MapOp>(builder.clone(*map));
    const ValueRanges values = ranges.ofBody(copy);
    FloatBody body(copy, values);
    if (body.isExact()) {
      body.rewrite();
      if (whyNotOnNpu(copy, soc).empty()) {
        map.erase();
        ++numRewritten;
        return;
      }
    }
    copy.erase();
  }
};

} // namespace
} // namespace atc::npu
