// RUN: atc-opt %s --split-input-file --cpu-select-half-products | FileCheck %s
// RUN: atc-opt %s --split-input-file --cpu-select-half-products --remarks-filter=cpu-select-half-products --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

// The weights of channels 0 and 1 are side by side; a product is an image of a row of pixels.

// CHECK-LABEL: func.func @main
// CHECK-NOT: om.weight {{.*}}xf32>
// CHECK: %[[X:.*]] = om.view %{{.*}}[0] : memref<1x8x2xf32> to memref<1x1x1x8x2xf32, strided<[16, 2, 16, 2, 1]>>
// CHECK: %[[R:.*]] = om.view %{{.*}}[0] : memref<1x8x16xf32> to memref<1x1x1x8x16xf32, strided<[128, 16, 128, 16, 1]>>
// CHECK: %[[Y:.*]] = om.view %{{.*}}[0] : memref<1x8x16xf32, strided<[256, 32, 1]>> to memref<1x1x1x8x16xf32, strided<[256, 16, 256, 32, 1]>>
// CHECK: %[[W:.*]] = om.weight dense<{{\[\[\[\[\[\[}}1.000000e+00, 1.700000e+01, 2.000000e+00, 1.800000e+01, 3.000000e+00, {{.*}}, 1.600000e+01, 3.200000e+01]]]]]]> : tensor<1x1x1x1x1x32xf16> : memref<1x1x1x1x1x32xf16>
// CHECK: cpu.half_conv2d %[[X]], %[[W]] residual %[[R]] outs %[[Y]] {activation = #graph.activation<relu>, dilations = array<i64: 1, 1>, om.tensor = tensor<1x8x16xf32>, strides = array<i64: 1, 1>}
// REMARK: [Passed] {{.*}}Half
func.func @main(%x: memref<1x8x2xf32> {om.name = "x"}, %r: memref<1x8x16xf32> {om.name = "r"}, %a: memref<1x8x32xf32> {om.name = "a", om.output}) {
  %w = om.weight dense<[[[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0, 16.0], [17.0, 18.0, 19.0, 20.0, 21.0, 22.0, 23.0, 24.0, 25.0, 26.0, 27.0, 28.0, 29.0, 30.0, 31.0, 32.0]]]> : tensor<1x2x16xf32> : memref<1x2x16xf32>
  %y = om.view %a[0] : memref<1x8x32xf32> to memref<1x8x16xf32, strided<[256, 32, 1]>>
  cpu.matmul %x, %w residual %r outs %y {packed, activation = #graph.activation<relu>, om.tensor = tensor<1x8x16xf32>} : memref<1x8x2xf32>, memref<1x2x16xf32>, memref<1x8x16xf32>, memref<1x8x16xf32, strided<[256, 32, 1]>>
  return
}

// -----

// Long rows are padded to whole chunks; filters keep their window.

// CHECK-LABEL: func.func @main
// CHECK: om.weight {{.*}} : memref<2x1x1x1x168x32xf16>
// CHECK: cpu.half_conv2d
// CHECK: %[[F:.*]] = om.weight {{.*}} : memref<4x2x3x3x8x32xf16>
// CHECK: cpu.half_conv2d %{{.*}}, %[[F]] bias %{{.*}} outs %{{.*}} {dilations = array<i64: 1, 1>, strides = array<i64: 2, 2>} : memref<1x2x9x9x16xf32>
func.func @main(%x: memref<1x8x312xf32> {om.name = "x"}, %i: memref<1x2x9x9x16xf32> {om.name = "i"}, %a: memref<1x8x32xf32> {om.name = "a", om.output}, %b: memref<1x4x4x4x16xf32> {om.name = "b", om.output}) {
  %w = om.weight dense<1.0> : tensor<2x312x16xf32> : memref<2x312x16xf32>
  cpu.matmul %x, %w outs %a {packed} : memref<1x8x312xf32>, memref<2x312x16xf32>, memref<1x8x32xf32>
  %f = om.weight dense<1.0> : tensor<4x2x3x3x16x16xf32> : memref<4x2x3x3x16x16xf32>
  %c = om.weight dense<1.0> : tensor<64xf32> : memref<64xf32>
  cpu.conv2d %i, %f bias %c outs %b {strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, groups = 1, channels = 32} : memref<1x2x9x9x16xf32>, memref<4x2x3x3x16x16xf32>, memref<64xf32>, memref<1x4x4x4x16xf32>
  return
}

// -----

// What stays in f32.

// CHECK-LABEL: func.func @main
// CHECK-NOT: cpu.half_conv2d
// REMARK: [Missed] {{.*}}a weight is beyond the range of f16
// REMARK: [Missed] {{.*}}it has few rows
// REMARK: [Missed] {{.*}}its columns are no whole blocks of 16
// REMARK: [Missed] {{.*}}its channels are no whole blocks of 16
// REMARK: [Missed] {{.*}}it has groups
func.func @main(%x: memref<1x8x4xf32> {om.name = "x"}, %s: memref<1x7x4xf32> {om.name = "s"}, %i: memref<1x2x4x4x16xf32> {om.name = "i"}, %a: memref<1x8x16xf32> {om.name = "a", om.output}, %b: memref<1x7x16xf32> {om.name = "b", om.output}, %c: memref<1x8x10xf32> {om.name = "c", om.output}, %d: memref<1x2x4x4x16xf32> {om.name = "d", om.output}) {
  %huge = om.weight dense<65520.0> : tensor<1x4x16xf32> : memref<1x4x16xf32>
  %w = om.weight dense<1.0> : tensor<1x4x16xf32> : memref<1x4x16xf32>
  %f = om.weight dense<1.0> : tensor<2x2x1x1x16x16xf32> : memref<2x2x1x1x16x16xf32>
  %g = om.weight dense<1.0> : tensor<2x1x1x1x16x16xf32> : memref<2x1x1x1x16x16xf32>
  cpu.matmul %x, %huge outs %a {packed} : memref<1x8x4xf32>, memref<1x4x16xf32>, memref<1x8x16xf32>
  cpu.matmul %s, %w outs %b {packed} : memref<1x7x4xf32>, memref<1x4x16xf32>, memref<1x7x16xf32>
  cpu.matmul %x, %w outs %c {packed} : memref<1x8x4xf32>, memref<1x4x16xf32>, memref<1x8x10xf32>
  cpu.conv2d %i, %f outs %d {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 1, channels = 20} : memref<1x2x4x4x16xf32>, memref<2x2x1x1x16x16xf32>, memref<1x2x4x4x16xf32>
  cpu.conv2d %i, %g outs %d {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 2, channels = 16} : memref<1x2x4x4x16xf32>, memref<2x1x1x1x16x16xf32>, memref<1x2x4x4x16xf32>
  return
}
