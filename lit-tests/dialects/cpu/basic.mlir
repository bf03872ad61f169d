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

// CHECK-LABEL: func.func @others
func.func @others(%x: memref<1x2x4x4x16xf32>, %y: memref<1x2x2x2x16xf32>, %p: memref<1x20x4x4xf32>,
                  %m: memref<1x2x1x1x16xf32>, %i: memref<3xi64>, %t: memref<2x5x4xf32>, %g: memref<2x3x4xf32>,
                  %a: memref<2x1x4xi64>, %e: memref<2x5x6xf32>) {
  // CHECK: cpu.pool {{.*}} kind = #cpu<pool_kind average>
  cpu.pool %x, %y {kind = #cpu<pool_kind average>, kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>,
    pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, count_include_pad} : memref<1x2x4x4x16xf32>, memref<1x2x2x2x16xf32>
  // CHECK: cpu.map %{{.*}}, %{{.*}} outs %{{.*}} : {{.*}} {
  // CHECK: cpu.yield %{{.*}} : f32
  cpu.map %x, %m outs %x : memref<1x2x4x4x16xf32>, memref<1x2x1x1x16xf32>, memref<1x2x4x4x16xf32> {
  ^bb0(%u: f32, %v: f32):
    %s = arith.mulf %u, %v : f32
    cpu.yield %s : f32
  }
  // CHECK: cpu.reduce {{.*}} kind = #graph<reduce_kind mean>
  cpu.reduce %x, %m {kind = #graph<reduce_kind mean>, axes = array<i64: 2, 3>} : memref<1x2x4x4x16xf32>, memref<1x2x1x1x16xf32>
  // CHECK: cpu.arg_reduce {{.*}} {axis = 1 : i64, select_last}
  cpu.arg_reduce %t, %a {axis = 1, select_last} : memref<2x5x4xf32>, memref<2x1x4xi64>
  // CHECK: cpu.softmax {{.*}} {axis = 1 : i64, log}
  cpu.softmax %t, %t {axis = 1, log} : memref<2x5x4xf32>, memref<2x5x4xf32>
  // CHECK: cpu.copy
  cpu.copy %x, %x : memref<1x2x4x4x16xf32>, memref<1x2x4x4x16xf32>
  // CHECK: cpu.pack
  cpu.pack %p, %x : memref<1x20x4x4xf32>, memref<1x2x4x4x16xf32>
  // CHECK: cpu.unpack
  cpu.unpack %x, %p : memref<1x2x4x4x16xf32>, memref<1x20x4x4xf32>
  // CHECK: cpu.fill {{.*}} {border = array<i64: 1, 1, 1, 1>, value = 0.000000e+00 : f64}
  cpu.fill %x {value = 0.0, border = array<i64: 1, 1, 1, 1>} : memref<1x2x4x4x16xf32>
  // CHECK: cpu.pad {{.*}} mode = #graph<pad_mode reflect>
  cpu.pad %t, %e {low = array<i64: 0, 0, 1>, mode = #graph<pad_mode reflect>} : memref<2x5x4xf32>, memref<2x5x6xf32>
  // CHECK: cpu.resize
  cpu.resize %y, %x {scales = array<f64: 1.0, 1.0, 2.0, 2.0, 1.0>, mode = #graph<resize_mode nearest>,
    coordinates = #graph<coordinate_mode asymmetric>, nearest = #graph<nearest_mode floor>, cubic_coefficient = -0.75}
    : memref<1x2x2x2x16xf32>, memref<1x2x4x4x16xf32>
  // CHECK: cpu.gather
  cpu.gather %t, %i, %g : memref<2x5x4xf32>, memref<3xi64>, memref<2x3x4xf32>
  return
}
}
