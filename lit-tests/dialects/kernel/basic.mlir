// RUN: atc-opt %s | atc-opt | FileCheck %s

// Every op and attribute prints what it parses.

// CHECK-LABEL: func.func @kernels
func.func @kernels(%x: memref<1x2x4x4x16xf32>, %y: memref<1x2x2x2x16xf32>, %p: memref<1x20x4x4xf32>,
                  %m: memref<1x2x1x1x16xf32>, %i: memref<3xi64>, %t: memref<2x5x4xf32>, %g: memref<2x3x4xf32>,
                  %a: memref<2x1x4xi64>, %e: memref<2x5x6xf32>) {
  // CHECK: kernel.pool {{.*}} kind = #kernel<pool_kind average>
  kernel.pool %x, %y {kind = #kernel<pool_kind average>, kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>,
    pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, count_include_pad} : memref<1x2x4x4x16xf32>, memref<1x2x2x2x16xf32>
  // CHECK: kernel.map %{{.*}}, %{{.*}} outs %{{.*}} : {{.*}} {
  // CHECK: kernel.yield %{{.*}} : f32
  kernel.map %x, %m outs %x : memref<1x2x4x4x16xf32>, memref<1x2x1x1x16xf32>, memref<1x2x4x4x16xf32> {
  ^bb0(%u: f32, %v: f32):
    %s = arith.mulf %u, %v : f32
    kernel.yield %s : f32
  }
  // CHECK: kernel.reduce {{.*}} kind = #graph<reduce_kind mean>
  kernel.reduce %x, %m {kind = #graph<reduce_kind mean>, axes = array<i64: 2, 3>} : memref<1x2x4x4x16xf32>, memref<1x2x1x1x16xf32>
  // CHECK: kernel.arg_reduce {{.*}} {axis = 1 : i64, select_last}
  kernel.arg_reduce %t, %a {axis = 1, select_last} : memref<2x5x4xf32>, memref<2x1x4xi64>
  // CHECK: kernel.softmax {{.*}} {axis = 1 : i64, log}
  kernel.softmax %t, %t {axis = 1, log} : memref<2x5x4xf32>, memref<2x5x4xf32>
  // CHECK: kernel.copy
  kernel.copy %x, %x : memref<1x2x4x4x16xf32>, memref<1x2x4x4x16xf32>
  // CHECK: kernel.pack
  kernel.pack %p, %x : memref<1x20x4x4xf32>, memref<1x2x4x4x16xf32>
  // CHECK: kernel.unpack
  kernel.unpack %x, %p : memref<1x2x4x4x16xf32>, memref<1x20x4x4xf32>
  // CHECK: kernel.fill {{.*}} {border = array<i64: 1, 1, 1, 1>, value = 0.000000e+00 : f64}
  kernel.fill %x {value = 0.0, border = array<i64: 1, 1, 1, 1>} : memref<1x2x4x4x16xf32>
  // CHECK: kernel.pad {{.*}} mode = #graph<pad_mode reflect>
  kernel.pad %t, %e {low = array<i64: 0, 0, 1>, mode = #graph<pad_mode reflect>} : memref<2x5x4xf32>, memref<2x5x6xf32>
  // CHECK: kernel.resize
  kernel.resize %y, %x {scales = array<f64: 1.0, 1.0, 2.0, 2.0, 1.0>, mode = #graph<resize_mode nearest>,
    coordinates = #graph<coordinate_mode asymmetric>, nearest = #graph<nearest_mode floor>, cubic_coefficient = -0.75}
    : memref<1x2x2x2x16xf32>, memref<1x2x4x4x16xf32>
  // CHECK: kernel.gather
  kernel.gather %t, %i, %g : memref<2x5x4xf32>, memref<3xi64>, memref<2x3x4xf32>
  return
}
