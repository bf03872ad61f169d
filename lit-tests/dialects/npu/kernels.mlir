// RUN: atc-opt %s | atc-opt | FileCheck %s

// CHECK-LABEL: func.func @convolutions
func.func @convolutions(%x: memref<2x4x14x14x16xf16>, %w: memref<1x36x2x16x16xf16>, %b: memref<32xf32>,
                        %s: memref<32xf16>, %r: memref<2x2x7x7x16xf16>, %y: memref<2x2x7x7x16xf16>,
                        %p: memref<1x3x8x8xf32>, %q: memref<1x3x8x8xui8, strided<[192, 1, 24, 3]>>, %n: memref<1x1x18x10xui8>, %v: memref<1x3x1x16x16xf16>, %o: memref<1x1x8x8x16xf16>,
                        %d: memref<4x9x1x16x16xf16>, %z: memref<2x4x14x14x16xf16>, %i: memref<16x16xf16>) {
  // CHECK: npu.conv2d %{{.*}}, %{{.*}} bias %{{.*}} residual %{{.*}} slope %{{.*}} outs %{{.*}} {activation = #graph.activation<prelu>
  // CHECK-SAME: tile = #npu.tile<m = 128, n = 32, k = 64, l1_m = 256, l1_n = 32, l1_k = 576, cores_m = 4, cores_n = 2, order = "b">
  npu.conv2d %x, %w bias %b residual %r slope %s outs %y {
    kernel = array<i64: 3, 3>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>,
    pads = array<i64: 1, 1, 0, 0>, macs = 1, activation = #graph.activation<prelu>, residual_last,
    tile = #npu.tile<m = 128, n = 32, k = 64, l1_m = 256, l1_n = 32, l1_k = 576, cores_m = 4, cores_n = 2, order = "b">}
    : memref<2x4x14x14x16xf16>, memref<1x36x2x16x16xf16>, memref<32xf32>, memref<2x2x7x7x16xf16>, memref<32xf16>, memref<2x2x7x7x16xf16>
  // CHECK: npu.conv2d {{.*}}image
  npu.conv2d %p, %v outs %o {kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>,
    pads = array<i64: 1, 1, 1, 1>, macs = 1, image} : memref<1x3x8x8xf32>, memref<1x3x1x16x16xf16>, memref<1x1x8x8x16xf16>
  // CHECK: npu.conv2d{{.*}}pixels = #npu.pixels<means = [1.230000e+02, 0.000000e+00, 5.000000e-01], factors = [2.500000e-01, 1.000000e+00, -2.000000e+00]>
  npu.conv2d %q, %v outs %o {kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, macs = 1, image,
    pixels = #npu.pixels<means = [123.0, 0.0, 0.5], factors = [0.25, 1.0, -2.0]>}
    : memref<1x3x8x8xui8, strided<[192, 1, 24, 3]>>, memref<1x3x1x16x16xf16>, memref<1x1x8x8x16xf16>
  // CHECK: npu.conv2d{{.*}}yuv = <crop = [2, 0, 8, 8], matrix = [256, 0, 359, 256, -88, -183, 256, 454, 0], bias = [1, 2, 3]>>
  npu.conv2d %n, %v outs %o {kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, macs = 1, image,
    pixels = #npu.pixels<means = [123.0, 0.0, 0.5], factors = [0.25, 1.0, -2.0],
    yuv = <crop = [2, 0, 8, 8], matrix = [256, 0, 359, 256, -88, -183, 256, 454, 0], bias = [1, 2, 3]>>}
    : memref<1x1x18x10xui8>, memref<1x3x1x16x16xf16>, memref<1x1x8x8x16xf16>
  // CHECK: npu.conv2d %{{.*}}, %{{.*}} bias %{{.*}} residual %{{.*}} identity %{{.*}} outs
  npu.conv2d %x, %w bias %b residual %r identity %i outs %y {kernel = array<i64: 3, 3>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>,
    pads = array<i64: 1, 1, 0, 0>, macs = 1} : memref<2x4x14x14x16xf16>, memref<1x36x2x16x16xf16>, memref<32xf32>, memref<2x2x7x7x16xf16>, memref<16x16xf16>, memref<2x2x7x7x16xf16>
  // CHECK: npu.conv2d {{.*}}block_groups = 4
  npu.conv2d %x, %d outs %z {kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>,
    pads = array<i64: 1, 1, 1, 1>, macs = 1, block_groups = 4} : memref<2x4x14x14x16xf16>, memref<4x9x1x16x16xf16>, memref<2x4x14x14x16xf16>
  return
}

// CHECK-LABEL: func.func @products
func.func @products(%a: memref<2x3x20x40xf16>, %w: memref<3x2x16x16xf16>, %b: memref<32xf32>,
                    %t: memref<2x1x24x40xf16>, %y: memref<2x3x20x24xf16>, %x: memref<20x24xf16>, %g: memref<24xf32>) {
  // CHECK: npu.matmul %{{.*}}, %{{.*}} bias %{{.*}} residual %{{.*}} outs %{{.*}} {packed, residual_last}
  npu.matmul %a, %w bias %b residual %y outs %y {packed, residual_last}
    : memref<2x3x20x40xf16>, memref<3x2x16x16xf16>, memref<32xf32>, memref<2x3x20x24xf16>, memref<2x3x20x24xf16>
  // CHECK: npu.matmul %{{.*}}, %{{.*}} outs %{{.*}} {scale = 1.250000e-01 : f64, transpose_rhs}
  npu.matmul %a, %t outs %y {transpose_rhs, scale = 0.125} : memref<2x3x20x40xf16>, memref<2x1x24x40xf16>, memref<2x3x20x24xf16>
  // CHECK: npu.layer_norm %{{.*}} gamma %{{.*}} beta %{{.*}} outs %{{.*}} {epsilon = {{.*}}E-13 : f64}
  npu.layer_norm %x gamma %g beta %g outs %x {epsilon = 1.0e-12} : memref<20x24xf16>, memref<24xf32>, memref<24xf32>, memref<20x24xf16>
  return
}
