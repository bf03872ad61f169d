//===-- PixelMath.cpp - pixels of cameras as values of a model ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frontends/aipp/PixelMath.h"

#include "dialects/graph/ops/ImageOps.h"
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

/// (value - mean - min) * factor.
struct Normalization {
  float mean = 0, min = 0, factor = 1;
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
    SmallVector<Normalization> normalizations;
    for (int64_t i = 0; i < channels; ++i)
      normalizations.push_back(normalizationOf(entry.op, i));
    const bool resizes = geometry.height.size != geometry.height.resized ||
                         geometry.width.size != geometry.width.resized;
    if (!resizes)
      return pad(preprocess(normalizations));
    // Pixels are resized before they are normalized.
    Value resized = resize(preprocess(SmallVector<Normalization>(channels, Normalization())));
    return pad(normalize(resized, normalizations));
  }

private:
  static ArrayRef<int64_t> shapeOf(Value value) {
    return cast<RankedTensorType>(value.getType()).getShape();
  }

  RankedTensorType withShape(Value value, ArrayRef<int64_t> shape) {
    return RankedTensorType::get(shape, getElementTypeOrSelf(value.getType()));
  }

  //===--- Pixels -----------------------------------------------------------===//

  /// Returns which plane of the image stands for each channel behind the swaps.
  SmallVector<int64_t> planes() {
    const int64_t count = channelsOf(entry.op.input_format());
    SmallVector<int64_t> order(count);
    for (int64_t i = 0; i < count; ++i)
      order[i] = entry.op.ax_swap_switch() ? (i + 1) % count : i;
    if (entry.op.rbuv_swap_switch() && count >= 3)
      // Luma stays where it is.
      isYuv() ? std::swap(order[1], order[2]) : std::swap(order[0], order[2]);
    return order;
  }

  bool isYuv() { return entry.op.input_format() == pb::YUV420SP_U8; }

  Value preprocess(ArrayRef<Normalization> normalizations) {
    DenseI64ArrayAttr matrix, before, after;
    if (entry.op.csc_switch()) {
      SmallVector<int64_t> factors, offsets;
      for (unsigned row = 0; row < 3; ++row) {
        const ColourRow colour = colourRow(entry, row);
        llvm::append_range(factors, colour.factors);
        offsets.push_back(colour.after);
      }
      matrix = builder.getDenseI64ArrayAttr(factors);
      before = builder.getDenseI64ArrayAttr(colourRow(entry, 0).before);
      after = builder.getDenseI64ArrayAttr(offsets);
    }
    auto numbers = [&](float Normalization::*field) {
      return builder.getDenseF32ArrayAttr(
          llvm::map_to_vector(normalizations, [&](const Normalization &normalization) {
            return normalization.*field;
          }));
    };
    const AxisGeometry &h = geometry.height, &w = geometry.width;
    auto type = RankedTensorType::get({batch, int64_t(normalizations.size()), h.size, w.size},
                                      builder.getF32Type());
    return graph::PreprocessOp::create(
        builder, loc, type, image, isYuv() ? builder.getUnitAttr() : UnitAttr(),
        builder.getDenseI64ArrayAttr({h.start, w.start, h.size, w.size}),
        builder.getDenseI64ArrayAttr(planes()), matrix, before, after,
        numbers(&Normalization::mean), numbers(&Normalization::min),
        numbers(&Normalization::factor));
  }

  //===--- Behind a resize: float32 [n, channels, h, w] ---------------------===//

  /// Normalizes each channel by a map of its own, so that no pass rounds it in another way.
  Value normalize(Value value, ArrayRef<Normalization> normalizations) {
    SmallVector<Value> results;
    for (auto [index, normalization] : llvm::enumerate(normalizations))
      results.push_back(normalize(channel(value, index), normalization));
    return results.size() == 1
               ? results.front()
               : graph::ConcatOp::create(builder, loc, results, /*axis=*/1).getResult();
  }

  Value channel(Value value, int64_t index) {
    SmallVector<int64_t> sizes(shapeOf(value));
    if (sizes[1] == 1)
      return value;
    sizes[1] = 1;
    return graph::SliceOp::create(builder, loc, withShape(value, sizes), value,
                                  ArrayRef<int64_t>{0, index, 0, 0}, sizes,
                                  ArrayRef<int64_t>{1, 1, 1, 1});
  }

  Value normalize(Value value, const Normalization &normalization) {
    auto map = graph::MapOp::create(builder, loc, value.getType(), value);
    Block &block = map.getBody().emplaceBlock();
    Value result = block.addArgument(builder.getF32Type(), loc);
    OpBuilder inner = OpBuilder::atBlockBegin(&block);
    const graph::ScalarBuilder s{inner, loc};
    for (float offset : {normalization.mean, normalization.min})
      if (offset != 0)
        result = s.sub(result, s.constant(result, offset));
    if (normalization.factor != 1)
      result = s.mul(result, normalization.factor);
    graph::YieldOp::create(inner, loc, result);
    return map;
  }

  //===--- Resize and padding -----------------------------------------------===//

  Value resize(Value value) {
    const AxisGeometry &h = geometry.height, &w = geometry.width;
    const double scales[] = {1, 1, double(h.resized) / h.size, double(w.resized) / w.size};
    return graph::ResizeOp::create(
        builder, loc, withShape(value, {batch, shapeOf(value)[1], h.resized, w.resized}), value,
        ArrayRef<double>(scales), graph::ResizeMode::Linear, graph::CoordinateMode::HalfPixel,
        graph::NearestMode::Floor, llvm::APFloat(-0.75));
  }

  Value pad(Value value) {
    const AxisGeometry &h = geometry.height, &w = geometry.width;
    const int64_t low[] = {0, 0, h.padBefore, w.padBefore};
    const int64_t high[] = {0, 0, h.padAfter, w.padAfter};
    if (h.padBefore + h.padAfter + w.padBefore + w.padAfter == 0)
      return value;
    const double constant = entry.op.padding_value();
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
