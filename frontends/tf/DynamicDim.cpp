//===-- DynamicDim.cpp - the dynamic dim of a TensorFlow graph ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frontends/tf/DynamicDim.h"

#include "frontends/tf/GraphImporter.h"
#include "frontends/tf/NodeDefs.h"
#include "frontends/tf/TensorName.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/StringSwitch.h"

#include <cstring>
#include <limits>

using namespace mlir;

namespace atc::tf_import {

using Visit = llvm::function_ref<void(int64_t)>;

/// Visits the numbers of a constant that sizes can be computed with.
static void forEachInteger(const pb::TensorProto &tensor, Visit visit) {
  int64_t elements = 1;
  for (const auto &dim : tensor.tensor_shape().dim()) {
    visit(dim.size());
    elements = dim.size() >= 0 && dim.size() <= maxSizes ? elements * dim.size() : maxSizes + 1;
    if (elements > maxSizes)
      return;
  }
  for (int64_t number : tensor.int64_val())
    visit(number);
  for (int32_t number : tensor.int_val())
    visit(number);
  const std::string &raw = tensor.tensor_content();
  auto read = [&]<typename T>(T number) {
    for (size_t i = 0; i + sizeof(T) <= raw.size(); i += sizeof(T)) {
      std::memcpy(&number, raw.data() + i, sizeof(T));
      visit(number);
    }
  };
  if (tensor.dtype() == pb::DT_INT64)
    read(int64_t());
  else if (tensor.dtype() == pb::DT_INT32)
    read(int32_t());
}

static void forEachInteger(const pb::GraphDef &graph, Visit visit) {
  for (const pb::NodeDef &node : graph.node())
    for (const auto &[name, value] : node.attr()) {
      visit(value.i());
      for (int64_t number : value.list().i())
        visit(number);
      for (const auto &dim : value.shape().dim())
        visit(dim.size());
      if (value.has_tensor())
        forEachInteger(value.tensor(), visit);
    }
}

/// Returns the shape of an input, in which -1 is a dynamic dim; nothing where its rank is not
/// known.
static std::optional<std::vector<int64_t>>
shapeOf(const pb::NodeDef &input, const GraphBoundary &boundary, const InputShapes &given) {
  for (const auto &[text, dims] : given) {
    const bool isOfSignature = llvm::any_of(boundary.inputs, [&, &text = text](const auto &port) {
      return port.first == text && TensorName::parse(port.second).node == input.name();
    });
    if (isOfSignature || TensorName::parse(text).node == input.name())
      return dims;
  }
  const pb::AttrValue *shape = attributeOf(input, "shape");
  if (!shape || shape->shape().unknown_rank())
    return std::nullopt;
  std::vector<int64_t> dims;
  for (const auto &dim : shape->shape().dim())
    dims.push_back(dim.size());
  return dims;
}

std::optional<DynamicDim> findDynamicDim(const pb::GraphDef &graph, const GraphBoundary &boundary,
                                         const TfImportOptions &options) {
  if (!boundary.states.empty() || !options.inputNodes.empty())
    return std::nullopt;
  DynamicDim result;
  result.name = "?";
  unsigned numDynamic = 0;
  for (const pb::NodeDef &node : graph.node()) {
    if (node.op() != "Placeholder")
      continue;
    auto dims = shapeOf(node, boundary, options.inputShapes);
    // A dim of 0 is an error or a model without elements, which the ordinary import knows.
    if (!dims || llvm::is_contained(*dims, 0))
      return std::nullopt;
    numDynamic += llvm::count_if(*dims, [](int64_t dim) { return dim < 0; });
    result.inputShapes.emplace_back(node.name(), std::move(*dims));
  }
  if (numDynamic != 1)
    return std::nullopt;
  result.size = choosePlaceholder([&](Visit visit) {
    forEachInteger(graph, visit);
    for (const auto &[name, dims] : result.inputShapes)
      llvm::for_each(dims, visit);
  });
  if (!result.size)
    return std::nullopt;
  for (auto &[name, dims] : result.inputShapes)
    for (int64_t &dim : dims)
      if (dim < 0)
        dim = result.size;
  return result;
}

namespace {

/// The bounds of a slice as ONNX states them.
struct SliceBounds {
  SmallVector<int64_t> starts, ends, axes, steps;
};

constexpr int64_t toTheEnd = std::numeric_limits<int64_t>::max();

std::optional<SliceBounds> boundsOfSlice(ArrayRef<Value> inputs) {
  auto begin = inputs.size() == 3 ? constantInts(inputs[1]) : std::nullopt;
  auto size = inputs.size() == 3 ? constantInts(inputs[2]) : std::nullopt;
  if (!begin || !size || begin->size() != size->size())
    return std::nullopt;
  SliceBounds bounds;
  for (auto [axis, first, count] : llvm::enumerate(*begin, *size)) {
    bounds.starts.push_back(first);
    bounds.ends.push_back(count < 0 ? toTheEnd : first + count);
    bounds.axes.push_back(axis);
    bounds.steps.push_back(1);
  }
  return bounds;
}

std::optional<SliceBounds> boundsOfStridedSlice(const pb::NodeDef &node, ArrayRef<Value> inputs) {
  if (inputs.size() != 4)
    return std::nullopt;
  auto type = dyn_cast<RankedTensorType>(inputs[0].getType());
  auto begin = constantInts(inputs[1]), end = constantInts(inputs[2]),
       strides = constantInts(inputs[3]);
  if (!type || !begin || !end || !strides || begin->size() != end->size() ||
      begin->size() != strides->size())
    return std::nullopt;
  auto hasBit = [&](const char *mask, size_t index) {
    const pb::AttrValue *value = attributeOf(node, mask);
    return value && index < 64 && (value->i() >> index & 1) != 0;
  };
  int64_t taken = 0; // dims that stand in the list
  for (size_t i = 0; i < begin->size(); ++i)
    taken += !hasBit("ellipsis_mask", i) && !hasBit("new_axis_mask", i);
  SliceBounds bounds;
  int64_t axis = 0;
  for (size_t i = 0; i < begin->size(); ++i) {
    if (hasBit("ellipsis_mask", i)) {
      axis += type.getRank() - taken;
      continue;
    }
    if (hasBit("new_axis_mask", i))
      continue;
    const int64_t first = (*begin)[i];
    const bool isOne = hasBit("shrink_axis_mask", i);
    bounds.starts.push_back(hasBit("begin_mask", i) && !isOne ? 0 : first);
    bounds.ends.push_back(isOne ? first + 1 : hasBit("end_mask", i) ? toTheEnd : (*end)[i]);
    bounds.axes.push_back(axis++);
    bounds.steps.push_back(isOne ? 1 : (*strides)[i]);
  }
  return bounds;
}

} // namespace

SizeNode sizeNodeOf(const pb::NodeDef &node, ArrayRef<Value> inputs) {
  // Operators of one name in both that do different things must not be taken for each other.
  const StringRef kind =
      llvm::StringSwitch<StringRef>(node.op())
          .Cases({"Pack", "ConcatV2"}, "Concat")
          .Case("Mul", "Mul")
          .Cases({"Div", "RealDiv", "FloorDiv", "TruncateDiv"}, "Div")
          .Case("Equal", "Equal")
          .Cases({"Gather", "GatherV2"}, "Gather")
          .Cases({"Slice", "StridedSlice"}, "Slice")
          .Case("Squeeze", "Squeeze")
          .Case("ExpandDims", "Unsqueeze")
          .Case("Cast", "Cast")
          .Cases({"Identity", "StopGradient", "PreventGradient", "Snapshot"}, "Identity")
          .Case("Unpack", "Split")
          .Case("Reshape", "Reshape")
          .Case("Fill", "ConstantOfShape")
          .Case("BroadcastTo", "Expand")
          .Case("Tile", "Tile")
          .Cases({"Conv2DBackpropInput", "Conv3DBackpropInputV2"}, "ConvBackpropInput")
          .Case("SelectV2", "Where")
          .Case("Prod", "ReduceProd")
          .Cases({"Shape", "ShapeN"}, "Shape")
          .Case("Size", "Size")
          .Default("");
  auto parameter = [&node, inputs](StringRef name,
                                   unsigned) -> std::optional<SmallVector<int64_t>> {
    if (node.op() == "Squeeze") {
      const pb::AttrValue *dims = attributeOf(node, "squeeze_dims");
      if (name != "axes" || !dims || dims->list().i().empty())
        return std::nullopt;
      return SmallVector<int64_t>(dims->list().i().begin(), dims->list().i().end());
    }
    auto bounds = node.op() == "Slice" ? boundsOfSlice(inputs) : boundsOfStridedSlice(node, inputs);
    if (!bounds)
      return std::nullopt;
    return name == "starts" ? bounds->starts
           : name == "ends" ? bounds->ends
           : name == "axes" ? bounds->axes
                            : bounds->steps;
  };
  return {kind, inputs, parameter};
}

void GraphImporter::makeWithPlaceholder(pb::NodeDef &node) {
  SmallVector<Value> inputs;
  for (const std::string &input : node.input())
    if (TensorName tensor = TensorName::parse(input); !tensor.isControl)
      inputs.push_back(lookup(tensor));
  const SizeNode sizes = sizeNodeOf(node, inputs);
  std::string why = placeholder->whyRefused(sizes);
  if (why.empty()) {
    makeOutputs(node);
    if (diags->hasErrors())
      return;
    SmallVector<Value> made;
    for (TensorName output{node.name()}; Value value = lookup(output); ++output.index)
      made.push_back(value);
    why = placeholder->whyUnsound(sizes, made);
  }
  if (!why.empty())
    diags->error("E14001", describeNode(node) + ": " + why);
}

} // namespace atc::tf_import
