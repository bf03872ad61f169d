//===-- ImportShape.cpp - the same elements under other shapes ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/graph/ops/ShapeOps.h"
#include "frontends/onnx/GraphImporter.h"
#include "frontends/onnx/NodeContext.h"
#include "frontends/onnx/OpTable.h"
#include "frontends/onnx/TensorData.h" // IWYU pragma: keep
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace atc::onnx_import {
namespace {

/// Adjusts a shape for the model's own batch to the batch that is compiled; a shape that already
/// fits is not changed.
void followBatch(NodeContext &n, Value input, SmallVector<int64_t> &target, bool copyZeros) {
  std::optional<BatchChange> batch = n.importer().batchChange();
  if (!batch || target.empty() || target.front() < 1 || target.front() % batch->from)
    return;
  ArrayRef<int64_t> from = n.shape(input);
  const int64_t front = target.front() / batch->from * batch->to;
  int64_t elements = 1, wanted = 1;
  bool hasOpen = false; // a -1, which would take up the batch
  for (auto [index, dim] : llvm::enumerate(target)) {
    int64_t size = dim == 0 && copyZeros && index < from.size() ? from[index] : dim;
    hasOpen |= size == -1;
    if (size == -1)
      continue;
    if (size < 1 || llvm::MulOverflow(elements, size, elements))
      return;
  }
  for (int64_t dim : from)
    if (dim < 1 || llvm::MulOverflow(wanted, dim, wanted))
      return;
  if (hasOpen) {
    // The batch stays in front where it is there, and a position of it has all that is asked for.
    // Every shape fits, so that one which is computed has what the compiled batch makes of it.
    const int64_t perFront = elements / target.front();
    if (!from.empty() && from.front() == front && wanted / front % perFront == 0 &&
        n.importer().isStated(n.input(1)) && n.importer().hasBatchInFront(input))
      target.front() = front;
    return;
  }
  int64_t followed;
  if (elements != wanted && !llvm::MulOverflow(elements / batch->from, batch->to, followed) &&
      followed == wanted)
    target.front() = front;
}

void importReshape(NodeContext &n) {
  Value input = n.input(0);
  n.input(1);
  std::optional<SmallVector<int64_t>> target =
      n.isRuntimeInput(1) ? n.declaredShape(1) : n.constantInts(1);
  bool allowZero = n.boolAttr("allowzero", false);
  if (n.failed() || !target)
    return;
  followBatch(n, input, *target, !allowZero);
  n.setOutput(n.reshapeAs(input, *target, /*copyZeros=*/!allowZero));
}

void importFlatten(NodeContext &n) {
  Value input = n.input(0);
  int64_t axis = n.intAttr("axis", 1);
  if (n.failed())
    return;
  int64_t rank = n.rank(input), rows = 1, columns = 1;
  if (axis != rank && rank > 0)
    axis = n.normalizeAxis(axis, rank);
  for (int64_t dim = 0; dim < rank; ++dim)
    (dim < axis ? rows : columns) *= n.shape(input)[dim];
  n.setOutput(n.reshape(input, {rows, columns}));
}

void squeeze(NodeContext &n, std::optional<SmallVector<int64_t>> stated) {
  Value input = n.input(0);
  if (n.failed())
    return;
  SmallVector<int64_t> axes =
      n.normalizeAxes(stated.value_or(SmallVector<int64_t>()), n.rank(input));
  SmallVector<int64_t> shape;
  for (auto [axis, dim] : llvm::enumerate(n.shape(input))) {
    bool isNamed = llvm::is_contained(axes, axis);
    if (isNamed && dim != 1)
      n.failAttribute("axes", "names axis " + Twine(axis) + ", which has " + Twine(dim) +
                                  " elements, expected 1");
    if (stated ? !isNamed : dim != 1)
      shape.push_back(dim);
  }
  n.setOutput(n.reshape(input, shape));
}

void unsqueeze(NodeContext &n, std::optional<SmallVector<int64_t>> stated) {
  Value input = n.input(0);
  if (!n.failed() && !stated)
    n.failAttribute("axes", "is missing; the operator needs it");
  if (n.failed())
    return;
  int64_t rank = n.rank(input) + stated->size();
  SmallVector<int64_t> axes = n.normalizeAxes(*stated, rank);
  ArrayRef<int64_t> rest = n.shape(input);
  SmallVector<int64_t> shape;
  for (int64_t axis = 0; axis < rank && !n.failed(); ++axis) {
    if (llvm::is_contained(axes, axis)) {
      shape.push_back(1);
      continue;
    }
    shape.push_back(rest.front());
    rest = rest.drop_front();
  }
  n.setOutput(n.reshape(input, shape));
}

void importSqueezeV7(NodeContext &n) { squeeze(n, n.intsAttr("axes")); }

/// Whatever the axes are, the elements are the same.
void reshapeAsDeclared(NodeContext &n) {
  Value input = n.input(0);
  if (std::optional<SmallVector<int64_t>> shape = n.declaredShape(1))
    n.setOutput(n.reshape(input, *shape));
}

void importSqueezeV13(NodeContext &n) {
  n.isRuntimeInput(1) ? reshapeAsDeclared(n) : squeeze(n, n.constantInts(1));
}
void importUnsqueezeV7(NodeContext &n) { unsqueeze(n, n.intsAttr("axes")); }

void importUnsqueezeV13(NodeContext &n) {
  n.isRuntimeInput(1) ? reshapeAsDeclared(n) : unsqueeze(n, n.constantInts(1));
}

void importExpand(NodeContext &n) {
  Value input = n.input(0);
  n.input(1);
  std::optional<SmallVector<int64_t>> target =
      n.isRuntimeInput(1) ? n.declaredShape(1) : n.constantInts(1);
  if (n.failed() || !target)
    return;
  // Both shapes broadcast: the input may have the larger dims as well.
  ArrayRef<int64_t> from = n.shape(input);
  size_t rank = std::max(from.size(), target->size());
  SmallVector<int64_t> shape(rank, 1);
  for (size_t i = 0; i < rank; ++i) {
    int64_t have = i < rank - from.size() ? 1 : from[i - (rank - from.size())];
    int64_t want = i < rank - target->size() ? 1 : (*target)[i - (rank - target->size())];
    if (have != want && have != 1 && want != 1)
      return n.failInput(1, "shape " + printDims(*target) + " does not fit an input of shape " +
                                printDims(from));
    shape[i] = have == 1 ? want : have;
  }
  if (ArrayRef(shape) == from)
    return n.setOutput(input);
  if (llvm::Expected<int64_t> count = countElements(shape); !count)
    return n.failInput(1, toString(count.takeError()));
  n.setOutput(n.createTyped<graph::ExpandOp>(shape, n.elementType(input), input));
}

void importShape(NodeContext &n) {
  Value input = n.input(0);
  if (n.failed())
    return;
  int64_t rank = n.rank(input);
  auto clamp = [&](int64_t position) {
    return std::clamp<int64_t>(position < 0 ? position + rank : position, 0, rank);
  };
  int64_t start = clamp(n.intAttr("start", 0));
  int64_t end = std::max(start, clamp(n.intAttr("end", rank)));
  n.setOutput(n.intList(n.shape(input).slice(start, end - start)));
}

void importSize(NodeContext &n) {
  Value input = n.input(0);
  if (n.failed())
    return;
  int64_t count = cast<RankedTensorType>(input.getType()).getNumElements();
  n.setOutput(n.reshape(n.intList({count}), {}));
}

void importTranspose(NodeContext &n) {
  Value input = n.input(0);
  if (n.failed())
    return;
  int64_t rank = n.rank(input);
  SmallVector<int64_t> permutation =
      n.intsAttr("perm").value_or(llvm::to_vector(llvm::reverse(llvm::seq<int64_t>(0, rank))));
  SmallVector<int64_t> sorted(permutation);
  llvm::sort(sorted);
  if (!llvm::equal(sorted, llvm::seq<int64_t>(0, rank)))
    n.failAttribute("perm", printDims(permutation) + " is not a permutation of the " + Twine(rank) +
                                " axes");
  n.setOutput(n.transpose(input, permutation));
}

} // namespace

bool GraphImporter::hasBatchInFront(Value value) {
  SmallVector<Value> pending{value};
  while (!pending.empty()) {
    Value next = pending.back();
    Operation *op = next.getDefiningOp();
    const size_t before = pending.size();
    if (op && !batchAxes.contains(next))
      for (Value operand : op->getOperands())
        if (!batchAxes.contains(operand))
          pending.push_back(operand);
    if (pending.size() > before)
      continue;
    pending.pop_back();
    if (batchAxes.contains(next))
      continue;
    auto type = dyn_cast<RankedTensorType>(next.getType());
    const bool canHave = type && type.getRank() > 0 && type.getDimSize(0) % batch->to == 0;
    // What a region reads is no operand of its op.
    BatchAxis axis = op && op->getNumRegions() == 0 ? BatchAxis::None : BatchAxis::Front;
    if (op)
      for (Value from : op->getOperands())
        axis = std::max(axis, batchAxes.lookup(from));
    // A transpose that takes the batch from the front is undone by one that brings another axis
    // there.
    if (auto transpose = dyn_cast_or_null<graph::TransposeOp>(op);
        transpose && axis != BatchAxis::None && transpose.getPermutation().front() != 0)
      axis = axis == BatchAxis::Front ? BatchAxis::Elsewhere : BatchAxis::Front;
    if (axis == BatchAxis::Front && !canHave)
      axis = BatchAxis::Elsewhere;
    batchAxes.try_emplace(next, axis);
  }
  return batchAxes.lookup(value) == BatchAxis::Front;
}

ArrayRef<OpRow> shapeRows() {
  static constexpr llvm::StringLiteral knownShape = "the shape must follow from static shapes";
  static constexpr llvm::StringLiteral knownAxes = "the axes must be constant";
  static const OpRow rows[] = {
      {"Expand", 8, latestOpset, importExpand, knownShape},
      {"Flatten", 7, latestOpset, importFlatten},
      {"Reshape", 7, latestOpset, importReshape, knownShape},
      {"Shape", 7, latestOpset, importShape},
      {"Size", 7, latestOpset, importSize},
      {"Squeeze", 7, 12, importSqueezeV7},
      {"Squeeze", 13, latestOpset, importSqueezeV13, knownAxes},
      {"Transpose", 7, latestOpset, importTranspose},
      {"Unsqueeze", 7, 12, importUnsqueezeV7},
      {"Unsqueeze", 13, latestOpset, importUnsqueezeV13, knownAxes},
  };
  return rows;
}

} // namespace atc::onnx_import
