//===-- MatrixProduct.cpp - aclblasGemmEx and the like ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ascend/operators/OpHandles.h"
#include "ascend/src/Buffers.h"
#include "ascend/src/Context.h"
#include "ascend/src/Errors.h"
#include "ascend/src/memory/Memory.h"
#include "runtime-lite/abi/SmallFloats.h"

#include "acl/ops/acl_cblas.h"

#include <cstring>
#include <vector>

using namespace atc::ascend;

namespace {

/// C = alpha * A * B + beta * C. A vector is a matrix with one column.
struct Product {
  bool transposedA = false, transposedB = false;
  size_t m = 0, n = 0, k = 0;
  aclDataType typeA = ACL_FLOAT16, typeB = ACL_FLOAT16, typeC = ACL_FLOAT16;

  size_t bytesA() const { return m * k * aclDataTypeSize(typeA); }
  size_t bytesB() const { return k * n * aclDataTypeSize(typeB); }
  size_t bytesC() const { return m * n * aclDataTypeSize(typeC); }

  /// Computes a product of dense rows.
  void run(const void *alpha, const void *a, const void *b, const void *beta, void *c) const;
};

float floatOf(aclDataType type, const void *data, size_t index) {
  if (type == ACL_FLOAT16) {
    aclFloat16 value;
    memcpy(&value, static_cast<const char *>(data) + 2 * index, 2);
    return atc::halfToFloat(value);
  }
  float value;
  memcpy(&value, static_cast<const char *>(data) + 4 * index, 4);
  return value;
}

/// Multiplies rows by rows: `left` is [m,k], `right` [n,k].
template <typename T, typename Sum>
std::vector<Sum> sumsOf(size_t m, size_t n, size_t k, const std::vector<T> &left,
                        const std::vector<T> &right) {
  std::vector<Sum> sums(m * n);
  for (size_t i = 0; i < m; ++i)
    for (size_t j = 0; j < n; ++j) {
      Sum sum = 0;
      for (size_t p = 0; p < k; ++p)
        sum += Sum(left[i * k + p]) * Sum(right[j * k + p]);
      sums[i * n + j] = sum;
    }
  return sums;
}

/// Returns a matrix as [rows, columns], converted.
template <typename T, typename Read>
std::vector<T> rowsOf(size_t rows, size_t columns, bool transposed, const Read &read) {
  std::vector<T> values(rows * columns);
  for (size_t i = 0; i < rows; ++i)
    for (size_t j = 0; j < columns; ++j)
      values[i * columns + j] = read(transposed ? j * rows + i : i * columns + j);
  return values;
}

void Product::run(const void *alpha, const void *a, const void *b, const void *beta,
                  void *c) const {
  auto *target = static_cast<char *>(c);
  if (typeA == ACL_INT8) {
    auto readA = [&](size_t index) { return static_cast<const int8_t *>(a)[index]; };
    auto readB = [&](size_t index) { return static_cast<const int8_t *>(b)[index]; };
    const auto sums = sumsOf<int8_t, int32_t>(m, n, k, rowsOf<int8_t>(m, k, transposedA, readA),
                                              rowsOf<int8_t>(n, k, !transposedB, readB));
    for (size_t i = 0; i < m * n; ++i) {
      if (typeC == ACL_INT32) {
        int32_t scales[2], old = 0;
        memcpy(&scales[0], alpha, 4);
        memcpy(&scales[1], beta, 4);
        if (scales[1] != 0)
          memcpy(&old, target + 4 * i, 4);
        // Sums wrap, as they do on the device.
        const auto value =
            uint32_t(scales[0]) * uint32_t(sums[i]) + uint32_t(scales[1]) * uint32_t(old);
        memcpy(target + 4 * i, &value, 4);
      } else {
        const float scale = floatOf(typeC, beta, 0);
        const float value = floatOf(typeC, alpha, 0) * float(sums[i]) +
                            (scale != 0 ? scale * floatOf(typeC, c, i) : 0);
        memcpy(target + 4 * i, &value, 4);
      }
    }
    return;
  }
  auto readA = [&](size_t index) { return floatOf(typeA, a, index); };
  auto readB = [&](size_t index) { return floatOf(typeB, b, index); };
  const auto sums = sumsOf<float, float>(m, n, k, rowsOf<float>(m, k, transposedA, readA),
                                         rowsOf<float>(n, k, !transposedB, readB));
  const float scale = floatOf(typeC, alpha, 0), keep = floatOf(typeC, beta, 0);
  for (size_t i = 0; i < m * n; ++i) {
    const float value = scale * sums[i] + (keep != 0 ? keep * floatOf(typeC, c, i) : 0);
    if (typeC == ACL_FLOAT16) {
      const aclFloat16 half = atc::floatToHalf(value);
      memcpy(target + 2 * i, &half, 2);
    } else {
      memcpy(target + 4 * i, &value, 4);
    }
  }
}

/// Checks the arguments that all forms have.
aclError plan(const char *function, aclTransType transA, aclTransType transB, aclTransType transC,
              int m, int n, int k, aclDataType typeA, aclDataType typeB, aclDataType typeC,
              aclComputeType type, Product &product) {
  for (aclTransType trans : {transA, transB, transC}) {
    if (trans == ACL_TRANS_NZ || trans == ACL_TRANS_NZ_T)
      return fail(ACL_ERROR_API_NOT_SUPPORT, function,
                  "matrices in FRACTAL_NZ are not multiplied here; give rows");
    if (trans != ACL_TRANS_N && trans != ACL_TRANS_T)
      return fail(ACL_ERROR_INVALID_PARAM, function, "a transposition is %d; give 0 or 1",
                  int(trans));
  }
  if (transC != ACL_TRANS_N)
    return fail(ACL_ERROR_INVALID_PARAM, function, "transC must be ACL_TRANS_N");
  if (m < 1 || n < 1 || k < 1)
    return fail(ACL_ERROR_INVALID_PARAM, function, "m, n and k are %d, %d and %d; give 1 or more",
                m, n, k);
  if (type != ACL_COMPUTE_HIGH_PRECISION && type != ACL_COMPUTE_LOW_PRECISION)
    return fail(ACL_ERROR_INVALID_PARAM, function, "type is %d; give 0 or 1", int(type));
  const bool floats =
      (typeA == ACL_FLOAT16 || typeA == ACL_FLOAT) && (typeC == ACL_FLOAT16 || typeC == ACL_FLOAT);
  const bool integers = typeA == ACL_INT8 && (typeC == ACL_INT32 || typeC == ACL_FLOAT);
  if (typeA != typeB || !(floats || integers))
    return fail(ACL_ERROR_UNSUPPORTED_DATA_TYPE, function,
                "%s times %s cannot become %s; give float16 or float32, or int8 with a result "
                "of int32 or float32",
                nameOf(typeA), nameOf(typeB), nameOf(typeC));
  product = {transA == ACL_TRANS_T,
             transB == ACL_TRANS_T,
             size_t(m),
             size_t(n),
             size_t(k),
             typeA,
             typeB,
             typeC};
  return ACL_SUCCESS;
}

/// Checks the memory of a product and puts it behind the stream's tasks.
aclError multiply(const char *function, const Product &product, const void *alpha, const void *a,
                  const void *b, const void *beta, void *c, aclrtStream stream) {
  struct Operand {
    const char *name;
    const void *data;
    size_t bytes;
  };
  const size_t scalar = aclDataTypeSize(product.typeC);
  const Operand operands[] = {{"alpha", alpha, scalar},
                              {"the first matrix", a, product.bytesA()},
                              {"the second matrix or vector", b, product.bytesB()},
                              {"beta", beta, scalar},
                              {"the result", c, product.bytesC()}};
  std::vector<std::shared_ptr<Block>> blocks;
  for (const Operand &operand : operands) {
    std::shared_ptr<Block> block;
    ACL_TRY(requireDevice(function, operand.name, operand.data, operand.bytes, block));
    blocks.push_back(std::move(block));
  }
  return enqueue(function, stream, [=, kept = std::move(blocks)] {
    product.run(alpha, a, b, beta, c);
    return ACL_SUCCESS;
  });
}

aclError checkGaps(const char *function, std::initializer_list<int> leading) {
  for (int value : leading)
    if (value != -1)
      return fail(ACL_ERROR_INVALID_PARAM, function, "a leading dimension is %d; it must be -1",
                  value);
  return ACL_SUCCESS;
}

/// Makes a handle whose inputs are A, B, C, alpha and beta.
aclError makeHandle(const char *function, const Product &product, aclopHandle **handle) {
  if (!handle)
    return fail(ACL_ERROR_INVALID_PARAM, function, "handle is NULL");
  auto made = std::make_shared<OpHandle>();
  made->execute = [product](const char *caller, int inputs, const aclDataBuffer *const given[],
                            int outputs, aclDataBuffer *const wanted[], aclrtStream stream) {
    if (inputs != 5 || outputs != 1 || !given || !wanted)
      return fail(ACL_ERROR_INVALID_PARAM, caller, "a product has 5 inputs and 1 output");
    const size_t scalar = aclDataTypeSize(product.typeC);
    const size_t needed[] = {product.bytesA(), product.bytesB(), product.bytesC(),
                             scalar,           scalar,           product.bytesC()};
    void *data[6];
    for (int i = 0; i < 6; ++i) {
      auto buffer = dataBuffers().find(i < 5 ? given[i] : wanted[0]);
      if (!buffer)
        return fail(ACL_ERROR_INVALID_RESOURCE_HANDLE, caller, "buffer %d is no data buffer", i);
      size_t bytes = 0;
      std::tie(data[i], bytes) = buffer->get();
      if (bytes < needed[i])
        return fail(i < 5 ? ACL_ERROR_OP_INPUT_NOT_MATCH : ACL_ERROR_OP_OUTPUT_NOT_MATCH, caller,
                    "buffer %d has %zu bytes, it needs %zu", i, bytes, needed[i]);
    }
    if (data[5] != data[2])
      ACL_TRY(aclrtMemcpyAsync(data[5], needed[5], data[2], needed[5], ACL_MEMCPY_DEVICE_TO_DEVICE,
                               stream));
    return multiply(caller, product, data[3], data[0], data[1], data[4], data[5], stream);
  };
  *handle = static_cast<aclopHandle *>(opHandles().add(std::move(made)));
  return ACL_SUCCESS;
}

} // namespace

aclError aclblasGemmEx(aclTransType transA, aclTransType transB, aclTransType transC, int m, int n,
                       int k, const void *alpha, const void *matrixA, int lda,
                       aclDataType dataTypeA, const void *matrixB, int ldb, aclDataType dataTypeB,
                       const void *beta, void *matrixC, int ldc, aclDataType dataTypeC,
                       aclComputeType type, aclrtStream stream) {
  Product product;
  ACL_TRY(plan(__func__, transA, transB, transC, m, n, k, dataTypeA, dataTypeB, dataTypeC, type,
               product));
  ACL_TRY(checkGaps(__func__, {lda, ldb, ldc}));
  return multiply(__func__, product, alpha, matrixA, matrixB, beta, matrixC, stream);
}

aclError aclblasHgemm(aclTransType transA, aclTransType transB, aclTransType transC, int m, int n,
                      int k, const aclFloat16 *alpha, const aclFloat16 *matrixA, int lda,
                      const aclFloat16 *matrixB, int ldb, const aclFloat16 *beta,
                      aclFloat16 *matrixC, int ldc, aclComputeType type, aclrtStream stream) {
  return aclblasGemmEx(transA, transB, transC, m, n, k, alpha, matrixA, lda, ACL_FLOAT16, matrixB,
                       ldb, ACL_FLOAT16, beta, matrixC, ldc, ACL_FLOAT16, type, stream);
}

aclError aclblasS8gemm(aclTransType transA, aclTransType transB, aclTransType transC, int m, int n,
                       int k, const int32_t *alpha, const int8_t *matrixA, int lda,
                       const int8_t *matrixB, int ldb, const int32_t *beta, int32_t *matrixC,
                       int ldc, aclComputeType type, aclrtStream stream) {
  return aclblasGemmEx(transA, transB, transC, m, n, k, alpha, matrixA, lda, ACL_INT8, matrixB, ldb,
                       ACL_INT8, beta, matrixC, ldc, ACL_INT32, type, stream);
}

aclError aclblasGemvEx(aclTransType transA, int m, int n, const void *alpha, const void *a, int lda,
                       aclDataType dataTypeA, const void *x, int incx, aclDataType dataTypeX,
                       const void *beta, void *y, int incy, aclDataType dataTypeY,
                       aclComputeType type, aclrtStream stream) {
  Product product;
  ACL_TRY(plan(__func__, transA, ACL_TRANS_N, ACL_TRANS_N, m, 1, n, dataTypeA, dataTypeX, dataTypeY,
               type, product));
  ACL_TRY(checkGaps(__func__, {lda, incx, incy}));
  return multiply(__func__, product, alpha, a, x, beta, y, stream);
}

aclError aclblasHgemv(aclTransType transA, int m, int n, const aclFloat16 *alpha,
                      const aclFloat16 *a, int lda, const aclFloat16 *x, int incx,
                      const aclFloat16 *beta, aclFloat16 *y, int incy, aclComputeType type,
                      aclrtStream stream) {
  return aclblasGemvEx(transA, m, n, alpha, a, lda, ACL_FLOAT16, x, incx, ACL_FLOAT16, beta, y,
                       incy, ACL_FLOAT16, type, stream);
}

aclError aclblasS8gemv(aclTransType transA, int m, int n, const int32_t *alpha, const int8_t *a,
                       int lda, const int8_t *x, int incx, const int32_t *beta, int32_t *y,
                       int incy, aclComputeType type, aclrtStream stream) {
  return aclblasGemvEx(transA, m, n, alpha, a, lda, ACL_INT8, x, incx, ACL_INT8, beta, y, incy,
                       ACL_INT32, type, stream);
}

aclError aclblasCreateHandleForGemmEx(aclTransType transA, aclTransType transB, aclTransType transC,
                                      int m, int n, int k, aclDataType dataTypeA,
                                      aclDataType dataTypeB, aclDataType dataTypeC,
                                      aclComputeType type, aclopHandle **handle) {
  Product product;
  ACL_TRY(plan(__func__, transA, transB, transC, m, n, k, dataTypeA, dataTypeB, dataTypeC, type,
               product));
  return makeHandle(__func__, product, handle);
}

aclError aclblasCreateHandleForHgemm(aclTransType transA, aclTransType transB, aclTransType transC,
                                     int m, int n, int k, aclComputeType type,
                                     aclopHandle **handle) {
  return aclblasCreateHandleForGemmEx(transA, transB, transC, m, n, k, ACL_FLOAT16, ACL_FLOAT16,
                                      ACL_FLOAT16, type, handle);
}

aclError aclblasCreateHandleForS8gemm(aclTransType transA, aclTransType transB, aclTransType transC,
                                      int m, int n, int k, aclComputeType type,
                                      aclopHandle **handle) {
  return aclblasCreateHandleForGemmEx(transA, transB, transC, m, n, k, ACL_INT8, ACL_INT8,
                                      ACL_INT32, type, handle);
}

aclError aclblasCreateHandleForGemvEx(aclTransType transA, int m, int n, aclDataType dataTypeA,
                                      aclDataType dataTypeX, aclDataType dataTypeY,
                                      aclComputeType type, aclopHandle **handle) {
  return aclblasCreateHandleForGemmEx(transA, ACL_TRANS_N, ACL_TRANS_N, m, 1, n, dataTypeA,
                                      dataTypeX, dataTypeY, type, handle);
}

aclError aclblasCreateHandleForHgemv(aclTransType transA, int m, int n, aclComputeType type,
                                     aclopHandle **handle) {
  return aclblasCreateHandleForGemvEx(transA, m, n, ACL_FLOAT16, ACL_FLOAT16, ACL_FLOAT16, type,
                                      handle);
}

aclError aclblasCreateHandleForS8gemv(aclTransType transA, int m, int n, aclComputeType type,
                                      aclopHandle **handle) {
  return aclblasCreateHandleForGemvEx(transA, m, n, ACL_INT8, ACL_INT8, ACL_INT32, type, handle);
}
