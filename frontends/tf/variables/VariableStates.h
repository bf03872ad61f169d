//===-- VariableStates.h - variables that keep a value for the next run ---===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_FRONTENDS_TF_VARIABLES_VARIABLESTATES_H
#define OPENATC_FRONTENDS_TF_VARIABLES_VARIABLESTATES_H

#include <string>
#include <vector>

#include "frontends/tf/InlineFunctions.h"
#include "llvm/ADT/StringSet.h"

namespace atc::tf_import {

/// The attribute of a variable that is a state: the name of the output that is its next value.
inline constexpr const char *stateAttribute = "_openatc_state";

/// The attribute of the input that a state becomes: its first value, where that is not zeros.
inline constexpr const char *firstValueAttribute = "_openatc_first_value";

/// Returns the nodes of the main graph that outputs need.
llvm::StringSet<> neededNodes(const pb::GraphDef &graph, const std::vector<NamedTensor> &outputs);

/// Makes variables states, as those of recurrent layers that go on where the last run ended: the
/// value that an AssignVariableOp writes becomes one more output of each function on the way to it
/// and of the model, and the variable gets `stateAttribute`. `variables` are the names of handles
/// in the main graph. Those stay as they are whose shape is not known, and where something may read
/// them behind the write or there is more than the one that passVariableValues() leaves. Returns
/// whether there is a new state; `outputs` has the outputs of these at its end then.
bool makeStates(pb::GraphDef &graph, const std::vector<std::string> &variables,
                std::vector<NamedTensor> &outputs);

} // namespace atc::tf_import

#endif // OPENATC_FRONTENDS_TF_VARIABLES_VARIABLESTATES_H
