//===-- DecomposeConvTranspose.cpp - conv_transpose becomes conv ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Consider one dim of a transposed convolution: output o reads input i through tap k where o + pad
// = i * stride + k * dilation. Let o + pad = base + q * stride + phase: all outputs of a phase use
// the same taps, at input q + delta of tap k. So a phase is a plain convolution over q, and the
// phases are its channels.
//
// Quantized weights and biases stay quantized: the new ones have the same integers, and each phase
// of a channel its scale.

#include "dialects/graph/ops/ConvOps.h"
#include "dialects/graph/ops/QuantOps.h"
#include "dialects/graph/ops/ShapeOps.h"
#include "dialects/graph/ops/StructureOps.h"
#include "passes/graph/ConstantUtils.h"
#include "passes/graph/Passes.h"
#include "passes/graph/RewriteUtils.h"

#include "mlir/Dialect/Utils/IndexingUtils.h"

#include <numeric>

namespace atc::graph {
#define GEN_PASS_DEF_GRAPHDECOMPOSECONVTRANSPOSE
#include "passes/graph/Passes.h.inc"
} // namespace atc::graph

using namespace mlir;
using namespace atc::graph;

namespace {

/// The taps first, first + step, ... of one phase; tap number n reads input q + delta - n *
/// deltaStep.
struct PhaseTaps {
  int64_t first = 0, step = 1, count = 0;
  int64_t delta = 0, deltaStep = 1;
};

/// The plan of one spatial dim.
struct DimPlan {
  SmallVector<PhaseTaps> phases;
  int64_t firstDelta = 0; ///< input of the new kernel's tap 0, relative to q
  int64_t kernel = 1;     ///< taps of the new kernel
  int64_t padBegin = 0, padEnd = 0;
  int64_t steps = 0;     ///< values of q
  int64_t cropBegin = 0; ///< outputs to drop in front
};

PhaseTaps planPhase(int64_t position, int64_t kernel, int64_t stride, int64_t dilation) {
  PhaseTaps taps;
  int64_t common = std::gcd(stride, dilation);
  taps.step = stride / common;
  taps.deltaStep = dilation / common;
  for (int64_t k = 0; k < kernel; ++k) {
    if (k * dilation % stride != position % stride)
      continue;
    if (taps.count++ == 0) {
      taps.first = k;
      taps.delta = (position - k * dilation) / stride;
    }
  }
  return taps;
}

/// `base` is the position (output + pad) of phase 0 at q = 0.
DimPlan planDim(int64_t base, int64_t input, int64_t output, int64_t kernel, int64_t stride,
                int64_t dilation, int64_t pad) {
  DimPlan plan;
  // Starting at 0 keeps the new pads from being negative.
  int64_t lastDelta = 0;
  for (int64_t phase = 0; phase < stride; ++phase) {
    PhaseTaps taps = planPhase(base + phase, kernel, stride, dilation);
    plan.phases.push_back(taps);
    if (taps.count == 0)
      continue;
    lastDelta = std::max(lastDelta, taps.delta);
    plan.firstDelta = std::min(plan.firstDelta, taps.delta - (taps.count - 1) * taps.deltaStep);
  }
  plan.kernel = lastDelta - plan.firstDelta + 1;
  plan.cropBegin = pad - base;
  plan.padBegin = -plan.firstDelta;
  int64_t needed = (plan.cropBegin + output + stride - 1) / stride;
  plan.padEnd = std::max<int64_t>(0, needed - input - plan.padBegin + plan.kernel - 1);
  plan.steps = input + plan.padBegin + plan.padEnd - plan.kernel + 1;
  return plan;
}

/// Aligns the phases to the pad, so that nothing needs to be cropped in front,
/// unless that takes a larger kernel than aligning them to the input.
DimPlan planDim(int64_t input, int64_t output, int64_t kernel, int64_t stride, int64_t dilation,
                int64_t pad) {
  DimPlan exact = planDim(pad, input, output, kernel, stride, dilation, pad);
  DimPlan aligned = planDim(pad / stride * stride, input, output, kernel, stride, dilation, pad);
  return exact.kernel <= aligned.kernel ? exact : aligned;
}

class Decomposition {
public:
  Decomposition(ConvTransposeOp op, PatternRewriter &rewriter)
      : op(op), rewriter(rewriter), resultType(op.getType()),
        filterShape(getTensorType(op.getFilter()).getShape()), groups(op.getGroups()) {
    for (size_t d = 0; d < op.getStrides().size(); ++d) {
      dims.push_back(planDim(getTensorType(op.getInput()).getDimSize(d + 2),
                             resultType.getDimSize(d + 2), filterShape[d + 2], op.getStrides()[d],
                             op.getDilations()[d], op.getPads()[d]));
      numPhases *= op.getStrides()[d];
    }
    ArrayRef<int64_t> strides = op.getStrides();
    usesDepthToSpace = strides.size() == 2 && strides[0] == strides[1] && strides[0] > 1;
    // Whole blocks of M channels per phase are cheaper to move than single channels, but with
    // groups the phases of a channel must stay in its group.
    phasesFirst = usesDepthToSpace && groups == 1;
  }

  LogicalResult run(Operation *&replacement) {
    Value filterValue = buildFilter();
    if (!filterValue)
      return failure();
    Location loc = op.getLoc();
    bool crops = needsCrop();
    StringRef convSuffix = numPhases == 1 ? "uncropped" : "phases";
    Location convLoc = numPhases == 1 && !crops ? loc : derivedLoc(loc, convSuffix);
    Location uncroppedLoc = crops ? derivedLoc(loc, "uncropped") : loc;

    Value bias = buildBias();
    if (op.getBias() && !bias)
      return failure();
    Value value = buildConv(convLoc, filterValue, bias);
    if (numPhases > 1)
      value = usesDepthToSpace ? buildDepthToSpace(uncroppedLoc, value)
                               : buildInterleave(uncroppedLoc, value);
    if (crops)
      value = buildCrop(loc, value);
    replacement = value.getDefiningOp();
    return success();
  }

private:
  int64_t getNumChannels() const { return filterShape[1] * groups; }

  bool needsCrop() {
    for (auto [d, dim] : llvm::enumerate(dims))
      if (dim.cropBegin != 0 || dim.steps * op.getStrides()[d] != resultType.getDimSize(d + 2))
        return true;
    return false;
  }

  /// Distance between the rows of neighbouring channels and phases in the new filter.
  int64_t getChannelStep() const { return phasesFirst ? 1 : numPhases; }
  int64_t getPhaseStep() const { return phasesFirst ? getNumChannels() : 1; }

  /// The channel of the convolution that computes a phase of channel `m`.
  int64_t channelOf(int64_t m, int64_t phase) const {
    return m * getChannelStep() + phase * getPhaseStep();
  }

  Value buildFilter() {
    Location loc = derivedLoc(op.getLoc(), "weight");
    ElementsAttr source = getConstant(op.getFilter());
    if (source) {
      ElementsAttr filter = phasesOf(source);
      return filter ? ConstantOp::create(rewriter, loc, filter).getResult() : Value();
    }
    auto [integers, params] = getQuantizedConstant(op.getFilter());
    ElementsAttr filter = integers ? phasesOf(integers) : nullptr;
    return filter ? buildQuantized(loc, filter, params, filterShape[1]) : Value();
  }

  /// Returns a filter for all phases with the elements of `source`.
  ElementsAttr phasesOf(ElementsAttr source) {
    int64_t inputsAGroup = filterShape[0] / groups;
    SmallVector<int64_t> shape{getNumChannels() * numPhases, inputsAGroup};
    for (const DimPlan &dim : dims)
      shape.push_back(dim.kernel);
    SmallVector<int64_t> from = computeStrides(filterShape);
    SmallVector<int64_t> to = computeStrides(shape);

    SmallVector<ElementCopy> copies;
    for (int64_t phase = 0; phase < numPhases; ++phase) {
      ElementCopy copy;
      copy.sizes = {groups, filterShape[1], inputsAGroup};
      copy.sourceStrides = {inputsAGroup * from[0], from[1], from[0]};
      int64_t channel = getChannelStep() * to[0];
      copy.targetStrides = {filterShape[1] * channel, channel, to[1]};
      copy.targetOffset = phase * getPhaseStep() * to[0];
      int64_t rest = phase;
      for (size_t d = dims.size(); d-- > 0;) {
        const PhaseTaps &taps = dims[d].phases[rest % op.getStrides()[d]];
        rest /= op.getStrides()[d];
        copy.sizes.insert(copy.sizes.begin() + 3, taps.count);
        copy.sourceStrides.insert(copy.sourceStrides.begin() + 3, taps.step * from[d + 2]);
        copy.sourceOffset += taps.first * from[d + 2];
        copy.targetStrides.insert(copy.targetStrides.begin() + 3, -taps.deltaStep * to[d + 2]);
        if (taps.count > 0)
          copy.targetOffset += (taps.delta - dims[d].firstDelta) * to[d + 2];
      }
      copies.push_back(std::move(copy));
    }
    auto type = RankedTensorType::get(shape, source.getShapedType().getElementType());
    return scatterElements(source, type, copies);
  }

  /// Returns `integers`, whose dim 0 is the channels of all phases, as real values: `params` are
  /// those of the tensor, or of `numScales` channels, which those of all groups repeat.
  Value buildQuantized(Location loc, ElementsAttr integers, const QuantParams &params,
                       int64_t numScales) {
    SmallVector<float> scales = params.scales;
    if (!params.isPerTensor()) {
      scales.resize(getNumChannels() * numPhases);
      for (int64_t m = 0; m < getNumChannels(); ++m)
        for (int64_t phase = 0; phase < numPhases; ++phase)
          scales[channelOf(m, phase)] = params.scales[m % numScales];
    }
    SmallVector<int64_t> zeroPoints(scales.size(), 0);
    Type element = getQuantType(params.stored, scales, zeroPoints, params.isPerTensor() ? -1 : 0);
    auto type = cast<RankedTensorType>(integers.getShapedType());
    Value stored = ConstantOp::create(rewriter, loc, integers);
    Value quantized = StorageCastOp::create(rewriter, loc, type.clone(element), stored);
    return DequantizeOp::create(rewriter, loc, type.clone(resultType.getElementType()), quantized);
  }

  Value buildBias() {
    if (auto [integers, params] = op.getBias() ? getQuantizedConstant(op.getBias())
                                               : std::pair<ElementsAttr, QuantParams>();
        integers) {
      SmallVector<ElementCopy> copies;
      for (int64_t phase = 0; phase < numPhases; ++phase)
        copies.push_back({{getNumChannels()}, {1}, 0, {getChannelStep()}, phase * getPhaseStep()});
      auto type = RankedTensorType::get({getNumChannels() * numPhases},
                                        integers.getShapedType().getElementType());
      ElementsAttr all = scatterElements(integers, type, copies);
      return all ? buildQuantized(derivedLoc(op.getLoc(), "bias"), all, params, getNumChannels())
                 : Value();
    }
    auto bias = op.getBias() ? getVectorConstant(op.getBias()) : std::nullopt;
    if (!bias)
      return {};
    SmallVector<double> values(bias->size() * numPhases);
    for (auto [m, value] : llvm::enumerate(*bias))
      for (int64_t phase = 0; phase < numPhases; ++phase)
        values[channelOf(m, phase)] = value;
    auto type = RankedTensorType::get({static_cast<int64_t>(values.size())},
                                      getTensorType(op.getBias()).getElementType());
    return createConstant(rewriter, derivedLoc(op.getLoc(), "bias"), type, values);
  }

  Value buildConv(Location loc, Value filter, Value bias) {
    SmallVector<int64_t> shape{resultType.getDimSize(0), getNumChannels() * numPhases};
    SmallVector<int64_t> pads(2 * dims.size()), ones(dims.size(), 1);
    for (auto [d, dim] : llvm::enumerate(dims)) {
      shape.push_back(dim.steps);
      pads[d] = dim.padBegin;
      pads[dims.size() + d] = dim.padEnd;
    }
    return ConvOp::create(rewriter, loc, RankedTensorType::get(shape, resultType.getElementType()),
                          op.getInput(), filter, bias, /*residual=*/Value(), /*slope=*/Value(),
                          ones, pads, ones, groups, /*activation=*/ActivationAttr());
  }

  /// Returns the shape of all interleaved phases, without cropping.
  RankedTensorType getUncroppedType() {
    SmallVector<int64_t> shape{resultType.getDimSize(0), getNumChannels()};
    for (auto [d, dim] : llvm::enumerate(dims))
      shape.push_back(dim.steps * op.getStrides()[d]);
    return RankedTensorType::get(shape, resultType.getElementType());
  }

  Value buildDepthToSpace(Location loc, Value value) {
    return DepthToSpaceOp::create(rewriter, loc, getUncroppedType(), value, op.getStrides()[0],
                                  phasesFirst ? DepthOrder::DCR : DepthOrder::CRD);
  }

  /// [N, M * s1 * s2, Q1, Q2] -> [N, M, s1, s2, Q1, Q2] -> [N, M, Q1, s1, Q2, s2]
  /// -> [N, M, Q1 * s1, Q2 * s2].
  Value buildInterleave(Location loc, Value value) {
    Type elementType = resultType.getElementType();
    SmallVector<int64_t> split{resultType.getDimSize(0), getNumChannels()};
    llvm::append_range(split, op.getStrides());
    SmallVector<int64_t> permutation{0, 1};
    int64_t rank = dims.size();
    for (auto [d, dim] : llvm::enumerate(dims)) {
      split.push_back(dim.steps);
      permutation.push_back(2 + rank + d);
      permutation.push_back(2 + d);
    }
    value = ReshapeOp::create(rewriter, derivedLoc(loc, "split"),
                              RankedTensorType::get(split, elementType), value);
    value = TransposeOp::create(
        rewriter, derivedLoc(loc, "interleaved"),
        RankedTensorType::get(applyPermutation<int64_t>(split, permutation), elementType), value,
        permutation);
    return ReshapeOp::create(rewriter, loc, getUncroppedType(), value);
  }

  Value buildCrop(Location loc, Value value) {
    SmallVector<int64_t> starts{0, 0}, steps(dims.size() + 2, 1);
    for (const DimPlan &dim : dims)
      starts.push_back(dim.cropBegin);
    return SliceOp::create(rewriter, loc, resultType, value, starts, resultType.getShape(), steps);
  }

  ConvTransposeOp op;
  PatternRewriter &rewriter;
  RankedTensorType resultType;
  ArrayRef<int64_t> filterShape;
  int64_t groups;
  SmallVector<DimPlan> dims;
  int64_t numPhases = 1;
  bool usesDepthToSpace, phasesFirst;
};

LogicalResult decompose(ConvTransposeOp op, PatternRewriter &rewriter, Pass::Statistic &count) {
  Operation *replacement = nullptr;
  if (failed(Decomposition(op, rewriter).run(replacement)))
    return rewriter.notifyMatchFailure(op, "weights are not whole bytes");
  rewriter.replaceOp(op, replacement);
  ++count;
  return success();
}

struct Decompose : CountingPattern<ConvTransposeOp> {
  using CountingPattern::CountingPattern;

  LogicalResult matchAndRewrite(ConvTransposeOp op, PatternRewriter &rewriter) const override {
    if (!op.getType().hasStaticShape() || !getTensorType(op.getInput()).hasStaticShape())
      return rewriter.notifyMatchFailure(op, "shape is not static");
    if (!getConstant(op.getFilter()) || (op.getBias() && !getVectorConstant(op.getBias())))
      return rewriter.notifyMatchFailure(op, "weights are not constant");
    return decompose(op, rewriter, count);
  }
};

/// Transposed convolutions of quantized tensors, while their scales are known: propagation moves
/// the quantize behind them to the convolution, which then is one of integers.
struct DecomposeQuantized : CountingPattern<ConvTransposeOp> {
  using CountingPattern::CountingPattern;

  /// Returns whether `value` is constant integers whose scale belongs to the tensor or to dim
  /// `axis`, and whose zero is 0, as scattered integers leave gaps.
  static bool isSymmetric(Value value, int64_t axis) {
    auto [integers, params] = getQuantizedConstant(value);
    return integers && (params.isPerTensor() || params.axis == axis) &&
           llvm::all_of(params.zeroPoints, [](int64_t zero) { return zero == 0; });
  }

  LogicalResult matchAndRewrite(ConvTransposeOp op, PatternRewriter &rewriter) const override {
    if (!op.getType().hasStaticShape() || !getTensorType(op.getInput()).hasStaticShape() ||
        op.getType().getRank() > 4)
      return rewriter.notifyMatchFailure(op, "not a row or an image of static shape");
    if (!op.getInput().getDefiningOp<DequantizeOp>() || !isSymmetric(op.getFilter(), /*axis=*/1))
      return rewriter.notifyMatchFailure(op, "operands are not quantized");
    if (Value bias = op.getBias();
        bias && !isSymmetric(bias, /*axis=*/0) && !getVectorConstant(bias))
      return rewriter.notifyMatchFailure(op, "the bias is not constant");
    return decompose(op, rewriter, count);
  }
};

struct DecomposeConvTranspose
    : atc::graph::impl::GraphDecomposeConvTransposeBase<DecomposeConvTranspose> {
  using GraphDecomposeConvTransposeBase::GraphDecomposeConvTransposeBase;

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<DecomposeQuantized>(&getContext(), numDecomposed);
    if (!onlyQuantized)
      patterns.add<Decompose>(&getContext(), numDecomposed);
    rewriteToFixpoint(getOperation(), std::move(patterns));
  }
};

} // namespace
