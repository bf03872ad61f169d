//===-- HostMachine.cpp - runs the dynamic schedule of a model ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "runtime-lite/src/host/HostMachine.h"

#include "runtime-lite/src/PortChecks.h"
#include "runtime-lite/src/Session.h"
#include "runtime-lite/src/Tensor.h"
#include "runtime-lite/src/host/HostServices.h"

#include <cassert>
#include <cstdio>
#include <cstring>

namespace fb = atc::om::fb;

namespace atc::rt {

using host::Kind;

HostMachine::HostMachine(om_session &session, const fb::HostProgram &program)
    : session(session), model(session.model), program(program),
      plan(session.model.hostPlan.find(program)) {}

HostMachine::~HostMachine() {
  endRun();
  for (om_value *constant : constants)
    Memory::release(&memory, constant);
}

//===----------------------------------------------------------------------===//
// A run
//===----------------------------------------------------------------------===//

om_status HostMachine::run(const om_value *const *inputs, om_value **outputs, om_error *problem) {
  error = problem;
  failed = OM_OK;
  inParallel = false;
  table = nullptr;
  om_status status = OM_OK;
  for (uint32_t i = 0; i < program.inputs()->size(); ++i) {
    const fb::HostPort &port = *program.inputs()->Get(i);
    status = checkPort(portType(port), "input", i, inputs ? inputs[i] : nullptr, OM_ERROR_ARGUMENT,
                       error);
    if (status != OM_OK)
      return status;
  }
  if (status = session.beginRun(error); status != OM_OK)
    return status;
  for (uint32_t i = 0; i < constants.size(); ++i)
    if (const int32_t slot = program.constants()->Get(i)->slot(); slot >= 0) {
      retain(constants[i]);
      setSlot(static_cast<uint32_t>(slot), constants[i]);
    }
  for (uint32_t i = 0; i < program.inputs()->size(); ++i) {
    const fb::HostPort &port = *program.inputs()->Get(i);
    const om_value *value = inputs ? inputs[i] : nullptr;
    if (value)
      retain(value);
    else if (!(value = Memory::makeValue(&memory)))
      status = noMemory("an input without a value", sizeof(om_value));
    setSlot(port.slot(), const_cast<om_value *>(value));
  }
  if (status == OM_OK)
    status = steps();
  if (status == OM_OK)
    status = takeOutputs(outputs);
  endRun();
  memory.endRun();
  error = nullptr;
  return status;
}

om_status HostMachine::takeOutputs(om_value **outputs) {
  memory.stopSharing();
  for (uint32_t i = 0; i < program.outputs()->size(); ++i) {
    const fb::HostPort &port = *program.outputs()->Get(i);
    const om_value *value = slots[port.slot()];
    om_status status = checkPort(portType(port), "output", i, value, OM_ERROR_RUN, error);
    outputs[i] = nullptr;
    if (status == OM_OK && !value) { // an optional output that no step has made
      outputs[i] = Memory::makeValue(nullptr);
      status = outputs[i] ? OM_OK : outOfMemory(error, sizeof(om_value));
    } else if (status == OM_OK) {
      if (value->room && session.state.keepsOutput(i)) {
        retain(value);
        outputs[i] = const_cast<om_value *>(value);
      } else {
        outputs[i] = detach(&memory, *value, status);
      }
      if (outputs[i])
        memory.handOver(outputs[i]);
      else
        status = noMemory("the caller's copy of an output", 0);
    }
    if (status != OM_OK) {
      while (i-- > 0)
        Memory::release(&memory, outputs[i]);
      return status;
    }
  }
  return OM_OK;
}

void HostMachine::endRun() {
  endCall();
  // A run that failed: what it has begun must not reach into memory that is released.
  om_error ignored, *reported = error;
  error = &ignored;
  (void)waitForAll();
  error = reported;
  for (om_value *&value : slots) {
    Memory::release(&memory, value);
    value = nullptr;
  }
  while (Buffer *text = texts) {
    texts = text->next;
    Memory::release(&memory, text);
  }
  textRoom = 0;
}

om_status HostMachine::steps() {
  const uint32_t end = plan.firstOp + plan.ops;
  for (uint32_t next = plan.firstOp; next < end;) {
    const uint32_t here = next++;
    const HostOp &op = model.hostPlan.ops[here];
    om_status status = OM_OK;
    switch (op.kind) {
    case HostOp::Call:
      status = session.limits.check("node", nameAt(here), error);
      if (status == OM_OK)
        status = session.observe(
            model.header->schedule()->size() + op.index, [&] { return call(op.index); }, error);
      if (status == OM_OK)
        session.ranHostCall(op.index);
      break;
    case HostOp::Run: {
      const auto &run = *static_cast<const fb::HostRun *>(op.table);
      status = makeSlotsDense(*run.inputs());
      if (status == OM_OK)
        status = runPart(run);
      break;
    }
    case HostOp::Tiles: {
      const auto &tiles = *static_cast<const fb::HostTiles *>(op.table);
      status = makeSlotsDense(*tiles.inputs());
      if (status == OM_OK)
        status = runTiles(tiles);
      break;
    }
    case HostOp::JumpUnless: {
      bool value = false;
      status = condition(op.index, value);
      next = value ? next : op.target;
      break;
    }
    case HostOp::Jump:
      next = op.target;
      if (next <= here)
        status = iterate(next);
      break;
    case HostOp::Move:
      move(*static_cast<const fb::HostMove *>(op.table));
      break;
    case HostOp::Release:
      for (int32_t slot : *static_cast<const fb::HostRelease *>(op.table)->slots())
        setSlot(static_cast<uint32_t>(slot), nullptr);
      break;
    case HostOp::Collective:
      status = session.limits.check("node", nameAt(here), error);
      if (status == OM_OK)
        status = startCollective(*static_cast<const fb::HostCollective *>(op.table));
      break;
    case HostOp::Wait:
      status = waitFor(*static_cast<const fb::HostWait *>(op.table)->slots());
      break;
    }
    if (status != OM_OK)
      return status;
  }
  return waitForAll();
}

/// The body of a loop has run, and what is at `top` comes again.
om_status HostMachine::iterate(uint32_t top) {
  if (!session.limits.countIteration())
    return session.limits.refuseIterations(nameAt(top), error);
  // The body need not have steps that check the clock.
  return session.limits.check("the loop around node", nameAt(top), error);
}

/// Returns the name of the first step at or after `place` in the plan that has one.
const char *HostMachine::nameAt(uint32_t place) const {
  for (; place < plan.firstOp + plan.ops; ++place) {
    const HostOp &op = model.hostPlan.ops[place];
    if (op.kind == HostOp::Call)
      return static_cast<const fb::HostCall *>(op.table)->name()->c_str();
    if (op.kind == HostOp::Collective)
      return static_cast<const fb::HostCollective *>(op.table)->name()->c_str();
    if ((op.kind == HostOp::Run || op.kind == HostOp::Tiles) &&
        program.parts()->Get(op.index)->launches())
      return model.launchName(program.parts()->Get(op.index)->first_launch());
  }
  return "";
}

om_status HostMachine::call(uint32_t index) {
  CallPlan &prepared = calls[index - plan.firstCall];
  table = model.hostPlan.calls[index];
  for (uint32_t i = 0; i < table->inputs()->size(); ++i) {
    const int32_t slot = table->inputs()->Get(i);
    callInputs[i] = slot < 0 ? nullptr : slots[static_cast<uint32_t>(slot)];
    if (slot >= 0 && !callInputs[i])
      return fail(error, OM_ERROR_RUN, "node '%s' failed: its input %u has no value.",
                  table->name()->c_str(), i);
  }
  if (!prepared.takesRoom)
    if (om_status status = makeInputsDense(); status != OM_OK) {
      endCall();
      return status;
    }
  current.host = &Services::table;
  current.inputCount = table->inputs()->size();
  current.outputCount = table->outputs()->size();
  current.attributeCount = prepared.attributes;
  current.wanted = prepared.wanted;
  current.inputs = callInputs.data();
  current.attributes = attributes.data() + prepared.firstAttribute;
  current.body = prepared.body;
  current.machine = this;
  endsFirst = model.hostPlan.endsFirst[index];
  sharedRuns = std::begin(prepared.sharedRuns);
  endOfSharedRuns = std::end(prepared.sharedRuns);
  // A kernel has nothing to clean up when it is left (abi/HostKernel.h).
  if (_setjmp(leftKernel) == 0)
    prepared.kernel(&current);
  else if (failed == OM_OK)
    failed = session.limits.check("node", table->name()->c_str(), error);
  inParallel = false;

  for (uint32_t i = 0; failed == OM_OK && i < current.outputCount; ++i) {
    const int32_t slot = table->outputs()->Get(i);
    if (slot >= 0 && !callOutputs[i])
      fail(error, failed = OM_ERROR_RUN, "node '%s' failed: it did not make its output %u.",
           table->name()->c_str(), i);
  }
  // Kernels read their inputs to the end: outputs may take the same slots only now.
  for (uint32_t i = 0; failed == OM_OK && i < current.outputCount; ++i)
    if (const int32_t slot = table->outputs()->Get(i); slot >= 0) {
      setSlot(static_cast<uint32_t>(slot), callOutputs[i]);
      callOutputs[i] = nullptr;
    }
  endCall();
  table = nullptr;
  return failed;
}

const om_value *HostMachine::result(uint32_t index, uint32_t output) const {
  if (index >= model.hostPlan.callCount)
    return nullptr;
  const auto &outputs = *model.hostPlan.calls[index]->outputs();
  const int32_t slot = output < outputs.size() ? outputs.Get(output) : -1;
  const om_value *value = slot < 0 ? nullptr : slots[static_cast<uint32_t>(slot)];
  return value && value->room ? nullptr : value;
}

om_status HostMachine::makeInputsDense() {
  for (uint32_t i = 0; i < table->inputs()->size(); ++i) {
    const auto *value = static_cast<const om_value *>(callInputs[i]);
    if (!value || !value->room)
      continue;
    om_status status;
    om_value *dense = copyDense(&memory, *value, status);
    if (!dense)
      return noMemory(table->name()->c_str(), 0);
    dense->next = items;
    items = dense;
    callInputs[i] = dense;
  }
  return OM_OK;
}

om_status HostMachine::makeSlotsDense(const flatbuffers::Vector<int32_t> &list) {
  for (const int32_t slot : list) {
    const om_value *value = slot < 0 ? nullptr : slots[static_cast<uint32_t>(slot)];
    if (!value || !value->room)
      continue;
    om_status status;
    om_value *dense = copyDense(&memory, *value, status);
    if (!dense)
      return noMemory("a dense copy of a state", 0);
    setSlot(static_cast<uint32_t>(slot), dense);
  }
  return OM_OK;
}

void HostMachine::leaveKernel() { _longjmp(leftKernel, 1); }

void HostMachine::endCall() {
  for (om_value *&output : callOutputs) {
    Memory::release(&memory, output);
    output = nullptr;
  }
  while (om_value *item = items) {
    items = item->next;
    Memory::release(&memory, item);
  }
  while (Buffer *buffer = scratch) {
    scratch = buffer->next;
    Memory::release(&memory, buffer);
  }
}

om_status HostMachine::runPart(const fb::HostRun &run) {
  const fb::HostPart &part = *program.parts()->Get(run.part());
  const auto &tensors = *model.header->tensors();
  om_status status = OM_OK;
  for (uint32_t i = 0; status == OM_OK && i < part.inputs(); ++i) {
    const uint32_t end = part.first_input() + i;
    const om_value *value = slots[static_cast<uint32_t>(run.inputs()->Get(i))];
    const PortType type = portType(*tensors.Get(model.header->inputs()->Get(end)));
    status = checkPort(type, "the static part's input", i, value, OM_ERROR_RUN, error);
    if (status == OM_OK)
      status = checkIndices(*tensors.Get(model.header->inputs()->Get(end)), value->data, error);
    if (status == OM_OK)
      session.setEnd(end, static_cast<char *>(value->data));
  }
  const uint32_t firstOutput = model.header->inputs()->size() + part.first_output();
  uint32_t made = 0;
  for (; status == OM_OK && made < part.outputs(); ++made) {
    const fb::Tensor &tensor =
        *tensors.Get(model.header->outputs()->Get(part.first_output() + made));
    moved[made] = makeTensor(&memory, static_cast<uint8_t>(tensor.dtype()), tensor.dims()->size(),
                             tensor.dims()->data(), Elements::Fresh, nullptr, status);
    if (!moved[made]) {
      status = noMemory(tensor.name()->c_str(), tensor.place()->size());
      break;
    }
    session.setEnd(firstOutput + made, static_cast<char *>(moved[made]->data));
  }
  if (status == OM_OK)
    status = session.runLaunches(part.first_launch(), part.launches(), error);
  for (uint32_t i = 0; i < made; ++i) {
    const int32_t slot = run.outputs()->Get(i);
    if (slot >= 0 && status == OM_OK)
      setSlot(static_cast<uint32_t>(slot), moved[i]);
    else
      Memory::release(&memory, moved[i]);
    session.setEnd(firstOutput + i, nullptr);
  }
  for (uint32_t i = 0; i < part.inputs(); ++i)
    session.setEnd(part.first_input() + i, nullptr);
  return status;
}

om_status HostMachine::condition(uint32_t slot, bool &result) {
  const om_value *value = slots[slot];
  if (!value || value->kind != Kind::Tensor || value->dtype != OM_BOOL || elementsOf(*value) != 1)
    return fail(error, OM_ERROR_RUN,
                "a condition of an If or Loop must be a bool tensor with one element.");
  result = *static_cast<const uint8_t *>(value->data) != 0;
  return OM_OK;
}

void HostMachine::move(const fb::HostMove &move) {
  const uint32_t count = move.from()->size();
  for (uint32_t i = 0; i < count; ++i) {
    moved[i] = slots[static_cast<uint32_t>(move.from()->Get(i))];
    retain(moved[i]);
  }
  for (uint32_t i = 0; i < count; ++i)
    setSlot(static_cast<uint32_t>(move.to()->Get(i)), moved[i]);
}

void HostMachine::setSlot(uint32_t slot, om_value *value) {
  Memory::release(&memory, slots[slot]);
  slots[slot] = value;
}

bool HostMachine::hasOutput(uint32_t index) {
  if (index < current.outputCount)
    return true;
  refuse(OM_ERROR_RUN, "it made an output that it does not have");
  return false;
}

void HostMachine::setOutput(uint32_t index, om_value *value) {
  assert(index < current.outputCount && "hasOutput() was asked");
  Memory::release(&memory, callOutputs[index]);
  callOutputs[index] = value;
}

om_status HostMachine::noMemory(const char *what, uint64_t bytes) {
  if (const uint64_t refused = memory.bytesRefused())
    return session.limits.refuseMemory(what, refused, memory.bytesUsed(), error);
  return fail(error, OM_ERROR_MEMORY, "%llu bytes for %s could not be allocated.",
              static_cast<unsigned long long>(bytes), what);
}

void HostMachine::refuseMemory(const char *what, uint64_t bytes) {
  if (failed != OM_OK)
    return;
  char text[320];
  std::snprintf(text, sizeof(text), "%s of node '%.200s' (%.60s)", what, table->name()->c_str(),
                model.header->kernels()->Get(table->kernel())->c_str());
  failed = noMemory(text, bytes);
}

void HostMachine::refuse(om_status status, const char *sentence) {
  if (failed == OM_OK)
    failed = fail(error, status, "node '%s' (%s) failed: %s.", table->name()->c_str(),
                  model.header->kernels()->Get(table->kernel())->c_str(), sentence);
}

//===----------------------------------------------------------------------===//
// On dense memory
//===----------------------------------------------------------------------===//

om_status HostMachine::runPlain(const void *const *inputs, void *const *outputs,
                                om_error *problem) {
  error = problem;
  const uint32_t inputCount = program.inputs()->size(), outputCount = program.outputs()->size();
  Array<om_value *> values;
  if (!values.allocate(size_t(inputCount) + outputCount))
    return outOfMemory(problem, (size_t(inputCount) + outputCount) * sizeof(void *));
  om_status status = OM_OK;
  for (uint32_t i = 0; status == OM_OK && i < inputCount + outputCount; ++i) {
    const bool isInput = i < inputCount;
    const uint32_t index = isInput ? i : i - inputCount;
    const fb::HostPort &port = *(isInput ? program.inputs() : program.outputs())->Get(index);
    const char *word = isInput ? "input" : "output";
    uint64_t elements, bytes;
    if (port.kind() != fb::HostKind::tensor || port.optional() || port.unranked() ||
        port.dtype() == fb::DataType::string_ ||
        !tensorSize(static_cast<uint8_t>(port.dtype()), port.dims()->size(), port.dims()->data(),
                    elements, bytes)) {
      status = fail(problem, OM_ERROR_ARGUMENT,
                    "%s %u ('%s') has no size that is known before the run: use "
                    "om_session_run_values.",
                    word, index, port.name()->c_str());
      break;
    }
    const void *pointer =
        isInput ? (inputs ? inputs[index] : nullptr) : (outputs ? outputs[index] : nullptr);
    status = checkPointer(pointer, bytes, word, index, port.name()->c_str(), problem);
    if (status != OM_OK || !isInput)
      continue;
    values[i] =
        makeTensor(&memory, static_cast<uint8_t>(port.dtype()), port.dims()->size(),
                   port.dims()->data(), Elements::Elsewhere, const_cast<void *>(pointer), status);
    if (!values[i])
      status = noMemory(port.name()->c_str(), sizeof(om_value));
  }
  if (status == OM_OK)
    status = run(values.data(), values.data() + inputCount, problem);
  for (uint32_t i = 0; i < inputCount + outputCount; ++i) {
    uint64_t elements, bytes;
    if (i >= inputCount && values[i] && status == OM_OK &&
        tensorSize(values[i]->dtype, values[i]->rank, values[i]->dims, elements, bytes) && bytes)
      std::memcpy(outputs[i - inputCount], values[i]->data, bytes);
    Memory::release(&memory, values[i]);
  }
  return status;
}

} // namespace atc::rt
