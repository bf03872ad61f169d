//===-- GraphJson.h - graphs in the layout that other tools read ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// {"graph": [{"name": "...", "op": [{"name", "type", "attr", "input", "input_desc",
// "output_desc"}]}]}, as the Ascend toolchain's --mode=1 writes it.

#ifndef OPENATC_TOOLS_ATC_GRAPHJSON_H
#define OPENATC_TOOLS_ATC_GRAPHJSON_H

#include "driver/ModelImport.h"
#include "openatc/om.h"

#include <nlohmann/json.hpp>

namespace atc::tools {

/// Returns a tensor as {"name", "dtype": "DT_FLOAT", "format", "layout", "shape": {"dim": []}}.
/// A dim of -1 is dynamic; `isKnown` false: the shape is not known.
nlohmann::ordered_json describeTensor(const std::string &name, om_dtype type,
                                      const std::vector<int64_t> &dims, const std::string &format,
                                      bool isKnown = true);

/// Returns the name of a type in the Ascend toolchain, "DT_FLOAT16"; "DT_UNDEFINED" for others.
const char *dataTypeName(om_dtype type);

/// The list of operators of one graph.
class GraphJson {
public:
  /// Adds an operator without inputs and outputs; returns it to be completed.
  nlohmann::ordered_json &add(const std::string &name, const std::string &type);
  /// Adds an input that output `index` of the operator `source` makes.
  static void addInput(nlohmann::ordered_json &op, const std::string &source, size_t index,
                       nlohmann::ordered_json tensor);
  static void addOutput(nlohmann::ordered_json &op, nlohmann::ordered_json tensor);
  /// Adds an attribute; `value` is {"i": 1}, {"list": {"i": [1, 2]}}, {"s": "x"} ...
  static void addAttribute(nlohmann::ordered_json &op, const std::string &key,
                           nlohmann::ordered_json value);
  /// Returns {"name": name, "graph": [...]}.
  nlohmann::ordered_json finish(const std::string &name) &&;

private:
  nlohmann::ordered_json ops = nlohmann::ordered_json::array();
};

/// Returns the graph of a compiled model: inputs as Data, weights as Const, launches with their
/// kernels as types, and NetOutput.
nlohmann::ordered_json describeOm(const om_model &model, const om_model_info &info);

/// Returns the graph of an ONNX, TensorFlow or AIR model as it is in its file, or the message of a
/// Caffe net with its layers. Null after an error.
nlohmann::ordered_json describeModelFile(const driver::ModelSource &source,
                                         Diagnostics &diagnostics);

/// Returns the graph of an .air file. Null after an error.
nlohmann::ordered_json describeAirFile(const std::string &path, Diagnostics &diagnostics);

/// Returns a message in the text form of protobuf, such as a dump of a graph, as JSON with the
/// same names; a field that may repeat is a list. Null after an error, which names the line.
nlohmann::ordered_json describeTextMessage(const std::string &path, Diagnostics &diagnostics);

} // namespace atc::tools

#endif // OPENATC_TOOLS_ATC_GRAPHJSON_H
