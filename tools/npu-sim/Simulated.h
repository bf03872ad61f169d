//===-- Simulated.h - one file on the simulated NPU -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_TOOLS_NPUSIM_SIMULATED_H
#define OPENATC_TOOLS_NPUSIM_SIMULATED_H

#include "support/Diagnostics.h"

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace atc::tools {

/// The options of npu-sim.
struct SimOptions {
  std::vector<std::string> files;
  std::string soc, socFile, report, timeline;
  bool checkHazards = true, schedule = false, json = false, cores = false;
  unsigned warmup = 0;
};

/// The simulation of one file.
struct Simulated {
  std::string file;
  nlohmann::ordered_json figures;   ///< of npu/report/Report.h
  std::string html, timeline;       ///< empty where not requested
  std::vector<std::string> hazards; ///< one line each
};

/// Simulates a file of MLIR or a compiled model, whose inputs are zeros. Returns nothing, and adds
/// errors to `diagnostics`, where that fails.
std::optional<Simulated> simulateFile(const std::string &file, const SimOptions &options,
                                      Diagnostics &diagnostics);

/// Returns the figures of one file as text: time, bound, queues, cores and launches.
std::string textOf(const Simulated &simulated, bool cores);
/// Returns the figures of two files beside each other as text, the second relative to the first.
std::string comparisonOf(const Simulated &first, const Simulated &second);
/// Returns the same comparison as an object of JSON.
nlohmann::ordered_json comparisonJson(const Simulated &first, const Simulated &second);

} // namespace atc::tools

#endif // OPENATC_TOOLS_NPUSIM_SIMULATED_H
