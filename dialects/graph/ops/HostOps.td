//===-- HostOps.td - the ops of dynamic schedules ----------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_GRAPH_OPS_HOSTOPS_TD
#define OPENATC_GRAPH_OPS_HOSTOPS_TD

include "dialects/graph/GraphAttrs.td"
include "dialects/graph/GraphTypes.td"
include "mlir/IR/BuiltinAttributes.td"
include "mlir/IR/CommonAttrConstraints.td"

// A tensor of any rank and element type, a sequence, an optional or a map.
def Graph_AnyValue : AnyTypeOf<[AnyTensor, Graph_SequenceType, Graph_OptionalType, Graph_MapType]>;

def Graph_HostCallOp : Op<Graph_Dialect, "host_call",
                          [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>, Graph_RunsOnHost]> {
  let summary = "Calls a host kernel";
  let description = [{
    Represents operators with dynamic shapes, element types that generated code
    does not support, or irregular semantics. `kernel` names a row of
    kernels/Kernels.def; its inputs and attributes are those of the newest form
    of the ONNX operator of this name. `positions` has the kernel's input index
    of each operand where optional inputs are omitted. A result without uses is
    not computed.

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

def Graph_IfOp : Op<Graph_Dialect, "if", [SingleBlock, NoRegionArguments, RecursiveMemoryEffects,
                                          Graph_RunsOnHost]> {
  let summary = "Runs one of two branches, selected by a bool tensor of one element";
  let arguments = (ins AnyTensor:$condition);
  let results = (outs Variadic<Graph_AnyValue>:$outputs);
  let regions = (region SizedRegion<1>:$thenRegion, SizedRegion<1>:$elseRegion);
  let assemblyFormat = [{
    $condition attr-dict `:` functional-type($condition, $outputs) $thenRegion `else` $elseRegion
  }];
  let hasVerifier = 1;
}

def Graph_LoopOp
    : Op<Graph_Dialect, "loop", [SingleBlock, RecursiveMemoryEffects, Graph_RunsOnHost]> {
  let summary = "Repeats its body while a bool tensor of one element is true";
  let description = [{
    The condition is tested before every iteration, `condition` before the first
    one. The body receives the carried values and yields the next condition and
    the next values with `graph.leave`. Their types may become more or less
    precise from one iteration to the next: the types of a loop only state what
    always holds.

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
  let summary = "Ends a branch or an iteration and yields its values";
  let arguments = (ins Variadic<Graph_AnyValue>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
}

#endif // OPENATC_GRAPH_OPS_HOSTOPS_TD
