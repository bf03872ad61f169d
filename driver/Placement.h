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
  uint64_t kernels = 0; ///< launches, kernels of joined ones, and calls of host kernels
  uint64_t macs = 0;    ///< multiply-accumulates, as far as they are known
  uint64_t bytes = 0;   ///< that the kernels read and write, as far as they are known
};

/// A kernel of a model, for the cost of running it on either side.
struct PlacedKernel {
  bool onNpu = false;
  bool isHostCall = false;        ///< of a kernel that serves all shapes
  bool isInteger = false;         ///< its largest tensor has 8-bit elements
  std::string kernel;             ///< what computes it
  std::vector<std::string> nodes; ///< that it computes; those of a fused kernel are several
  std::optional<uint64_t> macs;   ///< nullopt: they depend on shapes of the run
  uint64_t operations = 0;        ///< floating-point operations; those of the NPU are products only
  uint64_t bytes = 0;             ///< that it reads and writes
  bool isPinned = false;          ///< a user wants it on the side that runs it
};

/// A node that is not on the side where a user wants it.
struct MisplacedNode {
  std::string node;
  bool onNpu = false; ///< is there now
  std::string why;    ///< reason; empty where the node is part of a larger kernel
};

/// A tensor on its way between kernels. A position is that in Placement::kernels.
struct PlacedTensor {
  /// Stands for a host kernel that the tensor comes from or goes to.
  static constexpr size_t kHost = SIZE_MAX;
  size_t from, to;
  uint64_t bytes;
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
  std::vector<PlacedKernel> kernels; ///< of both sides, in the order of the schedule
  std::vector<PlacedTensor> tensors; ///< that one kernel writes and another one reads
  std::vector<MisplacedNode> misplaced;

  /// Returns whether the multiplications of all layers are known.
  bool knowsMacs() const;
  /// Returns the layers that matter: with products that have 1 % of the known ones or
  /// more, or whose number is not known.
  std::vector<const HostLayer *> heavyLayers() const;
};

/// Reads the placement from a module behind Phase::Programs; nothing for a CPU.
std::optional<Placement> readPlacement(mlir::ModuleOp module);

/// Reads the kernels of a module behind Phase::Programs for any target; those of a CPU have no
/// reasons for being there.
Placement readKernels(mlir::ModuleOp module);

/// Returns at most three lines for people: a line for each side that has work, and the
/// reasons, those of the largest layers first.
std::vector<std::string> describe(const Placement &placement);

/// Adds one warning, W11010, where layers that matter have left the NPU.
void warnOfHostLayers(const Placement &placement, Diagnostics &diagnostics);

/// Adds a warning, W10055, for each node that is not where --op_placement wants it.
void warnOfMisplacedNodes(const Placement &placement, Diagnostics &diagnostics);

} // namespace atc::driver

#endif // OPENATC_DRIVER_PLACEMENT_H
