// RUN: atc-opt %s --split-input-file --cpu-select-tiles --cpu-expand-half-conv2d | FileCheck %s
// RUN: atc-opt %s --split-input-file --cpu-select-tiles --cpu-expand-half-conv2d --cpu-lower-math --canonicalize | FileCheck %s --check-prefix=MATH

// The input is rounded to scratch memory, pairs of it are multiplied in f16, and the sums of a chunk
// are added to those of f32.

// CHECK-LABEL: func.func private @product
// CHECK-SAME: %[[X:[a-z0-9]+]]: memref<1x1x1x24x768xf32>,
// CHECK-SAME: %[[SCRATCH:[a-z0-9]+]]: memref<[[SIZE:[0-9]+]]xf32> {llvm.noalias}, %{{[a-z0-9]+}}: index, %{{[a-z0-9]+}}: index) attributes {cpu.kernel, cpu.scratch = {{[0-9]+}} : i64, cpu.tasks = {{[0-9]+}} : i64}
// CHECK-COUNT-4: arith.truncf {{.*}} : vector<16xf32> to vector<16xf16>
// CHECK: scf.for
// CHECK: vector.load {{.*}} vector<32xf16>
// CHECK: memref.load %[[SCRATCH]]
// CHECK: vector.bitcast {{.*}} : vector<16xf32> to vector<32xf16>
// CHECK: llvm.intr.fma({{.*}}) : (vector<32xf16>, vector<32xf16>, vector<32xf16>) -> vector<32xf16>
// CHECK: arith.shrui
// CHECK: llvm.fadd {{.*}} : vector<32xf16>
// CHECK: arith.extf {{.*}} : vector<16xf16> to vector<16xf32>
// CHECK: arith.maximumf
// CHECK-NOT: cpu.half_conv2d
// No pass computes the products in f32 instead.
// MATH-LABEL: func.func private @product
// MATH: llvm.intr.fma({{.*}}) : (vector<32xf16>
// MATH-NOT: vector<32xf32>
module attributes {cpu.level = #cpu.level<name = "v4", lanes = 16, registers = 32, fma = true, l1 = 49152, l2 = 2097152>} {
  func.func private @product(%x: memref<1x1x1x24x768xf32>, %w: memref<3x1x1x1x384x32xf16>, %y: memref<1x3x1x24x16xf32, strided<[1152, 16, 1152, 48, 1]>>, %begin: index, %end: index) attributes {cpu.kernel} {
    cpu.half_conv2d %x, %w outs %y {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, activation = #graph.activation<relu>} : memref<1x1x1x24x768xf32>, memref<3x1x1x1x384x32xf16>, memref<1x3x1x24x16xf32, strided<[1152, 16, 1152, 48, 1]>>
    return
  }
}

// -----

// Tasks with the same rows share the rounded input: only the first of a call rounds it.

// CHECK-LABEL: func.func private @shared
// CHECK-SAME: %[[BEGIN:[a-z0-9]+]]: index, %{{[a-z0-9]+}}: index) attributes {cpu.kernel, cpu.scratch = {{[0-9]+}} : i64, cpu.tasks = 4 : i64}
// CHECK: scf.for %[[TASK:.*]] = %[[BEGIN]]
// CHECK: %[[FIRST:.*]] = arith.cmpi eq, %[[TASK]], %[[BEGIN]]
// CHECK: %[[NEW:.*]] = arith.cmpi eq
// CHECK: %[[WORK:.*]] = arith.ori %[[FIRST]], %[[NEW]]
// CHECK: scf.if %[[WORK]]
// CHECK: arith.truncf
module attributes {cpu.level = #cpu.level<name = "v4", lanes = 16, registers = 32, fma = true, l1 = 49152, l2 = 2097152>} {
  func.func private @shared(%x: memref<1x2x8x8x16xf32>, %w: memref<2x2x1x1x8x32xf16>, %y: memref<1x2x8x8x16xf32>, %begin: index, %end: index) attributes {cpu.kernel} {
    cpu.half_conv2d %x, %w outs %y {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, tile = #cpu.tile<pixels = 8, blocks = 1, rows = 4, groups = 1, depth = 1, flatten = false>} : memref<1x2x8x8x16xf32>, memref<2x2x1x1x8x32xf16>, memref<1x2x8x8x16xf32>
    return
  }
}
