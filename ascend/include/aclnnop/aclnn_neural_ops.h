/*===-- aclnnop/aclnn_neural_ops.h - norms, pools, attention, products ------===*/
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                     */
/*
 * aclnn_ops.h includes it, and says how its functions are called.
 */
#ifndef OPENATC_ACLNNOP_ACLNN_NEURAL_OPS_H
#define OPENATC_ACLNNOP_ACLNN_NEURAL_OPS_H

#include "aclnnop/aclnn_ops.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- statistics -------------------------------------------------------------- */

/* Axes that are NULL or empty are all axes. */
OPENATC_ACLNN(Var, const aclTensor *self, const aclIntArray *dim, bool unbiased, bool keepdim,
              aclTensor *out)
OPENATC_ACLNN(VarCorrection, const aclTensor *self, const aclIntArray *dim, int64_t correction,
              bool keepdim, aclTensor *out)
OPENATC_ACLNN(Std, const aclTensor *self, const aclIntArray *dim, const int64_t correction,
              bool keepdim, aclTensor *out)
OPENATC_ACLNN(VarMean, const aclTensor *self, const aclIntArray *dim, int64_t correction,
              bool keepdim, aclTensor *varOut, aclTensor *meanOut)
OPENATC_ACLNN(Norm, const aclTensor *self, const aclScalar *pScalar, const aclIntArray *dim,
              bool keepdim, aclTensor *out)
OPENATC_ACLNN(LogSumExp, const aclTensor *self, const aclIntArray *dim, bool keepDim,
              aclTensor *out)
OPENATC_ACLNN(MaxDim, const aclTensor *self, const int64_t dim, const bool keepdim, aclTensor *out,
              aclTensor *indices)
OPENATC_ACLNN(MinDim, const aclTensor *self, const int64_t dim, const bool keepdim, aclTensor *out,
              aclTensor *indices)
OPENATC_ACLNN(ProdDim, const aclTensor *self, int64_t dim, bool keepDim, const aclDataType dtype,
              aclTensor *out)
OPENATC_ACLNN(All, const aclTensor *self, const aclIntArray *dim, bool keepdim, aclTensor *out)
OPENATC_ACLNN(Any, const aclTensor *self, const aclIntArray *dim, bool keepdim, aclTensor *out)
/* Adds tensors. */
OPENATC_ACLNN(Sum, const aclTensorList *tensors, aclTensor *out)

/* ---- losses: `reduction` is 0 for each element, 1 for the mean, 2 for the sum ------- */

OPENATC_ACLNN(MseLoss, const aclTensor *self, const aclTensor *target, int64_t reduction,
              aclTensor *out)
OPENATC_ACLNN(L1Loss, const aclTensor *self, const aclTensor *target, int64_t reduction,
              aclTensor *out)
OPENATC_ACLNN(SmoothL1Loss, const aclTensor *self, const aclTensor *target, int64_t reduction,
              float beta, aclTensor *result)
OPENATC_ACLNN(SoftmaxCrossEntropyWithLogits, const aclTensor *features, const aclTensor *labels,
              aclTensor *loss, aclTensor *backprop)

/* ---- norms ------------------------------------------------------------------- */

OPENATC_ACLNN(GroupNorm, const aclTensor *self, const aclTensor *gamma, const aclTensor *beta,
              int64_t N, int64_t C, int64_t HxW, int64_t group, double eps, aclTensor *out,
              aclTensor *meanOut, aclTensor *rstdOut)
/* While training, the running values become (1 - momentum) of themselves and momentum of the
 * batch's. */
OPENATC_ACLNN(BatchNorm, const aclTensor *input, const aclTensor *weight, const aclTensor *bias,
              aclTensor *runningMean, aclTensor *runningVar, bool training, double momentum,
              double eps, aclTensor *output, aclTensor *saveMean, aclTensor *saveInvstd)
/* The norm of x1 + x2, which is an output, too. */
OPENATC_ACLNN(AddRmsNorm, const aclTensor *x1, const aclTensor *x2, const aclTensor *gamma,
              double epsilon, const aclTensor *yOut, const aclTensor *rstdOut,
              const aclTensor *xOut)

/* The norm of x1 + x2 + bias along the last dim; the sum is xOut where additionalOutput. */
OPENATC_ACLNN(AddLayerNorm, const aclTensor *x1, const aclTensor *x2, const aclTensor *gamma,
              const aclTensor *beta, const aclTensor *biasOptional, double epsilon,
              bool additionalOutput, const aclTensor *yOut, const aclTensor *meanOut,
              const aclTensor *rstdOut, const aclTensor *xOut)

/* Normalizes each channel of each image. mean and variance are outputs; the last one is the
 * variance, not its reciprocal root. */
OPENATC_ACLNN(InstanceNorm, const aclTensor *x, const aclTensor *gamma, const aclTensor *beta,
              const char *dataFormat, double eps, aclTensor *y, aclTensor *mean,
              aclTensor *variance)
/* Gradients; those whose output is NULL are left out. */
OPENATC_ACLNN(LayerNormBackward, const aclTensor *gradOut, const aclTensor *input,
              const aclIntArray *normalizedShape, const aclTensor *mean, const aclTensor *rstd,
              const aclTensor *weightOptional, const aclTensor *biasOptional,
              const aclBoolArray *outputMask, aclTensor *gradInputOut, aclTensor *gradWeightOut,
              aclTensor *gradBiasOut)
OPENATC_ACLNN(RmsNormGrad, const aclTensor *dy, const aclTensor *x, const aclTensor *rstd,
              const aclTensor *gamma, const aclTensor *dxOut, const aclTensor *dgammaOut)
/* The softmax of x * scale along the last dim, with -10000 where the mask holds. */
OPENATC_ACLNN(ScaledMaskedSoftmax, const aclTensor *x, const aclTensor *mask, double scale,
              bool fixTriuMask, aclTensor *y)

/* ---- pools ------------------------------------------------------------------- */

OPENATC_ACLNN(AvgPool2d, const aclTensor *self, const aclIntArray *kernelSize,
              const aclIntArray *stride, const aclIntArray *padding, const bool ceilMode,
              const bool countIncludePad, const int64_t divisorOverride, const int8_t cubeMathType,
              aclTensor *out)
OPENATC_ACLNN(AdaptiveAvgPool2d, const aclTensor *self, const aclIntArray *outputSize,
              aclTensor *out)
/* `autoPads` is 0. Pads are one or two numbers for each dim of the kernel. */
OPENATC_ACLNN(MaxPool, const aclTensor *self, const aclIntArray *kernelShape,
              const aclIntArray *strides, const int64_t autoPads, const aclIntArray *pads,
              const aclIntArray *dilations, const int64_t ceilMode, aclTensor *out)
/* Indices are those of the elements of an image. */
OPENATC_ACLNN(MaxPool2dWithIndices, const aclTensor *self, const aclIntArray *kernelSize,
              const aclIntArray *stride, const aclIntArray *padding, const aclIntArray *dilation,
              bool ceilMode, aclTensor *out, aclTensor *indices)
/* Indices are bytes, of which the first ones are the same indices as numbers of int32, element
 * after element of out; the rest is 0. */
OPENATC_ACLNN(MaxPool2dWithMask, const aclTensor *self, const aclIntArray *kernelSize,
              const aclIntArray *stride, const aclIntArray *padding, const aclIntArray *dilation,
              bool ceilMode, aclTensor *out, aclTensor *indices)

/* ---- products ---------------------------------------------------------------- */

OPENATC_ACLNN(Mv, const aclTensor *self, const aclTensor *vec, aclTensor *out, int8_t cubeMathType)
OPENATC_ACLNN(Dot, const aclTensor *self, const aclTensor *tensor, aclTensor *out)
OPENATC_ACLNN(Ger, const aclTensor *self, const aclTensor *vec2, aclTensor *out)
OPENATC_ACLNN(Addmv, const aclTensor *self, const aclTensor *mat, const aclTensor *vec,
              const aclScalar *alpha, const aclScalar *beta, aclTensor *out, int8_t cubeMathType)
OPENATC_ACLNN(Baddbmm, const aclTensor *self, const aclTensor *batch1, const aclTensor *batch2,
              const aclScalar *beta, const aclScalar *alpha, aclTensor *out, int8_t cubeMathType)
OPENATC_ACLNN(Addbmm, const aclTensor *self, const aclTensor *batch1, const aclTensor *batch2,
              const aclScalar *beta, const aclScalar *alpha, aclTensor *out, int8_t cubeMathType)
OPENATC_ACLNN(ConvDepthwise2d, const aclTensor *self, const aclTensor *weight,
              const aclIntArray *kernelSize, const aclTensor *bias, const aclIntArray *stride,
              const aclIntArray *padding, const aclIntArray *dilation, aclTensor *out,
              int8_t cubeMathType)
/* Write the bytes that a weight needs in the layout that products read fastest, and bring it into
 * that layout: here it stays as it is, whatever its format is called. */
ACL_FUNC_VISIBILITY aclnnStatus aclnnCalculateMatmulWeightSize(const aclIntArray *tensorShape,
                                                               uint64_t *weightTensorSize);
ACL_FUNC_VISIBILITY aclnnStatus aclnnCalculateMatmulWeightSizeV2(const aclIntArray *tensorShape,
                                                                 aclDataType dataType,
                                                                 uint64_t *weightTensorSize);
OPENATC_ACLNN(TransMatmulWeight, aclTensor *mmWeightRef)

/* ---- quantized tensors --------------------------------------------------------- */

/* x times (weight + offset) * scale, with int8 or int4 weights; the scales are of all, of each
 * column, or of each group of rows. */
OPENATC_ACLNN(WeightQuantBatchMatmulV2, const aclTensor *x, const aclTensor *weight,
              const aclTensor *antiquantScale, const aclTensor *antiquantOffsetOptional,
              const aclTensor *quantScaleOptional, const aclTensor *quantOffsetOptional,
              const aclTensor *biasOptional, int antiquantGroupSize, const aclTensor *y)
OPENATC_ACLNN(WeightQuantBatchMatmulV3, const aclTensor *x, const aclTensor *weight,
              const aclTensor *antiquantScale, const aclTensor *antiquantOffsetOptional,
              const aclTensor *quantScaleOptional, const aclTensor *quantOffsetOptional,
              const aclTensor *biasOptional, int antiquantGroupSize, int innerPrecise,
              const aclTensor *y)
/* (x1 x x2 + bias) * scale (+ offset, where out is int8), of int8: sums are exact. A bias of floats
 * is added behind the scales, of which those of V4 have one for each row, too. int64 and uint64
 * scales are those of TransQuantParamV2. */
OPENATC_ACLNN(QuantMatmulV3, const aclTensor *x1, const aclTensor *x2, const aclTensor *scale,
              const aclTensor *offset, const aclTensor *bias, bool transposeX1, bool transposeX2,
              const aclTensor *out)
OPENATC_ACLNN(QuantMatmulV4, const aclTensor *x1, const aclTensor *x2, const aclTensor *scale,
              const aclTensor *offset, const aclTensor *pertokenScaleOptional,
              const aclTensor *bias, bool transposeX1, bool transposeX2, const aclTensor *out)
/* x1Scale are those of rows; yScale, x1Offset and yOffset are NULL, groupSize is 0. */
OPENATC_ACLNN(QuantMatmulV5, const aclTensor *x1, const aclTensor *x2, const aclTensor *x1Scale,
              const aclTensor *x2Scale, const aclTensor *yScale, const aclTensor *x1Offset,
              const aclTensor *x2Offset, const aclTensor *yOffset, const aclTensor *bias,
              bool transposeX1, bool transposeX2, int64_t groupSize, aclTensor *out)
OPENATC_ACLNN(TransQuantParamV2, const aclTensor *scale, const aclTensor *offset,
              const aclTensor *out)
/* (x + offset) * scale, or the square of the scale. */
OPENATC_ACLNN(AscendAntiQuant, const aclTensor *x, const aclTensor *scale, const aclTensor *offset,
              int64_t dstType, bool sqrtMode, const aclTensor *y)
/* round(x * scale + offset) as int8. */
OPENATC_ACLNN(AscendQuant, const aclTensor *x, const aclTensor *scale, const aclTensor *offset,
              bool sqrtMode, const char *roundMode, int32_t dstType, const aclTensor *y)
/* The same with a scale and an offset per index of an axis, the last one or the one before. */
OPENATC_ACLNN(AscendQuantV3, const aclTensor *x, const aclTensor *scale, const aclTensor *offset,
              bool sqrtMode, const char *roundMode, int32_t dstType, int32_t axis,
              const aclTensor *y)
/* Quantizes each row by its largest absolute value, which is 127 then. */
OPENATC_ACLNN(DynamicQuant, const aclTensor *x, const aclTensor *smoothScalesOptional,
              const aclTensor *yOut, const aclTensor *scaleOut)
/* Quantizes each row. With offsetOut, the range from its smallest to its largest element becomes
 * -128 to 127. */
OPENATC_ACLNN(DynamicQuantV2, const aclTensor *x, const aclTensor *smoothScalesOptional,
              const aclTensor *groupIndexOptional, int64_t dstType, const aclTensor *yOut,
              const aclTensor *scaleOut, const aclTensor *offsetOut)

/* ---- refused with 161002: a chain of steps per token ------------------------------ */

OPENATC_ACLNN(RecurrentGatedDeltaRule, const aclTensor *query, const aclTensor *key,
              const aclTensor *value, const aclTensor *beta, aclTensor *stateRef,
              const aclTensor *actualSeqLengths, const aclTensor *ssmStateIndices,
              const aclTensor *g, const aclTensor *gk, const aclTensor *numAcceptedTokens,
              float scaleValue, aclTensor *out)
/* The solution x of A x = self, with A a triangle; mOut is A. */
OPENATC_ACLNN(TriangularSolve, const aclTensor *self, const aclTensor *A, bool upper,
              bool transpose, bool unitriangular, aclTensor *xOut, aclTensor *mOut)

#ifdef __cplusplus
}
#endif

#endif
