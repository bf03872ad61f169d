//===-- OptimizerSteps.h - fused steps of optimizers as reads and writes --===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_FRONTENDS_TF_VARIABLES_OPTIMIZERSTEPS_H
#define OPENATC_FRONTENDS_TF_VARIABLES_OPTIMIZERSTEPS_H

#include "frontends/tf/schema/tensorflow.pb.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"

namespace atc::tf_import {

/// Replaces operators in functions that change the variables of an optimizer and the weight, such
/// as ResourceApplyAdam, by reads, arithmetic and writes of single variables.
void expandOptimizerSteps(atc::tf::pb::GraphDef &graph);

/// Visits the names of these operators.
void forEachOptimizerStep(llvm::function_ref<void(llvm::StringRef)> visit);

} // namespace atc::tf_import

#endif // OPENATC_FRONTENDS_TF_VARIABLES_OPTIMIZERSTEPS_H
