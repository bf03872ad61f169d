//===-- EvaluatePreprocess.cpp - pixels of cameras -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/graph/interpreter/Evaluators.h"
#include "dialects/graph/ops/ImageOps.h"
#include <algorithm>
#include <array>

using namespace mlir;

namespace atc::graph::interpreter {

namespace {

/// The bytes of the images, by plane of the conversion.
class Pixels {
public:
  Pixels(PreprocessOp op, const Tensor &image)
      : bytes(image.as<uint8_t>()), shape(image.getShape()), planes(op.getPlanes()),
        isSemiPlanar(op.getSemiPlanar()) {}

  int64_t at(int64_t n, int64_t plane, int64_t y, int64_t x) const {
    const int64_t from = planes[plane], width = shape[2];
    if (!isSemiPlanar)
      return bytes[((n * shape[1] + y) * width + x) * shape[3] + from];
    const int64_t image = n * shape[1] * width, luma = shape[1] / 3 * 2;
    if (from == 0)
      return bytes[image + y * width + x];
    return bytes[image + (luma + y / 2) * width + x / 2 * 2 + from - 1];
  }

private:
  ArrayRef<uint8_t> bytes;
  ArrayRef<int64_t> shape, planes;
  bool isSemiPlanar;
};

/// Returns row `row` of the colour conversion of one pixel.
int64_t convert(PreprocessOp op, int64_t row, const std::array<int64_t, 3> &colours) {
  int64_t sum = 0;
  for (unsigned i = 0; i < 3; ++i)
    sum += (*op.getMatrix())[row * 3 + i] * (colours[i] - (*op.getBefore())[i]);
  // The shift rounds towards minus infinity.
  return std::clamp<int64_t>((sum >> 8) + (*op.getAfter())[row], 0, 255);
}

} // namespace

Result evaluatePreprocess(PreprocessOp op, const Evaluation &e) {
  const Pixels pixels(op, *e.operands[0]);
  ArrayRef<int64_t> shape = e.type.getShape();
  std::vector<double> values;
  values.reserve(e.type.getNumElements());
  for (int64_t n = 0; n < shape[0]; ++n)
    for (int64_t c = 0; c < shape[1]; ++c)
      for (int64_t y = 0; y < shape[2]; ++y)
        for (int64_t x = 0; x < shape[3]; ++x) {
          auto plane = [&](int64_t i) {
            return pixels.at(n, i, op.getCrop()[0] + y, op.getCrop()[1] + x);
          };
          int64_t colour =
              op.getMatrix() && c < 3 ? convert(op, c, {plane(0), plane(1), plane(2)}) : plane(c);
          float value = static_cast<float>(colour) - op.getMeans()[c];
          value -= op.getMins()[c];
          values.push_back(value * op.getFactors()[c]);
        }
  return Tensor::fromDoubles(e.type, values);
}

} // namespace atc::graph::interpreter
