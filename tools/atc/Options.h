//===-- Options.h - what a command line asks for --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_TOOLS_ATC_OPTIONS_H
#define OPENATC_TOOLS_ATC_OPTIONS_H

#include "backends/cpu/CpuLevels.h"
#include "tools/atc/Flags.h"

namespace atc::tools {

enum class Mode { Compile = 0, ToJson = 1, Check = 3, ShowModel = 6 };

using InputShape = std::pair<std::string, std::vector<int64_t>>;

struct AtcOptions {
  Mode mode = Mode::Compile;
  std::string model, framework, om, json, checkReport;
  std::string outputFile; ///< with its suffix
  std::vector<InputShape> inputShapes;
  std::vector<std::string> outNodes, inputNodes;
  std::vector<cpu::CpuLevel> levels;
  std::vector<std::string> disabledPasses;
  std::string tempDir;
  bool verbose = false;

  bool isTensorFlow() const { return framework == "3"; }
  bool isMlir() const { return llvm::StringRef(model).ends_with(".mlir"); }
};

/// `name:1,3,224,224;other:1`. Every fault becomes an error.
std::vector<InputShape> parseInputShapes(llvm::StringRef text, Diagnostics &diagnostics);

/// Checks that the flags make sense together. The result is of use only when
/// there are no errors.
AtcOptions buildOptions(const FlagValues &flags, Diagnostics &diagnostics);

} // namespace atc::tools

#endif // OPENATC_TOOLS_ATC_OPTIONS_H
