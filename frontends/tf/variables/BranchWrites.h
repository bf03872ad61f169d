//===-- BranchWrites.h - variables that a condition changes ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_FRONTENDS_TF_VARIABLES_BRANCHWRITES_H
#define OPENATC_FRONTENDS_TF_VARIABLES_BRANCHWRITES_H

#include "frontends/tf/schema/tensorflow.pb.h"

namespace atc::tf_import {

namespace pb = atc::tf::pb;

/// Moves writes of variables out of the branches of If and Case nodes in functions: the branches
/// take the value instead of the handle and return the one that they write, or else what they took,
/// and the function behind the condition writes that. Stay as they are: variables that a branch
/// writes more than once, reads behind the write, or uses otherwise. Needs forwardWrites() before.
void hoistBranchWrites(pb::GraphDef &graph);

} // namespace atc::tf_import

#endif // OPENATC_FRONTENDS_TF_VARIABLES_BRANCHWRITES_H
