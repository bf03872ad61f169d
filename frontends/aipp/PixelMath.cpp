//===-- PixelMath.cpp - pixels of cameras as values of a model ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frontends/aipp/PixelMath.h"

#include "dialects/graph/ops/ShapeOps.h"
#include "dialects/graph/ops/StructureOps.h"
#include "dialects/graph/scalar/ScalarBuilder.h"
#include "mlir/IR/TypeUtilities.h"
#include <array>

using namespace mlir;

namespace atc::aipp {

namespace {

/// A row of the colour conversion: ((sum of factors[i] * (channel i - before[i])) >> 8) + after,
/// clamped to 0..255.
struct ColourRow {
  std::array<int64_t, 3> factors, before;
  int64_t after;
};

/// Rows 0, 1, 2 convert from YUV to BGR, which is what files without a matrix get.
constexpr int64_t yuvMatrix[3][3] = {{298, 516, 0}, {298, -100, -208}, {298, 0, 409}};
constexpr int64_t rgbMatrix[3][3] = {{66, 129, 25}, {-38, -74, 112}, {112, -94, -18}};
constexpr int64_t defaultBias[3] = {16, 128, 128};

int64_t integerOr(const AippEntry &entry, const std::string &field, int64_t otherwise) {
  return entry.lines.contains(field) ? entry.integer(field) : otherwise;
}

ColourRow colourRow(const AippEntry &entry, unsigned row) {
  const bool isYuv = entry.op.input_format() == pb::YUV420SP_U8;
  ColourRow result = {};
  for (unsigned i = 0; i < 3; ++i) {
    result.factors[i] = integerOr(entry, "matrix_r" + std::to_string(row) + "c" + std::to_string(i),
                                  isYuv ? yuvMatrix[row][i] : rgbMatrix[row][i]);
    // Luma and chroma have an offset: on the way in from YUV, on the way out to it.
    if (isYuv)
      result.before[i] = integerOr(entry, "input_bias_" + std::to_string(i), defaultBias[i]);
  }
  if (!isYuv)
    result.after = integerOr(entry, "output_bias_" + std::to_string(row), defaultBias[row]);
  return result;
}

/// Reports whether float32 holds every partial sum of the row exactly.
bool isExactInFloat(const ColourRow &row) {
  int64_t bound = 0;
  for (unsigned i = 0; i < 3; ++i)
    bound += std::abs(row.factors[i]) * std::max<int64_t>(row.before[i], 255 - row.before[i]);
  return bound < (1 << 24);
}

/// (value - mean - min) * factor.
struct Normalization {
  float mean, min, factor;
};

Normalization normalizationOf(const pb::AippOp &op, unsigned channel) {
  switch (channel) {
  case 0:
    return {float(op.mean_chn_0()), op.min_chn_0(),
            op.has_var_reci_chn_0() ? op.var_reci_chn_0() : 1};
  case 1:
    return {float(op.mean_chn_1()), op.min_chn_1(),
            op.has_var_reci_chn_1() ? op.var_reci_chn_1() : 1};
  case 2:
    return {float(op.mean_chn_2()), op.min_chn_2(),
            op.has_var_reci_chn_2() ? op.var_reci_chn_2() : 1};
  default:
    return {float(op.mean_chn_3()), op.min_chn_3(),
            op.has_var_reci_chn_3() ? op.var_reci_chn_3() : 1};
  }
}

class Preprocessing {
public:
  Preprocessing(OpBuilder &builder, Location loc, const AippEntry &entry,
                const ImageGeometry &geometry, Value image)
      : builder(builder), loc(loc), entry(entry), geometry(geometry), image(image),
        batch(shapeOf(image)[0]) {}

  Value run(int64_t channels) {
    const SmallVector<Value> planes = entry.op.input_format() == pb::YUV420SP_U8
                                          ? yuvPlanes()
                                          : packedPlanes(channelsOf(entry.op.input_format()));
    SmallVector<Value> results;
    for (int64_t i = 0; i < channels; ++i)
      results.push_back(channel(planes, i));
    Value result = results.front();
    if (channels > 1)
      result = graph::ConcatOp::create(builder, loc, results, /*axis=*/1);
    return pad(result);
  }

private:
  static ArrayRef<int64_t> shapeOf(Value value) {
    return cast<RankedTensorType>(value.getType()).getShape();
  }

  RankedTensorType withShape(Value value, ArrayRef<int64_t> shape) {
    return RankedTensorType::get(shape, getElementTypeOrSelf(value.getType()));
  }

  Value reshape(Value value, ArrayRef<int64_t> shape) {
    return graph::ReshapeOp::create(builder, loc, withShape(value, shape), value);
  }

  /// Returns sizes[i] elements of each dim of rank 4 from starts[i].
  Value slice(Value value, ArrayRef<int64_t> starts, ArrayRef<int64_t> sizes) {
    if (sizes == shapeOf(value))
      return value;
    return graph::SliceOp::create(builder, loc, withShape(value, sizes), value, starts, sizes,
                                  ArrayRef<int64_t>{1, 1, 1, 1});
  }

  //===--- Planes: uint8 [n, 1, h, w] behind crop and swaps -----------------===//

  Value plane(Value cropped, int64_t channel) {
    const ArrayRef<int64_t> shape = shapeOf(cropped);
    const int64_t height = shape[1], width = shape[2];
    Value one = slice(cropped, {0, 0, 0, channel}, {batch, height, width, 1});
    return reshape(one, {batch, 1, height, width});
  }

  SmallVector<Value> packedPlanes(int64_t channels) {
    SmallVector<int64_t> order(channels);
    for (int64_t i = 0; i < channels; ++i)
      order[i] = entry.op.ax_swap_switch() ? (i + 1) % channels : i;
    if (entry.op.rbuv_swap_switch())
      std::swap(order[0], order[2]);
    Value cropped = slice(image, {0, geometry.height.start, geometry.width.start, 0},
                          {batch, geometry.height.size, geometry.width.size, channels});
    return llvm::map_to_vector(order, [&](int64_t source) { return plane(cropped, source); });
  }

  SmallVector<Value> yuvPlanes() {
    const AxisGeometry &h = geometry.height, &w = geometry.width;
    Value luma = slice(image, {0, h.start, w.start, 0}, {batch, h.size, w.size, 1});
    Value pairs =
        slice(image, {0, h.source + h.start / 2, w.start, 0}, {batch, h.size / 2, w.size, 1});
    pairs = reshape(pairs, {batch, h.size / 2, w.size / 2, 2});
    SmallVector<Value> planes = {reshape(luma, {batch, 1, h.size, w.size})};
    for (int64_t i = 0; i < 2; ++i)
      planes.push_back(repeatPixels(plane(pairs, entry.op.rbuv_swap_switch() ? 1 - i : i)));
    return planes;
  }

  /// Returns a plane in which each pixel became 2 x 2.
  Value repeatPixels(Value half) {
    const int64_t height = shapeOf(half)[2], width = shapeOf(half)[3];
    Value single = reshape(half, {batch, height, 1, width, 1});
    Value repeated = graph::ExpandOp::create(builder, loc,
                                             withShape(half, {batch, height, 2, width, 2}), single);
    return reshape(repeated, {batch, 1, height * 2, width * 2});
  }

  //===--- Arithmetic: float32 [n, 1, h, w] ---------------------------------===//

  using Body = llvm::function_ref<Value(const graph::ScalarBuilder &, ValueRange)>;

  Value map(ArrayRef<Value> inputs, Body body) {
    auto type = RankedTensorType::get(shapeOf(inputs.front()), builder.getF32Type());
    auto op = graph::MapOp::create(builder, loc, type, inputs);
    Block &block = op.getBody().emplaceBlock();
    for (Value input : inputs) {
      Type element = getElementTypeOrSelf(input.getType());
      if (auto integer = dyn_cast<IntegerType>(element))
        element = builder.getIntegerType(integer.getWidth());
      block.addArgument(element, loc);
    }
    OpBuilder inner = OpBuilder::atBlockBegin(&block);
    Value result = body({inner, loc}, block.getArguments());
    graph::YieldOp::create(inner, loc, result);
    return op;
  }

  Value toFloat(const graph::ScalarBuilder &s, Value value, Type type) {
    return value.getType().isInteger() ? s.op<arith::UIToFPOp>(type, value) : value;
  }

  Value convertColour(const graph::ScalarBuilder &s, const ColourRow &row, ArrayRef<unsigned> used,
                      ValueRange pixels) {
    // Integers either way; float64 has room for any of them.
    Type type = isExactInFloat(row) ? Type(builder.getF32Type()) : Type(builder.getF64Type());
    Value sum;
    for (auto [index, pixel] : llvm::zip(used, pixels)) {
      Value value = toFloat(s, pixel, type);
      if (row.before[index])
        value = s.add(value, -double(row.before[index]));
      value = s.mul(value, double(row.factors[index]));
      sum = sum ? s.add(sum, value) : value;
    }
    Value shifted = s.op<math::FloorOp>(s.mul(sum, 1.0 / 256));
    if (row.after)
      shifted = s.add(shifted, double(row.after));
    Value clamped = s.min(s.max(shifted, 0), 255);
    return type.isF32() ? clamped : s.op<arith::TruncFOp>(builder.getF32Type(), clamped);
  }

  Value normalize(const graph::ScalarBuilder &s, const Normalization &normalization, Value value) {
    for (float offset : {normalization.mean, normalization.min})
      if (offset != 0)
        value = s.sub(value, s.constant(value, offset));
    return normalization.factor == 1 ? value : s.mul(value, normalization.factor);
  }

  Value channel(ArrayRef<Value> planes, int64_t index) {
    const Normalization normalization = normalizationOf(entry.op, index);
    const bool resizes = geometry.height.size != geometry.height.resized ||
                         geometry.width.size != geometry.width.resized;
    // The fourth channel is no colour.
    const bool converts = entry.op.csc_switch() && index < 3;
    const ColourRow row = converts ? colourRow(entry, index) : ColourRow{};
    SmallVector<unsigned> used;
    for (unsigned i = 0; i < 3; ++i)
      if (row.factors[i])
        used.push_back(i);
    // A row of zeros still needs an input to have its shape from.
    if (used.empty())
      used.push_back(converts ? 0 : index);
    SmallVector<Value> inputs = llvm::map_to_vector(used, [&](unsigned i) { return planes[i]; });
    auto colour = [&](const graph::ScalarBuilder &s, ValueRange pixels) {
      return converts ? convertColour(s, row, used, pixels)
                      : toFloat(s, pixels.front(), builder.getF32Type());
    };
    if (!resizes)
      return map(inputs, [&](const graph::ScalarBuilder &s, ValueRange pixels) {
        return normalize(s, normalization, colour(s, pixels));
      });
    Value resized = resize(map(inputs, colour));
    return map(resized, [&](const graph::ScalarBuilder &s, ValueRange pixels) {
      return normalize(s, normalization, pixels.front());
    });
  }

  //===--- Resize and padding -----------------------------------------------===//

  Value resize(Value value) {
    const AxisGeometry &h = geometry.height, &w = geometry.width;
    const double scales[] = {1, 1, double(h.resized) / h.size, double(w.resized) / w.size};
    return graph::ResizeOp::create(builder, loc, withShape(value, {batch, 1, h.resized, w.resized}),
                                   value, ArrayRef<double>(scales), graph::ResizeMode::Linear,
                                   graph::CoordinateMode::HalfPixel, graph::NearestMode::Floor,
                                   llvm::APFloat(-0.75));
  }

  Value pad(Value value) {
    const AxisGeometry &h = geometry.height, &w = geometry.width;
    const int64_t low[] = {0, 0, h.padBefore, w.padBefore};
    const int64_t high[] = {0, 0, h.padAfter, w.padAfter};
    if (h.padBefore + h.padAfter + w.padBefore + w.padAfter == 0)
      return value;
    const double constant =
        entry.op.has_padding_value() ? entry.op.padding_value() : entry.op.cpadding_value();
    const ArrayRef<int64_t> from = shapeOf(value);
    auto type = withShape(
        value, {from[0], from[1], from[2] + low[2] + high[2], from[3] + low[3] + high[3]});
    return graph::PadOp::create(builder, loc, type, value, ArrayRef<int64_t>(low),
                                ArrayRef<int64_t>(high), graph::PadMode::Constant,
                                llvm::APFloat(constant));
  }

  OpBuilder &builder;
  const Location loc;
  const AippEntry &entry;
  const ImageGeometry &geometry;
  const Value image;
  const int64_t batch;
};

} // namespace

int64_t channelsOf(pb::InputFormat format) {
  switch (format) {
  case pb::XRGB8888_U8:
    return 4;
  case pb::YUV400_U8:
    return 1;
  default:
    return 3;
  }
}

SmallVector<int64_t> sourceShape(pb::InputFormat format, int64_t batch,
                                 const ImageGeometry &geometry) {
  const int64_t height = geometry.height.source, width = geometry.width.source;
  if (format == pb::YUV420SP_U8)
    return {batch, height + height / 2, width, 1};
  return {batch, height, width, channelsOf(format)};
}

Value buildPreprocessing(OpBuilder &builder, Location loc, const AippEntry &entry,
                         const ImageGeometry &geometry, Value image, int64_t channels) {
  return Preprocessing(builder, loc, entry, geometry, image).run(channels);
}

} // namespace atc::aipp
