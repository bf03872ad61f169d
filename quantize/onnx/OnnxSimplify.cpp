//===-- OnnxSimplify.cpp - a model with its weights in the layers ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "quantize/onnx/OnnxModel.h"

#include <cmath>

namespace atc::quantize {

namespace {

/// Returns the constant of a Constant node.
std::optional<onnx::TensorProto> constantOf(const onnx::NodeProto &node) {
  if (node.op_type() != "Constant" || node.attribute_size() != 1 || node.output_size() != 1)
    return std::nullopt;
  const onnx::AttributeProto &value = node.attribute(0);
  onnx::TensorProto tensor;
  if (value.name() == "value") {
    tensor = value.t();
    if (tensor.data_location() == onnx::TensorProto::EXTERNAL)
      return std::nullopt;
  } else if (value.name() == "value_float") {
    tensor = makeFloats("", {}, {value.f()});
  } else if (value.name() == "value_floats") {
    tensor = makeFloats("", {value.floats_size()}, {value.floats().begin(), value.floats().end()});
  } else if (value.name() == "value_int") {
    tensor = makeInts("", {value.i()});
    tensor.clear_dims();
  } else if (value.name() == "value_ints") {
    tensor = makeInts("", {value.ints().begin(), value.ints().end()});
  } else {
    return std::nullopt;
  }
  tensor.set_name(node.output(0));
  return tensor;
}

/// Old files list their constants among the inputs too, as defaults.
void removeConstantInputs(OnnxModel &model) {
  auto &inputs = *model.graph().mutable_input();
  for (int i = inputs.size(); i-- > 0;)
    if (model.findConstant(inputs[i].name()))
      inputs.DeleteSubrange(i, 1);
  model.index();
}

void takeConstants(OnnxModel &model) {
  std::set<const onnx::NodeProto *> taken;
  for (const onnx::NodeProto &node : model.graph().node())
    if (std::optional<onnx::TensorProto> tensor = constantOf(node)) {
      *model.graph().add_initializer() = std::move(*tensor);
      taken.insert(&node);
    }
  model.removeNodes([&](const onnx::NodeProto &node) { return taken.count(&node) != 0; });
}

bool doesNothing(const onnx::NodeProto &node) {
  if (node.op_type() == "Identity")
    return true;
  // At inference; a mask that somebody reads keeps it.
  return node.op_type() == "Dropout" && node.input_size() < 3;
}

void removeIdentities(OnnxModel &model) {
  std::map<std::string, std::string> sources;
  std::set<const onnx::NodeProto *> removed;
  for (const onnx::NodeProto &node : model.graph().node()) {
    if (!doesNothing(node) || node.input_size() < 1 || node.output_size() < 1 ||
        model.isOutput(node.output(0)))
      continue;
    if (node.output_size() > 1 && !model.findUsers(node.output(1)).empty())
      continue;
    // Bodies of If and Loop know tensors by name.
    bool inBody = false;
    for (const onnx::NodeProto *user : model.findUsers(node.output(0)))
      for (const onnx::AttributeProto &attribute : user->attribute())
        inBody |= attribute.has_g() || attribute.graphs_size() > 0;
    if (inBody)
      continue;
    auto known = sources.find(node.input(0));
    sources[node.output(0)] = known == sources.end() ? node.input(0) : known->second;
    removed.insert(&node);
  }
  if (removed.empty())
    return;
  for (onnx::NodeProto &node : *model.graph().mutable_node())
    for (std::string &input : *node.mutable_input())
      if (auto found = sources.find(input); found != sources.end())
        input = found->second;
  model.removeNodes([&](const onnx::NodeProto &node) { return removed.count(&node) != 0; });
}

/// The affine function that an operator behind a convolution applies per channel.
struct Affine {
  std::vector<float> scale, shift;
};

std::optional<std::vector<float>> floatsOf(OnnxModel &model, const onnx::NodeProto &node,
                                           int index) {
  const onnx::TensorProto *tensor =
      index < node.input_size() ? model.findConstant(node.input(index)) : nullptr;
  return tensor ? readFloats(*tensor) : std::nullopt;
}

std::optional<Affine> batchNormOf(OnnxModel &model, const onnx::NodeProto &node, size_t channels) {
  std::optional<std::vector<float>> parts[4];
  for (int i = 0; i < 4; ++i) {
    parts[i] = floatsOf(model, node, i + 1);
    if (!parts[i] || parts[i]->size() != channels)
      return std::nullopt;
  }
  const onnx::AttributeProto *epsilon = findAttribute(node, "epsilon");
  const double e = epsilon ? epsilon->f() : 1e-5;
  if (intAttribute(node, "training_mode", 0) || node.output_size() > 1)
    return std::nullopt;
  Affine affine;
  for (size_t i = 0; i < channels; ++i) {
    const double factor = (*parts[0])[i] / std::sqrt((*parts[3])[i] + e);
    affine.scale.push_back(factor);
    affine.shift.push_back((*parts[1])[i] - factor * (*parts[2])[i]);
    if (!std::isfinite(affine.scale.back()) || !std::isfinite(affine.shift.back()))
      return std::nullopt;
  }
  return affine;
}

/// Matches an addition of a constant with one value per channel, to a tensor with `rank` dims.
std::optional<Affine> addendOf(OnnxModel &model, const onnx::NodeProto &node,
                               const std::string &tensor, size_t channels, int rank) {
  if (node.input_size() != 2 || node.input(0) == node.input(1))
    return std::nullopt;
  const std::string &other = node.input(node.input(0) == tensor ? 1 : 0);
  const onnx::TensorProto *constant = model.findConstant(other);
  if (!constant || constant->dims_size() > rank || constant->dims_size() < rank - 1)
    return std::nullopt;
  for (int i = 0; i < constant->dims_size(); ++i) {
    const bool isChannel = i == constant->dims_size() - (rank - 1);
    if (constant->dims(i) != (isChannel ? int64_t(channels) : 1))
      return std::nullopt;
  }
  auto values = readFloats(*constant);
  if (!values)
    return std::nullopt;
  return Affine{std::vector<float>(channels, 1), std::move(*values)};
}

/// Gives the convolution the weights and the bias that compute `affine` of it too.
void foldInto(OnnxModel &model, onnx::NodeProto &conv, const onnx::TensorProto &weights,
              const Affine &affine) {
  const bool transposed = conv.op_type() == "ConvTranspose";
  const size_t channels = affine.scale.size();
  std::vector<float> values = *readFloats(weights);
  std::vector<int64_t> dims(weights.dims().begin(), weights.dims().end());
  const size_t groups = std::max<int64_t>(1, intAttribute(conv, "group", 1));
  const size_t outer = transposed ? dims[0] * dims[1] : channels;
  const size_t inner = outer ? values.size() / outer : 0;
  for (size_t row = 0; row < outer; ++row) {
    size_t channel = row;
    if (transposed) { // [C, M / groups, kernel...]
      const size_t input = row / dims[1], group = input / (dims[0] / groups);
      channel = group * dims[1] + row % dims[1];
    }
    for (size_t i = 0; i < inner; ++i)
      values[row * inner + i] *= affine.scale[channel];
  }
  std::vector<float> bias(channels, 0);
  if (conv.input_size() > 2 && !conv.input(2).empty())
    bias = *readFloats(*model.findConstant(conv.input(2)));
  for (size_t i = 0; i < channels; ++i)
    bias[i] = bias[i] * affine.scale[i] + affine.shift[i];
  const std::string weightName = model.freshName(conv.input(1) + "_folded");
  const std::string biasName = model.freshName(conv.input(1) + "_bias");
  model.addConstant(makeFloats(weightName, dims, values));
  model.addConstant(makeFloats(biasName, {int64_t(channels)}, bias));
  conv.set_input(1, weightName);
  if (conv.input_size() < 3)
    conv.add_input("");
  conv.set_input(2, biasName);
}

void foldIntoConvolutions(OnnxModel &model) {
  for (onnx::NodeProto &conv : *model.graph().mutable_node()) {
    if ((conv.op_type() != "Conv" && conv.op_type() != "ConvTranspose") || conv.input_size() < 2)
      continue;
    // As long as something follows that folds.
    for (;;) {
      const onnx::TensorProto *weights = model.findConstant(conv.input(1));
      if (!weights || weights->dims_size() < 3 || !readFloats(*weights))
        break;
      const bool hasBias = conv.input_size() > 2 && !conv.input(2).empty();
      const size_t groups = std::max<int64_t>(1, intAttribute(conv, "group", 1));
      const size_t channels =
          conv.op_type() == "Conv" ? weights->dims(0) : weights->dims(1) * groups;
      if (hasBias) {
        auto bias = floatsOf(model, conv, 2);
        if (!bias || bias->size() != channels)
          break;
      }
      const std::string output = conv.output(0);
      const std::vector<onnx::NodeProto *> users = model.findUsers(output);
      if (users.size() != 1 || model.isOutput(output) || users[0]->output_size() < 1)
        break;
      std::optional<Affine> affine;
      if (users[0]->op_type() == "BatchNormalization" && users[0]->input(0) == output)
        affine = batchNormOf(model, *users[0], channels);
      else if (users[0]->op_type() == "Add")
        affine = addendOf(model, *users[0], output, channels, weights->dims_size());
      if (!affine)
        break;
      foldInto(model, conv, *weights, *affine);
      // One without a name goes by its output, which settings name as the file has it.
      if (conv.name().empty())
        conv.set_name(output);
      conv.set_output(0, users[0]->output(0));
      // The previous producer is removed.
      users[0]->set_op_type("Folded");
      model.index();
    }
  }
  model.removeNodes([](const onnx::NodeProto &node) { return node.op_type() == "Folded"; });
}

/// Returns the constant that a node makes of a matrix of constants by exchanging its dims.
std::optional<onnx::TensorProto> transposedBy(OnnxModel &model, const onnx::NodeProto &node) {
  if (node.op_type() != "Transpose" || !node.domain().empty() || node.input_size() != 1 ||
      model.isOutput(node.output(0)))
    return std::nullopt;
  const onnx::TensorProto *constant = model.findConstant(node.input(0));
  const auto values = constant && constant->dims_size() == 2 ? readFloats(*constant) : std::nullopt;
  if (!values)
    return std::nullopt;
  for (const onnx::AttributeProto &attribute : node.attribute())
    if (attribute.name() == "perm" && (attribute.ints_size() != 2 || attribute.ints(0) != 1))
      return std::nullopt;
  const int64_t rows = constant->dims(0), columns = constant->dims(1);
  std::vector<float> result(values->size());
  for (size_t i = 0; i < result.size(); ++i)
    result[i] = (*values)[i % rows * columns + i / rows];
  return makeFloats(node.output(0), {columns, rows}, result);
}

/// Replaces transposed matrices of constants, so that products have their weights as constants.
void transposeWeights(OnnxModel &model) {
  std::set<const onnx::NodeProto *> folded;
  for (const onnx::NodeProto &node : model.graph().node())
    if (std::optional<onnx::TensorProto> tensor = transposedBy(model, node)) {
      *model.graph().add_initializer() = std::move(*tensor);
      folded.insert(&node);
    }
  model.removeNodes([&](const onnx::NodeProto &node) { return folded.count(&node) != 0; });
}

} // namespace

void simplify(OnnxModel &model) {
  removeConstantInputs(model);
  takeConstants(model);
  transposeWeights(model);
  removeIdentities(model);
  foldIntoConvolutions(model);
}

} // namespace atc::quantize
