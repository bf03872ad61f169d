//===-- MemoryFailsTest.cpp - each allocation of a call fails once ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every allocation that a scenario makes fails once, and then all behind it. A call may then end
// with a code and a message, and no exception may leave it; the scenario works again afterwards.

#define ENABLE_DVPP_INTERFACE
#include "acl/ops/acl_dvpp.h"
#include "aclnnop/aclnn_cat.h"
#include "aclnnop/aclnn_permute.h"
#include "test/ascend/AclTest.h"
#include "test/ascend/FailingMemory.h"

#include <cstring>
#include <functional>

using namespace atc::test;

namespace {

const char *const modelPath = OPENATC_TEST_GOLDEN "/schema-1.3.om";

/// The results of the calls of a scenario. It allocates nothing.
struct Outcome {
  bool failed = false;          ///< a call has, so the rest of the scenario is left out
  const char *silent = nullptr; ///< a call that failed without a message

  bool ok(aclError code, const char *call) {
    if (code == ACL_SUCCESS)
      return !failed;
    failed = true;
    if (!aclGetRecentErrMsg() && !silent)
      silent = call;
    return false;
  }
  bool made(const void *handle, const char *call) {
    return ok(handle ? ACL_SUCCESS : ACL_ERROR_BAD_ALLOC, call);
  }
};
#define OK(call) outcome.ok(call, #call)
#define MADE(handle) outcome.made(handle, #handle)

/// Loads a model and executes it, at once and on a stream.
void runModel(Outcome &outcome) {
  uint32_t id = 0;
  if (!OK(aclmdlLoadFromFile(modelPath, &id)))
    return;
  aclmdlDesc *desc = aclmdlCreateDesc();
  aclmdlDataset *sets[] = {aclmdlCreateDataset(), aclmdlCreateDataset()};
  void *blocks[8] = {};
  aclDataBuffer *buffers[8] = {};
  size_t used = 0;
  bool good = MADE(desc) && MADE(sets[0]) && MADE(sets[1]) && OK(aclmdlGetDesc(desc, id));
  auto add = [&](aclmdlDataset *set, size_t bytes) {
    good = good && OK(aclrtMalloc(&blocks[used], bytes, ACL_MEM_MALLOC_HUGE_FIRST));
    if (!good)
      return;
    memset(blocks[used], 0, bytes);
    buffers[used] = aclCreateDataBuffer(blocks[used], bytes);
    good = MADE(buffers[used]) && OK(aclmdlAddDatasetBuffer(set, buffers[used]));
    ++used;
  };
  for (size_t i = 0; good && i < aclmdlGetNumInputs(desc); ++i)
    add(sets[0], aclmdlGetInputSizeByIndex(desc, i));
  for (size_t i = 0; good && i < aclmdlGetNumOutputs(desc); ++i)
    add(sets[1], aclmdlGetOutputSizeByIndex(desc, i));
  aclrtStream stream = nullptr;
  good = good && OK(aclmdlExecute(id, sets[0], sets[1])) && OK(aclrtCreateStream(&stream)) &&
         OK(aclmdlExecuteAsync(id, sets[0], sets[1], stream)) && OK(aclrtSynchronizeStream(stream));
  if (stream)
    aclrtDestroyStream(stream);
  for (aclmdlDataset *set : sets)
    if (set)
      aclmdlDestroyDataset(set);
  for (size_t i = 0; i < 8; ++i) {
    if (buffers[i])
      aclDestroyDataBuffer(buffers[i]);
    if (blocks[i])
      aclrtFree(blocks[i]);
  }
  if (desc)
    aclmdlDestroyDesc(desc);
  OK(aclmdlUnload(id));
}

/// Moves elements by functions of operators.
void runFunctions(Outcome &outcome) {
  void *blocks[3] = {};
  aclTensor *tensors[3] = {};
  const int64_t dims[] = {2, 3}, turned[] = {3, 2}, joined[] = {6, 2};
  const int64_t *shapes[] = {dims, turned, joined};
  bool good = true;
  for (int i = 0; good && i < 3; ++i) {
    good = OK(aclrtMalloc(&blocks[i], 64, ACL_MEM_MALLOC_HUGE_FIRST));
    if (!good)
      break;
    memset(blocks[i], i, 64);
    tensors[i] = aclCreateTensor(shapes[i], 2, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, shapes[i], 2,
                                 blocks[i]);
    good = MADE(tensors[i]);
  }
  const int64_t order[] = {1, 0};
  aclIntArray *axes = good ? aclCreateIntArray(order, 2) : nullptr;
  uint64_t size = 0;
  aclOpExecutor *executor = nullptr;
  good = good && MADE(axes) &&
         OK(aclnnPermuteGetWorkspaceSize(tensors[0], axes, tensors[1], &size, &executor)) &&
         OK(aclnnPermute(nullptr, size, executor, nullptr)) && OK(aclrtSynchronizeStream(nullptr));
  aclTensor *parts[] = {tensors[1], tensors[1]};
  aclTensorList *list = good ? aclCreateTensorList(parts, 2) : nullptr;
  good = good && MADE(list) &&
         OK(aclnnCatGetWorkspaceSize(list, 0, tensors[2], &size, &executor)) &&
         OK(aclnnCat(nullptr, size, executor, nullptr)) && OK(aclrtSynchronizeStream(nullptr));
  if (axes)
    aclDestroyIntArray(axes);
  if (list) // and with it its tensors
    aclDestroyTensorList(list);
  for (int i = 0; i < 3; ++i) {
    if (tensors[i] && !(list && i == 1))
      aclDestroyTensor(tensors[i]);
    if (blocks[i])
      aclrtFree(blocks[i]);
  }
}

/// Streams, events, tasks of the host, casts of single operators that cannot be compiled here.
void runStreams(Outcome &outcome) {
  aclrtStream stream = nullptr;
  aclrtEvent event = nullptr;
  void *block = nullptr;
  if (OK(aclrtCreateStream(&stream)) && OK(aclrtCreateEvent(&event)) &&
      OK(aclrtMalloc(&block, 256, ACL_MEM_MALLOC_HUGE_FIRST)) &&
      OK(aclrtMemsetAsync(block, 256, 1, 256, stream)) && OK(aclrtRecordEvent(event, stream)) &&
      OK(aclrtStreamWaitEvent(stream, event)) &&
      OK(aclrtMemcpyAsync(block, 128, static_cast<char *>(block) + 128, 128,
                          ACL_MEMCPY_DEVICE_TO_DEVICE, stream)))
    OK(aclrtSynchronizeStream(stream));
  if (event)
    aclrtDestroyEvent(event);
  if (stream)
    aclrtDestroyStream(stream);
  if (block)
    aclrtFree(block);
  const int64_t dims[] = {2};
  aclTensorDesc *desc = aclCreateTensorDesc(ACL_FLOAT, 1, dims, ACL_FORMAT_ND);
  if (MADE(desc)) {
    aclSetTensorDescName(desc, "a name that is longer than what a string holds by itself");
    aclDataBuffer *buffer = aclCreateDataBuffer(nullptr, 0);
    if (MADE(buffer)) {
      // There is no such operator, also where all memory is there.
      aclopExecuteV2("NoSuchOperator", 1, &desc, &buffer, 1, &desc, &buffer, nullptr, nullptr);
      aclDestroyDataBuffer(buffer);
    }
    aclDestroyTensorDesc(desc);
  }
}

/// Resizes a picture.
void runPictures(Outcome &outcome) {
  acldvppChannelDesc *channel = acldvppCreateChannelDesc();
  if (!MADE(channel))
    return;
  acldvppResizeConfig *resize = acldvppCreateResizeConfig();
  acldvppPicDesc *pictures[2] = {};
  void *blocks[2] = {};
  bool isOpen = false, good = MADE(resize) && (isOpen = OK(acldvppCreateChannel(channel)));
  for (int i = 0; good && i < 2; ++i) {
    const uint32_t width = i ? 16 : 32, bytes = width * width * 3 / 2;
    pictures[i] = acldvppCreatePicDesc();
    good = MADE(pictures[i]) && OK(acldvppMalloc(&blocks[i], bytes)) &&
           OK(acldvppSetPicDescData(pictures[i], blocks[i])) &&
           OK(acldvppSetPicDescSize(pictures[i], bytes)) &&
           OK(acldvppSetPicDescFormat(pictures[i], PIXEL_FORMAT_YUV_SEMIPLANAR_420)) &&
           OK(acldvppSetPicDescWidth(pictures[i], width)) &&
           OK(acldvppSetPicDescHeight(pictures[i], width)) &&
           OK(acldvppSetPicDescWidthStride(pictures[i], width)) &&
           OK(acldvppSetPicDescHeightStride(pictures[i], width));
    if (good)
      memset(blocks[i], 128, bytes);
  }
  if (good && OK(acldvppVpcResizeAsync(channel, pictures[0], pictures[1], resize, nullptr)))
    OK(aclrtSynchronizeStream(nullptr));
  for (int i = 0; i < 2; ++i) {
    if (pictures[i])
      acldvppDestroyPicDesc(pictures[i]);
    if (blocks[i])
      acldvppFree(blocks[i]);
  }
  if (resize)
    acldvppDestroyResizeConfig(resize);
  if (isOpen)
    acldvppDestroyChannel(channel);
  acldvppDestroyChannelDesc(channel);
}

void failEach(void (*scenario)(Outcome &)) {
  Started started;
  Outcome first;
  scenario(first); // what is made once is made now
  REQUIRE_FALSE(first.failed);
  for (bool andAllBehind : {false, true}) {
    long failures = 1, n = 0;
    for (; failures; ++n) {
      REQUIRE(n < 100000);
      Outcome outcome, after;
      failAllocation(n, andAllBehind);
      scenario(outcome);
      failures = endFailures();
      INFO("allocation " << n << (andAllBehind ? " and all behind it" : ""));
      CHECK(std::string(outcome.silent ? outcome.silent : "") == "");
      scenario(after);
      CHECK_FALSE(after.failed);
    }
    CHECK(n > 10);
  }
}

} // namespace

TEST_CASE("no exception of missing memory leaves the execution of a model") { failEach(runModel); }
TEST_CASE("no exception of missing memory leaves functions of operators") {
  failEach(runFunctions);
}
TEST_CASE("no exception of missing memory leaves streams and descriptions") {
  failEach(runStreams);
}
TEST_CASE("no exception of missing memory leaves the processing of pictures") {
  failEach(runPictures);
}
