//===-- HostServices.cpp - what the host does for kernels -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "runtime-lite/src/HostServices.h"

#include "runtime-lite/src/Session.h"

#include <cstdio>
#include <cstring>

namespace atc::rt {

using host::Call;
using host::Value;

namespace {
struct Locked {
  explicit Locked(pthread_mutex_t &mutex) : mutex(mutex) { pthread_mutex_lock(&mutex); }
  ~Locked() { pthread_mutex_unlock(&mutex); }
  pthread_mutex_t &mutex;
};
} // namespace

const host::Host HostMachine::Services::table = {makeTensor, share,    forward,  makeSequence,
                                                 makeItem,   makeNone, makeText, scratch,
                                                 parallel,   fail,     entropy,  makeMapItem};

om_value *HostMachine::Services::tensor(HostMachine &machine, uint8_t dtype, uint32_t rank,
                                        const int64_t *dims) {
  om_status status;
  om_value *value =
      rt::makeTensor(&machine.memory, dtype, rank, dims, Elements::Fresh, nullptr, status);
  if (value)
    return value;
  // Dims are numbers that the model computes: they may be anything.
  if (status == OM_ERROR_MEMORY)
    machine.refuse(OM_ERROR_MEMORY, "there is no memory for its result");
  else
    machine.refuse(OM_ERROR_RUN, "the dims of its result are negative or too large");
  return nullptr;
}

/// A reference to an om_value; a copy of what is none, the tensor of an attribute.
om_value *HostMachine::Services::managed(HostMachine &machine, const Value &source) {
  if (isManaged(source)) {
    const auto *value = static_cast<const om_value *>(&source);
    retain(value);
    return const_cast<om_value *>(value);
  }
  om_value *copy = tensor(machine, source.dtype, source.rank, source.dims);
  uint64_t elements, bytes;
  if (copy && tensorSize(source.dtype, source.rank, source.dims, elements, bytes) && bytes)
    std::memcpy(copy->data, source.data, bytes);
  return copy;
}

void *HostMachine::Services::makeTensor(Call *call, uint32_t index, uint8_t dtype, uint32_t rank,
                                        const int64_t *dims) {
  HostMachine &machine = of(call);
  Locked locked(machine.lock);
  om_value *value = tensor(machine, dtype, rank, dims);
  if (!value)
    return nullptr;
  machine.setOutput(index, value);
  return value->data;
}

void HostMachine::Services::share(Call *call, uint32_t index, const Value *source, uint32_t rank,
                                  const int64_t *dims) {
  HostMachine &machine = of(call);
  om_value *whole = managed(machine, *source);
  if (!whole)
    return;
  om_status status;
  om_value *value = rt::makeTensor(&machine.memory, source->dtype, rank, dims, Elements::Elsewhere,
                                   whole->data, status);
  if (!value) {
    machine.refuse(status == OM_ERROR_MEMORY ? status : OM_ERROR_RUN,
                   "the dims of its result are negative or too large");
  } else {
    // Constants and borrowed inputs have no buffer; they outlive the run.
    value->buffer = whole->buffer;
    retain(value->buffer);
    machine.setOutput(index, value);
  }
  Memory::release(&machine.memory, whole);
}

void HostMachine::Services::forward(Call *call, uint32_t index, const Value *source) {
  if (!source)
    return makeNone(call, index);
  HostMachine &machine = of(call);
  if (om_value *value = managed(machine, *source))
    machine.setOutput(index, value);
}

void HostMachine::Services::makeSequence(Call *call, uint32_t index, host::Kind kind, uint8_t dtype,
                                         uint64_t count, const Value *const *items) {
  HostMachine &machine = of(call);
  Memory *memory = &machine.memory;
  Buffer *list =
      count < (uint64_t(1) << 40) ? Memory::makeBuffer(memory, count * sizeof(void *)) : nullptr;
  if (!list)
    return machine.refuse(OM_ERROR_MEMORY, "there is no memory for its result");
  auto **values = reinterpret_cast<om_value **>(list->data());
  uint64_t made = 0;
  while (made < count && items[made] && (values[made] = managed(machine, *items[made])))
    ++made;
  om_status status = OM_ERROR_ARGUMENT;
  om_value *sequence =
      made == count ? makeList(memory, kind, dtype, count, values, status) : nullptr;
  if (sequence)
    machine.setOutput(index, sequence);
  else if (status == OM_ERROR_MEMORY)
    machine.refuse(OM_ERROR_MEMORY, "there is no memory for its result");
  else
    machine.refuse(OM_ERROR_RUN, "its sequence has an item without a value, or is too deep");
  for (uint64_t i = 0; i < made; ++i)
    Memory::release(memory, values[i]);
  Memory::release(memory, list);
}

const Value *HostMachine::Services::makeItem(Call *call, uint8_t dtype, uint32_t rank,
                                             const int64_t *dims) {
  HostMachine &machine = of(call);
  Locked locked(machine.lock);
  om_value *value = tensor(machine, dtype, rank, dims);
  if (value) {
    value->next = machine.items;
    machine.items = value;
  }
  return value;
}

const Value *HostMachine::Services::makeMapItem(Call *call, const Value *keys,
                                                const Value *values) {
  HostMachine &machine = of(call);
  Locked locked(machine.lock);
  om_value *items[] = {managed(machine, *keys), managed(machine, *values)};
  om_status status = OM_ERROR_MEMORY;
  om_value *map = items[0] && items[1]
                      ? makeList(&machine.memory, host::Kind::Map, values->dtype, 2, items, status)
                      : nullptr;
  for (om_value *item : items)
    if (item)
      Memory::release(&machine.memory, item);
  if (map) {
    map->next = machine.items;
    machine.items = map;
  } else {
    machine.refuse(OM_ERROR_MEMORY, "there is no memory for its result");
  }
  return map;
}

void HostMachine::Services::makeNone(Call *call, uint32_t index) {
  HostMachine &machine = of(call);
  if (om_value *value = Memory::makeValue(&machine.memory))
    machine.setOutput(index, value);
  else
    machine.refuse(OM_ERROR_MEMORY, "there is no memory for its result");
}

/// Strings are short and many: they are cut from pieces.
char *HostMachine::Services::makeText(Call *call, uint64_t bytes) {
  constexpr uint64_t piece = 64 * 1024;
  HostMachine &machine = of(call);
  Locked locked(machine.lock);
  if (bytes > machine.textRoom || !machine.texts) {
    Buffer *buffer = Memory::makeBuffer(&machine.memory, bytes > piece ? bytes : piece);
    if (!buffer) {
      machine.refuse(OM_ERROR_MEMORY, "there is no memory for its strings");
      return nullptr;
    }
    buffer->next = machine.texts;
    machine.texts = buffer;
    machine.textRoom = buffer->bytes;
  }
  char *text = machine.texts->data() + (machine.texts->bytes - machine.textRoom);
  machine.textRoom -= bytes;
  return text;
}

void *HostMachine::Services::scratch(Call *call, uint64_t bytes) {
  HostMachine &machine = of(call);
  Locked locked(machine.lock);
  Buffer *buffer = Memory::makeBuffer(&machine.memory, bytes);
  if (!buffer) {
    machine.refuse(OM_ERROR_MEMORY, "there is no memory to compute it with");
    return nullptr;
  }
  buffer->next = machine.scratch;
  machine.scratch = buffer;
  return buffer->data();
}

/// Nobody knows what a task costs, so a first piece is run and measured: the rest is
/// shared where that is worth waking threads.
void HostMachine::Services::parallel(Call *call, int64_t tasks,
                                     void (*task)(void *, int64_t, int64_t), void *arg) {
  constexpr int64_t firstPart = 64, piecesPerThread = 4;
  HostMachine &machine = of(call);
  const int64_t threads = machine.session.threads();
  if (tasks <= 0)
    return;
  if (threads == 1 || tasks == 1 || machine.inParallel)
    return task(arg, 0, tasks);
  struct Rest {
    void (*task)(void *, int64_t, int64_t);
    void *arg;
    int64_t begin;
  } rest = {task, arg, 0};
  if (machine.serialNanoseconds) {
    rest.begin = tasks < firstPart ? 1 : tasks / firstPart;
    const uint64_t before = nowNanoseconds();
    task(arg, 0, rest.begin);
    const uint64_t took = nowNanoseconds() - before;
    if (took * static_cast<uint64_t>(tasks / rest.begin) < machine.serialNanoseconds)
      return task(arg, rest.begin, tasks);
    tasks -= rest.begin;
  }
  const int64_t pieces = tasks < threads * piecesPerThread ? tasks : threads * piecesPerThread;
  machine.inParallel = true;
  machine.session.runTasks(
      tasks, static_cast<uint32_t>(pieces < Pool::mostChunks ? pieces : Pool::mostChunks),
      [](void *argument, int64_t begin, int64_t end) {
        const Rest &work = *static_cast<const Rest *>(argument);
        work.task(work.arg, work.begin + begin, work.begin + end);
      },
      &rest);
  machine.inParallel = false;
}

void HostMachine::Services::fail(Call *call, const char *text, const int64_t *numbers,
                                 uint32_t count) {
  char sentence[400];
  size_t used = 0;
  uint32_t next = 0;
  for (; *text && used + 1 < sizeof(sentence); ++text) {
    if (*text != '%' || next == count) {
      sentence[used++] = *text;
      continue;
    }
    int n = std::snprintf(sentence + used, sizeof(sentence) - used, "%lld",
                          static_cast<long long>(numbers[next++]));
    used += n < 0 ? 0 : static_cast<size_t>(n);
    used = used < sizeof(sentence) ? used : sizeof(sentence) - 1;
  }
  sentence[used] = 0;
  HostMachine &machine = of(call);
  Locked locked(machine.lock);
  machine.refuse(OM_ERROR_RUN, sentence);
}

/// SplitMix64.
uint64_t HostMachine::Services::entropy(Call *call) {
  uint64_t mixed = of(call).seed += 0x9E3779B97F4A7C15u;
  mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9u;
  mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EBu;
  return mixed ^ (mixed >> 31);
}

} // namespace atc::rt
