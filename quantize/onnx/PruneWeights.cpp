//===-- PruneWeights.cpp - sets two of four weights to zero ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "quantize/onnx/Prune.h"
#include "quantize/onnx/PruneUtils.h"
#include "quantize/weights/Sparsity.h"

#include <algorithm>

namespace atc::quantize {

namespace {

/// A layer's weights as rows of channels of inputs, each with some taps.
struct SparseForm {
  int64_t axis = 0; ///< of the outputs
  int64_t rows = 0, channels = 0, taps = 1, groups = 1;
};

/// Returns the form of a node's weights; nothing for nodes without weights that can be sparse.
std::optional<SparseForm> formOf(OnnxModel &model, const onnx::NodeProto &node) {
  const std::string &type = node.op_type();
  const bool isConv = type == "Conv" || type == "ConvTranspose";
  if (!node.domain().empty() || (!isConv && type != "Gemm" && type != "MatMul") ||
      node.input_size() < 2 || node.output_size() < 1)
    return std::nullopt;
  const onnx::TensorProto *weights = model.findConstant(node.input(1));
  if (!weights || !readFloats(*weights) ||
      (isConv ? weights->dims_size() < 3 : weights->dims_size() != 2))
    return std::nullopt;
  SparseForm form;
  form.groups = isConv ? intAttribute(node, "group", 1) : 1;
  const bool outputsLast = type == "ConvTranspose" || type == "MatMul" ||
                           (type == "Gemm" && !intAttribute(node, "transB", 0));
  form.axis = outputsLast ? 1 : 0;
  form.rows = weights->dims(outputsLast ? 1 : 0);
  form.channels = weights->dims(outputsLast ? 0 : 1);
  // The channels of the groups of a transposed convolution follow each other in one dim.
  if (type == "ConvTranspose" && form.groups > 1)
    return std::nullopt;
  form.taps = countElements(*weights) / std::max<int64_t>(1, form.rows * form.channels);
  return form.channels >= 4 && form.rows > 0 && form.groups > 0 && form.rows % form.groups == 0
             ? std::optional(form)
             : std::nullopt;
}

std::vector<float> sparsify(const std::vector<float> &rows, const SparseForm &form,
                            const LayerMoments *moments) {
  const int64_t length = form.channels * form.taps;
  const bool fits = moments && static_cast<int64_t>(moments->groups.size()) == form.groups &&
                    moments->groups[0].size() == length && moments->groups[0].count() > 0;
  if (!fits)
    return keepTwoOfFour(rows, form.rows, form.channels, form.taps);
  std::vector<float> result;
  const int64_t perGroup = form.rows / form.groups;
  for (int64_t group = 0; group < form.groups; ++group) {
    const llvm::ArrayRef<float> own =
        llvm::ArrayRef<float>(rows).slice(group * perGroup * length, perGroup * length);
    const std::vector<float> matrix = moments->groups[group].matrix(/*centered=*/false);
    const std::vector<float> sparse =
        keepTwoOfFour(own, perGroup, form.channels, form.taps, matrix);
    result.insert(result.end(), sparse.begin(), sparse.end());
  }
  return result;
}

} // namespace

Pruning pruneWeights(OnnxModel &model, const PruneConfig &config, const MomentsByOutput &moments,
                     Diagnostics &diagnostics) {
  Pruning result;
  const std::optional<PruneConfig> resolved = resolvePruneNames(model, config, diagnostics);
  if (!resolved)
    return result;
  result.before = countWeights(model);
  auto count = [](const std::vector<float> &values) {
    return std::count_if(values.begin(), values.end(), [](float value) { return value != 0; });
  };
  for (onnx::NodeProto &node : *model.graph().mutable_node()) {
    const std::string name =
        node.name().empty() && node.output_size() ? node.output(0) : node.name();
    if (resolved->of(name, node.op_type()).kind != PruneKind::TwoOfFour)
      continue;
    const std::optional<SparseForm> form = formOf(model, node);
    // Weights that several layers share cannot absorb the errors of each.
    if (!form || model.findUsers(node.input(1)).size() > 1)
      continue;
    const std::vector<float> rows = weightRows(model, node, form->axis);
    const auto known = moments.find(node.output(0));
    const std::vector<float> sparse =
        sparsify(rows, *form, known == moments.end() ? nullptr : known->second.get());
    result.layers.push_back({name, count(rows), count(sparse)});
    setWeightRows(model, node, form->axis, sparse);
  }
  model.removeUnusedConstants();
  model.index();
  result.after = countWeights(model);
  return result;
}

} // namespace atc::quantize
