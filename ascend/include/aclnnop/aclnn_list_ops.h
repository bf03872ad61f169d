/*===-- aclnnop/aclnn_list_ops.h - functions of lists of tensors ------------===*/
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                     */
/*
 * aclnn_ops.h includes it, and says how its functions are called. Lists have the same number of
 * tensors; the output may be the input.
 */
#ifndef OPENATC_ACLNNOP_ACLNN_LIST_OPS_H
#define OPENATC_ACLNNOP_ACLNN_LIST_OPS_H

#include "aclnnop/aclnn_ops.h"

#ifdef __cplusplus
extern "C" {
#endif

#define OPENATC_ACLNN_LIST_UNARIES(row)                                                            \
  row(Abs) row(Acos) row(Asin) row(Atan) row(Cos) row(Cosh) row(Erf) row(Exp) row(Expm1) row(Log)  \
      row(Log10) row(Log1p) row(Log2) row(Neg) row(Reciprocal) row(Sigmoid) row(Sign) row(Sin)     \
          row(Sinh) row(Sqrt) row(Tan) row(Tanh)
#define OPENATC_ACLNN_LIST_UNARY(name)                                                             \
  OPENATC_ACLNN(Foreach##name, const aclTensorList *x, aclTensorList *out)
OPENATC_ACLNN_LIST_UNARIES(OPENATC_ACLNN_LIST_UNARY)
OPENATC_ACLNN(ForeachCopy, const aclTensorList *x, aclTensorList *out)
OPENATC_ACLNN(ForeachZeroInplace, const aclTensorList *x)
/* Computes the norm of all elements of each tensor. scalar is the order, 1, 2 or infinity; its
 * value is read during this call. */
OPENATC_ACLNN(ForeachNorm, const aclTensorList *x, const aclTensor *scalar, aclTensorList *out)

/* Combines each tensor with a number: that of a tensor of one element, of a scalar (V2), or of a
 * list with one per tensor. */
#define OPENATC_ACLNN_LIST_NUMBERS(name)                                                           \
  OPENATC_ACLNN(Foreach##name##Scalar, const aclTensorList *x, const aclTensor *scalar,            \
                aclTensorList *out)                                                                \
  OPENATC_ACLNN(Foreach##name##ScalarV2, const aclTensorList *x, const aclScalar *scalar,          \
                aclTensorList *out)                                                                \
  OPENATC_ACLNN(Foreach##name##ScalarList, const aclTensorList *x, const aclScalarList *scalars,   \
                aclTensorList *out)
OPENATC_ACLNN_LIST_NUMBERS(Add)
OPENATC_ACLNN_LIST_NUMBERS(Sub)
OPENATC_ACLNN_LIST_NUMBERS(Mul)
OPENATC_ACLNN_LIST_NUMBERS(Div)
OPENATC_ACLNN_LIST_NUMBERS(Maximum)
OPENATC_ACLNN_LIST_NUMBERS(Minimum)
OPENATC_ACLNN_LIST_NUMBERS(Pow)
OPENATC_ACLNN(ForeachPowScalarAndTensor, const aclScalar *scalar, const aclTensorList *x,
              aclTensorList *out)

/* Combines each tensor with the one at the same index of another list, which Add and Sub multiply
 * by alpha. */
#define OPENATC_ACLNN_LIST_PAIR(name)                                                              \
  OPENATC_ACLNN(Foreach##name##List, const aclTensorList *x1, const aclTensorList *x2,             \
                aclTensorList *out)
OPENATC_ACLNN_LIST_PAIR(Mul)
OPENATC_ACLNN_LIST_PAIR(Div)
OPENATC_ACLNN_LIST_PAIR(Maximum)
OPENATC_ACLNN_LIST_PAIR(Minimum)
OPENATC_ACLNN_LIST_PAIR(Pow)
#define OPENATC_ACLNN_LIST_SUM(name)                                                               \
  OPENATC_ACLNN(Foreach##name##List, const aclTensorList *x1, const aclTensorList *x2,             \
                const aclTensor *alpha, aclTensorList *out)                                        \
  OPENATC_ACLNN(Foreach##name##ListV2, const aclTensorList *x1, const aclTensorList *x2,           \
                const aclScalar *alpha, aclTensorList *out)
OPENATC_ACLNN_LIST_SUM(Add)
OPENATC_ACLNN_LIST_SUM(Sub)

/* x1 + scalar * x2 * x3, x1 + scalar * x2 / x3; in the forms List and ScalarList with a number for
 * each tensor, of a tensor or a list. */
#define OPENATC_ACLNN_LIST_ADDED(name, type, number)                                               \
  OPENATC_ACLNN(Foreach##name, const aclTensorList *x1, const aclTensorList *x2,                   \
                const aclTensorList *x3, const type *number, aclTensorList *out)
#define OPENATC_ACLNN_LIST_ADDED_FORMS(name)                                                       \
  OPENATC_ACLNN_LIST_ADDED(name##Scalar, aclTensor, scalar)                                        \
  OPENATC_ACLNN_LIST_ADDED(name##ScalarV2, aclScalar, scalar)                                      \
  OPENATC_ACLNN_LIST_ADDED(name##List, aclTensor, scalars)                                         \
  OPENATC_ACLNN_LIST_ADDED(name##ScalarList, aclScalarList, scalars)
OPENATC_ACLNN_LIST_ADDED_FORMS(Addcmul)
OPENATC_ACLNN_LIST_ADDED_FORMS(Addcdiv)
/* x1 + weight * (x2 - x1) */
OPENATC_ACLNN(ForeachLerpScalar, const aclTensorList *x1, const aclTensorList *x2,
              const aclTensor *weight, aclTensorList *out)
OPENATC_ACLNN(ForeachLerpList, const aclTensorList *x1, const aclTensorList *x2,
              const aclTensorList *weights, aclTensorList *out)

#ifdef __cplusplus
}
#endif

#endif
