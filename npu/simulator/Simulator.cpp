//===-- Simulator.cpp - simulates launches one after the other ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "npu/simulator/Simulator.h"

#include "npu/simulator/Machine.h"

using namespace atc::npu;

void Statistics::add(const Statistics &other) {
  cycles += other.cycles;
  instructions += other.instructions;
  macs += other.macs;
  coreCount = std::max(coreCount, other.coreCount);
  cubeCores = std::max(cubeCores, other.cubeCores);
  vectorCores = std::max(vectorCores, other.vectorCores);
  bandwidthStall += other.bandwidthStall;
  startCycles += other.startCycles;
  activeCycles += other.activeCycles;
  cubeCycles += other.cubeCycles;
  tailStall += other.tailStall;
  l2Hit += other.l2Hit;
  l2Missed += other.l2Missed;
  l2Evicted += other.l2Evicted;
  bypassed += other.bypassed;
  prefetched += other.prefetched;
  l2Read += other.l2Read;
  l2Written += other.l2Written;
  ddrRead += other.ddrRead;
  ddrWritten += other.ddrWritten;
  for (unsigned i = 0; i < kQueues; ++i) {
    busy[i] += other.busy[i];
    barrierStall[i] += other.barrierStall[i];
    signalStall[i] += other.signalStall[i];
    queueFull[i] += other.queueFull[i];
    for (unsigned j = 0; j < kQueues; ++j)
      flagStall[i][j] += other.flagStall[i][j];
  }
  for (unsigned i = 0; i < kMemories; ++i)
    localBytes[i] = std::max(localBytes[i], other.localBytes[i]);
  for (unsigned i = 0; i < kMemories; ++i)
    for (unsigned j = 0; j < kMemories; ++j)
      bytes[i][j] += other.bytes[i][j];
}

const char *atc::npu::nameOf(Stall stall) {
  static const char *const names[kStalls] = {"", "flag", "barrier", "signal", "queue full"};
  return names[unsigned(stall)];
}

void Simulator::endRun(uint64_t boundary) {
  if (!timed || perLaunch.empty())
    return;
  Statistics statistics;
  statistics.ddrWritten = memory.writeBack(boundary, UINT64_MAX);
  memory.invalidate(boundary, UINT64_MAX);
  statistics.cycles = statistics.activeCycles = statistics.ddrWritten ? memory.ddrIdleAt() : 0;
  memory.endLaunch(statistics.cycles);
  perLaunch.back().add(statistics);
  sum.add(statistics);
}

bool Simulator::run(const Launch &launch, std::string &error) {
  std::vector<Statistics> layers(std::max<size_t>(launch.program->layers.size(), 1));
  machine::Machine machine(soc, memory, launch, *this, layers);
  machine.launchNumber = uint32_t(perLaunch.size());
  machine.origin = sum.cycles;
  if (!machine.run(error))
    return false;
  for (const Statistics &statistics : layers)
    keep(statistics);
  return true;
}

void Simulator::keep(const Statistics &statistics) {
  sum.add(statistics);
  if (perLaunch.size() < maxLaunches)
    perLaunch.push_back(statistics);
  else
    perLaunch.back().add(statistics);
}
