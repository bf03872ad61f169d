//===-- ImportMove.cpp - concat, split, slice, pad, gather ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/graph/ops/BinaryOps.h"
#include "dialects/graph/ops/ShapeOps.h"
#include "frontends/tf/NodeContext.h"
#include "frontends/tf/OpTable.h"
#include "frontends/tf/ops/DynamicForms.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using llvm::APFloat;

namespace atc::tf_import {
namespace {

/// ConcatV2 has the axis at the end, Concat in front.
void importConcat(NodeContext &n) {
  SmallVector<Value> inputs = n.inputs();
  int64_t axis = takeConcatAxis(n, inputs);
  if (n.failed())
    return;
  axis = n.normalizeAxis(axis, n.rank(inputs.front()));
  if (n.failed())
    return;
  // Inputs without elements only state the rank.
  Value first = inputs.front();
  llvm::erase_if(inputs, [&](Value input) {
    return n.rank(input) == n.rank(first) && n.shape(input)[axis] == 0;
  });
  if (inputs.empty())
    return n.setOutput(first);
  n.setOutput(inputs.size() == 1 ? inputs.front()
                                 : n.create<graph::ConcatOp>(ValueRange(inputs), axis));
}

/// Joins along the first axis.
void importParallelConcat(NodeContext &n) {
  SmallVector<Value> inputs = n.inputs();
  if (!n.failed())
    n.setOutput(inputs.size() == 1 ? inputs.front()
                                   : n.create<graph::ConcatOp>(ValueRange(inputs), 0));
}

void split(NodeContext &n, Value input, int64_t axis, ArrayRef<int64_t> sizes) {
  SmallVector<int64_t> shape(n.shape(input)), starts(shape.size(), 0), steps(shape.size(), 1);
  for (auto [part, size] : llvm::enumerate(sizes)) {
    shape[axis] = size;
    n.setOutput(part, n.create<graph::SliceOp>(input, starts, shape, steps));
    starts[axis] += size;
  }
}

void importSplit(NodeContext &n) {
  int64_t axis = n.constantInt(0), parts = n.requiredInt("num_split");
  Value input = n.input(1);
  if (n.failed())
    return;
  axis = n.normalizeAxis(axis, n.rank(input));
  if (n.failed())
    return;
  int64_t total = n.shape(input)[axis];
  if (parts < 1 || parts > (1 << 16) || total % parts != 0)
    return n.failAttribute("num_split", "is " + Twine(parts) + ", which does not divide the " +
                                            Twine(total) + " elements of axis " + Twine(axis));
  split(n, input, axis, SmallVector<int64_t>(parts, total / parts));
}

/// Imports SplitV. A size of -1 stands for the remaining elements.
void importSplitV(NodeContext &n) {
  Value input = n.input(0);
  SmallVector<int64_t> sizes = n.constantInts(1);
  int64_t axis = n.constantInt(2);
  if (n.failed())
    return;
  axis = n.normalizeAxis(axis, n.rank(input));
  if (n.failed())
    return;
  int64_t rest = n.shape(input)[axis];
  for (int64_t size : sizes)
    if (size >= 0 && size <= maxDim)
      rest -= size;
  if (llvm::count(sizes, -1) == 1)
    *llvm::find(sizes, -1) = std::exchange(rest, 0);
  if (rest != 0 || llvm::any_of(sizes, [](int64_t size) { return size < 0 || size > maxDim; }))
    return n.failInput(1, printDims(sizes) + " does not fit axis " + Twine(axis) + " of " +
                              Twine(n.shape(input)[axis]) + " elements");
  split(n, input, axis, sizes);
}

void importSlice(NodeContext &n) {
  Value input = n.input(0);
  SmallVector<int64_t> begin = n.constantInts(1), size = n.constantInts(2);
  if (n.failed())
    return;
  ArrayRef<int64_t> shape = n.shape(input);
  if (begin.size() != shape.size() || size.size() != shape.size())
    return n.failNode("has " + Twine(begin.size()) + " begins and " + Twine(size.size()) +
                      " sizes for a tensor of rank " + Twine(shape.size()));
  for (size_t i = 0; i < shape.size(); ++i) {
    if (size[i] == -1)
      size[i] = shape[i] - begin[i];
    if (begin[i] < 0 || begin[i] > shape[i] || size[i] < 0 || size[i] > shape[i] - begin[i])
      return n.failNode("slices outside of axis " + Twine(i) + " of " + Twine(shape[i]) +
                        " elements");
    if (size[i] == 0)
      begin[i] = 0;
  }
  n.setOutput(n.create<graph::SliceOp>(input, begin, size, SmallVector<int64_t>(shape.size(), 1)));
}

/// Python's x[a:b:c, ..., None, 3]; the masks say which entries are which.
void importStridedSlice(NodeContext &n) {
  Value input = n.input(0);
  SmallVector<int64_t> begin = n.constantInts(1), end = n.constantInts(2);
  SmallVector<int64_t> strides = n.constantInts(3);
  int64_t beginMask = n.intAttr("begin_mask", 0), endMask = n.intAttr("end_mask", 0);
  int64_t ellipsisMask = n.intAttr("ellipsis_mask", 0);
  int64_t newMask = n.intAttr("new_axis_mask", 0), shrinkMask = n.intAttr("shrink_axis_mask", 0);
  if (n.failed())
    return;
  size_t entries = begin.size();
  if (end.size() != entries || strides.size() != entries || entries > 32)
    return n.failNode("its begins, ends and strides differ in number");
  auto has = [](int64_t mask, size_t entry) { return ((mask >> entry) & 1) != 0; };
  ArrayRef<int64_t> shape = n.shape(input);
  size_t named = 0;
  for (size_t i = 0; i < entries; ++i)
    if (!has(newMask, i) && !has(ellipsisMask, i))
      ++named;
  if (named > shape.size())
    return n.failNode("names " + Twine(named) + " axes of a tensor of rank " + Twine(shape.size()));

  SmallVector<int64_t> from, sizes, by, result;
  auto keep = [&](size_t count) {
    for (; count > 0; --count) {
      int64_t dim = shape[from.size()];
      from.push_back(0);
      sizes.push_back(dim);
      by.push_back(1);
      result.push_back(dim);
    }
  };
  for (size_t i = 0; i < entries; ++i) {
    if (has(ellipsisMask, i)) {
      keep(shape.size() - named);
      named = shape.size();
      continue;
    }
    if (has(newMask, i)) {
      result.push_back(1);
      continue;
    }
    int64_t dim = shape[from.size()], step = strides[i];
    if (step == 0)
      return n.failNode("has a stride of 0");
    if (has(shrinkMask, i)) {
      int64_t at = begin[i] < 0 ? begin[i] + dim : begin[i];
      if (at < 0 || at >= dim)
        return n.failNode("takes element " + Twine(begin[i]) + " of an axis of " + Twine(dim));
      from.push_back(at);
      sizes.push_back(1);
      by.push_back(1);
      continue;
    }
    step = std::clamp(step, -maxDim, maxDim);
    int64_t min = step > 0 ? 0 : -1, max = step > 0 ? dim : dim - 1;
    auto clampIndex = [&](int64_t value, bool isOpen, int64_t open) {
      return isOpen ? open : std::clamp(value < 0 ? value + dim : value, min, max);
    };
    int64_t first = clampIndex(begin[i], has(beginMask, i), step > 0 ? 0 : dim - 1);
    int64_t last = clampIndex(end[i], has(endMask, i), step > 0 ? dim : -1);
    int64_t stride = std::abs(step), length = step > 0 ? last - first : first - last;
    int64_t size = length > 0 ? (length + stride - 1) / stride : 0;
    from.push_back(size > 0 ? first : 0);
    sizes.push_back(size);
    by.push_back(size > 1 ? step : 1);
    result.push_back(size);
  }
  keep(shape.size() - from.size());
  n.setOutput(n.reshape(n.create<graph::SliceOp>(input, from, sizes, by), result));
}

/// MirrorPad SYMMETRIC: the edge itself is repeated, too. One axis after the other.
Value padSymmetric(NodeContext &n, Value value, ArrayRef<int64_t> low, ArrayRef<int64_t> high) {
  for (int64_t axis = 0; axis < n.rank(value) && !n.failed(); ++axis) {
    SmallVector<int64_t> shape(n.shape(value)), steps(shape.size(), 1);
    int64_t size = shape[axis];
    if (low[axis] > size || high[axis] > size) {
      n.failInput(1, "mirrors more than the " + Twine(size) + " elements of axis " + Twine(axis));
      return {};
    }
    steps[axis] = -1;
    auto mirrored = [&](int64_t count, int64_t last) {
      SmallVector<int64_t> starts(shape.size(), 0), sizes(shape);
      starts[axis] = last;
      sizes[axis] = count;
      return n.create<graph::SliceOp>(value, starts, sizes, steps);
    };
    SmallVector<Value> parts{value};
    if (low[axis] > 0)
      parts.insert(parts.begin(), mirrored(low[axis], low[axis] - 1));
    if (high[axis] > 0)
      parts.push_back(mirrored(high[axis], size - 1));
    if (parts.size() > 1)
      value = n.create<graph::ConcatOp>(ValueRange(parts), axis);
  }
  return value;
}

/// Pads by a value that is known only when the model runs.
Value padByInput(NodeContext &n, Value input, Value value, ArrayRef<int64_t> low,
                 ArrayRef<int64_t> high) {
  Type marks = n.builder().getF32Type();
  Value inside = n.fill(n.shape(input), n.scalar(1, marks));
  auto pad = [&](Value tensor) {
    return n.create<graph::PadOp>(tensor, low, high, graph::PadMode::Constant, APFloat(0.0));
  };
  Value isInside = n.compare(pad(inside), n.scalar(0, marks), graph::ComparePredicate::Ne);
  return n.create<graph::WhereOp>(isInside, pad(input), value);
}

void importPad(NodeContext &n) {
  using graph::PadMode;
  Value input = n.input(0);
  SmallVector<int64_t> pads = n.constantInts(1);
  double value = 0;
  bool isPadV2 = n.op() == "PadV2", isSymmetric = false;
  Value given = isPadV2 ? n.input(2) : Value();
  if (isPadV2)
    n.requireRank(2, 0, 0);
  // Wide integers are no doubles.
  bool isKnown = given && matchPattern(given, m_Constant()) && n.isFloat(given);
  if (isKnown)
    if (SmallVector<double> values = n.constantFloats(2); !values.empty())
      value = values.front();
  PadMode mode = PadMode::Constant;
  if (n.op() == "MirrorPad") {
    std::string name = n.stringAttr("mode", "REFLECT");
    isSymmetric = name == "SYMMETRIC";
    if (name != "REFLECT" && !isSymmetric)
      return n.failAttribute("mode", "is '" + name + "', expected REFLECT or SYMMETRIC");
    mode = PadMode::Reflect;
  }
  if (n.failed())
    return;
  int64_t rank = n.rank(input);
  if (static_cast<int64_t>(pads.size()) != 2 * rank)
    return n.failInput(1, "has " + Twine(pads.size()) + " pads, expected " + Twine(2 * rank));
  SmallVector<int64_t> low, high;
  for (int64_t axis = 0; axis < rank; ++axis) {
    low.push_back(pads[2 * axis]);
    high.push_back(pads[2 * axis + 1]);
    for (int64_t amount : {low.back(), high.back()})
      if (amount < 0 || amount > maxDim)
        return n.failInput(1, "has the pad " + Twine(amount) + ", which is out of range");
  }
  if (llvm::all_of(pads, [](int64_t pad) { return pad == 0; }))
    return n.setOutput(input);
  if (isSymmetric)
    return n.setOutput(padSymmetric(n, input, low, high));
  if (isPadV2 && !isKnown)
    return n.setOutput(padByInput(n, input, given, low, high));
  n.setOutput(n.create<graph::PadOp>(input, low, high, mode, APFloat(value)));
}

void importTile(NodeContext &n) {
  Value input = n.input(0);
  SmallVector<int64_t> repeats = n.constantInts(1);
  if (n.failed())
    return;
  if (static_cast<int64_t>(repeats.size()) != n.rank(input))
    return n.failInput(1, "has " + Twine(repeats.size()) + " repeats for a tensor of rank " +
                              Twine(n.rank(input)));
  for (int64_t repeat : repeats)
    if (repeat < 0 || repeat > maxDim)
      return n.failInput(1, "has the repeat " + Twine(repeat) + ", which is out of range");
  n.setOutput(n.create<graph::TileOp>(input, repeats));
}

void importGather(NodeContext &n) {
  Value input = n.input(0), indices = n.input(1);
  int64_t axis = n.op() == "GatherV2" ? n.constantInt(2) : 0;
  if (n.intAttr("batch_dims", 0) != 0) {
    n.leaveToHost();
    n.failAttribute("batch_dims", "other than 0 is not supported");
  }
  if (n.failed())
    return;
  axis = n.normalizeAxis(axis, n.rank(input));
  if (n.failed())
    return;
  int64_t size = n.shape(input)[axis];
  n.requireGathered(1, /*wraps=*/false, size, axis);
  n.setOutput(n.create<graph::GatherOp>(input, indices, axis));
}

void importOneHot(NodeContext &n) {
  Value indices = n.input(0), on = n.input(2), off = n.input(3);
  int64_t depth = n.constantInt(1), axis = n.intAttr("axis", -1);
  if (n.failed())
    return;
  if (depth < 0 || depth > (1 << 20))
    return n.failInput(1, "has the depth " + Twine(depth) + ", which is out of range");
  int64_t rank = n.rank(indices) + 1;
  axis = n.normalizeAxis(axis, rank);
  SmallVector<int64_t> expanded(n.shape(indices)), classes(rank, 1);
  expanded.insert(expanded.begin() + axis, 1);
  classes[axis] = depth;
  Value numbers =
      n.intList(llvm::to_vector(llvm::seq<int64_t>(0, depth)), n.builder().getI64Type());
  Value isHot = n.compare(n.reshape(n.cast(indices, n.builder().getI64Type()), expanded),
                          n.reshape(numbers, classes), graph::ComparePredicate::Eq);
  n.setOutput(n.create<graph::WhereOp>(isHot, on, off));
}

void importReverse(NodeContext &n) {
  Value input = n.input(0);
  SmallVector<int64_t> stated = reversedAxes(n);
  if (n.failed())
    return;
  ArrayRef<int64_t> shape = n.shape(input);
  SmallVector<int64_t> starts(shape.size(), 0), steps(shape.size(), 1);
  for (int64_t axis : n.normalizeAxes(stated, shape.size()))
    if (!n.failed() && shape[axis] > 1) {
      starts[axis] = shape[axis] - 1;
      steps[axis] = -1;
    }
  n.setOutput(n.create<graph::SliceOp>(input, starts, shape, steps));
}

/// Blocks of pixels move between the batch and the spatial dims.
struct Blocks {
  SmallVector<int64_t> sizes, edges;
};

std::optional<Blocks> readBlocks(NodeContext &n) {
  Value input = n.input(0);
  Blocks blocks{n.constantInts(1), n.constantInts(2)};
  if (n.failed())
    return std::nullopt;
  int64_t dims = blocks.sizes.size();
  if (dims + 1 > n.rank(input) || static_cast<int64_t>(blocks.edges.size()) != 2 * dims)
    n.failNode("its blocks do not fit a tensor of rank " + Twine(n.rank(input)));
  for (int64_t size : blocks.sizes)
    if (size < 1 || size > (1 << 20))
      n.failInput(1, "has the block size " + Twine(size) + ", which is out of range");
  for (int64_t edge : blocks.edges)
    if (edge < 0 || edge > maxDim)
      n.failInput(2, "has the value " + Twine(edge) + ", which is out of range");
  if (n.failed())
    return std::nullopt;
  return blocks;
}

void importSpaceToBatch(NodeContext &n) {
  std::optional<Blocks> blocks = readBlocks(n);
  if (!blocks)
    return;
  Value input = n.input(0);
  int64_t dims = blocks->sizes.size(), rank = n.rank(input);
  SmallVector<int64_t> low(rank, 0), high(rank, 0);
  for (int64_t dim = 0; dim < dims; ++dim) {
    low[dim + 1] = blocks->edges[2 * dim];
    high[dim + 1] = blocks->edges[2 * dim + 1];
  }
  Value padded = n.create<graph::PadOp>(input, low, high, graph::PadMode::Constant, APFloat(0.0));
  if (n.failed())
    return;
  SmallVector<int64_t> shape(n.shape(padded)), inner{shape[0]}, permutation;
  for (int64_t dim = 0; dim < dims; ++dim) {
    if (shape[dim + 1] % blocks->sizes[dim] != 0)
      return n.failNode("axis " + Twine(dim + 1) + " of " + Twine(shape[dim + 1]) +
                        " elements is not a multiple of its block");
    shape[dim + 1] /= blocks->sizes[dim];
    inner.append({shape[dim + 1], blocks->sizes[dim]});
    shape[0] *= blocks->sizes[dim];
    permutation.push_back(2 * dim + 2);
  }
  permutation.push_back(0);
  for (int64_t dim = 0; dim < dims; ++dim)
    permutation.push_back(2 * dim + 1);
  for (int64_t axis = dims + 1; axis < rank; ++axis) {
    inner.push_back(shape[axis]);
    permutation.push_back(axis + dims);
  }
  n.setOutput(n.reshape(n.transpose(n.reshape(padded, inner), permutation), shape));
}

void importBatchToSpace(NodeContext &n) {
  std::optional<Blocks> blocks = readBlocks(n);
  if (!blocks)
    return;
  Value input = n.input(0);
  int64_t dims = blocks->sizes.size(), rank = n.rank(input), product = 1;
  SmallVector<int64_t> shape(n.shape(input)), inner(blocks->sizes), permutation{dims};
  for (int64_t size : blocks->sizes)
    product = std::min(product * size, maxElements);
  if (shape[0] % product != 0)
    return n.failNode("the batch of " + Twine(shape[0]) + " is not a multiple of the blocks");
  shape[0] /= product;
  llvm::append_range(inner, shape);
  for (int64_t axis = 1; axis < rank; ++axis) {
    permutation.push_back(dims + axis);
    if (axis <= dims)
      permutation.push_back(axis - 1);
  }
  SmallVector<int64_t> starts(rank, 0), steps(rank, 1), sizes;
  for (int64_t dim = 0; dim < dims; ++dim)
    shape[dim + 1] *= blocks->sizes[dim];
  sizes = shape;
  for (int64_t dim = 0; dim < dims; ++dim) {
    starts[dim + 1] = blocks->edges[2 * dim];
    sizes[dim + 1] -= blocks->edges[2 * dim] + blocks->edges[2 * dim + 1];
    if (sizes[dim + 1] < 0)
      return n.failInput(2, "crops more than there is of axis " + Twine(dim + 1));
  }
  Value whole = n.reshape(n.transpose(n.reshape(input, inner), permutation), shape);
  n.setOutput(n.create<graph::SliceOp>(whole, starts, sizes, steps));
}

} // namespace

SmallVector<int64_t> reversedAxes(NodeContext &n) {
  if (n.op() != "Reverse")
    return n.constantInts(1);
  Value flags = n.input(1);
  DenseElementsAttr known;
  if (n.failed())
    return {};
  if (!matchPattern(flags, m_Constant(&known)) || !known.getElementType().isInteger(1)) {
    n.failInput(1, "must be bools that are known at compile time");
    return {};
  }
  SmallVector<int64_t> axes;
  for (auto [axis, isReversed] : llvm::enumerate(known.getValues<bool>()))
    if (isReversed)
      axes.push_back(static_cast<int64_t>(axis));
  return axes;
}

ArrayRef<OpRow> moveRows() {
  static constexpr llvm::StringLiteral ofGather =
      "with fixed shapes, an input of the model that has indices out of range is refused; of "
      "indices "
      "that the model computes, negative ones count from the end, and those beyond the axis read "
      "the nearest row";
  static const OpRow rows[] = {
      {"BatchToSpaceND", importBatchToSpace},
      {"Concat", importConcat},
      {"ConcatV2", importConcat},
      {"Gather", importGather, ofGather},
      {"GatherV2", importGather,
       "`batch_dims` 0 or the axis; indices that only a run knows as of Gather"},
      {"MirrorPad", importPad},
      {"OneHot", importOneHot, "depth up to 2^20"},
      {"Pad", importPad},
      {"PadV2", importPad},
      {"ParallelConcat", importParallelConcat},
      {"Reverse", importReverse},
      {"ReverseV2", importReverse},
      {"Slice", importSlice},
      {"SpaceToBatchND", importSpaceToBatch},
      {"Split", importSplit, "up to 2^16 parts"},
      {"SplitV", importSplitV},
      {"StridedSlice", importStridedSlice},
      {"Tile", importTile},
  };
  return rows;
}

} // namespace atc::tf_import
