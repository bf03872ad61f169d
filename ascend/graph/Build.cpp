//===-- Build.cpp - graphs are compiled by atc --------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ge/ge_ir_build.h"

#include "ascend/graph/Node.h"
#include "ascend/src/AtcCall.h"
#include "ascend/src/BundleFormat.h"
#include "ascend/src/TemporaryRun.h"
#include "graph/operator_factory.h"
#include "support/GraphOptions.h"
#include "support/OutputFile.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <mutex>

namespace ge {

namespace fs = std::filesystem;
using atc::ascend::TemporaryRun;
using Options = std::map<std::string, std::string>;

namespace detail {

static thread_local std::string error;

uint32_t fail(uint32_t status, const char *function, const std::string &text) {
  error = std::string(function) + ": " + text;
  return status;
}

const std::string &lastError() { return error; }

} // namespace detail

namespace {

struct Global {
  std::mutex mutex;
  Options options;
};

Global &global() {
  static auto &only = *new Global;
  return only;
}

} // namespace

ModelBufferData detail::bufferOf(const std::string &bytes) {
  ModelBufferData model;
  model.data =
      std::shared_ptr<uint8_t>(new uint8_t[bytes.size()], std::default_delete<uint8_t[]>());
  std::memcpy(model.data.get(), bytes.data(), bytes.size());
  model.length = bytes.size();
  return model;
}

std::string detail::addFlags(const Options &options, Options &to) {
  for (const auto &[name, value] : options) {
    const std::optional<std::string> flag = atc::flagOfGraphOption(name);
    if (!flag)
      return name;
    if (!flag->empty() && !value.empty())
      to[*flag] = value;
  }
  return "";
}

graphStatus detail::build(const char *function, const Graph &graph, const Options &options,
                          ModelBufferData &model) {
  const GraphContent &content = *graph.content();
  Options all = content.flags;
  const bool isForNpu = !all.count("target"); // else the library asks for itself
  if (isForNpu) {
    std::lock_guard lock(global().mutex);
    all.insert(global().options.begin(), global().options.end());
  }
  if (const std::string unknown = addFlags(options, all); !unknown.empty())
    return fail(GRAPH_PARAM_INVALID, function, "the option '" + unknown + "' is not known");
  if (isForNpu && !all.count("soc_version"))
    return fail(GRAPH_PARAM_INVALID, function,
                "SOC_VERSION is missing: give it to aclgrphBuildInitialize");
  std::string bytes;
  if (!content.file) {
    std::string reason;
    bytes = writeAir(content, reason);
    if (bytes.empty())
      return fail(GRAPH_FAILED, function, reason);
  }
  const std::string mark = TemporaryRun::folderMark;
  const int framework = content.file ? content.file->framework : 1;
  const bool isFile = content.file && !content.file->model.empty();
  std::vector<std::string> command{
      atc::ascend::findAtc(), "--framework=" + std::to_string(framework),
      isFile ? "--model=" + content.file->model : "--model=" + mark + "/model",
      "--output=" + mark + "/built"};
  if (content.file && !content.file->weights.empty())
    command.push_back("--weight=" + content.file->weights);
  for (const auto &[flag, value] : all)
    command.push_back("--" + flag + "=" + value);
  TemporaryRun compilation(command);
  const std::string &folder = compilation.folder();
  if (folder.empty())
    return fail(GRAPH_FAILED, function, compilation.problem());
  std::string error;
  if (!isFile &&
      !atc::writeWholeFile(folder + "/model", content.file ? content.file->bytes : bytes, error))
    return fail(GRAPH_FAILED, function, error);
  const int code = compilation.run();
  if (code == 126 || code == 127)
    return fail(GRAPH_FAILED, function,
                command[0] + " cannot be started; OPENATC_ATC names the compiler");
  if (code != 0)
    return fail(GRAPH_FAILED, function,
                atc::ascend::errorsOfAtc(atc::ascend::textOfFile(folder + "/said")));
  model = bufferOf(atc::ascend::textOfFile(folder + "/built.om"));
  return GRAPH_SUCCESS;
}

graphStatus aclgrphBuildInitialize(std::map<AscendString, AscendString> &options) {
  std::lock_guard lock(global().mutex);
  Options known;
  if (const std::string unknown = detail::addFlags(detail::plain(options), known); !unknown.empty())
    return detail::fail(GRAPH_PARAM_INVALID, __func__, "the option '" + unknown + "' is not known");
  global().options = std::move(known);
  return GRAPH_SUCCESS;
}

void aclgrphBuildFinalize() {
  std::lock_guard lock(global().mutex);
  global().options.clear();
}

graphStatus aclgrphBuildModel(const Graph &graph,
                              const std::map<AscendString, AscendString> &options,
                              ModelBufferData &model) {
  return detail::build(__func__, graph, detail::plain(options), model);
}

/// Writes bytes to `path`, whose folder is made where it is missing.
static graphStatus write(const char *function, const fs::path &path, const void *bytes,
                         size_t size) {
  std::error_code code;
  if (path.has_parent_path())
    fs::create_directories(path.parent_path(), code);
  std::string error;
  return atc::writeWholeFile(path.string(), {static_cast<const char *>(bytes), size}, error)
             ? GRAPH_SUCCESS
             : detail::fail(GRAPH_FAILED, function, error);
}

static graphStatus save(const char *function, const char *output, const ModelBufferData &model) {
  if (!output || !*output || !model.data || !model.length)
    return detail::fail(GRAPH_PARAM_INVALID, function, "give a path and a model");
  std::string path = output;
  if (fs::path(path).extension() != ".om")
    path += ".om";
  return write(function, path, model.data.get(), model.length);
}

graphStatus aclgrphSaveModel(const char *output, const ModelBufferData &model) {
  return save(__func__, output, model);
}

graphStatus aclgrphBundleBuildModel(const std::vector<GraphWithOptions> &graph_with_options,
                                    ModelBufferData &model) {
  if (graph_with_options.empty())
    return detail::fail(GRAPH_PARAM_INVALID, __func__, "there is no graph");
  std::vector<ModelBufferData> built(graph_with_options.size());
  std::vector<std::string_view> parts;
  for (size_t i = 0; i < built.size(); ++i) {
    const GraphWithOptions &graph = graph_with_options[i];
    const Options options = detail::plain(graph.build_options);
    if (graphStatus status = detail::build(__func__, graph.graph, options, built[i]);
        status != GRAPH_SUCCESS)
      return status;
    parts.emplace_back(reinterpret_cast<const char *>(built[i].data.get()), built[i].length);
  }
  model = detail::bufferOf(atc::ascend::makeBundle(parts));
  return GRAPH_SUCCESS;
}

graphStatus aclgrphBundleSaveModel(const char *output, const ModelBufferData &model) {
  return save(__func__, output, model);
}

graphStatus aclgrphGetIRVersion(int32_t *major, int32_t *minor, int32_t *patch) {
  if (!major || !minor || !patch)
    return GRAPH_FAILED;
  *major = IR_MAJOR_VERSION;
  *minor = IR_MINOR_VERSION;
  *patch = IR_PATCH_VERSION;
  return GRAPH_SUCCESS;
}

graphStatus aclgrphDumpGraph(const Graph &graph, const char *file, size_t length) {
  if (!file || !length)
    return detail::fail(GRAPH_PARAM_INVALID, __func__, "give the path of a file");
  const std::string path(file, strnlen(file, length));
  return graph.SaveToFile(path + ".air");
}

graphStatus aclgrphGenerateForOp(const AscendString &type, const std::vector<TensorDesc> &inputs,
                                 const std::vector<TensorDesc> &outputs, Graph &graph) {
  Operator op = OperatorFactory::CreateOperator(type.GetString(), type.GetString());
  if (op.IsEmpty())
    op = Operator(type.GetString(), type.GetString());
  std::vector<Operator> data;
  for (size_t i = 0; i < inputs.size(); ++i) {
    Operator source = OperatorFactory::CreateOperator(("data" + std::to_string(i)).c_str(), "Data");
    source.SetAttr("index", int64_t(i));
    source.UpdateOutputDesc(uint32_t(0), inputs[i]);
    op.SetInput(uint32_t(i), source, 0);
    op.UpdateInputDesc(uint32_t(i), inputs[i]);
    data.push_back(source);
  }
  for (size_t i = 0; i < outputs.size(); ++i)
    op.UpdateOutputDesc(uint32_t(i), outputs[i]);
  graph.SetInputs(data).SetOutputs(std::vector<Operator>{op});
  return GRAPH_SUCCESS;
}

graphStatus aclgrphSetOpAttr(Graph &graph, aclgrphAttrType type, const char *file) {
  if (!file || !std::ifstream(file))
    return detail::fail(GRAPH_PARAM_INVALID, __func__, "the file cannot be read");
  if (type != ATTR_TYPE_KEEP_DTYPE)
    return detail::fail(GRAPH_FAILED, __func__,
                        "only ATTR_TYPE_KEEP_DTYPE is supported: weights are not compressed");
  graph.content()->flags["keep_dtype"] = file;
  return GRAPH_SUCCESS;
}

} // namespace ge
