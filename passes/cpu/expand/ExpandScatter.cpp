//===-- ExpandScatter.cpp - kernel.scatter_add as loops -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/cpu/expand/ExpandScatter.h"

#include "passes/cpu/tiles/LaneBuffer.h"
#include "passes/cpu/tiles/LoopNest.h"

using namespace mlir;

namespace atc::cpu {

void expandScatterAdd(ScatterAddOp op) {
  KernelBuilder b(op);
  LaneBuffer updates(b, op.getUpdates()), indices(b, op.getIndices()), output(b, op.getOutput());
  SmallVector<int64_t> from = stridesOf(op.getUpdates()), out = stridesOf(op.getOutput());
  const int64_t indexStride = stridesOf(op.getIndices())[0];
  ArrayRef<int64_t> shape = shapeOf(op.getOutput());
  const int64_t rows = shape[1], count = shapeOf(op.getUpdates())[1];
  const Type element = output.element();
  const int64_t width = std::max<int64_t>(1, b.level().getLanes() * 4 / output.bytes());
  Lanes lanes{width, std::clamp<int64_t>(shape[2] / width, 1, 4)};
  if (shape[2] == 1 || out[2] != 1)
    lanes = {1, 1};

  // Tasks have columns of their own: the rows that an index selects may be any.
  SmallVector<Range> ranges =
      beginTasks(b, {shape[0], shape[2]}, (rows + 3 * count) * output.bytes(),
                 SmallVector<int64_t>{1, lanes.group()});
  forEach(b, ranges[0], [&](Value a) {
    forEachVectors(b, ranges[1], lanes, [&](Value first, ArrayRef<int64_t> counts) {
      auto columns = [&](Value base, int64_t v, int64_t stride) {
        return b.mulAdd(b.add(first, v * lanes.width), stride, base);
      };
      forEach(b, Range{rows}, [&](Value row) {
        Value to = b.mulAdd(a, out[0], b.mul(row, out[1]));
        for (auto [v, lanesUsed] : llvm::enumerate(counts))
          output.store(laneConstant(b, element, lanes.width, 0), columns(to, v, out[2]), lanesUsed,
                       out[2]);
      });
      forEach(b, Range{count}, [&](Value i) {
        // A negative index counts from the end.
        Value index = indices.load(b.mul(i, indexStride), 1);
        index = arith::IndexCastOp::create(b, b.getIndexType(), index);
        Value isBelow = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, index, b.index(0));
        index = arith::SelectOp::create(b, isBelow, b.add(index, rows), index);
        index = arith::MaxSIOp::create(b, index, b.index(0));
        index = arith::MinSIOp::create(b, index, b.index(rows - 1));
        Value source = b.mulAdd(a, from[0], b.mul(i, from[1]));
        Value to = b.mulAdd(a, out[0], b.mul(index, out[1]));
        for (auto [v, lanesUsed] : llvm::enumerate(counts)) {
          Value at = columns(to, v, out[2]);
          Value before = widen(b, output.load(at, lanes.width, lanesUsed, out[2]));
          Value update =
              widen(b, updates.load(columns(source, v, from[2]), lanes.width, lanesUsed, from[2]));
          Value sum = arith::AddFOp::create(b, before, update);
          output.store(narrow(b, sum, element), at, lanesUsed, out[2]);
        }
      });
    });
  });
  op.erase();
}

} // namespace atc::cpu
