//===-- fuzz-om-load.cpp - libFuzzer target for the .om loader ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The header's hash would stop nearly every mutation, so it is made right first:
// what is tried is everything behind it. Nothing is run, as the code in a file
// is trusted by design; but all that a caller can ask of a model is asked.

#include "openatc/om.hpp"
#include "runtime-lite/src/Hash.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <random>
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

/// Changes numbers of the header where they stand: bytes that are inserted or removed move all that
/// is behind them, and what is left is no FlatBuffer. Values are near the old one, at the edge of a
/// type, or those of another field.
extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t, unsigned seed) {
  uint32_t prefix = 0;
  if (size < 64)
    return size;
  std::memcpy(&prefix, data, sizeof(prefix));
  const size_t header = std::min<size_t>(size, size_t(prefix) + sizeof(prefix));
  if (header < 64)
    return size;
  std::minstd_rand random(seed);
  auto below = [&](uint64_t limit) { return random() % std::max<uint64_t>(limit, 1); };
  static constexpr uint64_t edges[] = {0,
                                       1,
                                       63,
                                       64,
                                       255,
                                       4096,
                                       65535,
                                       1u << 24,
                                       INT32_MAX,
                                       UINT32_MAX,
                                       uint64_t(1) << 46,
                                       INT64_MAX,
                                       UINT64_MAX};
  for (uint64_t changes = 1 + below(3); changes-- > 0;) {
    const size_t width = size_t(1) << below(4);
    uint8_t *at = data + 8 + below((header - 8) / width - 1) * width;
    uint64_t value = 0;
    std::memcpy(&value, at, width);
    switch (below(4)) {
    case 0:
      value += below(2) ? 1 : UINT64_MAX;
      break;
    case 1:
      value = edges[below(std::size(edges))];
      break;
    case 2:
      value ^= uint64_t(1) << below(8 * width);
      break;
    default:
      std::memcpy(&value, data + 8 + below((header - 8) / width - 1) * width, width);
    }
    std::memcpy(at, &value, width);
  }
  return size;
}

/// Returns whether the file is taken.
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
