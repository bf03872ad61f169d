//===-- fuzz-random-graphs.cpp - every way to compute a graph agrees ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   fuzz-random-graphs [--graphs N] [--seed S] [--first I] [--limit SECONDS] [--save FOLDER]
//
// Compiles random graphs for a CPU level, for an NPU, and with a dynamic batch, runs them, and
// compares the results with those of the reference interpreter. Graph I of a seed is the same
// wherever it runs, and so is the way that it takes: I modulo the number of ways.

#include "driver/Compiler.h"
#include "driver/Interpretation.h"
#include "driver/targets/MakeTarget.h"
#include "openatc/npu.h"
#include "test/fuzz/RandomGraph.h"
#include "test/fuzz/WatchedChild.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>

using namespace atc;
using namespace atc::fuzz;

namespace {

struct Options {
  uint64_t graphs = 100, seed = 1, first = 0;
  unsigned limit = 60;
  std::string folder = "."; ///< for graphs that fail
};

/// A way to compute a graph. The tolerance is relative to the largest element of a result.
struct Way {
  const char *name;
  driver::TargetRequest request;
  bool dynamicBatch;
  double tolerance;
};

std::vector<Way> allWays() {
  std::vector<Way> ways;
  for (const char *level : {"x86-64-v2", "x86-64-v3", "host"}) {
    driver::TargetRequest cpu;
    cpu.target = "cpu";
    cpu.cpuLevels = level;
    ways.push_back({level, cpu, false, 1e-4});
  }
  driver::TargetRequest dynamic;
  dynamic.target = "cpu";
  ways.push_back({"dynamic", dynamic, true, 1e-4});
  for (const char *soc : {"Ascend310P3", "Ascend910B1"}) {
    driver::TargetRequest npu;
    npu.target = "npu";
    npu.soc = soc;
    npu.cpuLevels = "x86-64-v3";
    ways.push_back({soc, npu, false, 5e-2});
  }
  return ways;
}

/// Memory that the calling process shares with the process that monitors it.
struct Progress {
  uint64_t next; ///< the graph that is computed
  uint64_t same, refused, different;
  double worst; ///< error of all results that agree, as a part of what is tolerated
};

using Inputs = std::vector<std::vector<float>>;
using Results = std::vector<std::vector<float>>;

std::string messagesOf(const Diagnostics &diagnostics) {
  std::string text;
  llvm::raw_string_ostream os(text);
  diagnostics.print(os);
  return text;
}

driver::CompilerOptions optionsOf(const RandomGraph &graph, const driver::TargetRequest &request,
                                  Diagnostics &diagnostics) {
  driver::CompilerOptions options;
  options.source.path = "random.onnx";
  options.source.bytes = graph.bytes;
  options.target = driver::makeTarget(request, diagnostics);
  options.limits.threads = 1;
  options.commandLine = "fuzz-random-graphs";
  if (!options.target)
    std::abort();
  return options;
}

/// Returns the results of the reference interpreter; nothing after an error, which is printed.
std::optional<Results> interpret(const RandomGraph &graph, const Inputs &inputs) {
  Diagnostics diagnostics;
  auto context = driver::makeCompilerContext();
  driver::TargetRequest cpu;
  cpu.target = "cpu";
  cpu.cpuLevels = "x86-64-v2";
  driver::Compiler compiler(*context, optionsOf(graph, cpu, diagnostics), diagnostics);
  if (!compiler.lower(driver::Phase::Import)) {
    std::printf("%s", messagesOf(diagnostics).c_str());
    return std::nullopt;
  }
  mlir::func::FuncOp main = driver::findInterpretable(compiler.module());
  llvm::SmallVector<graph::Tensor> arguments;
  for (size_t i = 0; i < inputs.size(); ++i)
    arguments.push_back(graph::Tensor::copyOf<float>(
        llvm::cast<mlir::RankedTensorType>(main.getArgumentTypes()[i]), inputs[i]));
  auto results = graph::evaluateFunction(main, arguments);
  if (mlir::failed(results))
    return std::nullopt;
  Results values;
  for (const graph::Tensor &tensor : *results)
    values.emplace_back(tensor.as<float>().begin(), tensor.as<float>().end());
  return values;
}

/// Returns the results of the compiled graph; nothing after an error, which is printed.
std::optional<Results> compute(const RandomGraph &graph, const Way &way, const Inputs &inputs) {
  Diagnostics diagnostics;
  auto context = driver::makeCompilerContext();
  driver::Compiler compiler(*context, optionsOf(graph, way.request, diagnostics), diagnostics);
  std::optional<::om::Buffer> bytes = compiler.emitBytes();
  auto fail = [](const std::string &text) {
    std::printf("%s\n", text.c_str());
    return std::nullopt;
  };
  if (!bytes)
    return fail(messagesOf(diagnostics));
  ::om::Error error;
  ::om::Model model = ::om::Model::loadMemory(bytes->data(), bytes->size(), error);
  if (!model)
    return fail(error.message());
  struct Npu {
    ~Npu() { om_npu_free(handle); }
    om_npu *handle = nullptr;
  } npu;
  om_session_options options = OM_SESSION_OPTIONS_INIT;
  options.threads = 2;
  if (model.info().npu_launches) {
    om_npu_options npuOptions = OM_NPU_OPTIONS_INIT;
    npuOptions.timed = 0;
    npuOptions.check_hazards = 1;
    npuOptions.threads = 1;
    if (om_npu_simulator(&npuOptions, &npu.handle, &error.c) != OM_OK)
      return fail(error.message());
    options.device = om_npu_device(npu.handle);
  }
  std::vector<::om::Value> outputs;
  {
    ::om::Session session(model, error, options);
    if (!session)
      return fail(error.message());
    std::vector<::om::Value> values;
    for (size_t i = 0; i < inputs.size(); ++i)
      values.push_back(::om::Value::tensor(OM_F32, graph.inputs[i], inputs[i].data(), error));
    outputs = session.run(values, error);
  }
  if (outputs.empty())
    return fail(error.message());
  if (npu.handle && *om_npu_text(npu.handle, OM_NPU_HAZARDS))
    return fail(om_npu_text(npu.handle, OM_NPU_HAZARDS));
  Results results;
  for (const ::om::Value &output : outputs)
    results.emplace_back(output.data<float>(), output.data<float>() + output.size());
  return results;
}

/// Returns the largest error as a part of what is tolerated; above 1 for results that differ.
double compare(const Results &wanted, const Results &got, double tolerance) {
  if (wanted.size() != got.size())
    return INFINITY;
  double worst = 0;
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (wanted[i].size() != got[i].size())
      return INFINITY;
    double scale = 1;
    for (float value : wanted[i])
      if (std::isfinite(value))
        scale = std::max(scale, std::fabs(double(value)));
    for (size_t k = 0; k < wanted[i].size(); ++k) {
      const double error = std::fabs(double(wanted[i][k]) - double(got[i][k]));
      // What float16 cannot hold says nothing about the order of the computations.
      const bool isBeyond = !std::isfinite(wanted[i][k]) || (tolerance > 1e-2 && scale > 1e3);
      if (!isBeyond)
        worst = std::max(worst, std::isnan(error) ? INFINITY : error / (scale * tolerance));
    }
  }
  return worst;
}

void tryGraph(const Options &options, const std::vector<Way> &ways, uint64_t index,
              Progress &progress) {
  const Way &way = ways[index % ways.size()];
  const uint64_t seed = options.seed * 0x100000001B3u + index;
  const RandomGraph fixed = makeRandomGraph(seed, false);
  const RandomGraph graph = way.dynamicBatch ? makeRandomGraph(seed, true) : fixed;
  Inputs inputs;
  for (size_t i = 0; i < graph.inputs.size(); ++i) {
    int64_t count = 1;
    for (int64_t dim : graph.inputs[i])
      count *= dim;
    inputs.push_back(makeRandomValues(seed + i, count));
  }
  const std::optional<Results> wanted = interpret(fixed, inputs);
  const std::optional<Results> got = wanted ? compute(graph, way, inputs) : std::nullopt;
  const double error = got ? compare(*wanted, *got, way.tolerance) : INFINITY;
  if (error <= 1) {
    ++progress.same;
    progress.worst = std::max(progress.worst, error);
    return;
  }
  ++(got ? progress.different : progress.refused);
  const std::string path = options.folder + "/random-" + std::to_string(options.seed) + "-" +
                           std::to_string(index) + ".onnx";
  std::ofstream(path, std::ios::binary) << graph.bytes;
  std::printf("%s (%s): --seed %llu --first %llu --graphs 1, error %.3g of what is tolerated; %s\n",
              got ? "different" : "refused", way.name,
              static_cast<unsigned long long>(options.seed), static_cast<unsigned long long>(index),
              error, path.c_str());
  std::fflush(stdout);
}

} // namespace

int main(int argc, char **argv) {
  Options options;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string flag = argv[i];
    const uint64_t number = std::strtoull(argv[i + 1], nullptr, 0);
    if (flag == "--graphs")
      options.graphs = number;
    else if (flag == "--seed")
      options.seed = number;
    else if (flag == "--first")
      options.first = number;
    else if (flag == "--limit")
      options.limit = unsigned(number);
    else if (flag == "--save")
      options.folder = argv[i + 1];
  }
  const std::vector<Way> ways = allWays();
  void *shared = sharedMemory(sizeof(Progress));
  if (!shared)
    return 2;
  Progress &progress = *static_cast<Progress *>(shared);
  progress.next = options.first;
  uint64_t crashes = 0;
  auto failed = [&](uint64_t index, bool hung) {
    std::printf("%s (%s): --seed %llu --first %llu --graphs 1\n",
                hung ? "longer than the limit" : "crash", ways[index % ways.size()].name,
                static_cast<unsigned long long>(options.seed),
                static_cast<unsigned long long>(index));
    ++crashes;
  };
  if (!runWatched(
          progress.next, options.first + options.graphs, options.limit,
          [&](uint64_t index) { tryGraph(options, ways, index, progress); }, failed))
    return 2;
  auto number = [](uint64_t value) { return static_cast<unsigned long long>(value); };
  std::printf("random-graphs: %llu graphs of %zu ways, %llu same, %llu refused, %llu different, "
              "worst error %.2f of what is tolerated, %llu findings\n",
              number(options.graphs), ways.size(), number(progress.same), number(progress.refused),
              number(progress.different), progress.worst,
              number(crashes + progress.refused + progress.different));
  return crashes || progress.refused || progress.different;
}
