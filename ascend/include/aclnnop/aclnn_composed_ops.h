/*===-- aclnnop/aclnn_composed_ops.h - maps of experts, sampling, sums of letters ---===*/
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                     */
/*
 * aclnn_ops.h includes it, and says how its functions are called.
 */
#ifndef OPENATC_ACLNNOP_ACLNN_COMPOSED_OPS_H
#define OPENATC_ACLNNOP_ACLNN_COMPOSED_OPS_H

#include "aclnnop/aclnn_ops.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- tokens and experts ------------------------------------------------------------- */

/* routingMap, [tokens, experts], says which experts take a token. With dropAndPad each expert takes
 * numOutTokens / experts rows, without it every token has numOutTokens / tokens experts. */
OPENATC_ACLNN(MoeTokenPermuteWithRoutingMap, const aclTensor *tokens, const aclTensor *routingMap,
              const aclTensor *probsOptional, int64_t numOutTokens, bool dropAndPad,
              aclTensor *permuteTokensOut, aclTensor *permuteProbsOutOptional,
              aclTensor *sortedIndicesOut)
OPENATC_ACLNN(MoeTokenUnpermuteWithRoutingMap, const aclTensor *permutedTokens,
              const aclTensor *sortedIndices, const aclTensor *routingMapOptional,
              const aclTensor *probsOptional, bool paddedMode,
              const aclIntArray *restoreShapeOptional, aclTensor *unpermutedTokens,
              aclTensor *outIndex, aclTensor *permuteTokenId, aclTensor *permuteProbs)
/* MoeInitRoutingV2 of rows that are quantized: by one scale and one offset (quantMode 0), or by the
 * largest element of a row, times scales of its expert (1). */
OPENATC_ACLNN(MoeInitRoutingQuantV2, const aclTensor *x, const aclTensor *expertIdx,
              const aclTensor *scaleOptional, const aclTensor *offsetOptional, int64_t activeNum,
              int64_t expertCapacity, int64_t expertNum, int64_t dropPadMode,
              int64_t expertTokensCountOrCumsumFlag, bool expertTokensBeforeCapacityFlag,
              int64_t quantMode, const aclTensor *expandedXOut, const aclTensor *expandedRowIdxOut,
              const aclTensor *expertTokensCountOrCumsumOutOptional,
              const aclTensor *expertTokensBeforeCapacityOutOptional,
              const aclTensor *dynamicQuantScaleOutOptional)
/* MoeInitRouting of rows that are quantized: x * scale + offset, rounded. */
OPENATC_ACLNN(MoeInitRoutingQuant, const aclTensor *x, const aclTensor *rowIdx,
              const aclTensor *expertIdx, int64_t activeNum, double scale, double offset,
              const aclTensor *expandedXOut, const aclTensor *expandedRowIdxOut,
              const aclTensor *expandedExpertIdxOut)
/* Row rowIndex[i] of out gets logit[i] times (x1[i] x the matrix of its group, dequantized), and
 * from row sharedInputOffset on sharedInputWeight * sharedInput. */
#define OPENATC_ACLNN_FINALIZED_PRODUCT(name)                                                      \
  OPENATC_ACLNN(name, const aclTensor *x1, aclTensor *x2, const aclTensor *scale,                  \
                const aclTensor *bias, const aclTensor *pertokenScaleOptional,                     \
                const aclTensor *groupList, const aclTensor *sharedInput, const aclTensor *logit,  \
                const aclTensor *rowIndex, int64_t dtype, float sharedInputWeight,                 \
                int64_t sharedInputOffset, bool transposeX1, bool transposeX2,                     \
                int64_t groupListType, aclTensor *out)
OPENATC_ACLNN_FINALIZED_PRODUCT(GroupedMatmulFinalizeRouting)
OPENATC_ACLNN_FINALIZED_PRODUCT(GroupedMatmulFinalizeRoutingWeightNz)
/* The same with x2 of int4 as well, also as int32 with 8 of them per element. Its bias is 8 * the
 * sum of x2 * scale over the rows of a matrix, or NULL, its offset that of the weights times scale.
 * tuningConfig has no effect. */
#define OPENATC_ACLNN_NEWER_PRODUCT(name, ...)                                                     \
  OPENATC_ACLNN(name, const aclTensor *x1, aclTensor *x2, const aclTensor *scaleOptional,          \
                const aclTensor *biasOptional, const aclTensor *offsetOptional,                    \
                const aclTensor *antiquantScaleOptional, const aclTensor *antiquantOffsetOptional, \
                const aclTensor *pertokenScaleOptional, const aclTensor *groupListOptional,        \
                const aclTensor *sharedInputOptional, const aclTensor *logitOptional,              \
                const aclTensor *rowIndexOptional, int64_t dtype, float sharedInputWeight,         \
                int64_t sharedInputOffset, bool transposeX1, bool transposeX2,                     \
                int64_t groupListType, __VA_ARGS__ aclTensor *out)
OPENATC_ACLNN_NEWER_PRODUCT(GroupedMatmulFinalizeRoutingV2)
OPENATC_ACLNN_NEWER_PRODUCT(GroupedMatmulFinalizeRoutingV3,
                            const aclIntArray *tuningConfigOptional, )
OPENATC_ACLNN_NEWER_PRODUCT(GroupedMatmulFinalizeRoutingWeightNzV2,
                            const aclIntArray *tuningConfigOptional, )
/* Takes sampled tokens as the next step's inputs, in place: position, length and slot of each of
 * the first numQueries sequences. */
OPENATC_ACLNN(AdvanceStep, const aclTensor *inputTokens, const aclTensor *sampledTokenIds,
              const aclTensor *inputPositions, const aclTensor *seqLens,
              const aclTensor *slotMapping, const aclTensor *blockTables, int64_t numSeqs,
              int64_t numQueries, int64_t blockSize)

/* ---- sampled images ------------------------------------------------------------------ */

/* interpolationMode is 0 (bilinear), 1 (nearest) or 2 (bicubic), paddingMode 0 (zeros), 1 (border)
 * or 2 (reflection). */
OPENATC_ACLNN(GridSampler2DBackward, const aclTensor *gradOutput, const aclTensor *input,
              const aclTensor *grid, int64_t interpolationMode, int64_t paddingMode,
              bool alignCorners, const aclBoolArray *outputMask, aclTensor *inputGrad,
              aclTensor *gridGrad)
/* value is [batch, positions of all levels, heads, channels], location [batch, queries, heads,
 * levels, points, 2] in shares of a level, output [batch, queries, heads * channels]. */
OPENATC_ACLNN(MultiScaleDeformableAttnFunction, const aclTensor *value,
              const aclTensor *spatialShape, const aclTensor *levelStartIndex,
              const aclTensor *location, const aclTensor *attnWeight, aclTensor *output)

/* ---- algebra -------------------------------------------------------------------------- */

/* The equation has a letter per dim, "bij,bjk->bik", and no dots. */
OPENATC_ACLNN(Einsum, const aclTensorList *tensors, const char *equation, aclTensor *output)
/* mode is 0 (reduced), 1 (complete) or 2 (R only: Q is not written). */
OPENATC_ACLNN(LinalgQr, const aclTensor *self, int64_t mode, aclTensor *Q, aclTensor *R)

/* ---- quantized tensors, formats ------------------------------------------------------- */

OPENATC_ACLNN(FakeQuantPerTensorAffineCachemask, const aclTensor *self, const aclTensor *scale,
              const aclTensor *zeroPoint, float fakeQuantEnbled, int64_t quantMin, int64_t quantMax,
              aclTensor *out, aclTensor *mask)
OPENATC_ACLNN(FakeQuantPerChannelAffineCachemask, const aclTensor *self, const aclTensor *scale,
              const aclTensor *zeroPoint, int64_t axis, int64_t quantMin, int64_t quantMax,
              aclTensor *out, aclTensor *mask)
/* Makes words of scales in the program's memory, which the caller frees with free(): as many as
 * scales, or a multiple of 16 where there are several. */
ACL_FUNC_VISIBILITY aclnnStatus aclnnTransQuantParam(const float *scaleArray, uint64_t scaleSize,
                                                     const float *offsetArray, uint64_t offsetSize,
                                                     uint64_t **quantParam,
                                                     uint64_t *quantParamSize);
/* roundMode 0 cuts the last 13 bits of a scale off, 1 rounds them. */
OPENATC_ACLNN(TransQuantParamV3, const aclTensor *scale, const aclTensor *offset, int64_t roundMode,
              const aclTensor *out)
OPENATC_ACLNN(QuantMatmulWeightNz, const aclTensor *x1, const aclTensor *x2,
              const aclTensor *x1Scale, const aclTensor *x2Scale, const aclTensor *yScale,
              const aclTensor *x1Offset, const aclTensor *x2Offset, const aclTensor *yOffset,
              const aclTensor *bias, bool transposeX1, bool transposeX2, int64_t groupSize,
              aclTensor *out)
/* Writes the dims that memory of another format has, which the caller frees with delete[]. The
 * elements stay in their order: functions read them as they are, whatever their format is called.
 */
ACL_FUNC_VISIBILITY aclnnStatus aclnnNpuFormatCastCalculateSizeAndFormat(
    const aclTensor *srcTensor, const int dstFormat, int additionalDtype, int64_t **dstShape,
    uint64_t *dstShapeSize, int *actualFormat);
OPENATC_ACLNN(NpuFormatCast, const aclTensor *srcTensor, aclTensor *dstTensor)

#ifdef __cplusplus
}
#endif

#endif
