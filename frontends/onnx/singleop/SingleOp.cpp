//===-- SingleOp.cpp - operators that are described in a .json file -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frontends/onnx/singleop/SingleOp.h"

#include "support/NearestName.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using Json = nlohmann::ordered_json;

namespace atc {

namespace {

struct NamedNumber {
  const char *name;
  int number;
};

constexpr NamedNumber types[] = {{"float", 0},   {"float32", 0}, {"float16", 1},   {"fp16", 1},
                                 {"int8", 2},    {"int32", 3},   {"uint8", 4},     {"int16", 6},
                                 {"uint16", 7},  {"uint32", 8},  {"int64", 9},     {"uint64", 10},
                                 {"double", 11}, {"bool", 12},   {"bfloat16", 27}, {"bf16", 27}};
constexpr NamedNumber formats[] = {
    {"NCHW", 0},         {"NHWC", 1},          {"ND", 2},     {"NC1HWC0", 3},     {"FRACTAL_Z", 4},
    {"NC1HWC0_C04", 12}, {"HWCN", 16},         {"NDHWC", 27}, {"FRACTAL_NZ", 29}, {"NCDHW", 30},
    {"NDC1HWC0", 32},    {"FRACTAL_Z_3D", 33}, {"NC", 35},    {"NCL", 47}};

std::optional<int> findNumber(ArrayRef<NamedNumber> table, StringRef name) {
  for (const NamedNumber &row : table)
    if (name.equals_insensitive(row.name))
      return row.number;
  return std::nullopt;
}

std::vector<std::string> namesOf(ArrayRef<NamedNumber> table) {
  std::vector<std::string> names;
  for (const NamedNumber &row : table)
    names.push_back(row.name);
  return names;
}

/// Reads one file.
class SingleOpReader {
public:
  SingleOpReader(const std::string &origin, Diagnostics &diagnostics)
      : origin(origin), diagnostics(diagnostics) {}

  std::vector<SingleOp> run(const Json &file) {
    if (file.is_object())
      return readList(Json::array({file}));
    if (file.is_array() && !file.empty())
      return readList(file);
    diagnostics.error("E10025", origin + " must be a list of operators, each with \"op\", "
                                         "\"input_desc\" and \"output_desc\"");
    return {};
  }

private:
  std::vector<SingleOp> readList(const Json &list) {
    std::vector<SingleOp> ops;
    for (size_t i = 0; i < list.size(); ++i) {
      location = origin + ", operator " + std::to_string(i);
      ops.push_back(readOp(list[i]));
    }
    return ops;
  }

  SingleOp readOp(const Json &json) {
    SingleOp op;
    op.type = text(json, "op");
    op.name = text(json, "name");
    if (op.type.empty()) {
      diagnostics.error("E10026", location + ": \"op\", the type of the operator, is missing");
      return op;
    }
    location += " (" + op.type + ")";
    if (StringRef(op.name).contains('/') || op.name == "..")
      diagnostics.error("E10026", location + ": \"name\" must be the name of a file, not a path");
    readTensors(json, "input_desc", op.inputs);
    readTensors(json, "output_desc", op.outputs);
    if (op.outputs.empty())
      diagnostics.error("E10027", location + ": \"output_desc\" describes no tensor");
    readAttributes(json, op);
    return op;
  }

  static std::string text(const Json &json, const char *key) {
    auto found = json.is_object() ? json.find(key) : json.end();
    return found != json.end() && found->is_string() ? found->get<std::string>() : "";
  }

  void readTensors(const Json &json, const char *key, std::vector<SingleOpTensor> &tensors) {
    auto list = json.find(key);
    if (list == json.end())
      return;
    if (!list->is_array()) {
      diagnostics.error("E10027", location + ": \"" + key + "\" must be a list of tensors");
      return;
    }
    isOutput = StringRef(key) == "output_desc";
    for (size_t i = 0; i < list->size(); ++i)
      tensors.push_back(
          readTensor((*list)[i], location + ", " + key + "[" + std::to_string(i) + "]"));
  }

  SingleOpTensor readTensor(const Json &json, const std::string &where) {
    SingleOpTensor tensor;
    const std::string type = text(json, "type"), format = text(json, "format");
    if (StringRef(type).equals_insensitive("undefined") ||
        StringRef(format).equals_insensitive("reserved")) {
      tensor.isAbsent = true;
      return tensor;
    }
    readName(types, type, "type", where, tensor.type);
    // A tensor whose order of dims says nothing.
    readName(formats, format.empty() ? "ND" : format, "format", where, tensor.format);
    readShape(json, where, tensor);
    if (auto constant = json.find("is_const");
        constant != json.end() && constant->is_boolean() && constant->get<bool>())
      readConstant(json, where, tensor);
    return tensor;
  }

  void readName(ArrayRef<NamedNumber> table, const std::string &name, const char *key,
                const std::string &where, int &number) {
    if (auto found = findNumber(table, name)) {
      number = *found;
      return;
    }
    diagnostics.error("E10027", where + ": the " + key + " \"" + name + "\" is not one of " +
                                    join(namesOf(table), ", ") + didYouMean(name, namesOf(table)));
  }

  void readShape(const Json &json, const std::string &where, SingleOpTensor &tensor) {
    auto shape = json.find("shape");
    const bool isList = shape != json.end() && shape->is_array();
    tensor.isInferred = isOutput && isList && *shape == Json::array({-2});
    for (size_t i = 0; isList && !tensor.isInferred && i < shape->size(); ++i) {
      const Json &dim = (*shape)[i];
      if (!dim.is_number_integer() || (dim.get<int64_t>() < 1 && dim.get<int64_t>() != -1)) {
        diagnostics.error("E10027", where + ": the dim " + dim.dump() +
                                        " is not a positive number, or -1 for any size" +
                                        (isOutput ? "; [-2] has the dims inferred" : ""));
        return;
      }
      tensor.dims.push_back(dim.get<int64_t>());
    }
    if (!isList)
      diagnostics.error("E10027", where + ": \"shape\" must be a list of dims");
  }

  void readConstant(const Json &json, const std::string &where, SingleOpTensor &tensor) {
    tensor.isConstant = true;
    int64_t elements = 1;
    constexpr int64_t maxElements = int64_t(1) << 24;
    for (int64_t dim : tensor.dims)
      elements = dim < 0 || elements > maxElements / dim ? maxElements + 1 : elements * dim;
    auto values = json.find("const_value");
    const bool isList = values != json.end() && values->is_array();
    for (size_t i = 0; isList && i < values->size(); ++i)
      if (const Json &value = (*values)[i]; value.is_number() || value.is_boolean()) {
        const bool isTooLarge = value.is_number_unsigned() && value.get<uint64_t>() > INT64_MAX;
        if (value.is_number_integer() && (isTooLarge || !isExactConstant(value.get<int64_t>())))
          return diagnostics.error("E10027", where + ": \"const_value\" has " + value.dump() +
                                                 ", and a constant holds integers up to 2^53 "
                                                 "exactly: leave out \"is_const\", and give it "
                                                 "as an input");
        tensor.values.push_back(value.is_boolean() ? value.get<bool>() : value.get<double>());
      }
    if (int64_t(tensor.values.size()) != elements)
      diagnostics.error(
          "E10027", where + ": \"const_value\" has " + Twine(tensor.values.size()) +
                        " numbers, but the shape has " +
                        (elements > maxElements ? "too many or unknown" : Twine(elements).str()) +
                        " elements");
  }

  void readAttributes(const Json &json, SingleOp &op) {
    auto list = json.find("attr");
    if (list == json.end())
      return;
    for (size_t i = 0; i < list->size(); ++i) {
      const Json &item = list->is_array() ? (*list)[i] : *list;
      SingleOpAttribute attribute = {text(item, "name"), text(item, "type"), nullptr};
      const std::string where = location + ", attr[" + std::to_string(i) + "]";
      if (attribute.name.empty()) {
        diagnostics.error("E10029", where + ": \"name\" is missing");
        continue;
      }
      if (auto value = item.find("value"); value != item.end())
        attribute.value = *value;
      if (isOfType(attribute.value, attribute.type))
        op.attributes.push_back(std::move(attribute));
      else
        diagnostics.error("E10030", where + ": the value " + attribute.value.dump() + " of \"" +
                                        attribute.name + "\" is not of the type \"" +
                                        attribute.type + "\"");
    }
    llvm::sort(op.attributes, [](const auto &a, const auto &b) { return a.name < b.name; });
  }

  static bool isOfType(const Json &value, StringRef type) {
    if (type.consume_front("list_")) {
      if (!value.is_array())
        return false;
      return llvm::all_of(value, [&](const Json &item) { return isOfType(item, type); });
    }
    if (type == "int")
      return value.is_number_integer();
    if (type == "float")
      return value.is_number();
    if (type == "bool")
      return value.is_boolean() || value.is_number_integer();
    if (type == "data_type")
      return value.is_string() || value.is_number_integer();
    return type == "string" && value.is_string();
  }

  const std::string &origin;
  Diagnostics &diagnostics;
  std::string location;  ///< the operator that is read
  bool isOutput = false; ///< whether the tensor that is read is one
};

Json describe(const std::vector<SingleOpTensor> &tensors) {
  Json list = Json::array();
  for (const SingleOpTensor &tensor : tensors) {
    Json item = {{"type", tensor.isAbsent ? -1 : tensor.type},
                 {"format", tensor.isAbsent ? -1 : tensor.format},
                 {"shape", tensor.dims}};
    if (tensor.isConstant) {
      item["is_const"] = true;
      item["const_value"] = tensor.values;
    }
    list.push_back(std::move(item));
  }
  return list;
}

} // namespace

int64_t constantInt(double value) {
  constexpr double end = 9223372036854775808.0; // 2^63
  if (!(value < end))                           // 0 for what is no number
    return value >= end ? INT64_MAX : 0;
  return value < -end ? INT64_MIN : int64_t(value);
}

std::vector<int64_t> constantInts(const std::vector<double> &values) {
  std::vector<int64_t> integers;
  for (double value : values)
    integers.push_back(constantInt(value));
  return integers;
}

std::vector<SingleOp> readSingleOps(const Json &file, const std::string &origin,
                                    Diagnostics &diagnostics) {
  return SingleOpReader(origin, diagnostics).run(file);
}

std::string singleOpFileName(const SingleOp &op, size_t index) {
  if (!op.name.empty())
    return op.name;
  std::string name = std::to_string(index) + "_" + op.type;
  for (const auto *list : {&op.inputs, &op.outputs})
    for (const SingleOpTensor &tensor : *list) {
      if (tensor.isAbsent)
        continue;
      name += "_" + std::to_string(tensor.type) + "_" + std::to_string(tensor.format);
      for (int64_t dim : tensor.dims)
        name += "_" + std::to_string(dim);
    }
  return name;
}

std::string describeSingleOp(const SingleOp &op) {
  Json json = {{"op", op.type},
               {"input_desc", describe(op.inputs)},
               {"output_desc", describe(op.outputs)},
               {"attr", Json::array()}};
  for (const SingleOpAttribute &attribute : op.attributes)
    json["attr"].push_back(
        {{"name", attribute.name}, {"type", attribute.type}, {"value", attribute.value}});
  return json.dump(-1, ' ', /*ensure_ascii=*/true, Json::error_handler_t::replace);
}

} // namespace atc
