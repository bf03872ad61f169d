//===-- FoldByteSums.cpp - scaled sums of two bytes with fewer roundings --===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A residual of a quantized network is added in floats: both operands are dequantized, added, and
// the sum is quantized. The quantized result is a function of two integers that have 256 values
// each, and so are the results of fma(x, a, fma(y, b, c)), which takes two operations instead of
// four or five. Results at the middle of two integers depend on how the formula rounds, so that the
// factors are searched near their exact values and tried on all pairs of integers. An integer that
// is quantized again with another scale, perhaps behind a relu, is the same with one integer.
//
//===----------------------------------------------------------------------===//

#include "passes/Remarks.h"
#include "passes/cpu/ByteRanges.h"
#include "passes/cpu/Passes.h"

#include "dialects/cpu/Cpu.h"
#include "dialects/kernel/Kernel.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"

#include <cmath>
#include <random>

using namespace mlir;

// The reference formula rounds after each operation, on every compiler.
#pragma STDC FP_CONTRACT OFF

namespace atc::cpu {
#define GEN_PASS_DEF_CPUFOLDBYTESUMS
#include "passes/cpu/Passes.h.inc"

namespace {

/// A formula of sums, of products with and quotients by constants, and of lower bounds over one or
/// two integers of 8 bits.
class Formula {
public:
  /// Reads the formula that computes `value`; nothing where it has another form.
  static std::optional<Formula> of(Value value) {
    Formula formula;
    if (!formula.add(value) || formula.integers.empty() || formula.integers.size() > 2)
      return std::nullopt;
    return formula;
  }

  size_t operations() const { return steps.size(); }
  size_t count() const { return integers.size(); }
  bool hasBounds() const {
    return llvm::any_of(steps, [](const Step &step) { return step.kind == Step::Max; });
  }
  Value integer(size_t index) const { return integers[index].first; }
  /// Returns the values of an integer; 0 for a second one that there is none of.
  Range range(size_t index) const {
    return index < integers.size() ? integers[index].second : Range{0, 0};
  }

  /// Returns the formula's value, every operation rounded to T; its bounds can be left out.
  template <typename T> T at(T first, T second, bool withBounds = true) const {
    SmallVector<T, 8> values;
    auto read = [&](const Operand &from) {
      return from.kind == Operand::Integer ? (from.index == 0 ? first : second)
             : from.kind == Operand::Step  ? values[from.index]
                                           : T(from.constant);
    };
    for (const Step &step : steps) {
      const T lhs = read(step.lhs), rhs = read(step.rhs);
      T result = lhs * rhs;
      if (step.kind == Step::Add)
        result = lhs + rhs;
      if (step.kind == Step::Sub)
        result = lhs - rhs;
      if (step.kind == Step::Div)
        result = lhs / rhs;
      if (step.kind == Step::Max)
        result = withBounds ? std::max(lhs, rhs) : lhs;
      values.push_back(result);
    }
    return values.back();
  }

private:
  struct Operand {
    enum Kind : uint8_t { Constant, Integer, Step } kind;
    size_t index = 0;
    float constant = 0;
  };
  struct Step {
    enum Kind : uint8_t { Add, Sub, Mul, Div, Max } kind;
    Operand lhs, rhs;
  };

  std::optional<Operand> add(Value value) {
    if (std::optional<float> constant = constantOf(value))
      return Operand{Operand::Constant, 0, *constant};
    if (std::optional<Range> range = bytesOf(value)) {
      for (auto [i, known] : llvm::enumerate(integers))
        if (known.first == value)
          return Operand{Operand::Integer, i};
      integers.push_back({value, *range});
      return Operand{Operand::Integer, integers.size() - 1};
    }
    Operation *op = value.getDefiningOp();
    if (!op || steps.size() >= kMaxSteps)
      return std::nullopt;
    const std::optional<Step::Kind> kind =
        llvm::TypeSwitch<Operation *, std::optional<Step::Kind>>(op)
            .Case<arith::AddFOp>([](auto) { return Step::Add; })
            .Case<arith::SubFOp>([](auto) { return Step::Sub; })
            .Case<arith::MulFOp>([](auto) { return Step::Mul; })
            .Case<arith::DivFOp>([](auto) { return Step::Div; })
            .Case<arith::MaximumFOp>([](auto) { return Step::Max; })
            .Default(std::nullopt);
    std::optional<Operand> lhs = kind ? add(op->getOperand(0)) : std::nullopt;
    std::optional<Operand> rhs = lhs ? add(op->getOperand(1)) : std::nullopt;
    if (!rhs)
      return std::nullopt;
    // A product of two integers is no sum, and divisors and bounds are constants.
    const bool hasConstant =
        rhs->kind == Operand::Constant || (*kind == Step::Mul && lhs->kind == Operand::Constant);
    if ((*kind == Step::Mul || *kind == Step::Div || *kind == Step::Max) && !hasConstant)
      return std::nullopt;
    steps.push_back({*kind, *lhs, *rhs});
    return Operand{Operand::Step, steps.size() - 1};
  }

  static constexpr size_t kMaxSteps = 16;
  SmallVector<std::pair<Value, Range>, 2> integers;
  SmallVector<Step> steps;
};

/// The quantization of the sum: it is rounded to an integer, the zero point is added, and the
/// result is clamped to `range`.
struct Quantization {
  int zeroPoint;
  Range range;

  int of(float sum) const {
    const float shifted = std::nearbyint(sum) + float(zeroPoint);
    return int(std::clamp(shifted, float(range.low), float(range.high)));
  }
};

/// The factors of x * a + (y * b + c).
struct Factors {
  float a, b, c;

  /// Returns the sum as processors with a fused multiply-add compute it, and as others do.
  float fused(float x, float y) const { return std::fma(x, a, std::fma(y, b, c)); }
  float separate(float x, float y) const {
    const float product = y * b;
    const float sum = product + c;
    const float other = x * a;
    return other + sum;
  }
};

/// Searches factors with which a quantized sum is the same for all pairs of integers. Bounds in the
/// formula become one of the quantized sum.
class FactorSearch {
public:
  FactorSearch(const Formula &formula, Quantization given)
      : quantization(given), c(formula.at(0.0, 0.0, false)), a(formula.at(1.0, 0.0, false) - c),
        b(formula.at(0.0, 1.0, false) - c) {
    const Range first = formula.range(0), second = formula.range(1);
    int minValue = given.range.high;
    for (int x = first.low; x <= first.high; ++x)
      for (int y = second.low; y <= second.high; ++y) {
        const double exact = x * a + y * b + c;
        const Pair pair{float(x), float(y), given.of(formula.at(float(x), float(y)))};
        const bool isNear = std::abs(exact - std::floor(exact) - 0.5) < kNear;
        (isNear ? near : others).push_back(pair);
        minValue = std::min(minValue, pair.expected);
      }
    if (formula.hasBounds())
      quantization.range.low = minValue;
  }

  /// Returns the lower bound of the quantized sum.
  int low() const { return quantization.range.low; }

  std::optional<Factors> run() const {
    std::mt19937 random(1);
    auto moved = [&](double exact, double by) {
      const double part = double(random()) / double(std::mt19937::max()) * 2 - 1;
      return float(exact + part * by);
    };
    for (int i = 0; i < kTries; ++i) {
      // The first ones are those that a person would write. A factor of x may move sums by as much
      // as the rounding of the formula does.
      const double by = i == 0 ? 0 : kMove;
      const Factors factors{moved(a, by / 256), moved(b, by / 256), moved(c, by)};
      if (fits(factors, near))
        return fits(factors, others) ? std::optional(factors) : std::nullopt;
    }
    return std::nullopt;
  }

private:
  struct Pair {
    float x, y;
    int expected;
  };

  bool fits(const Factors &factors, ArrayRef<Pair> pairs) const {
    return llvm::all_of(pairs, [&](const Pair &pair) {
      return quantization.of(factors.fused(pair.x, pair.y)) == pair.expected &&
             quantization.of(factors.separate(pair.x, pair.y)) == pair.expected;
    });
  }

  static constexpr int kTries = 4096;
  /// Sums that are this near to the middle of two integers decide which factors fit.
  static constexpr double kNear = 1e-3, kMove = 4e-5;

  Quantization quantization;
  double c, a, b;
  std::vector<Pair> near, others;
};

struct CpuFoldByteSumsPass : impl::CpuFoldByteSumsBase<CpuFoldByteSumsPass> {
  void runOnOperation() override {
    SmallVector<arith::MinimumFOp> clamps;
    getOperation().walk([&](Operation *yield) {
      if (!isa<IntegerYieldOp, kernel::YieldOp>(yield))
        return;
      for (Operation &op : *yield->getBlock())
        if (auto clamp = dyn_cast<arith::MinimumFOp>(op))
          clamps.push_back(clamp);
    });
    for (arith::MinimumFOp clamp : clamps)
      fold(clamp);
  }

private:
  void fold(arith::MinimumFOp min) {
    std::optional<std::pair<Value, Range>> clamp = clampOf(min);
    std::optional<std::pair<Value, int>> rounded = clamp ? roundedOf(clamp->first) : std::nullopt;
    std::optional<Formula> formula = rounded ? Formula::of(rounded->first) : std::nullopt;
    // Without a fused multiply-add each integer takes two operations, too.
    if (!formula || formula->operations() < 2 * formula->count() || !rounded->first.hasOneUse() ||
        !min.getLhs().hasOneUse())
      return;
    // A map of one integer may become a table, which looks up whole registers of bytes.
    if (isa<kernel::MapOp>(min->getParentOp()) && formula->count() < 2)
      return;
    Location loc = min->getParentOp()->getLoc();
    const FactorSearch search(*formula, {rounded->second, clamp->second});
    std::optional<Factors> factors = search.run();
    if (!factors) {
      remarkMissed(getArgument(), loc, "NotFolded")
          << remark::add("no factors were found that give all integers the same sum");
      return;
    }
    remarkPassed(getArgument(), loc, "Folded")
        << remark::add("a quantized sum of bytes takes {0} operations less",
                       formula->operations() - formula->count());
    ++numFolded;
    if (search.low() != clamp->second.low) {
      auto max = min.getLhs().getDefiningOp<arith::MaximumFOp>();
      ImplicitLocOpBuilder b(max.getLoc(), max);
      max.getRhsMutable().assign(
          arith::ConstantOp::create(b, b.getF32FloatAttr(float(search.low()))));
    }
    replace(rounded->first, *formula, *factors);
  }

  static void replace(Value sum, const Formula &formula, const Factors &factors) {
    Operation *last = sum.getDefiningOp();
    ImplicitLocOpBuilder b(last->getLoc(), last);
    auto constant = [&](float value) -> Value {
      return arith::ConstantOp::create(b, b.getF32FloatAttr(value));
    };
    Value result = constant(factors.c);
    if (formula.count() == 2)
      result = math::FmaOp::create(b, formula.integer(1), constant(factors.b), result);
    result = math::FmaOp::create(b, formula.integer(0), constant(factors.a), result);
    sum.replaceAllUsesWith(result);
    // Operands are erased after those that read them.
    SmallVector<Operation *> unused = {last};
    while (!unused.empty()) {
      Operation *op = unused.pop_back_val();
      if (!isOpTriviallyDead(op))
        continue;
      for (Value operand : op->getOperands())
        if (Operation *before = operand.getDefiningOp())
          if (!llvm::is_contained(unused, before))
            unused.insert(unused.begin(), before);
      op->erase();
    }
  }
};

} // namespace
} // namespace atc::cpu
