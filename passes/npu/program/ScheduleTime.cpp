//===-- ScheduleTime.cpp - simulated time of launches in sequence ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/npu/program/ScheduleTime.h"

#include "backends/npu/ProgramEncoder.h"
#include "passes/om/Schedule.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace atc::npu {

// As on the device, weights come first, then the arena, then what the host reads and writes.
static constexpr uint64_t kWeights = 1ull << 28, kArena = 1ull << 40, kBoundary = 1ull << 44;

ScheduleTime::ScheduleTime(const SocTable &soc, uint64_t maxSteps, uint64_t maxBytes)
    : soc(soc), maxSteps(maxSteps), maxBytes(maxBytes), simulator(soc), nextWeight(kWeights),
      nextArgument(kBoundary) {
  simulator.stepsLeft = maxSteps;
  simulator.bytesLeft = maxBytes;
}

const Program *ScheduleTime::encodingOf(ir::ProgramOp program) {
  auto found = programs.find(program);
  if (found == programs.end()) {
    FailureOr<Program> encoded = encodeProgram(program);
    if (failed(encoded))
      return nullptr;
    found = programs.emplace(program, std::move(*encoded)).first;
  }
  return &found->second;
}

uint64_t ScheduleTime::addressOf(Value buffer) {
  const om::BufferPart part = om::resolveViews(buffer);
  if (auto alloc = part.root.getDefiningOp<om::AllocOp>())
    return kArena + alloc.getOffset().value_or(0) + uint64_t(part.offset);
  auto [entry, isNew] = addresses.try_emplace(part.root, 0);
  if (isNew) {
    const bool isWeight = part.root.getDefiningOp<om::WeightOp>() != nullptr;
    const uint64_t bytes = uint64_t(om::spanInBytes(cast<MemRefType>(part.root.getType())));
    uint64_t &next = isWeight ? nextWeight : nextArgument;
    entry->second = std::exchange(next, next + llvm::alignTo(bytes, soc.l2Line));
  }
  return entry->second + uint64_t(part.offset);
}

/// Returns the bytes of all tensors that launches read and write.
static uint64_t bytesOf(ArrayRef<TimedLaunch> launches) {
  uint64_t bytes = 0;
  for (const TimedLaunch &timed : launches)
    for (Value operand : timed.operands)
      bytes += uint64_t(om::spanInBytes(cast<MemRefType>(operand.getType())));
  return bytes;
}

std::optional<std::vector<double>> ScheduleTime::run(ArrayRef<TimedLaunch> launches) {
  // Times are compared, so that it takes two runs or more; a limit that they reach is known before
  // they have taken seconds.
  if (bytesOf(launches) > maxBytes / 2)
    return std::nullopt;
  bool begins = true;
  std::vector<size_t> ends; ///< of each launch among the simulator's, of which layers are several
  for (const TimedLaunch &timed : launches) {
    Launch launch;
    launch.program = encodingOf(timed.program);
    if (!launch.program)
      return std::nullopt;
    for (Value operand : timed.operands)
      launch.addresses.push_back(addressOf(operand));
    for (Value weight : timed.prefetch)
      launch.prefetch.push_back(
          {addressOf(weight), uint64_t(om::spanInBytes(cast<MemRefType>(weight.getType())))});
    launch.chained = timed.chained;
    launch.beginsRun = std::exchange(begins, false);
    std::string error;
    if (!simulator.run(launch, error))
      return std::nullopt;
    ends.push_back(simulator.launches().size());
  }
  simulator.endRun(kBoundary);
  std::vector<double> cycles;
  size_t next = 0;
  for (size_t end : ends) {
    cycles.push_back(0);
    for (; next < end; ++next)
      cycles.back() += simulator.launches()[next].cycles;
  }
  simulator.forgetLaunches(0);
  return cycles;
}

bool ScheduleTime::hasRoomFor(unsigned count) const {
  return simulator.stepsLeft / count >= maxSteps - simulator.stepsLeft &&
         simulator.bytesLeft / count >= maxBytes - simulator.bytesLeft;
}

std::optional<std::vector<double>> ScheduleComparison::measure(ArrayRef<TimedLaunch> launches) {
  if (isFirst) {
    isFirst = false;
    std::optional<std::vector<double>> cycles = time->run(launches);
    if (!cycles || !time->hasRoomFor(1))
      return std::nullopt;
    comparesFirstRuns = !time->hasRoomFor(3);
    hasRoomForTwo = time->hasRoomFor(2);
    if (comparesFirstRuns)
      return cycles;
  } else if (comparesFirstRuns) {
    time.emplace(soc, ScheduleTime::kMaxSteps, maxBytes);
  }
  return time->run(launches);
}

} // namespace atc::npu
