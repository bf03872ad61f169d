//===-- Options.h - the options of om-run ---------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_TOOLS_OMRUN_OPTIONS_H
#define OPENATC_TOOLS_OMRUN_OPTIONS_H

#include "tools/om-run/ImageInputs.h"
#include "tools/om-run/Npu.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace atc::tools {

/// The options of om-run.
struct Options {
  std::string model, input, shape, output, dump, compare, cpuLevel, labels;
  std::optional<double> tolerance; ///< nothing: as the element types allow
  uint32_t loop = 0, warmup = 0, threads = 0, sessions = 1;
  double duration = 0; ///< seconds of measuring; 0: `loop` runs
  uint64_t maxMemory = 0, maxIterations = 0, seed = 0;
  double maxSeconds = 0, rankTimeout = 60;
  std::vector<std::string> trustedKeys;
  bool json = false, profile = false, verify = true, state = false, random = false;
  bool requireSignature = false, refuseNativeCode = false;
  ImageFlags images;
  NpuOptions npu;
};

/// Adds all options to the command line.
void addOptions(CLI::App &app, Options &options);

} // namespace atc::tools

#endif // OPENATC_TOOLS_OMRUN_OPTIONS_H
