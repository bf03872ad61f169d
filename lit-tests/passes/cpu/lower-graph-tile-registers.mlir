// RUN: atc-opt %s --kernel-assign-layout --kernel-assign-halo --cpu-lower-graph="exact-dot tile-registers" --split-input-file | FileCheck %s

// The channels of a pixel are side by side in a tensor that a dense convolution reads, so that the
// bytes of a row of its window are one run.
// CHECK-LABEL: func @main
// CHECK: om.alloc : memref<1x14x14x4x16xi8>
// CHECK: cpu.integer_conv2d {{.*}}adjacent = 16 : i64{{.*}} : memref<1x4x14x14x16xi8, strided<[64, 16, 896, 64, 1]>>, memref<288x16x4xi8>, memref<144xi32>
func.func @main(%x: tensor<1x64x12x12xui8>) -> tensor<1x32x12x12xi32> {
  %w = graph.constant dense<1> : tensor<32x64x3x3xi8>
  %y = graph.integer_conv %x, %w {zero_point = 131 : i64, filter_zero_points = array<i64>, strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x64x12x12xui8>, tensor<32x64x3x3xi8>) -> tensor<1x32x12x12xi32>
  return %y : tensor<1x32x12x12xi32>
}

// -----

// Rows of a matrix: chunks that divide them evenly.
// CHECK-LABEL: func @main
// CHECK: cpu.integer_conv2d {{.*}}adjacent = 12 : i64{{.*}} : memref<1x1x1x40x144xi8>, memref<72x16x4xi8>, memref<36xi32>
func.func @main(%x: tensor<40x144xui8>) -> tensor<40x32xi32> {
  %w = graph.constant dense<127> : tensor<32x144xi8>
  %y = graph.integer_fully_connected %x, %w {zero_point = 0 : i64, filter_zero_points = array<i64>} : (tensor<40x144xui8>, tensor<32x144xi8>) -> tensor<40x32xi32>
  return %y : tensor<40x32xi32>
}

// -----

// The 21 bytes of a row of three channels are six fours with three bytes of the next pixel, for
// which the halo has one more column than the last window reads: 14 + 3 + 2 + 1. A window of three
// columns has too few fours.
// CHECK-LABEL: func @main
// CHECK: om.alloc : memref<1x1x19x20x3xi8>
// CHECK: cpu.integer_conv2d {{.*}}adjacent = 6 : i64{{.*}} : memref<1x1x19x19x3xi8, strided<[1140, 1140, 60, 3, 1]>>, memref<42x16x4xi8>, memref<42xi32>
// CHECK: cpu.integer_conv2d
// CHECK-NOT: adjacent
// CHECK: return
func.func @main(%x: tensor<1x3x14x14xui8>) -> (tensor<1x16x7x7xi32>, tensor<1x16x14x14xi32>) {
  %w = graph.constant dense<1> : tensor<16x3x7x7xi8>
  %z = graph.constant dense<1> : tensor<16x3x3x3xi8>
  %y = graph.integer_conv %x, %w {zero_point = 131 : i64, filter_zero_points = array<i64>, strides = array<i64: 2, 2>, pads = array<i64: 3, 3, 2, 2>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x3x14x14xui8>, tensor<16x3x7x7xi8>) -> tensor<1x16x7x7xi32>
  %v = graph.integer_conv %x, %z {zero_point = 131 : i64, filter_zero_points = array<i64>, strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x3x14x14xui8>, tensor<16x3x3x3xi8>) -> tensor<1x16x14x14xi32>
  return %y, %v : tensor<1x16x7x7xi32>, tensor<1x16x14x14xi32>
}

// -----

// Signed bytes have a bias for products by lists of steps, which add 128 to them, and one for tile
// registers, which do not: -(128 - 20) * 127 * 64 and 20 * 127 * 64 for a zero point of -20.
// CHECK-LABEL: func @main
// CHECK: %[[BIAS:.*]] = om.weight dense<{{\[\[}}-877824, {{.*}}, -877824], [162560, {{.*}} : memref<2x32xi32>
// CHECK: cpu.integer_conv2d %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %[[BIAS]] outs {{.*}}adjacent = 16 : i64{{.*}}signed_input{{.*}} : memref<1x1x1x40x64xi8>, memref<32x16x4xi8>, memref<16xi32>, memref<3xi32>, memref<2x32xi32>
func.func @main(%x: tensor<40x64xi8>) -> tensor<40x32xi32> {
  %w = graph.constant dense<127> : tensor<32x64xi8>
  %0 = graph.integer_fully_connected %x, %w {zero_point = -20 : i64, filter_zero_points = array<i64>} : (tensor<40x64xi8>, tensor<32x64xi8>) -> tensor<40x32xi32>
  return %0 : tensor<40x32xi32>
}

// -----

// Weights of nine bits and groups stay lists of steps.
// CHECK-LABEL: func @main
// CHECK-NOT: adjacent
func.func @main(%y: tensor<40x64xui8>, %z: tensor<1x64x5x5xui8>) -> (tensor<40x32xi32>, tensor<1x32x5x5xi32>) {
  %u = graph.constant dense<255> : tensor<32x64xui8>
  %1 = graph.integer_fully_connected %y, %u {zero_point = 0 : i64, filter_zero_points = array<i64>} : (tensor<40x64xui8>, tensor<32x64xui8>) -> tensor<40x32xi32>
  %v = graph.constant dense<1> : tensor<32x32x1x1xi8>
  %2 = graph.integer_conv %z, %v {zero_point = 0 : i64, filter_zero_points = array<i64>, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 2 : i64} : (tensor<1x64x5x5xui8>, tensor<32x32x1x1xi8>) -> tensor<1x32x5x5xi32>
  return %1, %2 : tensor<40x32xi32>, tensor<1x32x5x5xi32>
}

// -----

// Products in tile registers are faster than fewer products of 16-bit integers.
// CHECK-LABEL: func @main
// CHECK-NOT: winograd
// CHECK: cpu.integer_conv2d
func.func @main(%x: tensor<1x64x28x28xui8>) -> tensor<1x64x28x28xi32> {
  %w = graph.constant dense<1> : tensor<64x64x3x3xi8>
  %y = graph.integer_conv %x, %w {zero_point = 131 : i64, filter_zero_points = array<i64>, strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x64x28x28xui8>, tensor<64x64x3x3xi8>) -> tensor<1x64x28x28xi32>
  return %y : tensor<1x64x28x28xi32>
}
