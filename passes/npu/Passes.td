//===-- Passes.td - passes on npu programs (alphabetical) -*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_NPU_PASSES_TD
#define OPENATC_PASSES_NPU_PASSES_TD

include "mlir/Pass/PassBase.td"
include "passes/npu/SchedulePasses.td"

def NpuAllocateLocalMemory : Pass<"npu-allocate-local-memory", "::atc::npu::ir::ProgramOp"> {
  let summary = "Gives every npu.alloc its place";
  let description = [{
    A buffer lives from the first to the last child of its block that uses it.
    While a memory has room for all its buffers side by side none share bytes,
    because sharing makes dependences; else buffers that do not live at one time
    may, largest first into the gap that fits best.
  }];
  let options = [
    Option<"report", "report", "bool", "false",
           "Remark the bytes used and the lower bound of each memory">
  ];
  let statistics = [
    Statistic<"numShared", "num-shared", "Memories in which buffers share bytes">
  ];
}

def NpuComposeLayerNorm : Pass<"npu-compose-layer-norm", "::mlir::ModuleOp"> {
  let summary = "Recognises layer norms spelled as means and maps";
  let description = [{
    (x - mean(x)) / sqrt(mean((x - mean(x))^2) + epsilon) * gamma + beta over the
    last dim, however its elementwise part is spread over kernel.map ops, becomes
    one npu.layer_norm.
  }];
  let dependentDialects = ["::atc::npu::ir::NpuDialect", "::atc::om::OmDialect",
                           "::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
  let statistics = [
    Statistic<"numComposed", "num-composed", "Layer norms found">
  ];
}

def NpuExpandConv2D : Pass<"npu-expand-conv2d", "::mlir::ModuleOp"> {
  let summary = "Puts a program in place of each kernel function that is an npu.conv2d";
  let description = [{
    Rows are output positions, columns output channels. Input rows and weights
    come to l1 in chunks, img2col (or for 1x1 a plain load) makes fractals of
    them, tiles of results leave through ub, where the vector unit does what the
    cube cannot, or through fix. The program is sequential.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
}

def NpuExpandCopy : Pass<"npu-expand-copy", "::mlir::ModuleOp"> {
  let summary = "Turns kernel.copy, pack, unpack, fill and pad into programs of the vector queue";
  let description = [{Boxes go through ub; transposes by blocks of 16 x 16 elements where runs are short.}];
  let dependentDialects = ["::atc::npu::ir::NpuDialect"];
}

def NpuExpandLayerNorm : Pass<"npu-expand-layer-norm", "::mlir::ModuleOp"> {
  let summary = "Turns npu.layer_norm into programs of the vector queue";
  let description = [{Rows in ub; mean and variance in f32, the scaling in f16 where both ends are.}];
  let dependentDialects = ["::atc::npu::ir::NpuDialect"];
}

def NpuExpandMap : Pass<"npu-expand-map", "::mlir::ModuleOp"> {
  let summary = "Turns kernel.map into programs of the vector queue";
  let description = [{Boxes of elements come into ub, the body's ops are vector instructions on a box.}];
  let dependentDialects = ["::atc::npu::ir::NpuDialect"];
}

def NpuExpandMatMul : Pass<"npu-expand-matmul", "::mlir::ModuleOp"> {
  let summary = "Puts a program in place of each kernel function that is an npu.matmul";
  let description = [{
    Batched products whose matrices are parts of the same long rows, like the heads
    of an attention, move several of them at a time; their tiles follow from the
    products' sizes. All others are cut as their `tile` says.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
  let statistics = [Statistic<"numJoined", "num-joined", "Programs that move several products">];
}

def NpuExpandPool : Pass<"npu-expand-pool", "::mlir::ModuleOp"> {
  let summary = "Turns kernel.pool into programs of the vector queue";
  let description = [{Rows of blocks in ub with padding around them, one instruction for each tap.}];
  let dependentDialects = ["::atc::npu::ir::NpuDialect"];
}

def NpuExpandReduce : Pass<"npu-expand-reduce", "::mlir::ModuleOp"> {
  let summary = "Turns kernel.reduce into programs of the vector queue";
  let description = [{Halves are joined pairwise while rows are long, in f32.}];
  let dependentDialects = ["::atc::npu::ir::NpuDialect"];
}

def NpuExpandResize : Pass<"npu-expand-resize", "::mlir::ModuleOp"> {
  let summary = "Turns kernel.resize into programs of the vector queue";
  let description = [{Rows in ub, one instruction for each tap.}];
  let dependentDialects = ["::atc::npu::ir::NpuDialect"];
}

def NpuExpandSoftmax : Pass<"npu-expand-softmax", "::mlir::ModuleOp"> {
  let summary = "Turns kernel.softmax into programs of the vector queue";
  let description = [{Rows in ub, computed in f32 or, where both ends are f16, in f16.}];
  let dependentDialects = ["::atc::npu::ir::NpuDialect"];
}

def NpuFuseEpilogues : Pass<"npu-fuse-epilogues", "::mlir::ModuleOp"> {
  let summary = "Takes maps behind matrix products into them";
  let description = [{
    A kernel.map that scales the result of an npu.matmul, adds another buffer to it
    (which may broadcast: its strides are 0 then) or converts it to f32 is done
    where the result leaves the cube, if the module's SoC can do it there.
  }];
  let dependentDialects = ["::atc::npu::ir::NpuDialect", "::atc::om::OmDialect",
                           "::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
  let statistics = [
    Statistic<"numFused", "num-fused", "Maps that became part of a product">
  ];
}

def NpuFuseInputQuantization : Pass<"npu-fuse-input-quantization", "::mlir::ModuleOp"> {
  let summary = "Takes the quantize in front of a first layer into the load of its image";
  let description = [{
    A kernel.map that only quantizes f32 for an npu.conv2d that reads an image of bytes, and
    nothing else reads, becomes the convolution's `image_scale`, if the module's SoC can do it.
  }];
  let dependentDialects = ["::atc::npu::ir::NpuDialect", "::atc::om::OmDialect"];
  let statistics = [
    Statistic<"numFused", "num-fused", "Maps that became part of a load">
  ];
}

def NpuInsertSync : Pass<"npu-insert-sync", "::atc::npu::ir::ProgramOp"> {
  let summary = "Orders the queues of a sequential program with flags and barriers";
  let description = [{
    Instructions of different queues that touch the same bytes, one of them
    writing, get a flag from the first to the second, and one back for the next
    iteration: as many iterations ahead as the buffer has copies. What other
    flags and the order within queues imply is left out. Flags that order
    iterations are raised at the start and taken down at the end. Where the eight
    ids of a pair of queues do not suffice, flags are merged, then copies are
    synchronised as one, then all queues wait at a barrier.
  }];
  let options = [
    Option<"minimise", "minimise", "bool", "true",
           "Leave out what is implied and merge flags; else each dependence has its own">,
    Option<"allocate", "allocate", "bool", "true",
           "Raise flags where they can be, with ids that turn with the copies of buffers; else "
           "set and wait stand together before what waits, for each dependence">,
    Option<"report", "report", "bool", "false",
           "Remark how many flags, barriers and implied dependences there are">
  ];
  let statistics = [
    Statistic<"numFlags", "num-flags", "Flags inserted">,
    Statistic<"numBarriers", "num-barriers", "Barriers inserted">,
    Statistic<"numRemoved", "num-removed", "Dependences that others imply">,
    Statistic<"numMerged", "num-merged", "Flags merged to save ids">
  ];
}

def NpuLowerGraph : Pass<"npu-lower-graph", "::mlir::ModuleOp"> {
  let summary = "Turns the graph into kernels on buffers, contractions of f16 into the NPU's";
  let description = [{
    Does what cpu-lower-graph does. Convolutions and matrix products of f16 become
    npu.conv2d and npu.matmul: weights are packed in fractals, transposes around
    products are strides, the first convolution reads the plain image.
  }];
  let dependentDialects = ["::atc::cpu::CpuDialect", "::atc::npu::ir::NpuDialect",
                           "::atc::om::OmDialect", "::mlir::arith::ArithDialect",
                           "::mlir::math::MathDialect", "::mlir::memref::MemRefDialect"];
}

def NpuPartition : Pass<"npu-partition", "::mlir::ModuleOp"> {
  let summary = "Marks the kernels that the NPU runs";
  let description = [{
    Kernels in `@main` that can become programs for the module's SoC (`npu.soc`)
    get `npu.device`. The others stay kernels of the CPU in the same schedule.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
  let options = [
    Option<"report", "report", "bool", "false",
           "Remark what stays on the CPU, and why">
  ];
  let statistics = [
    Statistic<"numDevice", "num-device", "Kernels of the NPU">,
    Statistic<"numHost", "num-host", "Kernels of the CPU">,
    Statistic<"macsShare", "macs-permille", "Multiply-accumulates on the NPU, in thousandths">
  ];
}

def NpuPrecision : Pass<"npu-precision", "::mlir::func::FuncOp"> {
  let summary = "Chooses f16 for the tensors of a graph";
  let description = [{
    `force_fp16`: every f32 tensor inside of the graph becomes f16; inputs and
    results keep their types behind casts, constants are clamped to f16's range,
    scalar code of maps stays in f32. `cube_fp16`: only convolutions and matrix
    products read f16. `origin`: types stay. Biases are f32 in all modes: they
    join the cube's sums. Where the module has `graph.float32_nodes`, a list of
    names of nodes of the model, these compute in f32, between casts, and all
    others in f16, whatever the mode is.
  }];
  let options = [
    Option<"mode", "mode", "std::string", /*default=*/"\"force_fp16\"",
           "force_fp16, cube_fp16 or origin">
  ];
  let dependentDialects = ["::atc::graph::GraphDialect", "::mlir::arith::ArithDialect"];
  let statistics = [
    Statistic<"numNarrowed", "num-narrowed", "Tensors that became f16">
  ];
}

def NpuReorder : Pass<"npu-reorder", "::atc::npu::ir::ProgramOp"> {
  let summary = "Orders the instructions of each block by what waits for them";
  let description = [{
    List scheduling with the cycles of the cost model: of what can begin first,
    the start of the longest chain goes first. A loop counts as one instruction
    on all its queues. An order is kept only if a few of its iterations take less
    time than in the old one. Works on programs whose buffers have places.
  }];
  let statistics = [
    Statistic<"numReordered", "num-reordered", "Blocks with a new order">
  ];
}

def NpuSelectBuffers : Pass<"npu-select-buffers", "::atc::npu::ir::ProgramOp"> {
  let summary = "Decides how many copies of each buffer are used in turn";
  let description = [{
    A buffer made in a loop and used by several queues gets two copies, one
    filled from gm up to `max-buffers`. Copies are taken away while a memory
    would overflow, first of buffers that are not filled from gm.
  }];
  let options = [
    Option<"maxBuffers", "max-buffers", "int64_t", "2",
           "Most copies of a buffer; 1 leaves all with one">
  ];
  let statistics = [
    Statistic<"numCopied", "num-copied", "Buffers with several copies">,
    Statistic<"numTaken", "num-taken", "Copies taken away for lack of room">
  ];
}

def NpuSelectInt8Contractions : Pass<"npu-select-int8-contractions", "::mlir::func::FuncOp"> {
  let summary = "Finds the integer sums that the cube computes";
  let description = [{
    Results that are real numbers of a quantized tensor are stored as its bytes,
    and what reads them multiplies. Then integer_conv and
    integer_fully_connected get the attribute `npu.sums`, if all convolutions of
    the function can: coupled cores, one group or few channels, weights without
    zero points, and a body that starts by requantizing.
  }];
  let dependentDialects = ["::atc::npu::ir::NpuDialect", "::mlir::arith::ArithDialect",
                           "::mlir::math::MathDialect"];
  let statistics = [Statistic<"numMarked", "num-marked", "Sums of the cube">];
}

def NpuSelectTiles : Pass<"npu-select-tiles", "::mlir::func::FuncOp"> {
  let summary = "Chooses how contractions are cut, with a cost model of the queues";
  let description = [{
    Sets `tile` on the npu.conv2d or npu.matmul of a kernel function: the sizes of
    a step through l0, the chunks of l1, which operand stays there, and how the
    cores share rows and columns. The model adds up each queue's cycles on the
    busiest core and takes the largest, with what cannot overlap on top. With
    `measure` programs are made of the best ones and timed on the simulator, and
    the fastest is taken: the same one in every run. A tile that is there already
    stays.
  }];
  let options = [
    Option<"fixed", "fixed", "std::string", "\"\"",
           "Tiles of m x n x k in l0 (`64x64x64`) without reuse in l1 beyond them">,
    Option<"measure", "measure", "int64_t", "0",
           "Try so many of the model's best on the simulator and take the fastest">,
    Option<"report", "report", "bool", "false", "Remark the estimate of each choice">
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
}

def NpuSetSoc : Pass<"npu-set-soc", "::mlir::ModuleOp"> {
  let summary = "Names the SoC that the module is compiled for, if none is named";
  let options = [
    Option<"soc", "soc", "std::string", /*default=*/"\"Ascend310P3\"",
           "Name of a built-in SoC table">
  ];
}

def NpuSplitEpilogues : Pass<"npu-split-epilogues", "::mlir::ModuleOp"> {
  let summary = "Moves what the cube cannot do with its results into maps";
  let description = [{
    Residual and activation of a contraction that the SoC cannot run with them
    become a kernel.map behind it: on split SoCs FIX does relu and no more.
  }];
  let dependentDialects = ["::atc::npu::ir::NpuDialect", "::atc::om::OmDialect",
                           "::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
  let statistics = [
    Statistic<"numSplit", "num-split", "Contractions that got a map behind them">
  ];
}

#endif // OPENATC_PASSES_NPU_PASSES_TD
