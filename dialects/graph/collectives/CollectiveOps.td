//===-- CollectiveOps.td - what ranks exchange ------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_GRAPH_COLLECTIVE_OPS_TD
#define OPENATC_GRAPH_COLLECTIVE_OPS_TD

include "dialects/graph/GraphAttrs.td"
include "dialects/graph/GraphDialect.td"
include "mlir/IR/BuiltinAttributes.td"
include "mlir/IR/CommonAttrConstraints.td"

// The trait that passes ask for: Collectives.h.
def Graph_IsCollective : NativeOpTrait<"IsCollective"> {
  let cppNamespace = "::atc::graph";
}

// A module with collectives is the program of one rank. Ops of one group meet in the order in which
// they stand, so they have effects: nothing removes, merges or reorders them.
class Graph_CollectiveOp<string mnemonic, list<Trait> traits = []>
    : Op<Graph_Dialect, mnemonic, traits # [Graph_IsCollective, Graph_RunsOnHost]> {
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def Graph_AllReduceOp : Graph_CollectiveOp<"all_reduce", [SameOperandsAndResultType]> {
  let summary = "Combines the elements of all ranks of the group, for each of them";
  let description = [{
    `kind` is sum, max or min. The result is bit for bit equal on all ranks.

    ```mlir
    %y = graph.all_reduce %x {kind = #graph<reduce_kind sum>, ranks = array<i64: 0, 1>}
        : (tensor<4x8xf32>) -> tensor<4x8xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$input, Graph_ReduceKindAttr:$kind,
                       DenseI64ArrayAttr:$ranks);
  let results = (outs AnyRankedTensor:$result);
}

def Graph_AllGatherOp : Graph_CollectiveOp<"all_gather"> {
  let summary = "Concatenates the tensors of the group along `axis`, for each of its ranks";
  let description = [{The order is that of `ranks`.}];
  let arguments = (ins AnyRankedTensor:$input, I64Attr:$axis, DenseI64ArrayAttr:$ranks);
  let results = (outs AnyRankedTensor:$result);
}

def Graph_ReduceScatterOp : Graph_CollectiveOp<"reduce_scatter"> {
  let summary = "Combines the elements of the group and divides the result along `axis`";
  let description = [{
    Rank i of the group receives share i of what all_reduce of this `kind` computes.
  }];
  let arguments = (ins AnyRankedTensor:$input, Graph_ReduceKindAttr:$kind, I64Attr:$axis,
                       DenseI64ArrayAttr:$ranks);
  let results = (outs AnyRankedTensor:$result);
}

def Graph_AllToAllOp : Graph_CollectiveOp<"all_to_all"> {
  let summary = "Sends share i along `split_axis` to rank i, concatenates along `concat_axis`";
  let arguments = (ins AnyRankedTensor:$input, I64Attr:$split_axis, I64Attr:$concat_axis,
                       DenseI64ArrayAttr:$ranks);
  let results = (outs AnyRankedTensor:$result);
}

def Graph_BroadcastOp : Graph_CollectiveOp<"broadcast", [SameOperandsAndResultType]> {
  let summary = "The tensor of rank `root`, for all ranks of the group";
  let arguments = (ins AnyRankedTensor:$input, I64Attr:$root, DenseI64ArrayAttr:$ranks);
  let results = (outs AnyRankedTensor:$result);
}

def Graph_SendOp : Graph_CollectiveOp<"send"> {
  let summary = "Sends a tensor to the graph.receive of rank `to` that has the same `tag`";
  let arguments = (ins AnyRankedTensor:$input, I64Attr:$to, I64Attr:$tag);
}

def Graph_ReceiveOp : Graph_CollectiveOp<"receive"> {
  let summary = "The tensor that the graph.send of rank `from` with the same `tag` sends";
  let arguments = (ins I64Attr:$from, I64Attr:$tag);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
}

#endif // OPENATC_GRAPH_COLLECTIVE_OPS_TD
