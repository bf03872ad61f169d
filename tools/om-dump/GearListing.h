//===-- GearListing.h - shows the gears of an .om file --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_TOOLS_OMDUMP_GEARLISTING_H
#define OPENATC_TOOLS_OMDUMP_GEARLISTING_H

#include "runtime-lite/schema/om_generated.h"

#include <nlohmann/json.hpp>
#include <string>

namespace atc::tools {

/// Returns the model's inputs and outputs and a line per gear; "" without gears.
std::string gearText(const om::fb::Model &model);

/// Returns everything; null without gears.
nlohmann::ordered_json gearJson(const om::fb::Model &model);

} // namespace atc::tools

#endif // OPENATC_TOOLS_OMDUMP_GEARLISTING_H
