//===-- atc.cpp - the model compiler --------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "openatc/om.h"
#include "support/JsonText.h"
#include "support/OutputStream.h"
#include "tools/atc/Compile.h"
#include "tools/atc/ShowModel.h"
#include "tools/common/FatalErrors.h"
#include "tools/common/OneLine.h"

#include <nlohmann/json.hpp>

using namespace atc;
using namespace atc::tools;
using Json = nlohmann::ordered_json;

namespace {

Json summaryJson(const AtcOptions &options, const CompileSummary &summary) {
  Json out = {{"model", options.model},
              {"output", options.outputFile},
              {"file_bytes", summary.fileBytes},
              {"weights_bytes", summary.weightsBytes},
              {"arena_bytes", summary.arenaBytes},
              {"arena_lower_bound", summary.arenaLowerBound},
              {"intermediate_bytes", summary.intermediateBytes},
              {"launches", summary.launches},
              {"kernels", summary.kernels},
              {"seconds", summary.timer.total()},
              {"peak_memory_bytes", peakMemory()}};
  out["images"] = out["stages"] = Json::array();
  for (auto &[level, bytes] : summary.images)
    out["images"].push_back({{"level", level}, {"code_bytes", bytes}});
  for (const StageTimer::Stage &stage : summary.timer.stages())
    out["stages"].push_back(
        {{"name", stage.name}, {"seconds", stage.seconds}, {"peak_memory_bytes", stage.peak}});
  return out;
}

void writeText(const std::string &path, const std::string &text, const char *flag,
               Diagnostics &diagnostics) {
  if (path == "-") {
    llvm::outs() << text;
    return;
  }
  OutputFile file(path);
  if (!file.write(text) || !file.commit())
    diagnostics.error("E13004", "the file \"" + path + "\" of " + flag +
                                    " cannot be written: " + file.reason());
}

void compile(const AtcOptions &options, const std::string &commandLine, Diagnostics &diagnostics) {
  CompileSummary summary;
  compileModel(options, commandLine, summary, diagnostics);
  if (options.verbose)
    summary.timer.print(llvm::outs());
  if (!diagnostics.hasErrors() && !options.json.empty())
    writeText(options.json, jsonText(summaryJson(options, summary)), "--json", diagnostics);
}

void check(const AtcOptions &options, Diagnostics &diagnostics) {
  checkModel(options, diagnostics);
  Json report = {{"model", options.model},
                 {"result", diagnostics.hasErrors() ? "failed" : "success"}};
  report["messages"] = Json::array();
  for (const CodedMessage &message : diagnostics.all())
    report["messages"].push_back({{"code", message.code}, {"text", message.text}});
  writeText(options.checkReport, jsonText(report), "--check_report", diagnostics);
}

void run(const AtcOptions &options, const std::string &commandLine, Diagnostics &diagnostics) {
  switch (options.mode) {
  case Mode::Compile:
    return compile(options, commandLine, diagnostics);
  case Mode::Check:
    return check(options, diagnostics);
  case Mode::ToJson:
    return writeModelJson(options.om, options.json, diagnostics);
  case Mode::ShowModel:
    return showModel(options.om, llvm::outs(), diagnostics);
  }
}

void print(const Diagnostics &diagnostics, bool errors) {
  for (const CodedMessage &message : diagnostics.all())
    if (message.isError == errors)
      llvm::outs() << message.code << ": " << oneLine(message.text) << "\n";
}

} // namespace

constexpr const char *failureLine = "ATC run failed, Please check the detail log, Try 'atc --help' "
                                    "for more information\n";

int main(int argc, char **argv) {
  atc::endInOrder("atc");
  installFatalErrorHandlers(/*descriptor=*/1, failureLine);
  llvm::ArrayRef<const char *> arguments(argv + 1, argv + argc);
  Diagnostics diagnostics;
  FlagValues flags = parseFlags(arguments, diagnostics);
  if (flags.help) {
    printHelp(llvm::outs());
    return finishStandardOutput(0);
  }
  if (flags.version) {
    llvm::outs() << "atc " << om_version() << "\n";
    return finishStandardOutput(0);
  }

  llvm::outs() << "ATC start working now, please wait for a moment.\n";
  llvm::outs().flush();
  AtcOptions options = buildOptions(flags, diagnostics);
  print(diagnostics, /*errors=*/false);
  size_t shown = diagnostics.all().size();
  llvm::outs().flush();
  limitMemory(options.maxMemory);
  if (!diagnostics.hasErrors())
    run(options, recordedCommand(flags), diagnostics);
  for (const CodedMessage &message : diagnostics.all().drop_front(shown))
    if (!message.isError)
      llvm::outs() << message.code << ": " << oneLine(message.text) << "\n";

  if (!diagnostics.hasErrors()) {
    llvm::outs() << "ATC run success, welcome to the next use.\n";
    return finishStandardOutput(0);
  }
  llvm::outs() << failureLine;
  print(diagnostics, /*errors=*/true);
  return finishStandardOutput(1);
}
