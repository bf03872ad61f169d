/*===-- op_proto/selection_ops.h ---------------------------------*- C++ -*-===*
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *===--------------------------------------------------------------------------===*/
#ifndef OPENATC_OP_PROTO_SELECTION_OPS_H
#define OPENATC_OP_PROTO_SELECTION_OPS_H

#include "graph/operator_reg.h"

namespace ge {

REG_OP(Slice)
    .INPUT(x, TensorType::ALL())
    .INPUT(offsets, TensorType::ALL())
    .INPUT(size, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .OP_END_FACTORY_REG(Slice);
REG_OP(SliceD)
    .INPUT(x, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .REQUIRED_ATTR(offsets, ListInt)
    .REQUIRED_ATTR(size, ListInt)
    .OP_END_FACTORY_REG(SliceD);
REG_OP(StridedSlice)
    .INPUT(x, TensorType::ALL())
    .INPUT(begin, TensorType::ALL())
    .INPUT(end, TensorType::ALL())
    .INPUT(strides, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .ATTR(begin_mask, Int, 0)
    .ATTR(end_mask, Int, 0)
    .ATTR(ellipsis_mask, Int, 0)
    .ATTR(new_axis_mask, Int, 0)
    .ATTR(shrink_axis_mask, Int, 0)
    .OP_END_FACTORY_REG(StridedSlice);
REG_OP(StridedSliceD)
    .INPUT(x, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .REQUIRED_ATTR(begin, ListInt)
    .REQUIRED_ATTR(end, ListInt)
    .REQUIRED_ATTR(strides, ListInt)
    .ATTR(begin_mask, Int, 0)
    .ATTR(end_mask, Int, 0)
    .ATTR(ellipsis_mask, Int, 0)
    .ATTR(new_axis_mask, Int, 0)
    .ATTR(shrink_axis_mask, Int, 0)
    .OP_END_FACTORY_REG(StridedSliceD);
REG_OP(Gather)
    .INPUT(x, TensorType::ALL())
    .INPUT(indices, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .OP_END_FACTORY_REG(Gather);
REG_OP(GatherV2)
    .INPUT(x, TensorType::ALL())
    .INPUT(indices, TensorType::ALL())
    .INPUT(axis, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .OP_END_FACTORY_REG(GatherV2);
REG_OP(GatherV2D)
    .INPUT(x, TensorType::ALL())
    .INPUT(indices, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .REQUIRED_ATTR(axis, Int)
    .OP_END_FACTORY_REG(GatherV2D);
REG_OP(GatherNd)
    .INPUT(x, TensorType::ALL())
    .INPUT(indices, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .OP_END_FACTORY_REG(GatherNd);
REG_OP(OneHot)
    .INPUT(x, TensorType::ALL())
    .INPUT(depth, TensorType::ALL())
    .INPUT(on_value, TensorType::ALL())
    .INPUT(off_value, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .ATTR(axis, Int, -1)
    .OP_END_FACTORY_REG(OneHot);
REG_OP(TopK)
    .INPUT(x, TensorType::ALL())
    .INPUT(k, TensorType::ALL())
    .OUTPUT(values, TensorType::ALL())
    .OUTPUT(indices, TensorType::ALL())
    .ATTR(sorted, Bool, true)
    .ATTR(largest, Bool, true)
    .ATTR(dim, Int, -1)
    .OP_END_FACTORY_REG(TopK);
REG_OP(TopKD)
    .INPUT(x, TensorType::ALL())
    .INPUT(assist_seq, TensorType::ALL())
    .OUTPUT(values, TensorType::ALL())
    .OUTPUT(indices, TensorType::ALL())
    .REQUIRED_ATTR(k, Int)
    .ATTR(sorted, Bool, true)
    .ATTR(dim, Int, -1)
    .ATTR(largest, Bool, true)
    .OP_END_FACTORY_REG(TopKD);
REG_OP(Tile)
    .INPUT(x, TensorType::ALL())
    .INPUT(multiples, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .OP_END_FACTORY_REG(Tile);
REG_OP(TileD)
    .INPUT(x, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .REQUIRED_ATTR(multiples, ListInt)
    .OP_END_FACTORY_REG(TileD);
REG_OP(Select)
    .INPUT(condition, TensorType::ALL())
    .INPUT(x1, TensorType::ALL())
    .INPUT(x2, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .OP_END_FACTORY_REG(Select);
REG_OP(SelectV2)
    .INPUT(condition, TensorType::ALL())
    .INPUT(then, TensorType::ALL())
    .INPUT(else_value, TensorType::ALL())
    .OUTPUT(result, TensorType::ALL())
    .OP_END_FACTORY_REG(SelectV2);
REG_OP(MaskedFill)
    .INPUT(x, TensorType::ALL())
    .INPUT(mask, TensorType::ALL())
    .INPUT(value, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .OP_END_FACTORY_REG(MaskedFill);
REG_OP(ReverseV2)
    .INPUT(x, TensorType::ALL())
    .INPUT(axis, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .OP_END_FACTORY_REG(ReverseV2);
REG_OP(ReverseV2D)
    .INPUT(x, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .REQUIRED_ATTR(axis, ListInt)
    .OP_END_FACTORY_REG(ReverseV2D);
REG_OP(Cumsum)
    .INPUT(x, TensorType::ALL())
    .INPUT(axis, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .ATTR(exclusive, Bool, false)
    .ATTR(reverse, Bool, false)
    .OP_END_FACTORY_REG(Cumsum);
REG_OP(CumsumD)
    .INPUT(x, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .REQUIRED_ATTR(axis, Int)
    .ATTR(exclusive, Bool, false)
    .ATTR(reverse, Bool, false)
    .OP_END_FACTORY_REG(CumsumD);
REG_OP(GatherD)
    .INPUT(x, TensorType::ALL())
    .INPUT(dim, TensorType::ALL())
    .INPUT(index, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .OP_END_FACTORY_REG(GatherD);
REG_OP(GatherElements)
    .INPUT(x, TensorType::ALL())
    .INPUT(index, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .ATTR(dim, Int, 0)
    .OP_END_FACTORY_REG(GatherElements);
REG_OP(OneHotD)
    .INPUT(x, TensorType::ALL())
    .INPUT(on_value, TensorType::ALL())
    .INPUT(off_value, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .REQUIRED_ATTR(depth, Int)
    .ATTR(axis, Int, -1)
    .OP_END_FACTORY_REG(OneHotD);
REG_OP(ReverseSequence)
    .INPUT(x, TensorType::ALL())
    .INPUT(seq_lengths, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .REQUIRED_ATTR(seq_dim, Int)
    .ATTR(batch_dim, Int, 0)
    .OP_END_FACTORY_REG(ReverseSequence);
REG_OP(TopKV2)
    .INPUT(x, TensorType::ALL())
    .INPUT(k, TensorType::ALL())
    .OUTPUT(values, TensorType::ALL())
    .OUTPUT(indices, TensorType::ALL())
    .ATTR(sorted, Bool, true)
    .ATTR(dim, Int, -1)
    .ATTR(largest, Bool, true)
    .OP_END_FACTORY_REG(TopKV2);
REG_OP(Tril)
    .INPUT(x, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .ATTR(diagonal, Int, 0)
    .OP_END_FACTORY_REG(Tril);
REG_OP(Triu)
    .INPUT(x, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .ATTR(diagonal, Int, 0)
    .OP_END_FACTORY_REG(Triu);

} // namespace ge

#endif
