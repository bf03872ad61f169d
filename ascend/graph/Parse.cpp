//===-- Parse.cpp - graphs of model files -------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ascend/graph/Node.h"
#include "parser/caffe_parser.h"
#include "parser/onnx_parser.h"
#include "parser/tensorflow_parser.h"

#include <filesystem>
#include <fstream>

namespace ge {

namespace fs = std::filesystem;

/// Makes a graph of a model file.
static graphStatus parse(const char *function, detail::GraphFile file,
                         const std::map<AscendString, AscendString> &params, Graph &graph) {
  for (const std::string *path : {&file.model, &file.weights})
    if (!path->empty() && !std::ifstream(*path))
      return detail::fail(GRAPH_FAILED, function, *path + " cannot be read");
  detail::GraphContent &content = *graph.content();
  const std::map<std::string, std::string> options = detail::plain(params);
  if (auto name = options.find("output"); name != options.end())
    content.name = name->second;
  if (const std::string unknown = detail::addFlags(options, content.flags); !unknown.empty())
    return detail::fail(GRAPH_PARAM_INVALID, function,
                        "the parameter '" + unknown + "' is not known");
  // A relative path is meant from where the program is now.
  std::error_code code;
  for (std::string *path : {&file.model, &file.weights})
    if (!path->empty())
      *path = fs::absolute(*path, code).string();
  content.nodes.clear();
  content.outputs.clear();
  content.file = std::move(file);
  return GRAPH_SUCCESS;
}

static std::string textOf(const char *text) { return text ? text : ""; }

graphStatus aclgrphParseONNX(const char *file, const std::map<AscendString, AscendString> &params,
                             Graph &graph) {
  if (textOf(file).empty())
    return detail::fail(GRAPH_PARAM_INVALID, __func__, "give the path of a file");
  return parse(__func__, {5, file, "", ""}, params, graph);
}

graphStatus aclgrphParseONNXFromMem(const char *bytes, size_t size,
                                    const std::map<AscendString, AscendString> &params,
                                    Graph &graph) {
  if (!bytes || !size)
    return detail::fail(GRAPH_PARAM_INVALID, __func__, "give the bytes of a model");
  return parse(__func__, {5, "", std::string(bytes, size), ""}, params, graph);
}

graphStatus aclgrphParseTensorFlow(const char *file,
                                   const std::map<AscendString, AscendString> &params,
                                   Graph &graph) {
  if (textOf(file).empty())
    return detail::fail(GRAPH_PARAM_INVALID, __func__, "give the path of a file");
  return parse(__func__, {3, file, "", ""}, params, graph);
}
graphStatus aclgrphParseTensorFlow(const char *file, Graph &graph) {
  return aclgrphParseTensorFlow(file, {}, graph);
}

graphStatus aclgrphParseCaffe(const char *model, const char *weights,
                              const std::map<AscendString, AscendString> &params, Graph &graph) {
  if (textOf(model).empty() || textOf(weights).empty())
    return detail::fail(GRAPH_PARAM_INVALID, __func__, "give the paths of two files");
  return parse(__func__, {0, model, "", weights}, params, graph);
}
graphStatus aclgrphParseCaffe(const char *model, const char *weights, Graph &graph) {
  return aclgrphParseCaffe(model, weights, {}, graph);
}

} // namespace ge
