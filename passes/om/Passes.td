//===-- Passes.td - passes on the schedule (alphabetical) -*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_OM_PASSES_TD
#define OPENATC_PASSES_OM_PASSES_TD

include "mlir/Pass/PassBase.td"

def OmPlanMemory : Pass<"om-plan-memory", "::mlir::ModuleOp"> {
  let summary = "Assign an offset in the arena to every om.alloc";
  let description = [{
    A buffer is live from the first launch that uses it to the last one; views
    count as their source. Buffers that are live at the same time get disjoint
    ranges, 64-byte aligned. Large buffers are allocated first, each in the
    smallest gap that fits; while the arena stays above its lower bound, hill
    climbing tries other orders. Sets `om.arena_size` and `om.arena_lower_bound`
    (the maximum number of bytes that are live at the same time) on the module.
    Where very many buffers are live together, each is allocated in the smallest
    gap at its first launch instead, in bounded time.

    ```mlir
    %a = om.alloc : memref<64xf32>
    // becomes
    %a = om.alloc {offset = 0 : i64} : memref<64xf32>
    ```
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
  let summary = "Remove launches whose results are unused, and everything that only they use";
  let description = [{
    A launch is kept when it writes an output, or an arena buffer that a kept,
    later launch reads. Buffers, views, weights and kernels without other uses
    are removed with it, and so are prefetches of weights that no launch reads.
    A launch that was chained to a removed one is chained to the one before
    that, or to none.
  }];
  let statistics = [
    Statistic<"numLaunches", "num-launches", "Launches removed">,
    Statistic<"numPrefetches", "num-prefetches", "Prefetched weights that nothing reads">,
    Statistic<"numKernels", "num-kernels", "Kernels removed">
  ];
}

def OmReuseInPlace : Pass<"om-reuse-in-place", "::mlir::ModuleOp"> {
  let summary = "Let launches write their result to the buffer of a dead operand";
  let description = [{
    A launch lists in `in_place` the operands whose buffer its result may use.
    Where such an operand is read for the last time, and both are the same part
    of buffers of one type, the operand's buffer replaces the result's. Border
    fills of the result's buffer are removed when the operand's buffer has had
    the same fills.

    ```mlir
    om.launch @k(%a, %b) {cost = 1 : i64, in_place = array<i64: 0>} : ...
    // becomes, where %a is not read later
    om.launch @k(%a, %a) {cost = 1 : i64, in_place = array<i64: 0>} : ...
    ```
  }];
  let statistics = [
    Statistic<"numReused", "num-reused", "Buffers that took an operand's position">,
    Statistic<"numFills", "num-fills", "Fills that were not needed any more">
  ];
}

def OmVerifySchedule : Pass<"om-verify-schedule", "::mlir::ModuleOp"> {
  let summary = "Check that the schedule can run";
  let description = [{
    Checks that everything that is read has been written before, that weights
    and inputs are not written and every output is, that every launched function
    is a kernel, and, once offsets are set, that buffers that are live at the
    same time do not overlap. Only weights may be prefetched, and `prefetch` and
    `chained` are valid on NPU launches only, the latter behind another one.
  }];
}

#endif // OPENATC_PASSES_OM_PASSES_TD
