/*===-- aclnnop/aclnn_sequence_ops.h - labels, bags, unpooling, layers of experts -===*/
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                     */
/*
 * aclnn_ops.h includes it, and says how its functions are called.
 */
#ifndef OPENATC_ACLNNOP_ACLNN_SEQUENCE_OPS_H
#define OPENATC_ACLNNOP_ACLNN_SEQUENCE_OPS_H

#include "aclnnop/aclnn_ops.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- labels and bags of words -------------------------------------------------------- */

/* logProbs is [steps, batch, classes], logAlphaOut [batch, steps, 2 * longest target + 1 or more].
 * The gradient sums the paths again: negLogLikelihood and logAlpha are not read. */
OPENATC_ACLNN(CtcLoss, const aclTensor *logProbs, const aclTensor *targets,
              const aclIntArray *inputLengths, const aclIntArray *targetLengths, int64_t blank,
              bool zeroInfinity, aclTensor *negLogLikelihoodOut, aclTensor *logAlphaOut)
OPENATC_ACLNN(CtcLossBackward, const aclTensor *gradOut, const aclTensor *logProbs,
              const aclTensor *targets, const aclIntArray *inputLengths,
              const aclIntArray *targetLengths, const aclTensor *negLogLikelihood,
              const aclTensor *logAlpha, int64_t blank, bool zeroInfinity, aclTensor *out)
/* mode is 0 (sum), 1 (mean) or another number (maximum); scaleGradByFreq and sparse are false. */
OPENATC_ACLNN(EmbeddingBag, const aclTensor *weight, const aclTensor *indices,
              const aclTensor *offsets, bool scaleGradByFreq, int64_t mode, bool sparse,
              const aclTensor *perSampleWeights, bool includeLastOffset, int64_t paddingIdx,
              aclTensor *output, aclTensor *offset2bag, aclTensor *bagSize, aclTensor *maxIndices)

/* input is [steps, batch, width], or [batch, steps, width] with batchFirst. params has, per layer
 * and direction, weights of the input and of the hidden elements, and both biases where hasBias;
 * their rows are the gates input, forget, cell and output. hx, which may be NULL, has the first
 * hidden elements and states. batchSizes says how many sequences of the batch have a step. With
 * train, the lists get gates and states of each layer and direction; dropout must be 0 then. */
OPENATC_ACLNN(LSTM, const aclTensor *input, const aclTensorList *params, const aclTensorList *hx,
              const aclTensor *batchSizes, bool hasBias, int64_t numLayers, double dropout,
              bool train, bool bidirectional, bool batchFirst, aclTensor *output, aclTensor *hy,
              aclTensor *cy, aclTensorList *iOut, aclTensorList *jOut, aclTensorList *fOut,
              aclTensorList *oOut, aclTensorList *hOut, aclTensorList *cOut,
              aclTensorList *tanhCOut)

/* ---- unpooling, sampled volumes ------------------------------------------------------ */

OPENATC_ACLNN(MaxUnpool2d, const aclTensor *self, const aclTensor *indices,
              const aclIntArray *outputSize, aclTensor *out)
OPENATC_ACLNN(MaxUnpool2dBackward, const aclTensor *gradOutput, const aclTensor *self,
              const aclTensor *indices, const aclIntArray *outputSize, aclTensor *out)
OPENATC_ACLNN(MaxUnpool3d, const aclTensor *self, const aclTensor *indices,
              const aclIntArray *outputSize, const aclIntArray *stride, const aclIntArray *padding,
              aclTensor *outRef)
OPENATC_ACLNN(MaxUnpool3dBackward, const aclTensor *gradOutput, const aclTensor *self,
              const aclTensor *indices, const aclIntArray *outputSize, const aclIntArray *stride,
              const aclIntArray *padding, aclTensor *out)
OPENATC_ACLNN(GridSampler3D, const aclTensor *input, const aclTensor *grid,
              int64_t interpolationMode, int64_t paddingMode, bool alignCorners, aclTensor *out)

/* ---- feed-forward layers ------------------------------------------------------------- */

/* activation(x * weight1 + bias1) * weight2 + bias2, with weights for each expert or for all rows;
 * activation is relu, silu, gelu or fastgelu. Scales and offsets are NULL. */
#define OPENATC_ACLNN_FEED_FORWARD_INPUTS(tokens)                                                  \
  const aclTensor *x, const aclTensor *weight1, const aclTensor *weight2, tokens expertTokens,     \
      const aclTensor *bias1, const aclTensor *bias2, const aclTensor *scale,                      \
      const aclTensor *offset, const aclTensor *deqScale1, const aclTensor *deqScale2,             \
      const aclTensor *antiquantScale1, const aclTensor *antiquantScale2,                          \
      const aclTensor *antiquantOffset1, const aclTensor *antiquantOffset2,                        \
      const char *activation, int64_t innerPrecise
OPENATC_ACLNN(FFN, OPENATC_ACLNN_FEED_FORWARD_INPUTS(const aclIntArray *), const aclTensor *y)
OPENATC_ACLNN(FFNV2, OPENATC_ACLNN_FEED_FORWARD_INPUTS(const aclIntArray *), bool tokensIndexFlag,
              const aclTensor *y)
OPENATC_ACLNN(FFNV3, OPENATC_ACLNN_FEED_FORWARD_INPUTS(const aclTensor *), bool tokensIndexFlag,
              const aclTensor *y)
/* swish of one half of the last dim times the other half, quantized by the largest element of each
 * row, or by given scales (static). groupIndex says where groups of rows end (SwiGluQuant), or how
 * many rows they have (DequantSwigluQuant); each group has scales of its own. */
OPENATC_ACLNN(SwiGluQuant, const aclTensor *x, const aclTensor *smoothScalesOptional,
              const aclTensor *offsetsOptional, const aclTensor *groupIndexOptional,
              bool activateLeft, char *quantModeOptional, const aclTensor *yOut,
              const aclTensor *scaleOut)
OPENATC_ACLNN(DequantSwigluQuant, const aclTensor *x, const aclTensor *weightScaleOptional,
              const aclTensor *activationScaleOptional, const aclTensor *biasOptional,
              const aclTensor *quantScaleOptional, const aclTensor *quantOffsetOptional,
              const aclTensor *groupIndexOptional, bool activateLeft, char *quantModeOptional,
              const aclTensor *yOut, const aclTensor *scaleOut)

/* ---- experts: choices, and gradients of routes --------------------------------------- */

/* If renorm is 1, the shares of a row are the softmax of its k largest scores. */
OPENATC_ACLNN(MoeGatingTopKSoftmaxV2, const aclTensor *x, const aclTensor *finishedOptional,
              int64_t k, int64_t renorm, bool outputSoftmaxResultFlag, const aclTensor *yOut,
              const aclTensor *expertIdxOut, const aclTensor *softmaxResultOutOptional)
OPENATC_ACLNN(MoeTokenPermuteGrad, const aclTensor *permutedOutputGrad,
              const aclTensor *sortedIndices, int64_t numTopk, bool paddedMode,
              const aclTensor *out)
OPENATC_ACLNN(MoeTokenUnpermuteGrad, const aclTensor *permutedTokens,
              const aclTensor *unpermutedTokensGrad, const aclTensor *sortedIndices,
              const aclTensor *probsOptional, bool paddedMode,
              const aclIntArray *restoreShapeOptional, aclTensor *permutedTokensGradOut,
              aclTensor *probsGradOut)
OPENATC_ACLNN(MoeInitRoutingV2Grad, const aclTensor *gradExpandedX, const aclTensor *expandedRowIdx,
              int64_t topK, int64_t dropPadMode, int64_t activeNum, const aclTensor *out)
OPENATC_ACLNN(MoeFinalizeRoutingV2Grad, const aclTensor *gradY, const aclTensor *expandedRowIdx,
              const aclTensor *expandedXOptional, const aclTensor *scalesOptional,
              const aclTensor *expertIdxOptional, const aclTensor *biasOptional,
              int64_t dropPadMode, int64_t activeNum, int64_t expertNum, int64_t expertCapacity,
              const aclTensor *gradExpandedXOut, const aclTensor *gradScalesOut)

/* ---- reductions, functions and gradients of elements --------------------------------- */

OPENATC_ACLNN(AddRmsNormCast, const aclTensor *x1, const aclTensor *x2, const aclTensor *gamma,
              double epsilon, const aclTensor *y1Out, const aclTensor *y2Out,
              const aclTensor *rstdOut, const aclTensor *xOut)
OPENATC_ACLNN(AminmaxAll, const aclTensor *self, aclTensor *minOut, aclTensor *maxOut)
OPENATC_ACLNN(AminmaxDim, const aclTensor *self, const int64_t dim, bool keepDim, aclTensor *minOut,
              aclTensor *maxOut)
OPENATC_ACLNN(Digamma, const aclTensor *self, aclTensor *out)
OPENATC_ACLNN(FastGeluBackward, const aclTensor *gradOutput, const aclTensor *self,
              aclTensor *gradInput)
OPENATC_ACLNN(Lgamma, const aclTensor *self, aclTensor *out)
OPENATC_ACLNN(NanMedian, const aclTensor *self, aclTensor *valuesOut)
OPENATC_ACLNN(NanMedianDim, const aclTensor *self, int64_t dim, bool keepDim, aclTensor *valuesOut,
              aclTensor *indicesOut)
OPENATC_ACLNN(ReduceNansum, const aclTensor *self, const aclIntArray *dim, bool keepDim,
              aclDataType dtype, aclTensor *out)
OPENATC_ACLNN(SwishBackward, const aclTensor *gradOutput, const aclTensor *self,
              const aclScalar *betaOptional, aclTensor *gradInput)
OPENATC_ACLNN(UnfoldGrad, const aclTensor *gradOut, const aclIntArray *inputSizes, int64_t dim,
              int64_t size, int64_t step, const aclTensor *gradIn)
OPENATC_ACLNN(UpsampleNearest2dV2, const aclTensor *self, const aclIntArray *outputSize,
              float scalesH, float scalesW, aclTensor *out)

#ifdef __cplusplus
}
#endif

#endif
