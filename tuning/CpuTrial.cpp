//===-- CpuTrial.cpp - compiles for the CPU with choices and measures -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tuning/CpuTrial.h"

#include "dialects/cpu/Cpu.h"
#include "dialects/cpu/FloatWinograd.h"
#include "dialects/graph/ops/HostOps.h"
#include "driver/ContextMessages.h"
#include "passes/om/Schedule.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <set>

using namespace mlir;

namespace atc::tuning {

namespace {

using Clock = std::chrono::steady_clock;

double secondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// The keys and choices of a compilation, and the nodes that each is about.
class DecisionLog {
public:
  /// Reads a remark `analysis: pass: 'node': the choice is "..." for the key "..."`.
  void take(StringRef line) {
    auto [head, tail] = line.split("the choice is \"");
    auto [choice, rest] = tail.split("\" for the key \"");
    if (rest.empty())
      return;
    const StringRef node = head.split(": ").second.split(": ").second; // as nodeOf writes it
    Entry &entry = entries[rest.take_front(rest.rfind('"')).str()];
    entry.choice = choice.str();
    entry.nodes.insert(node.str());
  }

  /// Returns the decisions with their launches. A kernel that several nodes share has the name of
  /// one of them: all launches of its function are meant.
  std::vector<CpuDecision> resolve(ModuleOp module) const {
    SymbolTable symbols(module);
    std::map<std::string, std::set<StringRef>> kernelsOf; // by node
    llvm::StringMap<std::vector<uint32_t>> launchesOf;    // by kernel
    uint32_t number = 0;
    om::findMain(module).walk([&](om::LaunchOp launch) {
      const StringRef kernel = launch.getKernel();
      launchesOf[kernel].push_back(number++);
      if (isTunable(symbols.lookup(kernel)))
        kernelsOf[driver::nodeOf(launch.getLoc())].insert(kernel);
    });
    std::vector<CpuDecision> decisions;
    for (const auto &[key, entry] : entries) {
      std::set<uint32_t> launches;
      for (const std::string &node : entry.nodes)
        if (auto found = kernelsOf.find(node); found != kernelsOf.end())
          for (StringRef kernel : found->second)
            launches.insert(launchesOf[kernel].begin(), launchesOf[kernel].end());
      if (!launches.empty())
        decisions.push_back({key, entry.choice, {launches.begin(), launches.end()}});
    }
    return decisions;
  }

private:
  static bool isTunable(Operation *kernel) {
    bool isAny = false;
    if (kernel)
      kernel->walk([&](Operation *op) {
        isAny |= isa<cpu::Conv2DOp, cpu::FloatWinogradOp, cpu::MatMulOp>(op);
      });
    return isAny;
  }

  struct Entry {
    std::string choice;
    std::set<std::string> nodes;
  };
  std::map<std::string, Entry> entries;
};

bool hasHostKernels(ModuleOp module) {
  bool isAny = !om::findMain(module);
  module.walk([&](Operation *op) { isAny |= isa<graph::HostCallOp, om::RunRegionOp>(op); });
  return isAny;
}

} // namespace

double CpuTimes::median() const {
  std::vector<double> sorted = runs;
  if (sorted.empty())
    return 0;
  std::nth_element(sorted.begin(), sorted.begin() + long(sorted.size() / 2), sorted.end());
  return sorted[sorted.size() / 2];
}

double CpuTimes::of(const CpuDecision &decision) const {
  double sum = 0;
  for (uint32_t launch : decision.launches)
    sum += launch < launches.size() ? launches[launch] : 0;
  return sum;
}

const CpuDecision *CpuProgram::find(const std::string &key) const {
  auto found = llvm::lower_bound(
      made, key, [](const CpuDecision &d, const std::string &k) { return d.key < k; });
  return found != made.end() && found->key == key ? &*found : nullptr;
}

std::unique_ptr<CpuProgram> CpuProgram::build(driver::CompilerOptions options,
                                              const Choices &choices, unsigned threads,
                                              Diagnostics &diagnostics) {
  DecisionLog log;
  options.choices = choices;
  options.remarks = {};
  options.remarks.analysis = true;
  options.remarks.sink = [&](const std::string &line) { log.take(line); };
  auto context = driver::makeCompilerContext();
  driver::Compiler compiler(*context, std::move(options), diagnostics);
  if (!compiler.lower(driver::Phase::Programs))
    return nullptr;
  if (hasHostKernels(compiler.module())) {
    diagnostics.error("E10055", "the model cannot be tuned for the CPU: parts of it are kernels "
                                "that serve all shapes, which have no choices; give all shapes "
                                "with --input_shape, or cut it with --out_nodes");
    return nullptr;
  }
  auto program = std::make_unique<CpuProgram>();
  om::findMain(compiler.module()).walk([&](om::LaunchOp) { ++program->launches; });
  std::optional<::om::Buffer> file = compiler.emitBytes();
  if (!file)
    return nullptr;
  program->made = log.resolve(compiler.module());
  program->file = std::move(*file);
  ::om::Error error;
  program->model = ::om::Model::loadMemory(program->file.data(), program->file.size(), error);
  om_session_options sessionOptions = OM_SESSION_OPTIONS_INIT;
  sessionOptions.threads = threads;
  if (program->model)
    program->session = ::om::Session(program->model, error, sessionOptions);
  if (!program->session) {
    diagnostics.error("E19999",
                      std::string("the compiled model cannot be run here: ") + error.message());
    return nullptr;
  }
  for (const ::om::Tensor &tensor : program->model.inputs())
    if (!tensor.fixed()) {
      diagnostics.error("E10055", "the model cannot be tuned: input '" + tensor.name +
                                      "' has dims of any size; give the sizes that are used most "
                                      "with --input_shape");
      return nullptr;
    }
  for (const ::om::Tensor &tensor : program->model.inputs())
    program->inputs.push_back(program->buffers.emplace_back(tensor.bytes).data());
  for (const ::om::Tensor &tensor : program->model.outputs())
    program->outputs.push_back(program->buffers.emplace_back(tensor.bytes).data());
  return program;
}

bool CpuProgram::run(CpuTimes &times, std::string &error) {
  ::om::Error runError;
  om_session_set_profile(session.get(), 1);
  if (!session.run(inputs.data(), outputs.data(), runError)) {
    error =
        codedLine("E19999", std::string("the compiled model cannot be run: ") + runError.message());
    return false;
  }
  const bool isFirst = times.launches.empty();
  double sum = 0;
  for (uint32_t i = 0; i < launches; ++i) {
    uint64_t nanoseconds = 0, runs = 0;
    om_session_get_profile(session.get(), i, &nanoseconds, &runs);
    sum += double(nanoseconds);
    if (isFirst)
      times.launches.push_back(double(nanoseconds));
    else
      times.launches[i] = std::min(times.launches[i], double(nanoseconds));
  }
  times.runs.push_back(sum);
  return true;
}

bool runInTurn(const std::vector<CpuProgram *> &programs, unsigned minRuns, double seconds,
               std::vector<CpuTimes> &times, std::string &error) {
  times.assign(programs.size(), {});
  // The first run reads the weights from the file's memory.
  for (CpuProgram *program : programs) {
    CpuTimes cold;
    if (!program->run(cold, error))
      return false;
  }
  const Clock::time_point start = Clock::now();
  for (unsigned run = 0; run < minRuns || secondsSince(start) < seconds; ++run)
    for (size_t i = 0; i < programs.size(); ++i)
      if (!programs[i]->run(times[i], error))
        return false;
  return true;
}

} // namespace atc::tuning
