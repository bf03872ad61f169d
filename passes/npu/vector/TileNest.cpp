//===-- TileNest.cpp - the loops around what ub holds at a time --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/npu/vector/TileNest.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <numeric>

using namespace mlir;

namespace atc::npu {

//===----------------------------------------------------------------------===//
// TileNest
//===----------------------------------------------------------------------===//

namespace {

/// Finds the division among cores with the fewest steps of the busiest core.
struct Sharing {
  ArrayRef<Axis> axes;
  SmallVector<int64_t> cores, best;
  int64_t fewest = INT64_MAX;

  void search(size_t index, int64_t left, unsigned dims, int64_t steps) {
    if (index == axes.size()) {
      if (steps < fewest) {
        fewest = steps;
        best = cores;
      }
      return;
    }
    int64_t all = llvm::divideCeil(axes[index].size, axes[index].tile);
    int64_t max = dims < kGridDims ? std::min(left, all) : 1, last = 0;
    for (int64_t share = 1; share <= max; ++share) {
      int64_t trips = llvm::divideCeil(all, share);
      if (axes[index].isExact && all % share != 0)
        continue;
      // More cores for the same number of trips would gain nothing.
      if (trips == last)
        continue;
      last = trips;
      cores.push_back(share);
      search(index + 1, left / share, dims + (share > 1), steps * trips);
      cores.pop_back();
    }
  }
};

} // namespace

void makeExact(MutableArrayRef<Axis> axes, size_t cut) {
  for (size_t i = 0; i + cut < axes.size(); ++i)
    axes[i].isExact = true;
}

TileNest::TileNest(ArrayRef<Axis> list, int64_t cores) : axes(list) {
  Sharing sharing{list, {}, {}};
  sharing.search(0, cores, 0, 1);
  for (auto [axis, share] : llvm::zip(axes, sharing.best)) {
    axis.cores = share;
    gridDims.push_back(share > 1 ? int(gridSizes.size()) : -1);
    if (share > 1)
      gridSizes.push_back(share);
  }
  if (gridSizes.empty())
    gridSizes.push_back(1);
}

unsigned TileNest::loopCount() const {
  return llvm::count_if(axes, [](const Axis &axis) { return axis.trips() > 1; });
}

void TileNest::enter(ProgramWriter &writer) {
  starts.clear();
  for (auto [axis, dim] : llvm::zip(axes, gridDims))
    starts.push_back(dim < 0 ? Expr() : Expr(writer.coordinate(dim)) * (axis.trips() * axis.tile));
}

void TileNest::loops(ProgramWriter &writer, function_ref<void()> body) {
  loopsFrom(writer, 0, body);
}

void TileNest::loopsFrom(ProgramWriter &writer, size_t index, function_ref<void()> body) {
  while (index < axes.size() && isFixed(index))
    ++index;
  if (index == axes.size())
    return body();
  writer.loop(axes[index].trips(), [&](Value iv) {
    Expr first = starts[index];
    starts[index] = first + Expr(iv) * axes[index].tile;
    loopsFrom(writer, index + 1, body);
    starts[index] = first;
  });
}

Span TileNest::span(size_t index, int64_t unit) const {
  const Axis &axis = axes[index];
  Span span;
  span.length = std::min(axis.tile, axis.size) * unit;
  span.start = starts[index] * unit;
  // A limit only where something is clamped.
  if (axis.trips() * axis.cores > 1)
    span.limit = axis.size * unit;
  return span;
}

//===----------------------------------------------------------------------===//
// TileSpace
//===----------------------------------------------------------------------===//

int64_t elementBytes(Value memref) {
  return (cast<MemRefType>(memref.getType()).getElementTypeBitWidth() + 7) / 8;
}

TileSpace::TileSpace(ArrayRef<int64_t> shape, ArrayRef<Value> operands)
    : sizes(shape.begin(), shape.end()) {
  for (Value operand : operands) {
    auto type = cast<MemRefType>(operand.getType());
    auto [steps, offset] = type.getStridesAndOffset();
    strides.emplace_back();
    for (auto [step, size] : llvm::zip(steps, type.getShape()))
      strides.back().push_back(size == 1 ? 0 : step);
  }
}

void TileSpace::addDim(int64_t size, ArrayRef<int64_t> dimStrides) {
  sizes.push_back(size);
  strides.resize(std::max(strides.size(), dimStrides.size()));
  for (auto [list, stride] : llvm::zip(strides, dimStrides))
    list.push_back(stride);
}

void TileSpace::removeDim(size_t dim) {
  sizes.erase(sizes.begin() + dim);
  for (auto &list : strides)
    list.erase(list.begin() + dim);
}

void TileSpace::normalize(size_t key) {
  for (size_t dim = rank(); dim-- > 0;)
    if (sizes[dim] == 1)
      removeDim(dim);
  SmallVector<size_t> order(rank());
  std::iota(order.begin(), order.end(), 0);
  llvm::sort(order, [&](size_t a, size_t b) {
    return std::pair(-strides[key][a], a) < std::pair(-strides[key][b], b);
  });
  TileSpace old = *this;
  for (size_t dim = 0; dim < rank(); ++dim) {
    sizes[dim] = old.sizes[order[dim]];
    for (size_t i = 0; i < strides.size(); ++i)
      strides[i][dim] = old.strides[i][order[dim]];
  }
  for (size_t dim = rank(); dim-- > 1;) {
    bool merges =
        llvm::all_of(strides, [&](auto &list) { return list[dim - 1] == list[dim] * sizes[dim]; });
    if (!merges)
      continue;
    sizes[dim] *= sizes[dim - 1];
    removeDim(dim - 1);
  }
}

void TileSpace::pad(size_t wanted) {
  while (rank() < wanted) {
    sizes.insert(sizes.begin(), 1);
    for (auto &list : strides)
      list.insert(list.begin(), 0);
  }
}

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

void chooseTiles(MutableArrayRef<Axis> axes, int64_t capacity, int64_t cores, int64_t round,
                 int64_t lanesUnit, int64_t percent) {
  // With few steps per core there is nothing to overlap; boxes that are too small are dominated by
  // latencies.
  constexpr int64_t kSmallBox = 8192, kSteps = 4;
  int64_t total = 1;
  for (Axis &axis : axes)
    total *= &axis == &axes.back() ? llvm::alignTo(axis.size, round) : axis.size;
  int64_t wanted = std::max(kSmallBox, total / (cores * kSteps));
  // Small kernels still use all cores.
  wanted = std::min(wanted, std::max<int64_t>(256, llvm::divideCeil(total, cores)));
  int64_t left = std::min(capacity, scaledBox(wanted, percent));

  Axis &lanes = axes.back();
  lanes.tile = lanes.size;
  if (int64_t(llvm::alignTo(lanes.size, round)) > left) {
    int64_t max = std::max(left / lanesUnit * lanesUnit, std::min(lanesUnit, capacity));
    int64_t steps = llvm::divideCeil(lanes.size, max);
    lanes.tile = std::min(
        max, int64_t(llvm::alignTo(llvm::divideCeil(lanes.size, steps), std::min(lanesUnit, max))));
  }
  bool isWhole = lanes.tile == lanes.size;
  left /= llvm::alignTo(lanes.tile, round);
  for (size_t i = 1; i < 3 && i < axes.size(); ++i) {
    Axis &axis = axes[axes.size() - 1 - i];
    int64_t max = isWhole ? std::clamp<int64_t>(left, 1, axis.size) : 1;
    axis.tile = llvm::divideCeil(axis.size, llvm::divideCeil(axis.size, max));
    isWhole &= axis.tile == axis.size;
    left /= axis.tile;
  }
}

int64_t boxPercent(Operation *op) {
  auto percent = op->getAttrOfType<IntegerAttr>(kBoxAttr);
  return percent ? percent.getInt() : 100;
}

TileNest planOfBoxes(Operation *op, function_ref<TileNest(int64_t percent)> plan) {
  const int64_t percent = boxPercent(op);
  TileNest nest = plan(percent);
  return percent == 100 || nest.fitsLoops() ? nest : plan(100);
}

} // namespace atc::npu
