// Contexts, streams, events with times, callbacks on a thread of their own, asynchronous copies.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Check.h"

#include <atomic>
#include <sstream>
#include <thread>

static std::atomic<bool> isDone(false);
static std::atomic<int> calls(0);

static void serve(aclrtContext context) {
  CHECK(aclrtSetCurrentContext(context));
  while (!isDone)
    (void)aclrtProcessReport(100);
}

static void count(void *) { ++calls; }

int main(int, char **argv) {
  aclrtRunMode mode = ACL_DEVICE;
  CHECK(aclrtGetRunMode(&mode)); // programs ask for it in front of aclInit, too
  CHECK(aclInit(argv[1]));
  CHECK(aclrtSetDevice(0));
  aclrtContext context = nullptr;
  CHECK(aclrtCreateContext(&context, 0));
  CHECK(aclrtGetCurrentContext(&context));
  aclrtStream stream = nullptr;
  CHECK(aclrtCreateStream(&stream));
  for (aclrtMemAttr attr : {ACL_DDR_MEM, ACL_HBM_MEM}) {
    size_t free = 0, total = 0;
    CHECK(aclrtGetMemInfo(attr, &free, &total));
    if (free == 0 || free > total)
      return 2;
  }
  std::thread server(serve, context);
  std::ostringstream text;
  text << server.get_id();
  const uint64_t id = std::stoull(text.str());
  CHECK(aclrtSubscribeReport(id, stream));

  const size_t size = 1 << 20;
  void *host = nullptr, *back = nullptr, *device = nullptr;
  CHECK(aclrtMallocHost(&host, size));
  CHECK(aclrtMallocHost(&back, size));
  CHECK(aclrtMalloc(&device, size, ACL_MEM_MALLOC_HUGE_FIRST));
  aclrtEvent begin = nullptr, end = nullptr;
  CHECK(aclrtCreateEvent(&begin));
  CHECK(aclrtCreateEvent(&end));
  CHECK(aclrtRecordEvent(begin, stream));
  CHECK(aclrtMemsetAsync(host, size, 7, size, stream));
  CHECK(aclrtMemcpyAsync(device, size, host, size, ACL_MEMCPY_HOST_TO_DEVICE, stream));
  CHECK(aclrtMemcpyAsync(back, size, device, size, ACL_MEMCPY_DEVICE_TO_HOST, stream));
  CHECK(aclrtLaunchCallback(count, nullptr, ACL_CALLBACK_BLOCK, stream));
  CHECK(aclrtRecordEvent(end, stream));
  CHECK(aclrtFreeHost(host)); // a queued task keeps it
  CHECK(aclrtSynchronizeStream(stream));
  float milliseconds = -1;
  CHECK(aclrtEventElapsedTime(&milliseconds, begin, end));
  printf("%d %d %d\n", static_cast<char *>(back)[size - 1], calls.load(), milliseconds >= 0);

  isDone = true;
  server.join();
  CHECK(aclrtUnSubscribeReport(id, stream));
  CHECK(aclrtDestroyEvent(begin));
  CHECK(aclrtDestroyEvent(end));
  CHECK(aclrtFreeHost(back));
  CHECK(aclrtFree(device));
  CHECK(aclrtDestroyContext(context)); // with its stream
  CHECK(aclrtResetDevice(0));
  CHECK(aclFinalize());
  return 0;
}
