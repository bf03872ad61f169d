//===-- Program.h - what programs of users have in common -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_TEST_ASCEND_PROGRAMS_PROGRAM_H
#define OPENATC_TEST_ASCEND_PROGRAMS_PROGRAM_H

#include "acl/acl.h"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

/// Ends the program where a call fails.
#define CHECK_ACL(call)                                                                            \
  do {                                                                                             \
    const aclError code_ = (call);                                                                 \
    if (code_ != ACL_SUCCESS) {                                                                    \
      const char *message_ = aclGetRecentErrMsg();                                                 \
      fprintf(stderr, "%s:%d: %s returns %d: %s\n", __FILE__, __LINE__, #call, int(code_),         \
              message_ ? message_ : "");                                                           \
      exit(1);                                                                                     \
    }                                                                                              \
  } while (0)

/// Ends the program where what it relies on does not hold.
#define EXPECT(condition)                                                                          \
  do {                                                                                             \
    if (!(condition)) {                                                                            \
      fprintf(stderr, "%s:%d: %s does not hold\n", __FILE__, __LINE__, #condition);                \
      exit(1);                                                                                     \
    }                                                                                              \
  } while (0)

/// Opens a device, with a context and a stream, and closes all in the usual order.
class Resource {
public:
  explicit Resource(int32_t device = 0) : device(device) {
    CHECK_ACL(aclInit(nullptr));
    CHECK_ACL(aclrtSetDevice(device));
    CHECK_ACL(aclrtCreateContext(&context, device));
    CHECK_ACL(aclrtCreateStream(&stream));
    CHECK_ACL(aclrtGetRunMode(&mode));
  }
  Resource(const Resource &) = delete;
  Resource &operator=(const Resource &) = delete;
  ~Resource() {
    CHECK_ACL(aclrtDestroyStream(stream));
    CHECK_ACL(aclrtDestroyContext(context));
    CHECK_ACL(aclrtResetDevice(device));
    CHECK_ACL(aclFinalize());
  }

  const int32_t device;
  aclrtContext context = nullptr;
  aclrtStream stream = nullptr;
  aclrtRunMode mode = ACL_DEVICE;
};

/// A loaded model, with memory for its inputs and outputs as large as it says.
class Model {
public:
  explicit Model(const char *path) {
    size_t work = 0, weights = 0;
    CHECK_ACL(aclmdlQuerySize(path, &work, &weights));
    CHECK_ACL(aclrtMalloc(&workMemory, work, ACL_MEM_MALLOC_HUGE_FIRST));
    CHECK_ACL(aclrtMalloc(&weightMemory, weights, ACL_MEM_MALLOC_HUGE_FIRST));
    CHECK_ACL(aclmdlLoadFromFileWithMem(path, &id, workMemory, work, weightMemory, weights));
    desc = aclmdlCreateDesc();
    CHECK_ACL(aclmdlGetDesc(desc, id));
    for (size_t i = 0; i < aclmdlGetNumInputs(desc); ++i)
      add(inputs, aclmdlGetInputSizeByIndex(desc, i));
    for (size_t i = 0; i < aclmdlGetNumOutputs(desc); ++i)
      add(outputs, aclmdlGetOutputSizeByIndex(desc, i));
  }
  Model(const Model &) = delete;
  Model &operator=(const Model &) = delete;
  ~Model() {
    CHECK_ACL(aclmdlUnload(id));
    CHECK_ACL(aclmdlDestroyDesc(desc));
    for (aclmdlDataset *dataset : {inputs, outputs}) {
      for (size_t i = 0; i < aclmdlGetDatasetNumBuffers(dataset); ++i) {
        aclDataBuffer *buffer = aclmdlGetDatasetBuffer(dataset, i);
        if (aclGetDataBufferAddr(buffer))
          CHECK_ACL(aclrtFree(aclGetDataBufferAddr(buffer)));
        CHECK_ACL(aclDestroyDataBuffer(buffer));
      }
      CHECK_ACL(aclmdlDestroyDataset(dataset));
    }
    CHECK_ACL(aclrtFree(workMemory));
    CHECK_ACL(aclrtFree(weightMemory));
  }

  /// Copies bytes of the host to an input.
  void set(size_t index, const void *data, size_t bytes) {
    aclDataBuffer *buffer = aclmdlGetDatasetBuffer(inputs, index);
    CHECK_ACL(aclrtMemcpy(aclGetDataBufferAddr(buffer), aclGetDataBufferSizeV2(buffer), data, bytes,
                          ACL_MEMCPY_HOST_TO_DEVICE));
  }

  /// Returns the first `count` numbers of an output.
  std::vector<float> get(size_t index, size_t count) {
    aclDataBuffer *buffer = aclmdlGetDatasetBuffer(outputs, index);
    std::vector<float> values(count);
    CHECK_ACL(aclrtMemcpy(values.data(), count * sizeof(float), aclGetDataBufferAddr(buffer),
                          count * sizeof(float), ACL_MEMCPY_DEVICE_TO_HOST));
    return values;
  }

  void execute() { CHECK_ACL(aclmdlExecute(id, inputs, outputs)); }

  uint32_t id = 0;
  aclmdlDesc *desc = nullptr;
  aclmdlDataset *inputs = aclmdlCreateDataset(), *outputs = aclmdlCreateDataset();

private:
  static void add(aclmdlDataset *dataset, size_t bytes) {
    void *memory = nullptr; // dims of any size have no size yet
    if (bytes > 0)
      CHECK_ACL(aclrtMalloc(&memory, bytes, ACL_MEM_MALLOC_NORMAL_ONLY));
    CHECK_ACL(aclmdlAddDatasetBuffer(dataset, aclCreateDataBuffer(memory, bytes)));
  }

  void *workMemory = nullptr, *weightMemory = nullptr;
};

/// Returns the bytes of a file.
inline std::vector<char> readFile(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT(file.good());
  return {std::istreambuf_iterator<char>(file), {}};
}

#endif
