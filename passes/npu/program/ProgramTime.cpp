//===-- ProgramTime.cpp - simulated time of one program -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/npu/program/ProgramTime.h"

#include "backends/npu/ProgramEncoder.h"
#include "npu/simulator/Simulator.h"

using namespace mlir;

namespace atc::npu {

namespace {

constexpr double kMaxInstructions = 300'000;

/// Returns the statistics of a second launch, which finds in L2 what the first one brought there,
/// all but the buffers `cold`.
std::optional<Statistics> secondLaunch(const Program &program, const SocTable &soc,
                                       ArrayRef<unsigned> cold) {
  Launch launch;
  launch.program = &program;
  uint64_t address = 0x10000000;
  auto place = [&](uint64_t bytes) {
    return std::exchange(address, address + llvm::alignTo(bytes, soc.l2Line));
  };
  for (uint64_t bytes : program.arguments)
    launch.addresses.push_back(place(bytes));
  Simulator simulator(soc);
  std::string error;
  for (bool chained : {false, true}) {
    launch.chained = chained;
    if (!simulator.run(launch, error))
      return std::nullopt;
    for (unsigned index : cold)
      launch.addresses[index] = place(program.arguments[index]);
  }
  return simulator.launches().back();
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
  std::optional<Statistics> launch = secondLaunch(program, soc, {});
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
  std::optional<Statistics> launch = secondLaunch(*encoded, soc, cold);
  if (!launch)
    return std::nullopt;
  double busy = launch->busy[unsigned(Queue::MTE2)] / std::max(1.0, double(launch->coreCount));
  return ProgramUse{launch->cycles, std::max(0.0, launch->cycles - launch->startCycles - busy)};
}

} // namespace atc::npu
