//===-- ThreadsTest.cpp - 16 threads with contexts of their own -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// ascend-threads-test [seconds]: each thread has a context, two streams, events and memory,
// loads the model now and then, and executes it in both ways. `scripts/test.sh --tsan` runs it
// for a minute.
#include "acl/acl.h"

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

namespace {

const char *const path = OPENATC_TEST_GOLDEN "/schema-1.3.om";

#define MUST(call)                                                                                 \
  if (aclError code = (call); code != ACL_SUCCESS) {                                               \
    const char *message = aclGetRecentErrMsg();                                                    \
    fprintf(stderr, "%s: %d %s\n", #call, code, message ? message : "");                           \
    exit(1);                                                                                       \
  }

struct Buffers {
  explicit Buffers(aclmdlDesc *desc) {
    for (size_t i = 0; i < aclmdlGetNumInputs(desc); ++i)
      add(input, aclmdlGetInputSizeByIndex(desc, i));
    for (size_t i = 0; i < aclmdlGetNumOutputs(desc); ++i)
      add(output, aclmdlGetOutputSizeByIndex(desc, i));
  }
  ~Buffers() {
    MUST(aclmdlDestroyDataset(input));
    MUST(aclmdlDestroyDataset(output));
    for (aclDataBuffer *buffer : buffers) {
      MUST(aclrtFree(aclGetDataBufferAddr(buffer)));
      MUST(aclDestroyDataBuffer(buffer));
    }
  }
  void add(aclmdlDataset *dataset, size_t bytes) {
    void *data = nullptr;
    MUST(aclrtMalloc(&data, bytes, ACL_MEM_MALLOC_HUGE_FIRST));
    buffers.push_back(aclCreateDataBuffer(data, bytes));
    MUST(aclmdlAddDatasetBuffer(dataset, buffers.back()));
  }
  aclmdlDataset *input = aclmdlCreateDataset(), *output = aclmdlCreateDataset();
  std::vector<aclDataBuffer *> buffers;
};

/// Executes the model on `value`s; returns the first sum.
float execute(uint32_t id, Buffers &data, float value, aclrtStream copies, aclrtStream runs,
              bool async) {
  std::vector<float> values(64 * 48, value), sums(64);
  aclrtEvent copied = nullptr;
  MUST(aclrtCreateEvent(&copied));
  void *from = aclGetDataBufferAddr(data.buffers[0]), *to = aclGetDataBufferAddr(data.buffers[1]);
  MUST(aclrtMemcpyAsync(from, values.size() * 4, values.data(), values.size() * 4,
                        ACL_MEMCPY_HOST_TO_DEVICE, copies));
  MUST(aclrtRecordEvent(copied, copies));
  if (async) {
    MUST(aclrtStreamWaitEvent(runs, copied));
    MUST(aclmdlExecuteAsync(id, data.input, data.output, runs));
    MUST(aclrtMemcpyAsync(sums.data(), 256, to, 256, ACL_MEMCPY_DEVICE_TO_HOST, runs));
    MUST(aclrtSynchronizeStream(runs));
  } else {
    MUST(aclrtSynchronizeEvent(copied));
    MUST(aclmdlExecute(id, data.input, data.output));
    MUST(aclrtMemcpy(sums.data(), 256, to, 256, ACL_MEMCPY_DEVICE_TO_HOST));
  }
  MUST(aclrtDestroyEvent(copied));
  return sums[0];
}

std::atomic<long> executions{0};

void work(int thread, std::chrono::steady_clock::time_point end, uint32_t shared,
          const std::vector<float> &wanted) {
  aclrtContext context = nullptr;
  MUST(aclrtCreateContext(&context, 0));
  aclrtStream copies = nullptr, runs = nullptr;
  MUST(aclrtCreateStream(&copies));
  MUST(aclrtCreateStream(&runs));
  aclmdlDesc *desc = aclmdlCreateDesc();
  int round = 0;
  do {
    uint32_t id = shared;
    const bool own = round % 4 == 0;
    if (own)
      MUST(aclmdlLoadFromFile(path, &id));
    MUST(aclmdlGetDesc(desc, id));
    {
      Buffers data(desc);
      for (size_t i = 0; i < wanted.size(); ++i, ++executions) {
        const size_t value = (i + size_t(thread)) % wanted.size();
        if (execute(id, data, float(value), copies, runs, i % 2) != wanted[value]) {
          fprintf(stderr, "thread %d: a wrong result\n", thread);
          exit(1);
        }
      }
    }
    if (own)
      MUST(aclmdlUnload(id));
    ++round;
  } while (std::chrono::steady_clock::now() < end);
  MUST(aclmdlDestroyDesc(desc));
  MUST(aclrtDestroyStream(copies));
  MUST(aclrtDestroyStream(runs));
  MUST(aclrtDestroyContext(context));
}

} // namespace

int main(int argc, char **argv) {
  const int seconds = argc > 1 ? atoi(argv[1]) : 1;
  MUST(aclInit(nullptr));
  MUST(aclrtSetDevice(0));
  uint32_t shared = 0;
  MUST(aclmdlLoadFromFile(path, &shared));
  aclmdlDesc *desc = aclmdlCreateDesc();
  MUST(aclmdlGetDesc(desc, shared));
  aclrtStream stream = nullptr;
  MUST(aclrtCreateStream(&stream));
  std::vector<float> wanted;
  {
    Buffers data(desc);
    for (int value = 0; value < 4; ++value)
      wanted.push_back(execute(shared, data, float(value), stream, stream, false));
  }
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
  std::vector<std::thread> threads;
  for (int i = 0; i < 16; ++i)
    threads.emplace_back(work, i, end, shared, std::cref(wanted));
  for (std::thread &thread : threads)
    thread.join();
  MUST(aclrtDestroyStream(stream));
  MUST(aclmdlDestroyDesc(desc));
  MUST(aclrtResetDevice(0));
  MUST(aclFinalize());
  printf("%ld executions on 16 threads\n", executions.load());
  return 0;
}
