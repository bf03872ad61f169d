//===-- GraphAttrs.td - enums and attributes of the graph dialect *- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_GRAPH_ATTRS_TD
#define OPENATC_GRAPH_ATTRS_TD

include "dialects/graph/GraphDialect.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"

class Graph_Enum<string name, list<I32EnumAttrCase> cases>
    : I32EnumAttr<name, "", cases> {
  let genSpecializedAttr = 0;
  let cppNamespace = "::atc::graph";
}

class Graph_EnumAttr<EnumInfo info, string mnemonic_> : EnumAttr<Graph_Dialect, info, mnemonic_>;

def Graph_ActivationKind : Graph_Enum<"ActivationKind", [
  I32EnumAttrCase<"Relu", 0, "relu">,
  I32EnumAttrCase<"Clip", 1, "clip">,
  I32EnumAttrCase<"LeakyRelu", 2, "leaky_relu">,
  I32EnumAttrCase<"PRelu", 3, "prelu">,
  I32EnumAttrCase<"HardSwish", 4, "hard_swish">,
  I32EnumAttrCase<"HardSigmoid", 5, "hard_sigmoid">,
  I32EnumAttrCase<"Sigmoid", 6, "sigmoid">,
  I32EnumAttrCase<"Silu", 7, "silu">,
  I32EnumAttrCase<"Mish", 8, "mish">,
  I32EnumAttrCase<"Tanh", 9, "tanh">,
  I32EnumAttrCase<"Gelu", 10, "gelu">
]>;

def Graph_ReduceKind : Graph_Enum<"ReduceKind", [
  I32EnumAttrCase<"Sum", 0, "sum">, I32EnumAttrCase<"Mean", 1, "mean">,
  I32EnumAttrCase<"Max", 2, "max">, I32EnumAttrCase<"Min", 3, "min">,
  I32EnumAttrCase<"Prod", 4, "prod">, I32EnumAttrCase<"L1", 5, "l1">,
  I32EnumAttrCase<"L2", 6, "l2">, I32EnumAttrCase<"LogSum", 7, "log_sum">,
  I32EnumAttrCase<"LogSumExp", 8, "log_sum_exp">, I32EnumAttrCase<"SumSquare", 9, "sum_square">
]>;

def Graph_ComparePredicate : Graph_Enum<"ComparePredicate", [
  I32EnumAttrCase<"Eq", 0, "eq">, I32EnumAttrCase<"Ne", 1, "ne">,
  I32EnumAttrCase<"Lt", 2, "lt">, I32EnumAttrCase<"Le", 3, "le">,
  I32EnumAttrCase<"Gt", 4, "gt">, I32EnumAttrCase<"Ge", 5, "ge">
]>;

def Graph_PadMode : Graph_Enum<"PadMode", [
  I32EnumAttrCase<"Constant", 0, "constant">, I32EnumAttrCase<"Edge", 1, "edge">,
  I32EnumAttrCase<"Reflect", 2, "reflect">, I32EnumAttrCase<"Wrap", 3, "wrap">
]>;

def Graph_ResizeMode : Graph_Enum<"ResizeMode", [
  I32EnumAttrCase<"Nearest", 0, "nearest">, I32EnumAttrCase<"Linear", 1, "linear">,
  I32EnumAttrCase<"Cubic", 2, "cubic">
]>;

def Graph_CoordinateMode : Graph_Enum<"CoordinateMode", [
  I32EnumAttrCase<"HalfPixel", 0, "half_pixel">, I32EnumAttrCase<"Asymmetric", 1, "asymmetric">,
  I32EnumAttrCase<"AlignCorners", 2, "align_corners">,
  I32EnumAttrCase<"PytorchHalfPixel", 3, "pytorch_half_pixel">
]>;

def Graph_NearestMode : Graph_Enum<"NearestMode", [
  I32EnumAttrCase<"Floor", 0, "floor">, I32EnumAttrCase<"Ceil", 1, "ceil">,
  I32EnumAttrCase<"RoundPreferFloor", 2, "round_prefer_floor">,
  I32EnumAttrCase<"RoundPreferCeil", 3, "round_prefer_ceil">
]>;

def Graph_DepthOrder : Graph_Enum<"DepthOrder", [
  I32EnumAttrCase<"DCR", 0, "dcr">, I32EnumAttrCase<"CRD", 1, "crd">
]>;

def Graph_ReduceKindAttr : Graph_EnumAttr<Graph_ReduceKind, "reduce_kind">;
def Graph_ComparePredicateAttr : Graph_EnumAttr<Graph_ComparePredicate, "compare_predicate">;
def Graph_PadModeAttr : Graph_EnumAttr<Graph_PadMode, "pad_mode">;
def Graph_ResizeModeAttr : Graph_EnumAttr<Graph_ResizeMode, "resize_mode">;
def Graph_CoordinateModeAttr : Graph_EnumAttr<Graph_CoordinateMode, "coordinate_mode">;
def Graph_NearestModeAttr : Graph_EnumAttr<Graph_NearestMode, "nearest_mode">;
def Graph_DepthOrderAttr : Graph_EnumAttr<Graph_DepthOrder, "depth_order">;

class Graph_Attr<string name, string mnemonic_> : AttrDef<Graph_Dialect, name> {
  let mnemonic = mnemonic_;
}

// A double as the parameter of an attribute, which must be hashable.
def Graph_NumberParameter : AttrParameter<"::atc::graph::Number", "", "double">;

def Graph_ActivationAttr : Graph_Attr<"Activation", "activation"> {
  let summary = "An activation fused behind a convolution or matmul";
  let description = [{
    `alpha` and `beta` are the parameters of the kinds that have them: clip
    (min, max), leaky_relu (slope, -), hard_sigmoid (slope, offset), gelu (1 =
    tanh approximation, -); 0 otherwise. The slope of a prelu is the operator's
    `slope` operand.
  }];
  let parameters = (ins EnumParameter<Graph_ActivationKind>:$kind,
                        Graph_NumberParameter:$alpha,
                        Graph_NumberParameter:$beta);
  let builders = [AttrBuilder<(ins "ActivationKind":$kind, CArg<"double", "0.0">:$alpha, CArg<"double", "0.0">:$beta), [{
    return $_get($_ctxt, kind, Number(alpha), Number(beta));
  }]>];
  let skipDefaultBuilders = 1;
  // Prints `<relu>`, `<leaky_relu, 0.1>`, `<clip, 0.0, 6.0>`: trailing zeros are omitted.
  let hasCustomAssemblyFormat = 1;
}

def Graph_LayoutAttr : Graph_Attr<"Layout", "layout"> {
  let summary = "The layout of an NCHW tensor in memory (a tensor encoding)";
  let description = [{
    `block` = c > 0: stored as [N][ceil(C/c)][H][W][c] (NCHWc). 0: stored as the
    shape, row-major. `halo` = [top, left, bottom, right]: rows and columns of
    zeros around every H x W plane, so that a convolution can read beyond the
    edge. `fill` replaces these zeros: the zero point of a quantized tensor.
  }];
  let parameters = (ins "int64_t":$block, ArrayRefParameter<"int64_t">:$halo,
                        DefaultValuedParameter<"int64_t", "0">:$fill);
  let builders = [AttrBuilder<(ins "int64_t":$block, "::llvm::ArrayRef<int64_t>":$halo), [{
    return $_get($_ctxt, block, halo, /*fill=*/0);
  }]>];
  let assemblyFormat = [{
    `<` `block` `=` $block `,` `halo` `=` `[` $halo `]` (`,` `fill` `=` $fill^)? `>`
  }];
  let genVerifyDecl = 1;
}

#endif // OPENATC_GRAPH_ATTRS_TD
