/*===-- op_proto/nn_norm_ops.h -----------------------------------*- C++ -*-===*
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *===--------------------------------------------------------------------------===*/
#ifndef OPENATC_OP_PROTO_NN_NORM_OPS_H
#define OPENATC_OP_PROTO_NN_NORM_OPS_H

#include "graph/operator_reg.h"

REG_OP(SoftmaxV2)
    .INPUT(x, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .ATTR(axes, ListInt, {-1})
    .OP_END_FACTORY_REG(SoftmaxV2);
REG_OP(LogSoftmaxV2)
    .INPUT(logits, TensorType::ALL())
    .OUTPUT(logsoftmax, TensorType::ALL())
    .ATTR(axes, ListInt, {-1})
    .OP_END_FACTORY_REG(LogSoftmaxV2);
REG_OP(LayerNorm)
    .INPUT(x, TensorType::ALL())
    .INPUT(gamma, TensorType::ALL())
    .INPUT(beta, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .OUTPUT(mean, TensorType::ALL())
    .OUTPUT(variance, TensorType::ALL())
    .ATTR(begin_norm_axis, Int, 0)
    .ATTR(begin_params_axis, Int, 0)
    .ATTR(epsilon, Float, 0.0000001f)
    .OP_END_FACTORY_REG(LayerNorm);
REG_OP(RmsNorm)
    .INPUT(x, TensorType::ALL())
    .INPUT(gamma, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .OUTPUT(rstd, TensorType::ALL())
    .ATTR(epsilon, Float, 0.000001f)
    .OP_END_FACTORY_REG(RmsNorm);
REG_OP(LRN)
    .INPUT(x, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .ATTR(depth_radius, Int, 5)
    .ATTR(bias, Float, 1.0f)
    .ATTR(alpha, Float, 1.0f)
    .ATTR(beta, Float, 0.5f)
    .ATTR(norm_region, String, "ACROSS_CHANNELS")
    .OP_END_FACTORY_REG(LRN);

#endif
