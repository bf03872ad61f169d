//===-- GradientOps.td - the gradient of a part of a graph *- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_GRAPH_GRADIENT_OPS_TD
#define OPENATC_GRAPH_GRADIENT_OPS_TD

include "dialects/graph/GraphDialect.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Graph_GradientOp
    : Op<Graph_Dialect, "gradient", [Pure, AttrSizedOperandSegments]> {
  let summary = "The gradient of the sum of `target` by values that it was computed from";
  let description = [{
    The ops that compute `target` from `variables` are a function. The results are its gradients by
    the first variables, as many as there are results, where the variables have the values `at`.
    `train-expand-gradient` replaces the op before any other pass; there is no other code for it.

    ```mlir
    %y = graph.mul %x, %x : ...
    %g = graph.gradient %y of %x at %x : (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$target, Variadic<AnyRankedTensor>:$variables,
                       Variadic<AnyRankedTensor>:$at);
  let results = (outs Variadic<AnyRankedTensor>:$gradients);
  let assemblyFormat = [{
    $target `of` $variables `at` $at attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

#endif // OPENATC_GRAPH_GRADIENT_OPS_TD
