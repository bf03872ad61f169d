//===-- Session.cpp - graphs that run -----------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ge/ge_api.h"

#include "ascend/graph/Node.h"
#include "ascend/src/Integer.h"

#include "acl/acl.h"

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

struct Compiled {
  Graph graph;
  Options options;
  bool isLoaded = false;
  uint32_t model = 0;
};

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

  Status load(const char *function, uint32_t id) {
    auto found = graphs.find(id);
    if (found == graphs.end())
      return detail::fail(FAILED, function, "there is no graph " + std::to_string(id));
    Compiled &graph = found->second;
    if (graph.isLoaded)
      return SUCCESS;
    Options all;
    {
      std::lock_guard lock(engine().mutex);
      all = engine().options;
    }
    for (const Options *more : {&options, &graph.options})
      for (const auto &[name, value] : *more)
        all[name] = value;
    all.try_emplace(SOC_VERSION, aclrtGetSocName());
    ModelBufferData built;
    if (detail::build(function, graph.graph, all, built) != GRAPH_SUCCESS)
      return FAILED;
    if (aclmdlLoadFromMem(built.data.get(), built.length, &graph.model) != ACL_SUCCESS)
      return failAcl(function, "aclmdlLoadFromMem");
    graph.isLoaded = true;
    return SUCCESS;
  }
};

Session::Session(const std::map<AscendString, AscendString> &options)
    : state(std::make_unique<State>()) {
  state->options = detail::plain(options);
}
Session::~Session() {
  for (const auto &[id, graph] : state->graphs)
    if (graph.isLoaded)
      aclmdlUnload(graph.model);
}

Status Session::AddGraph(uint32_t graphId, const Graph &graph,
                         const std::map<AscendString, AscendString> &options) {
  if (!graph.IsValid())
    return detail::fail(FAILED, __func__, "the graph is empty");
  if (!state->graphs.try_emplace(graphId, Compiled{graph, detail::plain(options)}).second)
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
  if (state->load(__func__, graphId) == SUCCESS)
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
  if (found->second.isLoaded)
    aclmdlUnload(found->second.model);
  state->graphs.erase(found);
  return SUCCESS;
}

Status Session::CompileGraph(uint32_t graphId) { return state->load(__func__, graphId); }
bool Session::IsGraphNeedRebuild(uint32_t) { return false; }

Status Session::BuildGraph(uint32_t graphId, const std::vector<Tensor> &inputs) {
  if (state->load(__func__, graphId) != SUCCESS)
    return FAILED;
  std::unique_ptr<aclmdlDesc, aclError (*)(aclmdlDesc *)> desc(aclmdlCreateDesc(),
                                                               aclmdlDestroyDesc);
  if (aclmdlGetDesc(desc.get(), state->graphs[graphId].model) != ACL_SUCCESS)
    return failAcl(__func__, "aclmdlGetDesc");
  // Programs may leave the inputs out, which the graph describes.
  const size_t count = aclmdlGetNumInputs(desc.get());
  if (!inputs.empty() && inputs.size() != count)
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
  if (state->load(__func__, graphId) != SUCCESS)
    return FAILED;
  const uint32_t model = state->graphs[graphId].model;
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
