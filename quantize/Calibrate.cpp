//===-- Calibrate.cpp - finds scales by running data through a model ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "quantize/Calibrate.h"

#include "dialects/graph/ConstantData.h"
#include "dialects/graph/ops/ConvOps.h"
#include "dialects/graph/ops/StructureOps.h"
#include "passes/graph/quant/QuantizeWeights.h"
#include "passes/om/Schedule.h"
#include "quantize/weights/RoundLayer.h"

#include <cmath>
#include <cstring>

using namespace mlir;

namespace atc::quantize {

using graph::WeightView;

namespace {

/// The sums of a tensor's channels.
struct ChannelSums {
  int64_t dim = -1; ///< -1: not needed
  std::vector<double> sums;
  double count = 0;

  void add(ArrayRef<float> values, ArrayRef<int64_t> dims) {
    if (dim < 0)
      return;
    int64_t inner = 1;
    for (int64_t d : dims.drop_front(dim + 1))
      inner *= d;
    const int64_t channels = dims[dim], outer = values.size() / (inner * channels);
    sums.resize(channels, 0);
    const float *at = values.data();
    for (int64_t o = 0; o < outer; ++o)
      for (int64_t c = 0; c < channels; ++c) {
        double sum = 0;
        for (int64_t i = 0; i < inner; ++i)
          sum += *at++;
        sums[c] += sum;
      }
    count += outer * inner;
  }
};

/// Returns the number of multiply-accumulate operations of a layer.
double countMacs(const PlannedLayer &layer) {
  auto sizeOf = [](Value value) {
    return double(cast<RankedTensorType>(value.getType()).getNumElements());
  };
  // Each element of the input of a transposed convolution meets the weights of its channel.
  const bool isTransposed = isa<graph::ConvTransposeOp>(layer.op);
  const auto filter = cast<RankedTensorType>(layer.filter().getType());
  return sizeOf(isTransposed ? layer.op->getOperand(0) : layer.op->getResult(0)) *
         filter.getNumElements() / filter.getDimSize(isTransposed ? 0 : layer.axis);
}

class Collector {
public:
  Collector(const Plan &plan, const QuantConfig &config, Calibration &calibration,
            Diagnostics &diagnostics)
      : plan(plan), config(config), calibration(calibration), diagnostics(diagnostics) {}

  bool run(DataSource &data, const Progress &progress);
  bool writeTable();

private:
  void take();
  void beginMoments();
  void keep(const std::vector<::om::Buffer> &inputs);
  bool addLayer(size_t index);
  Interval chooseRange(const PlannedTensor &tensor, const Histogram &histogram);

  const Plan &plan;
  const QuantConfig &config;
  Calibration &calibration;
  Diagnostics &diagnostics;
  std::vector<ChannelSums> means;
  std::vector<std::optional<LayerMoments>> moments; ///< of the layers that are rounded with them
  size_t keptBytes = 0;
};

void Collector::keep(const std::vector<::om::Buffer> &inputs) {
  KeptSamples &kept = calibration.kept;
  size_t bytes = 0;
  for (const ::om::Buffer &input : inputs)
    bytes += input.size();
  if (kept.samples.size() >= kept.max || (keptBytes && keptBytes + bytes > kept.maxBytes))
    return;
  keptBytes += bytes;
  std::vector<::om::Buffer> copies;
  for (const ::om::Buffer &input : inputs)
    std::memcpy(copies.emplace_back(input.size()).data(), input.data(), input.size());
  kept.samples.push_back(std::move(copies));
}

void Collector::take() {
  HostModel &host = *calibration.host;
  for (size_t i = 0; i < plan.tensors.size(); ++i) {
    const size_t output = calibration.firstTensor + i;
    const ArrayRef<float> values = host.floats(output);
    means[i].add(values, host.outputs()[output].dims);
    if (plan.tensors[i].group == i)
      calibration.histograms[i].add(values.data(), values.size());
  }
  for (size_t i = 0; i < plan.layers.size(); ++i)
    if (moments[i]) {
      const size_t output = calibration.firstTensor + plan.layers[i].input;
      moments[i]->add(host.floats(output), host.outputs()[output].dims);
    }
}

/// Prepares the moments that adaptive rounding needs, and warns of layers whose settings ask for a
/// rounding that they cannot have.
void Collector::beginMoments() {
  std::string names;
  for (const PlannedLayer &layer : plan.layers) {
    std::optional<LayerMoments> &own = moments.emplace_back();
    if (layer.config.rounding == WeightRounding::Adaptive)
      own = LayerMoments::of(layer);
    if (layer.config.rounding != WeightRounding::Nearest && !canRound(layer))
      names += (names.empty() ? "'" : ", '") + layer.node + "'";
  }
  if (!names.empty())
    diagnostics.warning("W10055",
                        "\"ada_quantize\" or \"nuq_quantize\" has no effect on the nodes " + names +
                            ", whose weights are rounded to nearest: they are transposed "
                            "convolutions, or their outputs have more than " +
                            Twine(kMaxMomentSize) + " weights each");
}

bool Collector::run(DataSource &data, const Progress &progress) {
  HostModel &host = *calibration.host;
  calibration.histograms.resize(plan.tensors.size());
  means.resize(plan.tensors.size());
  for (const PlannedLayer &layer : plan.layers) {
    const int64_t rank =
        cast<RankedTensorType>(plan.tensors[layer.input].value.getType()).getRank();
    const bool isMatrix = isa<graph::MatMulOp, graph::FullyConnectedOp>(layer.op);
    means[layer.input].dim = isMatrix ? rank - 1 : 1;
  }
  beginMoments();
  std::vector<::om::Tensor> inputs = host.inputs();
  data.begin(inputs, diagnostics);
  if (diagnostics.hasErrors())
    return false;
  size_t all = data.count();
  const auto max = static_cast<size_t>(config.batchNum);
  if (max && (!all || all > max))
    all = max;
  std::vector<::om::Buffer> buffers = host.makeInputs();
  size_t &done = calibration.samples;
  while ((!max || done < max) && data.next(buffers, diagnostics)) {
    if (!host.run(buffers, diagnostics))
      return false;
    take();
    keep(buffers);
    ++done;
    if (progress)
      progress(done, all);
  }
  if (diagnostics.hasErrors())
    return false;
  if (!done) {
    diagnostics.error("E10014", "there is no sample to calibrate with");
    return false;
  }
  if (max && done < max)
    diagnostics.warning("W10014", "there are " + Twine(done) + " samples, " + Twine(max) +
                                      " were asked for (batch_num)");
  return true;
}

bool Collector::addLayer(size_t index) {
  const PlannedLayer &layer = plan.layers[index];
  LayerEntry entry;
  entry.node = layer.node;
  entry.type = layer.type;
  entry.input = plan.tensors[layer.input].name;
  entry.output = tensorNameOf(layer.op->getResult(0));
  auto filter =
      graph::ConstantBytes::get(layer.filter().getDefiningOp<graph::ConstantOp>().getValue());
  if (failed(filter)) {
    diagnostics.error("E14001", "the weights of node '" + layer.node + "' cannot be read");
    return false;
  }
  std::vector<float> bias;
  if (Value value = layer.bias()) {
    auto bytes = graph::ConstantBytes::get(value.getDefiningOp<graph::ConstantOp>().getValue());
    if (succeeded(bytes)) {
      ArrayRef<float> values = bytes->expandedAs<float>();
      bias.assign(values.begin(), values.end());
    }
  }
  const SmallVector<int64_t> dims(filter->getType().getShape());
  WeightView weights{filter->expandedAs<float>(), dims, layer.config.perChannel ? layer.axis : -1};
  const float inputScale = calibration.table.tensors[layer.input].params.scale;
  for (float weight : weights.values)
    if (!std::isfinite(weight)) {
      diagnostics.error("E14001", "a weight of node '" + layer.node + "' is not finite");
      return false;
    }
  entry.weightScales = graph::findWeightScales(weights, bias, inputScale);
  const int64_t largest =
      isa<graph::ConvOp>(layer.op) ? (int64_t{1} << (layer.config.weightBits - 1)) - 1 : 127;
  for (float &scale : entry.weightScales)
    scale *= 127.0f / static_cast<float>(largest);
  // The vendor's form stores only the product of both scales: it must be exact.
  for (float &scale : entry.weightScales)
    if (const float product = scale * inputScale; std::isnormal(product))
      scale = product / inputScale;
  const ChannelSums &sums = means[layer.input];
  // A transposed convolution reads each pixel as often as its stride allows.
  const bool corrects =
      config.biasCorrection && !isa<graph::ConvTransposeOp>(layer.op) && sums.count > 0;
  // A product without a bias has no place for the correction.
  const bool meansAreCorrected = corrects && !isa<graph::MatMulOp>(layer.op);
  entry.integers =
      roundLayer(layer, weights, entry.weightScales,
                 {moments[index] ? &*moments[index] : nullptr, inputScale, meansAreCorrected});
  for (int8_t &integer : entry.integers)
    integer = static_cast<int8_t>(std::clamp<int64_t>(integer, -largest, largest));
  const std::vector<int8_t> integers =
      entry.integers.empty() ? graph::quantizeWeights(weights, entry.weightScales) : entry.integers;
  if (corrects) {
    std::vector<double> mean;
    for (double sum : sums.sums)
      mean.push_back(sum / sums.count);
    weights.axis = layer.config.perChannel ? layer.axis : -1;
    WeightView shaped = weights;
    if (isa<graph::MatMulOp>(layer.op) && shaped.axis < 0) {
      shaped.axis = 1;
      std::vector<float> all(dims[1], entry.weightScales[0]);
      entry.biasCorrection = graph::lossOfMeans(shaped, integers, all, mean, layer.groups);
    } else {
      entry.biasCorrection =
          graph::lossOfMeans(shaped, integers, entry.weightScales, mean, layer.groups);
    }
  }
  calibration.table.layers.push_back(std::move(entry));
  calibration.layerMacs.push_back(countMacs(layer));
  return true;
}

Interval Collector::chooseRange(const PlannedTensor &tensor, const Histogram &histogram) {
  if (config.chooseRange && histogram.numBins())
    if (const auto chosen = config.chooseRange(tensor.name, histogram, diagnostics)) {
      if (std::isfinite(chosen->min) && std::isfinite(chosen->max) && chosen->min <= chosen->max)
        return *chosen;
      diagnostics.error("E10001", "the calibrator has chosen [" + std::to_string(chosen->min) +
                                      ", " + std::to_string(chosen->max) + "] for tensor '" +
                                      tensor.name +
                                      "', which is no range: both must be finite, and the "
                                      "minimum at most the maximum");
    }
  return searchRange(histogram, tensor.config.range);
}

bool Collector::writeTable() {
  QuantTable &table = calibration.table;
  std::string notFinite;
  for (size_t i = 0; i < plan.tensors.size(); ++i) {
    const PlannedTensor &tensor = plan.tensors[i];
    const Histogram &histogram = calibration.histograms[tensor.group];
    if (tensor.group == i && histogram.notFinite())
      notFinite += (notFinite.empty() ? "'" : ", '") + tensor.name + "'";
    TensorEntry entry;
    entry.name = tensor.name;
    if (tensor.group != i) {
      entry = table.tensors[tensor.group];
      entry.name = tensor.name;
    } else {
      entry.seen = histogram.seen();
      entry.chosen = chooseRange(tensor, histogram);
      entry.params =
          coverInterval(entry.chosen, tensor.config.range.symmetric, tensor.config.range.isSigned);
    }
    table.tensors.push_back(std::move(entry));
  }
  if (!notFinite.empty())
    diagnostics.error("E10014", "with the calibration data these tensors are infinite or not a "
                                "number: " +
                                    notFinite);
  for (size_t i = 0; i < plan.layers.size(); ++i)
    addLayer(i);
  return !diagnostics.hasErrors();
}

} // namespace

bool checkInputs(ModuleOp module, Diagnostics &diagnostics) {
  const unsigned before = diagnostics.numErrors();
  func::FuncOp main = om::findMain(module);
  if (!main) {
    diagnostics.error("E16004", "the module has no function @main");
    return false;
  }
  for (auto [index, type] : llvm::enumerate(main.getArgumentTypes())) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    auto name = main.getArgAttrOfType<StringAttr>(index, om::kNameAttr);
    if (!tensor || !tensor.hasStaticShape())
      diagnostics.error("E10002", "the shape of input '" + (name ? name.getValue() : "") +
                                      "' is not known: give it with --input_shape");
  }
  return diagnostics.numErrors() == before;
}

bool calibrate(ModuleOp module, const Plan &plan, const QuantConfig &config, DataSource &data,
               const Progress &progress, Calibration &calibration, Diagnostics &diagnostics) {
  SmallVector<Value> values;
  for (const PlannedTensor &tensor : plan.tensors)
    values.push_back(tensor.value);
  addResults(module, values);
  calibration.host = HostModel::compile(module, diagnostics);
  if (!calibration.host)
    return false;
  calibration.firstTensor = calibration.host->outputs().size() - values.size();
  Collector collector(plan, config, calibration, diagnostics);
  return collector.run(data, progress) && collector.writeTable();
}

} // namespace atc::quantize
