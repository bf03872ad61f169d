//===-- npu-sim.cpp - simulates programs of the NPU -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "openatc/om.h"
#include "support/Interruption.h"
#include "support/JsonText.h"
#include "support/OutputFile.h"
#include "tools/common/CommandLine.h"
#include "tools/common/FatalErrors.h"
#include "tools/common/Print.h"
#include "tools/common/ShownMessages.h"
#include "tools/npu-sim/Simulated.h"

#include <CLI/CLI.hpp>

using namespace atc;
using namespace atc::tools;

namespace {

/// Writes the page and the timeline. Returns false after printing an error where that fails.
bool writeFiles(const SimOptions &options, const Simulated &simulated) {
  for (const auto &[path, text] : {std::pair(&options.report, &simulated.html),
                                   std::pair(&options.timeline, &simulated.timeline)}) {
    std::string error;
    if (path->empty() || writeWholeFile(*path, *text, error))
      continue;
    print(stderr, "%s\n", error.c_str());
    return false;
  }
  return true;
}

nlohmann::ordered_json jsonOf(const Simulated &simulated) {
  nlohmann::ordered_json json = simulated.figures;
  json["file"] = simulated.file;
  json["hazards"] = simulated.hazards;
  return json;
}

int run(const SimOptions &options) {
  Diagnostics diagnostics;
  std::vector<Simulated> all;
  for (const std::string &file : options.files)
    if (std::optional<Simulated> simulated = simulateFile(file, options, diagnostics))
      all.push_back(std::move(*simulated));
  forEachShown(diagnostics.all(),
               [](const std::string &line) { print(stderr, "%s\n", line.c_str()); });
  if (diagnostics.hasErrors())
    return 1;
  if (!writeFiles(options, all.back()))
    return 1;
  bool hasHazards = false;
  if (options.json) {
    nlohmann::ordered_json json;
    if (all.size() == 1) {
      json = jsonOf(all[0]);
    } else {
      json["programs"] = {jsonOf(all[0]), jsonOf(all[1])};
      json["comparison"] = comparisonJson(all[0], all[1]);
    }
    printLines(stdout, jsonText(json));
  } else {
    for (const Simulated &each : all)
      printLines(stdout, textOf(each, options.cores) + "\n");
    if (all.size() == 2)
      printLines(stdout, comparisonOf(all[0], all[1]));
  }
  for (const Simulated &each : all)
    for (const std::string &hazard : each.hazards) {
      hasHazards = true;
      if (!options.json)
        print(stderr, "E14001: '%s': %s\n", each.file.c_str(), hazard.c_str());
    }
  return hasHazards;
}

} // namespace

int main(int argc, char **argv) {
  atc::endInOrder("npu-sim");
  installFatalErrorHandlers(/*descriptor=*/2);
  SimOptions options;
  CLI::App app("Simulates programs of the NPU: checks them, finds unordered accesses to the same "
               "bytes, and reports how long they take and why. Compares two files.");
  app.set_version_flag("--version", std::string("npu-sim ") + om_version());
  app.add_option("files", options.files,
                 "a file of MLIR with npu.program ops (docs/npu-programs.md), or a compiled model "
                 "(.om); two files are compared")
      ->required()
      ->expected(1, 2)
      ->type_name("FILE");
  app.add_option("--soc", options.soc, "simulate this SoC instead of the one the programs name")
      ->type_name("NAME");
  app.add_option("--soc-file,--soc_file", options.socFile,
                 "simulate the SoC of this table (key = value lines)")
      ->type_name("FILE")
      ->excludes("--soc");
  app.add_flag("--check-hazards,!--no-check-hazards", options.checkHazards,
               "find accesses to the same bytes that nothing orders (default); exit code 1 if "
               "there are any");
  app.add_flag("--schedule", options.schedule,
               "programs without offsets and flags: select buffers, allocate local memory, reorder "
               "and insert flags first, as the compiler does");
  app.add_option("--warmup", options.warmup,
                 "runs before the one that is reported: with 1, L2 holds what fits (default 0)")
      ->type_name("N")
      ->check(CLI::Range(0, 1000));
  app.add_flag("--cores", options.cores, "also print a table of all cores");
  app.add_option("--report", options.report,
                 "write an HTML page on where the time of the last file went")
      ->type_name("FILE");
  app.add_option("--timeline", options.timeline,
                 "write when each instruction of the last file ran, for ui.perfetto.dev")
      ->type_name("FILE");
  app.add_flag("--json", options.json, "print one JSON object instead of tables");
  if (std::optional<int> code = parseCommandLine(app, "npu-sim", argc, argv))
    return *code;
  return finishOutput(run(options));
}
