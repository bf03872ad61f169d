//===-- DeviceTasks.cpp - copies by descriptors, random numbers ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ascend/operators/Cast.h"
#include "ascend/src/Buffers.h"
#include "ascend/src/Context.h"
#include "ascend/src/Errors.h"
#include "ascend/src/memory/Memory.h"

#include <cmath>
#include <cstring>
#include <random>

namespace atc::ascend {
namespace {

/// A copy as device memory holds it.
struct CopyDescription {
  static constexpr uint64_t magic = 0x7970636d656d6c63;
  uint64_t mark = magic;
  void *target = nullptr;
  const void *source = nullptr;
  uint64_t bytes = 0;
};

bool isWithinDevice(aclrtMemcpyKind kind) {
  return kind == ACL_MEMCPY_DEVICE_TO_DEVICE || kind == ACL_MEMCPY_INNER_DEVICE_TO_DEVICE;
}

aclError requireWithinDevice(const char *function, aclrtMemcpyKind kind) {
  if (isWithinDevice(kind))
    return ACL_SUCCESS;
  return fail(ACL_ERROR_INVALID_PARAM, function,
              "kind is %d; give ACL_MEMCPY_INNER_DEVICE_TO_DEVICE", int(kind));
}

/// Copies what addresses in device memory say when a task runs.
aclError copyNow(const char *function, void *target, size_t room, const void *source,
                 size_t bytes) {
  MemoryCopy copy;
  ACL_TRY(prepareRow(function, target, room, source, bytes, ACL_MEMCPY_DEVICE_TO_DEVICE, copy));
  copy.run();
  return ACL_SUCCESS;
}

/// Reads a number of a task of random numbers, as a float or as an integer.
aclError readNumber(const char *function, const aclrtRandomParaInfo &given, aclDataType type,
                    void *value) {
  const size_t bytes = bitsOf(type) / 8;
  if (given.size != 0 && given.size != bytes)
    return fail(ACL_ERROR_INVALID_PARAM, function, "a number has %u bytes, of %s it has %zu",
                unsigned(given.size), nameOf(type), bytes);
  const void *address = given.valueOrAddr;
  std::shared_ptr<Block> block;
  if (given.isAddr) {
    memcpy(&address, given.valueOrAddr, sizeof(address));
    ACL_TRY(requireDevice(function, "the address of a number", address, bytes, block));
  }
  memcpy(value, address, bytes);
  return ACL_SUCCESS;
}

aclError readFloat(const char *function, const aclrtRandomParaInfo &given, aclDataType type,
                   double &value) {
  char bytes[8] = {};
  ACL_TRY(readNumber(function, given, type, bytes));
  CastPlan{type, ACL_DOUBLE, 1}.run(bytes, &value);
  return ACL_SUCCESS;
}

/// Writes random numbers when a task runs.
struct RandomTask {
  aclrtRandomNumTaskInfo info;

  aclError run(const char *function) const {
    int64_t seed = 0, count = 0;
    ACL_TRY(readNumber(function, info.randomSeed, ACL_INT64, &seed));
    ACL_TRY(readNumber(function, info.randomNum, ACL_INT64, &count));
    const auto &given = info.randomNumFuncParaInfo;
    const bool isMask = given.funcType == ACL_RT_RANDOM_NUM_FUNC_TYPE_DROPOUT_BITMASK;
    const size_t wide = bitsOf(info.dataType) / 8;
    if (count < 1 || count > (int64_t{1} << 36))
      return fail(ACL_ERROR_INVALID_PARAM, function, "randomNum is %lld", (long long)count);
    std::shared_ptr<Block> results, counters;
    const size_t bytes = isMask ? size_t(count + 7) / 8 : size_t(count) * wide;
    ACL_TRY(requireDevice(function, "randomResultAddr", info.randomResultAddr, bytes, results));
    uint64_t counter[2] = {};
    if (info.randomCounterAddr) {
      ACL_TRY(requireDevice(function, "randomCounterAddr", info.randomCounterAddr, 16, counters));
      memcpy(counter, info.randomCounterAddr, 16);
    }
    std::seed_seq sequence{uint32_t(seed), uint32_t(uint64_t(seed) >> 32), uint32_t(counter[0]),
                           uint32_t(counter[0] >> 32), uint32_t(counter[1])};
    std::mt19937_64 source(sequence);
    double first = 0, second = 0;
    const auto &parameters = given.paramInfo;
    if (isMask) {
      ACL_TRY(
          readFloat(function, parameters.dropoutBitmaskInfo.dropoutRation, info.dataType, first));
      writeMask(source, first, count);
    } else if (given.funcType == ACL_RT_RANDOM_NUM_FUNC_TYPE_UNIFORM_DIS) {
      ACL_TRY(readFloat(function, parameters.uniformDisInfo.min, info.dataType, first));
      ACL_TRY(readFloat(function, parameters.uniformDisInfo.max, info.dataType, second));
      if (!(first <= second))
        return fail(ACL_ERROR_INVALID_PARAM, function, "min is %g, max is %g", first, second);
      write(count, [&] { return first + (second - first) * unit(source); });
    } else {
      ACL_TRY(readFloat(function, parameters.normalDisInfo.mean, info.dataType, first));
      ACL_TRY(readFloat(function, parameters.normalDisInfo.stddev, info.dataType, second));
      std::normal_distribution<double> normal;
      const bool isCut = given.funcType == ACL_RT_RANDOM_NUM_FUNC_TYPE_TRUNCATED_NORMAL_DIS;
      write(count, [&] {
        double value = normal(source);
        while (isCut && std::abs(value) > 2)
          value = normal(source);
        return first + second * value;
      });
    }
    if (counters) {
      counter[0] += uint64_t(count);
      counter[1] += counter[0] < uint64_t(count);
      memcpy(info.randomCounterAddr, counter, 16);
    }
    return ACL_SUCCESS;
  }

private:
  /// Returns a number from 0 to below 1.
  static double unit(std::mt19937_64 &source) { return double(source() >> 11) * 0x1p-53; }

  void writeMask(std::mt19937_64 &source, double ratio, int64_t count) const {
    auto *bits = static_cast<uint8_t *>(info.randomResultAddr);
    memset(bits, 0, size_t(count + 7) / 8);
    for (int64_t i = 0; i < count; ++i)
      bits[i / 8] |= uint8_t((unit(source) >= ratio) << (i % 8));
  }

  template <typename Next> void write(int64_t count, Next next) const {
    auto *to = static_cast<char *>(info.randomResultAddr);
    for (int64_t i = 0; i < count; ++i, to += bitsOf(info.dataType) / 8) {
      const double value = next();
      CastPlan{ACL_DOUBLE, info.dataType, 1}.run(&value, to);
    }
  }
};

} // namespace
} // namespace atc::ascend

using namespace atc::ascend;

aclError aclrtGetMemcpyDescSize(aclrtMemcpyKind kind, size_t *descSize) {
  ACL_REQUIRE(descSize);
  ACL_TRY(requireWithinDevice(__func__, kind));
  *descSize = 64;
  return ACL_SUCCESS;
}

aclError aclrtSetMemcpyDesc(void *desc, aclrtMemcpyKind kind, void *srcAddr, void *dstAddr,
                            size_t count, void *config) {
  ACL_TRY(requireWithinDevice(__func__, kind));
  if (config)
    ACL_FAIL(ACL_ERROR_INVALID_PARAM, "config must be NULL");
  std::shared_ptr<Block> block;
  ACL_TRY(requireDevice(__func__, "desc", desc, 64, block));
  ACL_TRY(requireDevice(__func__, "srcAddr", srcAddr, count, block));
  ACL_TRY(requireDevice(__func__, "dstAddr", dstAddr, count, block));
  CopyDescription description;
  description.target = dstAddr;
  description.source = srcAddr;
  description.bytes = count;
  memcpy(desc, &description, sizeof(description));
  return ACL_SUCCESS;
}

aclError aclrtMemcpyAsyncWithDesc(void *desc, aclrtMemcpyKind kind, aclrtStream stream) {
  ACL_TRY(requireWithinDevice(__func__, kind));
  std::shared_ptr<Block> block;
  ACL_TRY(requireDevice(__func__, "desc", desc, 64, block));
  return enqueue(__func__, stream, [=, name = __func__]() -> aclError {
    CopyDescription description;
    memcpy(&description, desc, sizeof(description));
    if (!block || description.mark != CopyDescription::magic)
      return fail(ACL_ERROR_INVALID_PARAM, name, "desc (%p) was not written by aclrtSetMemcpyDesc",
                  desc);
    return copyNow(name, description.target, description.bytes, description.source,
                   description.bytes);
  });
}

aclError aclrtMemcpyAsyncWithOffset(void **dst, size_t destMax, size_t dstDataOffset,
                                    const void **src, size_t count, size_t srcDataOffset,
                                    aclrtMemcpyKind kind, aclrtStream stream) {
  ACL_TRY(requireWithinDevice(__func__, kind));
  std::shared_ptr<Block> to, from;
  ACL_TRY(requireDevice(__func__, "dst", dst, sizeof(void *), to));
  ACL_TRY(requireDevice(__func__, "src", src, sizeof(void *), from));
  if (dstDataOffset > destMax)
    ACL_FAIL(ACL_ERROR_INVALID_PARAM, "dstDataOffset is %zu, destMax is %zu", dstDataOffset,
             destMax);
  return enqueue(__func__, stream, [=, name = __func__]() -> aclError {
    if (!to || !from || !*dst || !*src)
      return fail(ACL_ERROR_INVALID_PARAM, name, "dst or src holds NULL");
    return copyNow(name, static_cast<char *>(*dst) + dstDataOffset, destMax - dstDataOffset,
                   static_cast<const char *>(*src) + srcDataOffset, count);
  });
}

aclError aclrtRandomNumAsync(const aclrtRandomNumTaskInfo *taskInfo, const aclrtStream stream,
                             void *reserve) {
  ACL_REQUIRE(taskInfo);
  if (reserve)
    ACL_FAIL(ACL_ERROR_INVALID_PARAM, "reserve must be NULL");
  const auto kind = taskInfo->randomNumFuncParaInfo.funcType;
  if (kind < ACL_RT_RANDOM_NUM_FUNC_TYPE_DROPOUT_BITMASK ||
      kind > ACL_RT_RANDOM_NUM_FUNC_TYPE_TRUNCATED_NORMAL_DIS)
    ACL_FAIL(ACL_ERROR_INVALID_PARAM, "funcType is %d; give 0 to 3", int(kind));
  const aclDataType type = taskInfo->dataType;
  const bool isReal = type == ACL_FLOAT || type == ACL_FLOAT16 || type == ACL_BF16;
  const bool isWhole =
      type == ACL_INT32 || type == ACL_INT64 || type == ACL_UINT32 || type == ACL_UINT64;
  if (!isReal && !(isWhole && kind == ACL_RT_RANDOM_NUM_FUNC_TYPE_UNIFORM_DIS))
    ACL_FAIL(ACL_ERROR_UNSUPPORTED_DATA_TYPE, "dataType %d has no such distribution", int(type));
  return enqueue(__func__, stream,
                 [task = RandomTask{*taskInfo}, name = __func__] { return task.run(name); });
}
