//===-- Session.cpp - the memory and threads of one inference at a time ---===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "runtime-lite/src/Session.h"

#include "runtime-lite/src/Cpu.h"
#include "runtime-lite/src/PortChecks.h"
#include "runtime-lite/src/Tensor.h"

using namespace atc::rt;
namespace fb = atc::om::fb;

/// Returns the number of chunks of a launch: enough that threads finish together, few enough that
/// taking one is cheap compared to its work.
static uint32_t chunkCount(uint64_t tasks, uint64_t cost, uint32_t threads, uint64_t serialCost) {
  constexpr uint64_t minChunkCost = 15000, piecesPerThread = 8;
  if (threads == 1 || tasks == 1 || cost < serialCost)
    return 1;
  uint64_t chunks = cost / minChunkCost;
  if (chunks < threads)
    chunks = threads;
  if (chunks > threads * piecesPerThread)
    chunks = threads * piecesPerThread;
  if (chunks > Pool::maxChunks)
    chunks = Pool::maxChunks;
  return static_cast<uint32_t>(chunks < tasks ? chunks : tasks);
}

om_status om_session::start(const om_session_options &options, om_error *error) {
  const fb::Model &header = *model.header;
  const uint32_t processors = usableProcessors();
  const uint32_t threads = options.threads ? options.threads : processors;
  if (threads > Pool::maxThreads)
    return fail(error, OM_ERROR_ARGUMENT, "a session can have 1 to %u threads, not %u.",
                Pool::maxThreads, threads);

  const uint64_t scratchBytes = model.image ? model.image->scratch_bytes() : 0;
  const uint64_t scratchStride = (scratchBytes + 4095) / 4096 * 4096;
  limits.set(options);
  if (header.gears() && !(gears = create<GearRun>(header)))
    return outOfMemory(error, sizeof(GearRun));
  bytesHeld = header.arena_size() + scratchStride * threads + (gears ? gears->bytes() : 0);
  if (bytesHeld > limits.maxMemory())
    return limits.refuseMemory("a session of this model", bytesHeld, 0, error);
  if (!arena.mapZeroed(header.arena_size()))
    return outOfMemory(error, header.arena_size());
  if (!scratch.mapZeroed(scratchStride * threads))
    return outOfMemory(error, scratchStride * threads);

  uint64_t argumentCount = 0, patchCount = 0;
  for (uint32_t i = 0; i < header.schedule()->size(); ++i)
    for (const fb::BufferRef *ref : model.launchArgs(i)) {
      ++argumentCount;
      patchCount += ref->space() == fb::Space::input || ref->space() == fb::Space::output;
    }
  if (argumentCount > UINT32_MAX || !work.allocate(header.schedule()->size()) ||
      !times.allocate(model.launches()) || !arguments.allocate(argumentCount) ||
      !patches.allocate(patchCount) || !firstPatch.allocate(size_t(work.size()) + 1) ||
      !ends.allocate(size_t(header.inputs()->size()) + header.outputs()->size()))
    return outOfMemory(error, argumentCount * sizeof(void *));

  om_session_options resolved = options;
  resolved.threads = threads;
  prepareWork(resolved);
  if (om_status status = npu.start(model, options.device, arguments.data(), error); status != OM_OK)
    return status;
  if (om_status status = startHosts(resolved, error); status != OM_OK)
    return status;
  if (gears)
    if (om_status status = gears->start(error); status != OM_OK)
      return status;
  // Threads that share a processor must not keep it from each other.
  const uint32_t spin = threads > processors ? 0 : options.spin_us;
  return pool.start(threads, work.data(), scratch.data(), scratchStride, spin, error);
}

/// Starts the host program of the model, or those of its gears.
om_status om_session::startHosts(const om_session_options &options, om_error *error) {
  auto startOne = [&](const fb::HostProgram *program, HostMachine *&machine) {
    if (!program)
      return OM_OK;
    machine = create<HostMachine>(*this, *program);
    return machine ? machine->start(options, bytesHeld, error)
                   : outOfMemory(error, sizeof(HostMachine));
  };
  om_status status = startOne(model.header->host(), host);
  if (!gears || status != OM_OK)
    return status;
  if (!gearHosts.allocate(gears->table.count()))
    return outOfMemory(error, gears->table.count() * sizeof(HostMachine *));
  for (uint32_t i = 0; status == OM_OK && i < gearHosts.size(); ++i)
    status = startOne(gears->table.gear(i).host(), gearHosts[i]);
  return status;
}

void om_session::prepareWork(const om_session_options &options) {
  uint32_t argument = 0, patch = 0;
  for (uint32_t i = 0; i < work.size(); ++i) {
    firstPatch[i] = patch;
    if (const fb::Launch *launch = model.cpuLaunch(i)) {
      const uint64_t tasks = model.image->tasks()->Get(launch->kernel());
      work[i].kernel = model.kernel(launch->kernel());
      work[i].args = arguments.data() + argument;
      work[i].tasks = static_cast<int64_t>(tasks);
      work[i].chunks = chunkCount(tasks, launch->cost(), options.threads, options.serial_cost);
    }
    for (const fb::BufferRef *ref : model.launchArgs(i)) {
      if (ref->space() == fb::Space::input || ref->space() == fb::Space::output)
        patches[patch++] = {argument, end(*ref), ref->offset()};
      else
        arguments[argument] = address(*ref);
      ++argument;
    }
  }
  firstPatch[work.size()] = patch;
}

uint32_t om_session::end(const fb::BufferRef &ref) const {
  return ref.index() + (ref.space() == fb::Space::output ? model.header->inputs()->size() : 0);
}

/// Null for an input or output that is not set.
char *om_session::address(const fb::BufferRef &ref) const {
  switch (ref.space()) {
  case fb::Space::arena:
    return arena.data() + ref.offset();
  case fb::Space::weights:
    // Kernels read weights; the ABI has one pointer type for all arguments.
    return const_cast<char *>(model.segment(ref.index())) + ref.offset();
  case fb::Space::input:
  case fb::Space::output:
    return ends[end(ref)] ? ends[end(ref)] + ref.offset() : nullptr;
  }
  return nullptr;
}

om_status om_session::bind(const void *const *inputs, void *const *outputs, om_error *error) {
  const uint32_t inputCount = model.header->inputs()->size();
  for (uint32_t i = 0; i < ends.size(); ++i) {
    const bool isInput = i < inputCount;
    const auto &list = isInput ? *model.header->inputs() : *model.header->outputs();
    const uint32_t index = isInput ? i : i - inputCount;
    const fb::Tensor &tensor = *model.header->tensors()->Get(list.Get(index));
    void *pointer = nullptr;
    if (isInput && inputs)
      pointer = const_cast<void *>(inputs[index]);
    else if (!isInput && outputs)
      pointer = outputs[index];
    if (om_status status =
            checkPointer(pointer, tensor.place()->size(), isInput ? "input" : "output", index,
                         tensor.name()->c_str(), error);
        status != OM_OK)
      return status;
    if (om_status status = isInput ? checkIndices(tensor, pointer, error) : OM_OK; status != OM_OK)
      return status;
    ends[i] = static_cast<char *>(pointer);
  }
  return OM_OK;
}

/// Runs a launch; one without a kernel is a launch of the NPU.
om_status om_session::runLaunch(uint32_t index, om_error *error) {
  if (!work[index].kernel)
    return npu.run(index, error);
  pool.run(index);
  npu.ranOnHost(index);
  return OM_OK;
}

om_status om_session::beginRun(om_error *error) {
  om_status status = npu.begin(error);
  runs += status == OM_OK && profiling;
  return status;
}

om_status om_session::runLaunches(uint32_t first, uint32_t count, om_error *error) {
  for (uint32_t i = firstPatch[first]; i < firstPatch[first + count]; ++i)
    arguments[patches[i].argument] = ends[patches[i].end] + patches[i].offset;
  for (uint32_t i = first; i < first + count; ++i) {
    // The name is only computed where the run must end.
    if (limits.isOver())
      return limits.check("launch", model.launchName(i), error);
    if (om_status status = observe(i, [&] { return runLaunch(i, error); }, error); status != OM_OK)
      return status;
  }
  return OM_OK;
}

om_status om_session::observerEnded(uint32_t index, om_error *error) const {
  return fail(error, OM_ERROR_ARGUMENT, "the run was ended by its observer after launch %u ('%s').",
              index, model.launchName(index));
}

om_status om_session::runSchedule(const void *const *inputs, void *const *outputs,
                                  om_error *error) {
  if (om_status status = bind(inputs, outputs, error); status != OM_OK)
    return status;
  if (om_status status = beginRun(error); status != OM_OK)
    return status;
  return runLaunches(0, static_cast<uint32_t>(work.size()), error);
}

om_status om_session::run(const void *const *inputs, void *const *outputs,
                          om_launch_callback observer, void *observerUser, om_error *error) {
  callback = observer;
  user = observerUser;
  limits.beginRun();
  const om_status status = host    ? host->runPlain(inputs, outputs, error)
                           : gears ? runGear(inputs, outputs, error)
                                   : runSchedule(inputs, outputs, error);
  limits.endRun();
  return status;
}

const om_value *om_session::result(uint32_t launch, uint32_t output) const {
  return host && launch >= work.size()
             ? host->result(launch - static_cast<uint32_t>(work.size()), output)
             : nullptr;
}

om_status om_session::runValues(const om_value *const *inputs, om_value **outputs,
                                om_launch_callback observer, void *observerUser, om_error *error) {
  callback = observer;
  user = observerUser;
  const om_value *const *all = inputs;
  if (state.isKept())
    if (om_status status = state.addInputs(*this, inputs, all, error); status != OM_OK)
      return status;
  const auto held = static_cast<int64_t>(state.bytes());
  holdState(held);
  limits.beginRun();
  om_status status = host    ? host->run(all, outputs, error)
                     : gears ? runGearOnValues(all, outputs, error)
                             : runStaticOnValues(all, outputs, error);
  limits.endRun();
  holdState(-held);
  if (!state.isKept())
    return status;
  state.forgetInputs();
  return status == OM_OK ? state.takeOutputs(outputs, error) : status;
}

void om_session::holdState(int64_t bytes) {
  if (host)
    host->hold(bytes);
  for (HostMachine *machine : gearHosts)
    if (machine)
      machine->hold(bytes);
  bytesHeld += static_cast<uint64_t>(bytes);
}

om_status om_session::makeOutput(const PortType &port, uint64_t &held, om_value *&output,
                                 om_error *error, Elements kind) const {
  uint64_t elements = 0, bytes = 0;
  tensorSize(port.dtype, port.rank, port.dims, elements, bytes);
  if (held > limits.maxMemory() || bytes > limits.maxMemory() - held)
    return limits.refuseMemory(port.name, bytes, held, error);
  held += bytes;
  om_status status;
  output = makeTensor(nullptr, port.dtype, port.rank, port.dims, kind, nullptr, status);
  return output ? OM_OK : outOfMemory(error, bytes);
}

void om_session::endRunOnValues(om_status status, om_value **outputs, uint32_t made) {
  // The caller may release the values at any time.
  for (char *&end : ends)
    end = nullptr;
  while (status != OM_OK && made-- > 0)
    Memory::release(nullptr, outputs[made]);
}

om_status om_session::runStaticOnValues(const om_value *const *inputs, om_value **outputs,
                                        om_error *error) {
  const fb::Model &header = *model.header;
  const uint32_t inputCount = header.inputs()->size(), outputCount = header.outputs()->size();
  Array<void *> pointers;
  if (!pointers.allocate(size_t(inputCount) + outputCount))
    return outOfMemory(error, (size_t(inputCount) + outputCount) * sizeof(void *));
  om_status status = OM_OK;
  for (uint32_t i = 0; status == OM_OK && i < inputCount; ++i) {
    const om_value *value = inputs ? inputs[i] : nullptr;
    status = checkPort(portType(*header.tensors()->Get(header.inputs()->Get(i))), "input", i, value,
                       OM_ERROR_ARGUMENT, error);
    pointers[i] = status == OM_OK ? value->data : nullptr;
  }
  uint32_t made = 0;
  for (uint64_t held = bytesHeld; status == OM_OK && made < outputCount; made += status == OM_OK) {
    status = makeOutput(portType(*header.tensors()->Get(header.outputs()->Get(made))), held,
                        outputs[made], error);
    pointers[inputCount + made] = status == OM_OK ? outputs[made]->data : nullptr;
  }
  if (status == OM_OK)
    status = runSchedule(pointers.data(), pointers.data() + inputCount, error);
  endRunOnValues(status, outputs, made);
  return status;
}

om_status om_session::readTensor(uint32_t index, void *data, size_t bytes, om_error *error) const {
  if (index >= model.header->tensors()->size())
    return fail(error, OM_ERROR_ARGUMENT, "there is no tensor %u, the model has %u.", index,
                model.header->tensors()->size());
  const fb::Tensor &tensor = *model.header->tensors()->Get(index);
  TensorSize size;
  measureTensor(tensor, size);
  if (bytes != size.denseBytes || (!data && bytes))
    return fail(error, OM_ERROR_ARGUMENT,
                "tensor %u ('%s') needs a buffer of %llu bytes, not %llu.", index,
                tensor.name()->c_str(), static_cast<unsigned long long>(size.denseBytes),
                static_cast<unsigned long long>(bytes));
  const char *from = address(*tensor.place());
  if (!from && bytes)
    return fail(error, OM_ERROR_ARGUMENT, "tensor %u ('%s') has no value now.", index,
                tensor.name()->c_str());
  unpackTensor(tensor, from, static_cast<char *>(data));
  return OM_OK;
}

om_status om_session::startRun(const RunRequest &request, om_error *error) {
  if (!background) {
    BackgroundRun *made = create<BackgroundRun>(*this);
    if (!made)
      return outOfMemory(error, sizeof(BackgroundRun));
    if (om_status status = made->startThread(error); status != OM_OK) {
      destroy(made);
      return status;
    }
    background = made;
  }
  return background->start(request, error);
}

void om_session::setProfile(bool on) {
  profiling = on;
  runs = 0;
  for (uint64_t &time : times)
    time = 0;
}
