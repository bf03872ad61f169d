//===-- HostCosts.h - the work in calls of host kernels -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_HOST_HOSTCOSTS_H
#define OPENATC_PASSES_HOST_HOSTCOSTS_H

#include "dialects/graph/ops/HostOps.h"

#include <cstdint>
#include <optional>

namespace atc::host {

/// Returns the multiply-accumulates of a call: 0 where the kernel has no products (or only
/// such as nobody counts, an elementwise one), nullopt where it has and a shape that the
/// number depends on is not known before the run.
std::optional<uint64_t> countMacs(graph::HostCallOp call);

/// Returns the bytes that a call reads and writes, as far as the shapes are known.
uint64_t countBytes(graph::HostCallOp call);

} // namespace atc::host

#endif // OPENATC_PASSES_HOST_HOSTCOSTS_H
