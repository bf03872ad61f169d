//===-- atc.cpp - the model compiler --------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "backends/om/PendingFile.h"
#include "driver/SummaryText.h"
#include "driver/gears/GearCompiler.h"
#include "driver/shard/ShardCompiler.h"
#include "driver/training/TrainingStep.h"
#include "openatc/om.h"
#include "quantize/Compression.h"
#include "support/JsonText.h"
#include "support/OutputStream.h"
#include "tools/atc/AutoTarget.h"
#include "tools/atc/GraphJson.h"
#include "tools/atc/GraphOptionsFile.h"
#include "tools/atc/ObjectFile.h"
#include "tools/atc/Options.h"
#include "tools/atc/PassPlugins.h"
#include "tools/atc/RunAtc.h"
#include "tools/atc/ShowModel.h"
#include "tools/atc/SingleOps.h"
#include "tools/common/FatalErrors.h"
#include "tools/common/OptionTable.h"
#include "tools/common/OutputFolder.h"
#include "tools/common/ProgressBar.h"
#include "tools/common/ShownMessages.h"

#include <nlohmann/json.hpp>

#include "llvm/Support/FileSystem.h"

#include <sys/resource.h>

using namespace atc;
using namespace atc::tools;
using driver::CompileSummary;
using Json = nlohmann::ordered_json;

namespace {

Json placementJson(const driver::Placement &placement) {
  auto work = [](const driver::PlacedWork &side) {
    return Json{{"kernels", side.kernels}, {"macs", side.macs}, {"bytes", side.bytes}};
  };
  Json out = {{"npu", work(placement.npu)},
              {"cpu", work(placement.host)},
              {"switches", placement.switches},
              {"copied_bytes", placement.copiedBytes},
              {"cpu_layers", Json::array()}};
  for (const driver::HostLayer &layer : placement.hostLayers)
    out["cpu_layers"].push_back({{"name", layer.name},
                                 {"kernel", layer.kernel},
                                 {"macs", layer.macs ? Json(*layer.macs) : Json()},
                                 {"bytes", layer.bytes},
                                 {"why", layer.why}});
  return out;
}

Json summaryJson(const AtcOptions &options, const CompileSummary &summary,
                 const std::optional<tuning::AutoPlacement> &chosen) {
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
  if (summary.hostStateBytes)
    out["host_state_bytes"] = summary.hostStateBytes;
  if (summary.placement)
    out["placement"] = placementJson(*summary.placement);
  if (!summary.largestGear.empty())
    out["placement"]["gear"] = summary.largestGear;
  if (chosen)
    out["auto"] = autoJson(*chosen);
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
    llvm::outs() << text;
    return;
  }
  if (!makeFolderOf(path, flag, diagnostics))
    return;
  OutputFile file(path);
  if (!file.write(text) || !file.commit())
    diagnostics.error("E13004", "the file \"" + path + "\" of " + flag +
                                    " cannot be written: " + file.reason());
}

/// Reports a report that would take the place of the model or of the compiled file. Returns whether
/// there is an error.
bool replacesFiles(const AtcOptions &options, const std::string &path, const char *flag,
                   Diagnostics &diagnostics) {
  for (const std::string &other : {options.compiler.source.path, options.outputFile}) {
    if (path.empty() || other.empty() || (path != other && !llvm::sys::fs::equivalent(path, other)))
      continue;
    diagnostics.error("E13004", "the file \"" + path + "\" of " + flag +
                                    " cannot be written: it is the model or the compiled file; "
                                    "give it another name");
    return true;
  }
  return false;
}

/// Commits the compiled files under their names and writes the summary, or none of them where one
/// cannot be written.
void writeResults(std::vector<OutputFile> files, const std::string &summaryPath,
                  const std::string &summary, Diagnostics &diagnostics) {
  const bool isPrinted = summaryPath == "-";
  if (!summaryPath.empty() && !isPrinted) {
    if (!makeFolderOf(summaryPath, "--json", diagnostics))
      return;
    OutputFile &file = files.emplace_back(summaryPath);
    if (!file.write(summary))
      return diagnostics.errorLine(file.errorLine());
  }
  if (!commitAll(files)) {
    for (const OutputFile &file : files)
      if (file.hasFailed())
        diagnostics.errorLine(file.errorLine());
  } else if (isPrinted) {
    llvm::outs() << summary;
  }
}

/// Lets the process hold a file per rank open until all of them get their names.
void allowManyFiles() {
  rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
  }
}

/// Writes a module with all its constants.
void writeModule(mlir::ModuleOp module, const std::string &path, Diagnostics &diagnostics) {
  std::string error;
  auto print = [&](llvm::raw_ostream &os) { module.print(os); };
  if (!writeStream(path, print, error))
    diagnostics.errorLine(error);
}

/// Makes the training step that --train asks for, and adds the first values of its states to the
/// options of its compilation. Returns null after an error.
mlir::OwningOpRef<mlir::ModuleOp> makeStep(const driver::TrainingOptions &training,
                                           mlir::MLIRContext &context,
                                           driver::CompilerOptions &compiler,
                                           Diagnostics &diagnostics) {
  driver::ContextMessages messages(context, diagnostics);
  driver::TrainingStep step =
      driver::makeTrainingStep(compiler.source, training, context, messages, diagnostics);
  if (step.module)
    compiler.initialStates = std::make_shared<const std::vector<atc::om::InitialState>>(
        driver::initialStates(step, training));
  return std::move(step.module);
}

/// Gives the files of a compilation their names and prints what it has decided. `chosen` is the
/// placement of --target=auto.
void finish(const AtcOptions &options, const CompileSummary &summary,
            const std::optional<tuning::AutoPlacement> &chosen, std::vector<OutputFile> made,
            Diagnostics &diagnostics) {
  if (options.verbose)
    summary.timer.print(llvm::outs());
  if (!diagnostics.hasErrors())
    writeResults(std::move(made), options.json,
                 options.json.empty() ? "" : jsonText(summaryJson(options, summary, chosen)),
                 diagnostics);
  if (diagnostics.hasErrors())
    return;
  const bool isWhole = options.stopAfter == driver::Phase::Emit && !options.shards;
  if (options.json != "-") {
    auto print = [](const std::vector<std::string> &lines) {
      for (const std::string &line : lines)
        llvm::outs() << line << "\n";
    };
    if (isWhole)
      print(driver::describeSummary(summary, options.outputFile));
    if (chosen)
      print(describeAuto(*chosen));
    if (!summary.largestGear.empty())
      llvm::outs() << "Gear " << summary.largestGear << ", which has the most work:\n";
    if (summary.placement)
      print(driver::describe(*summary.placement));
  }
  if (options.showModel && isWhole)
    showModel(options.outputFile, llvm::outs(), diagnostics);
}

void compile(const AtcOptions &options, const std::string &commandLine, Diagnostics &diagnostics) {
  if (replacesFiles(options, options.json, "--json", diagnostics) ||
      !makeFolderOf(options.outputFile, "--output", diagnostics))
    return;
  driver::CompilerOptions compilerOptions = options.compiler;
  compilerOptions.commandLine = commandLine;
  ProgressBar bar("calibrating", stderr);
  StageLine progress(stderr);
  compilerOptions.onStage = [&](llvm::StringRef stage) { progress.show(stage.str()); };
  if (!options.compressionConf.empty())
    compilerOptions.quantizer =
        quantize::makeQuantizer(options.compressionConf, options.compiler.source,
                                [&](size_t done, size_t all) { bar.update(done, all); });
  std::optional<tuning::AutoPlacement> chosen;
  if (options.autoTarget) {
    chosen = tuning::placeByCost(compilerOptions, *options.autoTarget, diagnostics);
    if (!chosen)
      return;
    // The file is made with what the user asks for beside the placement.
    compilerOptions.target = chosen->best().options.target;
    compilerOptions.source = chosen->best().options.source;
    compilerOptions.disabledPasses = chosen->best().options.disabledPasses;
  }
  std::vector<OutputFile> made; // what the command leaves, without names
  auto end = [&](const CompileSummary &summary) {
    progress.clear();
    finish(options, summary, chosen, std::move(made), diagnostics);
  };
  auto emit = [&](auto &compiler) {
    if (options.emitsObject) {
      if (std::optional<::om::Buffer> file = compiler.emitBytes())
        writeObject(*file, options.outputFile, made, diagnostics);
    } else if (atc::om::PendingFile file(options.outputFile); compiler.emit(file)) {
      made.push_back(file.take());
    }
  };
  if (options.gears) {
    driver::GearCompiler compiler(std::move(compilerOptions), *options.gears, diagnostics);
    emit(compiler);
    return end(compiler.summary());
  }
  if (options.shards) {
    driver::ShardCompiler compiler(std::move(compilerOptions), *options.shards, diagnostics);
    const llvm::StringRef stem = llvm::StringRef(options.outputFile).drop_back(strlen(".om"));
    allowManyFiles();
    if (compiler.emitFiles(stem.str()))
      made = compiler.takeFiles();
    return end(compiler.summary());
  }
  auto context = driver::makeCompilerContext();
  mlir::OwningOpRef<mlir::ModuleOp> step;
  if (options.training) {
    step = makeStep(*options.training, *context, compilerOptions, diagnostics);
    if (!step)
      return;
  }
  driver::Compiler compiler(*context, std::move(compilerOptions), diagnostics);
  if (step)
    compiler.setModule(std::move(step));
  if (options.stopAfter == driver::Phase::Emit)
    emit(compiler);
  else if (compiler.lower(options.stopAfter))
    writeModule(compiler.module(), options.outputFile, diagnostics);
  end(compiler.summary());
}

void check(const AtcOptions &options, Diagnostics &diagnostics) {
  if (replacesFiles(options, options.checkReport, "--check_report", diagnostics))
    return;
  auto context = driver::makeCompilerContext();
  driver::Compiler(*context, options.compiler, diagnostics).lower(driver::Phase::Import);
  Json report = {{"model", options.compiler.source.path},
                 {"result", diagnostics.hasErrors() ? "failed" : "success"}};
  report["messages"] = Json::array();
  for (const CodedMessage &message : diagnostics.all())
    report["messages"].push_back({{"code", message.code}, {"text", message.text}});
  writeText(options.checkReport, jsonText(report), "--check_report", diagnostics);
}

/// Writes a graph unless there was an error.
void writeGraph(const Json &graph, const std::string &path, Diagnostics &diagnostics) {
  if (!diagnostics.hasErrors())
    writeText(path, jsonText(graph), "--json", diagnostics);
}

void run(const AtcOptions &options, const FlagValues &flags, Diagnostics &diagnostics) {
  switch (options.mode) {
  case Mode::Compile:
    return compile(options, recordedCommand(flags), diagnostics);
  case Mode::Check:
    return check(options, diagnostics);
  case Mode::ToJson:
    return writeGraph(options.isModelFile ? describeModelFile(options.compiler.source, diagnostics)
                                          : describeOmFile(options.om, diagnostics),
                      options.json, diagnostics);
  case Mode::DumpToJson:
    return writeGraph(describeTextMessage(options.om, diagnostics), options.json, diagnostics);
  case Mode::SingleOps:
    return compileSingleOps(options, flags, diagnostics);
  case Mode::ShowModel:
    return showModel(options.om, llvm::outs(), diagnostics);
  }
}

void print(llvm::ArrayRef<CodedMessage> messages, bool errors) {
  forEachShown(messages, errors, [](const std::string &line) { llvm::outs() << line << "\n"; });
}

} // namespace

constexpr const char *failureLine = "ATC run failed, Please check the detail log, Try 'atc --help' "
                                    "for more information\n";

int atc::tools::runAtc(int argc, char **argv) {
  atc::endInOrder("atc");
  installFatalErrorHandlers(/*descriptor=*/1, failureLine);
  if (wantsOptionTable(argc, argv)) {
    llvm::outs() << optionTableJson(listFlags());
    return finishStandardOutput(0);
  }
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
  addGraphOptions(flags, diagnostics);
  AtcOptions options = buildOptions(flags, diagnostics);
  readUserChanges(flags, options.compiler, diagnostics);
  print(diagnostics.all(), /*errors=*/false);
  size_t shown = diagnostics.all().size();
  llvm::outs().flush();
  limitMemory(options.maxMemory);
  if (!diagnostics.hasErrors())
    run(options, flags, diagnostics);
  print(diagnostics.all().drop_front(shown), /*errors=*/false);

  if (!diagnostics.hasErrors()) {
    llvm::outs() << "ATC run success, welcome to the next use.\n";
    return finishStandardOutput(0);
  }
  llvm::outs() << failureLine;
  print(diagnostics.all(), /*errors=*/true);
  return finishStandardOutput(1);
}
