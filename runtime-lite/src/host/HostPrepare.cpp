//===-- HostPrepare.cpp - prepares a dynamic schedule for its runs --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "runtime-lite/src/host/HostMachine.h"

#include "runtime-lite/src/Session.h"

#include <cstring>

namespace fb = atc::om::fb;

namespace atc::rt {

using host::Value;

om_status HostMachine::start(const om_session_options &options, uint64_t bytesHeld,
                             om_error *problem) {
  memory.limit(session.limits.maxMemory(), bytesHeld);
  // Assumes half a nanosecond per floating-point operation.
  serialNanoseconds = options.serial_cost / 2;
  seed = options.seed ? options.seed : nowNanoseconds() ^ reinterpret_cast<uintptr_t>(this);
  if (slots.allocate(program.slots()) && prepareConstants() && prepareCalls() && prepareEnds())
    return OM_OK;
  if (const uint64_t bytes = memory.bytesRefused())
    return session.limits.refuseMemory("a constant of the model", bytes, memory.bytesUsed(),
                                       problem);
  return outOfMemory(problem, program.slots() * sizeof(void *));
}

bool HostMachine::prepareConstants() {
  if (!constants.allocate(program.constants()->size()))
    return false;
  for (uint32_t i = 0; i < constants.size(); ++i) {
    const fb::HostConstant &from = *program.constants()->Get(i);
    const auto dtype = static_cast<uint8_t>(from.dtype());
    const bool strings = dtype == OM_STRING;
    // Kernels do not write to inputs; a value has one pointer type for all.
    char *data =
        strings || !from.place()->size()
            ? nullptr
            : const_cast<char *>(model.segment(from.place()->index())) + from.place()->offset();
    om_status status;
    om_value *value = makeTensor(&memory, dtype, from.dims()->size(), from.dims()->data(),
                                 strings ? Elements::Fresh : Elements::Elsewhere, data, status);
    if (!value)
      return false;
    constants[i] = value;
    for (uint32_t s = 0; strings && from.strings() && s < from.strings()->size(); ++s) {
      const flatbuffers::String &text = *from.strings()->Get(s);
      static_cast<host::String *>(value->data)[s] = {text.c_str(), text.size()};
    }
  }
  return true;
}

bool HostMachine::prepareCalls() {
  size_t allAttributes = 0, allStrings = 0, allTensors = 0, maxInputs = 0, maxOutputs = 0;
  for (uint32_t i = 0; i < plan.calls; ++i) {
    const fb::HostCall &call = *model.hostPlan.calls[plan.firstCall + i];
    maxInputs = call.inputs()->size() > maxInputs ? call.inputs()->size() : maxInputs;
    maxOutputs = call.outputs()->size() > maxOutputs ? call.outputs()->size() : maxOutputs;
    allAttributes += call.attributes()->size();
    for (const fb::HostAttribute *attribute : *call.attributes()) {
      allStrings += attribute->strings() ? attribute->strings()->size() : 0;
      allTensors += attribute->tensors() ? attribute->tensors()->size() : 0;
    }
  }
  if (!calls.allocate(plan.calls) || !attributes.allocate(allAttributes) ||
      !attributeStrings.allocate(allStrings) || !attributeTensors.allocate(allTensors) ||
      !callInputs.allocate(maxInputs) || !callOutputs.allocate(maxOutputs))
    return false;
  uint32_t nextAttribute = 0, nextString = 0, nextTensor = 0;
  for (uint32_t i = 0; i < plan.calls; ++i) {
    const fb::HostCall &call = *model.hostPlan.calls[plan.firstCall + i];
    CallPlan &made = calls[i];
    made.kernel = reinterpret_cast<host::Kernel>(const_cast<void *>(model.entry(call.kernel())));
    made.body = call.body() ? model.entry(call.body() - 1) : nullptr;
    made.firstAttribute = nextAttribute;
    made.attributes = call.attributes()->size();
    const char *name = model.header->kernels()->Get(call.kernel())->c_str();
    for (const char *kernel : host::kRoomKernels)
      made.takesRoom |= std::strcmp(name, kernel) == 0;
    for (uint32_t output = 0; output < call.outputs()->size() && output < 32; ++output)
      made.wanted |= static_cast<uint32_t>(call.outputs()->Get(output) >= 0) << output;
    for (const fb::HostAttribute *from : *call.attributes()) {
      host::Attribute &attribute = attributes[nextAttribute++];
      attribute.name = from->name()->c_str();
      attribute.kind = static_cast<host::AttributeKind>(from->kind());
      switch (attribute.kind) {
      case host::AttributeKind::Ints:
        attribute.count = from->ints() ? from->ints()->size() : 0;
        attribute.data = from->ints() ? from->ints()->data() : nullptr;
        break;
      case host::AttributeKind::Floats:
        attribute.count = from->floats() ? from->floats()->size() : 0;
        attribute.data = from->floats() ? from->floats()->data() : nullptr;
        break;
      case host::AttributeKind::Strings:
        attribute.count = from->strings() ? from->strings()->size() : 0;
        attribute.data = attributeStrings.data() + nextString;
        for (uint32_t s = 0; s < attribute.count; ++s)
          attributeStrings[nextString++] = {from->strings()->Get(s)->c_str(),
                                            from->strings()->Get(s)->size()};
        break;
      case host::AttributeKind::Tensors:
        attribute.count = from->tensors() ? from->tensors()->size() : 0;
        attribute.data = attributeTensors.data() + nextTensor;
        for (uint32_t t = 0; t < attribute.count; ++t) {
          Value &tensor = attributeTensors[nextTensor++];
          tensor = *constants[from->tensors()->Get(t)];
          tensor.reserved = 0; // a copy without a reference count
        }
        break;
      }
    }
  }
  return true;
}

bool HostMachine::prepareEnds() {
  size_t maxMoved = 0, collectives = 0;
  for (uint32_t i = plan.firstOp; i < plan.firstOp + plan.ops; ++i) {
    collectives += model.hostPlan.ops[i].kind == HostOp::Collective;
    if (model.hostPlan.ops[i].kind == HostOp::Move) {
      const auto &move = *static_cast<const fb::HostMove *>(model.hostPlan.ops[i].table);
      maxMoved = move.from()->size() > maxMoved ? move.from()->size() : maxMoved;
    }
  }
  size_t maxPorts = 0;
  for (const fb::HostPart *part : *program.parts()) {
    maxMoved = part->outputs() > maxMoved ? part->outputs() : maxMoved;
    const size_t ports = size_t(part->inputs()) + part->outputs();
    maxPorts = ports > maxPorts ? ports : maxPorts;
  }
  return moved.allocate(maxMoved) && tilePorts.allocate(maxPorts) && pending.allocate(collectives);
}

} // namespace atc::rt
