//===-- Moments.cpp - the second moments of layers' inputs ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "quantize/weights/Moments.h"

#include "dialects/graph/ops/ConvOps.h"

#include <algorithm>

using namespace mlir;

namespace atc::quantize {

/// The vectors of one sample that are added: more positions of one picture tell little.
static constexpr int64_t kMaxRows = 1024;

void Moments::add(const float *rows, int64_t count) {
  // Four vectors at a time: a row of the matrix is read and written once for all of them.
  for (int64_t first = 0; first < count; first += 4) {
    const int64_t group = std::min<int64_t>(4, count - first);
    const float *x[4];
    for (int64_t r = 0; r < 4; ++r)
      x[r] = rows + (first + std::min(r, group - 1)) * length;
    for (int64_t i = 0; i < length; ++i) {
      float factor[4] = {};
      for (int64_t r = 0; r < group; ++r) {
        factor[r] = x[r][i];
        sums[i] += x[r][i];
      }
      if (factor[0] == 0 && factor[1] == 0 && factor[2] == 0 && factor[3] == 0)
        continue;
      float *to = products.data() + i * length;
      for (int64_t j = i; j < length; ++j)
        to[j] +=
            factor[0] * x[0][j] + factor[1] * x[1][j] + factor[2] * x[2][j] + factor[3] * x[3][j];
    }
  }
  seen += static_cast<double>(count);
}

std::vector<float> Moments::mean() const {
  std::vector<float> result(length, 0);
  for (int64_t i = 0; i < length && seen > 0; ++i)
    result[i] = static_cast<float>(sums[i] / seen);
  return result;
}

std::vector<float> Moments::matrix(bool centered, double variance) const {
  std::vector<float> result(length * length, 0);
  for (int64_t i = 0; i < length && seen > 0; ++i)
    for (int64_t j = i; j < length; ++j) {
      double value = products[i * length + j] / seen;
      if (centered)
        value -= sums[i] / seen * (sums[j] / seen);
      if (i == j)
        value = std::max(value, 0.0) + variance;
      result[i * length + j] = result[j * length + i] = static_cast<float>(value);
    }
  return result;
}

double squaredError(ArrayRef<float> difference, int64_t rows, ArrayRef<float> matrix) {
  const int64_t size = rows ? difference.size() / rows : 0;
  std::vector<float> product(size);
  double error = 0;
  for (int64_t row = 0; row < rows; ++row) {
    const float *d = difference.data() + row * size;
    std::fill(product.begin(), product.end(), 0);
    for (int64_t i = 0; i < size; ++i)
      if (d[i] != 0)
        for (int64_t j = 0; j < size; ++j)
          product[j] += d[i] * matrix[i * size + j];
    for (int64_t i = 0; i < size; ++i)
      error += double(product[i]) * d[i];
  }
  return error;
}

std::optional<LayerMoments> LayerMoments::of(const PlannedLayer &layer) {
  LayerMoments moments;
  const ArrayRef<int64_t> filter = cast<RankedTensorType>(layer.filter().getType()).getShape();
  int64_t size = 0;
  if (auto conv = dyn_cast<graph::ConvOp>(layer.op)) {
    size = 1;
    for (int64_t dim : filter.drop_front(1))
      size *= dim;
    moments.kernel.assign(filter.begin() + 2, filter.end());
    moments.strides = conv.getStrides().vec();
    moments.pads = conv.getPads().vec();
    moments.dilations = conv.getDilations().vec();
  } else if (isa<graph::MatMulOp>(layer.op)) {
    size = filter[0];
  } else if (isa<graph::FullyConnectedOp>(layer.op)) {
    size = filter[1];
  }
  if (size < 1 || size > kMaxMomentSize)
    return std::nullopt;
  moments.groups.assign(layer.groups, Moments(size));
  return moments;
}

void LayerMoments::add(ArrayRef<float> values, ArrayRef<int64_t> dims) {
  if (!kernel.empty()) {
    addPatches(values, dims);
    return;
  }
  const int64_t size = groups[0].size(), rows = values.size() / size;
  const int64_t step = std::max<int64_t>(1, rows / kMaxRows);
  vectorsPerSample = rows;
  if (step == 1) {
    groups[0].add(values.data(), rows);
    return;
  }
  for (int64_t row = 0; row < rows; row += step)
    groups[0].add(values.data() + row * size, 1);
}

void LayerMoments::addPatches(ArrayRef<float> values, ArrayRef<int64_t> dims) {
  const size_t rank = kernel.size();
  const ArrayRef<int64_t> in = dims.drop_front(2);
  std::vector<int64_t> out;
  int64_t positions = dims[0], plane = 1, taps = 1;
  for (size_t d = 0; d < rank; ++d) {
    const int64_t reach = (kernel[d] - 1) * dilations[d] + 1;
    out.push_back((in[d] + pads[d] + pads[rank + d] - reach) / strides[d] + 1);
    positions *= out.back();
    plane *= in[d];
    taps *= kernel[d];
  }
  const int64_t perGroup = dims[1] / static_cast<int64_t>(groups.size());
  const int64_t step = std::max<int64_t>(1, positions / kMaxRows);
  vectorsPerSample = positions;
  std::vector<int64_t> sources(taps); // of each tap in a plane; -1: the padding
  std::vector<float> patch(perGroup * taps);
  for (int64_t position = 0; position < positions; position += step) {
    std::vector<int64_t> at(rank);
    int64_t rest = position;
    for (size_t d = rank; d-- > 0; rest /= out[d])
      at[d] = rest % out[d];
    const int64_t sample = rest;
    for (int64_t tap = 0; tap < taps; ++tap) {
      int64_t offset = 0, scale = 1, remaining = tap;
      for (size_t d = rank; d-- > 0; remaining /= kernel[d]) {
        const int64_t i = at[d] * strides[d] - pads[d] + remaining % kernel[d] * dilations[d];
        if (i < 0 || i >= in[d])
          offset = -1;
        else if (offset >= 0)
          offset += i * scale;
        scale *= in[d];
      }
      sources[tap] = offset;
    }
    for (size_t group = 0; group < groups.size(); ++group) {
      const float *from = values.data() + (sample * dims[1] + group * perGroup) * plane;
      for (int64_t c = 0; c < perGroup; ++c)
        for (int64_t tap = 0; tap < taps; ++tap)
          patch[c * taps + tap] = sources[tap] < 0 ? 0 : from[c * plane + sources[tap]];
      groups[group].add(patch.data(), 1);
    }
  }
}

std::optional<MomentsByOutput> collectMoments(ModuleOp module, const Plan &plan, DataSource &data,
                                              int64_t batchNum,
                                              llvm::function_ref<bool(const PlannedLayer &)> wanted,
                                              const Progress &progress, Diagnostics &diagnostics) {
  struct Read {
    size_t output; ///< among the added results
    LayerMoments *moments;
  };
  MomentsByOutput result;
  std::vector<Read> reads;
  llvm::DenseMap<Value, std::shared_ptr<LayerMoments>> ofProducts;
  llvm::DenseMap<Value, size_t> added;
  SmallVector<Value> values;
  for (const PlannedLayer &layer : plan.layers) {
    std::optional<LayerMoments> moments = wanted(layer) ? LayerMoments::of(layer) : std::nullopt;
    if (!moments)
      continue;
    const Value input = layer.op->getOperand(0);
    const std::string name = tensorNameOf(layer.op->getResult(0));
    const bool isProduct = !isa<graph::ConvOp>(layer.op);
    if (const auto known = ofProducts.find(input); isProduct && known != ofProducts.end()) {
      result[name] = known->second;
      continue;
    }
    const auto [entry, isNew] = added.try_emplace(input, values.size());
    if (isNew)
      values.push_back(input);
    auto own = std::make_shared<LayerMoments>(std::move(*moments));
    if (isProduct)
      ofProducts[input] = own;
    reads.push_back({entry->second, own.get()});
    result[name] = std::move(own);
  }
  addResults(module, values);
  const std::unique_ptr<HostModel> host = HostModel::compile(module, diagnostics);
  if (!host)
    return std::nullopt;
  const size_t first = host->outputs().size() - values.size();
  data.begin(host->inputs(), diagnostics);
  if (diagnostics.hasErrors())
    return std::nullopt;
  const auto limit = static_cast<size_t>(batchNum);
  size_t done = 0, all = data.count();
  if (limit && (!all || all > limit))
    all = limit;
  const std::vector<::om::Buffer> buffers = host->makeInputs();
  while ((!limit || done < limit) && data.next(buffers, diagnostics)) {
    if (!host->run(buffers, diagnostics))
      return std::nullopt;
    for (const Read &read : reads)
      read.moments->add(host->floats(first + read.output),
                        host->outputs()[first + read.output].dims);
    ++done;
    if (progress)
      progress(done, all);
  }
  if (!done && !diagnostics.hasErrors())
    diagnostics.error("E10014", "there is no sample to calibrate with");
  if (diagnostics.hasErrors())
    return std::nullopt;
  return result;
}

} // namespace atc::quantize
