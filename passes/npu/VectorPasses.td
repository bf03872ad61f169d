//===-- VectorPasses.td - further expansions to the vector queue -*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_NPU_VECTOR_PASSES_TD
#define OPENATC_NPU_VECTOR_PASSES_TD

include "mlir/Pass/PassBase.td"

def NpuExpandArgReduce : Pass<"npu-expand-arg-reduce", "::mlir::ModuleOp"> {
  let summary = "Expand kernel.arg_reduce to programs of the vector queue";
  let description = [{
    Rows are reduced twice: to their extremum, and to the number of the first (or
    last) element that equals it. Along another dim, runs of elements are compared
    with the best ones so far. Indices leave ub as integers of 64 bits.
  }];
  let dependentDialects = ["::atc::npu::ir::NpuDialect"];
}

def NpuExpandGather : Pass<"npu-expand-gather", "::mlir::ModuleOp"> {
  let summary = "Expand kernel.gather to programs that copy the rows that indices name";
  let description = [{
    Indices are loaded into ub and copied there, because the queue that reads them
    is the one that loads them; `npu.gather_rows` copies a row of the table for
    each, and the rows are stored. Cores share indices and columns. The time is
    that of rows spread evenly over the table.

    ```
    kernel.gather %table, %ids, %rows : memref<1x1000x64xf16>, memref<16xi64>, memref<1x16x64xf16>
    ->
    npu.move %ids_in_ub, %ids
    npu.vector "copy" %indices, %ids_in_ub
    npu.gather_rows %rows_in_ub, %table, %indices {table_rows = 1000, src_row = 128, ...}
    npu.move %rows, %rows_in_ub
    ```
  }];
  let dependentDialects = ["::atc::npu::ir::NpuDialect"];
}

def NpuSelectBoxes : Pass<"npu-select-boxes", "::mlir::func::FuncOp"> {
  let summary = "Select the sizes of the boxes of elements that kernels of the vector queue hold in ub";
  let description = [{
    Expansions choose boxes that overlap loads, work and stores on all cores. Where
    the table of choices has another size for a kernel.map, kernel.copy, kernel.pool,
    kernel.reduce, kernel.softmax or npu.layer_norm, in percent of theirs, it is set
    as `tuning.box`; expansions keep boxes within ub all the same.

    ```mlir
    kernel.map ins(%x) outs(%y) ...
    // becomes, with the choice "200"
    kernel.map ins(%x) outs(%y) {tuning.box = 200 : i64} ...
    ```
  }];
}

def NpuIntegersAsFloats : Pass<"npu-integers-as-floats", "::mlir::ModuleOp"> {
  let summary = "Compute with integers as floats where the result is the same";
  let description = [{
    The vector unit computes with floats; integers of 32 and 64 bits are only
    cast. Integers up to 2^24 are numbers of f32, as are their sums, products and
    remainders up to there. A kernel.map computes in f32 if all its integers are
    known to be that small, and if the NPU computes it then: weights,
    bools, bytes, results of arg-reductions, and what other kernels compute, move
    and select of them. One side of a comparison may be any integer, as may what
    is clamped between constants: the answer is the same. Inputs that are indices
    are as small as their tables, since a run refuses others. Divisions take dividends up to 2^22.

    ```
    %i = arith.addi %small, %c2 : i64
    kernel.yield %i : i64
    ->
    %f = arith.sitofp %small : i64 to f32
    %s = arith.addf %f, %cst : f32
    %r = math.roundeven %s : f32
    %i = arith.fptosi %r : f32 to i64
    kernel.yield %i : i64
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
  let statistics = [Statistic<"numRewritten", "num-rewritten", "Maps that compute with floats">];
}

def NpuSplitBorders : Pass<"npu-split-borders", "::mlir::ModuleOp"> {
  let summary = "Split fills of borders into fills of their sides";
  let description = [{
    A kernel.fill with a border becomes up to four without one: rows above and
    below, and the columns between them. Fills of which a side has no program
    stay, as do those that a user pinned to the CPU.

    ```
    kernel.fill %x {border = array<i64: 1, 0, 0, 2>, value = 0.0} : memref<1x8x9x9xf16>
    ->
    kernel.fill %top {value = 0.0} : memref<1x8x1x9xf16, strided<...>>
    kernel.fill %right {value = 0.0} : memref<1x8x8x2xf16, strided<...>>
    ```
  }];
  let dependentDialects = ["::atc::om::OmDialect"];
  let statistics = [Statistic<"numSplit", "num-split", "Fills of borders that were split">];
}

def NpuSplitReductions : Pass<"npu-split-reductions", "::mlir::ModuleOp"> {
  let summary = "Split reductions of rows that do not fit into ub";
  let description = [{
    A kernel.reduce of the last dim that has no program for the NPU becomes one
    of equal parts of it and one of their results, where both have programs. A
    norm over whole images (GroupNorm with one group) has such rows.

    ```
    kernel.reduce %x, %y {axes = [2], kind = mean} : memref<1x1x65536xf16>, memref<1x1x1xf16>
    ->
    kernel.reduce %parts, %means {axes = [3], kind = mean} : memref<1x1x16x4096xf16>, memref<1x1x16x1xf16>
    kernel.reduce %means, %y {axes = [2], kind = mean} : memref<1x1x16xf16>, memref<1x1x1xf16>
    ```
  }];
  let dependentDialects = ["::atc::om::OmDialect"];
  let statistics = [Statistic<"numSplit", "num-split", "Reductions that became two">];
}

def NpuDensifyOperands : Pass<"npu-densify-operands", "::mlir::ModuleOp"> {
  let summary = "Copy operands that are not dense for kernels that would leave the NPU otherwise";
  let description = [{
    The vector unit works on runs of elements that lie behind each other. A
    kernel.map or kernel.reduce that it cannot compute for the strides of its
    operands reads copies of those that are not row-major, and its result is
    copied to where it belongs. Dims along which a kernel.softmax or kernel.reduce
    computes are the last ones of these copies. A kernel.map that the vector unit
    can compute, but on runs of a few elements, works on copies where these and
    the map take less time by a simple model. A kernel.copy that transposes blocks
    of a few elements, as one that moves channels into larger planes, becomes two
    around a temporary in which the longest dim is contiguous, by the same rule.
    Kernels that do not run on the NPU even so stay as they are.

    ```
    kernel.map %column outs %y : memref<100xf16, strided<[85], offset: 4>>, memref<100xf16>
    ->
    kernel.copy %column, %dense : memref<100xf16, strided<[85], offset: 4>>, memref<100xf16>
    kernel.map %dense outs %y : memref<100xf16>, memref<100xf16>
    ```
  }];
  let dependentDialects = ["::atc::om::OmDialect"];
  let statistics = [Statistic<"numDensified", "num-densified",
                              "Kernels that run on the NPU because of copied operands">,
                    Statistic<"numLengthened", "num-lengthened",
                              "Maps with longer runs because of copied operands">,
                    Statistic<"numDivided", "num-divided",
                              "Copies that became two, which transpose larger blocks">];
}

def NpuAlignRows : Pass<"npu-align-rows", "::mlir::ModuleOp"> {
  let summary = "Let rows that products read begin at blocks of 32 bytes";
  let description = [{
    The cube's loads of rows that do not begin at multiples of 32 bytes are slow.
    A temporary that an npu.matmul reads as a matrix, and those from which maps and
    softmaxes along rows compute it, have longer rows in memory, of which the
    last elements are not used; on separate cores, whose products are stored faster without
    gaps, only the former. Temporaries stay as they are where a kernel works on
    a part of them or in another order, where the NPU would not compute one of the
    kernels any more, or where moving rows one by one costs the vector unit more than
    the product gains.

    ```
    %p = om.alloc : memref<1x12x197x197xf16>
    npu.matmul %p, %v outs %y : memref<1x12x197x197xf16>, ...
    ->
    %a = om.alloc : memref<1x12x197x208xf16>
    %p = om.view %a[0] : memref<1x12x197x208xf16> to memref<1x12x197x197xf16, strided<[491712, 40976, 208, 1]>>
    npu.matmul %p, %v outs %y : memref<1x12x197x197xf16, strided<...>>, ...
    ```
  }];
  let dependentDialects = ["::atc::om::OmDialect"];
  let statistics = [Statistic<"numAligned", "num-aligned", "Temporaries with aligned rows">];
}

#endif // OPENATC_NPU_VECTOR_PASSES_TD
