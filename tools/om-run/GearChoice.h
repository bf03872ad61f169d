//===-- GearChoice.h - the gear that inputs choose ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_TOOLS_OM_RUN_GEARCHOICE_H
#define OPENATC_TOOLS_OM_RUN_GEARCHOICE_H

#include "openatc/om.hpp"

#include <cstring>

namespace atc::tools {

/// Returns the values of the gear that the inputs of a model with gears choose: those of the
/// input that states them, or of the only gear with the inputs' dims. Otherwise the sizes of the
/// axes, with 0 for a value without one. Every input but the one that chooses must have a value.
inline std::vector<int64_t> chosenGear(const om::Model &model,
                                       const std::vector<om::Value> &inputs) {
  const om::Gears gears = model.gears();
  std::vector<int64_t> values(gears.all[0].values.size());
  if (gears.shapeInput < inputs.size() && inputs[gears.shapeInput]) {
    std::memcpy(values.data(), inputs[gears.shapeInput].data(), values.size() * sizeof(int64_t));
    return values;
  }
  for (const om_gear_axis &axis : gears.axes)
    if (!axis.output)
      values[axis.value] = inputs[axis.index].dims()[axis.dim];
  if (gears.kind == OM_GEARS_RANGE)
    return values;
  uint32_t count = 0;
  for (uint32_t gear = 0; gear < gears.all.size(); ++gear) {
    bool isEqual = true;
    for (uint32_t i = 0; i < gears.shapeInput; ++i)
      isEqual = isEqual && model.gearInput(gear, i).dims == inputs[i].dims();
    if (isEqual && ++count == 1)
      values = gears.all[gear].values;
  }
  // Gears with equal dims cannot be told apart: no gear has a value of 0.
  if (count > 1)
    values.assign(values.size(), 0);
  return values;
}

} // namespace atc::tools

#endif // OPENATC_TOOLS_OM_RUN_GEARCHOICE_H
