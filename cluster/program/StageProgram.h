//===-- StageProgram.h - stages and layers by an integer program *- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Dynamic programming divides a chain whose layers are all treated alike. Where each layer has a
// choice of its own, of what its backward pass finds in memory, the choices of a stage are coupled
// by the memory of the device, which an integer program states.

#ifndef OPENATC_CLUSTER_PROGRAM_STAGEPROGRAM_H
#define OPENATC_CLUSTER_PROGRAM_STAGEPROGRAM_H

#include "cluster/Planner.h"

namespace atc::cluster {

/// The result of the program.
struct StageChoice {
  std::vector<uint32_t> stages; ///< the first layer of each stage
  std::vector<Recompute> modes; ///< of each layer
  double seconds = 0;           ///< of the slowest stage
  uint32_t variables = 0;       ///< of the program
};

/// Returns whether the solver was there when this library was built.
bool hasSolver();

/// Finds the stages and the mode of each layer, one of `modes`, with which the slowest stage of
/// `plan` (all fields but recompute, stages and modes are given) is fastest and each stage fits
/// into the memory of the device. Returns nothing where no choice takes less than `below` seconds,
/// where the program is too large, or without a solver.
std::optional<StageChoice> solveStages(const Cluster &cluster, const Device &device,
                                       const Chain &chain, const Plan &plan,
                                       const std::vector<Recompute> &modes, double below);

/// Replaces plans for training by faster ones of the same tp, pp and dp in which layers differ, and
/// sorts all by time. Does nothing without a solver.
void mixLayers(PlanSearch &search, const Cluster &cluster, const Device &device,
               const Chain &chain);

} // namespace atc::cluster

#endif // OPENATC_CLUSTER_PROGRAM_STAGEPROGRAM_H
