// RUN: atc-opt %s --cpu-expand-depthwise --canonicalize | FileCheck %s

// The window is unrolled: nine filter vectors (two registers each), and for
// each of the two pixels an input vector from memory.
// CHECK-LABEL: func.func @three_by_three
// CHECK-SAME: cpu.tasks = 6
// CHECK-NOT: cpu.depthwise
// CHECK: scf.for
// CHECK-COUNT-36: vector.fma
// CHECK-NOT: vector.fma
// CHECK: arith.minimumf
// CHECK: vector.store
func.func @three_by_three(%in: memref<1x2x8x8x16xf32>, %w: memref<2x3x3x16xf32>, %bias: memref<32xf32>,
                          %out: memref<1x2x6x6x16xf32>, %begin: index, %end: index) attributes {cpu.kernel} {
  cpu.depthwise_conv2d %in, %w bias %bias outs %out {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>,
    activation = #graph.activation<clip, 0.0, 6.0>,
    tile = #cpu.tile<pixels = 2, blocks = 1, rows = 2, groups = 1, depth = 1, flatten = false>}
    : memref<1x2x8x8x16xf32>, memref<2x3x3x16xf32>, memref<32xf32>, memref<1x2x6x6x16xf32>
  return
}

// A large window keeps the loop over its rows.
// CHECK-LABEL: func.func @seven_by_seven
// CHECK: scf.for {{.*}} iter_args
// CHECK-COUNT-14: vector.fma
// CHECK-NOT: vector.fma
func.func @seven_by_seven(%in: memref<1x1x7x7x16xf32>, %w: memref<1x7x7x16xf32>,
                          %out: memref<1x1x1x1x16xf32>, %begin: index, %end: index) attributes {cpu.kernel} {
  cpu.depthwise_conv2d %in, %w outs %out {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>,
    tile = #cpu.tile<pixels = 1, blocks = 1, rows = 1, groups = 1, depth = 1, flatten = false>}
    : memref<1x1x7x7x16xf32>, memref<1x7x7x16xf32>, memref<1x1x1x1x16xf32>
  return
}

// More pixels than channels: blocks are faster than rows, so that half of the tasks are half of the
// plane, of all channels.
// CHECK-LABEL: func.func @large_plane
// CHECK-DAG: %[[BLOCKS:.*]] = arith.constant 2 : index
// CHECK: scf.for %[[TASK:.*]] =
// CHECK: arith.remui %[[TASK]], %[[BLOCKS]]
// CHECK: arith.divui %[[TASK]], %[[BLOCKS]]
func.func @large_plane(%in: memref<1x2x8x8x16xf32>, %w: memref<2x3x3x16xf32>,
                       %out: memref<1x2x6x6x16xf32>, %begin: index, %end: index) attributes {cpu.kernel} {
  cpu.depthwise_conv2d %in, %w outs %out {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>,
    tile = #cpu.tile<pixels = 6, blocks = 1, rows = 2, groups = 1, depth = 1, flatten = false>}
    : memref<1x2x8x8x16xf32>, memref<2x3x3x16xf32>, memref<1x2x6x6x16xf32>
  return
}

// More channels than pixels: half of the tasks are half of the channels.
// CHECK-LABEL: func.func @small_plane
// CHECK-DAG: %[[ROWS:.*]] = arith.constant 3 : index
// CHECK: scf.for %[[TASK:.*]] =
// CHECK: arith.remui %[[TASK]], %[[ROWS]]
// CHECK: arith.divui %[[TASK]], %[[ROWS]]
func.func @small_plane(%in: memref<1x4x8x8x16xf32>, %w: memref<4x3x3x16xf32>,
                       %out: memref<1x4x6x6x16xf32>, %begin: index, %end: index) attributes {cpu.kernel} {
  cpu.depthwise_conv2d %in, %w outs %out {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>,
    tile = #cpu.tile<pixels = 6, blocks = 1, rows = 2, groups = 1, depth = 1, flatten = false>}
    : memref<1x4x8x8x16xf32>, memref<4x3x3x16xf32>, memref<1x4x6x6x16xf32>
  return
}
