//===-- PreloadWeights.cpp - programs read weights of later launches -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// While a program computes, its queue for loads has nothing to do and DDR rests. Where no system
// DMA fills L2, the cores do: they load weights of later launches into memory that nothing else
// uses, for the sake of the lines that L2 keeps. Nothing reads what arrives there, so no flag is
// needed. What each program can load is chosen for itself; whether all of that makes the schedule
// faster is simulated.

#include "passes/npu/schedule/PreloadWeights.h"

#include "passes/Choices.h"
#include "passes/Remarks.h"
#include "passes/npu/Passes.h"
#include "passes/npu/program/ProgramTime.h"
#include "passes/npu/program/ProgramWriter.h"
#include "passes/npu/program/ScheduleTime.h"
#include "passes/npu/program/SyncAnalysis.h"
#include "passes/npu/schedule/UnusedPrograms.h"
#include "passes/npu/schedule/WeightNeeds.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/Support/MathExtras.h"

#include <numeric>

using namespace mlir;

namespace atc::npu {
#define GEN_PASS_DEF_NPUPRELOADWEIGHTS
#include "passes/npu/Passes.h.inc"

namespace {

using llvm::alignTo;
using llvm::divideCeil;

/// Returns whether the loop loads from gm.
bool loads(ir::LoopOp loop) {
  return loop
      .walk([](Operation *op) {
        return queueOf(op) == Queue::MTE2 ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

/// Returns the loop with most trips in a block that loads from gm; null without one.
ir::LoopOp loadingLoop(Block *block) {
  ir::LoopOp max;
  for (auto loop : block->getOps<ir::LoopOp>())
    if (loads(loop) && (!max || loop.getTrips() > max.getTrips()))
      max = loop;
  return max;
}

/// Returns the loops around the loads of a program, the outermost one first.
SmallVector<ir::LoopOp> loadingLoops(ir::ProgramOp program) {
  SmallVector<ir::LoopOp> loops;
  for (ir::LoopOp loop = loadingLoop(program.getBody()); loop; loop = loadingLoop(loop.getBody()))
    loops.push_back(loop);
  return loops;
}

/// Local memory that no buffer of a program uses.
struct Room {
  ir::MemoryKind memory = ir::MemoryKind::L1;
  int64_t offset = 0, bytes = 0;
};

/// Returns the room behind the last buffer, in the memory of the queue for loads that has more.
Room roomIn(ir::ProgramOp program, const SocTable &soc) {
  int64_t l1 = 0, ub = 0;
  program.walk([&](ir::AllocOp alloc) {
    const ir::MemoryKind memory = cast<ir::BufferType>(alloc.getType()).getMemory();
    int64_t &used = memory == ir::MemoryKind::L1 ? l1 : ub;
    if (memory == ir::MemoryKind::L1 || memory == ir::MemoryKind::UB)
      used = std::max<int64_t>(used, alloc.getOffset().value_or(0) + bytesTaken(alloc));
  });
  auto behind = [](ir::MemoryKind memory, int64_t used, uint64_t size) {
    const int64_t offset = alignTo(used, 512);
    return Room{memory, offset, std::max<int64_t>(0, int64_t(size) - offset)};
  };
  const Room inL1 = behind(ir::MemoryKind::L1, l1, soc.l1Bytes),
             inUb = behind(ir::MemoryKind::UB, ub, soc.ubBytes);
  if (soc.split)
    return program.getVectorCore() ? inUb : inL1;
  return inL1.bytes >= inUb.bytes ? inL1 : inUb;
}

/// Returns the op of a block behind which no load of the block and no flag of a load comes: loads
/// there delay nothing, and the scalar unit issues them before the instructions that compute.
Operation *lastLoad(Block *block) {
  Operation *last = nullptr;
  for (Operation &op : *block) {
    auto loop = dyn_cast<ir::LoopOp>(op);
    if (loop ? loads(loop) : queueOf(&op) == Queue::MTE2 && !isa<ir::WaitFlagOp>(op))
      last = &op;
  }
  return last;
}

/// Adds buffers of `sizes` bytes in front of the program's last one, and loads of them behind its
/// own: a part in each iteration of its `depth` outermost loops that load, with depth 0 all outside
/// of loops. Each core loads a part of each buffer.
void addLoads(ir::ProgramOp program, const Room &room, ArrayRef<int64_t> sizes, unsigned depth) {
  const unsigned first = program.getBuffers().size() - 1;
  for (auto [index, size] : llvm::enumerate(sizes))
    program.getBody()->insertArgument(
        first + index, ir::BufferType::get(program.getContext(), ir::MemoryKind::GM, size),
        program.getLoc());
  SmallVector<ir::LoopOp> loops = loadingLoops(program);
  loops.truncate(depth);
  Block *block = loops.empty() ? program.getBody() : loops.back().getBody();
  Operation *own = lastLoad(block);
  ProgramWriter w(program, block, own ? std::next(Block::iterator(own)) : block->begin());
  const int64_t scratchBytes = std::min<int64_t>(room.bytes / 512 * 512, 65536);
  Value scratch = w.alloc(room.memory, scratchBytes);
  scratch.getDefiningOp<ir::AllocOp>().setOffset(room.offset);
  Expr number; // of the core and iteration
  int64_t count = 1;
  auto within = [&](Value iv, int64_t size) {
    number = number * size;
    if (size > 1)
      number = number + Expr(iv);
    count *= size;
  };
  for (auto [dim, size] : llvm::enumerate(program.getGrid()))
    within(w.coordinate(dim), size);
  for (ir::LoopOp loop : loops)
    within(loop.getIv(), loop.getTrips());
  for (auto [index, bytes] : llvm::enumerate(sizes)) {
    const int64_t part = divideCeil(bytes, count), runs = divideCeil(part, scratchBytes);
    const int64_t run = alignTo(divideCeil(part, runs), 512);
    const BufferAddress source(w.argument(first + index), number * (run * runs));
    auto load = [&](const Expr &from) {
      w.move(scratch, {source.buffer, from}, {run, from, bytes});
    };
    if (runs == 1)
      load(source.offset);
    else
      w.loop(runs, [&](Value iv) { load(source.offset + Expr(iv) * run); });
  }
}

/// Describes what a program can load for later launches: the bytes, and the number of loops that
/// the loads are inside of.
struct Capacity {
  int64_t bytes = 0;
  unsigned depth = 0;
};

/// Loads that were tried in a program, and the cycles by which the program takes longer with them.
struct TriedLoads {
  Capacity capacity;
  double slower = 0;
};

/// A launch with the program that also loads weights of later launches.
struct LoadingLaunch {
  om::LaunchOp launch;
  ir::ProgramOp program;
  SmallVector<Value> operands;
  int64_t pieces = 0, bytes = 0; ///< of these weights
};

using LoadingLaunches = llvm::MapVector<Operation *, LoadingLaunch>;

struct PreloadWeightsPass : impl::NpuPreloadWeightsBase<PreloadWeightsPass> {
  using Base::Base;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    auto main = module.lookupSymbol<func::FuncOp>("main");
    if (!main || main.isExternal())
      return;
    soc = socOf(main);
    launches = llvm::to_vector(main.getOps<om::LaunchOp>());
    // A system DMA does it better, and what fits into L2 stays there from run to run.
    if (soc.l2Prefetch || weightsStayInL2(launches, int64_t(soc.l2Bytes)))
      return;
    SymbolTable symbols(module);
    for (om::LaunchOp launch : launches)
      programs.push_back(dyn_cast_or_null<ir::ProgramOp>(symbols.lookup(launch.getKernel())));
    int64_t byteCount = 0;
    const LoadingLaunches chosen = select(main, symbols);
    for (const auto &[op, loading] : chosen) {
      replace(loading);
      byteCount += loading.bytes;
    }
    main.walk([](om::ViewOp view) {
      if (view->use_empty())
        view.erase();
    });
    eraseUnusedPrograms(module, symbols,
                        [&](ir::ProgramOp program) { return outdated.contains(program); });
    remarkAnalysis(getArgument(), main.getLoc(), "Preloaded")
        << remark::add("{0} of {1} launches load {2} bytes of the weights of later ones into L2",
                       chosen.size(), launches.size(), byteCount);
    numLaunches += chosen.size();
    numBytes += byteCount;
  }

private:
  static constexpr int64_t kSmallestPiece = 32 * 1024, kUnit = 16 * 1024, kSmallestRoom = 4096;
  static constexpr unsigned kMaxDepth = 2;
  static constexpr size_t kNear = 3, kMaxPieces = 4;

  SocTable soc;
  SmallVector<om::LaunchOp> launches;
  SmallVector<ir::ProgramOp> programs; ///< of each launch; null for a launch on the CPU
  std::map<std::pair<Operation *, std::vector<unsigned>>, std::vector<TriedLoads>> tried;
  std::map<std::tuple<Operation *, unsigned, std::vector<int64_t>>, ir::ProgramOp> variants;
  llvm::DenseSet<Operation *> outdated; ///< programs to erase where no launch has them in the end

  /// Returns what launches load with the factor of the table of choices, else with the fastest one.
  LoadingLaunches select(func::FuncOp main, SymbolTable &symbols) {
    if (!usesChoices(main))
      return fastest(symbols).second;
    const std::string key = keyOfWeights(main, getArgument());
    std::string noted;
    LoadingLaunches selected;
    double chosen = 0;
    std::optional<StringRef> given = givenChoice(main, key);
    if (given && (given->getAsDouble(chosen) || !(chosen >= 0 && chosen <= 8))) {
      reportUnfit(main, key, *given, "it must be a factor from 0 to 8");
      given.reset();
    }
    if (given) {
      noted = given->str();
      selected = share(chosen, symbols);
    } else {
      std::tie(chosen, selected) = fastest(symbols);
      noted = llvm::formatv("{0:f2}", chosen);
    }
    SmallVector<std::string> proposals;
    if (wantedProposals(main))
      proposals = {"0.00", "0.50", "0.75", "1.25", "1.50", "2.00", "3.00"};
    noteChoice(getArgument(), main.getLoc(), main, key, noted, proposals);
    return selected;
  }

  /// Returns the fastest of these by a simulation of the whole schedule, with its factor: what the
  /// option's factor gives, half of it, and nothing. What a launch loads costs it cycles and saves
  /// some later, and which of both is more depends on what else is in L2 then. Where that takes too
  /// long the option's factor counts.
  std::pair<double, LoadingLaunches> fastest(SymbolTable &symbols) {
    using Choice = std::pair<double, LoadingLaunches>;
    Choice own{factor, share(factor, symbols)};
    if (own.second.empty())
      return own;
    ScheduleComparison comparison(soc);
    const std::optional<double> without = cyclesOf(comparison, {});
    const std::optional<double> with =
        without ? cyclesOf(comparison, own.second) : std::optional<double>();
    if (!with)
      return own;
    if (!comparison.allowsTwoMore())
      return *with < *without ? own : Choice();
    Choice half{factor / 2, share(factor / 2, symbols)};
    const std::optional<double> withHalf = cyclesOf(comparison, half.second);
    if (withHalf && *withHalf < std::min(*with, *without))
      return half;
    return *with < *without ? own : Choice();
  }

  /// Returns the cycles of a run of the schedule in which some launches load weights of later ones;
  /// nothing where the simulation takes too long.
  std::optional<double> cyclesOf(ScheduleComparison &comparison, const LoadingLaunches &loading) {
    std::vector<TimedLaunch> timed;
    for (auto [launch, program] : llvm::zip_equal(launches, programs)) {
      auto found = loading.find(launch);
      if (found != loading.end())
        timed.push_back({found->second.program, found->second.operands, {}, launch.getChained()});
      else if (program)
        timed.push_back({program, llvm::to_vector(launch.getOperands_()), {}, launch.getChained()});
    }
    const std::optional<std::vector<double>> cycles = comparison.measure(timed);
    if (!cycles)
      return std::nullopt;
    return std::accumulate(cycles->begin(), cycles->end(), 0.0);
  }

  /// Assigns to each launch as many bytes of later weights as it can load, without changing it.
  LoadingLaunches share(double usedFactor, SymbolTable &symbols) {
    LoadingLaunches loading;
    // Without a factor no load is worth anything.
    if (usedFactor <= 0)
      return loading;
    SmallVector<bool> onNpu;
    for (ir::ProgramOp program : programs)
      onNpu.push_back(program != nullptr);
    SmallVector<WeightNeed> needs = weightNeeds(launches, onNpu, symbols, int64_t(soc.l2Bytes));
    if (!needs.empty())
      defineWeightsFirst(*launches.front()->getBlock());
    size_t next = 0, used = 0;
    int64_t waiting = 0; ///< bytes in L2 that no launch has used yet
    for (unsigned index = 0; index < launches.size(); ++index) {
      const std::vector<unsigned> cold = coldOperands(launches[index], index, needs, used);
      for (; used < needs.size() && needs[used].launch <= index; ++used)
        waiting -= std::exchange(needs[used].named, 0);
      next = std::max(next, used);
      // Programs are simulated only where they have something to load, and room for it.
      if (!onNpu[index] || next == needs.size() || needs[next].after > index)
        continue;
      const int64_t busy =
          bytesOfActivations(MutableArrayRef(launches).drop_front(index).take_front(kNear));
      int64_t left = int64_t(l2Share * double(int64_t(soc.l2Bytes) - busy)) - waiting;
      if (left < kSmallestPiece)
        continue;
      const Capacity capacity = capacityOf(programs[index], cold, usedFactor);
      left = std::min(left, capacity.bytes);
      std::vector<int64_t> sizes;
      for (size_t at = next; at < needs.size() && sizes.size() < kMaxPieces &&
                             needs[at].after <= index && left >= kSmallestPiece;
           ++at) {
        const int64_t rest = needs[at].bytes - needs[at].named;
        sizes.push_back(rest <= left ? rest : left / kUnit * kUnit);
        left -= sizes.back();
        if (sizes.back() < rest)
          break;
      }
      if (sizes.empty())
        continue;
      LoadingLaunch &entry = loading[launches[index]];
      entry.launch = launches[index];
      entry.program = variantOf(programs[index], capacity, sizes, symbols);
      SmallVector<Value> pieces;
      for (int64_t bytes : sizes) {
        pieces.push_back(takePiece(launches[index], needs[next], bytes));
        waiting += bytes;
        entry.bytes += bytes;
        if (needs[next].named == needs[next].bytes)
          ++next;
      }
      // The last buffer is the one that is written.
      entry.operands = llvm::to_vector(launches[index].getOperands_());
      entry.operands.insert(entry.operands.end() - 1, pieces.begin(), pieces.end());
      entry.pieces = int64_t(pieces.size());
    }
    return loading;
  }

  /// Lets a launch load weights of later ones.
  void replace(LoadingLaunch loading) {
    loading.launch.getOperands_Mutable().assign(loading.operands);
    loading.launch->setAttr(kPreloadedAttr,
                            Builder(&getContext()).getI64IntegerAttr(loading.pieces));
    loading.launch.setKernel(loading.program.getSymName());
  }

  /// Returns the operands of launch `index` of which L2 holds less than half when it begins:
  /// weights among the needs from `used` on.
  static std::vector<unsigned> coldOperands(om::LaunchOp launch, unsigned index,
                                            ArrayRef<WeightNeed> needs, size_t used) {
    std::vector<unsigned> cold;
    for (; used < needs.size() && needs[used].launch <= index; ++used)
      for (auto [number, operand] : llvm::enumerate(launch.getOperands_()))
        if (needs[used].named * 2 < needs[used].bytes &&
            om::resolveViews(operand).root == needs[used].weight)
          cold.push_back(number);
    return cold;
  }

  /// Returns the bytes and the position of loads for which DDR's time that they save, times the
  /// factor, exceeds most what the program takes longer.
  Capacity capacityOf(ir::ProgramOp program, const std::vector<unsigned> &cold, double usedFactor) {
    Capacity capacity;
    double best = 0;
    for (const TriedLoads &each : tryLoads(program, cold)) {
      const double gain = usedFactor * double(each.capacity.bytes) / ddrRate() - each.slower;
      if (gain > best) {
        best = gain;
        capacity = each.capacity;
      }
    }
    return capacity;
  }

  double ddrRate() { return soc.ddrRate() * double(soc.cores(false)); }

  /// Simulates a program with loads of several sizes at several positions.
  const std::vector<TriedLoads> &tryLoads(ir::ProgramOp program,
                                          const std::vector<unsigned> &cold) {
    auto [entry, isNew] = tried.try_emplace({program, cold});
    const Room room = roomIn(program, soc);
    if (!isNew || room.bytes < kSmallestRoom)
      return entry->second;
    std::optional<ProgramUse> alone = useOfProgram(program, soc, cold);
    if (!alone)
      return entry->second;
    const unsigned buffer = program.getBuffers().size() - 1, max = loadingLoops(program).size();
    SmallVector<unsigned> coldNow(cold.begin(), cold.end());
    coldNow.push_back(buffer);
    for (unsigned depth = 0; depth <= std::min(max, kMaxDepth); ++depth)
      for (double part : {0.25, 0.5, 0.75, 1.0, 1.5, 2.0}) {
        const int64_t bytes = int64_t(part * alone->idleLoads * ddrRate()) / kUnit * kUnit;
        if (bytes < kSmallestPiece)
          continue;
        ir::ProgramOp trial = program.clone();
        OwningOpRef<ir::ProgramOp> owner(trial);
        addLoads(trial, room, bytes, depth);
        if (std::optional<ProgramUse> now = useOfProgram(trial, soc, coldNow))
          entry->second.push_back({{bytes, depth}, now->cycles - alone->cycles});
      }
    return entry->second;
  }

  /// Returns the program with loads of `sizes` bytes.
  ir::ProgramOp variantOf(ir::ProgramOp program, const Capacity &capacity,
                          const std::vector<int64_t> &sizes, SymbolTable &symbols) {
    ir::ProgramOp &variant = variants[{program, capacity.depth, sizes}];
    if (variant)
      return variant;
    variant = program.clone();
    variant.setSymName((program.getSymName() + "_preload").str());
    symbols.insert(variant, std::next(Block::iterator(program)));
    addLoads(variant, roomIn(program, soc), sizes, capacity.depth);
    outdated.insert(program);
    outdated.insert(variant);
    return variant;
  }
};
} // namespace
} // namespace atc::npu
