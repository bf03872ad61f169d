//===-- DynamicShape.cpp - shapes and movement of dynamic tensors ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Builders of fixed shapes compute with dims at compile time; these let host kernels compute with
// the dims that tensors have when the model runs.

#include "dialects/graph/ops/HostOps.h"
#include "dialects/graph/ops/ShapeOps.h"
#include "frontends/SliceEnds.h"
#include "frontends/tf/OpTable.h"
#include "frontends/tf/ops/arithmetic/TensorMath.h"

#include "mlir/IR/Matchers.h"

#include <limits>

using namespace mlir;

namespace atc::tf_import {

Value indexVector(NodeContext &n, Value value) {
  Value wide = n.cast(value, n.builder().getI64Type());
  if (NodeContext::hasRank(wide) && NodeContext::rank(wide) == 1)
    return wide;
  return n.callHost("Reshape", {wide, n.intList({-1})});
}

int64_t takeConcatAxis(NodeContext &n, SmallVectorImpl<Value> &inputs) {
  if (!n.failed() && inputs.size() < 2)
    n.failNode("has no tensors to join");
  if (n.failed())
    return 0;
  bool axisFirst = n.op() == "Concat";
  int64_t axis = n.constantInt(axisFirst ? 0 : inputs.size() - 1);
  inputs.erase(axisFirst ? inputs.begin() : inputs.end() - 1);
  return axis;
}

Value withKnownDims(NodeContext &n, Value value, ArrayRef<int64_t> dims, int64_t first) {
  if (!value || !value.getDefiningOp<graph::HostCallOp>() || dims.empty())
    return value;
  SmallVector<int64_t> known(n.shape(value));
  if (!NodeContext::hasRank(value))
    known.assign(dims.size(), ShapedType::kDynamic);
  if (known.size() != dims.size())
    return value;
  for (int64_t axis = first; axis < static_cast<int64_t>(dims.size()); ++axis)
    if (ShapedType::isDynamic(known[axis]))
      known[axis] = dims[axis];
  value.setType(RankedTensorType::get(known, n.elementType(value)));
  return value;
}

Value filledLike(NodeContext &n, Value like, double fill) {
  if (NodeContext::isStatic(like))
    return n.fill(n.shape(like), n.scalarLike(fill, like));
  return n.callHost("Expand", {n.scalarLike(fill, like), shapeVector(n, like)});
}

SmallVector<int64_t> knownElements(Value vector) {
  auto type = dyn_cast<RankedTensorType>(vector.getType());
  if (!type || type.getRank() != 1 || type.isDynamicDim(0) || type.getDimSize(0) > maxRank)
    return {};
  SmallVector<int64_t> unknown(type.getDimSize(0), ShapedType::kDynamic);
  ElementsAttr value;
  if (matchPattern(vector, m_Constant(&value))) {
    SmallVector<int64_t> elements = readInts(value);
    for (int64_t &element : elements)
      if (element < 0 || element > maxDim)
        element = ShapedType::kDynamic;
    return elements;
  }
  Operation *source = vector.getDefiningOp();
  auto call = dyn_cast_or_null<graph::HostCallOp>(source);
  auto isA = [&](StringRef kernel) { return call && call.getKernel() == kernel; };
  if (isa_and_nonnull<graph::CastOp>(source) || isA("Cast"))
    return knownElements(source->getOperand(0));
  if (isA("Shape") && call.getParameters().empty())
    if (auto of = dyn_cast<RankedTensorType>(source->getOperand(0).getType()))
      return SmallVector<int64_t>(of.getShape());
  if (auto slice = dyn_cast_or_null<graph::SliceOp>(source)) {
    SmallVector<int64_t> all = knownElements(slice.getInput());
    for (size_t i = 0; i < unknown.size() && !all.empty(); ++i)
      unknown[i] = all[slice.getStarts()[0] + i * slice.getSteps()[0]];
    return unknown;
  }
  if (!isa_and_nonnull<graph::ConcatOp>(source) && !isA("Concat"))
    return unknown;
  SmallVector<int64_t> elements;
  for (Value part : source->getOperands()) {
    SmallVector<int64_t> some = knownElements(part);
    if (some.empty())
      return unknown;
    elements.append(some);
  }
  return elements.size() == unknown.size() ? elements : unknown;
}

namespace {

/// Ends of slices beyond every axis, in front and behind.
constexpr int64_t allOf = std::numeric_limits<int32_t>::max();

Value axes(NodeContext &n, ArrayRef<int64_t> values) { return n.intList(values); }
Value unsqueeze(NodeContext &n, Value value, ArrayRef<int64_t> at) {
  return at.empty() ? value : n.callHost("Unsqueeze", {value, axes(n, at)});
}
Value squeeze(NodeContext &n, Value value, ArrayRef<int64_t> at) {
  return at.empty() ? value : n.callHost("Squeeze", {value, axes(n, at)});
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

void importReshape(NodeContext &n) {
  Value input = n.input(0), shape = n.input(1);
  if (n.failed())
    return;
  // A 0 is a dim of no element here; ONNX has it copied.
  ElementsAttr constant;
  const bool mayBeZero =
      !matchPattern(shape, m_Constant(&constant)) || llvm::is_contained(readInts(constant), 0);
  Value result =
      n.callHost("Reshape", {input, indexVector(n, shape)}, {n.hostInts("allowzero", {mayBeZero})});
  n.setOutput(withKnownDims(n, result, knownElements(shape), 0));
}

void importSqueeze(NodeContext &n) {
  Value input = n.input(0);
  SmallVector<int64_t> stated = n.intsAttr(n.hasAttr("squeeze_dims") ? "squeeze_dims" : "axis");
  if (!n.failed())
    n.setOutput(stated.empty() ? n.callHost("Squeeze", {input}) : squeeze(n, input, stated));
}

void importExpandDims(NodeContext &n) {
  Value input = n.input(0);
  int64_t axis = n.constantInt(1);
  if (!n.failed())
    n.setOutput(unsqueeze(n, input, {axis}));
}

void importShape(NodeContext &n) {
  Type element = n.typeAttr("out_type", pb::DT_INT32);
  for (auto [index, input] : llvm::enumerate(n.inputs()))
    if (!n.failed())
      n.setOutput(index, n.cast(shapeVector(n, input), element));
}

void importSize(NodeContext &n) {
  Type element = n.typeAttr("out_type", pb::DT_INT32);
  Value input = n.input(0);
  if (!n.failed())
    n.setOutput(n.cast(n.callHost("Size", {input}), element));
}

void importRank(NodeContext &n) {
  Value input = n.input(0);
  if (n.failed())
    return;
  Type element = n.builder().getI32Type();
  n.setOutput(NodeContext::hasRank(input)
                  ? n.scalar(static_cast<double>(n.rank(input)), element)
                  : n.cast(n.callHost("Size", {shapeVector(n, input)}), element));
}

void importTranspose(NodeContext &n) {
  Value input = n.input(0), order = n.input(1);
  if (n.failed())
    return;
  if (!matchPattern(order, m_Constant()) && NodeContext::hasRank(input) && n.rank(input) > 0)
    return transposeByValue(n, input, order);
  SmallVector<int64_t> permutation = n.constantInts(1);
  if (!n.failed())
    n.setOutput(n.callHost("Transpose", {input}, {n.hostInts("perm", permutation)}));
}

void importFill(NodeContext &n) {
  Value shape = n.input(0), value = n.input(1);
  if (!n.failed())
    n.setOutput(n.callHost("Expand", {value, indexVector(n, shape)}));
}

void importBroadcastTo(NodeContext &n) {
  Value input = n.input(0), shape = n.input(1);
  if (!n.failed())
    n.setOutput(n.callHost("Expand", {input, indexVector(n, shape)}));
}

template <int value> void importFilledLike(NodeContext &n) {
  Value input = n.input(0);
  if (!n.failed())
    n.setOutput(filledLike(n, input, value));
}

void importRange(NodeContext &n) {
  Value start = n.input(0), limit = n.input(1), delta = n.input(2);
  Value range = n.callHost("Range", {start, limit, delta});
  if (range && range.getDefiningOp<graph::HostCallOp>() && !NodeContext::hasRank(range))
    range.setType(RankedTensorType::get({ShapedType::kDynamic}, NodeContext::elementType(start)));
  n.setOutput(range);
}

void importPack(NodeContext &n) {
  SmallVector<Value> inputs = n.inputs();
  int64_t axis = n.intAttr("axis", 0);
  for (Value &input : inputs)
    input = unsqueeze(n, input, {axis});
  n.setOutput(n.callHost("Concat", inputs, {n.hostInts("axis", {axis})}));
}

void importUnpack(NodeContext &n) {
  Value input = n.input(0);
  int64_t axis = n.intAttr("axis", 0), count = n.requiredInt("num");
  if (n.failed())
    return;
  if (count < 0 || count > (1 << 16))
    return n.failAttribute("num", "is " + Twine(count) + ", which is out of range");
  for (int64_t part = 0; part < count; ++part)
    n.setOutput(part,
                n.callHost("Gather",
                           {input, n.scalar(static_cast<double>(part), n.builder().getI64Type())},
                           {n.hostInts("axis", {axis})}));
}

//===----------------------------------------------------------------------===//
// Slices
//===----------------------------------------------------------------------===//

/// `value` where the elements of `test` are `number`, else `other`.
Value where(NodeContext &n, Value test, int64_t number, Value value, Value other) {
  return n.callHost("Where", {n.callHost("Equal", {test, n.intList({number})}), value, other});
}

void importSlice(NodeContext &n) {
  Value input = n.input(0), begin = n.input(1), size = n.input(2);
  if (n.failed())
    return;
  begin = indexVector(n, begin);
  size = indexVector(n, size);
  Value end = where(n, size, -1, n.intList({allOf}), n.callHost("Add", {begin, size}));
  n.setOutput(n.callHost("Slice", {input, begin, end}));
}

/// Python's x[a:b:c, ..., None, 3]. Entries behind an ellipsis count their axes from the
/// end, so that no rank has to be known.
void importStridedSlice(NodeContext &n) {
  Value input = n.input(0);
  int64_t beginMask = n.intAttr("begin_mask", 0), endMask = n.intAttr("end_mask", 0);
  int64_t ellipsisMask = n.intAttr("ellipsis_mask", 0);
  int64_t newMask = n.intAttr("new_axis_mask", 0), shrinkMask = n.intAttr("shrink_axis_mask", 0);
  SmallVector<int64_t> strides = n.constantInts(3);
  Value begin = n.input(1), end = n.input(2);
  if (n.failed())
    return;
  const int64_t entries = strides.size();
  if (entries > 32)
    return n.failNode("has more than 32 entries");
  auto has = [](int64_t mask, int64_t entry) { return ((mask >> entry) & 1) != 0; };
  int64_t ellipsis = entries, sliced = 0, kept = 0;
  for (int64_t i = 0; i < entries; ++i)
    if (has(ellipsisMask, i))
      ellipsis = std::min(ellipsis, i);
  // Axes of the input that the entries behind the ellipsis name, dims of the result that
  // they make.
  for (int64_t i = ellipsis + 1; i < entries; ++i) {
    sliced += !has(newMask, i);
    kept += has(newMask, i) || !has(shrinkMask, i);
  }
  SmallVector<int64_t> chosen, at, steps, opensBegin, opensEnd, shrinks, dropped, added;
  int64_t axis = 0, dim = 0;
  for (int64_t i = 0; i < entries; ++i) {
    if (i == ellipsis) {
      axis = -sliced;
      dim = -kept;
      continue;
    }
    if (has(newMask, i)) {
      added.push_back(dim++);
      continue;
    }
    const bool isShrunk = has(shrinkMask, i);
    if (strides[i] == 0)
      return n.failNode("has a stride of 0");
    if (isShrunk)
      dropped.push_back(axis);
    else
      ++dim;
    chosen.push_back(i);
    at.push_back(axis++);
    steps.push_back(isShrunk ? 1 : strides[i]);
    shrinks.push_back(isShrunk);
    opensBegin.push_back(!isShrunk && has(beginMask, i));
    opensEnd.push_back(!isShrunk && has(endMask, i));
  }
  Value result = input;
  if (!chosen.empty()) {
    auto take = [&](Value list) {
      return n.callHost("Gather", {indexVector(n, list), n.intList(chosen)},
                        {n.hostInts("axis", {0})});
    };
    SmallVector<int64_t> first, last;
    for (int64_t step : steps) {
      first.push_back(step > 0 ? 0 : allOf);
      last.push_back(step > 0 ? allOf : -allOf);
    }
    Value from = take(begin), to = take(end);
    // An element is a slice of one; the last one ends where the axis does.
    Value behind =
        where(n, from, -1, n.intList({allOf}), n.callHost("Add", {from, n.intList({1})}));
    to = where(n, n.intList(shrinks), 1, behind, to);
    from = where(n, n.intList(opensBegin), 1, n.intList(first), from);
    to = n.callHost("Min", {to, n.intList(llvm::map_to_vector(steps, maxSliceEnd))});
    to = where(n, n.intList(opensEnd), 1, n.intList(last), to);
    result = n.callHost("Slice", {input, from, to, n.intList(at), n.intList(steps)});
  }
  n.setOutput(unsqueeze(n, squeeze(n, result, dropped), added));
}

void importReverse(NodeContext &n) {
  Value input = n.input(0);
  SmallVector<int64_t> along = reversedAxes(n);
  if (n.failed())
    return;
  auto all = [&](int64_t value) { return n.intList(SmallVector<int64_t>(along.size(), value)); };
  n.setOutput(along.empty() ? input
                            : n.callHost("Slice", {input, all(allOf), all(-allOf), n.intList(along),
                                                   all(-1)}));
}

//===----------------------------------------------------------------------===//
// Joining, splitting, repeating
//===----------------------------------------------------------------------===//

void importConcat(NodeContext &n) {
  SmallVector<Value> inputs = n.inputs();
  int64_t axis = takeConcatAxis(n, inputs);
  n.setOutput(n.callHost("Concat", inputs, {n.hostInts("axis", {axis})}));
}

void setParts(NodeContext &n, ArrayRef<Value> inputs, int64_t axis, int64_t parts) {
  if (n.failed())
    return;
  if (parts < 1 || parts > 32)
    return n.failNode("makes " + Twine(parts) +
                      " parts of a tensor whose shape is not fixed, "
                      "expected 1 to 32");
  SmallVector<NamedAttribute> attributes{n.hostInts("axis", {axis})};
  if (inputs.size() == 1)
    attributes.push_back(n.hostInts("num_outputs", {parts}));
  graph::HostCall call{"Split", SmallVector<Value>(inputs),
                       n.builder().getDictionaryAttr(attributes), static_cast<unsigned>(parts)};
  for (auto [part, value] : llvm::enumerate(n.callHost(call)))
    n.setOutput(part, value);
}

void importDynamicSplit(NodeContext &n) {
  int64_t axis = n.constantInt(0), parts = n.requiredInt("num_split");
  setParts(n, {n.input(1)}, axis, parts);
}

/// Imports SplitV. A size of -1 stands for the remaining elements.
void importSplitV(NodeContext &n) {
  Value input = n.input(0);
  SmallVector<int64_t> sizes = n.constantInts(1);
  int64_t axis = n.constantInt(2), known = 0;
  if (n.failed())
    return;
  for (int64_t size : sizes)
    known += std::max<int64_t>(size, 0);
  Value total =
      n.callHost("Gather", {shapeVector(n, input), n.intList({axis})}, {n.hostInts("axis", {0})});
  Value rest = n.callHost("Sub", {total, n.intList({known})});
  Value list = n.intList(sizes);
  setParts(n, {input, where(n, list, -1, rest, list)}, axis, static_cast<int64_t>(sizes.size()));
}

void importTile(NodeContext &n) {
  Value input = n.input(0), repeats = n.input(1);
  if (n.failed())
    return;
  Value counts = indexVector(n, repeats);
  SmallVector<int64_t> dims = knownElements(counts);
  ArrayRef<int64_t> sizes = n.shape(input); // none where the rank is unknown
  for (size_t i = 0; i < dims.size(); ++i) {
    const int64_t dim = i < sizes.size() ? sizes[i] : ShapedType::kDynamic;
    const bool isKnown = !ShapedType::isDynamic(dim) && !ShapedType::isDynamic(dims[i]);
    dims[i] = isKnown && dim * dims[i] <= maxDim ? dim * dims[i] : ShapedType::kDynamic;
  }
  n.setOutput(withKnownDims(n, n.callHost("Tile", {input, counts}), dims, 0));
}

/// The pads [[low, high], ...] become [low..., high...].
/// Repeats the elements of every axis mirrored, the outermost ones too: 1 0 | 0 1 2 | 2 1.
void mirrorWithEdges(NodeContext &n, Value value, Value pads) {
  if (!NodeContext::hasRank(value))
    return n.failInput(0, "has no known rank");
  TensorMath m(n);
  const SmallVector<int64_t> open(n.rank(value), ShapedType::kDynamic);
  for (int64_t axis = 0; axis < static_cast<int64_t>(open.size()) && !n.failed(); ++axis) {
    Value sides = m.squeeze(m.slice(pads, axis, axis + 1, 0), {0});
    Value low = m.element(sides, 0), size = m.dim(value, axis), twice = m.add(size, size);
    Value number = m.sub(m.count(m.add(size, m.add(low, m.element(sides, 1)))), low);
    Value position = n.callHost("Mod", {number, twice}, {n.hostInts("fmod", {0})});
    position = m.min(position, m.sub(m.sub(twice, m.index(1)), position));
    value = withKnownDims(n, m.gather(value, position, axis), open, 0);
  }
  n.setOutput(value);
}

void importPad(NodeContext &n) {
  Value input = n.input(0), pads = n.input(1);
  if (n.failed())
    return;
  StringRef mode = "constant";
  if (n.op() == "MirrorPad") {
    std::string wanted = n.stringAttr("mode", "REFLECT");
    if (wanted == "SYMMETRIC")
      return mirrorWithEdges(n, input, n.cast(pads, n.builder().getI64Type()));
    if (wanted != "REFLECT")
      return n.failAttribute("mode", "is '" + wanted + "', expected REFLECT or SYMMETRIC");
    mode = "reflect";
  }
  Value sides = n.callHost("Transpose", {n.cast(pads, n.builder().getI64Type())},
                           {n.hostInts("perm", {1, 0})});
  Value value = n.op() == "PadV2" ? n.input(2) : n.scalarLike(0, input);
  Value padded =
      n.callHost("Pad", {input, indexVector(n, sides), value}, {n.hostText("mode", mode)});
  if (NodeContext::hasRank(input))
    padded = withKnownDims(n, padded, SmallVector<int64_t>(n.rank(input), ShapedType::kDynamic), 0);
  n.setOutput(padded);
}

//===----------------------------------------------------------------------===//
// Gathers and scatters
//===----------------------------------------------------------------------===//

void importGather(NodeContext &n) {
  Value input = n.input(0), indices = n.input(1);
  int64_t axis = n.op() == "GatherV2" ? n.constantInt(2) : 0;
  int64_t batch = n.intAttr("batch_dims", 0);
  if (n.failed())
    return;
  if (batch < 0 && NodeContext::hasRank(indices))
    batch += n.rank(indices);
  if (batch == 0)
    return n.setOutput(gatherRows(n, input, indices, axis));
  if (axis != batch)
    return n.failAttribute("batch_dims", "is " + Twine(batch) + " for axis " + Twine(axis) +
                                             ", expected the axis");
  Value each = n.cast(unsqueeze(n, indices, {-1}), n.builder().getI64Type());
  n.setOutput(n.callHost("GatherND", {input, each}, {n.hostInts("batch_dims", {batch})}));
}

void importGatherNd(NodeContext &n) {
  Value input = n.input(0), indices = n.input(1);
  n.setOutput(n.callHost("GatherND", {input, n.cast(indices, n.builder().getI64Type())}));
}

void importScatterNd(NodeContext &n) {
  Value indices = n.input(0), updates = n.input(1), shape = n.input(2);
  if (n.failed())
    return;
  Value base = n.callHost("Expand", {n.scalarLike(0, updates), indexVector(n, shape)});
  n.setOutput(n.callHost("ScatterND", {base, n.cast(indices, n.builder().getI64Type()), updates},
                         {n.hostText("reduction", "add")}));
}

/// Inputs are the positions, the shape of the result, what goes there, and what is everywhere else.
void importSparseToDense(NodeContext &n) {
  Value indices = n.input(0), shape = n.input(1), values = n.input(2), rest = n.input(3);
  if (n.failed())
    return;
  if (!NodeContext::hasRank(indices) || !NodeContext::hasRank(values))
    return n.failInput(NodeContext::hasRank(indices) ? 2 : 0, "has no known rank");
  TensorMath m(n);
  Value positions = m.toIndex(indices), base = n.callHost("Expand", {rest, indexVector(n, shape)});
  if (n.rank(indices) < 2)
    positions = m.reshape(positions, ArrayRef<int64_t>{-1, 1});
  if (n.rank(values) == 0)
    values = n.callHost("Expand", {values, m.dims(positions, 0, 1)});
  n.setOutput(n.callHost("ScatterND", {base, positions, values}));
}

/// Returns the shape that two shapes broadcast to.
void importBroadcastArgs(NodeContext &n) {
  SmallVector<Value> shapes = {n.input(0), n.input(1)};
  Type element = n.failed() ? Type() : NodeContext::elementType(shapes[0]);
  int64_t rank = 0;
  for (auto [index, shape] : llvm::enumerate(shapes)) {
    if (n.failed())
      return;
    if (!NodeContext::isStatic(shape) || n.rank(shape) != 1)
      return n.failInput(index, "must be a vector of known length");
    rank = std::max(rank, n.shape(shape)[0]);
  }
  TensorMath m(n);
  for (Value &shape : shapes)
    if (const int64_t missing = rank - n.shape(shape)[0])
      shape = m.concat({n.intList(SmallVector<int64_t>(missing, 1), element), shape}, 0);
  n.setOutput(m.select(m.equal(shapes[0], n.scalar(1, element)), shapes[1], shapes[0]));
}

void importTensorScatter(NodeContext &n) {
  Value base = n.input(0), indices = n.input(1), updates = n.input(2);
  if (n.failed())
    return;
  StringRef op = n.op();
  if (op.ends_with("Sub"))
    updates = n.callHost("Neg", {updates});
  StringRef reduction = op.ends_with("Update") ? "none"
                        : op.ends_with("Max")  ? "max"
                        : op.ends_with("Min")  ? "min"
                                               : "add";
  n.setOutput(n.callHost("ScatterND", {base, n.cast(indices, n.builder().getI64Type()), updates},
                         {n.hostText("reduction", reduction)}));
}

/// Indices below 0 choose no class; in the kernel they count from the end.
void importOneHot(NodeContext &n) {
  Value indices = n.input(0), depth = n.input(1), on = n.input(2), off = n.input(3);
  int64_t axis = n.intAttr("axis", -1);
  if (n.failed())
    return;
  Type index = n.builder().getI64Type();
  indices = n.cast(indices, index);
  depth = n.cast(depth, index);
  indices =
      n.callHost("Where", {n.callHost("Less", {indices, n.scalar(0, index)}), depth, indices});
  Value values = n.callHost("Concat", {unsqueeze(n, off, {0}), unsqueeze(n, on, {0})},
                            {n.hostInts("axis", {0})});
  n.setOutput(n.callHost("OneHot", {indices, depth, values}, {n.hostInts("axis", {axis})}));
}

void importSelect(NodeContext &n) {
  Value condition = n.input(0), lhs = n.input(1), rhs = n.input(2);
  if (n.failed())
    return;
  if (n.op() == "Select" && NodeContext::rank(condition) == 1 && NodeContext::rank(lhs) > 1) {
    SmallVector<int64_t> behind;
    for (int64_t axis = 1; axis < n.rank(lhs); ++axis)
      behind.push_back(axis);
    condition = unsqueeze(n, condition, behind);
  }
  n.setOutput(n.callHost("Where", {condition, lhs, rhs}));
}

} // namespace

ArrayRef<OpRow> dynamicShapeRows() {
  static const OpRow rows[] = {
      {"BroadcastArgs", importBroadcastArgs},
      {"BroadcastTo", importBroadcastTo},
      {"Concat", importConcat},
      {"ConcatV2", importConcat},
      {"ExpandDims", importExpandDims},
      {"Fill", importFill},
      {"Gather", importGather},
      {"GatherNd", importGatherNd},
      {"GatherV2", importGather},
      {"MirrorPad", importPad},
      {"OneHot", importOneHot},
      {"OnesLike", importFilledLike<1>},
      {"Pack", importPack},
      {"Pad", importPad},
      {"PadV2", importPad},
      {"Range", importRange},
      {"Rank", importRank},
      {"Reshape", importReshape},
      {"Reverse", importReverse},
      {"ReverseV2", importReverse},
      {"ScatterNd", importScatterNd},
      {"SparseToDense", importSparseToDense},
      {"Select", importSelect},
      {"SelectV2", importSelect},
      {"Shape", importShape},
      {"ShapeN", importShape},
      {"Size", importSize},
      {"Slice", importSlice},
      {"Split", importDynamicSplit},
      {"SplitV", importSplitV},
      {"Squeeze", importSqueeze},
      {"StridedSlice", importStridedSlice},
      {"TensorScatterAdd", importTensorScatter},
      {"TensorScatterMax", importTensorScatter},
      {"TensorScatterMin", importTensorScatter},
      {"TensorScatterSub", importTensorScatter},
      {"TensorScatterUpdate", importTensorScatter},
      {"Tile", importTile},
      {"Transpose", importTranspose},
      {"Unpack", importUnpack},
      {"ZerosLike", importFilledLike<0>},
  };
  return rows;
}

} // namespace atc::tf_import
