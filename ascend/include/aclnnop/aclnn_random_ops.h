/*===-- aclnnop/aclnn_random_ops.h - random numbers, dropout ----------------===*/
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                     */
/*
 * aclnn_ops.h includes it, and says how its functions are called. The same seed and offset give the
 * same numbers in every run, by the generator Philox 4x32-10.
 */
#ifndef OPENATC_ACLNNOP_ACLNN_RANDOM_OPS_H
#define OPENATC_ACLNNOP_ACLNN_RANDOM_OPS_H

#include "aclnnop/aclnn_ops.h"

#ifdef __cplusplus
extern "C" {
#endif

OPENATC_ACLNN(InplaceNormal, const aclTensor *selfRef, float mean, float std, int64_t seed,
              int64_t offset)
OPENATC_ACLNN(NormalFloatFloat, float mean, float std, int64_t seed, int64_t offset, aclTensor *out)
/* From `from` to `to`, without the latter; whole numbers (Random). */
OPENATC_ACLNN(InplaceUniform, const aclTensor *selfRef, double from, double to, uint64_t seed,
              uint64_t offset)
OPENATC_ACLNN(InplaceRandom, const aclTensor *selfRef, int64_t from, int64_t to, int64_t seed,
              int64_t offset)
/* 1 with a probability, else 0. */
OPENATC_ACLNN(Bernoulli, const aclTensor *self, const aclScalar *prob, int64_t seed, int64_t offset,
              aclTensor *out)
OPENATC_ACLNN(BernoulliTensor, const aclTensor *self, const aclTensor *prob, int64_t seed,
              int64_t offset, aclTensor *out)
OPENATC_ACLNN(InplaceBernoulli, const aclTensor *selfRef, const aclScalar *prob, int64_t seed,
              int64_t offset)
OPENATC_ACLNN(InplaceBernoulliTensor, const aclTensor *selfRef, const aclTensor *prob, int64_t seed,
              int64_t offset)
/* The numbers 0 to n - 1 in any order. */
OPENATC_ACLNN(Randperm, int64_t n, int64_t seed, int64_t offset, aclTensor *out)
/* Places of each row of weights, drawn with their probability. */
OPENATC_ACLNN(Multinomial, const aclTensor *self, int64_t numsamples, bool replacement,
              int64_t seed, int64_t offset, aclTensor *out)

/* Zeros with a probability, and 1 / (1 - probability) times the other elements. A mask has a bit
 * for each element, 1 where it stays, in a multiple of 16 bytes of uint8. */
OPENATC_ACLNN(Dropout, const aclTensor *input, double p, bool train, int64_t seed, int64_t offset,
              aclTensor *out, aclTensor *maskOut)
OPENATC_ACLNN(DropoutGenMask, const aclIntArray *shape, double prob, int64_t seed, int64_t offset,
              aclTensor *out)
OPENATC_ACLNN(DropoutGenMaskV2, const aclIntArray *shape, double prob, int64_t seed, int64_t offset,
              aclDataType probDataType, aclTensor *out)
OPENATC_ACLNN(DropoutDoMask, const aclTensor *self, const aclTensor *mask, double prob,
              aclTensor *out)
OPENATC_ACLNN(DropoutBackward, const aclTensor *gradOutput, const aclTensor *mask, double scale,
              aclTensor *out)

#ifdef __cplusplus
}
#endif

#endif
