//===-- ImportMove.cpp - concat, split, slice, pad, gather ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/graph/ops/BinaryOps.h"
#include "dialects/graph/ops/ShapeOps.h"
#include "frontends/onnx/NodeContext.h"
#include "frontends/onnx/OpTable.h"
#include "frontends/onnx/TensorData.h" // IWYU pragma: keep
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using llvm::APFloat;

namespace atc::onnx_import {
namespace {

using Ints = std::optional<SmallVector<int64_t>>;

void importConcat(NodeContext &n) {
  SmallVector<Value> inputs = n.inputs();
  int64_t axis = n.requiredInt("axis");
  if (n.failed())
    return;
  axis = n.normalizeAxis(axis, n.rank(inputs.front()));
  if (n.failed())
    return;
  // Constants that the model has for one image are repeated for each image of a batch.
  std::optional<BatchChange> batch = n.importer().batchChange();
  if (batch && batch->from == 1 && axis != 0 && llvm::any_of(inputs, [&](Value input) {
        return n.rank(input) > 0 && n.shape(input).front() == batch->to;
      }))
    for (Value &input : inputs)
      if (SmallVector<int64_t> shape(n.shape(input)); !shape.empty() && shape.front() == 1) {
        shape.front() = batch->to;
        input = n.fill(shape, input);
      }
  // Parts without elements, such as a cache before the first step, add nothing.
  auto others = [&](Value input) {
    SmallVector<int64_t> dims(n.shape(input));
    dims.erase(dims.begin() + axis);
    return dims;
  };
  const Value first = inputs.front(), last = inputs.back();
  const bool fits = llvm::all_of(
      inputs, [&](Value i) { return n.rank(i) == n.rank(first) && others(i) == others(first); });
  if (fits)
    llvm::erase_if(inputs, [&](Value input) { return n.shape(input)[axis] == 0; });
  if (inputs.empty())
    inputs.push_back(last);
  n.setOutput(inputs.size() == 1 ? inputs.front()
                                 : n.create<graph::ConcatOp>(ValueRange(inputs), axis));
}

//===----------------------------------------------------------------------===//
// Split
//===----------------------------------------------------------------------===//

/// Splits into parts of `sizes`; by default the outputs divide the axis evenly, and the last one
/// has the rest.
void split(NodeContext &n, Ints sizes) {
  Value input = n.input(0);
  if (n.failed())
    return;
  ArrayRef<int64_t> shape = n.shape(input);
  int64_t axis = n.normalizeAxis(n.intAttr("axis", 0), shape.size());
  int64_t parts = n.intAttr("num_outputs", n.numOutputs());
  if (!n.failed() && (parts != n.numOutputs() || parts < 1))
    n.failAttribute("num_outputs", "is " + Twine(parts) + ", but the node has " +
                                       Twine(n.numOutputs()) + " outputs");
  if (n.failed())
    return;
  int64_t total = shape[axis];
  if (!sizes) {
    sizes.emplace();
    int64_t size = (total + parts - 1) / parts;
    for (int64_t part = 0; part < parts; ++part)
      sizes->push_back(std::clamp<int64_t>(total - part * size, 0, size));
    if (n.opset() < 18 && total % parts != 0)
      return n.failNode("axis " + Twine(axis) + " has " + Twine(total) + " elements, which " +
                        Twine(parts) + " equal parts do not fit");
  }
  if (static_cast<int64_t>(sizes->size()) != parts)
    return n.failNode("states " + Twine(sizes->size()) + " split sizes for " + Twine(parts) +
                      " outputs");
  SmallVector<int64_t> starts(shape.size(), 0), steps(shape.size(), 1), partShape(shape);
  for (auto [part, size] : llvm::enumerate(*sizes)) {
    if (size < 0 || size > total - starts[axis])
      return n.failNode("split sizes do not fit axis " + Twine(axis) + " of " + Twine(total) +
                        " elements");
    partShape[axis] = size;
    n.setOutput(part, n.create<graph::SliceOp>(input, starts, partShape, steps));
    starts[axis] += size;
  }
  if (starts[axis] != total)
    n.failNode("split sizes add up to " + Twine(starts[axis]) + ", expected " + Twine(total) +
               ", the elements of axis " + Twine(axis));
}

void importSplitV7(NodeContext &n) { split(n, n.intsAttr("split")); }

void importSplitV13(NodeContext &n) {
  Value input = n.input(0);
  if (!n.isRuntimeInput(1))
    return split(n, n.constantInts(1));
  if (n.failed())
    return;
  int64_t axis = n.normalizeAxis(n.intAttr("axis", 0), n.rank(input));
  SmallVector<int64_t> sizes;
  for (unsigned part = 0; part < n.numOutputs(); ++part) {
    Ints shape = n.declaredShape(1, part);
    if (!n.failed() && static_cast<int64_t>(shape->size()) != n.rank(input))
      n.failNode("its declared result has another rank than its input");
    if (n.failed())
      return;
    sizes.push_back((*shape)[axis]);
  }
  split(n, sizes);
}

//===----------------------------------------------------------------------===//
// Slice
//===----------------------------------------------------------------------===//

void slice(NodeContext &n, const Ints &starts, const Ints &ends, Ints axes, Ints steps) {
  Value input = n.input(0);
  if (!n.failed() && (!starts || !ends))
    n.failNode("has no starts or no ends");
  if (n.failed())
    return;
  ArrayRef<int64_t> shape = n.shape(input);
  size_t count = starts->size();
  if (!axes)
    axes = llvm::to_vector(llvm::seq<int64_t>(0, count));
  if (!steps)
    steps = SmallVector<int64_t>(count, 1);
  if (ends->size() != count || axes->size() != count || steps->size() != count)
    return n.failNode("its starts, ends, axes and steps differ in number");
  SmallVector<int64_t> from(shape.size(), 0), sizes(shape), by(shape.size(), 1);
  SmallVector<int64_t> seen;
  for (size_t i = 0; i < count; ++i) {
    int64_t axis = n.normalizeAxis((*axes)[i], shape.size(), "axes");
    seen.push_back(axis);
    int64_t step = (*steps)[i];
    if (step == 0)
      n.failNode("has a step of 0");
    if (n.failed())
      return;
    int64_t dim = shape[axis];
    // A step beyond the dim selects one element, so it may be clamped.
    step = std::clamp(step, -maxDim, maxDim);
    // INT64_MIN and INT64_MAX mean "to the end", the largest number of 32 or 64 bits backward as
    // well.
    const bool toEnd = (*ends)[i] == INT32_MAX || (*ends)[i] == INT64_MAX;
    auto clampIndex = [&](int64_t value, int64_t min, int64_t max) {
      if (value < 0)
        value = value < -dim ? INT64_MIN : value + dim;
      return std::clamp(value, min, max);
    };
    int64_t first, last, length;
    if (step > 0) {
      first = clampIndex((*starts)[i], 0, dim);
      last = clampIndex((*ends)[i], 0, dim);
      length = last - first;
    } else {
      first = clampIndex((*starts)[i], 0, dim - 1);
      last = toEnd ? -1 : clampIndex((*ends)[i], -1, dim - 1);
      length = first - last;
    }
    int64_t stride = std::abs(step);
    sizes[axis] = length > 0 ? (length + stride - 1) / stride : 0;
    from[axis] = sizes[axis] > 0 ? first : 0;
    by[axis] = sizes[axis] > 1 ? step : 1;
  }
  n.normalizeAxes(seen, shape.size());
  n.setOutput(n.create<graph::SliceOp>(input, from, sizes, by));
}

void importSliceV7(NodeContext &n) {
  slice(n, n.intsAttr("starts"), n.intsAttr("ends"), n.intsAttr("axes"), std::nullopt);
}

/// Only the run knows the bounds: each axis is gathered at start + i * step, for as
/// many elements as the model declares. What the bounds are for an axis is summed
/// up over the axes that name it.
void sliceAsDeclared(NodeContext &n, unsigned unknown) {
  using graph::ComparePredicate;
  Value result = n.input(0), starts = n.input(1), axes = n.optionalInput(3);
  Value steps = n.optionalInput(4);
  Ints declared = n.declaredShape(unknown);
  n.requireRank(1, 1, 1);
  if (n.failed())
    return;
  int64_t rank = n.rank(result), count = n.shape(starts)[0];
  for (unsigned index : {3u, 4u})
    if (n.hasInput(index) && n.shape(n.input(index)) != ArrayRef<int64_t>{count})
      return n.failInput(index, "must have as many elements as the starts, " + Twine(count));
  if (static_cast<int64_t>(declared->size()) != rank)
    return n.failNode("its declared result has another rank than its input");
  Type index = n.builder().getI64Type();
  auto number = [&](int64_t value) { return n.reshape(n.intList({value}), {}); };
  Value zero = number(0), one = number(1);
  auto choose = [&](Value lhs, ComparePredicate predicate, Value rhs, Value yes, Value no) {
    return n.create<graph::WhereOp>(n.create<graph::CompareOp>(lhs, rhs, predicate), yes, no);
  };
  starts = n.cast(starts, index);
  steps = steps ? n.cast(steps, index) : n.intList(SmallVector<int64_t>(count, 1));
  axes = axes ? n.cast(axes, index) : n.intList(llvm::to_vector(llvm::seq<int64_t>(0, count)));
  axes = choose(axes, ComparePredicate::Lt, zero, n.add(axes, number(rank)), axes);
  for (int64_t axis = 0; axis < rank && !n.failed(); ++axis) {
    int64_t dim = n.shape(n.input(0))[axis], length = (*declared)[axis];
    if (dim == 0 || length == 0)
      return n.failInput(unknown, "must be known at compile time for an empty tensor");
    auto ofAxis = [&](Value values) {
      Value own = choose(axes, ComparePredicate::Eq, number(axis), values, zero);
      return n.reduce(graph::ReduceKind::Sum, own, {0}, /*keepdims=*/false);
    };
    Value start = ofAxis(starts), step = ofAxis(steps), last = number(dim - 1);
    // An axis that is not named has sum 0: it starts at 0 with step 1.
    step = choose(step, ComparePredicate::Eq, zero, one, step);
    start = choose(start, ComparePredicate::Lt, zero, n.add(start, number(dim)), start);
    Value range = n.intList(llvm::to_vector(llvm::seq<int64_t>(0, length)));
    Value at = n.add(n.create<graph::MinOp>(n.create<graph::MaxOp>(start, zero), last),
                     n.mul(range, step));
    // Bounds that yield another length than the declared one must not read outside of the tensor.
    at = n.create<graph::MinOp>(n.create<graph::MaxOp>(at, zero), last);
    result = n.create<graph::GatherOp>(result, at, axis);
  }
  n.setOutput(result);
}

void importSliceV10(NodeContext &n) {
  n.input(1);
  n.input(2);
  for (unsigned index = 1; index < 5; ++index)
    if (n.isRuntimeInput(index)) {
      n.hasInput(4);
      return sliceAsDeclared(n, index);
    }
  slice(n, n.constantInts(1), n.constantInts(2), n.constantInts(3), n.constantInts(4));
}

//===----------------------------------------------------------------------===//
// Pad
//===----------------------------------------------------------------------===//

/// Returns `input` with borders of `fill`, one element that is only known in a run. Negative pads
/// take elements away, as PadOp does.
Value padWithElement(NodeContext &n, Value input, ArrayRef<int64_t> low, ArrayRef<int64_t> high,
                     Value fill) {
  auto isNegative = [](int64_t amount) { return amount < 0; };
  auto removed = [](ArrayRef<int64_t> amounts) {
    return llvm::map_to_vector(amounts, [](int64_t a) { return std::min<int64_t>(a, 0); });
  };
  if (llvm::any_of(low, isNegative) || llvm::any_of(high, isNegative))
    input = n.create<graph::PadOp>(input, removed(low), removed(high), graph::PadMode::Constant,
                                   APFloat(0.0));
  for (auto [axis, before, after] : llvm::enumerate(low, high)) {
    SmallVector<int64_t> shape(n.shape(input));
    auto border = [&](int64_t size) {
      shape[axis] = size;
      return n.createTyped<graph::ExpandOp>(shape, n.elementType(input), fill);
    };
    SmallVector<Value> parts;
    if (before > 0)
      parts.push_back(border(before));
    parts.push_back(input);
    if (after > 0)
      parts.push_back(border(after));
    if (parts.size() > 1)
      input = n.create<graph::ConcatOp>(ValueRange(parts), axis);
  }
  return input;
}

/// Returns what negative pads leave of the input, and sets these to zero.
Value cropped(NodeContext &n, Value input, SmallVector<int64_t> &low, SmallVector<int64_t> &high) {
  SmallVector<int64_t> starts, sizes = llvm::to_vector(n.shape(input));
  for (auto [begin, end, size] : llvm::zip(low, high, sizes)) {
    starts.push_back(std::max<int64_t>(-begin, 0));
    size = std::max<int64_t>(size - starts.back() - std::max<int64_t>(-end, 0), 0);
    begin = std::max<int64_t>(begin, 0);
    end = std::max<int64_t>(end, 0);
  }
  if (sizes == n.shape(input))
    return input;
  return n.create<graph::SliceOp>(input, starts, sizes, SmallVector<int64_t>(starts.size(), 1));
}

/// `fill`: the value of a border where it is no constant; else `value` is.
void pad(NodeContext &n, const Ints &pads, const Ints &axes, double value, Value fill = {}) {
  using graph::PadMode;
  Value input = n.input(0);
  std::string name = n.choiceAttr("mode", {"constant", "reflect", "edge", "wrap"});
  if (!n.failed() && !pads)
    n.failAttribute("pads", "is missing; the operator needs it");
  if (n.failed())
    return;
  int64_t rank = n.rank(input);
  SmallVector<int64_t> all = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  SmallVector<int64_t> at;
  for (int64_t axis : axes.value_or(all))
    at.push_back(n.normalizeAxis(axis, rank, "axes"));
  n.normalizeAxes(at, rank);
  if (!n.failed() && pads->size() != 2 * at.size())
    n.failNode("has " + Twine(pads->size()) + " pads, expected " + Twine(2 * at.size()));
  if (n.failed())
    return;
  SmallVector<int64_t> low(rank, 0), high(rank, 0);
  for (auto [index, axis] : llvm::enumerate(at)) {
    low[axis] = (*pads)[index];
    high[axis] = (*pads)[at.size() + index];
    int64_t dim = n.shape(input)[axis];
    for (int64_t amount : {low[axis], high[axis]})
      if (amount > maxDim || amount < -dim)
        return n.failNode("pad " + Twine(amount) + " of axis " + Twine(axis) +
                          " is out of range for " + Twine(dim) + " elements");
  }
  PadMode mode = llvm::StringSwitch<PadMode>(name)
                     .Case("reflect", PadMode::Reflect)
                     .Case("edge", PadMode::Edge)
                     .Case("wrap", PadMode::Wrap)
                     .Default(PadMode::Constant);
  if (mode == PadMode::Wrap)
    input = cropped(n, input, low, high);
  if (llvm::all_of(low, [](int64_t v) { return v == 0; }) &&
      llvm::all_of(high, [](int64_t v) { return v == 0; }))
    return n.setOutput(input);
  n.setOutput(fill && mode == PadMode::Constant
                  ? padWithElement(n, input, low, high, fill)
                  : n.create<graph::PadOp>(input, low, high, mode, APFloat(value)));
}

void importPadV7(NodeContext &n) {
  pad(n, n.intsAttr("pads"), std::nullopt, n.floatAttr("value", 0));
}

void importPadV11(NodeContext &n) {
  n.input(1);
  double value = 0;
  Value fill;
  if (n.isRuntimeInput(2)) {
    fill = n.input(2);
    if (!n.failed() && cast<RankedTensorType>(fill.getType()).getNumElements() != 1)
      n.failInput(2, "must have one element");
  } else if (std::optional<SmallVector<double>> given = n.constantFloats(2);
             given && !given->empty()) {
    value = given->front();
  }
  pad(n, n.constantInts(1), n.constantInts(3), value, fill);
}

//===----------------------------------------------------------------------===//
// Tile, gather, blocks
//===----------------------------------------------------------------------===//

void importTile(NodeContext &n) {
  Value input = n.input(0);
  n.input(1);
  if (n.failed())
    return;
  Ints repeats = n.isRuntimeInput(1) ? n.declaredShape(1) : n.constantInts(1);
  if (n.failed())
    return;
  // The declared dims are multiples of the input's.
  if (n.isRuntimeInput(1) && static_cast<int64_t>(repeats->size()) == n.rank(input))
    for (auto [repeat, dim] : llvm::zip(*repeats, n.shape(input))) {
      if (dim == 0 || repeat % dim != 0)
        return n.failInput(1, "does not follow from the declared shape of the result");
      repeat /= dim;
    }
  if (static_cast<int64_t>(repeats->size()) != n.rank(input))
    return n.failInput(1, "has " + Twine(repeats->size()) + " repeats for a tensor of rank " +
                              Twine(n.rank(input)));
  for (int64_t repeat : *repeats)
    if (repeat < 0 || repeat > maxDim)
      return n.failInput(1, "repeat " + Twine(repeat) + " is out of range");
  n.setOutput(n.create<graph::TileOp>(input, *repeats));
}

/// Whether `indices` are 0, 1, ... size - 1 in order.
bool isEach(Value indices, int64_t size) {
  ElementsAttr values;
  if (!matchPattern(indices, m_Constant(&values)) || values.getNumElements() != size ||
      !isa<IntegerType>(values.getElementType()))
    return false;
  return llvm::all_of(llvm::enumerate(readInts(values)), [](auto entry) {
    return entry.value() == static_cast<int64_t>(entry.index());
  });
}

void importGather(NodeContext &n) {
  Value input = n.input(0), indices = n.input(1);
  if (n.failed())
    return;
  int64_t axis = n.normalizeAxis(n.intAttr("axis", 0), n.rank(input));
  if (n.failed())
    return;
  int64_t size = n.shape(input)[axis];
  n.requireGathered(1, /*wraps=*/true, size, axis);
  // Views that exporters write as indices of all elements (as_strided of PyTorch).
  if (!n.failed() && isEach(indices, size)) {
    SmallVector<int64_t> shape(n.shape(input).take_front(axis));
    llvm::append_range(shape, n.shape(indices));
    llvm::append_range(shape, n.shape(input).drop_front(axis + 1));
    n.setOutput(n.reshape(input, shape));
    return;
  }
  n.setOutput(n.create<graph::GatherOp>(input, indices, axis));
}

int64_t readBlock(NodeContext &n) {
  n.requireRank(0, 4, 4);
  int64_t block = n.requiredInt("blocksize");
  if (!n.failed() && (block < 1 || block > maxDim / 2))
    n.failAttribute("blocksize", Twine(block) + " is out of range");
  return block;
}

void importDepthToSpace(NodeContext &n) {
  int64_t block = readBlock(n);
  auto order = n.choiceAttr("mode", {"DCR", "CRD"}) == "DCR" ? graph::DepthOrder::DCR
                                                             : graph::DepthOrder::CRD;
  n.setOutput(n.create<graph::DepthToSpaceOp>(n.input(0), block, order));
}

void importSpaceToDepth(NodeContext &n) {
  int64_t block = readBlock(n);
  n.setOutput(n.create<graph::SpaceToDepthOp>(n.input(0), block));
}

} // namespace

ArrayRef<OpRow> moveRows() {
  static constexpr llvm::StringLiteral constantBounds =
      "starts, ends, axes, steps are constant or the result's shape is declared";
  static const OpRow rows[] = {
      {"Concat", 7, latestOpset, importConcat},
      {"DepthToSpace", 7, latestOpset, importDepthToSpace},
      {"Gather", 7, latestOpset, importGather, limitsOfGathers},
      {"Pad", 7, 10, importPadV7},
      {"Pad", 11, latestOpset, importPadV11, "pads and axes are constant"},
      {"Slice", 7, 9, importSliceV7},
      {"Slice", 10, latestOpset, importSliceV10, constantBounds},
      {"SpaceToDepth", 7, latestOpset, importSpaceToDepth},
      {"Split", 7, 12, importSplitV7},
      {"Split", 13, latestOpset, importSplitV13, "split sizes are constant"},
      {"Tile", 7, latestOpset, importTile, "repeats are constant"},
  };
  return rows;
}

} // namespace atc::onnx_import
