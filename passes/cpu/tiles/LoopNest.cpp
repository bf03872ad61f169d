//===-- LoopNest.cpp - tasks and loops over the positions of buffers ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/cpu/tiles/LoopNest.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/Support/MathExtras.h"

#include <numeric>

using namespace mlir;

namespace atc::cpu {

//===----------------------------------------------------------------------===//
// Space
//===----------------------------------------------------------------------===//

Space::Space(ArrayRef<int64_t> shape, ValueRange buffers) : sizes(shape) {
  for (Value buffer : buffers) {
    SmallVector<int64_t> own = stridesOf(buffer);
    for (auto [stride, size] : llvm::zip(own, shapeOf(buffer)))
      if (size == 1)
        stride = 0;
    strides.push_back(std::move(own));
  }
}

int64_t Space::volume() const {
  return std::accumulate(sizes.begin(), sizes.end(), int64_t(1), std::multiplies<>());
}

void Space::addDim(int64_t size, ArrayRef<int64_t> dimStrides) {
  sizes.push_back(size);
  strides.resize(dimStrides.size());
  for (auto [own, stride] : llvm::zip(strides, dimStrides))
    own.push_back(stride);
}

Space Space::takeDim(size_t dim) {
  Space taken;
  taken.sizes = {sizes[dim]};
  sizes.erase(sizes.begin() + dim);
  for (SmallVector<int64_t> &own : strides) {
    taken.strides.push_back({own[dim]});
    own.erase(own.begin() + dim);
  }
  return taken;
}

void Space::normalize(unsigned key) {
  SmallVector<size_t> order;
  for (size_t d = 0; d < rank(); ++d) {
    if (sizes[d] == 1)
      continue;
    auto smaller =
        llvm::find_if(order, [&](size_t other) { return strides[key][other] < strides[key][d]; });
    order.insert(smaller, d);
  }

  Space result;
  result.strides.resize(strides.size());
  for (size_t d : order) {
    bool follows = result.rank() > 0;
    for (size_t i = 0; follows && i < strides.size(); ++i)
      follows = result.strides[i].back() == strides[i][d] * sizes[d];
    if (!follows) {
      SmallVector<int64_t> own;
      for (const SmallVector<int64_t> &all : strides)
        own.push_back(all[d]);
      result.addDim(sizes[d], own);
      continue;
    }
    result.sizes.back() *= sizes[d];
    for (size_t i = 0; i < strides.size(); ++i)
      result.strides[i].back() = strides[i][d];
  }
  if (result.rank() == 0)
    result.addDim(1, SmallVector<int64_t>(strides.size(), 1));
  *this = std::move(result);
}

//===----------------------------------------------------------------------===//
// Tasks
//===----------------------------------------------------------------------===//

SmallVector<Range> beginTasks(KernelBuilder &b, ArrayRef<int64_t> sizes, int64_t bytesPerPosition,
                              ArrayRef<int64_t> multiples) {
  // A task must take much longer than the scheduler's hand-over, and there must be enough tasks for
  // the threads to finish together.
  constexpr int64_t smallest = 16 << 10, largest = 64 << 10, tasksWanted = 32;
  int64_t total = std::max<int64_t>(bytesPerPosition, 1);
  for (int64_t size : sizes)
    total *= size;
  int64_t target = std::clamp(total / tasksWanted, smallest, largest);

  auto multipleOf = [&](size_t dim) { return multiples.empty() ? 1 : multiples[dim]; };
  // Divides the first dim of which one unit is not too large for a task.
  size_t cut = 0;
  int64_t inner = total;
  for (; cut < sizes.size(); ++cut) {
    inner /= std::max<int64_t>(sizes[cut], 1);
    if (inner * multipleOf(cut) <= target || cut + 1 == sizes.size())
      break;
  }

  SmallVector<int64_t> taskSizes, steps;
  for (size_t d = 0; d < std::min(cut + 1, sizes.size()); ++d) {
    int64_t multiple = multipleOf(d);
    int64_t units = std::max<int64_t>(1, llvm::divideCeil(sizes[d], multiple));
    int64_t perTask = 1;
    if (d == cut) {
      perTask = std::clamp<int64_t>(target / std::max<int64_t>(inner * multiple, 1), 1, units);
      // Tasks of even size.
      perTask = llvm::divideCeil(units, llvm::divideCeil(units, perTask));
    }
    taskSizes.push_back(llvm::divideCeil(units, perTask));
    steps.push_back(perTask * multiple);
  }

  SmallVector<Value> task = b.beginTasks(taskSizes);
  SmallVector<Range> ranges;
  for (auto [d, size] : llvm::enumerate(sizes)) {
    if (d >= taskSizes.size() || taskSizes[d] == 1)
      ranges.push_back({size});
    else
      ranges.push_back({size, b.mul(task[d], steps[d]), steps[d]});
  }
  return ranges;
}

/// Returns the end of a range that has a begin, at most `limit`.
static Value endOf(KernelBuilder &b, const Range &range, int64_t limit) {
  Value end = b.add(range.begin, range.step);
  if (limit == range.size && range.size % range.step == 0)
    return end;
  return arith::MinUIOp::create(b, end, b.index(limit));
}

void forEach(KernelBuilder &b, const Range &range, function_ref<void(Value)> body) {
  if (!range.begin)
    return b.loop(range.size, body);
  if (range.step == 1)
    return body(range.begin);
  b.loop(range.begin, endOf(b, range, range.size), 1, body);
}

/// Lengths of the vectors of `count` elements.
static SmallVector<int64_t> vectorsOf(int64_t count, int64_t width) {
  SmallVector<int64_t> counts;
  for (; count > 0; count -= width)
    counts.push_back(std::min(count, width));
  return counts;
}

void forEachVectors(KernelBuilder &b, const Range &range, Lanes lanes, VectorsFn body) {
  int64_t group = lanes.group(), whole = range.size / group * group;
  SmallVector<int64_t> full = vectorsOf(group, lanes.width);
  SmallVector<int64_t> rest = vectorsOf(range.size - whole, lanes.width);
  if (!range.begin) {
    if (whole == group)
      body(b.index(0), full);
    else if (whole > 0)
      b.loop(b.index(0), b.index(whole), group, [&](Value i) { body(i, full); });
    if (!rest.empty())
      body(b.index(whole), rest);
    return;
  }
  if (whole > 0) {
    if (range.step == group && rest.empty())
      body(range.begin, full);
    else
      b.loop(range.begin, endOf(b, range, whole), group, [&](Value i) { body(i, full); });
  }
  if (rest.empty())
    return;
  Value isLast = arith::CmpIOp::create(b, arith::CmpIPredicate::uge, b.add(range.begin, range.step),
                                       b.index(range.size));
  auto ifOp = scf::IfOp::create(b, isLast, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(ifOp.thenBlock());
  body(b.index(whole), rest);
}

SmallVector<Value> forEachVectors(KernelBuilder &b, int64_t size, Lanes lanes, ValueRange carried,
                                  CarryFn body) {
  int64_t group = lanes.group(), whole = size / group * group;
  SmallVector<int64_t> full = vectorsOf(group, lanes.width);
  SmallVector<int64_t> rest = vectorsOf(size - whole, lanes.width);
  SmallVector<Value> values(carried);
  values = whole == 0 ? values : b.loop(whole / group, values, [&](Value i, ValueRange inside) {
    return body(b.mul(i, group), full, inside);
  });
  return rest.empty() ? values : body(b.index(whole), rest, values);
}

//===----------------------------------------------------------------------===//
// Walking a space
//===----------------------------------------------------------------------===//

SmallVector<Value> advance(KernelBuilder &b, const Space &space, size_t dim, Value position,
                           ArrayRef<Value> offsets) {
  SmallVector<Value> moved;
  for (auto [own, offset] : llvm::zip(space.strides, offsets))
    moved.push_back(own[dim] == 0 ? offset : b.mulAdd(position, own[dim], offset));
  return moved;
}

static void walkRows(KernelBuilder &b, const Space &space, ArrayRef<Range> ranges,
                     ArrayRef<Value> offsets, size_t dim, RowFn body) {
  if (dim + 1 == space.rank())
    return body(offsets, ranges[dim]);
  forEach(b, ranges[dim], [&](Value i) {
    walkRows(b, space, ranges, advance(b, space, dim, i, offsets), dim + 1, body);
  });
}

void forEachRow(KernelBuilder &b, const Space &space, ArrayRef<Range> ranges,
                ArrayRef<Value> offsets, RowFn body) {
  walkRows(b, space, ranges, offsets, 0, body);
}

void forEachRow(KernelBuilder &b, const Space &space, int64_t bytesPerPosition, Lanes lanes,
                RowFn body) {
  SmallVector<int64_t> multiples(space.rank(), 1);
  multiples.back() = lanes.group();
  SmallVector<Range> ranges = beginTasks(b, space.sizes, bytesPerPosition, multiples);
  forEachRow(b, space, ranges, SmallVector<Value>(space.strides.size(), b.index(0)), body);
}

static SmallVector<Value> walkPositions(KernelBuilder &b, const Space &space,
                                        ArrayRef<Value> offsets, size_t dim, ValueRange carried,
                                        PositionFn body) {
  if (dim == space.rank())
    return body(offsets, carried);
  return b.loop(space.sizes[dim], carried, [&](Value i, ValueRange inside) {
    return walkPositions(b, space, advance(b, space, dim, i, offsets), dim + 1, inside, body);
  });
}

SmallVector<Value> forEachPosition(KernelBuilder &b, const Space &space, ArrayRef<Value> offsets,
                                   ValueRange carried, PositionFn body) {
  return walkPositions(b, space, offsets, 0, carried, body);
}

} // namespace atc::cpu
