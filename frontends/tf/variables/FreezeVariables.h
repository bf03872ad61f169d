//===-- FreezeVariables.h - variables become constants --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_FRONTENDS_TF_VARIABLES_FREEZEVARIABLES_H
#define OPENATC_FRONTENDS_TF_VARIABLES_FREEZEVARIABLES_H

#include "frontends/tf/schema/tensorflow.pb.h"
#include "frontends/tf/variables/CheckpointBundle.h"
#include "support/Diagnostics.h"

namespace atc::tf_import {

/// Notes on every variable of the main graph under which key of the checkpoint it was
/// saved: what the restoring nodes or function of the graph say, else the checkpoint's
/// object graph, else the variable's own name. `checkpoint` may be null.
void markVariables(pb::GraphDef &graph, CheckpointBundle *checkpoint, Diagnostics &diagnostics);

/// Turns every marked variable of a graph without calls into a constant and what reads
/// it into plain nodes. False after an error.
bool freezeVariables(pb::GraphDef &graph, CheckpointBundle *checkpoint, Diagnostics &diagnostics);

} // namespace atc::tf_import

#endif // OPENATC_FRONTENDS_TF_VARIABLES_FREEZEVARIABLES_H
