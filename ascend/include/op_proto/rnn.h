/*===-- op_proto/rnn.h -------------------------------------------*- C++ -*-===*
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *===--------------------------------------------------------------------------===*/
#ifndef OPENATC_OP_PROTO_RNN_H
#define OPENATC_OP_PROTO_RNN_H

#include "graph/operator_reg.h"

namespace ge {

REG_OP(DynamicRNN)
    .INPUT(x, TensorType::ALL())
    .INPUT(w, TensorType::ALL())
    .INPUT(b, TensorType::ALL())
    .OPTIONAL_INPUT(seq_length, TensorType::ALL())
    .OPTIONAL_INPUT(init_h, TensorType::ALL())
    .OPTIONAL_INPUT(init_c, TensorType::ALL())
    .OPTIONAL_INPUT(wci, TensorType::ALL())
    .OPTIONAL_INPUT(wcf, TensorType::ALL())
    .OPTIONAL_INPUT(wco, TensorType::ALL())
    .OPTIONAL_INPUT(mask, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .OUTPUT(output_h, TensorType::ALL())
    .OUTPUT(output_c, TensorType::ALL())
    .OUTPUT(i, TensorType::ALL())
    .OUTPUT(j, TensorType::ALL())
    .OUTPUT(f, TensorType::ALL())
    .OUTPUT(o, TensorType::ALL())
    .OUTPUT(tanhc, TensorType::ALL())
    .ATTR(cell_type, String, "LSTM")
    .ATTR(direction, String, "UNIDIRECTIONAL")
    .ATTR(cell_depth, Int, 1)
    .ATTR(use_peephole, Bool, false)
    .ATTR(keep_prob, Float, 1.0f)
    .ATTR(cell_clip, Float, -1.0f)
    .ATTR(num_proj, Int, 0)
    .ATTR(time_major, Bool, true)
    .ATTR(activation, String, "tanh")
    .ATTR(forget_bias, Float, 0.0f)
    .ATTR(gate_order, String, "ijfo")
    .ATTR(is_training, Bool, true)
    .OP_END_FACTORY_REG(DynamicRNN);

} // namespace ge

#endif
