//===-- ConvOps.cpp - inference of convolutions, pools and matmuls -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/graph/ops/ConvOps.h"
#include "dialects/graph/ops/RegisterOps.h"
#include "llvm/Support/MathExtras.h"
#include <limits>

using namespace mlir;
using namespace atc::graph;
using namespace atc::graph::detail;

#define GET_OP_CLASSES
#include "dialects/graph/ops/ConvOps.cpp.inc"

void atc::graph::registerConvOps(GraphDialect &dialect) {
  registerOps<
#define GET_OP_LIST
#include "dialects/graph/ops/ConvOps.cpp.inc"
      >(dialect);
}

namespace {
/// The window attributes that convolutions and pools share.
struct Window {
  ArrayRef<int64_t> kernel, strides, pads, dilations;

  int64_t extent(size_t dim) const { return (kernel[dim] - 1) * dilations[dim] + 1; }
};
} // namespace

/// Checks the counts and ranges of the window attributes of `spatial` dims.
static LogicalResult checkWindow(const Window &window, int64_t spatial, EmitError emitError) {
  if (failed(checkCount("strides", window.strides, spatial, "spatial dims", emitError)) ||
      failed(checkCount("dilations", window.dilations, spatial, "spatial dims", emitError)) ||
      failed(checkCount("pads", window.pads, 2 * spatial, "begins and ends of the spatial dims",
                        emitError)))
    return failure();
  // The upper bound keeps the arithmetic on sizes away from overflow.
  constexpr int64_t max = std::numeric_limits<int32_t>::max();
  auto checkAtLeast = [&](StringRef name, ArrayRef<int64_t> values, int64_t min) -> LogicalResult {
    for (int64_t value : values)
      if ((value < min || value > max) && !ShapedType::isDynamic(value))
        return emitError() << name << " must be in [" << min << ", " << max << "], but are ["
                           << values << "]";
    return success();
  };
  return failure(failed(checkAtLeast("strides", window.strides, 1)) ||
                 failed(checkAtLeast("dilations", window.dilations, 1)) ||
                 failed(checkAtLeast("kernel sizes", window.kernel, 1)) ||
                 failed(checkAtLeast("pads", window.pads, 0)));
}

/// The size of one spatial dim after a sliding window; fails when the window
/// does not fit once.
static FailureOr<int64_t> slidingSize(const Window &window, size_t dim, size_t spatial,
                                      int64_t input, bool ceilMode, EmitError emitError) {
  if (ShapedType::isDynamic(input) || ShapedType::isDynamic(window.kernel[dim]))
    return ShapedType::kDynamic;
  int64_t begin = window.pads[dim], end = window.pads[dim + spatial];
  int64_t padded = input + begin + end, extent = window.extent(dim), stride = window.strides[dim];
  // In ceil mode a part of a window counts as one.
  if (padded < extent && !(ceilMode && padded > 0 && extent - padded < stride))
    return emitError() << "window of " << extent << " (kernel " << window.kernel[dim]
                       << ", dilation " << window.dilations[dim] << ") does not fit spatial dim "
                       << dim << " of " << input << " with pads " << begin << " and " << end;
  int64_t size = (padded - extent + (ceilMode ? stride - 1 : 0)) / stride + 1;
  // A window that would start behind the input and its begin padding covers only padding; ceil mode
  // does not count it.
  if (ceilMode && (size - 1) * stride >= input + begin)
    --size;
  return size;
}

/// Checks a per-channel operand against the channel count.
static LogicalResult checkVector(StringRef name, Value value, int64_t size, Type elementType,
                                 EmitError emitError) {
  if (!value)
    return success();
  auto type = rankedType(value);
  if (type.getRank() != 1 || !dimsAgree(type.getDimSize(0), size) ||
      type.getElementType() != elementType) {
    SmallVector<int64_t, 1> expected{size};
    return emitError() << name << " is " << type << ", expected "
                       << RankedTensorType::get(expected, elementType);
  }
  return success();
}

/// Checks the bias, which is added to the accumulators and may have their type: f32 with f16
/// operands.
static LogicalResult checkBias(Value bias, int64_t size, Type elementType, EmitError emitError) {
  bool wide = bias && elementType.isF16() && rankedType(bias).getElementType().isF32();
  return checkVector("bias", bias, size, wide ? rankedType(bias).getElementType() : elementType,
                     emitError);
}

static LogicalResult checkActivation(std::optional<ActivationAttr> activation, Value slope,
                                     EmitError emitError) {
  bool isPRelu = activation && *activation && (*activation).getKind() == ActivationKind::PRelu;
  if (isPRelu && !slope)
    return emitError() << "activation prelu needs a slope operand, but there is none";
  if (slope && !isPRelu)
    return emitError() << "slope is given, but the activation is not prelu";
  return success();
}

/// Checks that a convolution's input and filter fit each other, whatever their dims are.
static LogicalResult checkImageAndFilter(RankedTensorType input, RankedTensorType filter,
                                         EmitError emitError) {
  if (input.getRank() < 3 || filter.getRank() != input.getRank())
    return emitError() << "input and filter must have the same rank of 3 or more, but are " << input
                       << " and " << filter;
  if (input.getElementType() != filter.getElementType())
    return emitError() << "input and filter must have one element type, but are " << input
                       << " and " << filter;
  return success();
}

FailureOr<RankedTensorType> ConvOp::inferType(Adaptor adaptor, EmitError emitError) {
  auto input = rankedType(adaptor.getInput()), filter = rankedType(adaptor.getFilter());
  if (failed(checkImageAndFilter(input, filter, emitError)))
    return failure();
  size_t spatial = input.getRank() - 2;
  Window window{filter.getShape().drop_front(2), adaptor.getStrides(), adaptor.getPads(),
                adaptor.getDilations()};
  if (failed(checkWindow(window, spatial, emitError)))
    return failure();

  int64_t groups = adaptor.getGroups(), channels = input.getDimSize(1);
  int64_t outputs = filter.getDimSize(0), groupChannels = filter.getDimSize(1);
  if (groups < 1)
    return emitError() << "groups must be at least 1, but is " << groups;
  if (!ShapedType::isDynamic(channels) && !ShapedType::isDynamic(groupChannels) &&
      groupChannels * groups != channels)
    return emitError() << "filter has " << groupChannels
                       << " input channels per group, but input has " << channels << " channels in "
                       << groups << " groups";
  if (!ShapedType::isDynamic(outputs) && outputs % groups != 0)
    return emitError() << "filter has " << outputs << " output channels, not a multiple of "
                       << groups << " groups";

  SmallVector<int64_t> shape{input.getDimSize(0), outputs};
  for (size_t i = 0; i < spatial; ++i) {
    auto size = slidingSize(window, i, spatial, input.getDimSize(i + 2), false, emitError);
    if (failed(size))
      return failure();
    shape.push_back(*size);
  }
  auto result = RankedTensorType::get(shape, input.getElementType());
  if (failed(checkBias(adaptor.getBias(), outputs, input.getElementType(), emitError)) ||
      failed(checkActivation(adaptor.getActivation(), adaptor.getSlope(), emitError)) ||
      failed(checkVector("slope", adaptor.getSlope(), outputs, input.getElementType(), emitError)))
    return failure();
  if (Value residual = adaptor.getResidual()) {
    if (!areCompatibleTypes(TypeRange(residual.getType()), TypeRange(Type(result))))
      return emitError() << "residual is " << residual.getType()
                         << ", expected the type of the result, " << result;
  } else if (adaptor.getResidualLast()) {
    return emitError() << "residual_last is set, but there is no residual";
  }
  return result;
}

FailureOr<RankedTensorType> ConvTransposeOp::inferType(Adaptor adaptor, EmitError emitError) {
  auto input = rankedType(adaptor.getInput()), filter = rankedType(adaptor.getFilter());
  if (failed(checkImageAndFilter(input, filter, emitError)))
    return failure();
  size_t spatial = input.getRank() - 2;
  Window window{filter.getShape().drop_front(2), adaptor.getStrides(), adaptor.getPads(),
                adaptor.getDilations()};
  ArrayRef<int64_t> outputPadding = adaptor.getOutputPadding();
  if (failed(checkWindow(window, spatial, emitError)) ||
      failed(checkCount("output_padding", outputPadding, spatial, "spatial dims", emitError)))
    return failure();
  for (size_t i = 0; i < spatial; ++i)
    if (outputPadding[i] < 0 ||
        outputPadding[i] >= std::max(window.strides[i], window.dilations[i]))
      return emitError() << "output_padding must be at least 0 and less than stride or dilation, "
                            "but is ["
                         << outputPadding << "]";

  int64_t groups = adaptor.getGroups(), channels = input.getDimSize(1);
  if (groups < 1)
    return emitError() << "groups must be at least 1, but is " << groups;
  if (!dimsAgree(channels, filter.getDimSize(0)))
    return emitError() << "filter has " << filter.getDimSize(0) << " input channels, but input has "
                       << channels << " channels";
  if (!ShapedType::isDynamic(channels) && channels % groups != 0)
    return emitError() << "input has " << channels << " channels, not a multiple of " << groups
                       << " groups";
  int64_t outputs = filter.isDynamicDim(1) ? ShapedType::kDynamic : filter.getDimSize(1) * groups;

  SmallVector<int64_t> shape{input.getDimSize(0), outputs};
  for (size_t i = 0; i < spatial; ++i) {
    int64_t size = input.getDimSize(i + 2);
    if (ShapedType::isDynamic(size) || ShapedType::isDynamic(window.kernel[i])) {
      shape.push_back(ShapedType::kDynamic);
      continue;
    }
    int64_t pads = window.pads[i] + window.pads[i + spatial];
    int64_t full;
    if (llvm::MulOverflow(size - 1, window.strides[i], full) ||
        llvm::AddOverflow(full, outputPadding[i] + window.extent(i), full))
      return emitError() << "stride " << window.strides[i] << " makes spatial dim " << i << " of "
                         << input << " too large";
    if (full <= pads)
      return emitError() << "pads " << window.pads[i] << " and " << window.pads[i + spatial]
                         << " leave nothing of the " << full << " elements of spatial dim " << i;
    shape.push_back(full - pads);
  }
  if (failed(checkVector("bias", adaptor.getBias(), outputs, input.getElementType(), emitError)))
    return failure();
  return RankedTensorType::get(shape, input.getElementType());
}

template <typename Adaptor>
static FailureOr<RankedTensorType> inferPoolType(Adaptor adaptor, EmitError emitError) {
  auto input = rankedType(adaptor.getInput());
  if (input.getRank() < 3)
    return emitError() << "input must have rank 3 or more, but is " << input;
  size_t spatial = input.getRank() - 2;
  Window window{adaptor.getKernel(), adaptor.getStrides(), adaptor.getPads(),
                adaptor.getDilations()};
  if (failed(checkCount("kernel", window.kernel, spatial, "spatial dims", emitError)) ||
      failed(checkWindow(window, spatial, emitError)))
    return failure();
  SmallVector<int64_t> shape(input.getShape().take_front(2));
  for (size_t i = 0; i < spatial; ++i) {
    // Otherwise a window could lie entirely in the padding.
    if (window.pads[i] >= window.extent(i) || window.pads[i + spatial] >= window.extent(i))
      return emitError() << "pads " << window.pads[i] << " and " << window.pads[i + spatial]
                         << " of spatial dim " << i << " must be less than the window of "
                         << window.extent(i);
    auto size =
        slidingSize(window, i, spatial, input.getDimSize(i + 2), adaptor.getCeilMode(), emitError);
    if (failed(size))
      return failure();
    shape.push_back(*size);
  }
  return RankedTensorType::get(shape, input.getElementType());
}

FailureOr<RankedTensorType> MaxPoolOp::inferType(Adaptor adaptor, EmitError emitError) {
  return inferPoolType(adaptor, emitError);
}
FailureOr<RankedTensorType> AveragePoolOp::inferType(Adaptor adaptor, EmitError emitError) {
  return inferPoolType(adaptor, emitError);
}

FailureOr<RankedTensorType> BatchNormOp::inferType(Adaptor adaptor, EmitError emitError) {
  auto input = rankedType(adaptor.getInput());
  if (input.getRank() < 2 || !isa<FloatType>(input.getElementType()))
    return emitError() << "input must be a floating-point tensor of rank 2 or more, but is "
                       << input;
  std::pair<StringRef, Value> vectors[] = {{"scale", adaptor.getScale()},
                                           {"bias", adaptor.getBias()},
                                           {"mean", adaptor.getMean()},
                                           {"variance", adaptor.getVariance()}};
  for (auto [name, value] : vectors)
    if (failed(checkVector(name, value, input.getDimSize(1), input.getElementType(), emitError)))
      return failure();
  return withoutEncoding(input);
}

FailureOr<RankedTensorType> MatMulOp::inferType(Adaptor adaptor, EmitError emitError) {
  auto lhs = rankedType(adaptor.getLhs()), rhs = rankedType(adaptor.getRhs());
  if (lhs.getRank() < 1 || rhs.getRank() < 1)
    return emitError() << "operands must have rank 1 or more, but are " << lhs << " and " << rhs;
  if (lhs.getElementType() != rhs.getElementType())
    return emitError() << "operands must have one element type, but are " << lhs << " and " << rhs;
  int64_t inner = lhs.getShape().back();
  int64_t other = rhs.getDimSize(std::max<int64_t>(rhs.getRank() - 2, 0));
  if (!dimsAgree(inner, other))
    return emitError() << "lhs has " << inner << " columns, but rhs has " << other << " rows ("
                       << lhs << " and " << rhs << ")";
  auto batch = [](RankedTensorType type) {
    return type.getShape().drop_back(std::min<int64_t>(type.getRank(), 2));
  };
  auto shape = broadcastShapes(batch(lhs), batch(rhs));
  if (!shape)
    return emitError() << "batch dims do not broadcast: " << lhs << " and " << rhs;
  if (lhs.getRank() > 1)
    shape->push_back(lhs.getDimSize(lhs.getRank() - 2));
  if (rhs.getRank() > 1)
    shape->push_back(rhs.getShape().back());
  return RankedTensorType::get(*shape, lhs.getElementType());
}

FailureOr<RankedTensorType> FullyConnectedOp::inferType(Adaptor adaptor, EmitError emitError) {
  auto input = rankedType(adaptor.getInput()), filter = rankedType(adaptor.getFilter());
  if (input.getRank() < 1 || filter.getRank() != 2)
    return emitError() << "expects input of rank 1 or more and filter of rank 2, but they are "
                       << input << " and " << filter;
  if (input.getElementType() != filter.getElementType())
    return emitError() << "input and filter must have one element type, but are " << input
                       << " and " << filter;
  if (!dimsAgree(input.getShape().back(), filter.getDimSize(1)))
    return emitError() << "input has " << input.getShape().back()
                       << " elements in its last dim, but filter has " << filter.getDimSize(1)
                       << " columns";
  if (auto activation = adaptor.getActivation();
      activation && *activation && (*activation).getKind() == ActivationKind::PRelu)
    return emitError() << "activation prelu is not possible here: there is no slope operand";
  SmallVector<int64_t> shape(input.getShape());
  shape.back() = filter.getDimSize(0);
  if (failed(checkBias(adaptor.getBias(), shape.back(), input.getElementType(), emitError)))
    return failure();
  return RankedTensorType::get(shape, input.getElementType());
}
