//===-- BoundaryOptions.h - flags about inputs and outputs ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_TOOLS_ATC_BOUNDARYOPTIONS_H
#define OPENATC_TOOLS_ATC_BOUNDARYOPTIONS_H

#include "driver/ModelImport.h"
#include "tools/atc/Flags.h"

namespace atc::tools {

/// Reads --output_type, --input_fp16_nodes, --is_input_adjust_hw_layout and
/// --is_output_adjust_hw_layout into source.boundary. What is not valid becomes an error.
void readBoundary(const FlagValues &flags, driver::ModelSource &source, Diagnostics &diagnostics);

} // namespace atc::tools

#endif // OPENATC_TOOLS_ATC_BOUNDARYOPTIONS_H
