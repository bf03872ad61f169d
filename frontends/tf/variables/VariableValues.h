//===-- VariableValues.h - functions that take the values of variables -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_FRONTENDS_TF_VARIABLES_VARIABLEVALUES_H
#define OPENATC_FRONTENDS_TF_VARIABLES_VARIABLEVALUES_H

#include <vector>

#include "frontends/tf/InlineFunctions.h"

namespace atc::tf_import {

/// Makes each function that the main graph calls for `outputs` read every variable once, before all
/// else, and write it once, with the value that it has at the end. In between stand tensors:
/// functions, branches and loops inside take the value instead of the handle and return what they
/// write. Variables stay as they are that no function changes, whose writes and reads nothing
/// orders, or that an operator uses otherwise. Must run before lowerControlFlow().
void passVariableValues(pb::GraphDef &graph, const std::vector<NamedTensor> &outputs);

} // namespace atc::tf_import

#endif // OPENATC_FRONTENDS_TF_VARIABLES_VARIABLEVALUES_H
