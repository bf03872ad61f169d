//===-- ImportReduce.cpp - reductions, arg max, softmax -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <limits>

#include "dialects/graph/ops/BinaryOps.h"
#include "dialects/graph/ops/ReduceOps.h"
#include "dialects/graph/ops/UnaryOps.h"
#include "frontends/tf/OpTable.h"
#include "frontends/tf/ops/IndexMasks.h"

using namespace mlir;

namespace atc::tf_import {
namespace {

using graph::ReduceKind;

/// The axes are input 1, a scalar or a list.
bool readAxes(NodeContext &n, SmallVector<int64_t> &axes) {
  Value input = n.input(0);
  SmallVector<int64_t> stated = n.constantInts(1);
  if (n.failed())
    return false;
  axes = n.normalizeAxes(stated, n.rank(input));
  return !n.failed();
}

/// Returns the result of a reduction over no elements, which is its identity; null where there are
/// elements.
Value reduceNothing(NodeContext &n, ReduceKind kind, Value input, ArrayRef<int64_t> axes,
                    bool keepdims) {
  if (n.failed() || axes.empty() || !llvm::is_contained(n.shape(input), 0))
    return {};
  SmallVector<int64_t> shape;
  for (auto [axis, dim] : llvm::enumerate(n.shape(input))) {
    bool isReduced = llvm::is_contained(axes, static_cast<int64_t>(axis));
    if (!isReduced || keepdims)
      shape.push_back(isReduced ? 1 : dim);
  }
  Type element = n.elementType(input);
  double nothing = std::numeric_limits<double>::quiet_NaN();
  Value value =
      kind == ReduceKind::Mean ? n.scalar(nothing, element) : identityOf(n, kind, element);
  return n.fill(shape, value);
}

template <ReduceKind kind> void importReduce(NodeContext &n) {
  SmallVector<int64_t> axes;
  bool keepdims = n.boolAttr("keep_dims", false);
  if (!readAxes(n, axes))
    return;
  Value nothing = reduceNothing(n, kind, n.input(0), axes, keepdims);
  n.setOutput(nothing ? nothing : n.reduce(kind, n.input(0), axes, keepdims));
}

void importEuclideanNorm(NodeContext &n) {
  SmallVector<int64_t> axes;
  bool keepdims = n.boolAttr("keep_dims", false);
  if (!readAxes(n, axes))
    return;
  if (Value nothing = reduceNothing(n, ReduceKind::Sum, n.input(0), axes, keepdims))
    return n.setOutput(nothing);
  n.setOutput(axes.empty() ? n.create<graph::AbsOp>(n.input(0))
                           : n.reduce(ReduceKind::L2, n.input(0), axes, keepdims));
}

/// All and Any: the least and the largest of 0 and 1.
template <ReduceKind kind> void importLogicReduce(NodeContext &n) {
  SmallVector<int64_t> axes;
  bool keepdims = n.boolAttr("keep_dims", false);
  if (!readAxes(n, axes))
    return;
  Value numbers = n.cast(n.input(0), n.builder().getI32Type());
  // No element is false, none is true.
  constexpr ReduceKind same = kind == ReduceKind::Min ? ReduceKind::Prod : ReduceKind::Sum;
  if (Value nothing = reduceNothing(n, same, numbers, axes, keepdims))
    return n.setOutput(n.cast(nothing, n.builder().getI1Type()));
  n.setOutput(n.cast(n.reduce(kind, numbers, axes, keepdims), n.builder().getI1Type()));
}

template <typename OpTy> void importArg(NodeContext &n) {
  Value input = n.input(0);
  int64_t axis = n.constantInt(1);
  Type element = n.typeAttr("output_type", pb::DT_INT64);
  if (n.failed())
    return;
  axis = n.normalizeAxis(axis, n.rank(input));
  n.setOutput(
      n.cast(n.create<OpTy>(input, axis, /*keepdims=*/false, /*select_last=*/false), element));
}

template <typename OpTy> void importSoftmax(NodeContext &n) {
  n.requireRank(0, 1, maxRank);
  Value input = n.input(0);
  if (!n.failed())
    n.setOutput(n.create<OpTy>(input, n.rank(input) - 1));
}

/// Half the sum of the squares.
void importL2Loss(NodeContext &n) {
  Value input = n.input(0);
  if (n.failed())
    return;
  SmallVector<int64_t> axes = llvm::to_vector(llvm::seq<int64_t>(0, n.rank(input)));
  Value sum = n.reduce(ReduceKind::Sum, n.mul(input, input), axes, /*keepdims=*/false);
  n.setOutput(n.mul(sum, n.scalarLike(0.5, input)));
}

/// Outputs are the loss of every row and its gradient by the logits.
void importCrossEntropy(NodeContext &n) {
  Value logits = n.input(0), labels = n.input(1);
  if (n.failed())
    return;
  if (n.rank(logits) != 2 || n.rank(labels) != 2)
    return n.failNode("needs logits and labels of rank 2");
  Value logs = n.create<graph::LogSoftmaxOp>(logits, 1);
  Value sum = n.reduce(ReduceKind::Sum, n.mul(labels, logs), {1}, /*keepdims=*/false);
  n.setOutput(0, n.create<graph::NegOp>(sum));
  n.setOutput(1, n.sub(n.create<graph::SoftmaxOp>(logits, 1), labels));
}

/// The labels are the numbers of the classes.
void importSparseCrossEntropy(NodeContext &n) {
  Value logits = n.input(0), labels = n.input(1);
  if (n.failed())
    return;
  if (n.rank(logits) != 2 || n.shape(labels) != n.shape(logits).take_front(1))
    return n.failNode("needs logits of rank 2 and a label for every row");
  int64_t rows = n.shape(logits)[0], classes = n.shape(logits)[1];
  n.requireIndices(1, /*wraps=*/false, classes, 1);
  Value isClass =
      n.compare(n.reshape(labels, {rows, 1}), indicesAlong(n, 1, 2, classes, n.elementType(labels)),
                graph::ComparePredicate::Eq);
  Value logs = n.create<graph::LogSoftmaxOp>(logits, 1), zero = n.scalarLike(0, logits);
  Value chosen = n.create<graph::WhereOp>(isClass, logs, zero);
  Value sum = n.reduce(ReduceKind::Sum, chosen, {1}, /*keepdims=*/false);
  n.setOutput(0, n.create<graph::NegOp>(sum));
  n.setOutput(1,
              n.sub(n.create<graph::SoftmaxOp>(logits, 1), n.cast(isClass, n.elementType(logits))));
}

} // namespace

ArrayRef<OpRow> reduceRows() {
  static const OpRow rows[] = {
      {"All", importLogicReduce<ReduceKind::Min>},
      {"Any", importLogicReduce<ReduceKind::Max>},
      {"ArgMax", importArg<graph::ArgMaxOp>},
      {"ArgMin", importArg<graph::ArgMinOp>},
      {"EuclideanNorm", importEuclideanNorm},
      {"L2Loss", importL2Loss},
      {"LogSoftmax", importSoftmax<graph::LogSoftmaxOp>},
      {"Max", importReduce<ReduceKind::Max>},
      {"Mean", importReduce<ReduceKind::Mean>},
      {"Min", importReduce<ReduceKind::Min>},
      {"Prod", importReduce<ReduceKind::Prod>},
      {"Softmax", importSoftmax<graph::SoftmaxOp>},
      {"SoftmaxCrossEntropyWithLogits", importCrossEntropy},
      {"SparseSoftmaxCrossEntropyWithLogits", importSparseCrossEntropy},
      {"Sum", importReduce<ReduceKind::Sum>},
  };
  return rows;
}

} // namespace atc::tf_import
