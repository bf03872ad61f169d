//===-- HostServices.cpp - what the host does for kernels -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "runtime-lite/src/host/HostServices.h"

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

const host::Host HostMachine::Services::table = {
    makeTensor, share,    forward, makeSequence, makeItem,    makeNone, makeText,
    scratch,    parallel, fail,    entropy,      makeMapItem, append,   roomOf};

om_value *HostMachine::Services::tensor(HostMachine &machine, uint8_t dtype, uint32_t rank,
                                        const int64_t *dims) {
  om_status status;
  om_value *value =
      rt::makeTensor(&machine.memory, dtype, rank, dims, Elements::Fresh, nullptr, status);
  if (value)
    return value;
  // The model computes the dims, so they may be any values.
  if (status == OM_ERROR_MEMORY) {
    uint64_t elements = 0, bytes = 0;
    tensorSize(dtype, rank, dims, elements, bytes);
    machine.refuseMemory("the result", bytes);
  } else {
    machine.refuse(OM_ERROR_RUN, "the dims of its result are negative or too large");
  }
  return nullptr;
}

/// Returns a reference to an om_value, or a copy of another value, such as the tensor of an
/// attribute.
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
  om_value *value = machine.hasOutput(index) ? tensor(machine, dtype, rank, dims) : nullptr;
  if (!value)
    return nullptr;
  machine.setOutput(index, value);
  return value->data;
}

void HostMachine::Services::share(Call *call, uint32_t index, const Value *source, uint32_t rank,
                                  const int64_t *dims) {
  HostMachine &machine = of(call);
  Locked locked(machine.lock);
  if (!machine.hasOutput(index))
    return;
  if (!source || source->kind != host::Kind::Tensor)
    return machine.refuse(OM_ERROR_RUN, "it shares the elements of what is no tensor");
  uint64_t elements, bytes, sourceBytes;
  if (!tensorSize(source->dtype, rank, dims, elements, bytes))
    return machine.refuse(OM_ERROR_RUN, "the dims of its result are negative or too large");
  if (!tensorSize(source->dtype, source->rank, source->dims, elements, sourceBytes) ||
      bytes > sourceBytes)
    return machine.refuse(OM_ERROR_RUN, "its result has more elements than the tensor it shares");
  om_value *whole = managed(machine, *source);
  if (!whole)
    return;
  om_status status;
  om_value *value = rt::makeTensor(&machine.memory, source->dtype, rank, dims, Elements::Elsewhere,
                                   whole->data, status);
  if (value) {
    // Constants and borrowed inputs have no buffer; they outlive the run.
    value->buffer = whole->buffer;
    retain(value->buffer);
    machine.setOutput(index, value);
  } else {
    machine.refuseMemory("the result", sizeof(om_value));
  }
  Memory::release(&machine.memory, whole);
}

void HostMachine::Services::forward(Call *call, uint32_t index, const Value *source) {
  if (!source)
    return makeNone(call, index);
  HostMachine &machine = of(call);
  Locked locked(machine.lock);
  om_value *value = machine.hasOutput(index) ? managed(machine, *source) : nullptr;
  if (value)
    machine.setOutput(index, value);
}

/// Makes a list of values that kernels may refer to: references, and copies of values that are not
/// om_values. Returns null after a refusal.
om_value *HostMachine::Services::list(HostMachine &machine, host::Kind kind, uint8_t dtype,
                                      uint64_t count, const Value *const *items) {
  Memory *memory = &machine.memory;
  Buffer *buffer =
      count < (uint64_t(1) << 40) ? Memory::makeBuffer(memory, count * sizeof(void *)) : nullptr;
  if (!buffer) {
    machine.refuseMemory("the result", count * sizeof(void *));
    return nullptr;
  }
  auto **values = reinterpret_cast<om_value **>(buffer->data());
  uint64_t made = 0;
  while (made < count && items[made] && (values[made] = managed(machine, *items[made])))
    ++made;
  om_value *result = nullptr;
  om_status status = OM_ERROR_ARGUMENT;
  host::ListError wrong = {"item % of the sequence has no value", made};
  if (made == count)
    result = makeList(memory, kind, dtype, count, values, status, wrong);
  const auto number = static_cast<int64_t>(wrong.item);
  if (!result && status == OM_ERROR_MEMORY)
    machine.refuseMemory("the result", count * sizeof(void *));
  else if (!result) // an earlier refusal has been reported already
    failWith(machine, wrong.text, &number, 1);
  for (uint64_t i = 0; i < made; ++i)
    Memory::release(memory, values[i]);
  Memory::release(memory, buffer);
  return result;
}

/// Changes one tensor of a sequence, or adds one to its end, in place where the call is the last to
/// read the sequence: a loop that makes a sequence of n items would otherwise refer n * n times to
/// them. Returns null where it must be made anew.
om_value *HostMachine::Services::changedList(HostMachine &machine, uint8_t dtype, uint64_t count,
                                             const Value *const *items) {
  Memory *memory = &machine.memory;
  auto *list = const_cast<om_value *>(static_cast<const om_value *>(machine.callInputs[0]));
  if (!machine.endsFirst || !list || list->kind != host::Kind::Sequence || list->refs != 1 ||
      !list->counted || list->dtype != dtype || !list->dims[0])
    return nullptr;
  const auto had = static_cast<uint64_t>(list->dims[0]);
  const auto **own = static_cast<const Value **>(list->data);
  uint64_t at = 0;
  while (at < had && at < count && own[at] == items[at])
    ++at;
  const uint64_t changed = at < had; // items of the list, 0 or 1
  if (at == count || count != had + 1 - changed ||
      std::memcmp(own + at + changed, items + at + 1, (had - at - changed) * sizeof(void *)) != 0)
    return nullptr;
  if (!items[at] || items[at]->kind != host::Kind::Tensor || items[at]->dtype != dtype ||
      own[0]->kind != host::Kind::Tensor)
    return nullptr;
  om_value *item = managed(machine, *items[at]);
  if (!item)
    return nullptr;
  if (count * sizeof(void *) > list->buffer->bytes) {
    Buffer *larger = Memory::makeBuffer(memory, 2 * count * sizeof(void *));
    if (!larger) {
      Memory::release(memory, item);
      return nullptr;
    }
    std::memcpy(larger->data(), own, had * sizeof(void *));
    Memory::release(memory, list->buffer);
    list->buffer = larger;
    list->data = larger->data();
    own = static_cast<const Value **>(list->data);
  }
  if (changed)
    Memory::release(memory, list->item(at));
  own[at] = item;
  list->dims[0] = static_cast<int64_t>(count);
  retain(list);
  return list;
}

void HostMachine::Services::makeSequence(Call *call, uint32_t index, host::Kind kind, uint8_t dtype,
                                         uint64_t count, const Value *const *items) {
  HostMachine &machine = of(call);
  Locked locked(machine.lock);
  om_value *value = nullptr;
  if (machine.hasOutput(index)) {
    if (kind == host::Kind::Sequence)
      value = changedList(machine, dtype, count, items);
    value = value ? value : list(machine, kind, dtype, count, items);
  }
  if (value)
    machine.setOutput(index, value);
}

/// Keeps a reference to an item until the call ends.
const Value *HostMachine::Services::item(HostMachine &machine, om_value *value) {
  if (value) {
    value->next = machine.items;
    machine.items = value;
  }
  return value;
}

const Value *HostMachine::Services::makeItem(Call *call, uint8_t dtype, uint32_t rank,
                                             const int64_t *dims) {
  HostMachine &machine = of(call);
  Locked locked(machine.lock);
  return item(machine, tensor(machine, dtype, rank, dims));
}

const Value *HostMachine::Services::makeMapItem(Call *call, const Value *keys,
                                                const Value *values) {
  HostMachine &machine = of(call);
  Locked locked(machine.lock);
  const Value *items[] = {keys, values};
  const uint8_t dtype = values ? values->dtype : uint8_t(OM_UNDEFINED);
  return item(machine, list(machine, host::Kind::Map, dtype, 2, items));
}

void *HostMachine::Services::append(Call *call, uint32_t index, const Value *past, uint32_t axis,
                                    int64_t added, int64_t *room) {
  HostMachine &machine = of(call);
  Locked locked(machine.lock);
  if (!machine.hasOutput(index))
    return nullptr;
  om_value *source = managed(machine, *past);
  if (!source)
    return nullptr;
  om_status status;
  om_value *value =
      growTensor(&machine.memory, *source, axis, added, machine.session.state.isKept(), status);
  if (!value && status == OM_ERROR_MEMORY)
    machine.refuseMemory("the result", 0);
  else if (!value)
    machine.refuse(OM_ERROR_RUN, "the dims of its result are negative or too large");
  Memory::release(&machine.memory, source);
  if (!value)
    return nullptr;
  *room = value->room ? value->room : value->dims[axis];
  machine.setOutput(index, value);
  return value->data;
}

int64_t HostMachine::Services::roomOf(Call *, const Value *value, uint32_t axis) {
  const int64_t room = isManaged(*value) ? static_cast<const om_value *>(value)->room : 0;
  return room ? room : value->dims[axis];
}

void HostMachine::Services::makeNone(Call *call, uint32_t index) {
  HostMachine &machine = of(call);
  Locked locked(machine.lock);
  if (!machine.hasOutput(index))
    return;
  if (om_value *value = Memory::makeValue(&machine.memory))
    machine.setOutput(index, value);
  else
    machine.refuseMemory("the result", sizeof(om_value));
}

/// Allocates strings, which are many and small, from larger chunks.
char *HostMachine::Services::makeText(Call *call, uint64_t bytes) {
  constexpr uint64_t piece = 64 * 1024;
  HostMachine &machine = of(call);
  Locked locked(machine.lock);
  if (bytes > machine.textRoom || !machine.texts) {
    Buffer *buffer = Memory::makeBuffer(&machine.memory, bytes > piece ? bytes : piece);
    if (!buffer) {
      machine.refuseMemory("the strings", bytes);
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
    machine.refuseMemory("the scratch memory", bytes);
    return nullptr;
  }
  buffer->next = machine.scratch;
  machine.scratch = buffer;
  return buffer->data();
}

/// Runs a first chunk and measures it, because the cost of a task is not known: the rest is shared
/// where it pays to wake threads. One of four tasks that runs alone costs half as much as all of
/// them on two threads, so that a region whose tasks took long is not measured in the next runs.
/// Where a run has a deadline, the rest is run in chunks on one thread, too.
void HostMachine::Services::parallel(Call *call, int64_t tasks,
                                     void (*task)(void *, int64_t, int64_t), void *arg) {
  constexpr int64_t firstPart = 64, piecesPerThread = 4, watchedPieces = 1024;
  constexpr uint8_t unmeasuredRuns = 15;
  HostMachine &machine = of(call);
  const Limits &limits = machine.session.limits;
  const int64_t threads = machine.session.threads();
  if (tasks <= 0)
    return;
  // A task that starts others: the kernel is left when all of them have ended.
  if (machine.inParallel)
    return task(arg, 0, tasks);
  struct Rest {
    void (*task)(void *, int64_t, int64_t);
    void *arg;
    int64_t begin;
    const Limits &limits;
    std::atomic<uint32_t> isLeft;
  } rest = {task, arg, 0, limits, {false}};
  const auto run = [&] {
    const bool watched = limits.hasDeadline();
    if (tasks == 1 || (threads == 1 && !watched))
      return task(arg, 0, tasks);
    uint8_t none = 0;
    uint8_t &sharedRuns =
        machine.sharedRuns == machine.endOfSharedRuns ? none : *machine.sharedRuns++;
    if (sharedRuns) {
      --sharedRuns;
    } else if (machine.serialNanoseconds) {
      rest.begin = tasks < firstPart ? 1 : tasks / firstPart;
      const uint64_t before = nowNanoseconds();
      task(arg, 0, rest.begin);
      const uint64_t took = nowNanoseconds() - before;
      if (took * static_cast<uint64_t>(tasks / rest.begin) < machine.serialNanoseconds)
        return task(arg, rest.begin, tasks);
      sharedRuns = unmeasuredRuns;
    }
    const int64_t left = tasks - rest.begin;
    int64_t pieces = watched ? watchedPieces : threads * piecesPerThread;
    pieces = pieces < Pool::maxChunks ? pieces : Pool::maxChunks;
    pieces = pieces < left ? pieces : left;
    const auto piece = [](void *argument, int64_t begin, int64_t end) {
      Rest &work = *static_cast<Rest *>(argument);
      if (work.limits.isOver())
        work.isLeft.store(true, std::memory_order_relaxed);
      else
        work.task(work.arg, work.begin + begin, work.begin + end);
    };
    machine.inParallel = true;
    if (threads > 1)
      machine.session.runTasks(left, static_cast<uint32_t>(pieces), piece, &rest);
    for (int64_t i = 0; threads == 1 && i < pieces; ++i)
      piece(&rest, i * left / pieces, (i + 1) * left / pieces);
    machine.inParallel = false;
  };
  run();
  // Must not continue where tasks were skipped or failed.
  if (machine.failed != OM_OK || rest.isLeft.load(std::memory_order_relaxed))
    machine.leaveKernel();
}

void HostMachine::Services::failWith(HostMachine &machine, const char *text, const int64_t *numbers,
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
  machine.refuse(OM_ERROR_RUN, sentence);
}

void HostMachine::Services::fail(Call *call, const char *text, const int64_t *numbers,
                                 uint32_t count) {
  HostMachine &machine = of(call);
  Locked locked(machine.lock);
  failWith(machine, text, numbers, count);
}

/// SplitMix64.
uint64_t HostMachine::Services::entropy(Call *call) {
  uint64_t mixed = of(call).seed += 0x9E3779B97F4A7C15u;
  mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9u;
  mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EBu;
  return mixed ^ (mixed >> 31);
}

} // namespace atc::rt
