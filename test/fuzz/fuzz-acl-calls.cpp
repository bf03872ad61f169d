//===-- fuzz-acl-calls.cpp - no order of calls crashes AscendCL -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An input is a list of calls: a byte chooses the function, the next ones its arguments. These are
// handles of any kind, also destroyed ones, and numbers of any size; addresses are those of real
// memory, because only a program can know whether an address of its own is good.

#include "acl/acl.h"
#include "acl/ops/acl_cblas.h"

#include <array>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace {

/// Memory of the program. Tasks that are lost may use it at any time.
alignas(64) std::array<char, 16384> host;

class Calls {
public:
  Calls(const uint8_t *data, size_t size) : at(data), end(data + size) {
    for (void *&handle : handles)
      handle = nullptr;
  }

  /// Returns whether any call has succeeded.
  bool run() {
    // A call costs some microseconds, an execution a millisecond.
    for (unsigned calls = 0; at != end && calls < 64; ++calls)
      good |= step(byte() % 40) == ACL_SUCCESS;
    aclrtSynchronizeDevice();
    for (void *block : blocks)
      aclrtFree(block);
    for (void *handle : made) {
      aclmdlDestroyDataset(static_cast<aclmdlDataset *>(handle));
      aclDestroyDataBuffer(static_cast<aclDataBuffer *>(handle));
      aclDestroyTensorDesc(static_cast<aclTensorDesc *>(handle));
      aclopDestroyAttr(static_cast<aclopAttr *>(handle));
      aclmdlDestroyAIPP(static_cast<aclmdlAIPP *>(handle));
      aclmdlDestroyDesc(static_cast<aclmdlDesc *>(handle));
      aclrtDestroyStream(handle);
      aclrtDestroyEvent(handle);
      aclrtDestroyContext(handle);
    }
    for (uint32_t model : models)
      aclmdlUnload(model);
    return good;
  }

private:
  uint8_t byte() { return at == end ? 0 : *at++; }
  /// Returns a small number, or one at the edge of a type.
  int64_t number() {
    static constexpr int64_t edges[] = {-1,        INT64_MIN, INT64_MAX, INT32_MAX,
                                        INT32_MIN, 1LL << 32, 1LL << 61, 1LL << 59};
    const uint8_t chosen = byte();
    return chosen < 232 ? chosen % 64 : edges[chosen % 8];
  }
  template <typename T> T *handle() { return static_cast<T *>(handles[byte() % handles.size()]); }
  void keep(void *handle) {
    handles[byte() % handles.size()] = handle;
    made.push_back(handle);
  }
  /// Returns an address of memory on the device or the host with at least 16 KB.
  void *memory() {
    const uint8_t chosen = byte();
    return chosen < 32 || blocks.empty() ? static_cast<void *>(host.data())
                                         : blocks[chosen % blocks.size()];
  }
  size_t room() { return size_t(byte()) * 64; }
  uint32_t model() { return models.empty() ? byte() : models[byte() % models.size()]; }

  aclError step(unsigned function) {
    switch (function) {
    case 0: {
      void *block = nullptr;
      const int64_t size = number();
      const aclError code =
          aclrtMalloc(&block, size < 64 ? 16384 : size_t(size), aclrtMemMallocPolicy(number()));
      if (code == ACL_SUCCESS)
        blocks.push_back(block);
      return code;
    }
    case 1:
      keep(aclCreateDataBuffer(memory(), room()));
      return ACL_SUCCESS;
    case 2:
      keep(aclmdlCreateDataset());
      return ACL_SUCCESS;
    case 3:
      return aclmdlAddDatasetBuffer(handle<aclmdlDataset>(), handle<aclDataBuffer>());
    case 4: {
      int64_t dims[4];
      for (int64_t &dim : dims)
        dim = number();
      const auto type = aclDataType(number());
      const int rank = int(number()) % 5;
      keep(aclCreateTensorDesc(type, rank, dims, aclFormat(number())));
      return ACL_SUCCESS;
    }
    case 5:
      return aclmdlSetDatasetTensorDesc(handle<aclmdlDataset>(), handle<aclTensorDesc>(),
                                        size_t(number()));
    case 6:
      return aclmdlExecute(model(), handle<aclmdlDataset>(), handle<aclmdlDataset>());
    case 7:
      return aclmdlExecuteAsync(model(), handle<aclmdlDataset>(), handle<aclmdlDataset>(),
                                handle<void>());
    case 8: {
      uint32_t id = 0;
      if (models.size() > 3)
        return ACL_ERROR_FAILURE;
      const aclError code = aclmdlLoadFromFile(OPENATC_FUZZ_MODEL, &id);
      if (code == ACL_SUCCESS)
        models.push_back(id);
      return code;
    }
    case 9:
      return aclmdlUnload(model());
    case 10: {
      aclrtStream stream = nullptr;
      const aclError code = aclrtCreateStream(&stream);
      keep(stream);
      return code;
    }
    case 11:
      return aclrtDestroyStream(handle<void>());
    case 12: {
      aclrtEvent event = nullptr;
      const aclError code = aclrtCreateEvent(&event);
      keep(event);
      return code;
    }
    case 13:
      return aclrtRecordEvent(handle<void>(), handle<void>());
    case 14:
      return aclrtSynchronizeEventWithTimeout(handle<void>(), int32_t(number()) % 4);
    case 15:
      return aclrtSynchronizeStreamWithTimeout(handle<void>(), int32_t(number()) % 4);
    case 16: {
      const auto kind = aclrtMemcpyKind(number());
      const size_t bytes = room();
      return aclrtMemcpyAsync(memory(), bytes, memory(), room() % (bytes + 1), kind,
                              handle<void>());
    }
    case 17:
      return aclrtMemset(memory(), room(), int32_t(number()), room());
    case 18: {
      aclrtContext context = nullptr;
      const aclError code = aclrtCreateContext(&context, int32_t(number()));
      keep(context);
      return code;
    }
    case 19:
      return aclrtSetCurrentContext(handle<void>());
    case 20:
      return aclrtDestroyContext(handle<void>());
    case 21:
      return aclmdlDestroyDataset(handle<aclmdlDataset>());
    case 22:
      return aclDestroyDataBuffer(handle<aclDataBuffer>());
    case 23:
      aclDestroyTensorDesc(handle<aclTensorDesc>());
      return ACL_SUCCESS;
    case 24: {
      if (blocks.empty())
        return ACL_ERROR_FAILURE;
      const size_t index = byte() % blocks.size();
      const aclError code = aclrtFree(blocks[index]);
      blocks.erase(blocks.begin() + long(index));
      return code;
    }
    case 25: {
      const auto *from = handle<aclTensorDesc>(), *to = handle<aclTensorDesc>();
      return aclopCast(from, handle<aclDataBuffer>(), to, handle<aclDataBuffer>(), byte(),
                       handle<void>());
    }
    case 26: {
      aclTensorDesc *other = nullptr;
      const aclError code =
          aclTransTensorDescFormat(handle<aclTensorDesc>(), aclFormat(number()), &other);
      keep(other);
      return code;
    }
    case 27:
      return aclGetTensorDescSize(handle<aclTensorDesc>()) ? ACL_SUCCESS : ACL_ERROR_FAILURE;
    case 28: {
      const auto type = aclDataType(number());
      const int m = int(number()), n = int(number()), k = int(number());
      return aclblasGemmEx(aclTransType(byte() % 4), aclTransType(byte() % 4), ACL_TRANS_N, m, n, k,
                           memory(), memory(), -1, type, memory(), -1, type, memory(), memory(), -1,
                           aclDataType(number()), ACL_COMPUTE_HIGH_PRECISION, handle<void>());
    }
    case 29:
      keep(aclopCreateAttr());
      return ACL_SUCCESS;
    case 30:
      return aclopSetAttrInt(handle<aclopAttr>(), "axis", number());
    case 31: {
      aclTensorDesc *descs[] = {handle<aclTensorDesc>(), handle<aclTensorDesc>()};
      aclDataBuffer *buffers[] = {handle<aclDataBuffer>(), handle<aclDataBuffer>()};
      return aclopExecuteV2("Add", int(number()) % 3, descs, buffers, 1, descs, buffers,
                            handle<aclopAttr>(), handle<void>());
    }
    case 32:
      keep(aclmdlCreateDesc());
      return ACL_SUCCESS;
    case 33:
      return aclmdlGetDesc(handle<aclmdlDesc>(), model());
    case 34: {
      aclmdlIODims dims;
      return aclmdlGetInputDims(handle<aclmdlDesc>(), size_t(number()), &dims);
    }
    case 35:
      keep(aclmdlCreateAIPP(uint64_t(number())));
      return ACL_SUCCESS;
    case 36:
      return aclmdlSetAIPPCropParams(handle<aclmdlAIPP>(), int8_t(number()), int32_t(number()),
                                     int32_t(number()), int32_t(number()), int32_t(number()),
                                     uint64_t(number()));
    case 37:
      return aclmdlSetInputAIPP(model(), handle<aclmdlDataset>(), size_t(number()),
                                handle<aclmdlAIPP>());
    case 38:
      return aclmdlSetDynamicBatchSize(model(), handle<aclmdlDataset>(), size_t(number()),
                                       uint64_t(number()));
    default:
      return aclrtStreamWaitEvent(handle<void>(), handle<void>());
    }
  }

  const uint8_t *at, *end;
  std::array<void *, 16> handles;
  std::vector<void *> made; ///< all handles, also those that are in `handles` no more
  std::vector<void *> blocks;
  std::vector<uint32_t> models;
  bool good = false;
};

} // namespace

/// Returns 0 where a call has succeeded.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const bool started = [] {
    setenv("OPENATC_ACL_THREADS", "1", 1);
    return aclInit(nullptr) == ACL_SUCCESS;
  }();
  if (!started || aclrtSetDevice(0) != ACL_SUCCESS)
    std::abort();
  const bool good = Calls(data, size).run();
  if (aclrtResetDeviceForce(0) != ACL_SUCCESS)
    std::abort();
  return good ? 0 : -1;
}
