//===-- NpuRun.cpp - the NPU launches of a session ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "runtime-lite/src/NpuRun.h"

#include <cstddef>
#include <cstring>

namespace fb = atc::om::fb;

namespace atc::rt {

namespace {

/// Holds for each program one byte per argument: 1 where a launch passes memory that must not be
/// written.
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
  // The functions behind `close` are newer than some devices.
  const size_t known =
      given->struct_size < sizeof(om_device) ? given->struct_size : sizeof(om_device);
  if (known < offsetof(om_device, gear) || !given->open || !given->load || !given->begin ||
      !given->launch || !given->host || !given->close)
    return fail(error, OM_ERROR_ARGUMENT, "the device lacks a function that the runtime calls.");
  std::memcpy(static_cast<void *>(&device), given, known);
  const char *table = model.header->soc_table() ? model.header->soc_table()->c_str() : "";
  om_error errorText = {OM_OK, ""};
  om_status status = device.open(device.user, soc, table, &opened, &errorText);
  if (status != OM_OK)
    opened = nullptr;
  this->model = &model;
  return status == OM_OK ? OM_OK : fail(error, status, "%s", errorText.message);
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
  const om_device_sizes sizes = sizesOf(model, OM_NO_GEAR);
  told.input_bytes = sizes.input_bytes;
  told.output_bytes = sizes.output_bytes;
  told.macs = sizes.macs;
  told.host_launches = sizes.host_launches;
  om_error errorText = {OM_OK, ""};
  om_status status = device.load(opened, &told, &errorText);
  return status == OM_OK ? OM_OK : fail(error, status, "%s", errorText.message);
}

/// Measures a gear, or with OM_NO_GEAR all of the model.
om_device_sizes NpuRun::sizesOf(const om_model &model, uint32_t gear) {
  const fb::Model &header = *model.header;
  const fb::Gear *of = gear == OM_NO_GEAR ? nullptr : header.gears()->gears()->Get(gear);
  const fb::HostPart *part = of ? of->part() : nullptr;
  om_device_sizes sizes = {};
  auto bytes = [&](const auto &list, uint32_t first, uint32_t count) {
    uint64_t sum = 0;
    for (uint32_t i = first; i < first + count; ++i)
      sum += header.tensors()->Get(list.Get(i))->place()->size();
    return sum;
  };
  sizes.input_bytes = bytes(*header.inputs(), part ? part->first_input() : 0,
                            part ? part->inputs() : header.inputs()->size());
  sizes.output_bytes = bytes(*header.outputs(), part ? part->first_output() : 0,
                             part ? part->outputs() : header.outputs()->size());
  sizes.arena_bytes = of ? of->arena_size() : header.arena_size();
  const uint32_t first = part ? part->first_launch() : 0;
  const uint32_t count = part ? part->launches() : header.schedule()->size();
  for (uint32_t i = first; i < first + count; ++i) {
    const fb::NpuLaunch *npu = model.npuLaunch(i);
    sizes.host_launches += !npu;
    sizes.macs += npu ? npu->macs() : macsOf(*model.cpuLaunch(i));
  }
  const PlannedProgram *program = of && of->host() ? &model.hostPlan.find(*of->host()) : nullptr;
  const uint32_t firstCall = program ? program->firstCall : 0;
  const uint32_t calls = program ? program->calls : of ? 0 : model.hostPlan.callCount;
  for (uint32_t i = firstCall; i < firstCall + calls; ++i) {
    ++sizes.host_launches;
    sizes.macs += model.hostPlan.calls[i]->macs();
  }
  return sizes;
}

bool NpuRun::layOut(const om_model &model) {
  const fb::Model &header = *model.header;
  const uint32_t segments = header.segments()->size();
  if (!bases.allocate(size_t(segments) + 1 + header.inputs()->size() + header.outputs()->size()))
    return false;
  uint64_t end = OM_DEVICE_BASE;
  uint32_t next = 0;
  // The loader has checked that all of this together is below 2^48.
  auto place = [&](uint64_t bytes) {
    bases[next++] = end;
    end = (end + bytes + OM_DEVICE_ALIGNMENT - 1) / OM_DEVICE_ALIGNMENT * OM_DEVICE_ALIGNMENT;
  };
  for (const fb::Segment *segment : *header.segments())
    place(segment->kind() == fb::SegmentKind::weights ? segment->size() : 0);
  if (!header.gears()) {
    place(header.arena_size());
    for (const auto *list : {header.inputs(), header.outputs()})
      for (uint32_t tensor : *list)
        place(header.tensors()->Get(tensor)->place()->size());
    return true;
  }
  // The inputs of all gears come before the outputs of all.
  const uint64_t arena = end;
  const uint32_t inputs = next + 1, outputs = inputs + header.inputs()->size();
  for (const fb::Gear *gear : *header.gears()->gears()) {
    const fb::HostPart &part = *gear->part();
    end = arena;
    next = inputs - 1;
    place(gear->arena_size());
    auto placeAll = [&](uint32_t base, const auto &list, uint32_t first, uint32_t count) {
      next = base + first;
      for (uint32_t i = first; i < first + count; ++i)
        place(header.tensors()->Get(list.Get(i))->place()->size());
    };
    placeAll(inputs, *header.inputs(), part.first_input(), part.inputs());
    placeAll(outputs, *header.outputs(), part.first_output(), part.outputs());
  }
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

void NpuRun::selectGear(uint32_t selected) {
  if (!opened || selected == gear)
    return;
  gear = selected;
  if (!device.gear)
    return;
  const om_device_sizes sizes = sizesOf(*model, gear);
  device.gear(opened, &sizes);
}

om_status NpuRun::begin(om_error *error) {
  if (!opened)
    return OM_OK;
  om_error errorText = {OM_OK, ""};
  om_status status = device.begin(opened, &errorText);
  return status == OM_OK ? OM_OK : fail(error, status, "%s", errorText.message);
}

om_status NpuRun::run(uint32_t launch, om_error *error) {
  om_error errorText = {OM_OK, ""};
  om_status status = device.launch(opened, &launches[launch], &errorText);
  return status == OM_OK ? OM_OK
                         : fail(error, status, "launch %u ('%s') failed: %s", launch,
                                launches[launch].name, errorText.message);
}

} // namespace atc::rt
