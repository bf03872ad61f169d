//===-- ImportReduce.cpp - reductions, arg max, softmax -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frontends/tf/NodeContext.h"
#include "frontends/tf/OpTable.h"

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

template <ReduceKind kind> void importReduce(NodeContext &n) {
  SmallVector<int64_t> axes;
  bool keepdims = n.boolAttr("keep_dims", false);
  if (readAxes(n, axes))
    n.setOutput(n.reduce(kind, n.input(0), axes, keepdims));
}

void importEuclideanNorm(NodeContext &n) {
  SmallVector<int64_t> axes;
  bool keepdims = n.boolAttr("keep_dims", false);
  if (!readAxes(n, axes))
    return;
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
      {"Sum", importReduce<ReduceKind::Sum>},
  };
  return rows;
}

} // namespace atc::tf_import
