//===-- GrowTensor.cpp - tensors with room to grow along an axis ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A cache of keys and values, [batch, heads, positions, size], gets a position per token. Its
// blocks, one per batch and head, are stored further apart than their length, and a buffer counts
// the positions that are written in each. A value is a prefix of the positions and never changes:
// only the value that is as long as what is written may grow in place, any other one is copied.

#include "runtime-lite/src/Value.h"

#include <cstring>

namespace atc::rt {

namespace {
/// The blocks of a tensor along an axis.
struct Blocks {
  uint64_t count, unit; ///< how many; bytes of one index of the axis in a block
};

Blocks blocksOf(const om_value &value, uint32_t axis) {
  uint64_t count = 1, inner = om_dtype_bits(static_cast<om_dtype>(value.dtype)) / 8;
  for (uint32_t d = 0; d < value.rank; ++d)
    if (d != axis)
      (d < axis ? count : inner) *= static_cast<uint64_t>(value.dims[d]);
  return {count, inner};
}

void copyBlocks(char *to, uint64_t toStride, const char *from, uint64_t fromStride, uint64_t bytes,
                uint64_t count) {
  for (uint64_t i = 0; bytes && i < count; ++i)
    std::memcpy(to + i * toStride, from + i * fromStride, bytes);
}

/// Makes a copy of the description of `value`, without elements.
om_value *copyDescription(Memory *memory, const om_value &value) {
  om_value *made = Memory::makeValue(memory);
  if (!made)
    return nullptr;
  made->kind = value.kind;
  made->dtype = value.dtype;
  made->rank = value.rank;
  for (uint32_t d = 0; d < value.rank; ++d)
    made->dims[d] = value.dims[d];
  return made;
}
} // namespace

om_value *growTensor(Memory *memory, const om_value &past, uint32_t axis, int64_t added,
                     bool withRoom, om_status &status) {
  status = OM_ERROR_ARGUMENT;
  const uint32_t bits = om_dtype_bits(static_cast<om_dtype>(past.dtype));
  int64_t length;
  if (past.kind != host::Kind::Tensor || axis >= past.rank || added < 0 || bits < 8 ||
      __builtin_add_overflow(past.dims[axis], added, &length))
    return nullptr;
  if (past.room && past.roomAxis != axis) {
    om_value *dense = copyDense(memory, past, status);
    om_value *made = dense ? growTensor(memory, *dense, axis, added, withRoom, status) : nullptr;
    Memory::release(memory, dense);
    return made;
  }
  const auto before = static_cast<uint64_t>(past.dims[axis]);
  const auto [count, unit] = blocksOf(past, axis);
  int64_t room = past.room;
  const bool inPlace = room >= length && past.buffer && past.buffer->filled == before;
  if (!inPlace)
    room = withRoom && length <= INT64_MAX / 4 ? length + length / 2 + 16 : length;
  uint64_t bytes = unit;
  if (__builtin_mul_overflow(bytes, count, &bytes) ||
      __builtin_mul_overflow(bytes, static_cast<uint64_t>(room), &bytes) || bytes > INT64_MAX)
    return nullptr;
  status = OM_ERROR_MEMORY;
  om_value *made = copyDescription(memory, past);
  if (!made)
    return nullptr;
  made->dims[axis] = length;
  const uint64_t stride = static_cast<uint64_t>(room) * unit;
  if (inPlace) {
    made->buffer = past.buffer;
    retain(made->buffer);
    made->data = past.data;
  } else if (bytes) {
    made->buffer = Memory::makeBuffer(memory, bytes);
    if (!made->buffer) {
      Memory::release(memory, made);
      return nullptr;
    }
    made->data = made->buffer->data();
    const uint64_t pastStride = (past.room ? static_cast<uint64_t>(past.room) : before) * unit;
    copyBlocks(static_cast<char *>(made->data), stride, static_cast<const char *>(past.data),
               pastStride, before * unit, count);
  }
  if (made->buffer)
    made->buffer->filled = static_cast<uint64_t>(length);
  made->room = room > length || inPlace ? room : 0;
  made->roomAxis = axis;
  status = OM_OK;
  return made;
}

om_value *copyDense(Memory *memory, const om_value &value, om_status &status) {
  om_value *copy =
      makeTensor(memory, value.dtype, value.rank, value.dims, Elements::Fresh, nullptr, status);
  if (!copy)
    return nullptr;
  const auto [count, unit] = blocksOf(value, value.roomAxis);
  const uint64_t bytes = static_cast<uint64_t>(value.dims[value.roomAxis]) * unit;
  copyBlocks(static_cast<char *>(copy->data), bytes, static_cast<const char *>(value.data),
             static_cast<uint64_t>(value.room) * unit, bytes, count);
  return copy;
}

} // namespace atc::rt
