//===-- Simulation.cpp - simulated programs for Python --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "python-bindings/src/Simulation.h"

#include "driver/simulate/ProgramSimulation.h"
#include "python-bindings/src/ModuleParts.h"

namespace atc::python {

SimulatedTexts simulatePrograms(const std::string &name, const std::string &text,
                                const std::string &soc, const std::string &socFile, bool schedule,
                                bool checkHazards, unsigned warmup) {
  driver::SimulationRequest request;
  request.name = name;
  request.text = text;
  request.soc = soc;
  request.socFile = socFile;
  request.schedule = schedule;
  request.checkHazards = checkHazards;
  request.warmup = warmup;
  request.html = request.timeline = true;
  Diagnostics diagnostics;
  std::optional<driver::SimulationResult> result = driver::simulatePrograms(request, diagnostics);
  throwErrors(diagnostics);
  return {std::move(result->json), std::move(result->html), std::move(result->timeline),
          std::move(result->hazards)};
}

} // namespace atc::python
