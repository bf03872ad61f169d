//===-- QuantOps.td - quantized tensors, int8 contractions ---*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_GRAPH_OPS_QUANTOPS_TD
#define OPENATC_GRAPH_OPS_QUANTOPS_TD

include "dialects/graph/GraphAttrs.td"
include "mlir/IR/BuiltinAttributes.td"
include "mlir/IR/CommonAttrConstraints.td"

class Graph_QuantOp<string mnemonic>
    : Graph_Op<mnemonic, [Graph_ConvertsQuantized, Graph_KeepsShape]> {
  let arguments = (ins AnyRankedTensor:$input);
  let results = (outs AnyRankedTensor:$result);
  let hasVerifier = 1;
}

def Graph_QuantizeOp : Graph_QuantOp<"quantize"> {
  let summary = "saturate(round(x / scale) + zero point), rounding half to even";
  let description = [{
    The input is f32; the result has elements of a `!quant.uniform` type that
    contains scale and zero point, per tensor or per index of one dim. The
    division is computed in f32. docs/rationale/quant.md defines the semantics.
  }];
}

def Graph_DequantizeOp : Graph_QuantOp<"dequantize"> {
  let summary = "(q - zero point) * scale in f32";
}

def Graph_StorageCastOp : Graph_QuantOp<"storage_cast"> {
  let summary = "Reinterprets integers as quantized values or the reverse";
  let description = [{
    Converts a quantized tensor to its integers (ui8 for unsigned storage, i8
    for signed), a tensor of integers to a quantized one, or a quantized tensor
    to one with other parameters. Elements do not change.
  }];
  let hasFolder = 1;
}

// The base of the integer contractions: `inputs` and `body` are the epilogue, which
// computes an element of the result from the accumulator (i32, the first argument)
// and one element of every input; inputs broadcast to the result. Without a body
// the result is the accumulators.
class Graph_IntegerSumOp<string mnemonic, dag attributes = (ins)>
    : Graph_Op<mnemonic, [AttrSizedOperandSegments, IsolatedFromAbove]> {
  let arguments = !con((ins AnyRankedTensor:$input, AnyRankedTensor:$filter,
                            Optional<AnyRankedTensor>:$bias, Variadic<AnyRankedTensor>:$inputs,
                            I64Attr:$zero_point, DenseI64ArrayAttr:$filter_zero_points), attributes);
  let results = (outs AnyRankedTensor:$result);
  let regions = (region MaxSizedRegion<1>:$body);
  let assemblyFormat = [{
    $input `,` $filter (`bias` $bias^)? (`inputs` $inputs^)? attr-dict `:`
    functional-type(operands, results) ($body^)?
  }];
  let hasVerifier = 1;
}

def Graph_IntegerConvOp : Graph_IntegerSumOp<"integer_conv",
    (ins DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$pads, DenseI64ArrayAttr:$dilations,
         I64Attr:$groups)> {
  let summary = "Convolution of 8-bit integers with 32-bit accumulators";
  let description = [{
    input [N, C, H, W] and filter [M, C / groups, KH, KW] of i8 or ui8, bias [M]
    of i32. The accumulators are exact: sum((input - zero_point) * (filter - its
    zero point)) + bias; padding counts as zero_point. `filter_zero_points` has
    one value per output channel, or is empty for zeros.
  }];
}

def Graph_IntegerFullyConnectedOp : Graph_IntegerSumOp<"integer_fully_connected"> {
  let summary = "Matrix product of 8-bit integers with 32-bit accumulators";
  let description = [{
    input [..., K], filter [N, K], bias [N]; otherwise like integer_conv.
  }];
}

#endif // OPENATC_GRAPH_OPS_QUANTOPS_TD
