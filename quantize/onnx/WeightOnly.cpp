//===-- WeightOnly.cpp - stores weights of products in few bits -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "quantize/onnx/WeightOnly.h"

#include "quantize/weights/InputScales.h"
#include "support/OutputFile.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

namespace atc::quantize {

namespace {

/// Rows of levels, as MatMulNBits reads them.
struct Packed {
  std::string weights, zeros;
};

Packed pack(const GroupedRows &rows) {
  const int64_t bits = rows.form.bits, group = rows.form.groupSize, groups = rows.groups();
  const int64_t groupBytes = group * bits / 8, zeroBytes = (groups * bits + 7) / 8;
  Packed result;
  result.weights.resize(rows.rows * groups * groupBytes);
  result.zeros.resize(rows.rows * zeroBytes);
  // Fields of 4 bits: the first one is in the low half of a byte.
  auto store = [&](std::string &bytes, int64_t begin, int64_t index, int value) {
    const int64_t at = begin + index * bits / 8;
    bytes[at] = static_cast<char>(bytes[at] | value << (index * bits % 8));
  };
  for (int64_t row = 0; row < rows.rows; ++row)
    for (int64_t g = 0; g < groups; ++g) {
      const int zero = rows.zeros[row * groups + g];
      store(result.zeros, row * zeroBytes, g, zero);
      for (int64_t i = 0; i < group; ++i) {
        const int64_t column = g * group + i;
        const int level = column < rows.length ? rows.levels[row * rows.length + column] : zero;
        store(result.weights, (row * groups + g) * groupBytes, i, level);
      }
    }
  return result;
}

double cosineOf(llvm::ArrayRef<float> wanted, const GroupedRows &rows) {
  double product = 0, ours = 0, theirs = 0;
  for (size_t i = 0; i < wanted.size(); ++i) {
    const double stored = rows.value(static_cast<int64_t>(i));
    product += stored * wanted[i];
    ours += stored * stored;
    theirs += static_cast<double>(wanted[i]) * wanted[i];
  }
  return ours > 0 && theirs > 0 ? product / std::sqrt(ours * theirs) : ours == theirs;
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
  Rewriter(OnnxModel &model, const WeightOnlyOptions &options, const MomentsByOutput &moments)
      : model(model), options(options), moments(moments) {}

  std::vector<WeightOnlyLayer> run();

private:
  /// A node whose weights are to be stored in few bits.
  struct Layer {
    onnx::NodeProto *node;
    const onnx::TensorProto *weights;
    bool transposed; ///< a row of the matrix is one of the result's columns
    int64_t k, n;
  };
  struct Stored {
    std::string weights, scales, zeros;
    double cosine;
    std::optional<double> error;
  };

  std::optional<Layer> layerOf(onnx::NodeProto &node);
  bool hasPlainBias(const onnx::NodeProto &node, int64_t n);
  std::vector<float> rowsOf(const Layer &layer);
  const std::vector<float> *matrixOf(const Layer &layer);
  void rewrite(const Layer &layer, const std::vector<float> &factors, const std::string &input);
  const Stored &store(const Layer &layer, const std::vector<float> &factors);
  std::string divideInput(const std::string &input, const std::vector<float> &factors,
                          size_t readers);
  bool divideProducer(const std::string &input, const std::vector<float> &factors);

  OnnxModel &model;
  const WeightOnlyOptions &options;
  const MomentsByOutput &moments;
  // The matrix of the input that was used last: layers of one input follow each other.
  const LayerMoments *matrixOwner = nullptr;
  std::vector<float> matrix;
  std::map<std::tuple<std::string, bool, const void *>, Stored> done;
  std::vector<WeightOnlyLayer> layers;
  std::map<std::string, onnx::NodeProto> divisions; ///< by the tensor that they divide
};

std::vector<WeightOnlyLayer> Rewriter::run() {
  std::vector<std::string> inputs; // in the order of the graph
  std::map<std::string, std::vector<Layer>> readers;
  for (onnx::NodeProto &node : *model.graph().mutable_node())
    if (std::optional<Layer> layer = layerOf(node)) {
      std::vector<Layer> &list = readers[node.input(0)];
      if (list.empty())
        inputs.push_back(node.input(0));
      list.push_back(*layer);
    }
  for (const std::string &input : inputs) {
    const std::vector<Layer> &list = readers[input];
    std::vector<float> factors;
    const std::vector<float> *own = matrixOf(list.front());
    const bool allKnown = own && std::all_of(list.begin(), list.end(), [&](const Layer &layer) {
                            return matrixOf(layer) == own;
                          });
    if (options.method == WeightMethod::Scaled && allKnown) {
      std::vector<std::vector<float>> rows;
      std::vector<WeightRows> views;
      for (const Layer &layer : list)
        rows.push_back(rowsOf(layer));
      for (size_t i = 0; i < list.size(); ++i)
        views.push_back({rows[i], list[i].n});
      factors = findInputScales(views, options.form, *own);
    }
    const std::string divided = factors.empty() ? input : divideInput(input, factors, list.size());
    for (const Layer &layer : list)
      rewrite(layer, factors, divided);
  }
  if (layers.empty())
    return layers;
  onnx::GraphProto ordered;
  for (onnx::NodeProto &node : *model.graph().mutable_node()) {
    for (const std::string &input : node.input())
      if (auto division = divisions.find(input); division != divisions.end()) {
        *ordered.add_node() = division->second;
        divisions.erase(division);
      }
    *ordered.add_node() = std::move(node);
  }
  *model.graph().mutable_node() = std::move(*ordered.mutable_node());
  model.index();
  model.removeUnusedConstants();
  model.index();
  auto &domains = *model.proto.mutable_opset_import();
  if (std::none_of(domains.begin(), domains.end(),
                   [](const auto &each) { return each.domain() == "com.microsoft"; })) {
    auto *domain = model.proto.add_opset_import();
    domain->set_domain("com.microsoft");
    domain->set_version(1);
  }
  return layers;
}

/// Returns whether the bias of a Gemm is one number per column, or is missing.
bool Rewriter::hasPlainBias(const onnx::NodeProto &node, int64_t n) {
  if (node.input_size() < 3 || node.input(2).empty())
    return true;
  const onnx::TensorProto *bias = model.findConstant(node.input(2));
  return bias && bias->dims_size() == 1 && bias->dims(0) == n;
}

std::optional<Rewriter::Layer> Rewriter::layerOf(onnx::NodeProto &node) {
  const bool isGemm = node.op_type() == "Gemm";
  if ((!isGemm && node.op_type() != "MatMul") || !node.domain().empty() || node.input_size() < 2 ||
      node.output_size() < 1)
    return std::nullopt;
  const onnx::TensorProto *weights = model.findConstant(node.input(1));
  if (!weights || weights->dims_size() != 2 || weights->data_type() != onnx::TensorProto::FLOAT ||
      countElements(*weights) < 4096)
    return std::nullopt;
  const bool transposed = isGemm && intAttribute(node, "transB", 0);
  const int64_t k = weights->dims(transposed), n = weights->dims(!transposed);
  auto isOne = [&](const char *name) {
    const onnx::AttributeProto *factor = findAttribute(node, name);
    return !factor || factor->f() == 1;
  };
  if (isGemm && (intAttribute(node, "transA", 0) || !isOne("alpha") || !isOne("beta") ||
                 !hasPlainBias(node, n)))
    return std::nullopt;
  return Layer{&node, weights, transposed, k, n};
}

/// Returns the weights with the products' columns as rows.
std::vector<float> Rewriter::rowsOf(const Layer &layer) {
  std::vector<float> values = *readFloats(*layer.weights);
  if (layer.transposed)
    return values;
  std::vector<float> rows(values.size());
  for (int64_t i = 0; i < layer.k; ++i)
    for (int64_t j = 0; j < layer.n; ++j)
      rows[j * layer.k + i] = values[i * layer.n + j];
  return rows;
}

/// Returns the second moments of a layer's input; null where they are not known.
const std::vector<float> *Rewriter::matrixOf(const Layer &layer) {
  const auto known = moments.find(layer.node->output(0));
  if (known == moments.end() || known->second->groups.size() != 1 ||
      known->second->groups[0].size() != layer.k)
    return nullptr;
  if (matrixOwner != known->second.get()) {
    matrixOwner = known->second.get();
    matrix = matrixOwner->groups[0].matrix(/*centered=*/false);
  }
  return &matrix;
}

void Rewriter::rewrite(const Layer &layer, const std::vector<float> &factors,
                       const std::string &input) {
  const Stored &stored = store(layer, factors);
  onnx::NodeProto &node = *layer.node;
  layers.push_back({node.name(), layer.k, layer.n, stored.cosine, stored.error});
  const std::string bias = node.op_type() == "Gemm" && node.input_size() > 2 ? node.input(2) : "";
  node.set_op_type("MatMulNBits");
  node.set_domain("com.microsoft");
  node.clear_attribute();
  setAttribute(node, "K", layer.k);
  setAttribute(node, "N", layer.n);
  setAttribute(node, "bits", options.form.bits);
  setAttribute(node, "block_size", options.form.groupSize);
  node.clear_input();
  for (const std::string &each : {input, stored.weights, stored.scales, stored.zeros})
    node.add_input(each);
  if (!bias.empty()) {
    node.add_input("");
    node.add_input(bias);
  }
}

/// Quantizes a constant once for all nodes that read it in the same way.
const Rewriter::Stored &Rewriter::store(const Layer &layer, const std::vector<float> &factors) {
  const std::vector<float> *own = matrixOf(layer);
  const void *owner = own && options.method != WeightMethod::Nearest ? matrixOwner : nullptr;
  auto [found, isNew] = done.try_emplace({layer.weights->name(), layer.transposed, owner});
  if (!isNew)
    return found->second;
  const std::vector<float> rows = rowsOf(layer);
  const std::vector<float> scaled = factors.empty() ? rows : scaleColumns(rows, factors);
  const GroupedRows rounded = own && options.method == WeightMethod::Absorbed
                                  ? roundByMoments(scaled, layer.n, options.form, *own)
                                  : roundToNearest(scaled, layer.n, options.form);
  const int64_t groups = rounded.groups();
  const std::string prefix = layer.weights->name();
  const Packed packed = pack(rounded);
  auto add = [&](onnx::TensorProto tensor) { return model.addConstant(std::move(tensor)).name(); };
  Stored &stored = found->second;
  stored.cosine = cosineOf(scaled, rounded);
  if (own && factors.empty()) {
    stored.error = relativeError(rows, rounded, *own);
  } else if (own) {
    // The moments of the divided inputs.
    std::vector<float> divided = *own;
    for (int64_t i = 0; i < layer.k; ++i)
      for (int64_t j = 0; j < layer.k; ++j)
        divided[i * layer.k + j] /= factors[i] * factors[j];
    stored.error = relativeError(scaled, rounded, divided);
  }
  stored.weights = add(bytesTensor(
      model.freshName(prefix + "_q"),
      {layer.n, groups, options.form.groupSize * options.form.bits / 8}, packed.weights));
  stored.scales =
      add(makeFloats(model.freshName(prefix + "_scales"), {layer.n * groups}, rounded.scales));
  stored.zeros = add(bytesTensor(model.freshName(prefix + "_zeros"),
                                 {layer.n * ((groups * options.form.bits + 7) / 8)}, packed.zeros));
  return stored;
}

/// Divides the constants of what computes a tensor: a product with a vector, or a norm's scale and
/// bias. Returns false where it has another form.
bool Rewriter::divideProducer(const std::string &input, const std::vector<float> &factors) {
  onnx::NodeProto *producer = model.findProducer(input);
  if (!producer)
    return false;
  const bool isNorm = producer->op_type() == "LayerNormalization" ||
                      producer->op_type() == "SimplifiedLayerNormalization" ||
                      producer->op_type() == "RMSNormalization";
  if (!isNorm && producer->op_type() != "Mul")
    return false;
  std::vector<int> operands;
  auto isVector = [&](int index) {
    const onnx::TensorProto *constant = model.findConstant(producer->input(index));
    return constant && readFloats(*constant) && constant->dims_size() == 1 &&
           constant->dims(0) == static_cast<int64_t>(factors.size());
  };
  if (isNorm) {
    for (int index = 1; index < producer->input_size(); ++index)
      if (!producer->input(index).empty())
        operands.push_back(index);
  } else {
    operands.push_back(model.findConstant(producer->input(1)) ? 1 : 0);
  }
  if (producer->output_size() > 1 || operands.empty() ||
      !std::all_of(operands.begin(), operands.end(), isVector))
    return false;
  for (int index : operands) {
    std::vector<float> values = *readFloats(*model.findConstant(producer->input(index)));
    for (size_t i = 0; i < values.size(); ++i)
      values[i] /= factors[i];
    const std::string name = model.freshName(producer->input(index) + "_divided");
    model.addConstant(makeFloats(name, {static_cast<int64_t>(values.size())}, values));
    producer->set_input(index, name);
  }
  return true;
}

/// Divides a tensor for the layers that are its `readers`. Returns the name of the result.
std::string Rewriter::divideInput(const std::string &input, const std::vector<float> &factors,
                                  size_t readers) {
  if (!model.isOutput(input) && model.findUsers(input).size() == readers &&
      divideProducer(input, factors))
    return input;
  std::vector<float> inverse;
  for (float factor : factors)
    inverse.push_back(1 / factor);
  const std::string name = model.freshName(input + "_divided");
  const std::string constant = model.freshName(input + "_divisors");
  model.addConstant(makeFloats(constant, {static_cast<int64_t>(inverse.size())}, inverse));
  divisions[name] = makeNode("Mul", name + "_node", {input, constant}, name);
  return name;
}

} // namespace

WeightOnlyOptions readWeightOnly(const std::string &type, int64_t groupSize,
                                 const std::string &method, Diagnostics &diagnostics) {
  WeightOnlyOptions options;
  if (type != "int4" && type != "int8")
    diagnostics.error("E10001", "the value \"" + type +
                                    "\" of --weight_only is invalid: it must be int4 or int8");
  if (groupSize < 16 || groupSize > 65536 || (groupSize & (groupSize - 1)))
    diagnostics.error("E10001", "the value \"" + llvm::Twine(groupSize) +
                                    "\" of --group_size is invalid: it must be a power of two "
                                    "from 16 to 65536");
  if (method != "rtn" && method != "awq" && method != "gptq")
    diagnostics.error("E10001", "the value \"" + method +
                                    "\" of --method is invalid: it must be rtn, awq or gptq");
  options.form = {type == "int8" ? 8 : 4, groupSize};
  options.method = method == "awq"    ? WeightMethod::Scaled
                   : method == "gptq" ? WeightMethod::Absorbed
                                      : WeightMethod::Nearest;
  return options;
}

std::vector<WeightOnlyLayer> quantizeWeights(OnnxModel &model, const WeightOnlyOptions &options,
                                             const MomentsByOutput &moments) {
  return Rewriter(model, options, moments).run();
}

std::string layersJson(const std::vector<WeightOnlyLayer> &layers) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const WeightOnlyLayer &layer : layers) {
    list.push_back({{"name", layer.name},
                    {"rows", layer.rows},
                    {"columns", layer.columns},
                    {"cosine", layer.cosine}});
    if (layer.error)
      list.back()["error"] = *layer.error;
  }
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
