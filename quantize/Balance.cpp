//===-- Balance.cpp - balances channels that share a scale ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A tensor has one scale. Where some of its channels are a hundred times as large as others and the
// weights of the next layer compensate for that, the small channels drown in rounding noise.
// Dividing channels by factors and multiplying weights by them changes nothing in float, and lets
// both be rounded well.
//
//===----------------------------------------------------------------------===//

#include "quantize/Balance.h"

#include "dialects/graph/ConstantData.h"
#include "dialects/graph/ops/ConvOps.h"
#include "dialects/graph/ops/StructureOps.h"
#include "dialects/graph/ops/UnaryOps.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>

using namespace mlir;

namespace atc::quantize {

void ChannelSizes::add(llvm::ArrayRef<float> values, llvm::ArrayRef<int64_t> dims) {
  int64_t inner = 1;
  for (int64_t dim : dims.drop_front(2))
    inner *= dim;
  const int64_t channels = dims[1], outer = dims[0];
  largest.resize(channels, 0);
  squares.resize(channels, 0);
  const float *at = values.data();
  for (int64_t o = 0; o < outer; ++o)
    for (int64_t c = 0; c < channels; ++c) {
      float max = 0, sum = 0;
      for (int64_t i = 0; i < inner; ++i, ++at) {
        max = std::max(max, std::fabs(*at));
        sum += *at * *at;
      }
      largest[c] = std::max<double>(largest[c], max);
      squares[c] += sum;
    }
  count += outer * inner;
}

namespace {

/// Sums over the weights that read each channel, and what they make together.
class Noise {
public:
  Noise(const ChannelSizes &sizes, llvm::ArrayRef<ReadingWeights> readers)
      : sizes(sizes), readers(readers), largestWeight(sizes.largest.size(), 0),
        weightSquares(sizes.largest.size(), 0) {
    forEach([&](const ReadingWeights &, int64_t, int64_t channel, float weight) {
      largestWeight[channel] = std::max<double>(largestWeight[channel], std::fabs(weight));
      weightSquares[channel] += double(weight) * weight;
    });
  }

  /// Up to a factor that is the same for all.
  double of(const std::vector<double> &factors) const {
    double reach = 0, sum = 0;
    for (size_t c = 0; c < factors.size(); ++c) {
      reach = std::max(reach, sizes.largest[c] / factors[c]);
      sum += weightSquares[c] * factors[c] * factors[c];
    }
    double noise = reach * reach * sum; // the activations' rounding, through the weights
    for (const ReadingWeights &reader : readers) {
      const int64_t inner = innerOf(reader), rows = reader.outputs / reader.groups;
      for (int64_t row = 0; row < reader.outputs; ++row) {
        double largest = 0, power = 0;
        for (int64_t j = 0; j < reader.inputs; ++j) {
          const int64_t c = row / rows * reader.inputs + j;
          const float *weights = reader.values.data() + (row * reader.inputs + j) * inner;
          for (int64_t i = 0; i < inner; ++i)
            largest = std::max(largest, std::fabs(weights[i]) * factors[c]);
          power += inner * sizes.squares[c] / sizes.count / (factors[c] * factors[c]);
        }
        noise += largest * largest * power; // the weights' rounding, through the activations
      }
    }
    return noise;
  }

  /// largest^strength / weight^(1 - strength), of which a strength of 1 makes all
  /// channels of one size.
  std::vector<double> factors(double strength) const {
    const double maxWeight = *std::max_element(largestWeight.begin(), largestWeight.end());
    const double max = *std::max_element(sizes.largest.begin(), sizes.largest.end());
    std::vector<double> result(sizes.largest.size(), 1);
    if (!(max > 0) || !(maxWeight > 0))
      return result;
    constexpr double min = 1e-3; // a nearly dead channel need not be amplified
    double reach = 0;
    for (size_t c = 0; c < result.size(); ++c) {
      result[c] = std::pow(std::max(sizes.largest[c] / max, min), strength) /
                  std::pow(std::max(largestWeight[c] / maxWeight, min), 1 - strength);
      reach = std::max(reach, sizes.largest[c] / result[c]);
    }
    for (double &each : result)
      each *= reach / max; // the tensor keeps its range
    return result;
  }

private:
  static int64_t innerOf(const ReadingWeights &reader) {
    return reader.values.size() / std::max<int64_t>(1, reader.outputs * reader.inputs);
  }
  void forEach(llvm::function_ref<void(const ReadingWeights &, int64_t, int64_t, float)> visit) {
    for (const ReadingWeights &reader : readers) {
      const int64_t inner = innerOf(reader), rows = reader.outputs / reader.groups;
      const float *at = reader.values.data();
      for (int64_t row = 0; row < reader.outputs; ++row)
        for (int64_t j = 0; j < reader.inputs; ++j)
          for (int64_t i = 0; i < inner; ++i)
            visit(reader, row, row / rows * reader.inputs + j, *at++);
    }
  }

  const ChannelSizes &sizes;
  llvm::ArrayRef<ReadingWeights> readers;
  std::vector<double> largestWeight, weightSquares;
};

/// Returns the convolution that can absorb the divisors of a tensor in its weights.
graph::ConvOp producerOf(Value value) {
  Operation *op = value.getDefiningOp();
  // Looks through ops that commute with positive factors: relu(x / s) is relu(x) / s.
  if (isa_and_nonnull<graph::ReluOp, graph::LeakyReluOp>(op)) {
    value = op->getOperand(0);
    if (!value.hasOneUse())
      return {};
  }
  auto conv = value.getDefiningOp<graph::ConvOp>();
  const bool isPlain = conv && !conv.getResidual() && !conv.getActivation() &&
                       conv.getFilter().getDefiningOp<graph::ConstantOp>() &&
                       (!conv.getBias() || conv.getBias().getDefiningOp<graph::ConstantOp>());
  return isPlain ? conv : graph::ConvOp();
}

} // namespace

std::vector<float> findFactors(const ChannelSizes &sizes, llvm::ArrayRef<ReadingWeights> readers,
                               double atLeast) {
  if (sizes.largest.empty() || !(sizes.count > 0))
    return {};
  Noise noise(sizes, readers);
  const double plain = noise.of(std::vector<double>(sizes.largest.size(), 1));
  double min = plain;
  std::vector<double> best;
  for (double strength : {0.25, 0.5, 0.75, 1.0}) {
    std::vector<double> factors = noise.factors(strength);
    if (const double each = noise.of(factors); each < min) {
      min = each;
      best = std::move(factors);
    }
  }
  if (best.empty() || !(min * atLeast < plain))
    return {};
  return {best.begin(), best.end()};
}

std::vector<float> factorsOfStrength(const ChannelSizes &sizes,
                                     llvm::ArrayRef<ReadingWeights> readers, double strength) {
  if (sizes.largest.empty() || !(sizes.count > 0))
    return {};
  const std::vector<double> factors = Noise(sizes, readers).factors(strength);
  return {factors.begin(), factors.end()};
}

/// Warns of layers whose settings ask for a balance of an input that is not among `tensors`.
static void warnOfOthers(const Plan &plan, llvm::ArrayRef<const PlannedTensor *> tensors,
                         Diagnostics &diagnostics) {
  std::string names;
  for (const PlannedLayer &layer : plan.layers)
    if (layer.config.migrationStrength && !llvm::is_contained(tensors, &plan.tensors[layer.input]))
      names += (names.empty() ? "'" : ", '") + layer.node + "'";
  if (!names.empty())
    diagnostics.warning("W10055", "\"dmq_balancer\" has no effect on the nodes " + names +
                                      ": only tensors are balanced that nothing but convolutions "
                                      "read, and no input of the model");
}

/// Returns the tensors of the plan that are to be balanced: convolutions of the plan read them, and
/// nobody else.
static std::vector<const PlannedTensor *> findBalanced(const Plan &plan,
                                                       const QuantConfig &config) {
  std::map<Operation *, const PlannedLayer *> layers;
  for (const PlannedLayer &layer : plan.layers)
    layers[layer.op] = &layer;
  std::vector<const PlannedTensor *> tensors;
  for (const PlannedTensor &tensor : plan.tensors) {
    const bool isAlone = llvm::count_if(plan.tensors, [&](const PlannedTensor &other) {
                           return other.group == tensor.group;
                         }) == 1;
    const bool isRead =
        !tensor.value.use_empty() && llvm::all_of(tensor.value.getUses(), [&](OpOperand &use) {
          return use.getOperandNumber() == 0 && layers.count(use.getOwner()) &&
                 isa<graph::ConvOp>(use.getOwner());
        });
    const bool isWanted = config.balance || tensor.config.migrationStrength;
    if (isWanted && isAlone && isRead && isa<OpResult>(tensor.value))
      tensors.push_back(&tensor);
  }
  return tensors;
}

/// Measures the channels of values, which become results of the module, on a few samples. Returns
/// nothing after an error.
static std::optional<std::vector<ChannelSizes>> measureChannels(ModuleOp module,
                                                                ArrayRef<Value> values,
                                                                int64_t batchNum, DataSource &data,
                                                                Diagnostics &diagnostics) {
  addResults(module, values);
  std::unique_ptr<HostModel> host = HostModel::compile(module, diagnostics);
  if (!host)
    return std::nullopt;
  const size_t first = host->outputs().size() - values.size();
  data.begin(host->inputs(), diagnostics);
  if (diagnostics.hasErrors())
    return std::nullopt;
  std::vector<ChannelSizes> sizes(values.size());
  std::vector<::om::Buffer> buffers = host->makeInputs();
  constexpr int64_t maxSamples = 4; // sizes need fewer samples than ranges
  for (int64_t i = 0; i < maxSamples && (!batchNum || i < batchNum); ++i) {
    if (!data.next(buffers, diagnostics))
      break;
    if (!host->run(buffers, diagnostics))
      return std::nullopt;
    for (size_t t = 0; t < values.size(); ++t)
      sizes[t].add(host->floats(first + t), host->outputs()[first + t].dims);
  }
  if (diagnostics.hasErrors())
    return std::nullopt;
  return sizes;
}

/// Returns the balance of a tensor between its producer, if that is a convolution, and the
/// convolutions that read it; nothing where none is worth its cost.
static std::optional<Balance> balanceOf(const PlannedTensor &tensor, graph::ConvOp producer,
                                        ArrayRef<graph::ConvOp> readers,
                                        const ChannelSizes &sizes) {
  std::vector<graph::ConstantBytes> bytes;
  std::vector<ReadingWeights> weights;
  Balance balance;
  for (graph::ConvOp conv : readers) {
    auto constant =
        graph::ConstantBytes::get(conv.getFilter().getDefiningOp<graph::ConstantOp>().getValue());
    if (failed(constant))
      return std::nullopt;
    bytes.push_back(std::move(*constant));
    const ArrayRef<int64_t> dims = bytes.back().getType().getShape();
    weights.push_back(
        {bytes.back().expandedAs<float>(), dims[0], dims[1], int64_t(conv.getGroups())});
    balance.readers.push_back(tensorNameOf(conv.getResult()));
  }
  if (!llvm::all_of(sizes.squares, [](double x) { return std::isfinite(x); }))
    return std::nullopt;
  if (producer)
    balance.producer = tensorNameOf(producer.getResult());
  // A separate multiplication must be worth its cost.
  const std::optional<double> strength = tensor.config.migrationStrength;
  balance.factors = strength ? factorsOfStrength(sizes, weights, *strength)
                             : findFactors(sizes, weights, producer ? 1.5 : 3);
  balance.tensor = tensor.name;
  if (balance.factors.empty())
    return std::nullopt;
  return balance;
}

bool findBalances(ModuleOp module, const Plan &plan, const QuantConfig &config, DataSource &data,
                  std::vector<Balance> &balances, Diagnostics &diagnostics) {
  const std::vector<const PlannedTensor *> tensors = findBalanced(plan, config);
  warnOfOthers(plan, tensors, diagnostics);
  if (tensors.empty())
    return true;
  // Users are collected before results are added.
  SmallVector<Value> values;
  std::vector<SmallVector<graph::ConvOp>> readers;
  std::vector<graph::ConvOp> producers;
  for (const PlannedTensor *tensor : tensors) {
    values.push_back(tensor->value);
    producers.push_back(producerOf(tensor->value));
    SmallVector<graph::ConvOp> &list = readers.emplace_back();
    for (Operation *user : tensor->value.getUsers())
      list.push_back(cast<graph::ConvOp>(user));
  }
  const auto sizes = measureChannels(module, values, config.batchNum, data, diagnostics);
  if (!sizes)
    return false;
  for (size_t t = 0; t < values.size(); ++t)
    if (auto balance = balanceOf(*tensors[t], producers[t], readers[t], (*sizes)[t]))
      balances.push_back(std::move(*balance));
  return true;
}

namespace {

/// Weights [M, C / groups, ...] with the inputs' channels times `factors`.
void scaleInputs(OnnxModel &model, onnx::NodeProto &conv, llvm::ArrayRef<float> factors) {
  const onnx::TensorProto &weights = *model.findConstant(conv.input(1));
  std::vector<float> values = *readFloats(weights);
  const std::vector<int64_t> dims(weights.dims().begin(), weights.dims().end());
  const int64_t groups = std::max<int64_t>(1, intAttribute(conv, "group", 1));
  const int64_t inner = values.size() / std::max<int64_t>(1, dims[0] * dims[1]);
  for (int64_t i = 0, n = values.size(); i < n; ++i) {
    const int64_t row = i / (dims[1] * inner), group = row / (dims[0] / groups);
    values[i] *= factors[group * dims[1] + i / inner % dims[1]];
  }
  const std::string name = model.freshName(conv.input(1) + "_balanced");
  model.addConstant(makeFloats(name, dims, values));
  conv.set_input(1, name);
}

/// Weights and bias with the outputs' channels divided by `factors`.
void divideOutputs(OnnxModel &model, onnx::NodeProto &conv, llvm::ArrayRef<float> factors) {
  for (int index : {1, 2}) {
    if (index >= conv.input_size() || conv.input(index).empty())
      continue;
    const onnx::TensorProto &constant = *model.findConstant(conv.input(index));
    std::vector<float> values = *readFloats(constant);
    const int64_t inner = values.size() / factors.size();
    for (size_t i = 0; i < values.size(); ++i)
      values[i] /= factors[i / inner];
    const std::string name = model.freshName(conv.input(index) + "_balanced");
    model.addConstant(makeFloats(name, {constant.dims().begin(), constant.dims().end()}, values));
    conv.set_input(index, name);
  }
}

bool hasFloatWeights(OnnxModel &model, const onnx::NodeProto *conv) {
  if (!conv || conv->op_type() != "Conv")
    return false;
  for (int index = 1; index < conv->input_size(); ++index) {
    const onnx::TensorProto *constant =
        conv->input(index).empty() ? nullptr : model.findConstant(conv->input(index));
    if (!conv->input(index).empty() && (!constant || !readFloats(*constant)))
      return false;
  }
  return true;
}

} // namespace

void applyBalances(OnnxModel &model, llvm::ArrayRef<Balance> balances) {
  std::map<std::string, onnx::NodeProto> added; // by the tensor that they follow
  for (const Balance &balance : balances) {
    bool fits = llvm::all_of(balance.readers, [&](const std::string &reader) {
      return hasFloatWeights(model, model.findProducer(reader));
    });
    if (!balance.producer.empty())
      fits &= hasFloatWeights(model, model.findProducer(balance.producer));
    if (!fits)
      continue;
    std::string read = balance.tensor;
    if (!balance.producer.empty()) {
      divideOutputs(model, *model.findProducer(balance.producer), balance.factors);
      model.markBalanced(balance.producer);
      model.markBalanced(balance.tensor);
    } else {
      read = model.freshName(balance.tensor + "_balanced");
      const std::string factors = model.freshName(balance.tensor + "_balance");
      std::vector<float> inverse;
      for (float factor : balance.factors)
        inverse.push_back(1 / factor);
      const auto &weights = *model.findConstant(model.findProducer(balance.readers[0])->input(1));
      std::vector<int64_t> dims(weights.dims_size(), 1);
      dims[1] = inverse.size();
      model.addConstant(makeFloats(factors, dims, inverse));
      onnx::NodeProto &node = added[balance.tensor];
      node.set_op_type("Mul");
      node.set_name(read + "_node");
      node.add_input(balance.tensor);
      node.add_input(factors);
      node.add_output(read);
    }
    for (const std::string &reader : balance.readers) {
      onnx::NodeProto &conv = *model.findProducer(reader);
      scaleInputs(model, conv, balance.factors);
      conv.set_input(0, read);
    }
  }
  onnx::GraphProto ordered;
  for (onnx::NodeProto &node : *model.graph().mutable_node()) {
    const std::vector<std::string> made(node.output().begin(), node.output().end());
    *ordered.add_node() = std::move(node);
    for (const std::string &tensor : made)
      if (auto behind = added.find(tensor); behind != added.end())
        *ordered.add_node() = behind->second;
  }
  *model.graph().mutable_node() = std::move(*ordered.mutable_node());
  model.removeUnusedConstants();
  model.index();
}

void ReplayedSource::begin(const std::vector<::om::Tensor> &inputs, Diagnostics &diagnostics) {
  isReplaying = hasBegun;
  at = 0;
  if (!hasBegun)
    source.begin(inputs, diagnostics);
  hasBegun = true;
}

bool ReplayedSource::next(const std::vector<::om::Buffer> &inputs, Diagnostics &diagnostics) {
  if (isReplaying && at < kept.size()) {
    for (size_t i = 0; i < inputs.size(); ++i)
      std::memcpy(inputs[i].data(), kept[at][i].data(), inputs[i].size());
    ++at;
    return true;
  }
  if (!source.next(inputs, diagnostics))
    return false;
  if (isReplaying)
    return true;
  std::vector<::om::Buffer> copies;
  for (const ::om::Buffer &input : inputs)
    std::memcpy(copies.emplace_back(input.size()).data(), input.data(), input.size());
  kept.push_back(std::move(copies));
  return true;
}

} // namespace atc::quantize
