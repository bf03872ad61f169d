/*===-- acl/ops/acl_cblas.h - products of matrices and vectors --------------===*/
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                     */
/*
 * C = alpha * A * B + beta * C and y = alpha * A * x + beta * y, row by row in memory, as tasks
 * of a stream. Matrices, vectors, and alpha and beta too, are device memory. A is [m,k] ([k,m] with
 * ACL_TRANS_T), B [k,n] ([n,k]), C [m,n]; lda, ldb and ldc are -1: rows have no gaps. Types:
 * float16 or float32 with a result of either, int8 with int32 or float32. alpha and beta have the
 * type of the result. Sums are float32, of int8 int32. ACL_TRANS_NZ is ACL_ERROR_API_NOT_SUPPORT.
 */
#ifndef OPENATC_ACL_OPS_ACL_CBLAS_H
#define OPENATC_ACL_OPS_ACL_CBLAS_H

#include "acl/acl.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum aclTransType ACL_ENUM_TYPE {
  ACL_TRANS_N,
  ACL_TRANS_T,
  ACL_TRANS_NZ,
  ACL_TRANS_NZ_T
} aclTransType;

typedef enum aclComputeType ACL_ENUM_TYPE {
  ACL_COMPUTE_HIGH_PRECISION,
  ACL_COMPUTE_LOW_PRECISION
} aclComputeType;

/* Multiply matrices; the second and third for one type of elements. */
ACL_FUNC_VISIBILITY aclError aclblasGemmEx(aclTransType transA, aclTransType transB,
                                           aclTransType transC, int m, int n, int k,
                                           const void *alpha, const void *matrixA, int lda,
                                           aclDataType dataTypeA, const void *matrixB, int ldb,
                                           aclDataType dataTypeB, const void *beta, void *matrixC,
                                           int ldc, aclDataType dataTypeC, aclComputeType type,
                                           aclrtStream stream);
ACL_FUNC_VISIBILITY aclError aclblasHgemm(aclTransType transA, aclTransType transB,
                                          aclTransType transC, int m, int n, int k,
                                          const aclFloat16 *alpha, const aclFloat16 *matrixA,
                                          int lda, const aclFloat16 *matrixB, int ldb,
                                          const aclFloat16 *beta, aclFloat16 *matrixC, int ldc,
                                          aclComputeType type, aclrtStream stream);
ACL_FUNC_VISIBILITY aclError aclblasS8gemm(aclTransType transA, aclTransType transB,
                                           aclTransType transC, int m, int n, int k,
                                           const int32_t *alpha, const int8_t *matrixA, int lda,
                                           const int8_t *matrixB, int ldb, const int32_t *beta,
                                           int32_t *matrixC, int ldc, aclComputeType type,
                                           aclrtStream stream);
/* Multiply a matrix [m,n] ([n,m] in memory with ACL_TRANS_T) by a vector; incx and incy are -1. */
ACL_FUNC_VISIBILITY aclError aclblasGemvEx(aclTransType transA, int m, int n, const void *alpha,
                                           const void *a, int lda, aclDataType dataTypeA,
                                           const void *x, int incx, aclDataType dataTypeX,
                                           const void *beta, void *y, int incy,
                                           aclDataType dataTypeY, aclComputeType type,
                                           aclrtStream stream);
ACL_FUNC_VISIBILITY aclError aclblasHgemv(aclTransType transA, int m, int n,
                                          const aclFloat16 *alpha, const aclFloat16 *a, int lda,
                                          const aclFloat16 *x, int incx, const aclFloat16 *beta,
                                          aclFloat16 *y, int incy, aclComputeType type,
                                          aclrtStream stream);
ACL_FUNC_VISIBILITY aclError aclblasS8gemv(aclTransType transA, int m, int n, const int32_t *alpha,
                                           const int8_t *a, int lda, const int8_t *x, int incx,
                                           const int32_t *beta, int32_t *y, int incy,
                                           aclComputeType type, aclrtStream stream);

/* Create handles for aclopExecWithHandle, whose inputs are A, B (or x), C (or y), alpha and beta,
 * and whose output is C (or y). Destroy them with aclopDestroyHandle. */
ACL_FUNC_VISIBILITY aclError
aclblasCreateHandleForGemmEx(aclTransType transA, aclTransType transB, aclTransType transC, int m,
                             int n, int k, aclDataType dataTypeA, aclDataType dataTypeB,
                             aclDataType dataTypeC, aclComputeType type, aclopHandle **handle);
ACL_FUNC_VISIBILITY aclError aclblasCreateHandleForHgemm(aclTransType transA, aclTransType transB,
                                                         aclTransType transC, int m, int n, int k,
                                                         aclComputeType type, aclopHandle **handle);
ACL_FUNC_VISIBILITY aclError aclblasCreateHandleForS8gemm(aclTransType transA, aclTransType transB,
                                                          aclTransType transC, int m, int n, int k,
                                                          aclComputeType type,
                                                          aclopHandle **handle);
ACL_FUNC_VISIBILITY aclError aclblasCreateHandleForGemvEx(
    aclTransType transA, int m, int n, aclDataType dataTypeA, aclDataType dataTypeX,
    aclDataType dataTypeY, aclComputeType type, aclopHandle **handle);
ACL_FUNC_VISIBILITY aclError aclblasCreateHandleForHgemv(aclTransType transA, int m, int n,
                                                         aclComputeType type, aclopHandle **handle);
ACL_FUNC_VISIBILITY aclError aclblasCreateHandleForS8gemv(aclTransType transA, int m, int n,
                                                          aclComputeType type,
                                                          aclopHandle **handle);

#ifdef __cplusplus
}
#endif

#endif
