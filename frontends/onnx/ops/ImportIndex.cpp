//===-- ImportIndex.cpp - by indices: gathers, one-hot, triangles, scans --===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/graph/ops/BinaryOps.h"
#include "dialects/graph/ops/ShapeOps.h"
#include "dialects/graph/ops/StructureOps.h"
#include "dialects/graph/scatter/Scatter.h"
#include "frontends/onnx/NodeContext.h"
#include "frontends/onnx/OpTable.h"
#include "frontends/onnx/TensorData.h" // IWYU pragma: keep
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace atc::onnx_import {
namespace {

using graph::ComparePredicate;

/// 0, 1, ... size - 1 along dim `axis` of `rank` dims, the others are 1.
Value positions(NodeContext &n, int64_t size, int64_t axis, int64_t rank) {
  if (n.failed())
    return {};
  if (size > maxMadeElements) {
    n.failNode("needs more than 2^26 positions");
    return {};
  }
  SmallVector<int64_t> shape(rank, 1);
  shape[axis] = size;
  return n.reshape(n.intList(llvm::to_vector(llvm::seq<int64_t>(0, size))), shape);
}

Value number(NodeContext &n, int64_t value) { return n.reshape(n.intList({value}), {}); }

Value compare(NodeContext &n, Value lhs, Value rhs, ComparePredicate predicate) {
  return n.create<graph::CompareOp>(lhs, rhs, predicate);
}

Value asIndex(NodeContext &n, Value value) { return n.cast(value, n.builder().getI64Type()); }

/// Negative indices count from the end of `size` elements.
Value wrapped(NodeContext &n, Value index, int64_t size) {
  index = asIndex(n, index);
  Value isNegative = compare(n, index, number(n, 0), ComparePredicate::Lt);
  return n.create<graph::WhereOp>(isNegative, n.add(index, number(n, size)), index);
}

/// result[i, j, k] = input[i, index[i, j, k], k]: a gather from the flat tensor.
void importGatherElements(NodeContext &n) {
  Value input = n.input(0), indices = n.input(1);
  int64_t attr = n.intAttr("axis", 0);
  if (n.failed())
    return;
  int64_t rank = n.rank(input), axis = n.normalizeAxis(attr, rank);
  if (!n.failed() && n.rank(indices) != rank)
    n.failInput(1, "has rank " + Twine(n.rank(indices)) + ", expected " + Twine(rank));
  if (n.failed())
    return;
  ArrayRef<int64_t> from = n.shape(input), to = n.shape(indices);
  n.requireGathered(1, /*wraps=*/true, from[axis], axis);
  Value flat;
  for (int64_t dim = 0; dim < rank && !n.failed(); ++dim) {
    if (dim != axis && to[dim] > from[dim])
      return n.failInput(1, "dim " + Twine(dim) + " is " + Twine(to[dim]) + ", expected at most " +
                                Twine(from[dim]));
    Value at = dim == axis ? wrapped(n, indices, from[dim]) : positions(n, to[dim], dim, rank);
    at = n.mul(at, number(n, ShapedType::getNumElements(from.drop_front(dim + 1))));
    flat = flat ? n.add(flat, at) : at;
  }
  n.setOutput(n.create<graph::GatherOp>(n.reshape(input, {ShapedType::getNumElements(from)}), flat,
                                        /*axis=*/0));
}

/// Whether `indices` choose in `input` by its first dim, in order, and by the same indices of the
/// second one in each of its rows, as PyTorch exports masks of tokens. Returns those indices.
Value indicesOfColumns(NodeContext &n, Value input, Value indices) {
  ElementsAttr values;
  ArrayRef<int64_t> from = n.shape(input), shape = n.shape(indices);
  if (from.size() < 2 || shape.size() < 2 || shape.back() != 2 || shape[0] != from[0] ||
      from[0] == 0 || !matchPattern(indices, m_Constant(&values)) ||
      !isa<IntegerType>(values.getElementType()))
    return {};
  const SmallVector<int64_t> numbers = readInts(values);
  const size_t share = numbers.size() / from[0];
  for (size_t i = 0; i < numbers.size(); i += 2)
    if (numbers[i] != static_cast<int64_t>(i / share) || numbers[i + 1] != numbers[i % share + 1])
      return {};
  SmallVector<int64_t> columns;
  for (size_t i = 1; i < share; i += 2)
    columns.push_back(numbers[i]);
  return n.reshape(n.intList(columns), shape.drop_front().drop_back());
}

/// Imports GatherND: the last dim of the indices selects an element or slice behind the batch dims.
void importGatherNd(NodeContext &n) {
  Value input = n.input(0), indices = n.input(1);
  int64_t batchDims = n.intAttr("batch_dims", 0);
  if (n.failed())
    return;
  ArrayRef<int64_t> from = n.shape(input), shape = n.shape(indices);
  int64_t rank = from.size(), indexRank = shape.size();
  int64_t depth = indexRank > 0 ? shape.back() : 0;
  if (depth < 1 || batchDims < 0 || batchDims >= indexRank || depth > rank - batchDims ||
      from.take_front(batchDims) != shape.take_front(batchDims))
    return n.failInput(1, "its shape does not fit the input and batch_dims of " + Twine(batchDims));
  if (batchDims == 0)
    if (Value columns = indicesOfColumns(n, input, indices)) {
      n.requireGathered(1, /*wraps=*/true, from.take_front(2), 0);
      n.setOutput(n.create<graph::GatherOp>(input, columns, /*axis=*/1));
      return;
    }
  // Slices of the tensor with its indexed dims made one.
  SmallVector<int64_t> starts(indexRank, 0), sizes(shape), steps(indexRank, 1);
  ArrayRef<int64_t> outer = shape.drop_back(), indexed = from.slice(batchDims, depth);
  ArrayRef<int64_t> rest = from.drop_front(batchDims + depth);
  sizes.back() = 1;
  Value flat;
  auto addPart = [&](Value at, int64_t stride) {
    at = n.mul(at, number(n, stride));
    flat = flat ? n.add(flat, at) : at;
  };
  n.requireGathered(1, /*wraps=*/true, indexed, batchDims);
  for (int64_t i = 0; i < depth; ++i) {
    starts.back() = i;
    Value part = n.reshape(n.create<graph::SliceOp>(indices, starts, sizes, steps), outer);
    addPart(wrapped(n, part, indexed[i]), ShapedType::getNumElements(indexed.drop_front(i + 1)));
  }
  for (int64_t dim = 0; dim < batchDims; ++dim)
    addPart(positions(n, from[dim], dim, outer.size()),
            ShapedType::getNumElements(from.slice(dim + 1, batchDims + depth - dim - 1)));
  SmallVector<int64_t> folded{ShapedType::getNumElements(from.take_front(batchDims + depth))};
  folded.append(rest.begin(), rest.end());
  n.setOutput(n.create<graph::GatherOp>(n.reshape(input, folded), flat, /*axis=*/0));
}

/// values are [off, on]; depth is known or follows from the declared shape.
void importOneHot(NodeContext &n) {
  Value indices = n.input(0), values = n.input(2);
  n.input(1);
  int64_t attr = n.intAttr("axis", -1);
  n.requireRank(2, 1, 1);
  if (n.failed())
    return;
  int64_t rank = n.rank(indices) + 1, axis = n.normalizeAxis(attr, rank), depth = 0;
  if (n.isRuntimeInput(1)) {
    std::optional<SmallVector<int64_t>> shape = n.declaredShape(1);
    if (!n.failed() && static_cast<int64_t>(shape->size()) != rank)
      n.failNode("its declared result has rank " + Twine(shape->size()) + ", expected " +
                 Twine(rank));
    depth = n.failed() ? 0 : (*shape)[axis];
  } else {
    std::optional<SmallVector<double>> stated = n.constantFloats(1);
    if (stated && stated->size() == 1 && stated->front() >= 0 && stated->front() <= maxDim)
      depth = static_cast<int64_t>(stated->front());
    else
      n.failInput(1, "expected one number that is not negative");
  }
  if (n.failed())
    return;
  if (n.shape(values)[0] != 2)
    return n.failInput(2, "has " + Twine(n.shape(values)[0]) + " elements, expected 2");
  SmallVector<int64_t> shape(n.shape(indices));
  shape.insert(shape.begin() + axis, 1);
  Value at = n.reshape(wrapped(n, indices, depth), shape);
  Value isHot = compare(n, at, positions(n, depth, axis, rank), ComparePredicate::Eq);
  auto value = [&](int64_t index) {
    Value one = n.create<graph::SliceOp>(values, ArrayRef<int64_t>{index}, ArrayRef<int64_t>{1},
                                         ArrayRef<int64_t>{1});
    return n.reshape(one, {});
  };
  n.setOutput(n.create<graph::WhereOp>(isHot, value(1), value(0)));
}

/// Keeps what is on one side of diagonal k of the last two dims.
void importTrilu(NodeContext &n) {
  n.requireRank(0, 2, INT64_MAX);
  Value input = n.input(0), k = n.optionalInput(1);
  bool upper = n.boolAttr("upper", true);
  if (n.failed())
    return;
  ArrayRef<int64_t> matrix = n.shape(input).take_back(2);
  Value diagonal = k ? n.reshape(asIndex(n, k), {}) : number(n, 0);
  Value offset = n.sub(positions(n, matrix[1], 1, 2), positions(n, matrix[0], 0, 2));
  Value isKept = compare(n, offset, diagonal, upper ? ComparePredicate::Ge : ComparePredicate::Le);
  n.setOutput(n.create<graph::WhereOp>(isKept, input, n.scalarLike(0, input)));
}

void importCumSum(NodeContext &n) {
  n.requireRank(0, 1, INT64_MAX);
  Value input = n.input(0), axis = n.input(1);
  bool exclusive = n.boolAttr("exclusive", false), reverse = n.boolAttr("reverse", false);
  if (n.failed())
    return;
  int64_t rank = n.rank(input);
  if (n.isConstantInput(1)) {
    std::optional<SmallVector<int64_t>> known = n.constantInts(1);
    if (known && known->size() != 1)
      n.failInput(1, "has " + Twine(known->size()) + " elements, expected 1");
    if (n.failed())
      return;
    int64_t along = n.normalizeAxis(known->front(), rank);
    if (n.failed())
      return;
    return n.setOutput(n.create<graph::CumulativeSumOp>(input, along, exclusive, reverse));
  }
  // The axis is only known at run time: selects among the sums along each axis.
  Value at = wrapped(n, n.reshape(axis, {}), rank);
  auto sums = [&](int64_t along) {
    return n.create<graph::CumulativeSumOp>(input, along, exclusive, reverse);
  };
  Value result = sums(0);
  for (int64_t along = 1; along < rank && !n.failed(); ++along)
    result = n.create<graph::WhereOp>(compare(n, at, number(n, along), ComparePredicate::Eq),
                                      sums(along), result);
  n.setOutput(result);
}

/// Imports x * 2^n or x / 2^n of unsigned integers; the powers are looked up.
void importBitShift(NodeContext &n) {
  Value value = n.input(0), amount = n.input(1);
  if (!n.failed() && !n.hasAttr("direction"))
    n.failAttribute("direction", "is missing; the operator needs it");
  bool left = n.choiceAttr("direction", {"LEFT", "RIGHT"}) == "LEFT";
  if (n.failed())
    return;
  auto element = dyn_cast<IntegerType>(n.elementType(value));
  if (!element || !element.isUnsigned())
    return n.failInput(0, "must hold unsigned integers");
  // Powers are looked up one by one, and a shift to the right divides by them; the host kernel
  // shifts whole vectors.
  constexpr int64_t maxLookedUp = 256;
  if (!amount.getDefiningOp<graph::ConstantOp>() &&
      cast<RankedTensorType>(amount.getType()).getNumElements() > maxLookedUp)
    return n.failInput(1, "must be a constant, or at most " + Twine(maxLookedUp) + " elements");
  unsigned width = element.getWidth();
  SmallVector<APInt> powers;
  for (unsigned bit = 0; bit < width; ++bit)
    powers.push_back(APInt::getOneBitSet(width, bit));
  Value table = n.constant(DenseElementsAttr::get(n.tensor({width}, element), powers));
  // A shift by more bits than the width yields 0.
  Value isInside = compare(n, amount, n.scalarLike(width, amount), ComparePredicate::Lt);
  Value zero = n.scalarLike(0, amount);
  Value index = asIndex(n, n.create<graph::WhereOp>(isInside, amount, zero));
  Value power = n.create<graph::GatherOp>(table, index, /*axis=*/0);
  Value result = left ? n.mul(value, power) : n.div(value, power);
  n.setOutput(n.create<graph::WhereOp>(isInside, result, n.scalarLike(0, value)));
}

} // namespace

ArrayRef<OpRow> indexRows() {
  static const OpRow rows[] = {
      {"BitShift", 11, latestOpset, importBitShift},
      {"CumSum", 11, latestOpset, importCumSum},
      {"GatherElements", 11, latestOpset, importGatherElements, limitsOfGathers},
      {"GatherND", 11, latestOpset, importGatherNd, limitsOfGathers},
      {"OneHot", 9, latestOpset, importOneHot},
      {"Trilu", 14, latestOpset, importTrilu},
  };
  return rows;
}

} // namespace atc::onnx_import
