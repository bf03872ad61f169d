//===-- NpuRun.cpp - the NPU launches of a session ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "runtime-lite/src/NpuRun.h"

#include <cstring>

namespace fb = atc::om::fb;

namespace atc::rt {

namespace {

/// Holds for each program a byte per argument: 1 where a launch gives it memory that
/// must not be written.
struct ReadOnlyArguments {
  Array<uint8_t> bytes;
  Array<const uint8_t *> ofPrograms; ///< point into `bytes`

  /// Returns false when memory could not be allocated.
  bool find(const om_model &model) {
    const auto &programs = *model.header->npu_programs();
    size_t count = 0;
    for (const fb::NpuProgram *program : programs)
      count += program->arguments()->size();
    Array<uint8_t *> first;
    if (!bytes.allocate(count) || !ofPrograms.allocate(programs.size()) ||
        !first.allocate(programs.size()))
      return false;
    count = 0;
    for (uint32_t i = 0; i < programs.size(); ++i) {
      ofPrograms[i] = first[i] = bytes.data() + count;
      count += programs.Get(i)->arguments()->size();
    }
    for (uint32_t i = 0; i < model.header->schedule()->size(); ++i)
      if (const fb::NpuLaunch *npu = model.npuLaunch(i))
        for (uint32_t a = 0; a < npu->args()->size(); ++a) {
          const fb::Space space = npu->args()->Get(a)->space();
          first[npu->program()][a] |= space == fb::Space::weights || space == fb::Space::input;
        }
    return true;
  }
};

} // namespace

om_status NpuRun::start(const om_model &model, const om_device *given, void *const *arguments,
                        om_error *error) {
  const uint32_t steps = model.header->schedule()->size();
  uint64_t argumentCount = 0, prefetchCount = 0;
  bool any = false;
  for (uint32_t i = 0; i < steps; ++i) {
    argumentCount += model.launchArgs(i).size();
    if (const fb::NpuLaunch *npu = model.npuLaunch(i)) {
      any = true;
      prefetchCount += npu->prefetch()->size();
    }
  }
  if (!any)
    return OM_OK;
  if (om_status status = open(model, given, error); status != OM_OK)
    return status;
  if (!launches.allocate(steps) || !addresses.allocate(argumentCount) ||
      !prefetches.allocate(prefetchCount) || !layOut(model))
    return outOfMemory(error, argumentCount * sizeof(uint64_t));

  uint64_t argument = 0, prefetch = 0;
  for (uint32_t i = 0; i < steps; ++i) {
    const auto &args = model.launchArgs(i);
    if (const fb::NpuLaunch *npu = model.npuLaunch(i)) {
      launches[i] = {i,
                     npu->program(),
                     npu->name()->c_str(),
                     npu->macs(),
                     npu->chained(),
                     args.size(),
                     npu->prefetch()->size(),
                     arguments + argument,
                     addresses.data() + argument,
                     prefetches.data() + prefetch};
      for (const fb::BufferRef *ref : *npu->prefetch())
        prefetches[prefetch++] = {address(model, *ref), ref->size()};
    }
    for (const fb::BufferRef *ref : args)
      addresses[argument++] = address(model, *ref);
  }
  return load(model, error);
}

om_status NpuRun::open(const om_model &model, const om_device *given, om_error *error) {
  const char *soc = model.header->soc()->c_str();
  if (!given)
    return fail(error, OM_ERROR_NO_DEVICE,
                "the model is compiled for the NPU '%s' and this session has no device for it: set "
                "om_session_options.device, for a simulated NPU to that of openatc/npu.h.",
                soc);
  if (given->struct_size < sizeof(om_device) || !given->open || !given->load || !given->begin ||
      !given->launch || !given->host || !given->close)
    return fail(error, OM_ERROR_ARGUMENT, "the device lacks a function that the runtime calls.");
  device = *given;
  const char *table = model.header->soc_table() ? model.header->soc_table()->c_str() : "";
  om_error fault = {OM_OK, ""};
  om_status status = device.open(device.user, soc, table, &opened, &fault);
  if (status != OM_OK)
    opened = nullptr;
  return status == OM_OK ? OM_OK : fail(error, status, "%s", fault.message);
}

/// Files before `macs` only have the cost, which counts a product as two operations.
static uint64_t macsOf(const fb::Launch &launch) {
  return launch.macs() == ~uint64_t(0) ? launch.cost() / 2 : launch.macs();
}

om_status NpuRun::load(const om_model &model, om_error *error) {
  const auto &programs = *model.header->npu_programs();
  Array<om_device_program> list;
  if (!list.allocate(programs.size()))
    return outOfMemory(error, programs.size() * sizeof(om_device_program));
  for (uint32_t i = 0; i < programs.size(); ++i) {
    const fb::NpuProgram &program = *programs.Get(i);
    list[i] = {program.name()->c_str(), model.segment(program.segment()) + program.offset(),
               program.size(), program.arguments()->data(), program.arguments()->size()};
  }
  const fb::Model &header = *model.header;
  ReadOnlyArguments readOnly;
  if (!readOnly.find(model))
    return outOfMemory(error, programs.size() * sizeof(void *));
  om_device_model told = {};
  told.read_only = readOnly.ofPrograms.data();
  told.programs = list.data();
  told.program_count = programs.size();
  told.name = header.name()->c_str();
  told.arena_bytes = header.arena_size();
  for (const fb::Segment *segment : *header.segments())
    if (segment->kind() == fb::SegmentKind::weights)
      told.weights_bytes += segment->size();
  for (uint32_t tensor : *header.inputs())
    told.input_bytes += header.tensors()->Get(tensor)->place()->size();
  for (uint32_t tensor : *header.outputs())
    told.output_bytes += header.tensors()->Get(tensor)->place()->size();
  for (uint32_t i = 0; i < header.schedule()->size(); ++i) {
    const fb::NpuLaunch *npu = model.npuLaunch(i);
    told.host_launches += !npu;
    told.macs += npu ? npu->macs() : macsOf(*model.cpuLaunch(i));
  }
  for (const fb::HostCall *call : model.hostPlan.calls) {
    ++told.host_launches;
    told.macs += call->macs();
  }
  om_error fault = {OM_OK, ""};
  om_status status = device.load(opened, &told, &fault);
  return status == OM_OK ? OM_OK : fail(error, status, "%s", fault.message);
}

bool NpuRun::layOut(const om_model &model) {
  const fb::Model &header = *model.header;
  const uint32_t segments = header.segments()->size();
  if (!bases.allocate(size_t(segments) + 1 + header.inputs()->size() + header.outputs()->size()))
    return false;
  uint64_t end = OM_DEVICE_BASE;
  uint32_t next = 0;
  // The loader has seen that all of this together is below 2^48.
  auto place = [&](uint64_t bytes) {
    bases[next++] = end;
    end = (end + bytes + OM_DEVICE_ALIGNMENT - 1) / OM_DEVICE_ALIGNMENT * OM_DEVICE_ALIGNMENT;
  };
  for (const fb::Segment *segment : *header.segments())
    place(segment->kind() == fb::SegmentKind::weights ? segment->size() : 0);
  place(header.arena_size());
  for (const auto *list : {header.inputs(), header.outputs()})
    for (uint32_t tensor : *list)
      place(header.tensors()->Get(tensor)->place()->size());
  return true;
}

uint64_t NpuRun::address(const om_model &model, const fb::BufferRef &ref) const {
  const fb::Model &header = *model.header;
  uint32_t base = header.segments()->size();
  switch (ref.space()) {
  case fb::Space::weights:
    base = ref.index();
    break;
  case fb::Space::arena:
    break;
  case fb::Space::input:
    base += 1 + ref.index();
    break;
  case fb::Space::output:
    base += 1 + header.inputs()->size() + ref.index();
    break;
  }
  return bases[base] + ref.offset();
}

om_status NpuRun::begin(om_error *error) {
  if (!opened)
    return OM_OK;
  om_error fault = {OM_OK, ""};
  om_status status = device.begin(opened, &fault);
  return status == OM_OK ? OM_OK : fail(error, status, "%s", fault.message);
}

om_status NpuRun::run(uint32_t launch, om_error *error) {
  om_error fault = {OM_OK, ""};
  om_status status = device.launch(opened, &launches[launch], &fault);
  return status == OM_OK ? OM_OK
                         : fail(error, status, "launch %u ('%s') failed: %s", launch,
                                launches[launch].name, fault.message);
}

} // namespace atc::rt
