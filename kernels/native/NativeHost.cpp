//===-- NativeHost.cpp - runs host kernels in this process ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "kernels/native/NativeHost.h"

#include "kernels/core/Contracts.h"
#include "kernels/core/Numbers.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <map>
#include <new>

#define KERNEL(Name, Attributes, Results, Inputs)                                                  \
  extern "C" void atc_kernel_##Name(atc::host::Call *);
#include "kernels/Kernels.def"

/// In this process all element types can occur.
extern "C" const uint64_t atc_kernel_types = ~uint64_t(0);

namespace atc::kernels::native {

using host::Call;
using host::Kind;
using host::Value;

const std::vector<Row> &allRows() {
  static const std::vector<Row> rows = {
#define KERNEL(Name, Attributes, Results, Inputs)                                                  \
  {#Name,                                                                                          \
   Attributes,                                                                                     \
   Results,                                                                                        \
   Inputs,                                                                                         \
   &ContractOf<Name##Signature, Name##Entries>::value,                                             \
   atc_kernel_##Name},
#include "kernels/Kernels.def"
  };
  return rows;
}

const Row *find(std::string_view name) {
  static const auto map = [] {
    std::map<std::string_view, const Row *> all;
    for (const Row &row : allRows())
      all[row.name] = &row;
    return all;
  }();
  auto found = map.find(name);
  return found == map.end() ? nullptr : found->second;
}

uint32_t Row::maxResults() const {
  const std::string_view text = results;
  if (text.ends_with('*'))
    return ~0u;
  return uint32_t(std::count(text.begin(), text.end(), ' ')) + !text.empty();
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

void Values::Free::operator()(void *memory) const { std::free(memory); }

void *Values::bytes(size_t count) {
  size_t size = (std::max<size_t>(count, 1) + 63) / 64 * 64;
  void *result = size < count ? nullptr : std::aligned_alloc(64, size);
  // Who asks for much checks the result; names and numbers are taken for granted, like those that
  // operator new makes.
  constexpr size_t small = 1 << 16;
  if (!result && size <= small)
    if (std::new_handler handler = std::get_new_handler())
      handler();
  if (result) {
    std::memset(result, 0, size);
    memory.emplace_back(result);
  }
  return result;
}

Value *Values::tensor(uint8_t dtype, uint32_t rank, const int64_t *dims, bool withData) {
  constexpr int64_t mostElements = int64_t(1) << 40;
  Value value = {};
  value.kind = Kind::Tensor;
  value.dtype = dtype;
  value.rank = uint16_t(rank);
  int64_t count = 1;
  for (uint32_t i = 0; i < rank; ++i) {
    value.dims[i] = dims[i];
    if (__builtin_mul_overflow(count, dims[i], &count) || count > mostElements)
      return nullptr;
  }
  if (withData && !(value.data = bytes(bytesOf(dtype, count))))
    return nullptr;
  return &values.emplace_back(value);
}

Value *Values::list(Kind kind, uint8_t dtype, size_t count, const Value *const *items) {
  Value value = {};
  value.kind = kind;
  value.dtype = dtype;
  value.rank = 1;
  value.dims[0] = int64_t(count);
  value.data = bytes(count * sizeof(Value *));
  if (count)
    std::memcpy(value.data, items, count * sizeof(Value *));
  return &values.emplace_back(value);
}

Value *Values::none() { return &values.emplace_back(Value{}); }
Value *Values::copyOf(const Value &value) { return &values.emplace_back(value); }

//===----------------------------------------------------------------------===//
// The host
//===----------------------------------------------------------------------===//

namespace {

struct NativeCall : Call {
  Values *values;
  Outcome *outcome;
  std::vector<std::unique_ptr<Values>> temporaries;
  bool onlyShapes;

  static NativeCall &of(Call *call) { return *static_cast<NativeCall *>(call); }
  /// In a call for shapes only, whether every wanted output has one by now.
  bool complete() const {
    for (uint32_t i = 0; i < outputCount; ++i)
      if ((i >= 32 || (wanted >> i & 1)) && !outcome->outputs[i])
        return false;
    return true;
  }
  void set(uint32_t index, Value *value) {
    if (index < outputCount)
      outcome->outputs[index] = value;
  }
};

void *makeTensor(Call *call, uint32_t index, uint8_t dtype, uint32_t rank, const int64_t *dims) {
  NativeCall &c = NativeCall::of(call);
  Value *value = c.values->tensor(dtype, rank, dims, !c.onlyShapes);
  if (!value) {
    c.outcome->error = "there is no memory for output " + std::to_string(index);
    return nullptr;
  }
  c.set(index, value);
  if (!c.onlyShapes)
    return value->data;
  // Not the last output: the kernel goes on to ask for the next one.
  static char somewhere;
  return c.complete() ? nullptr : &somewhere;
}

void share(Call *call, uint32_t index, const Value *source, uint32_t rank, const int64_t *dims) {
  NativeCall &c = NativeCall::of(call);
  Value *value = c.values->copyOf(*source);
  value->rank = uint16_t(rank);
  for (uint32_t i = 0; i < rank; ++i)
    value->dims[i] = dims[i];
  c.set(index, value);
}

void forward(Call *call, uint32_t index, const Value *source) {
  NativeCall &c = NativeCall::of(call);
  c.set(index, source ? c.values->copyOf(*source) : c.values->none());
}

void makeSequence(Call *call, uint32_t index, Kind kind, uint8_t dtype, uint64_t count,
                  const Value *const *items) {
  NativeCall &c = NativeCall::of(call);
  c.set(index, c.values->list(kind, dtype, count, items));
}

const Value *makeItem(Call *call, uint8_t dtype, uint32_t rank, const int64_t *dims) {
  NativeCall &c = NativeCall::of(call);
  return c.values->tensor(dtype, rank, dims);
}

void makeNone(Call *call, uint32_t index) {
  NativeCall &c = NativeCall::of(call);
  c.set(index, c.values->none());
}

char *makeText(Call *call, uint64_t bytes) {
  return static_cast<char *>(NativeCall::of(call).values->bytes(bytes));
}

void *scratch(Call *call, uint64_t bytes) {
  auto &temporaries = NativeCall::of(call).temporaries;
  return temporaries.emplace_back(std::make_unique<Values>())->bytes(bytes);
}

void parallel(Call *, int64_t tasks, void (*task)(void *, int64_t, int64_t), void *arg) {
  if (tasks > 0)
    task(arg, 0, tasks);
}

void fail(Call *call, const char *text, const int64_t *numbers, uint32_t count) {
  std::string &error = NativeCall::of(call).outcome->error;
  error.clear();
  uint32_t next = 0;
  for (; *text; ++text) {
    if (*text == '%' && next < count)
      error += std::to_string(numbers[next++]);
    else
      error += *text;
  }
}

uint64_t entropy(Call *) {
  static std::atomic<uint64_t> counter{0};
  return ++counter * 0x9e3779b97f4a7c15u;
}

const Value *makeMapItem(Call *call, const Value *keys, const Value *values) {
  const Value *const items[] = {keys, values};
  return NativeCall::of(call).values->list(Kind::Map, values->dtype, 2, items);
}

constexpr host::Host nativeHost = {makeTensor, share,    forward,  makeSequence,
                                   makeItem,   makeNone, makeText, scratch,
                                   parallel,   fail,     entropy,  makeMapItem};

} // namespace

Outcome run(const Row &row, const std::vector<const Value *> &inputs,
            const std::vector<host::Attribute> &attributes, unsigned outputs, uint32_t wanted,
            bool onlyShapes, Values &values, const void *body) {
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
  row.kernel(&call);
  if (!outcome.error.empty())
    outcome.outputs.assign(outputs, nullptr);
  return outcome;
}

} // namespace atc::kernels::native
