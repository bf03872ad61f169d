/*===-- ge/ge_ir_build.h - compiles graphs --------------------------*- C++ -*-===*
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *===--------------------------------------------------------------------------===*
 * The functions call `atc`: that of the environment variable OPENATC_ATC, of the same installation,
 * or on PATH. ge::GEGetErrorMsgV2 returns what it said.
 */
#ifndef OPENATC_GE_GE_IR_BUILD_H
#define OPENATC_GE_GE_IR_BUILD_H

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "ge/ge_api_types.h"
#include "graph/graph.h"

namespace ge {

constexpr int32_t IR_MAJOR_VERSION = 1;
constexpr int32_t IR_MINOR_VERSION = 0;
constexpr int32_t IR_PATCH_VERSION = 0;

/** The bytes of an .om file. */
struct ModelBufferData {
  std::shared_ptr<uint8_t> data;
  uint64_t length = 0;
};

struct GraphWithOptions {
  Graph graph;
  std::map<AscendString, AscendString> build_options;
};

enum aclgrphAttrType { ATTR_TYPE_KEEP_DTYPE = 0, ATTR_TYPE_WEIGHT_COMPRESS };

/** Keeps options for all graphs; SOC_VERSION belongs here. */
graphStatus aclgrphBuildInitialize(std::map<AscendString, AscendString> &options);
inline graphStatus aclgrphBuildInitialize(std::map<std::string, std::string> options) {
  std::map<AscendString, AscendString> held = detail::ascendOf(options);
  return aclgrphBuildInitialize(held);
}
void aclgrphBuildFinalize();

/** Compiles a graph with the options of this call and those of aclgrphBuildInitialize. Returns
 * GRAPH_PARAM_INVALID for an option that is not known, GRAPH_FAILED where atc refuses the graph. */
graphStatus aclgrphBuildModel(const Graph &graph,
                              const std::map<AscendString, AscendString> &options,
                              ModelBufferData &model);
inline graphStatus aclgrphBuildModel(const Graph &graph,
                                     const std::map<std::string, std::string> &options,
                                     ModelBufferData &model) {
  return aclgrphBuildModel(graph, detail::ascendOf(options), model);
}

/** Writes `output`.om; missing folders are made. */
graphStatus aclgrphSaveModel(const char *output, const ModelBufferData &model);
inline graphStatus aclgrphSaveModel(const std::string &output, const ModelBufferData &model) {
  return aclgrphSaveModel(output.c_str(), model);
}

/** Compiles several graphs to one bundle, whose models have the graphs' order; each has variables
 * of its own. aclmdlBundleLoadFromFile and aclmdlBundleLoadFromMem load it. */
graphStatus aclgrphBundleBuildModel(const std::vector<GraphWithOptions> &graph_with_options,
                                    ModelBufferData &model);
/** Writes `output`.om; missing folders are made. */
graphStatus aclgrphBundleSaveModel(const char *output, const ModelBufferData &model);

graphStatus aclgrphGetIRVersion(int32_t *major, int32_t *minor, int32_t *patch);
/** Writes `file`.air, which `atc --mode=1 --framework=1` shows as JSON. */
graphStatus aclgrphDumpGraph(const Graph &graph, const char *file, size_t length);
/** Makes a graph of one operator, whose inputs are Data operators. */
graphStatus aclgrphGenerateForOp(const AscendString &type, const std::vector<TensorDesc> &inputs,
                                 const std::vector<TensorDesc> &outputs, Graph &graph);
/** Sets the dims and types of the outputs of all operators, and of the inputs that read them. */
graphStatus aclgrphInferShapeAndType(Graph &graph);
/** ATTR_TYPE_KEEP_DTYPE: operators of a file compute in the type of the model, as with
 * `--keep_dtype`. */
graphStatus aclgrphSetOpAttr(Graph &graph, aclgrphAttrType type, const char *file);

} // namespace ge

#endif
