//===-- VariableAccess.h - operators that read and write variables ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_FRONTENDS_TF_VARIABLES_VARIABLEACCESS_H
#define OPENATC_FRONTENDS_TF_VARIABLES_VARIABLEACCESS_H

#include <string>

#include "frontends/tf/schema/tensorflow.pb.h"
#include "llvm/ADT/StringMap.h"

namespace atc::tf_import {

namespace pb = atc::tf::pb;

/// How a function uses a variable whose handle is an argument.
struct VariableUse {
  bool isKnown = true; ///< whether a tensor can stand for the handle
  bool writes = false;
  pb::DataType type = pb::DT_INVALID;
  std::string writer, writerOp; ///< the first write, by its name from the function on

  /// Adds another use of the variable, by nodes below `prefix`. Returns false where the type is
  /// another one.
  bool add(const VariableUse &more, const std::string &prefix);
};

/// The tensor that stands for a variable, and its type.
struct VariableValue {
  std::string tensor;
  pb::DataType type = pb::DT_INVALID;
};

/// Adds the use of the variable that is the first input of a node. Returns false where no operator
/// on a tensor does the same.
bool addAccess(const pb::NodeDef &node, VariableUse &use);

/// Makes a node of a function, whose first input is a variable, one that takes the value instead.
/// Where it writes, `value` is the new one. `renamed` gets the tensors whose names change.
void rewriteAccess(pb::FunctionDef &function, int number, VariableValue &value,
                   llvm::StringMap<std::string> &renamed);

/// Adds a node without inputs.
pb::NodeDef &addNode(pb::FunctionDef &function, const std::string &name, const char *op);

} // namespace atc::tf_import

#endif // OPENATC_FRONTENDS_TF_VARIABLES_VARIABLEACCESS_H
