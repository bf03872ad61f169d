//===-- ImportReduce.cpp - reductions, arg max, softmax -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/graph/ops/BinaryOps.h"
#include "dialects/graph/ops/ReduceOps.h"
#include "dialects/graph/ops/UnaryOps.h"
#include "frontends/onnx/NodeContext.h"
#include "frontends/onnx/OpTable.h"
#include "frontends/onnx/ops/AlongRows.h"

using namespace mlir;

namespace atc::onnx_import {
namespace {

using graph::ReduceKind;

/// Applies the elementwise function of a reduction over no axes.
template <ReduceKind kind> Value reduceNothing(NodeContext &n, Value input) {
  if constexpr (kind == ReduceKind::L1 || kind == ReduceKind::L2)
    return n.create<graph::AbsOp>(input);
  if constexpr (kind == ReduceKind::SumSquare)
    return n.mul(input, input);
  if constexpr (kind == ReduceKind::LogSum)
    return n.create<graph::LogOp>(input);
  return input;
}

template <ReduceKind kind>
void reduceAxes(NodeContext &n, std::optional<SmallVector<int64_t>> stated, bool emptyIsNoop) {
  Value input = n.input(0);
  bool keepdims = n.boolAttr("keepdims", true);
  if (n.failed())
    return;
  SmallVector<int64_t> axes;
  if (stated && !stated->empty())
    axes = n.normalizeAxes(*stated, n.rank(input));
  else if (!emptyIsNoop)
    axes = llvm::to_vector(llvm::seq<int64_t>(0, n.rank(input)));
  if (n.failed())
    return;
  n.setOutput(axes.empty() ? reduceNothing<kind>(n, input) : n.reduce(kind, input, axes, keepdims));
}

/// The axes are an attribute.
template <ReduceKind kind> void importReduceV7(NodeContext &n) {
  reduceAxes<kind>(n, n.intsAttr("axes"), /*emptyIsNoop=*/false);
}

/// The axes that a reduction from one shape to another takes away; nothing where
/// more than one choice is possible. With `keepdims` dims of one element count
/// as kept: reduced or not, they are the same.
std::optional<SmallVector<int64_t>> axesBetween(ArrayRef<int64_t> from, ArrayRef<int64_t> to,
                                                bool keepdims) {
  SmallVector<int64_t> axes;
  if (keepdims) {
    if (from.size() != to.size())
      return std::nullopt;
    for (auto [axis, dims] : llvm::enumerate(llvm::zip(from, to))) {
      auto [before, after] = dims;
      if (before == after)
        continue;
      if (after != 1)
        return std::nullopt;
      axes.push_back(axis);
    }
    // The elementwise function depends on whether there is an axis.
    if (axes.empty() && llvm::is_contained(from, 1))
      return std::nullopt;
    return axes;
  }
  // Both greedy choices, from the front and from the back, must be the same.
  auto match = [&](auto dims, auto wanted) {
    SmallVector<bool> kept;
    auto next = wanted.begin();
    for (int64_t dim : dims) {
      kept.push_back(next != wanted.end() && dim == *next);
      if (kept.back())
        ++next;
    }
    return next == wanted.end() ? kept : SmallVector<bool>();
  };
  SmallVector<bool> first = match(from, to);
  SmallVector<bool> last = match(llvm::reverse(from), llvm::reverse(to));
  std::reverse(last.begin(), last.end());
  if (first.size() != from.size() || first != last)
    return std::nullopt;
  for (auto [axis, isKept] : llvm::enumerate(first))
    if (!isKept)
      axes.push_back(axis);
  return axes;
}

/// The axes are an input, for ReduceSum from opset 13, for the others from 18.
template <ReduceKind kind> void importReduceV18(NodeContext &n) {
  bool emptyIsNoop = n.boolAttr("noop_with_empty_axes", false);
  if (!n.isRuntimeInput(1))
    return reduceAxes<kind>(n, n.constantInts(1), emptyIsNoop);
  Value input = n.input(0);
  bool keepdims = n.boolAttr("keepdims", true);
  std::optional<SmallVector<int64_t>> declared = n.declaredShape(1);
  if (n.failed())
    return;
  std::optional<SmallVector<int64_t>> axes = axesBetween(n.shape(input), *declared, keepdims);
  if (!axes)
    return n.failInput(1, "must be known at compile time: the declared shape of the result "
                          "leaves a choice");
  // No axes: of nothing, or of dims with one element.
  if (axes->empty())
    return n.setOutput(reduceNothing<kind>(n, input));
  n.setOutput(n.reduce(kind, input, *axes, keepdims));
}

template <typename OpTy> void importArg(NodeContext &n) {
  Value input = n.input(0);
  bool keepdims = n.boolAttr("keepdims", true);
  bool selectLast = n.boolAttr("select_last_index", false);
  if (n.failed())
    return;
  int64_t axis = n.normalizeAxis(n.intAttr("axis", 0), n.rank(input));
  n.setOutput(n.create<OpTy>(input, axis, keepdims, selectLast));
}

/// Builds hardmax: in each row along `axis` the first maximum is 1.
Value hardmax(NodeContext &n, Value input, int64_t axis) {
  if (n.failed())
    return {};
  Value largest = n.create<graph::ArgMaxOp>(input, axis, /*keepdims=*/true, /*select_last=*/false);
  SmallVector<int64_t> indexShape(n.rank(input), 1);
  indexShape[axis] = n.shape(input)[axis];
  Value indices =
      n.reshape(n.intList(llvm::to_vector(llvm::seq<int64_t>(0, indexShape[axis]))), indexShape);
  Value isLargest = n.create<graph::CompareOp>(indices, largest, graph::ComparePredicate::Eq);
  return n.cast(isLargest, n.elementType(input));
}

template <typename OpTy> Value softmax(NodeContext &n, Value input, int64_t axis) {
  return n.create<OpTy>(input, axis);
}

using AxisFn = Value (*)(NodeContext &, Value, int64_t);

template <AxisFn function> void importAlongAxis(NodeContext &n) {
  Value input = n.input(0);
  if (n.failed())
    return;
  int64_t axis = n.normalizeAxis(n.intAttr("axis", -1), n.rank(input));
  n.setOutput(function(n, input, axis));
}

/// Imports an operator that treats the tensor as a matrix before opset 13.
template <AxisFn function> void importAlongRows(NodeContext &n) {
  Value input = n.input(0);
  const int64_t axis = n.intAttr("axis", 1);
  Value result =
      alongRows(n, input, axis, [&](Value value, int64_t dim) { return function(n, value, dim); });
  if (!n.failed())
    n.setOutput(result);
}

} // namespace

ArrayRef<OpRow> reduceRows() {
  constexpr AxisFn softmaxFn = softmax<graph::SoftmaxOp>;
  constexpr AxisFn logSoftmaxFn = softmax<graph::LogSoftmaxOp>;
  static const OpRow rows[] = {
      {"ArgMax", 7, latestOpset, importArg<graph::ArgMaxOp>},
      {"ArgMin", 7, latestOpset, importArg<graph::ArgMinOp>},
      {"Hardmax", 7, 12, importAlongRows<hardmax>},
      {"Hardmax", 13, latestOpset, importAlongAxis<hardmax>},
      {"LogSoftmax", 7, 12, importAlongRows<logSoftmaxFn>},
      {"LogSoftmax", 13, latestOpset, importAlongAxis<logSoftmaxFn>},
      {"ReduceL1", 7, 17, importReduceV7<ReduceKind::L1>},
      {"ReduceL1", 18, latestOpset, importReduceV18<ReduceKind::L1>},
      {"ReduceL2", 7, 17, importReduceV7<ReduceKind::L2>},
      {"ReduceL2", 18, latestOpset, importReduceV18<ReduceKind::L2>},
      {"ReduceLogSum", 7, 17, importReduceV7<ReduceKind::LogSum>},
      {"ReduceLogSum", 18, latestOpset, importReduceV18<ReduceKind::LogSum>},
      {"ReduceLogSumExp", 7, 17, importReduceV7<ReduceKind::LogSumExp>},
      {"ReduceLogSumExp", 18, latestOpset, importReduceV18<ReduceKind::LogSumExp>},
      {"ReduceMax", 7, 17, importReduceV7<ReduceKind::Max>},
      {"ReduceMax", 18, latestOpset, importReduceV18<ReduceKind::Max>},
      {"ReduceMean", 7, 17, importReduceV7<ReduceKind::Mean>},
      {"ReduceMean", 18, latestOpset, importReduceV18<ReduceKind::Mean>},
      {"ReduceMin", 7, 17, importReduceV7<ReduceKind::Min>},
      {"ReduceMin", 18, latestOpset, importReduceV18<ReduceKind::Min>},
      {"ReduceProd", 7, 17, importReduceV7<ReduceKind::Prod>},
      {"ReduceProd", 18, latestOpset, importReduceV18<ReduceKind::Prod>},
      {"ReduceSum", 7, 12, importReduceV7<ReduceKind::Sum>},
      {"ReduceSum", 13, latestOpset, importReduceV18<ReduceKind::Sum>},
      {"ReduceSumSquare", 7, 17, importReduceV7<ReduceKind::SumSquare>},
      {"ReduceSumSquare", 18, latestOpset, importReduceV18<ReduceKind::SumSquare>},
      {"Softmax", 7, 12, importAlongRows<softmaxFn>},
      {"Softmax", 13, latestOpset, importAlongAxis<softmaxFn>},
  };
  return rows;
}

} // namespace atc::onnx_import
