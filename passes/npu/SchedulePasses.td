//===-- SchedulePasses.td - passes on schedules for the NPU -*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_NPU_SCHEDULE_PASSES_TD
#define OPENATC_NPU_SCHEDULE_PASSES_TD

include "mlir/Pass/PassBase.td"

def NpuJoinLaunches : Pass<"npu-join-launches", "::mlir::ModuleOp"> {
  let summary = "Make one launch of several that run in sequence";
  let description = [{
    Launches that continue a task become one launch, whose program contains
    theirs. A part waits by signals for those that it shares bytes with, on all cores;
    loads of weights do not wait. Parts that do not follow each other, such as those of
    an interleaved group (npu-split-batch), signal events of their own. The grids of the programs must have a common one: 8 x 1
    and 4 x 2 are both written in the coordinates of 4 x 2. Where cores of both
    kinds can run at once (`crossLatency`), launches on cube cores and those on
    vector cores become the two sections of a mixed program, which wait for each
    other only where they share bytes of a buffer. A joined program names its parts
    (`npu.layer`), so that reports and profiles keep a row for each launch. Where neither
    `longest` nor the table of choices says otherwise, the pass simulates the
    schedule with launches apart, with runs as long as possible, and with those of
    them that are faster, and keeps the fastest of the three. Runs on finished
    programs.

    ```mlir
    om.launch @conv1(%x, %w1, %y)
    om.launch @conv2(%y, %w2, %z) {chained}
    // becomes
    om.launch @conv2_joined(%x, %w1, %y, %w2, %z)
    ```
  }];
  let options = [
    Option<"longest", "longest", "int64_t", "0",
           "The maximum number of launches that become one; 0: by simulated time">,
    Option<"simulatedBytes", "simulated-bytes", "uint64_t", "uint64_t(24) << 30",
           "The bytes of gm that simulations of the schedule may touch">
  ];
  let statistics = [
    Statistic<"numJoined", "num-joined", "Launches that became part of another one">
  ];
  let dependentDialects = ["::atc::om::OmDialect", "::atc::npu::ir::NpuDialect"];
}

def NpuPrefetchWeights : Pass<"npu-prefetch-weights", "::mlir::func::FuncOp"> {
  let summary = "Chain launches and prefetch the weights of later ones into L2";
  let description = [{
    Consecutive launches on the NPU become one task. Each launch names weights
    of later ones that the system DMA moves from DDR into L2 while it runs, in
    the order in which they are needed, as far ahead as a share of the room that
    the launch and the next ones leave in L2. A weight that is used again after
    L2 has evicted it is fetched again.
  }];
  let options = [
    Option<"chain", "chain", "bool", "true", "Make one task of launches in sequence">,
    Option<"prefetch", "prefetch", "bool", "true", "Name weights of later launches">,
    Option<"share", "share", "double", "0.4", "Share of the room in L2 that weights which wait may take">
  ];
  let statistics = [
    Statistic<"numChained", "num-chained", "Launches that continue a task">,
    Statistic<"numPrefetched", "num-prefetched", "Weights named">
  ];
  let dependentDialects = ["::atc::om::OmDialect"];
}

def NpuPreloadWeights : Pass<"npu-preload-weights", "::mlir::ModuleOp"> {
  let summary = "Let programs load weights of later launches, so that L2 holds them in time";
  let description = [{
    For SoCs whose system DMA cannot fill L2 (`l2Prefetch` is 0) and networks
    that do not fit into it. A program's queue for loads rests while the other
    queues compute. Weights of later launches, as far ahead as L2 has room,
    become further buffers of the launch, in front of the one that it writes.
    The cores load a part each into local memory that nothing else uses, at the
    end of the program or in each iteration of its loops. How many bytes and
    where is found by simulating each program with several sizes, and with those
    of its own weights in DDR that no launch has loaded for it: what counts is
    DDR's time for these bytes, times a factor, which the later launch saves,
    less what the program takes longer. The whole schedule is then simulated
    with the option's factor, with half of it and without such loads, and the
    fastest of them stays; where that would take too long, the option's factor
    counts. Runs on finished programs.

    ```mlir
    om.launch @dense(%x, %w1, %y)
    // becomes
    om.launch @dense_preload(%x, %w1, %w2, %y)
    ```
  }];
  let options = [
    Option<"factor", "factor", "double", "0.5",
           "What DDR's time for bytes that are loaded ahead is worth at most">,
    Option<"l2Share", "l2-share", "double", "0.4",
           "Share of the room in L2 that weights which wait may take">
  ];
  let statistics = [
    Statistic<"numLaunches", "num-launches", "Launches that load weights of later ones">,
    Statistic<"numBytes", "num-bytes", "Bytes of these weights">
  ];
  let dependentDialects = ["::atc::om::OmDialect"];
}

def NpuSplitBatch : Pass<"npu-split-batch", "::mlir::func::FuncOp"> {
  let summary = "Run groups of kernels on parts of the batch, so that intermediate data stays in L2";
  let description = [{
    Divides the kernels of @main, in their order, into groups, and runs each
    group on equal parts of the batch one after the other. Buffers that only a
    group uses shrink to one part. Selects the groups and parts with the lowest
    time according to the cost model of npu-select-tiles, the DDR traffic beyond
    L2, weights that are read again, and the cost of launches. Where that is
    less than 3 % better, each kernel runs on the whole batch. The table of
    choices can also interleave a group: each kernel runs on one part after the
    other, so that in a mixed launch (npu-join-launches) cube cores compute one
    part while vector cores work on another.
  }];
  let options = [
    Option<"parts", "parts", "int64_t", "0", "Parts of every group that allows it; 0: by the model">,
    Option<"share", "share", "double", "0.9", "Share of L2 that a group may fill">
  ];
  let statistics = [
    Statistic<"numGroups", "num-groups", "Groups that run on parts">,
    Statistic<"numShrunk", "num-shrunk", "Buffers that hold one part">
  ];
  let dependentDialects = ["::atc::om::OmDialect"];
}

#endif // OPENATC_NPU_SCHEDULE_PASSES_TD
