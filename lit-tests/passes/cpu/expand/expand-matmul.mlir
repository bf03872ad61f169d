// RUN: atc-opt %s --cpu-expand-matmul --canonicalize | FileCheck %s

// 40 columns: two full blocks and a partial one, which is a task of its own and
// stores its eight columns only.
// CHECK-LABEL: func.func @packed
// CHECK-SAME: cpu.tasks = 2
// CHECK-NOT: cpu.matmul
// CHECK: scf.if
// CHECK: vector.fma
// CHECK: else
// CHECK: vector.fma
// CHECK: vector.store
func.func @packed(%x: memref<1x1x64xf32>, %w: memref<3x64x16xf32>, %bias: memref<48xf32>, %out: memref<1x1x40xf32>,
                  %begin: index, %end: index) attributes {cpu.kernel} {
  cpu.matmul %x, %w bias %bias outs %out {packed, tile = #cpu.tile<pixels = 1, blocks = 2, rows = 1, groups = 2, depth = 1, flatten = false>}
    : memref<1x1x64xf32>, memref<3x64x16xf32>, memref<48xf32>, memref<1x1x40xf32>
  return
}

// A plain right side is read in place; past its last column nothing is.
// CHECK-LABEL: func.func @plain
// CHECK: vector.maskedload
// CHECK: vector.maskedstore
func.func @plain(%x: memref<2x4x8xf32>, %w: memref<2x8x5xf32>, %out: memref<2x4x5xf32>,
                 %begin: index, %end: index) attributes {cpu.kernel} {
  cpu.matmul %x, %w outs %out {tile = #cpu.tile<pixels = 4, blocks = 1, rows = 1, groups = 1, depth = 1, flatten = false>}
    : memref<2x4x8xf32>, memref<2x8x5xf32>, memref<2x4x5xf32>
  return
}
