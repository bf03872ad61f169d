//===-- NativeHost.cpp - runs host kernels in this process ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "kernels/native/NativeHost.h"

#include "kernels/core/Lanes.h"
#include "kernels/core/Numbers.h"
#include "runtime-lite/abi/HostValueRules.h"

#include <algorithm>
#include <atomic>
#include <csetjmp>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

/// In this process all element types can occur.
extern "C" const uint64_t atc_kernel_types = ~uint64_t(0);
/// It is compiled for the base level of its architecture.
extern "C" const uint64_t atc_kernel_lanes = 4;
extern "C" const uint64_t atc_kernel_wide_dot = 0;
extern "C" const uint64_t atc_kernel_tile_registers = 0;

namespace atc::kernels::native {

using host::Call;
using host::Kind;
using host::Value;

uint32_t Row::maxResults() const {
  const std::string_view text = results;
  if (text.ends_with('*'))
    return ~0u;
  return uint32_t(std::count(text.begin(), text.end(), ' ')) + !text.empty();
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

namespace {
/// Computes the bytes of a dense tensor; none of an unknown element type. False for
/// dims that are negative, too many or too large.
bool tensorBytes(uint8_t dtype, uint32_t rank, const int64_t *dims, uint64_t &bytes) {
  constexpr int64_t maxElements = int64_t(1) << 40;
  if (rank > host::kMaxRank)
    return false;
  int64_t count = 1;
  bool isEmpty = false;
  // A dim of 0 must not hide negative or too large ones.
  for (uint32_t i = 0; i < rank; ++i) {
    isEmpty |= dims[i] == 0;
    if (dims[i] < 0 || __builtin_mul_overflow(count, dims[i] ? dims[i] : 1, &count) ||
        count > maxElements)
      return false;
  }
  if (isEmpty && uint64_t(count) > host::kMaxDimsOfEmpty)
    return false;
  bytes = static_cast<uint64_t>(bytesOf(dtype, isEmpty ? 0 : count));
  return true;
}
} // namespace

void Values::clear() {
  while (Block *block = blocks) {
    blocks = block->next;
    std::free(block);
  }
}

void *Values::bytes(size_t count) {
  constexpr size_t head = sizeof(Block);
  const size_t size = head + (count + head - 1) / head * head;
  void *memory = size < count ? nullptr : std::aligned_alloc(alignof(Block), size);
  // Callers check the results of large requests; small ones, such as names and single values, are
  // assumed to succeed, like those of operator new.
  constexpr size_t small = 1 << 16;
  if (!memory && size <= small)
    if (std::new_handler handler = std::get_new_handler())
      handler();
  if (!memory)
    return nullptr;
  std::memset(memory, 0, size);
  blocks = new (memory) Block{blocks};
  return static_cast<char *>(memory) + head;
}

Value *Values::copyOf(const Value &value) {
  void *memory = bytes(sizeof(Value));
  return memory ? new (memory) Value(value) : nullptr;
}

Value *Values::none() { return copyOf(Value{}); }

Value *Values::tensor(uint8_t dtype, uint32_t rank, const int64_t *dims, bool withData) {
  Value value = {};
  uint64_t size;
  if (!tensorBytes(dtype, rank, dims, size) || (withData && !bitsOf(dtype)))
    return nullptr;
  value.kind = Kind::Tensor;
  value.dtype = dtype;
  value.rank = uint16_t(rank);
  std::copy_n(dims, rank, value.dims);
  if (withData && !(value.data = bytes(size)))
    return nullptr;
  return copyOf(value);
}

Value *Values::list(Kind kind, uint8_t dtype, size_t count, const Value *const *items) {
  Value value = {};
  value.kind = kind;
  value.dtype = host::listType(dtype, count, items);
  value.rank = 1;
  value.dims[0] = int64_t(count);
  if (count > SIZE_MAX / sizeof(Value *) || !(value.data = bytes(count * sizeof(Value *))))
    return nullptr;
  if (count)
    std::memcpy(value.data, items, count * sizeof(Value *));
  return copyOf(value);
}

//===----------------------------------------------------------------------===//
// The host
//===----------------------------------------------------------------------===//

namespace {

struct NativeCall : Call {
  Values *values;
  Outcome *outcome;
  Values temporaries;
  bool onlyShapes;
  uint64_t maxBytes, bytesLeft;
  char error[400] = ""; ///< the first
  jmp_buf left;

  static NativeCall &of(Call *call) { return *static_cast<NativeCall *>(call); }

  /// Remembers the first error. `text` is as for printf.
  __attribute__((format(printf, 2, 3))) void refuse(const char *text, ...) {
    if (*error)
      return;
    va_list arguments;
    va_start(arguments, text);
    std::vsnprintf(error, sizeof(error), text, arguments);
    va_end(arguments);
  }
  void refuseMemory(const char *what, uint64_t bytes) {
    refuse("%llu bytes for %s could not be allocated", static_cast<unsigned long long>(bytes),
           what);
  }
  /// Subtracts bytes from the call's limit.
  bool claim(const char *what, uint64_t bytes) {
    if (bytes > bytesLeft) {
      refuse("%s needs %llu bytes, which is beyond the ceiling of %llu bytes for the call", what,
             static_cast<unsigned long long>(bytes), static_cast<unsigned long long>(maxBytes));
      return false;
    }
    bytesLeft -= bytes;
    return true;
  }
  bool hasOutput(uint32_t index) {
    if (index >= outputCount)
      refuse("it made output %u, but has only %u", index, outputCount);
    return index < outputCount;
  }
  /// In a call for shapes only, whether every wanted output has one by now.
  bool complete() const {
    for (uint32_t i = 0; i < outputCount; ++i)
      if ((i >= 32 || (wanted >> i & 1)) && !outcome->outputs[i])
        return false;
    return true;
  }
  /// Takes an output that was made, or was not for want of memory.
  bool set(uint32_t index, Value *value) {
    if (!value)
      refuseMemory("an output", sizeof(Value));
    else
      outcome->outputs[index] = value;
    return value;
  }
  Value *tensor(const char *what, uint8_t dtype, uint32_t rank, const int64_t *dims,
                bool withData) {
    uint64_t bytes;
    if (!tensorBytes(dtype, rank, dims, bytes)) {
      refuse("the dims of %s are negative or too large", what);
      return nullptr;
    }
    if (withData && !bitsOf(dtype)) {
      refuse("%s has the unknown element type %u", what, unsigned(dtype));
      return nullptr;
    }
    if (withData && !claim(what, bytes))
      return nullptr;
    Value *value = values->tensor(dtype, rank, dims, withData);
    if (!value)
      refuseMemory(what, bytes);
    return value;
  }
  Value *list(Kind kind, uint8_t dtype, uint64_t count, const Value *const *items) {
    const host::ListError wrong = host::checkList(kind, dtype, count, items);
    if (wrong.text) {
      const int64_t item = static_cast<int64_t>(wrong.item);
      host->fail(this, wrong.text, &item, 1);
      return nullptr;
    }
    if (!claim("a sequence", count * sizeof(Value *)))
      return nullptr;
    Value *value = values->list(kind, dtype, count, items);
    if (!value)
      refuseMemory("a sequence", count * sizeof(Value *));
    return value;
  }
};

void *makeTensor(Call *call, uint32_t index, uint8_t dtype, uint32_t rank, const int64_t *dims) {
  NativeCall &c = NativeCall::of(call);
  if (!c.hasOutput(index))
    return nullptr;
  Value *value = c.tensor("a result", dtype, rank, dims, !c.onlyShapes);
  if (!value || !c.set(index, value))
    return nullptr;
  if (!c.onlyShapes)
    return value->data;
  // Not the last output: the kernel continues and requests the next one.
  static char somewhere;
  return c.complete() ? nullptr : &somewhere;
}

void share(Call *call, uint32_t index, const Value *source, uint32_t rank, const int64_t *dims) {
  NativeCall &c = NativeCall::of(call);
  uint64_t bytes, sourceBytes;
  if (!c.hasOutput(index))
    return;
  if (!source || source->kind != Kind::Tensor)
    return c.refuse("it shares the elements of what is no tensor");
  if (!tensorBytes(source->dtype, rank, dims, bytes))
    return c.refuse("the dims of a result are negative or too large");
  if (!tensorBytes(source->dtype, source->rank, source->dims, sourceBytes) || bytes > sourceBytes)
    return c.refuse("a result has more elements than the tensor it shares");
  Value *value = c.values->copyOf(*source);
  if (!c.set(index, value))
    return;
  value->rank = uint16_t(rank);
  std::copy_n(dims, rank, value->dims);
}

void forward(Call *call, uint32_t index, const Value *source) {
  NativeCall &c = NativeCall::of(call);
  if (c.hasOutput(index))
    c.set(index, source ? c.values->copyOf(*source) : c.values->none());
}

void makeSequence(Call *call, uint32_t index, Kind kind, uint8_t dtype, uint64_t count,
                  const Value *const *items) {
  NativeCall &c = NativeCall::of(call);
  if (Value *value = c.hasOutput(index) ? c.list(kind, dtype, count, items) : nullptr)
    c.set(index, value);
}

const Value *makeItem(Call *call, uint8_t dtype, uint32_t rank, const int64_t *dims) {
  return NativeCall::of(call).tensor("an item", dtype, rank, dims, /*withData=*/true);
}

void makeNone(Call *call, uint32_t index) { forward(call, index, nullptr); }

void *memoryOf(NativeCall &call, Values &values, const char *what, uint64_t bytes) {
  void *memory = call.claim(what, bytes) ? values.bytes(bytes) : nullptr;
  if (!memory)
    call.refuseMemory(what, bytes);
  return memory;
}

char *makeText(Call *call, uint64_t bytes) {
  NativeCall &c = NativeCall::of(call);
  return static_cast<char *>(memoryOf(c, *c.values, "strings", bytes));
}

void *scratch(Call *call, uint64_t bytes) {
  NativeCall &c = NativeCall::of(call);
  return memoryOf(c, c.temporaries, "scratch memory", bytes);
}

/// As in the runtime, a kernel does not go on with what tasks have not computed.
void parallel(Call *call, int64_t tasks, void (*task)(void *, int64_t, int64_t), void *arg) {
  NativeCall &c = NativeCall::of(call);
  if (tasks > 0)
    task(arg, 0, tasks);
  if (*c.error)
    _longjmp(c.left, 1);
}

void fail(Call *call, const char *text, const int64_t *numbers, uint32_t count) {
  NativeCall &c = NativeCall::of(call);
  char sentence[sizeof(c.error)];
  size_t used = 0;
  uint32_t next = 0;
  for (; *text && used + 1 < sizeof(sentence); ++text) {
    if (*text != '%' || next == count) {
      sentence[used++] = *text;
      continue;
    }
    const int n = std::snprintf(sentence + used, sizeof(sentence) - used, "%lld",
                                static_cast<long long>(numbers[next++]));
    used = std::min(used + static_cast<size_t>(std::max(n, 0)), sizeof(sentence) - 1);
  }
  sentence[used] = 0;
  c.refuse("%s", sentence);
}

uint64_t entropy(Call *) {
  static std::atomic<uint64_t> counter{0};
  return ++counter * 0x9e3779b97f4a7c15u;
}

const Value *makeMapItem(Call *call, const Value *keys, const Value *values) {
  const Value *const items[] = {keys, values};
  return NativeCall::of(call).list(Kind::Map, values ? values->dtype : uint8_t(0), 2, items);
}

/// Without room: all tensors of this host are dense.
void *append(Call *call, uint32_t index, const Value *past, uint32_t axis, int64_t added,
             int64_t *room) {
  int64_t dims[host::kMaxRank];
  std::copy_n(past->dims, past->rank, dims);
  if (axis >= past->rank || __builtin_add_overflow(dims[axis], added, &dims[axis])) {
    NativeCall::of(call).refuse("the dims of a result are negative or too large");
    return nullptr;
  }
  *room = dims[axis];
  auto *data = static_cast<char *>(makeTensor(call, index, past->dtype, past->rank, dims));
  if (!data || NativeCall::of(call).onlyShapes)
    return data;
  int64_t blocks = 1, unit = bytesOf(past->dtype, 1);
  for (uint32_t d = 0; d < past->rank; ++d)
    if (d != axis)
      (d < axis ? blocks : unit) *= past->dims[d];
  const auto block = static_cast<size_t>(past->dims[axis] * unit);
  for (int64_t i = 0; block && i < blocks; ++i)
    std::memcpy(data + i * *room * unit,
                static_cast<const char *>(past->data) + static_cast<size_t>(i) * block, block);
  return data;
}

int64_t roomOf(Call *, const Value *value, uint32_t axis) { return value->dims[axis]; }

constexpr host::Host nativeHost = {makeTensor, share,       forward, makeSequence, makeItem,
                                   makeNone,   makeText,    scratch, parallel,     fail,
                                   entropy,    makeMapItem, append,  roomOf};

} // namespace

Outcome run(const Row &row, const std::vector<const Value *> &inputs,
            const std::vector<host::Attribute> &attributes, unsigned outputs, uint32_t wanted,
            bool onlyShapes, Values &values, const void *body, uint64_t maxBytes) {
  Outcome outcome;
  outcome.outputs.resize(outputs);
  if (outputs > row.maxResults()) {
    outcome.error = "has " + std::to_string(outputs) + " outputs, expected at most " +
                    std::to_string(row.maxResults());
    return outcome;
  }
  NativeCall call;
  call.host = &nativeHost;
  call.inputCount = uint32_t(inputs.size());
  call.outputCount = outputs;
  call.attributeCount = uint32_t(attributes.size());
  call.wanted = wanted;
  call.inputs = inputs.data();
  call.attributes = attributes.data();
  call.body = body;
  call.values = &values;
  call.outcome = &outcome;
  call.onlyShapes = onlyShapes;
  call.maxBytes = call.bytesLeft = maxBytes;
  // A kernel has nothing to clean up when it is left (abi/HostKernel.h).
  if (_setjmp(call.left) == 0)
    row.kernel(&call);
  if (*call.error) {
    outcome.error = call.error;
    outcome.outputs.assign(outputs, nullptr);
  }
  return outcome;
}

} // namespace atc::kernels::native
