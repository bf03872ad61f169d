//===-- ExpandCumulativeSum.cpp - kernel.cumulative_sum as loops ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where the summed dim is contiguous, the elements of a vector are added to each other in as many
// steps as its width has bits, and only the sum of all of them is carried to the next one: a chain
// of single additions would take the latency of one per element. Otherwise a vector holds as many
// lanes of sums as it has elements.
//
//===----------------------------------------------------------------------===//

#include "passes/cpu/expand/Reductions.h"

using namespace mlir;

namespace atc::cpu {

namespace {

class CumulativeSumExpander {
public:
  explicit CumulativeSumExpander(CumulativeSumOp op)
      : op(op), b(op), spaces(op.getInput(), op.getOutput(), {static_cast<int64_t>(op.getAxis())}),
        input(b, op.getInput()), output(b, op.getOutput()), element(computeType(input.element())),
        lanes(b.level().getLanes()), size(shapeOf(op.getInput())[op.getAxis()]),
        inStep(stridesOf(op.getInput())[op.getAxis()]),
        outStep(stridesOf(op.getOutput())[op.getAxis()]) {}

  void expand() {
    const bool alongRow = inStep == 1 && outStep == 1 && size > 1;
    constexpr int64_t sumsWanted = 4;
    Lanes kept{1, 1};
    if (!alongRow) {
      kept.width = lanes;
      kept.unroll = std::clamp<int64_t>(spaces.kept.sizes.back() / lanes, 1, sumsWanted);
    }
    const int64_t bytes = size * (input.bytes() + output.bytes());
    const int64_t inStride = spaces.kept.strides[0].back(),
                  outStride = spaces.kept.strides[1].back();
    forEachRow(b, spaces.kept, bytes, kept, [&](ArrayRef<Value> at, const Range &row) {
      forEachVectors(b, row, kept, [&](Value first, ArrayRef<int64_t> counts) {
        Value from = b.mulAdd(first, inStride, at[0]), to = b.mulAdd(first, outStride, at[1]);
        if (alongRow)
          sumRow(from, to);
        else
          sumLanes(from, to, inStride, outStride, counts);
      });
    });
    op.erase();
  }

private:
  Value zeros(Type type, int64_t width) { return laneConstant(b, type, width, 0.0); }

  /// Sums some vectors of lanes next to each other.
  void sumLanes(Value from, Value to, int64_t inStride, int64_t outStride,
                ArrayRef<int64_t> counts) {
    const int64_t last = op.getReverse() ? size - 1 : 0, sign = op.getReverse() ? -1 : 1;
    SmallVector<Value> none(counts.size(), zeros(element, lanes));
    b.loop(size, none, [&](Value i, ValueRange carried) {
      Value source = b.mulAdd(i, sign * inStep, b.add(from, last * inStep));
      Value target = b.mulAdd(i, sign * outStep, b.add(to, last * outStep));
      SmallVector<Value> sums(carried);
      for (auto [v, count] : llvm::enumerate(counts)) {
        Value x = input.load(b.add(source, v * lanes * inStride), lanes, count, inStride);
        sums[v] = combine(b, Combiner::Sum, sums[v], widen(b, x));
        output.store(narrow(b, op.getExclusive() ? carried[v] : sums[v], output.element()),
                     b.add(target, v * lanes * outStride), count, outStride);
      }
      return sums;
    });
  }

  /// Returns the vector with lanes moved by `by` to the end, or with `reverse` to the beginning;
  /// those that are free come from `fill`.
  Value moved(Value x, int64_t by, Value fill) {
    SmallVector<int64_t> mask;
    for (int64_t l = 0; l < lanes; ++l) {
      const int64_t source = op.getReverse() ? l + by : l - by;
      mask.push_back(source >= 0 && source < lanes ? source : lanes);
    }
    return vector::ShuffleOp::create(b, x, fill, mask);
  }

  /// Sums a row of contiguous elements, from its end with `reverse`.
  void sumRow(Value from, Value to) {
    if (lanes == 1)
      return sumLanes(from, to, 1, 1, {1});
    Value none = zeros(element, lanes), pad = zeros(input.element(), lanes);
    forEachVectors(
        b, size, Lanes{lanes, 1}, {none},
        [&](Value i, ArrayRef<int64_t> counts, ValueRange carried) -> SmallVector<Value> {
          const int64_t count = counts.front();
          Value place = op.getReverse() ? b.mulAdd(i, -1, b.index(size - count)) : i;
          Value sums = widen(b, input.load(b.add(from, place), lanes, count, 1, pad));
          for (int64_t by = 1; by < lanes; by *= 2)
            sums = combine(b, Combiner::Sum, sums, moved(sums, by, none));
          Value all = laneOf(b, sums, op.getReverse() ? 0 : lanes - 1);
          Value next = combine(b, Combiner::Sum, carried.front(), spread(b, all, lanes));
          sums = combine(b, Combiner::Sum, carried.front(), sums);
          if (op.getExclusive())
            sums = moved(sums, 1, carried.front());
          output.store(narrow(b, sums, output.element()), b.add(to, place), count);
          return {next};
        });
  }

  CumulativeSumOp op;
  KernelBuilder b;
  ReductionSpaces spaces;
  LaneBuffer input, output;
  Type element;
  int64_t lanes, size, inStep, outStep;
};

} // namespace

void expandCumulativeSum(CumulativeSumOp op) { CumulativeSumExpander(op).expand(); }

} // namespace atc::cpu
