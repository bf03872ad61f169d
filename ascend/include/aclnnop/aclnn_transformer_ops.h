/*===-- aclnnop/aclnn_transformer_ops.h - attention, mixtures of experts ----===*/
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                     */
/*
 * aclnn_ops.h includes it, and says how its functions are called.
 */
#ifndef OPENATC_ACLNNOP_ACLNN_TRANSFORMER_OPS_H
#define OPENATC_ACLNNOP_ACLNN_TRANSFORMER_OPS_H

#include "aclnnop/aclnn_ops.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- attention ------------------------------------------------------------------ */

/* softmax(query x key^T * scaleValue + pseShift, without what the mask hides) x value, in the
 * layouts BSH, SBH, BSND, BNSD and NSD. Rows behind actualSeqLengths are 0. preTokens and
 * nextTokens count in sparseMode 0, with a mask, and in 4. Prefixes, tensors of rotated positions
 * and quantized queries are refused, and so are keys in more than one tensor. softmaxLse is the
 * logarithm of the sum of exponentials. */
OPENATC_ACLNN(FusedInferAttentionScoreV2, const aclTensor *query, const aclTensorList *key,
              const aclTensorList *value, const aclTensor *pseShiftOptional,
              const aclTensor *attenMaskOptional, const aclIntArray *actualSeqLengthsOptional,
              const aclIntArray *actualSeqLengthsKvOptional, const aclTensor *deqScale1Optional,
              const aclTensor *quantScale1Optional, const aclTensor *deqScale2Optional,
              const aclTensor *quantScale2Optional, const aclTensor *quantOffset2Optional,
              const aclTensor *antiquantScaleOptional, const aclTensor *antiquantOffsetOptional,
              const aclTensor *blockTableOptional, const aclTensor *queryPaddingSizeOptional,
              const aclTensor *kvPaddingSizeOptional, const aclTensor *keyAntiquantScaleOptional,
              const aclTensor *keyAntiquantOffsetOptional,
              const aclTensor *valueAntiquantScaleOptional,
              const aclTensor *valueAntiquantOffsetOptional,
              const aclTensor *keySharedPrefixOptional, const aclTensor *valueSharedPrefixOptional,
              const aclIntArray *actualSharedPrefixLenOptional, int64_t numHeads, double scaleValue,
              int64_t preTokens, int64_t nextTokens, char *inputLayout, int64_t numKeyValueHeads,
              int64_t sparseMode, int64_t innerPrecise, int64_t blockSize, int64_t antiquantMode,
              bool softmaxLseFlag, int64_t keyAntiquantMode, int64_t valueAntiquantMode,
              const aclTensor *attentionOut, const aclTensor *softmaxLse)
OPENATC_ACLNN(FusedInferAttentionScoreV3, const aclTensor *query, const aclTensorList *key,
              const aclTensorList *value, const aclTensor *pseShiftOptional,
              const aclTensor *attenMaskOptional, const aclIntArray *actualSeqLengthsOptional,
              const aclIntArray *actualSeqLengthsKvOptional, const aclTensor *deqScale1Optional,
              const aclTensor *quantScale1Optional, const aclTensor *deqScale2Optional,
              const aclTensor *quantScale2Optional, const aclTensor *quantOffset2Optional,
              const aclTensor *antiquantScaleOptional, const aclTensor *antiquantOffsetOptional,
              const aclTensor *blockTableOptional, const aclTensor *queryPaddingSizeOptional,
              const aclTensor *kvPaddingSizeOptional, const aclTensor *keyAntiquantScaleOptional,
              const aclTensor *keyAntiquantOffsetOptional,
              const aclTensor *valueAntiquantScaleOptional,
              const aclTensor *valueAntiquantOffsetOptional,
              const aclTensor *keySharedPrefixOptional, const aclTensor *valueSharedPrefixOptional,
              const aclIntArray *actualSharedPrefixLenOptional, const aclTensor *queryRopeOptional,
              const aclTensor *keyRopeOptional, const aclTensor *keyRopeAntiquantScaleOptional,
              int64_t numHeads, double scaleValue, int64_t preTokens, int64_t nextTokens,
              char *inputLayout, int64_t numKeyValueHeads, int64_t sparseMode, int64_t innerPrecise,
              int64_t blockSize, int64_t antiquantMode, bool softmaxLseFlag,
              int64_t keyAntiquantMode, int64_t valueAntiquantMode, const aclTensor *attentionOut,
              const aclTensor *softmaxLse)
/* Queries in int8 and sinks (dequantScaleQuery, learnableSink) must be NULL. */
OPENATC_ACLNN(FusedInferAttentionScoreV4, const aclTensor *query, const aclTensorList *key,
              const aclTensorList *value, const aclTensor *pseShiftOptional,
              const aclTensor *attenMaskOptional, const aclIntArray *actualSeqLengthsOptional,
              const aclIntArray *actualSeqLengthsKvOptional, const aclTensor *deqScale1Optional,
              const aclTensor *quantScale1Optional, const aclTensor *deqScale2Optional,
              const aclTensor *quantScale2Optional, const aclTensor *quantOffset2Optional,
              const aclTensor *antiquantScaleOptional, const aclTensor *antiquantOffsetOptional,
              const aclTensor *blockTableOptional, const aclTensor *queryPaddingSizeOptional,
              const aclTensor *kvPaddingSizeOptional, const aclTensor *keyAntiquantScaleOptional,
              const aclTensor *keyAntiquantOffsetOptional,
              const aclTensor *valueAntiquantScaleOptional,
              const aclTensor *valueAntiquantOffsetOptional,
              const aclTensor *keySharedPrefixOptional, const aclTensor *valueSharedPrefixOptional,
              const aclIntArray *actualSharedPrefixLenOptional, const aclTensor *queryRopeOptional,
              const aclTensor *keyRopeOptional, const aclTensor *keyRopeAntiquantScaleOptional,
              const aclTensor *dequantScaleQueryOptional, const aclTensor *learnableSinkOptional,
              int64_t numHeads, double scaleValue, int64_t preTokens, int64_t nextTokens,
              char *inputLayout, int64_t numKeyValueHeads, int64_t sparseMode, int64_t innerPrecise,
              int64_t blockSize, int64_t antiquantMode, bool softmaxLseFlag,
              int64_t keyAntiquantMode, int64_t valueAntiquantMode, int64_t queryQuantMode,
              const aclTensor *attentionOut, const aclTensor *softmaxLse)
OPENATC_ACLNN(FusedInferAttentionScore, const aclTensor *query, const aclTensorList *key,
              const aclTensorList *value, const aclTensor *pseShiftOptional,
              const aclTensor *attenMaskOptional, const aclIntArray *actualSeqLengthsOptional,
              const aclIntArray *actualSeqLengthsKvOptional, const aclTensor *deqScale1Optional,
              const aclTensor *quantScale1Optional, const aclTensor *deqScale2Optional,
              const aclTensor *quantScale2Optional, const aclTensor *quantOffset2Optional,
              const aclTensor *antiquantScaleOptional, const aclTensor *antiquantOffsetOptional,
              const aclTensor *blockTableOptional, const aclTensor *queryPaddingSizeOptional,
              const aclTensor *kvPaddingSizeOptional, int64_t numHeads, double scaleValue,
              int64_t preTokens, int64_t nextTokens, char *inputLayout, int64_t numKeyValueHeads,
              int64_t sparseMode, int64_t innerPrecise, int64_t blockSize, int64_t antiquantMode,
              bool softmaxLseFlag, const aclTensor *attentionOut, const aclTensor *softmaxLse)
#define OPENATC_ACLNN_PROMPT_SCALES                                                                \
  const aclTensor *deqScale1, const aclTensor *quantScale1, const aclTensor *deqScale2,            \
      const aclTensor *quantScale2, const aclTensor *quantOffset2
OPENATC_ACLNN(PromptFlashAttention, const aclTensor *query, const aclTensor *key,
              const aclTensor *value, const aclTensor *pseShift, const aclTensor *attenMask,
              const aclIntArray *actualSeqLengths, int64_t numHeads, double scaleValue,
              int64_t preTokens, int64_t nextTokens, char *inputLayout, int64_t numKeyValueHeads,
              const aclTensor *attentionOut)
OPENATC_ACLNN(PromptFlashAttentionV2, const aclTensor *query, const aclTensor *key,
              const aclTensor *value, const aclTensor *pseShift, const aclTensor *attenMask,
              const aclIntArray *actualSeqLengths, const aclIntArray *actualSeqLengthsKv,
              OPENATC_ACLNN_PROMPT_SCALES, int64_t numHeads, double scaleValue, int64_t preTokens,
              int64_t nextTokens, char *inputLayout, int64_t numKeyValueHeads, int64_t sparseMode,
              const aclTensor *attentionOut)
OPENATC_ACLNN(PromptFlashAttentionV3, const aclTensor *query, const aclTensor *key,
              const aclTensor *value, const aclTensor *pseShift, const aclTensor *attenMask,
              const aclIntArray *actualSeqLengths, const aclIntArray *actualSeqLengthsKv,
              OPENATC_ACLNN_PROMPT_SCALES, int64_t numHeads, double scaleValue, int64_t preTokens,
              int64_t nextTokens, char *inputLayout, int64_t numKeyValueHeads, int64_t sparseMode,
              int64_t innerPrecise, const aclTensor *attentionOut)
/* Attention of a decoding step: the query has one row per batch, and actualSeqLengths are the
 * lengths of the keys. */
#define OPENATC_ACLNN_DECODE_INPUTS                                                                \
  const aclTensor *query, const aclTensorList *key, const aclTensorList *value,                    \
      const aclTensor *pseShift, const aclTensor *attenMask, const aclIntArray *actualSeqLengths
#define OPENATC_ACLNN_DECODE_SCALES                                                                \
  const aclTensor *dequantScale1, const aclTensor *quantScale1, const aclTensor *dequantScale2,    \
      const aclTensor *quantScale2, const aclTensor *quantOffset2,                                 \
      const aclTensor *antiquantScale, const aclTensor *antiquantOffset
OPENATC_ACLNN(IncreFlashAttention, OPENATC_ACLNN_DECODE_INPUTS, int64_t numHeads, double scaleValue,
              char *inputLayout, int64_t numKeyValueHeads, const aclTensor *attentionOut)
OPENATC_ACLNN(IncreFlashAttentionV2, OPENATC_ACLNN_DECODE_INPUTS, OPENATC_ACLNN_DECODE_SCALES,
              int64_t numHeads, double scaleValue, char *inputLayout, int64_t numKeyValueHeads,
              const aclTensor *attentionOut)
OPENATC_ACLNN(IncreFlashAttentionV3, OPENATC_ACLNN_DECODE_INPUTS, OPENATC_ACLNN_DECODE_SCALES,
              const aclTensor *blocktable, int64_t numHeads, double scaleValue, char *inputLayout,
              int64_t numKeyValueHeads, int64_t blockSize, int64_t innerPrecise,
              const aclTensor *attentionOut)
OPENATC_ACLNN(IncreFlashAttentionV4, OPENATC_ACLNN_DECODE_INPUTS, OPENATC_ACLNN_DECODE_SCALES,
              const aclTensor *blocktable, const aclTensor *kvPaddingSize, int64_t numHeads,
              double scaleValue, char *inputLayout, int64_t numKeyValueHeads, int64_t blockSize,
              int64_t innerPrecise, const aclTensor *attentionOut)
/* Attention for training, without dropout: keepProb is 1. The shift is added in front of the
 * scaling. softmaxMaxOut and softmaxSumOut, [B, N, S, 8] of float, repeat the largest score of a
 * row and its sum of exponentials; softmaxOutOut is not written. */
OPENATC_ACLNN(FlashAttentionScore, const aclTensor *query, const aclTensor *key,
              const aclTensor *value, const aclTensor *realShiftOptional,
              const aclTensor *dropMaskOptional, const aclTensor *paddingMaskOptional,
              const aclTensor *attenMaskOptional, const aclIntArray *prefixOptional,
              double scaleValueOptional, double keepProbOptional, int64_t preTokensOptional,
              int64_t nextTokensOptional, int64_t headNum, char *inputLayout,
              int64_t innerPreciseOptional, int64_t sparseModeOptional,
              const aclTensor *softmaxMaxOut, const aclTensor *softmaxSumOut,
              const aclTensor *softmaxOutOut, const aclTensor *attentionOutOut)
/* pseType 1 adds the shift to the scores before they are scaled, as the function above does, and 0
 * behind it; qStartIdx and kvStartIdx are not read. */
OPENATC_ACLNN(FlashAttentionScoreV2, const aclTensor *query, const aclTensor *key,
              const aclTensor *value, const aclTensor *realShiftOptional,
              const aclTensor *dropMaskOptional, const aclTensor *paddingMaskOptional,
              const aclTensor *attenMaskOptional, const aclIntArray *prefixOptional,
              const aclIntArray *qStartIdxOptional, const aclIntArray *kvStartIdxOptional,
              double scaleValueOptional, double keepProbOptional, int64_t preTokensOptional,
              int64_t nextTokensOptional, int64_t headNum, char *inputLayout,
              int64_t innerPreciseOptional, int64_t sparseModeOptional, int64_t pseTypeOptional,
              const aclTensor *softmaxMaxOut, const aclTensor *softmaxSumOut,
              const aclTensor *softmaxOutOut, const aclTensor *attentionOutOut)
/* The gradients of FlashAttentionScore. The softmax is computed again: softmaxMax, softmaxSum and
 * attentionIn are not read. dpseOut is NULL, or has the dims of the scores, which the shift must
 * have, too. */
OPENATC_ACLNN(FlashAttentionScoreGrad, const aclTensor *query, const aclTensor *keyIn,
              const aclTensor *value, const aclTensor *dy, const aclTensor *pseShiftOptional,
              const aclTensor *dropMaskOptional, const aclTensor *paddingMaskOptional,
              const aclTensor *attenMaskOptional, const aclTensor *softmaxMaxOptional,
              const aclTensor *softmaxSumOptional, const aclTensor *softmaxInOptional,
              const aclTensor *attentionInOptional, const aclIntArray *prefixOptional,
              double scaleValueOptional, double keepProbOptional, int64_t preTokensOptional,
              int64_t nextTokensOptional, int64_t headNum, char *inputLayout,
              int64_t innerPreciseOptional, int64_t sparseModeOptional, const aclTensor *dqOut,
              const aclTensor *dkOut, const aclTensor *dvOut, const aclTensor *dpseOut)
/* The gradients of FlashAttentionVarLenScore, for sequences that are stored one after another. */
OPENATC_ACLNN(FlashAttentionUnpaddingScoreGrad, const aclTensor *query, const aclTensor *keyIn,
              const aclTensor *value, const aclTensor *dy, const aclTensor *pseShiftOptional,
              const aclTensor *dropMaskOptional, const aclTensor *paddingMaskOptional,
              const aclTensor *attenMaskOptional, const aclTensor *softmaxMaxOptional,
              const aclTensor *softmaxSumOptional, const aclTensor *softmaxInOptional,
              const aclTensor *attentionInOptional, const aclIntArray *prefixOptional,
              const aclIntArray *actualSeqQLenOptional, const aclIntArray *actualSeqKvLenOptional,
              double scaleValue, double keepProb, int64_t preTokens, int64_t nextTokens,
              int64_t headNum, char *inputLayout, int64_t innerPrecise, int64_t sparseMode,
              const aclTensor *dqOut, const aclTensor *dkOut, const aclTensor *dvOut,
              const aclTensor *dpseOut)
/* FlashAttentionScore for sequences that are stored one after another: the layout is TND, and each
 * length is the offset at which a sequence ends. */
OPENATC_ACLNN(FlashAttentionVarLenScore, const aclTensor *query, const aclTensor *key,
              const aclTensor *value, const aclTensor *realShiftOptional,
              const aclTensor *dropMaskOptional, const aclTensor *paddingMaskOptional,
              const aclTensor *attenMaskOptional, const aclIntArray *prefixOptional,
              const aclIntArray *actualSeqQLenOptional, const aclIntArray *actualSeqKvLenOptional,
              double scaleValueOptional, double keepProbOptional, int64_t preTokensOptional,
              int64_t nextTokensOptional, int64_t headNum, char *inputLayout,
              int64_t innerPreciseOptional, int64_t sparseModeOptional,
              const aclTensor *softmaxMaxOut, const aclTensor *softmaxSumOut,
              const aclTensor *softmaxOutOut, const aclTensor *attentionOutOut)
/* Rotates query and key in place: halves of the last dim. */
OPENATC_ACLNN(ApplyRotaryPosEmb, aclTensor *queryRef, aclTensor *keyRef, const aclTensor *cos,
              const aclTensor *sin, int64_t layout)
/* rotaryMode: half, interleave or quarter. */
OPENATC_ACLNN(ApplyRotaryPosEmbV2, aclTensor *queryRef, aclTensor *keyRef, const aclTensor *cos,
              const aclTensor *sin, int64_t layout, char *rotaryMode)

/* Writes tokens to the positions of caches that slots number, below 0 to none. */
OPENATC_ACLNN(ScatterPaKvCache, const aclTensor *key, aclTensor *keyCacheRef,
              const aclTensor *slotMapping, const aclTensor *value, aclTensor *valueCacheRef,
              const aclTensor *compressLensOptional, const aclTensor *compressSeqOffsetOptional,
              const aclTensor *seqLensOptional, char *cacheModeOptional, char *scatterModeOptional,
              const aclIntArray *stridesOptional, const aclIntArray *offsetsOptional)

/* ---- mixtures of experts ------------------------------------------------------------ */

/* Products of the parts of x, as a group list divides their rows, with a weight each. The list says
 * where groups end, or (V4 and V5 with groupListType 1) how many rows they have; a tensor is read
 * when the executor is made. With groupType 2 it divides the depth, and each group has a product.
 * V4 and V5 take x and weights of int8, with scales of columns and rows, and an actType. */
#define OPENATC_ACLNN_GROUP_INPUTS                                                                 \
  const aclTensorList *x, const aclTensorList *weight, const aclTensorList *biasOptional,          \
      const aclTensorList *scaleOptional, const aclTensorList *offsetOptional,                     \
      const aclTensorList *antiquantScaleOptional, const aclTensorList *antiquantOffsetOptional
OPENATC_ACLNN(GroupedMatmul, OPENATC_ACLNN_GROUP_INPUTS, const aclIntArray *groupListOptional,
              int64_t splitItem, const aclTensorList *y)
OPENATC_ACLNN(GroupedMatmulV2, OPENATC_ACLNN_GROUP_INPUTS, const aclIntArray *groupListOptional,
              int64_t splitItem, int64_t groupType, const aclTensorList *y)
OPENATC_ACLNN(GroupedMatmulV3, OPENATC_ACLNN_GROUP_INPUTS, const aclTensor *groupListOptional,
              int64_t splitItem, int64_t groupType, const aclTensorList *y)
#define OPENATC_ACLNN_GROUP_LISTS                                                                  \
  const aclTensorList *perTokenScaleOptional, const aclTensor *groupListOptional,                  \
      const aclTensorList *activationInputOptional,                                                \
      const aclTensorList *activationQuantScaleOptional,                                           \
      const aclTensorList *activationQuantOffsetOptional, int64_t splitItem, int64_t groupType,    \
      int64_t groupListType, int64_t actType
OPENATC_ACLNN(GroupedMatmulV4, OPENATC_ACLNN_GROUP_INPUTS, OPENATC_ACLNN_GROUP_LISTS,
              aclTensorList *out, aclTensorList *activationFeatureOutOptional,
              aclTensorList *dynQuantScaleOutOptional)
OPENATC_ACLNN(GroupedMatmulV5, OPENATC_ACLNN_GROUP_INPUTS, OPENATC_ACLNN_GROUP_LISTS,
              aclIntArray *tuningConfigOptional, aclTensorList *out,
              aclTensorList *activationFeatureOutOptional, aclTensorList *dynQuantScaleOutOptional)
/* Rows of int8 times the int8 matrix [depth, 2 * width] of their group, scaled; the product's left
 * half, activated by silu, times its right half, quantized to int8 by the largest element of a row.
 * groupList has the ends of the groups. bias, offset and outputOffset must be NULL. */
OPENATC_ACLNN(GroupedMatmulSwigluQuant, const aclTensor *x, const aclTensor *weight,
              const aclTensor *bias, const aclTensor *offset, const aclTensor *weightScale,
              const aclTensor *xScale, const aclTensor *groupList, aclTensor *output,
              aclTensor *outputScale, aclTensor *outputOffset)
/* The k largest shares of the softmax of each row, their experts, and i + j * rows for choice j of
 * row i. Rows that are finished get the expert behind the last one. */
OPENATC_ACLNN(MoeGatingTopKSoftmax, const aclTensor *x, const aclTensor *finishedOptional,
              int64_t k, const aclTensor *yOut, const aclTensor *expertIdxOut,
              const aclTensor *rowIdxOut)
/* Rows of x in the order of their experts, where each row went, and the experts in order. */
OPENATC_ACLNN(MoeInitRouting, const aclTensor *x, const aclTensor *rowIdx,
              const aclTensor *expertIdx, int64_t activeNum, const aclTensor *expandedXOut,
              const aclTensor *expandedRowIdxOut, const aclTensor *expandedExpertIdxOut)
/* Computes the number of tokens of each expert and of all experts before it. */
OPENATC_ACLNN(MoeComputeExpertTokens, const aclTensor *sortedExperts, int64_t numExperts,
              const aclTensor *out)
/* x1 + x2 + the sum of scale * (row of expandedX + bias of its expert) over the choices. */
OPENATC_ACLNN(MoeFinalizeRouting, const aclTensor *expandedX, const aclTensor *x1,
              const aclTensor *x2Optional, const aclTensor *bias, const aclTensor *scales,
              const aclTensor *expandedRowIdx, const aclTensor *expandedExpertIdx,
              const aclTensor *out)

#ifdef __cplusplus
}
#endif

#endif
