//===-- FillAndPad.cpp - kernel.fill and kernel.pad as loops --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "passes/cpu/expand/DataMovement.h"

using namespace mlir;

namespace atc::cpu {

//===----------------------------------------------------------------------===//
// kernel.fill
//===----------------------------------------------------------------------===//

namespace {

Lanes lanesOf(KernelBuilder &b, const LaneBuffer &buffer, const Space &space, unsigned key) {
  if (space.strides[key].back() != 1)
    return {};
  int64_t width = std::max<int64_t>(1, b.level().getLanes() * 4 / buffer.bytes());
  return {width, std::clamp<int64_t>(space.sizes.back() / width, 1, 4)};
}

/// Fills a row with one value.
void fillRow(KernelBuilder &b, LaneBuffer &output, Value value, const Range &row, Lanes lanes,
             Value at, int64_t stride) {
  forEachVectors(b, row, lanes, [&](Value first, ArrayRef<int64_t> counts) {
    for (auto [v, count] : llvm::enumerate(counts))
      output.store(value, b.add(b.mulAdd(first, stride, at), v * lanes.width * stride), count);
  });
}

void fillSpace(KernelBuilder &b, LaneBuffer &output, Value number, Space space, Value start) {
  if (space.volume() == 0)
    return;
  space.normalize(0);
  Lanes lanes = lanesOf(b, output, space, 0);
  Value value = spread(b, number, lanes.width);
  SmallVector<Range> ranges;
  for (int64_t size : space.sizes)
    ranges.push_back({size});
  forEachRow(b, space, ranges, {start}, [&](ArrayRef<Value> at, const Range &row) {
    fillRow(b, output, value, row, lanes, at[0], space.strides[0].back());
  });
}

/// Rows above and below of every plane, columns left and right of the rest.
void fillBorder(KernelBuilder &b, LaneBuffer &output, Value number, const Space &space,
                ArrayRef<int64_t> border) {
  auto [top, left, bottom, right] = std::tuple(border[0], border[1], border[2], border[3]);
  int64_t rows = space.sizes[2], columns = space.sizes[3];
  int64_t rowStride = space.strides[0][2], columnStride = space.strides[0][3];

  auto part = [&](int64_t partRows, int64_t partColumns) {
    Space result;
    result.addDim(partRows, {rowStride});
    result.addDim(partColumns, {columnStride});
    for (size_t d = 4; d < space.rank(); ++d)
      result.addDim(space.sizes[d], {space.strides[0][d]});
    return result;
  };
  Space planes;
  planes.addDim(space.sizes[0], {space.strides[0][0]});
  planes.addDim(space.sizes[1], {space.strides[0][1]});
  planes.normalize(0);

  int64_t inside = part(1, 1).volume();
  int64_t filled = rows * columns - (rows - top - bottom) * (columns - left - right);
  SmallVector<Range> ranges = beginTasks(b, planes.sizes, filled * inside * output.bytes());
  forEachRow(b, planes, ranges, {b.index(0)}, [&](ArrayRef<Value> at, const Range &row) {
    forEach(b, row, [&](Value i) {
      Value plane = advance(b, planes, planes.rank() - 1, i, at)[0];
      auto fill = [&](int64_t row, int64_t column, int64_t partRows, int64_t partColumns) {
        fillSpace(b, output, number, part(partRows, partColumns),
                  b.add(plane, row * rowStride + column * columnStride));
      };
      fill(0, 0, top, columns);
      fill(rows - bottom, 0, bottom, columns);
      fill(top, 0, rows - top - bottom, left);
      fill(top, columns - right, rows - top - bottom, right);
    });
  });
}

} // namespace

void expandFill(FillOp op) {
  KernelBuilder b(op);
  LaneBuffer output(b, op.getOutput());
  Value number = laneConstant(b, output.element(), 1, op.getValue().convertToDouble());
  Space space(shapeOf(op.getOutput()), {op.getOutput()});
  if (op.getBorder()) {
    fillBorder(b, output, number, space, *op.getBorder());
    return op.erase();
  }
  space.normalize(0);
  Lanes lanes = lanesOf(b, output, space, 0);
  Value value = spread(b, number, lanes.width);
  forEachRow(b, space, output.bytes(), lanes, [&](ArrayRef<Value> at, const Range &row) {
    fillRow(b, output, value, row, lanes, at[0], space.strides[0].back());
  });
  op.erase();
}

//===----------------------------------------------------------------------===//
// kernel.pad
//===----------------------------------------------------------------------===//

namespace {

/// The position of the input that position `i` of the output shows along a dim of `size` elements
/// that became `padded`, with `low` ones in front.
Value sourceIndex(KernelBuilder &b, Value i, int64_t size, int64_t low, int64_t padded,
                  graph::PadMode mode) {
  Value position = arith::SubIOp::create(b, i, b.index(low));
  const int64_t high = padded - size - low;
  auto remainder = [&](int64_t period) -> Value {
    Value signedRest = arith::RemSIOp::create(b, position, b.index(period));
    Value isBelow = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, signedRest, b.index(0));
    return arith::SelectOp::create(b, isBelow, b.add(signedRest, period), signedRest);
  };
  switch (mode) {
  case graph::PadMode::Wrap:
    return remainder(size);
  case graph::PadMode::Reflect: {
    if (size == 1)
      return b.index(0);
    // Reflects without repeating the ends. Models reflect once as a rule: without a division.
    const int64_t period = 2 * (size - 1);
    Value rest;
    if (low < size && high < size) {
      Value opposite = arith::SubIOp::create(b, b.index(0), position);
      rest = arith::MaxSIOp::create(b, position, opposite);
    } else {
      rest = remainder(period);
    }
    Value back = arith::SubIOp::create(b, b.index(period), rest);
    return arith::MinUIOp::create(b, rest, back);
  }
  default: {
    Value notBelow = arith::MaxSIOp::create(b, position, b.index(0));
    return arith::MinSIOp::create(b, notBelow, b.index(size - 1));
  }
  }
}

class Padder {
public:
  explicit Padder(PadOp op)
      : b(op), mode(op.getMode()), low(op.getLow()), inShape(shapeOf(op.getInput())),
        outShape(shapeOf(op.getOutput())), inStrides(stridesOf(op.getInput())),
        outStrides(stridesOf(op.getOutput())), input(b, op.getInput()), output(b, op.getOutput()) {}

  void expand() {
    // Dims behind the last padded one are copied unchanged.
    rank = outShape.size();
    while (rank > 0 && low[rank - 1] == 0 && inShape[rank - 1] == outShape[rank - 1])
      --rank;
    inner.addDim(1, {1, 1});
    for (size_t d = rank; d < outShape.size(); ++d)
      inner.addDim(outShape[d], {inStrides[d], outStrides[d]});
    inner.normalize(1);
    if (inner.volume() > 1 && inner.strides[0].back() == 1 && inner.strides[1].back() == 1)
      lanes = lanesOf(b, output, inner, 1);

    SmallVector<Range> ranges =
        beginTasks(b, outShape.take_front(rank), 2 * inner.volume() * output.bytes());
    walk(ranges, 0, b.index(0), b.index(0));
  }

private:
  void walk(ArrayRef<Range> ranges, size_t dim, Value from, Value to) {
    if (dim == rank)
      return copyInner(from, to);
    auto visit = [&](Value i) {
      Value source = sourceIndex(b, i, inShape[dim], low[dim], outShape[dim], mode);
      walk(ranges, dim + 1, b.mulAdd(source, inStrides[dim], from),
           b.mulAdd(i, outStrides[dim], to));
    };
    const Range &range = ranges[dim];
    if (dim + 1 != outShape.size() || inStrides[dim] != 1 || outStrides[dim] != 1)
      return forEach(b, range, visit);

    // In a row, the range inside the input is copied by vectors.
    int64_t begin = std::clamp<int64_t>(low[dim], 0, outShape[dim]);
    int64_t end = std::clamp<int64_t>(low[dim] + inShape[dim], begin, outShape[dim]);
    if (range.begin)
      return copyPart(range, begin, end, from, to, visit);
    b.loop(b.index(0), b.index(begin), 1, visit);
    copyRow(b.add(from, begin - low[dim]), b.add(to, begin), end - begin);
    b.loop(b.index(end), b.index(outShape[dim]), 1, visit);
  }

  /// Does what walk() does for a row whose elements from `begin` to `end` are copied, for the part
  /// that is a task of its own.
  void copyPart(const Range &range, int64_t begin, int64_t end, Value from, Value to,
                llvm::function_ref<void(Value)> visit) {
    auto min = [&](Value x, int64_t y) -> Value {
      return arith::MinSIOp::create(b, x, b.index(y));
    };
    auto max = [&](Value x, int64_t y) -> Value {
      return arith::MaxSIOp::create(b, x, b.index(y));
    };
    const int64_t width = std::max<int64_t>(1, b.level().getLanes() * 4 / output.bytes());
    Value first = range.begin, last = min(b.add(first, range.step), range.size);
    b.loop(first, min(last, begin), 1, visit);
    Value inside = max(first, begin), outside = min(last, end);
    Value count = max(arith::SubIOp::create(b, outside, inside), 0);
    Value rest = arith::RemUIOp::create(b, count, b.index(width));
    Value whole = b.add(inside, arith::SubIOp::create(b, count, rest));
    Value source = arith::SubIOp::create(b, from, b.index(low.back()));
    b.loop(inside, whole, width, [&](Value i) {
      output.store(input.load(b.add(source, i), width), b.add(to, i), width);
    });
    b.loop(whole, outside, 1, visit);
    b.loop(max(first, end), last, 1, visit);
  }

  void copyRow(Value from, Value to, int64_t size) {
    Space row;
    row.addDim(size, {1, 1});
    copySpace(row, lanesOf(b, output, row, 1), from, to);
  }
  void copyInner(Value from, Value to) { copySpace(inner, lanes, from, to); }

  void copySpace(const Space &space, Lanes width, Value from, Value to) {
    SmallVector<Range> ranges;
    for (int64_t size : space.sizes)
      ranges.push_back({size});
    int64_t inStride = space.strides[0].back(), outStride = space.strides[1].back();
    forEachRow(b, space, ranges, {from, to}, [&](ArrayRef<Value> at, const Range &row) {
      forEachVectors(b, row, width, [&](Value first, ArrayRef<int64_t> counts) {
        for (auto [v, count] : llvm::enumerate(counts)) {
          Value i = b.add(first, v * width.width);
          Value value = input.load(b.mulAdd(i, inStride, at[0]), width.width, count, inStride);
          output.store(value, b.mulAdd(i, outStride, at[1]), count, outStride);
        }
      });
    });
  }

  KernelBuilder b;
  graph::PadMode mode;
  ArrayRef<int64_t> low, inShape, outShape;
  SmallVector<int64_t> inStrides, outStrides;
  LaneBuffer input, output;
  size_t rank = 0;
  Space inner;
  Lanes lanes;
};

} // namespace

void expandPad(PadOp op) {
  Padder(op).expand();
  op.erase();
}

} // namespace atc::cpu
