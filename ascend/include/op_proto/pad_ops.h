/*===-- op_proto/pad_ops.h ---------------------------------------*- C++ -*-===*
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *===--------------------------------------------------------------------------===*/
#ifndef OPENATC_OP_PROTO_PAD_OPS_H
#define OPENATC_OP_PROTO_PAD_OPS_H

#include "graph/operator_reg.h"

namespace ge {

REG_OP(Pad)
    .INPUT(x, TensorType::ALL())
    .INPUT(paddings, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .OP_END_FACTORY_REG(Pad);
REG_OP(PadD)
    .INPUT(x, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .REQUIRED_ATTR(paddings, ListListInt)
    .OP_END_FACTORY_REG(PadD);
REG_OP(PadV3)
    .INPUT(x, TensorType::ALL())
    .INPUT(paddings, TensorType::ALL())
    .OPTIONAL_INPUT(constant_values, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .ATTR(mode, String, "constant")
    .ATTR(paddings_contiguous, Bool, true)
    .OP_END_FACTORY_REG(PadV3);
REG_OP(PadV3D)
    .INPUT(x, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .REQUIRED_ATTR(paddings, ListListInt)
    .ATTR(constant_values, Int, 0)
    .ATTR(mode, String, "constant")
    .ATTR(paddings_contiguous, Bool, true)
    .OP_END_FACTORY_REG(PadV3D);
REG_OP(BroadcastToD)
    .INPUT(x, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .REQUIRED_ATTR(shape, ListInt)
    .OP_END_FACTORY_REG(BroadcastToD);
REG_OP(Fill)
    .INPUT(dims, TensorType::ALL())
    .INPUT(value, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .OP_END_FACTORY_REG(Fill);
REG_OP(FillD)
    .INPUT(value, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .REQUIRED_ATTR(dims, ListInt)
    .OP_END_FACTORY_REG(FillD);
REG_OP(LinSpace)
    .INPUT(start, TensorType::ALL())
    .INPUT(stop, TensorType::ALL())
    .INPUT(num, TensorType::ALL())
    .OUTPUT(output, TensorType::ALL())
    .OP_END_FACTORY_REG(LinSpace);
REG_OP(LinSpaceD)
    .INPUT(start, TensorType::ALL())
    .INPUT(stop, TensorType::ALL())
    .OUTPUT(output, TensorType::ALL())
    .REQUIRED_ATTR(num, Int)
    .OP_END_FACTORY_REG(LinSpaceD);

} // namespace ge

#endif
