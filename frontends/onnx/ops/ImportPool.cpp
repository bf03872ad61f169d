//===-- ImportPool.cpp - pools over windows and whole planes --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/graph/ops/BinaryOps.h"
#include "dialects/graph/ops/ConvOps.h"
#include "dialects/graph/ops/UnaryOps.h"
#include "frontends/onnx/NodeContext.h"
#include "frontends/onnx/OpTable.h"
#include "frontends/onnx/ops/Window.h"

using namespace mlir;

namespace atc::onnx_import {
namespace {

std::optional<Window> readPoolWindow(NodeContext &n) {
  n.requireRank(0, 3, 5);
  return n.failed() ? std::nullopt : readPoolWindow(n, n.input(0));
}

void importMaxPool(NodeContext &n) {
  n.refuseOutput(1, "Indices");
  n.ignoreAttr("storage_order"); // the order of the Indices
  std::optional<Window> window = readPoolWindow(n);
  if (!window)
    return;
  n.setOutput(n.create<graph::MaxPoolOp>(n.input(0), window->kernel, window->strides, window->pads,
                                         window->dilations, readCeilMode(n, *window)));
}

Value averagePool(NodeContext &n, Value input, const Window &window, bool ceilMode,
                  bool countPads) {
  return n.create<graph::AveragePoolOp>(input, window.kernel, window.strides, window.pads,
                                        window.dilations, ceilMode, countPads);
}

void importAveragePool(NodeContext &n) {
  n.requireFloats(0);
  std::optional<Window> window = readPoolWindow(n);
  if (!window)
    return;
  bool countPads = n.boolAttr("count_include_pad", false);
  n.setOutput(averagePool(n, n.input(0), *window, readCeilMode(n, *window), countPads));
}

/// Builds (sum |x|^p)^(1/p), with the sum as a mean that counts the pads.
void importLpPool(NodeContext &n) {
  n.requireFloats(0);
  std::optional<Window> window = readPoolWindow(n);
  if (!window)
    return;
  int64_t p = n.intAttr("p", 2);
  if (p < 1)
    n.failAttribute("p", "is " + Twine(p) + ", expected at least 1");
  if (readCeilMode(n, *window))
    n.failAttribute("ceil_mode", "1 is not supported for this operator");
  if (n.failed())
    return;
  Value input = n.input(0);
  double count = 1;
  for (int64_t size : window->kernel)
    count *= size;
  Value power = n.create<graph::AbsOp>(input);
  if (p != 1)
    power = n.create<graph::PowOp>(power, n.scalarLike(p, input));
  Value sum = n.mul(averagePool(n, power, *window, /*ceilMode=*/false, /*countPads=*/true),
                    n.scalarLike(count, input));
  if (p == 2)
    sum = n.create<graph::SqrtOp>(sum);
  else if (p != 1)
    sum = n.create<graph::PowOp>(sum, n.scalarLike(1.0 / p, input));
  n.setOutput(sum);
}

/// Returns the dims behind batch and channel.
SmallVector<int64_t> spatialAxes(NodeContext &n) {
  n.requireRank(0, 3, INT64_MAX);
  SmallVector<int64_t> axes;
  for (int64_t axis = 2; axis < n.rank(n.optionalInput(0)); ++axis)
    axes.push_back(axis);
  return axes;
}

template <graph::ReduceKind kind> void importGlobalPool(NodeContext &n) {
  SmallVector<int64_t> axes = spatialAxes(n);
  n.setOutput(n.reduce(kind, n.input(0), axes));
}

void importGlobalLpPool(NodeContext &n) {
  SmallVector<int64_t> axes = spatialAxes(n);
  int64_t p = n.intAttr("p", 2);
  if (p != 1 && p != 2)
    n.failAttribute("p", "is " + Twine(p) + ", supported are 1 and 2");
  n.setOutput(n.reduce(p == 1 ? graph::ReduceKind::L1 : graph::ReduceKind::L2, n.input(0), axes));
}

} // namespace

ArrayRef<OpRow> poolRows() {
  static const OpRow rows[] = {
      {"AveragePool", 7, latestOpset, importAveragePool, "1, 2 or 3 spatial dims"},
      {"GlobalAveragePool", 7, latestOpset, importGlobalPool<graph::ReduceKind::Mean>},
      {"GlobalLpPool", 7, latestOpset, importGlobalLpPool, "p is 1 or 2"},
      {"GlobalMaxPool", 7, latestOpset, importGlobalPool<graph::ReduceKind::Max>},
      {"LpPool", 7, latestOpset, importLpPool, "1, 2 or 3 spatial dims; no ceil_mode"},
      {"MaxPool", 7, latestOpset, importMaxPool, "1, 2 or 3 spatial dims; no Indices output"},
  };
  return rows;
}

} // namespace atc::onnx_import
