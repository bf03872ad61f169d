//===-- ExpandGridSample.cpp - samples at points as gathers ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A sample between pixels is the sum of its four neighbours, weighted by their distances. Pixels
// become rows of channels, of which a gather reads the neighbours of all samples at once.

#include "dialects/graph/ops/StructureOps.h"
#include "passes/graph/ConstantUtils.h"
#include "passes/graph/RewriteUtils.h"
#include "passes/host/Passes.h"
#include "passes/host/QuantizedCalls.h"
#include "passes/host/expand/AttentionOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace atc::host {
#define GEN_PASS_DEF_HOSTEXPANDGRIDSAMPLE
#include "passes/host/Passes.h.inc"

namespace {

using graph::HostCallOp;

/// Positions up to here are computed exactly in f32, and images are counted exactly in f16.
constexpr int64_t kMaxPixels = int64_t(1) << 24, kMaxImages = 2048;

/// Scalar code of a map in f32.
class ScalarCode {
public:
  ScalarCode(OpBuilder &builder, Location loc) : b(builder), loc(loc) {}

  Value number(double value) {
    return arith::ConstantOp::create(b, loc, b.getF32FloatAttr(float(value)));
  }
  Value add(Value x, Value y) { return arith::AddFOp::create(b, loc, x, y); }
  Value sub(Value x, Value y) { return arith::SubFOp::create(b, loc, x, y); }
  Value mul(Value x, Value y) { return arith::MulFOp::create(b, loc, x, y); }
  Value clamp(Value x, double low, double high) {
    x = arith::MaximumFOp::create(b, loc, x, number(low));
    return arith::MinimumFOp::create(b, loc, x, number(high));
  }
  /// Returns 1 - |x - y|.
  Value nearness(Value x, Value y) {
    return sub(number(1), math::AbsFOp::create(b, loc, sub(x, y)));
  }
  /// Returns x, and `otherwise` where it is no number or infinite.
  Value finite(Value x, double otherwise) {
    Value isFinite = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OLT,
                                           math::AbsFOp::create(b, loc, x), number(0x1p61));
    return arith::SelectOp::create(b, loc, isFinite, x, number(otherwise));
  }
  Value floor(Value x) { return math::FloorOp::create(b, loc, x); }
  Value round(Value x) { return math::RoundEvenOp::create(b, loc, x); }

private:
  OpBuilder &b;
  Location loc;
};

/// A GridSample of static shapes: images [images, channels, height, width] and a grid of points
/// [images, rows, columns, 2].
class GridSampleExpander {
public:
  explicit GridSampleExpander(HostCallOp call)
      : call(call), ops(call), builder(call), loc(graph::derivedLoc(call.getLoc(), "part")) {}

  /// Replaces the call. Returns the reason why it stays; empty: it was replaced.
  StringRef run() {
    const SmallVector<Value> inputs = inputsOf(call, 2);
    if (!staticFloats(inputs[0]) || !staticFloats(inputs[1]) || shapeOf(inputs[0]).size() != 4 ||
        shapeOf(inputs[1]).size() != 4)
      return "it has no two spatial dims";
    const StringRef mode = textOf(call, "mode", "linear"),
                    padding = textOf(call, "padding_mode", "zeros");
    isNearest = mode == "nearest";
    hasBorder = padding == "border";
    if (!isNearest && mode != "linear" && mode != "bilinear")
      return "it is cubic";
    if (!hasBorder && padding != "zeros")
      return "it reflects points";
    isAligned = integerOf(call, "align_corners", 0) != 0;
    ArrayRef<int64_t> image = shapeOf(inputs[0]), grid = shapeOf(inputs[1]);
    images = image[0];
    height = image[2];
    width = image[3];
    const int64_t channels = image[1], points = grid[1] * grid[2];
    if (images * height * width > kMaxPixels || images > kMaxImages)
      return "it has too many pixels or images";

    Value pixels =
        ops.reshape(ops.transpose(inputs[0], {0, 2, 3, 1}), {images * height * width, channels});
    Value positions = ops.reshape(inputs[1], {images, 1, points, 2});
    const int64_t taps = isNearest ? 1 : 4;
    for (int64_t dim : {0, 1})
      operands.push_back(ops.reshape(ops.slice(positions, 3, dim, 1), {images, 1, points}));
    Type element = graph::getTensorType(inputs[1]).getElementType();
    if (!isNearest) {
      operands.push_back(ops.constant({1, 4, 1}, element, {0, 1, 0, 1}));
      operands.push_back(ops.constant({1, 4, 1}, element, {0, 0, 1, 1}));
    }
    SmallVector<double> numbers;
    for (int64_t n = 0; n < images; ++n)
      numbers.push_back(double(n));
    Value indices = map({images, taps, points}, builder.getI64Type(),
                        ops.constant({images, 1, 1}, element, numbers));
    Value weights =
        map({images, taps, points}, graph::getTensorType(inputs[0]).getElementType(), Value());
    Value rows = ops.gather(pixels, ops.reshape(indices, {images * taps * points}));
    rows = ops.reshape(rows, {images, taps, points, channels});
    weights = ops.reshape(weights, {images, taps, points, 1});
    Value sum;
    for (int64_t tap = 0; tap < taps; ++tap) {
      Value term = ops.mul(ops.slice(rows, 1, tap, 1), ops.slice(weights, 1, tap, 1));
      sum = sum ? ops.add(sum, term) : term;
    }
    sum = ops.transpose(ops.reshape(sum, {images, grid[1], grid[2], channels}), {0, 3, 1, 2});
    ops.replace(0, sum);
    return {};
  }

private:
  /// Returns a map of all taps: the indices of their pixels if `image` has the number of each
  /// image, and otherwise their weights.
  Value map(ArrayRef<int64_t> shape, Type element, Value image) {
    SmallVector<Value> inputs = operands;
    if (image)
      inputs.push_back(image);
    auto op = graph::MapOp::create(builder, loc, RankedTensorType::get(shape, element), inputs);
    Block &body = op.getBody().emplaceBlock();
    OpBuilder inner = OpBuilder::atBlockBegin(&body);
    ScalarCode code(inner, loc);
    SmallVector<Value> values;
    for (Value input : inputs) {
      Value value = body.addArgument(graph::getTensorType(input).getElementType(), loc);
      values.push_back(value.getType().isF32()
                           ? value
                           : arith::ExtFOp::create(inner, loc, inner.getF32Type(), value));
    }
    auto [x, weightX] = tap(code, values[0], isNearest ? Value() : values[2], width);
    auto [y, weightY] = tap(code, values[1], isNearest ? Value() : values[3], height);
    Value result;
    if (image) {
      result = code.add(code.mul(y, code.number(double(width))), x);
      result = code.add(code.mul(values.back(), code.number(double(height * width))), result);
      // A target that computes with these integers as floats has to know how large they are.
      result = code.clamp(result, 0, double(images * height * width - 1));
      result = arith::FPToSIOp::create(inner, loc, element, result);
    } else {
      result = code.mul(weightX, weightY);
      if (element.isF16())
        result = arith::TruncFOp::create(inner, loc, element, result);
    }
    graph::YieldOp::create(inner, loc, result);
    return op;
  }

  /// Returns the position of a tap along a dim of `size` pixels, inside of the image, and its
  /// weight, which is 0 outside of an image without a border.
  std::pair<Value, Value> tap(ScalarCode &code, Value point, Value offset, int64_t size) {
    // In the order of ONNX Runtime: points between two pixels are as near to each of them there.
    Value moved = code.add(code.finite(point, -1), code.number(1));
    Value at = isAligned ? code.mul(moved, code.number(double(size - 1) / 2))
                         : code.mul(code.add(code.mul(moved, code.number(size)), code.number(-1)),
                                    code.number(0.5));
    // Points further away are outside, too.
    at = hasBorder ? code.clamp(at, 0, double(size - 1)) : code.clamp(at, -2, double(size + 1));
    Value tap = isNearest ? code.round(at) : code.add(code.floor(at), offset);
    Value inside = code.clamp(tap, 0, double(size - 1));
    Value weight = isNearest ? code.number(1) : code.nearness(at, tap);
    // Positions are integers: 1 inside, and 0 or less outside.
    if (!hasBorder)
      weight = code.mul(weight, code.clamp(code.nearness(tap, inside), 0, 1));
    return {inside, weight};
  }

  HostCallOp call;
  CallOps ops;
  OpBuilder builder;
  Location loc;
  bool isNearest = false, hasBorder = false, isAligned = false;
  int64_t images = 0, height = 0, width = 0;
  SmallVector<Value> operands; ///< x and y of the points; of linear samples the taps' offsets
};

struct HostExpandGridSample : impl::HostExpandGridSampleBase<HostExpandGridSample> {
  using HostExpandGridSampleBase::HostExpandGridSampleBase;

  void runOnOperation() override {
    static constexpr StringLiteral kernels[] = {"GridSample"};
    numExpanded += expandCalls(getOperation(), getArgument(), kernels, "gathers and maps",
                               [](HostCallOp call) { return GridSampleExpander(call).run(); });
  }
};

} // namespace
} // namespace atc::host
