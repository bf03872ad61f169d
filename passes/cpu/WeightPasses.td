//===-- WeightPasses.td - passes on packed weights ------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_CPU_WEIGHTPASSES_TD
#define OPENATC_PASSES_CPU_WEIGHTPASSES_TD

include "mlir/Pass/PassBase.td"

def CpuNarrowWeights : Pass<"cpu-narrow-weights", "::mlir::ModuleOp"> {
  let summary = "Store weights of products and convolutions in 16 bits";
  let description = [{
    Works on the kernels of `@main`: packed weights of `cpu.matmul`, and filters of
    `cpu.conv2d`, become constants of f16 or bf16. Kernels make floats of them in
    registers, so that products and sums stay those of f32; a product with few rows takes
    as long as reading its weights, which are half as many bytes.

    With `storage=exact`, weights of products are narrowed that all are numbers of 16 bits,
    so that no result changes, as those of models that were trained in bf16. `f16` and
    `bf16` round all weights, also of convolutions, except where one is too large; `f32`
    stores none.

    Left alone are weights of less than 4096 elements and those that another kernel
    reads, too.
  }];
  let options = [
    Option<"storage", "storage", "std::string", "\"exact\"",
           "Element type of weights: f32, exact, f16 or bf16">,
    Option<"convertsHalfs", "converts-halfs", "bool", "true",
           "Whether all CPU levels have an instruction that makes floats of f16">
  ];
  let statistics = [Statistic<"numNarrowed", "num-narrowed", "Number of weights narrowed">];
  let dependentDialects = ["::atc::cpu::CpuDialect", "::atc::om::OmDialect"];
}

def CpuSelectHalfProducts : Pass<"cpu-select-half-products", "::mlir::ModuleOp"> {
  let summary = "Compute products and convolutions in f16";
  let description = [{
    Works on the kernels of `@main`: `cpu.matmul` with packed weights and
    `cpu.conv2d` become `cpu.half_conv2d`, which rounds weights and inputs to
    f16, multiplies and accumulates up to some 64 products in f16, and adds these
    sums in f32. A vector has twice as many elements of f16.

    Left alone are contractions of few pixels, groups, channels that do not fill
    blocks, and weights beyond the range of f16.
  }];
  let statistics = [Statistic<"numHalf", "num-half", "Number of contractions in f16">];
  let dependentDialects = ["::atc::cpu::CpuDialect", "::atc::om::OmDialect"];
}

#endif // OPENATC_PASSES_CPU_WEIGHTPASSES_TD
