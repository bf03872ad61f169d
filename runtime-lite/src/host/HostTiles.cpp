//===-- HostTiles.cpp - static parts in a loop over a dynamic dim ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A tile of a tensor whose tiled dim is its outermost one (but for dims of 1) is used in
// place, at an offset. Other tiles, and those at an offset that kernels may not be given,
// go through a dense copy.

#include "runtime-lite/src/host/HostMachine.h"

#include "runtime-lite/src/PortChecks.h"
#include "runtime-lite/src/Session.h"
#include "runtime-lite/src/Tensor.h"

#include <cstring>

namespace fb = atc::om::fb;

namespace atc::rt {

namespace {

/// Returns the tensor of an input (or output) of a part. `index` counts within the part.
const fb::Tensor &tensorOf(const om_model &model, const fb::HostPart &part, bool isInput,
                           uint32_t index) {
  const uint32_t end = (isInput ? part.first_input() : part.first_output()) + index;
  const auto &ends = *(isInput ? model.header->inputs() : model.header->outputs());
  return *model.header->tensors()->Get(ends.Get(end));
}

/// Copies `count` pieces of `bytes` bytes whose starts are apart by the strides.
void copyPieces(char *to, uint64_t toStride, const char *from, uint64_t fromStride, uint64_t count,
                uint64_t bytes) {
  for (uint64_t i = 0; i < count; ++i)
    std::memcpy(to + i * toStride, from + i * fromStride, bytes);
}

} // namespace

/// Checks an input against the tiles. The first tiled input determines `extent`; the others must
/// have the dims that follow from it.
om_status HostMachine::measureTiles(const fb::HostTiles &tiles, uint32_t input,
                                    TileExtent &extent) {
  const fb::HostPart &part = *program.parts()->Get(tiles.parts()->Get(0));
  const int32_t dim = tiles.input_dims()->Get(input);
  const om_value *value = slots[static_cast<uint32_t>(tiles.inputs()->Get(input))];
  PortType type = portType(tensorOf(model, part, /*isInput=*/true, input));
  const int64_t multiple = dim < 0 ? 1 : type.dims[dim] / tiles.sizes()->Get(0);
  // In a loop over rows, dim 0 of the tile stands for any number of dims of the value.
  const bool isRows = tiles.rows() && dim >= 0;
  const uint32_t width = isRows ? type.rank - 1 : 0;
  const bool hasWidth =
      isRows && value && value->kind == host::Kind::Tensor && value->rank >= width;
  const uint32_t leading = hasWidth ? value->rank - width : 1;
  int64_t dims[2 * OM_MAX_RANK];
  if (isRows) {
    for (uint32_t d = 0; d < leading; ++d)
      dims[d] = -1;
    std::memcpy(dims + leading, type.dims + 1, width * sizeof(int64_t));
    type.rank = leading + width;
  } else {
    std::memcpy(dims, type.dims, type.rank * sizeof(int64_t));
    if (dim >= 0)
      dims[dim] = -1;
  }
  type.dims = dims;
  om_status status = checkPort(type, "the tile loop's input", input, value, OM_ERROR_RUN, error);
  if (status == OM_OK)
    status = checkIndices(tensorOf(model, part, /*isInput=*/true, input), value->data,
                          elementsOf(*value), error);
  if (status != OM_OK || dim < 0)
    return status;
  int64_t length = isRows ? 1 : value->dims[dim];
  for (uint32_t d = 0; isRows && d < leading; ++d)
    // The product only overflows where another dim is 0: rows are never empty, and a value with
    // elements has at most as many rows as elements.
    if (__builtin_mul_overflow(length, value->dims[d], &length))
      length = 0;
  const bool isFirst = extent.count < 0;
  if (isFirst) {
    extent.count = length / multiple;
    extent.rank = isRows ? leading : 0;
    std::memcpy(extent.dims, value->dims, extent.rank * sizeof(int64_t));
  }
  bool same = length % multiple == 0 && length / multiple == extent.count;
  same = same && (!isRows || leading == extent.rank);
  for (uint32_t d = 0; same && d < extent.rank; ++d)
    same = value->dims[d] == extent.dims[d];
  if (same)
    return OM_OK;
  return fail(error, OM_ERROR_RUN,
              "dim %d of '%s' has %lld elements, but %lld were expected: %lld for each of "
              "the %lld of the dynamic dim that all inputs share.",
              dim, type.name, static_cast<long long>(length),
              static_cast<long long>(multiple * extent.count), static_cast<long long>(multiple),
              static_cast<long long>(extent.count));
}

/// Finds where the tiles of a port are (inputs first, then outputs), and makes the tensor of an
/// output, which goes to `moved`.
om_status HostMachine::prepareTilePort(const fb::HostTiles &tiles, uint32_t index,
                                       const TileExtent &extent) {
  const fb::HostPart &part = *program.parts()->Get(tiles.parts()->Get(0));
  const bool isInput = index < part.inputs();
  const uint32_t own = isInput ? index : index - part.inputs();
  const int32_t dim = (isInput ? tiles.input_dims() : tiles.output_dims())->Get(own);
  const fb::Tensor &tensor = tensorOf(model, part, isInput, own);
  const uint32_t rank = tensor.dims()->size();
  const int64_t size = tiles.sizes()->Get(0);
  TilePort &port = tilePorts[index];
  port = {};
  uint64_t elements = 0, tileBytes = 0;
  tensorSize(static_cast<uint8_t>(tensor.dtype()), rank, tensor.dims()->data(), elements,
             tileBytes);
  port.blocks = 1;
  for (int32_t d = 0; d < dim; ++d)
    port.blocks *= static_cast<uint64_t>(tensor.dims()->Get(static_cast<uint32_t>(d)));
  if (dim >= 0 && port.blocks)
    port.unit = tileBytes / port.blocks / static_cast<uint64_t>(size);
  port.stride = port.unit * static_cast<uint64_t>(extent.count);
  if (isInput) {
    port.data = static_cast<char *>(slots[static_cast<uint32_t>(tiles.inputs()->Get(own))]->data);
  } else {
    int64_t dims[2 * OM_MAX_RANK];
    // In a loop over rows, the dims that count them replace dim 0 of the tile.
    const uint32_t wholeRank = tiles.rows() ? extent.rank + rank - 1 : rank;
    if (tiles.rows()) {
      std::memcpy(dims, extent.dims, extent.rank * sizeof(int64_t));
      std::memcpy(dims + extent.rank, tensor.dims()->data() + 1, (rank - 1) * sizeof(int64_t));
    } else {
      std::memcpy(dims, tensor.dims()->data(), rank * sizeof(int64_t));
      if (__builtin_mul_overflow(dims[dim] / size, extent.count, &dims[dim]))
        return noMemory(tensor.name()->c_str(), UINT64_MAX);
    }
    om_status status = OM_ERROR_ARGUMENT;
    moved[own] = makeTensor(&memory, static_cast<uint8_t>(tensor.dtype()), wholeRank, dims,
                            Elements::Fresh, nullptr, status);
    if (!moved[own])
      return noMemory(tensor.name()->c_str(), tileBytes);
    port.data = static_cast<char *>(moved[own]->data);
  }
  if (!port.unit || (port.blocks == 1 && port.unit % OM_ALIGNMENT == 0))
    return OM_OK;
  port.staging = Memory::makeBuffer(&memory, tileBytes);
  return port.staging ? OM_OK : noMemory(tensor.name()->c_str(), tileBytes);
}

/// Runs a part on the tile of `size` indices from `begin` on.
om_status HostMachine::runTile(const fb::HostPart &part, int64_t begin, int64_t size) {
  const uint32_t inputCount = part.inputs();
  const uint32_t firstOutput = model.header->inputs()->size() + part.first_output();
  auto offset = [&](const TilePort &port) { return port.unit * static_cast<uint64_t>(begin); };
  auto length = [&](const TilePort &port) { return port.unit * static_cast<uint64_t>(size); };
  // A tile may be at an aligned offset by chance.
  auto isCopied = [&](const TilePort &port) {
    return port.staging &&
           (port.blocks > 1 ||
            reinterpret_cast<uintptr_t>(port.data + offset(port)) % OM_ALIGNMENT != 0);
  };
  for (uint32_t i = 0; i < inputCount + part.outputs(); ++i) {
    const TilePort &port = tilePorts[i];
    char *tile = port.data + offset(port);
    if (isCopied(port)) {
      if (i < inputCount)
        copyPieces(port.staging->data(), length(port), tile, port.stride, port.blocks,
                   length(port));
      tile = port.staging->data();
    }
    session.setEnd(i < inputCount ? part.first_input() + i : firstOutput + i - inputCount, tile);
  }
  session.tileBegin = begin;
  session.tileSize = size;
  const om_status status = session.runLaunches(part.first_launch(), part.launches(), error);
  session.tileSize = 0;
  if (status != OM_OK)
    return status;
  for (uint32_t i = inputCount; i < inputCount + part.outputs(); ++i) {
    const TilePort &port = tilePorts[i];
    if (isCopied(port))
      copyPieces(port.data + offset(port), port.stride, port.staging->data(), length(port),
                 port.blocks, length(port));
  }
  return OM_OK;
}

om_status HostMachine::runTiles(const fb::HostTiles &tiles) {
  const fb::HostPart &first = *program.parts()->Get(tiles.parts()->Get(0));
  const uint32_t ports = first.inputs() + first.outputs();
  TileExtent extent;
  om_status status = OM_OK;
  // The loader has made sure that one input has tiles.
  for (uint32_t i = 0; status == OM_OK && i < first.inputs(); ++i)
    status = measureTiles(tiles, i, extent);
  if (status != OM_OK)
    return status;
  // Null marks what was not created, so that a failure releases only what was.
  for (uint32_t i = 0; i < ports; ++i)
    tilePorts[i].staging = nullptr;
  for (uint32_t i = 0; i < first.outputs(); ++i)
    moved[i] = nullptr;
  for (uint32_t i = 0; status == OM_OK && i < ports; ++i)
    status = prepareTilePort(tiles, i, extent);

  int64_t begin = 0;
  for (uint32_t k = 0; k < tiles.parts()->size(); ++k) {
    const fb::HostPart &part = *program.parts()->Get(tiles.parts()->Get(k));
    const int64_t size = tiles.sizes()->Get(k);
    const int64_t next = k + 1 < tiles.parts()->size() ? tiles.sizes()->Get(k + 1) : 0;
    for (; status == OM_OK && extent.count - begin >= size; begin += size)
      status = runTile(part, begin, size);
    // A rest of more than half a tile and one and a half of the next, or of more than one index
    // where the next tiles have one, is the end of one more tile, which begins among indices that
    // are already computed.
    const int64_t rest = extent.count - begin;
    const int64_t enough = 3 * next > size ? 3 * next : size;
    if (status == OM_OK && extent.count >= size && (next == 1 ? rest > 1 : 2 * rest > enough)) {
      status = runTile(part, extent.count - size, size);
      begin = extent.count;
    }
    // Nobody may look at what was an input of the last tile.
    for (uint32_t i = 0; i < part.inputs(); ++i)
      session.setEnd(part.first_input() + i, nullptr);
    for (uint32_t i = 0; i < part.outputs(); ++i)
      session.setEnd(model.header->inputs()->size() + part.first_output() + i, nullptr);
  }
  for (uint32_t i = 0; i < ports; ++i)
    if (tilePorts[i].staging)
      Memory::release(&memory, tilePorts[i].staging);
  for (uint32_t i = 0; i < first.outputs(); ++i) {
    const int32_t slot = tiles.outputs()->Get(i);
    if (slot >= 0 && status == OM_OK)
      setSlot(static_cast<uint32_t>(slot), moved[i]);
    else
      Memory::release(&memory, moved[i]);
  }
  return status;
}

} // namespace atc::rt
