//===-- GearRequest.h - the gears that a user asks for --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_DRIVER_GEARS_GEARREQUEST_H
#define OPENATC_DRIVER_GEARS_GEARREQUEST_H

#include "frontends/ModelOptions.h"
#include "openatc/om.h"

#include <optional>

namespace atc::driver {

/// The maximum number of gears of a model, as in the Ascend toolchain.
constexpr size_t maxGears = 100;

/// The gears of a model: one static compilation for each.
struct GearRequest {
  /// A dim of --input_shape that is a value of the gear.
  struct Axis {
    size_t input; ///< in `shapes`
    size_t dim;
    size_t value;
  };

  om_gear_kind kind = OM_GEARS_DIMS;
  InputShapes shapes; ///< --input_shape, with -1 for each axis
  std::vector<Axis> axes;
  std::vector<std::vector<int64_t>> gears; ///< values; all have as many
  std::vector<int64_t> min;                ///< of OM_GEARS_RANGE only
  bool hasOpenEnd = false;                 ///< of OM_GEARS_RANGE: a dim of -1 has no largest size
  std::string announcement; ///< of OM_GEARS_RANGE: which sizes the dims take and are computed at

  /// Returns --input_shape as it is in a gear.
  InputShapes shapesOf(size_t gear) const;
  /// Returns the values of a gear as users write them: "416,416".
  std::string nameOf(size_t gear) const;
};

/// The flags of fixed gears as a user has given them.
struct GearFlags {
  std::optional<std::string> batchSize; ///< --dynamic_batch_size: "1,2,4,8"
  std::optional<std::string> imageSize; ///< --dynamic_image_size: "416,416;832,832"
  std::optional<std::string> dims;      ///< --dynamic_dims: "20,20,1,1;40,40,1,1"
  std::string inputFormat;              ///< --input_format: NCHW, NHWC, ND ...

  /// Returns whether choices of dynamic dims are requested.
  bool any() const { return batchSize || imageSize || dims; }
};

/// Returns the gears that the flags stand for; `shapes` is --input_shape. Every limit that is
/// not met becomes an error, and nothing is returned.
std::optional<GearRequest> readGears(const GearFlags &flags, const InputShapes &shapes,
                                     Diagnostics &diagnostics);

} // namespace atc::driver

#endif // OPENATC_DRIVER_GEARS_GEARREQUEST_H
