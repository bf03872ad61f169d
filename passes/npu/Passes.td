//===-- Passes.td - passes on npu programs (alphabetical) -*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_NPU_PASSES_TD
#define OPENATC_PASSES_NPU_PASSES_TD

include "mlir/Pass/PassBase.td"
include "passes/npu/SchedulePasses.td"

def NpuAllocateLocalMemory : Pass<"npu-allocate-local-memory", "::atc::npu::ir::ProgramOp"> {
  let summary = "Assign an offset in its memory to every npu.alloc";
  let description = [{
    A buffer is live from the first to the last child of its block that uses it.
    As long as a memory has room for all its buffers, none share bytes, because
    sharing creates dependences; otherwise buffers that are not live at the same
    time may share, allocated in order of size in the best-fitting gap.
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
  let summary = "Compose layer norms and RMS norms from means and maps";
  let description = [{
    Replaces (x - mean(x)) / sqrt(mean((x - mean(x))^2) + epsilon) * gamma +
    beta over the last dim, however its elementwise part is distributed over
    kernel.map ops, by one npu.layer_norm, and x / sqrt(mean(x^2) + epsilon) *
    gamma, an RMS norm, by one that is `uncentered`.
  }];
  let dependentDialects = ["::atc::npu::ir::NpuDialect", "::atc::om::OmDialect",
                           "::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
  let statistics = [
    Statistic<"numComposed", "num-composed", "Layer norms and RMS norms found">
  ];
}

def NpuExpandConv2D : Pass<"npu-expand-conv2d", "::mlir::ModuleOp"> {
  let summary = "Expand each kernel function of an npu.conv2d to a program";
  let description = [{
    Rows are output positions, columns output channels. Input rows and weights
    are moved to l1 in chunks, img2col (or for 1x1 a plain load) converts them
    to fractals, and tiles of results leave through ub, where the vector unit
    does what the cube cannot, or through fix. The program is sequential.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
}

def NpuExpandCopy : Pass<"npu-expand-copy", "::mlir::ModuleOp"> {
  let summary = "Expand kernel.copy, pack, unpack, fill and pad to programs of the vector queue";
  let description = [{
    Boxes are moved through ub; where runs are short, they are transposed in
    blocks of 16 x 16 elements.
  }];
  let dependentDialects = ["::atc::npu::ir::NpuDialect"];
}

def NpuExpandLayerNorm : Pass<"npu-expand-layer-norm", "::mlir::ModuleOp"> {
  let summary = "Expand npu.layer_norm to programs of the vector queue";
  let description = [{
    Rows are loaded into ub; mean and variance are computed in f32, the scaling
    in f16 where input and output are f16.
  }];
  let dependentDialects = ["::atc::npu::ir::NpuDialect"];
}

def NpuExpandMap : Pass<"npu-expand-map", "::mlir::ModuleOp"> {
  let summary = "Expand kernel.map to programs of the vector queue";
  let description = [{
    Boxes of elements are loaded into ub; each op of the body becomes vector
    instructions on a box.
  }];
  let dependentDialects = ["::atc::npu::ir::NpuDialect"];
}

def NpuExpandMatMul : Pass<"npu-expand-matmul", "::mlir::ModuleOp"> {
  let summary = "Expand each kernel function of an npu.matmul to a program";
  let description = [{
    Batched products whose matrices are parts of the same long rows, such as the
    heads of an attention, move several of them at a time; their tiles follow
    from the products' sizes. All others are tiled according to their `tile`.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
  let statistics = [Statistic<"numJoined", "num-joined", "Programs that move several products">];
}

def NpuExpandPool : Pass<"npu-expand-pool", "::mlir::ModuleOp"> {
  let summary = "Expand kernel.pool to programs of the vector queue";
  let description = [{
    Rows of blocks are loaded into ub with padding around them; each tap is one
    instruction.
  }];
  let dependentDialects = ["::atc::npu::ir::NpuDialect"];
}

def NpuExpandReduce : Pass<"npu-expand-reduce", "::mlir::ModuleOp"> {
  let summary = "Expand kernel.reduce to programs of the vector queue";
  let description = [{
    While rows are long, their halves are combined pairwise, in f32.
  }];
  let dependentDialects = ["::atc::npu::ir::NpuDialect"];
}

def NpuExpandResize : Pass<"npu-expand-resize", "::mlir::ModuleOp"> {
  let summary = "Expand kernel.resize to programs of the vector queue";
  let description = [{
    Rows are loaded into ub; each tap is one instruction.
  }];
  let dependentDialects = ["::atc::npu::ir::NpuDialect"];
}

def NpuExpandSoftmax : Pass<"npu-expand-softmax", "::mlir::ModuleOp"> {
  let summary = "Expand kernel.softmax to programs of the vector queue";
  let description = [{
    Rows are loaded into ub and computed in f32 or, where input and output are
    f16, in f16.
  }];
  let dependentDialects = ["::atc::npu::ir::NpuDialect"];
}

def NpuFuseEpilogues : Pass<"npu-fuse-epilogues", "::mlir::ModuleOp"> {
  let summary = "Fuse maps into the contractions before them";
  let description = [{
    A kernel.map that scales the result of an npu.matmul, adds another buffer to
    it (which may broadcast: then its strides are 0) or converts it to f32 is
    computed where the result leaves the cube, if the module's SoC supports
    that. So is any kernel.map of the result of an npu.conv2d of f16, and of one
    other tensor of the same shape, as the convolution's body.
  }];
  let dependentDialects = ["::atc::npu::ir::NpuDialect", "::atc::om::OmDialect",
                           "::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
  let statistics = [
    Statistic<"numFused", "num-fused", "Maps that became part of a contraction">
  ];
}

def NpuFuseInputQuantization : Pass<"npu-fuse-input-quantization", "::mlir::ModuleOp"> {
  let summary = "Fuse the quantize before a first layer into the load of its image";
  let description = [{
    A kernel.map that only quantizes f32 for an npu.conv2d that reads an image
    of bytes, and has no other use, becomes the convolution's `image_scale`, if
    the module's SoC supports that.
  }];
  let dependentDialects = ["::atc::npu::ir::NpuDialect", "::atc::om::OmDialect"];
  let statistics = [
    Statistic<"numFused", "num-fused", "Maps that became part of a load">
  ];
}

def NpuSelectPreprocessing
    : Pass<"npu-select-preprocessing", "::mlir::func::FuncOp"> {
  let summary = "Choose which convolutions preprocess the pixels of their image";
  let description = [{
    A graph.preprocess that only convolutions of the cube read stays, and becomes
    the `pixels` of each of them: its means and factors are applied while the
    image is loaded, and swapped channels are swapped in the filter. Any other
    one becomes slices, maps and a concat.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
  let statistics = [
    Statistic<"numFused", "num-fused", "Preprocessings that became part of loads">
  ];
}

def NpuInsertSync : Pass<"npu-insert-sync", "::atc::npu::ir::ProgramOp"> {
  let summary = "Synchronize the queues of a sequential program with flags and barriers";
  let description = [{
    Instructions of different queues that access the same bytes, at least one of
    them writing, get a flag from the first to the second, and one back for the
    next iteration: as many iterations ahead as the buffer has copies. Flags
    that other flags and the order within queues imply are omitted. Flags that
    order iterations are set before the loop and cleared after it. Where the
    eight ids of a pair of queues do not suffice, first flags are merged, then
    copies are synchronized as one, and finally all queues wait at a barrier.

    ```mlir
    npu.move %x, %in ...           // mte2
    npu.vector "relu" %y, %x ...   // v
    // becomes
    npu.move %x, %in ...
    npu.set_flag mte2 to v id 0
    npu.wait_flag mte2 to v id 0
    npu.vector "relu" %y, %x ...
    ```
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
  let summary = "Lower the graph to kernels on buffers, f16 contractions to those of the NPU";
  let description = [{
    Does the same as cpu-lower-graph, except that convolutions and matrix
    products of f16 become npu.conv2d and npu.matmul: weights are packed in
    fractals, transposes around products become strides, and the first
    convolution reads the unblocked image.
  }];
  let dependentDialects = ["::atc::cpu::CpuDialect", "::atc::npu::ir::NpuDialect",
                           "::atc::om::OmDialect", "::mlir::arith::ArithDialect",
                           "::mlir::math::MathDialect", "::mlir::memref::MemRefDialect"];
}

def NpuPartition : Pass<"npu-partition", "::mlir::ModuleOp"> {
  let summary = "Mark the kernels that the NPU runs";
  let description = [{
    Kernels in `@main` that can become programs for the module's SoC (`npu.soc`)
    get `npu.device`. The others remain kernels of the CPU in the same schedule.
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
  let summary = "Select f16 for the tensors of a graph";
  let description = [{
    `force_fp16`: every f32 tensor inside of the graph becomes f16; inputs and
    results keep their types behind casts, constants are clamped to f16's range
    (with `clip-weights=false` all but weights are), scalar code of maps stays in f32. `cube_fp16`: only convolutions and matrix
    products read f16. `origin`: types stay. Biases are f32 in all modes: they
    join the cube's sums. Where the module has `graph.float32_nodes`, a list of
    names of nodes of the model, these compute in f32, between casts, and all
    others in f16, whatever the mode is.
  }];
  let options = [
    Option<"mode", "mode", "std::string", /*default=*/"\"force_fp16\"",
           "force_fp16, cube_fp16 or origin">,
    Option<"clipWeights", "clip-weights", "bool", "true",
           "Clamp weights to f16's range; false: those beyond it become infinite">
  ];
  let dependentDialects = ["::atc::graph::GraphDialect", "::mlir::arith::ArithDialect"];
  let statistics = [
    Statistic<"numNarrowed", "num-narrowed", "Tensors that became f16">
  ];
}

def NpuReorder : Pass<"npu-reorder", "::atc::npu::ir::ProgramOp"> {
  let summary = "Reorder the instructions of each block to hide latencies";
  let description = [{
    List scheduling with the cycles of the cost model: among the instructions
    that can begin first, the start of the longest chain goes first. A loop
    counts as one instruction on all its queues. A new order is kept only if a
    few of its iterations take less time than in the old one. Works on programs
    whose buffers have offsets.
  }];
  let statistics = [
    Statistic<"numReordered", "num-reordered", "Blocks with a new order">
  ];
}

def NpuSelectBuffers : Pass<"npu-select-buffers", "::atc::npu::ir::ProgramOp"> {
  let summary = "Select the number of copies of each buffer (multi-buffering)";
  let description = [{
    A buffer allocated in a loop and used by several queues gets two copies, a
    buffer that is filled from gm up to `max-buffers`. Copies are removed while
    a memory would overflow, first from buffers that are not filled from gm.

    ```mlir
    %x = npu.alloc : !npu.buffer<ub, 1024>
    // becomes
    %x = npu.alloc {buffers = 2 : i64} : !npu.buffer<ub, 1024>
    ```
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
  let summary = "Select the int8 contractions that the cube computes";
  let description = [{
    Results that are real values of a quantized tensor are stored as its
    integers, and their readers multiply. A body with more than the cube stores
    is divided: a map of its own computes the rest of it. Then integer_conv and
    integer_fully_connected get the attribute `npu.sums` if they have one group
    or few channels, weights without zero points, and a body that starts by
    requantizing. Where there are such, the others become convolutions and
    products of f32, which npu-precision narrows to f16, if their bodies start
    by scaling the accumulators.
  }];
  let dependentDialects = ["::atc::npu::ir::NpuDialect", "::mlir::arith::ArithDialect",
                           "::mlir::math::MathDialect"];
  let statistics = [Statistic<"numMarked", "num-marked", "Sums of the cube">];
}

def NpuSelectTiles : Pass<"npu-select-tiles", "::mlir::func::FuncOp"> {
  let summary = "Select the tiles of contractions with a cost model of the queues";
  let description = [{
    Sets `tile` on the npu.conv2d or npu.matmul of a kernel function: the sizes
    of a step through l0, the chunks of l1, which operand stays there, and how
    the cores share rows and columns. The model adds up each queue's cycles on
    the busiest core and takes the maximum, plus everything that cannot overlap.
    With `measure`, programs are built for the best tiles and timed on the
    simulator, and the fastest is selected; the result is deterministic. These
    programs have two copies of each buffer, or as many as the table of choices
    has for `npu-select-buffers`. A tile that is already set is kept.
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
  let summary = "Set the SoC that the module is compiled for, if none is set";
  let description = [{
    Writes the name of a built-in table to `npu.soc` on the module.
  }];
  let options = [
    Option<"soc", "soc", "std::string", /*default=*/"\"Ascend310P3\"",
           "Name of a built-in SoC table">
  ];
}

def NpuAddOnCube : Pass<"npu-add-on-cube", "::mlir::ModuleOp"> {
  let summary = "Let the cube of split cores add residuals";
  let description = [{
    A convolution of f16 with a residual gets a matrix with ones on its diagonal:
    the product of the residual with that matrix is accumulated with the others,
    16 columns at a time. On SoCs with separate vector cores the residual would
    be added by a kernel of its own, which reads the results from gm again.
    An infinite element of the residual would be NaN in the 15 other columns of
    its block: the residual must be made of contractions by what keeps finite
    numbers finite.

    ```mlir
    npu.conv2d %x, %w residual %r outs %y {activation = relu}
    // becomes
    %i = om.weight dense<...> : memref<16x16xf16>
    npu.conv2d %x, %w residual %r identity %i outs %y {activation = relu}
    ```
  }];
  let dependentDialects = ["::atc::npu::ir::NpuDialect", "::atc::om::OmDialect"];
  let statistics = [
    Statistic<"numAdded", "num-added", "Convolutions that add a residual on the cube">
  ];
}

def NpuSplitEpilogues : Pass<"npu-split-epilogues", "::mlir::ModuleOp"> {
  let summary = "Split off epilogues that the cube does not support";
  let description = [{
    Residual and activation of a contraction that the SoC cannot apply to its
    results become a kernel.map behind it: on SoCs with separate vector cores,
    FIX supports only relu and, for int8, the scales of the first quantization.
  }];
  let dependentDialects = ["::atc::npu::ir::NpuDialect", "::atc::om::OmDialect",
                           "::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
  let statistics = [
    Statistic<"numSplit", "num-split", "Contractions that got a map behind them">
  ];
}

#endif // OPENATC_PASSES_NPU_PASSES_TD
