//===-- aoe.cpp - tunes the compilation of a model ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "driver/gears/GearCompiler.h"
#include "openatc/om.hpp"
#include "support/Interruption.h"
#include "support/JsonText.h"
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

/// A gear that has been tuned.
struct TunedGear {
  std::string name;
  nlohmann::ordered_json report;
  double before = 0, after = 0; ///< cycles
};

/// Searches for the choices of a gear, and adds them to the bank and to `known`. Returns nothing
/// after an error.
std::optional<TunedGear> tuneGear(const AoeOptions &options, size_t gear,
                                  const tuning::Budget &budget, tuning::Choices &known,
                                  Diagnostics &diagnostics) {
  TunedGear tuned;
  tuned.name = options.compile.gears->nameOf(gear);
  driver::CompilerOptions compiler = options.compile.compiler;
  compiler.source.inputShapes = options.compile.gears->shapesOf(gear);
  const tuning::TrialRunner runner(std::move(compiler));
  tuning::Search::Listener listener;
  listener.progress = [&](const std::string &line) {
    print(stdout, "gear %s: %s\n", tuned.name.c_str(), line.c_str());
    std::fflush(stdout);
  };
  listener.improved = [&](const tuning::Search &search) {
    if (!diagnostics.hasErrors())
      writeTuned(options, search, diagnostics);
  };
  tuning::Search search(runner, budget, listener);
  if (!search.run(known)) {
    for (CodedMessage message : search.untuned().messages) {
      message.text = "gear " + tuned.name + ": " + message.text;
      diagnostics.add(message);
    }
    return std::nullopt;
  }
  if (diagnostics.hasErrors())
    return std::nullopt;
  tuned.before = search.untuned().cycles;
  tuned.after = search.best().cycles;
  tuned.report = aoeReport(options, search);
  print(stdout, "gear %s: %.4f ms untuned, %.4f ms tuned (%.3f x), after %llu trials in %.0f s\n",
        tuned.name.c_str(), search.untuned().milliseconds, search.best().milliseconds,
        tuned.before / tuned.after, static_cast<unsigned long long>(search.trials()),
        search.seconds());
  for (const auto &[key, choice] : search.tuned())
    known[key] = choice;
  return tuned;
}

/// Tunes the gears of a model one after the other, into one bank: each is compiled as a model of
/// its own. They share the budget.
void tuneGears(const AoeOptions &options, Diagnostics &diagnostics) {
  const driver::GearRequest &request = *options.compile.gears;
  const size_t count = request.gears.size();
  const auto start = std::chrono::steady_clock::now();
  tuning::Choices known = options.known;
  std::vector<TunedGear> gears;
  for (size_t gear = 0; gear < count; ++gear) {
    tuning::Budget budget = options.budget;
    const double used =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    budget.seconds = std::max(1.0, (options.budget.seconds - used) / double(count - gear));
    budget.trials = std::max<uint64_t>(1, options.budget.trials / count);
    std::optional<TunedGear> tuned = tuneGear(options, gear, budget, known, diagnostics);
    if (!tuned)
      return;
    gears.push_back(std::move(*tuned));
  }
  tuning::Bank bank;
  std::string error;
  size_t others = 0;
  if (!tuning::readBank(options.bank, options.target, bank, error))
    return diagnostics.errorLine(error);
  driver::CompilerOptions final = options.compile.compiler;
  final.choices = bank.choicesFor(options.target, tuning::BankPart::All, others);
  // A kernel that several gears have is decided once: what the last of them has found may not be
  // what is best for the others.
  nlohmann::ordered_json report = {{"model", options.compile.compiler.source.path},
                                   {"soc_version", options.target},
                                   {"compiler", om_version()},
                                   {"bank", options.bank},
                                   {"output", options.compile.outputFile},
                                   {"gears", nlohmann::ordered_json::array()}};
  for (size_t gear = 0; gear < count; ++gear) {
    driver::CompilerOptions compiled = options.compile.compiler;
    compiled.source.inputShapes = request.shapesOf(gear);
    const tuning::TrialResult result = tuning::TrialRunner(std::move(compiled))
                                           .run(final.choices, 0, tuning::Launches::AsCompiled);
    if (result.done && result.cycles > gears[gear].after)
      diagnostics.warning("W10055", "gear " + gears[gear].name + " takes " +
                                        std::to_string(uint64_t(result.cycles)) +
                                        " cycles and not the " +
                                        std::to_string(uint64_t(gears[gear].after)) +
                                        " of the search: another gear has the same kernel and "
                                        "has decided otherwise");
    nlohmann::ordered_json own = {{"gear", gears[gear].name}, {"file_cycles", result.cycles}};
    own.update(gears[gear].report);
    report["gears"].push_back(std::move(own));
  }
  driver::GearCompiler compiler(std::move(final), request, diagnostics);
  if (!compiler.emitFile(options.compile.outputFile))
    return;
  if (!writeWholeFile(options.report, jsonText(report), error))
    return diagnostics.errorLine(error);
  print(stdout, "bank: %s\nreport: %s\nmodel: %s\n",
        tuning::bankFile(options.bank, options.target).c_str(), options.report.c_str(),
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
  if (options.compile.gears)
    return tuneGears(options, diagnostics);
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
  if (!writeWholeFile(options.report, jsonText(aoeReport(options, search)), error))
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
