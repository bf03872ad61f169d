//===-- TransformerOps.td - attention and layer norms -----*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_CPU_TRANSFORMEROPS_TD
#define OPENATC_CPU_TRANSFORMEROPS_TD

include "dialects/cpu/CpuDialect.td"

def Cpu_AttentionOp : Kernel_Op<"attention", [], Cpu_Dialect> {
  let summary = "softmax(query * key) * value without the matrix of scores in memory";
  let description = [{
    query [B][H][M][D], key [B][H][D][N], value [B][H][N][V] and output
    [B][H][M][V] are of f32 with any strides, but the rows of value and output
    are dense, and the D or the N dim of key. A batch or head of size 1
    broadcasts. The softmax runs along N, over the scores that `body` computes
    from an element of the product and one of each of `inputs`, which have the
    shape [B][H][M][N] or size 1 in broadcast dims. Without a body the scores
    are the products.
  }];
  let arguments = (ins AnyMemRef:$query, AnyMemRef:$key, AnyMemRef:$value,
                       Variadic<AnyMemRef>:$inputs, AnyMemRef:$output);
  let regions = (region MaxSizedRegion<1>:$body);
  let assemblyFormat = [{
    $query `,` $key `,` $value (`inputs` $inputs^)? `outs` $output attr-dict `:` type(operands)
    ($body^)?
  }];
  let hasVerifier = 1;
}

def Cpu_ScoreYieldOp : Op<Cpu_Dialect, "score_yield", [Pure, Terminator, HasParent<"AttentionOp">]> {
  let summary = "Yields a score from the body of an attention";
  let arguments = (ins F32:$value);
  let assemblyFormat = "$value attr-dict `:` type($value)";
}

def Cpu_LayerNormOp : Kernel_InPlaceOp<"layer_norm", [AttrSizedOperandSegments], Cpu_Dialect> {
  let summary = "(x - mean) / sqrt(variance + epsilon) * gamma + beta of every row";
  let description = [{
    input and output [M][N] of f32, whose rows are dense; gamma and beta [N].
    The variance is the mean of the squared differences from the mean.
  }];
  let arguments = (ins AnyMemRef:$input, Optional<AnyMemRef>:$gamma, Optional<AnyMemRef>:$beta,
                       AnyMemRef:$output, F64Attr:$epsilon);
  let assemblyFormat = [{
    $input (`gamma` $gamma^)? (`beta` $beta^)? `outs` $output attr-dict `:` type(operands)
  }];
  let hasVerifier = 1;
}

#endif // OPENATC_CPU_TRANSFORMEROPS_TD
