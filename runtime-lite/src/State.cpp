//===-- State.cpp - values that a session keeps from run to run -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "runtime-lite/src/State.h"

#include "runtime-lite/src/PortChecks.h"
#include "runtime-lite/src/Session.h"
#include "runtime-lite/src/Verify.h"

namespace fb = atc::om::fb;

namespace atc::rt {

namespace {
uint32_t portCount(const fb::Model &model, bool input) {
  const HostPorts *ports = dynamicPorts(model, input);
  return ports ? ports->size() : (input ? model.inputs() : model.outputs())->size();
}

PortType typeOfPort(const fb::Model &model, uint32_t index, bool input) {
  if (const HostPorts *ports = dynamicPorts(model, input))
    return portType(*ports->Get(index));
  const auto &list = input ? *model.inputs() : *model.outputs();
  return portType(*model.tensors()->Get(list.Get(index)));
}

uint32_t stateCount(const fb::Model &model) { return model.states() ? model.states()->size() : 0; }

bool isTensor(const PortType &port) {
  return port.kind == host::Kind::Tensor && !port.optional && port.dtype != OM_UNDEFINED &&
         port.dtype != OM_STRING;
}

/// Returns null, or what is wrong with a state.
const char *findStateError(const fb::Model &model, uint32_t index) {
  const fb::State &state = *model.states()->Get(index);
  if (state.input() >= portCount(model, true) || state.output() >= portCount(model, false) ||
      state.initial() > model.tensors()->size())
    return "its input or output does not exist";
  const PortType from = typeOfPort(model, state.output(), false),
                 to = typeOfPort(model, state.input(), true);
  if (!isTensor(from) || !isTensor(to) || !to.ranked || from.dtype != to.dtype ||
      (from.ranked && from.rank != to.rank))
    return "its input and output are not tensors of one type";
  for (uint32_t d = 0; from.ranked && d < to.rank; ++d)
    if (to.dims[d] >= 0 && from.dims[d] >= 0 && to.dims[d] != from.dims[d])
      return "its input and output have different dims";
  for (const fb::StateDim *dim : *state.dims()) {
    if (dim->dim() >= to.rank || to.dims[dim->dim()] >= 0 || dim->input() >= portCount(model, true))
      return "a dim of it is not dynamic";
    const PortType other = typeOfPort(model, dim->input(), true);
    if (!isTensor(other) || !other.ranked || dim->input_dim() >= other.rank)
      return "a dim of it is no tensor's";
  }
  return nullptr;
}
} // namespace

om_status verifyStates(const fb::Model &model, om_error *error) {
  const uint32_t count = stateCount(model);
  const uint32_t ports[] = {portCount(model, true), portCount(model, false)};
  const char *wrong = count > ports[0] ? "there are more than inputs" : nullptr;
  uint32_t at = 0;
  Array<bool> seen[2];
  if (!wrong && count && (!seen[0].allocate(ports[0]) || !seen[1].allocate(ports[1])))
    return outOfMemory(error, size_t(ports[0]) + ports[1]);
  for (; !wrong && at < count; ++at) {
    wrong = findStateError(model, at);
    if (wrong)
      break;
    const fb::State &state = *model.states()->Get(at);
    if (seen[0][state.input()] || seen[1][state.output()])
      wrong = "its input or output is another's, too";
    seen[0][state.input()] = seen[1][state.output()] = true;
    if (wrong)
      break;
  }
  for (uint32_t i = 0; !wrong && i < count; ++i)
    for (const fb::StateDim *dim : *model.states()->Get(i)->dims())
      if (seen[0][dim->input()]) {
        wrong = "a dim of it is that of a state";
        at = i;
      }
  return wrong ? fail(error, OM_ERROR_CORRUPT, "the file is damaged: state %u cannot be used: %s.",
                      at, wrong)
               : OM_OK;
}

uint64_t SessionState::bytes() const {
  uint64_t sum = 0;
  for (const auto *list : {&values, &firsts})
    for (const om_value *value : *list)
      sum += value ? bufferBytes(*value) + sizeof(om_value) : 0;
  return sum;
}

om_status SessionState::keep(bool on, om_error *error) {
  const uint32_t count = stateCount(model);
  if (on && !count)
    return fail(error, OM_ERROR_ARGUMENT,
                "the model declares no state: compile it with --state=\"input=output\".");
  reset();
  const uint32_t inputCount = portCount(model, true), outputCount = portCount(model, false);
  if (on && (!values.allocate(count) || !firsts.allocate(count) || !inputs.allocate(inputCount) ||
             !isOutput.allocate(outputCount)))
    return outOfMemory(error, (size_t(count) * 2 + inputCount) * sizeof(void *) + outputCount);
  for (uint32_t i = 0; on && i < count; ++i)
    isOutput[model.states()->Get(i)->output()] = true;
  kept = on;
  return OM_OK;
}

void SessionState::reset() {
  for (om_value *&value : values) {
    Memory::release(nullptr, value);
    value = nullptr;
  }
}

om_status SessionState::check(uint32_t index, om_error *error) const {
  if (!kept)
    return fail(error, OM_ERROR_ARGUMENT,
                "the session keeps no state: call om_session_keep_state first.");
  if (index >= values.size())
    return fail(error, OM_ERROR_ARGUMENT, "there is no state %u, the model has %llu.", index,
                static_cast<unsigned long long>(values.size()));
  return OM_OK;
}

om_status SessionState::read(uint32_t index, om_value **value, om_error *error) const {
  if (!value)
    return fail(error, OM_ERROR_ARGUMENT, "there is no place for the value (null).");
  *value = nullptr;
  if (om_status status = check(index, error); status != OM_OK)
    return status;
  om_status status = OM_OK;
  const om_value *held = values[index];
  *value = held ? detach(nullptr, *held, status) : Memory::makeValue(nullptr);
  return *value ? OM_OK : outOfMemory(error, held ? bufferBytes(*held) : sizeof(om_value));
}

om_status SessionState::write(uint32_t index, const om_value *value, om_error *error) {
  if (om_status status = check(index, error); status != OM_OK)
    return status;
  const uint32_t input = model.states()->Get(index)->input();
  if (value)
    if (om_status status = checkPort(typeOfPort(model, input, true), "input", input, value,
                                     OM_ERROR_ARGUMENT, error);
        status != OM_OK)
      return status;
  retain(value);
  Memory::release(nullptr, values[index]);
  values[index] = const_cast<om_value *>(value);
  return OM_OK;
}

om_status SessionState::makeFirst(uint32_t index, const om_session &session, uint64_t &held,
                                  om_error *error) {
  const fb::State &state = *model.states()->Get(index);
  PortType port = typeOfPort(model, state.input(), true);
  int64_t dims[OM_MAX_RANK];
  for (uint32_t d = 0; d < port.rank; ++d)
    dims[d] = port.dims[d] < 0 ? 0 : port.dims[d];
  for (const fb::StateDim *dim : *state.dims()) {
    const om_value *other = inputs[dim->input()];
    if (other && other->kind == host::Kind::Tensor && dim->input_dim() < other->rank)
      dims[dim->dim()] = other->dims[dim->input_dim()];
  }
  port.dims = dims;
  om_status status = session.makeOutput(port, held, firsts[index], error, Elements::Zeroed);
  if (status != OM_OK || !state.initial())
    return status;
  uint64_t elements = 0, bytes = 0;
  tensorSize(port.dtype, port.rank, dims, elements, bytes);
  return session.readTensor(state.initial() - 1, firsts[index]->data, bytes, error);
}

/// Checks that the dims of a state that are those of other inputs still are.
om_status SessionState::checkDims(uint32_t index, om_error *error) const {
  const fb::State &state = *model.states()->Get(index);
  const om_value &value = *values[index];
  for (const fb::StateDim *dim : *state.dims()) {
    const om_value *other = inputs[dim->input()];
    if (!other || other->kind != host::Kind::Tensor || dim->input_dim() >= other->rank ||
        other->dims[dim->input_dim()] == value.dims[dim->dim()])
      continue;
    BoundedText held;
    held.addDims(value.rank, value.dims);
    return fail(error, OM_ERROR_ARGUMENT,
                "the state '%s' holds a tensor with dims %s, but dim %u of input '%s' is %lld, "
                "not %lld: reset the state before it changes.",
                typeOfPort(model, state.input(), true).name, held.c_str(), dim->input_dim(),
                typeOfPort(model, dim->input(), true).name,
                static_cast<long long>(other->dims[dim->input_dim()]),
                static_cast<long long>(value.dims[dim->dim()]));
  }
  return OM_OK;
}

om_status SessionState::addInputs(const om_session &session, const om_value *const *given,
                                  const om_value *const *&all, om_error *error) {
  uint64_t held = session.bytesHeld + bytes();
  for (uint32_t i = 0; i < inputs.size(); ++i)
    inputs[i] = given ? given[i] : nullptr;
  om_status status = OM_OK;
  for (uint32_t i = 0; status == OM_OK && i < values.size(); ++i) {
    const fb::State &state = *model.states()->Get(i);
    const om_value *&input = inputs[state.input()];
    if (input)
      continue;
    if (values[i]) {
      status = checkDims(i, error);
      input = values[i];
    } else {
      status = makeFirst(i, session, held, error);
      input = firsts[i];
    }
  }
  all = inputs.data();
  if (status != OM_OK)
    forgetInputs();
  return status;
}

void SessionState::forgetInputs() {
  for (om_value *&first : firsts) {
    Memory::release(nullptr, first);
    first = nullptr;
  }
  for (const om_value *&input : inputs)
    input = nullptr;
}

om_status SessionState::takeOutputs(om_value **outputs, om_error *error) {
  om_status status = OM_OK;
  for (uint32_t i = 0; status == OM_OK && i < values.size(); ++i) {
    const fb::State &state = *model.states()->Get(i);
    status = checkPort(typeOfPort(model, state.input(), true), "state", state.input(),
                       outputs[state.output()], OM_ERROR_RUN, error);
  }
  for (uint32_t i = 0; status != OM_OK && i < isOutput.size(); ++i) {
    Memory::release(nullptr, outputs[i]);
    outputs[i] = nullptr;
  }
  for (uint32_t i = 0; status == OM_OK && i < values.size(); ++i) {
    om_value *&output = outputs[model.states()->Get(i)->output()];
    Memory::release(nullptr, values[i]);
    values[i] = output;
    output = nullptr;
  }
  return status;
}

} // namespace atc::rt

//===----------------------------------------------------------------------===//
// The C interface
//===----------------------------------------------------------------------===//

using namespace atc::rt;

uint32_t om_model_states(const om_model *model) { return stateCount(*model->header); }

om_status om_model_get_state(const om_model *model, uint32_t index, om_state_info *info) {
  if (index >= stateCount(*model->header))
    return OM_ERROR_ARGUMENT;
  const fb::State &state = *model->header->states()->Get(index);
  om_state_info answer = OM_STATE_INFO_INIT;
  answer.name = typeOfPort(*model->header, state.input(), true).name;
  answer.input = state.input();
  answer.output = state.output();
  answer.initial = state.initial();
  return writeAnswer(answer, info);
}

om_status om_session_keep_state(om_session *session, int on, om_error *error) {
  return session->state.keep(on != 0, error);
}

void om_session_reset_state(om_session *session) { session->state.reset(); }

om_status om_session_read_state(om_session *session, uint32_t index, om_value **value,
                                om_error *error) {
  return session->state.read(index, value, error);
}

om_status om_session_write_state(om_session *session, uint32_t index, const om_value *value,
                                 om_error *error) {
  return session->state.write(index, value, error);
}
