//===-- AirJson.cpp - an .air graph as JSON -------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frontends/ModelFile.h"
#include "frontends/air/AirOps.h"
#include "tools/atc/GraphJson.h"

using Json = nlohmann::ordered_json;

namespace atc::tools {

namespace {

Json tensor(const air::pb::TensorDesc &desc) {
  SingleOpTensor known;
  const std::optional<int> type = air::typeOf(desc.dtype());
  known.type = type.value_or(0);
  return describeTensor(desc.name(), type ? om_dtype(singleOpType(known)) : OM_UNDEFINED,
                        {desc.shape().dim().begin(), desc.shape().dim().end()}, desc.layout(),
                        desc.has_shape());
}

/// Returns the value of an attribute under the name of its kind: {"i": 1}.
Json valueOf(const SingleOpAttribute &attribute) {
  if (attribute.type == "int")
    return {{"i", attribute.value}};
  if (attribute.type == "float")
    return {{"f", attribute.value}};
  if (attribute.type == "bool")
    return {{"b", attribute.value}};
  if (attribute.type == "string")
    return {{"s", attribute.value}};
  const bool isText = !attribute.value.empty() && attribute.value[0].is_string();
  const bool isFloat = !attribute.value.empty() && attribute.value[0].is_number_float();
  return {{"list", {{isText ? "s" : isFloat ? "f" : "i", attribute.value}}}};
}

} // namespace

Json describeAirFile(const std::string &path, Diagnostics &diagnostics) {
  air::pb::Model model;
  if (!parseFile(path, {"an AIR graph", "AIR"}, model, diagnostics))
    return nullptr;
  if (!model.graph_size()) {
    diagnostics.error("E16004", "'" + path + "' holds no graph");
    return nullptr;
  }
  GraphJson graph;
  for (const air::pb::Op &op : model.graph(0).op()) {
    Json &added = graph.add(op.name(), op.type());
    int described = 0;
    for (const std::string &input : op.input()) {
      auto [name, number] = llvm::StringRef(input).rsplit(':');
      int64_t index = 0;
      if (input.empty() || number.getAsInteger(10, index) || index < 0)
        continue; // an order of execution
      GraphJson::addInput(added, name.str(), index,
                          described < op.input_desc_size() ? tensor(op.input_desc(described))
                                                           : Json::object());
      ++described;
    }
    for (const air::pb::TensorDesc &desc : op.output_desc())
      GraphJson::addOutput(added, tensor(desc));
    for (const SingleOpAttribute &attribute : air::attributesOf(op))
      GraphJson::addAttribute(added, attribute.name, valueOf(attribute));
  }
  return std::move(graph).finish(model.graph(0).name());
}

} // namespace atc::tools
