//===-- GearAxes.h - which dims of a model are values of its gears --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_DRIVER_GEARS_GEARAXES_H
#define OPENATC_DRIVER_GEARS_GEARAXES_H

#include "backends/om/OmWriter.h"
#include "driver/Compiler.h"
#include "driver/gears/GearRequest.h"

namespace atc::driver {

/// An input of a model as it is in one gear.
struct GearInput {
  std::string name;
  std::vector<int64_t> dims;
};

/// Returns the axes of the inputs: what the request states, and dims that are one of its values
/// in each gear because the model gives them the name of such a dim or an image has them. `inputs`
/// are those of each gear, in the order of the model. Nothing after an error: with OM_GEARS_RANGE
/// a dim differs between gears and is no value.
std::optional<std::vector<om::OmGearAxis>>
findInputAxes(const GearRequest &request, const std::vector<std::vector<GearInput>> &inputs,
              Diagnostics &diagnostics);

/// Proves that a model may be run on fewer positions than a gear has: that along the dims of
/// a request of OM_GEARS_RANGE nothing is mixed (passes/graph/BatchLikeDims.h). Returns the
/// axes of inputs and outputs. Otherwise `whyNot` names the node that does not allow it, or there
/// is an error of another kind.
std::optional<std::vector<om::OmGearAxis>> proveRanges(const CompilerOptions &options,
                                                       const GearRequest &request,
                                                       std::string &whyNot,
                                                       Diagnostics &diagnostics);

} // namespace atc::driver

#endif // OPENATC_DRIVER_GEARS_GEARAXES_H
