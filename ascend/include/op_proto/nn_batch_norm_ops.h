/*===-- op_proto/nn_batch_norm_ops.h -----------------------------*- C++ -*-===*
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *===--------------------------------------------------------------------------===*/
#ifndef OPENATC_OP_PROTO_NN_BATCH_NORM_OPS_H
#define OPENATC_OP_PROTO_NN_BATCH_NORM_OPS_H

#include "graph/operator_reg.h"

namespace ge {

REG_OP(BatchNorm)
    .INPUT(x, TensorType::ALL())
    .INPUT(scale, TensorType::ALL())
    .INPUT(offset, TensorType::ALL())
    .OPTIONAL_INPUT(mean, TensorType::ALL())
    .OPTIONAL_INPUT(variance, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .OUTPUT(batch_mean, TensorType::ALL())
    .OUTPUT(batch_variance, TensorType::ALL())
    .OUTPUT(reserve_space_1, TensorType::ALL())
    .OUTPUT(reserve_space_2, TensorType::ALL())
    .OUTPUT(reserve_space_3, TensorType::ALL())
    .ATTR(epsilon, Float, 0.0001f)
    .ATTR(data_format, String, "NHWC")
    .ATTR(is_training, Bool, true)
    .OP_END_FACTORY_REG(BatchNorm);
REG_OP(BNInference)
    .INPUT(x, TensorType::ALL())
    .INPUT(mean, TensorType::ALL())
    .INPUT(variance, TensorType::ALL())
    .INPUT(momentum, TensorType::ALL())
    .OPTIONAL_INPUT(scale, TensorType::ALL())
    .OPTIONAL_INPUT(offset, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .ATTR(epsilon, Float, 1e-5f)
    .ATTR(use_global_stats, Bool, true)
    .ATTR(mode, Int, 1)
    .OP_END_FACTORY_REG(BNInference);
REG_OP(BNInferenceD)
    .INPUT(x, TensorType::ALL())
    .INPUT(mean, TensorType::ALL())
    .INPUT(variance, TensorType::ALL())
    .OPTIONAL_INPUT(scale, TensorType::ALL())
    .OPTIONAL_INPUT(b, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .ATTR(momentum, Float, 0.9f)
    .ATTR(epsilon, Float, 1e-5f)
    .ATTR(use_global_stats, Bool, true)
    .ATTR(mode, Int, 1)
    .OP_END_FACTORY_REG(BNInferenceD);
REG_OP(L2Normalize)
    .INPUT(x, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .ATTR(axis, ListInt, {})
    .ATTR(eps, Float, 1e-4f)
    .OP_END_FACTORY_REG(L2Normalize);
REG_OP(BNInfer)
    .INPUT(x, TensorType::ALL())
    .INPUT(scale, TensorType::ALL())
    .INPUT(offset, TensorType::ALL())
    .INPUT(mean, TensorType::ALL())
    .INPUT(variance, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .REQUIRED_ATTR(epsilon, Float)
    .OP_END_FACTORY_REG(BNInfer);

} // namespace ge

#endif
