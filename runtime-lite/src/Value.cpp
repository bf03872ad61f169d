//===-- Value.cpp - tensors of any shape, sequences, maps -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "runtime-lite/src/Value.h"

#include <cstring>
#include <pthread.h>

namespace atc::rt {

using host::Kind;

alignas(OM_ALIGNMENT) char noElements[OM_ALIGNMENT];

static_assert(static_cast<int>(Kind::Map) == OM_KIND_MAP &&
                  static_cast<int>(Kind::Sequence) == OM_KIND_SEQUENCE &&
                  static_cast<int>(Kind::Tensor) == OM_KIND_TENSOR && host::kMaxRank == OM_MAX_RANK,
              "the kernels' interface and om.h agree");
static_assert(sizeof(Buffer) <= Buffer::headBytes, "a buffer's head");

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// Rounds `bytes` up to one of four size classes per power of two, so that at most a fifth is
/// wasted, and returns the class.
static uint32_t sizeClassOf(uint64_t &bytes) {
  uint64_t units = (bytes + 63) / 64; // of 64 bytes
  if (units < 8) {
    units += units == 0;
    bytes = units * 64;
    return static_cast<uint32_t>(units);
  }
  const uint32_t power = 63 - static_cast<uint32_t>(__builtin_clzll(units));
  const uint64_t step = uint64_t(1) << (power - 2);
  units = (units + step - 1) / step * step;
  bytes = units * 64;
  const uint32_t rounded = 63 - static_cast<uint32_t>(__builtin_clzll(units));
  return rounded * 4 + static_cast<uint32_t>(units >> (rounded - 2) & 3);
}

/// Adds bytes to those in use. Free blocks that are kept count, too, and are freed first.
bool Memory::claim(uint64_t bytes) {
  refused = 0;
  if (used > ceiling || bytes > ceiling - used) {
    refused = bytes;
    return false;
  }
  if (kept > ceiling - used - bytes)
    clear();
  count(bytes);
  return true;
}

void Memory::count(uint64_t bytes) {
  used += bytes;
  peak = used > peak ? used : peak;
  maxKept = neededBytes() > maxKept ? neededBytes() : maxKept;
}

void Memory::endRun() {
  maxKept -= maxKept / 8;
  maxKept = maxKept > minKept ? maxKept : minKept;
  maxKept = maxKept > neededBytes() ? maxKept : neededBytes();
  peak = used;
  shares = true;
  if (kept > maxKept)
    clear();
}

/// Blocks that their last users released, by size class. New pages take longer than most kernels
/// that fill them, and a caller that releases an output is likely to ask for another one.
static Buffer *spares[Memory::sizeClasses];
static uint64_t spareBytes = 0;
static pthread_mutex_t spareLock = PTHREAD_MUTEX_INITIALIZER;
static constexpr uint64_t minSpare = uint64_t(64) << 10, maxSpare = uint64_t(128) << 20;

/// Keeps `buffer`, where it has a size for that, instead of those that do not fit beside it; else
/// frees it. Nobody waits for the lock: what is not kept is made anew.
static void freeOrSpare(Buffer *buffer) {
  const uint64_t bytes = buffer->bytes;
  if (bytes < minSpare || bytes > maxSpare || buffer->sizeClass >= Memory::sizeClasses ||
      pthread_mutex_trylock(&spareLock) != 0)
    return std::free(buffer);
  if (spareBytes + bytes > maxSpare) {
    for (Buffer *&first : spares)
      while (Buffer *old = first) {
        first = old->next;
        std::free(old);
      }
    spareBytes = 0;
  }
  spareBytes += bytes;
  buffer->next = spares[buffer->sizeClass];
  spares[buffer->sizeClass] = buffer;
  pthread_mutex_unlock(&spareLock);
}

/// Returns a spare block of this class, or null.
static Buffer *takeSpare(uint32_t sizeClass, uint64_t bytes) {
  if (bytes < minSpare || sizeClass >= Memory::sizeClasses ||
      pthread_mutex_trylock(&spareLock) != 0)
    return nullptr;
  Buffer *buffer = spares[sizeClass];
  if (buffer) {
    spares[sizeClass] = buffer->next;
    spareBytes -= buffer->bytes;
  }
  pthread_mutex_unlock(&spareLock);
  return buffer;
}

Buffer *Memory::takeFree(uint32_t sizeClass) {
  // From 64 KB on, blocks of up to four times the size.
  constexpr uint32_t minShared = 4 * 10, maxLarger = 4 * 2;
  // Large blocks serve smaller tensors, too: a run then writes fewer bytes of memory, which stay in
  // the caches. They count as a whole, so that this ends well below the ceiling.
  const bool isAny = shares && sizeClass >= minShared && used + kept <= ceiling / 8;
  for (uint32_t i = sizeClass; i <= sizeClass + (isAny ? maxLarger : 0) && i < sizeClasses; ++i) {
    Buffer *buffer = buffers[i];
    const uint64_t whole = buffer ? Buffer::headBytes + buffer->bytes : 0;
    if (!buffer || used > ceiling || whole > ceiling - used)
      continue;
    buffers[i] = buffer->next;
    kept -= whole;
    count(whole);
    return buffer;
  }
  return nullptr;
}

Buffer *Memory::makeBuffer(Memory *memory, uint64_t bytes) {
  uint64_t rounded = bytes;
  const bool isTooLarge = bytes > uint64_t(1) << 46;
  const uint32_t sizeClass = isTooLarge ? sizeClasses : sizeClassOf(rounded);
  const uint64_t whole = isTooLarge ? bytes : Buffer::headBytes + rounded;
  Buffer *buffer = memory ? memory->takeFree(sizeClass) : nullptr;
  if (!buffer) {
    if (memory && !memory->claim(whole))
      return nullptr;
    buffer = isTooLarge ? nullptr : takeSpare(sizeClass, rounded);
    if (!buffer && !isTooLarge)
      buffer = static_cast<Buffer *>(allocate(whole));
    if (!buffer) {
      if (memory)
        memory->used -= whole;
      return nullptr;
    }
    buffer->sizeClass = static_cast<uint16_t>(sizeClass);
    buffer->bytes = rounded;
  }
  buffer->refs = 1;
  buffer->counted = memory != nullptr;
  buffer->next = nullptr;
  buffer->filled = 0;
  return buffer;
}

void Memory::release(Memory *memory, Buffer *buffer) {
  if (!buffer || __atomic_fetch_sub(&buffer->refs, 1, __ATOMIC_ACQ_REL) != 1)
    return;
  const uint64_t whole = Buffer::headBytes + buffer->bytes;
  if (memory)
    memory->disown(buffer->counted, whole);
  if (!memory || buffer->sizeClass >= sizeClasses || whole > memory->maxKept - memory->kept) {
    freeOrSpare(buffer);
    return;
  }
  memory->kept += whole;
  buffer->next = memory->buffers[buffer->sizeClass];
  memory->buffers[buffer->sizeClass] = buffer;
}

om_value *Memory::makeValue(Memory *memory) {
  if (memory && !memory->claim(sizeof(om_value)))
    return nullptr;
  om_value *value = memory ? memory->values : nullptr;
  if (value) {
    memory->values = value->next;
    memory->kept -= sizeof(om_value);
  } else if (!(value = static_cast<om_value *>(std::malloc(sizeof(om_value))))) {
    if (memory)
      memory->used -= sizeof(om_value);
    return nullptr;
  }
  // The dims past the rank are nobody's.
  value->kind = Kind::None;
  value->dtype = OM_UNDEFINED;
  value->rank = 0;
  value->reserved = managedMark;
  value->data = noElements;
  value->refs = 1;
  value->depth = 1;
  value->counted = memory != nullptr;
  value->buffer = nullptr;
  value->next = nullptr;
  value->room = 0;
  value->roomAxis = 0;
  return value;
}

void Memory::release(Memory *memory, const om_value *constant) {
  om_value *value = const_cast<om_value *>(constant);
  if (!value || __atomic_fetch_sub(&value->refs, 1, __ATOMIC_ACQ_REL) != 1)
    return;
  // No deeper than maxDepth.
  if (value->kind == Kind::Sequence || value->kind == Kind::Map)
    for (int64_t i = 0; i < value->dims[0]; ++i)
      release(memory, value->item(static_cast<uint64_t>(i)));
  release(memory, value->buffer);
  if (memory)
    memory->disown(value->counted, sizeof(om_value));
  if (!memory || sizeof(om_value) > memory->maxKept - memory->kept) {
    std::free(value);
    return;
  }
  memory->kept += sizeof(om_value);
  value->next = memory->values;
  memory->values = value;
}

// Values of others have no mark and must not be written: sessions share them.
void Memory::handOver(const om_value *constant) {
  om_value *value = const_cast<om_value *>(constant);
  if (value->kind == Kind::Sequence || value->kind == Kind::Map)
    for (int64_t i = 0; i < value->dims[0]; ++i)
      handOver(value->item(static_cast<uint64_t>(i)));
  if (value->buffer && value->buffer->counted)
    disown(value->buffer->counted, Buffer::headBytes + value->buffer->bytes);
  if (value->counted)
    disown(value->counted, sizeof(om_value));
}

void Memory::clear() {
  for (Buffer *&first : buffers)
    while (Buffer *buffer = first) {
      first = buffer->next;
      std::free(buffer);
    }
  while (om_value *value = values) {
    values = value->next;
    std::free(value);
  }
  kept = 0;
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

bool tensorSize(uint8_t dtype, uint32_t rank, const int64_t *dims, uint64_t &elements,
                uint64_t &bytes) {
  if (dtype > OM_I2 || rank > OM_MAX_RANK)
    return false;
  const uint64_t bits =
      dtype == OM_STRING ? 8 * sizeof(host::String) : om_dtype_bits(static_cast<om_dtype>(dtype));
  if (!bits)
    return false;
  elements = 1;
  bool isEmpty = false;
  // A dim of 0 must not hide negative or too large ones.
  for (uint32_t i = 0; i < rank; ++i) {
    isEmpty |= dims[i] == 0;
    if (dims[i] < 0 ||
        __builtin_mul_overflow(elements, static_cast<uint64_t>(dims[i] ? dims[i] : 1), &elements))
      return false;
  }
  if (isEmpty && elements > host::kMaxDimsOfEmpty)
    return false;
  elements = isEmpty ? 0 : elements;
  uint64_t all;
  if (__builtin_mul_overflow(elements, bits, &all) || all > INT64_MAX)
    return false;
  bytes = all / 8 + (all % 8 != 0);
  return true;
}

uint64_t elementsOf(const host::Value &tensor) {
  uint64_t count = 1;
  for (uint32_t i = 0; i < tensor.rank; ++i)
    count *= static_cast<uint64_t>(tensor.dims[i]);
  return count;
}

om_value *makeTensor(Memory *memory, uint8_t dtype, uint32_t rank, const int64_t *dims,
                     Elements elements, void *data, om_status &status) {
  uint64_t count, bytes;
  if (!tensorSize(dtype, rank, dims, count, bytes)) {
    status = OM_ERROR_ARGUMENT;
    return nullptr;
  }
  om_value *value = Memory::makeValue(memory);
  status = OM_ERROR_MEMORY;
  if (!value)
    return nullptr;
  if (elements != Elements::Elsewhere && bytes) {
    value->buffer = Memory::makeBuffer(memory, bytes);
    if (!value->buffer) {
      Memory::release(memory, value);
      return nullptr;
    }
    data = value->buffer->data();
    // A string that is not written must be empty, not a stale pointer.
    if (elements == Elements::Zeroed || dtype == OM_STRING)
      std::memset(data, 0, bytes);
  }
  status = OM_OK;
  value->kind = Kind::Tensor;
  value->dtype = dtype;
  value->rank = static_cast<uint16_t>(rank);
  for (uint32_t i = 0; i < rank; ++i)
    value->dims[i] = dims[i];
  value->data = bytes ? data : noElements;
  return value;
}

/// Makes a list with room for its items; `dims` is not set yet.
static om_value *makeEmptyList(Memory *memory, Kind kind, uint8_t dtype, uint64_t count) {
  om_value *value = Memory::makeValue(memory);
  if (!value)
    return nullptr;
  value->buffer = Memory::makeBuffer(memory, count * sizeof(void *));
  if (!value->buffer) {
    Memory::release(memory, value);
    return nullptr;
  }
  value->kind = kind;
  value->dtype = dtype;
  value->rank = 1;
  value->dims[0] = 0;
  value->data = value->buffer->data();
  return value;
}

om_value *makeList(Memory *memory, Kind kind, uint8_t dtype, uint64_t count,
                   const om_value *const *items, om_status &status, host::ListError &wrong) {
  status = OM_ERROR_ARGUMENT;
  wrong = host::checkList(kind, dtype, count, items);
  uint32_t depth = 1;
  for (uint64_t i = 0; !wrong.text && i < count; ++i)
    depth = items[i]->depth >= depth ? items[i]->depth + 1u : depth;
  if (depth > maxDepth)
    wrong = {"it has sequences too deep in each other", 0};
  if (wrong.text)
    return nullptr;
  status = OM_ERROR_MEMORY;
  om_value *value = makeEmptyList(memory, kind, host::listType(dtype, count, items), count);
  if (!value)
    return nullptr;
  status = OM_OK;
  value->depth = static_cast<uint16_t>(depth);
  value->dims[0] = static_cast<int64_t>(count);
  for (uint64_t i = 0; i < count; ++i) {
    static_cast<const host::Value **>(value->data)[i] = items[i];
    retain(items[i]);
  }
  return value;
}

/// Makes one buffer with the strings, followed by their characters.
static om_value *copyStrings(Memory *memory, const om_value &from, om_status &status) {
  const uint64_t count = elementsOf(from);
  const auto *strings = static_cast<const host::String *>(from.data);
  uint64_t bytes = count * sizeof(host::String);
  for (uint64_t i = 0; i < count; ++i)
    bytes += strings[i].size;
  om_value *value =
      makeTensor(memory, OM_STRING, from.rank, from.dims, Elements::Elsewhere, nullptr, status);
  if (!value || !count)
    return value;
  value->buffer = Memory::makeBuffer(memory, bytes);
  if (!value->buffer) {
    Memory::release(memory, value);
    status = OM_ERROR_MEMORY;
    return nullptr;
  }
  value->data = value->buffer->data();
  char *text = value->buffer->data() + count * sizeof(host::String);
  for (uint64_t i = 0; i < count; ++i) {
    if (strings[i].size)
      std::memcpy(text, strings[i].data, strings[i].size);
    static_cast<host::String *>(value->data)[i] = {text, strings[i].size};
    text += strings[i].size;
  }
  return value;
}

om_value *detach(Memory *memory, const om_value &value, om_status &status) {
  status = OM_OK;
  if (value.kind == Kind::Sequence || value.kind == Kind::Map) {
    om_value *list =
        makeEmptyList(memory, value.kind, value.dtype, static_cast<uint64_t>(value.dims[0]));
    if (!list) {
      status = OM_ERROR_MEMORY;
      return nullptr;
    }
    list->depth = value.depth;
    for (int64_t i = 0; i < value.dims[0]; ++i) {
      om_value *item = detach(memory, *value.item(static_cast<uint64_t>(i)), status);
      if (!item) {
        Memory::release(memory, list);
        return nullptr;
      }
      static_cast<const host::Value **>(list->data)[i] = item;
      list->dims[0] = i + 1;
    }
    return list;
  }
  if (value.room)
    return copyDense(memory, value, status);
  if (value.kind == Kind::Tensor && value.dtype == OM_STRING)
    return copyStrings(memory, value, status);
  uint64_t elements, bytes;
  // A tensor in a buffer of more than twice its size is copied, so that the caller keeps no more
  // memory than needed.
  if (value.kind == Kind::Tensor &&
      tensorSize(value.dtype, value.rank, value.dims, elements, bytes) && bytes &&
      (!value.buffer || value.buffer->bytes / 2 > bytes + Buffer::headBytes)) {
    om_value *copy =
        makeTensor(memory, value.dtype, value.rank, value.dims, Elements::Fresh, nullptr, status);
    if (copy)
      std::memcpy(copy->data, value.data, bytes);
    return copy;
  }
  retain(&value);
  return const_cast<om_value *>(&value);
}

} // namespace atc::rt
