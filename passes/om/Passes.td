//===-- Passes.td - passes on the schedule (alphabetical) -*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_OM_PASSES_TD
#define OPENATC_PASSES_OM_PASSES_TD

include "mlir/Pass/PassBase.td"

def OmPlanMemory : Pass<"om-plan-memory", "::mlir::ModuleOp"> {
  let summary = "Gives every om.alloc its place in the arena";
  let description = [{
    A buffer lives from the first launch that touches it to the last one; views
    count as their source. Buffers that live at the same time get disjoint
    places, 64-byte aligned. Large buffers are placed first, each in the
    smallest gap that holds it; while the arena stays above its lower bound, a
    hill climb tries other orders. Sets `om.arena_size` and
    `om.arena_lower_bound` (the most bytes that live at one time) on the module.
    Where very many buffers live together, each is placed in the smallest gap at its
    first launch instead, which takes no longer for it.
  }];
  let options = [
    Option<"trials", "trials", "int64_t", "400",
           "Most orders that the hill climb tries; fewer where many buffers live together">,
    Option<"maxPairs", "max-pairs", "int64_t", "4000000",
           "Pairs of buffers that live together above which there is no choice of an order">
  ];
  let statistics = [
    Statistic<"arenaSize", "arena-bytes", "Bytes of the arena">,
    Statistic<"lowerBound", "lower-bound-bytes", "Most bytes that live at one time">,
    Statistic<"allocBytes", "alloc-bytes", "Sum of all buffers' bytes">
  ];
}

def OmRemoveDead : Pass<"om-remove-dead", "::mlir::ModuleOp"> {
  let summary = "Removes launches whose result nobody reads, and what only they use";
  let description = [{
    A launch is kept when it writes an output, or an arena buffer that a kept,
    later launch reads. Buffers, views, weights and kernels that nothing uses
    any more go with it, and the prefetch of weights that nothing reads. A launch
    that was chained to a removed one is chained to the one before that, or to
    none.
  }];
  let statistics = [
    Statistic<"numLaunches", "num-launches", "Launches removed">,
    Statistic<"numPrefetches", "num-prefetches", "Prefetched weights that nothing reads">,
    Statistic<"numKernels", "num-kernels", "Kernels removed">
  ];
}

def OmReuseInPlace : Pass<"om-reuse-in-place", "::mlir::ModuleOp"> {
  let summary = "Lets a launch write over an operand that dies there";
  let description = [{
    A launch lists in `in_place` the operands whose memory its result may take.
    Where such an operand is read for the last time, and both are the same part
    of buffers of one type, the result's buffer becomes the operand's. Border
    fills of the result's buffer are removed when the operand's buffer has had
    the same ones.
  }];
  let statistics = [
    Statistic<"numReused", "num-reused", "Buffers that took an operand's place">,
    Statistic<"numFills", "num-fills", "Fills that were not needed any more">
  ];
}

def OmVerifySchedule : Pass<"om-verify-schedule", "::mlir::ModuleOp"> {
  let summary = "Checks that the schedule can run";
  let description = [{
    Everything that is read has been written before, weights and inputs are not
    written, every output is, every launched function is a kernel, and, once
    offsets are set, buffers that live at one time do not overlap. Only weights
    are prefetched, and `prefetch` and `chained` stand on NPU launches only, the
    latter behind another one.
  }];
}

#endif // OPENATC_PASSES_OM_PASSES_TD
