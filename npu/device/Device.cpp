//===-- Device.cpp - the NPU as a device that runs launches ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "npu/device/Device.h"

#include "npu/report/Text.h"
#include "npu/simulator/Hazards.h"

#include <atomic>
#include <new>
#include <system_error>
#include <thread>
#include <utility>

using namespace atc::npu;

/// Executes the instructions that the simulator issues. Cores that do not communicate are deferred
/// and executed one by one: their memories stay in the host's caches, and several host threads can
/// share the work.
class Device::Executor : public Observer {
public:
  Executor(const SocTable &soc, unsigned threads) : soc(soc), threads(threads) {}

  void begin(const DeviceLaunch &launch, unsigned cores) {
    ordered = false;
    for (const Instruction &instruction : launch.program->code)
      ordered |= instruction.opcode == Opcode::Signal || instruction.opcode == Opcode::Await;
    while (memories.size() < cores)
      memories.push_back(std::make_unique<CoreMemory>(soc));
    pending.resize(std::max<size_t>(pending.size(), cores));
    for (auto &memory : memories)
      memory->arguments = launch.data;
    waiting = 0;
  }

  void execute(unsigned core, const Instruction &instruction, const Frame &frame) override {
    if (!infoOf(instruction.opcode).addressCount)
      return;
    if (ordered)
      return npu::execute(instruction, frame, *memories[core]);
    pending[core].push_back({&instruction, frame});
    if (++waiting == kMaxWaiting)
      flush();
  }

  /// Executes the deferred cores.
  void flush() {
    waiting = 0;
    std::atomic<size_t> next = 0;
    auto work = [&] {
      for (size_t core; (core = next++) < pending.size();) {
        for (const Step &step : pending[core])
          npu::execute(*step.instruction, step.frame, *memories[core]);
        pending[core].clear();
      }
    };
    size_t busy = 0;
    for (const auto &steps : pending)
      busy += !steps.empty();
    // A helper has nobody who catches what it throws: what it lacks memory for fails
    // the launch. Where no thread can be made the others do its share.
    std::atomic<bool> failed = false;
    auto help = [&] {
      try {
        work();
      } catch (const std::bad_alloc &) {
        failed = true;
      }
    };
    const size_t wanted = std::min<size_t>(threads, busy);
    std::vector<std::thread> helpers;
    helpers.reserve(wanted);
    try {
      while (helpers.size() + 1 < wanted)
        helpers.emplace_back(help);
    } catch (const std::system_error &) { // NOLINT(bugprone-empty-catch)
    } catch (const std::bad_alloc &) {    // NOLINT(bugprone-empty-catch)
    }
    help();
    for (std::thread &helper : helpers)
      helper.join();
    if (failed)
      throw std::bad_alloc();
  }

  void drop() {
    for (auto &steps : pending)
      steps.clear();
  }

private:
  static constexpr size_t kMaxWaiting = 1 << 16;
  struct Step {
    const Instruction *instruction;
    Frame frame;
  };
  const SocTable &soc;
  unsigned threads;
  bool ordered = false; ///< cores wait for each other: execute in the simulator's order
  std::vector<std::unique_ptr<CoreMemory>> memories;
  std::vector<std::vector<Step>> pending;
  size_t waiting = 0;
};

Device::Device(const SocTable &soc, const DeviceOptions &options) : table(soc), chosen(options) {
  if (!chosen.threads)
    chosen.threads = std::max(1u, std::thread::hardware_concurrency());
  if (chosen.functional)
    executor = std::make_unique<Executor>(table, chosen.threads);
  reset();
}

Device::~Device() = default;

void Device::reset() {
  timing = std::make_unique<Simulator>(table);
  timing->timed = chosen.timed;
  timing->maxSpans = chosen.maxSpans;
  timing->observer = executor.get();
  names.clear();
  unordered.clear();
  checked.clear();
  taskEnded = true;
}

void Device::forgetLaunches(size_t kept, size_t more) {
  timing->forgetLaunches(kept);
  names.resize(timing->launches().size());
  timing->maxLaunches = names.size() + more;
}

bool Device::run(const DeviceLaunch &launch, std::string &error) {
  const Program &program = *launch.program;
  size_t count = program.arguments.size();
  if (launch.addresses.size() != count || (executor && launch.data.size() != count)) {
    error = "launch `" + printable(launch.name) + "` is given " +
            std::to_string(executor ? launch.data.size() : launch.addresses.size()) +
            " buffers, its program takes " + std::to_string(count) + "\n";
    return false;
  }
  Launch timed;
  timed.program = &program;
  timed.name = launch.name;
  timed.addresses = launch.addresses;
  timed.chained = launch.chained && !taskEnded;
  timed.beginsRun = std::exchange(runBegins, false);
  if (chosen.prefetch)
    timed.prefetch = launch.prefetch;
  if (chosen.hazards && checked.insert(launch.program).second)
    for (const Hazard &hazard : HazardChecker(table).check(timed))
      unordered.push_back("launch `" + printable(launch.name) + "`: " + hazard.text);
  if (executor) {
    uint64_t cores = 0;
    for (const Section &section : program.sections())
      cores += section.cores(table.cores(section.vectorCore));
    executor->begin(launch, unsigned(cores));
  }
  auto drop = [&] {
    if (executor)
      executor->drop();
    taskEnded = true;
  };
  try {
    if (!timing->run(timed, error)) {
      drop();
      return false;
    }
    if (executor)
      executor->flush();
  } catch (const std::bad_alloc &) {
    drop();
    throw;
  }
  for (const Layer &layer : program.layers)
    addName(layer.name);
  if (program.layers.empty())
    addName(launch.name);
  taskEnded = false;
  return true;
}

void Device::addName(const std::string &name) {
  if (names.size() < timing->launches().size())
    names.push_back(name);
  else
    names.back() = kOtherLaunches;
}
