//===-- ShowModel.h - what an .om file holds ------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_TOOLS_ATC_SHOWMODEL_H
#define OPENATC_TOOLS_ATC_SHOWMODEL_H

#include "support/Diagnostics.h"

#include <nlohmann/json.hpp>

namespace atc::tools {

/// Prints the summary that --mode=6 is known for.
void showModel(const std::string &om, llvm::raw_ostream &os, Diagnostics &diagnostics);

/// Returns what an .om file holds: its graph as describeOm has it, and sizes. Null after an error.
nlohmann::ordered_json describeOmFile(const std::string &om, Diagnostics &diagnostics);

} // namespace atc::tools

#endif // OPENATC_TOOLS_ATC_SHOWMODEL_H
