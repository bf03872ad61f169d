//===-- LayerTrace.cpp ----------------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "support/LayerTrace.h"

#include "support/TensorNames.h"
#include "support/TensorValues.h"

#include <cstring>
#include <utility>

namespace atc {

namespace {

/// Returns the product of dims [begin, end).
int64_t productOf(const std::vector<int64_t> &dims, size_t begin, size_t end) {
  int64_t product = 1;
  for (size_t i = begin; i < end; ++i)
    product *= dims[i];
  return product;
}

/// Where a tile lies in the whole tensor: dim `dim` of the tile stands for dims [dim, after) of
/// the whole.
struct TileAxis {
  size_t dim, after;
};

/// Finds the tiled dim: the first in which the dims differ; in a loop over rows the outermost one
/// of the tile stands for several dims.
std::optional<TileAxis> tileAxisOf(const std::vector<int64_t> &tile,
                                   const std::vector<int64_t> &whole) {
  TileAxis axis = {0, 1};
  if (tile.size() == whole.size()) {
    while (axis.dim + 1 < tile.size() && tile[axis.dim] == whole[axis.dim])
      ++axis.dim;
    axis.after = axis.dim + 1;
  } else if (!tile.empty() && whole.size() + 1 >= tile.size()) {
    axis.after = whole.size() + 1 - tile.size();
  }
  const bool fits =
      !tile.empty() && whole.size() >= axis.after &&
      std::vector(tile.begin() + static_cast<std::ptrdiff_t>(axis.dim) + 1, tile.end()) ==
          std::vector(whole.begin() + static_cast<std::ptrdiff_t>(axis.after), whole.end());
  return fits ? std::optional(axis) : std::nullopt;
}

} // namespace

LayerTrace::LayerTrace(const om::Model &model, om::Session &session, DimsOf dimsOf)
    : model(model), session(session), dimsOf(std::move(dimsOf)) {
  // A node may become several calls with its name, of which the last one has its result.
  for (uint32_t i = 0; i < model.info().launches; ++i)
    if (const om::Launch launch = model.launch(i); launch.host)
      lastCalls[launch.tensor] = i;
}

std::vector<om::Value> LayerTrace::run(const std::vector<om::Value> &inputs, om::Error &error) {
  std::vector<om::Value> outputs =
      session.run(inputs, [&](uint32_t index) { observe(index); }, error);
  if (error)
    return {};
  // Tiles of which some were not seen make no tensor.
  std::vector<LayerResult> complete;
  for (size_t i = 0; i < results.size(); ++i) {
    if (copied[i] >= results[i].tensor.elements)
      complete.push_back(std::move(results[i]));
    else
      ++unknown;
  }
  results = std::move(complete);
  const uint32_t launches = model.info().launches;
  for (uint32_t i = 0; i < outputs.size(); ++i)
    addValue(model.output(i).name, outputs[i], "(output)", launches);
  return outputs;
}

void LayerTrace::observe(uint32_t index) {
  const om::Launch launch = model.launch(index);
  if (launch.host)
    return observeCall(index, launch);
  int64_t begin = 0;
  const int64_t size = om_session_tile(session.get(), &begin);
  if (!size && !seen.insert(index).second)
    return;
  for (uint32_t written : launch.writes)
    observeTensor(index, launch, written, begin, size);
}

void LayerTrace::observeCall(uint32_t index, const om::Launch &launch) {
  if (lastCalls[launch.tensor] != index || !seen.insert(index).second)
    return;
  if (withoutNumber(launch.tensor) != launch.tensor)
    ++unknown; // a step of a node, which a reference computes in other steps
  else
    addValue(launch.tensor, session.result(index, 0), launch.kernel, index);
}

void LayerTrace::addValue(const std::string &name, const om::Value &value,
                          const std::string &kernel, uint32_t index) {
  if (value.kind() != OM_KIND_TENSOR || !hasValues(value.dtype()) || !dimsOf(name)) {
    ++unknown;
    return;
  }
  const uint64_t elements = value.size();
  const uint64_t bytes = (elements * om_dtype_bits(value.dtype()) + 7) / 8;
  LayerResult result = {{name, value.dtype(), value.dims(), elements, bytes, OM_OUTPUT, 0},
                        om::Buffer(bytes),
                        kernel,
                        index};
  if (result.data && bytes)
    std::memcpy(result.data.data(), value.data(), bytes);
  results.push_back(std::move(result));
  copied.push_back(elements);
}

void LayerTrace::observeTensor(uint32_t index, const om::Launch &launch, uint32_t written,
                               int64_t begin, int64_t size) {
  om::Tensor tensor = model.tensor(written);
  // "y#1" is a step of the node of y, or the tensor y in tiles of another size.
  const std::string name = withoutNumber(tensor.name);
  const bool isStep = name != tensor.name && dimsOf(tensor.name);
  const auto dims = isStep ? std::nullopt : dimsOf(name);
  om::Buffer data(tensor.bytes);
  om::Error error;
  if (!dims || !hasValues(tensor.dtype) || !data ||
      om_session_read_tensor(session.get(), written, data.data(), tensor.bytes, &error.c) !=
          OM_OK) {
    ++unknown;
    return;
  }
  tensor.name = name;
  LayerResult result = {tensor, {}, launch.kernel, index, launch.npu};
  if (size)
    return addTile(tensor, data, result, *dims, begin, size);
  result.data = std::move(data);
  results.push_back(std::move(result));
  copied.push_back(tensor.elements);
}

void LayerTrace::addTile(const om::Tensor &tile, const om::Buffer &data, const LayerResult &head,
                         const std::vector<int64_t> &dims, int64_t begin, int64_t size) {
  if (dims == tile.dims && !tile.dims.empty()) {
    size = tile.dims[0];
    begin = 0;
  }
  const auto axis = tileAxisOf(tile.dims, dims);
  const uint64_t bits = om_dtype_bits(tile.dtype);
  const int64_t own = axis ? tile.dims[axis->dim] : 0;
  const int64_t length = axis ? productOf(dims, axis->dim, axis->after) : 0;
  const int64_t first = own / size * begin;
  if (!axis || own % size || bits % 8 || first + own > length) {
    ++unknown;
    return;
  }
  auto [found, isNew] = wholeOf.try_emplace(tile.name, results.size());
  if (isNew) {
    LayerResult whole = {tile, {}, head.kernel, head.launch, head.npu};
    whole.tensor.dims = dims;
    whole.tensor.elements = static_cast<uint64_t>(productOf(dims, 0, dims.size()));
    whole.tensor.bytes = whole.tensor.elements * bits / 8;
    whole.data = om::Buffer(whole.tensor.bytes);
    results.push_back(std::move(whole));
    copied.push_back(0);
  }
  LayerResult &whole = results[found->second];
  const int64_t outer = productOf(dims, 0, axis->dim);
  const auto unit = static_cast<uint64_t>(productOf(dims, axis->after, dims.size())) * bits / 8;
  const uint64_t bytes = static_cast<uint64_t>(own) * unit;
  for (int64_t i = 0; whole.data && i < outer; ++i)
    std::memcpy(whole.data.data<char>() + static_cast<uint64_t>(i * length + first) * unit,
                data.data<char>() + static_cast<uint64_t>(i) * bytes, bytes);
  copied[found->second] += tile.elements; // tiles may overlap
}

} // namespace atc
