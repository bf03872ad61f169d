//===-- InlineFunctions.h - makes a graph without function calls ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_FRONTENDS_TF_INLINEFUNCTIONS_H
#define OPENATC_FRONTENDS_TF_INLINEFUNCTIONS_H

#include <string>
#include <vector>

#include "frontends/tf/schema/tensorflow.pb.h"
#include "frontends/tf/variables/VariableWrites.h"
#include "support/Diagnostics.h"

namespace atc::tf_import {

namespace pb = atc::tf::pb;

/// An input or output of a model: the name users know it by, and the tensor of the
/// graph ("node" or "node:1") it stands for.
struct NamedTensor {
  std::string name;
  std::string tensor;
  pb::DataType type = pb::DT_INVALID;
  pb::TensorShapeProto shape;
};

/// Writes into `result` the nodes of `graph` that `outputs` need, every function call
/// replaced by the body it calls. Each input becomes a Placeholder and each output an
/// Identity of that name; other nodes of such a name are renamed. Control edges are
/// dropped. `inputs` and `outputs` then name these nodes. `operators` (may be empty)
/// describes the outputs of the operators in use. `writes` receives what changes variables when the
/// model runs. False after an error.
bool inlineFunctions(const pb::GraphDef &graph, const pb::OpList &operators,
                     std::vector<NamedTensor> &inputs, std::vector<NamedTensor> &outputs,
                     pb::GraphDef &result, std::vector<VariableWrite> &writes,
                     Diagnostics &diagnostics);

} // namespace atc::tf_import

#endif // OPENATC_FRONTENDS_TF_INLINEFUNCTIONS_H
