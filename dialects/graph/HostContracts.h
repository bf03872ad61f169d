//===-- HostContracts.h - what kernels require of the types of inputs ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_DIALECTS_GRAPH_HOSTCONTRACTS_H
#define OPENATC_DIALECTS_GRAPH_HOSTCONTRACTS_H

#include "dialects/graph/HostCalls.h"
#include "kernels/native/NativeHost.h"

namespace atc::graph {

// Both return whether every input can be what the kernel's contract allows; otherwise `error`
// receives a sentence that names the input and what is expected. What a type leaves open, as what
// an optional holds or a tensor without a rank, the kernel itself checks when the program runs.

/// Checks whether inputs are tensors, sequences or maps.
bool hasTakenKinds(const HostCall &call, const kernels::native::Row &row, std::string &error);

/// Checks the ranks that are known, also where dims are not, so that no error waits for the run.
bool hasTakenRanks(const HostCall &call, const kernels::native::Row &row, std::string &error);

} // namespace atc::graph

#endif // OPENATC_DIALECTS_GRAPH_HOSTCONTRACTS_H
