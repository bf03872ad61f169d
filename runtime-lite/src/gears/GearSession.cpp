//===-- GearSession.cpp - runs of a session whose model has gears ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "runtime-lite/src/Session.h"
#include "runtime-lite/src/Tensor.h"

using namespace atc::rt;
namespace fb = atc::om::fb;

om_status om_session::setGear(const int64_t *values, uint32_t count, om_error *error) {
  if (gears)
    return gears->set(values, count, error);
  return fail(error, OM_ERROR_ARGUMENT,
              "the model has no gears: it was not compiled with --dynamic_batch_size, "
              "--dynamic_image_size, --dynamic_dims or ranges.");
}

om_status om_session::runGear(const void *const *inputs, void *const *outputs, om_error *error) {
  const om_status status = gears->choose(inputs, error);
  return status == OM_OK ? runChosenGear(inputs, outputs, error) : status;
}

/// Runs the gear that has been chosen on the tensors of this run's sizes.
om_status om_session::runChosenGear(const void *const *inputs, void *const *outputs,
                                    om_error *error) {
  npu.selectGear(gears->current());
  if (HostMachine *machine = gearHosts[gears->current()])
    return machine->runPlain(inputs, outputs, error);
  const fb::HostPart &part = *gears->table.gear(gears->current()).part();
  auto check = [&](bool output, uint32_t index, const void *pointer) {
    const auto &ports = output ? gears->table.outputs() : gears->table.inputs();
    return checkPointer(pointer, gears->bytesOf(output, index), output ? "output" : "input", index,
                        ports.Get(index)->name()->c_str(), error);
  };
  om_status status = OM_OK;
  for (uint32_t i = 0; status == OM_OK && i < part.inputs(); ++i)
    status = check(false, i, inputs ? inputs[i] : nullptr);
  for (uint32_t i = 0; status == OM_OK && i < part.outputs(); ++i)
    status = check(true, i, outputs ? outputs[i] : nullptr);
  if (status != OM_OK)
    return status;

  // The inputs and outputs of the previous gear must not be read any more.
  for (char *&end : ends)
    end = nullptr;
  char **const firstInput = ends.data() + part.first_input();
  char **const firstOutput = ends.data() + model.header->inputs()->size() + part.first_output();
  for (uint32_t i = 0; inputs && i < part.inputs(); ++i)
    firstInput[i] = gears->bindInput(i, static_cast<char *>(const_cast<void *>(inputs[i])));
  const fb::Model &header = *model.header;
  for (uint32_t i = 0; status == OM_OK && i < part.inputs(); ++i)
    status = checkIndices(*header.tensors()->Get(header.inputs()->Get(part.first_input() + i)),
                          firstInput[i], error);
  if (status != OM_OK)
    return status;
  for (uint32_t i = 0; outputs && i < part.outputs(); ++i)
    firstOutput[i] = gears->bindOutput(i, static_cast<char *>(outputs[i]));
  if (status = beginRun(error); status == OM_OK)
    status = runLaunches(part.first_launch(), part.launches(), error);
  for (uint32_t i = 0; status == OM_OK && outputs && i < part.outputs(); ++i)
    gears->takeOutput(i, static_cast<char *>(outputs[i]));
  return status;
}

om_status om_session::runGearOnValues(const om_value *const *inputs, om_value **outputs,
                                      om_error *error) {
  if (om_status status = gears->choose(inputs, error); status != OM_OK)
    return status;
  if (HostMachine *machine = gearHosts[gears->current()]) {
    npu.selectGear(gears->current());
    return machine->run(inputs, outputs, error);
  }
  const fb::HostPart &part = *gears->table.gear(gears->current()).part();
  const uint32_t inputCount = part.inputs(), outputCount = part.outputs();
  Array<void *> pointers;
  if (!pointers.allocate(size_t(inputCount) + outputCount))
    return outOfMemory(error, (size_t(inputCount) + outputCount) * sizeof(void *));
  for (uint32_t i = 0; i < inputCount; ++i)
    pointers[i] = inputs[i]->data;
  om_status status = OM_OK;
  uint32_t made = 0;
  for (uint64_t held = bytesHeld; status == OM_OK && made < outputCount; made += status == OM_OK) {
    PortType port = portType(*gears->table.outputs().Get(made));
    int64_t dims[OM_MAX_RANK];
    gears->dimsOf(/*output=*/true, made, dims);
    port.dims = dims;
    status = makeOutput(port, held, outputs[made], error);
    pointers[inputCount + made] = status == OM_OK ? outputs[made]->data : nullptr;
  }
  if (status == OM_OK)
    status = runChosenGear(pointers.data(), pointers.data() + inputCount, error);
  endRunOnValues(status, outputs, made);
  return status;
}
