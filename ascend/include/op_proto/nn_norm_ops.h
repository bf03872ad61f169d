/*===-- op_proto/nn_norm_ops.h -----------------------------------*- C++ -*-===*
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *===--------------------------------------------------------------------------===*/
#ifndef OPENATC_OP_PROTO_NN_NORM_OPS_H
#define OPENATC_OP_PROTO_NN_NORM_OPS_H

#include "graph/operator_reg.h"

namespace ge {

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
REG_OP(LayerNormV3)
    .INPUT(x, TensorType::ALL())
    .INPUT(gamma, TensorType::ALL())
    .INPUT(beta, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .OUTPUT(mean, TensorType::ALL())
    .OUTPUT(rstd, TensorType::ALL())
    .ATTR(begin_norm_axis, Int, 0)
    .ATTR(begin_params_axis, Int, 0)
    .ATTR(epsilon, Float, 0.00001f)
    .OP_END_FACTORY_REG(LayerNormV3);
REG_OP(InstanceNorm)
    .INPUT(x, TensorType::ALL())
    .INPUT(gamma, TensorType::ALL())
    .INPUT(beta, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .OUTPUT(mean, TensorType::ALL())
    .OUTPUT(variance, TensorType::ALL())
    .ATTR(data_format, String, "NDHWC")
    .ATTR(epsilon, Float, 1e-6f)
    .OP_END_FACTORY_REG(InstanceNorm);
REG_OP(RmsNorm)
    .INPUT(x, TensorType::ALL())
    .INPUT(gamma, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .OUTPUT(rstd, TensorType::ALL())
    .ATTR(epsilon, Float, 0.000001f)
    .OP_END_FACTORY_REG(RmsNorm);
REG_OP(GemmaRmsNorm)
    .INPUT(x, TensorType::ALL())
    .INPUT(gamma, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .OUTPUT(rstd, TensorType::ALL())
    .ATTR(epsilon, Float, 0.000001f)
    .OP_END_FACTORY_REG(GemmaRmsNorm);
REG_OP(LRN)
    .INPUT(x, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .ATTR(depth_radius, Int, 5)
    .ATTR(bias, Float, 1.0f)
    .ATTR(alpha, Float, 1.0f)
    .ATTR(beta, Float, 0.5f)
    .ATTR(norm_region, String, "ACROSS_CHANNELS")
    .OP_END_FACTORY_REG(LRN);
REG_OP(AddRmsNorm)
    .INPUT(x1, TensorType::ALL())
    .INPUT(x2, TensorType::ALL())
    .INPUT(gamma, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .OUTPUT(rstd, TensorType::ALL())
    .OUTPUT(x, TensorType::ALL())
    .ATTR(epsilon, Float, 1e-6f)
    .OP_END_FACTORY_REG(AddRmsNorm);
REG_OP(BinaryCrossEntropy)
    .INPUT(x, TensorType::ALL())
    .INPUT(y, TensorType::ALL())
    .OPTIONAL_INPUT(weight, TensorType::ALL())
    .OUTPUT(output, TensorType::ALL())
    .ATTR(reduction, String, "mean")
    .OP_END_FACTORY_REG(BinaryCrossEntropy);
REG_OP(Centralization)
    .INPUT(x, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .ATTR(axes, ListInt, {-1})
    .OP_END_FACTORY_REG(Centralization);
REG_OP(ConfusionSoftmaxGrad)
    .INPUT(grad, TensorType::ALL())
    .INPUT(x, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .OP_END_FACTORY_REG(ConfusionSoftmaxGrad);
REG_OP(LogSoftmaxGrad)
    .INPUT(grad, TensorType::ALL())
    .INPUT(x, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .ATTR(axis, ListInt, {-1})
    .OP_END_FACTORY_REG(LogSoftmaxGrad);
REG_OP(LpNorm)
    .INPUT(x, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .ATTR(p, Int, 2)
    .ATTR(axes, ListInt, {})
    .ATTR(keepdim, Bool, false)
    .ATTR(epsilon, Float, 1e-12f)
    .OP_END_FACTORY_REG(LpNorm);
REG_OP(LpNormV2)
    .INPUT(x, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .ATTR(p, Float, 2.0f)
    .ATTR(axes, ListInt, {})
    .ATTR(keepdim, Bool, false)
    .ATTR(epsilon, Float, 1e-12f)
    .OP_END_FACTORY_REG(LpNormV2);
REG_OP(MseLoss)
    .INPUT(predict, TensorType::ALL())
    .INPUT(label, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .ATTR(reduction, String, "mean")
    .OP_END_FACTORY_REG(MseLoss);
REG_OP(MseLossGrad)
    .INPUT(predict, TensorType::ALL())
    .INPUT(label, TensorType::ALL())
    .INPUT(dout, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .ATTR(reduction, String, "mean")
    .OP_END_FACTORY_REG(MseLossGrad);
REG_OP(RotaryMul)
    .INPUT(x, TensorType::ALL())
    .INPUT(r1, TensorType::ALL())
    .INPUT(r2, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .OP_END_FACTORY_REG(RotaryMul);
REG_OP(Scale)
    .INPUT(x, TensorType::ALL())
    .INPUT(scale, TensorType::ALL())
    .OPTIONAL_INPUT(bias, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .ATTR(axis, Int, 1)
    .ATTR(num_axes, Int, 1)
    .ATTR(scale_from_blob, Bool, true)
    .OP_END_FACTORY_REG(Scale);
REG_OP(SigmoidCrossEntropyWithLogits)
    .INPUT(predict, TensorType::ALL())
    .INPUT(target, TensorType::ALL())
    .OUTPUT(loss, TensorType::ALL())
    .OP_END_FACTORY_REG(SigmoidCrossEntropyWithLogits);
REG_OP(SmoothL1Loss)
    .INPUT(predict, TensorType::ALL())
    .INPUT(label, TensorType::ALL())
    .OUTPUT(loss, TensorType::ALL())
    .ATTR(sigma, Float, 1.0f)
    .OP_END_FACTORY_REG(SmoothL1Loss);
REG_OP(SmoothL1LossGrad)
    .INPUT(predict, TensorType::ALL())
    .INPUT(label, TensorType::ALL())
    .INPUT(dout, TensorType::ALL())
    .OUTPUT(gradient, TensorType::ALL())
    .ATTR(sigma, Float, 1.0f)
    .OP_END_FACTORY_REG(SmoothL1LossGrad);
REG_OP(SmoothL1LossV2)
    .INPUT(predict, TensorType::ALL())
    .INPUT(label, TensorType::ALL())
    .OUTPUT(loss, TensorType::ALL())
    .ATTR(sigma, Float, 1.0f)
    .ATTR(reduction, String, "mean")
    .OP_END_FACTORY_REG(SmoothL1LossV2);
REG_OP(SoftMarginLoss)
    .INPUT(input_x, TensorType::ALL())
    .INPUT(input_y, TensorType::ALL())
    .OUTPUT(output_z, TensorType::ALL())
    .ATTR(reduction, String, "mean")
    .OP_END_FACTORY_REG(SoftMarginLoss);
REG_OP(SoftmaxCrossEntropyWithLogits)
    .INPUT(features, TensorType::ALL())
    .INPUT(labels, TensorType::ALL())
    .OUTPUT(loss, TensorType::ALL())
    .OUTPUT(backprop, TensorType::ALL())
    .OP_END_FACTORY_REG(SoftmaxCrossEntropyWithLogits);
REG_OP(SoftmaxGrad)
    .INPUT(softmax, TensorType::ALL())
    .INPUT(grad_softmax, TensorType::ALL())
    .OUTPUT(grad_x, TensorType::ALL())
    .ATTR(axes, ListInt, {-1})
    .OP_END_FACTORY_REG(SoftmaxGrad);

} // namespace ge

#endif
