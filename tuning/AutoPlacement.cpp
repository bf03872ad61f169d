//===-- AutoPlacement.cpp - parts of a model on NPU and CPU by cost -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tuning/AutoPlacement.h"

#include "dialects/npu/Npu.h"
#include "passes/kernel/MinCut.h"
#include "passes/npu/schedule/JoinChoice.h"
#include "tuning/Trial.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace atc::tuning {

namespace {

/// Cuts are computed in whole picoseconds.
int64_t cutCost(double seconds) { return int64_t(std::min(seconds, 1e5) * 1e12) + 1; }

/// Charges the kernels of a compiled model. `launches` are the simulated times of those of the
/// NPU, in milliseconds; with another number of them than the schedule has, as where loops run
/// some several times, the kernels of the NPU are charged nothing of their own.
void charge(PlacementCandidate &candidate, driver::Placement placement, ArrayRef<double> launches,
            const AutoPlacement &costs) {
  candidate.switches = placement.switches;
  candidate.copiedBytes = placement.copiedBytes;
  candidate.switchSeconds = double(placement.switches) * costs.link.switchSeconds;
  candidate.copySeconds = double(placement.copiedBytes) / costs.link.bytesPerSecond;
  candidate.tensors = std::move(placement.tensors);
  size_t next = 0;
  const bool matches = launches.size() == placement.npu.kernels;
  for (driver::PlacedKernel &kernel : placement.kernels) {
    double seconds = 0;
    if (!kernel.onNpu)
      candidate.hostSeconds += seconds = driver::hostSeconds(kernel, costs.rates);
    else if (matches)
      seconds = launches[next++] * 1e-3;
    candidate.kernels.push_back({std::move(kernel), seconds});
  }
}

/// Returns the first error of a compilation.
std::string firstError(const Diagnostics &diagnostics) {
  for (const CodedMessage &message : diagnostics.all())
    if (message.isError)
      return message.code + ": " + message.text;
  return "the model could not be compiled";
}

/// Changes choices so that no launches are joined.
void keepApart(Choices &choices) {
  std::erase_if(choices, [](const auto &entry) {
    return StringRef(entry.first).starts_with("npu-join-launches|");
  });
  choices.emplace(npu::kApartKey.str(), "");
}

/// A compiled candidate with its simulated times.
struct Compiled {
  driver::Placement placement;
  TrialResult measured;   ///< of what it runs on the NPU
  bool hasJoined = false; ///< some of its launches are several kernels
};

/// Compiles a candidate and simulates what it runs on the NPU. Returns nothing, and sets the
/// candidate's error, where that fails.
std::optional<Compiled> compile(PlacementCandidate &candidate, Launches launches) {
  Diagnostics diagnostics;
  auto context = driver::makeCompilerContext();
  driver::CompilerOptions options = candidate.options;
  if (launches == Launches::Apart)
    keepApart(options.choices);
  driver::Compiler compiler(*context, std::move(options), diagnostics);
  Compiled result;
  if (!compiler.lower(driver::Phase::Programs)) {
    candidate.error = firstError(diagnostics);
    return std::nullopt;
  }
  result.placement = driver::readKernels(compiler.module());
  for (auto program : compiler.module().getOps<npu::ir::ProgramOp>())
    result.hasJoined |= program.countLayers() > 1;
  if (result.placement.npu.kernels == 0)
    return result;
  std::optional<::om::Buffer> file = compiler.emitBytes();
  if (!file) {
    candidate.error = firstError(diagnostics);
    return std::nullopt;
  }
  if (!measureFile(*file, result.measured, candidate.error))
    return std::nullopt;
  return result;
}

/// Compiles a candidate and charges it. Single kernels can be moved, so that those of joined
/// launches are charged their shares of the time, in proportion to what they take apart.
void evaluate(PlacementCandidate &candidate, const AutoPlacement &costs) {
  std::optional<Compiled> result = compile(candidate, Launches::AsCompiled);
  if (!result)
    return;
  candidate.npuSeconds = result->measured.milliseconds * 1e-3;
  if (result->hasJoined)
    result = compile(candidate, Launches::Apart);
  if (!result)
    return;
  std::vector<double> launches;
  for (const LaunchTime &launch : result->measured.launches)
    launches.push_back(result->measured.cycles > 0
                           ? launch.cycles / result->measured.cycles * candidate.npuSeconds * 1e3
                           : 0);
  charge(candidate, std::move(result->placement), launches, costs);
}

/// Adds a candidate with its cost.
void add(AutoPlacement &result, std::string name, driver::CompilerOptions options) {
  PlacementCandidate &candidate = result.candidates.emplace_back();
  candidate.name = std::move(name);
  candidate.options = std::move(options);
  evaluate(candidate, result);
}

/// Returns the options of the model as a whole on the CPU, which takes neither passes nor element
/// types of the NPU.
driver::CompilerOptions optionsOfCpu(driver::CompilerOptions options,
                                     std::shared_ptr<const driver::Target> cpu) {
  options.target = std::move(cpu);
  options.source.precision.clear();
  options.source.placement.clear();
  llvm::erase_if(options.disabledPasses,
                 [](const std::string &name) { return StringRef(name).starts_with("npu-"); });
  return options;
}

/// Adds rules that place the kernels of `moved` on the CPU. Returns their nodes.
std::vector<std::string> moveToHost(driver::CompilerOptions &options,
                                    const PlacementCandidate &candidate,
                                    const std::vector<bool> &moved) {
  llvm::StringSet<> known;
  std::vector<std::string> nodes;
  for (auto [charged, onHost] : llvm::zip_equal(candidate.kernels, moved))
    if (charged.kernel.onNpu && onHost)
      for (const std::string &node : charged.kernel.nodes)
        if (known.insert(node).second)
          nodes.push_back(node);
  for (const std::string &node : nodes)
    options.source.placement.push_back({node, /*isType=*/false, /*onCpu=*/true, /*origin=*/""});
  return nodes;
}

} // namespace

std::vector<bool> findHostKernels(const PlacementCandidate &candidate, const AutoPlacement &costs,
                                  double switchWeight) {
  using kernel::MinCut;
  MinCut cut;
  std::vector<int> nodes;
  llvm::StringMap<int> nodeOfName;
  // The source is the NPU: a kernel on its side pays for its program.
  for (const ChargedKernel &charged : candidate.kernels) {
    const driver::PlacedKernel &kernel = charged.kernel;
    // A rule moves all kernels that compute a node. On the host they are few: an LSTM, of which
    // the NPU has some for each step, is one, so that launches count once.
    const auto known = llvm::find_if(kernel.nodes, [&](const std::string &name) {
      return kernel.onNpu && nodeOfName.count(name);
    });
    const bool isPart = known != kernel.nodes.end();
    const int node = isPart ? nodeOfName[*known] : cut.addNode();
    nodes.push_back(node);
    if (kernel.onNpu)
      for (const std::string &name : kernel.nodes)
        if (const int other = nodeOfName.try_emplace(name, node).first->second; other != node) {
          cut.addEdge(node, other, MinCut::kInfinite);
          cut.addEdge(other, node, MinCut::kInfinite);
        }
    // Without the names of its nodes no rule could move a kernel.
    const bool isFixed = kernel.isPinned || kernel.nodes.empty();
    if (!kernel.onNpu) {
      cut.addEdge(node, MinCut::kSink, MinCut::kInfinite);
      continue;
    }
    cut.addEdge(node, MinCut::kSink, cutCost(charged.seconds));
    cut.addEdge(MinCut::kSource, node,
                isFixed ? MinCut::kInfinite
                        : cutCost(hostSeconds(kernel, costs.rates) -
                                  (isPart ? costs.rates.launchSeconds : 0)));
  }
  auto join = [&](int a, int b, double seconds) {
    cut.addEdge(a, b, cutCost(seconds));
    cut.addEdge(b, a, cutCost(seconds));
  };
  for (size_t i = 1; i < nodes.size(); ++i)
    if (nodes[i - 1] != nodes[i])
      join(nodes[i - 1], nodes[i], costs.link.switchSeconds * switchWeight);
  for (const driver::PlacedTensor &tensor : candidate.tensors) {
    auto nodeOf = [&](size_t position) {
      return position == driver::PlacedTensor::kHost ? MinCut::kSink : nodes[position];
    };
    if (nodeOf(tensor.from) == nodeOf(tensor.to))
      continue;
    // The CPU computes in f32 what the NPU has in f16.
    const bool isHalf =
        tensor.from != driver::PlacedTensor::kHost && candidate.kernels[tensor.from].kernel.onNpu;
    join(nodeOf(tensor.from), nodeOf(tensor.to),
         double(tensor.bytes) * (isHalf ? 2 : 1) / costs.link.bytesPerSecond);
  }
  std::vector<bool> onNpu = cut.solve(), onHost;
  for (int node : nodes)
    onHost.push_back(!onNpu[node]);
  return onHost;
}

std::optional<AutoPlacement> placeByCost(const driver::CompilerOptions &npu,
                                         const AutoOptions &options, Diagnostics &diagnostics) {
  AutoPlacement result;
  result.rates = driver::hostRates(options.level, options.processors);
  result.link = options.link;
  driver::CompilerOptions base = npu;
  // Candidates are not what the user gets: they leave nothing and say nothing.
  base.tempDir.clear();
  base.remarks = {};
  add(result, "npu", base);

  const bool wantsNpu = llvm::any_of(npu.source.placement,
                                     [](const driver::PlacementRule &rule) { return !rule.onCpu; });
  if (!wantsNpu)
    add(result, "cpu", optionsOfCpu(base, options.cpu));

  std::vector<std::vector<std::string>> tried;
  if (result.candidates.front().error.empty())
    for (double weight : {1.0, 4.0, 16.0}) {
      const PlacementCandidate &whole = result.candidates.front();
      const std::vector<bool> onHost = findHostKernels(whole, result, weight);
      driver::CompilerOptions mixed = base;
      std::vector<std::string> nodes = moveToHost(mixed, whole, onHost);
      // Nothing moves, or everything does, or what another weight has moved already.
      if (nodes.empty() || llvm::all_of(onHost, [](bool moved) { return moved; }) ||
          llvm::is_contained(tried, nodes))
        continue;
      tried.push_back(std::move(nodes));
      add(result, "mixed " + std::to_string(tried.size()), std::move(mixed));
    }

  const PlacementCandidate *best = nullptr;
  for (size_t i = 0; i < result.candidates.size(); ++i) {
    PlacementCandidate &candidate = result.candidates[i];
    if (candidate.error.empty() && candidate.switches > options.maxSwitches)
      candidate.error = "it has " + std::to_string(candidate.switches) + " switches, more than " +
                        std::to_string(options.maxSwitches) + " of --placement_switches";
    if (!candidate.error.empty() || (best && candidate.seconds() >= best->seconds()))
      continue;
    best = &candidate;
    result.chosen = i;
  }
  if (best)
    return result;
  std::string reasons;
  for (const PlacementCandidate &candidate : result.candidates)
    reasons += (reasons.empty() ? "" : "; ") + candidate.name + ": " + candidate.error;
  diagnostics.error("E10055", "--target=auto finds no placement that can be used: " + reasons);
  return std::nullopt;
}

} // namespace atc::tuning
