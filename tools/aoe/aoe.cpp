//===-- aoe.cpp - tunes the compilation of a model ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "openatc/om.hpp"
#include "support/Interruption.h"
#include "support/OutputFile.h"
#include "support/OutputStream.h"
#include "tools/aoe/AoeReport.h"
#include "tools/common/FatalErrors.h"
#include "tools/common/OutputFolder.h"
#include "tools/common/Print.h"
#include "tools/common/ShownMessages.h"
#include "tuning/BankFiles.h"
#include "tuning/ShippedBanks.h"
#include "llvm/Support/Path.h"

#include <fstream>

using namespace atc;
using namespace atc::tools;

namespace {

void printMessages(const Diagnostics &diagnostics) {
  forEachShown(diagnostics.all(),
               [](const std::string &line) { print(stdout, "%s\n", line.c_str()); });
}

/// Replaces what the bank has for the decisions of this model by what the search has found.
bool writeTuned(const AoeOptions &options, const tuning::Search &search, Diagnostics &diagnostics) {
  tuning::Bank bank;
  std::string error;
  if (!tuning::readBank(options.bank, options.target, bank, error)) {
    diagnostics.errorLine(error);
    return false;
  }
  for (const tuning::TrialResult *result : {&search.untuned(), &search.best()})
    for (const tuning::Decision &decision : result->decisions)
      bank.remove(decision.key);
  const std::string model = llvm::sys::path::stem(options.compile.compiler.source.path).str();
  bank.merge(search.bank(model));
  // The bank that comes with the compiler is read after this one: where the tuned model has decided
  // otherwise, this bank must say so.
  const tuning::Bank shipped = tuning::shippedBank(options.target);
  for (const tuning::Decision &decision : search.best().decisions)
    if (shipped.all().count(decision.key) && !bank.all().count(decision.key)) {
      const double cycles = search.kernelTimes().cyclesOf(decision);
      bank.add(decision.key, {decision.choice, om_version(), model, cycles, cycles});
    }
  if (tuning::writeBank(options.bank, options.target, bank, error))
    return true;
  diagnostics.errorLine(error);
  return false;
}

/// Compiles the model with what the bank on the disk says, and checks the time of the file.
bool writeModel(const AoeOptions &options, const tuning::TrialRunner &runner,
                const tuning::Search &search, Diagnostics &diagnostics) {
  tuning::Bank bank;
  std::string error;
  size_t others = 0;
  if (!tuning::readBank(options.bank, options.target, bank, error)) {
    diagnostics.errorLine(error);
    return false;
  }
  const std::string &path = options.compile.outputFile;
  if (!runner.write(bank.choicesFor(options.target, tuning::BankPart::All, others), path,
                    diagnostics))
    return false;
  std::ifstream stream(path, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(stream)),
                          std::istreambuf_iterator<char>());
  ::om::Buffer file(bytes.size());
  std::copy(bytes.begin(), bytes.end(), static_cast<char *>(file.data()));
  tuning::TrialResult result;
  if (!tuning::measureFile(file, result, error)) {
    diagnostics.errorLine(error);
    return false;
  }
  if (result.cycles != search.best().cycles)
    diagnostics.warning("W10055", "the file takes " + std::to_string(result.cycles) +
                                      " cycles and not the " +
                                      std::to_string(search.best().cycles) + " of the search");
  return true;
}

/// Replaces what the bank has for the decisions that were tuned on the CPU, target by target.
bool writeCpuBank(const AoeOptions &options, const tuning::CpuTuning &tuning,
                  Diagnostics &diagnostics) {
  const llvm::StringRef model = llvm::sys::path::stem(options.compile.compiler.source.path);
  tuning::Bank found;
  for (const auto &[key, kept] : tuning.kept)
    found.add(key, {kept.choice, om_version(), model.str(), kept.before, kept.after});
  for (const std::string &target : options.compile.compiler.target->choiceTargets()) {
    tuning::Bank bank;
    std::string error;
    bool isWritten = tuning::readBank(options.bank, target, bank, error);
    for (const auto &entry : options.known)
      bank.remove(entry.first);
    for (const auto &entry : tuning.kept)
      bank.remove(entry.first);
    const bool isFile = llvm::StringRef(options.bank).ends_with(".jsonl");
    bank.merge(isFile ? found : found.only(target));
    isWritten = isWritten && tuning::writeBank(options.bank, target, bank, error);
    if (!isWritten) {
      diagnostics.errorLine(error);
      return false;
    }
  }
  return true;
}

void tuneForCpu(const AoeOptions &options, Diagnostics &diagnostics) {
  auto say = [](const std::string &line) {
    print(stdout, "%s\n", line.c_str());
    std::fflush(stdout);
  };
  const driver::CompilerOptions &compiler = options.compile.compiler;
  const tuning::CpuTuning tuning =
      tuning::tuneCpu(compiler, options.budget, options.known, say, diagnostics);
  if (!tuning.done || !writeCpuBank(options, tuning, diagnostics))
    return;
  driver::CompilerOptions final = compiler;
  for (const auto &[key, kept] : tuning.kept)
    final.choices[key] = kept.choice;
  auto context = driver::makeCompilerContext();
  if (!driver::Compiler(*context, std::move(final), diagnostics)
           .emitFile(options.compile.outputFile))
    return;
  std::string error;
  if (!writeWholeFile(options.report, aoeCpuReport(options, tuning), error))
    return diagnostics.errorLine(error);
  print(stdout,
        "model: %.4f ms untuned, %.4f ms tuned (medians of %llu runs in turn): %.3f x, %zu choices "
        "kept, after %llu trials in %.0f s\n",
        tuning.beforeMs, tuning.afterMs, static_cast<unsigned long long>(tuning.runs),
        tuning.gain(), tuning.kept.size(), static_cast<unsigned long long>(tuning.trials),
        tuning.seconds);
  print(stdout, "bank: %s\nreport: %s\nmodel: %s\n", options.bank.c_str(), options.report.c_str(),
        options.compile.outputFile.c_str());
}

void tune(AoeOptions &options, Diagnostics &diagnostics) {
  if (!makeFolderOf(options.compile.outputFile, "--output", diagnostics) ||
      !makeFolderOf(options.report, "--report", diagnostics))
    return;
  options.compile.compiler.commandLine = recordedCommand(options.flags);
  limitMemory(options.compile.maxMemory);
  if (options.isCpu())
    return tuneForCpu(options, diagnostics);
  const tuning::TrialRunner runner(options.compile.compiler);
  tuning::Search::Listener listener;
  listener.progress = [](const std::string &line) {
    print(stdout, "%s\n", line.c_str());
    std::fflush(stdout);
  };
  // The bank has the best so far whenever a signal ends the tool.
  listener.improved = [&](const tuning::Search &search) {
    if (!diagnostics.hasErrors())
      writeTuned(options, search, diagnostics);
  };
  tuning::Search search(runner, options.budget, listener);
  if (!search.run(options.known)) {
    for (const CodedMessage &message : search.untuned().messages)
      diagnostics.add(message);
    return;
  }
  if (diagnostics.hasErrors() || !writeModel(options, runner, search, diagnostics))
    return;
  std::string error;
  if (!writeWholeFile(options.report, aoeReport(options, search), error))
    return diagnostics.errorLine(error);
  print(stdout,
        "model: %.4f ms untuned, %.4f ms tuned: the time is %.2f %% less (%.3f x), after %llu "
        "trials in "
        "%.0f s\n",
        search.untuned().milliseconds, search.best().milliseconds, improvementPercent(search),
        search.untuned().cycles / search.best().cycles,
        static_cast<unsigned long long>(search.trials()), search.seconds());
  print(stdout, "bank: %s\nreport: %s\nmodel: %s\n",
        tuning::bankFile(options.bank, options.target).c_str(), options.report.c_str(),
        options.compile.outputFile.c_str());
}

/// Merges banks into one, for all targets or for one.
void merge(const AoeOptions &options, Diagnostics &diagnostics) {
  tuning::Bank merged;
  std::vector<std::string> sources = options.mergeFrom;
  sources.push_back(options.bank);
  const bool isFile = llvm::StringRef(options.bank).ends_with(".jsonl");
  if (options.target.empty() && !isFile)
    return diagnostics.error("E10007", "--bank must be a .jsonl file, or --soc_version is required "
                                       "with --merge: it names the file in the folder");
  for (const std::string &source : sources) {
    std::string error;
    tuning::Bank bank;
    if (!tuning::readBank(source, options.target, bank, error))
      return diagnostics.errorLine(error);
    merged.merge(options.target.empty() ? bank : bank.only(options.target));
  }
  std::string error;
  if (!tuning::writeBank(options.bank, options.target, merged, error))
    return diagnostics.errorLine(error);
  print(stdout, "bank: %s with %zu entries\n",
        tuning::bankFile(options.bank, options.target).c_str(), merged.all().size());
}

} // namespace

int main(int argc, char **argv) {
  atc::endInOrder("aoe");
  installFatalErrorHandlers(/*descriptor=*/1, "AOE run failed\n");
  if (wantsOptionTable(argc, argv)) {
    llvm::outs() << optionTableJson(listAoeFlags());
    return finishStandardOutput(0);
  }
  Diagnostics diagnostics;
  AoeOptions options = parseAoe({argv + 1, argv + argc}, diagnostics);
  if (options.help || options.version) {
    if (options.help)
      printAoeHelp(llvm::outs());
    else
      llvm::outs() << "aoe " << om_version() << "\n";
    return finishStandardOutput(0);
  }
  if (!diagnostics.hasErrors())
    options.mergeFrom.empty() ? tune(options, diagnostics) : merge(options, diagnostics);
  printMessages(diagnostics);
  print(stdout, diagnostics.hasErrors() ? "AOE run failed, 'aoe --help' lists the flags\n"
                                        : "AOE run success\n");
  return finishOutput(diagnostics.hasErrors() ? 1 : 0);
}
