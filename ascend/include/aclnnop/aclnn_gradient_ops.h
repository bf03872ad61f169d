/*===-- aclnnop/aclnn_gradient_ops.h - gradients, volumes, regions, complexes -===*/
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                     */
/*
 * aclnn_ops.h includes it, and says how its functions are called.
 */
#ifndef OPENATC_ACLNNOP_ACLNN_GRADIENT_OPS_H
#define OPENATC_ACLNNOP_ACLNN_GRADIENT_OPS_H

#include "aclnnop/aclnn_ops.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- gradients of layers: those that the mask excludes are left out ------------- */

OPENATC_ACLNN(ConvolutionBackward, const aclTensor *gradOutput, const aclTensor *input,
              const aclTensor *weight, const aclIntArray *biasSizes, const aclIntArray *stride,
              const aclIntArray *padding, const aclIntArray *dilation, bool transposed,
              const aclIntArray *outputPadding, int groups, const aclBoolArray *outputMask,
              int8_t cubeMathType, aclTensor *gradInput, aclTensor *gradWeight, aclTensor *gradBias)
/* While training of the batch's values, else of the running ones. */
OPENATC_ACLNN(BatchNormBackward, const aclTensor *gradOut, const aclTensor *input,
              const aclTensor *weight, const aclTensor *runningMean, const aclTensor *runningVar,
              const aclTensor *saveMean, const aclTensor *saveInvstd, bool training, double eps,
              const aclBoolArray *outputMask, aclTensor *gradInput, aclTensor *gradWeight,
              aclTensor *gradBias)
OPENATC_ACLNN(GroupNormBackward, const aclTensor *gradOut, const aclTensor *input,
              const aclTensor *mean, const aclTensor *rstd, const aclTensor *gamma, int64_t N,
              int64_t C, int64_t HxW, int64_t group, const aclBoolArray *outputMask,
              aclTensor *gradInput, aclTensor *gradGammaOut, aclTensor *gradBetaOut)

/* ---- pools: indices are those of the elements of an image or a volume ------------- */

OPENATC_ACLNN(AvgPool2dBackward, const aclTensor *gradOutput, const aclTensor *self,
              const aclIntArray *kernelSize, const aclIntArray *stride, const aclIntArray *padding,
              bool ceilMode, bool countIncludePad, int64_t divisorOverride, int8_t cubeMathType,
              aclTensor *gradInput)
OPENATC_ACLNN(AvgPool3d, const aclTensor *self, const aclIntArray *kernelSize,
              const aclIntArray *stride, const aclIntArray *padding, bool ceilMode,
              bool countIncludePad, int64_t divisorOverride, aclTensor *out)
OPENATC_ACLNN(AvgPool3dBackward, const aclTensor *gradOutput, const aclTensor *self,
              const aclIntArray *kernelSize, const aclIntArray *stride, const aclIntArray *padding,
              bool ceilMode, bool countIncludePad, int64_t divisorOverride, aclTensor *output)
OPENATC_ACLNN(AdaptiveAvgPool2dBackward, const aclTensor *gradOutput, const aclTensor *self,
              aclTensor *out)
OPENATC_ACLNN(AdaptiveAvgPool3d, const aclTensor *self, const aclIntArray *outputSize,
              aclTensor *out)
OPENATC_ACLNN(AdaptiveAvgPool3dBackward, const aclTensor *gradOutput, const aclTensor *self,
              aclTensor *out)
OPENATC_ACLNN(AdaptiveMaxPool2d, const aclTensor *self, const aclIntArray *outputSize,
              aclTensor *outputOut, aclTensor *indicesOut)
OPENATC_ACLNN(MaxPool2dWithIndicesBackward, const aclTensor *gradOutput, const aclTensor *self,
              const aclTensor *indices, const aclIntArray *kernelSize, const aclIntArray *stride,
              const aclIntArray *padding, const aclIntArray *dilation, bool ceilMode,
              aclTensor *gradInput)
OPENATC_ACLNN(MaxPool3dWithArgmax, const aclTensor *self, const aclIntArray *kernelSize,
              const aclIntArray *stride, const aclIntArray *padding, const aclIntArray *dilation,
              bool ceilMode, aclTensor *out, aclTensor *indices)
OPENATC_ACLNN(MaxPool3dWithArgmaxBackward, const aclTensor *gradOutput, const aclTensor *self,
              const aclTensor *indices, const aclIntArray *kernelSize, const aclIntArray *stride,
              const aclIntArray *padding, const aclIntArray *dilation, bool ceilMode,
              aclTensor *gradInput)

/* ---- gradients of losses: `reduction` as in the loss ---------------------------- */

OPENATC_ACLNN(L1LossBackward, const aclTensor *gradOutput, const aclTensor *self,
              const aclTensor *target, int64_t reduction, aclTensor *gradInput)
OPENATC_ACLNN(SmoothL1LossBackward, const aclTensor *gradOut, const aclTensor *self,
              const aclTensor *target, int64_t reduction, float beta, aclTensor *gradInput)
OPENATC_ACLNN(BinaryCrossEntropyBackward, const aclTensor *gradOutput, const aclTensor *self,
              const aclTensor *target, const aclTensor *weightOptional, int64_t reduction,
              aclTensor *out)
OPENATC_ACLNN(BinaryCrossEntropyWithLogitsBackward, const aclTensor *gradOutput,
              const aclTensor *self, const aclTensor *target, const aclTensor *weightOptional,
              const aclTensor *posWeightOptional, int64_t reduction, aclTensor *out)
OPENATC_ACLNN(NLLLossBackward, const aclTensor *gradOutput, const aclTensor *self,
              const aclTensor *target, const aclTensor *weight, int64_t reduction,
              int64_t ignoreIndex, const aclTensor *totalWeight, aclTensor *out)

/* ---- gradients of activations --------------------------------------------------- */

OPENATC_ACLNN(LogSigmoidBackward, const aclTensor *gradOutput, const aclTensor *self,
              const aclTensor *buffer, aclTensor *gradInput)
OPENATC_ACLNN(MishBackward, const aclTensor *gradOutput, const aclTensor *self,
              aclTensor *gradInput)
OPENATC_ACLNN(HardshrinkBackward, const aclTensor *gradOutput, const aclTensor *self,
              const aclScalar *lambd, aclTensor *gradInput)
OPENATC_ACLNN(SoftshrinkBackward, const aclTensor *gradOutput, const aclTensor *self,
              const aclScalar *lambd, aclTensor *gradInput)
OPENATC_ACLNN(GluBackward, const aclTensor *gradOut, const aclTensor *self, int64_t dim,
              const aclTensor *out)

/* ---- regions -------------------------------------------------------------------- */

/* `mode` is "avg"; a samplingRatio of 0 takes as many samples as a bin has elements. */
OPENATC_ACLNN(RoiAlign, const aclTensor *self, const aclTensor *rois, const aclTensor *batchIndices,
              const char *mode, int outputHeight, int outputWidth, int samplingRatio,
              float spatialScale, aclTensor *out)
/* Rows of boxes are [image, x1, y1, x2, y2]. aligned: elements lie at their centres. */
OPENATC_ACLNN(RoiAlignV2, const aclTensor *self, const aclTensor *boxes, int64_t pooledHeight,
              int64_t pooledWidth, float spatialScale, int64_t samplingRatio, bool aligned,
              aclTensor *out)
/* Rows are [batch, class, box]; those that are left over are -1. */
OPENATC_ACLNN(NonMaxSuppression, const aclTensor *boxes, const aclTensor *scores,
              aclIntArray *maxOutputBoxesPerClass, aclFloatArray *iouThreshold,
              aclFloatArray *scoreThreshold, int32_t centerPointBox, aclTensor *selectedIndices)

/* ---- complex numbers, of complex64 ------------------------------------------------ */

OPENATC_ACLNN(Complex, const aclTensor *real, const aclTensor *imag, aclTensor *out)
OPENATC_ACLNN(Polar, const aclTensor *input, const aclTensor *angle, aclTensor *out)
OPENATC_ACLNN(Real, const aclTensor *self, aclTensor *out)

/* ---- positions and functions ---------------------------------------------------- */

OPENATC_ACLNN(Erfinv, const aclTensor *self, aclTensor *out)
OPENATC_ACLNN_INPLACE(Erfinv)
OPENATC_ACLNN(RepeatInterleave, const aclTensor *self, const aclTensor *repeats, int64_t outputSize,
              aclTensor *out)
OPENATC_ACLNN(RepeatInterleaveWithDim, const aclTensor *self, const aclTensor *repeats, int64_t dim,
              int64_t outputSize, aclTensor *out)
OPENATC_ACLNN(ScatterNdUpdate, aclTensor *varRef, const aclTensor *indices,
              const aclTensor *updates)

#ifdef __cplusplus
}
#endif

#endif
