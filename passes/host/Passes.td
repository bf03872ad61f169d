//===-- Passes.td - passes on host programs ---------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_HOST_PASSES_TD
#define OPENATC_PASSES_HOST_PASSES_TD

include "mlir/Pass/PassBase.td"

def HostOutlineStatic : Pass<"host-outline-static", "::mlir::ModuleOp"> {
  let summary = "Moves what has fixed shapes out of a host program into functions";
  let description = [{
    In every block of @main the graph ops, which work on plain tensors, become
    functions `@part_<n>` that a `func.call` stands for; `graph.host_call`, `graph.if`
    and `graph.loop` stay. Ops that can run as one part do: those that the same number
    of changes between host and part lies in front of. A constant that both sides
    read is in both. A part is then compiled like a model of its own.

    A model without host ops is left alone.
  }];
  let statistics = [Statistic<"numParts", "num-parts", "Functions made">];
}

#endif // OPENATC_PASSES_HOST_PASSES_TD
