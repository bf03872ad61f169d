//===-- GraphHostOps.td - what the host program of a model does -*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_GRAPH_HOST_OPS_TD
#define OPENATC_GRAPH_HOST_OPS_TD

include "dialects/graph/GraphAttrs.td"
include "dialects/graph/GraphTypes.td"
include "mlir/IR/BuiltinAttributes.td"
include "mlir/IR/CommonAttrConstraints.td"

// A tensor of any rank and element type, a sequence, an optional or a map.
def Graph_AnyValue : AnyTypeOf<[AnyTensor, Graph_SequenceType, Graph_OptionalType, Graph_MapType]>;

def Graph_HostCallOp : Op<Graph_Dialect, "host_call",
                          [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "Calls a host kernel";
  let description = [{
    For what has no fixed shape, an element type that generated code lacks, or an
    irregular operator. `kernel` names a row of kernels/Kernels.def; its inputs and
    attributes are those of the ONNX operator of this name in its newest form.
    `positions` says which input of the kernel each operand is, where optional ones
    are left out. A result without uses is not computed.

    ```mlir
    %y:2 = graph.host_call "TopK"(%x, %k) {axis = -1 : i64}
        : (tensor<?x8xf32>, tensor<1xi64>) -> (tensor<*xf32>, tensor<*xi64>)
    ```
  }];
  let arguments = (ins StrAttr:$kernel, Variadic<Graph_AnyValue>:$inputs,
                       OptionalAttr<DenseI32ArrayAttr>:$positions, DictionaryAttr:$parameters);
  let results = (outs Variadic<Graph_AnyValue>:$outputs);
  let assemblyFormat = [{
    $kernel `(` $inputs `)` (`at` $positions^)? $parameters attr-dict
    `:` functional-type($inputs, $outputs)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The operand of every input of the kernel, null where it is left out.
    ::llvm::SmallVector<::mlir::Value> inputsByPosition();
  }];
}

def Graph_IfOp : Op<Graph_Dialect, "if", [SingleBlock, NoRegionArguments, RecursiveMemoryEffects]> {
  let summary = "One of two branches, by a bool tensor of one element";
  let arguments = (ins AnyTensor:$condition);
  let results = (outs Variadic<Graph_AnyValue>:$outputs);
  let regions = (region SizedRegion<1>:$thenRegion, SizedRegion<1>:$elseRegion);
  let assemblyFormat = [{
    $condition attr-dict `:` functional-type($condition, $outputs) $thenRegion `else` $elseRegion
  }];
  let hasVerifier = 1;
}

def Graph_LoopOp : Op<Graph_Dialect, "loop", [SingleBlock, RecursiveMemoryEffects]> {
  let summary = "Repeats its body while a bool tensor of one element is true";
  let description = [{
    The condition is tested before every iteration, `condition` before the first
    one. The body gets the carried values and leaves with the next condition and
    the next values. Their types may get more precise or lose precision from one
    iteration to the next: a loop's types only say what always holds.

    ```mlir
    %r = graph.loop %go, %x : (tensor<i1>, tensor<*xf32>) -> tensor<*xf32> {
    ^bb0(%v: tensor<*xf32>):
      ...
      graph.leave %again, %next : tensor<i1>, tensor<*xf32>
    }
    ```
  }];
  let arguments = (ins AnyTensor:$condition, Variadic<Graph_AnyValue>:$carried);
  let results = (outs Variadic<Graph_AnyValue>:$outputs);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $condition (`,` $carried^)? attr-dict `:` functional-type(operands, $outputs) $body
  }];
  let hasVerifier = 1;
}

def Graph_LeaveOp : Op<Graph_Dialect, "leave", [Pure, Terminator, ParentOneOf<["IfOp", "LoopOp"]>]> {
  let summary = "Leaves a branch or an iteration with its values";
  let arguments = (ins Variadic<Graph_AnyValue>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
}

#endif // OPENATC_GRAPH_HOST_OPS_TD
