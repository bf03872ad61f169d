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

/* Attention without training. Lists of keys and values have one tensor. */

REG_OP(FusedInferAttentionScore)
    .INPUT(query, TensorType::ALL())
    .DYNAMIC_INPUT(key, TensorType::ALL())
    .DYNAMIC_INPUT(value, TensorType::ALL())
    .OPTIONAL_INPUT(pse_shift, TensorType::ALL())
    .OPTIONAL_INPUT(atten_mask, TensorType::ALL())
    .OPTIONAL_INPUT(actual_seq_lengths, TensorType::ALL())
    .OPTIONAL_INPUT(actual_seq_lengths_kv, TensorType::ALL())
    .OPTIONAL_INPUT(dequant_scale1, TensorType::ALL())
    .OPTIONAL_INPUT(quant_scale1, TensorType::ALL())
    .OPTIONAL_INPUT(dequant_scale2, TensorType::ALL())
    .OPTIONAL_INPUT(quant_scale2, TensorType::ALL())
    .OPTIONAL_INPUT(quant_offset2, TensorType::ALL())
    .OPTIONAL_INPUT(antiquant_scale, TensorType::ALL())
    .OPTIONAL_INPUT(antiquant_offset, TensorType::ALL())
    .OPTIONAL_INPUT(block_table, TensorType::ALL())
    .OPTIONAL_INPUT(query_padding_size, TensorType::ALL())
    .OPTIONAL_INPUT(kv_padding_size, TensorType::ALL())
    .OPTIONAL_INPUT(key_antiquant_scale, TensorType::ALL())
    .OPTIONAL_INPUT(key_antiquant_offset, TensorType::ALL())
    .OPTIONAL_INPUT(value_antiquant_scale, TensorType::ALL())
    .OPTIONAL_INPUT(value_antiquant_offset, TensorType::ALL())
    .OPTIONAL_INPUT(key_shared_prefix, TensorType::ALL())
    .OPTIONAL_INPUT(value_shared_prefix, TensorType::ALL())
    .OPTIONAL_INPUT(actual_shared_prefix_len, TensorType::ALL())
    .OPTIONAL_INPUT(query_rope, TensorType::ALL())
    .OPTIONAL_INPUT(key_rope, TensorType::ALL())
    .OUTPUT(attention_out, TensorType::ALL())
    .OUTPUT(softmax_lse, TensorType::ALL())
    .REQUIRED_ATTR(num_heads, Int)
    .ATTR(scale, Float, 1.0)
    .ATTR(pre_tokens, Int, 2147483647)
    .ATTR(next_tokens, Int, 2147483647)
    .ATTR(input_layout, String, "BSH")
    .ATTR(num_key_value_heads, Int, 0)
    .ATTR(sparse_mode, Int, 0)
    .ATTR(inner_precise, Int, 1)
    .ATTR(block_size, Int, 0)
    .ATTR(softmax_lse_flag, Bool, false)
    .OP_END_FACTORY_REG(FusedInferAttentionScore);

REG_OP(IncreFlashAttention)
    .INPUT(query, TensorType::ALL())
    .DYNAMIC_INPUT(key, TensorType::ALL())
    .DYNAMIC_INPUT(value, TensorType::ALL())
    .OPTIONAL_INPUT(pse_shift, TensorType::ALL())
    .OPTIONAL_INPUT(atten_mask, TensorType::ALL())
    .OPTIONAL_INPUT(actual_seq_lengths, TensorType::ALL())
    .OPTIONAL_INPUT(dequant_scale1, TensorType::ALL())
    .OPTIONAL_INPUT(quant_scale1, TensorType::ALL())
    .OPTIONAL_INPUT(dequant_scale2, TensorType::ALL())
    .OPTIONAL_INPUT(quant_scale2, TensorType::ALL())
    .OPTIONAL_INPUT(quant_offset2, TensorType::ALL())
    .OPTIONAL_INPUT(antiquant_scale, TensorType::ALL())
    .OPTIONAL_INPUT(antiquant_offset, TensorType::ALL())
    .OPTIONAL_INPUT(block_table, TensorType::ALL())
    .OPTIONAL_INPUT(kv_padding_size, TensorType::ALL())
    .OUTPUT(attention_out, TensorType::ALL())
    .REQUIRED_ATTR(num_heads, Int)
    .ATTR(scale_value, Float, 1.0)
    .ATTR(input_layout, String, "BSH")
    .ATTR(num_key_value_heads, Int, 0)
    .ATTR(block_size, Int, 0)
    .ATTR(inner_precise, Int, 1)
    .OP_END_FACTORY_REG(IncreFlashAttention);

REG_OP(PromptFlashAttention)
    .INPUT(query, TensorType::ALL())
    .INPUT(key, TensorType::ALL())
    .INPUT(value, TensorType::ALL())
    .OPTIONAL_INPUT(pse_shift, TensorType::ALL())
    .OPTIONAL_INPUT(atten_mask, TensorType::ALL())
    .OPTIONAL_INPUT(actual_seq_lengths, TensorType::ALL())
    .OPTIONAL_INPUT(actual_seq_lengths_kv, TensorType::ALL())
    .OPTIONAL_INPUT(deq_scale1, TensorType::ALL())
    .OPTIONAL_INPUT(quant_scale1, TensorType::ALL())
    .OPTIONAL_INPUT(deq_scale2, TensorType::ALL())
    .OPTIONAL_INPUT(quant_scale2, TensorType::ALL())
    .OPTIONAL_INPUT(quant_offset2, TensorType::ALL())
    .OUTPUT(attention_out, TensorType::ALL())
    .REQUIRED_ATTR(num_heads, Int)
    .ATTR(scale_value, Float, 1.0)
    .ATTR(pre_tokens, Int, 214748647)
    .ATTR(next_tokens, Int, 0)
    .ATTR(input_layout, String, "BSH")
    .ATTR(num_key_value_heads, Int, 0)
    .ATTR(sparse_mode, Int, 0)
    .ATTR(inner_precise, Int, 1)
    .OP_END_FACTORY_REG(PromptFlashAttention);

} // namespace ge

#endif
