//===-- HostListing.h - lists the dynamic schedule of an .om file ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_TOOLS_OMDUMP_HOSTLISTING_H
#define OPENATC_TOOLS_OMDUMP_HOSTLISTING_H

#include "runtime-lite/schema/om_generated.h"

#include <nlohmann/json.hpp>
#include <string>

namespace atc::tools {

/// Returns the inputs, outputs, constants and steps as text, blocks indented where they run.
std::string hostText(const om::fb::Model &model);

/// Returns the same content as JSON; null if there is no dynamic schedule.
nlohmann::ordered_json hostJson(const om::fb::Model &model);

} // namespace atc::tools

#endif
