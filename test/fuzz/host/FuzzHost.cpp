//===-- FuzzHost.cpp - what the host of a fuzz program does ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "test/fuzz/host/FuzzHost.h"

#include "runtime-lite/abi/HostValueRules.h"

#include <algorithm>
#include <cstdio>

namespace atc::fuzz {

namespace {

/// As in every host, a request that cannot be met fails the call: kernels just return.
template <typename T> T *orFail(host::Call *call, T *made) {
  if (!made)
    FuzzCall::of(call).error = "there is no memory";
  return made;
}

void *makeTensor(host::Call *call, uint32_t i, uint8_t dtype, uint32_t rank, const int64_t *dims) {
  host::Value *value = orFail(call, FuzzCall::of(call).memory.tensor(dtype, rank, dims));
  if (!value)
    return nullptr;
  FuzzCall &fuzz = FuzzCall::of(call);
  if (dtype == kernels::Str)
    std::memset(value->data, 0, size_t(kernels::Tensor(value).count()) * sizeof(host::String));
  fuzz.set(i, value);
  bool complete = true;
  for (const host::Value *made : fuzz.made)
    complete = complete && made;
  // Behind an output that is not the last one nothing may be written either.
  return fuzz.onlyShapes ? (complete ? nullptr : fuzz.memory.make(0)) : value->data;
}
void share(host::Call *call, uint32_t i, const host::Value *source, uint32_t rank,
           const int64_t *dims) {
  int64_t own = 1, other = 1;
  for (uint32_t d = 0; d < source->rank; ++d)
    own *= source->dims[d];
  for (uint32_t d = 0; d < rank; ++d)
    if (dims[d] < 0 || __builtin_mul_overflow(other, dims[d], &other))
      std::abort();
  if (own != other) {
    std::fprintf(stderr, "a value is shared with another number of elements\n");
    std::abort();
  }
  if (host::Value *value = FuzzCall::of(call).memory.value()) {
    *value = *source;
    value->rank = uint16_t(rank);
    std::memcpy(value->dims, dims, rank * sizeof(int64_t));
    FuzzCall::of(call).set(i, value);
  }
}
void forward(host::Call *call, uint32_t i, const host::Value *source) {
  FuzzCall::of(call).set(i, const_cast<host::Value *>(source));
}
host::Value *list(FuzzCall &call, host::Kind kind, uint8_t dtype, uint64_t count,
                  const host::Value *const *items) {
  host::Value *value = call.memory.value();
  char *data = call.memory.make(count * sizeof(void *));
  if (!orFail(&call, value) || !orFail(&call, data))
    return nullptr;
  if (const char *error = host::checkList(kind, dtype, count, items).text) {
    std::fprintf(stderr, "a kernel makes a list in which %s\n", error);
    std::abort();
  }
  if (count)
    std::memcpy(data, items, count * sizeof(void *));
  value->kind = kind;
  value->dtype = dtype;
  value->rank = 1;
  value->dims[0] = int64_t(count);
  value->data = data;
  return value;
}
void makeSequence(host::Call *call, uint32_t i, host::Kind kind, uint8_t dtype, uint64_t count,
                  const host::Value *const *items) {
  FuzzCall::of(call).set(i, list(FuzzCall::of(call), kind, dtype, count, items));
}
const host::Value *makeItem(host::Call *call, uint8_t dtype, uint32_t rank, const int64_t *dims) {
  return orFail(call, FuzzCall::of(call).memory.tensor(dtype, rank, dims));
}
void makeNone(host::Call *call, uint32_t i) {
  FuzzCall::of(call).set(i, FuzzCall::of(call).memory.value());
}
char *makeText(host::Call *call, uint64_t bytes) {
  return orFail(call, FuzzCall::of(call).memory.make(bytes));
}
void *scratch(host::Call *call, uint64_t bytes) {
  return orFail(call, FuzzCall::of(call).memory.make(bytes));
}
constexpr const char *kStopped = "is stopped";
void parallel(host::Call *call, int64_t tasks, void (*task)(void *, int64_t, int64_t), void *arg) {
  // A host may stop a call between its pieces, as a session with a deadline does. What the call
  // has taken before counts as well: large products have many parallel parts.
  FuzzCall &own = FuzzCall::of(call);
  const int64_t piece = tasks / 256 + 1;
  for (int64_t begin = 0; begin < tasks && own.error != kStopped; begin += piece) {
    task(arg, begin, std::min(begin + piece, tasks));
    if (std::clock() - own.start > 2 * CLOCKS_PER_SEC)
      own.error = kStopped;
  }
}
void fail(host::Call *call, const char *text, const int64_t *, uint32_t) {
  FuzzCall::of(call).error = text;
}
uint64_t entropy(host::Call *) { return 42; }
const host::Value *makeMapItem(host::Call *call, const host::Value *keys,
                               const host::Value *values) {
  const host::Value *const items[] = {keys, values};
  return list(FuzzCall::of(call), host::Kind::Map, values->dtype, 2, items);
}
void *append(host::Call *call, uint32_t i, const host::Value *past, uint32_t axis, int64_t added,
             int64_t *room) {
  int64_t dims[host::kMaxRank];
  std::copy_n(past->dims, past->rank, dims);
  if (axis >= past->rank || __builtin_add_overflow(dims[axis], added, &dims[axis]))
    return nullptr;
  *room = dims[axis];
  auto *data = static_cast<char *>(makeTensor(call, i, past->dtype, past->rank, dims));
  int64_t blocks = 1, unit = kernels::bytesOf(past->dtype, 1);
  for (uint32_t d = 0; d < past->rank; ++d)
    if (d != axis)
      (d < axis ? blocks : unit) *= past->dims[d];
  const int64_t block = past->dims[axis] * unit;
  for (int64_t b = 0; data && block && b < blocks; ++b)
    std::memcpy(data + b * *room * unit, static_cast<const char *>(past->data) + b * block,
                size_t(block));
  return data;
}
int64_t roomOf(host::Call *, const host::Value *value, uint32_t axis) { return value->dims[axis]; }
} // namespace

const host::Host FuzzCall::services = {makeTensor, share,       forward, makeSequence, makeItem,
                                       makeNone,   makeText,    scratch, parallel,     fail,
                                       entropy,    makeMapItem, append,  roomOf};

uint64_t readAll(const host::Value *value, int depth) {
  uint64_t sum = 0;
  if (!value || value->kind == host::Kind::None || depth > 4)
    return 0;
  if (value->kind != host::Kind::Tensor) {
    // Millions of items may be one tensor of zeros.
    const auto *items = static_cast<const host::Value *const *>(value->data);
    uint64_t last = 0;
    for (int64_t i = 0; items && i < value->dims[0]; ++i)
      sum += last = i && items[i] == items[i - 1] ? last : readAll(items[i], depth + 1);
    return sum;
  }
  const int64_t count = kernels::Tensor(value).count();
  if (!value->data)
    return 0;
  if (value->dtype == kernels::Str) {
    for (int64_t i = 0; i < count; ++i) {
      const auto &text = static_cast<const host::String *>(value->data)[i];
      for (uint64_t k = 0; k < text.size; ++k)
        sum += uint8_t(text.data[k]);
    }
    return sum;
  }
  const auto *bytes = static_cast<const uint8_t *>(value->data);
  for (int64_t i = 0, all = kernels::bytesOf(value->dtype, count); i < all; ++i)
    sum += bytes[i];
  return sum;
}

} // namespace atc::fuzz
