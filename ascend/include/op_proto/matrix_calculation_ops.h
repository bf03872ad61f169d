/*===-- op_proto/matrix_calculation_ops.h ------------------------*- C++ -*-===*
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *===--------------------------------------------------------------------------===*/
#ifndef OPENATC_OP_PROTO_MATRIX_CALCULATION_OPS_H
#define OPENATC_OP_PROTO_MATRIX_CALCULATION_OPS_H

#include "graph/operator_reg.h"

namespace ge {

REG_OP(MatMul)
    .INPUT(x1, TensorType::ALL())
    .INPUT(x2, TensorType::ALL())
    .OPTIONAL_INPUT(bias, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .ATTR(transpose_x1, Bool, false)
    .ATTR(transpose_x2, Bool, false)
    .OP_END_FACTORY_REG(MatMul);
REG_OP(MatMulV2)
    .INPUT(x1, TensorType::ALL())
    .INPUT(x2, TensorType::ALL())
    .OPTIONAL_INPUT(bias, TensorType::ALL())
    .OPTIONAL_INPUT(offset_w, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .ATTR(transpose_x1, Bool, false)
    .ATTR(transpose_x2, Bool, false)
    .ATTR(offset_x, Int, 0)
    .OP_END_FACTORY_REG(MatMulV2);
REG_OP(BatchMatMul)
    .INPUT(x1, TensorType::ALL())
    .INPUT(x2, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .ATTR(adj_x1, Bool, false)
    .ATTR(adj_x2, Bool, false)
    .OP_END_FACTORY_REG(BatchMatMul);
REG_OP(MV)
    .INPUT(x1, TensorType::ALL())
    .INPUT(x2, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .OP_END_FACTORY_REG(MV);
REG_OP(BatchMatMulV2)
    .INPUT(x1, TensorType::ALL())
    .INPUT(x2, TensorType::ALL())
    .OPTIONAL_INPUT(bias, TensorType::ALL())
    .OPTIONAL_INPUT(offset_w, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .ATTR(adj_x1, Bool, false)
    .ATTR(adj_x2, Bool, false)
    .ATTR(offset_x, Int, 0)
    .OP_END_FACTORY_REG(BatchMatMulV2);
REG_OP(GEMM)
    .INPUT(a, TensorType::ALL())
    .INPUT(b, TensorType::ALL())
    .INPUT(c, TensorType::ALL())
    .INPUT(alpha, TensorType::ALL())
    .INPUT(beta, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .ATTR(transpose_a, Bool, false)
    .ATTR(transpose_b, Bool, false)
    .OP_END_FACTORY_REG(GEMM);
REG_OP(FullyConnection)
    .INPUT(x, TensorType::ALL())
    .INPUT(w, TensorType::ALL())
    .OPTIONAL_INPUT(b, TensorType::ALL())
    .OPTIONAL_INPUT(offset_w, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .REQUIRED_ATTR(num_output, Int)
    .ATTR(transpose, Bool, false)
    .ATTR(axis, Int, 1)
    .ATTR(offset_x, Int, 0)
    .OP_END_FACTORY_REG(FullyConnection);
REG_OP(BatchMatMulV3)
    .INPUT(x1, TensorType::ALL())
    .INPUT(x2, TensorType::ALL())
    .OPTIONAL_INPUT(bias, TensorType::ALL())
    .OPTIONAL_INPUT(offset_w, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .ATTR(adj_x1, Bool, false)
    .ATTR(adj_x2, Bool, false)
    .ATTR(offset_x, Int, 0)
    .OP_END_FACTORY_REG(BatchMatMulV3);
REG_OP(Ger)
    .INPUT(x1, TensorType::ALL())
    .INPUT(x2, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .OP_END_FACTORY_REG(Ger);
REG_OP(L2Loss).INPUT(x, TensorType::ALL()).OUTPUT(y, TensorType::ALL()).OP_END_FACTORY_REG(L2Loss);
REG_OP(MatMulV3)
    .INPUT(x1, TensorType::ALL())
    .INPUT(x2, TensorType::ALL())
    .OPTIONAL_INPUT(bias, TensorType::ALL())
    .OPTIONAL_INPUT(offset_w, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .ATTR(transpose_x1, Bool, false)
    .ATTR(transpose_x2, Bool, false)
    .ATTR(offset_x, Int, 0)
    .OP_END_FACTORY_REG(MatMulV3);
REG_OP(ScatterNdAdd)
    .INPUT(var, TensorType::ALL())
    .INPUT(indices, TensorType::ALL())
    .INPUT(updates, TensorType::ALL())
    .OUTPUT(var, TensorType::ALL())
    .ATTR(use_locking, Bool, false)
    .OP_END_FACTORY_REG(ScatterNdAdd);
REG_OP(ScatterNdUpdate)
    .INPUT(var, TensorType::ALL())
    .INPUT(indices, TensorType::ALL())
    .INPUT(updates, TensorType::ALL())
    .OUTPUT(var, TensorType::ALL())
    .ATTR(use_locking, Bool, false)
    .OP_END_FACTORY_REG(ScatterNdUpdate);

} // namespace ge

#endif
