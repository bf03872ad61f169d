// RUN: atc-opt %s --split-input-file --cpu-expand-matmul --canonicalize | FileCheck %s

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

// -----

// A sum in two chunks: the second begins with the output, and the activation comes behind it. Meanwhile the next
// panel of weights is requested, a share of it in each of four tiles of rows: two of the eight lines that an iteration
// of eight steps reads, between its products.
// CHECK-LABEL: func.func @chunks
// CHECK: scf.for %[[CHUNK:.*]] = %c0 to %c2
// CHECK-NOT: memref.prefetch
// CHECK: arith.cmpi eq, %[[CHUNK]], %c0
// CHECK: scf.if
// CHECK: else
// CHECK: vector.load
// CHECK: scf.for {{.*}} iter_args
// CHECK-COUNT-2: memref.prefetch {{.*}} read, locality<2>
// CHECK-NOT: memref.prefetch
// CHECK: vector.fma
// CHECK: arith.cmpi eq, %[[CHUNK]], %c1
// CHECK: scf.if
// CHECK: arith.maximumf
// CHECK: vector.store
// CHECK: else
// CHECK-NOT: arith.maximumf
// CHECK: vector.store
module attributes {cpu.level = #cpu.level<name = "v3", lanes = 8, registers = 16, fma = true, l1 = 32768, l2 = 262144>} {
  func.func @chunks(%x: memref<1x16x1024xf32>, %w: memref<3x1024x16xf32>, %out: memref<1x16x48xf32>,
                    %begin: index, %end: index) attributes {cpu.kernel} {
    cpu.matmul %x, %w outs %out {packed, activation = #graph.activation<relu>,
        tile = #cpu.tile<pixels = 4, blocks = 1, rows = 1, groups = 3, depth = 2, flatten = false>}
      : memref<1x16x1024xf32>, memref<3x1024x16xf32>, memref<1x16x48xf32>
    return
  }
}

// -----

// Of 40 tiles of rows the first eight request a line per iteration each; the others repeat what the eighth requests.
// CHECK-LABEL: func.func @shares
// CHECK: %[[SHARE:.*]] = arith.minui %{{.*}}, %c7
// CHECK: arith.muli %[[SHARE]], %c{{[0-9]+}}
// CHECK: scf.for {{.*}} iter_args
// CHECK-COUNT-1: memref.prefetch
// CHECK-NOT: memref.prefetch
// CHECK: vector.fma
// Three tiles request three lines each.
// CHECK-LABEL: func.func @few_tiles
// CHECK: scf.for {{.*}} iter_args
// CHECK-COUNT-3: memref.prefetch
// CHECK-NOT: memref.prefetch
// CHECK: vector.fma
// Where two panels and more do not fit L2, each tile requests what it reads 2 KB later.
// CHECK-LABEL: func.func @few_tiles_of_large_panels
// CHECK: %[[AHEAD:.*]] = arith.addi %{{.*}}, %c512
// CHECK: scf.for {{.*}} iter_args
// CHECK-COUNT-8: memref.prefetch
// CHECK-NOT: memref.prefetch
// CHECK: vector.fma
// So does a single tile.
// CHECK-LABEL: func.func @one_tile
// CHECK: arith.addi %{{.*}}, %c512
// CHECK: scf.for {{.*}} iter_args
// CHECK-COUNT-8: memref.prefetch
// CHECK-NOT: memref.prefetch
// CHECK: vector.fma
// One row has nothing to hide memory behind.
// CHECK-LABEL: func.func @one_row
// CHECK-NOT: memref.prefetch
// CHECK: return
module attributes {cpu.level = #cpu.level<name = "v3", lanes = 8, registers = 16, fma = true, l1 = 32768, l2 = 262144>} {
  func.func @shares(%x: memref<1x160x512xf32>, %w: memref<3x512x16xf32>, %out: memref<1x160x48xf32>,
                    %begin: index, %end: index) attributes {cpu.kernel} {
    cpu.matmul %x, %w outs %out {packed, tile = #cpu.tile<pixels = 4, blocks = 1, rows = 1, groups = 3, depth = 1, flatten = false>}
      : memref<1x160x512xf32>, memref<3x512x16xf32>, memref<1x160x48xf32>
    return
  }
  func.func @few_tiles(%x: memref<1x12x512xf32>, %w: memref<3x512x16xf32>, %out: memref<1x12x48xf32>,
                      %begin: index, %end: index) attributes {cpu.kernel} {
    cpu.matmul %x, %w outs %out {packed, tile = #cpu.tile<pixels = 4, blocks = 1, rows = 1, groups = 3, depth = 1, flatten = false>}
      : memref<1x12x512xf32>, memref<3x512x16xf32>, memref<1x12x48xf32>
    return
  }
  func.func @few_tiles_of_large_panels(%x: memref<1x12x2048xf32>, %w: memref<3x2048x16xf32>, %out: memref<1x12x48xf32>,
                      %begin: index, %end: index) attributes {cpu.kernel} {
    cpu.matmul %x, %w outs %out {packed, tile = #cpu.tile<pixels = 4, blocks = 1, rows = 1, groups = 3, depth = 1, flatten = false>}
      : memref<1x12x2048xf32>, memref<3x2048x16xf32>, memref<1x12x48xf32>
    return
  }
  func.func @one_tile(%x: memref<1x4x512xf32>, %w: memref<3x512x16xf32>, %out: memref<1x4x48xf32>,
                      %begin: index, %end: index) attributes {cpu.kernel} {
    cpu.matmul %x, %w outs %out {packed, tile = #cpu.tile<pixels = 4, blocks = 1, rows = 1, groups = 3, depth = 1, flatten = false>}
      : memref<1x4x512xf32>, memref<3x512x16xf32>, memref<1x4x48xf32>
    return
  }
  func.func @one_row(%x: memref<1x1x512xf32>, %w: memref<3x512x16xf32>, %out: memref<1x1x48xf32>,
                      %begin: index, %end: index) attributes {cpu.kernel} {
    cpu.matmul %x, %w outs %out {packed, tile = #cpu.tile<pixels = 1, blocks = 1, rows = 1, groups = 3, depth = 1, flatten = false>}
      : memref<1x1x512xf32>, memref<3x512x16xf32>, memref<1x1x48xf32>
    return
  }
}

// -----

// One column: vectors lie along the rows of the left matrix, four of which share the loads of the right side.
// CHECK-LABEL: func.func @column
// CHECK: scf.for {{.*}} iter_args
// CHECK: vector.load {{.*}} memref<64xf32>, vector<8xf32>
// CHECK-COUNT-4: vector.fma {{.*}} vector<8xf32>
// CHECK: vector.reduction <add>
// CHECK: memref.store
func.func @column(%x: memref<2x8x32xf32>, %w: memref<2x32x1xf32>, %out: memref<2x8x1xf32>,
                  %begin: index, %end: index) attributes {cpu.kernel} {
  cpu.matmul %x, %w outs %out {tile = #cpu.tile<pixels = 4, blocks = 1, rows = 1, groups = 1, depth = 1, flatten = false>}
    : memref<2x8x32xf32>, memref<2x32x1xf32>, memref<2x8x1xf32>
  return
}
