//===-- MakeTarget.h - finds the target that a user asks for --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_DRIVER_TARGETS_MAKETARGET_H
#define OPENATC_DRIVER_TARGETS_MAKETARGET_H

#include "driver/targets/Target.h"
#include "driver/targets/TargetRequest.h"
#include "support/Diagnostics.h"

#include <memory>

namespace atc::driver {

/// Returns the target that `request` describes; reads the file of the SoC's table. Every
/// value that is not valid becomes an error that names its flag, and then the result is
/// null. Adds a warning (W10055) for what has no effect.
std::shared_ptr<const Target> makeTarget(const TargetRequest &request, Diagnostics &diagnostics);

} // namespace atc::driver

#endif // OPENATC_DRIVER_TARGETS_MAKETARGET_H
