//===-- AoeReport.h - what a tuning has gained ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_TOOLS_AOE_AOEREPORT_H
#define OPENATC_TOOLS_AOE_AOEREPORT_H

#include "tools/aoe/AoeOptions.h"
#include "tuning/CpuSearch.h"

#include <nlohmann/json.hpp>

namespace atc::tools {

/// Returns the JSON report: the time of the model and of each operator before and after, the
/// choices, and what the search took.
nlohmann::ordered_json aoeReport(const AoeOptions &options, const tuning::Search &search);

/// Returns by how many percent the time of the model became less.
double improvementPercent(const tuning::Search &search);

/// Returns the JSON report of a model that was tuned for the CPU.
std::string aoeCpuReport(const AoeOptions &options, const tuning::CpuTuning &tuning);

} // namespace atc::tools

#endif // OPENATC_TOOLS_AOE_AOEREPORT_H
