/*===-- op_proto/split_combination_ops.h -------------------------*- C++ -*-===*
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *===--------------------------------------------------------------------------===*/
#ifndef OPENATC_OP_PROTO_SPLIT_COMBINATION_OPS_H
#define OPENATC_OP_PROTO_SPLIT_COMBINATION_OPS_H

#include "graph/operator_reg.h"

namespace ge {

REG_OP(ConcatD)
    .DYNAMIC_INPUT(x, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .REQUIRED_ATTR(concat_dim, Int)
    .ATTR(N, Int, 1)
    .OP_END_FACTORY_REG(ConcatD);
REG_OP(Concat)
    .INPUT(concat_dim, TensorType::ALL())
    .DYNAMIC_INPUT(x, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .ATTR(N, Int, 1)
    .OP_END_FACTORY_REG(Concat);
REG_OP(ConcatV2D)
    .DYNAMIC_INPUT(x, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .REQUIRED_ATTR(concat_dim, Int)
    .ATTR(N, Int, 1)
    .OP_END_FACTORY_REG(ConcatV2D);
REG_OP(ConcatV2)
    .DYNAMIC_INPUT(x, TensorType::ALL())
    .INPUT(concat_dim, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .ATTR(N, Int, 1)
    .OP_END_FACTORY_REG(ConcatV2);
REG_OP(Pack)
    .DYNAMIC_INPUT(x, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .ATTR(axis, Int, 0)
    .REQUIRED_ATTR(N, Int)
    .OP_END_FACTORY_REG(Pack);
REG_OP(Split)
    .INPUT(split_dim, TensorType::ALL())
    .INPUT(x, TensorType::ALL())
    .DYNAMIC_OUTPUT(y, TensorType::ALL())
    .REQUIRED_ATTR(num_split, Int)
    .OP_END_FACTORY_REG(Split);
REG_OP(SplitD)
    .INPUT(x, TensorType::ALL())
    .DYNAMIC_OUTPUT(y, TensorType::ALL())
    .REQUIRED_ATTR(split_dim, Int)
    .REQUIRED_ATTR(num_split, Int)
    .OP_END_FACTORY_REG(SplitD);
REG_OP(SplitV)
    .INPUT(x, TensorType::ALL())
    .INPUT(size_splits, TensorType::ALL())
    .INPUT(split_dim, TensorType::ALL())
    .DYNAMIC_OUTPUT(y, TensorType::ALL())
    .REQUIRED_ATTR(num_split, Int)
    .OP_END_FACTORY_REG(SplitV);
REG_OP(SplitVD)
    .INPUT(x, TensorType::ALL())
    .DYNAMIC_OUTPUT(y, TensorType::ALL())
    .REQUIRED_ATTR(size_splits, ListInt)
    .REQUIRED_ATTR(split_dim, Int)
    .REQUIRED_ATTR(num_split, Int)
    .OP_END_FACTORY_REG(SplitVD);

} // namespace ge

#endif
