//===-- ProgramTime.cpp - simulated time of one program -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/npu/program/ProgramTime.h"

#include "npu/simulator/Simulator.h"

namespace atc::npu {

std::optional<double> timeOfProgram(const Program &program, const SocTable &soc) {
  Launch launch;
  launch.program = &program;
  uint64_t address = 0x10000000;
  for (uint64_t bytes : program.arguments) {
    launch.addresses.push_back(address);
    address += (bytes + soc.l2Line - 1) / soc.l2Line * soc.l2Line;
  }
  // The first launch brings the data into L2.
  Simulator simulator(soc);
  std::string error;
  for (bool chained : {false, true}) {
    launch.chained = chained;
    if (!simulator.run(launch, error))
      return std::nullopt;
  }
  return simulator.launches().back().cycles;
}

} // namespace atc::npu
