//===-- ExpandWeights.cpp - weights of few bits become floats -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/graph/ConstantData.h"
#include "dialects/graph/HostCalls.h"
#include "dialects/graph/ops/ConvOps.h"
#include "dialects/graph/ops/HostOps.h"
#include "dialects/graph/ops/StructureOps.h"
#include "passes/graph/ConstantUtils.h"
#include "passes/graph/Float32Nodes.h"
#include "passes/graph/RewriteUtils.h"
#include "passes/host/Passes.h"
#include "passes/host/QuantizedCalls.h"

using namespace mlir;

namespace atc::host {
#define GEN_PASS_DEF_HOSTEXPANDWEIGHTS
#include "passes/host/Passes.h.inc"

namespace {

using graph::HostCallOp;

/// Returns the matrix [n, k] of a MatMulNBits as numbers of `element`, a float type: fields of
/// `bits` bits from the low end of a byte on, in blocks of a scale and a zero point each. Null
/// where its operands are no constants of the expected sizes.
ElementsAttr expandWeights(HostCallOp call, FloatType element) {
  const SmallVector<Value> inputs = inputsOf(call, 6);
  const int64_t k = integerOf(call, "K", 0), n = integerOf(call, "N", 0),
                bits = integerOf(call, "bits", 4), block = integerOf(call, "block_size", 0);
  ElementsAttr fields = graph::getConstant(inputs[1]), points;
  std::optional<SmallVector<double>> scales = graph::getVectorConstant(inputs[2]);
  if (inputs[3] && !(points = graph::getConstant(inputs[3])))
    return {};
  if (!fields || !scales || k <= 0 || n <= 0 || block <= 0 || (bits != 4 && bits != 8) ||
      block * bits % 8)
    return {};
  auto isBytes = [](ElementsAttr attr, int64_t count) {
    return attr.getElementType().isInteger(8) && attr.getNumElements() == count;
  };
  const int64_t blocks = llvm::divideCeil(k, block), blockBytes = block * bits / 8;
  const int64_t pointBytes = llvm::divideCeil(blocks * bits, 8);
  if (!isBytes(fields, n * blocks * blockBytes) || int64_t(scales->size()) != n * blocks ||
      (points && !isBytes(points, n * pointBytes)))
    return {};
  auto fieldBytes = graph::ConstantBytes::get(fields);
  FailureOr<graph::ConstantBytes> pointData = failure();
  if (failed(fieldBytes) || (points && failed(pointData = graph::ConstantBytes::get(points))))
    return {};
  ArrayRef<uint8_t> from = fieldBytes->expandedAs<uint8_t>();
  ArrayRef<uint8_t> zeros = points ? pointData->expandedAs<uint8_t>() : ArrayRef<uint8_t>();
  auto fieldOf = [&](const uint8_t *bytes, int64_t index) {
    return (bytes[index * bits / 8] >> (index * bits % 8)) & ((1 << bits) - 1);
  };
  // f32 holds every product as f16 would round it, and is what weights are narrowed from.
  std::vector<float> values(n * k);
  for (int64_t row = 0; row < n; ++row)
    for (int64_t i = 0; i < k; ++i) {
      const int64_t at = i / block;
      const int zero = points ? fieldOf(zeros.data() + row * pointBytes, at) : 1 << (bits - 1);
      const int field = fieldOf(from.data() + (row * blocks + at) * blockBytes, i % block);
      values[row * k + i] = float(double(field - zero) * (*scales)[row * blocks + at]);
    }
  auto type = RankedTensorType::get({n, k}, Float32Type::get(call.getContext()));
  ElementsAttr wide = graph::makeConstant(type, ArrayRef<float>(values), "weights");
  if (element.isF32())
    return wide;
  OpBuilder builder(call);
  SmallVector<double> doubles(values.begin(), values.end());
  Value narrow = graph::createConstant(builder, call.getLoc(),
                                       RankedTensorType::get({n, k}, element), doubles);
  ElementsAttr result = graph::getConstant(narrow);
  narrow.getDefiningOp()->erase();
  return result;
}

struct ExpandProduct : graph::CountingPattern<HostCallOp> {
  ExpandProduct(MLIRContext *context, Pass::Statistic &count, const graph::HostNodes &hostNodes,
                const graph::Float32Nodes &float32Nodes)
      : CountingPattern(context, count), hostNodes(hostNodes), float32Nodes(float32Nodes) {}

  LogicalResult matchAndRewrite(HostCallOp call, PatternRewriter &rewriter) const override {
    if (call.getKernel() != "MatMulNBits")
      return failure();
    // On the CPU weights of few bits are faster.
    if (hostNodes.contains(call) || float32Nodes.contains(call))
      return rewriter.notifyMatchFailure(call, "the CPU computes it");
    const SmallVector<Value> inputs = inputsOf(call, 6);
    auto x = inputs[0] ? dyn_cast<RankedTensorType>(inputs[0].getType()) : RankedTensorType();
    auto result = dyn_cast<RankedTensorType>(call.getResult(0).getType());
    if (!x || !result || !x.hasStaticShape() || !result.hasStaticShape() || x.getRank() < 2 ||
        !(x.getElementType().isF32() || x.getElementType().isF16()) ||
        x.getShape().back() != integerOf(call, "K", 0))
      return rewriter.notifyMatchFailure(call, "the shape of the data is not known");
    if (!inputs[1] || !inputs[2] || inputs[4])
      return rewriter.notifyMatchFailure(call, "rows are in groups of their own");
    if (inputs[5] && !graph::getConstant(inputs[5]))
      return rewriter.notifyMatchFailure(call, "the bias is no constant");
    ElementsAttr weights = expandWeights(call, cast<FloatType>(x.getElementType()));
    if (!weights)
      return rewriter.notifyMatchFailure(call, "the weights are no constants of 4 or 8 bits");
    Value filter =
        graph::ConstantOp::create(rewriter, graph::derivedLoc(call.getLoc(), "weights"), weights);
    rewriter.replaceOpWithNewOp<graph::FullyConnectedOp>(call, result, inputs[0], filter, inputs[5],
                                                         graph::ActivationAttr());
    ++count;
    return success();
  }

  const graph::HostNodes &hostNodes;
  const graph::Float32Nodes &float32Nodes;
};

struct FoldDequantize : graph::CountingPattern<HostCallOp> {
  using CountingPattern::CountingPattern;

  LogicalResult matchAndRewrite(HostCallOp call, PatternRewriter &rewriter) const override {
    if (call.getKernel() != "DequantizeLinear" ||
        !llvm::all_of(call.getInputs(), [](Value value) { return graph::getConstant(value); }))
      return failure();
    FailureOr<SmallVector<ElementsAttr>> values = graph::foldHostCall(
        {call.getKernel(), call.inputsByPosition(), call.getParameters()}, getContext(), INT64_MAX);
    if (failed(values) || values->front().getType() != call.getResult(0).getType())
      return failure();
    rewriter.replaceOpWithNewOp<graph::ConstantOp>(call, values->front());
    ++count;
    return success();
  }
};

struct HostExpandWeights : impl::HostExpandWeightsBase<HostExpandWeights> {
  void runOnOperation() override {
    const graph::HostNodes hostNodes(getOperation());
    const graph::Float32Nodes float32Nodes(getOperation());
    RewritePatternSet patterns(&getContext());
    patterns.add<ExpandProduct>(&getContext(), numExpanded, hostNodes, float32Nodes);
    patterns.add<FoldDequantize>(&getContext(), numExpanded);
    graph::rewriteToFixpoint(getOperation(), std::move(patterns));
  }
};

} // namespace
} // namespace atc::host
