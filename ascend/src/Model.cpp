//===-- Model.cpp -------------------------------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ascend/src/Model.h"

#include "ascend/src/Collection.h"
#include "ascend/src/Errors.h"
#include "ascend/src/Integer.h"
#include "ascend/src/Library.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <new>
#include <shared_mutex>
#include <string_view>

#include <nlohmann/json.hpp>

namespace atc::ascend {
namespace {

struct Models {
  std::shared_mutex mutex;
  std::map<uint32_t, std::shared_ptr<Model>> byId;
  uint32_t next = 1;

  Models() {
    atFinalize([this] {
      std::map<uint32_t, std::shared_ptr<Model>> ended; // freed after the lock
      std::unique_lock lock(mutex);
      ended.swap(byId);
    });
  }
};

Models &models() {
  static auto &only = *new Models;
  return only;
}

aclError refuse(const char *function, const om_error &error) {
  return fail(codeOf(error.code), function, "%s: %s", om_status_name(error.code), error.message);
}

/// Returns the value of an option of the command line that made the model; "" without it.
std::string_view optionOf(std::string_view command, std::string_view name) {
  size_t found = command.find(name);
  if (found == std::string_view::npos)
    return {};
  std::string_view rest = command.substr(found + name.size());
  if (rest.empty() || (rest[0] != '=' && rest[0] != ' '))
    return {};
  rest.remove_prefix(1);
  return rest.substr(0, rest.find(' '));
}

/// Returns the format of tensors of a rank: files do not say it, so it is what the options
/// of their command line mean.
aclFormat formatOf(std::string_view command, size_t rank) {
  std::string_view format = optionOf(command, "input_format");
  if (format == "ND")
    return ACL_FORMAT_ND;
  const bool last = format == "NHWC" || (format.empty() && optionOf(command, "framework") == "3");
  if (rank == 4)
    return last ? ACL_FORMAT_NHWC : ACL_FORMAT_NCHW;
  if (rank == 5 && format == "NCDHW")
    return ACL_FORMAT_NCDHW;
  if (rank == 5 && format == "NDHWC")
    return ACL_FORMAT_NDHWC;
  return ACL_FORMAT_ND;
}

Port portOf(const om_tensor_info &info, std::string_view command) {
  Port port;
  port.name = info.name;
  port.element = info.dtype;
  port.type = typeOf(info.dtype);
  port.kind = info.kind;
  port.ranked = info.ranked;
  if (info.ranked)
    port.dims.assign(info.dims, info.dims + info.rank);
  port.bytes = info.bytes;
  port.format = formatOf(command, port.dims.size());
  return port;
}

void readGears(const om_model *model, ModelFacts &facts) {
  om_gears_info gears = OM_GEARS_INFO_INIT;
  if (om_model_get_gears(model, &gears) != OM_OK || gears.kind == OM_GEARS_NONE)
    return;
  facts.gears = gears.kind;
  if (gears.shape_input != OM_NO_INPUT)
    facts.shapeInput = gears.shape_input;
  for (uint32_t i = 0; i < gears.axes; ++i) {
    om_gear_axis axis = OM_GEAR_AXIS_INIT;
    om_model_get_gear_axis(model, i, &axis);
    if (!axis.output)
      facts.gearAxes.push_back({axis.index, axis.dim, axis.value, axis.min, axis.max});
  }
  for (uint32_t gear = 0; gear < gears.gears; ++gear) {
    om_gear_info info = OM_GEAR_INFO_INIT;
    om_model_get_gear(model, gear, &info);
    facts.gearValues.emplace_back(info.values, info.values + gears.values);
    auto read = [&](auto query, std::vector<Port> &ports) {
      for (uint32_t i = 0; i < ports.size(); ++i) {
        om_tensor_info tensor = OM_TENSOR_INFO_INIT;
        query(model, gear, i, &tensor);
        ports[i].ofGear.emplace_back(tensor.dims, tensor.dims + tensor.rank);
        ports[i].bytes = std::max<size_t>(ports[i].bytes, tensor.bytes);
      }
    };
    read(om_model_get_gear_input, facts.inputs);
    read(om_model_get_gear_output, facts.outputs);
  }
}

/// Finds the parameters of images that are bytes. A file says which they are; older ones have one
/// input of parameters.
void findImageParameters(ModelFacts &facts) {
  facts.imageParameters.resize(facts.inputs.size());
  for (size_t i = 0; facts.aippInput && i < facts.inputs.size(); ++i) {
    const Port &port = facts.inputs[i];
    if (facts.isAippInput(i) || facts.aipp[i].empty() || port.element != OM_U8 ||
        port.dims.size() != 1)
      continue;
    const auto json = nlohmann::json::parse(facts.aipp[i], nullptr, /*allow_exceptions=*/false);
    const std::string name =
        json.is_object() && json.contains("parameters") && json["parameters"].is_string()
            ? json["parameters"].get<std::string>()
            : ACL_DYNAMIC_AIPP_NAME;
    for (size_t other = 0; other < facts.inputs.size(); ++other)
      if (facts.inputs[other].name == name)
        facts.imageParameters[i] = other;
  }
}

std::shared_ptr<const ModelFacts> factsOf(const om_model *model, const om_model_info &info) {
  auto facts = std::make_shared<ModelFacts>();
  std::string_view command = info.command_line;
  for (uint32_t i = 0; i < info.inputs; ++i) {
    om_tensor_info tensor = OM_TENSOR_INFO_INIT;
    om_model_get_input(model, i, &tensor);
    facts->inputs.push_back(portOf(tensor, command));
    if (facts->inputs.back().name == ACL_DYNAMIC_AIPP_NAME)
      facts->aippInput = i;
    const std::string key = "openatc.aipp." + facts->inputs.back().name;
    const char *aipp = om_model_find_metadata(model, key.c_str());
    facts->aipp.emplace_back(aipp ? aipp : "");
  }
  for (uint32_t i = 0; i < info.outputs; ++i) {
    om_tensor_info tensor = OM_TENSOR_INFO_INIT;
    om_model_get_output(model, i, &tensor);
    facts->outputs.push_back(portOf(tensor, command));
  }
  readGears(model, *facts);
  findImageParameters(*facts);
  // Images that are preprocessed in the model come with their channels last.
  for (size_t i = 0; i < facts->inputs.size(); ++i)
    if (Port &port = facts->inputs[i];
        !facts->aipp[i].empty() && port.element == OM_U8 && port.dims.size() == 4)
      port.format = ACL_FORMAT_NHWC;
  facts->name = info.name;
  // A file that `atc --singleop` wrote states its operator, as JSON, in its command line.
  if (size_t at = command.find("--singleop="); at != std::string_view::npos)
    if (size_t end = command.rfind('}'); end != std::string_view::npos && end > at)
      facts->operatorText = command.substr(at + 11, end + 1 - at - 11);
  facts->workBytes = info.arena_bytes + info.scratch_bytes;
  facts->weightBytes = info.weights_bytes;
  return facts;
}

uint32_t threadsPerSession() {
  static const auto threads = static_cast<uint32_t>(
      std::clamp(environmentInteger("OPENATC_ACL_THREADS").value_or(0), 0, 1024));
  return threads;
}

} // namespace

aclError codeOf(om_status status) {
  switch (status) {
  case OM_OK:
    return ACL_SUCCESS;
  case OM_ERROR_ARGUMENT:
    return ACL_ERROR_INVALID_PARAM;
  case OM_ERROR_IO:
    return ACL_ERROR_GE_EXEC_MODEL_PATH_INVALID;
  case OM_ERROR_NOT_OM:
  case OM_ERROR_VENDOR_OM:
    return ACL_ERROR_GE_PARAM_INVALID;
  case OM_ERROR_TRUNCATED:
    return ACL_ERROR_GE_EXEC_MODEL_DATA_SIZE_INVALID;
  case OM_ERROR_VERSION:
  case OM_ERROR_CORRUPT:
    return ACL_ERROR_DESERIALIZE_MODEL;
  case OM_ERROR_UNSUPPORTED:
    return ACL_ERROR_FEATURE_UNSUPPORTED;
  case OM_ERROR_MEMORY:
    return ACL_ERROR_BAD_ALLOC;
  case OM_ERROR_LIMIT:
    return ACL_ERROR_STORAGE_OVER_LIMIT;
  case OM_ERROR_DEVICE:
  case OM_ERROR_NO_DEVICE:
    return ACL_ERROR_RT_FAILURE;
  default:
    return ACL_ERROR_GE_FAILURE;
  }
}

aclDataType typeOf(om_dtype type) {
  switch (type) {
  case OM_F32:
    return ACL_FLOAT;
  case OM_F16:
    return ACL_FLOAT16;
  case OM_BF16:
    return ACL_BF16;
  case OM_F64:
    return ACL_DOUBLE;
  case OM_I8:
    return ACL_INT8;
  case OM_U8:
    return ACL_UINT8;
  case OM_I16:
    return ACL_INT16;
  case OM_U16:
    return ACL_UINT16;
  case OM_I32:
    return ACL_INT32;
  case OM_U32:
    return ACL_UINT32;
  case OM_I64:
    return ACL_INT64;
  case OM_U64:
    return ACL_UINT64;
  case OM_BOOL:
    return ACL_BOOL;
  case OM_STRING:
    return ACL_STRING;
  case OM_C64:
    return ACL_COMPLEX64;
  case OM_C128:
    return ACL_COMPLEX128;
  case OM_I4:
    return ACL_INT4;
  default:
    return ACL_DT_UNDEFINED;
  }
}

size_t denseBytes(om_dtype type, const Dims &dims) {
  uint64_t bits = om_dtype_bits(type);
  for (int64_t dim : dims)
    if (dim < 0)
      return 0;
  // A product that wraps is more than any buffer has.
  for (int64_t dim : dims)
    if (__builtin_mul_overflow(bits, uint64_t(dim), &bits))
      return SIZE_MAX;
  return bits / 8 + (bits % 8 != 0);
}

bool ModelFacts::needsShapes() const {
  if (gears != OM_GEARS_NONE && gears != OM_GEARS_RANGE)
    return false;
  auto unknown = [](const Port &port) {
    return port.kind != OM_KIND_TENSOR || !port.ranked ||
           std::any_of(port.dims.begin(), port.dims.end(), [](int64_t dim) { return dim < 0; });
  };
  return std::any_of(inputs.begin(), inputs.end(), unknown) ||
         std::any_of(outputs.begin(), outputs.end(), unknown);
}

std::optional<size_t> ModelFacts::gearOf(const Dims &values) const {
  auto found = std::find(gearValues.begin(), gearValues.end(), values);
  if (found == gearValues.end())
    return std::nullopt;
  return static_cast<size_t>(found - gearValues.begin());
}

std::string ModelFacts::listOfGears() const {
  std::string text;
  for (const Dims &values : gearValues)
    text += (text.empty() ? "" : ", ") + textOf(values);
  return text;
}

aclError Model::prepare(const char *function, bool run) {
  om_model_info info = OM_MODEL_INFO_INIT;
  om_model_get_info(model.get(), &info);
  facts = factsOf(model.get(), info);
  if (!run)
    return ACL_SUCCESS;
  return makeSession(function, keepsTime()); // nobody else asks how long it would take
}

aclError Model::makeSession(const char *function, bool timed) {
  om_model_info info = OM_MODEL_INFO_INIT;
  om_model_get_info(model.get(), &info);
  om_error error = {};
  om_session_options options = OM_SESSION_OPTIONS_INIT;
  options.threads = threadsPerSession();
  std::unique_ptr<om_npu, NpuDeleter> device;
  if (info.npu_launches > 0) {
    om_npu_options settings = OM_NPU_OPTIONS_INIT;
    settings.timed = timed;
    settings.prefetch = timed;
    settings.threads = options.threads;
    om_npu *simulator = nullptr;
    if (om_npu_simulator(&settings, &simulator, &error) != OM_OK)
      return refuse(function, error);
    device.reset(simulator);
    options.device = om_npu_device(simulator);
  }
  om_session *created = nullptr;
  if (om_session_create(model.get(), &options, &created, &error) != OM_OK)
    return refuse(function, error);
  session.reset(created); // before the device that it uses
  npu = std::move(device);
  return ACL_SUCCESS;
}

aclError Model::load(const char *function, const char *path, bool run,
                     std::shared_ptr<Model> &result) {
  if (!path)
    return fail(ACL_ERROR_INVALID_PARAM, function, "the path is NULL");
  auto loaded = std::make_shared<Model>();
  om_error error = {};
  om_model *model = nullptr;
  if (om_model_load_file(path, nullptr, &model, &error) != OM_OK)
    return refuse(function, error);
  loaded->model.reset(model);
  loaded->fileName = std::filesystem::path(path).stem().string();
  ACL_TRY(loaded->prepare(function, run));
  result = std::move(loaded);
  return ACL_SUCCESS;
}

aclError Model::load(const char *function, const void *data, size_t size, bool run,
                     std::shared_ptr<Model> &result) {
  if (!data)
    return fail(ACL_ERROR_INVALID_PARAM, function, "model is NULL");
  if (size == 0)
    return fail(ACL_ERROR_INVALID_PARAM, function, "modelSize is 0");
  auto loaded = std::make_shared<Model>();
  // Weights are used in place where the bytes are aligned.
  loaded->bytes.reset(new (std::nothrow) char[size + OM_ALIGNMENT]);
  if (!loaded->bytes)
    return fail(ACL_ERROR_BAD_ALLOC, function, "%zu bytes could not be allocated", size);
  char *start = loaded->bytes.get();
  start += (OM_ALIGNMENT - reinterpret_cast<uintptr_t>(start) % OM_ALIGNMENT) % OM_ALIGNMENT;
  memcpy(start, data, size);
  om_error error = {};
  om_model *model = nullptr;
  if (om_model_load_memory(start, size, nullptr, &model, &error) != OM_OK)
    return refuse(function, error);
  loaded->model.reset(model);
  ACL_TRY(loaded->prepare(function, run));
  result = std::move(loaded);
  return ACL_SUCCESS;
}

uint32_t addModel(std::shared_ptr<Model> model) {
  std::unique_lock lock(models().mutex);
  uint32_t id = models().next++;
  model->id = id;
  models().byId.emplace(id, std::move(model));
  return id;
}

aclError findModel(const char *function, uint32_t id, std::shared_ptr<Model> &model) {
  std::shared_lock lock(models().mutex);
  auto found = models().byId.find(id);
  if (found == models().byId.end())
    return fail(ACL_ERROR_GE_EXEC_MODEL_ID_INVALID, function, "no model with id %u is loaded", id);
  model = found->second;
  return ACL_SUCCESS;
}

bool isLoaded(uint32_t id) {
  std::shared_lock lock(models().mutex);
  return models().byId.contains(id);
}

} // namespace atc::ascend

using namespace atc::ascend;

aclError aclmdlUnload(uint32_t modelId) {
  std::shared_ptr<Model> model; // freed after the lock
  std::unique_lock lock(models().mutex);
  auto found = models().byId.find(modelId);
  if (found == models().byId.end())
    ACL_FAIL(ACL_ERROR_GE_EXEC_MODEL_ID_INVALID, "no model with id %u is loaded", modelId);
  model = std::move(found->second);
  models().byId.erase(found);
  return ACL_SUCCESS;
}
