//===-- HostContracts.h - what kernels require of the types of inputs ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_DIALECTS_GRAPH_HOSTCONTRACTS_H
#define OPENATC_DIALECTS_GRAPH_HOSTCONTRACTS_H

#include "dialects/graph/HostCalls.h"
#include "kernels/native/NativeHost.h"

namespace atc::graph {

// Both functions return whether every input may satisfy the kernel's contract; otherwise `error`
// receives a sentence that names the input and what is expected. Facts that types do not state,
// such as the content of an optional or the dims of a tensor without a rank, are checked by the
// kernel when the program runs.

/// Checks whether inputs are tensors, sequences or maps.
bool hasTakenKinds(const HostCall &call, const kernels::native::Row &row, std::string &error);

/// Checks the ranks that are known, also where dims are not, so that no error waits for the run.
bool hasTakenRanks(const HostCall &call, const kernels::native::Row &row, std::string &error);

} // namespace atc::graph

#endif // OPENATC_DIALECTS_GRAPH_HOSTCONTRACTS_H
