/*===-- aclnnop/aclnn_derived_ops.h - gradients, losses, forms in place -----===*/
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                     */
/*
 * aclnn_ops.h includes it, and says how its functions are called.
 */
#ifndef OPENATC_ACLNNOP_ACLNN_DERIVED_OPS_H
#define OPENATC_ACLNNOP_ACLNN_DERIVED_OPS_H

#include "aclnnop/aclnn_ops.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- forms in place ------------------------------------------------------------- */

#define OPENATC_ACLNN_INPLACE_PAIR(name, tensor, scalar)                                           \
  OPENATC_ACLNN(Inplace##name##tensor, aclTensor *selfRef, const aclTensor *other)                 \
  OPENATC_ACLNN(Inplace##name##scalar, aclTensor *selfRef, const aclScalar *other)
OPENATC_ACLNN_INPLACE_PAIR(FloorDivide, , s)
OPENATC_ACLNN_INPLACE_PAIR(Fmod, Tensor, Scalar)
OPENATC_ACLNN_INPLACE_PAIR(RemainderTensor, Tensor, Scalar)
OPENATC_ACLNN_INPLACE_PAIR(BitwiseAnd, Tensor, Scalar)
OPENATC_ACLNN_INPLACE_PAIR(BitwiseOr, Tensor, Scalar)
OPENATC_ACLNN_INPLACE_PAIR(BitwiseXor, Tensor, Scalar)
#define OPENATC_ACLNN_INPLACE_COMPARISON(name) OPENATC_ACLNN_INPLACE_PAIR(name, Tensor, Scalar)
OPENATC_ACLNN_COMPARISONS(OPENATC_ACLNN_INPLACE_COMPARISON)
OPENATC_ACLNN(InplaceLogicalAnd, aclTensor *selfRef, const aclTensor *other)
OPENATC_ACLNN(InplaceLogicalOr, aclTensor *selfRef, const aclTensor *other)
OPENATC_ACLNN(InplaceLogicalNot, aclTensor *selfRef)
OPENATC_ACLNN(InplaceLerp, aclTensor *selfRef, const aclTensor *end, const aclTensor *weight)
OPENATC_ACLNN(InplaceLerps, aclTensor *selfRef, const aclTensor *end, const aclScalar *weight)
/* beta * selfRef + alpha * mat1 x mat2, and the same of batches of matrices. */
OPENATC_ACLNN(InplaceAddmm, aclTensor *selfRef, const aclTensor *mat1, const aclTensor *mat2,
              const aclScalar *beta, const aclScalar *alpha, int8_t cubeMathType)
OPENATC_ACLNN(InplaceBaddbmm, aclTensor *selfRef, const aclTensor *batch1, const aclTensor *batch2,
              const aclScalar *beta, const aclScalar *alpha, int8_t cubeMathType)

OPENATC_ACLNN(InplaceAddr, aclTensor *selfRef, const aclTensor *vec1, const aclTensor *vec2,
              const aclScalar *betaOptional, const aclScalar *alphaOptional)
OPENATC_ACLNN_INPLACE(Erfc)
OPENATC_ACLNN_INPLACE(Exp2)
OPENATC_ACLNN_INPLACE(Trunc)
OPENATC_ACLNN_INPLACE(Frac)
OPENATC_ACLNN_INPLACE(Sinc)
OPENATC_ACLNN_INPLACE(Selu)
OPENATC_ACLNN(InplaceLogit, aclTensor *selfRef, double eps)
OPENATC_ACLNN(InplaceNanToNum, aclTensor *selfRef, float nan, float posinf, float neginf)
OPENATC_ACLNN(InplaceCelu, aclTensor *selfRef, const aclScalar *alpha)
OPENATC_ACLNN(InplaceHardtanh, aclTensor *selfRef, const aclScalar *clipValueMin,
              const aclScalar *clipValueMax)
OPENATC_ACLNN(InplaceAtan2, aclTensor *selfRef, const aclTensor *other)
OPENATC_ACLNN(InplaceXLogYTensor, aclTensor *selfRef, const aclTensor *other)

/* ---- divisions, comparisons, limits ----------------------------------------------- */

/* `mode` is 0 for the quotient itself, 1 for the one rounded to 0, 2 for the one rounded down. */
OPENATC_ACLNN(DivMod, const aclTensor *self, const aclTensor *other, int mode, aclTensor *out)
OPENATC_ACLNN(DivMods, const aclTensor *self, const aclScalar *other, int mode, aclTensor *out)
OPENATC_ACLNN(InplaceDivMod, aclTensor *selfRef, const aclTensor *other, int mode)
OPENATC_ACLNN(InplaceDivMods, aclTensor *selfRef, const aclScalar *other, int mode)
/* |self - other| <= atol + rtol * |other| */
OPENATC_ACLNN(IsClose, const aclTensor *self, const aclTensor *other, double rtol, double atol,
              bool equal_nan, aclTensor *out)
/* Equal writes one bool: whether both tensors have the same dims and elements. */
OPENATC_ACLNN_BINARY(Equal)
OPENATC_ACLNN_UNARY(Signbit)
OPENATC_ACLNN(ClampTensor, const aclTensor *self, const aclTensor *clipValueMin,
              const aclTensor *clipValueMax, aclTensor *out)
OPENATC_ACLNN(ClampMinTensor, const aclTensor *self, const aclTensor *clipValueMin, aclTensor *out)
OPENATC_ACLNN(MaxN, const aclTensorList *tensors, aclTensor *out)
OPENATC_ACLNN(MinN, const aclTensorList *tensors, aclTensor *out)
OPENATC_ACLNN(Aminmax, const aclTensor *self, const aclIntArray *dim, const bool keepDim,
              aclTensor *minOut, aclTensor *maxOut)

/* ---- products and sums -------------------------------------------------------------- */

/* beta * self + alpha * vec1 x vec2, an outer product; factors may be NULL, which is 1. */
OPENATC_ACLNN(Addr, const aclTensor *self, const aclTensor *vec1, const aclTensor *vec2,
              const aclScalar *betaOptional, const aclScalar *alphaOptional, aclTensor *out)
/* alpha * A x B + beta * C */
OPENATC_ACLNN(Gemm, const aclTensor *A, const aclTensor *B, const aclTensor *C, float alpha,
              float beta, int64_t transA, int64_t transB, aclTensor *out, int8_t cubeMathType)
OPENATC_ACLNN(LinalgVectorNorm, const aclTensor *self, const aclScalar *ord,
              const aclIntArray *dims, bool keepDims, const aclDataType dtype, aclTensor *out)
OPENATC_ACLNN(LinalgCross, const aclTensor *self, const aclTensor *other, int64_t dim,
              aclTensor *out)
OPENATC_ACLNN(CumsumV2, const aclTensor *self, int64_t dim, bool exclusive, bool reverse,
              aclTensor *out)
/* An element of `self`, read row by row, for each of `index`. */
OPENATC_ACLNN(Take, const aclTensor *self, const aclTensor *index, aclTensor *out)

/* ---- losses and gradients -------------------------------------------------------------- */

/* `reduction` is 0 (none), 1 (mean) or 2 (sum); weights may be NULL. */
OPENATC_ACLNN(BinaryCrossEntropy, const aclTensor *self, const aclTensor *target,
              const aclTensor *weight, int64_t reduction, aclTensor *out)
OPENATC_ACLNN(BinaryCrossEntropyWithLogits, const aclTensor *self, const aclTensor *target,
              const aclTensor *weightOptional, const aclTensor *posWeightOptional,
              int64_t reduction, aclTensor *out)
OPENATC_ACLNN(SoftMarginLoss, const aclTensor *self, const aclTensor *target, int64_t reduction,
              aclTensor *out)
/* -weight[target] * self[target] of rows of logarithms; rows whose target is ignoreIndex have no
 * loss. totalWeightOut is the sum of the weights, by which the mean divides. */
OPENATC_ACLNN(NLLLoss, const aclTensor *self, const aclTensor *target, const aclTensor *weight,
              int64_t reduction, int64_t ignoreIndex, aclTensor *out, aclTensor *totalWeightOut)
OPENATC_ACLNN(NLLLoss2d, const aclTensor *self, const aclTensor *target, const aclTensor *weight,
              int64_t reduction, int64_t ignoreIndex, aclTensor *out, aclTensor *totalWeightOut)
/* Rows [n, classes]; reduction is none, mean or sum. zlossOut and lseForZlossOut are not written:
 * returnZloss must be false. */
OPENATC_ACLNN(CrossEntropyLoss, const aclTensor *input, const aclTensor *target,
              const aclTensor *weightOptional, char *reductionOptional, int64_t ignoreIndex,
              double labelSmoothing, double lseSquareScaleForZloss, bool returnZloss,
              const aclTensor *lossOut, const aclTensor *logProbOut, const aclTensor *zlossOut,
              const aclTensor *lseForZlossOut)
OPENATC_ACLNN(KlDiv, const aclTensor *self, const aclTensor *target, int64_t reduction,
              bool logTarget, aclTensor *out)
OPENATC_ACLNN(MseLossBackward, const aclTensor *gradOutput, const aclTensor *self,
              const aclTensor *target, int64_t reduction, aclTensor *out)
/* The gradient of the input of a function, from that of its output and from the output (Sigmoid,
 * Tanh, Softmax, LogSoftmax) or the input. */
OPENATC_ACLNN(SigmoidBackward, const aclTensor *gradOutput, const aclTensor *output,
              aclTensor *gradInput)
OPENATC_ACLNN(TanhBackward, const aclTensor *gradOutput, const aclTensor *output,
              aclTensor *gradInput)
OPENATC_ACLNN(SiluBackward, const aclTensor *gradOutput, const aclTensor *self,
              aclTensor *gradInput)
OPENATC_ACLNN(GeluBackward, const aclTensor *gradOutput, const aclTensor *self,
              aclTensor *gradInput)
OPENATC_ACLNN(ThresholdBackward, const aclTensor *gradOutput, const aclTensor *self,
              const aclScalar *threshold, aclTensor *out)
OPENATC_ACLNN(SoftmaxBackward, const aclTensor *gradOutput, const aclTensor *output, int64_t dim,
              aclTensor *gradInput)
OPENATC_ACLNN(LogSoftmaxBackward, const aclTensor *gradOutput, const aclTensor *output, int64_t dim,
              aclTensor *out)

OPENATC_ACLNN(HardswishBackward, const aclTensor *gradOutput, const aclTensor *self, aclTensor *out)
OPENATC_ACLNN(HardsigmoidBackward, const aclTensor *gradOutput, const aclTensor *self,
              aclTensor *out)
OPENATC_ACLNN(HardtanhBackward, const aclTensor *gradOutput, const aclTensor *self,
              const aclScalar *min, const aclScalar *max, aclTensor *out)
OPENATC_ACLNN(LeakyReluBackward, const aclTensor *gradOutput, const aclTensor *self,
              const aclScalar *negativeSlope, bool selfIsResult, aclTensor *out)
OPENATC_ACLNN(SoftplusBackward, const aclTensor *gradOutput, const aclTensor *self,
              const aclScalar *beta, const aclScalar *threshold, aclTensor *gradInput)
OPENATC_ACLNN(EluBackward, const aclTensor *gradOutput, const aclScalar *alpha,
              const aclScalar *scale, const aclScalar *inputScale, bool isResult,
              const aclTensor *selfOrResult, aclTensor *gradInput)
OPENATC_ACLNN(SwiGluGrad, const aclTensor *yGrad, const aclTensor *x, int64_t dim,
              const aclTensor *out)
/* Sums of the rows of grad for each index, without those of paddingIdx. */
OPENATC_ACLNN(EmbeddingDenseBackward, const aclTensor *grad, const aclTensor *indices,
              uint64_t numWeights, uint64_t paddingIdx, bool scaleGradByFreq, const aclTensor *out)
/* A step of AdamW; `step` counts from 1. */
OPENATC_ACLNN(ApplyAdamWV2, aclTensor *varRef, aclTensor *mRef, aclTensor *vRef,
              aclTensor *maxGradNormOptionalRef, const aclTensor *grad, const aclTensor *step,
              float lr, float beta1, float beta2, float weightDecay, float eps, bool amsgrad,
              bool maximize)

#ifdef __cplusplus
}
#endif

#endif
