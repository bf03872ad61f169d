//===-- host_kernels.cpp - host kernels for the runtime's tests -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Linked with kernels.c into the image of the test models; no library is there.

#include "runtime-lite/abi/HostKernel.h"

using namespace atc::host;

namespace {
constexpr uint8_t F32 = 1, I64 = 7, Text = 8, Bool = 9, F64 = 11, U32 = 12;

int64_t count(const Value &value) {
  int64_t product = 1;
  for (uint32_t i = 0; i < value.rank; ++i)
    product *= value.dims[i];
  return product;
}
template <typename T> const T *data(const Value *value) {
  return static_cast<const T *>(value->data);
}
template <typename T>
T *result(Call *call, uint32_t index, uint8_t dtype, uint32_t rank, const int64_t *dims) {
  return static_cast<T *>(call->host->makeTensor(call, index, dtype, rank, dims));
}
bool isNamed(const Attribute &attribute, const char *name) {
  const char *a = attribute.name;
  for (; *a && *a == *name; ++a, ++name) {
  }
  return *a == *name;
}
} // namespace

extern "C" {

/// y = x + 1, on all threads.
void host_add_one(Call *call) {
  const Value &x = *call->inputs[0];
  struct Arg {
    const float *x;
    float *y;
  } arg = {data<float>(&x), result<float>(call, 0, F32, x.rank, x.dims)};
  if (!arg.y)
    return;
  call->host->parallel(
      call, count(x),
      [](void *given, int64_t begin, int64_t end) {
        const Arg &a = *static_cast<const Arg *>(given);
        for (int64_t i = begin; i < end; ++i)
          a.y[i] = a.x[i] + 1;
      },
      &arg);
}

/// Appends input 1 to input 0 along axis 1, and sums all elements of the result. It has the name of
/// a kernel that takes tensors with room.
void KvAttention(Call *call) {
  const Value &past = *call->inputs[0], &fresh = *call->inputs[1];
  const int64_t batch = past.dims[0], before = past.dims[1], added = fresh.dims[1],
                size = past.dims[2];
  float *sum = result<float>(call, 1, F32, 0, nullptr);
  int64_t room;
  auto *all = static_cast<float *>(call->host->append(call, 0, &past, 1, added, &room));
  if (!sum || !all)
    return;
  const int64_t pastRoom = call->host->roomOf(call, &past, 1);
  *sum = 0;
  for (int64_t b = 0; b < batch; ++b) {
    for (int64_t i = 0; i < before * size; ++i)
      *sum += data<float>(&past)[b * pastRoom * size + i];
    for (int64_t i = 0; i < added * size; ++i) {
      const float value = data<float>(&fresh)[b * added * size + i];
      all[(b * room + before) * size + i] = value;
      *sum += all[(b * room + before) * size + i];
    }
  }
}

/// n -> 0 .. n-1
void host_range(Call *call) {
  const int64_t n = *data<int64_t>(call->inputs[0]);
  if (int64_t *y = result<int64_t>(call, 0, I64, 1, &n))
    for (int64_t i = 0; i < n; ++i)
      y[i] = i;
}

/// dims -> zeros of them
void host_zeros(Call *call) {
  const Value &dims = *call->inputs[0];
  if (float *y =
          result<float>(call, 0, F32, static_cast<uint32_t>(count(dims)), data<int64_t>(&dims)))
    for (int64_t i = 0, n = count(*call->inputs[0]); i < n; ++i)
      for (int64_t j = 0; j < data<int64_t>(&dims)[i]; ++j)
        *y = 0;
}

/// a < b
void host_less(Call *call) {
  if (uint8_t *y = result<uint8_t>(call, 0, Bool, 0, nullptr))
    *y = *data<int64_t>(call->inputs[0]) < *data<int64_t>(call->inputs[1]);
}

/// a + the attribute "step"
void host_step(Call *call) {
  int64_t step = 1;
  for (uint32_t i = 0; i < call->attributeCount; ++i)
    if (isNamed(call->attributes[i], "step"))
      step = *static_cast<const int64_t *>(call->attributes[i].data);
  if (int64_t *y = result<int64_t>(call, 0, I64, 0, nullptr))
    *y = *data<int64_t>(call->inputs[0]) + step;
}

/// x, dims -> x under other dims
void host_reshape(Call *call) {
  const Value &dims = *call->inputs[1];
  call->host->share(call, 0, call->inputs[0], static_cast<uint32_t>(count(dims)),
                    data<int64_t>(&dims));
}

void host_forward(Call *call) { call->host->forward(call, 0, call->inputs[0]); }
void host_none(Call *call) { call->host->makeNone(call, 0); }
void host_silent(Call *) {}

/// Element by element: a, then b. b may be left out.
void host_join(Call *call) {
  const Value &a = *call->inputs[0];
  const Value *b = call->inputCount > 1 ? call->inputs[1] : nullptr;
  String *y = result<String>(call, 0, Text, a.rank, a.dims);
  if (!y)
    return;
  for (int64_t i = 0; i < count(a); ++i) {
    const String none = {nullptr, 0};
    const String parts[2] = {data<String>(&a)[i], b ? data<String>(b)[i] : none};
    if (!b) { // the reference lives long enough
      y[i] = parts[0];
      continue;
    }
    char *text = call->host->makeText(call, parts[0].size + parts[1].size);
    if (!text)
      return;
    y[i] = {text, parts[0].size + parts[1].size};
    for (const String &part : parts)
      for (uint64_t c = 0; c < part.size; ++c) {
        volatile char *to = text++; // no call of memcpy
        *to = part.data[c];
      }
  }
}

/// x[n] -> a sequence of n scalars
void host_unstack(Call *call) {
  const Value *items[64];
  const int64_t n = call->inputs[0]->dims[0];
  if (n > 64) {
    const int64_t numbers[] = {n, 64};
    call->host->fail(call, "% items are more than %", numbers, 2);
    return;
  }
  for (int64_t i = 0; i < n; ++i) {
    items[i] = call->host->makeItem(call, F32, 0, nullptr);
    if (!items[i])
      return;
    *static_cast<float *>(items[i]->data) = data<float>(call->inputs[0])[i];
  }
  call->host->makeSequence(call, 0, Kind::Sequence, F32, static_cast<uint64_t>(n), items);
}

/// a sequence or none, x -> the sequence with x behind it
void host_append(Call *call) {
  const Value *items[64];
  uint64_t n = 0;
  if (call->inputs[0] && call->inputs[0]->kind == Kind::Sequence)
    for (; n < 63 && n < static_cast<uint64_t>(call->inputs[0]->dims[0]); ++n)
      items[n] = data<const Value *>(call->inputs[0])[n];
  items[n++] = call->inputs[1];
  call->host->makeSequence(call, 0, Kind::Sequence, call->inputs[1]->dtype, n, items);
}

/// A sequence in a sequence.
void host_wrap(Call *call) {
  call->host->makeSequence(call, 0, Kind::Sequence, 0, 1, call->inputs);
}

/// keys, values -> a sequence of one map
void host_maps(Call *call) {
  if (const Value *map = call->host->makeMapItem(call, call->inputs[0], call->inputs[1]))
    call->host->makeSequence(call, 0, Kind::Sequence, 0, 1, &map);
}

/// Outputs the contents of its attributes: the tensor itself, the strings, the sums of numbers.
void host_attributes(Call *call) {
  const int64_t one = 1;
  for (uint32_t i = 0; i < call->attributeCount; ++i) {
    const Attribute &attribute = call->attributes[i];
    switch (attribute.kind) {
    case AttributeKind::Tensors:
      call->host->forward(call, 0, static_cast<const Value *>(attribute.data));
      break;
    case AttributeKind::Strings: {
      const int64_t n = static_cast<int64_t>(attribute.count);
      if (String *y = result<String>(call, 1, Text, 1, &n))
        for (int64_t s = 0; s < n; ++s)
          y[s] = static_cast<const String *>(attribute.data)[s];
      break;
    }
    case AttributeKind::Floats:
      if (double *y = result<double>(call, 2, F64, 1, &one)) {
        y[0] = 0;
        for (uint64_t f = 0; f < attribute.count; ++f)
          y[0] += static_cast<const double *>(attribute.data)[f];
      }
      break;
    case AttributeKind::Ints:
      break;
    }
  }
}

/// n -> how often each of the three parts of each of n tasks has run. Each part has a counter of
/// its own, because the parts of a task may run on several threads at once.
void host_count_tasks(Call *call) {
  constexpr int64_t parts = 3;
  const int64_t n = *data<int64_t>(call->inputs[0]), counters = n * parts;
  struct Arg {
    Call *call;
    volatile uint32_t *counts; ///< [n][parts]
  } arg = {call, result<uint32_t>(call, 0, U32, 1, &counters)};
  if (!arg.counts)
    return;
  for (int64_t i = 0; i < counters; ++i)
    arg.counts[i] = 0;
  call->host->parallel(
      call, n,
      [](void *given, int64_t begin, int64_t end) {
        Arg &a = *static_cast<Arg *>(given);
        if (!a.call->host->scratch(a.call, 100))
          return;
        for (int64_t i = begin; i < end; ++i)
          a.call->host->parallel(
              a.call, parts,
              [](void *counts, int64_t from, int64_t to) {
                for (int64_t part = from; part < to; ++part) {
                  volatile uint32_t &count = static_cast<volatile uint32_t *>(counts)[part];
                  count = count + 1;
                }
              },
              const_cast<uint32_t *>(a.counts + i * parts));
      },
      &arg);
}

/// Two numbers that differ.
void host_random(Call *call) {
  const int64_t two = 2;
  if (int64_t *y = result<int64_t>(call, 0, I64, 1, &two)) {
    y[0] = static_cast<int64_t>(call->host->entropy(call));
    y[1] = static_cast<int64_t>(call->host->entropy(call));
  }
}

/// y = body(x); says in the second output whether it is wanted.
void host_map(Call *call) {
  const Value &x = *call->inputs[0];
  float *y = result<float>(call, 0, F32, x.rank, x.dims);
  if (!y)
    return;
  void *const buffers[] = {x.data, y};
  reinterpret_cast<GeneratedCode>(const_cast<void *>(call->body))(buffers, nullptr, 0, count(x));
  if (uint8_t *wanted = call->wanted & 2 ? result<uint8_t>(call, 1, Bool, 0, nullptr) : nullptr)
    *wanted = 1;
}

/// A body for it.
void host_body_twice(void *const *buffers, void *, int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end; ++i)
    static_cast<float *>(buffers[1])[i] = 2 * static_cast<const float *>(buffers[0])[i];
}

/// n -> nothing, by way of n bytes of scratch memory.
void host_scratch(Call *call) {
  if (call->host->scratch(call, static_cast<uint64_t>(*data<int64_t>(call->inputs[0]))))
    call->host->makeNone(call, 0);
}

/// n -> n, after n tasks of about a millisecond. Fails where a task has not run.
void host_slow_tasks(Call *call) {
  const int64_t n = *data<int64_t>(call->inputs[0]);
  struct Arg {
    volatile uint8_t *ran;
  } arg = {static_cast<volatile uint8_t *>(call->host->scratch(call, static_cast<uint64_t>(n)))};
  if (!arg.ran)
    return;
  for (int64_t i = 0; i < n; ++i)
    arg.ran[i] = 0;
  call->host->parallel(
      call, n,
      [](void *given, int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          for (volatile int spent = 0; spent < 500000;)
            spent = spent + 1;
          static_cast<Arg *>(given)->ran[i] = 1;
        }
      },
      &arg);
  for (int64_t i = 0; i < n; ++i)
    if (!arg.ran[i])
      return call->host->fail(call, "task % has not run", &i, 1);
  call->host->forward(call, 0, call->inputs[0]);
}

/// How many of two tasks have begun before one ends; each waits for the other, for n steps at most.
void host_meet(Call *call) {
  struct Arg {
    int64_t steps;
    int32_t begun = 0, met = 0;
  } arg = {*data<int64_t>(call->inputs[0])};
  call->host->parallel(
      call, 2,
      [](void *given, int64_t begin, int64_t end) {
        Arg &a = *static_cast<Arg *>(given);
        for (int64_t i = begin; i < end; ++i) {
          __atomic_fetch_add(&a.begun, 1, __ATOMIC_SEQ_CST);
          for (int64_t step = 0; step < a.steps; ++step)
            if (__atomic_load_n(&a.begun, __ATOMIC_SEQ_CST) == 2)
              break;
          // The second of tasks that run one after the other finds both begun, too.
          if (i == 0)
            a.met = __atomic_load_n(&a.begun, __ATOMIC_SEQ_CST);
        }
      },
      &arg);
  const int64_t one = 1;
  if (int64_t *y = result<int64_t>(call, 0, I64, 1, &one))
    y[0] = arg.met;
}

/// n, and n tasks of which the last fails; what comes behind them must not run.
void host_task_fails(Call *call) {
  const int64_t n = *data<int64_t>(call->inputs[0]);
  struct Arg {
    Call *call;
    int64_t n;
  } arg = {call, n};
  call->host->parallel(
      call, n,
      [](void *given, int64_t, int64_t end) {
        Arg &a = *static_cast<Arg *>(given);
        if (end == a.n)
          a.call->host->scratch(a.call, uint64_t(1) << 62);
      },
      &arg);
  *static_cast<volatile int *>(nullptr) = 1;
}

/// Does what a kernel must not do; the first input says which of it. The others are
/// a tensor of f32, one of i64, and a sequence.
void host_break(Call *call) {
  const Host &host = *call->host;
  const Value *x = call->inputs[1], *number = call->inputs[2], *sequence = call->inputs[3];
  const Value *mixed[] = {x, number}, *hole[] = {x, nullptr}, *kinds[] = {x, sequence},
              *three[] = {x, x, x};
  const int64_t two[] = {1, 2};
  switch (*data<int64_t>(call->inputs[0])) {
  case 0:
    return host.makeSequence(call, 0, Kind::Sequence, F32, 2, mixed);
  case 1:
    return host.makeSequence(call, 0, Kind::Sequence, I64, 1, &x);
  case 2:
    return host.makeSequence(call, 0, Kind::Sequence, F32, 2, hole);
  case 3:
    return host.makeSequence(call, 0, Kind::Sequence, F32, 2, kinds);
  case 4:
    return host.makeSequence(call, 0, Kind::Map, F32, 3, three);
  case 5:
    return host.makeSequence(call, 0, Kind::Tensor, F32, 1, &x);
  case 6:
    if (host.makeMapItem(call, x, sequence))
      host.makeNone(call, 0);
    return;
  case 7:
    if (host.makeMapItem(call, x, nullptr))
      host.makeNone(call, 0);
    return;
  case 8: // the number is a scalar, and not of rank 1
    if (host.makeMapItem(call, number, number))
      host.makeNone(call, 0);
    return;
  case 9:
    return host.share(call, 0, sequence, 0, nullptr);
  case 10:
    return host.share(call, 0, number, 2, two);
  case 11:
    if (host.makeTensor(call, 9, F32, 0, nullptr))
      host.makeNone(call, 0);
    return;
  case 12:
    return host.share(call, 9, x, x->rank, x->dims);
  case 13:
    return host.forward(call, 9, x);
  case 14:
    return host.makeSequence(call, 9, Kind::Sequence, F32, 1, &x);
  case 15:
    return host.makeNone(call, 9);
  }
}
}
