/*===-- op_proto/nn_other.h --------------------------------------*- C++ -*-===*
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *===--------------------------------------------------------------------------===*/
#ifndef OPENATC_OP_PROTO_NN_OTHER_H
#define OPENATC_OP_PROTO_NN_OTHER_H

#include "graph/operator_reg.h"

namespace ge {

REG_OP(ApplyRotaryPosEmb)
    .INPUT(query, TensorType::ALL())
    .INPUT(key, TensorType::ALL())
    .INPUT(cos, TensorType::ALL())
    .INPUT(sin, TensorType::ALL())
    .OUTPUT(query, TensorType::ALL())
    .OUTPUT(key, TensorType::ALL())
    .ATTR(layout, Int, 1)
    .ATTR(rotary_mode, String, "half")
    .OP_END_FACTORY_REG(ApplyRotaryPosEmb);

} // namespace ge

#endif
