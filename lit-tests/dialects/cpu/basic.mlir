// RUN: atc-opt %s | atc-opt | FileCheck %s

// Every op and attribute prints what it parses.

// CHECK: cpu.level = #cpu.level<name = "v3", lanes = 8, registers = 16, fma = true, l1 = 32768, l2 = 524288>
module attributes {cpu.level = #cpu.level<name = "v3", lanes = 8, registers = 16, fma = true, l1 = 32768, l2 = 524288>} {

// CHECK-LABEL: func.func @contractions
func.func @contractions(%x: memref<1x1x8x8x16xf32>, %w: memref<1x1x1x1x16x16xf32>, %b: memref<16xf32>,
                        %y: memref<1x1x8x8x16xf32>, %d: memref<1x1x1x16xf32>,
                        %l: memref<2x4x8xf32>, %r: memref<1x8x16xf32>, %o: memref<2x4x16xf32>) {
  // CHECK: cpu.conv2d %{{.*}}, %{{.*}} bias %{{.*}} residual %{{.*}} slope %{{.*}} outs %{{.*}} {activation = #graph.activation<prelu>, channels = 16 : i64
  // CHECK-SAME: tile = #cpu.tile<pixels = 6, blocks = 1, rows = 8, groups = 1, depth = 1, flatten = false>
  cpu.conv2d %x, %w bias %b residual %y slope %b outs %y {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 1,
    channels = 16, activation = #graph.activation<prelu>,
    tile = #cpu.tile<pixels = 6, blocks = 1, rows = 8, groups = 1, depth = 1, flatten = false>}
    : memref<1x1x8x8x16xf32>, memref<1x1x1x1x16x16xf32>, memref<16xf32>, memref<1x1x8x8x16xf32>, memref<16xf32>, memref<1x1x8x8x16xf32>
  // CHECK: cpu.depthwise_conv2d %{{.*}}, %{{.*}} outs %{{.*}} {activation = #graph.activation<clip, 0.000000e+00, 6.000000e+00>
  cpu.depthwise_conv2d %x, %d outs %y {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>,
    activation = #graph.activation<clip, 0.0, 6.0>} : memref<1x1x8x8x16xf32>, memref<1x1x1x16xf32>, memref<1x1x8x8x16xf32>
  // CHECK: cpu.matmul %{{.*}}, %{{.*}} bias %{{.*}} outs %{{.*}} {packed}
  cpu.matmul %l, %r bias %b outs %o {packed} : memref<2x4x8xf32>, memref<1x8x16xf32>, memref<16xf32>, memref<2x4x16xf32>
  return
}
}
