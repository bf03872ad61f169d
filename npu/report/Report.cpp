//===-- Report.cpp - the figures of a run ---------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "npu/report/Report.h"

#include "npu/report/ReportParts.h"
#include "npu/report/Text.h"

using namespace atc::npu;

static double ratio(double part, double whole) { return whole > 0 ? part / whole : 0; }

Figures::Figures(const ReportInput &input)
    : soc(*input.soc), launches(input.simulator->launches()),
      first(std::min(input.firstLaunch, launches.size())) {
  for (size_t i = 0; i < launches.size(); ++i)
    (i < first ? origin : end) += launches[i].cycles;
  end += origin;
  for (size_t i = first; i < launches.size(); ++i) {
    const Statistics &launch = launches[i];
    run.add(launch);
    joinedLayers += launch.joined;
    uint64_t macs = i - first < input.launches.size() ? input.launches[i - first].macs : 0;
    kernelMacs += macs;
  }
  // Layers that ran at the same time count once.
  run.activeCycles = run.cycles;
  // Where the caller does not know it, the padding of tiles counts as well.
  if (!kernelMacs)
    kernelMacs = run.macs;
}

std::string Figures::nameOf(const ReportInput &input, size_t launch) const {
  if (launch >= first && launch - first < input.launches.size())
    return input.launches[launch - first].name;
  return "launch " + std::to_string(launch);
}

std::string Figures::programOf(const ReportInput &input, size_t launch) const {
  return launch >= first && launch - first < input.launches.size()
             ? input.launches[launch - first].program
             : "";
}

double Figures::coresOf(unsigned queue) const {
  // On a SoC with separate cores, only one of both kinds has the cube or the vector unit.
  bool both = soc.split && (Queue(queue) == Queue::MTE2 || Queue(queue) == Queue::MTE3 ||
                            Queue(queue) == Queue::S);
  return double(both ? soc.cores(false) + soc.cores(true) : soc.cores(Queue(queue) == Queue::V));
}

double Figures::stallOf(unsigned queue) const {
  double sum = run.barrierStall[queue] + run.signalStall[queue];
  for (unsigned from = 0; from < kQueues; ++from)
    sum += run.flagStall[from][queue];
  return sum;
}

Roofline atc::npu::rooflineOf(const ReportInput &input) {
  Figures figures(input);
  const SocTable &soc = figures.soc;
  double cores = double(soc.cubeCores);
  // The cube's rate depends on the type: that of the run's own mix.
  double cyclesPerMac = figures.run.macs ? figures.run.cubeCycles / double(figures.run.macs)
                                         : 1 / soc.macsPerCycle(DataType::F16);
  Roofline line;
  line.cube = soc.microseconds(double(figures.kernelMacs) * cyclesPerMac / cores);
  uint64_t weights = input.weightBytes - std::min(input.weightBytes, input.residentWeightBytes);
  line.ddr = soc.microseconds(double(weights + input.boundaryBytes) / (soc.ddrRate() * cores));
  line.time = soc.microseconds(figures.run.cycles);
  return line;
}

std::vector<Use> atc::npu::usesOf(const SocTable &soc, const Statistics &statistics) {
  double channel = statistics.activeCycles * double(soc.cubeCores);
  auto busy = [&](Queue queue) {
    // A launch on cube and vector cores has some queues on one kind only.
    uint64_t cores = statistics.coreCount;
    if (statistics.cubeCores && statistics.vectorCores && queue != Queue::MTE2)
      cores =
          queue == Queue::V || queue == Queue::MTE3 ? statistics.vectorCores : statistics.cubeCores;
    return ratio(statistics.busy[unsigned(queue)], statistics.activeCycles * double(cores));
  };
  auto moved = [&](uint64_t bytes, double rate) { return ratio(double(bytes), channel * rate); };
  return {{"cube", busy(Queue::M)},
          {"vector", busy(Queue::V)},
          {"L1 to L0", busy(Queue::MTE1)},
          {"gm to L1, UB", busy(Queue::MTE2)},
          {"UB to gm, L1", busy(Queue::MTE3)},
          {"L0C to gm, L1", busy(Queue::FIX)},
          {"DDR", moved(statistics.ddrRead + statistics.ddrWritten, soc.ddrRate())},
          {"L2 read", moved(statistics.l2Read, soc.l2Read)},
          {"L2 write", moved(statistics.l2Written, soc.l2Write)}};
}

const char *atc::npu::boundOf(const SocTable &soc, const Statistics &statistics) {
  if (statistics.startCycles > statistics.cycles / 2)
    return "start";
  std::vector<Use> uses = usesOf(soc, statistics);
  // A saturated channel keeps the queues of all cores busy: it is the cause.
  size_t queues = 6, best = queues;
  for (size_t i = queues; i < uses.size(); ++i)
    if (uses[i].share > uses[best].share)
      best = i;
  if (uses[best].share > 0.75)
    return uses[best].name;
  best = 0;
  for (size_t i = 1; i < queues; ++i)
    if (uses[i].share > uses[best].share)
      best = i;
  return uses[best].share > 0.5 ? uses[best].name : "waits";
}

namespace {

/// Writes the members of an object one after the other.
class Members {
public:
  Members &add(const std::string &key, const std::string &json) {
    text += (text.empty() ? "" : ", ") + quoted(key) + ": " + json;
    return *this;
  }
  Members &add(const std::string &key, double value, int digits = 4) {
    return add(key, fixed(value, digits));
  }
  Members &add(const std::string &key, uint64_t value) { return add(key, std::to_string(value)); }
  std::string object() const { return "{" + text + "}"; }

private:
  std::string text;
};

/// Appends an object to the text of a list, each on a line of its own.
void append(std::string &list, const Members &members) {
  list += (list.empty() ? "\n    " : ",\n    ") + members.object();
}

/// Returns how each queue was used.
Members queuesOf(const Figures &figures) {
  const Statistics &run = figures.run;
  Members queues;
  for (unsigned queue = 0; queue < kQueues; ++queue)
    queues.add(nameOf(Queue(queue)),
               Members()
                   .add("busy_cycles", run.busy[queue], 1)
                   .add("utilisation", ratio(run.busy[queue], run.cycles * figures.coresOf(queue)))
                   .add("waits_cycles", figures.stallOf(queue), 1)
                   .object());
  return queues;
}

/// Returns what the queues waited for, in cycles.
Members stallsOf(const Statistics &run) {
  Members flags;
  double barrier = 0, signal = 0, full = 0;
  for (unsigned queue = 0; queue < kQueues; ++queue) {
    for (unsigned from = 0; from < kQueues; ++from)
      if (run.flagStall[from][queue] > 0)
        flags.add(std::string(nameOf(Queue(from))) + " -> " + nameOf(Queue(queue)),
                  run.flagStall[from][queue], 1);
    barrier += run.barrierStall[queue];
    signal += run.signalStall[queue];
    full += run.queueFull[queue];
  }
  return Members()
      .add("flags_cycles", flags.object())
      .add("barrier_cycles", barrier, 1)
      .add("signal_cycles", signal, 1)
      .add("queue_full_cycles", full, 1)
      .add("bandwidth_cycles", run.bandwidthStall, 1)
      .add("last_core_cycles", run.tailStall, 1)
      .add("start_cycles", run.startCycles, 1);
}

/// Returns the size of each local memory and how much of it was used, in bytes.
Members localMemoriesOf(const Figures &figures) {
  Members local;
  for (unsigned i = 0; i < kMemories; ++i)
    if (Memory(i) != Memory::GM)
      local.add(nameOf(Memory(i)), Members()
                                       .add("bytes", figures.soc.memoryBytes(Memory(i)))
                                       .add("used", figures.run.localBytes[i])
                                       .object());
  return local;
}

/// Returns the bytes that were moved from each memory to each other one.
Members movedBytesOf(const Statistics &run) {
  Members moved;
  for (unsigned i = 0; i < kMemories; ++i)
    for (unsigned j = 0; j < kMemories; ++j)
      if (run.bytes[i][j])
        moved.add(std::string(nameOf(Memory(i))) + " -> " + nameOf(Memory(j)), run.bytes[i][j]);
  return moved;
}

/// Returns the list of the launches of a run.
std::string launchesOf(const ReportInput &input, const Figures &figures) {
  const SocTable &soc = figures.soc;
  std::string list;
  for (size_t i = figures.first; i < figures.launches.size(); ++i) {
    const Statistics &launch = figures.launches[i];
    Members used;
    for (const Use &use : usesOf(soc, launch))
      used.add(use.name, use.share, 3);
    append(list, Members()
                     .add("name", quoted(figures.nameOf(input, i)))
                     .add("program", quoted(figures.programOf(input, i)))
                     .add("joined", launch.joined ? "true" : "false")
                     .add("cycles", launch.cycles, 1)
                     .add("us", soc.microseconds(launch.cycles))
                     .add("macs", launch.macs)
                     .add("cores", launch.coreCount)
                     .add("cube_utilisation",
                          ratio(launch.cubeCycles, launch.activeCycles * double(soc.cubeCores)))
                     .add("bound_by", quoted(boundOf(soc, launch)))
                     .add("uses", used.object())
                     .add("ddr_bytes", launch.ddrRead + launch.ddrWritten)
                     .add("prefetched_bytes", launch.prefetched));
  }
  return "[" + list + "]";
}

/// Returns the list of the cores that ran instructions.
std::string coresOf(const ReportInput &input, const SocTable &soc) {
  std::string list;
  const std::vector<CoreStatistics> &uses = input.simulator->cores();
  for (size_t i = 0; i < uses.size(); ++i) {
    if (!uses[i].instructions)
      continue;
    Members perQueue;
    for (unsigned queue = 0; queue < kQueues; ++queue)
      if (uses[i].busy[queue] > 0 || uses[i].waits[queue] > 0)
        perQueue.add(nameOf(Queue(queue)), Members()
                                               .add("busy_cycles", uses[i].busy[queue], 1)
                                               .add("waits_cycles", uses[i].waits[queue], 1)
                                               .object());
    bool isVector = soc.split && i >= soc.cubeCores;
    append(list, Members()
                     .add("core", uint64_t(isVector ? i - soc.cubeCores : i))
                     .add("kind", quoted(isVector    ? "vector"
                                         : soc.split ? "cube"
                                                     : "core"))
                     .add("instructions", uses[i].instructions)
                     .add("queues", perQueue.object()));
  }
  return "[" + list + "]";
}

} // namespace

std::string atc::npu::reportJson(const ReportInput &input) {
  Figures figures(input);
  const SocTable &soc = figures.soc;
  const Statistics &run = figures.run;
  Roofline line = rooflineOf(input);
  return Members()
             .add("model", quoted(input.title))
             .add("soc", quoted(soc.name))
             .add("note", quoted(hostSentence(input)))
             .add("cycles", run.cycles, 1)
             .add("ms", line.time / 1000, 6)
             .add("launches", figures.launchCount())
             .add("instructions", run.instructions)
             .add("macs_npu", figures.kernelMacs)
             .add("macs_executed", run.macs)
             .add("macs_model", input.modelMacs)
             .add("host", Members()
                              .add("kernels", input.host.kernels)
                              .add("switches", input.host.switches)
                              .object())
             .add("cube_utilisation", ratio(run.cubeCycles, run.cycles * double(soc.cubeCores)))
             .add("bound_by", quoted(boundOf(soc, run)))
             .add("roofline", Members()
                                  .add("bound_by", quoted(line.cube >= line.ddr ? "cube" : "DDR"))
                                  .add("bound_ms", line.bound() / 1000, 6)
                                  .add("cube_ms", line.cube / 1000, 6)
                                  .add("ddr_ms", line.ddr / 1000, 6)
                                  .add("times_bound", line.times())
                                  .object())
             .add("queues", queuesOf(figures).object())
             .add("stalls", stallsOf(run).object())
             .add("l2", Members()
                            .add("hit_bytes", run.l2Hit)
                            .add("missed_bytes", run.l2Missed)
                            .add("evicted_bytes", run.l2Evicted)
                            .add("prefetched_bytes", run.prefetched)
                            .add("bypassed_bytes", run.bypassed)
                            .object())
             .add("ddr", Members()
                             .add("read_bytes", run.ddrRead)
                             .add("written_bytes", run.ddrWritten)
                             .object())
             .add("moved_bytes", movedBytesOf(run).object())
             .add("local_memories", localMemoriesOf(figures).object())
             .add("dropped_spans", input.simulator->droppedSpans)
             .add("per_launch", launchesOf(input, figures))
             .add("per_core", coresOf(input, soc))
             .object() +
         "\n";
}

std::string atc::npu::hostSentence(const ReportInput &input) {
  std::string text = "Time of the simulated NPU alone: the host's work is left out";
  if (input.hostLaunches)
    text += ", also its " + std::to_string(input.hostLaunches) + " kernels of this model (" +
            std::to_string(input.host.switches) + " switches between NPU and host in the run)";
  return text + ".";
}
