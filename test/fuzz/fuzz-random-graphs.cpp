//===-- fuzz-random-graphs.cpp - every way to compute a graph agrees ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   fuzz-random-graphs [--graphs N] [--seed S] [--first I] [--limit SECONDS] [--save FOLDER]
//                      [--emit FOLDER] [--socs A,B] [--jobs N]
//
// Compiles random graphs for a CPU level, for an NPU, and with dynamic dims, runs them, and
// compares the results with those of the reference interpreter. Graph I of a seed is the same
// wherever it runs, and so is the way that it takes: I modulo the number of ways. Half of the
// graphs are float networks, half have all kinds of operators and element types. --emit writes
// each graph as I.onnx with I.x0, I.x1, ... and I.y0, I.y1, ..., the bytes of its inputs and of
// the interpreter's results, for random_graphs_oracle.py. --socs takes the ways of these NPUs only.
// --jobs divides the graphs among as many processes. The last lines are a table of the ways and the
// sums over them.

#include "driver/Compiler.h"
#include "driver/Interpretation.h"
#include "driver/targets/MakeTarget.h"
#include "openatc/npu.h"
#include "test/fuzz/WatchedChild.h"
#include "test/fuzz/random/RandomGraph.h"

#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sys/wait.h>
#include <unistd.h>

using namespace atc;
using namespace atc::fuzz;

namespace {

struct Options {
  uint64_t graphs = 100, seed = 1, first = 0;
  unsigned limit = 60, jobs = 1;
  std::string folder = "."; ///< for graphs that fail
  std::string emitted;      ///< folder for all graphs; empty: none
  std::string socs;         ///< the NPUs that are the only ways; empty: all ways
};

/// A way to compute a graph. The tolerance is relative to the largest element of a result.
struct Way {
  std::string name;
  driver::TargetRequest request;
  bool dynamicBatch;
  double tolerance;
};

Way makeLevel(const char *level) {
  driver::TargetRequest cpu;
  cpu.target = "cpu";
  cpu.cpuLevels = level;
  return {level, cpu, false, 1e-4};
}

std::vector<Way> waysOf(const Options &options) {
  std::vector<Way> ways;
  auto addNpus = [&](llvm::StringRef list) {
    for (llvm::StringRef soc : llvm::split(list, ',')) {
      driver::TargetRequest npu;
      npu.target = "npu";
      npu.soc = soc.str();
      npu.cpuLevels = "x86-64-v3";
      ways.push_back({soc.str(), npu, false, 5e-2});
    }
  };
  if (!options.socs.empty()) {
    addNpus(options.socs);
    return ways;
  }
  for (const char *level : {"x86-64-v2", "x86-64-v3", "host"})
    ways.push_back(makeLevel(level));
  driver::TargetRequest dynamic;
  dynamic.target = "cpu";
  ways.push_back({"dynamic", dynamic, true, 1e-4});
  addNpus("Ascend310P3,Ascend910B1");
  return ways;
}

/// Counts of the results of the graphs that took a way.
struct Tally {
  uint64_t same, refused, different, crashed;
  double compiling, running, interpreting; ///< seconds
  double worst; ///< error of all results that agree, as a part of what is tolerated

  void add(const Tally &other) {
    same += other.same;
    refused += other.refused;
    different += other.different;
    crashed += other.crashed;
    compiling += other.compiling;
    running += other.running;
    interpreting += other.interpreting;
    worst = std::max(worst, other.worst);
  }
  uint64_t findings() const { return refused + different + crashed; }
  uint64_t graphs() const { return same + findings(); }
};
constexpr size_t kMaxWays = 16;

/// Memory that a process that computes graphs shares with those that monitor it.
struct Progress {
  uint64_t next; ///< the graph that is computed
  Tally ways[kMaxWays];

  Tally sum() const {
    Tally all = {};
    for (const Tally &way : ways)
      all.add(way);
    return all;
  }
};

/// Adds the time that it lives to `seconds`.
class Stopwatch {
public:
  explicit Stopwatch(double &seconds) : seconds(seconds) {}
  ~Stopwatch() {
    seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }

private:
  double &seconds;
  const std::chrono::steady_clock::time_point begin = std::chrono::steady_clock::now();
};

using Bytes = std::vector<char>;
using Inputs = std::vector<Bytes>;

/// A result: a dense tensor of numbers or bools.
struct Result {
  om_dtype dtype;
  std::vector<int64_t> dims;
  Bytes bytes;

  template <typename T> std::vector<double> elements() const {
    const T *begin = reinterpret_cast<const T *>(bytes.data());
    const size_t count = bytes.size() / sizeof(T);
    return {begin, begin + count};
  }
  std::vector<double> toDoubles() const {
    switch (dtype) {
    case OM_F32:
      return elements<float>();
    case OM_F64:
      return elements<double>();
    case OM_F16:
      return elements<_Float16>();
    case OM_I64:
      return elements<int64_t>();
    case OM_I32:
      return elements<int32_t>();
    case OM_U8:
      return elements<uint8_t>();
    default:
      return elements<int8_t>();
    }
  }
};
using Results = std::vector<Result>;

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

/// Returns the results of the reference interpreter; nothing where it cannot run the graph, as
/// those with sequences.
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
  if (!main)
    return std::nullopt;
  llvm::SmallVector<graph::Tensor> arguments;
  for (size_t i = 0; i < inputs.size(); ++i)
    arguments.emplace_back(llvm::cast<mlir::RankedTensorType>(main.getArgumentTypes()[i]),
                           Bytes(inputs[i]));
  auto tensors = graph::evaluateFunction(main, arguments);
  if (mlir::failed(tensors))
    return std::nullopt;
  Results results;
  for (const graph::Tensor &tensor : *tensors)
    results.push_back({driver::dtypeOf(tensor.getElementType()),
                       tensor.getShape().vec(),
                       {tensor.bytes().begin(), tensor.bytes().end()}});
  return results;
}

om_dtype typeOfInput(const RandomGraph &graph, size_t i) {
  return graph.inputTypes.empty() ? OM_F32 : om_dtype(graph.inputTypes[i]);
}

/// Returns the results of the compiled graph; nothing after an error, which is printed.
std::optional<Results> compute(const RandomGraph &graph, const Way &way, const Inputs &inputs,
                               Tally &tally) {
  Diagnostics diagnostics;
  std::optional<::om::Buffer> bytes;
  {
    Stopwatch time(tally.compiling);
    auto context = driver::makeCompilerContext();
    driver::Compiler compiler(*context, optionsOf(graph, way.request, diagnostics), diagnostics);
    bytes = compiler.emitBytes();
  }
  Stopwatch time(tally.running);
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
      values.push_back(
          ::om::Value::tensor(typeOfInput(graph, i), graph.inputs[i], inputs[i].data(), error));
    outputs = session.run(values, error);
  }
  if (outputs.empty())
    return fail(error.message());
  if (npu.handle && *om_npu_text(npu.handle, OM_NPU_HAZARDS))
    return fail(om_npu_text(npu.handle, OM_NPU_HAZARDS));
  Results results;
  for (const ::om::Value &output : outputs) {
    Result result = {output.dtype(), output.dims(), {}};
    if (output.kind() != OM_KIND_TENSOR || result.dtype == OM_STRING)
      return fail("a result is no tensor of numbers");
    result.bytes.resize(output.size() * om_dtype_bits(result.dtype) / 8);
    std::copy_n(output.data<char>(), result.bytes.size(), result.bytes.data());
    results.push_back(std::move(result));
  }
  return results;
}

/// Returns the tolerance for a result: elements of float16 are computed in float32 where nothing
/// has to store them.
double toleranceFor(const Result &result, const Way &way, bool hasHalves) {
  if (result.dtype != OM_F32 && result.dtype != OM_F16 && result.dtype != OM_F64)
    return 1e-9;
  return hasHalves || result.dtype == OM_F16 ? std::max(way.tolerance, 2e-2) : way.tolerance;
}

/// Returns the largest error as a part of what is tolerated; above 1 for results that differ.
double compare(const Results &wanted, const Results &got, const Way &way, bool hasHalves) {
  if (wanted.size() != got.size())
    return INFINITY;
  // A value that float16 cannot hold makes infinities of what is computed from it in that type.
  constexpr double kMaxHalf = 65504;
  bool leavesHalf = false;
  for (const Result &result : wanted)
    for (double value : result.toDoubles())
      leavesHalf |= way.tolerance > 1e-2 && std::fabs(value) > kMaxHalf;
  double worst = 0;
  for (size_t i = 0; i < wanted.size(); ++i) {
    // What a loop collects in no iteration has dims that nothing states where they are dynamic.
    const bool isOpen = way.dynamicBatch && wanted[i].bytes.empty() && got[i].bytes.empty() &&
                        wanted[i].dims.size() == got[i].dims.size();
    if (wanted[i].dtype != got[i].dtype || (wanted[i].dims != got[i].dims && !isOpen))
      return INFINITY;
    const double tolerance = toleranceFor(wanted[i], way, hasHalves);
    const std::vector<double> left = wanted[i].toDoubles(), right = got[i].toDoubles();
    double scale = 1;
    for (double value : left)
      if (std::isfinite(value))
        scale = std::max(scale, std::fabs(value));
    for (size_t k = 0; k < left.size(); ++k) {
      const double error = std::fabs(left[k] - right[k]);
      // What float16 cannot hold says nothing about the order of the computations.
      const bool isBeyond = !std::isfinite(left[k]) || (tolerance > 1e-2 && scale > 1e3) ||
                            (leavesHalf && !std::isfinite(right[k]));
      if (!isBeyond)
        worst = std::max(worst, std::isnan(error) ? INFINITY : error / (scale * tolerance));
    }
  }
  return worst;
}

void emit(const std::string &prefix, const RandomGraph &graph, const Inputs &inputs,
          const Results &wanted) {
  auto write = [&](const std::string &name, const char *data, size_t size) {
    std::ofstream(prefix + name, std::ios::binary).write(data, std::streamsize(size));
  };
  write(".onnx", graph.bytes.data(), graph.bytes.size());
  for (size_t i = 0; i < inputs.size(); ++i)
    write(".x" + std::to_string(i), inputs[i].data(), inputs[i].size());
  for (size_t i = 0; i < wanted.size(); ++i)
    write(".y" + std::to_string(i), wanted[i].bytes.data(), wanted[i].bytes.size());
}

/// Returns the graph of a seed, and its inputs.
RandomGraph makeGraph(uint64_t seed, bool mixed, bool dynamic, Inputs &inputs) {
  RandomGraph graph = mixed ? makeMixedGraph(seed, dynamic) : makeRandomGraph(seed, dynamic);
  inputs.clear();
  for (size_t i = 0; i < graph.inputs.size(); ++i) {
    int64_t count = 1;
    for (int64_t dim : graph.inputs[i])
      count *= dim;
    if (mixed) {
      inputs.push_back(makeMixedValues(seed + i, graph.inputTypes[i], count));
    } else {
      const std::vector<float> values = makeRandomValues(seed + i, count);
      const char *begin = reinterpret_cast<const char *>(values.data());
      inputs.emplace_back(begin, begin + values.size() * sizeof(float));
    }
  }
  return graph;
}

void tryGraph(const Options &options, const std::vector<Way> &ways, uint64_t index,
              Progress &progress) {
  const uint64_t seed = options.seed * 0x100000001B3u + index;
  const bool mixed = index / ways.size() % 2;
  Inputs inputs;
  const RandomGraph fixed = makeGraph(seed, mixed, false, inputs);
  // A dim of 0 is a dynamic one in a file, which an NPU does not take.
  const bool isAnyEmpty = llvm::any_of(inputs, [](const Bytes &bytes) { return bytes.empty(); });
  const Way &stated = ways[index % ways.size()];
  const Way cpu = makeLevel("x86-64-v2");
  const Way &way = isAnyEmpty && stated.request.target == "npu" ? cpu : stated;
  const RandomGraph graph = way.dynamicBatch ? makeGraph(seed, mixed, true, inputs) : fixed;
  Tally &tally = progress.ways[index % ways.size()];
  std::optional<Results> wanted;
  {
    Stopwatch time(tally.interpreting);
    wanted = interpret(fixed, inputs);
  }
  // What the interpreter cannot run is compared with another way.
  if (!wanted)
    wanted =
        compute(fixed, makeLevel(way.name == cpu.name ? "host" : cpu.name.c_str()), inputs, tally);
  if (wanted && !options.emitted.empty())
    emit(options.emitted + "/" + std::to_string(index), graph, inputs, *wanted);
  bool hasHalves = false;
  for (int type : graph.inputTypes)
    hasHalves |= type == OM_F16;
  const std::optional<Results> got = wanted ? compute(graph, way, inputs, tally) : std::nullopt;
  const double error = got ? compare(*wanted, *got, way, hasHalves) : INFINITY;
  if (error <= 1) {
    ++tally.same;
    tally.worst = std::max(tally.worst, error);
    return;
  }
  ++(got ? tally.different : tally.refused);
  const std::string path = options.folder + "/random-" + std::to_string(options.seed) + "-" +
                           std::to_string(index) + ".onnx";
  std::ofstream(path, std::ios::binary) << graph.bytes;
  std::printf("%s (%s): --seed %llu --first %llu --graphs 1, error %.3g of what is tolerated; %s\n",
              got ? "different" : "refused", way.name.c_str(),
              static_cast<unsigned long long>(options.seed), static_cast<unsigned long long>(index),
              error, path.c_str());
  std::fflush(stdout);
}

unsigned long long number(uint64_t value) { return value; }

/// Computes the graphs up to `end`, in children of this process. Returns whether there could be
/// any.
bool runPart(const Options &options, const std::vector<Way> &ways, Progress &progress,
             uint64_t end) {
  auto failed = [&](uint64_t index, bool hung) {
    std::printf("%s (%s): --seed %llu --first %llu --graphs 1\n",
                hung ? "longer than the limit" : "crash", ways[index % ways.size()].name.c_str(),
                number(options.seed), number(index));
    ++progress.ways[index % ways.size()].crashed;
  };
  auto step = [&](uint64_t index) {
    tryGraph(options, ways, index, progress);
    // Ten thousand graphs take minutes: a run that is ended has said how far it came.
    constexpr uint64_t kReported = 500;
    if (const Tally done = progress.sum(); done.graphs() % kReported == 0)
      std::printf("%llu graphs so far, %llu same\n", number(done.graphs()), number(done.same));
  };
  return runWatched(progress.next, end, options.limit, step, failed);
}

/// Computes each part of the graphs in a process of its own.
bool runParts(const Options &options, const std::vector<Way> &ways,
              llvm::MutableArrayRef<Progress> parts) {
  auto begin = [&](size_t i) { return options.first + options.graphs * i / parts.size(); };
  std::vector<pid_t> processes;
  for (size_t i = 0; i < parts.size(); ++i) {
    parts[i].next = begin(i);
    std::fflush(nullptr);
    const pid_t pid = fork();
    if (pid == 0)
      _exit(runPart(options, ways, parts[i], begin(i + 1)) ? 0 : 1);
    if (pid > 0)
      processes.push_back(pid);
  }
  bool done = processes.size() == parts.size();
  for (pid_t pid : processes) {
    int status = 0;
    waitpid(pid, &status, 0);
    done &= WIFEXITED(status) && WEXITSTATUS(status) == 0;
  }
  return done;
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
    else if (flag == "--emit")
      options.emitted = argv[i + 1];
    else if (flag == "--jobs")
      options.jobs = unsigned(std::clamp<uint64_t>(number, 1, 64));
    else if (flag == "--socs")
      options.socs = argv[i + 1];
  }
  // Lines of a process that crashes are not lost.
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  const std::vector<Way> ways = waysOf(options);
  void *shared = ways.size() <= kMaxWays ? sharedMemory(options.jobs * sizeof(Progress)) : nullptr;
  if (!shared)
    return 2;
  const llvm::MutableArrayRef<Progress> parts(static_cast<Progress *>(shared), options.jobs);
  if (!runParts(options, ways, parts))
    return 2;
  Tally all = {};
  std::printf("%-12s %8s %8s %9s %13s %11s %11s\n", "way", "graphs", "same", "findings",
              "s compiling", "s running", "s reference");
  for (size_t i = 0; i < ways.size(); ++i) {
    Tally way = {};
    for (const Progress &part : parts)
      way.add(part.ways[i]);
    std::printf("%-12s %8llu %8llu %9llu %13.1f %11.1f %11.1f\n", ways[i].name.c_str(),
                number(way.graphs()), number(way.same), number(way.findings()), way.compiling,
                way.running, way.interpreting);
    all.add(way);
  }
  std::printf("random-graphs: %llu graphs of %zu ways, %llu same, %llu refused, %llu different, "
              "worst error %.2f of what is tolerated, %llu findings\n",
              number(options.graphs), ways.size(), number(all.same), number(all.refused),
              number(all.different), all.worst, number(all.findings()));
  return all.findings() != 0;
}
