//===-- fuzz-om-run.cpp - files without native code can be run ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What om_load_options.refuse_native_code loads may come from anyone: schedules, gears, states and
// programs of the NPU are changed and run on the simulated one.

#include "openatc/npu.h"
#include "openatc/om.hpp"
#include "test/fuzz/om/OmMutator.h"

#include <cstring>
#include <memory>

namespace {

/// Memory for the inputs or the outputs of a run, and its addresses.
struct Ports {
  /// Allocates what a file asks for, up to some megabytes. Returns false where that is more.
  bool allocate(const std::vector<om::Tensor> &tensors) {
    uint64_t all = 0;
    for (const om::Tensor &tensor : tensors) {
      if (!tensor.fixed() || (all += tensor.bytes) > (16u << 20))
        return false;
      om::Buffer &buffer = buffers.emplace_back(tensor.bytes);
      if (!buffer)
        return false;
      std::memset(buffer.data(), 1, tensor.bytes);
      pointers.push_back(buffer.data());
    }
    return true;
  }
  std::vector<om::Buffer> buffers;
  std::vector<void *> pointers;
};

struct FreeNpu {
  void operator()(om_npu *npu) const { om_npu_free(npu); }
};

} // namespace

/// Returns 0 where a run ends well.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::vector<char> file(data, data + size);
  atc::fuzz::repairHash(file);
  om::Buffer memory(file.size());
  if (!file.empty())
    std::memcpy(memory.data(), file.data(), file.size());
  om::Error error;
  om_load_options options = OM_LOAD_OPTIONS_INIT;
  options.refuse_native_code = 1;
  const om::Model model = om::Model::loadMemory(memory.data(), file.size(), error, options);
  if (!model)
    return -1;
  om_npu_options simulated = OM_NPU_OPTIONS_INIT;
  simulated.threads = 1;
  om_npu *npu = nullptr;
  if (om_npu_simulator(&simulated, &npu, &error.c) != OM_OK)
    return -1;
  const std::unique_ptr<om_npu, FreeNpu> owner(npu);
  om_session_options running = OM_SESSION_OPTIONS_INIT;
  running.threads = 1;
  running.device = om_npu_device(npu);
  running.max_memory = 64u << 20;
  running.max_iterations = 1000;
  running.max_run_us = 2000000;
  om::Session session(model, error, running);
  if (!session)
    return -1;
  bool isDone = true;
  Ports inputs, outputs;
  if (inputs.allocate(model.inputs()) && outputs.allocate(model.outputs()))
    isDone = session.run(inputs.pointers.data(), outputs.pointers.data(), error);
  // Runs on values take their memory from the session's limit.
  for (int run = 0; run < 2 && isDone; ++run) {
    std::vector<om::Value> values;
    for (const om::Tensor &port : model.inputs()) {
      std::vector<int64_t> dims = port.dims;
      uint64_t elements = 1;
      for (int64_t &dim : dims) {
        dim = dim < 0 ? 2 : dim;
        if (__builtin_mul_overflow(elements, static_cast<uint64_t>(dim), &elements))
          elements = UINT64_MAX;
      }
      if (elements > (1u << 20))
        return 0;
      values.push_back(om::Value::tensor(port.dtype, dims, nullptr, error));
    }
    // The second time with the states that the first one leaves, where there are any.
    session.keepState(run == 1, error);
    om::Error problem;
    session.run(values, problem);
    isDone = !problem;
  }
  om_npu_text(npu, OM_NPU_STATISTICS);
  return isDone ? 0 : -1;
}
