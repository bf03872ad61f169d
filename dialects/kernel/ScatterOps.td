//===-- ScatterOps.td - sums by index and running sums -----*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_KERNEL_SCATTER_OPS_TD
#define OPENATC_KERNEL_SCATTER_OPS_TD

include "dialects/kernel/KernelDialect.td"

def Kernel_ScatterAddOp : Kernel_Op<"scatter_add"> {
  let summary = "updates [A][I][B] of equal indices [I] are summed to output [A][K][B]";
  let description = [{
    Rows of the output without an index are 0. Negative indices count from the end; then indices
    are clamped into range.
  }];
  let arguments = (ins AnyMemRef:$updates, AnyMemRef:$indices, AnyMemRef:$output);
  let hasVerifier = 1;
}

def Kernel_CumulativeSumOp : Kernel_Op<"cumulative_sum"> {
  let summary = "Sums of all elements up to each one along `axis`";
  let description = [{
    With `reverse` the sums run from the end; with `exclusive` they do not
    contain the element at their own position.
  }];
  let arguments = (ins AnyMemRef:$input, AnyMemRef:$output, I64Attr:$axis, UnitAttr:$exclusive,
                       UnitAttr:$reverse);
  let hasVerifier = 1;
}

#endif // OPENATC_KERNEL_SCATTER_OPS_TD
