//===-- Phase.h - the phases of a compilation -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_DRIVER_PHASE_H
#define OPENATC_DRIVER_PHASE_H

#include <optional>
#include <string>
#include <string_view>

namespace atc::driver {

/// The phases in their order. A compilation can stop behind each of them.
enum class Phase {
  Import,   ///< a model file becomes a module of graph ops
  Quantize, ///< calibration; does nothing where no quantizer is set
  Graph,    ///< graph passes; static regions of a dynamic model are outlined first
  Kernels,  ///< graph ops become kernel ops on buffers, with layouts
  Schedule, ///< kernels are outlined and launched, buffers have offsets in the arena
  Programs, ///< kernels of an NPU become programs of its instructions
  Emit      ///< code is generated and the `.om` file is written
};

/// Returns the name that users write: "import" ... "emit".
std::string_view phaseName(Phase phase);

/// Returns the phase of that name; nothing where there is none.
std::optional<Phase> findPhase(std::string_view name);

/// Returns the names of the phases in their order, "import, quantize, ...", up to `last`.
std::string phaseNames(Phase last);

} // namespace atc::driver

#endif // OPENATC_DRIVER_PHASE_H
