/*===-- aclnnop/aclnn_ops.h - operators that are called as functions --------===*/
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                     */
/*
 * Each operator has two functions. aclnnAddGetWorkspaceSize checks the arguments, compiles what is
 * not compiled yet (with atc, for the NPU of aclrtGetSocName), and makes an executor; the size of
 * its workspace is 0. aclnnAdd queues the executor on a stream and frees it. Tensors may have any
 * strides; types are promoted as in PyTorch, and results converted to the type of the output.
 * aclnnop/aclnn_add.h and the other headers of single operators include this one.
 */
#ifndef OPENATC_ACLNNOP_ACLNN_OPS_H
#define OPENATC_ACLNNOP_ACLNN_OPS_H

#include "aclnn/acl_meta.h"
#include "aclnn/aclnn_base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Declares both functions of an operator, of which the first takes `...` before its results. */
#define OPENATC_ACLNN(name, ...)                                                                   \
  ACL_FUNC_VISIBILITY aclnnStatus aclnn##name##GetWorkspaceSize(                                   \
      __VA_ARGS__, uint64_t *workspaceSize, aclOpExecutor **executor);                             \
  ACL_FUNC_VISIBILITY aclnnStatus aclnn##name(void *workspace, uint64_t workspaceSize,             \
                                              aclOpExecutor *executor, aclrtStream stream);

/* ---- functions of each element ---------------------------------------------- */

#define OPENATC_ACLNN_UNARY(name) OPENATC_ACLNN(name, const aclTensor *self, aclTensor *out)
#define OPENATC_ACLNN_INPLACE(name) OPENATC_ACLNN(Inplace##name, aclTensor *selfRef)
#define OPENATC_ACLNN_UNARIES(row)                                                                 \
  row(Abs) row(Acos) row(Acosh) row(Asin) row(Asinh) row(Atan) row(Atanh) row(Ceil) row(Cos)       \
      row(Cosh) row(Erf) row(Exp) row(Expm1) row(Floor) row(Hardsigmoid) row(Hardswish) row(Log)   \
          row(Log10) row(Log1p) row(Log2) row(Mish) row(Neg) row(Reciprocal) row(Relu) row(Round)  \
              row(Rsqrt) row(Sigmoid) row(Sin) row(Sinh) row(Sqrt) row(Tan) row(Tanh)
OPENATC_ACLNN_UNARIES(OPENATC_ACLNN_UNARY)
OPENATC_ACLNN_UNARIES(OPENATC_ACLNN_INPLACE)
OPENATC_ACLNN_UNARY(Gelu)
OPENATC_ACLNN_UNARY(LogicalNot)
OPENATC_ACLNN_UNARY(Sign)
OPENATC_ACLNN_UNARY(Silu)
OPENATC_ACLNN(LeakyRelu, const aclTensor *self, const aclScalar *negativeSlope, aclTensor *out)
OPENATC_ACLNN(Elu, const aclTensor *self, const aclScalar *alpha, const aclScalar *scale,
              const aclScalar *inputScale, aclTensor *out)
/* Clamps elements. One of the two bounds may be NULL, which is no bound. */
OPENATC_ACLNN(Clamp, const aclTensor *self, const aclScalar *clipValueMin,
              const aclScalar *clipValueMax, aclTensor *out)
OPENATC_ACLNN(ClampMin, const aclTensor *self, const aclScalar *clipValueMin, aclTensor *out)
OPENATC_ACLNN(ClampMax, const aclTensor *self, const aclScalar *clipValueMax, aclTensor *out)

/* ---- two tensors, or a tensor and a number ---------------------------------- */

/* self + alpha * other, self - alpha * other */
OPENATC_ACLNN(Add, const aclTensor *self, const aclTensor *other, const aclScalar *alpha,
              aclTensor *out)
OPENATC_ACLNN(Adds, const aclTensor *self, const aclScalar *other, const aclScalar *alpha,
              aclTensor *out)
OPENATC_ACLNN(InplaceAdd, aclTensor *selfRef, const aclTensor *other, const aclScalar *alpha)
OPENATC_ACLNN(InplaceAdds, aclTensor *selfRef, const aclScalar *other, const aclScalar *alpha)
OPENATC_ACLNN(Sub, const aclTensor *self, const aclTensor *other, const aclScalar *alpha,
              aclTensor *out)
OPENATC_ACLNN(Subs, const aclTensor *self, const aclScalar *other, const aclScalar *alpha,
              aclTensor *out)
OPENATC_ACLNN(InplaceSub, aclTensor *selfRef, const aclTensor *other, const aclScalar *alpha)
OPENATC_ACLNN(InplaceSubs, aclTensor *selfRef, const aclScalar *other, const aclScalar *alpha)
#define OPENATC_ACLNN_BINARY(name)                                                                 \
  OPENATC_ACLNN(name, const aclTensor *self, const aclTensor *other, aclTensor *out)
#define OPENATC_ACLNN_SCALAR(name)                                                                 \
  OPENATC_ACLNN(name, const aclTensor *self, const aclScalar *other, aclTensor *out)
OPENATC_ACLNN_BINARY(Mul)
OPENATC_ACLNN_SCALAR(Muls)
OPENATC_ACLNN(InplaceMul, aclTensor *selfRef, const aclTensor *other)
OPENATC_ACLNN(InplaceMuls, aclTensor *selfRef, const aclScalar *other)
/* Integers are divided as floats. */
OPENATC_ACLNN_BINARY(Div)
OPENATC_ACLNN_SCALAR(Divs)
OPENATC_ACLNN(InplaceDiv, aclTensor *selfRef, const aclTensor *other)
OPENATC_ACLNN(InplaceDivs, aclTensor *selfRef, const aclScalar *other)
OPENATC_ACLNN_BINARY(Maximum)
OPENATC_ACLNN_BINARY(Minimum)
OPENATC_ACLNN_BINARY(LogicalAnd)
OPENATC_ACLNN_BINARY(LogicalOr)
OPENATC_ACLNN(PowTensorTensor, const aclTensor *self, const aclTensor *exponent, aclTensor *out)
OPENATC_ACLNN(PowTensorScalar, const aclTensor *self, const aclScalar *exponent, aclTensor *out)
OPENATC_ACLNN(PowScalarTensor, const aclScalar *self, const aclTensor *exponent, aclTensor *out)
#define OPENATC_ACLNN_COMPARISONS(row) row(Eq) row(Ne) row(Lt) row(Le) row(Gt) row(Ge)
#define OPENATC_ACLNN_COMPARISON(name)                                                             \
  OPENATC_ACLNN_BINARY(name##Tensor) OPENATC_ACLNN_SCALAR(name##Scalar)
OPENATC_ACLNN_COMPARISONS(OPENATC_ACLNN_COMPARISON)
OPENATC_ACLNN(SWhere, const aclTensor *condition, const aclTensor *self, const aclTensor *other,
              aclTensor *out)
/* self + value * tensor1 * tensor2, self + value * tensor1 / tensor2 */
OPENATC_ACLNN(Addcmul, const aclTensor *self, const aclTensor *tensor1, const aclTensor *tensor2,
              const aclScalar *value, aclTensor *out)
OPENATC_ACLNN(Addcdiv, const aclTensor *self, const aclTensor *tensor1, const aclTensor *tensor2,
              const aclScalar *value, aclTensor *out)
/* self + weight * (end - self) */
OPENATC_ACLNN(Lerps, const aclTensor *self, const aclTensor *end, const aclScalar *weight,
              aclTensor *out)

/* self - other * alpha with the two exchanged */
OPENATC_ACLNN(Rsub, const aclTensor *self, const aclTensor *other, const aclScalar *alpha,
              aclTensor *out)
OPENATC_ACLNN(Rsubs, const aclTensor *self, const aclScalar *other, const aclScalar *alpha,
              aclTensor *out)
OPENATC_ACLNN(Lerp, const aclTensor *self, const aclTensor *end, const aclTensor *weight,
              aclTensor *out)
#define OPENATC_ACLNN_MODULO(name)                                                                 \
  OPENATC_ACLNN(name##Tensor, const aclTensor *self, const aclTensor *other, aclTensor *out)       \
  OPENATC_ACLNN(name##Scalar, const aclTensor *self, const aclScalar *other, aclTensor *out)
/* The remainder of a division has the sign of `self` (Fmod), or of `other` (Remainder). */
OPENATC_ACLNN_MODULO(Fmod)
OPENATC_ACLNN_MODULO(RemainderTensor)
OPENATC_ACLNN(FloorDivide, const aclTensor *self, const aclTensor *other, aclTensor *out)
OPENATC_ACLNN(FloorDivides, const aclTensor *self, const aclScalar *other, aclTensor *out)
OPENATC_ACLNN_MODULO(BitwiseAnd)
OPENATC_ACLNN_MODULO(BitwiseOr)
OPENATC_ACLNN_MODULO(BitwiseXor)
OPENATC_ACLNN_BINARY(LogicalXor)
OPENATC_ACLNN_BINARY(Atan2)
/* log(exp(self) + exp(other)), and the same of powers of two. */
OPENATC_ACLNN_BINARY(LogAddExp)
OPENATC_ACLNN_BINARY(LogAddExp2)
/* self * log(other); 0 where self is 0. */
OPENATC_ACLNN_BINARY(XLogYTensor)
/* 0 below 0, `values` at 0, 1 above. */
OPENATC_ACLNN(Heaviside, const aclTensor *self, const aclTensor *values, aclTensor *out)
OPENATC_ACLNN(InplacePowTensorTensor, aclTensor *selfRef, const aclTensor *exponent)
OPENATC_ACLNN(InplacePowTensorScalar, aclTensor *selfRef, const aclScalar *exponent)
OPENATC_ACLNN(InplaceAddcmul, aclTensor *selfRef, const aclTensor *tensor1,
              const aclTensor *tensor2, const aclScalar *value)
OPENATC_ACLNN(InplaceAddcdiv, aclTensor *selfRef, const aclTensor *tensor1,
              const aclTensor *tensor2, const aclScalar *value)

/* ---- activations ---------------------------------------------------------------- */

/* `approximate` is 0 for the function itself, 1 for its form with tanh. */
OPENATC_ACLNN(GeluV2, const aclTensor *x, int64_t approximate, aclTensor *y)
OPENATC_ACLNN_UNARY(FastGelu)
OPENATC_ACLNN_UNARY(Erfc)
OPENATC_ACLNN_UNARY(Exp2)
OPENATC_ACLNN_UNARY(Trunc)
OPENATC_ACLNN_UNARY(Frac)
OPENATC_ACLNN_UNARY(IsFinite)
OPENATC_ACLNN_UNARY(IsInf)
OPENATC_ACLNN_UNARY(IsPosInf)
OPENATC_ACLNN_UNARY(IsNegInf)
OPENATC_ACLNN_UNARY(Sinc)
OPENATC_ACLNN(Logit, const aclTensor *self, double eps, aclTensor *out)
OPENATC_ACLNN(NanToNum, const aclTensor *self, float nan, float posinf, float neginf,
              aclTensor *out)
OPENATC_ACLNN_UNARY(BitwiseNot)
OPENATC_ACLNN_UNARY(LogSigmoid)
OPENATC_ACLNN_UNARY(Selu)
OPENATC_ACLNN(Celu, const aclTensor *self, const aclScalar *alpha, aclTensor *out)
OPENATC_ACLNN(Prelu, const aclTensor *self, const aclTensor *weight, aclTensor *out)
OPENATC_ACLNN(Swish, const aclTensor *self, const aclScalar *betaOptional, aclTensor *out)
OPENATC_ACLNN(Hardtanh, const aclTensor *self, const aclScalar *clipValueMin,
              const aclScalar *clipValueMax, aclTensor *out)
OPENATC_ACLNN(Hardshrink, const aclTensor *self, const aclScalar *lambd, aclTensor *out)
OPENATC_ACLNN(Softshrink, const aclTensor *self, const aclScalar *lambd, aclTensor *out)
OPENATC_ACLNN(Softplus, const aclTensor *self, const aclScalar *beta, const aclScalar *threshold,
              aclTensor *out)
OPENATC_ACLNN(Threshold, const aclTensor *self, const aclScalar *threshold, const aclScalar *value,
              aclTensor *out)
OPENATC_ACLNN(InplaceThreshold, aclTensor *selfRef, const aclScalar *threshold,
              const aclScalar *value)
OPENATC_ACLNN(InplaceClampMax, aclTensor *selfRef, const aclScalar *clipValueMax)
OPENATC_ACLNN(InplaceLeakyRelu, aclTensor *selfRef, const aclScalar *negativeSlope)
OPENATC_ACLNN(InplaceElu, aclTensor *selfRef, const aclScalar *alpha, const aclScalar *scale,
              const aclScalar *inputScale)
/* Products of one half of a dim with an activation of the other half: sigmoid, swish of the first,
 * and gelu of the second (`approximate` 0: with tanh, 1: itself), which is an output, too. */
OPENATC_ACLNN(Glu, const aclTensor *self, int64_t dim, aclTensor *out)
OPENATC_ACLNN(SwiGlu, const aclTensor *x, int64_t dim, const aclTensor *out)
OPENATC_ACLNN(GeGlu, const aclTensor *self, int64_t dim, int64_t approximate, aclTensor *out,
              aclTensor *outGelu)
OPENATC_ACLNN(GeGluV3, const aclTensor *self, int64_t dim, int64_t approximate, bool activateLeft,
              aclTensor *out, aclTensor *outGelu)

/* ---- products ----------------------------------------------------------------- */

/* `cubeMathType` is 0 to 3, and changes nothing here: products have the type of their inputs. */
OPENATC_ACLNN(Matmul, const aclTensor *self, const aclTensor *mat2, aclTensor *out,
              int8_t cubeMathType)
/* mat2 is [k, n] in any format, or has the 4 dims of FRACTAL_NZ: [n / 16, k / 16, 16, 16]. */
OPENATC_ACLNN(MatmulWeightNz, const aclTensor *self, const aclTensor *mat2, aclTensor *out,
              int8_t cubeMathType)
OPENATC_ACLNN(Mm, const aclTensor *self, const aclTensor *mat2, aclTensor *out, int8_t cubeMathType)
OPENATC_ACLNN(BatchMatMul, const aclTensor *self, const aclTensor *mat2, aclTensor *out,
              int8_t cubeMathType)
/* beta * self + alpha * mat1 x mat2 */
OPENATC_ACLNN(Addmm, const aclTensor *self, const aclTensor *mat1, const aclTensor *mat2,
              const aclScalar *beta, const aclScalar *alpha, aclTensor *out, int8_t cubeMathType)
/* Signals, images and volumes with 3 to 5 dims, channels second. `bias` may be NULL. */
OPENATC_ACLNN(Convolution, const aclTensor *input, const aclTensor *weight, const aclTensor *bias,
              const aclIntArray *stride, const aclIntArray *padding, const aclIntArray *dilation,
              bool transposed, const aclIntArray *outputPadding, const int64_t groups,
              aclTensor *output, int8_t cubeMathType)

/* ---- reductions and norms ------------------------------------------------------ */

OPENATC_ACLNN(Softmax, const aclTensor *self, int64_t dim, aclTensor *out)
OPENATC_ACLNN(LogSoftmax, const aclTensor *self, int64_t dim, aclTensor *out)
OPENATC_ACLNN(ReduceSum, const aclTensor *self, const aclIntArray *dims, bool keepDims,
              aclDataType dtype, aclTensor *out)
OPENATC_ACLNN(Mean, const aclTensor *self, const aclIntArray *dim, bool keepDim, aclDataType dtype,
              aclTensor *out)
OPENATC_ACLNN(Amax, const aclTensor *self, const aclIntArray *dim, bool keepDim, aclTensor *out)
OPENATC_ACLNN(Amin, const aclTensor *self, const aclIntArray *dim, bool keepDim, aclTensor *out)
OPENATC_ACLNN(Max, const aclTensor *self, aclTensor *out)
OPENATC_ACLNN(Min, const aclTensor *self, aclTensor *out)
OPENATC_ACLNN(Prod, const aclTensor *self, const aclDataType dtype, aclTensor *out)
OPENATC_ACLNN(ArgMax, const aclTensor *self, const int64_t dim, const bool keepdim, aclTensor *out)
OPENATC_ACLNN(ArgMin, const aclTensor *self, const int64_t dim, const bool keepdim, aclTensor *out)
OPENATC_ACLNN(Cumsum, const aclTensor *self, int64_t dim, aclDataType dtype, aclTensor *out)
OPENATC_ACLNN(Topk, const aclTensor *self, int64_t k, int64_t dim, bool largest, bool sorted,
              aclTensor *valuesOut, aclTensor *indicesOut)
/* Outputs but the first, and weights, may be NULL. */
OPENATC_ACLNN(LayerNorm, const aclTensor *input, const aclIntArray *normalizedShape,
              const aclTensor *weightOptional, const aclTensor *biasOptional, double eps,
              aclTensor *out, aclTensor *meanOutOptional, aclTensor *rstdOutOptional)
OPENATC_ACLNN(RmsNorm, const aclTensor *x, const aclTensor *gamma, double epsilon,
              const aclTensor *yOut, const aclTensor *rstdOut)

/* ---- movement -------------------------------------------------------------------- */

OPENATC_ACLNN(Cast, const aclTensor *self, const aclDataType dtype, aclTensor *out)
OPENATC_ACLNN(InplaceCopy, aclTensor *selfRef, const aclTensor *src)
OPENATC_ACLNN(Permute, const aclTensor *self, const aclIntArray *dims, aclTensor *out)
OPENATC_ACLNN(Cat, const aclTensorList *tensors, int64_t dim, aclTensor *out)
OPENATC_ACLNN(Stack, const aclTensorList *tensors, int64_t dim, aclTensor *out)
OPENATC_ACLNN(Slice, const aclTensor *self, int64_t dim, int64_t start, int64_t end, int64_t step,
              aclTensor *out)
OPENATC_ACLNN(Expand, const aclTensor *self, const aclIntArray *size, aclTensor *out)
OPENATC_ACLNN(Repeat, const aclTensor *self, const aclIntArray *repeats, aclTensor *out)
OPENATC_ACLNN(Flatten, const aclTensor *self, int64_t axis, aclTensor *out)
OPENATC_ACLNN(IndexSelect, const aclTensor *self, int64_t dim, const aclTensor *index,
              aclTensor *out)
OPENATC_ACLNN(Embedding, const aclTensor *weight, const aclTensor *indices, const aclTensor *out)
OPENATC_ACLNN(Arange, const aclScalar *start, const aclScalar *end, const aclScalar *step,
              aclTensor *out)
OPENATC_ACLNN(InplaceFillScalar, aclTensor *selfRef, const aclScalar *value)
OPENATC_ACLNN(InplaceZero, aclTensor *selfRef)
OPENATC_ACLNN(InplaceOne, aclTensor *selfRef)

#ifdef __cplusplus
}
#endif

#include "aclnnop/aclnn_composed_ops.h"
#include "aclnnop/aclnn_derived_ops.h"
#include "aclnnop/aclnn_fused_ops.h"
#include "aclnnop/aclnn_gradient_ops.h"
#include "aclnnop/aclnn_index_ops.h"
#include "aclnnop/aclnn_layer_ops.h"
#include "aclnnop/aclnn_list_ops.h"
#include "aclnnop/aclnn_neural_ops.h"
#include "aclnnop/aclnn_random_ops.h"
#include "aclnnop/aclnn_sequence_ops.h"
#include "aclnnop/aclnn_transformer_ops.h"

#endif
