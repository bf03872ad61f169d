//===-- ShowModel.cpp - what an .om file holds ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tools/atc/ShowModel.h"

#include "openatc/om.h"
#include "support/ModelText.h"
#include "tools/atc/GraphJson.h"

#include <memory>
#include <nlohmann/json.hpp>

using Json = nlohmann::ordered_json;

namespace atc::tools {

namespace {

using Model = std::unique_ptr<om_model, void (*)(om_model *)>;

Model load(const std::string &path, om_model_info &info, Diagnostics &diagnostics) {
  om_model *model = nullptr;
  om_error error{};
  if (om_model_load_file(path.c_str(), nullptr, &model, &error) != OM_OK)
    diagnostics.error("E10041",
                      "the file \"" + path + "\" of --om cannot be loaded: " + error.message);
  else
    om_model_get_info(model, &info);
  return {model, om_model_free};
}

std::vector<std::string> dimNames(const om_model &model, om_space space, uint32_t index,
                                  uint32_t rank) {
  std::vector<std::string> names;
  for (uint32_t dim = 0; dim < rank; ++dim)
    names.emplace_back(om_model_dim_name(&model, space, index, dim));
  return names;
}

Json tensorJson(const om_model &model, om_space space, uint32_t index, const om_tensor_info &info) {
  return {{"name", info.name},
          {"dtype", om_dtype_name(info.dtype)},
          {"shape", std::vector<int64_t>(info.dims, info.dims + info.rank)},
          {"dim_names", dimNames(model, space, index, info.rank)},
          {"bytes", info.bytes}};
}

Json modelJson(const om_model &model, const om_model_info &info) {
  Json out = {{"name", info.name},
              {"producer", info.producer},
              {"command_line", info.command_line},
              {"target", info.target},
              {"cpu_level", info.cpu_level},
              {"soc", info.soc},
              {"schema", {{"major", info.schema_major}, {"minor", info.schema_minor}}},
              {"file_bytes", info.file_bytes},
              {"weights_bytes", info.weights_bytes},
              {"code_bytes", info.code_bytes},
              {"arena_bytes", info.arena_bytes}};
  out["inputs"] = out["outputs"] = out["launches"] = Json::array();
  om_tensor_info tensor = OM_TENSOR_INFO_INIT;
  for (uint32_t i = 0; i < info.inputs && om_model_get_input(&model, i, &tensor) == OM_OK; ++i)
    out["inputs"].push_back(tensorJson(model, OM_INPUT, i, tensor));
  for (uint32_t i = 0; i < info.outputs && om_model_get_output(&model, i, &tensor) == OM_OK; ++i)
    out["outputs"].push_back(tensorJson(model, OM_OUTPUT, i, tensor));
  om_launch_info launch = OM_LAUNCH_INFO_INIT;
  for (uint32_t i = 0; i < info.launches && om_model_get_launch(&model, i, &launch) == OM_OK; ++i)
    out["launches"].push_back({{"name", launch.name},
                               {"kernel", launch.kernel},
                               {"cost", launch.cost},
                               {"tasks", launch.tasks},
                               {"unit", launch.npu ? "npu" : "cpu"}});
  return out;
}

/// Returns the value of --framework in the command line that a file states; 5, which is ONNX,
/// where it states none.
std::string frameworkOf(llvm::StringRef command) {
  const llvm::StringRef value = command.split("--framework=").second;
  return value.empty() ? "5" : value.take_until([](char c) { return c == ' '; }).str();
}

} // namespace

void showModel(const std::string &om, llvm::raw_ostream &os, Diagnostics &diagnostics) {
  om_model_info info = OM_MODEL_INFO_INIT;
  Model model = load(om, info, diagnostics);
  if (!model)
    return;
  uint64_t definition =
      info.file_bytes - std::min(info.file_bytes, info.weights_bytes + info.code_bytes);
  os << "============ Display Model Info start ============\n"
     << "Original Atc command line: " << printable(info.command_line) << "\n"
     << "system info: atc_version[" << printable(info.producer) << "], soc_version["
     << printable(*info.soc ? info.soc : info.target) << "], framework_type["
     << frameworkOf(info.command_line) << "].\n"
     << "resource info: memory_size[" << info.arena_bytes << " B], weight_size["
     << info.weights_bytes << " B], stream_num[1], event_num[0].\n"
     << "om info: modeldef_size[" << definition << " B], weight_data_size[" << info.weights_bytes
     << " B], tbe_kernels_size[" << info.code_bytes << " B], cust_aicpu_kernel_store_size[0 B], "
     << "task_info_size[" << info.launches << "].\n";
  auto list = [&](const char *word, uint32_t count, om_space space, auto get) {
    om_tensor_info tensor = OM_TENSOR_INFO_INIT;
    for (uint32_t i = 0; i < count && get(model.get(), i, &tensor) == OM_OK; ++i)
      os << word << " " << i << ": name[" << printable(tensor.name) << "], type["
         << om_dtype_name(tensor.dtype) << "], shape"
         << typeText("", std::vector<int64_t>(tensor.dims, tensor.dims + tensor.rank),
                     dimNames(*model, space, i, tensor.rank))
         << ".\n";
  };
  list("input", info.inputs, OM_INPUT, om_model_get_input);
  list("output", info.outputs, OM_OUTPUT, om_model_get_output);
  os << "============ Display Model Info end   ============\n";
}

Json describeOmFile(const std::string &om, Diagnostics &diagnostics) {
  om_model_info info = OM_MODEL_INFO_INIT;
  Model model = load(om, info, diagnostics);
  if (!model)
    return nullptr;
  Json result = describeOm(*model, info);
  result.update(modelJson(*model, info));
  return result;
}

} // namespace atc::tools
