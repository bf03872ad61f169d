//===-- RunModel.cpp - runs a model on hostile inputs ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "test/fuzz/om/RunModel.h"

#include "openatc/npu.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <random>
#include <string>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>

namespace atc::fuzz {

namespace {

constexpr uint64_t maxBytes = 1 << 20;

/// Memory between two pages that may not be touched. Its end is as near to the second one as the
/// alignment of 64 bytes that a session expects allows.
class Guarded {
public:
  explicit Guarded(uint64_t bytes) {
    const auto page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
    const uint64_t inner = (bytes + page) / page * page;
    all = inner + 2 * page;
    base = static_cast<char *>(mmap(nullptr, all, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    if (base == MAP_FAILED || mprotect(base + page, inner, PROT_READ | PROT_WRITE) != 0)
      std::abort();
    start = base + page + (inner - (bytes + 63) / 64 * 64);
  }
  Guarded(Guarded &&other) noexcept
      : base(std::exchange(other.base, nullptr)), start(other.start), all(other.all) {}
  Guarded &operator=(Guarded &&) = delete;
  ~Guarded() {
    if (base)
      munmap(base, all);
  }
  char *data() const { return start; }

private:
  char *base = nullptr, *start = nullptr;
  uint64_t all = 0;
};

struct FreeNpu {
  void operator()(om_npu *npu) const { om_npu_free(npu); }
};

/// A run that cannot begin would pass whatever the model does.
void check(om_status status, std::initializer_list<om_status> allowed, const char *what,
           const char *message) {
  if (std::find(allowed.begin(), allowed.end(), status) != allowed.end())
    return;
  std::fprintf(stderr, "%s: %s: %s\n", what, om_status_name(status), message);
  std::abort();
}

class Runner {
public:
  Runner(const ::om::Model &model, uint32_t seed) : model(model), random(seed) {}

  unsigned run() {
    ::om::Error error;
    om_npu_options simulated = OM_NPU_OPTIONS_INIT;
    simulated.threads = 1;
    om_npu *made = nullptr;
    check(om_npu_simulator(&simulated, &made, &error.c), {OM_OK}, "the simulator cannot be made",
          error.message());
    const std::unique_ptr<om_npu, FreeNpu> npu(made);
    om_session_options options = OM_SESSION_OPTIONS_INIT;
    options.threads = 1;
    options.device = om_npu_device(npu.get());
    options.max_memory = 256u << 20;
    options.max_iterations = 1000;
    options.max_run_us = 2000000;
    ::om::Session session(model, error, options);
    check(error.code(), {OM_OK, OM_ERROR_LIMIT}, "the session cannot be opened", error.message());
    if (!session)
      return 0;
    runFixed(session);
    // Not the same values and sizes twice: a session keeps its memory for the next run.
    for (int times = 0; times < 3; ++times)
      runValues(session);
    return succeeded;
  }

private:
  /// Hostile inputs may be refused, fail, or ask for too much.
  void finish(bool isDone, const ::om::Error &error) {
    succeeded += isDone;
    if (!isDone)
      check(error.code(), {OM_ERROR_ARGUMENT, OM_ERROR_RUN, OM_ERROR_LIMIT, OM_ERROR_MEMORY},
            "a run failed", error.message());
  }

  uint32_t below(uint32_t limit) { return static_cast<uint32_t>(random() % limit); }

  /// Writes small indices, numbers around the ends of types, or any bits.
  void fill(char *data, uint64_t bytes, om_dtype dtype) {
    const uint64_t width = std::max<uint64_t>(om_dtype_bits(dtype) / 8, 1);
    const uint32_t kind = below(4);
    for (uint64_t at = 0; at + width <= bytes; at += width) {
      uint64_t bits = (uint64_t(random()) << 33) ^ random();
      if (kind == 0 || (kind == 1 && below(8)))
        bits = below(3);
      else if (kind == 2)
        bits = std::array<uint64_t, 8>{0,
                                       1,
                                       ~uint64_t(0),
                                       uint64_t(1) << (8 * std::min<uint64_t>(width, 8) - 1),
                                       0x7fffffff,
                                       0x7f800000,
                                       0x7fc000007fc0,
                                       ~uint64_t(0) >> 1}[below(8)];
      std::memcpy(data + at, &bits, std::min<uint64_t>(width, 8));
    }
    if (dtype == OM_BOOL)
      for (uint64_t at = 0; at < bytes; ++at)
        data[at] &= 1;
  }

  bool allocate(const std::vector<::om::Tensor> &tensors, bool isInput,
                std::vector<Guarded> &memory, std::vector<void *> &pointers) {
    for (const ::om::Tensor &tensor : tensors) {
      if (!tensor.fixed() || tensor.bytes > maxBytes)
        return false;
      memory.emplace_back(tensor.bytes);
      pointers.push_back(memory.back().data());
      if (isInput)
        fill(memory.back().data(), tensor.bytes, tensor.dtype);
    }
    return true;
  }

  void runFixed(::om::Session &session) {
    std::vector<Guarded> memory;
    std::vector<void *> inputs, outputs;
    ::om::Error error;
    if (allocate(model.inputs(), true, memory, inputs) &&
        allocate(model.outputs(), false, memory, outputs))
      finish(session.run(inputs.data(), outputs.data(), error), error);
  }

  ::om::Value tensorOf(const ::om::Tensor &port, std::vector<Guarded> &memory) {
    static constexpr std::array<int64_t, 8> sizes = {1, 2, 3, 1, 4, 0, 7, 33};
    std::vector<int64_t> dims = port.dims;
    if (!port.ranked)
      dims.assign(below(5), -1);
    uint64_t elements = 1;
    for (int64_t &dim : dims) {
      dim = dim < 0 ? sizes[below(sizes.size())] : dim;
      if (__builtin_mul_overflow(elements, static_cast<uint64_t>(dim), &elements))
        elements = maxBytes;
    }
    if (elements >= maxBytes / 8)
      return {};
    ::om::Error error;
    if (port.dtype == OM_STRING) {
      static const std::array<std::string, 4> texts = {"", "a", "b c", "\xff-1.5e"};
      std::vector<std::string> items(elements);
      for (std::string &item : items)
        item = texts[below(texts.size())];
      return ::om::Value::strings(dims, items, error);
    }
    const uint64_t bytes = (elements * om_dtype_bits(port.dtype) + 7) / 8;
    memory.emplace_back(bytes);
    fill(memory.back().data(), bytes, port.dtype);
    return ::om::Value::borrow(port.dtype, dims, memory.back().data(), error);
  }

  void runValues(::om::Session &session) {
    ::om::Error error;
    std::vector<Guarded> memory; // lives longer than the values in it
    std::vector<::om::Value> values;
    for (const ::om::Tensor &port : model.inputs()) {
      if (port.kind == OM_KIND_SEQUENCE) {
        std::vector<::om::Value> items;
        for (uint32_t count = below(4); count--;)
          items.push_back(tensorOf(port, memory));
        values.push_back(::om::Value::sequence(port.dtype, items, error));
      } else {
        values.push_back(tensorOf(port, memory));
      }
      if (!values.back())
        return;
    }
    session.run(values, error);
    finish(!error, error);
  }

  const ::om::Model &model;
  std::minstd_rand random;
  unsigned succeeded = 0;
};

} // namespace

unsigned runModel(const ::om::Model &model, uint32_t seed) {
  return Runner(model, seed % 2147483646 + 1).run();
}

} // namespace atc::fuzz
