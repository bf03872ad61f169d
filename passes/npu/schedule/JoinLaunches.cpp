//===-- JoinLaunches.cpp - makes one launch of several ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A launch that continues the task of the one before it costs a microsecond in which all queues
// rest; cores that wait for each other inside of a launch need a quarter of that, and load weights
// meanwhile. Where a launch can run on cube and vector cores at once, launches on either kind
// become the two sections of one mixed program: each section runs its parts in order, and a part
// waits for those of the other section that it shares bytes with.

#include "passes/Choices.h"
#include "passes/graph/Float32Nodes.h"
#include "passes/npu/Passes.h"
#include "passes/npu/program/JoinedProgram.h"
#include "passes/npu/program/ProgramWriter.h"
#include "passes/npu/program/ScheduleTime.h"
#include "passes/npu/program/SyncAnalysis.h"
#include "passes/npu/schedule/JoinChoice.h"
#include "passes/npu/schedule/PartWaits.h"
#include "passes/npu/schedule/PreloadWeights.h"
#include "passes/npu/schedule/UnusedPrograms.h"
#include "passes/om/Schedule.h"

#include "llvm/ADT/MapVector.h"

#include <numeric>

using namespace mlir;

namespace atc::npu {
#define GEN_PASS_DEF_NPUJOINLAUNCHES
#include "passes/npu/Passes.h.inc"

namespace {

/// A run of launches under construction.
struct Run {
  explicit Run(const SocTable &soc)
      : grids{CommonGrid(int64_t(soc.cores(false))), CommonGrid(int64_t(soc.cores(true)))} {}
  CommonGrid grids[2]; ///< of launches on cube cores and on vector cores
  unsigned length = 0;
  size_t instructions = 0, buffers = 0;
};

/// A program as a part, if it can be one.
struct Joinability {
  bool isJoinable = false;
  ProgramPart part;
};

/// Consecutive launches with the program that does what they do.
struct JoinedRun {
  size_t begin = 0; ///< the index of the first launch
  unsigned length = 0;
  ir::ProgramOp program;
  SmallVector<Value> operands; ///< of the program
};

struct JoinLaunchesPass : impl::NpuJoinLaunchesBase<JoinLaunchesPass> {
  using Base::Base;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    auto main = module.lookupSymbol<func::FuncOp>("main");
    if (!main || main.isExternal())
      return;
    soc = socOf(main);
    if (longest == 1 && !usesChoices(main))
      return;
    SymbolTable symbols(module);
    for (auto launch : main.getOps<om::LaunchOp>()) {
      launches.push_back(launch);
      programs.push_back(dyn_cast_or_null<ir::ProgramOp>(symbols.lookup(launch.getKernel())));
    }
    for (const JoinedRun &run : joinAll(select(main, symbols), symbols))
      replace(run);
    // The sections on cube cores come first: they name those on vector cores.
    for (bool vectorCore : {false, true})
      eraseUnusedPrograms(module, symbols, [&](ir::ProgramOp program) {
        return program.getVectorCore() == vectorCore && outdated.contains(program);
      });
  }

private:
  SocTable soc;
  bool mixed = true; ///< launches on both kinds of cores may become one
  SmallVector<om::LaunchOp> launches;
  SmallVector<ir::ProgramOp> programs;  ///< of each launch; null for a launch on the CPU
  llvm::DenseSet<Operation *> outdated; ///< programs to erase where no launch has them in the end
  std::map<Operation *, Joinability> known;
  std::vector<std::tuple<std::vector<ProgramPart>, std::vector<JoinedBuffer>, ir::ProgramOp>> made;

  //===--------------------------------------------------------------------===//
  // Runs
  //===--------------------------------------------------------------------===//

  /// Adds launch `index` to a run. Returns false, and leaves the run as it is, where it cannot be
  /// part of it.
  bool extend(Run &run, size_t index) {
    ir::ProgramOp program = programs[index];
    if (!program)
      return false;
    size_t instructions = 0;
    program.walk([&](ir::InstructionOpInterface) { ++instructions; });
    // Each loop has a begin and an end, and parts meet.
    program.walk([&](ir::LoopOp) { instructions += 2; });
    instructions += kMeetingInstructions;
    if (run.length && (!launches[index].getChained() || !isAdjacent(index) ||
                       (isOnVectorCores(index) != isOnVectorCores(index - 1) && !mixes()) ||
                       !isPossibleSize(run.instructions + instructions,
                                       run.buffers + program.getBuffers().size())))
      return false;
    const Joinability &known = joinabilityOf(program);
    if (!known.isJoinable || !run.grids[isOnVectorCores(index)].add(known.part))
      return false;
    ++run.length;
    run.instructions += instructions;
    run.buffers += program.getBuffers().size();
    return true;
  }

  /// Returns what is known of a program, which is looked at once.
  const Joinability &joinabilityOf(ir::ProgramOp program) {
    auto [entry, isNew] = known.try_emplace(program);
    if (isNew) {
      entry->second.isJoinable = isJoinable(program);
      entry->second.part.program = program;
      if (entry->second.isJoinable)
        findGrowth(entry->second.part, coresFor(program));
    }
    return entry->second;
  }

  int64_t coresFor(ir::ProgramOp program) { return soc.cores(program.getVectorCore()); }

  bool isOnVectorCores(size_t index) {
    ir::ProgramOp program = programs[index];
    return program && program.getVectorCore();
  }

  /// Returns whether launches on cube cores and on vector cores can become one.
  bool mixes() const { return mixed && soc.split && soc.crossLatency; }

  /// Returns whether nothing but definitions of buffers stands between a launch and the one before.
  bool isAdjacent(size_t index) {
    for (Operation *op = launches[index - 1]->getNextNode(); op != launches[index];
         op = op->getNextNode())
      if (!op || !isa<om::AllocOp, om::ViewOp, om::WeightOp>(op))
        return false;
    return true;
  }

  /// Returns the lengths of runs of at most `max` launches, each as long as possible.
  SmallVector<unsigned> runsUpTo(unsigned max) {
    SmallVector<unsigned> lengths;
    for (size_t index = 0; index < launches.size();) {
      Run run(soc);
      while (index + run.length < launches.size() && run.length < max &&
             extend(run, index + run.length))
        ;
      lengths.push_back(std::max(1u, run.length));
      index += lengths.back();
    }
    return lengths;
  }

  /// Returns whether the launches of each run can be one.
  bool isPossible(ArrayRef<unsigned> lengths) {
    size_t index = 0;
    for (unsigned length : lengths) {
      Run run(soc);
      while (length > 1 && run.length < length && extend(run, index + run.length))
        ;
      if (length > 1 && run.length < length)
        return false;
      index += length;
    }
    return true;
  }

  /// Returns the key of the choice: of the SoC, of the launches' kernels and of what connects them.
  std::string key(func::FuncOp main) {
    std::string text = writeSoc(soc);
    llvm::MapVector<Value, unsigned> numbers;
    for (auto [launch, program] : llvm::zip_equal(launches, programs)) {
      auto identity = program ? program->getAttrOfType<StringAttr>(kKernelAttr) : StringAttr();
      text += "\n" + (identity ? identity.str() : "");
      // Preloaded operands depend on tiles, so they are not part of the text.
      auto ahead = launch->getAttrOfType<IntegerAttr>(kPreloadedAttr);
      const size_t count = launch.getOperands_().size(), loaded = ahead ? ahead.getInt() : 0;
      for (auto [position, operand] : llvm::enumerate(launch.getOperands_())) {
        if (position + 1 < count && position + 1 + loaded >= count)
          continue;
        const om::BufferPart part = om::resolveViews(operand);
        const unsigned number = numbers.insert({part.root, unsigned(numbers.size())}).first->second;
        text += " " + std::to_string(number) + "+" + std::to_string(part.offset);
      }
    }
    SmallVector<Type> types(main.getArgumentTypes());
    return choiceKey(getArgument(), soc.name, identify("main", types, text));
  }

  /// Returns the lengths without a choice: those of the option, or those that are fastest.
  SmallVector<unsigned> ownLengths(func::FuncOp main, SymbolTable &symbols) {
    if (longest > 0)
      return runsUpTo(unsigned(std::min<int64_t>(longest, INT32_MAX)));
    SmallVector<unsigned> apart(launches.size(), 1);
    return givenChoice(main, kApartKey) ? apart : fastest(std::move(apart), symbols);
  }

  /// Returns the lengths that the table of choices has, else those of the pass.
  SmallVector<unsigned> select(func::FuncOp main, SymbolTable &symbols) {
    if (!llvm::any_of(runsUpTo(2), [](unsigned n) { return n > 1; }))
      return SmallVector<unsigned>(launches.size(), 1);
    if (!usesChoices(main))
      return ownLengths(main, symbols);
    const std::string name = key(main);
    std::optional<SmallVector<unsigned>> followed;
    if (std::optional<StringRef> given = givenChoice(main, name)) {
      std::optional<SmallVector<unsigned>> parsed = parseRuns(*given, unsigned(launches.size()));
      if (!parsed)
        reportUnfit(main, name, *given,
                    "it must list lengths of runs, such as 3 1 5, for " + Twine(launches.size()) +
                        " launches");
      else if (!isPossible(*parsed))
        reportUnfit(main, name, *given,
                    "some of its launches cannot be one; the longest runs are " +
                        textOfRuns(runsUpTo(UINT32_MAX)));
      else
        followed = *parsed;
    }
    SmallVector<unsigned> lengths = followed ? *followed : ownLengths(main, symbols);
    SmallVector<std::string> proposals;
    auto propose = [&](unsigned limit) {
      if (std::string text = textOfRuns(runsUpTo(limit)); !llvm::is_contained(proposals, text))
        proposals.push_back(text);
    };
    if (wantedProposals(main)) {
      for (unsigned limit : {UINT32_MAX, 32u, 16u, 8u, 4u, 2u})
        propose(limit);
      mixed = false;
      propose(UINT32_MAX);
      mixed = true;
    }
    noteChoice(getArgument(), main.getLoc(), main, name, textOfRuns(lengths), proposals);
    return lengths;
  }

  //===--------------------------------------------------------------------===//
  // Times
  //===--------------------------------------------------------------------===//

  /// Returns the launches on the NPU as they would be with these runs, with the index of the first
  /// launch that each stands for.
  std::vector<std::pair<size_t, TimedLaunch>> scheduleOf(ArrayRef<JoinedRun> runs) {
    std::vector<std::pair<size_t, TimedLaunch>> schedule;
    for (size_t index = 0; index < launches.size(); ++index) {
      if (!runs.empty() && runs.front().begin == index) {
        const JoinedRun &run = runs.front();
        schedule.push_back(
            {index, {run.program, run.operands, prefetchOf(run), launches[index].getChained()}});
        index += run.length - 1;
        runs = runs.drop_front();
      } else if (programs[index]) {
        om::LaunchOp launch = launches[index];
        schedule.push_back({index,
                            {programs[index], llvm::to_vector(launch.getOperands_()),
                             llvm::to_vector(launch.getPrefetch()), launch.getChained()}});
      }
    }
    return schedule;
  }

  /// Returns the cycles from each launch up to the next entry of a run's schedule, at the launch's
  /// index; nothing where the simulation takes too long.
  std::optional<std::vector<double>> cyclesOf(ScheduleComparison &comparison,
                                              ArrayRef<JoinedRun> runs) {
    std::vector<TimedLaunch> timed;
    const auto schedule = scheduleOf(runs);
    for (const auto &[index, launch] : schedule)
      timed.push_back(launch);
    std::optional<std::vector<double>> cycles = comparison.measure(timed);
    if (!cycles)
      return std::nullopt;
    std::vector<double> byLaunch(launches.size(), 0);
    for (auto [entry, each] : llvm::zip_equal(schedule, *cycles))
      byLaunch[entry.first] = each;
    return byLaunch;
  }

  static double sumOf(ArrayRef<double> cycles) {
    return std::accumulate(cycles.begin(), cycles.end(), 0.0);
  }

  /// Returns the fastest of these lengths by a simulation of the whole schedule: launches `apart`,
  /// runs as long as possible, and only those of them that are faster than their launches.
  SmallVector<unsigned> fastest(SmallVector<unsigned> apart, SymbolTable &symbols) {
    const SmallVector<unsigned> lengths = runsUpTo(UINT32_MAX);
    ScheduleComparison comparison(soc, simulatedBytes);
    const std::optional<std::vector<double>> before = cyclesOf(comparison, {});
    if (!before)
      return apart;
    const std::optional<std::vector<double>> after =
        cyclesOf(comparison, joinAll(lengths, symbols));
    if (!after)
      return apart;
    SmallVector<unsigned> some;
    size_t begin = 0;
    for (unsigned length : lengths) {
      const bool isFaster = sumOf(ArrayRef(*after).slice(begin, length)) <
                            sumOf(ArrayRef(*before).slice(begin, length));
      some.append(isFaster ? 1 : length, isFaster ? length : 1);
      begin += length;
    }
    SmallVector<unsigned> best = sumOf(*after) < sumOf(*before) ? lengths : apart;
    if (!comparison.allowsTwoMore() || some == apart || some == lengths)
      return best;
    const std::optional<std::vector<double>> mended = cyclesOf(comparison, joinAll(some, symbols));
    return mended && sumOf(*mended) < std::min(sumOf(*before), sumOf(*after)) ? some : best;
  }

  //===--------------------------------------------------------------------===//
  // Joining
  //===--------------------------------------------------------------------===//

  /// Builds the programs for runs of these lengths, without changing the schedule.
  std::vector<JoinedRun> joinAll(ArrayRef<unsigned> lengths, SymbolTable &symbols) {
    std::vector<JoinedRun> runs;
    size_t begin = 0;
    for (unsigned length : lengths) {
      if (length > 1)
        runs.push_back(join(begin, length, symbols));
      begin += length;
    }
    return runs;
  }

  /// Builds the program that does what `length` launches from `begin` on do.
  JoinedRun join(size_t begin, unsigned length, SymbolTable &symbols) {
    auto group = ArrayRef(launches).slice(begin, length);
    llvm::MapVector<std::pair<Value, Type>, unsigned> numbers;
    std::vector<ProgramPart> parts;
    Run run(soc);
    for (unsigned i = 0; i < length; ++i) {
      ProgramPart &part = parts.emplace_back(joinabilityOf(programs[begin + i]).part);
      run.grids[isOnVectorCores(begin + i)].add(part);
      om::LaunchOp launch = launches[begin + i];
      part.name = graph::nodeNameOf(launch.getLoc()).str();
      if (part.name.empty())
        part.name = part.program.getSymName().str();
      part.macs = launch.getCost() / 2;
      part.position = i;
      for (auto [operand, buffer] :
           llvm::zip_equal(launch.getOperands_(), part.program.getBuffers()))
        part.buffers.push_back(
            numbers.insert({{operand, buffer.getType()}, unsigned(numbers.size())}).first->second);
    }
    std::vector<SmallVector<Reach>> reaches;
    for (unsigned i = 0; i < length; ++i)
      reaches.push_back(reachesOf(begin + i));
    findWaits(reaches, parts);
    moveToEnd(parts, unsigned(numbers.size()));
    SmallVector<Value> operands(numbers.size());
    std::vector<JoinedBuffer> buffers(numbers.size());
    for (auto [part, launch] : llvm::zip_equal(parts, group))
      for (auto [number, operand, buffer] : llvm::zip_equal(
               part.buffers, om::LaunchOp(launch).getOperands_(), part.program.getBuffers())) {
        operands[number] = operand;
        const bool isWeight = om::resolveViews(operand).root.getDefiningOp<om::WeightOp>();
        buffers[number] = {buffer.getType(), isWeight};
      }
    return {begin, length, programOf(parts, run, buffers, symbols), operands};
  }

  SmallVector<Reach> reachesOf(size_t index) {
    return npu::reachesOf(launches[index], programs[index]);
  }

  /// Renumbers the buffers so that the one that the last part writes is the last one.
  static void moveToEnd(std::vector<ProgramPart> &parts, unsigned count) {
    const unsigned written = parts.back().buffers.back();
    for (ProgramPart &part : parts)
      for (unsigned &number : part.buffers)
        number = number == written ? count - 1 : number - (number > written);
  }

  /// Returns a program of these parts, the same one for equal parts on equal buffers.
  ir::ProgramOp programOf(const std::vector<ProgramPart> &parts, const Run &run,
                          const std::vector<JoinedBuffer> &buffers, SymbolTable &symbols) {
    for (auto &[otherParts, otherBuffers, program] : made)
      if (otherBuffers == buffers &&
          llvm::equal(otherParts, parts, [](const ProgramPart &a, const ProgramPart &b) {
            return a.program == b.program && a.buffers == b.buffers && a.waits == b.waits &&
                   a.event == b.event && a.name == b.name && a.macs == b.macs;
          }))
        return program;
    std::vector<ProgramPart> sections[2];
    for (const ProgramPart &part : parts)
      sections[ir::ProgramOp(part.program).getVectorCore()].push_back(part);
    ir::ProgramOp program;
    for (unsigned kind : {1, 0}) {
      if (sections[kind].empty())
        continue;
      ir::ProgramOp section =
          joinPrograms(sections[kind], run.grids[kind].sizes(), buffers,
                       otherOf(sections[kind], sections[!kind], run.grids[!kind]));
      section.setSymName((section.getSymName() + (program ? "_mixed" : "_joined")).str());
      symbols.insert(section, Block::iterator(ir::ProgramOp(sections[kind].back().program)));
      if (program)
        section.setVectorPart(program.getSymName());
      program = section;
      outdated.insert(section);
    }
    noteParts(parts, program);
    for (const ProgramPart &part : parts)
      outdated.insert(part.program);
    made.emplace_back(parts, buffers, program);
    return program;
  }

  /// Returns what the parts `own` of a mixed program must know of the other section.
  static OtherSection otherOf(ArrayRef<ProgramPart> own, ArrayRef<ProgramPart> others,
                              const CommonGrid &grid) {
    OtherSection other;
    if (others.empty())
      return other;
    other.cores = 1;
    for (int64_t size : grid.sizes())
      other.cores *= size;
    const PartWait forLast{
        own.back().event,
        unsigned(llvm::count_if(
            own, [&](const ProgramPart &part) { return part.event == own.back().event; })),
        /*crosses=*/true};
    other.waitsForLast = llvm::any_of(
        others, [&](const ProgramPart &part) { return llvm::is_contained(part.waits, forLast); });
    return other;
  }

  /// Notes what was chosen for the parts on the joined program.
  static void noteParts(ArrayRef<ProgramPart> parts, ir::ProgramOp program) {
    SmallVector<Attribute> noted;
    for (const ProgramPart &part : parts)
      if (auto list = ir::ProgramOp(part.program)->getAttrOfType<ArrayAttr>(kChosenAttr))
        for (Attribute entry : list)
          if (!llvm::is_contained(noted, entry))
            noted.push_back(entry);
    if (!noted.empty())
      program->setAttr(kChosenAttr, ArrayAttr::get(program.getContext(), noted));
  }

  /// Returns the weights that the launches of a run bring to L2.
  SmallVector<Value> prefetchOf(const JoinedRun &run) {
    SmallVector<Value> prefetch;
    for (om::LaunchOp launch : ArrayRef(launches).slice(run.begin, run.length))
      llvm::append_range(prefetch, launch.getPrefetch());
    return prefetch;
  }

  /// Returns the tensors that launches of a run but the last one write, as far as no later one of
  /// them overwrites any of their bytes.
  ArrayAttr leftTensorsOf(const JoinedRun &run) {
    Builder b(launches[run.begin].getContext());
    SmallVector<Attribute> left;
    SmallVector<Reach> later;
    for (size_t index = run.begin + run.length; index-- > run.begin;) {
      om::LaunchOp launch = launches[index];
      Value target = om::writtenBy(launch);
      SmallVector<Reach> own = reachesOf(index);
      llvm::erase_if(own, [](const Reach &reach) { return !reach.written; });
      const bool isLast = index + 1 == run.begin + run.length;
      if (!isLast && !doConflict(own, later)) {
        const int64_t operand = llvm::find(run.operands, target) - run.operands.begin();
        SmallVector<NamedAttribute> entry{
            b.getNamedAttr("operand", b.getI64IntegerAttr(operand)),
            b.getNamedAttr("location", LocationAttr(launch.getLoc()))};
        if (launch.getTensor())
          entry.push_back(b.getNamedAttr("tensor", TypeAttr::get(*launch.getTensor())));
        left.push_back(b.getDictionaryAttr(entry));
      }
      later.append(own);
    }
    std::reverse(left.begin(), left.end());
    return b.getArrayAttr(left);
  }

  /// Puts one launch in the place of those of a run.
  void replace(const JoinedRun &run) {
    auto group = ArrayRef(launches).slice(run.begin, run.length);
    om::LaunchOp first = group.front(), last = group.back();
    SmallVector<Location> locations;
    int64_t cost = 0;
    for (om::LaunchOp launch : group) {
      locations.push_back(launch.getLoc());
      cost += int64_t(launch.getCost());
    }
    ArrayAttr left = leftTensorsOf(run);
    ir::ProgramOp program = run.program;
    last.setKernel(program.getSymName());
    last.getOperands_Mutable().assign(run.operands);
    last.getPrefetchMutable().assign(prefetchOf(run));
    last.setCost(cost);
    last.setChained(first.getChained());
    last->setLoc(FusedLoc::get(last.getContext(), locations));
    last.removeInPlaceAttr();
    last->removeAttr(kPreloadedAttr);
    if (!left.empty())
      last->setAttr(om::kLeftTensorsAttr, left);
    for (om::LaunchOp launch : group.drop_back())
      launch.erase();
    numJoined += run.length;
  }
};

} // namespace
} // namespace atc::npu
