/*===-- aclnnop/aclnn_layer_ops.h - gradients of images, routing, forms with scalars -===*/
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                     */
/*
 * aclnn_ops.h includes it, and says how its functions are called.
 */
#ifndef OPENATC_ACLNNOP_ACLNN_LAYER_OPS_H
#define OPENATC_ACLNNOP_ACLNN_LAYER_OPS_H

#include "aclnnop/aclnn_ops.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- images: resizing, padding, columns of windows, and their gradients ------------- */

OPENATC_ACLNN(UpsampleNearest1dBackward, const aclTensor *gradOut, const aclIntArray *outputSize,
              const aclIntArray *inputSize, double scales, aclTensor *gradInput)
OPENATC_ACLNN(UpsampleNearest2dBackward, const aclTensor *gradOut, const aclIntArray *outputSize,
              const aclIntArray *inputSize, double scalesH, double scalesW, aclTensor *gradInput)
OPENATC_ACLNN(UpsampleNearest3dBackward, const aclTensor *gradOut, const aclIntArray *outputSize,
              const aclIntArray *inputSize, double scalesD, double scalesH, double scalesW,
              aclTensor *gradInput)
OPENATC_ACLNN(UpsampleNearestExact1dBackward, const aclTensor *gradOut,
              const aclIntArray *outputSize, const aclIntArray *inputSize, double scales,
              aclTensor *gradInput)
OPENATC_ACLNN(UpsampleNearestExact2dBackward, const aclTensor *gradOut,
              const aclIntArray *outputSize, const aclIntArray *inputSize, double scalesH,
              double scalesW, aclTensor *gradInput)
OPENATC_ACLNN(UpsampleNearestExact3dBackward, const aclTensor *gradOut,
              const aclIntArray *outputSize, const aclIntArray *inputSize, double scalesD,
              double scalesH, double scalesW, aclTensor *gradInput)
OPENATC_ACLNN(UpsampleLinear1dBackward, const aclTensor *gradOut, const aclIntArray *outputSize,
              const aclIntArray *inputSize, bool alignCorners, double scales, aclTensor *gradInput)
OPENATC_ACLNN(UpsampleBilinear2dBackward, const aclTensor *gradOut, const aclIntArray *outputSize,
              const aclIntArray *inputSize, bool alignCorners, double scalesH, double scalesW,
              aclTensor *gradInput)
OPENATC_ACLNN(UpsampleBicubic2dBackward, const aclTensor *gradOut, const aclIntArray *outputSize,
              const aclIntArray *inputSize, bool alignCorners, double scalesH, double scalesW,
              aclTensor *gradInput)
OPENATC_ACLNN(UpsampleTrilinear3dBackward, const aclTensor *gradOut, const aclIntArray *outputSize,
              const aclIntArray *inputSize, bool alignCorners, double scalesD, double scalesH,
              double scalesW, aclTensor *gradInput)
OPENATC_ACLNN(UpsampleNearest3d, const aclTensor *self, const aclIntArray *outputSize,
              double scalesD, double scalesH, double scalesW, aclTensor *out)
OPENATC_ACLNN(UpsampleNearestExact3d, const aclTensor *self, const aclIntArray *outputSize,
              double scalesD, double scalesH, double scalesW, aclTensor *out)
OPENATC_ACLNN(UpsampleNearestExact1d, const aclTensor *self, const aclIntArray *outputSize,
              double scales, aclTensor *out)
OPENATC_ACLNN(ReflectionPad1dBackward, const aclTensor *gradOutput, const aclTensor *self,
              const aclIntArray *padding, aclTensor *gradInput)
OPENATC_ACLNN(ReflectionPad2dBackward, const aclTensor *gradOutput, const aclTensor *self,
              const aclIntArray *padding, aclTensor *gradInput)
OPENATC_ACLNN(ReflectionPad3dBackward, const aclTensor *gradOutput, const aclTensor *self,
              const aclIntArray *padding, aclTensor *gradInput)
OPENATC_ACLNN(ReplicationPad1dBackward, const aclTensor *gradOutput, const aclTensor *self,
              const aclIntArray *padding, aclTensor *gradInput)
OPENATC_ACLNN(ReplicationPad2dBackward, const aclTensor *gradOutput, const aclTensor *self,
              const aclIntArray *padding, aclTensor *gradInput)
OPENATC_ACLNN(ReplicationPad3dBackward, const aclTensor *gradOutput, const aclTensor *self,
              const aclIntArray *padding, aclTensor *gradInput)
OPENATC_ACLNN(CircularPad2dBackward, const aclTensor *gradOutput, const aclTensor *self,
              const aclIntArray *padding, aclTensor *gradInput)
OPENATC_ACLNN(CircularPad3dBackward, const aclTensor *gradOutput, const aclTensor *self,
              const aclIntArray *padding, aclTensor *gradInput)
OPENATC_ACLNN(CircularPad2d, const aclTensor *self, const aclIntArray *padding, aclTensor *out)
OPENATC_ACLNN(CircularPad3d, const aclTensor *self, const aclIntArray *padding, aclTensor *out)
OPENATC_ACLNN(Im2colBackward, const aclTensor *gradOutput, const aclIntArray *inputSize,
              const aclIntArray *kernelSize, const aclIntArray *dilation,
              const aclIntArray *padding, const aclIntArray *stride, aclTensor *out)

/* ---- norms of batches that several devices hold -------------------------------------- */

OPENATC_ACLNN(BatchNormStats, const aclTensor *input, double eps, aclTensor *mean,
              aclTensor *invstd)
OPENATC_ACLNN(BatchNormReduce, const aclTensor *x, aclTensor *sum, aclTensor *squareSum)
OPENATC_ACLNN(BatchNormGatherStatsWithCounts, const aclTensor *input, const aclTensor *mean,
              const aclTensor *invstd, aclTensor *runningMean, aclTensor *runningVar,
              double momentum, double eps, const aclTensor *counts, aclTensor *meanAll,
              aclTensor *invstdAll)
OPENATC_ACLNN(BatchNormElemt, const aclTensor *input, const aclTensor *weight,
              const aclTensor *bias, aclTensor *mean, aclTensor *invstd, double eps,
              aclTensor *output)
OPENATC_ACLNN(BatchNormReduceBackward, const aclTensor *gradOut, const aclTensor *input,
              const aclTensor *mean, const aclTensor *invstd, const aclTensor *weight,
              const bool inputG, const bool weightG, const bool biasG, aclTensor *sumDy,
              aclTensor *sumDyXmu, aclTensor *gradWeight, aclTensor *gradBias)
OPENATC_ACLNN(BatchNormElemtBackward, const aclTensor *gradOut, const aclTensor *input,
              const aclTensor *mean, const aclTensor *invstd, const aclTensor *weight,
              const aclTensor *sumDy, const aclTensor *sumDyXmu, aclTensor *counter,
              aclTensor *gradInput)

/* ---- norms with what follows them ---------------------------------------------------- */

/* RmsNorm with the factors 1 + gamma. */
OPENATC_ACLNN(GemmaRmsNorm, const aclTensor *x, const aclTensor *gamma, double epsilon,
              const aclTensor *yOut, const aclTensor *rstdOut)
OPENATC_ACLNN(InplaceAddRmsNorm, aclTensor *x1Ref, aclTensor *x2Ref, const aclTensor *gamma,
              double epsilon, const aclTensor *rstdOut)
OPENATC_ACLNN(AddRmsNormQuant, const aclTensor *x1, const aclTensor *x2, const aclTensor *gamma,
              const aclTensor *scales1, const aclTensor *scales2Optional,
              const aclTensor *zeroPoints1Optional, const aclTensor *zeroPoints2Optional,
              int64_t axis, double epsilon, bool divMode, const aclTensor *y1Out,
              const aclTensor *y2Out, const aclTensor *xOut)
OPENATC_ACLNN(AddRmsNormDynamicQuant, const aclTensor *x1, const aclTensor *x2,
              const aclTensor *gamma, const aclTensor *smoothScale1Optional,
              const aclTensor *smoothScale2Optional, double epsilon, const aclTensor *y1Out,
              const aclTensor *y2Out, const aclTensor *xOut, const aclTensor *scale1Out,
              const aclTensor *scale2Out)
/* The same with beta, which is added to the norm before it is quantized; rmsNormOut, which may be
 * NULL, is without it. outputMask has no meaning: an output is written where its scale is given. */
OPENATC_ACLNN(AddRmsNormQuantV2, const aclTensor *x1, const aclTensor *x2, const aclTensor *gamma,
              const aclTensor *scales1, const aclTensor *scales2Optional,
              const aclTensor *zeroPoints1Optional, const aclTensor *zeroPoints2Optional,
              const aclTensor *betaOptional, int64_t axis, double epsilon, bool divMode,
              aclTensor *y1Out, aclTensor *y2Out, aclTensor *xOut, aclTensor *rmsNormOut)
OPENATC_ACLNN(AddRmsNormDynamicQuantV2, const aclTensor *x1, const aclTensor *x2,
              const aclTensor *gamma, const aclTensor *smoothScale1Optional,
              const aclTensor *smoothScale2Optional, const aclTensor *betaOptional, double epsilon,
              const aclBoolArray *outputMask, const aclTensor *y1Out, const aclTensor *y2Out,
              const aclTensor *xOut, const aclTensor *scale1Out, const aclTensor *scale2Out)
OPENATC_ACLNN(GroupNormSilu, const aclTensor *self, const aclTensor *gamma, const aclTensor *beta,
              int64_t group, double eps, aclTensor *out, aclTensor *meanOut, aclTensor *rstdOut)
OPENATC_ACLNN(GroupNormSiluV2, const aclTensor *self, const aclTensor *gamma, const aclTensor *beta,
              int64_t group, double eps, bool activateSilu, aclTensor *out, aclTensor *meanOut,
              aclTensor *rstdOut)
OPENATC_ACLNN(GroupNormSwish, const aclTensor *x, const aclTensor *gamma, const aclTensor *beta,
              int64_t numGroups, char *dataFormatOptional, double eps, bool activateSwish,
              double swishScale, const aclTensor *yOut, const aclTensor *meanOut,
              const aclTensor *rstdOut)

/* ---- gradients of activations and losses ---------------------------------------------- */

OPENATC_ACLNN(GeluBackwardV2, const aclTensor *gradOutput, const aclTensor *self, char *approximate,
              aclTensor *gradInput)
OPENATC_ACLNN(SeluBackward, const aclTensor *gradOutput, const aclTensor *output,
              aclTensor *gradInput)
OPENATC_ACLNN(PreluBackward, const aclTensor *gradOutput, const aclTensor *self,
              const aclTensor *weight, aclTensor *gradInput, aclTensor *gradWeight)
OPENATC_ACLNN(KlDivBackward, const aclTensor *gradOutput, const aclTensor *self,
              const aclTensor *target, int64_t reduction, bool logTarget, aclTensor *gradInput)
OPENATC_ACLNN(SoftMarginLossBackward, const aclTensor *gradOutput, const aclTensor *self,
              const aclTensor *target, int64_t reduction, aclTensor *out)
OPENATC_ACLNN(ScaledMaskedSoftmaxBackward, const aclTensor *gradOutput, const aclTensor *y,
              const aclTensor *mask, double scale, bool fixTriuMask, aclTensor *out)
OPENATC_ACLNN(RotaryPositionEmbeddingGrad, const aclTensor *dy, const aclTensor *cos,
              const aclTensor *sin, const aclTensor *xOptional, int64_t mode,
              const aclTensor *dxOut, const aclTensor *dcosOut, const aclTensor *dsinOut)

/* ---- tokens are sent to experts and back ----------------------------------------------- */

OPENATC_ACLNN(MoeGatingTopK, const aclTensor *x, const aclTensor *biasOptional, int64_t k,
              int64_t kGroup, int64_t groupCount, int64_t groupSelectMode, int64_t renorm,
              int64_t normType, bool outFlag, double routedScalingFactor, double eps,
              const aclTensor *yOut, const aclTensor *expertIdxOut, const aclTensor *outOut)
OPENATC_ACLNN(MoeInitRoutingV2, const aclTensor *x, const aclTensor *expertIdx,
              int64_t activeNumOptional, int64_t expertCapacityOptional, int64_t expertNumOptional,
              int64_t dropPadModeOptional, int64_t expertTokensCountOrCumsumFlagOptional,
              bool expertTokensBeforeCapacityFlagOptional, const aclTensor *expandedXOut,
              const aclTensor *expandedRowIdxOut,
              const aclTensor *expertTokensCountOrCumsumOutOptional,
              const aclTensor *expertTokensBeforeCapacityOutOptional)
/* MoeInitRouting for the experts of a range. quantMode: -1 copies rows, 0 quantizes them to int8
 * with scale and offset, 1 with a scale computed per row, after a multiplication by scaleOptional.
 * expertTokensNumType: 0 cumulative sums, 1 counts, 2 pairs of expert and count. rowIdxType: 0 the
 * row of each choice, 1 the choice of each row. Rows that no token takes are 0; the indices of
 * choices without a row are -1. */
OPENATC_ACLNN(MoeInitRoutingV3, const aclTensor *x, const aclTensor *expertIdx,
              const aclTensor *scaleOptional, const aclTensor *offsetOptional, int64_t activeNum,
              int64_t expertCapacity, int64_t expertNum, int64_t dropPadMode,
              int64_t expertTokensNumType, bool expertTokensNumFlag, int64_t quantMode,
              const aclIntArray *activeExpertRangeOptional, int64_t rowIdxType,
              const aclTensor *expandedXOut, const aclTensor *expandedRowIdxOut,
              const aclTensor *expertTokensCountOrCumsumOut, const aclTensor *expandedScaleOut)
OPENATC_ACLNN(MoeFinalizeRoutingV2, const aclTensor *expandedX, const aclTensor *expandedRowIdx,
              const aclTensor *x1Optional, const aclTensor *x2Optional,
              const aclTensor *biasOptional, const aclTensor *scalesOptional,
              const aclTensor *expertIdxOptional, int64_t dropPadMode, const aclTensor *out)
OPENATC_ACLNN(MoeTokenPermute, const aclTensor *tokens, const aclTensor *indices,
              int64_t numOutTokens, bool paddedMode, const aclTensor *permuteTokensOut,
              const aclTensor *sortedIndicesOut)
OPENATC_ACLNN(MoeTokenUnpermute, const aclTensor *permutedTokens, const aclTensor *sortedIndices,
              const aclTensor *probsOptional, bool paddedMode,
              const aclIntArray *restoreShapeOptional, aclTensor *out)

/* ---- forms with scalars, and small additions -------------------------------------------- */

OPENATC_ACLNN(ClampMaxTensor, const aclTensor *self, const aclTensor *max, aclTensor *out)
OPENATC_ACLNN(GlobalAveragePool, const aclTensor *self, aclTensor *out)
OPENATC_ACLNN(GlobalMaxPool, const aclTensor *self, aclTensor *out)
OPENATC_ACLNN(InplaceClampMaxTensor, aclTensor *selfRef, const aclTensor *max)
OPENATC_ACLNN(InplaceFillDiagonal, aclTensor *selfRef, const aclScalar *fillValue, bool wrap)
OPENATC_ACLNN(InplaceRenorm, aclTensor *selfRef, const aclScalar *p, int64_t dim,
              const aclScalar *maxNorm)
OPENATC_ACLNN(InplaceRoundDecimals, aclTensor *selfRef, int64_t decimals)
OPENATC_ACLNN(Inverse, const aclTensor *self, aclTensor *out)
OPENATC_ACLNN(IsInScalarTensor, const aclScalar *element, const aclTensor *testElement,
              bool assumeUnique, bool invert, aclTensor *out)
OPENATC_ACLNN(IsInTensorScalar, const aclTensor *element, const aclScalar *testElement,
              bool assumeUnique, bool invert, aclTensor *out)
OPENATC_ACLNN(LogSigmoidForward, const aclTensor *self, aclTensor *out, aclTensor *buffer)
OPENATC_ACLNN(Logdet, const aclTensor *self, aclTensor *out)
OPENATC_ACLNN(MeanV2, const aclTensor *self, const aclIntArray *dim, bool keepDim,
              bool noopWithEmptyAxes, aclTensor *out)
OPENATC_ACLNN(RemainderScalarTensor, const aclScalar *self, const aclTensor *other, aclTensor *out)
OPENATC_ACLNN(Renorm, const aclTensor *self, const aclScalar *p, int64_t dim,
              const aclScalar *maxNorm, aclTensor *out)
OPENATC_ACLNN(RoundDecimals, const aclTensor *self, int64_t decimals, aclTensor *out)
OPENATC_ACLNN(Slogdet, const aclTensor *self, aclTensor *signOut, aclTensor *logOut)
OPENATC_ACLNN(StdMeanCorrection, const aclTensor *self, const aclIntArray *dim, int64_t correction,
              bool keepdim, aclTensor *stdOut, aclTensor *meanOut)
OPENATC_ACLNN(XLogYScalarOther, const aclTensor *self, const aclScalar *other, aclTensor *out)
OPENATC_ACLNN(XLogYScalarSelf, const aclScalar *self, const aclTensor *other, aclTensor *out)

/* ---- two steps in one ------------------------------------------------------------------- */

/* relu(self + alpha * other) */
OPENATC_ACLNN(AddRelu, const aclTensor *self, const aclTensor *other, const aclScalar *alpha,
              aclTensor *out)
OPENATC_ACLNN(InplaceAddRelu, aclTensor *selfRef, const aclTensor *other, const aclScalar *alpha)
/* The left half of the last dim is activated and multiplied by the right one. */
OPENATC_ACLNN(GeluMul, const aclTensor *input, const char *approximate, const aclTensor *out)
OPENATC_ACLNN(FatreluMul, const aclTensor *input, const aclTensor *threshold, const aclTensor *out)
OPENATC_ACLNN(LogitGrad, const aclTensor *x, const aclTensor *dy, double eps, aclTensor *out)
/* (x + bias) * weightScale of the column * activateScale of the row; x is int32. */
OPENATC_ACLNN(DequantBias, const aclTensor *x, const aclTensor *weightScale,
              const aclTensor *activateScaleOptional, const aclTensor *biasOptional,
              int64_t outputDtype, const aclTensor *out)
/* Logits beyond the k largest of a row, and beyond those that reach the probability p, become
   -infinity. */
OPENATC_ACLNN(ApplyTopKTopP, const aclTensor *logits, const aclTensor *p, const aclTensor *k,
              aclTensor *out)
OPENATC_ACLNN(TransposeBatchMatMul, const aclTensor *x1, const aclTensor *x2, const aclTensor *bias,
              const aclTensor *scale, const aclIntArray *permX1, const aclIntArray *permX2,
              const aclIntArray *permY, int8_t cubeMathType, const int32_t batchSplitFactor,
              aclTensor *out)
OPENATC_ACLNN(Bucketize, const aclTensor *self, const aclTensor *boundaries, const bool outInt32,
              const bool right, aclTensor *out)
/* layernorm(alpha * x + gx) */
OPENATC_ACLNN(DeepNorm, const aclTensor *x, const aclTensor *gx, const aclTensor *beta,
              const aclTensor *gamma, double alpha, double epsilon, const aclTensor *meanOut,
              const aclTensor *rstdOut, const aclTensor *yOut)
OPENATC_ACLNN(AddLayerNormGrad, const aclTensor *dy, const aclTensor *x1, const aclTensor *x2,
              const aclTensor *rstd, const aclTensor *mean, const aclTensor *gamma,
              const aclTensor *dsumOptional, const aclTensor *dxOut, const aclTensor *dgammaOut,
              const aclTensor *dbetaOut)
OPENATC_ACLNN(GeGluBackward, const aclTensor *gradOutput, const aclTensor *self,
              const aclTensor *gelu, int64_t dim, int64_t approximate, aclTensor *gradInput)
OPENATC_ACLNN(GeGluV3Backward, const aclTensor *gradOutput, const aclTensor *self,
              const aclTensor *gelu, int64_t dim, int64_t approximate, bool activateLeft,
              aclTensor *gradInput)
OPENATC_ACLNN(HardswishBackwardV2, const aclTensor *gradOutput, const aclTensor *self,
              aclTensor *out)
OPENATC_ACLNN(BinaryCrossEntropyWithLogitsTargetBackward, const aclTensor *gradOutput,
              const aclTensor *self, const aclTensor *target, const aclTensor *weightOptional,
              const aclTensor *posWeightOptional, int64_t reduction, aclTensor *gradTarget)
OPENATC_ACLNN(KlDivTargetBackward, const aclTensor *gradOutput, const aclTensor *self,
              const aclTensor *target, int64_t reduction, bool logTarget, aclTensor *gradTarget)
OPENATC_ACLNN(NLLLoss2dBackward, const aclTensor *gradOutput, const aclTensor *self,
              const aclTensor *target, const aclTensor *weight, int64_t reduction,
              int64_t ignoreIndex, const aclTensor *totalWeight, aclTensor *out)
OPENATC_ACLNN(UpsampleBilinear2dAA, const aclTensor *input, const aclIntArray *outputSize,
              bool alignCorners, double scalesH, double scalesW, aclTensor *out)
OPENATC_ACLNN(UpsampleBicubic2dAA, const aclTensor *input, const aclIntArray *outputSize,
              bool alignCorners, double scalesH, double scalesW, aclTensor *out)
OPENATC_ACLNN(UpsampleNearest1dV2, const aclTensor *self, const aclIntArray *outputSize,
              float scaleL, aclTensor *out)
OPENATC_ACLNN(UpsampleNearest3dV2, const aclTensor *self, const aclIntArray *outputSize,
              float scalesD, float scalesH, float scalesW, aclTensor *out)
OPENATC_ACLNN(UpsampleBilinear2dBackwardV2, const aclTensor *gradOut, const aclIntArray *outputSize,
              const aclIntArray *inputSize, bool alignCorners, double scalesH, double scalesW,
              aclTensor *gradInput)
OPENATC_ACLNN(AdaptiveMaxPool2dBackward, const aclTensor *gradOutput, const aclTensor *self,
              const aclTensor *indices, aclTensor *gradInput)
OPENATC_ACLNN(AdaptiveMaxPool3d, const aclTensor *self, const aclIntArray *outputSize,
              aclTensor *outputOut, aclTensor *indicesOut)
OPENATC_ACLNN(AdaptiveMaxPool3dBackward, const aclTensor *gradOutput, const aclTensor *self,
              const aclTensor *indices, aclTensor *gradInput)
OPENATC_ACLNN(NormalTensorFloat, const aclTensor *mean, float std, int64_t seed, int64_t offset,
              aclTensor *out)
OPENATC_ACLNN(NormalFloatTensor, float mean, const aclTensor *std, int64_t seed, int64_t offset,
              aclTensor *out)
OPENATC_ACLNN(NormalTensorTensor, const aclTensor *mean, const aclTensor *std, int64_t seed,
              int64_t offset, aclTensor *out)
OPENATC_ACLNN(RReluWithNoise, const aclTensor *self, const aclTensor *noise, const aclScalar *lower,
              const aclScalar *upper, bool training, int64_t seed, int64_t offset, aclTensor *out)
OPENATC_ACLNN(InplaceRReluWithNoise, const aclTensor *self, const aclTensor *noise,
              const aclScalar *lower, const aclScalar *upper, bool training, int64_t seed,
              int64_t offset)

#ifdef __cplusplus
}
#endif

#endif
