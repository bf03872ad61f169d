//===-- HostListing.h - shows the host program of an .om file -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_TOOLS_OMDUMP_HOSTLISTING_H
#define OPENATC_TOOLS_OMDUMP_HOSTLISTING_H

#include "runtime-lite/schema/om_generated.h"

#include <nlohmann/json.hpp>
#include <string>

namespace atc::tools {

/// Inputs, outputs, constants and the steps, blocks indented where they run.
std::string hostText(const om::fb::Model &model);

/// Everything; null where there is no host program.
nlohmann::ordered_json hostJson(const om::fb::Model &model);

} // namespace atc::tools

#endif
