//===-- ImportShape.cpp - the same elements under other shapes ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <cmath>

#include "dialects/graph/ops/ShapeOps.h"
#include "frontends/tf/NodeContext.h"
#include "frontends/tf/OpTable.h"

using namespace mlir;

namespace atc::tf_import {
namespace {

void importReshape(NodeContext &n) {
  Value input = n.input(0);
  SmallVector<int64_t> shape = n.constantInts(1);
  n.setOutput(n.reshapeAs(input, shape, /*copyZeros=*/false));
}

void importSqueeze(NodeContext &n) {
  Value input = n.input(0);
  SmallVector<int64_t> stated = n.intsAttr(n.hasAttr("squeeze_dims") ? "squeeze_dims" : "axis");
  if (n.failed())
    return;
  SmallVector<int64_t> axes = n.normalizeAxes(stated, n.rank(input)), shape;
  for (auto [axis, dim] : llvm::enumerate(n.shape(input))) {
    bool isNamed = llvm::is_contained(axes, axis);
    if (isNamed && dim != 1)
      n.failNode("squeezes axis " + Twine(axis) + ", which has " + Twine(dim) +
                 " elements, expected 1");
    if (axes.empty() ? dim != 1 : !isNamed)
      shape.push_back(dim);
  }
  n.setOutput(n.reshape(input, shape));
}

void importExpandDims(NodeContext &n) {
  Value input = n.input(0);
  int64_t axis = n.constantInt(1);
  if (n.failed())
    return;
  axis = n.normalizeAxis(axis, n.rank(input) + 1);
  SmallVector<int64_t> shape(n.shape(input));
  shape.insert(shape.begin() + axis, 1);
  n.setOutput(n.reshape(input, shape));
}

void importShape(NodeContext &n) {
  Type element = n.typeAttr("out_type", pb::DT_INT32);
  for (auto [index, input] : llvm::enumerate(n.inputs()))
    if (!n.failed())
      n.setOutput(index, n.intList(n.shape(input), element));
}

void importSize(NodeContext &n) {
  Type element = n.typeAttr("out_type", pb::DT_INT32);
  Value input = n.input(0);
  if (!n.failed())
    n.setOutput(n.scalar(
        static_cast<double>(cast<RankedTensorType>(input.getType()).getNumElements()), element));
}

void importRank(NodeContext &n) {
  Value input = n.input(0);
  if (!n.failed())
    n.setOutput(n.scalar(static_cast<double>(n.rank(input)), n.builder().getI32Type()));
}

void importTranspose(NodeContext &n) {
  Value input = n.input(0);
  SmallVector<int64_t> permutation = n.constantInts(1);
  if (n.failed())
    return;
  SmallVector<int64_t> sorted(permutation);
  llvm::sort(sorted);
  if (!llvm::equal(sorted, llvm::seq<int64_t>(0, n.rank(input))))
    return n.failInput(1, printDims(permutation) + " is not a permutation of the " +
                              Twine(n.rank(input)) + " axes");
  n.setOutput(n.transpose(input, permutation));
}

void importInvertPermutation(NodeContext &n) {
  SmallVector<int64_t> permutation = n.constantInts(0);
  if (n.failed())
    return;
  SmallVector<int64_t> inverse(permutation.size(), -1);
  for (auto [index, value] : llvm::enumerate(permutation)) {
    if (value < 0 || value >= static_cast<int64_t>(inverse.size()) || inverse[value] != -1)
      return n.failInput(0, printDims(permutation) + " is not a permutation");
    inverse[value] = static_cast<int64_t>(index);
  }
  n.setOutput(n.intList(inverse, n.elementType(n.input(0))));
}

void importBroadcastTo(NodeContext &n) {
  Value input = n.input(0);
  SmallVector<int64_t> shape = n.constantInts(1);
  if (!n.failed())
    n.setOutput(n.fill(shape, input));
}

void importFill(NodeContext &n) {
  SmallVector<int64_t> shape = n.constantInts(0);
  Value value = n.input(1);
  n.requireRank(1, 0, 0);
  if (!n.failed())
    n.setOutput(n.fill(shape, value));
}

void importRange(NodeContext &n) {
  SmallVector<double> start = n.constantFloats(0), limit = n.constantFloats(1);
  SmallVector<double> delta = n.constantFloats(2);
  if (n.failed())
    return;
  if (start.size() != 1 || limit.size() != 1 || delta.size() != 1 || delta[0] == 0)
    return n.failNode("needs one start, one limit and one delta that is not 0");
  double count = std::max(0.0, std::ceil((limit[0] - start[0]) / delta[0]));
  if (!(count <= 1 << 20))
    return n.failNode("makes more than 2^20 elements");
  Type element = n.elementType(n.input(0));
  SmallVector<double> values;
  for (int64_t i = 0; i < static_cast<int64_t>(count); ++i)
    values.push_back(start[0] + static_cast<double>(i) * delta[0]);
  if (isa<IntegerType>(element))
    return n.setOutput(n.cast(n.intList(llvm::map_to_vector(values, toInteger)), element));
  auto type =
      RankedTensorType::get({static_cast<int64_t>(values.size())}, n.builder().getF64Type());
  n.setOutput(n.cast(n.constant(DenseElementsAttr::get(type, ArrayRef(values))), element));
}

/// Stacks along a new axis.
void importPack(NodeContext &n) {
  SmallVector<Value> inputs = n.inputs();
  int64_t axis = n.intAttr("axis", 0);
  if (n.failed())
    return;
  axis = n.normalizeAxis(axis, n.rank(inputs.front()) + 1);
  for (Value &input : inputs) {
    if (!n.failed() && n.shape(input) != n.shape(n.input(0)))
      n.failNode("its inputs differ in shape");
    if (n.failed())
      return;
    SmallVector<int64_t> shape(n.shape(input));
    shape.insert(shape.begin() + axis, 1);
    input = n.reshape(input, shape);
  }
  n.setOutput(inputs.size() == 1 ? inputs.front()
                                 : n.create<graph::ConcatOp>(ValueRange(inputs), axis));
}

void importUnpack(NodeContext &n) {
  Value input = n.input(0);
  int64_t axis = n.intAttr("axis", 0);
  if (n.failed())
    return;
  axis = n.normalizeAxis(axis, n.rank(input));
  if (n.failed())
    return;
  SmallVector<int64_t> shape(n.shape(input)), starts(shape.size(), 0), steps(shape.size(), 1);
  int64_t count = shape[axis];
  if (n.intAttr("num", count) != count || count > (1 << 16))
    return n.failAttribute("num", "does not fit axis " + Twine(axis) + " of " + Twine(count) +
                                      " elements");
  shape[axis] = 1;
  SmallVector<int64_t> rest(shape);
  rest.erase(rest.begin() + axis);
  for (int64_t part = 0; part < count; ++part) {
    starts[axis] = part;
    n.setOutput(part, n.reshape(n.create<graph::SliceOp>(input, starts, shape, steps), rest));
  }
}

} // namespace

ArrayRef<OpRow> shapeRows() {
  static const OpRow rows[] = {
      {"BroadcastTo", importBroadcastTo},
      {"ExpandDims", importExpandDims},
      {"Fill", importFill},
      {"InvertPermutation", importInvertPermutation},
      {"Pack", importPack},
      {"Range", importRange, "up to 2^20 elements"},
      {"Rank", importRank},
      {"Reshape", importReshape},
      {"Shape", importShape},
      {"ShapeN", importShape},
      {"Size", importSize},
      {"Squeeze", importSqueeze},
      {"Transpose", importTranspose},
      {"Unpack", importUnpack, "up to 2^16 parts"},
  };
  return rows;
}

} // namespace atc::tf_import
