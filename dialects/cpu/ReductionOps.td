//===-- ReductionOps.td - sums of computed values ---------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_CPU_REDUCTIONOPS_TD
#define OPENATC_CPU_REDUCTIONOPS_TD

include "dialects/cpu/CpuDialect.td"

def Cpu_MapReduceOp : Kernel_Op<"map_reduce", [], Cpu_Dialect> {
  let summary = "Sums (or means) over `axes` of the values that a body computes per position";
  let description = [{
    The positions are those to which the inputs broadcast, which have one rank and
    size 1 in broadcast dims. The body computes one or several values of f32 from an
    element of each input; output [values][dims] keeps the dims of `axes` with
    size 1. Each element of the inputs is read once for all of the sums.
  }];
  let arguments = (ins Variadic<AnyMemRef>:$inputs, AnyMemRef:$output, DenseI64ArrayAttr:$axes,
                       UnitAttr:$mean);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$inputs `outs` $output attr-dict `:` type(operands) $body";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Returns the sizes of the dims over which the body runs.
    ::llvm::SmallVector<int64_t> iterationShape();
  }];
}

def Cpu_ReductionYieldOp
    : Op<Cpu_Dialect, "reduction_yield", [Pure, Terminator, HasParent<"MapReduceOp">]> {
  let summary = "Yields the values to sum from the body of a map_reduce";
  let arguments = (ins Variadic<F32>:$values);
  let assemblyFormat = "$values attr-dict `:` type($values)";
}

#endif // OPENATC_CPU_REDUCTIONOPS_TD
