/*===-- aclnnop/aclnn_rotary_position_embedding.h - rotated positions -------===*/
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                     */
/*
 * A header of its own: programs declare the function themselves, with const tensors, where the
 * vendor's other headers do not.
 */
#ifndef OPENATC_ACLNNOP_ACLNN_ROTARY_POSITION_EMBEDDING_H
#define OPENATC_ACLNNOP_ACLNN_ROTARY_POSITION_EMBEDDING_H

#include "aclnnop/aclnn_ops.h"

#ifdef __cplusplus
extern "C" {
#endif

/* `mode` is 0 for halves, 1 for neighbours, 2 for quarters, 3 for neighbours that become halves. */
OPENATC_ACLNN(RotaryPositionEmbedding, const aclTensor *x, const aclTensor *cos,
              const aclTensor *sin, int64_t mode, aclTensor *out)

#ifdef __cplusplus
}
#endif

#endif
