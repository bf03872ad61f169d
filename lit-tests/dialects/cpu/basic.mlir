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
  // CHECK: cpu.matmul %{{.*}}, %{{.*}} residual %{{.*}} outs %{{.*}} {packed}
  cpu.matmul %l, %r residual %o outs %o {packed} : memref<2x4x8xf32>, memref<1x8x16xf32>, memref<2x4x16xf32>, memref<2x4x16xf32>
  return
}

// CHECK-LABEL: func.func @transformers
func.func @transformers(%q: memref<1x2x4x8xf32>, %k: memref<1x2x8x6xf32>, %v: memref<1x2x6x8xf32>, %m: memref<1x1x1x6xf32>,
                        %y: memref<1x2x4x8xf32>, %x: memref<4x8xf32>, %g: memref<8xf32>) {
  // CHECK: cpu.attention %{{.*}}, %{{.*}}, %{{.*}} inputs %{{.*}} outs %{{.*}} : memref<1x2x4x8xf32>
  // CHECK-NEXT: ^bb0(%[[S:.*]]: f32, %[[M:.*]]: f32):
  // CHECK-NEXT: arith.addf %[[S]], %[[M]]
  // CHECK-NEXT: cpu.score_yield
  cpu.attention %q, %k, %v inputs %m outs %y : memref<1x2x4x8xf32>, memref<1x2x8x6xf32>, memref<1x2x6x8xf32>, memref<1x1x1x6xf32>, memref<1x2x4x8xf32> {
  ^bb0(%score: f32, %mask: f32):
    %sum = arith.addf %score, %mask : f32
    cpu.score_yield %sum : f32
  }
  // CHECK: cpu.attention %{{.*}}, %{{.*}}, %{{.*}} outs %{{.*}} : memref<1x2x4x8xf32>, memref<1x2x8x6xf32>, memref<1x2x6x8xf32>, memref<1x2x4x8xf32>
  cpu.attention %q, %k, %v outs %y : memref<1x2x4x8xf32>, memref<1x2x8x6xf32>, memref<1x2x6x8xf32>, memref<1x2x4x8xf32>
  // CHECK: cpu.layer_norm %{{.*}} gamma %{{.*}} outs %{{.*}} {epsilon = 1.000000e-05 : f64}
  cpu.layer_norm %x gamma %g outs %x {epsilon = 1.0e-5} : memref<4x8xf32>, memref<8xf32>, memref<4x8xf32>
  return
}

// CHECK-LABEL: func.func @sums
func.func @sums(%x: memref<4x8xf32>, %y: memref<1x8xf32>, %o: memref<2x1x8xf32>) {
  // CHECK: cpu.map_reduce %{{.*}}, %{{.*}} outs %{{.*}} {axes = array<i64: 0>, mean} : memref<4x8xf32>, memref<1x8xf32>, memref<2x1x8xf32> {
  // CHECK-NEXT: ^bb0(%[[A:.*]]: f32, %[[B:.*]]: f32):
  // CHECK-NEXT: cpu.reduction_yield %[[A]], %[[B]] : f32, f32
  cpu.map_reduce %x, %y outs %o {axes = array<i64: 0>, mean} : memref<4x8xf32>, memref<1x8xf32>, memref<2x1x8xf32> {
  ^bb0(%a: f32, %b: f32):
    cpu.reduction_yield %a, %b : f32, f32
  }
  return
}
}
