//===-- Passes.td - passes of the CPU backend (alphabetical) *- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_CPU_PASSES_TD
#define OPENATC_PASSES_CPU_PASSES_TD

include "mlir/Pass/PassBase.td"

class Cpu_ExpandPass<string mnemonic, string what> : Pass<mnemonic, "::mlir::func::FuncOp"> {
  let summary = "Expand " # what # " into register-tiled loops";
  let description = [{
    Works on a kernel function, whose arguments are buffers, the first task and
    one past the last task. The op becomes a loop over tasks; `cpu.tasks` on the
    function is their number. The properties of the machine come from the
    module's `cpu.level`.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect",
                           "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
                           "::mlir::vector::VectorDialect", "::atc::cpu::CpuDialect"];
}

class Cpu_ExpandIntegerPass<string mnemonic, string what> : Cpu_ExpandPass<mnemonic, what> {
  let description = [{
    Works like the other expansions. Accumulators use the instructions that `dot`
    of the level names; all levels yield the same integers.
  }];
}

def CpuComposeLayerNorm : Pass<"cpu-compose-layer-norm", "::mlir::ModuleOp"> {
  let summary = "Compose layer norms from the means and maps that compute them";
  let description = [{
    Works on the kernels of `@main`: a mean over the last dim, the squared
    differences from it, their mean, and a map with the root, gamma and beta
    become `cpu.layer_norm`, which reads each row once from memory.
  }];
  let statistics = [Statistic<"numComposed", "composed", "Number of layer norms composed">];
  let dependentDialects = ["::atc::cpu::CpuDialect", "::atc::om::OmDialect"];
}

def CpuExpandAttention : Cpu_ExpandPass<"cpu-expand-attention", "cpu.attention"> {
  let description = [{
    Works like the other expansions. The keys of a head and the scores of some
    rows are in the scratch memory of a thread: the function gets another
    argument for it, and `cpu.scratch`, its size in bytes.
  }];
}

def CpuExpandConv2D : Cpu_ExpandPass<"cpu-expand-conv2d", "cpu.conv2d">;

def CpuExpandCopy : Cpu_ExpandPass<"cpu-expand-copy", "kernel.copy, pack, unpack, fill and pad">;

def CpuExpandDepthwise : Cpu_ExpandPass<"cpu-expand-depthwise", "cpu.depthwise_conv2d">;

def CpuExpandFloatWinograd : Cpu_ExpandPass<"cpu-expand-float-winograd", "cpu.float_winograd"> {
  let description = [{
    Works like the other expansions. The transformed tiles of a task are in the
    scratch memory of its thread: the function gets another argument for it, and
    `cpu.scratch`, its size in bytes.
  }];
}

def CpuExpandHalfConv2D : Cpu_ExpandPass<"cpu-expand-half-conv2d", "cpu.half_conv2d"> {
  let description = [{
    Works like the other expansions. The rounded input of a task and the sums of
    a register tile are in the scratch memory of its thread: the function gets
    another argument for it, and `cpu.scratch`, its size in bytes. The level has
    the instructions of AVX512-FP16.
  }];
}

def CpuExpandIntegerConv
    : Cpu_ExpandIntegerPass<"cpu-expand-integer-conv", "cpu.integer_conv2d and integer_depthwise">;

def CpuExpandLayerNorm : Cpu_ExpandPass<"cpu-expand-layer-norm", "cpu.layer_norm">;

def CpuExpandMap : Cpu_ExpandPass<"cpu-expand-map", "kernel.map">;

def CpuExpandMatMul : Cpu_ExpandPass<"cpu-expand-matmul", "cpu.matmul">;

def CpuExpandPool : Cpu_ExpandPass<"cpu-expand-pool", "kernel.pool">;

def CpuExpandReduce : Cpu_ExpandPass<"cpu-expand-reduce", "kernel.reduce, arg_reduce and softmax">;

def CpuExpandResize : Cpu_ExpandPass<"cpu-expand-resize", "kernel.resize and gather">;

def CpuExpandWinograd
    : Cpu_ExpandIntegerPass<"cpu-expand-winograd", "cpu.winograd_input and winograd_conv2d">;

def CpuFuseAttention : Pass<"cpu-fuse-attention", "::mlir::ModuleOp"> {
  let summary = "Fuse products, softmax and the copies around them into attention";
  let description = [{
    Works on the kernels of `@main`: a product, a map of it (scale and mask), its
    softmax along the last dim and the product with the values become
    `cpu.attention`. Copies that only transpose its operands or its result
    disappear: it reads and writes with their strides. Scores that something
    else reads stay as they are.
  }];
  let statistics = [Statistic<"numFused", "fused", "Number of attentions fused">,
                    Statistic<"numCopies", "copies", "Number of copies that disappear">];
  let dependentDialects = ["::atc::cpu::CpuDialect", "::atc::om::OmDialect"];
}

def CpuFoldByteSums : Pass<"cpu-fold-byte-sums", "::mlir::func::FuncOp"> {
  let summary = "Compute quantized sums of two bytes by two fused multiply-adds";
  let description = [{
    In the body of an integer convolution or a map, a sum of two integers of 8 bits
    that is rounded and clamped, (x * a + (y - z) * b) * c for example, becomes
    fma(x, a', fma(y, b', c')). In convolutions so does a single integer that is
    quantized again, and a relu in between becomes the lower bound. The factors are chosen so that
    all integers have the same result as before, also where a processor has no
    fused multiply-add; where none are found the body stays as it is.
  }];
  let statistics = [Statistic<"numFolded", "folded", "Number of sums folded">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
}

def CpuFuseResiduals : Pass<"cpu-fuse-residuals", "::mlir::ModuleOp"> {
  let summary = "Fuse additions into the matrix product before them";
  let description = [{
    Works on the kernels of `@main`: a map that only adds a tensor to the result
    of a product with packed weights, which nothing else reads, becomes its
    residual.
  }];
  let statistics = [Statistic<"numFused", "fused", "Number of additions fused">];
  let dependentDialects = ["::atc::cpu::CpuDialect", "::atc::om::OmDialect"];
}

def CpuLowerGraph : Pass<"cpu-lower-graph", "::mlir::ModuleOp"> {
  let summary = "Lower the graph to kernels on buffers";
  let description = [{
    Every graph op of `@main` becomes one kernel op on buffers (om.alloc,
    om.view, om.weight), weights are packed, outputs become arguments.
  }];
  let options = [
    Option<"exactDot", "exact-dot", "bool", "false",
           "All levels add four products of bytes without cutting: weights keep their order">,
    Option<"tileRegisters", "tile-registers", "bool", "false",
           "Some level has tile registers: the channels of bytes are side by side">
  ];
  let dependentDialects = ["::atc::cpu::CpuDialect", "::atc::om::OmDialect",
                           "::mlir::arith::ArithDialect", "::mlir::math::MathDialect",
                           "::mlir::memref::MemRefDialect"];
}

def CpuLowerMath : Pass<"cpu-lower-math", "::mlir::func::FuncOp"> {
  let summary = "Replace math functions by arithmetic";
  let description = [{
    Kernels run without a math library: exp, log, tanh, erf, sin and similar
    functions become polynomials, others (pow, tan, round, remainder) formulas
    of these. Functions with an instruction are kept; vectors that are rounded
    and clamped to bytes use its conversions and packs. On levels without FMA a
    fused multiply-add becomes a product and a sum.
  }];
  let dependentDialects = ["::atc::cpu::CpuDialect", "::mlir::arith::ArithDialect",
                           "::mlir::math::MathDialect", "::mlir::scf::SCFDialect",
                           "::mlir::vector::VectorDialect"];
}

def CpuLowerToLLVM : Pass<"cpu-lower-to-llvm", "::mlir::ModuleOp"> {
  let summary = "Convert kernels without loops to the LLVM dialect";
  let description = [{
    Converts arith, cf, func, index, math, memref and ub together, in one walk
    over the kernels; vectors are converted before. Buffers are passed as bare
    pointers.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

def CpuMakeEntries : Pass<"cpu-make-entries", "::mlir::ModuleOp"> {
  let summary = "Create the entry point of every kernel that the runtime calls";
  let description = [{
    Works on the LLVM dialect. `@k(ptr..., i64 begin, i64 end)` becomes an
    inlined body of `void k(void *const *args, void *scratch, int64_t begin,
    int64_t end)`.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

def CpuSelectTiles : Pass<"cpu-select-tiles", "::mlir::func::FuncOp"> {
  let summary = "Select the register tile and the task size of every contraction";
  let description = [{
    Sets `tile` where it is not set, so that it can also be set by hand or by a
    tuner.
  }];
  let dependentDialects = ["::atc::cpu::CpuDialect"];
}

def CpuSelectWinograd : Pass<"cpu-select-winograd", "::mlir::func::FuncOp"> {
  let summary = "Select the convolutions of f32 that run as Winograd's F(m x m, 3x3)";
  let description = [{
    Rewrites `cpu.conv2d` with a constant 3x3 filter, stride and dilation 1, one
    group and whole blocks of channels to `cpu.float_winograd` where a cost model
    expects it to be faster, and transforms the filter. A form whose error is
    estimated above `max-error` is not used. The choice can be set by hand:
    "direct", "2x2" or "4x4" in the table of choices.
  }];
  let options = [
    Option<"maxError", "max-error", "double", "2e-5",
           "The maximum estimated error of a convolution, as a part of the range of its outputs">
  ];
  let statistics = [
    Statistic<"numWinograd", "winograd", "Number of convolutions that run as Winograd's">
  ];
  let dependentDialects = ["::atc::cpu::CpuDialect", "::atc::om::OmDialect"];
}

def CpuVerifyKernels : Pass<"cpu-verify-kernels", "::mlir::ModuleOp"> {
  let summary = "Check that kernels are LLVM code that needs no library";
  let description = [{
    Lists every op, function and intrinsic for which there would be no code.
  }];
}

def CpuSplitPools : Pass<"cpu-split-pools", "::mlir::func::FuncOp"> {
  let summary = "Computes maxima of large windows along rows first, and then along columns";
  let description = [{
    A `graph.max_pool` of K x K elements becomes two of 1 x K and K x 1 where that halves
    the elements that are read, as in pyramids of pools (SPP) with windows of 5 to 13.

    ```mlir
    %y = graph.max_pool %x {kernel = array<i64: 13, 13>, pads = array<i64: 6, 6, 6, 6>, ...}
    ```
    becomes
    ```mlir
    %0 = graph.max_pool %x {kernel = array<i64: 1, 13>, pads = array<i64: 0, 6, 0, 6>, ...}
    %y = graph.max_pool %0 {kernel = array<i64: 13, 1>, pads = array<i64: 6, 0, 6, 0>, ...}
    ```
  }];
  let statistics = [Statistic<"numSplit", "split", "Number of pools in two steps">];
  let dependentDialects = ["::atc::graph::GraphDialect"];
}

def CpuTabulateBytes : Pass<"cpu-tabulate-bytes", "::mlir::func::FuncOp"> {
  let summary = "Replace functions of bytes by tables";
  let description = [{
    In the body of a map or of an integer convolution, a value that is rounded and
    clamped to 8 bits and depends on one other integer of 8 bits alone becomes
    `cpu.lookup`: sigmoids, products with their operand, and what else is computed
    in floats in between. Formulas of a few operations stay as they are.
  }];
  let statistics = [Statistic<"numTables", "tables", "Number of tables">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::atc::cpu::CpuDialect"];
}

#endif // OPENATC_PASSES_CPU_PASSES_TD
