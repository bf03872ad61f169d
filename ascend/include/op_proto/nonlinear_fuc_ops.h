/*===-- op_proto/nonlinear_fuc_ops.h -----------------------------*- C++ -*-===*
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *===--------------------------------------------------------------------------===*/
#ifndef OPENATC_OP_PROTO_NONLINEAR_FUC_OPS_H
#define OPENATC_OP_PROTO_NONLINEAR_FUC_OPS_H

#include "graph/operator_reg.h"

REG_OP(Relu).INPUT(x, TensorType::ALL()).OUTPUT(y, TensorType::ALL()).OP_END_FACTORY_REG(Relu);
REG_OP(Relu6).INPUT(x, TensorType::ALL()).OUTPUT(y, TensorType::ALL()).OP_END_FACTORY_REG(Relu6);
REG_OP(Sigmoid)
    .INPUT(x, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .OP_END_FACTORY_REG(Sigmoid);
REG_OP(Tanh).INPUT(x, TensorType::ALL()).OUTPUT(y, TensorType::ALL()).OP_END_FACTORY_REG(Tanh);
REG_OP(Gelu).INPUT(x, TensorType::ALL()).OUTPUT(y, TensorType::ALL()).OP_END_FACTORY_REG(Gelu);
REG_OP(FastGelu)
    .INPUT(x, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .OP_END_FACTORY_REG(FastGelu);
REG_OP(HardSwish)
    .INPUT(x, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .OP_END_FACTORY_REG(HardSwish);
REG_OP(Mish).INPUT(x, TensorType::ALL()).OUTPUT(y, TensorType::ALL()).OP_END_FACTORY_REG(Mish);
REG_OP(Softplus)
    .INPUT(x, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .OP_END_FACTORY_REG(Softplus);
REG_OP(Softsign)
    .INPUT(x, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .OP_END_FACTORY_REG(Softsign);
REG_OP(LeakyRelu)
    .INPUT(x, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .ATTR(negative_slope, Float, 0.0f)
    .OP_END_FACTORY_REG(LeakyRelu);
REG_OP(PRelu)
    .INPUT(x, TensorType::ALL())
    .INPUT(weight, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .OP_END_FACTORY_REG(PRelu);
REG_OP(Elu)
    .INPUT(x, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .ATTR(alpha, Float, 1.0f)
    .OP_END_FACTORY_REG(Elu);
REG_OP(Swish)
    .INPUT(x, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .ATTR(scale, Float, 1.0f)
    .OP_END_FACTORY_REG(Swish);
REG_OP(HardSigmoid)
    .INPUT(input_x, TensorType::ALL())
    .OUTPUT(output_y, TensorType::ALL())
    .ATTR(alpha, Float, 0.16666666f)
    .ATTR(beta, Float, 0.5f)
    .OP_END_FACTORY_REG(HardSigmoid);

#endif
