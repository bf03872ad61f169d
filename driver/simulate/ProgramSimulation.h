//===-- ProgramSimulation.h - simulates programs of the npu dialect -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_DRIVER_SIMULATE_PROGRAMSIMULATION_H
#define OPENATC_DRIVER_SIMULATE_PROGRAMSIMULATION_H

#include "support/Diagnostics.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace atc::driver {

/// Names the programs to simulate, and what to report of them.
struct SimulationRequest {
  std::string name;         ///< of the programs in messages and titles, such as the file's path
  std::string text;         ///< a module in MLIR with one npu.program or more
  std::string soc;          ///< the name of a SoC; empty: that of each program
  std::string socFile;      ///< the path of a table, which replaces `soc`; empty: none
  bool schedule = false;    ///< select buffers, allocate local memory, reorder, insert flags first
  bool checkHazards = true; ///< find accesses without an order between them
  /// Times to run the programs before the run that is reported: with 1, L2 holds what fits of it.
  unsigned warmup = 0;
  bool html = false, timeline = false; ///< texts that are made
};

/// The outcome of a simulation. Lines of instructions are those of the text; where `schedule` is
/// true, instructions that passes have inserted have the line of their program.
struct SimulationResult {
  std::string json;                 ///< figures of the run (npu/report/Report.h), one object
  std::string html, timeline;       ///< the page and the trace; empty where not requested
  std::vector<std::string> hazards; ///< one line each, without a code
};

/// Reads, verifies and simulates the programs of a module, in their order, each on buffers of its
/// own in gm; nothing is computed. All programs are for one SoC. Errors go to `diagnostics`: those
/// of the text, of the table, of every program (no access may leave its buffer), and of programs
/// whose queues wait for ever. Returns nothing where there was one.
std::optional<SimulationResult> simulatePrograms(const SimulationRequest &request,
                                                 Diagnostics &diagnostics);

} // namespace atc::driver

#endif // OPENATC_DRIVER_SIMULATE_PROGRAMSIMULATION_H
