//===-- fuzz-om-load.cpp - libFuzzer target for the .om loader ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The header's hash would stop nearly every mutation, so it is made right first:
// what is tried is everything behind it. Nothing is run, as the code in a file
// is trusted by design; but all that a caller can ask of a model is asked.

#include "openatc/om.hpp"
#include "runtime-lite/src/Hash.h"

#include <cstdint>
#include <cstring>
#include <vector>

static void repairHash(std::vector<char> &file) {
  uint32_t prefix;
  if (file.size() < sizeof(prefix))
    return;
  std::memcpy(&prefix, file.data(), sizeof(prefix));
  const uint64_t length = uint64_t(prefix) + sizeof(prefix);
  if (length + sizeof(uint64_t) > file.size())
    return;
  const uint64_t hash = atc::rt::hash64(file.data(), length);
  std::memcpy(file.data() + length, &hash, sizeof(hash));
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::vector<char> file(data, data + size);
  repairHash(file);
  om::Buffer memory(file.size());
  if (!file.empty())
    std::memcpy(memory.data(), file.data(), file.size());

  om::Error error;
  om_load_options options = OM_LOAD_OPTIONS_INIT;
  options.verify_weights = 1;
  om::Model model = om::Model::loadMemory(memory.data(), file.size(), error, options);
  if (!model)
    return 0;
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
