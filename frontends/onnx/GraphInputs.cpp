//===-- GraphInputs.cpp - the types of a graph's inputs -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frontends/onnx/GraphInputs.h"

#include <map>

#include "frontends/DynamicInputs.h"
#include "frontends/onnx/GraphImporter.h"
#include "frontends/onnx/TensorData.h"
#include "support/NearestName.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace atc::onnx_import {
namespace {

using Shape = std::vector<int64_t>;

std::string printDims(ArrayRef<int64_t> dims) {
  std::string text;
  for (auto [index, dim] : llvm::enumerate(dims))
    text += (index ? "," : "") + std::to_string(dim);
  return text;
}

/// Returns whether a dim is static: some exporters write an unknown dim as 0 or a negative value.
bool isFixed(const onnx::TensorShapeProto::Dimension &dim) {
  return dim.has_dim_value() && dim.dim_value() > 0;
}

std::string printShape(const onnx::TensorShapeProto &shape) {
  std::string text = "[";
  for (auto [index, dim] : llvm::enumerate(shape.dim())) {
    text += index ? ", " : "";
    if (isFixed(dim))
      text += std::to_string(dim.dim_value());
    else
      text += dim.dim_param().empty() ? "?" : dim.dim_param();
  }
  return text + "]";
}

class InputResolver {
public:
  InputResolver(const onnx::GraphProto &graph, const OnnxImportOptions &options,
                GraphImporter &importer, Diagnostics &diags)
      : graph(graph), options(options), importer(importer), diags(diags) {}

  bool run(std::vector<GraphInput> &inputs);

private:
  void readOptions();
  void bindSymbols(const onnx::ValueInfoProto &input, const Shape &given);
  Shape resolve(const onnx::ValueInfoProto &input);
  void reportDynamic(ArrayRef<const onnx::ValueInfoProto *> inputs);
  void reportEmpty(ArrayRef<const onnx::ValueInfoProto *> inputs);

  const onnx::GraphProto &graph;
  const OnnxImportOptions &options;
  GraphImporter &importer;
  Diagnostics &diags;
  std::vector<std::string> inputNames() const;

  std::vector<const onnx::ValueInfoProto *> candidates;
  std::map<std::string, Shape> givenShapes;
  std::map<std::string, int64_t> symbols;
};

std::vector<std::string> InputResolver::inputNames() const {
  std::vector<std::string> names;
  for (const onnx::ValueInfoProto *info : candidates)
    names.push_back(info->name());
  return names;
}

void InputResolver::readOptions() {
  llvm::StringSet<> tensors;
  for (const onnx::NodeProto &node : graph.node()) {
    tensors.insert(node.name());
    tensors.insert_range(node.input());
    tensors.insert_range(node.output());
  }
  for (const auto &[name, dims] : options.inputShapes) {
    auto input = llvm::find_if(candidates, [&](auto *info) { return info->name() == name; });
    if (input == candidates.end()) {
      std::string names = llvm::join(
          llvm::map_range(candidates, [](auto *info) { return "'" + info->name() + "'"; }), ", ");
      if (tensors.contains(name))
        diags.error("E10017", "'" + name +
                                  "' given with --input_shape is not an input of the "
                                  "model; its inputs are " +
                                  names);
      else
        diags.error("E10016", "'" + name +
                                  "' given with --input_shape is not in the model; "
                                  "its inputs are " +
                                  names + didYouMean(name, inputNames()));
      continue;
    }
    bool isValid = true;
    for (int64_t dim : dims)
      if (dim <= 0 && dim != -1) {
        diags.error("E10011", "--input_shape=\"" + name + ":" + printDims(dims) + "\": dim " +
                                  Twine(dim) + " is neither positive nor -1 (dynamic)");
        isValid = false;
        break;
      }
    if (!isValid)
      continue;
    if (!givenShapes.try_emplace(name, dims).second)
      diags.error("E10002", "--input_shape gives input '" + name + "' twice");
    else
      bindSymbols(**input, dims);
  }
}

void InputResolver::bindSymbols(const onnx::ValueInfoProto &input, const Shape &given) {
  const auto &type = input.type().tensor_type();
  if (!type.has_shape())
    return;
  if (type.shape().dim_size() != static_cast<int>(given.size())) {
    diags.error("E10049", "--input_shape=\"" + input.name() + ":" + printDims(given) + "\" has " +
                              Twine(given.size()) + " dims, the model's input " +
                              printShape(type.shape()) + " has " + Twine(type.shape().dim_size()));
    return;
  }
  for (auto [dim, value] : llvm::zip(type.shape().dim(), given))
    if (!isFixed(dim) && !dim.dim_param().empty() && value > 0)
      symbols.try_emplace(dim.dim_param(), value);
}

/// Returns the dims of an input of known rank; -1 for dynamic dims.
Shape InputResolver::resolve(const onnx::ValueInfoProto &input) {
  if (auto given = givenShapes.find(input.name()); given != givenShapes.end())
    return given->second;
  Shape dims;
  for (const auto &dim : input.type().tensor_type().shape().dim()) {
    auto symbol = symbols.find(dim.dim_param());
    if (isFixed(dim))
      dims.push_back(dim.dim_value());
    else if (!dim.dim_param().empty() && symbol != symbols.end())
      dims.push_back(symbol->second);
    else if (options.keepsEmptyDims && dim.has_dim_value() && dim.dim_value() == 0)
      dims.push_back(0);
    else
      dims.push_back(-1);
  }
  return dims;
}

void InputResolver::reportDynamic(ArrayRef<const onnx::ValueInfoProto *> inputs) {
  std::vector<DynamicInput> dynamic;
  for (const onnx::ValueInfoProto *input : inputs) {
    const auto &type = input->type().tensor_type();
    if (!type.has_shape()) {
      dynamic.push_back(
          {"'" + input->name() + "' of unknown rank", input->name() + ":1,3,224,224"});
      continue;
    }
    Shape dims;
    for (const auto &dim : type.shape().dim())
      dims.push_back(isFixed(dim) ? dim.dim_value() : 1);
    dynamic.push_back({"'" + input->name() + "' " + printShape(type.shape()),
                       input->name() + ":" + printDims(dims)});
  }
  diags.warning("W11001", describeDynamicInputs(dynamic));
}

/// Warns that dims which the model states as 0 are taken at their word.
void InputResolver::reportEmpty(ArrayRef<const onnx::ValueInfoProto *> inputs) {
  diags.warning("W11001", "the model states inputs without elements: " +
                              llvm::join(llvm::map_range(inputs,
                                                         [&](auto *input) {
                                                           return "'" + input->name() + "' [" +
                                                                  printDims(resolve(*input)) + "]";
                                                         }),
                                         ", ") +
                              "; they are compiled for these dims: give others with --input_shape");
}

bool InputResolver::run(std::vector<GraphInput> &inputs) {
  unsigned before = diags.numErrors();
  llvm::StringSet<> initializers;
  for (const onnx::TensorProto &tensor : graph.initializer())
    initializers.insert(tensor.name());
  for (const onnx::SparseTensorProto &tensor : graph.sparse_initializer())
    initializers.insert(tensor.values().name());
  for (const onnx::ValueInfoProto &input : graph.input())
    if (!initializers.contains(input.name()))
      candidates.push_back(&input);
  readOptions();

  std::vector<const onnx::ValueInfoProto *> open, empty;
  for (const onnx::ValueInfoProto *input : candidates) {
    Type type = importer.convertType(input->type());
    if (!type) {
      const auto &stated = input->type();
      diags.error("E14001",
                  "input '" + input->name() + "' has " +
                      (stated.has_tensor_type()
                           ? "element type " + nameElementType(stated.tensor_type().elem_type())
                           : std::string("a type")) +
                      ", which is not supported");
      continue;
    }
    auto tensor = dyn_cast<TensorType>(type);
    const bool isGiven = givenShapes.contains(input->name());
    if (!tensor || (!tensor.hasRank() && !isGiven)) {
      inputs.push_back({input->name(), type});
      if (tensor)
        open.push_back(input);
      continue;
    }
    Shape dims = resolve(*input), known = dims;
    if (llvm::is_contained(dims, -1))
      open.push_back(input);
    if (llvm::is_contained(dims, 0))
      empty.push_back(input);
    std::replace(known.begin(), known.end(), int64_t(-1), int64_t(1));
    if (llvm::Expected<int64_t> count = countElements(known); !count) {
      diags.error("E14001", "input '" + input->name() + "': " + toString(count.takeError()));
      continue;
    }
    std::replace(dims.begin(), dims.end(), int64_t(-1), ShapedType::kDynamic);
    inputs.push_back({input->name(), RankedTensorType::get(dims, tensor.getElementType())});
  }
  // After an error in --input_shape this would only be its consequence.
  if (!open.empty() && diags.numErrors() == before)
    reportDynamic(open);
  if (!empty.empty() && diags.numErrors() == before)
    reportEmpty(empty);
  return diags.numErrors() == before;
}

} // namespace

bool resolveInputs(const onnx::GraphProto &graph, const OnnxImportOptions &options,
                   GraphImporter &importer, Diagnostics &diagnostics,
                   std::vector<GraphInput> &inputs) {
  return InputResolver(graph, options, importer, diagnostics).run(inputs);
}

} // namespace atc::onnx_import
