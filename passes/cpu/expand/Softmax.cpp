//===-- Softmax.cpp - kernel.softmax and kernel.arg_reduce as loops -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "passes/cpu/expand/Reductions.h"

using namespace mlir;

namespace atc::cpu {

namespace {

/// The axis of a kernel that reads and writes along it, and vectors for it:
/// along the axis where it is contiguous, else along the last kept dim.
struct AxisSpaces {
  AxisSpaces(Value input, Value output, int64_t axis) {
    Space all(shapeOf(input), {input, output});
    along = all.takeDim(axis);
    if (all.rank() > 0)
      all.normalize(1);
    else
      all.addDim(1, {0, 0});
    kept = all;
  }

  int64_t size() const { return along.sizes[0]; }
  int64_t inStride() const { return along.strides[0][0]; }
  int64_t outStride() const { return along.strides[1][0]; }
  bool vectorsAlong() const { return inStride() == 1 && size() > 1; }

  Space kept, along;
};

class SoftmaxExpander {
public:
  explicit SoftmaxExpander(SoftmaxOp op)
      : b(op), isLog(op.getLog()), spaces(op.getInput(), op.getOutput(), op.getAxis()),
        input(b, op.getInput()), output(b, op.getOutput()), element(computeType(input.element())),
        lanes(b.level().getLanes()) {}

  void expand() {
    // An exponential costs some 20 instructions a vector.
    int64_t bytes = spaces.size() * 6 * input.bytes();
    Lanes group{1, 1};
    if (!spaces.vectorsAlong())
      group = {lanes, std::clamp<int64_t>(spaces.kept.sizes.back() / lanes, 1, 2)};
    int64_t inStride = spaces.kept.strides[0].back(), outStride = spaces.kept.strides[1].back();
    forEachRow(b, spaces.kept, bytes, group, [&](ArrayRef<Value> at, const Range &row) {
      forEachVectors(b, row, group, [&](Value first, ArrayRef<int64_t> counts) {
        Value from = b.mulAdd(first, inStride, at[0]), to = b.mulAdd(first, outStride, at[1]);
        if (spaces.vectorsAlong())
          alongAxis(from, to);
        else
          acrossAxis(from, to, counts);
      });
    });
  }

private:
  Value exp(Value x, Value largest) {
    return math::ExpOp::create(b, arith::SubFOp::create(b, x, largest));
  }
  Value reciprocal(Value x) {
    return arith::DivFOp::create(b, laneConstant(b, element, widthOf(x), 1.0), x);
  }

  /// Computes one softmax whose elements are in the lanes.
  void alongAxis(Value from, Value to) {
    int64_t size = spaces.size(), outStride = spaces.outStride();
    Lanes walk{lanes, std::clamp<int64_t>(size / lanes, 1, 4)};
    Value pad = neutral(b, Combiner::Larger, input.element(), lanes);
    auto load = [&](Value i, int64_t v, int64_t count) {
      return widen(b, input.load(b.add(b.add(from, i), v * lanes), lanes, count, 1, pad));
    };
    auto store = [&](Value x, Value i, int64_t v, int64_t count) {
      output.store(narrow(b, x, output.element()),
                   b.add(b.mulAdd(i, outStride, to), v * lanes * outStride), count, outStride);
    };
    // The exponential of a NaN is one, whatever is subtracted before.
    Value largest = spread(b, reduceRow(b, Combiner::Larger, element, size, walk, load), lanes);
    // Code for an exponential is long.
    Lanes steps{lanes, std::min<int64_t>(walk.unroll, 2)};
    auto addend = [&](Value i, int64_t v, int64_t count) {
      Value e = exp(load(i, v, count), largest);
      if (!isLog)
        store(e, i, v, count);
      return e;
    };
    Value sum = reduceRow(b, Combiner::Sum, element, size, steps, addend);

    Value factor = isLog ? Value(math::LogOp::create(b, sum)) : reciprocal(sum);
    factor = spread(b, factor, lanes);
    forEachVectors(b, Range{size}, walk, [&](Value i, ArrayRef<int64_t> counts) {
      for (auto [v, count] : llvm::enumerate(counts))
        store(last(i, v, count, largest, factor, load, to), i, v, count);
    });
  }

  /// The result at a position: of what the second pass has written, or of the
  /// input for the logarithm.
  Value last(Value i, int64_t v, int64_t count, Value largest, Value factor,
             function_ref<Value(Value, int64_t, int64_t)> load, Value to) {
    if (isLog)
      return arith::SubFOp::create(b, arith::SubFOp::create(b, load(i, v, count), largest), factor);
    int64_t outStride = spaces.outStride();
    Value at = b.add(b.mulAdd(i, outStride, to), v * lanes * outStride);
    Value e = widen(b, output.load(at, lanes, count, outStride));
    return arith::MulFOp::create(b, e, factor);
  }

  /// As many softmaxes as there are lanes in the group.
  void acrossAxis(Value from, Value to, ArrayRef<int64_t> counts) {
    int64_t inKept = spaces.kept.strides[0].back(), outKept = spaces.kept.strides[1].back();
    auto load = [&](Value i, int64_t v) {
      Value at = b.add(b.mulAdd(i, spaces.inStride(), from), v * lanes * inKept);
      return widen(b, input.load(at, lanes, counts[v], inKept));
    };
    auto addressOf = [&](Value i, int64_t v) {
      return b.add(b.mulAdd(i, spaces.outStride(), to), v * lanes * outKept);
    };
    auto store = [&](Value x, Value i, int64_t v) {
      output.store(narrow(b, x, output.element()), addressOf(i, v), counts[v], outKept);
    };
    auto total = [&](Combiner how, function_ref<Value(Value, int64_t)> value) {
      SmallVector<Value> start(counts.size(), neutral(b, how, element, lanes));
      return b.loop(spaces.size(), start, [&](Value i, ValueRange values) {
        SmallVector<Value> acc(values);
        for (size_t v = 0; v < counts.size(); ++v)
          acc[v] = combine(b, how, acc[v], value(i, v));
        return acc;
      });
    };

    SmallVector<Value> largest = total(Combiner::Larger, load);
    SmallVector<Value> sums = total(Combiner::Sum, [&](Value i, int64_t v) {
      Value e = exp(load(i, v), largest[v]);
      if (!isLog)
        store(e, i, v);
      return e;
    });
    for (Value &sum : sums)
      sum = isLog ? Value(math::LogOp::create(b, sum)) : reciprocal(sum);
    b.loop(spaces.size(), [&](Value i) {
      for (size_t v = 0; v < counts.size(); ++v) {
        if (isLog) {
          Value shifted = arith::SubFOp::create(b, load(i, v), largest[v]);
          store(arith::SubFOp::create(b, shifted, sums[v]), i, v);
          continue;
        }
        Value e = widen(b, output.load(addressOf(i, v), lanes, counts[v], outKept));
        store(arith::MulFOp::create(b, e, sums[v]), i, v);
      }
    });
  }

  KernelBuilder b;
  bool isLog;
  AxisSpaces spaces;
  LaneBuffer input, output;
  Type element;
  int64_t lanes;
};

class ArgReduceExpander {
public:
  explicit ArgReduceExpander(ArgReduceOp op)
      : b(op), isSmallest(op.getSmallest()), isLast(op.getSelectLast()),
        spaces(op.getInput(), op.getOutput(), op.getAxis()), input(b, op.getInput()),
        output(b, op.getOutput()), element(input.element()),
        isUnsigned(input.isUnsigned() && !isa<FloatType>(element)), lanes(b.level().getLanes()) {}

  void expand() {
    Lanes group{spaces.vectorsAlong() ? 1 : lanes, 1};
    int64_t inStride = spaces.kept.strides[0].back(), outStride = spaces.kept.strides[1].back();
    forEachRow(b, spaces.kept, 2 * spaces.size() * input.bytes(), group,
               [&](ArrayRef<Value> at, const Range &row) {
                 forEachVectors(b, row, group, [&](Value first, ArrayRef<int64_t> counts) {
                   Value from = b.mulAdd(first, inStride, at[0]);
                   Value index = spaces.vectorsAlong() ? alongAxis(from)
                                                       : acrossAxis(from, inStride, counts[0]);
                   Value result = index;
                   if (output.element().getIntOrFloatBitWidth() > 32)
                     result = arith::ExtUIOp::create(b, laneType(output.element(), widthOf(index)),
                                                     index);
                   output.store(result, b.mulAdd(first, outStride, at[1]), counts[0], outStride);
                 });
               });
  }

private:
  Combiner combiner() const { return isSmallest ? Combiner::Min : Combiner::Max; }

  /// x replaces the best so far. NaN never does.
  Value isBetter(Value x, Value best) {
    if (isa<FloatType>(element)) {
      using enum arith::CmpFPredicate;
      return arith::CmpFOp::create(b, isSmallest ? (isLast ? OLE : OLT) : (isLast ? OGE : OGT), x,
                                   best);
    }
    using enum arith::CmpIPredicate;
    arith::CmpIPredicate signedOnes[] = {sgt, sge, slt, sle}, unsignedOnes[] = {ugt, uge, ult, ule};
    int which = 2 * isSmallest + isLast;
    return arith::CmpIOp::create(b, isUnsigned ? unsignedOnes[which] : signedOnes[which], x, best);
  }

  /// (best, its index) after looking at x.
  SmallVector<Value> step(Value x, Value position, ValueRange soFar) {
    Value better = isBetter(x, soFar[0]);
    return {arith::SelectOp::create(b, better, x, soFar[0]),
            arith::SelectOp::create(b, better, position, soFar[1])};
  }

  SmallVector<Value> start() {
    return {neutral(b, combiner(), element, lanes, isUnsigned),
            laneConstant(b, b.getI32Type(), lanes, 0.0)};
  }

  Value spreadIndex(Value i) {
    return spread(b, arith::IndexCastOp::create(b, b.getI32Type(), i), lanes);
  }

  Value acrossAxis(Value from, int64_t stride, int64_t count) {
    return b.loop(spaces.size(), start(), [&](Value i, ValueRange soFar) {
      Value x = input.load(b.mulAdd(i, spaces.inStride(), from), lanes, count, stride);
      return step(x, spreadIndex(i), soFar);
    })[1];
  }

  Value alongAxis(Value from) {
    SmallVector<int32_t> numbers;
    for (int64_t i = 0; i < lanes; ++i)
      numbers.push_back(i);
    Value laneNumbers = arith::ConstantOp::create(b, b.getI32VectorAttr(numbers));
    Value pad = neutral(b, combiner(), element, lanes, isUnsigned);
    SmallVector<Value> best =
        forEachVectors(b, spaces.size(), {lanes, 1}, start(),
                       [&](Value i, ArrayRef<int64_t> counts, ValueRange soFar) {
                         Value x = input.load(b.add(from, i), lanes, counts[0], 1, pad);
                         Value position = arith::AddIOp::create(b, spreadIndex(i), laneNumbers);
                         return step(x, position, soFar);
                       });
    // Among the lanes with the best value the lowest (or highest) index wins.
    Value winner = spread(b, combineLanes(b, combiner(), best[0], isUnsigned), lanes);
    Value isWinner;
    if (isa<FloatType>(element))
      isWinner = arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, best[0], winner);
    else
      isWinner = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, best[0], winner);
    Combiner choice = isLast ? Combiner::Max : Combiner::Min;
    Value never = neutral(b, choice, b.getI32Type(), lanes);
    Value index = combineLanes(b, choice, arith::SelectOp::create(b, isWinner, best[1], never));
    // A padded lane can only be the maximum where all elements are infinite.
    Value limit = laneConstant(b, b.getI32Type(), 1, spaces.size() - 1);
    return arith::MinSIOp::create(b, index, limit);
  }

  KernelBuilder b;
  bool isSmallest, isLast;
  AxisSpaces spaces;
  LaneBuffer input, output;
  Type element;
  bool isUnsigned;
  int64_t lanes;
};

} // namespace

void expandSoftmax(SoftmaxOp op) {
  SoftmaxExpander(op).expand();
  op.erase();
}

void expandArgReduce(ArgReduceOp op) {
  ArgReduceExpander(op).expand();
  op.erase();
}

} // namespace atc::cpu
