//===-- Pipeline.cpp - copies, executions and callbacks that overlap ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A thread reads pictures and copies them to the device on one stream, a second one executes the
// model on another, results come back on a third, and a fourth thread runs the callbacks that
// look at them. Events order the streams; each slot of memory is used again when its callback has
// run. Usage: pipeline MODEL PICTURE...

#include "test/ascend/programs/Program.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <queue>
#include <thread>

namespace {

constexpr int slotCount = 3, rounds = 4;

/// A queue between two threads.
template <typename T> class Queue {
public:
  void put(T value) {
    std::lock_guard lock(mutex);
    values.push(value);
    changed.notify_one();
  }
  T take() {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return !values.empty(); });
    T value = values.front();
    values.pop();
    return value;
  }

private:
  std::mutex mutex;
  std::condition_variable changed;
  std::queue<T> values;
};

/// The memory of one picture on its way, and the events that say how far it is.
struct Slot {
  void *hostInput = nullptr, *hostOutput = nullptr, *input = nullptr, *output = nullptr;
  aclmdlDataset *inputs = nullptr, *outputs = nullptr;
  aclrtEvent copied = nullptr, executed = nullptr;
  int picture = -1;
};

struct Pipeline {
  std::vector<int> answers;
  Queue<Slot *> free, filled;
  std::atomic<int> done{0};
  std::atomic<bool> stop{false};
  size_t outputCount = 0;
};

/// Holds the argument of a callback.
struct Answer {
  Pipeline *pipeline;
  Slot *slot;
};

aclmdlDataset *datasetOf(void *memory, size_t bytes) {
  aclmdlDataset *dataset = aclmdlCreateDataset();
  CHECK_ACL(aclmdlAddDatasetBuffer(dataset, aclCreateDataBuffer(memory, bytes)));
  return dataset;
}

void destroy(aclmdlDataset *dataset) {
  CHECK_ACL(aclDestroyDataBuffer(aclmdlGetDatasetBuffer(dataset, 0)));
  CHECK_ACL(aclmdlDestroyDataset(dataset));
}

/// Runs on the thread that has subscribed: looks at a result and frees the slot.
void look(void *given) {
  auto *answer = static_cast<Answer *>(given);
  const float *values = static_cast<const float *>(answer->slot->hostOutput);
  Pipeline &pipeline = *answer->pipeline;
  pipeline.answers[size_t(answer->slot->picture)] =
      int(std::max_element(values, values + pipeline.outputCount) - values);
  pipeline.done++;
  pipeline.free.put(answer->slot);
  delete answer;
}

} // namespace

int main(int argc, char **argv) {
  EXPECT(argc > 2);
  Resource resource;
  uint32_t id = 0;
  const std::vector<char> file = readFile(argv[1]);
  CHECK_ACL(aclmdlLoadFromMem(file.data(), file.size(), &id));
  aclmdlDesc *desc = aclmdlCreateDesc();
  CHECK_ACL(aclmdlGetDesc(desc, id));
  const size_t inputBytes = aclmdlGetInputSizeByIndex(desc, 0);
  const size_t outputBytes = aclmdlGetOutputSizeByIndex(desc, 0);
  const int pictures = (argc - 2) * rounds;

  Pipeline pipeline;
  pipeline.answers.assign(size_t(pictures), -1);
  pipeline.outputCount = outputBytes / sizeof(float);
  aclrtStream copying = nullptr, executing = nullptr, returning = nullptr;
  CHECK_ACL(aclrtCreateStreamWithConfig(&copying, 0, ACL_STREAM_FAST_LAUNCH));
  CHECK_ACL(aclrtCreateStream(&executing));
  CHECK_ACL(aclrtCreateStream(&returning));
  aclrtEvent begin = nullptr, end = nullptr;
  CHECK_ACL(aclrtCreateEventWithFlag(&begin, ACL_EVENT_TIME_LINE));
  CHECK_ACL(aclrtCreateEventWithFlag(&end, ACL_EVENT_TIME_LINE));
  std::vector<Slot> slots(slotCount);
  for (Slot &slot : slots) {
    CHECK_ACL(aclrtMallocHost(&slot.hostInput, inputBytes));
    CHECK_ACL(aclrtMallocHost(&slot.hostOutput, outputBytes));
    CHECK_ACL(aclrtMalloc(&slot.input, inputBytes, ACL_MEM_MALLOC_HUGE_FIRST));
    CHECK_ACL(aclrtMalloc(&slot.output, outputBytes, ACL_MEM_MALLOC_HUGE_FIRST));
    slot.inputs = datasetOf(slot.input, inputBytes);
    slot.outputs = datasetOf(slot.output, outputBytes);
    CHECK_ACL(aclrtCreateEventWithFlag(&slot.copied, ACL_EVENT_SYNC));
    CHECK_ACL(aclrtCreateEventWithFlag(&slot.executed, ACL_EVENT_SYNC));
    pipeline.free.put(&slot);
  }

  std::thread callbacks([&] {
    CHECK_ACL(aclrtSetCurrentContext(resource.context));
    while (!pipeline.stop)
      (void)aclrtProcessReport(20);
  });
  static_assert(sizeof(std::thread::native_handle_type) <= sizeof(uint64_t));
  const uint64_t callbackThread = uint64_t(callbacks.native_handle());
  CHECK_ACL(aclrtSubscribeReport(callbackThread, returning));
  CHECK_ACL(aclrtRecordEvent(begin, copying));

  std::thread reader([&] {
    CHECK_ACL(aclrtSetCurrentContext(resource.context));
    for (int picture = 0; picture < pictures; ++picture) {
      const std::vector<char> bytes = readFile(argv[2 + picture % (argc - 2)]);
      EXPECT(bytes.size() == inputBytes);
      Slot *slot = pipeline.free.take();
      slot->picture = picture;
      memcpy(slot->hostInput, bytes.data(), inputBytes);
      CHECK_ACL(aclrtMemcpyAsync(slot->input, inputBytes, slot->hostInput, inputBytes,
                                 ACL_MEMCPY_HOST_TO_DEVICE, copying));
      CHECK_ACL(aclrtRecordEvent(slot->copied, copying));
      pipeline.filled.put(slot);
    }
    pipeline.filled.put(nullptr);
  });
  std::thread executor([&] {
    CHECK_ACL(aclrtSetCurrentContext(resource.context));
    while (Slot *slot = pipeline.filled.take()) {
      CHECK_ACL(aclrtStreamWaitEvent(executing, slot->copied));
      CHECK_ACL(aclrtResetEvent(slot->copied, executing));
      CHECK_ACL(aclmdlExecuteAsync(id, slot->inputs, slot->outputs, executing));
      CHECK_ACL(aclrtRecordEvent(slot->executed, executing));
      CHECK_ACL(aclrtStreamWaitEvent(returning, slot->executed));
      CHECK_ACL(aclrtResetEvent(slot->executed, returning));
      CHECK_ACL(aclrtMemcpyAsync(slot->hostOutput, outputBytes, slot->output, outputBytes,
                                 ACL_MEMCPY_DEVICE_TO_HOST, returning));
      CHECK_ACL(
          aclrtLaunchCallback(look, new Answer{&pipeline, slot}, ACL_CALLBACK_NO_BLOCK, returning));
    }
    CHECK_ACL(aclrtRecordEvent(end, returning));
  });
  reader.join();
  executor.join();
  CHECK_ACL(aclrtSynchronizeEvent(end));
  CHECK_ACL(aclrtSynchronizeStreamWithTimeout(returning, 60000));
  while (pipeline.done < pictures)
    std::this_thread::yield(); // callbacks that do not block run behind the stream
  float milliseconds = -1;
  CHECK_ACL(aclrtEventElapsedTime(&milliseconds, begin, end));
  EXPECT(milliseconds > 0);
  CHECK_ACL(aclrtUnSubscribeReport(callbackThread, returning));
  pipeline.stop = true;
  callbacks.join();
  for (int answer : pipeline.answers)
    printf("%d ", answer);
  printf("\n");

  CHECK_ACL(aclmdlUnload(id));
  CHECK_ACL(aclmdlDestroyDesc(desc));
  for (Slot &slot : slots) {
    destroy(slot.inputs);
    destroy(slot.outputs);
    CHECK_ACL(aclrtFreeHost(slot.hostInput));
    CHECK_ACL(aclrtFreeHost(slot.hostOutput));
    CHECK_ACL(aclrtFree(slot.input));
    CHECK_ACL(aclrtFree(slot.output));
    CHECK_ACL(aclrtDestroyEvent(slot.copied));
    CHECK_ACL(aclrtDestroyEvent(slot.executed));
  }
  CHECK_ACL(aclrtDestroyEvent(begin));
  CHECK_ACL(aclrtDestroyEvent(end));
  for (aclrtStream stream : {copying, executing, returning})
    CHECK_ACL(aclrtDestroyStream(stream));
  return 0;
}
