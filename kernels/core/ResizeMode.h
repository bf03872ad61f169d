//===-- ResizeMode.h - the attributes of Resize ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Read by the host kernel and by the generator of its code, which must agree on every name and
// default.

#ifndef OPENATC_KERNELS_CORE_RESIZEMODE_H
#define OPENATC_KERNELS_CORE_RESIZEMODE_H

#include <stdint.h>

namespace atc::kernels {

/// Defines how a resize maps a coordinate of its output to one of its input, and how it
/// interpolates there.
struct ResizeMode {
  enum class Coordinates : uint8_t {
    HalfPixel,
    HalfPixelSymmetric,
    PytorchHalfPixel,
    AlignCorners,
    Asymmetric,
    TfHalfPixelForNn,
    TfCropAndResize
  };
  enum class Method : uint8_t { Nearest, Linear, Cubic };
  enum class Rounding : uint8_t { PreferFloor, PreferCeil, Floor, Ceil };

  /// The mode that importers replace align_corners by where the scales are constants.
  static constexpr const char *kWholeCorners = "align_whole_corners";

  Coordinates coordinates = Coordinates::HalfPixel;
  Method method = Method::Nearest;
  Rounding rounding = Rounding::PreferFloor;
  bool excludeOutside = false;
  /// Whether a dim of 5 and a scale of 1.5 have their last corner at 6, the last element, not
  /// at 6.5. Runtimes say so; the standard's tests, whose scales are inputs, do not.
  bool hasWholeLengths = false;
  double cubic = -0.75, extrapolation = 0;

  /// Returns whether positions are computed in f32 and not in f64. Nearest neighbors are those of
  /// the source format's runtimes: a position that f32 rounds can be on the other side of a whole
  /// number. Where halves go up, these find them as f64 does.
  bool hasSinglePositions() const {
    return method == Method::Nearest && rounding != Rounding::PreferCeil;
  }

  /// Returns the mode that the attributes of a Resize name. `attributes` has is(name, default,
  /// text), integer(name, default) and number(name, default), as the context of a kernel has.
  template <typename Attributes> static ResizeMode read(const Attributes &attributes) {
    auto maps = [&](const char *name) {
      return attributes.is("coordinate_transformation_mode", "half_pixel", name);
    };
    auto rounds = [&](const char *name) {
      return attributes.is("nearest_mode", "round_prefer_floor", name);
    };
    ResizeMode mode;
    mode.coordinates = maps("half_pixel_symmetric")   ? Coordinates::HalfPixelSymmetric
                       : maps("pytorch_half_pixel")   ? Coordinates::PytorchHalfPixel
                       : maps("align_corners")        ? Coordinates::AlignCorners
                       : maps(kWholeCorners)          ? Coordinates::AlignCorners
                       : maps("asymmetric")           ? Coordinates::Asymmetric
                       : maps("tf_half_pixel_for_nn") ? Coordinates::TfHalfPixelForNn
                       : maps("tf_crop_and_resize")   ? Coordinates::TfCropAndResize
                                                      : Coordinates::HalfPixel;
    mode.hasWholeLengths = maps(kWholeCorners);
    mode.method = attributes.is("mode", "nearest", "linear")  ? Method::Linear
                  : attributes.is("mode", "nearest", "cubic") ? Method::Cubic
                                                              : Method::Nearest;
    mode.rounding = rounds("round_prefer_ceil") ? Rounding::PreferCeil
                    : rounds("floor")           ? Rounding::Floor
                    : rounds("ceil")            ? Rounding::Ceil
                                                : Rounding::PreferFloor;
    mode.excludeOutside = attributes.integer("exclude_outside", 0) != 0;
    mode.cubic = attributes.number("cubic_coeff_a", -0.75);
    mode.extrapolation = attributes.number("extrapolation_value", 0);
    return mode;
  }

  /// Returns the mode of an Upsample, the older operator.
  template <typename Attributes> static ResizeMode readUpsample(const Attributes &attributes) {
    const bool isLinear =
        attributes.is("mode", "nearest", "linear") || attributes.is("mode", "nearest", "bilinear");
    ResizeMode mode;
    mode.coordinates = Coordinates::Asymmetric;
    mode.rounding = Rounding::Floor;
    mode.method = isLinear ? Method::Linear : Method::Nearest;
    return mode;
  }
};

} // namespace atc::kernels

#endif // OPENATC_KERNELS_CORE_RESIZEMODE_H
