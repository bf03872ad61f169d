//===-- WeightOnly.cpp - stores weights of products in few bits -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "quantize/onnx/WeightOnly.h"

#include "support/OutputFile.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

namespace atc::quantize {

namespace {

/// A k x n matrix in groups, as MatMulNBits reads it: columns one after the other.
struct Packed {
  std::string weights, zeros;
  std::vector<float> scales;
  double cosine = 0;
};

/// Quantizes a matrix whose element (i, j) is at i * rowStep + j * columnStep.
Packed quantizeMatrix(const std::vector<float> &matrix, int64_t k, int64_t n, int64_t rowStep,
                      int64_t columnStep, const WeightOnlyOptions &options) {
  const int64_t group = options.groupSize, bits = options.bits, groups = (k + group - 1) / group;
  const int64_t groupBytes = group * bits / 8, zeroBytes = (groups * bits + 7) / 8;
  const float levels = static_cast<float>((1 << bits) - 1);
  Packed result;
  result.weights.resize(n * groups * groupBytes);
  result.zeros.resize(n * zeroBytes);
  result.scales.resize(n * groups);
  // Fields of 4 bits: the first one is in the low half of a byte.
  auto store = [&](std::string &bytes, int64_t begin, int64_t index, int value) {
    const int64_t at = begin + index * bits / 8;
    bytes[at] = static_cast<char>(bytes[at] | value << (index * bits % 8));
  };
  double product = 0, ours = 0, theirs = 0;
  for (int64_t j = 0; j < n; ++j)
    for (int64_t g = 0; g < groups; ++g) {
      const int64_t first = g * group, last = std::min(first + group, k);
      auto value = [&](int64_t i) { return matrix[i * rowStep + j * columnStep]; };
      // 0 stays 0: zero points are levels, too.
      float low = 0, high = 0;
      for (int64_t i = first; i < last; ++i) {
        low = std::min(low, value(i));
        high = std::max(high, value(i));
      }
      const float scale = high > low ? (high - low) / levels : 1;
      const int zero = static_cast<int>(std::clamp(std::nearbyint(-low / scale), 0.0f, levels));
      result.scales[j * groups + g] = scale;
      store(result.zeros, j * zeroBytes, g, zero);
      for (int64_t i = first; i < first + group; ++i) {
        const float wanted = i < last ? value(i) : 0;
        const int level = static_cast<int>(
            std::clamp(std::nearbyint(wanted / scale) + static_cast<float>(zero), 0.0f, levels));
        store(result.weights, (j * groups + g) * groupBytes, i - first, level);
        const double stored = static_cast<double>(level - zero) * scale;
        product += stored * wanted;
        ours += stored * stored;
        theirs += static_cast<double>(wanted) * wanted;
      }
    }
  result.cosine = ours > 0 && theirs > 0 ? product / std::sqrt(ours * theirs) : ours == theirs;
  return result;
}

onnx::TensorProto bytesTensor(const std::string &name, const std::vector<int64_t> &dims,
                              std::string bytes) {
  onnx::TensorProto tensor;
  tensor.set_name(name);
  tensor.set_data_type(onnx::TensorProto::UINT8);
  for (int64_t dim : dims)
    tensor.add_dims(dim);
  tensor.set_raw_data(std::move(bytes));
  return tensor;
}

class Rewriter {
public:
  Rewriter(OnnxModel &model, const WeightOnlyOptions &options) : model(model), options(options) {}

  std::vector<WeightOnlyLayer> run() {
    for (onnx::NodeProto &node : *model.graph().mutable_node())
      rewrite(node);
    if (layers.empty())
      return layers;
    model.index();
    model.removeNodes([](const onnx::NodeProto &) { return false; });
    auto &domains = *model.proto.mutable_opset_import();
    if (std::none_of(domains.begin(), domains.end(),
                     [](const auto &each) { return each.domain() == "com.microsoft"; })) {
      auto *domain = model.proto.add_opset_import();
      domain->set_domain("com.microsoft");
      domain->set_version(1);
    }
    return layers;
  }

private:
  struct Stored {
    std::string weights, scales, zeros;
    double cosine;
  };

  /// Returns whether the bias of a Gemm is one number per column, or is missing.
  bool hasPlainBias(const onnx::NodeProto &node, int64_t n) {
    if (node.input_size() < 3 || node.input(2).empty())
      return true;
    const onnx::TensorProto *bias = model.findConstant(node.input(2));
    return bias && bias->dims_size() == 1 && bias->dims(0) == n;
  }

  void rewrite(onnx::NodeProto &node) {
    const bool isGemm = node.op_type() == "Gemm";
    if ((!isGemm && node.op_type() != "MatMul") || !node.domain().empty() || node.input_size() < 2)
      return;
    const onnx::TensorProto *weights = model.findConstant(node.input(1));
    if (!weights || weights->dims_size() != 2 || weights->data_type() != onnx::TensorProto::FLOAT ||
        countElements(*weights) < 4096)
      return;
    const bool transposed = isGemm && intAttribute(node, "transB", 0);
    const int64_t k = weights->dims(transposed), n = weights->dims(!transposed);
    auto isOne = [&](const char *name) {
      const onnx::AttributeProto *factor = findAttribute(node, name);
      return !factor || factor->f() == 1;
    };
    if (isGemm && (intAttribute(node, "transA", 0) || !isOne("alpha") || !isOne("beta") ||
                   !hasPlainBias(node, n)))
      return;
    const Stored &stored = store(*weights, transposed, k, n);
    layers.push_back({node.name(), k, n, stored.cosine});
    const std::string bias = isGemm && node.input_size() > 2 ? node.input(2) : "";
    node.set_op_type("MatMulNBits");
    node.set_domain("com.microsoft");
    node.clear_attribute();
    setAttribute(node, "K", k);
    setAttribute(node, "N", n);
    setAttribute(node, "bits", options.bits);
    setAttribute(node, "block_size", options.groupSize);
    const std::string x = node.input(0);
    node.clear_input();
    for (const std::string &input : {x, stored.weights, stored.scales, stored.zeros})
      node.add_input(input);
    if (!bias.empty()) {
      node.add_input("");
      node.add_input(bias);
    }
  }

  /// Quantizes a constant once for all nodes that read it in the same way.
  const Stored &store(const onnx::TensorProto &weights, bool transposed, int64_t k, int64_t n) {
    auto [found, isNew] = done.try_emplace({weights.name(), transposed});
    if (!isNew)
      return found->second;
    const std::optional<std::vector<float>> values = readFloats(weights);
    Packed packed = quantizeMatrix(*values, k, n, transposed ? 1 : n, transposed ? k : 1, options);
    const int64_t groups = (k + options.groupSize - 1) / options.groupSize;
    const std::string prefix = weights.name();
    auto add = [&](onnx::TensorProto tensor) { return model.addConstant(tensor).name(); };
    Stored &stored = found->second;
    stored.cosine = packed.cosine;
    stored.weights =
        add(bytesTensor(model.freshName(prefix + "_q"),
                        {n, groups, options.groupSize * options.bits / 8}, packed.weights));
    stored.scales =
        add(makeFloats(model.freshName(prefix + "_scales"), {n * groups}, packed.scales));
    stored.zeros = add(bytesTensor(model.freshName(prefix + "_zeros"),
                                   {n * ((groups * options.bits + 7) / 8)}, packed.zeros));
    return stored;
  }

  OnnxModel &model;
  const WeightOnlyOptions &options;
  std::map<std::pair<std::string, bool>, Stored> done;
  std::vector<WeightOnlyLayer> layers;
};
} // namespace

WeightOnlyOptions readWeightOnly(const std::string &type, int64_t groupSize,
                                 Diagnostics &diagnostics) {
  WeightOnlyOptions options;
  if (type != "int4" && type != "int8")
    diagnostics.error("E10001", "the value \"" + type +
                                    "\" of --weight_only is invalid: it must be int4 or int8");
  if (groupSize < 16 || groupSize > 65536 || (groupSize & (groupSize - 1)))
    diagnostics.error("E10001", "the value \"" + llvm::Twine(groupSize) +
                                    "\" of --group_size is invalid: it must be a power of two "
                                    "from 16 to 65536");
  options.bits = type == "int8" ? 8 : 4;
  options.groupSize = groupSize;
  return options;
}

std::vector<WeightOnlyLayer> quantizeWeights(OnnxModel &model, const WeightOnlyOptions &options) {
  return Rewriter(model, options).run();
}

std::string layersJson(const std::vector<WeightOnlyLayer> &layers) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const WeightOnlyLayer &layer : layers)
    list.push_back({{"name", layer.name},
                    {"rows", layer.rows},
                    {"columns", layer.columns},
                    {"cosine", layer.cosine}});
  return list.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

bool writeModel(const OnnxModel &model, const std::string &path, Diagnostics &diagnostics) {
  std::string bytes;
  if (!model.proto.SerializeToString(&bytes)) {
    diagnostics.error("E13004", "the file \"" + path + "\" would be larger than 2 GB");
    return false;
  }
  OutputFile file(path);
  if (!file.write(bytes) || !file.commit()) {
    diagnostics.error("E13004", "the file \"" + path + "\" cannot be written: " + file.reason());
    return false;
  }
  return true;
}

} // namespace atc::quantize
