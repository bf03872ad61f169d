//===-- TabulateBytes.cpp - functions of bytes become tables --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A quantized activation (x * sigmoid(x), hard swish) is computed in floats between two integers of
// 8 bits. It has 256 results, which the formula in the body computes here; the processor looks them
// up. Each operation is folded, rounded as in the body, so that all levels have the same results.
//
//===----------------------------------------------------------------------===//

#include "passes/Remarks.h"
#include "passes/cpu/ByteRanges.h"
#include "passes/cpu/Passes.h"

#include "dialects/cpu/Cpu.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/TypeSwitch.h"

#include <variant>

using namespace mlir;

namespace atc::cpu {
#define GEN_PASS_DEF_CPUTABULATEBYTES
#include "passes/cpu/Passes.h.inc"

namespace {

/// Returns whether a range is that of an unsigned byte; nothing where it is that of no byte.
std::optional<bool> isUnsignedByte(Range range) {
  if (range.low >= 0 && range.high <= 255)
    return true;
  return range.low >= -128 && range.high <= 127 ? std::optional(false) : std::nullopt;
}

/// The converted byte or the rounded value that a function is one of.
struct Source {
  Value real;
  bool isUnsigned = false;

  static std::optional<Source> of(Value value) {
    std::optional<Range> range = bytesOf(value);
    std::optional<bool> isUnsigned = range ? isUnsignedByte(*range) : std::nullopt;
    if (!isUnsigned || value.getDefiningOp<arith::SubFOp>())
      return std::nullopt;
    return Source{value, *isUnsigned};
  }

  /// Returns the byte itself.
  Value asByte(ImplicitLocOpBuilder &b) const {
    Operation *op = real.getDefiningOp();
    if (isa<arith::UIToFPOp, arith::SIToFPOp>(op))
      return op->getOperand(0);
    if (isUnsigned)
      return arith::FPToUIOp::create(b, b.getI8Type(), real);
    return arith::FPToSIOp::create(b, b.getI8Type(), real);
  }
};

/// A value of a body that depends on one integer of 8 bits alone.
class ByteFunction {
public:
  static std::optional<ByteFunction> of(Value result) {
    ByteFunction function;
    if (!function.trace(result) || !function.source.real || function.operations.empty())
      return std::nullopt;
    return function;
  }

  const Source &from() const { return source; }

  /// Returns the number of operations that nothing else needs.
  int64_t cost() const {
    int64_t sum = 0;
    for (Operation *op : operations)
      if (op == operations.back() ||
          llvm::all_of(op->getUsers(), [&](Operation *user) { return operations.contains(user); }))
        sum += costOf(op);
    return sum;
  }

  /// Why a function has no table: the value of its byte, and the operation that does not fold for
  /// it, or null where the result is no integer (a NaN).
  struct Failure {
    int byte;
    Operation *op;
  };

  /// Returns the results for bytes of 0 to 255, or why there are none.
  std::variant<SmallVector<int8_t>, Failure> tabulate() const {
    SmallVector<int8_t> table;
    for (int i = 0; i < 256; ++i) {
      std::variant<int, Failure> result = at(source.isUnsigned ? i : int(int8_t(i)));
      if (const Failure *failure = std::get_if<Failure>(&result))
        return *failure;
      table.push_back(int8_t(std::get<int>(result)));
    }
    return table;
  }

private:
  bool trace(Value value) {
    Operation *op = value.getDefiningOp();
    if (op && (op->hasTrait<OpTrait::ConstantLike>() || operations.contains(op)))
      return true;
    if (op && compute(op))
      return true;
    std::optional<Source> found = Source::of(value);
    if (!found || (source.real && source.real != value))
      return false;
    source = *found;
    return true;
  }

  /// Adds an operation and what it reads. What fails leaves this as it was.
  bool compute(Operation *op) {
    const bool isArithmetic =
        isa<arith::ArithDialect>(op->getDialect()) || isa<math::MathDialect>(op->getDialect());
    if (!isArithmetic || !isPure(op) || op->getNumResults() != 1 || operations.size() >= kMaxSteps)
      return false;
    const Source before = source;
    const size_t count = operations.size();
    for (Value operand : op->getOperands())
      if (!trace(operand)) {
        source = before;
        while (operations.size() > count)
          operations.pop_back();
        return false;
      }
    return operations.insert(op);
  }

  static int64_t costOf(Operation *op) {
    if (isa<arith::DivFOp>(op))
      return 5;
    // These are one instruction.
    if (!isa<math::MathDialect>(op->getDialect()) ||
        isa<math::AbsFOp, math::CeilOp, math::CopySignOp, math::FloorOp, math::FmaOp,
            math::RoundEvenOp, math::TruncOp>(op))
      return 1;
    return 15;
  }

  /// Returns the result for one integer, or why there is none.
  std::variant<int, Failure> at(int number) const {
    llvm::SmallDenseMap<Value, Attribute> known;
    Builder builder(source.real.getContext());
    // In the type of the body: folds compute in the type of the attributes that they are given.
    known[source.real] = builder.getFloatAttr(source.real.getType(), double(number));
    auto read = [&](Value value) {
      Attribute attribute = known.lookup(value);
      if (!attribute)
        matchPattern(value, m_Constant(&attribute));
      return attribute;
    };
    for (Operation *op : operations) {
      SmallVector<Attribute> operands = llvm::map_to_vector(op->getOperands(), read);
      SmallVector<OpFoldResult> results;
      // An operation that returns one of its operands folds to that.
      if (failed(op->fold(operands, results)) || results.size() != 1)
        return Failure{number, op};
      auto attribute = dyn_cast<Attribute>(results.front());
      known[op->getResult(0)] = attribute ? attribute : read(cast<Value>(results.front()));
      if (!known[op->getResult(0)])
        return Failure{number, op};
    }
    Attribute result = known[operations.back()->getResult(0)];
    if (auto integer = dyn_cast<IntegerAttr>(result))
      return int(integer.getValue().getSExtValue());
    auto real = dyn_cast<FloatAttr>(result);
    if (!real || !real.getValue().isInteger())
      return Failure{number, nullptr};
    return int(real.getValueAsDouble());
  }

  /// The longest formula that is looked at.
  static constexpr size_t kMaxSteps = 64;
  Source source;
  llvm::SetVector<Operation *> operations; ///< in program order
};

struct CpuTabulateBytesPass : impl::CpuTabulateBytesBase<CpuTabulateBytesPass> {
  void runOnOperation() override {
    getOperation().walk([&](Operation *op) {
      llvm::TypeSwitch<Operation *>(op)
          .Case([&](MapOp map) { tabulateIn(map.getBody().front()); })
          .Case<IntegerConv2DOp, IntegerDepthwiseOp, WinogradConv2DOp>([&](auto sums) {
            if (!sums.getBody().empty())
              tabulateIn(sums.getBody().front());
          });
    });
  }

private:
  /// Fewer operations take no longer than what looks up a byte where that is not one instruction.
  static constexpr int64_t kMinCost = 12;

  void tabulateIn(Block &body) {
    // The last value of a formula first: what is inside it goes with it.
    SmallVector<Operation *> operations;
    for (Operation &op : body.without_terminator())
      operations.push_back(&op);
    bool changed = false;
    for (Operation *op : llvm::reverse(operations)) {
      if (!changed || !isOpTriviallyDead(op))
        changed |= tabulate(op);
      else
        op->erase();
    }
  }

  /// Replaces a value of a body by a table; returns whether it has.
  bool tabulate(Operation *op) {
    const bool isByte = isa<arith::FPToUIOp, arith::FPToSIOp>(op) &&
                        op->getResult(0).getType().isInteger(8) &&
                        op->getOperand(0).getType().isF32();
    std::optional<Range> range =
        isa<arith::MinimumFOp>(op) ? roundedRange(op->getResult(0), true) : std::nullopt;
    std::optional<bool> isUnsigned = range ? isUnsignedByte(*range) : std::nullopt;
    if (!isByte && !isUnsigned)
      return false;
    std::optional<ByteFunction> function = ByteFunction::of(op->getResult(0));
    if (!function || function->cost() < kMinCost)
      return false;
    const std::variant<SmallVector<int8_t>, ByteFunction::Failure> made = function->tabulate();
    if (const auto *failure = std::get_if<ByteFunction::Failure>(&made)) {
      auto missed = remarkMissed(getArgument(), op->getLoc(), "NotTabulated");
      if (failure->op)
        missed << remark::add(
            "a function of a byte has an operation that does not fold for {0}: {1}", failure->byte,
            failure->op->getName());
      else
        missed << remark::add("a function of a byte has a result that is no number for {0}",
                              failure->byte);
      return false;
    }
    remarkPassed(getArgument(), op->getParentOp()->getLoc(), "Tabulated")
        << remark::add("a function of a byte, {0} operations, becomes a table", function->cost());
    ++numTables;
    ImplicitLocOpBuilder b(op->getLoc(), op);
    Value result =
        LookupOp::create(b, function->from().asByte(b), std::get<SmallVector<int8_t>>(made));
    if (!isByte)
      result = *isUnsigned ? arith::UIToFPOp::create(b, b.getF32Type(), result).getResult()
                           : arith::SIToFPOp::create(b, b.getF32Type(), result).getResult();
    op->getResult(0).replaceAllUsesWith(result);
    op->erase();
    return true;
  }
};

} // namespace
} // namespace atc::cpu
