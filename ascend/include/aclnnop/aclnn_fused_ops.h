/*===-- aclnnop/aclnn_fused_ops.h - rotations with caches, grids, steps of training -===*/
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                     */
/*
 * aclnn_ops.h includes it, and says how its functions are called.
 */
#ifndef OPENATC_ACLNNOP_ACLNN_FUSED_OPS_H
#define OPENATC_ACLNNOP_ACLNN_FUSED_OPS_H

#include "aclnnop/aclnn_ops.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- rotations, and caches that they are written to ---------------------------------- */

/* The even elements of x stand before the odd ones in the result. */
OPENATC_ACLNN(InterleaveRope, const aclTensor *x, const aclTensor *cos, const aclTensor *sin,
              aclTensor *out)
/* x * cos + (x * rotate) * sin with a matrix; NULL means what `mode` says. */
OPENATC_ACLNN(RotaryPositionEmbeddingV2, const aclTensor *x, const aclTensor *cos,
              const aclTensor *sin, int64_t mode, const aclTensor *rotate, aclTensor *out)
/* Rows of cosSinCache are the cosines, then the sines of a position. With mropeSection, positions
 * are [3, tokens], and each section of the angles takes those of its row. */
OPENATC_ACLNN(RopeWithSinCosCache, const aclTensor *positions, const aclTensor *queryIn,
              const aclTensor *keyIn, const aclTensor *cosSinCache, const aclIntArray *mropeSection,
              int64_t headSize, bool isNeoxStyle, aclTensor *queryOut, aclTensor *keyOut)
/* cacheMode is Norm (index [batch, sequence] are positions of the sequences of the caches), PA or
 * PA_BNSD (index has slots of blocks); -1 skips a row. Caches have the type of kv. */
OPENATC_ACLNN(KvRmsNormRopeCache, const aclTensor *kv, const aclTensor *gamma, const aclTensor *cos,
              const aclTensor *sin, const aclTensor *index, aclTensor *kCacheRef,
              aclTensor *ckvCacheRef, const aclTensor *kRopeScaleOptional,
              const aclTensor *ckvScaleOptional, const aclTensor *kRopeOffsetOptional,
              const aclTensor *cKvOffsetOptional, double epsilon, char *cacheModeOptional,
              bool isOutputKv, const aclTensor *kRopeOut, const aclTensor *cKvOut)

/* ---- quantized results --------------------------------------------------------------- */

OPENATC_ACLNN(RmsNormQuant, const aclTensor *x, const aclTensor *gamma, const aclTensor *beta,
              const aclTensor *scale, const aclTensor *offset, double epsilon, aclTensor *y)
OPENATC_ACLNN(QuantMatmulV2, const aclTensor *x1, const aclTensor *x2, const aclTensor *bias,
              const aclTensor *deqScale, bool adjX1, bool adjX2, aclTensor *out)
/* quantMode is pertoken (a scale per row), pertensor or perchannel (the dim before the last one).
 */
OPENATC_ACLNN(DynamicQuantV3, const aclTensor *x, const aclTensor *smoothScalesOptional,
              const aclTensor *groupIndexOptional, int64_t dstType, bool isSymmetrical,
              const char *quantMode, const aclTensor *yOut, const aclTensor *scaleOut,
              const aclTensor *offsetOut)
/* swigluMode 1: even elements, of clampLimit at most, are gates with sigmoid(gluAlpha * gate), and
 * odd ones, clamped on both sides, get gluBias. */
OPENATC_ACLNN(DequantSwigluQuantV2, const aclTensor *x, const aclTensor *weightScaleOptional,
              const aclTensor *activationScaleOptional, const aclTensor *biasOptional,
              const aclTensor *quantScaleOptional, const aclTensor *quantOffsetOptional,
              const aclTensor *groupIndexOptional, bool activateLeft, char *quantModeOptional,
              int64_t dstType, char *roundModeOptional, int64_t activateDim, int64_t swigluMode,
              double clampLimit, double gluAlpha, double gluBias, const aclTensor *yOut,
              const aclTensor *scaleOut)

/* ---- experts, training --------------------------------------------------------------- */

/* Sorts tokens that came from several ranks by their experts: expertTokenNumPerRank is [ranks,
 * experts]. idxType 0: where each token was, 1: where it goes. */
OPENATC_ACLNN(MoeReRouting, const aclTensor *tokens, const aclTensor *expertTokenNumPerRank,
              const aclTensor *perTokenScalesOptional, int64_t expertTokenNumType, int64_t idxType,
              const aclTensor *permuteTokensOut, const aclTensor *permutePerTokenScalesOut,
              const aclTensor *permuteTokenIdxOut, const aclTensor *expertTokenNumOut)
/* y of each group += x^T * weight, of the rows that groupList ends. */
OPENATC_ACLNN(GroupedMatmulAdd, const aclTensor *x, const aclTensor *weight,
              const aclTensor *groupList, aclTensor *yRef, bool transposeX, bool transposeWeight,
              int64_t groupType)
/* Multiplies the list by inScale in place; foundInf becomes 1 where an element is not finite. */
OPENATC_ACLNN(ForeachNonFiniteCheckAndUnscale, const aclTensorList *scaledGrads,
              const aclTensor *foundInf, const aclTensor *inScale)
/* Rows that indices name get a norm of maxNorm at most. */
OPENATC_ACLNN(EmbeddingRenorm, aclTensor *selfRef, const aclTensor *indices, double maxNorm,
              double normType)

/* ---- grids, sampled convolutions, divisors ------------------------------------------- */

OPENATC_ACLNN(AffineGrid, const aclTensor *theta, const aclIntArray *size, bool alignCorners,
              aclTensor *out)
/* offset has channels of x, then of y, then of factors: for each group of channels, and position of
 * the kernel. stride and dilation have 4 numbers, as padding: top, bottom, left, right. */
OPENATC_ACLNN(DeformableConv2d, const aclTensor *x, const aclTensor *weight,
              const aclTensor *offset, const aclTensor *biasOptional, const aclIntArray *kernelSize,
              const aclIntArray *stride, const aclIntArray *padding, const aclIntArray *dilation,
              int64_t groups, int64_t deformableGroups, bool modulated, aclTensor *out,
              aclTensor *deformOutOptional)
OPENATC_ACLNN(Gcd, const aclTensor *self, const aclTensor *other, aclTensor *out)

#ifdef __cplusplus
}
#endif

#endif
