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
using Dims = std::vector<int64_t>;

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
  /// By the flag that states shapes ("": as they are), the one that ran last at the end.
  std::vector<std::pair<std::string, uint32_t>> models;

  /// Returns the model for shapes; null where there is none.
  const uint32_t *find(const std::string &shapes) {
    const auto found = std::find_if(models.begin(), models.end(),
                                    [&](const auto &entry) { return entry.first == shapes; });
    if (found == models.end())
      return nullptr;
    std::rotate(found, found + 1, models.end());
    return &models.back().second;
  }
  /// Keeps a model, and unloads the one that has not run for longest where there are many.
  void add(const std::string &shapes, uint32_t model) {
    constexpr size_t max = 16; // each has a copy of the weights
    if (models.size() == max) {
      aclmdlUnload(models.front().second);
      models.erase(models.begin());
    }
    models.emplace_back(shapes, model);
  }
  void unload() {
    for (const auto &[shapes, model] : models)
      aclmdlUnload(model);
    models.clear();
  }
};

/// An input of a graph of operators, and its tensor where the program has stated it.
struct StatedInput {
  std::string name;
  std::optional<TensorDesc> desc;
  int64_t index = 0; ///< attribute of the operator: models have their inputs in this order

  Dims dims() const { return desc ? desc->GetShape().GetDims() : Dims(); }
};

/// Returns the inputs of a graph of operators in the order of the inputs of its models.
std::vector<StatedInput> statedInputs(const Graph &graph) {
  std::vector<StatedInput> inputs;
  for (const auto &node : graph.content()->nodes) {
    if (node->type != "Data" && node->type != "RefData")
      continue;
    StatedInput input{node->name, std::nullopt};
    if (!node->outputs.empty())
      input.desc = node->outputs[0].desc;
    if (!input.desc && !node->inputs.empty())
      input.desc = node->inputs[0].desc;
    const auto index = node->attributes.find("index");
    if (index != node->attributes.end())
      index->second.GetValue(input.index);
    inputs.push_back(std::move(input));
  }
  std::stable_sort(inputs.begin(), inputs.end(),
                   [](const auto &one, const auto &other) { return one.index < other.index; });
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
  for (const StatedInput &input : statedInputs(graph))
    for (int64_t dim : input.dims())
      if (dim < 0)
        return true;
  return false;
}

std::string textOf(const Dims &dims) {
  std::string text;
  for (int64_t dim : dims)
    text += (text.empty() ? "" : ",") + std::to_string(dim);
  return text;
}

/// Whether a tensor has the dims that its input states: -1 is of any size, [-2] of any rank.
bool fits(const Dims &dims, const StatedInput &input) {
  const Dims stated = input.dims();
  if (!input.desc || stated == Dims{-2})
    return true;
  return dims.size() == stated.size() &&
         std::equal(dims.begin(), dims.end(), stated.begin(),
                    [](int64_t dim, int64_t known) { return known < 0 || dim == known; });
}

Status failCount(const char *function, size_t expected, size_t given) {
  return detail::fail(FAILED, function,
                      "the graph has " + std::to_string(expected) + " inputs, not " +
                          std::to_string(given));
}

/// Writes "name:1,3;..." of the tensors of a run to `text`, after a check against what the graph
/// states of them.
Status shapesOf(const char *function, const Graph &graph, const std::vector<Tensor> &tensors,
                std::string &text) {
  const std::vector<StatedInput> inputs = statedInputs(graph);
  if (inputs.size() != tensors.size())
    return failCount(function, inputs.size(), tensors.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Dims dims = tensors[i].GetTensorDesc().GetShape().GetDims();
    if (!fits(dims, inputs[i]))
      return detail::fail(PARAM_INVALID, function,
                          "the input '" + inputs[i].name + "' has the dims [" + textOf(dims) +
                              "], but the graph states [" + textOf(inputs[i].dims()) +
                              "]; give a tensor that fits, or state -1 where a dim has any size");
    text += (i ? ";" : "") + inputs[i].name + ":" + textOf(dims);
  }
  return SUCCESS;
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
      if (const Status status = shapesOf(function, graph.graph, *tensors, shapes);
          status != SUCCESS)
        return status;
      all["input_shape"] = shapes;
    }
    if (const uint32_t *known = graph.find(shapes)) {
      *model = *known;
      return SUCCESS;
    }
    ModelBufferData built;
    if (detail::build(function, graph.graph, all, built) != GRAPH_SUCCESS)
      return FAILED;
    if (aclmdlLoadFromMem(built.data.get(), built.length, model) != ACL_SUCCESS)
      return failAcl(function, "aclmdlLoadFromMem");
    graph.add(shapes, *model);
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
  if (const Status status = state->load(__func__, graphId, &inputs, &model); status != SUCCESS)
    return status;
  std::unique_ptr<aclmdlDesc, aclError (*)(aclmdlDesc *)> desc(aclmdlCreateDesc(),
                                                               aclmdlDestroyDesc);
  if (aclmdlGetDesc(desc.get(), model) != ACL_SUCCESS)
    return failAcl(__func__, "aclmdlGetDesc");
  const size_t count = aclmdlGetNumInputs(desc.get());
  if (inputs.size() != count)
    return failCount(__func__, count, inputs.size());
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
  if (const Status status = state->load(__func__, graphId, &inputs, &model); status != SUCCESS)
    return status;
  std::unique_ptr<aclmdlDesc, aclError (*)(aclmdlDesc *)> desc(aclmdlCreateDesc(),
                                                               aclmdlDestroyDesc);
  if (aclmdlGetDesc(desc.get(), model) != ACL_SUCCESS)
    return failAcl(__func__, "aclmdlGetDesc");
  if (aclmdlGetNumInputs(desc.get()) != inputs.size())
    return failCount(__func__, aclmdlGetNumInputs(desc.get()), inputs.size());
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
