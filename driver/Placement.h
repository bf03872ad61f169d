//===-- Placement.h - what runs on the NPU and what on the CPU ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_DRIVER_PLACEMENT_H
#define OPENATC_DRIVER_PLACEMENT_H

#include "mlir/IR/BuiltinOps.h"
#include "support/Diagnostics.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace atc::driver {

/// The work on one side. A loop counts once.
struct PlacedWork {
  uint64_t kernels = 0; ///< launches, and calls of host kernels
  uint64_t macs = 0;    ///< multiply-accumulates, as far as they are known
  uint64_t bytes = 0;   ///< that the kernels read and write, as far as they are known
};

/// A kernel that the CPU runs in a model for an NPU.
struct HostLayer {
  std::string name, kernel;     ///< of the node, and of what computes it
  std::optional<uint64_t> macs; ///< nullopt: they depend on shapes of the run
  uint64_t bytes = 0;
  std::string why; ///< reason for which the NPU does not run it
};

/// States what a model compiled for an NPU runs on the NPU and what on the CPU.
struct Placement {
  PlacedWork npu, host;
  uint64_t switches = 0;             ///< between kernels of one side and of the other
  uint64_t copiedBytes = 0;          ///< of tensors that one side writes and the other reads
  std::vector<HostLayer> hostLayers; ///< in the order of the schedule

  bool knowsMacs() const;
  /// Returns the layers that matter: with products that have 1 % of the known ones or
  /// more, or whose number is not known.
  std::vector<const HostLayer *> heavyLayers() const;
};

/// Reads the placement from a module behind Phase::Programs; nothing for a CPU.
std::optional<Placement> readPlacement(mlir::ModuleOp module);

/// Returns at most three lines for people: a line for each side that has work, and the
/// reasons, those of the largest layers first.
std::vector<std::string> describe(const Placement &placement);

/// Adds one warning, W11010, where layers that matter have left the NPU.
void warnOfHostLayers(const Placement &placement, Diagnostics &diagnostics);

} // namespace atc::driver

#endif // OPENATC_DRIVER_PLACEMENT_H
