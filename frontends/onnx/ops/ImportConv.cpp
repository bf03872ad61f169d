//===-- ImportConv.cpp - convolutions and matrix products -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/graph/ops/ConvOps.h"
#include "frontends/onnx/NodeContext.h"
#include "frontends/onnx/OpTable.h"
#include "frontends/onnx/TensorData.h" // IWYU pragma: keep
#include "frontends/onnx/ops/Window.h"

using namespace mlir;

namespace atc::onnx_import {
namespace {

constexpr int64_t minConvRank = 3, maxConvRank = 5;

/// Checks what all convolutions share and reads their window.
std::optional<Window> readConvWindow(NodeContext &n, int64_t &groups) {
  n.requireRank(0, minConvRank, maxConvRank);
  if (n.failed())
    return std::nullopt;
  int64_t rank = n.rank(n.input(0));
  n.requireRank(1, rank, rank);
  groups = n.intAttr("group", 1);
  if (groups < 1 || groups > maxDim)
    n.failAttribute("group", "is " + Twine(groups) + ", expected at least 1");
  if (n.failed())
    return std::nullopt;
  ArrayRef<int64_t> kernel = n.shape(n.input(1)).drop_front(2);
  if (llvm::any_of(kernel, [](int64_t size) { return size < 1; }))
    n.failInput(1, "has an empty kernel");
  if (llvm::is_contained(n.shape(n.input(1)).take_front(2), 0))
    n.failInput(1, "has no filters or no channels");
  return readWindow(n, rank - 2, kernel);
}

void importConv(NodeContext &n) {
  int64_t groups;
  std::optional<Window> window = readConvWindow(n, groups);
  if (!window)
    return;
  Value input = n.input(0), filter = n.input(1), bias = n.optionalInput(2);
  resolveAutoPad(*window, n.shape(input).drop_front(2));
  n.setOutput(n.create<graph::ConvOp>(input, filter, bias, /*residual=*/Value(), /*slope=*/Value(),
                                      window->strides, window->pads, window->dilations, groups,
                                      graph::ActivationAttr()));
}

/// The pads that a transposed convolution needs for an output of `wanted` pixels.
void padForOutput(Window &window, SmallVector<int64_t> &outputPadding, ArrayRef<int64_t> spatial,
                  ArrayRef<int64_t> wanted) {
  for (unsigned i = 0; i < spatial.size(); ++i) {
    int64_t whole = (spatial[i] - 1) * window.strides[i] + outputPadding[i] + window.extent(i);
    int64_t total = whole - wanted[i];
    if (total < 0) {
      // The output is larger than the inputs reach: the rest is the bias alone.
      outputPadding[i] -= total;
      total = 0;
    }
    window.setPads(i, total, window.moreAtEnd());
  }
}

void importConvTranspose(NodeContext &n) {
  int64_t groups;
  std::optional<Window> window = readConvWindow(n, groups);
  if (!window)
    return;
  Value input = n.input(0), filter = n.input(1), bias = n.optionalInput(2);
  ArrayRef<int64_t> spatial = n.shape(input).drop_front(2);
  SmallVector<int64_t> outputPadding =
      n.intsAttr("output_padding").value_or(SmallVector<int64_t>(spatial.size(), 0));
  std::optional<SmallVector<int64_t>> wanted = n.intsAttr("output_shape");
  // Some exporters state the whole shape.
  if (wanted && wanted->size() == spatial.size() + 2)
    wanted->erase(wanted->begin(), wanted->begin() + 2);
  if (outputPadding.size() != spatial.size())
    n.failAttribute("output_padding", "has " + Twine(outputPadding.size()) + " values, expected " +
                                          Twine(spatial.size()));
  if (wanted && wanted->size() != spatial.size())
    n.failAttribute("output_shape",
                    "has " + Twine(wanted->size()) + " values, expected " + Twine(spatial.size()));
  for (int64_t value : outputPadding)
    if (value < 0 || value > maxWindow)
      n.failAttribute("output_padding", Twine(value) + " is out of range");
  for (int64_t value : wanted.value_or(SmallVector<int64_t>()))
    if (value < 1 || value > maxDim)
      n.failAttribute("output_shape", Twine(value) + " is out of range");
  if (n.failed())
    return;
  if (!wanted && StringRef(window->autoPad).starts_with("SAME")) {
    wanted.emplace();
    for (unsigned i = 0; i < spatial.size(); ++i)
      wanted->push_back(spatial[i] * window->strides[i]);
  }
  if (wanted)
    padForOutput(*window, outputPadding, spatial, *wanted);
  n.setOutput(n.create<graph::ConvTransposeOp>(input, filter, bias, window->strides, window->pads,
                                               window->dilations, outputPadding, groups));
}

void importMatMul(NodeContext &n) {
  Value lhs = n.input(0), rhs = n.input(1);
  n.setOutput(n.create<graph::MatMulOp>(lhs, rhs));
}

/// alpha * A' * B' + beta * C.
void importGemm(NodeContext &n) {
  n.requireRank(0, 2, 2);
  n.requireRank(1, 2, 2);
  Value lhs = n.input(0), rhs = n.input(1), addend = n.optionalInput(2);
  bool transLhs = n.boolAttr("transA", false), transRhs = n.boolAttr("transB", false);
  double alpha = n.floatAttr("alpha", 1.0), beta = n.floatAttr("beta", 1.0);
  if (n.opset() < firstTableOpset)
    n.ignoreAttr("broadcast"); // C has one of the shapes that broadcast
  if (n.failed())
    return;
  if (beta == 0)
    addend = {};
  if (transLhs)
    lhs = n.transpose(lhs, {1, 0});

  int64_t width = n.shape(rhs)[transRhs ? 0 : 1];
  bool isBias = !addend || (beta == 1.0 && n.shape(addend).size() >= 1 &&
                            n.shape(addend).size() <= 2 && n.shape(addend).back() == width &&
                            (n.rank(addend) == 1 || n.shape(addend)[0] == 1));
  // The weights of a layer are known; another product is a product.
  if (isa<FloatType>(n.elementType(lhs)) && alpha == 1.0 && isBias && n.isConstantInput(1)) {
    Value filter = transRhs ? rhs : n.transpose(rhs, {1, 0});
    Value bias = addend ? n.reshape(addend, {width}) : Value();
    return n.setOutput(
        n.create<graph::FullyConnectedOp>(lhs, filter, bias, graph::ActivationAttr()));
  }
  if (transRhs)
    rhs = n.transpose(rhs, {1, 0});
  Value product = n.create<graph::MatMulOp>(lhs, rhs);
  if (alpha != 1.0)
    product = n.mul(product, n.scalarLike(alpha, product));
  if (addend && beta != 1.0)
    addend = n.mul(addend, n.scalarLike(beta, addend));
  n.setOutput(addend ? n.add(product, addend) : product);
}

} // namespace

ArrayRef<OpRow> convRows() {
  static const OpRow rows[] = {
      {"Conv", 7, latestOpset, importConv, "1, 2 or 3 spatial dims"},
      {"ConvTranspose", 7, latestOpset, importConvTranspose, "1, 2 or 3 spatial dims"},
      {"Gemm", 7, latestOpset, importGemm},
      {"MatMul", 7, latestOpset, importMatMul},
  };
  return rows;
}

} // namespace atc::onnx_import
