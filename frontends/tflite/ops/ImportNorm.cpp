//===-- ImportNorm.cpp - normalizations, resizing -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frontends/tflite/OpTable.h"

namespace atc::tflite {
namespace {

void importSoftmax(OpContext &c) {
  const auto *options = c.options<fb::SoftmaxOptions>();
  const float beta = options ? options->beta() : 1;
  Value x = c.in(0);
  if (beta != 1)
    x = c.node("Mul", {x, c.scalar(beta)});
  c.setOutput(c.node("Softmax", {x}, {{"axis", int64_t(-1)}}));
}

void importLogSoftmax(OpContext &c) {
  c.setOutput(c.node("LogSoftmax", {c.in(0)}, {{"axis", int64_t(-1)}}));
}

/// Divides by the length of the last dim, which counts as 1e-6 at least.
void importL2Normalization(OpContext &c) {
  const auto *options = c.options<fb::L2NormOptions>();
  Value x = c.in(0);
  Value squares = c.node("ReduceSumSquare", {x, c.ints({-1})}, {{"keepdims", int64_t(1)}});
  Value length = c.node("Max", {c.node("Sqrt", {squares}), c.scalar(1e-6f)});
  c.setOutput(c.activate(c.node("Div", {x, length}),
                         options ? options->activation() : fb::Activation::NONE));
}

void importLocalResponse(OpContext &c) {
  const auto *p = c.options<fb::LocalResponseNormalizationOptions>();
  if (!p || p->radius() < 0 || p->radius() > (1 << 20))
    return c.fail("its radius must be 0 or more");
  if (c.rank(0) != 4)
    return c.fail("its input must have 4 dims");
  // ONNX divides alpha by the number of channels.
  const int64_t size = 2 * int64_t(p->radius()) + 1;
  Value result = c.node("LRN", {c.channelsFirst(c.in(0), 4)},
                        {{"alpha", double(p->alpha()) * size},
                         {"beta", double(p->beta())},
                         {"bias", double(p->bias())},
                         {"size", size}});
  c.setOutput(c.channelsLast(result, 4));
}

//===--- Images -----------------------------------------------------------===//

void resize(OpContext &c, const char *mode, bool alignCorners, bool halfPixels) {
  if (c.rank(0) != 4)
    return c.fail("its image must have 4 dims");
  const bool isNearest = llvm::StringRef(mode) == "nearest";
  const char *coordinates = alignCorners ? "align_corners"
                            : halfPixels ? "half_pixel"
                                         : "asymmetric";
  // Pixels between two rows are rounded up, except in the oldest form, which cuts off.
  const char *rounding = alignCorners || halfPixels ? "round_prefer_ceil" : "floor";
  Value sizes = c.indices(1);
  const Dims dims = c.dims(0);
  Value shape = c.node("Shape", {c.raw(0)});
  shape.isStored = false;
  Value front = c.node("Gather", {shape, c.ints({0, 3})});
  sizes = c.node("Concat", {front, sizes}, {{"axis", int64_t(0)}});
  if (const std::optional<Dims> known = c.constantInts(1);
      known && known->size() == 2 && dims[0] >= 0 && dims[3] >= 0)
    sizes = c.ints({dims[0], dims[3], (*known)[0], (*known)[1]});
  OnnxAttributes attributes = {{"mode", std::string(mode)},
                               {"coordinate_transformation_mode", std::string(coordinates)}};
  if (isNearest)
    attributes.push_back({"nearest_mode", std::string(rounding)});
  Value x = isNearest ? c.moved(0) : c.in(0);
  Value result = c.node("Resize", {c.channelsFirst(x, 4), Value{}, Value{}, sizes}, attributes);
  c.setOutput(c.channelsLast(result, 4));
}

void importResizeBilinear(OpContext &c) {
  const auto *p = c.options<fb::ResizeBilinearOptions>();
  resize(c, "linear", p && p->align_corners(), p && p->half_pixel_centers());
}

void importResizeNearest(OpContext &c) {
  const auto *p = c.options<fb::ResizeNearestNeighborOptions>();
  resize(c, "nearest", p && p->align_corners(), p && p->half_pixel_centers());
}

} // namespace

llvm::ArrayRef<OpRow> normOps() {
  using enum fb::BuiltinOperator;
  static const OpRow rows[] = {{L2_NORMALIZATION, importL2Normalization},
                               {LOCAL_RESPONSE_NORMALIZATION, importLocalResponse},
                               {LOG_SOFTMAX, importLogSoftmax},
                               {RESIZE_BILINEAR, importResizeBilinear},
                               {RESIZE_NEAREST_NEIGHBOR, importResizeNearest},
                               {SOFTMAX, importSoftmax}};
  return rows;
}

} // namespace atc::tflite
