//===-- GraphJson.cpp - graphs in the layout that other tools read --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tools/atc/GraphJson.h"

#include <map>
#include <set>

using Json = nlohmann::ordered_json;

namespace atc::tools {

const char *dataTypeName(om_dtype type) {
  switch (type) {
  case OM_F32:
    return "DT_FLOAT";
  case OM_F16:
    return "DT_FLOAT16";
  case OM_BF16:
    return "DT_BF16";
  case OM_F64:
    return "DT_DOUBLE";
  case OM_I8:
    return "DT_INT8";
  case OM_U8:
    return "DT_UINT8";
  case OM_I16:
    return "DT_INT16";
  case OM_U16:
    return "DT_UINT16";
  case OM_I32:
    return "DT_INT32";
  case OM_U32:
    return "DT_UINT32";
  case OM_I64:
    return "DT_INT64";
  case OM_U64:
    return "DT_UINT64";
  case OM_BOOL:
    return "DT_BOOL";
  case OM_STRING:
    return "DT_STRING";
  case OM_C64:
    return "DT_COMPLEX64";
  case OM_C128:
    return "DT_COMPLEX128";
  case OM_I4:
    return "DT_INT4";
  default:
    return "DT_UNDEFINED";
  }
}

Json describeTensor(const std::string &name, om_dtype type, const std::vector<int64_t> &dims,
                    const std::string &format, bool isKnown) {
  Json tensor = {{"name", name},
                 {"dtype", dataTypeName(type)},
                 {"format", format},
                 {"layout", format},
                 {"shape", Json::object()}};
  if (isKnown)
    tensor["shape"]["dim"] = dims;
  return tensor;
}

Json &GraphJson::add(const std::string &name, const std::string &type) {
  ops.push_back({{"name", name},
                 {"type", type},
                 {"id", ops.size()},
                 {"attr", Json::array()},
                 {"input", Json::array()},
                 {"input_desc", Json::array()},
                 {"output_desc", Json::array()}});
  return ops.back();
}

void GraphJson::addInput(Json &op, const std::string &source, size_t index, Json tensor) {
  op["input"].push_back(source + ":" + std::to_string(index));
  op["input_desc"].push_back(std::move(tensor));
}

void GraphJson::addOutput(Json &op, Json tensor) { op["output_desc"].push_back(std::move(tensor)); }

void GraphJson::addAttribute(Json &op, const std::string &key, Json value) {
  op["attr"].push_back({{"key", key}, {"value", std::move(value)}});
}

Json GraphJson::finish(const std::string &name) && {
  Json graph = {{"name", name}, {"op", std::move(ops)}};
  return {{"name", name}, {"graph", Json::array({std::move(graph)})}};
}

//===----------------------------------------------------------------------===//
// Compiled models
//===----------------------------------------------------------------------===//

namespace {

/// Describes the launches of a model and who makes what they read.
class OmGraph {
public:
  OmGraph(const om_model &model, const om_model_info &info) : model(model), info(info) {}

  Json run() {
    om_tensor_info tensor = OM_TENSOR_INFO_INIT;
    for (uint32_t i = 0; i < info.inputs && om_model_get_input(&model, i, &tensor) == OM_OK; ++i) {
      Json &op = graph.add(tensor.name, "Data");
      GraphJson::addAttribute(op, "index", {{"i", i}});
      GraphJson::addOutput(op, describe(tensor));
      inputs[tensor.name] = tensor.name;
      names.insert(tensor.name);
    }
    om_launch_info launch = OM_LAUNCH_INFO_INIT;
    for (uint32_t i = 0; i < info.launches && om_model_get_launch(&model, i, &launch) == OM_OK; ++i)
      addLaunch(launch);
    Json &end = graph.add("NetOutput", "NetOutput");
    for (uint32_t i = 0; i < info.outputs && om_model_get_output(&model, i, &tensor) == OM_OK; ++i)
      if (auto source = madeByName.find(tensor.name); source != madeByName.end())
        GraphJson::addInput(end, source->second.first, source->second.second, describe(tensor));
      else
        GraphJson::addInput(end, inputs.count(tensor.name) ? inputs[tensor.name] : "", 0,
                            describe(tensor));
    return std::move(graph).finish(info.name);
  }

private:
  using Source = std::pair<std::string, size_t>; ///< operator, output

  static Json describe(const om_tensor_info &tensor) {
    const std::vector<int64_t> dims(tensor.dims, tensor.dims + tensor.rank);
    return describeTensor(tensor.name, tensor.dtype, dims,
                          tensor.block       ? "NC1HWC0"
                          : tensor.rank == 4 ? "NCHW"
                                             : "ND",
                          tensor.ranked);
  }

  /// Returns who makes tensor `index`, as the launches so far have it.
  Source sourceOf(uint32_t index, const om_tensor_info &tensor) {
    if (auto known = made.find(index); known != made.end())
      return known->second;
    if (auto input = inputs.find(tensor.name); input != inputs.end())
      return {input->second, 0};
    // A weight, of which only its description is of interest.
    Json &op = graph.add(tensor.name, "Const");
    GraphJson::addOutput(op, describe(tensor));
    return made[index] = {tensor.name, 0};
  }

  void addLaunch(const om_launch_info &launch) {
    std::vector<std::pair<Source, Json>> reads;
    om_tensor_info tensor = OM_TENSOR_INFO_INIT;
    for (uint32_t i = 0; i < launch.reads_count; ++i)
      if (om_model_get_tensor(&model, launch.reads[i], &tensor) == OM_OK)
        reads.emplace_back(sourceOf(launch.reads[i], tensor), describe(tensor));
    // A launch is called by what it makes, which may be an input in another type.
    const std::string name = names.insert(launch.name).second
                                 ? launch.name
                                 : std::string(launch.name) + "_" + launch.kernel;
    Json &op = graph.add(name, launch.kernel);
    for (auto &[source, description] : reads)
      GraphJson::addInput(op, source.first, source.second, std::move(description));
    for (uint32_t i = 0; i < launch.writes_count; ++i)
      if (om_model_get_tensor(&model, launch.writes[i], &tensor) == OM_OK) {
        GraphJson::addOutput(op, describe(tensor));
        made[launch.writes[i]] = madeByName[tensor.name] = {name, i};
      }
    GraphJson::addAttribute(op, "unit", {{"s", launch.npu ? "npu" : "cpu"}});
    GraphJson::addAttribute(op, "cost", {{"i", launch.cost}});
    GraphJson::addAttribute(op, "tasks", {{"i", launch.tasks}});
  }

  const om_model &model;
  const om_model_info &info;
  GraphJson graph;
  std::map<std::string, std::string> inputs;
  std::set<std::string> names;
  std::map<uint32_t, Source> made;
  std::map<std::string, Source> madeByName;
};

} // namespace

Json describeOm(const om_model &model, const om_model_info &info) {
  return OmGraph(model, info).run();
}

} // namespace atc::tools
