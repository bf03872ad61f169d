// RUN: atc-opt %s --split-input-file --cpu-expand-conv2d --canonicalize | FileCheck %s

// One depth chunk: the sum starts with the bias, ends with the activation and
// never rests in memory.
// CHECK-LABEL: func.func @one_chunk
// CHECK-NOT: memref.prefetch
// CHECK-SAME: cpu.tasks = 4
// CHECK-NOT: cpu.conv2d
// CHECK: scf.for %{{.*}} = %{{.*}}arg4 to
// CHECK: vector.load %{{.*}} : memref<16xf32>, vector<8xf32>
// CHECK: scf.for {{.*}} iter_args
// CHECK: memref.load
// CHECK: vector.broadcast
// CHECK: vector.fma
// CHECK: arith.maximumf
// CHECK: vector.store
// CHECK-NOT: scf.if
func.func @one_chunk(%in: memref<1x1x10x10x16xf32>, %w: memref<1x1x3x3x16x16xf32>, %bias: memref<16xf32>,
                     %out: memref<1x1x8x8x16xf32>, %begin: index, %end: index) attributes {cpu.kernel} {
  cpu.conv2d %in, %w bias %bias outs %out {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 1, channels = 16,
    activation = #graph.activation<relu>, tile = #cpu.tile<pixels = 4, blocks = 1, rows = 2, groups = 1, depth = 1, flatten = false>}
    : memref<1x1x10x10x16xf32>, memref<1x1x3x3x16x16xf32>, memref<16xf32>, memref<1x1x8x8x16xf32>
  return
}

// -----

// Two depth chunks: the first starts from the residual, the second from the
// output; the activation comes after the last.
// CHECK-LABEL: func.func @two_chunks
// CHECK: scf.if
// CHECK: arith.addf
// CHECK: else
// CHECK: vector.load %{{.*}} : memref<1024xf32>
// CHECK: vector.fma
// CHECK: scf.if
// CHECK: arith.maximumf
// CHECK: vector.store
// CHECK: else
// CHECK-NOT: arith.maximumf
// CHECK: vector.store
func.func @two_chunks(%in: memref<1x2x8x8x16xf32>, %w: memref<1x2x1x1x16x16xf32>, %r: memref<1x1x8x8x16xf32>,
                      %out: memref<1x1x8x8x16xf32>, %begin: index, %end: index) attributes {cpu.kernel} {
  cpu.conv2d %in, %w residual %r outs %out {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 1, channels = 32,
    activation = #graph.activation<relu>, tile = #cpu.tile<pixels = 4, blocks = 1, rows = 8, groups = 1, depth = 1, flatten = false>}
    : memref<1x2x8x8x16xf32>, memref<1x2x1x1x16x16xf32>, memref<1x1x8x8x16xf32>, memref<1x1x8x8x16xf32>
  return
}

// -----

// 24 channels are one full block and a tail of eight: 16 + 8 steps, one chunk.
// CHECK-LABEL: func.func @channel_tail
// CHECK-COUNT-24: memref.load
// CHECK-NOT: memref.load
func.func @channel_tail(%in: memref<1x2x1x1x16xf32>, %w: memref<1x2x1x1x16x16xf32>,
                        %out: memref<1x1x1x1x16xf32>, %begin: index, %end: index) attributes {cpu.kernel} {
  cpu.conv2d %in, %w outs %out {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 1, channels = 24,
    tile = #cpu.tile<pixels = 1, blocks = 1, rows = 1, groups = 1, depth = 1, flatten = false>}
    : memref<1x2x1x1x16xf32>, memref<1x2x1x1x16x16xf32>, memref<1x1x1x1x16xf32>
  return
}

// -----

// Without FMA a multiply and an add are made.
module attributes {cpu.level = #cpu.level<name = "v2", lanes = 4, registers = 16, fma = false, l1 = 32768, l2 = 262144>} {
  // CHECK-LABEL: func.func @no_fma
  // CHECK-NOT: vector.fma
  // CHECK: arith.mulf {{.*}} vector<4xf32>
  // CHECK: arith.addf {{.*}} vector<4xf32>
  func.func @no_fma(%in: memref<1x1x4x4x16xf32>, %w: memref<1x1x1x1x16x16xf32>,
                    %out: memref<1x1x4x4x16xf32>, %begin: index, %end: index) attributes {cpu.kernel} {
    cpu.conv2d %in, %w outs %out {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 1, channels = 16,
      tile = #cpu.tile<pixels = 2, blocks = 1, rows = 4, groups = 1, depth = 1, flatten = false>}
      : memref<1x1x4x4x16xf32>, memref<1x1x1x1x16x16xf32>, memref<1x1x4x4x16xf32>
    return
  }
}

// -----

// A filter that does not fit in L1: every pixel tile requests a part of the next panel, between its products. A small
// one needs no such thing.
// CHECK-LABEL: func.func @prefetch
// CHECK: scf.for {{.*}} iter_args
// CHECK: memref.prefetch {{.*}} read, locality<2>
// CHECK: vector.fma
func.func @prefetch(%in: memref<1x32x1x1x16xf32>, %w: memref<32x32x1x1x16x16xf32>,
                    %out: memref<1x32x1x1x16xf32>, %begin: index, %end: index) attributes {cpu.kernel} {
  cpu.conv2d %in, %w outs %out {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 1, channels = 512,
    tile = #cpu.tile<pixels = 1, blocks = 1, rows = 1, groups = 4, depth = 16, flatten = false>}
    : memref<1x32x1x1x16xf32>, memref<32x32x1x1x16x16xf32>, memref<1x32x1x1x16xf32>
  return
}

// -----

// A first layer: all steps of a row of the window are one iteration, here 2 x 3. Where windows overlap, the columns of
// the window are a loop: in one iteration the elements that neighbours share would be kept in registers.
// CHECK-LABEL: func.func @apart
// CHECK-COUNT-24: vector.fma
// CHECK-NOT: vector.fma
// CHECK-LABEL: func.func @overlapping
// CHECK-COUNT-12: vector.fma
// CHECK-NOT: vector.fma
func.func @apart(%in: memref<1x1x8x8x3xf32>, %w: memref<1x1x2x2x3x16xf32>, %out: memref<1x1x4x4x16xf32>,
                 %begin: index, %end: index) attributes {cpu.kernel} {
  cpu.conv2d %in, %w outs %out {strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, groups = 1, channels = 3,
    tile = #cpu.tile<pixels = 2, blocks = 1, rows = 4, groups = 1, depth = 1, flatten = false>}
    : memref<1x1x8x8x3xf32>, memref<1x1x2x2x3x16xf32>, memref<1x1x4x4x16xf32>
  return
}
func.func @overlapping(%in: memref<1x1x9x9x3xf32>, %w: memref<1x1x3x3x3x16xf32>, %out: memref<1x1x4x4x16xf32>,
                       %begin: index, %end: index) attributes {cpu.kernel} {
  cpu.conv2d %in, %w outs %out {strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, groups = 1, channels = 3,
    tile = #cpu.tile<pixels = 2, blocks = 1, rows = 4, groups = 1, depth = 1, flatten = false>}
    : memref<1x1x9x9x3xf32>, memref<1x1x3x3x3x16xf32>, memref<1x1x4x4x16xf32>
  return
}

// -----

// The image of 4x4 pixels lies within a border of three, and taps are three apart: of each row, and of each pair of pixels,
// only the taps that read the image are multiplied.
// CHECK-LABEL: func.func @padded
// CHECK: scf.for %[[ROW:.*]] =
// CHECK: %[[FROM:.*]] = arith.divui
// CHECK: %[[TO:.*]] = arith.minui
// CHECK: scf.for %{{.*}} = %[[FROM]] to %[[TO]]
// CHECK: scf.for %{{.*}} = %{{[^c].*}} to %{{[^c].*}} step
// Few of the taps of a large image read padding: the loops have fixed bounds.
// CHECK-LABEL: func.func @large
// CHECK-NOT: arith.minui
// CHECK: return
func.func @padded(%in: memref<1x1x10x10x16xf32>, %w: memref<1x1x3x3x16x16xf32>, %out: memref<1x1x4x4x16xf32>,
                  %begin: index, %end: index) attributes {cpu.kernel} {
  cpu.conv2d %in, %w outs %out {strides = array<i64: 1, 1>, dilations = array<i64: 3, 3>, groups = 1, channels = 16, image = array<i64: 3, 3, 4, 4>,
    tile = #cpu.tile<pixels = 2, blocks = 1, rows = 4, groups = 1, depth = 1, flatten = false>}
    : memref<1x1x10x10x16xf32>, memref<1x1x3x3x16x16xf32>, memref<1x1x4x4x16xf32>
  return
}
func.func @large(%in: memref<1x1x18x18x16xf32>, %w: memref<1x1x3x3x16x16xf32>, %out: memref<1x1x16x16x16xf32>,
                 %begin: index, %end: index) attributes {cpu.kernel} {
  cpu.conv2d %in, %w outs %out {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 1, channels = 16, image = array<i64: 1, 1, 16, 16>,
    tile = #cpu.tile<pixels = 2, blocks = 1, rows = 16, groups = 1, depth = 1, flatten = false>}
    : memref<1x1x18x18x16xf32>, memref<1x1x3x3x16x16xf32>, memref<1x1x16x16x16xf32>
  return
}

// -----

// A signal has no rows that threads could divide: tasks are 8 parts of its columns, of which the last one is shorter.
// CHECK-LABEL: func.func @signal
// CHECK-SAME: cpu.tasks = 8
// CHECK: arith.muli %{{.*}}, %c54
// CHECK: scf.if
// CHECK: } else {
func.func @signal(%in: memref<1x1x1x402x16xf32>, %w: memref<1x1x1x3x16x16xf32>, %out: memref<1x1x1x400x16xf32>,
                  %begin: index, %end: index) attributes {cpu.kernel} {
  cpu.conv2d %in, %w outs %out {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 1, channels = 16,
    tile = #cpu.tile<pixels = 6, blocks = 1, rows = 1, groups = 1, depth = 1, flatten = false>}
    : memref<1x1x1x402x16xf32>, memref<1x1x1x3x16x16xf32>, memref<1x1x1x400x16xf32>
  return
}
