//===-- ScatterOps.td - sums by index and running sums -----*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_GRAPH_SCATTER_OPS_TD
#define OPENATC_GRAPH_SCATTER_OPS_TD

include "dialects/graph/GraphDialect.td"
include "mlir/IR/CommonAttrConstraints.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Graph_ScatterAddOp : Op<Graph_Dialect, "scatter_add", [Pure]> {
  let summary = "Sums the slices of `updates` that have the same index: the adjoint of gather";
  let description = [{
    updates [A, I, B], indices [I] and result [A, K, B], where
    result[a, k, b] is the sum of updates[a, i, b] over all i with indices[i] = k, in the order of
    i. A negative index counts from the end. Elements of `updates` are floats.

    ```mlir
    %y = graph.scatter_add %indices, %updates
        : (tensor<5xi64>, tensor<1x5x8xf32>) -> tensor<1x100x8xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$indices, AnyRankedTensor:$updates);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def Graph_CumulativeSumOp : Graph_InferOp<"cumulative_sum"> {
  let summary = "Sums of all elements up to each one along `axis`";
  let description = [{
    With `reverse` the sums run from the end. With `exclusive` a sum does not
    contain the element at its own position, and the first one is 0.
  }];
  let arguments = (ins AnyRankedTensor:$input, I64Attr:$axis,
                       DefaultValuedAttr<BoolAttr, "false">:$exclusive,
                       DefaultValuedAttr<BoolAttr, "false">:$reverse);
  let results = (outs AnyRankedTensor:$result);
}

#endif // OPENATC_GRAPH_SCATTER_OPS_TD
