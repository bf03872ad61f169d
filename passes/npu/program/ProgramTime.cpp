//===-- ProgramTime.cpp - simulated time of one program -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/npu/program/ProgramTime.h"

#include "backends/npu/ProgramEncoder.h"
#include "npu/isa/Codec.h"
#include "npu/simulator/Simulator.h"

#include "llvm/Support/xxhash.h"

#include <map>
#include <mutex>

using namespace mlir;

namespace atc::npu {

namespace {

constexpr double kMaxInstructions = 300'000;

/// The statistics of a launch that are asked for.
struct LaunchTimes {
  double cycles = 0, startCycles = 0;
  double busyLoads = 0; ///< of the queue for loads, mean of the cores
};

/// Remembers the times of programs: a search compiles a model again and again, and most of its
/// programs are the same each time. The times depend on the key alone, so that it does not matter
/// which compilation of the process has measured them.
class KnownTimes {
public:
  /// All that the time of a launch depends on, as a hash.
  using Key = std::pair<uint64_t, uint64_t>;

  static Key keyOf(const Program &program, const SocTable &soc, ArrayRef<unsigned> cold) {
    std::string text = writeSoc(soc);
    auto add = [&](uint64_t number) { text += std::to_string(number) + ' '; };
    add(program.vectorCore);
    for (uint32_t size : program.grid)
      add(size);
    for (uint64_t bytes : program.arguments)
      add(bytes);
    add(program.arguments.size());
    for (unsigned index : cold)
      add(index);
    const auto code = encode(program);
    text.append(code.begin(), code.end());
    const llvm::XXH128_hash_t hash = llvm::xxh3_128bits(llvm::arrayRefFromStringRef(text));
    return {hash.low64, hash.high64};
  }

  /// Sets `launch` to what is known for a key, which may be that the program does not end. Returns
  /// false where nothing is known.
  bool find(const Key &key, std::optional<LaunchTimes> &launch) {
    const std::lock_guard lock(mutex);
    auto found = times.find(key);
    if (found == times.end())
      return false;
    launch = found->second;
    return true;
  }
  void add(const Key &key, const std::optional<LaunchTimes> &launch) {
    const std::lock_guard lock(mutex);
    if (times.size() < kMaxTimes)
      times.emplace(key, launch);
  }

private:
  static constexpr size_t kMaxTimes = 1 << 17;
  std::mutex mutex;
  std::map<Key, std::optional<LaunchTimes>> times;
};

/// Returns the times of a second launch, which finds in L2 what the first one brought there, all
/// but the buffers `cold`.
std::optional<LaunchTimes> simulateSecond(const Program &program, const SocTable &soc,
                                          ArrayRef<unsigned> cold) {
  Launch launch;
  launch.program = &program;
  uint64_t next = 0x10000000;
  auto allocate = [&](uint64_t bytes) {
    return std::exchange(next, next + llvm::alignTo(bytes, soc.l2Line));
  };
  for (uint64_t bytes : program.arguments)
    launch.addresses.push_back(allocate(bytes));
  Simulator simulator(soc);
  std::string error;
  for (bool chained : {false, true}) {
    launch.chained = chained;
    if (!simulator.run(launch, error))
      return std::nullopt;
    for (unsigned index : cold)
      launch.addresses[index] = allocate(program.arguments[index]);
  }
  const Statistics &last = simulator.launches().back();
  return LaunchTimes{last.cycles, last.startCycles,
                     last.busy[unsigned(Queue::MTE2)] / std::max(1.0, double(last.coreCount))};
}

std::optional<LaunchTimes> secondLaunch(const Program &program, const SocTable &soc,
                                        ArrayRef<unsigned> cold) {
  static KnownTimes known;
  const KnownTimes::Key key = KnownTimes::keyOf(program, soc, cold);
  std::optional<LaunchTimes> times;
  if (known.find(key, times))
    return times;
  times = simulateSecond(program, soc, cold);
  known.add(key, times);
  return times;
}

/// Returns the number of instructions of one core.
double instructionsOf(Block &block) {
  double count = 0;
  for (Operation &op : block)
    if (auto loop = dyn_cast<ir::LoopOp>(op))
      count += double(loop.getTrips()) * instructionsOf(*loop.getBody());
    else
      ++count;
  return count;
}

} // namespace

std::optional<double> timeOfProgram(const Program &program, const SocTable &soc) {
  std::optional<LaunchTimes> launch = secondLaunch(program, soc, {});
  return launch ? std::optional(launch->cycles) : std::nullopt;
}

std::optional<ProgramUse> useOfProgram(ir::ProgramOp program, const SocTable &soc,
                                       ArrayRef<unsigned> cold) {
  double cores = 1;
  for (int64_t size : program.getGrid())
    cores *= double(size);
  if (instructionsOf(*program.getBody()) * cores > kMaxInstructions)
    return std::nullopt;
  FailureOr<Program> encoded = encodeProgram(program);
  if (failed(encoded))
    return std::nullopt;
  std::optional<LaunchTimes> launch = secondLaunch(*encoded, soc, cold);
  if (!launch)
    return std::nullopt;
  return ProgramUse{launch->cycles,
                    std::max(0.0, launch->cycles - launch->startCycles - launch->busyLoads)};
}

} // namespace atc::npu
