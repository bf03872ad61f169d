/*===-- op_proto/transformation_ops.h ----------------------------*- C++ -*-===*
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *===--------------------------------------------------------------------------===*/
#ifndef OPENATC_OP_PROTO_TRANSFORMATION_OPS_H
#define OPENATC_OP_PROTO_TRANSFORMATION_OPS_H

#include "graph/operator_reg.h"

namespace ge {

REG_OP(Transpose)
    .INPUT(x, TensorType::ALL())
    .INPUT(perm, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .OP_END_FACTORY_REG(Transpose);
REG_OP(TransposeD)
    .INPUT(x, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .REQUIRED_ATTR(perm, ListInt)
    .OP_END_FACTORY_REG(TransposeD);
REG_OP(Permute)
    .INPUT(x, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .ATTR(order, ListInt, {0})
    .OP_END_FACTORY_REG(Permute);
REG_OP(Flatten)
    .INPUT(x, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .ATTR(axis, Int, 1)
    .OP_END_FACTORY_REG(Flatten);
REG_OP(FlattenV2)
    .INPUT(x, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .ATTR(axis, Int, 1)
    .ATTR(end_axis, Int, -1)
    .OP_END_FACTORY_REG(FlattenV2);
REG_OP(DepthToSpace)
    .INPUT(x, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .REQUIRED_ATTR(block_size, Int)
    .ATTR(mode, String, "DCR")
    .ATTR(data_format, String, "NHWC")
    .OP_END_FACTORY_REG(DepthToSpace);
REG_OP(SpaceToDepth)
    .INPUT(x, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .REQUIRED_ATTR(block_size, Int)
    .ATTR(data_format, String, "NHWC")
    .OP_END_FACTORY_REG(SpaceToDepth);
REG_OP(TransData)
    .INPUT(src, TensorType::ALL())
    .OUTPUT(dst, TensorType::ALL())
    .REQUIRED_ATTR(src_format, String)
    .REQUIRED_ATTR(dst_format, String)
    .ATTR(groups, Int, 1)
    .OP_END_FACTORY_REG(TransData);
REG_OP(ConfusionTransposeD)
    .INPUT(x, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .REQUIRED_ATTR(perm, ListInt)
    .REQUIRED_ATTR(shape, ListInt)
    .REQUIRED_ATTR(transpose_first, Bool)
    .OP_END_FACTORY_REG(ConfusionTransposeD);

} // namespace ge

#endif
