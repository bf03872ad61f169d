//===-- OperatorTest.cpp - casts, matrix products, attributes, handles ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "acl/acl_op_compiler.h"
#include "acl/ops/acl_cblas.h"
#include "test/ascend/AclTest.h"

#include <cstdlib>
#include <cstring>
#include <vector>

namespace {

/// Device memory with values and a data buffer.
struct Data : DeviceMemory {
  template <typename T>
  explicit Data(const std::vector<T> &values) : DeviceMemory(values.size() * sizeof(T)) {
    memcpy(data, values.data(), bytes);
  }
  explicit Data(size_t bytes) : DeviceMemory(bytes) { memset(data, 0, bytes); }
  ~Data() { CHECK(aclDestroyDataBuffer(buffer) == ACL_SUCCESS); }

  template <typename T> std::vector<T> read() const {
    std::vector<T> values(bytes / sizeof(T));
    memcpy(values.data(), data, bytes);
    return values;
  }
  aclDataBuffer *buffer = aclCreateDataBuffer(data, bytes);
};

aclTensorDesc *descOf(aclDataType type, std::vector<int64_t> dims) {
  return aclCreateTensorDesc(type, int(dims.size()), dims.data(), ACL_FORMAT_ND);
}

template <typename T, typename U>
std::vector<U> castTo(aclDataType from, const std::vector<T> &values, aclDataType to) {
  aclTensorDesc *source = descOf(from, {int64_t(values.size())}),
                *target = descOf(to, {int64_t(values.size())});
  Data in(values), out(values.size() * sizeof(U));
  GOOD(aclopCast(source, in.buffer, target, out.buffer, 0, nullptr));
  GOOD(aclrtSynchronizeStream(nullptr));
  aclDestroyTensorDesc(source);
  aclDestroyTensorDesc(target);
  return out.read<U>();
}

} // namespace

TEST_CASE("elements are cast") {
  Started started;
  const std::vector<float> floats{1.5f, -2.7f, 300.0f, -1e20f, 1e20f, 0.0f};
  CHECK(castTo<float, int8_t>(ACL_FLOAT, floats, ACL_INT8) ==
        std::vector<int8_t>{1, -2, 127, -128, 127, 0});
  CHECK(castTo<float, uint8_t>(ACL_FLOAT, floats, ACL_UINT8) ==
        std::vector<uint8_t>{1, 0, 255, 0, 255, 0});
  CHECK(castTo<float, uint8_t>(ACL_FLOAT, floats, ACL_BOOL) ==
        std::vector<uint8_t>{1, 1, 1, 1, 1, 0});
  CHECK(castTo<float, aclFloat16>(ACL_FLOAT, {1.0f, 65520.0f}, ACL_FLOAT16) ==
        std::vector<aclFloat16>{0x3C00, 0x7C00});
  CHECK(castTo<aclFloat16, float>(ACL_FLOAT16, {0x3C00, 0xC000}, ACL_FLOAT) ==
        std::vector<float>{1, -2});
  CHECK(castTo<float, uint16_t>(ACL_FLOAT, {1.0f, 1.00390625f, 1.01171875f}, ACL_BF16) ==
        std::vector<uint16_t>{0x3F80, 0x3F80, 0x3F82});
  CHECK(castTo<int64_t, int32_t>(ACL_INT64, {7, -9}, ACL_INT32) == std::vector<int32_t>{7, -9});
  aclTensorDesc *two = descOf(ACL_FLOAT, {2}), *three = descOf(ACL_FLOAT16, {3}),
                *text = descOf(ACL_STRING, {2});
  Data small(size_t{4});
  BAD(ACL_ERROR_OP_OUTPUT_NOT_MATCH, aclopCast(two, small.buffer, three, small.buffer, 0, nullptr));
  BAD(ACL_ERROR_UNSUPPORTED_DATA_TYPE,
      aclopCast(two, small.buffer, text, small.buffer, 0, nullptr));
  BAD(ACL_ERROR_OP_INPUT_NOT_MATCH, aclopCast(two, small.buffer, two, small.buffer, 0, nullptr));
  BAD(ACL_ERROR_INVALID_PARAM, aclopCast(two, small.buffer, two, small.buffer, 2, nullptr));
  BAD(ACL_ERROR_INVALID_PARAM, aclopCast(nullptr, small.buffer, two, small.buffer, 0, nullptr));
  aclopHandle *handle = nullptr;
  aclTensorDesc *half = descOf(ACL_FLOAT16, {2});
  GOOD(aclopCreateHandleForCast(two, half, 0, &handle));
  Data in(std::vector<float>{1, 2}), out(size_t{4});
  GOOD(aclopExecWithHandle(handle, 1, &in.buffer, 1, &out.buffer, nullptr));
  GOOD(aclrtSynchronizeStream(nullptr));
  CHECK(out.read<aclFloat16>() == std::vector<aclFloat16>{0x3C00, 0x4000});
  aclopDestroyHandle(handle);
  BAD(ACL_ERROR_INVALID_RESOURCE_HANDLE,
      aclopExecWithHandle(handle, 1, &in.buffer, 1, &out.buffer, nullptr));
  for (aclTensorDesc *desc : {two, three, text, half})
    aclDestroyTensorDesc(desc);
}

TEST_CASE("matrices are multiplied") {
  Started started;
  const int m = 2, n = 3, k = 4;
  std::vector<aclFloat16> a, b, transposed(12), c;
  for (int i = 0; i < m * k; ++i)
    a.push_back(aclFloatToFloat16(float(i + 1)));
  for (int i = 0; i < k * n; ++i)
    b.push_back(aclFloatToFloat16(float(i - 5)));
  for (int i = 0; i < k; ++i)
    for (int j = 0; j < n; ++j)
      transposed[size_t(j * k + i)] = b[size_t(i * n + j)];
  for (int i = 0; i < m * n; ++i)
    c.push_back(aclFloatToFloat16(10));
  Data left(a), right(b), turned(transposed), result(c), alpha(std::vector<aclFloat16>{0x4000}),
      beta(std::vector<aclFloat16>{0x3C00});
  auto multiply = [&](aclTransType trans, const Data &second) {
    return aclblasGemmEx(ACL_TRANS_N, trans, ACL_TRANS_N, m, n, k, alpha.data, left.data, -1,
                         ACL_FLOAT16, second.data, -1, ACL_FLOAT16, beta.data, result.data, -1,
                         ACL_FLOAT16, ACL_COMPUTE_HIGH_PRECISION, nullptr);
  };
  for (bool trans : {false, true}) {
    memcpy(result.data, c.data(), result.bytes);
    GOOD(multiply(trans ? ACL_TRANS_T : ACL_TRANS_N, trans ? turned : right));
    GOOD(aclrtSynchronizeStream(nullptr));
    const auto values = result.read<aclFloat16>();
    for (int i = 0; i < m; ++i)
      for (int j = 0; j < n; ++j) {
        float sum = 0;
        for (int p = 0; p < k; ++p)
          sum += float(i * k + p + 1) * float(p * n + j - 5);
        CHECK(aclFloat16ToFloat(values[size_t(i * n + j)]) == 2 * sum + 10);
      }
  }
  BAD(ACL_ERROR_API_NOT_SUPPORT, multiply(ACL_TRANS_NZ, right));
  BAD(ACL_ERROR_INVALID_PARAM, multiply(static_cast<aclTransType>(9), right));
  BAD(ACL_ERROR_INVALID_PARAM,
      aclblasHgemm(ACL_TRANS_N, ACL_TRANS_N, ACL_TRANS_N, m, 0, k, nullptr, nullptr, -1, nullptr,
                   -1, nullptr, nullptr, -1, ACL_COMPUTE_HIGH_PRECISION, nullptr));
  Data ints(std::vector<int8_t>{1, 2, 3, -4}), vector(std::vector<int8_t>{5, -6}),
      sums(std::vector<int32_t>{100, 200}), one(std::vector<int32_t>{1}),
      none(std::vector<int32_t>{0});
  GOOD(aclblasS8gemv(ACL_TRANS_N, 2, 2, static_cast<int32_t *>(one.data),
                     static_cast<int8_t *>(ints.data), -1, static_cast<int8_t *>(vector.data), -1,
                     static_cast<int32_t *>(none.data), static_cast<int32_t *>(sums.data), -1,
                     ACL_COMPUTE_HIGH_PRECISION, nullptr));
  GOOD(aclrtSynchronizeStream(nullptr));
  CHECK(sums.read<int32_t>() == std::vector<int32_t>{-7, 39});
  aclopHandle *handle = nullptr;
  GOOD(aclblasCreateHandleForHgemm(ACL_TRANS_N, ACL_TRANS_N, ACL_TRANS_N, m, n, k,
                                   ACL_COMPUTE_HIGH_PRECISION, &handle));
  const aclDataBuffer *inputs[] = {left.buffer, right.buffer, result.buffer, alpha.buffer,
                                   beta.buffer};
  memcpy(result.data, c.data(), result.bytes);
  GOOD(aclopExecWithHandle(handle, 5, inputs, 1, &result.buffer, nullptr));
  GOOD(aclrtSynchronizeStream(nullptr));
  CHECK(aclFloat16ToFloat(result.read<aclFloat16>()[0]) == 2 * 10 + 10);
  BAD(ACL_ERROR_INVALID_PARAM, aclopExecWithHandle(handle, 4, inputs, 1, &result.buffer, nullptr));
  aclopDestroyHandle(handle);
}

TEST_CASE("calls of operators are checked") {
  aclopAttr *attr = aclopCreateAttr();
  const int64_t values[] = {1, 2};
  GOOD(aclopSetAttrInt(attr, "axis", 1));
  GOOD(aclopSetAttrListInt(attr, "pads", 2, values));
  GOOD(aclopSetAttrString(attr, "mode", "same"));
  BAD(ACL_ERROR_INVALID_PARAM, aclopSetAttrListInt(attr, "pads", 2, nullptr));
  BAD(ACL_ERROR_INVALID_PARAM, aclopSetAttrInt(attr, nullptr, 1));
  BAD(ACL_ERROR_INVALID_PARAM, aclopSetAttrString(attr, "mode", nullptr));
  aclTensorDesc *desc = descOf(ACL_FLOAT, {2});
  aclTensorDesc *descs[] = {desc, desc};
  BAD(ACL_ERROR_UNINITIALIZE,
      aclopExecuteV2("Add", 2, descs, nullptr, 1, descs, nullptr, attr, nullptr));
  Started started;
  BAD(ACL_ERROR_OP_NOT_FOUND,
      aclopExecuteV2("Add", 2, descs, nullptr, 1, descs, nullptr, attr, nullptr));
  BAD(ACL_ERROR_INVALID_PARAM,
      aclopExecuteV2(nullptr, 2, descs, nullptr, 1, descs, nullptr, attr, nullptr));
  BAD(ACL_ERROR_INVALID_PARAM,
      aclopExecuteV2("Add", -1, descs, nullptr, 1, descs, nullptr, attr, nullptr));
  BAD(ACL_ERROR_INVALID_FILE, aclopSetModelDir("/nowhere"));
  BAD(ACL_ERROR_API_NOT_SUPPORT, aclopCompile("Add", 2, descs, 1, descs, attr, ACL_ENGINE_SYS,
                                              ACL_COMPILE_UNREGISTERED, nullptr));
  setenv("OPENATC_ATC", "/nowhere/atc", 1);
  BAD(ACL_ERROR_OP_NOT_FOUND,
      aclopCompile("Add", 2, descs, 1, descs, attr, ACL_ENGINE_SYS, ACL_COMPILE_SYS, nullptr));
  GOOD(aclSetCompileopt(ACL_PRECISION_MODE, "force_fp16"));
  CHECK(aclGetCompileoptSize(ACL_PRECISION_MODE) == 11);
  char text[16];
  GOOD(aclGetCompileopt(ACL_PRECISION_MODE, text, sizeof(text)));
  CHECK(std::string(text) == "force_fp16");
  BAD(ACL_ERROR_INVALID_PARAM, aclGetCompileopt(ACL_PRECISION_MODE, text, 4));
  aclopDestroyAttr(attr);
  BAD(ACL_ERROR_INVALID_RESOURCE_HANDLE, aclopSetAttrInt(attr, "axis", 1));
  aclDestroyTensorDesc(desc);
}
