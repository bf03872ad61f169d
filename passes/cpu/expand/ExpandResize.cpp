//===-- ExpandResize.cpp - kernel.resize and kernel.gather as loops -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An output element is a weighted sum of taps of the input: along every resized dim one (nearest),
// two (linear) or four (cubic). Positions and weights of a dim are computed in the loop of that
// dim, in f32 and with ONNX Runtime's order of operations, so that both select the same input.
// Along the last dim they are vectors when that dim is resized itself; where it grows, what a
// vector of outputs reads is a permutation of one vector of the input.
//
//===----------------------------------------------------------------------===//

#include "dialects/kernel/ResizePositions.h"
#include "passes/cpu/Passes.h"
#include "passes/cpu/expand/ExpandScatter.h"
#include "passes/cpu/tiles/LaneBuffer.h"
#include "passes/cpu/tiles/LoopNest.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

#include <cmath>
#include <numeric>

using namespace mlir;

namespace atc::cpu {
#define GEN_PASS_DEF_CPUEXPANDRESIZE
#include "passes/cpu/Passes.h.inc"

using graph::CoordinateMode;
using graph::NearestMode;
using graph::ResizeMode;

namespace {

/// f32 and i32 arithmetic on scalars or vectors.
struct Arithmetic {
  KernelBuilder &b;
  int64_t width;

  Value number(double value) { return laneConstant(b, b.getF32Type(), width, value); }
  Value integer(int64_t value) { return laneConstant(b, b.getI32Type(), width, value); }
  Value add(Value x, Value y) { return arith::AddFOp::create(b, x, y); }
  Value sub(Value x, Value y) { return arith::SubFOp::create(b, x, y); }
  Value mul(Value x, Value y) { return arith::MulFOp::create(b, x, y); }
  Value div(Value x, Value y) { return arith::DivFOp::create(b, x, y); }
  Value toFloat(Value i) { return arith::SIToFPOp::create(b, laneType(b.getF32Type(), width), i); }
  /// The largest integer that is not above x: an instruction on every level,
  /// unlike floor.
  Value floor(Value x) {
    Value i = arith::FPToSIOp::create(b, laneType(b.getI32Type(), width), x);
    Value above = arith::CmpFOp::create(b, arith::CmpFPredicate::OGT, toFloat(i), x);
    Value below = arith::SubIOp::create(b, i, integer(1));
    return arith::SelectOp::create(b, above, below, i);
  }
  Value clamp(Value i, int64_t size) {
    Value notBelow = arith::MaxSIOp::create(b, i, integer(0));
    return arith::MinSIOp::create(b, notBelow, integer(size - 1));
  }
};

/// Positions (i32) and weights (f32; none where it is 1) along one dim.
struct Taps {
  SmallVector<Value> positions, weights;
};

class ResizeExpander {
public:
  explicit ResizeExpander(ResizeOp op)
      : b(op), op(op), inShape(shapeOf(op.getInput())), outShape(shapeOf(op.getOutput())),
        inStrides(stridesOf(op.getInput())), outStrides(stridesOf(op.getOutput())),
        input(b, op.getInput()), output(b, op.getOutput()), element(computeType(input.element())) {}

  void expand() {
    size_t last = outShape.size() - 1;
    lastIsResized = isResized(last);
    lanes.width = b.level().getLanes();
    lanes.unroll = std::clamp<int64_t>(outShape[last] / lanes.width, 1, lastIsResized ? 1 : 2);
    int64_t repetition = kernel::repetitionOf(op, last);
    lastIsRepeated = lastIsResized && repetition >= 2 && repetition <= 4 && inStrides[last] == 1 &&
                     outStrides[last] == 1;
    if (lastIsRepeated)
      lanes.unroll = repetition;
    SmallVector<int64_t> multiples(outShape.size(), 1);
    multiples.back() = lanes.group();

    for (size_t d = 0; d < outShape.size(); ++d)
      if (isResized(d))
        tapCount *= tapsOfMode();
    SmallVector<Range> ranges = beginTasks(b, outShape, (1 + tapCount) * output.bytes(), multiples);
    walk(ranges, 0, b.index(0), {{b.index(0), Value()}});
  }

private:
  bool isResized(size_t dim) { return inShape[dim] != outShape[dim] || op.getScales()[dim] != 1.0; }
  int64_t tapsOfMode() {
    return op.getMode() == ResizeMode::Nearest ? 1 : op.getMode() == ResizeMode::Linear ? 2 : 4;
  }

  /// The position of the input (f32) for output position `i` (i32).
  Value sourceOf(Arithmetic a, Value i, size_t dim) {
    Value x = a.toFloat(i), scale = a.number(float(op.getScales()[dim]));
    switch (op.getCoordinates()) {
    case CoordinateMode::Asymmetric:
      return a.div(x, scale);
    case CoordinateMode::AlignCorners:
      if (outShape[dim] == 1)
        return a.number(0.0);
      return a.div(a.mul(x, a.number(inShape[dim] - 1)), a.number(outShape[dim] - 1));
    case CoordinateMode::PytorchHalfPixel:
      if (outShape[dim] == 1)
        return a.number(0.0);
      [[fallthrough]];
    case CoordinateMode::HalfPixel:
      return a.sub(a.div(a.add(x, a.number(0.5)), scale), a.number(0.5));
    }
    return x;
  }

  Value nearest(Arithmetic a, Value x) {
    Value low = a.floor(x), high = arith::AddIOp::create(b, low, a.integer(1));
    Value fraction = a.sub(x, a.toFloat(low));
    auto upWhere = [&](arith::CmpFPredicate predicate, double limit) {
      Value up = arith::CmpFOp::create(b, predicate, fraction, a.number(limit));
      return arith::SelectOp::create(b, up, high, low);
    };
    switch (op.getNearest()) {
    case NearestMode::Floor:
      return low;
    case NearestMode::Ceil:
      return upWhere(arith::CmpFPredicate::OGT, 0.0);
    case NearestMode::RoundPreferFloor:
      return upWhere(arith::CmpFPredicate::OGT, 0.5);
    case NearestMode::RoundPreferCeil:
      return upWhere(arith::CmpFPredicate::OGE, 0.5);
    }
    return low;
  }

  Taps tapsOf(Arithmetic a, Value i, size_t dim) {
    Value x = sourceOf(a, i, dim);
    int64_t size = inShape[dim];
    Taps taps;
    switch (op.getMode()) {
    case ResizeMode::Nearest:
      taps.positions = {a.clamp(nearest(a, x), size)};
      taps.weights = {Value()};
      break;
    case ResizeMode::Linear: {
      Value inside = arith::MaximumFOp::create(b, x, a.number(0.0));
      inside = arith::MinimumFOp::create(b, inside, a.number(size - 1));
      Value low = a.floor(inside);
      Value high = a.clamp(arith::AddIOp::create(b, low, a.integer(1)), size);
      Value fraction = a.sub(inside, a.toFloat(low));
      taps.positions = {low, high};
      taps.weights = {a.sub(a.number(1.0), fraction), fraction};
      break;
    }
    case ResizeMode::Cubic: {
      Value low = a.floor(x), fraction = a.sub(x, a.toFloat(low));
      for (int64_t tap = -1; tap <= 2; ++tap)
        taps.positions.push_back(a.clamp(arith::AddIOp::create(b, low, a.integer(tap)), size));
      taps.weights = cubicWeights(a, fraction);
      break;
    }
    }
    return taps;
  }

  /// Keys' kernel with coefficient c for taps at distances 1 + t, t, 1 - t, 2 - t.
  SmallVector<Value> cubicWeights(Arithmetic a, Value t) {
    double c = op.getCubicCoefficient().convertToDouble();
    auto near = [&](Value d) { // ((c + 2) d - (c + 3)) d d + 1
      Value inner = a.sub(a.mul(a.number(c + 2), d), a.number(c + 3));
      return a.add(a.mul(a.mul(inner, d), d), a.number(1.0));
    };
    auto far = [&](Value d) { // ((c d - 5 c) d + 8 c) d - 4 c
      Value inner = a.sub(a.mul(a.number(c), d), a.number(5 * c));
      inner = a.add(a.mul(inner, d), a.number(8 * c));
      return a.sub(a.mul(inner, d), a.number(4 * c));
    };
    Value one = a.number(1.0);
    Value rest = a.sub(one, t);
    return {far(a.add(t, one)), near(t), near(rest), far(a.add(rest, one))};
  }

  /// The input offset and the weight (none: 1) of a combination of taps of the dims processed so
  /// far.
  struct Source {
    Value offset, weight;
  };

  void walk(ArrayRef<Range> ranges, size_t dim, Value to, ArrayRef<Source> sources) {
    if (dim + 1 == outShape.size())
      return lastIsRepeated  ? repeatedRow(ranges[dim], to, sources[0].offset)
             : lastIsResized ? resizedRow(ranges[dim], to, sources)
                             : copiedRow(ranges[dim], to, sources);
    forEach(b, ranges[dim], [&](Value i) {
      Value next = b.mulAdd(i, outStrides[dim], to);
      SmallVector<Source> moved;
      if (!isResized(dim)) {
        for (const Source &source : sources)
          moved.push_back({b.mulAdd(i, inStrides[dim], source.offset), source.weight});
        return walk(ranges, dim + 1, next, moved);
      }
      if (int64_t repetition = kernel::repetitionOf(op, dim)) {
        Value position = arith::DivUIOp::create(b, i, b.index(repetition));
        moved.push_back({b.mulAdd(position, inStrides[dim], sources[0].offset), Value()});
        return walk(ranges, dim + 1, next, moved);
      }
      Arithmetic a{b, 1};
      Taps taps = tapsOf(a, arith::IndexCastOp::create(b, b.getI32Type(), i), dim);
      for (const Source &source : sources)
        for (auto [position, weight] : llvm::zip(taps.positions, taps.weights)) {
          Value offset = arith::IndexCastOp::create(b, b.getIndexType(), position);
          moved.push_back(
              {b.mulAdd(offset, inStrides[dim], source.offset), product(a, source.weight, weight)});
        }
      walk(ranges, dim + 1, next, moved);
    });
  }

  Value product(Arithmetic a, Value x, Value y) {
    if (!x || !y)
      return x ? x : y;
    return a.mul(x, y);
  }

  /// Returns the weighted sum of values; weights are as wide as the values.
  Value weightedSum(ArrayRef<Value> values, ArrayRef<Value> weights) {
    Value sum;
    for (auto [value, weight] : llvm::zip(values, weights)) {
      Value term = widen(b, value);
      Value factor = weight;
      if (factor.getType() != term.getType()) // f64
        factor = arith::ExtFOp::create(b, term.getType(), factor);
      sum = sum ? b.madd(term, factor, sum) : arith::MulFOp::create(b, term, factor).getResult();
    }
    return sum;
  }

  void storeRow(Value value, Value to, Value i, int64_t count) {
    output.store(value, b.mulAdd(i, outStrides.back(), to), count, outStrides.back());
  }

  /// Computes a row where the last dim is not resized: weights are the same for all lanes.
  void copiedRow(const Range &row, Value to, ArrayRef<Source> sources) {
    SmallVector<Value> weights;
    for (const Source &source : sources)
      weights.push_back(source.weight ? spread(b, source.weight, lanes.width) : Value());
    forEachVectors(b, row, lanes, [&](Value first, ArrayRef<int64_t> counts) {
      for (auto [v, count] : llvm::enumerate(counts)) {
        Value i = b.add(first, v * lanes.width);
        SmallVector<Value> values;
        for (const Source &source : sources)
          values.push_back(input.load(b.mulAdd(i, inStrides.back(), source.offset), lanes.width,
                                      count, inStrides.back()));
        Value result =
            isCopy() ? values.front() : narrow(b, weightedSum(values, weights), output.element());
        storeRow(result, to, i, count);
      }
    });
  }

  /// Computes a row where every element is repeated.
  void repeatedRow(const Range &row, Value to, Value from) {
    forEachVectors(b, row, lanes, [&](Value first, ArrayRef<int64_t> counts) {
      int64_t total = std::accumulate(counts.begin(), counts.end(), int64_t(0));
      Value position = arith::DivUIOp::create(b, first, b.index(lanes.unroll));
      Value once = input.load(b.add(from, position), lanes.width, total / lanes.unroll);
      SmallVector<Value> repeated = interleave(b, SmallVector<Value>(lanes.unroll, once));
      for (auto [v, count] : llvm::enumerate(counts))
        storeRow(repeated[v], to, b.add(first, v * lanes.width), count);
    });
  }

  /// The last dim is resized: every lane has positions and weights of its own.
  void resizedRow(const Range &row, Value to, ArrayRef<Source> sources) {
    size_t dim = outShape.size() - 1;
    Arithmetic a{b, lanes.width};
    SmallVector<int32_t> numbers;
    for (int64_t i = 0; i < lanes.width; ++i)
      numbers.push_back(i);
    Value laneNumbers = arith::ConstantOp::create(b, b.getI32VectorAttr(numbers));

    forEachVectors(b, row, lanes, [&](Value first, ArrayRef<int64_t> counts) {
      Value start = arith::IndexCastOp::create(b, b.getI32Type(), first);
      Value i = arith::AddIOp::create(b, spread(b, start, lanes.width), laneNumbers);
      Taps taps = tapsOf(a, i, dim);
      SmallVector<Value> values, weights;
      if (permutes()) {
        permutedTaps(taps, sources, values, weights);
        storeRow(narrow(b, weightedSum(values, weights), output.element()), to, first, counts[0]);
        return;
      }
      for (auto [position, weight] : llvm::zip(taps.positions, taps.weights)) {
        auto addWeight = [&, weight = weight](const Source &source) {
          Value outer = source.weight ? spread(b, source.weight, lanes.width) : Value();
          weights.push_back(product(a, outer, weight));
        };
        if (input.hasGathers() && inShape[dim] * inStrides[dim] <= INT32_MAX) {
          Value offsets =
              arith::MulIOp::create(b, position, a.integer(inStrides[dim])); // all exist
          for (const Source &source : sources) {
            values.push_back(input.gather(source.offset, offsets));
            addWeight(source);
          }
          continue;
        }
        SmallVector<Value> offsets;
        for (int64_t lane = 0; lane < counts[0]; ++lane) {
          Value offset = laneOf(b, position, lane);
          offset = arith::IndexCastOp::create(b, b.getIndexType(), offset);
          offsets.push_back(b.mul(offset, inStrides[dim]));
        }
        for (const Source &source : sources) {
          SmallVector<Value> at;
          for (Value offset : offsets)
            at.push_back(b.add(source.offset, offset));
          values.push_back(input.gather(at, lanes.width));
          addWeight(source);
        }
      }
      Value result =
          isCopy() ? values.front() : narrow(b, weightedSum(values, weights), output.element());
      storeRow(result, to, first, counts[0]);
    });
  }

  /// Returns whether all elements that the lanes of a vector read lie in one vector of the input,
  /// so that a permutation finds them: where the last dim becomes larger.
  bool permutes() {
    const size_t dim = outShape.size() - 1;
    if (isCopy() || inStrides[dim] != 1 || !element.isF32() || permutation().empty())
      return false;
    const double step = op.getCoordinates() == CoordinateMode::AlignCorners
                            ? double(inShape[dim] - 1) / std::max<int64_t>(outShape[dim] - 1, 1)
                            : 1 / std::abs(op.getScales()[dim]);
    // Positions are rounded, by f32 and to integers.
    const double reach = std::ceil(double(lanes.width - 1) * step) + double(tapsOfMode()) + 1;
    return reach <= double(lanes.width);
  }

  /// Returns the instruction that permutes a vector of floats by one of indices; empty: none.
  StringRef permutation() {
    if (b.level().getDot().empty())
      return "";
    return lanes.width == 16  ? "llvm.x86.avx512.permvar.sf.512"
           : lanes.width == 8 ? "llvm.x86.avx2.permps"
                              : "";
  }

  /// Adds the values and weights of all taps of the last dim.
  void permutedTaps(const Taps &taps, ArrayRef<Source> sources, SmallVector<Value> &values,
                    SmallVector<Value> &weights) {
    const int64_t width = lanes.width, size = inShape.back(), count = std::min(width, size);
    // Positions grow from lane to lane and from tap to tap.
    Value base = laneOf(b, taps.positions.front(), 0);
    base =
        arith::MinSIOp::create(b, base, laneConstant(b, b.getI32Type(), 1, double(size - count)));
    Value from = arith::IndexCastOp::create(b, b.getIndexType(), base),
          bases = spread(b, base, width);
    // The rows of other dims are added up before they are permuted.
    SmallVector<Value> rows, outer;
    for (const Source &source : sources) {
      rows.push_back(widen(b, input.load(b.add(source.offset, from), width, count)));
      outer.push_back(source.weight ? spread(b, source.weight, width) : Value());
    }
    Value row = outer.front() ? weightedSum(rows, outer) : rows.front();
    for (auto [position, weight] : llvm::zip(taps.positions, taps.weights)) {
      Value lane = arith::SubIOp::create(b, position, bases);
      values.push_back(LLVM::CallIntrinsicOp::create(
                           b, row.getType(), b.getStringAttr(permutation()), ValueRange{row, lane})
                           .getResult(0));
      weights.push_back(weight);
    }
  }

  /// Elements are moved as they are.
  bool isCopy() { return tapCount == 1; }

  KernelBuilder b;
  ResizeOp op;
  ArrayRef<int64_t> inShape, outShape;
  SmallVector<int64_t> inStrides, outStrides;
  LaneBuffer input, output;
  Type element;
  bool lastIsResized = false, lastIsRepeated = false;
  /// Elements of the input that make one of the output.
  int64_t tapCount = 1;
  Lanes lanes;
};

/// Gathers rows of one element each: the places of a vector of them are computed together.
void gatherSingles(GatherOp op) {
  KernelBuilder b(op);
  LaneBuffer input(b, op.getInput()), indices(b, op.getIndices()), output(b, op.getOutput());
  SmallVector<int64_t> in = stridesOf(op.getInput()), out = stridesOf(op.getOutput());
  const int64_t indexStride = stridesOf(op.getIndices())[0], size = shapeOf(op.getInput())[1];
  const Lanes lanes{b.level().getLanes(), 1};
  Type wide = b.getI64Type();
  auto constant = [&](int64_t value) { return laneConstant(b, wide, lanes.width, double(value)); };

  SmallVector<Range> ranges = beginTasks(b, shapeOf(op.getOutput()).take_front(2),
                                         2 * output.bytes(), SmallVector<int64_t>{1, lanes.width});
  forEach(b, ranges[0], [&](Value a) {
    forEachVectors(b, ranges[1], lanes, [&](Value first, ArrayRef<int64_t> counts) {
      const int64_t count = counts.front();
      Value index = indices.load(b.mul(first, indexStride), lanes.width, count, indexStride);
      if (indices.element() != wide)
        index = arith::ExtSIOp::create(b, laneType(wide, lanes.width), index);
      // A negative index counts from the end.
      Value isBelow = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, index, constant(0));
      Value wrapped = arith::AddIOp::create(b, index, constant(size));
      index = arith::SelectOp::create(b, isBelow, wrapped, index);
      index = arith::MaxSIOp::create(b, index, constant(0));
      index = arith::MinSIOp::create(b, index, constant(size - 1));
      Value from = b.mul(a, in[0]), to = b.mulAdd(first, out[1], b.mul(a, out[0]));
      if (input.hasGathers() && size * in[1] <= INT32_MAX) {
        Type narrow = laneType(b.getI32Type(), lanes.width);
        Value rows = arith::TruncIOp::create(b, narrow, index);
        Value step = laneConstant(b, b.getI32Type(), lanes.width, double(in[1]));
        output.store(input.gather(from, arith::MulIOp::create(b, rows, step)), to, count, out[1]);
        return;
      }
      SmallVector<Value> places;
      for (int64_t lane = 0; lane < count; ++lane) {
        Value row = arith::IndexCastOp::create(b, b.getIndexType(), laneOf(b, index, lane));
        places.push_back(b.mulAdd(row, in[1], from));
      }
      output.store(input.gather(places, lanes.width), to, count, out[1]);
    });
  });
  op.erase();
}

void expandGather(GatherOp op) {
  if (shapeOf(op.getOutput())[2] == 1)
    return gatherSingles(op);
  KernelBuilder b(op);
  LaneBuffer input(b, op.getInput()), indices(b, op.getIndices()), output(b, op.getOutput());
  SmallVector<int64_t> in = stridesOf(op.getInput()), out = stridesOf(op.getOutput());
  int64_t indexStride = stridesOf(op.getIndices())[0];
  ArrayRef<int64_t> shape = shapeOf(op.getOutput());
  int64_t size = shapeOf(op.getInput())[1];
  int64_t width = std::max<int64_t>(1, b.level().getLanes() * 4 / output.bytes());
  Lanes lanes{width, std::clamp<int64_t>(shape[2] / width, 1, 4)};
  if (out[2] != 1)
    lanes = {1, 1};

  SmallVector<Range> ranges =
      beginTasks(b, shape, 2 * output.bytes(), SmallVector<int64_t>{1, 1, lanes.group()});
  forEach(b, ranges[0], [&](Value a) {
    forEach(b, ranges[1], [&](Value i) {
      // A negative index counts from the end.
      Value index = indices.load(b.mul(i, indexStride), 1);
      index = arith::IndexCastOp::create(b, b.getIndexType(), index);
      Value isBelow = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, index, b.index(0));
      index = arith::SelectOp::create(b, isBelow, b.add(index, size), index);
      index = arith::MaxSIOp::create(b, index, b.index(0));
      index = arith::MinSIOp::create(b, index, b.index(size - 1));

      Value from = b.mulAdd(a, in[0], b.mul(index, in[1]));
      Value to = b.mulAdd(a, out[0], b.mul(i, out[1]));
      forEachVectors(b, ranges[2], lanes, [&](Value first, ArrayRef<int64_t> counts) {
        SmallVector<Value> values;
        for (auto [v, count] : llvm::enumerate(counts))
          values.push_back(input.load(b.mulAdd(b.add(first, v * width), in[2], from), lanes.width,
                                      count, in[2]));
        for (auto [v, count] : llvm::enumerate(counts))
          output.store(values[v], b.mulAdd(b.add(first, v * width), out[2], to), count, out[2]);
      });
    });
  });
  op.erase();
}

struct CpuExpandResizePass : impl::CpuExpandResizeBase<CpuExpandResizePass> {
  void runOnOperation() override {
    WalkResult result = getOperation().walk([](Operation *op) {
      if (auto gather = dyn_cast<GatherOp>(op)) {
        expandGather(gather);
      } else if (auto scatter = dyn_cast<ScatterAddOp>(op)) {
        expandScatterAdd(scatter);
      } else if (auto resize = dyn_cast<ResizeOp>(op)) {
        if (resize.getMode() != ResizeMode::Nearest &&
            !isa<FloatType>(elementOf(resize.getInput()))) {
          op->emitOpError() << "interpolates floats only, but the input is "
                            << resize.getInput().getType();
          return WalkResult::interrupt();
        }
        ResizeExpander(resize).expand();
        op->erase();
      }
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }
};

} // namespace
} // namespace atc::cpu
