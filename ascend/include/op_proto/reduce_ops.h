/*===-- op_proto/reduce_ops.h ------------------------------------*- C++ -*-===*
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *===--------------------------------------------------------------------------===*/
#ifndef OPENATC_OP_PROTO_REDUCE_OPS_H
#define OPENATC_OP_PROTO_REDUCE_OPS_H

#include "graph/operator_reg.h"

namespace ge {

REG_OP(ReduceSum)
    .INPUT(x, TensorType::ALL())
    .INPUT(axes, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .ATTR(keep_dims, Bool, false)
    .OP_END_FACTORY_REG(ReduceSum);
REG_OP(ReduceSumD)
    .INPUT(x, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .REQUIRED_ATTR(axes, ListInt)
    .ATTR(keep_dims, Bool, false)
    .OP_END_FACTORY_REG(ReduceSumD);
REG_OP(ReduceMean)
    .INPUT(x, TensorType::ALL())
    .INPUT(axes, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .ATTR(keep_dims, Bool, false)
    .OP_END_FACTORY_REG(ReduceMean);
REG_OP(ReduceMeanD)
    .INPUT(x, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .REQUIRED_ATTR(axes, ListInt)
    .ATTR(keep_dims, Bool, false)
    .OP_END_FACTORY_REG(ReduceMeanD);
REG_OP(ReduceMax)
    .INPUT(x, TensorType::ALL())
    .INPUT(axes, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .ATTR(keep_dims, Bool, false)
    .OP_END_FACTORY_REG(ReduceMax);
REG_OP(ReduceMaxD)
    .INPUT(x, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .REQUIRED_ATTR(axes, ListInt)
    .ATTR(keep_dims, Bool, false)
    .OP_END_FACTORY_REG(ReduceMaxD);
REG_OP(ReduceMin)
    .INPUT(x, TensorType::ALL())
    .INPUT(axes, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .ATTR(keep_dims, Bool, false)
    .OP_END_FACTORY_REG(ReduceMin);
REG_OP(ReduceMinD)
    .INPUT(x, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .REQUIRED_ATTR(axes, ListInt)
    .ATTR(keep_dims, Bool, false)
    .OP_END_FACTORY_REG(ReduceMinD);
REG_OP(ReduceProd)
    .INPUT(x, TensorType::ALL())
    .INPUT(axes, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .ATTR(keep_dims, Bool, false)
    .OP_END_FACTORY_REG(ReduceProd);
REG_OP(ReduceProdD)
    .INPUT(x, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .REQUIRED_ATTR(axes, ListInt)
    .ATTR(keep_dims, Bool, false)
    .OP_END_FACTORY_REG(ReduceProdD);
REG_OP(ReduceAll)
    .INPUT(x, TensorType::ALL())
    .INPUT(axes, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .ATTR(keep_dims, Bool, false)
    .OP_END_FACTORY_REG(ReduceAll);
REG_OP(ReduceAllD)
    .INPUT(x, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .REQUIRED_ATTR(axes, ListInt)
    .ATTR(keep_dims, Bool, false)
    .OP_END_FACTORY_REG(ReduceAllD);
REG_OP(ReduceAny)
    .INPUT(x, TensorType::ALL())
    .INPUT(axes, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .ATTR(keep_dims, Bool, false)
    .OP_END_FACTORY_REG(ReduceAny);
REG_OP(ReduceAnyD)
    .INPUT(x, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .REQUIRED_ATTR(axes, ListInt)
    .ATTR(keep_dims, Bool, false)
    .OP_END_FACTORY_REG(ReduceAnyD);
REG_OP(BiasAddGrad)
    .INPUT(x, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .ATTR(data_format, String, "NHWC")
    .OP_END_FACTORY_REG(BiasAddGrad);
REG_OP(ReduceEuclideanNorm)
    .INPUT(x, TensorType::ALL())
    .INPUT(axes, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .ATTR(keep_dims, Bool, false)
    .OP_END_FACTORY_REG(ReduceEuclideanNorm);
REG_OP(ReduceEuclideanNormD)
    .INPUT(x, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .REQUIRED_ATTR(axes, ListInt)
    .ATTR(keep_dims, Bool, false)
    .OP_END_FACTORY_REG(ReduceEuclideanNormD);
REG_OP(ReduceMeanVariance)
    .INPUT(x, TensorType::ALL())
    .OUTPUT(mean, TensorType::ALL())
    .OUTPUT(variance, TensorType::ALL())
    .ATTR(axes, ListInt, {})
    .ATTR(keep_dims, Bool, true)
    .OP_END_FACTORY_REG(ReduceMeanVariance);

} // namespace ge

#endif
