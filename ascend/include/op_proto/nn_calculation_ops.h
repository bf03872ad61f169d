/*===-- op_proto/nn_calculation_ops.h ----------------------------*- C++ -*-===*
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *===--------------------------------------------------------------------------===*/
#ifndef OPENATC_OP_PROTO_NN_CALCULATION_OPS_H
#define OPENATC_OP_PROTO_NN_CALCULATION_OPS_H

#include "graph/operator_reg.h"

namespace ge {

REG_OP(Conv2D)
    .INPUT(x, TensorType::ALL())
    .INPUT(filter, TensorType::ALL())
    .OPTIONAL_INPUT(bias, TensorType::ALL())
    .OPTIONAL_INPUT(offset_w, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .REQUIRED_ATTR(strides, ListInt)
    .REQUIRED_ATTR(pads, ListInt)
    .ATTR(dilations, ListInt, {1, 1, 1, 1})
    .ATTR(groups, Int, 1)
    .ATTR(data_format, String, "NHWC")
    .ATTR(offset_x, Int, 0)
    .OP_END_FACTORY_REG(Conv2D);
REG_OP(DepthwiseConv2D)
    .INPUT(x, TensorType::ALL())
    .INPUT(filter, TensorType::ALL())
    .OPTIONAL_INPUT(bias, TensorType::ALL())
    .OPTIONAL_INPUT(offset_w, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .REQUIRED_ATTR(strides, ListInt)
    .ATTR(dilations, ListInt, {1, 1, 1, 1})
    .REQUIRED_ATTR(pads, ListInt)
    .ATTR(data_format, String, "NHWC")
    .ATTR(offset_x, Int, 0)
    .OP_END_FACTORY_REG(DepthwiseConv2D);
REG_OP(Conv2DTransposeD)
    .INPUT(x, TensorType::ALL())
    .INPUT(filter, TensorType::ALL())
    .OPTIONAL_INPUT(bias, TensorType::ALL())
    .OPTIONAL_INPUT(offset_w, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .REQUIRED_ATTR(input_size, ListInt)
    .REQUIRED_ATTR(strides, ListInt)
    .REQUIRED_ATTR(pads, ListInt)
    .ATTR(dilations, ListInt, {1, 1, 1, 1})
    .ATTR(groups, Int, 1)
    .ATTR(data_format, String, "NHWC")
    .ATTR(output_padding, ListInt, {0, 0, 0, 0})
    .ATTR(offset_x, Int, 0)
    .OP_END_FACTORY_REG(Conv2DTransposeD);
REG_OP(Deconvolution)
    .INPUT(x, TensorType::ALL())
    .INPUT(filter, TensorType::ALL())
    .OPTIONAL_INPUT(bias, TensorType::ALL())
    .OPTIONAL_INPUT(offset_w, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .REQUIRED_ATTR(strides, ListInt)
    .REQUIRED_ATTR(pads, ListInt)
    .ATTR(dilations, ListInt, {1, 1, 1, 1})
    .ATTR(groups, Int, 1)
    .ATTR(data_format, String, "NCHW")
    .ATTR(offset_x, Int, 0)
    .OP_END_FACTORY_REG(Deconvolution);
REG_OP(Conv2DTranspose)
    .INPUT(input_size, TensorType::ALL())
    .INPUT(x, TensorType::ALL())
    .INPUT(filter, TensorType::ALL())
    .OPTIONAL_INPUT(bias, TensorType::ALL())
    .OPTIONAL_INPUT(offset_w, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .REQUIRED_ATTR(strides, ListInt)
    .REQUIRED_ATTR(pads, ListInt)
    .ATTR(dilations, ListInt, {1, 1, 1, 1})
    .ATTR(groups, Int, 1)
    .ATTR(data_format, String, "NHWC")
    .ATTR(output_padding, ListInt, {0, 0, 0, 0})
    .ATTR(offset_x, Int, 0)
    .OP_END_FACTORY_REG(Conv2DTranspose);

} // namespace ge

#endif
