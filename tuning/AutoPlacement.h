//===-- AutoPlacement.h - parts of a model on NPU and CPU by cost ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// --target=auto: the model as a whole on the NPU, as a whole on the CPU, and mixtures of both are
// compiled and charged by one cost; the cheapest one is compiled.

#ifndef OPENATC_TUNING_AUTOPLACEMENT_H
#define OPENATC_TUNING_AUTOPLACEMENT_H

#include "driver/Compiler.h"
#include "driver/HostTime.h"

#include <string>
#include <vector>

namespace atc::tuning {

/// The time charged for a switch between the sides, and the rate of copies between their memories.
struct LinkCosts {
  double switchSeconds = 5e-6;
  double bytesPerSecond = 16e9;
};

/// A kernel of a candidate with what it is charged.
struct ChargedKernel {
  driver::PlacedKernel kernel;
  double seconds = 0;
};

/// A way to run the model, with its cost in seconds per run.
struct PlacementCandidate {
  std::string name; ///< "npu", "cpu", "mixed 1"
  driver::CompilerOptions options;
  std::string error;      ///< why it cannot be used; empty where it can
  double npuSeconds = 0;  ///< simulated
  double hostSeconds = 0; ///< modelled (driver/HostTime.h)
  double switchSeconds = 0, copySeconds = 0;
  uint64_t switches = 0, copiedBytes = 0;
  std::vector<ChargedKernel> kernels; ///< in the order of the schedule
  std::vector<driver::PlacedTensor> tensors;

  double seconds() const { return npuSeconds + hostSeconds + switchSeconds + copySeconds; }
};

/// The options of a search for a placement.
struct AutoOptions {
  std::shared_ptr<const driver::Target> cpu; ///< the target of the model as a whole on the CPU
  cpu::CpuLevel level;                       ///< of the modelled host
  unsigned processors = 1;                   ///< of the modelled host
  uint64_t maxSwitches = UINT64_MAX;         ///< between the sides, per run
  LinkCosts link;
};

/// The candidates of a model and the one that is the cheapest.
struct AutoPlacement {
  std::vector<PlacementCandidate> candidates;
  size_t chosen = 0;
  driver::HostRates rates;
  LinkCosts link;

  const PlacementCandidate &best() const { return candidates[chosen]; }
};

/// Compiles and charges the candidates of a model. `npu` are the options of its compilation for the
/// NPU, whose placement rules hold for every candidate. Returns nothing after an error, which is
/// where no candidate can be compiled. The result depends on the arguments alone.
std::optional<AutoPlacement> placeByCost(const driver::CompilerOptions &npu,
                                         const AutoOptions &options, Diagnostics &diagnostics);

/// Finds the kernels of `candidate`, a model on the NPU, that would better run on the CPU, by a
/// minimum cut: each kernel costs its time on its side, each switch and each copied tensor its
/// time. `switchWeight` multiplies the cost of a switch. Returns a flag per kernel.
std::vector<bool> findHostKernels(const PlacementCandidate &candidate, const AutoPlacement &costs,
                                  double switchWeight);

} // namespace atc::tuning

#endif // OPENATC_TUNING_AUTOPLACEMENT_H
