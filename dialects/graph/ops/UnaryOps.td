//===-- UnaryOps.td - elementwise ops of one operand -------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_GRAPH_OPS_UNARYOPS_TD
#define OPENATC_GRAPH_OPS_UNARYOPS_TD

include "dialects/graph/ops/ElementwiseOp.td"

class Graph_UnaryOp<string mnemonic, string formula, dag attributes = (ins),
                    string elements = "Float", string rule = "Same">
    : Graph_ElementwiseOp<mnemonic, elements, rule> {
  let summary = "Elementwise " # formula;
  let arguments = !con((ins AnyRankedTensor:$input), attributes);
}

// f(x), no parameters.
def Graph_AbsOp : Graph_UnaryOp<"abs", "|x|", (ins), "Numeric"> {
  let hasFolder = 1;
}
def Graph_NegOp : Graph_UnaryOp<"neg", "-x", (ins), "Numeric"> {
  let hasFolder = 1;
}
def Graph_SignOp : Graph_UnaryOp<"sign", "sign(x): -1, 0 or 1", (ins), "Numeric">;
def Graph_ExpOp : Graph_UnaryOp<"exp", "e^x">;
def Graph_LogOp : Graph_UnaryOp<"log", "ln(x)">;
def Graph_SqrtOp : Graph_UnaryOp<"sqrt", "square root">;
def Graph_RsqrtOp : Graph_UnaryOp<"rsqrt", "1 / sqrt(x)">;
def Graph_ReciprocalOp : Graph_UnaryOp<"reciprocal", "1 / x">;
def Graph_FloorOp : Graph_UnaryOp<"floor", "floor(x)">;
def Graph_CeilOp : Graph_UnaryOp<"ceil", "ceil(x)">;
def Graph_RoundOp : Graph_UnaryOp<"round", "round(x), ties to even">;
def Graph_SinOp : Graph_UnaryOp<"sin", "sin(x)">;
def Graph_CosOp : Graph_UnaryOp<"cos", "cos(x)">;
def Graph_TanOp : Graph_UnaryOp<"tan", "tan(x)">;
def Graph_AsinOp : Graph_UnaryOp<"asin", "asin(x)">;
def Graph_AcosOp : Graph_UnaryOp<"acos", "acos(x)">;
def Graph_AtanOp : Graph_UnaryOp<"atan", "atan(x)">;
def Graph_SinhOp : Graph_UnaryOp<"sinh", "sinh(x)">;
def Graph_CoshOp : Graph_UnaryOp<"cosh", "cosh(x)">;
def Graph_TanhOp : Graph_UnaryOp<"tanh", "tanh(x)">;
def Graph_AsinhOp : Graph_UnaryOp<"asinh", "asinh(x)">;
def Graph_AcoshOp : Graph_UnaryOp<"acosh", "acosh(x)">;
def Graph_AtanhOp : Graph_UnaryOp<"atanh", "atanh(x)">;
def Graph_ErfOp : Graph_UnaryOp<"erf", "erf(x)">;
def Graph_SigmoidOp : Graph_UnaryOp<"sigmoid", "1 / (1 + e^-x)">;
def Graph_ReluOp : Graph_UnaryOp<"relu", "max(x, 0)", (ins), "Numeric"> {
  let hasFolder = 1;
}
def Graph_SoftplusOp : Graph_UnaryOp<"softplus", "ln(1 + e^x)">;
def Graph_SoftsignOp : Graph_UnaryOp<"softsign", "x / (1 + |x|)">;
def Graph_SiluOp : Graph_UnaryOp<"silu", "x * sigmoid(x)">;
def Graph_MishOp : Graph_UnaryOp<"mish", "x * tanh(softplus(x))">;
def Graph_HardSwishOp : Graph_UnaryOp<"hard_swish", "x * max(0, min(1, x/6 + 0.5))">;
def Graph_NotOp : Graph_UnaryOp<"not", "logical not of a bool", (ins), "Bool"> {
  let hasFolder = 1;
}
def Graph_IsNanOp : Graph_UnaryOp<"is_nan", "x is not a number (bool)", (ins), "Float", "Bool">;

// f(x) with parameters.
def Graph_GeluOp : Graph_UnaryOp<"gelu", "x * Phi(x), by erf or its tanh approximation",
    (ins DefaultValuedAttr<BoolAttr, "false">:$approximate)>;
def Graph_LeakyReluOp : Graph_UnaryOp<"leaky_relu", "x < 0 ? alpha * x : x", (ins F64Attr:$alpha)>;
def Graph_EluOp : Graph_UnaryOp<"elu", "x < 0 ? alpha * (e^x - 1) : x", (ins F64Attr:$alpha)>;
def Graph_SeluOp : Graph_UnaryOp<"selu", "gamma * (x < 0 ? alpha * (e^x - 1) : x)",
    (ins F64Attr:$alpha, F64Attr:$gamma)>;
def Graph_HardSigmoidOp : Graph_UnaryOp<"hard_sigmoid", "max(0, min(1, alpha * x + beta))",
    (ins F64Attr:$alpha, F64Attr:$beta)>;
def Graph_ThresholdedReluOp : Graph_UnaryOp<"thresholded_relu", "x > alpha ? x : 0",
    (ins F64Attr:$alpha)>;
def Graph_ClipOp : Graph_UnaryOp<"clip", "min(max(x, min), max)",
    (ins F64Attr:$min, F64Attr:$max), "Numeric">;

def Graph_CastOp : Graph_Op<"cast", [DeclareOpInterfaceMethods<Graph_ElementwiseOpInterface>,
                                    Graph_KeepsShape]> {
  let summary = "Elementwise conversion to another element type";
  let description = [{Float to integer truncates; anything to bool is x != 0.}];
  let arguments = (ins AnyRankedTensor:$input);
  let results = (outs AnyRankedTensor:$result);
  let hasVerifier = 1;
  let hasFolder = 1;
}

#endif // OPENATC_GRAPH_OPS_UNARYOPS_TD
