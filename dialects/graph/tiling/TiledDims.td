//===-- TiledDims.td - which dims can be computed in tiles -*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_GRAPH_TILED_DIMS_TD
#define OPENATC_GRAPH_TILED_DIMS_TD

include "mlir/IR/OpBase.td"

def Graph_TiledDimOpInterface : OpInterface<"TiledDimOpInterface"> {
  let cppNamespace = "::atc::graph";
  let description = [{
    An op that can be computed tile by tile along one dim that its operands carry: `count`
    indices i, each of which stands for an equal share of consecutive elements of the tiled
    dim. It promises that share i of the result is the op on share i of the tiled operands
    and on the whole of the others, for every `count`.

    The promise is about the op as it stands; who asks checks that sizes other than the
    tiled ones do not depend on the count.
  }];
  let methods = [
    InterfaceMethod<[{
      Returns the dim of the result that is tiled where operand i is tiled along dim
      `dims[i]`, or not at all where that is -1. `count` divides the size of every tiled dim
      and of no other. Fails, with the reason in `reason`, where elements of one share
      depend on those of another. The reason continues a sentence about the op: "sums
      over it".
    }], "::llvm::FailureOr<int64_t>", "inferTiledDim",
    (ins "::llvm::ArrayRef<int64_t>":$dims, "int64_t":$count, "std::string &":$reason)>,
    InterfaceMethod<[{
      Changes the attributes that state the size of dim `dim` of the result to `size`. The
      types of operands and result are the caller's.
    }], "void", "setTiledSize", (ins "int64_t":$dim, "int64_t":$size), [{}], [{ (void)dim, (void)size; }]>
  ];
}

#endif // OPENATC_GRAPH_TILED_DIMS_TD
