//===-- atc.cpp - the model compiler --------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "openatc/om.h"
#include "quantize/Compression.h"
#include "support/OneLine.h"
#include "tools/atc/Options.h"
#include "tools/atc/ShowModel.h"
#include "tools/common/ProgressBar.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/ToolOutputFile.h"

#include <fstream>
#include <nlohmann/json.hpp>

using namespace atc;
using namespace atc::tools;
using driver::CompileSummary;
using Json = nlohmann::ordered_json;

namespace {

/// As a shell would take it again.
std::string quoted(llvm::StringRef word) {
  constexpr const char *plain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
                                "_-+=./:,@%";
  if (!word.empty() && word.find_first_not_of(plain) == llvm::StringRef::npos)
    return word.str();
  std::string text = "'";
  for (char c : word)
    text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

Json summaryJson(const AtcOptions &options, const CompileSummary &summary) {
  Json out = {{"model", options.compiler.source.path},
              {"output", options.outputFile},
              {"file_bytes", summary.fileBytes},
              {"weights_bytes", summary.weightsBytes},
              {"arena_bytes", summary.arenaBytes},
              {"arena_lower_bound", summary.arenaLowerBound},
              {"intermediate_bytes", summary.intermediateBytes},
              {"launches", summary.launches},
              {"kernels", summary.kernels},
              {"seconds", summary.timer.total()},
              {"peak_memory_bytes", driver::peakMemory()}};
  out["images"] = out["stages"] = Json::array();
  for (auto &[level, bytes] : summary.images)
    out["images"].push_back({{"level", level}, {"code_bytes", bytes}});
  for (const driver::StageTimer::Stage &stage : summary.timer.stages())
    out["stages"].push_back(
        {{"name", stage.name}, {"seconds", stage.seconds}, {"peak_memory_bytes", stage.peak}});
  return out;
}

void writeText(const std::string &path, const std::string &text, const char *flag,
               Diagnostics &diagnostics) {
  if (path == "-") {
    llvm::outs() << text << "\n";
    return;
  }
  std::ofstream file(path);
  file << text << "\n";
  if (!file.flush())
    diagnostics.error("E13004", "the file \"" + path + "\" of " + flag + " cannot be written");
}

/// Writes a module with all its constants.
void writeModule(mlir::ModuleOp module, const std::string &path, Diagnostics &diagnostics) {
  std::error_code code;
  llvm::ToolOutputFile file(path, code, llvm::sys::fs::OF_None);
  if (!code) {
    // The verifier does not know the calls of compiled static regions.
    module.print(file.os(), mlir::OpPrintingFlags().assumeVerified());
    file.os().flush();
    code = file.os().error();
    file.os().clear_error();
  }
  if (code)
    diagnostics.error("E13004", "the file \"" + path + "\" cannot be written: " + code.message());
  else
    file.keep();
}

void compile(const AtcOptions &options, const std::string &commandLine, Diagnostics &diagnostics) {
  driver::CompilerOptions compilerOptions = options.compiler;
  compilerOptions.commandLine = commandLine;
  ProgressBar bar("calibrating", stderr);
  if (!options.compressionConf.empty())
    compilerOptions.quantizer =
        quantize::makeQuantizer(options.compressionConf, options.compiler.source,
                                [&](size_t done, size_t all) { bar.update(done, all); });
  auto context = driver::makeCompilerContext();
  driver::Compiler compiler(*context, std::move(compilerOptions), diagnostics);
  if (options.stopAfter == driver::Phase::Emit)
    compiler.emitFile(options.outputFile);
  else if (compiler.lower(options.stopAfter))
    writeModule(compiler.module(), options.outputFile, diagnostics);
  const CompileSummary &summary = compiler.summary();
  if (options.verbose)
    summary.timer.print(llvm::outs());
  if (!diagnostics.hasErrors() && !options.json.empty())
    writeText(options.json,
              summaryJson(options, summary).dump(2, ' ', false, Json::error_handler_t::replace),
              "--json", diagnostics);
}

void check(const AtcOptions &options, Diagnostics &diagnostics) {
  auto context = driver::makeCompilerContext();
  driver::Compiler(*context, options.compiler, diagnostics).lower(driver::Phase::Import);
  Json report = {{"model", options.compiler.source.path},
                 {"result", diagnostics.hasErrors() ? "failed" : "success"}};
  report["messages"] = Json::array();
  for (const CodedMessage &message : diagnostics.all())
    report["messages"].push_back({{"code", message.code}, {"text", message.text}});
  writeText(options.checkReport, report.dump(2, ' ', false, Json::error_handler_t::replace),
            "--check_report", diagnostics);
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

int main(int argc, char **argv) {
  llvm::ArrayRef<const char *> arguments(argv + 1, argv + argc);
  Diagnostics diagnostics;
  FlagValues flags = parseFlags(arguments, diagnostics);
  if (flags.help) {
    printHelp(llvm::outs());
    return 0;
  }
  if (flags.version) {
    llvm::outs() << "atc " << om_version() << "\n";
    return 0;
  }

  llvm::outs() << "ATC start working now, please wait for a moment.\n";
  llvm::outs().flush();
  AtcOptions options = buildOptions(flags, diagnostics);
  std::string commandLine = "atc";
  for (const char *argument : arguments)
    commandLine += " " + quoted(argument);
  print(diagnostics, /*errors=*/false);
  size_t shown = diagnostics.all().size();
  if (!diagnostics.hasErrors())
    run(options, commandLine, diagnostics);
  for (const CodedMessage &message : diagnostics.all().drop_front(shown))
    if (!message.isError)
      llvm::outs() << message.code << ": " << oneLine(message.text) << "\n";

  if (!diagnostics.hasErrors()) {
    llvm::outs() << "ATC run success, welcome to the next use.\n";
    return 0;
  }
  llvm::outs() << "ATC run failed, Please check the detail log, Try 'atc --help' for more "
                  "information\n";
  print(diagnostics, /*errors=*/true);
  return 1;
}
