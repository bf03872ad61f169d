//===-- ModelGraph.h - an .om file as a graph of operators ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_TOOLS_OMDUMP_MODELGRAPH_H
#define OPENATC_TOOLS_OMDUMP_MODELGRAPH_H

#include "openatc/om.h"
#include "runtime-lite/schema/om_generated.h"

#include <string>
#include <utility>
#include <vector>

namespace atc::tools {

/// A value between nodes. `name` is unique in the model.
struct GraphValue {
  std::string name;
  om_dtype dtype = OM_UNDEFINED;       ///< OM_UNDEFINED: not known
  bool isRanked = false;               ///< false: `dims` is empty and means nothing
  std::vector<int64_t> dims = {};      ///< -1: dynamic
  std::vector<std::string> names = {}; ///< of the dims, or none
};

struct GraphNode;

/// The nodes of a model, of a branch, of the body of a loop or of a static region, in the order in
/// which they run.
struct ModelGraph {
  std::string name;
  std::vector<GraphValue> inputs, outputs, values;
  std::vector<GraphNode> nodes;
};

/// A launch, a call of a host kernel, or a step of control flow. Inputs and outputs are names of
/// values, "" for one that is omitted.
struct GraphNode {
  std::string name, kernel;
  std::string place; ///< "cpu", "npu" or "host"
  std::vector<std::string> inputs, outputs;
  std::vector<std::pair<std::string, std::string>> attributes = {};
  std::vector<ModelGraph> bodies = {};
};

/// Collects the graph of a verified model.
ModelGraph collectGraph(const om::fb::Model &model);

/// Returns a graph in the language of Graphviz.
std::string graphAsDot(const ModelGraph &graph);
/// Returns a graph as the bytes of an ONNX model for viewers. Its operators are the kernels, in the
/// domain "openatc"; weights are not in it.
std::string graphAsOnnx(const ModelGraph &graph);

} // namespace atc::tools

#endif // OPENATC_TOOLS_OMDUMP_MODELGRAPH_H
