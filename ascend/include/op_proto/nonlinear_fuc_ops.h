/*===-- op_proto/nonlinear_fuc_ops.h -----------------------------*- C++ -*-===*
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *===--------------------------------------------------------------------------===*/
#ifndef OPENATC_OP_PROTO_NONLINEAR_FUC_OPS_H
#define OPENATC_OP_PROTO_NONLINEAR_FUC_OPS_H

#include "graph/operator_reg.h"

namespace ge {

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
REG_OP(CeluV2)
    .INPUT(x, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .ATTR(alpha, Float, 1.0f)
    .OP_END_FACTORY_REG(CeluV2);
REG_OP(EluGrad)
    .INPUT(grads, TensorType::ALL())
    .INPUT(activations, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .OP_END_FACTORY_REG(EluGrad);
REG_OP(FastGeluGrad)
    .INPUT(dy, TensorType::ALL())
    .INPUT(x, TensorType::ALL())
    .OUTPUT(z, TensorType::ALL())
    .OP_END_FACTORY_REG(FastGeluGrad);
REG_OP(FastGeluV2)
    .INPUT(x, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .OP_END_FACTORY_REG(FastGeluV2);
REG_OP(GeluGrad)
    .INPUT(dy, TensorType::ALL())
    .INPUT(x, TensorType::ALL())
    .INPUT(y, TensorType::ALL())
    .OUTPUT(z, TensorType::ALL())
    .OP_END_FACTORY_REG(GeluGrad);
REG_OP(GeluV2)
    .INPUT(x, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .ATTR(approximate, String, "none")
    .OP_END_FACTORY_REG(GeluV2);
REG_OP(HardShrink)
    .INPUT(input_x, TensorType::ALL())
    .OUTPUT(output_y, TensorType::ALL())
    .ATTR(lambd, Float, 0.5f)
    .OP_END_FACTORY_REG(HardShrink);
REG_OP(HardShrinkGrad)
    .INPUT(gradients, TensorType::ALL())
    .INPUT(features, TensorType::ALL())
    .OUTPUT(backprops, TensorType::ALL())
    .ATTR(lambd, Float, 0.5f)
    .OP_END_FACTORY_REG(HardShrinkGrad);
REG_OP(HardSigmoidGrad)
    .INPUT(grads, TensorType::ALL())
    .INPUT(input_x, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .ATTR(alpha, Float, 0.16666666f)
    .ATTR(beta, Float, 0.5f)
    .OP_END_FACTORY_REG(HardSigmoidGrad);
REG_OP(HardSwishGrad)
    .INPUT(grad, TensorType::ALL())
    .INPUT(x, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .OP_END_FACTORY_REG(HardSwishGrad);
REG_OP(HardtanhGrad)
    .INPUT(result, TensorType::ALL())
    .INPUT(grad, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .ATTR(min_val, Float, -1.0f)
    .ATTR(max_val, Float, 1.0f)
    .OP_END_FACTORY_REG(HardtanhGrad);
REG_OP(LeakyReluGrad)
    .INPUT(gradients, TensorType::ALL())
    .INPUT(features, TensorType::ALL())
    .OUTPUT(backprops, TensorType::ALL())
    .ATTR(negative_slope, Float, 0.0f)
    .OP_END_FACTORY_REG(LeakyReluGrad);
REG_OP(LogSigmoid)
    .INPUT(x, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .OP_END_FACTORY_REG(LogSigmoid);
REG_OP(LogSigmoidGrad)
    .INPUT(grads, TensorType::ALL())
    .INPUT(features, TensorType::ALL())
    .OUTPUT(backprops, TensorType::ALL())
    .OP_END_FACTORY_REG(LogSigmoidGrad);
REG_OP(MishGrad)
    .INPUT(grad, TensorType::ALL())
    .INPUT(x, TensorType::ALL())
    .OPTIONAL_INPUT(tanhx, TensorType::ALL())
    .OUTPUT(x_grad, TensorType::ALL())
    .OP_END_FACTORY_REG(MishGrad);
REG_OP(Relu6Grad)
    .INPUT(gradients, TensorType::ALL())
    .INPUT(features, TensorType::ALL())
    .OUTPUT(backprops, TensorType::ALL())
    .OP_END_FACTORY_REG(Relu6Grad);
REG_OP(ReluGrad)
    .INPUT(gradients, TensorType::ALL())
    .INPUT(features, TensorType::ALL())
    .OUTPUT(backprops, TensorType::ALL())
    .OP_END_FACTORY_REG(ReluGrad);
REG_OP(SeluGrad)
    .INPUT(gradients, TensorType::ALL())
    .INPUT(outputs, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .OP_END_FACTORY_REG(SeluGrad);
REG_OP(SigmoidGrad)
    .INPUT(y, TensorType::ALL())
    .INPUT(dy, TensorType::ALL())
    .OUTPUT(z, TensorType::ALL())
    .OP_END_FACTORY_REG(SigmoidGrad);
REG_OP(Silu).INPUT(x, TensorType::ALL()).OUTPUT(y, TensorType::ALL()).OP_END_FACTORY_REG(Silu);
REG_OP(SiluGrad)
    .INPUT(dy, TensorType::ALL())
    .INPUT(x, TensorType::ALL())
    .OUTPUT(dx, TensorType::ALL())
    .OP_END_FACTORY_REG(SiluGrad);
REG_OP(SoftShrink)
    .INPUT(input_x, TensorType::ALL())
    .OUTPUT(output_y, TensorType::ALL())
    .ATTR(lambd, Float, 0.5f)
    .OP_END_FACTORY_REG(SoftShrink);
REG_OP(SoftShrinkGrad)
    .INPUT(input_grad, TensorType::ALL())
    .INPUT(input_x, TensorType::ALL())
    .OUTPUT(output_y, TensorType::ALL())
    .ATTR(lambd, Float, 0.5f)
    .OP_END_FACTORY_REG(SoftShrinkGrad);
REG_OP(SoftplusGrad)
    .INPUT(gradients, TensorType::ALL())
    .INPUT(features, TensorType::ALL())
    .OUTPUT(backprops, TensorType::ALL())
    .OP_END_FACTORY_REG(SoftplusGrad);
REG_OP(SoftsignGrad)
    .INPUT(gradients, TensorType::ALL())
    .INPUT(features, TensorType::ALL())
    .OUTPUT(output, TensorType::ALL())
    .OP_END_FACTORY_REG(SoftsignGrad);
REG_OP(SwiGlu)
    .INPUT(x, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .ATTR(dim, Int, -1)
    .OP_END_FACTORY_REG(SwiGlu);
REG_OP(SwishGrad)
    .INPUT(grad, TensorType::ALL())
    .INPUT(x, TensorType::ALL())
    .INPUT(y, TensorType::ALL())
    .OUTPUT(grad_x, TensorType::ALL())
    .ATTR(scale, Float, 1.0f)
    .OP_END_FACTORY_REG(SwishGrad);
REG_OP(TanhGrad)
    .INPUT(y, TensorType::ALL())
    .INPUT(dy, TensorType::ALL())
    .OUTPUT(z, TensorType::ALL())
    .OP_END_FACTORY_REG(TanhGrad);
REG_OP(Threshold)
    .INPUT(x, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .ATTR(threshold, Float, 0.0f)
    .OP_END_FACTORY_REG(Threshold);
REG_OP(ThresholdGradV2D)
    .INPUT(gradients, TensorType::ALL())
    .INPUT(features, TensorType::ALL())
    .OUTPUT(backprops, TensorType::ALL())
    .REQUIRED_ATTR(threshold, Float)
    .OP_END_FACTORY_REG(ThresholdGradV2D);
REG_OP(ThresholdV2)
    .INPUT(x, TensorType::ALL())
    .INPUT(threshold, TensorType::ALL())
    .OPTIONAL_INPUT(value, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .OP_END_FACTORY_REG(ThresholdV2);
REG_OP(ThresholdV2D)
    .INPUT(x, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .REQUIRED_ATTR(threshold, Float)
    .REQUIRED_ATTR(value, Float)
    .OP_END_FACTORY_REG(ThresholdV2D);

} // namespace ge

#endif
