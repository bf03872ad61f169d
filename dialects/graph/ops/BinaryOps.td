//===-- BinaryOps.td - elementwise ops of several operands ---*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_GRAPH_OPS_BINARYOPS_TD
#define OPENATC_GRAPH_OPS_BINARYOPS_TD

include "dialects/graph/ops/ElementwiseOp.td"

class Graph_BinaryOp<string mnemonic, string formula, list<Trait> traits = [],
                     string elements = "Numeric">
    : Graph_ElementwiseOp<mnemonic, elements, "Same", traits> {
  let summary = "Elementwise " # formula # ", with NumPy broadcasting";
  let arguments = (ins AnyRankedTensor:$lhs, AnyRankedTensor:$rhs);
}

def Graph_AddOp : Graph_BinaryOp<"add", "a + b", [Commutative]> {
  let hasFolder = 1;
}
def Graph_SubOp : Graph_BinaryOp<"sub", "a - b"> {
  let hasFolder = 1;
}
def Graph_MulOp : Graph_BinaryOp<"mul", "a * b", [Commutative]> {
  let hasFolder = 1;
}
def Graph_DivOp : Graph_BinaryOp<"div", "a / b (integers truncate)"> {
  let hasFolder = 1;
}
def Graph_PowOp : Graph_BinaryOp<"pow", "a ^ b">;
def Graph_MaxOp : Graph_BinaryOp<"max", "max(a, b), NaN wins", [Commutative]>;
def Graph_MinOp : Graph_BinaryOp<"min", "min(a, b), NaN wins", [Commutative]>;
def Graph_AndOp : Graph_BinaryOp<"and", "a and b", [Commutative], "Integral">;
def Graph_OrOp : Graph_BinaryOp<"or", "a or b", [Commutative], "Integral">;
def Graph_XorOp : Graph_BinaryOp<"xor", "a xor b", [Commutative], "Integral">;
def Graph_PReluOp : Graph_BinaryOp<"prelu", "a < 0 ? b * a : a (b is the slope)">;

def Graph_ModOp : Graph_ElementwiseOp<"mod", "Numeric"> {
  let summary = "Elementwise remainder, sign of the divisor; with `fmod` sign of the dividend";
  let arguments = (ins AnyRankedTensor:$lhs, AnyRankedTensor:$rhs,
                       DefaultValuedAttr<BoolAttr, "false">:$fmod);
}

def Graph_CompareOp : Graph_ElementwiseOp<"compare", "Any", "Bool"> {
  let summary = "Elementwise comparison, a bool tensor";
  let arguments = (ins AnyRankedTensor:$lhs, AnyRankedTensor:$rhs,
                       Graph_ComparePredicateAttr:$predicate);
}

def Graph_WhereOp : Graph_ElementwiseOp<"where", "Any", "Condition"> {
  let summary = "Elementwise condition ? a : b, with NumPy broadcasting";
  let arguments = (ins AnyRankedTensor:$condition, AnyRankedTensor:$lhs, AnyRankedTensor:$rhs);
}

#endif // OPENATC_GRAPH_OPS_BINARYOPS_TD
