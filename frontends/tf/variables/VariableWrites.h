//===-- VariableWrites.h - variables that a model changes while it runs ---===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_FRONTENDS_TF_VARIABLES_VARIABLEWRITES_H
#define OPENATC_FRONTENDS_TF_VARIABLES_VARIABLEWRITES_H

#include <string>
#include <vector>

#include "frontends/tf/schema/tensorflow.pb.h"
#include "support/Diagnostics.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace atc::tf_import {

namespace pb = atc::tf::pb;

/// The attribute of a variable with its name in the main graph, which inlining may change.
inline constexpr const char *variableNameAttribute = "_openatc_variable";

/// The attribute of a write that stands for those of the model: the name and the operator of the
/// first one.
inline constexpr const char *originAttribute = "_openatc_origin";

struct VariableWrite {
  std::string variable; ///< the tensor of its handle, empty where it is not known
  std::string node;
  std::string op;
};

/// Returns a write without its variable, under the name that the model has for it.
VariableWrite describeWrite(const pb::NodeDef &node, const std::string &prefix);

/// Whether the operator changes a variable.
bool writesVariable(llvm::StringRef op);

/// Returns the variables that are written and whose values the outputs of a graph without calls
/// need for more than random numbers.
std::vector<std::string> writtenResults(const pb::GraphDef &graph,
                                        const std::vector<VariableWrite> &writes);

/// Checks the writes of a graph without calls, which has what its outputs need. A variable that no
/// output reads stays as it was saved: Keras counts the random numbers of a dropout that an
/// inference does not apply. One that only random numbers are drawn from stays as well, with a
/// warning. Of any other variable that is no state, a write is an error; false then.
bool checkWrites(const pb::GraphDef &graph, const std::vector<VariableWrite> &writes,
                 Diagnostics &diagnostics);

} // namespace atc::tf_import

#endif // OPENATC_FRONTENDS_TF_VARIABLES_VARIABLEWRITES_H
