//===-- Observers.h - functions that are told of states ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASCEND_SRC_OBSERVERS_H
#define ASCEND_SRC_OBSERVERS_H

#include "acl/acl_rt.h"

#include <string>

namespace atc::ascend {

/// Calls the functions that are registered for aclInit; returns the first error of one.
aclError callInitObservers(const std::string &settings);

/// Calls the functions that are registered for aclFinalize; returns the first error of one.
aclError callFinalizeObservers();

/// Call the functions that are told of streams and of devices.
void tellStreamState(aclrtStream stream, aclrtStreamState state);
void tellDeviceState(int32_t device, aclrtDeviceState state);

} // namespace atc::ascend

#endif
