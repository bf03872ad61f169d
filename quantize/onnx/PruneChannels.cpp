//===-- PruneChannels.cpp - removes channels of layers --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "quantize/onnx/ChannelGraph.h"
#include "quantize/onnx/Prune.h"
#include "quantize/onnx/PruneUtils.h"
#include "quantize/weights/LinearAlgebra.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace atc::quantize {

namespace {

class ChannelPruner {
public:
  ChannelPruner(OnnxModel &model, const PruneConfig &config, const MomentsByOutput &moments)
      : model(model), config(config), moments(moments), graph(model) {}

  Pruning run();
  bool missed = false; ///< the search could not remove as much as was asked for

private:
  const Moments *momentsOf(const ChannelLayer &layer);
  std::vector<float> rowsOf(const ChannelLayer &layer);
  void lockSkipped();
  /// Layers whose channels meet, with what may go of them: the first one first.
  struct Component {
    LayerPruning settings;
    std::vector<int> free;
    int64_t all = 0;
    bool isMeasured = true, isFixed = false;
  };

  void score();
  std::vector<Component> findComponents();
  static int64_t countOf(const Component &component, double ratio);
  void choose();
  void search(llvm::ArrayRef<Component> components);
  double countMacs();
  void absorb(const ChannelLayer &layer);

  OnnxModel &model;
  const PruneConfig &config;
  const MomentsByOutput &moments;
  ChannelGraph graph;
  /// By label: the norms of the weights that compute a channel, relative to others of the layer,
  /// and its share of what its readers compute.
  std::vector<double> norms, effects;
  std::vector<bool> isMeasured; ///< all readers have moments
  std::vector<bool> goes;
};

/// Returns the moments of the vectors that a layer's rows are multiplied by; null where they are
/// not known or of another form.
const Moments *ChannelPruner::momentsOf(const ChannelLayer &layer) {
  const auto known = moments.find(layer.output);
  if (known == moments.end() || known->second->groups.size() != 1)
    return nullptr;
  const Moments &own = known->second->groups[0];
  const auto channels = static_cast<int64_t>(layer.inputs.labels.size());
  return channels && own.count() > 0 && own.size() % channels == 0 ? &own : nullptr;
}

std::vector<float> ChannelPruner::rowsOf(const ChannelLayer &layer) {
  return weightRows(model, model.graph().node(layer.nodeIndex), layer.outputAxis);
}

void ChannelPruner::lockSkipped() {
  for (const ChannelLayer &layer : graph.layers())
    if (config.of(layer.node, layer.type).kind != PruneKind::Channels)
      graph.lock(layer.outputs);
}

void ChannelPruner::score() {
  norms.resize(graph.numLabels(), 0);
  effects.resize(graph.numLabels(), 0);
  isMeasured.resize(graph.numLabels(), true);
  for (const ChannelLayer &layer : graph.layers()) {
    const std::vector<float> rows = rowsOf(layer);
    const int64_t count = layer.outputs.size(), length = rows.size() / count;
    std::vector<double> own(count, 0);
    for (int64_t i = 0; i < count * length; ++i)
      own[i / length] += double(rows[i]) * rows[i];
    double mean = 0;
    for (double &norm : own)
      mean += (norm = std::sqrt(norm)) / static_cast<double>(count);
    for (int64_t i = 0; i < count && mean > 0; ++i)
      norms[graph.find(layer.outputs[i])] += own[i] / mean;

    const Moments *known = momentsOf(layer);
    for (int label : layer.inputs.labels)
      isMeasured[graph.find(label)] = isMeasured[graph.find(label)] && known;
    if (!known)
      continue;
    const std::vector<float> matrix = known->matrix(/*centered=*/true);
    const auto perLabel = length / static_cast<int64_t>(layer.inputs.labels.size());
    std::vector<double> powers(length, 0);
    double all = 0;
    for (int64_t i = 0; i < count * length; ++i)
      powers[i % length] += double(rows[i]) * rows[i];
    for (int64_t e = 0; e < length; ++e)
      all += powers[e] *= matrix[e * length + e];
    for (int64_t e = 0; e < length && all > 0; ++e)
      effects[graph.find(layer.inputs.labels[e / perLabel])] += powers[e] / all;
  }
}

std::vector<ChannelPruner::Component> ChannelPruner::findComponents() {
  const std::vector<ChannelLayer> &layers = graph.layers();
  std::vector<size_t> component(layers.size());
  std::iota(component.begin(), component.end(), 0);
  std::map<int, size_t> firstOf;
  auto find = [&](size_t i) {
    while (component[i] != i)
      i = component[i];
    return i;
  };
  for (size_t i = 0; i < layers.size(); ++i)
    for (int label : layers[i].outputs) {
      const size_t other = find(firstOf.try_emplace(graph.find(label), i).first->second);
      const size_t own = find(i);
      component[std::max(own, other)] = std::min(own, other);
    }
  std::vector<Component> result;
  for (size_t first = 0; first < layers.size(); ++first) {
    if (find(first) != first)
      continue;
    Component each;
    each.settings = config.of(layers[first].node, layers[first].type);
    std::set<int> labels;
    for (size_t i = first; i < layers.size(); ++i) {
      if (find(i) != first)
        continue;
      const LayerPruning own = config.of(layers[i].node, layers[i].type);
      each.settings.ratio = std::min(each.settings.ratio, own.ratio);
      each.settings.ascendOptimized |= own.ascendOptimized;
      each.isFixed |= config.layers.count(layers[i].node) || config.types.count(layers[i].type);
      for (int label : layers[i].outputs)
        labels.insert(graph.find(label));
    }
    for (int label : labels)
      if (!graph.isLocked(label))
        each.free.push_back(label);
    each.all = static_cast<int64_t>(labels.size());
    each.isMeasured = std::all_of(each.free.begin(), each.free.end(),
                                  [&](int label) { return isMeasured[label]; });
    const std::vector<double> &scores = each.isMeasured ? effects : norms;
    std::stable_sort(each.free.begin(), each.free.end(),
                     [&](int a, int b) { return scores[a] < scores[b]; });
    result.push_back(std::move(each));
  }
  return result;
}

/// Returns how many channels go of a component when at most the share `ratio` does.
int64_t ChannelPruner::countOf(const Component &component, double ratio) {
  const auto all = static_cast<double>(component.all);
  int64_t kept = component.all - static_cast<int64_t>(std::floor(ratio * all + 1e-9));
  if (component.settings.ascendOptimized)
    kept = (kept + 15) / 16 * 16;
  return std::clamp<int64_t>(component.all - std::max<int64_t>(1, kept), 0,
                             static_cast<int64_t>(component.free.size()));
}

/// Chooses the channels that go. Layers that share channels have one choice.
void ChannelPruner::choose() {
  goes.resize(graph.numLabels(), false);
  std::vector<Component> components = findComponents();
  for (const Component &component : components)
    if (!config.compressRatio || component.isFixed) {
      const int64_t count = countOf(component, component.settings.ratio);
      for (int64_t i = 0; i < count; ++i)
        goes[component.free[i]] = true;
    }
  if (config.compressRatio)
    search(components);
}

/// Returns the multiply-accumulates of the layers whose inputs are observed.
double ChannelPruner::countMacs() {
  double macs = 0;
  auto kept = [&](llvm::ArrayRef<int> labels) {
    return static_cast<double>(std::count_if(labels.begin(), labels.end(),
                                             [&](int label) { return !goes[graph.find(label)]; }));
  };
  for (const ChannelLayer &layer : graph.layers())
    if (const auto known = moments.find(layer.output); known != moments.end()) {
      const auto length = static_cast<double>(known->second->groups[0].size());
      const double inputs =
          layer.inputs.labels.empty()
              ? 1
              : kept(layer.inputs.labels) / static_cast<double>(layer.inputs.labels.size());
      macs += static_cast<double>(known->second->vectorsPerSample) * kept(layer.outputs) * length *
              inputs;
    }
  return macs;
}

/// Removes the step of channels with the least effect for the operations that it saves, until
/// these are as few as the settings want. A step is one channel, or as many as keep a multiple of
/// 16.
void ChannelPruner::search(llvm::ArrayRef<Component> components) {
  std::vector<int64_t> done(components.size(), 0);
  double macs = countMacs();
  const double wanted = macs / *config.compressRatio;
  while (macs > wanted) {
    size_t best = components.size();
    int64_t bestEnd = 0;
    double min = 0, bestMacs = 0;
    for (size_t i = 0; i < components.size(); ++i) {
      const Component &component = components[i];
      if (component.isFixed || !component.isMeasured)
        continue;
      const int64_t limit = countOf(component, config.maxRatio);
      int64_t end = done[i] + 1;
      if (component.settings.ascendOptimized)
        while (end < limit && (component.all - end) % 16 != 0)
          ++end;
      if (end > limit)
        continue;
      double effect = 0;
      for (int64_t k = done[i]; k < end; ++k) {
        effect += effects[component.free[k]];
        goes[component.free[k]] = true;
      }
      const double left = countMacs();
      for (int64_t k = done[i]; k < end; ++k)
        goes[component.free[k]] = false;
      if (!(left < macs))
        continue;
      if (const double price = effect / (macs - left); best == components.size() || price < min) {
        best = i;
        bestEnd = end;
        min = price;
        bestMacs = left;
      }
    }
    if (best == components.size())
      break;
    for (int64_t k = done[best]; k < bestEnd; ++k)
      goes[components[best].free[k]] = true;
    done[best] = bestEnd;
    macs = bestMacs;
  }
  missed = macs > wanted;
}

/// Changes a layer's weights and bias so that the inputs that stay replace those that go as well
/// as they can: the least squared error over the samples.
void ChannelPruner::absorb(const ChannelLayer &layer) {
  const Moments *known = momentsOf(layer);
  if (!known)
    return;
  const int64_t length = known->size();
  const auto perLabel = length / static_cast<int64_t>(layer.inputs.labels.size());
  std::vector<int64_t> stay, leave;
  for (int64_t e = 0; e < length; ++e)
    (goes[graph.find(layer.inputs.labels[e / perLabel])] ? leave : stay).push_back(e);
  if (leave.empty() || stay.empty())
    return;
  onnx::NodeProto &node = *model.graph().mutable_node(layer.nodeIndex);
  const onnx::TensorProto *bias =
      node.input_size() > 2 ? model.findConstant(node.input(2)) : nullptr;
  const bool hasBias = bias && readFloats(*bias) &&
                       countElements(*bias) == static_cast<int64_t>(layer.outputs.size());
  const std::vector<float> matrix = known->matrix(/*centered=*/hasBias);
  std::vector<float> reduced;
  for (int64_t i : stay)
    for (int64_t j : stay)
      reduced.push_back(matrix[i * length + j]);
  SquareMatrix lower = dampedMatrix(reduced, static_cast<int64_t>(stay.size()), 1e-3);
  if (!factorize(lower))
    return;
  std::vector<float> rows = rowsOf(layer);
  const std::vector<float> mean = known->mean();
  std::vector<float> biases;
  if (hasBias)
    biases = *readFloats(*bias);
  std::vector<double> change(stay.size());
  for (size_t r = 0; r < layer.outputs.size(); ++r) {
    float *row = rows.data() + r * length;
    for (size_t s = 0; s < stay.size(); ++s) {
      double sum = 0;
      for (int64_t e : leave)
        sum += double(row[e]) * matrix[e * length + stay[s]];
      change[s] = sum;
    }
    solve(lower, change.data());
    double shift = 0;
    for (int64_t e : leave)
      shift += double(row[e]) * mean[e];
    for (size_t s = 0; s < stay.size(); ++s) {
      row[stay[s]] += static_cast<float>(change[s]);
      shift -= change[s] * mean[stay[s]];
    }
    if (hasBias)
      biases[r] += static_cast<float>(shift);
  }
  setWeightRows(model, node, layer.outputAxis, rows);
  if (hasBias) {
    const std::string name = model.freshName(node.input(2) + "_absorbed");
    model.addConstant(makeFloats(name, {static_cast<int64_t>(biases.size())}, biases));
    node.set_input(2, name);
  }
}

Pruning ChannelPruner::run() {
  lockSkipped();
  score();
  choose();
  Pruning result;
  for (const ChannelLayer &layer : graph.layers()) {
    const auto before = static_cast<int64_t>(layer.outputs.size());
    const auto lost = std::count_if(layer.outputs.begin(), layer.outputs.end(),
                                    [&](int label) { return goes[graph.find(label)]; });
    if (lost)
      result.layers.push_back({layer.node, before, before - lost});
    if (!layer.inputs.labels.empty())
      absorb(layer);
  }
  graph.remove(goes);
  return result;
}

} // namespace

Pruning pruneChannels(OnnxModel &model, const PruneConfig &config, const MomentsByOutput &moments,
                      Diagnostics &diagnostics) {
  const std::optional<PruneConfig> resolved = resolvePruneNames(model, config, diagnostics);
  if (!resolved)
    return {};
  const int64_t before = countWeights(model);
  if (!moments.empty())
    addMissingBiases(model);
  ChannelPruner pruner(model, *resolved, moments);
  Pruning result = pruner.run();
  if (pruner.missed)
    diagnostics.error("E10014", "the operations cannot be reduced by the compress_ratio: too many "
                                "channels have to stay, or max_prune_ratio is too small");
  result.before = before;
  result.after = countWeights(model);
  return result;
}

} // namespace atc::quantize
