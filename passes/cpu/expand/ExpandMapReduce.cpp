//===-- ExpandMapReduce.cpp - cpu.map_reduce as loops ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Vectors are along the dim in which the largest input is contiguous, as for kernel.reduce. What
// does not vary along the reduced dims is loaded once in front of their loops.
//
//===----------------------------------------------------------------------===//

#include "dialects/cpu/Reduction.h"
#include "passes/cpu/ReductionPasses.h"
#include "passes/cpu/expand/Reductions.h"
#include "passes/cpu/tiles/BodyCloner.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace atc::cpu {
#define GEN_PASS_DEF_CPUEXPANDMAPREDUCE
#include "passes/cpu/ReductionPasses.h.inc"

namespace {

/// Accumulators that are kept in registers beside the operands of the body.
constexpr int64_t kMaxAccumulators = 12;
/// Independent sums that hide the latency of an addition.
constexpr int64_t kWantedSums = 4;

class MapReduceExpander {
public:
  explicit MapReduceExpander(MapReduceOp op);
  void expand();

private:
  using Values = SmallVector<Value>;

  Values accumulate(ArrayRef<Value> from, ArrayRef<int64_t> counts);
  Values loadFixed(ArrayRef<Value> from, ArrayRef<int64_t> counts);
  Value finish(Value sum);

  MapReduceOp op;
  KernelBuilder b;
  BodyCloner body;
  SmallVector<LaneBuffer> inputs;
  LaneBuffer output;
  int64_t results, resultStride; ///< values of the body, and their distance in the output
  Space kept,
      reduced; ///< the buffers of `kept` are the inputs and the output, of `reduced` the inputs
  bool alongReduced;
  int64_t lanes, count = 1;
};

MapReduceExpander::MapReduceExpander(MapReduceOp op)
    : op(op), b(op), body(b, op.getBody().front()), output(b, op.getOutput()),
      results(shapeOf(op.getOutput())[0]), resultStride(stridesOf(op.getOutput())[0]) {
  const SmallVector<int64_t> shape = op.iterationShape(), to = stridesOf(op.getOutput());
  Space all(shape, op.getInputs());
  unsigned largest = 0;
  for (auto [index, input] : llvm::enumerate(op.getInputs())) {
    inputs.emplace_back(b, input);
    if (ShapedType::getNumElements(shapeOf(input)) >
        ShapedType::getNumElements(shapeOf(op.getInputs()[largest])))
      largest = index;
  }
  for (size_t dim = 0; dim < shape.size(); ++dim) {
    SmallVector<int64_t> strides;
    for (const SmallVector<int64_t> &own : all.strides)
      strides.push_back(own[dim]);
    if (llvm::is_contained(op.getAxes(), int64_t(dim))) {
      reduced.addDim(shape[dim], strides);
      count *= shape[dim];
    } else {
      strides.push_back(to[dim + 1]);
      kept.addDim(shape[dim], strides);
    }
  }
  if (kept.rank() == 0)
    kept.addDim(1, SmallVector<int64_t>(inputs.size() + 1, 0));
  if (reduced.rank() == 0)
    reduced.addDim(1, SmallVector<int64_t>(inputs.size(), 0));
  kept.normalize(largest);
  reduced.normalize(largest);
  alongReduced = reduced.strides[largest].back() == 1 && reduced.sizes.back() > 1;
  lanes = body.canVectorize() ? b.level().getLanes() : 1;
}

void MapReduceExpander::expand() {
  Lanes steps{1, 1};
  if (!alongReduced) {
    const int64_t max = std::clamp<int64_t>(kMaxAccumulators / results, 1, kWantedSums);
    steps = {lanes, std::clamp<int64_t>(kept.sizes.back() / lanes, 1, max)};
  }
  int64_t bytes = 0;
  for (const LaneBuffer &input : inputs)
    bytes += input.bytes();
  bytes = (bytes + body.costInBytes()) * count;
  forEachRow(b, kept, bytes, steps, [&](ArrayRef<Value> at, const Range &row) {
    forEachVectors(b, row, steps, [&](Value first, ArrayRef<int64_t> counts) {
      const Values from = advance(b, kept, kept.rank() - 1, first, at);
      const int64_t stride = kept.strides.back().back();
      const Values sums = accumulate(ArrayRef(from).drop_back(), counts);
      for (int64_t r = 0; r < results; ++r)
        for (auto [v, valid] : llvm::enumerate(counts))
          output.store(finish(sums[r * counts.size() + v]),
                       b.add(from.back(), r * resultStride + v * steps.width * stride), valid,
                       stride);
    });
  });
  op.erase();
}

/// Returns a value per input and vector of a group: what does not vary along the reduced dims, null
/// for the others.
MapReduceExpander::Values MapReduceExpander::loadFixed(ArrayRef<Value> from,
                                                       ArrayRef<int64_t> counts) {
  Values fixed(inputs.size() * counts.size());
  for (auto [k, input] : llvm::enumerate(inputs)) {
    if (llvm::any_of(reduced.strides[k], [](int64_t stride) { return stride != 0; }))
      continue;
    const int64_t stride = alongReduced ? 0 : kept.strides[k].back();
    for (auto [v, valid] : llvm::enumerate(counts))
      fixed[k * counts.size() + v] = input.load(b.add(from[k], v * lanes * stride), lanes,
                                                alongReduced ? lanes : valid, stride);
  }
  return fixed;
}

/// Returns the sums at the kept positions from `from` on, a value per result and vector.
MapReduceExpander::Values MapReduceExpander::accumulate(ArrayRef<Value> from,
                                                        ArrayRef<int64_t> counts) {
  const int64_t group = counts.size();
  Space outer = reduced;
  Space inner = outer.takeDim(outer.rank() - 1);
  const int64_t size = inner.sizes[0];
  const int64_t steps =
      std::clamp<int64_t>(kMaxAccumulators / (results * group), 1,
                          alongReduced ? kWantedSums : std::max<int64_t>(1, kWantedSums / group));
  const int64_t positions = std::clamp<int64_t>(alongReduced ? size / lanes : size, 1, steps);
  const Lanes walk{alongReduced ? lanes : 1, positions};
  const Values fixed = loadFixed(from, counts);
  Value zero = laneConstant(b, b.getF32Type(), lanes, 0);

  auto addPosition = [&](ArrayRef<Value> at, int64_t valid, MutableArrayRef<Value> sums) {
    for (int64_t v = 0; v < group; ++v) {
      Values arguments;
      for (auto [k, input] : llvm::enumerate(inputs)) {
        Value known = fixed[k * group + v];
        const int64_t stride = alongReduced ? inner.strides[k][0] : kept.strides[k].back();
        arguments.push_back(known ? known
                                  : input.load(b.add(at[k], v * lanes * stride), lanes,
                                               alongReduced ? valid : counts[v], stride));
      }
      for (auto [r, value] : llvm::enumerate(body.cloneAll(arguments, lanes))) {
        // The lanes past the end of a row must not change the sum.
        if (alongReduced && valid < lanes) {
          auto type = VectorType::get({lanes}, b.getI1Type());
          Value mask = vector::ConstantMaskOp::create(b, type, ArrayRef<int64_t>{valid});
          value = arith::SelectOp::create(b, mask, value, zero);
        }
        Value &sum = sums[r * group + v];
        sum = arith::AddFOp::create(b, sum, value);
      }
    }
  };
  const int64_t perPosition = results * group;
  Values sums = forEachPosition(
      b, outer, from, Values(positions * perPosition, zero),
      [&](ArrayRef<Value> at, ValueRange carried) {
        return forEachVectors(
            b, size, walk, carried, [&](Value i, ArrayRef<int64_t> taken, ValueRange values) {
              Values acc(values);
              for (auto [p, valid] : llvm::enumerate(taken)) {
                Values moved;
                for (auto [k, base] : llvm::enumerate(at)) {
                  const int64_t step = inner.strides[k][0];
                  moved.push_back(b.add(b.mulAdd(i, step, base), p * walk.width * step));
                }
                addPosition(moved, valid, MutableArrayRef(acc).slice(p * perPosition, perPosition));
              }
              return acc;
            });
      });
  for (int64_t p = 1; p < positions; ++p)
    for (int64_t i = 0; i < perPosition; ++i)
      sums[i] = arith::AddFOp::create(b, sums[i], sums[p * perPosition + i]);
  sums.resize(perPosition);
  if (alongReduced)
    for (Value &sum : sums)
      sum = combineLanes(b, Combiner::Sum, sum);
  return sums;
}

Value MapReduceExpander::finish(Value sum) {
  if (!op.getMean())
    return sum;
  Value share = laneConstant(b, b.getF32Type(), widthOf(sum), 1.0 / static_cast<double>(count));
  return arith::MulFOp::create(b, sum, share);
}

struct CpuExpandMapReducePass : impl::CpuExpandMapReduceBase<CpuExpandMapReducePass> {
  void runOnOperation() override {
    getOperation().walk([](MapReduceOp op) { MapReduceExpander(op).expand(); });
  }
};

} // namespace
} // namespace atc::cpu
