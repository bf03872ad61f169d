//===-- fuzz-om-load.cpp - libFuzzer target for the .om loader ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Nothing is run, as the code in a file is trusted by design; but all that a caller can ask of a
// model is asked.

#include "openatc/om.hpp"
#include "test/fuzz/om/OmMutator.h"

#include <cstring>

/// Returns whether the file is taken.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::vector<char> file(data, data + size);
  atc::fuzz::repairHash(file);
  om::Buffer memory(file.size());
  if (!file.empty())
    std::memcpy(memory.data(), file.data(), file.size());

  om::Error error;
  om_load_options options = OM_LOAD_OPTIONS_INIT;
  options.verify_weights = 1;
  om::Model model = om::Model::loadMemory(memory.data(), file.size(), error, options);
  if (!model)
    return -1;
  const om_model_info info = model.info();
  for (uint32_t i = 0; i < info.tensors; ++i)
    model.tensor(i);
  for (uint32_t i = 0; i < info.launches; ++i)
    model.launch(i);
  model.inputs();
  model.outputs();
  const om::Gears gears = model.gears();
  for (uint32_t gear = 0; gear < gears.all.size(); ++gear) {
    for (uint32_t i = 0; i < info.inputs; ++i)
      model.gearInput(gear, i);
    for (uint32_t i = 0; i < info.outputs; ++i)
      model.gearOutput(gear, i);
  }
  // Address space for the arena is cheap, reading from it is not.
  if (info.arena_bytes > (1u << 24) || info.scratch_bytes > (1u << 20))
    return 0;
  om_session_options running = OM_SESSION_OPTIONS_INIT;
  running.threads = 1;
  om::Session session(model, error, running);
  if (!session)
    return 0;
  for (const om::Gear &gear : gears.all)
    session.setGear(gear.values, error);
  for (uint32_t i = 0; i < info.tensors; ++i) {
    const om::Tensor tensor = model.tensor(i);
    if (tensor.bytes > (1u << 20))
      continue;
    om::Buffer copy(tensor.bytes);
    om_session_read_tensor(session.get(), i, copy.data(), tensor.bytes, nullptr);
  }
  return 0;
}
