//===-- AutoTarget.h - --target=auto and --op_placement -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_TOOLS_ATC_AUTOTARGET_H
#define OPENATC_TOOLS_ATC_AUTOTARGET_H

#include "driver/targets/TargetRequest.h"
#include "tools/atc/Options.h"

#include <nlohmann/json.hpp>

namespace atc::tools {

/// Reads the file of --op_placement: lines `name = npu` or `name = cpu` in the sections [ByOpType]
/// (the first one) and [ByNodeName]. A file that is missing or a line that cannot be read is an
/// error with the line's number.
std::vector<driver::PlacementRule> readPlacementRules(const FlagValues &flags,
                                                      Diagnostics &diagnostics);

/// Returns what the search of --target=auto needs beside the target for the NPU, which `request`
/// describes; nothing after an error.
std::optional<tuning::AutoOptions> readAutoTarget(const FlagValues &flags,
                                                  const driver::TargetRequest &request,
                                                  Diagnostics &diagnostics);

/// Reports flags that --target=auto cannot be combined with.
void checkBesideAuto(const AtcOptions &options, Diagnostics &diagnostics);

/// Returns a table for people: a line per candidate with its times, and one with what they rest on.
std::vector<std::string> describeAuto(const tuning::AutoPlacement &placement);
/// Returns the candidates with all figures, and the kernels of the one that was chosen.
nlohmann::ordered_json autoJson(const tuning::AutoPlacement &placement);

} // namespace atc::tools

#endif // OPENATC_TOOLS_ATC_AUTOTARGET_H
