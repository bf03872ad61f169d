//===-- OpGraph.cpp - the graph that is one operator ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ascend/operators/OpGraph.h"

#include <string>
#include <string_view>

namespace atc::ascend {
namespace {

using Json = nlohmann::ordered_json;

/// Returns the name that graphs have for an element type: DT_FLOAT for float32.
std::string graphType(std::string type) {
  if (type == "float32")
    return "DT_FLOAT";
  if (type == "float64" || type == "double")
    return "DT_DOUBLE";
  for (char &c : type)
    c = char(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
  return "DT_" + type;
}

Json described(const Json &desc, const std::string &name) {
  Json shape = Json::object();
  if (!desc["shape"].empty())
    shape["dim"] = desc["shape"];
  return {{"name", name},
          {"dtype", graphType(desc["type"])},
          {"format", desc["format"]},
          {"layout", desc["format"]},
          {"shape", shape}};
}

/// Returns a value under the letter of its kind, as attributes of graphs have it.
Json attributeValue(const Json &value) {
  if (value.is_array()) {
    Json list = Json::object();
    if (!value.empty() && !value[0].is_array())
      list[attributeValue(value[0]).begin().key()] = value;
    else if (!value.empty())
      list["list_list_i"] = value;
    return {{"list", list}};
  }
  const char *kind = value.is_boolean()          ? "b"
                     : value.is_number_integer() ? "i"
                     : value.is_number()         ? "f"
                                                 : "s";
  return {{kind, value}};
}

Json node(const std::string &name, const std::string &type, size_t id) {
  return {{"name", name},
          {"type", type},
          {"id", id},
          {"attr", Json::array()},
          {"input", Json::array()},
          {"input_desc", Json::array()},
          {"output_desc", Json::array()}};
}

} // namespace

Json graphOf(const Json &op) {
  Json nodes = Json::array();
  const std::string type = op["op"];
  Json own = node(type, type, op["input_desc"].size());
  for (const Json &desc : op["input_desc"]) {
    const std::string name = "x" + std::to_string(nodes.size());
    const bool isConstant = desc.value("is_const", false);
    Json data = node(name, isConstant ? "Const" : "Data", nodes.size());
    data["attr"].push_back(
        isConstant ? Json{{"key", "value"}, {"value", attributeValue(desc["const_value"])}}
                   : Json{{"key", "index"}, {"value", {{"i", nodes.size()}}}});
    data["output_desc"].push_back(described(desc, name));
    own["input"].push_back(name + ":0");
    own["input_desc"].push_back(described(desc, name));
    nodes.push_back(std::move(data));
  }
  for (const Json &attribute : op["attr"])
    own["attr"].push_back(
        {{"key", attribute["name"]}, {"value", attributeValue(attribute["value"])}});
  Json output = node("NetOutput", "NetOutput", nodes.size() + 1);
  for (const Json &desc : op["output_desc"]) {
    const std::string number = std::to_string(own["output_desc"].size());
    own["output_desc"].push_back(described(desc, "y" + number));
    output["input"].push_back(type + ":" + number);
    output["input_desc"].push_back(described(desc, "y" + number));
  }
  nodes.push_back(std::move(own));
  nodes.push_back(std::move(output));
  return {{"name", type}, {"graph", Json::array({{{"name", type}, {"op", std::move(nodes)}}})}};
}

} // namespace atc::ascend
