//===-- LowerControlFlow.h - While, If and Case as v1 control flow --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_FRONTENDS_TF_LOWERCONTROLFLOW_H
#define OPENATC_FRONTENDS_TF_LOWERCONTROLFLOW_H

#include "frontends/tf/schema/tensorflow.pb.h"
#include "support/Diagnostics.h"
#include "llvm/ADT/ArrayRef.h"

namespace atc::tf_import {

namespace pb = atc::tf::pb;

/// The attribute of the calls that it makes, which do not run once in each run: true for those
/// of a loop.
inline constexpr const char *loweredAttribute = "_openatc_lowered";

/// Replaces the While, If and Case nodes of a graph and of its functions: loops become frames of
/// Enter, Merge, Switch, NextIteration and Exit, conditions Switch and Merge, and the
/// functions of all are called by PartitionedCall nodes. A branch's result is an Identity
/// that also reads the side of the condition that it belongs to. `outputs` are tensors of the
/// graph by name; those of replaced nodes get the names of what makes them now. False after an
/// error.
bool lowerControlFlow(pb::GraphDef &graph, llvm::ArrayRef<std::string *> outputs,
                      Diagnostics &diagnostics);

/// Whether a graph calls functions or has nodes that lowerControlFlow() replaces.
bool hasCalls(const pb::GraphDef &graph);

} // namespace atc::tf_import

#endif // OPENATC_FRONTENDS_TF_LOWERCONTROLFLOW_H
