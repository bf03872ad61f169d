//===-- StructureOps.td - constants, layout, maps ----------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_GRAPH_OPS_STRUCTUREOPS_TD
#define OPENATC_GRAPH_OPS_STRUCTUREOPS_TD

include "dialects/graph/GraphAttrs.td"
include "dialects/graph/GraphInterfaces.td"
include "mlir/IR/BuiltinAttributes.td"
include "mlir/IR/CommonAttrConstraints.td"

def Graph_ConstantOp : Graph_Op<"constant", [ConstantLike, AllTypesMatch<["value", "result"]>]> {
  let summary = "A tensor known at compile time";
  let description = [{Large values are `dense_resource`, so that they are neither printed nor copied.}];
  let arguments = (ins ElementsAttr:$value);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "attr-dict $value";
  let builders = [OpBuilder<(ins "::mlir::ElementsAttr":$value), [{
    build($_builder, $_state, value.getType(), value);
  }]>];
  let hasFolder = 1;
}

def Graph_RelayoutOp : Graph_Op<"relayout", [Graph_KeepsShape]> {
  let summary = "Converts a tensor to another layout";
  let description = [{
    The result has the same shape and element type but another `#graph.layout`.
  }];
  let arguments = (ins AnyRankedTensor:$input);
  let results = (outs AnyRankedTensor:$result);
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Graph_MapOp : Graph_Op<"map", [SingleBlockImplicitTerminator<"YieldOp">, IsolatedFromAbove]> {
  let summary = "Fused elementwise computation";
  let description = [{
    The region computes one element of the result from one element of every
    input, with arith and math ops. Inputs broadcast by NumPy's rules. Arguments
    and the yielded value have the signless type of the elements (i8 for ui8).

    ```mlir
    %y = graph.map %x, %b : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32> {
    ^bb0(%e: f32, %f: f32):
      %s = arith.addf %e, %f : f32
      graph.yield %s : f32
    }
    ```
  }];
  let arguments = (ins Variadic<AnyRankedTensor>:$inputs);
  let results = (outs AnyRankedTensor:$result);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$inputs attr-dict `:` functional-type($inputs, results) $body";
  let hasVerifier = 1;
}

def Graph_YieldOp : Op<Graph_Dialect, "yield", [Pure, Terminator,
    ParentOneOf<["MapOp", "IntegerConvOp", "IntegerFullyConnectedOp"]>]> {
  let summary = "Yields the result of a body";
  let arguments = (ins Optional<AnyType>:$value);
  let assemblyFormat = "attr-dict ($value^ `:` type($value))?";
  let builders = [OpBuilder<(ins)>];
}

#endif // OPENATC_GRAPH_OPS_STRUCTUREOPS_TD
