//===-- Session.cpp - graphs that run -----------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ge/ge_api.h"

#include "ascend/graph/Node.h"
#include "ascend/src/Integer.h"

#include "acl/acl.h"

#include <algorithm>
#include <atomic>
#include <mutex>

namespace ge {

using Options = std::map<std::string, std::string>;

namespace {

/// Options of GEInitialize, and whether it has initialized AscendCL itself.
struct Engine {
  std::mutex mutex;
  Options options;
  bool isOwner = false;
};

Engine &engine() {
  static auto &only = *new Engine;
  return only;
}

/// A graph and the models that it was compiled to: one, or one for each shape of its inputs.
struct Compiled {
  Graph graph;
  Options options;
  std::map<std::string, uint32_t> models; ///< by the flag that states shapes; "": as they are

  void unload() {
    for (const auto &[shapes, model] : models)
      aclmdlUnload(model);
    models.clear();
  }
};

/// Returns the inputs of a graph of operators, with what it states of their tensors.
std::vector<std::pair<std::string, TensorDesc>> statedInputs(const Graph &graph) {
  std::vector<std::pair<std::string, TensorDesc>> inputs;
  for (const auto &node : graph.content()->nodes) {
    if (node->type != "Data" && node->type != "RefData")
      continue;
    std::optional<TensorDesc> stated;
    if (!node->outputs.empty())
      stated = node->outputs[0].desc;
    if (!stated && !node->inputs.empty())
      stated = node->inputs[0].desc;
    inputs.emplace_back(node->name, stated.value_or(TensorDesc()));
  }
  return inputs;
}

/// Whether an input has dims of any size, and the program does not say itself which there are.
bool hasOpenInputs(const Graph &graph, const Options &options) {
  Options flags;
  detail::addFlags(options, flags);
  for (const char *flag : {"input_shape", "input_shape_range", "dynamic_batch_size",
                           "dynamic_image_size", "dynamic_dims"})
    if (flags.count(flag))
      return false;
  for (const auto &[name, desc] : statedInputs(graph))
    for (int64_t dim : desc.GetShape().GetDims())
      if (dim < 0)
        return true;
  return false;
}

/// Returns "name:1,3;..." of the tensors of a run.
std::string shapesOf(const Graph &graph, const std::vector<Tensor> &tensors) {
  std::string text;
  const auto inputs = statedInputs(graph);
  for (size_t i = 0; i < std::min(inputs.size(), tensors.size()); ++i) {
    text += (i ? ";" : "") + inputs[i].first + ":";
    const std::vector<int64_t> dims = tensors[i].GetTensorDesc().GetShape().GetDims();
    for (size_t k = 0; k < dims.size(); ++k)
      text += (k ? "," : "") + std::to_string(dims[k]);
  }
  return text;
}

Status failAcl(const char *function, const char *call) {
  const char *said = aclGetRecentErrMsg();
  return detail::fail(FAILED, function, std::string(call) + ": " + (said ? said : ""));
}

/// Buffers of one side of an execution; frees them all at its end.
class Buffers {
public:
  Buffers() : set(aclmdlCreateDataset()) {}
  Buffers(const Buffers &) = delete;
  Buffers &operator=(const Buffers &) = delete;
  ~Buffers() {
    for (size_t i = 0; i < aclmdlGetDatasetNumBuffers(set); ++i) {
      aclDataBuffer *buffer = aclmdlGetDatasetBuffer(set, i);
      aclrtFree(aclGetDataBufferAddr(buffer));
      aclDestroyDataBuffer(buffer);
    }
    aclmdlDestroyDataset(set);
  }

  /// Adds device memory of `size` bytes; returns its address, null where there is none.
  void *add(size_t size) {
    void *memory = nullptr;
    if (aclrtMalloc(&memory, std::max<size_t>(size, 1), ACL_MEM_MALLOC_HUGE_FIRST) != ACL_SUCCESS)
      return nullptr;
    aclmdlAddDatasetBuffer(set, aclCreateDataBuffer(memory, size));
    return memory;
  }

  aclmdlDataset *set;
};

} // namespace

Status GEInitialize(const std::map<AscendString, AscendString> &given) {
  const Options options = detail::plain(given);
  const auto named = options.find(OPTION_EXEC_DEVICE_ID);
  const auto device = named == options.end() ? 0 : atc::ascend::integerOf<int32_t>(named->second);
  if (!device)
    return detail::fail(PARAM_INVALID, __func__,
                        std::string(OPTION_EXEC_DEVICE_ID) + " is the number of a device, not '" +
                            named->second + "'");
  std::lock_guard lock(engine().mutex);
  const aclError code = aclInit(nullptr);
  if (code != ACL_SUCCESS && code != ACL_ERROR_REPEAT_INITIALIZE)
    return failAcl(__func__, "aclInit");
  // A second call must not forget that the first one is to be ended.
  engine().isOwner |= code == ACL_SUCCESS;
  engine().options = options;
  if (aclrtSetDevice(*device) != ACL_SUCCESS)
    return failAcl(__func__, "aclrtSetDevice");
  return SUCCESS;
}

Status GEFinalize() {
  std::lock_guard lock(engine().mutex);
  engine().options.clear();
  if (engine().isOwner && aclFinalize() != ACL_SUCCESS)
    return failAcl(__func__, "aclFinalize");
  engine().isOwner = false;
  return SUCCESS;
}

AscendString GEGetErrorMsgV2() { return AscendString(detail::lastError().c_str()); }
AscendString GEGetWarningMsgV2() { return AscendString(); }

struct Session::State {
  Options options;
  const uint64_t id = nextId++;
  static inline std::atomic<uint64_t> nextId{0};
  std::map<uint32_t, Compiled> graphs;

  /// Compiles and loads a graph, where that was not done yet. One with dims of any size is compiled
  /// for the shapes of `tensors`; without them it waits for those of its first run, and `model` is
  /// not written.
  Status load(const char *function, uint32_t id, const std::vector<Tensor> *tensors,
              uint32_t *model) {
    auto found = graphs.find(id);
    if (found == graphs.end())
      return detail::fail(FAILED, function, "there is no graph " + std::to_string(id));
    Compiled &graph = found->second;
    Options all;
    {
      std::lock_guard lock(engine().mutex);
      all = engine().options;
    }
    for (const Options *more : {&options, &graph.options})
      for (const auto &[name, value] : *more)
        all[name] = value;
    all.try_emplace(SOC_VERSION, aclrtGetSocName());
    std::string shapes;
    if (hasOpenInputs(graph.graph, all)) {
      if (!tensors)
        return SUCCESS;
      shapes = shapesOf(graph.graph, *tensors);
      all["input_shape"] = shapes;
    }
    const auto known = graph.models.find(shapes);
    if (known != graph.models.end()) {
      *model = known->second;
      return SUCCESS;
    }
    ModelBufferData built;
    if (detail::build(function, graph.graph, all, built) != GRAPH_SUCCESS)
      return FAILED;
    if (aclmdlLoadFromMem(built.data.get(), built.length, model) != ACL_SUCCESS)
      return failAcl(function, "aclmdlLoadFromMem");
    graph.models[shapes] = *model;
    return SUCCESS;
  }
};

Session::Session(const std::map<AscendString, AscendString> &options)
    : state(std::make_unique<State>()) {
  state->options = detail::plain(options);
}
Session::~Session() {
  for (auto &[id, graph] : state->graphs)
    graph.unload();
}

Status Session::AddGraph(uint32_t graphId, const Graph &graph,
                         const std::map<AscendString, AscendString> &options) {
  if (!graph.IsValid())
    return detail::fail(FAILED, __func__, "the graph is empty");
  if (!state->graphs.try_emplace(graphId, Compiled{graph, detail::plain(options), {}}).second)
    return detail::fail(FAILED, __func__, "there is a graph " + std::to_string(graphId));
  return SUCCESS;
}
Status Session::AddGraph(uint32_t graphId, const Graph &graph) {
  return AddGraph(graphId, graph, std::map<AscendString, AscendString>());
}

Status Session::AddGraphWithCopy(uint32_t graphId, const Graph &graph,
                                 const std::map<AscendString, AscendString> &options) {
  if (AddGraph(graphId, graph, options) != SUCCESS)
    return FAILED;
  if (CompileGraph(graphId) == SUCCESS)
    return SUCCESS;
  state->graphs.erase(graphId);
  return FAILED;
}
Status Session::AddGraphWithCopy(uint32_t graphId, const Graph &graph) {
  return AddGraphWithCopy(graphId, graph, {});
}

Status Session::RemoveGraph(uint32_t graphId) {
  auto found = state->graphs.find(graphId);
  if (found == state->graphs.end())
    return detail::fail(FAILED, __func__, "there is no graph " + std::to_string(graphId));
  found->second.unload();
  state->graphs.erase(found);
  return SUCCESS;
}

Status Session::CompileGraph(uint32_t graphId) {
  uint32_t model = 0;
  return state->load(__func__, graphId, nullptr, &model);
}
bool Session::IsGraphNeedRebuild(uint32_t) { return false; }

Status Session::BuildGraph(uint32_t graphId, const std::vector<Tensor> &inputs) {
  // Programs may leave the inputs out, which the graph describes.
  if (inputs.empty())
    return CompileGraph(graphId);
  uint32_t model = 0;
  if (state->load(__func__, graphId, &inputs, &model) != SUCCESS)
    return FAILED;
  std::unique_ptr<aclmdlDesc, aclError (*)(aclmdlDesc *)> desc(aclmdlCreateDesc(),
                                                               aclmdlDestroyDesc);
  if (aclmdlGetDesc(desc.get(), model) != ACL_SUCCESS)
    return failAcl(__func__, "aclmdlGetDesc");
  const size_t count = aclmdlGetNumInputs(desc.get());
  if (inputs.size() != count)
    return detail::fail(FAILED, __func__,
                        "the graph has " + std::to_string(count) + " inputs, not " +
                            std::to_string(inputs.size()));
  return SUCCESS;
}

Status Session::RunGraphAsync(uint32_t graphId, const std::vector<Tensor> &inputs,
                              RunAsyncCallback callback) {
  if (!callback)
    return detail::fail(PARAM_INVALID, __func__, "callback is empty");
  if (state->graphs.count(graphId) == 0)
    return detail::fail(FAILED, __func__, "there is no graph " + std::to_string(graphId));
  std::vector<Tensor> outputs;
  const Status status = RunGraph(graphId, inputs, outputs);
  callback(status, outputs);
  return SUCCESS;
}

uint64_t Session::GetSessionId() const { return state->id; }

/// Returns the description of an output as the model has it.
static TensorDesc describeOutput(const aclmdlDesc *desc, size_t index) {
  aclmdlIODims dims = {};
  aclmdlGetOutputDims(desc, index, &dims);
  return TensorDesc(Shape(std::vector<int64_t>(dims.dims, dims.dims + dims.dimCount)),
                    Format(aclmdlGetOutputFormat(desc, index)),
                    DataType(aclmdlGetOutputDataType(desc, index)));
}

Status Session::RunGraph(uint32_t graphId, const std::vector<Tensor> &inputs,
                         std::vector<Tensor> &outputs) {
  uint32_t model = 0;
  if (state->load(__func__, graphId, &inputs, &model) != SUCCESS)
    return FAILED;
  std::unique_ptr<aclmdlDesc, aclError (*)(aclmdlDesc *)> desc(aclmdlCreateDesc(),
                                                               aclmdlDestroyDesc);
  if (aclmdlGetDesc(desc.get(), model) != ACL_SUCCESS)
    return failAcl(__func__, "aclmdlGetDesc");
  if (aclmdlGetNumInputs(desc.get()) != inputs.size())
    return detail::fail(FAILED, __func__,
                        "the graph has " + std::to_string(aclmdlGetNumInputs(desc.get())) +
                            " inputs, not " + std::to_string(inputs.size()));
  Buffers from, to;
  for (const Tensor &input : inputs) {
    void *memory = from.add(input.GetSize());
    if (!memory || aclrtMemcpy(memory, input.GetSize(), input.GetData(), input.GetSize(),
                               ACL_MEMCPY_HOST_TO_DEVICE) != ACL_SUCCESS)
      return failAcl(__func__, "aclrtMemcpy");
  }
  const size_t count = aclmdlGetNumOutputs(desc.get());
  for (size_t i = 0; i < count; ++i)
    if (!to.add(aclmdlGetOutputSizeByIndex(desc.get(), i)))
      return failAcl(__func__, "aclrtMalloc");
  if (aclmdlExecute(model, from.set, to.set) != ACL_SUCCESS)
    return failAcl(__func__, "aclmdlExecute");
  outputs.clear();
  for (size_t i = 0; i < count; ++i) {
    std::vector<uint8_t> bytes(aclmdlGetOutputSizeByIndex(desc.get(), i));
    if (aclrtMemcpy(bytes.data(), bytes.size(),
                    aclGetDataBufferAddr(aclmdlGetDatasetBuffer(to.set, i)), bytes.size(),
                    ACL_MEMCPY_DEVICE_TO_HOST) != ACL_SUCCESS)
      return failAcl(__func__, "aclrtMemcpy");
    outputs.emplace_back(describeOutput(desc.get(), i));
    outputs.back().SetData(std::move(bytes));
  }
  return SUCCESS;
}

} // namespace ge
