//===-- ImportResize.cpp - resampling -------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <algorithm>
#include <cmath>

#include "dialects/graph/ops/ShapeOps.h"
#include "frontends/onnx/NodeContext.h"
#include "frontends/onnx/OpTable.h"
#include "frontends/onnx/TensorData.h" // IWYU pragma: keep
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using llvm::APFloat;

namespace atc::onnx_import {
namespace {

using graph::CoordinateMode;
using graph::NearestMode;
using graph::ResizeMode;

struct Resampling {
  ResizeMode mode = ResizeMode::Nearest;
  CoordinateMode coordinates = CoordinateMode::Asymmetric;
  NearestMode nearest = NearestMode::Floor;
  double cubicCoefficient = -0.75;
};

ResizeMode readMode(NodeContext &n, ArrayRef<StringRef> allowed) {
  return llvm::StringSwitch<ResizeMode>(n.choiceAttr("mode", allowed))
      .Cases({"linear", "bilinear"}, ResizeMode::Linear)
      .Case("cubic", ResizeMode::Cubic)
      .Default(ResizeMode::Nearest);
}

/// Returns the size of a scaled dim, computed in float as in the specification.
int64_t scaledSize(int64_t dim, double scale) {
  return toInteger(std::floor(static_cast<float>(dim) * static_cast<float>(scale)));
}

void resize(NodeContext &n, Value input, ArrayRef<int64_t> shape, ArrayRef<double> scales,
            const Resampling &how) {
  if (n.failed())
    return;
  if (llvm::Expected<int64_t> count = countElements(shape); !count)
    return n.failNode("its result " + toString(count.takeError()));
  bool isIdentity =
      shape == n.shape(input) && llvm::all_of(scales, [](double scale) { return scale == 1.0; });
  if (isIdentity)
    return n.setOutput(input);
  // Generated code interpolates floats. Integers between others stay in their range, cubic
  // polynomials leave it.
  const Type element = n.elementType(input);
  const bool isInteger = !isa<FloatType>(element) && how.mode != ResizeMode::Nearest;
  if (isInteger && (how.mode == ResizeMode::Cubic || element.getIntOrFloatBitWidth() > 16))
    return n.failNode("interpolates integers, which a host kernel does");
  if (isInteger)
    input = n.cast(input, Float32Type::get(n.builder().getContext()));
  Value resized =
      n.createTyped<graph::ResizeOp>(shape, n.elementType(input), input, scales, how.mode,
                                     how.coordinates, how.nearest, APFloat(how.cubicCoefficient));
  n.setOutput(isInteger ? n.cast(resized, element) : resized);
}

/// Checks scales and makes the shape of the result.
SmallVector<int64_t> shapeForScales(NodeContext &n, Value input, ArrayRef<double> scales) {
  SmallVector<int64_t> shape;
  if (static_cast<int64_t>(scales.size()) != n.rank(input)) {
    n.failNode("has " + Twine(scales.size()) + " scales for a tensor of rank " +
               Twine(n.rank(input)));
    return shape;
  }
  for (auto [dim, scale] : llvm::zip(n.shape(input), scales)) {
    if (!(scale > 0) || static_cast<double>(dim) * scale > static_cast<double>(maxDim)) {
      n.failNode("scale " + Twine(std::to_string(scale)) + " of a dim of " + Twine(dim) +
                 " elements is out of range");
      return shape;
    }
    shape.push_back(scaledSize(dim, scale));
  }
  return shape;
}

/// Imports Upsample, and Resize of opset 10, whose positions are x / scale. Mode nearest rounds
/// them down along an axis that grows, and up along one that shrinks, as ONNX Runtime does.
void resizeV10(NodeContext &n, std::optional<SmallVector<double>> scales) {
  Value input = n.input(0);
  Resampling how;
  how.mode = readMode(n, {"nearest", "linear", "bilinear"});
  if (!n.failed() && !scales)
    n.failAttribute("scales", "is missing; the operator needs it");
  if (n.failed())
    return;
  SmallVector<int64_t> shape = shapeForScales(n, input, *scales);
  bool shrinks = llvm::any_of(*scales, [](double scale) { return scale < 1.0; });
  bool grows = llvm::any_of(*scales, [](double scale) { return scale > 1.0; });
  if (how.mode == ResizeMode::Nearest && shrinks && grows && !n.failed()) {
    // A resize rounds all axes alike. Nearest treats each axis by itself, so one resize per
    // rounding gives the same elements; the one that shrinks comes first and leaves less to move.
    SmallVector<double> shrinking(*scales);
    for (auto [less, rest] : llvm::zip(shrinking, *scales)) {
      less = std::min(less, 1.0);
      rest = std::max(rest, 1.0);
    }
    input = n.createTyped<graph::ResizeOp>(
        shapeForScales(n, input, shrinking), n.elementType(input), input, shrinking, how.mode,
        how.coordinates, NearestMode::Ceil, APFloat(how.cubicCoefficient));
    shrinks = false;
  }
  how.nearest = shrinks ? NearestMode::Ceil : NearestMode::Floor;
  resize(n, input, shape, *scales, how);
}

void importUpsampleV7(NodeContext &n) { resizeV10(n, n.floatsAttr("scales")); }
void importResizeV10(NodeContext &n) { resizeV10(n, n.constantFloats(1)); }

/// `alignedSizes`: along every axis the result has exactly scale * dim elements.
void readCoordinates(NodeContext &n, Resampling &how, bool alignedSizes) {
  std::string coordinates =
      n.choiceAttr("coordinate_transformation_mode",
                   {"half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel",
                    "tf_half_pixel_for_nn", "half_pixel_symmetric", "tf_crop_and_resize"});
  std::string nearest =
      n.choiceAttr("nearest_mode", {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"});
  how.coordinates = llvm::StringSwitch<CoordinateMode>(coordinates)
                        .Case("asymmetric", CoordinateMode::Asymmetric)
                        .Case("align_corners", CoordinateMode::AlignCorners)
                        .Case("pytorch_half_pixel", CoordinateMode::PytorchHalfPixel)
                        .Default(CoordinateMode::HalfPixel);
  how.nearest = llvm::StringSwitch<NearestMode>(nearest)
                    .Case("round_prefer_ceil", NearestMode::RoundPreferCeil)
                    .Case("floor", NearestMode::Floor)
                    .Case("ceil", NearestMode::Ceil)
                    .Default(NearestMode::RoundPreferFloor);
  if (coordinates == "tf_half_pixel_for_nn") {
    // Positions are those of half_pixel and a half: rounding them down is rounding
    // half_pixel to the nearest, rounding them to the nearest is rounding it up.
    bool isFloor = nearest == "floor";
    if (how.mode != ResizeMode::Nearest || !(isFloor || nearest == "round_prefer_floor"))
      return n.failAttribute("coordinate_transformation_mode",
                             "'tf_half_pixel_for_nn' is only supported with mode nearest and "
                             "nearest_mode floor or round_prefer_floor");
    how.nearest = isFloor ? NearestMode::RoundPreferCeil : NearestMode::Ceil;
  }
  // The symmetric mode only differs where sizes were rounded.
  if (coordinates == "tf_crop_and_resize" ||
      (coordinates == "half_pixel_symmetric" && !alignedSizes))
    n.failAttribute("coordinate_transformation_mode",
                    "'" + coordinates + "' is not supported here");
}

/// Finds the dims of the result for the `sizes` of some axes, by the policy for the aspect ratio.
/// Returns whether the dims are the sizes, each with a scale of its own.
bool applySizes(NodeContext &n, ArrayRef<int64_t> axes, ArrayRef<int64_t> sizes,
                SmallVector<int64_t> &shape, SmallVector<double> &scales) {
  std::string policy =
      n.choiceAttr("keep_aspect_ratio_policy", {"stretch", "not_larger", "not_smaller"});
  double common = policy == "not_larger" ? HUGE_VAL : 0;
  for (auto [axis, size] : llvm::zip(axes, sizes)) {
    if (size < 0 || size > maxDim || shape[axis] == 0)
      return n.failNode("size " + Twine(size) + " of axis " + Twine(axis) + " is out of range"),
             false;
    double scale = static_cast<double>(size) / shape[axis];
    common = policy == "not_larger" ? std::min(common, scale) : std::max(common, scale);
  }
  for (auto [axis, size] : llvm::zip(axes, sizes)) {
    int64_t dim = shape[axis];
    if (policy == "stretch") {
      shape[axis] = size;
      scales[axis] = static_cast<double>(size) / dim;
      continue;
    }
    double rounded = std::floor(common * dim + 0.5);
    if (rounded > static_cast<double>(maxDim))
      return n.failNode("its result has a dim of more than 2^31 elements"), false;
    shape[axis] = static_cast<int64_t>(rounded);
    scales[axis] = common;
  }
  return policy == "stretch";
}

void importResizeV11(NodeContext &n) {
  Value input = n.input(0);
  Resampling how;
  how.mode = readMode(n, {"nearest", "linear", "cubic"});
  how.cubicCoefficient = n.floatAttr("cubic_coeff_a", -0.75);
  bool antialias = n.boolAttr("antialias", false);
  bool excludeOutside = n.boolAttr("exclude_outside", false);
  n.ignoreAttr("extrapolation_value"); // of tf_crop_and_resize
  if (how.mode == ResizeMode::Cubic && excludeOutside)
    n.failAttribute("exclude_outside", "1 is not supported");
  if (n.failed())
    return;

  int64_t rank = n.rank(input);
  SmallVector<int64_t> axes;
  for (int64_t axis : n.intsAttr("axes").value_or(llvm::to_vector(llvm::seq<int64_t>(0, rank))))
    axes.push_back(n.normalizeAxis(axis, rank, "axes"));
  n.normalizeAxes(axes, rank);
  // The omitted one of the two may be an empty tensor as well.
  std::optional<SmallVector<double>> given = n.constantFloats(2);
  std::optional<SmallVector<int64_t>> sizes;
  if (!n.isRuntimeInput(3)) {
    sizes = n.constantInts(3);
  } else if (n.hasAttr("keep_aspect_ratio_policy")) {
    n.failInput(3, "must be known at compile time with keep_aspect_ratio_policy");
  } else if (auto declared = n.declaredShape(3)) {
    if (static_cast<int64_t>(declared->size()) != rank)
      return n.failNode("its declared result has another rank than its input");
    sizes.emplace();
    for (int64_t axis : axes)
      sizes->push_back((*declared)[axis]);
  }
  if (n.failed())
    return;
  bool hasScales = given && !given->empty(), hasSizes = sizes && !sizes->empty();
  if (hasScales == hasSizes)
    return n.failNode("needs either scales or sizes");
  if ((hasScales ? given->size() : sizes->size()) != axes.size())
    return n.failNode("has " + Twine(hasScales ? given->size() : sizes->size()) +
                      (hasScales ? " scales for " : " sizes for ") + Twine(axes.size()) + " axes");

  SmallVector<int64_t> shape(n.shape(input));
  SmallVector<double> scales(rank, 1.0);
  bool isStretched = false;
  if (hasScales) {
    for (auto [axis, scale] : llvm::zip(axes, *given))
      scales[axis] = scale;
    shape = shapeForScales(n, input, scales);
  } else {
    isStretched = applySizes(n, axes, *sizes, shape, scales);
  }
  n.ignoreAttr("keep_aspect_ratio_policy"); // of sizes only
  if (n.failed())
    return;
  bool alignedSizes = true, shrinks = false;
  for (auto [from, to, scale] : llvm::zip(n.shape(input), shape, scales)) {
    alignedSizes &= static_cast<double>(from) * scale == static_cast<double>(to);
    shrinks |= scale < 1.0;
  }
  if (antialias && how.mode != ResizeMode::Nearest && shrinks)
    return n.failAttribute("antialias", "1 is not supported where the tensor shrinks");
  readCoordinates(n, how, alignedSizes || (hasSizes && isStretched));
  resize(n, input, shape, scales, how);
}

} // namespace

ArrayRef<OpRow> resizeRows() {
  static const OpRow rows[] = {
      {"Resize", 10, 10, importResizeV10},
      {"Resize", 11, latestOpset, importResizeV11,
       "no tf_crop_and_resize, no exclude_outside, antialias only to enlarge; scales and sizes "
       "are constant"},
      {"Upsample", 7, 8, importUpsampleV7},
      {"Upsample", 9, 9, importResizeV10, "scales are constant"},
  };
  return rows;
}

} // namespace atc::onnx_import
