//===-- ReduceOps.td - reductions and softmax --------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_GRAPH_OPS_REDUCEOPS_TD
#define OPENATC_GRAPH_OPS_REDUCEOPS_TD

include "dialects/graph/GraphAttrs.td"
include "mlir/IR/BuiltinAttributes.td"
include "mlir/IR/CommonAttrConstraints.td"

def Graph_ReduceOp : Graph_InferOp<"reduce"> {
  let summary = "Reduction over `axes` (sorted, nonnegative)";
  let description = [{Global pooling is a mean or max over the spatial axes with `keepdims`.}];
  let arguments = (ins AnyRankedTensor:$input, Graph_ReduceKindAttr:$kind,
                       DenseI64ArrayAttr:$axes, DefaultValuedAttr<BoolAttr, "true">:$keepdims);
  let results = (outs AnyRankedTensor:$result);
  let hasCanonicalizer = 1;
}

class Graph_ArgOp<string mnemonic> : Graph_InferOp<mnemonic> {
  let arguments = (ins AnyRankedTensor:$input, I64Attr:$axis,
                       DefaultValuedAttr<BoolAttr, "true">:$keepdims,
                       DefaultValuedAttr<BoolAttr, "false">:$select_last);
  let results = (outs AnyRankedTensor:$result);
}
def Graph_ArgMaxOp : Graph_ArgOp<"arg_max"> {
  let summary = "Index (i64) of the maximum along `axis`";
}
def Graph_ArgMinOp : Graph_ArgOp<"arg_min"> {
  let summary = "Index (i64) of the minimum along `axis`";
}

class Graph_SoftmaxLikeOp<string mnemonic> : Graph_InferOp<mnemonic> {
  let arguments = (ins AnyRankedTensor:$input, I64Attr:$axis);
  let results = (outs AnyRankedTensor:$result);
}
def Graph_SoftmaxOp : Graph_SoftmaxLikeOp<"softmax"> {
  let summary = "e^(x - max) / sum(e^(x - max)) along `axis`";
}
def Graph_LogSoftmaxOp : Graph_SoftmaxLikeOp<"log_softmax"> {
  let summary = "Logarithm of softmax along `axis`";
}

#endif // OPENATC_GRAPH_OPS_REDUCEOPS_TD
