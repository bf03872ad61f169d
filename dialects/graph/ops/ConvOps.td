//===-- ConvOps.td - convolutions, pools, matmuls ----------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_GRAPH_OPS_CONVOPS_TD
#define OPENATC_GRAPH_OPS_CONVOPS_TD

include "dialects/graph/GraphAttrs.td"
include "mlir/IR/BuiltinAttributes.td"
include "mlir/IR/CommonAttrConstraints.td"

def Graph_ConvOp : Graph_InferOp<"conv", [AttrSizedOperandSegments, Graph_IsContraction,
                                              Graph_AddsBias]> {
  let summary = "Convolution with fused bias, residual and activation";
  let description = [{
    input [N, C, spatial...], filter [M, C / groups, kernel...], bias [M],
    residual with the result's shape, slope [M] (of a prelu activation). `pads`
    holds the begins of all spatial dims, then the ends.

    result = act(conv + bias + residual), or with `residual_last` act(conv +
    bias) + residual.
  }];
  let arguments = (ins AnyRankedTensor:$input, AnyRankedTensor:$filter,
                       Optional<AnyRankedTensor>:$bias, Optional<AnyRankedTensor>:$residual,
                       Optional<AnyRankedTensor>:$slope,
                       DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$pads,
                       DenseI64ArrayAttr:$dilations, I64Attr:$groups,
                       OptionalAttr<Graph_ActivationAttr>:$activation, UnitAttr:$residual_last);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $input `,` $filter (`bias` $bias^)? (`residual` $residual^)? (`slope` $slope^)?
    attr-dict `:` functional-type(operands, results)
  }];
}

def Graph_ConvTransposeOp : Graph_InferOp<"conv_transpose", [Graph_IsContraction, Graph_AddsBias]> {
  let summary = "Transposed convolution";
  let description = [{
    input [N, C, spatial...], filter [C, M / groups, kernel...], bias [M].
    out = (in - 1) * stride + output_padding + (kernel - 1) * dilation + 1 - pads.
  }];
  let arguments = (ins AnyRankedTensor:$input, AnyRankedTensor:$filter,
                       Optional<AnyRankedTensor>:$bias,
                       DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$pads,
                       DenseI64ArrayAttr:$dilations, DenseI64ArrayAttr:$output_padding,
                       I64Attr:$groups);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $input `,` $filter (`bias` $bias^)? attr-dict `:` functional-type(operands, results)
  }];
}

class Graph_PoolOp<string mnemonic, dag attributes = (ins)> : Graph_InferOp<mnemonic> {
  let arguments = !con((ins AnyRankedTensor:$input, DenseI64ArrayAttr:$kernel,
                        DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$pads,
                        DenseI64ArrayAttr:$dilations, DefaultValuedAttr<BoolAttr, "false">:$ceil_mode), attributes);
  let results = (outs AnyRankedTensor:$result);
}

def Graph_MaxPoolOp : Graph_PoolOp<"max_pool"> {
  let summary = "Maximum over a sliding window, ignoring padding";
}
def Graph_AveragePoolOp : Graph_PoolOp<"average_pool",
    (ins DefaultValuedAttr<BoolAttr, "false">:$count_include_pad)> {
  let summary = "Mean over a sliding window";
}

def Graph_BatchNormOp : Graph_InferOp<"batch_norm"> {
  let summary = "(x - mean) / sqrt(variance + epsilon) * scale + bias, per channel";
  let arguments = (ins AnyRankedTensor:$input, AnyRankedTensor:$scale, AnyRankedTensor:$bias,
                       AnyRankedTensor:$mean, AnyRankedTensor:$variance, F64Attr:$epsilon);
  let results = (outs AnyRankedTensor:$result);
}

def Graph_MatMulOp : Graph_InferOp<"matmul", [Graph_IsContraction]> {
  let summary = "Matrix product with NumPy's rules for batch dims and vectors";
  let arguments = (ins AnyRankedTensor:$lhs, AnyRankedTensor:$rhs);
  let results = (outs AnyRankedTensor:$result);
}

def Graph_FullyConnectedOp : Graph_InferOp<"fully_connected", [Graph_IsContraction, Graph_AddsBias]> {
  let summary = "input [..., K] x filter [N, K] transposed + bias [N], activated";
  let arguments = (ins AnyRankedTensor:$input, AnyRankedTensor:$filter,
                       Optional<AnyRankedTensor>:$bias,
                       OptionalAttr<Graph_ActivationAttr>:$activation);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $input `,` $filter (`bias` $bias^)? attr-dict `:` functional-type(operands, results)
  }];
}

#endif // OPENATC_GRAPH_OPS_CONVOPS_TD
