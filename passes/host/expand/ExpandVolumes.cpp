//===-- ExpandVolumes.cpp - convolutions and pools over three dims --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A convolution over volumes is one over images: the channels of an image are those of all planes
// that its window covers. A transposed one is one of images per phase of its stride in depth. A
// pool over volumes is a pool over each plane, and then one along depth, of planes as channels or,
// where channels fill vectors, of planes as images.
//
//===----------------------------------------------------------------------===//

#include "dialects/graph/ops/BinaryOps.h"
#include "dialects/graph/ops/ConvOps.h"
#include "dialects/graph/ops/HostOps.h"
#include "dialects/graph/ops/ShapeOps.h"
#include "dialects/graph/ops/StructureOps.h"
#include "passes/Remarks.h"
#include "passes/graph/Float32Nodes.h"
#include "passes/graph/RewriteUtils.h"
#include "passes/host/Passes.h"
#include "passes/host/QuantizedCalls.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;

namespace atc::host {
#define GEN_PASS_DEF_HOSTEXPANDVOLUMES
#include "passes/host/Passes.h.inc"

namespace {

using graph::HostCallOp;

/// Returns the tensor type of known shape and of floats that a value has; null for other values.
RankedTensorType floatsOf(Value value) {
  auto type = value ? dyn_cast<RankedTensorType>(value.getType()) : RankedTensorType();
  const bool isKnown = type && type.hasStaticShape() && type.getNumElements() > 0;
  return isKnown && (type.getElementType().isF32() || type.getElementType().isF16())
             ? type
             : RankedTensorType();
}

SmallVector<int64_t> integersOf(HostCallOp call, StringRef name, ArrayRef<int64_t> fallback) {
  auto numbers = call.getParameters().getAs<DenseI64ArrayAttr>(name);
  return numbers && !numbers.empty() ? llvm::to_vector(numbers.asArrayRef())
                                     : llvm::to_vector(fallback);
}

/// A window over [N, C, D, H, W]; `pads` holds the begins, then the ends.
struct Volume {
  Value x;
  RankedTensorType in, out;
  SmallVector<int64_t> kernel, strides, dilations, pads, outputPadding;
  bool roundsUp = false, countsPads = false;

  /// Reads a convolution or pool of the graph. Returns the reason why it stays; empty: none.
  template <typename Op> std::string readOp(Op op, ArrayRef<int64_t> window) {
    x = op.getInput();
    kernel.assign(window.begin(), window.end());
    strides.assign(op.getStrides().begin(), op.getStrides().end());
    dilations.assign(op.getDilations().begin(), op.getDilations().end());
    pads.assign(op.getPads().begin(), op.getPads().end());
    outputPadding.assign(3, 0);
    return readTypes(op.getResult());
  }

  /// Reads a call whose window has the dims `kernel`. Returns the reason why it stays; empty: none.
  std::string read(HostCallOp call, ArrayRef<int64_t> window) {
    x = inputsOf(call, 1)[0];
    if (std::string why = readTypes(call.getResult(0)); !why.empty())
      return why;
    kernel = integersOf(call, "kernel_shape", window);
    strides = integersOf(call, "strides", {1, 1, 1});
    dilations = integersOf(call, "dilations", {1, 1, 1});
    pads = integersOf(call, "pads", {0, 0, 0, 0, 0, 0});
    outputPadding = integersOf(call, "output_padding", {0, 0, 0});
    if (kernel.size() != 3 || strides.size() != 3 || dilations.size() != 3 || pads.size() != 6 ||
        outputPadding.size() != 3)
      return "its window has no three dims";
    roundsUp = integerOf(call, "ceil_mode", 0) != 0;
    countsPads = integerOf(call, "count_include_pad", 0) != 0;
    auto mode = call.getParameters().getAs<StringAttr>("auto_pad");
    if (mode && mode.getValue().starts_with("SAME"))
      readSamePads(mode.getValue() == "SAME_LOWER");
    return "";
  }

  /// Returns the reason why a transposed convolution cannot be computed phase by phase; empty:
  /// none.
  std::string fitsPhases(HostCallOp call) const {
    auto mode = call.getParameters().getAs<StringAttr>("auto_pad");
    if ((mode && mode.getValue() != "NOTSET") || !integersOf(call, "output_shape", {}).empty())
      return "its pads follow from the shape of its result";
    if (dilations[0] != 1)
      return "its taps are apart in depth";
    return kernel[0] < strides[0] ? "its taps do not reach every plane" : "";
  }

  /// Returns the two numbers of the plane among three.
  static ArrayRef<int64_t> plane(ArrayRef<int64_t> numbers) { return numbers.drop_front(); }
  SmallVector<int64_t> planePads() const { return {pads[1], pads[2], pads[4], pads[5]}; }

private:
  std::string readTypes(Value result) {
    in = floatsOf(x);
    out = floatsOf(result);
    if (!in || !out)
      return "its shapes are not known, or its elements are neither f32 nor f16";
    return in.getRank() != 5 || out.getRank() != 5 ? "it has no three spatial dims" : "";
  }

  /// The shape of the result says how much is missing; an odd number is larger at the end.
  void readSamePads(bool moreAtBegin) {
    roundsUp = false;
    for (int64_t d = 0; d < 3; ++d) {
      const int64_t reach = (kernel[d] - 1) * dilations[d] + 1;
      const int64_t covered = (out.getDimSize(d + 2) - 1) * strides[d] + reach;
      const int64_t total = std::max<int64_t>(covered - in.getDimSize(d + 2), 0);
      pads[d] = (total + (moreAtBegin ? 1 : 0)) / 2;
      pads[d + 3] = total - pads[d];
    }
  }
};

/// Replaces a call, or an op of the graph, by ops over images.
class VolumeExpander {
public:
  VolumeExpander(Operation *op, const Volume &volume)
      : op(op), v(volume), builder(op), loc(graph::derivedLoc(op->getLoc(), "planes")) {}

  void convolve(Value filter, Value bias, int64_t groups) {
    ArrayRef<int64_t> in = v.in.getShape(), out = v.out.getShape();
    auto taps = cast<RankedTensorType>(filter.getType()).getShape();
    const int64_t planes = v.kernel[0];
    const SmallVector<Value> parts =
        planesAt(-v.pads[0], v.dilations[0], planes, out[2], groups, v.strides[0]);
    Value weights =
        graph::TransposeOp::create(builder, loc, filter, ArrayRef<int64_t>{0, 2, 1, 3, 4});
    Value y;
    if (taps[1] == 1 && groups > 1) {
      // Images of one channel per group keep their fast code: one convolution per plane.
      for (auto [plane, part] : llvm::enumerate(parts)) {
        Value own = graph::SliceOp::create(
            builder, loc, weights, ArrayRef<int64_t>{0, int64_t(plane), 0, 0, 0},
            ArrayRef<int64_t>{taps[0], 1, 1, taps[3], taps[4]}, ArrayRef<int64_t>{1, 1, 1, 1, 1});
        Value image = reshaped(part, {in[0] * out[2], in[1], in[3], in[4]});
        Value sum = convolveImages(image, reshaped(own, {taps[0], 1, taps[3], taps[4]}),
                                   y ? Value() : bias, groups);
        y = y ? graph::AddOp::create(builder, loc, y, sum).getResult() : sum;
      }
    } else {
      Value x = reshaped(joinPlanes(parts), {in[0] * out[2], planes * in[1], in[3], in[4]});
      weights = reshaped(weights, {taps[0], planes * taps[1], taps[3], taps[4]});
      y = convolveImages(x, weights, bias, groups);
    }
    finishPlanes(y);
  }

  /// Planes `stride` apart in depth read the input through the same taps: each such phase is a
  /// transposed convolution of images whose channels are those of the planes that its taps read.
  void convolveTransposed(Value filter, Value bias, int64_t groups) {
    ArrayRef<int64_t> in = v.in.getShape(), out = v.out.getShape();
    auto taps = cast<RankedTensorType>(filter.getType()).getShape();
    const int64_t stride = v.strides[0], inGroup = in[1] / groups;
    const int64_t positions = llvm::divideCeil(out[2], stride);
    Value weights = reshaped(filter, {groups, inGroup, taps[1], taps[2], taps[3] * taps[4]});
    weights = graph::TransposeOp::create(builder, loc, weights, ArrayRef<int64_t>{0, 3, 1, 2, 4});
    SmallVector<Value> phases;
    for (int64_t phase = 0; phase < stride; ++phase) {
      // Plane q * stride + phase reads input plane q + first - j through tap firstTap + j * stride.
      const int64_t firstTap = (phase + v.pads[0]) % stride;
      const int64_t first = (phase + v.pads[0] - firstTap) / stride;
      const int64_t count = llvm::divideCeil(taps[2] - firstTap, stride);
      Value own = graph::SliceOp::create(
          builder, loc, weights, ArrayRef<int64_t>{0, firstTap, 0, 0, 0},
          ArrayRef<int64_t>{groups, count, inGroup, taps[1], taps[3] * taps[4]},
          ArrayRef<int64_t>{1, stride, 1, 1, 1});
      own = reshaped(own, {groups * count * inGroup, taps[1], taps[3], taps[4]});
      Value x = joinPlanes(planesAt(first, -1, count, positions, groups));
      x = reshaped(x, {in[0] * positions, count * in[1], in[3], in[4]});
      Value y = graph::ConvTransposeOp::create(builder, loc, x, own, bias, Volume::plane(v.strides),
                                               v.planePads(), Volume::plane(v.dilations),
                                               Volume::plane(v.outputPadding), groups);
      phases.push_back(reshaped(y, {in[0], positions, 1, out[1] * out[3] * out[4]}));
    }
    Value y = stride == 1 ? phases.front()
                          : graph::ConcatOp::create(builder, loc, phases, /*axis=*/2).getResult();
    y = reshaped(y, {in[0], positions * stride, out[1] * out[3] * out[4]});
    if (positions * stride > out[2])
      y = graph::SliceOp::create(builder, loc, y, ArrayRef<int64_t>{0, 0, 0},
                                 ArrayRef<int64_t>{in[0], out[2], out[1] * out[3] * out[4]},
                                 ArrayRef<int64_t>{1, 1, 1});
    finishPlanes(y);
  }

  /// Pools by ops that `make` creates of an input, a kernel, strides, pads and dilations; `combine`
  /// makes one value of those that a window has in depth.
  template <typename Make, typename Combine> void pool(Make make, Combine combine) {
    ArrayRef<int64_t> in = v.in.getShape(), out = v.out.getShape();
    if (suitsPlanes()) {
      Value planes =
          graph::TransposeOp::create(builder, loc, v.x, ArrayRef<int64_t>{0, 2, 1, 3, 4});
      planes = make(reshaped(planes, {in[0] * in[2], in[1], in[3], in[4]}), Volume::plane(v.kernel),
                    Volume::plane(v.strides), v.planePads(), Volume::plane(v.dilations));
      if (v.kernel[0] > 1 || v.strides[0] > 1) {
        SmallVector<Value> taps;
        for (int64_t tap = 0; tap < v.kernel[0]; ++tap)
          taps.push_back(graph::SliceOp::create(builder, loc, planes,
                                                ArrayRef<int64_t>{tap * v.dilations[0], 0, 0, 0},
                                                ArrayRef<int64_t>{out[2], in[1], out[3], out[4]},
                                                ArrayRef<int64_t>{v.strides[0], 1, 1, 1}));
        planes = combine(taps);
      }
      return finishPlanes(planes);
    }
    Value x = reshaped(v.x, {in[0], in[1] * in[2], in[3], in[4]});
    x = make(x, Volume::plane(v.kernel), Volume::plane(v.strides), v.planePads(),
             Volume::plane(v.dilations));
    x = reshaped(x, {in[0], in[1], in[2], out[3] * out[4]});
    if (v.kernel[0] > 1 || v.strides[0] > 1 || v.pads[0] || v.pads[3])
      x = make(x, {v.kernel[0], 1}, {v.strides[0], 1}, {v.pads[0], 0, v.pads[3], 0},
               {v.dilations[0], 1});
    finish(x);
  }

  void poolMaximum() {
    pool(
        [&](Value x, ArrayRef<int64_t> kernel, ArrayRef<int64_t> strides, ArrayRef<int64_t> pads,
            ArrayRef<int64_t> dilations) {
          return graph::MaxPoolOp::create(builder, loc, x, kernel, strides, pads, dilations,
                                          v.roundsUp)
              .getResult();
        },
        [&](ArrayRef<Value> taps) {
          Value max = taps.front();
          for (Value tap : taps.drop_front())
            max = graph::MaxOp::create(builder, loc, max, tap);
          return max;
        });
  }

  void poolMean() {
    pool(
        [&](Value x, ArrayRef<int64_t> kernel, ArrayRef<int64_t> strides, ArrayRef<int64_t> pads,
            ArrayRef<int64_t> dilations) {
          return graph::AveragePoolOp::create(builder, loc, x, kernel, strides, pads, dilations,
                                              v.roundsUp, v.countsPads)
              .getResult();
        },
        [&](ArrayRef<Value> taps) {
          // Shares, not the sum: f16 may not hold that.
          auto type = RankedTensorType::get({}, v.in.getElementType());
          Value share = graph::ConstantOp::create(
              builder, loc,
              DenseElementsAttr::get(
                  type, builder.getFloatAttr(type.getElementType(), 1.0 / taps.size())));
          Value mean;
          for (Value tap : taps) {
            Value part = graph::MulOp::create(builder, loc, tap, share);
            mean = mean ? graph::AddOp::create(builder, loc, mean, part).getResult() : part;
          }
          return mean;
        });
  }

private:
  /// Returns whether a pool may be one over the planes as images, as convolutions leave them, so
  /// that no transposes are left between both: of one volume whose channels fill vectors, where
  /// each window has all its planes.
  bool suitsPlanes() const {
    constexpr int64_t kLanes = 16, kMaxPlanes = 8;
    const int64_t end =
        (v.out.getDimSize(2) - 1) * v.strides[0] + (v.kernel[0] - 1) * v.dilations[0] + 1;
    return v.in.getDimSize(0) == 1 && v.in.getDimSize(1) % kLanes == 0 && !v.pads[0] &&
           !v.pads[3] && v.kernel[0] <= kMaxPlanes && end <= v.in.getDimSize(2);
  }

  /// Returns the input planes that each of `taps` taps reads at `positions` positions, which are
  /// `step` planes apart: [N, positions, groups, elements of a group]. Tap j begins at plane first
  /// + j * advance; planes outside of the input are zeros.
  SmallVector<Value> planesAt(int64_t first, int64_t advance, int64_t taps, int64_t positions,
                              int64_t groups, int64_t step = 1) {
    ArrayRef<int64_t> in = v.in.getShape();
    const int64_t elements = in[1] / groups * in[3] * in[4];
    const int64_t last = first + (taps - 1) * advance;
    const int64_t low = std::max<int64_t>(-std::min(first, last), 0);
    const int64_t end = std::max(first, last) + (positions - 1) * step + 1;
    const int64_t high = std::max<int64_t>(end - in[2], 0);
    Value x = graph::TransposeOp::create(builder, loc, v.x, ArrayRef<int64_t>{0, 2, 1, 3, 4});
    x = reshaped(x, {in[0], in[2], groups, elements});
    if (low || high)
      x = graph::PadOp::create(builder, loc, x, ArrayRef<int64_t>{0, low, 0, 0},
                               ArrayRef<int64_t>{0, high, 0, 0}, graph::PadMode::Constant,
                               llvm::APFloat(0.0));
    SmallVector<Value> parts;
    for (int64_t tap = 0; tap < taps; ++tap)
      parts.push_back(graph::SliceOp::create(
          builder, loc, x, ArrayRef<int64_t>{0, low + first + tap * advance, 0, 0},
          ArrayRef<int64_t>{in[0], positions, groups, elements}, ArrayRef<int64_t>{1, step, 1, 1}));
    return parts;
  }

  /// Returns planes as one tensor, in which those of a group follow each other.
  Value joinPlanes(ArrayRef<Value> planes) {
    return planes.size() == 1
               ? planes.front()
               : graph::ConcatOp::create(builder, loc, planes, /*axis=*/3).getResult();
  }

  Value convolveImages(Value x, Value weights, Value bias, int64_t groups) {
    return graph::ConvOp::create(builder, loc, x, weights, bias, /*residual=*/Value(),
                                 /*slope=*/Value(), Volume::plane(v.strides), v.planePads(),
                                 Volume::plane(v.dilations), groups, graph::ActivationAttr(),
                                 /*residual_last=*/false);
  }

  Value reshaped(Value value, ArrayRef<int64_t> shape) {
    auto type = RankedTensorType::get(shape, v.in.getElementType());
    return graph::ReshapeOp::create(builder, loc, type, value);
  }
  /// Replaces the op by images that follow each other in depth.
  void finishPlanes(Value value) {
    ArrayRef<int64_t> out = v.out.getShape();
    value = reshaped(value, {out[0], out[2], out[1], out[3], out[4]});
    finish(graph::TransposeOp::create(builder, loc, value, ArrayRef<int64_t>{0, 2, 1, 3, 4}));
  }
  void finish(Value value) {
    if (value.getType() != v.out)
      value = reshaped(value, v.out.getShape());
    // The name stays with the one tensor that is the result.
    value.getDefiningOp()->setLoc(op->getLoc());
    op->getResult(0).replaceAllUsesWith(value);
    op->erase();
  }

  Operation *op;
  const Volume &v;
  OpBuilder builder;
  Location loc;
};

struct HostExpandVolumes : impl::HostExpandVolumesBase<HostExpandVolumes> {
  void runOnOperation() override {
    const graph::HostNodes hostNodes(getOperation());
    SmallVector<Operation *> ops;
    getOperation().walk([&](Operation *op) {
      auto call = dyn_cast<HostCallOp>(op);
      if (call ? expandsVolumesOf(call.getKernel()) && !hostNodes.contains(call)
               : isa<graph::ConvOp, graph::MaxPoolOp, graph::AveragePoolOp>(op) &&
                     graph::getTensorType(op->getOperand(0)).getRank() == 5)
        ops.push_back(op);
    });
    for (Operation *op : ops) {
      auto call = dyn_cast<HostCallOp>(op);
      const Location where = op->getLoc();
      const std::string name = call ? call.getKernel().str() : op->getName().getStringRef().str();
      if (std::string why = call ? expand(call) : expandOp(op); !why.empty()) {
        remarkMissed(getArgument(), where, "Kept") << remark::add(
            "{0} stays {1}: {2}", name, call ? "a call of a host kernel" : "as it is", why);
        continue;
      }
      ++numExpanded;
    }
  }

private:
  /// Replaces an op of the graph, as tiles of a dynamic dim have them. Returns the reason why it
  /// stays; empty: it is replaced.
  std::string expandOp(Operation *op) {
    Volume volume;
    if (auto conv = dyn_cast<graph::ConvOp>(op)) {
      RankedTensorType filter = floatsOf(conv.getFilter());
      if (!filter || !conv.getFilter().getDefiningOp<graph::ConstantOp>())
        return "its filter is no constant";
      if (conv.getResidual() || conv.getActivation())
        return "it has an activation or a residual already";
      if (std::string why = volume.readOp(conv, filter.getShape().drop_front(2)); !why.empty())
        return why;
      notePassed(op, kConvolved);
      VolumeExpander(op, volume).convolve(conv.getFilter(), conv.getBias(), conv.getGroups());
      return "";
    }
    auto pool = [&](auto pool) {
      std::string why = volume.readOp(pool, pool.getKernel());
      volume.roundsUp = pool.getCeilMode();
      if (why.empty())
        notePassed(op, kPooled);
      return why;
    };
    if (auto largest = dyn_cast<graph::MaxPoolOp>(op)) {
      if (std::string why = pool(largest); !why.empty())
        return why;
      VolumeExpander(op, volume).poolMaximum();
      return "";
    }
    auto mean = cast<graph::AveragePoolOp>(op);
    volume.countsPads = mean.getCountIncludePad();
    if (std::string why = pool(mean); !why.empty())
      return why;
    VolumeExpander(op, volume).poolMean();
    return "";
  }

  /// Replaces a call. Returns the reason why it stays; empty: it is replaced.
  std::string expand(HostCallOp call) {
    const SmallVector<Value> inputs = inputsOf(call, 3);
    Volume volume;
    const bool isPool = !call.getKernel().starts_with("Conv");
    if (isPool) {
      if (std::string why = volume.read(call, {}); !why.empty())
        return why;
      if (call.getNumResults() > 1 && !call.getResult(1).use_empty())
        return "its indices are read";
      notePassed(call, kPooled);
      VolumeExpander expander(call, volume);
      call.getKernel() == "MaxPool" ? expander.poolMaximum() : expander.poolMean();
      return "";
    }
    RankedTensorType filter = floatsOf(inputs[1]);
    if (!filter || filter.getRank() != 5 || !inputs[1].getDefiningOp<graph::ConstantOp>())
      return "its filter is no constant of five dims";
    if (inputs[2] && !inputs[2].getDefiningOp<graph::ConstantOp>())
      return "its bias is no constant";
    if (std::string why = volume.read(call, filter.getShape().drop_front(2)); !why.empty())
      return why;
    const int64_t groups = integerOf(call, "group", 1);
    const bool isTransposed = call.getKernel() == "ConvTranspose";
    const int64_t channels = isTransposed ? filter.getDimSize(0) : filter.getDimSize(1) * groups;
    if (groups < 1 || channels != volume.in.getDimSize(1) || channels % groups)
      return "its groups do not fit its channels";
    if (isTransposed) {
      if (std::string why = volume.fitsPhases(call); !why.empty())
        return why;
      notePassed(call, "the planes that the taps of a phase read are channels of images");
      VolumeExpander(call, volume).convolveTransposed(inputs[1], inputs[2], groups);
      return "";
    }
    notePassed(call, kConvolved);
    VolumeExpander(call, volume).convolve(inputs[1], inputs[2], groups);
    return "";
  }

  static constexpr StringLiteral kConvolved =
      "the planes that a window covers are channels of images";
  static constexpr StringLiteral kPooled = "planes and depth are pooled one after the other";

  void notePassed(Operation *op, StringRef how) {
    remarkPassed(getArgument(), op->getLoc(), "Expanded") << how;
  }
};

} // namespace

bool expandsVolumesOf(StringRef kernel) {
  return llvm::is_contained({"Conv", "ConvTranspose", "MaxPool", "AveragePool"}, kernel);
}

} // namespace atc::host
