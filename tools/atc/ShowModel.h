//===-- ShowModel.h - what an .om file holds ------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_TOOLS_ATC_SHOWMODEL_H
#define OPENATC_TOOLS_ATC_SHOWMODEL_H

#include "support/Diagnostics.h"

namespace atc::tools {

/// Prints the summary that --mode=6 is known for.
void showModel(const std::string &om, llvm::raw_ostream &os, Diagnostics &diagnostics);

/// Writes what an .om file holds as JSON.
void writeModelJson(const std::string &om, const std::string &json, Diagnostics &diagnostics);

} // namespace atc::tools

#endif // OPENATC_TOOLS_ATC_SHOWMODEL_H
