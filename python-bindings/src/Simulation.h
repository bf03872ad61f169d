//===-- Simulation.h - simulated programs for Python ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// No MLIR and no Python header, as in CompilerModule.h.

#ifndef OPENATC_PYTHON_SIMULATION_H
#define OPENATC_PYTHON_SIMULATION_H

#include <string>
#include <vector>

namespace atc::python {

/// The texts of a simulation: figures as JSON, the HTML page, the trace, and hazards.
struct SimulatedTexts {
  std::string json, html, timeline;
  std::vector<std::string> hazards;
};

/// Simulates the npu programs in `text`, a module of MLIR that messages call `name`; see
/// driver/simulate/ProgramSimulation.h. Throws ErrorLines.
SimulatedTexts simulatePrograms(const std::string &name, const std::string &text,
                                const std::string &soc, const std::string &socFile, bool schedule,
                                bool checkHazards, unsigned warmup);

} // namespace atc::python

#endif // OPENATC_PYTHON_SIMULATION_H
