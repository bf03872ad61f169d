//===-- AclnnTest.cpp - tensors, executors, movement of elements -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "aclnnop/aclnn_add.h"
#include "aclnnop/aclnn_cat.h"
#include "aclnnop/aclnn_replication_pad1d.h"
#include "test/ascend/AclTest.h"

#include <cstring>
#include <numeric>
#include <vector>

namespace {

/// Device memory with float elements and a tensor of them.
struct Floats : DeviceMemory {
  explicit Floats(std::vector<int64_t> shape, std::vector<int64_t> strides = {},
                  int64_t minCount = 0)
      : DeviceMemory(size_t(std::max<int64_t>(minCount, product(shape))) * sizeof(float)),
        shape(shape) {
    auto *values = static_cast<float *>(data);
    std::iota(values, values + count(), 0.0f);
    tensor = aclCreateTensor(shape.data(), shape.size(), ACL_FLOAT,
                             strides.empty() ? nullptr : strides.data(), 0, ACL_FORMAT_ND,
                             shape.data(), shape.size(), data);
    REQUIRE(tensor);
  }
  ~Floats() { CHECK(aclDestroyTensor(tensor) == 0); }

  static int64_t product(const std::vector<int64_t> &dims) {
    return std::accumulate(dims.begin(), dims.end(), int64_t{1}, std::multiplies<>());
  }
  std::vector<float> values() const {
    auto *first = static_cast<float *>(data);
    return {first, first + count()};
  }
  size_t count() const { return bytes / sizeof(float); }
  std::vector<int64_t> shape;
  aclTensor *tensor = nullptr;
};

using Values = std::vector<float>;

struct Ints {
  explicit Ints(std::vector<int64_t> values)
      : array(aclCreateIntArray(values.data(), values.size())) {}
  ~Ints() { CHECK(aclDestroyIntArray(array) == 0); }
  aclIntArray *array;
};

struct Number {
  explicit Number(float value) : scalar(aclCreateScalar(&value, ACL_FLOAT)) {}
  ~Number() { CHECK(aclDestroyScalar(scalar) == 0); }
  aclScalar *scalar;
};

} // namespace

// Calls both functions of a pair and waits.
#define CALL(name, ...)                                                                            \
  do {                                                                                             \
    uint64_t size = 1;                                                                             \
    aclOpExecutor *executor = nullptr;                                                             \
    GOOD(aclnn##name##GetWorkspaceSize(__VA_ARGS__, &size, &executor));                            \
    CHECK(size == 0);                                                                              \
    GOOD(aclnn##name(nullptr, size, executor, nullptr));                                           \
    GOOD(aclrtSynchronizeStream(nullptr));                                                         \
  } while (false)
#define REFUSED(code, name, ...)                                                                   \
  do {                                                                                             \
    uint64_t size = 1;                                                                             \
    aclOpExecutor *executor = nullptr;                                                             \
    BAD(code, aclnn##name##GetWorkspaceSize(__VA_ARGS__, &size, &executor));                       \
    CHECK(executor == nullptr);                                                                    \
  } while (false)

TEST_CASE("elements are moved by dims and strides") {
  Started started;
  Floats x({2, 3}), y({3, 2}), wide({2, 3, 2}), pair({4, 3}), line({2}), whole({6});
  CALL(Permute, x.tensor, Ints({1, 0}).array, y.tensor);
  CHECK(y.values() == Values{0, 3, 1, 4, 2, 5});
  // The same, by a tensor whose elements lie column by column.
  Floats columns({2, 3}, {1, 2});
  CALL(InplaceCopy, columns.tensor, x.tensor);
  CHECK(columns.values() == Values{0, 3, 1, 4, 2, 5});
  Floats last({2, 1});
  CALL(Slice, x.tensor, 1, -1, 99, 1, last.tensor);
  CHECK(last.values() == Values{2, 5});
  CALL(Slice, x.tensor, -1, 0, 3, 3, last.tensor);
  CHECK(last.values() == Values{0, 3});
  CALL(Expand, last.tensor, Ints({2, 3}).array, x.tensor);
  CHECK(x.values() == Values{0, 0, 0, 3, 3, 3});
  Floats small({1, 2}), tiled({2, 4});
  CALL(Repeat, small.tensor, Ints({2, 2}).array, tiled.tensor);
  CHECK(tiled.values() == Values{0, 1, 0, 1, 0, 1, 0, 1});
  Floats third({2, 1, 3}), flat({2, 3});
  CALL(Flatten, third.tensor, 1, flat.tensor);
  CHECK(flat.values() == Values{0, 1, 2, 3, 4, 5});
  CALL(Arange, Number(1).scalar, Number(4).scalar, Number(0.5f).scalar, whole.tensor);
  CHECK(whole.values() == Values{1, 1.5f, 2, 2.5f, 3, 3.5f});
  // Dims of one more hold the same.
  Floats row({1, 1, 6}), one({1});
  CALL(Arange, Number(1).scalar, Number(4).scalar, Number(0.5f).scalar, row.tensor);
  CHECK(row.values() == Values{1, 1.5f, 2, 2.5f, 3, 3.5f});
  CALL(Slice, whole.tensor, 0, 2, 3, 1, one.tensor);
  CHECK(one.values() == Values{2});
  REFUSED(161002, Arange, Number(1).scalar, Number(4).scalar, Number(0.5f).scalar, one.tensor);
  CALL(InplaceFillScalar, line.tensor, Number(7).scalar);
  CHECK(line.values() == Values{7, 7});
  CALL(InplaceZero, line.tensor);
  CHECK(line.values() == Values{0, 0});
}

TEST_CASE("tensors of a list are joined, and destroyed with it") {
  Started started;
  Floats joined({3, 2}), stacked({2, 2, 2});
  DeviceMemory memory(32);
  std::iota(static_cast<float *>(memory.data), static_cast<float *>(memory.data) + 8, 0.0f);
  const int64_t dims[] = {2, 2};
  auto make = [&](int64_t rows) {
    const int64_t own[] = {rows, 2};
    return aclCreateTensor(own, 2, ACL_FLOAT, nullptr, 4, ACL_FORMAT_ND, dims, 2, memory.data);
  };
  aclTensor *parts[] = {make(1), make(2)};
  aclTensorList *list = aclCreateTensorList(parts, 2);
  uint64_t count = 0;
  GOOD(aclGetTensorListSize(list, &count));
  CHECK(count == 2);
  CALL(Cat, list, 0, joined.tensor);
  CHECK(joined.values() == Values{4, 5, 4, 5, 6, 7});
  REFUSED(161002, Stack, list, 0, stacked.tensor);
  GOOD(aclDestroyTensorList(list));
  BAD(161002, aclDestroyTensor(parts[0]));
}

TEST_CASE("an executor is used once, or again and with other addresses") {
  Started started;
  Floats x({3}), y({3}), other({3});
  memset(y.data, 0, y.bytes);
  uint64_t size = 0;
  aclOpExecutor *executor = nullptr;
  GOOD(aclnnInplaceCopyGetWorkspaceSize(y.tensor, x.tensor, &size, &executor));
  BAD(161002, aclnnCat(nullptr, 0, executor, nullptr)); // of another pair
  GOOD(aclnnInplaceCopy(nullptr, 0, executor, nullptr));
  GOOD(aclrtSynchronizeStream(nullptr));
  CHECK(y.values() == Values{0, 1, 2});
  BAD(161002, aclnnInplaceCopy(nullptr, 0, executor, nullptr));

  GOOD(aclnnInplaceCopyGetWorkspaceSize(y.tensor, x.tensor, &size, &executor));
  GOOD(aclSetAclOpExecutorRepeatable(executor));
  static_cast<float *>(other.data)[0] = 8;
  GOOD(aclSetInputTensorAddr(executor, 0, x.tensor, other.data));
  BAD(161002, aclSetInputTensorAddr(executor, 1, x.tensor, other.data));
  BAD(161002, aclSetOutputTensorAddr(executor, 0, x.tensor, other.data));
  for (int i = 0; i < 2; ++i)
    GOOD(aclnnInplaceCopy(nullptr, 0, executor, nullptr));
  GOOD(aclrtSynchronizeStream(nullptr));
  CHECK(y.values() == Values{8, 1, 2});
  GOOD(aclDestroyAclOpExecutor(executor));
  BAD(161002, aclDestroyAclOpExecutor(executor));
}

TEST_CASE("the handle tells whose address is set; the index is less than their number") {
  Started started;
  Floats x({2}), chance({2}), y({2}), other({2});
  *static_cast<float *>(chance.data) = 1;
  auto *one = static_cast<float *>(other.data);
  one[0] = one[1] = 1;
  uint64_t size = 0;
  aclOpExecutor *executor = nullptr;
  GOOD(aclnnBernoulliTensorGetWorkspaceSize(x.tensor, chance.tensor, 3, 0, y.tensor, &size,
                                            &executor));
  GOOD(aclSetInputTensorAddr(executor, 0, x.tensor, x.data));
  GOOD(aclSetInputTensorAddr(executor, 1, chance.tensor, other.data));
  BAD(161002, aclSetInputTensorAddr(executor, 2, x.tensor, other.data));
  BAD(161002, aclSetInputTensorAddr(executor, 0, y.tensor, other.data));
  GOOD(aclnnBernoulliTensor(nullptr, 0, executor, nullptr));
  GOOD(aclrtSynchronizeStream(nullptr));
  CHECK(y.values() == Values{1, 1});
}

TEST_CASE("a tensor of a list gets another address") {
  Started started;
  Floats x({2}), y({2}), joined({4}), other({2});
  const aclTensor *parts[] = {x.tensor, y.tensor};
  aclTensorList *list = aclCreateTensorList(parts, 2);
  uint64_t size = 0;
  aclOpExecutor *executor = nullptr;
  GOOD(aclnnCatGetWorkspaceSize(list, 0, joined.tensor, &size, &executor));
  GOOD(aclSetAclOpExecutorRepeatable(executor));
  static_cast<float *>(other.data)[0] = 8;
  static_cast<float *>(other.data)[1] = 9;
  GOOD(aclSetDynamicInputTensorAddr(executor, 0, 1, list, other.data));
  GOOD(aclnnCat(nullptr, 0, executor, nullptr));
  GOOD(aclrtSynchronizeStream(nullptr));
  CHECK(joined.values() == Values{0, 1, 8, 9});
  GOOD(aclSetDynamicTensorAddr(executor, 0, 0, list, other.data));
  GOOD(aclnnCat(nullptr, 0, executor, nullptr));
  GOOD(aclrtSynchronizeStream(nullptr));
  CHECK(joined.values() == Values{8, 9, 8, 9});
  BAD(161002, aclSetDynamicInputTensorAddr(executor, 0, 2, list, other.data));
  BAD(161002, aclSetDynamicOutputTensorAddr(executor, 0, 0, list, other.data));
  BAD(161001, aclSetDynamicInputTensorAddr(executor, 0, 0, nullptr, other.data));
  BAD(161001, aclSetDynamicInputTensorAddr(nullptr, 0, 0, list, other.data));
  GOOD(aclDestroyAclOpExecutor(executor)); // the list would destroy its tensors
}

TEST_CASE("an executor that has read elements is for one call") {
  Started started;
  Floats x({3}), y({}), order({1});
  *static_cast<float *>(order.data) = 2;
  aclTensor *parts[] = {x.tensor}, *results[] = {y.tensor};
  aclTensorList *list = aclCreateTensorList(parts, 1), *out = aclCreateTensorList(results, 1);
  uint64_t size = 0;
  aclOpExecutor *executor = nullptr;
  GOOD(aclnnForeachNormGetWorkspaceSize(list, order.tensor, out, &size, &executor));
  CHECK(aclSetAclOpExecutorRepeatable(executor) == 161002);
  CHECK(std::string(aclGetRecentErrMsg()).find("reads the elements of scalar") !=
        std::string::npos);
  GOOD(aclnnForeachNorm(nullptr, 0, executor, nullptr));
  GOOD(aclrtSynchronizeStream(nullptr));
  CHECK(y.values()[0] * y.values()[0] > 4.99f);
  CHECK(y.values()[0] * y.values()[0] < 5.01f);
}

TEST_CASE("arguments of tensors and functions are checked") {
  Started started;
  Floats x({2, 3}), y({3, 2});
  Number one(1);
  const int64_t dims[] = {2, -1};
  CHECK(aclCreateTensor(nullptr, 2, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, dims, 1, x.data) ==
        nullptr);
  CHECK(aclCreateTensor(dims, 2, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, dims, 1, x.data) == nullptr);
  CHECK(aclCreateTensor(dims, 1, ACL_STRING, nullptr, 0, ACL_FORMAT_ND, dims, 1, x.data) ==
        nullptr);
  CHECK(aclCreateScalar(nullptr, ACL_FLOAT) == nullptr);
  REFUSED(161001, Add, nullptr, x.tensor, one.scalar, x.tensor);
  REFUSED(161001, Add, x.tensor, x.tensor, nullptr, x.tensor);
  REFUSED(161002, Add, x.tensor, y.tensor, one.scalar, x.tensor);
  REFUSED(161002, Permute, x.tensor, Ints({0, 0}).array, x.tensor);
  REFUSED(161002, Permute, x.tensor, Ints({1, 0}).array, x.tensor);
  REFUSED(161002, Softmax, x.tensor, 2, x.tensor);
  REFUSED(161002, Matmul, x.tensor, x.tensor, x.tensor, 0);
  REFUSED(161002, Cast, x.tensor, ACL_FLOAT16, x.tensor);
  REFUSED(161002, Slice, x.tensor, 0, 0, 1, 0, x.tensor);
  // Memory that the device does not have.
  float host[6] = {};
  aclTensor *outside = aclCreateTensor(x.shape.data(), 2, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND,
                                       x.shape.data(), 2, host);
  uint64_t size = 0;
  aclOpExecutor *executor = nullptr;
  GOOD(aclnnInplaceCopyGetWorkspaceSize(x.tensor, outside, &size, &executor));
  CHECK(aclnnInplaceCopy(nullptr, 0, executor, nullptr) == 361001);
  GOOD(aclDestroyTensor(outside));
  int64_t *shape = nullptr;
  uint64_t rank = 0;
  GOOD(aclGetViewShape(x.tensor, &shape, &rank));
  CHECK((rank == 2 && shape[1] == 3));
  delete[] shape;
  // A list of all positions was made before the output was looked at.
  Floats row({2, 3}), other({2, 5});
  const Ints huge({int64_t{1} << 27, 1}), wrapping({INT64_MAX, INT64_MAX});
  REFUSED(161002, ReplicationPad1d, row.tensor, huge.array, other.tensor);
  REFUSED(161002, ReplicationPad1d, row.tensor, wrapping.array, other.tensor);
}
