//===-- ShapeOps.td - data movement ------------------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_GRAPH_OPS_SHAPEOPS_TD
#define OPENATC_GRAPH_OPS_SHAPEOPS_TD

include "dialects/graph/GraphAttrs.td"
include "mlir/IR/BuiltinAttributes.td"
include "mlir/IR/CommonAttrConstraints.td"

def Graph_ReshapeOp : Graph_Op<"reshape", [Graph_OnlyMovesElements]> {
  let summary = "The elements in row-major order with another shape";
  let description = [{Squeeze, unsqueeze and flatten are reshapes too.}];
  let arguments = (ins AnyRankedTensor:$input);
  let results = (outs AnyRankedTensor:$result);
  let hasVerifier = 1;
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

def Graph_TransposeOp : Graph_InferOp<"transpose", [Graph_OnlyMovesElements]> {
  let summary = "result dim i is input dim permutation[i]";
  let arguments = (ins AnyRankedTensor:$input, DenseI64ArrayAttr:$permutation);
  let results = (outs AnyRankedTensor:$result);
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

def Graph_ExpandOp : Graph_Op<"expand", [Graph_OnlyMovesElements]> {
  let summary = "NumPy broadcast to the result's shape";
  let arguments = (ins AnyRankedTensor:$input);
  let results = (outs AnyRankedTensor:$result);
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Graph_TileOp : Graph_InferOp<"tile", [Graph_OnlyMovesElements]> {
  let summary = "Repeats the tensor `repeats[i]` times along dim i";
  let arguments = (ins AnyRankedTensor:$input, DenseI64ArrayAttr:$repeats);
  let results = (outs AnyRankedTensor:$result);
  let hasFolder = 1;
}

def Graph_ConcatOp : Graph_InferOp<"concat"> {
  let summary = "Concatenates tensors along `axis` (nonnegative)";
  let arguments = (ins Variadic<AnyRankedTensor>:$inputs, I64Attr:$axis);
  let results = (outs AnyRankedTensor:$result);
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

def Graph_SliceOp : Graph_InferOp<"slice", [Graph_OnlyMovesElements]> {
  let summary = "sizes[i] elements of dim i: starts[i], starts[i] + steps[i], ...";
  let description = [{
    Canonical: every dim is named, starts are in range, sizes are counts of
    elements, steps may be negative. A split is one slice per output. A size of
    -1 keeps a whole dim (start 0, step 1) and represents dims that are still
    dynamic; it becomes a count when the dim becomes static.
  }];
  let arguments = (ins AnyRankedTensor:$input, DenseI64ArrayAttr:$starts,
                       DenseI64ArrayAttr:$sizes, DenseI64ArrayAttr:$steps);
  let results = (outs AnyRankedTensor:$result);
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

def Graph_PadOp : Graph_InferOp<"pad"> {
  let summary = "Adds low[i] elements before and high[i] after dim i; negative crops";
  let description = [{
    Cropping comes first: edge, reflect and wrap repeat the remaining elements.
  }];
  let arguments = (ins AnyRankedTensor:$input, DenseI64ArrayAttr:$low, DenseI64ArrayAttr:$high,
                       Graph_PadModeAttr:$mode, DefaultValuedAttr<F64Attr, "0.0">:$value);
  let results = (outs AnyRankedTensor:$result);
  let hasFolder = 1;
}

def Graph_GatherOp : Graph_InferOp<"gather", [Graph_OnlyMovesElements]> {
  let summary = "Slices of `input` along `axis` selected by `indices`; negative indices count from the end";
  let arguments = (ins AnyRankedTensor:$input, AnyRankedTensor:$indices, I64Attr:$axis);
  let results = (outs AnyRankedTensor:$result);
}

def Graph_DepthToSpaceOp : Graph_InferOp<"depth_to_space", [Graph_OnlyMovesElements]> {
  let summary = "Moves channels into blocks of `block` x `block` pixels";
  let arguments = (ins AnyRankedTensor:$input, I64Attr:$block, Graph_DepthOrderAttr:$order);
  let results = (outs AnyRankedTensor:$result);
}

def Graph_SpaceToDepthOp : Graph_InferOp<"space_to_depth", [Graph_OnlyMovesElements]> {
  let summary = "Moves blocks of `block` x `block` pixels into channels";
  let arguments = (ins AnyRankedTensor:$input, I64Attr:$block);
  let results = (outs AnyRankedTensor:$result);
}

def Graph_ResizeOp : Graph_Op<"resize"> {
  let summary = "Resamples to the result's shape; `scales[i]` = output size / input size as in the model";
  let arguments = (ins AnyRankedTensor:$input, DenseF64ArrayAttr:$scales, Graph_ResizeModeAttr:$mode,
                       Graph_CoordinateModeAttr:$coordinates, Graph_NearestModeAttr:$nearest,
                       DefaultValuedAttr<F64Attr, "-0.75">:$cubic_coefficient);
  let results = (outs AnyRankedTensor:$result);
  let hasVerifier = 1;
  let hasFolder = 1;
}

#endif // OPENATC_GRAPH_OPS_SHAPEOPS_TD
