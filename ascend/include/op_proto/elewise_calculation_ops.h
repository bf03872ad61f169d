/*===-- op_proto/elewise_calculation_ops.h -----------------------*- C++ -*-===*
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *===--------------------------------------------------------------------------===*/
#ifndef OPENATC_OP_PROTO_ELEWISE_CALCULATION_OPS_H
#define OPENATC_OP_PROTO_ELEWISE_CALCULATION_OPS_H

#include "graph/operator_reg.h"

namespace ge {

REG_OP(Add)
    .INPUT(x1, TensorType::ALL())
    .INPUT(x2, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .OP_END_FACTORY_REG(Add);
REG_OP(Sub)
    .INPUT(x1, TensorType::ALL())
    .INPUT(x2, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .OP_END_FACTORY_REG(Sub);
REG_OP(Mul)
    .INPUT(x1, TensorType::ALL())
    .INPUT(x2, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .OP_END_FACTORY_REG(Mul);
REG_OP(Div)
    .INPUT(x1, TensorType::ALL())
    .INPUT(x2, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .OP_END_FACTORY_REG(Div);
REG_OP(RealDiv)
    .INPUT(x1, TensorType::ALL())
    .INPUT(x2, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .OP_END_FACTORY_REG(RealDiv);
REG_OP(Maximum)
    .INPUT(x1, TensorType::ALL())
    .INPUT(x2, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .OP_END_FACTORY_REG(Maximum);
REG_OP(Minimum)
    .INPUT(x1, TensorType::ALL())
    .INPUT(x2, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .OP_END_FACTORY_REG(Minimum);
REG_OP(Pow)
    .INPUT(x1, TensorType::ALL())
    .INPUT(x2, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .OP_END_FACTORY_REG(Pow);
REG_OP(FloorDiv)
    .INPUT(x1, TensorType::ALL())
    .INPUT(x2, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .OP_END_FACTORY_REG(FloorDiv);
REG_OP(FloorMod)
    .INPUT(x1, TensorType::ALL())
    .INPUT(x2, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .OP_END_FACTORY_REG(FloorMod);
REG_OP(Mod)
    .INPUT(x1, TensorType::ALL())
    .INPUT(x2, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .OP_END_FACTORY_REG(Mod);
REG_OP(SquaredDifference)
    .INPUT(x1, TensorType::ALL())
    .INPUT(x2, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .OP_END_FACTORY_REG(SquaredDifference);
REG_OP(Greater)
    .INPUT(x1, TensorType::ALL())
    .INPUT(x2, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .OP_END_FACTORY_REG(Greater);
REG_OP(GreaterEqual)
    .INPUT(x1, TensorType::ALL())
    .INPUT(x2, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .OP_END_FACTORY_REG(GreaterEqual);
REG_OP(Less)
    .INPUT(x1, TensorType::ALL())
    .INPUT(x2, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .OP_END_FACTORY_REG(Less);
REG_OP(LessEqual)
    .INPUT(x1, TensorType::ALL())
    .INPUT(x2, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .OP_END_FACTORY_REG(LessEqual);
REG_OP(Equal)
    .INPUT(x1, TensorType::ALL())
    .INPUT(x2, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .OP_END_FACTORY_REG(Equal);
REG_OP(NotEqual)
    .INPUT(x1, TensorType::ALL())
    .INPUT(x2, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .OP_END_FACTORY_REG(NotEqual);
REG_OP(LogicalAnd)
    .INPUT(x1, TensorType::ALL())
    .INPUT(x2, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .OP_END_FACTORY_REG(LogicalAnd);
REG_OP(LogicalOr)
    .INPUT(x1, TensorType::ALL())
    .INPUT(x2, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .OP_END_FACTORY_REG(LogicalOr);
REG_OP(Abs).INPUT(x, TensorType::ALL()).OUTPUT(y, TensorType::ALL()).OP_END_FACTORY_REG(Abs);
REG_OP(Neg).INPUT(x, TensorType::ALL()).OUTPUT(y, TensorType::ALL()).OP_END_FACTORY_REG(Neg);
REG_OP(Exp).INPUT(x, TensorType::ALL()).OUTPUT(y, TensorType::ALL()).OP_END_FACTORY_REG(Exp);
REG_OP(Expm1).INPUT(x, TensorType::ALL()).OUTPUT(y, TensorType::ALL()).OP_END_FACTORY_REG(Expm1);
REG_OP(Log).INPUT(x, TensorType::ALL()).OUTPUT(y, TensorType::ALL()).OP_END_FACTORY_REG(Log);
REG_OP(Log1p).INPUT(x, TensorType::ALL()).OUTPUT(y, TensorType::ALL()).OP_END_FACTORY_REG(Log1p);
REG_OP(Sqrt).INPUT(x, TensorType::ALL()).OUTPUT(y, TensorType::ALL()).OP_END_FACTORY_REG(Sqrt);
REG_OP(Rsqrt).INPUT(x, TensorType::ALL()).OUTPUT(y, TensorType::ALL()).OP_END_FACTORY_REG(Rsqrt);
REG_OP(Square).INPUT(x, TensorType::ALL()).OUTPUT(y, TensorType::ALL()).OP_END_FACTORY_REG(Square);
REG_OP(Sign).INPUT(x, TensorType::ALL()).OUTPUT(y, TensorType::ALL()).OP_END_FACTORY_REG(Sign);
REG_OP(Floor).INPUT(x, TensorType::ALL()).OUTPUT(y, TensorType::ALL()).OP_END_FACTORY_REG(Floor);
REG_OP(Ceil).INPUT(x, TensorType::ALL()).OUTPUT(y, TensorType::ALL()).OP_END_FACTORY_REG(Ceil);
REG_OP(Round).INPUT(x, TensorType::ALL()).OUTPUT(y, TensorType::ALL()).OP_END_FACTORY_REG(Round);
REG_OP(Rint).INPUT(x, TensorType::ALL()).OUTPUT(y, TensorType::ALL()).OP_END_FACTORY_REG(Rint);
REG_OP(Reciprocal)
    .INPUT(x, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .OP_END_FACTORY_REG(Reciprocal);
REG_OP(Sin).INPUT(x, TensorType::ALL()).OUTPUT(y, TensorType::ALL()).OP_END_FACTORY_REG(Sin);
REG_OP(Cos).INPUT(x, TensorType::ALL()).OUTPUT(y, TensorType::ALL()).OP_END_FACTORY_REG(Cos);
REG_OP(Tan).INPUT(x, TensorType::ALL()).OUTPUT(y, TensorType::ALL()).OP_END_FACTORY_REG(Tan);
REG_OP(Asin).INPUT(x, TensorType::ALL()).OUTPUT(y, TensorType::ALL()).OP_END_FACTORY_REG(Asin);
REG_OP(Acos).INPUT(x, TensorType::ALL()).OUTPUT(y, TensorType::ALL()).OP_END_FACTORY_REG(Acos);
REG_OP(Atan).INPUT(x, TensorType::ALL()).OUTPUT(y, TensorType::ALL()).OP_END_FACTORY_REG(Atan);
REG_OP(Sinh).INPUT(x, TensorType::ALL()).OUTPUT(y, TensorType::ALL()).OP_END_FACTORY_REG(Sinh);
REG_OP(Cosh).INPUT(x, TensorType::ALL()).OUTPUT(y, TensorType::ALL()).OP_END_FACTORY_REG(Cosh);
REG_OP(Asinh).INPUT(x, TensorType::ALL()).OUTPUT(y, TensorType::ALL()).OP_END_FACTORY_REG(Asinh);
REG_OP(Acosh).INPUT(x, TensorType::ALL()).OUTPUT(y, TensorType::ALL()).OP_END_FACTORY_REG(Acosh);
REG_OP(Atanh).INPUT(x, TensorType::ALL()).OUTPUT(y, TensorType::ALL()).OP_END_FACTORY_REG(Atanh);
REG_OP(Erf).INPUT(x, TensorType::ALL()).OUTPUT(y, TensorType::ALL()).OP_END_FACTORY_REG(Erf);
REG_OP(BesselI0e)
    .INPUT(x, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .OP_END_FACTORY_REG(BesselI0e);
REG_OP(LogicalNot)
    .INPUT(x, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .OP_END_FACTORY_REG(LogicalNot);
REG_OP(Cast)
    .INPUT(x, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .REQUIRED_ATTR(dst_type, Int)
    .OP_END_FACTORY_REG(Cast);
REG_OP(AddN)
    .DYNAMIC_INPUT(x, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .REQUIRED_ATTR(N, Int)
    .OP_END_FACTORY_REG(AddN);
REG_OP(BiasAdd)
    .INPUT(x, TensorType::ALL())
    .INPUT(bias, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .ATTR(data_format, String, "NHWC")
    .OP_END_FACTORY_REG(BiasAdd);
REG_OP(ClipByValue)
    .INPUT(x, TensorType::ALL())
    .INPUT(clip_value_min, TensorType::ALL())
    .INPUT(clip_value_max, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .OP_END_FACTORY_REG(ClipByValue);
REG_OP(Muls)
    .INPUT(x, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .REQUIRED_ATTR(value, Float)
    .OP_END_FACTORY_REG(Muls);
REG_OP(Adds)
    .INPUT(x, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .REQUIRED_ATTR(value, Float)
    .OP_END_FACTORY_REG(Adds);
REG_OP(Axpy)
    .INPUT(x1, TensorType::ALL())
    .INPUT(x2, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .REQUIRED_ATTR(alpha, Float)
    .OP_END_FACTORY_REG(Axpy);
REG_OP(Power)
    .INPUT(x, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .ATTR(power, Float, 1.0f)
    .ATTR(scale, Float, 1.0f)
    .ATTR(shift, Float, 0.0f)
    .OP_END_FACTORY_REG(Power);
REG_OP(Eltwise)
    .DYNAMIC_INPUT(x, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .REQUIRED_ATTR(N, Int)
    .ATTR(mode, Int, 1)
    .ATTR(coeff, ListFloat, {})
    .OP_END_FACTORY_REG(Eltwise);
REG_OP(ArgMaxV2)
    .INPUT(x, TensorType::ALL())
    .INPUT(dimension, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .ATTR(dtype, Type, DT_INT64)
    .OP_END_FACTORY_REG(ArgMaxV2);
REG_OP(ArgMaxD)
    .INPUT(x, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .REQUIRED_ATTR(dimension, Int)
    .ATTR(dtype, Type, DT_INT64)
    .OP_END_FACTORY_REG(ArgMaxD);
REG_OP(ArgMin)
    .INPUT(x, TensorType::ALL())
    .INPUT(dimension, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .ATTR(dtype, Type, DT_INT64)
    .OP_END_FACTORY_REG(ArgMin);
REG_OP(ArgMinD)
    .INPUT(x, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .REQUIRED_ATTR(dimension, Int)
    .ATTR(dtype, Type, DT_INT64)
    .OP_END_FACTORY_REG(ArgMinD);
REG_OP(Addcmul)
    .INPUT(input_data, TensorType::ALL())
    .INPUT(x1, TensorType::ALL())
    .INPUT(x2, TensorType::ALL())
    .INPUT(value, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .OP_END_FACTORY_REG(Addcmul);
REG_OP(Addcdiv)
    .INPUT(input_data, TensorType::ALL())
    .INPUT(x1, TensorType::ALL())
    .INPUT(x2, TensorType::ALL())
    .INPUT(value, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .OP_END_FACTORY_REG(Addcdiv);
REG_OP(Lerp)
    .INPUT(start, TensorType::ALL())
    .INPUT(end, TensorType::ALL())
    .INPUT(weight, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .OP_END_FACTORY_REG(Lerp);
REG_OP(AbsGrad)
    .INPUT(y, TensorType::ALL())
    .INPUT(dy, TensorType::ALL())
    .OUTPUT(z, TensorType::ALL())
    .OP_END_FACTORY_REG(AbsGrad);
REG_OP(AccumulateNV2)
    .DYNAMIC_INPUT(x, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .REQUIRED_ATTR(N, Int)
    .OP_END_FACTORY_REG(AccumulateNV2);
REG_OP(AcosGrad)
    .INPUT(y, TensorType::ALL())
    .INPUT(dy, TensorType::ALL())
    .OUTPUT(z, TensorType::ALL())
    .OP_END_FACTORY_REG(AcosGrad);
REG_OP(AcoshGrad)
    .INPUT(y, TensorType::ALL())
    .INPUT(dy, TensorType::ALL())
    .OUTPUT(z, TensorType::ALL())
    .OP_END_FACTORY_REG(AcoshGrad);
REG_OP(AddV2)
    .INPUT(x1, TensorType::ALL())
    .INPUT(x2, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .OP_END_FACTORY_REG(AddV2);
REG_OP(AsinGrad)
    .INPUT(y, TensorType::ALL())
    .INPUT(dy, TensorType::ALL())
    .OUTPUT(z, TensorType::ALL())
    .OP_END_FACTORY_REG(AsinGrad);
REG_OP(AsinhGrad)
    .INPUT(y, TensorType::ALL())
    .INPUT(dy, TensorType::ALL())
    .OUTPUT(z, TensorType::ALL())
    .OP_END_FACTORY_REG(AsinhGrad);
REG_OP(Atan2)
    .INPUT(x1, TensorType::ALL())
    .INPUT(x2, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .OP_END_FACTORY_REG(Atan2);
REG_OP(AtanGrad)
    .INPUT(y, TensorType::ALL())
    .INPUT(dy, TensorType::ALL())
    .OUTPUT(z, TensorType::ALL())
    .OP_END_FACTORY_REG(AtanGrad);
REG_OP(ArgMaxWithValue)
    .INPUT(x, TensorType::ALL())
    .OUTPUT(indice, TensorType::ALL())
    .OUTPUT(values, TensorType::ALL())
    .REQUIRED_ATTR(dimension, Int)
    .ATTR(keep_dims, Bool, false)
    .OP_END_FACTORY_REG(ArgMaxWithValue);
REG_OP(ArgMinWithValue)
    .INPUT(x, TensorType::ALL())
    .OUTPUT(indice, TensorType::ALL())
    .OUTPUT(values, TensorType::ALL())
    .REQUIRED_ATTR(dimension, Int)
    .ATTR(keep_dims, Bool, false)
    .OP_END_FACTORY_REG(ArgMinWithValue);
REG_OP(DivNoNan)
    .INPUT(x1, TensorType::ALL())
    .INPUT(x2, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .OP_END_FACTORY_REG(DivNoNan);
REG_OP(MulNoNan)
    .INPUT(x1, TensorType::ALL())
    .INPUT(x2, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .OP_END_FACTORY_REG(MulNoNan);
REG_OP(Erfc).INPUT(x, TensorType::ALL()).OUTPUT(y, TensorType::ALL()).OP_END_FACTORY_REG(Erfc);
REG_OP(Fills)
    .INPUT(x, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .REQUIRED_ATTR(value, Float)
    .OP_END_FACTORY_REG(Fills);
REG_OP(FusedMulAdd)
    .INPUT(x1, TensorType::ALL())
    .INPUT(x2, TensorType::ALL())
    .INPUT(x3, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .OP_END_FACTORY_REG(FusedMulAdd);
REG_OP(FusedMulAddN)
    .INPUT(x1, TensorType::ALL())
    .INPUT(x2, TensorType::ALL())
    .INPUT(x3, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .OP_END_FACTORY_REG(FusedMulAddN);
REG_OP(Inv).INPUT(x, TensorType::ALL()).OUTPUT(y, TensorType::ALL()).OP_END_FACTORY_REG(Inv);
REG_OP(InvGrad)
    .INPUT(x, TensorType::ALL())
    .INPUT(grad, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .OP_END_FACTORY_REG(InvGrad);
REG_OP(Invert).INPUT(x, TensorType::ALL()).OUTPUT(y, TensorType::ALL()).OP_END_FACTORY_REG(Invert);
REG_OP(IsNan).INPUT(x, TensorType::ALL()).OUTPUT(y, TensorType::ALL()).OP_END_FACTORY_REG(IsNan);
REG_OP(LogicalXor)
    .INPUT(x1, TensorType::ALL())
    .INPUT(x2, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .OP_END_FACTORY_REG(LogicalXor);
REG_OP(ReciprocalGrad)
    .INPUT(y, TensorType::ALL())
    .INPUT(dy, TensorType::ALL())
    .OUTPUT(z, TensorType::ALL())
    .OP_END_FACTORY_REG(ReciprocalGrad);
REG_OP(RsqrtGrad)
    .INPUT(y, TensorType::ALL())
    .INPUT(dy, TensorType::ALL())
    .OUTPUT(z, TensorType::ALL())
    .OP_END_FACTORY_REG(RsqrtGrad);
REG_OP(SqrtGrad)
    .INPUT(y, TensorType::ALL())
    .INPUT(dy, TensorType::ALL())
    .OUTPUT(z, TensorType::ALL())
    .OP_END_FACTORY_REG(SqrtGrad);
REG_OP(SquareSumAll)
    .INPUT(x1, TensorType::ALL())
    .INPUT(x2, TensorType::ALL())
    .OUTPUT(y1, TensorType::ALL())
    .OUTPUT(y2, TensorType::ALL())
    .OP_END_FACTORY_REG(SquareSumAll);
REG_OP(SquareSumV1)
    .INPUT(x, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .REQUIRED_ATTR(axis, ListInt)
    .ATTR(keep_dims, Bool, false)
    .OP_END_FACTORY_REG(SquareSumV1);
REG_OP(Trunc)
    .INPUT(input_x, TensorType::ALL())
    .OUTPUT(output_y, TensorType::ALL())
    .OP_END_FACTORY_REG(Trunc);
REG_OP(TruncateDiv)
    .INPUT(x1, TensorType::ALL())
    .INPUT(x2, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .OP_END_FACTORY_REG(TruncateDiv);
REG_OP(TruncateMod)
    .INPUT(x1, TensorType::ALL())
    .INPUT(x2, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .OP_END_FACTORY_REG(TruncateMod);
REG_OP(Xdivy)
    .INPUT(x1, TensorType::ALL())
    .INPUT(x2, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .OP_END_FACTORY_REG(Xdivy);
REG_OP(Xlogy)
    .INPUT(x1, TensorType::ALL())
    .INPUT(x2, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .OP_END_FACTORY_REG(Xlogy);

} // namespace ge

#endif
