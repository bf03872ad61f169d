//===-- Placement.cpp - what runs on the NPU and what on the CPU ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "driver/Placement.h"

#include "backends/om/Names.h"
#include "dialects/graph/ops/HostOps.h"
#include "dialects/kernel/Kernel.h"
#include "dialects/npu/Npu.h"
#include "passes/graph/Float32Nodes.h"
#include "passes/host/HostCosts.h"
#include "passes/host/Passes.h"
#include "passes/npu/program/ProgramWriter.h"
#include "passes/npu/schedule/PreloadWeights.h"
#include "passes/npu/select/Partition.h"
#include "passes/om/Schedule.h"
#include "support/ModelText.h"

#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace atc::driver {

namespace {

/// Goes through the kernels of a module in the order of the schedule.
class PlacementReader {
public:
  /// `soc` is null for a CPU.
  PlacementReader(ModuleOp module, std::optional<npu::SocTable> soc)
      : module(module), symbols(module), soc(std::move(soc)), hostNodes(module),
        deviceNodes(module, graph::kDeviceNodesAttr) {}

  Placement read(func::FuncOp main) {
    for (Operation &op : main.getBody().front())
      visit(op);
    return std::move(placement);
  }

private:
  enum class Side { Npu, Host };

  void visit(Operation &op) {
    if (auto launch = dyn_cast<om::LaunchOp>(op))
      return visitLaunch(launch);
    if (auto call = dyn_cast<graph::HostCallOp>(op))
      return visitCall(call);
    if (auto run = dyn_cast<om::RunRegionOp>(op)) {
      if (auto region = symbols.lookup<func::FuncOp>(run.getRegion()))
        visitRegion(region);
      return;
    }
    if (auto loop = dyn_cast<func::CallOp>(op)) {
      // The largest tile stands for the loop, whose length only the run knows.
      auto callee = symbols.lookup<func::FuncOp>(loop.getCallee());
      auto tiles = callee ? callee->getAttrOfType<ArrayAttr>(host::kTilesAttr) : ArrayAttr();
      if (tiles && !tiles.empty())
        if (auto tile = symbols.lookup<func::FuncOp>(cast<FlatSymbolRefAttr>(tiles[0]).getAttr()))
          visitRegion(tile);
      return;
    }
    if (!isa<graph::GraphDialect>(op.getDialect()))
      return;
    for (Region &region : op.getRegions())
      for (Block &block : region)
        for (Operation &inner : block)
          visit(inner);
  }

  /// Inputs and outputs of a region are tensors that host kernels make and read.
  void visitRegion(func::FuncOp region) {
    Block &body = region.getBody().front();
    for (BlockArgument argument : body.getArguments())
      if (!om::isOutput(argument))
        writers[argument] = {};
    for (Operation &op : body)
      visit(op);
    for (BlockArgument argument : body.getArguments())
      if (om::isOutput(argument))
        read(argument, Side::Host, PlacedTensor::kHost);
  }

  void visitLaunch(om::LaunchOp launch) {
    Operation *symbol = symbols.lookup(launch.getKernel());
    const Side side = symbol && om::isNpuKernel(symbol) ? Side::Npu : Side::Host;
    const size_t position = placement.kernels.size();
    uint64_t bytes = 0, largest = 0;
    bool isInteger = false;
    // Weights that it loads for later launches are counted there.
    OperandRange operands = launch.getOperands_();
    const auto ahead = launch->getAttrOfType<IntegerAttr>(npu::kPreloadedAttr);
    const size_t own = operands.size() - 1 - (ahead ? size_t(ahead.getInt()) : 0);
    for (auto [index, buffer] : llvm::enumerate(operands)) {
      if (index >= own && index + 1 < operands.size())
        continue;
      auto type = cast<MemRefType>(buffer.getType());
      const uint64_t span = om::spanInBytes(type);
      bytes += span;
      if (span > largest) {
        largest = span;
        isInteger = type.getElementType().isInteger(8);
      }
    }
    for (Value buffer : om::readsOf(launch))
      read(buffer, side, position);
    writers[om::resolveViews(om::writtenBy(launch)).root] = {side, position};

    kernel::KernelOpInterface op = side == Side::Host ? kernelOf(symbol) : nullptr;
    // A kernel reads as many bytes of a lookup table as it writes, not the whole table.
    if (std::optional<unsigned> table = tableOf(symbol)) {
      auto spanOf = [](Value buffer) {
        return om::spanInBytes(cast<MemRefType>(buffer.getType()));
      };
      bytes -= std::max<int64_t>(
          spanOf(launch.getOperands_()[*table]) - spanOf(om::writtenBy(launch)), 0);
    }
    const uint64_t macs = side == Side::Npu ? launch.getCost() / 2 : launch.getMacs().value_or(0);
    add(side, macs, bytes);
    // A joined launch counts as the kernels that it was.
    if (auto program = dyn_cast_or_null<npu::ir::ProgramOp>(symbol))
      placement.npu.kernels += program.countLayers() - 1;
    placement.kernels.push_back({side == Side::Npu, /*isHostCall=*/false, isInteger,
                                 launch.getKernel().str(), nodesOf(launch.getLoc()), macs,
                                 uint64_t(launch.getCost()), bytes});
    checkSide(launch, op ? whyOnHost(op) : std::string());
    if (side == Side::Host)
      placement.hostLayers.push_back({om::namesOf(launch.getLoc()).node, launch.getKernel().str(),
                                      macs, bytes, op ? whyOnHost(op) : std::string()});
  }

  /// Compares the side of the last kernel with what a user wants.
  void checkSide(Operation *op, const std::string &whyOnCpu) {
    PlacedKernel &kernel = placement.kernels.back();
    const bool isWrong = kernel.onNpu ? hostNodes.contains(op) : deviceNodes.contains(op);
    kernel.isPinned = kernel.onNpu ? deviceNodes.contains(op) : hostNodes.contains(op);
    if (isWrong)
      placement.misplaced.push_back({om::namesOf(op->getLoc()).node, kernel.onNpu, whyOnCpu});
  }

  std::string whyOnHost(Operation *op) const {
    if (!soc)
      return {};
    std::string reason = npu::whyNotOnNpu(op, *soc);
    return reason.empty() ? npu::kPlacedOnHost.str() : reason;
  }

  /// Returns the names of all nodes in a location, each once.
  static std::vector<std::string> nodesOf(Location location) {
    std::vector<std::string> nodes;
    auto collect = [&](auto &self, Location part) -> void {
      if (auto fused = dyn_cast<FusedLoc>(part)) {
        for (Location inner : fused.getLocations())
          self(self, inner);
        return;
      }
      std::string name = graph::nodeNameOf(part).str();
      if (!name.empty() && !llvm::is_contained(nodes, name))
        nodes.push_back(std::move(name));
    };
    collect(collect, location);
    return nodes;
  }

  void visitCall(graph::HostCallOp call) {
    const std::optional<uint64_t> macs = host::countMacs(call);
    const uint64_t bytes = host::countBytes(call);
    add(Side::Host, macs.value_or(0), bytes);
    placement.kernels.push_back({/*onNpu=*/false, /*isHostCall=*/true, /*isInteger=*/false,
                                 call.getKernel().str(), nodesOf(call.getLoc()), macs,
                                 2 * macs.value_or(0), bytes});
    checkSide(call, whyHostKernel(call));
    placement.hostLayers.push_back({om::namesOf(call.getLoc()).node, call.getKernel().str(), macs,
                                    bytes, whyHostKernel(call)});
  }

  static std::string whyHostKernel(graph::HostCallOp call) {
    auto isStatic = [](Value value) {
      auto type = dyn_cast<RankedTensorType>(value.getType());
      return type && type.hasStaticShape();
    };
    if (!llvm::all_of(call.getInputs(), isStatic))
      return "its shapes are not known before the run";
    return "the NPU has no program for " + call.getKernel().str();
  }

  /// Returns the argument of a kernel from which it gathers rows; nothing where it gathers none.
  static std::optional<unsigned> tableOf(Operation *symbol) {
    std::optional<unsigned> table;
    auto note = [&](Value buffer) {
      if (auto argument = dyn_cast<BlockArgument>(buffer))
        table = argument.getArgNumber();
      return WalkResult::interrupt();
    };
    if (symbol)
      symbol->walk([&](Operation *op) {
        if (auto gather = dyn_cast<kernel::GatherOp>(op))
          return note(gather.getInput());
        if (auto gather = dyn_cast<npu::ir::GatherRowsOp>(op))
          return note(gather.getSrc());
        return WalkResult::advance();
      });
    return table;
  }

  static kernel::KernelOpInterface kernelOf(Operation *symbol) {
    kernel::KernelOpInterface found;
    if (symbol)
      symbol->walk([&](kernel::KernelOpInterface op) {
        found = op;
        return WalkResult::interrupt();
      });
    return found;
  }

  void add(Side side, uint64_t macs, uint64_t bytes) {
    PlacedWork &work = side == Side::Npu ? placement.npu : placement.host;
    ++work.kernels;
    work.macs += macs;
    work.bytes += bytes;
    placement.switches += last && *last != side;
    last = side;
  }

  /// Notes that the kernel at `position` reads a buffer. Once copied, a tensor is on both sides.
  void read(Value buffer, Side side, size_t position) {
    Value root = om::resolveViews(buffer).root;
    auto writer = writers.find(root);
    if (writer == writers.end())
      return;
    const uint64_t bytes = om::spanInBytes(cast<MemRefType>(buffer.getType()));
    placement.tensors.push_back({writer->second.position, position, bytes});
    if (writer->second.side == side || writer->second.isCopied)
      return;
    placement.copiedBytes += bytes;
    writer->second.isCopied = true;
  }

  ModuleOp module;
  SymbolTable symbols;
  /// The kernel that has written a buffer.
  struct Writer {
    Side side = Side::Host;
    size_t position = PlacedTensor::kHost;
    bool isCopied = false; ///< both sides have it
  };

  std::optional<npu::SocTable> soc;
  const graph::HostNodes hostNodes;
  const graph::NamedNodes deviceNodes;
  Placement placement;
  std::optional<Side> last;
  DenseMap<Value, Writer> writers;
};

std::string nameOf(const HostLayer &layer) {
  return printable(layer.name.empty() ? layer.kernel : layer.name);
}

/// "4.089 GMAC", "0.9 MMAC"
std::string macsText(uint64_t macs) {
  if (macs >= 100'000'000)
    return llvm::formatv("{0:f3} GMAC", double(macs) * 1e-9);
  return llvm::formatv("{0:f3} MMAC", double(macs) * 1e-6);
}

std::string lineOf(StringRef side, const PlacedWork &work, const Placement &all) {
  const uint64_t macs = all.npu.macs + all.host.macs;
  std::string line = llvm::formatv("{0}: {1} kernel{2}, {3}", side, work.kernels,
                                   work.kernels == 1 ? "" : "s", macsText(work.macs));
  if (macs)
    line += llvm::formatv(" ({0:f1} %)", 100.0 * double(work.macs) / double(macs));
  return line + ", " + bytesText(work.bytes);
}

} // namespace

bool Placement::knowsMacs() const {
  return llvm::all_of(hostLayers, [](const HostLayer &layer) { return layer.macs.has_value(); });
}

std::vector<const HostLayer *> Placement::heavyLayers() const {
  std::vector<const HostLayer *> heavy;
  for (const HostLayer &layer : hostLayers)
    if (!layer.macs || (*layer.macs && *layer.macs >= (npu.macs + host.macs) / 100))
      heavy.push_back(&layer);
  return heavy;
}

std::optional<Placement> readPlacement(ModuleOp module) {
  func::FuncOp main = om::findMain(module);
  if (!main || main.isExternal() || !module->hasAttr(om::kNpuSocAttr))
    return std::nullopt;
  return PlacementReader(module, npu::socOf(main)).read(main);
}

Placement readKernels(ModuleOp module) {
  if (std::optional<Placement> placement = readPlacement(module))
    return std::move(*placement);
  func::FuncOp main = om::findMain(module);
  return main && !main.isExternal() ? PlacementReader(module, std::nullopt).read(main)
                                    : Placement();
}

std::vector<std::string> describe(const Placement &placement) {
  std::vector<std::string> lines;
  if (placement.npu.kernels)
    lines.push_back(lineOf("NPU", placement.npu, placement));
  if (!placement.host.kernels)
    return lines;
  std::string cpu = lineOf("CPU", placement.host, placement);
  if (!placement.knowsMacs())
    cpu += ", and products that depend on the shapes of a run";
  if (placement.npu.kernels)
    cpu += "; " + std::to_string(placement.switches) + " switch" +
           (placement.switches == 1 ? "" : "es") + " between them, " +
           bytesText(placement.copiedBytes) + " copied";
  lines.push_back(cpu);

  // Reasons with what they cost; layers of one reason are told of by the largest.
  std::vector<const HostLayer *> order;
  for (const HostLayer &layer : placement.hostLayers)
    order.push_back(&layer);
  llvm::stable_sort(order, [](const HostLayer *a, const HostLayer *b) {
    const uint64_t unknown = ~uint64_t(0);
    return std::pair(a->macs.value_or(unknown), a->bytes) >
           std::pair(b->macs.value_or(unknown), b->bytes);
  });
  std::vector<std::string> reasons;
  std::vector<std::string> told;
  for (const HostLayer *layer : order)
    if (!layer->why.empty() && !llvm::is_contained(reasons, layer->why)) {
      reasons.push_back(layer->why);
      told.push_back("'" + nameOf(*layer) + "': " + printable(layer->why));
    }
  if (told.empty())
    return lines;
  std::string line = "On the CPU because of " + told.front();
  if (told.size() > 1)
    line += "; " + told[1];
  if (told.size() > 2)
    line += "; " + std::to_string(told.size() - 2) + " more reason" + (told.size() > 3 ? "s" : "") +
            ", see --json";
  lines.push_back(line);
  return lines;
}

void warnOfHostLayers(const Placement &placement, Diagnostics &diagnostics) {
  const std::vector<const HostLayer *> heavy = placement.heavyLayers();
  if (heavy.empty())
    return;
  constexpr size_t kNamed = 3;
  std::string names;
  for (const HostLayer *layer : ArrayRef(heavy).take_front(kNamed))
    names += (names.empty() ? "'" : ", '") + nameOf(*layer) + "' (" + layer->kernel +
             (layer->why.empty() ? "" : ": " + layer->why) + ")";
  if (heavy.size() > kNamed)
    names += " and " + std::to_string(heavy.size() - kNamed) + " more";
  const uint64_t macs = placement.npu.macs + placement.host.macs;
  std::string share =
      macs ? std::string(llvm::formatv("{0:f1} % of the multiply-accumulates",
                                       100.0 * double(placement.host.macs) / double(macs)))
           : std::string("products");
  if (!placement.knowsMacs())
    share += macs ? " and products of unknown size" : " of unknown size";
  diagnostics.warning("W11010", share + " of the model run on the CPU: " + names);
}

void warnOfMisplacedNodes(const Placement &placement, Diagnostics &diagnostics) {
  for (const MisplacedNode &node : placement.misplaced)
    diagnostics.warning(
        "W10055",
        "the node '" + printable(node.node) + "' runs on the " + (node.onNpu ? "NPU" : "CPU") +
            " in spite of --op_placement: " +
            (!node.why.empty() ? printable(node.why)
             : node.onNpu
                 ? std::string("only the NPU has code for its kernel: the model computes it in f16 "
                               "or in int8")
                 : std::string("it is part of a kernel of the CPU")));
}

} // namespace atc::driver
