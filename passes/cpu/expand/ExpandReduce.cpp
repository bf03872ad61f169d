//===-- ExpandReduce.cpp - kernel.reduce, arg_reduce and softmax as loops ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Vectors are along the dim in which the input is contiguous. If that dim is reduced, the lanes are
// combined at the end of every result; if it is kept, a vector holds as many results as it has
// lanes. Several accumulators hide the latency of the additions.
//
//===----------------------------------------------------------------------===//

#include "mlir/IR/TypeUtilities.h"
#include "passes/cpu/Passes.h"
#include "passes/cpu/expand/Reductions.h"

using namespace mlir;

namespace atc::cpu {
#define GEN_PASS_DEF_CPUEXPANDREDUCE
#include "passes/cpu/Passes.h.inc"

using graph::ReduceKind;

ReductionSpaces::ReductionSpaces(Value input, Value output, ArrayRef<int64_t> axes) {
  Space all(shapeOf(input), {input, output});
  for (size_t d = 0; d < all.rank(); ++d) {
    Space &part = llvm::is_contained(axes, int64_t(d)) ? reduced : kept;
    part.addDim(all.sizes[d], {all.strides[0][d], all.strides[1][d]});
  }
  for (Space *part : {&kept, &reduced})
    if (part->rank() == 0)
      part->addDim(1, {0, 0});
  kept.normalize(1);
  reduced.normalize(0);
}

bool ReductionSpaces::alongReduced() const {
  return reduced.strides[0].back() == 1 && reduced.sizes.back() > 1;
}

Value combine(KernelBuilder &b, Combiner combiner, Value x, Value y, bool isUnsigned) {
  bool isFloat = isa<FloatType>(getElementTypeOrSelf(x.getType()));
  // The sign of a zero does not matter, NaN does.
  auto flags = arith::FastMathFlagsAttr::get(b.getContext(), arith::FastMathFlags::nsz);
  switch (combiner) {
  case Combiner::Sum:
    return isFloat ? Value(arith::AddFOp::create(b, x, y)) : arith::AddIOp::create(b, x, y);
  case Combiner::Prod:
    return isFloat ? Value(arith::MulFOp::create(b, x, y)) : arith::MulIOp::create(b, x, y);
  case Combiner::Max:
    if (isFloat)
      return arith::MaximumFOp::create(b, x, y, flags);
    return isUnsigned ? Value(arith::MaxUIOp::create(b, x, y)) : arith::MaxSIOp::create(b, x, y);
  case Combiner::Min:
    if (isFloat)
      return arith::MinimumFOp::create(b, x, y, flags);
    return isUnsigned ? Value(arith::MinUIOp::create(b, x, y)) : arith::MinSIOp::create(b, x, y);
  case Combiner::Larger:
    return arith::SelectOp::create(b, arith::CmpFOp::create(b, arith::CmpFPredicate::OGT, x, y), x,
                                   y);
  }
  return x;
}

Value combineLanes(KernelBuilder &b, Combiner combiner, Value value, bool isUnsigned) {
  if (!isa<VectorType>(value.getType()))
    return value;
  bool isFloat = isa<FloatType>(getElementTypeOrSelf(value.getType()));
  const int64_t width = cast<VectorType>(value.getType()).getNumElements();
  // LLVM takes the maximum of one lane after the other.
  if (isFloat && combiner != Combiner::Sum && combiner != Combiner::Prod &&
      llvm::isPowerOf2_64(width)) {
    for (int64_t half = width / 2; half > 0; half /= 2) {
      auto part = [&](int64_t first) -> Value {
        return vector::ExtractStridedSliceOp::create(b, value, ArrayRef<int64_t>{first},
                                                     ArrayRef<int64_t>{half}, ArrayRef<int64_t>{1});
      };
      value = combine(b, combiner, part(0), part(half));
    }
    return vector::ExtractOp::create(b, value, ArrayRef<int64_t>{0});
  }
  using vector::CombiningKind;
  CombiningKind kind = CombiningKind::ADD;
  if (combiner == Combiner::Prod)
    kind = CombiningKind::MUL;
  else if (combiner == Combiner::Max)
    kind = isFloat      ? CombiningKind::MAXIMUMF
           : isUnsigned ? CombiningKind::MAXUI
                        : CombiningKind::MAXSI;
  else if (combiner == Combiner::Min)
    kind = isFloat      ? CombiningKind::MINIMUMF
           : isUnsigned ? CombiningKind::MINUI
                        : CombiningKind::MINSI;
  // Without reassociation, the lanes would be added one by one in a fixed order.
  auto flags = isFloat && kind <= CombiningKind::MUL ? arith::FastMathFlags::reassoc
                                                     : arith::FastMathFlags::none;
  return vector::ReductionOp::create(b, kind, value, flags);
}

Value neutral(KernelBuilder &b, Combiner combiner, Type element, int64_t width, bool isUnsigned) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  double value = combiner == Combiner::Sum ? 0.0 : 1.0;
  if (combiner == Combiner::Max || combiner == Combiner::Larger)
    value = isUnsigned ? 0.0 : -infinity;
  if (combiner == Combiner::Min)
    value = isUnsigned ? std::ldexp(1.0, element.getIntOrFloatBitWidth()) - 1.0 : infinity;
  return laneConstant(b, element, width, value);
}

Value reduceRow(KernelBuilder &b, Combiner combiner, Type element, int64_t size, Lanes steps,
                VectorAtFn vectorAt) {
  SmallVector<Value> start(steps.unroll, neutral(b, combiner, element, steps.width));
  SmallVector<Value> parts = forEachVectors(
      b, size, steps, start, [&](Value i, ArrayRef<int64_t> counts, ValueRange values) {
        SmallVector<Value> next(values);
        for (auto [v, count] : llvm::enumerate(counts))
          next[v] = combine(b, combiner, next[v], vectorAt(i, v, count));
        return next;
      });
  Value whole = parts[0];
  for (Value other : llvm::drop_begin(parts))
    whole = combine(b, combiner, whole, other);
  return combineLanes(b, combiner, whole);
}

namespace {

class ReduceExpander {
public:
  explicit ReduceExpander(ReduceOp op)
      : b(op), kind(op.getKind()), spaces(op.getInput(), op.getOutput(), op.getAxes()),
        input(b, op.getInput()), output(b, op.getOutput()), element(computeType(input.element())),
        isFloat(isa<FloatType>(element)), isUnsigned(!isFloat && input.isUnsigned()),
        lanes(b.level().getLanes()), count(spaces.reduced.volume()) {}

  void expand() {
    int64_t bytes = count * input.bytes() * (kind == ReduceKind::LogSumExp ? 4 : 1);
    Lanes kept{1, 1};
    if (!spaces.alongReduced()) {
      kept.width = lanes;
      kept.unroll = std::clamp<int64_t>(spaces.kept.sizes.back() / lanes, 1, accumulatorsWanted);
    }
    int64_t inStride = spaces.kept.strides[0].back(), outStride = spaces.kept.strides[1].back();
    forEachRow(
        b, spaces.kept, bytes + output.bytes(), kept, [&](ArrayRef<Value> at, const Range &row) {
          forEachVectors(b, row, kept, [&](Value first, ArrayRef<int64_t> counts) {
            SmallVector<Value> results = reduce(b.mulAdd(first, inStride, at[0]), inStride, counts);
            Value to = b.mulAdd(first, outStride, at[1]);
            for (auto [v, result] : llvm::enumerate(results))
              output.store(narrow(b, result, output.element()),
                           b.add(to, v * kept.width * outStride), counts[v], outStride);
          });
        });
  }

private:
  static constexpr int64_t accumulatorsWanted = 4;

  /// Results of the kept positions from `from` on: a group of vectors, or one.
  SmallVector<Value> reduce(Value from, int64_t stride, ArrayRef<int64_t> counts) {
    SmallVector<Value> shifts;
    if (kind == ReduceKind::LogSumExp) {
      for (Value largest : accumulate(from, stride, counts, Combiner::Max, {})) {
        // An infinite maximum would yield infinity - infinity.
        Value magnitude = math::AbsFOp::create(b, largest);
        Value limit =
            laneConstant(b, element, widthOf(largest), std::numeric_limits<double>::infinity());
        Value isFinite = arith::CmpFOp::create(b, arith::CmpFPredicate::ONE, magnitude, limit);
        Value zero = laneConstant(b, element, widthOf(largest), 0.0);
        shifts.push_back(arith::SelectOp::create(b, isFinite, largest, zero));
      }
    }
    SmallVector<Value> results = accumulate(from, stride, counts, combiner(), shifts);
    for (auto [v, result] : llvm::enumerate(results))
      result = finish(result, shifts.empty() ? Value() : shifts[v]);
    return results;
  }

  Combiner combiner() const {
    switch (kind) {
    case ReduceKind::Max:
      return Combiner::Max;
    case ReduceKind::Min:
      return Combiner::Min;
    case ReduceKind::Prod:
      return Combiner::Prod;
    default:
      return Combiner::Sum;
    }
  }

  SmallVector<Value> accumulate(Value from, int64_t stride, ArrayRef<int64_t> counts, Combiner how,
                                ArrayRef<Value> shifts) {
    Space outer = spaces.reduced;
    Space inner = outer.takeDim(outer.rank() - 1);
    int64_t size = inner.sizes[0], step = inner.strides[0][0];
    bool alongReduced = spaces.alongReduced();

    // Iterates over the vectors of a group, for some positions of the reduced dim.
    int64_t group = counts.size();
    int64_t positions = alongReduced ? std::clamp<int64_t>(size / lanes, 1, accumulatorsWanted)
                                     : std::clamp<int64_t>(accumulatorsWanted / group, 1, size);
    Lanes walk{alongReduced ? lanes : 1, positions};
    SmallVector<Value> start(positions * group, neutral(b, how, element, lanes, isUnsigned));
    // The lanes that a partial vector lacks must not change the result.
    Value pad;
    if (alongReduced && size % lanes != 0) {
      Combiner padded = shifts.empty() ? how : Combiner::Max;
      pad = neutral(b, padded, input.element(), lanes, isUnsigned);
    }

    SmallVector<Value> sums = forEachPosition(
        b, outer, {from, b.index(0)}, start, [&](ArrayRef<Value> at, ValueRange carried) {
          auto body = [&](Value i, ArrayRef<int64_t> taken, ValueRange values) {
            SmallVector<Value> acc(values);
            for (auto [p, elements] : llvm::enumerate(taken)) {
              Value position = b.add(b.mulAdd(i, step, at[0]), p * walk.width * step);
              for (int64_t v = 0; v < group; ++v) {
                Value x = alongReduced ? input.load(position, lanes, elements, 1, pad)
                                       : input.load(b.add(position, v * lanes * stride), lanes,
                                                    counts[v], stride);
                Value &sum = acc[p * group + v];
                sum = combine(b, how, sum, map(widen(b, x), how, shifts, v), isUnsigned);
              }
            }
            return acc;
          };
          return forEachVectors(b, size, walk, carried, body);
        });

    SmallVector<Value> results;
    for (int64_t v = 0; v < group; ++v) {
      Value result = sums[v];
      for (int64_t p = 1; p < positions; ++p)
        result = combine(b, how, result, sums[p * group + v], isUnsigned);
      results.push_back(alongReduced ? combineLanes(b, how, result, isUnsigned) : result);
    }
    return results;
  }

  /// Returns the value that is accumulated for an element.
  Value map(Value x, Combiner how, ArrayRef<Value> shifts, int64_t v) {
    switch (kind) {
    case ReduceKind::L1:
      if (isUnsigned)
        return x;
      return isFloat ? Value(math::AbsFOp::create(b, x)) : math::AbsIOp::create(b, x);
    case ReduceKind::L2:
    case ReduceKind::SumSquare:
      return isFloat ? Value(arith::MulFOp::create(b, x, x)) : arith::MulIOp::create(b, x, x);
    case ReduceKind::LogSumExp:
      if (how == Combiner::Max)
        return x;
      if (widthOf(shifts[v]) == widthOf(x))
        return math::ExpOp::create(b, arith::SubFOp::create(b, x, shifts[v]));
      return math::ExpOp::create(b, arith::SubFOp::create(b, x, spread(b, shifts[v], lanes)));
    default:
      return x;
    }
  }

  Value finish(Value sum, Value shift) {
    switch (kind) {
    case ReduceKind::Mean: {
      Value divisor = laneConstant(b, element, widthOf(sum), count);
      if (isFloat)
        return arith::DivFOp::create(b, sum, divisor);
      return isUnsigned ? Value(arith::DivUIOp::create(b, sum, divisor))
                        : arith::DivSIOp::create(b, sum, divisor);
    }
    case ReduceKind::L2:
      return math::SqrtOp::create(b, sum);
    case ReduceKind::LogSum:
      return math::LogOp::create(b, sum);
    case ReduceKind::LogSumExp:
      return arith::AddFOp::create(b, math::LogOp::create(b, sum), shift);
    default:
      return sum;
    }
  }

  KernelBuilder b;
  ReduceKind kind;
  ReductionSpaces spaces;
  LaneBuffer input, output;
  Type element;
  bool isFloat, isUnsigned;
  int64_t lanes, count;
};

bool needsFloats(ReduceKind kind) {
  return kind == ReduceKind::L2 || kind == ReduceKind::LogSum || kind == ReduceKind::LogSumExp;
}

struct CpuExpandReducePass : impl::CpuExpandReduceBase<CpuExpandReducePass> {
  void runOnOperation() override {
    WalkResult result = getOperation().walk([](Operation *op) {
      if (auto reduce = dyn_cast<ReduceOp>(op)) {
        if (needsFloats(reduce.getKind()) && !isa<FloatType>(elementOf(reduce.getInput()))) {
          op->emitOpError() << "computes " << graph::stringifyReduceKind(reduce.getKind())
                            << " of floats only, but the input is " << reduce.getInput().getType();
          return WalkResult::interrupt();
        }
        ReduceExpander(reduce).expand();
        op->erase();
      } else if (auto sums = dyn_cast<CumulativeSumOp>(op)) {
        expandCumulativeSum(sums);
      } else if (auto argReduce = dyn_cast<ArgReduceOp>(op)) {
        expandArgReduce(argReduce);
      } else if (auto softmax = dyn_cast<SoftmaxOp>(op)) {
        if (!isa<FloatType>(elementOf(softmax.getInput()))) {
          op->emitOpError() << "works on floats only, but the input is "
                            << softmax.getInput().getType();
          return WalkResult::interrupt();
        }
        expandSoftmax(softmax);
      }
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }
};

} // namespace
} // namespace atc::cpu
