// RUN: atc-opt %s -split-input-file --kernel-assign-layout=block=4 --kernel-assign-halo --cpu-lower-graph | FileCheck %s

// Weights are packed at compile time. Blocks of four make it visible.

// [M][C][KH][KW] to [OCB][ICB][KH][KW][c][b]: output channels innermost, zeros for
// channels that are none; a bias of as many lanes.

// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<1x2x3x3xf32>) -> tensor<1x3x3x2xf32> {
  %w = graph.constant dense<[[[[1.0, 2.0]], [[3.0, 4.0]]], [[[5.0, 6.0]], [[7.0, 8.0]]], [[[9.0, 10.0]], [[11.0, 12.0]]]]> : tensor<3x2x1x2xf32>
  %b = graph.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  // CHECK: om.weight dense<[1.000000e+00, 2.000000e+00, 3.000000e+00, 0.000000e+00]> : tensor<4xf32>
  // CHECK: om.weight dense<
  // CHECK-SAME{LITERAL}: [[[[[[1.000000e+00, 5.000000e+00, 9.000000e+00, 0.000000e+00], [3.000000e+00, 7.000000e+00, 1.100000e+01, 0.000000e+00]], [[2.000000e+00, 6.000000e+00, 1.000000e+01, 0.000000e+00], [4.000000e+00, 8.000000e+00, 1.200000e+01, 0.000000e+00]]]]]]
  // CHECK-SAME: : tensor<1x1x1x2x2x4xf32>
  %0 = graph.conv %x, %w bias %b {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x2x3x3xf32>, tensor<3x2x1x2xf32>, tensor<3xf32>) -> tensor<1x3x3x2xf32>
  return %0 : tensor<1x3x3x2xf32>
}

// -----

// Two groups of two channels become one of four, with zeros between them.

// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<1x4x3x3xf32>) -> tensor<1x4x3x3xf32> {
  %w = graph.constant dense<[[[[1.0]], [[2.0]]], [[[3.0]], [[4.0]]], [[[5.0]], [[6.0]]], [[[7.0]], [[8.0]]]]> : tensor<4x2x1x1xf32>
  // CHECK: om.weight dense<
  // CHECK-SAME{LITERAL}: [[[[[[1.000000e+00, 3.000000e+00, 0.000000e+00, 0.000000e+00], [2.000000e+00, 4.000000e+00, 0.000000e+00, 0.000000e+00], [0.000000e+00, 0.000000e+00, 5.000000e+00, 7.000000e+00], [0.000000e+00, 0.000000e+00, 6.000000e+00, 8.000000e+00]]]]]]
  // CHECK: cpu.conv2d {{.*}}groups = 1 : i64
  %0 = graph.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 2 : i64} : (tensor<1x4x3x3xf32>, tensor<4x2x1x1xf32>) -> tensor<1x4x3x3xf32>
  return %0 : tensor<1x4x3x3xf32>
}

// -----

// Depthwise: [C][1][KH][KW] to [CB][KH][KW][b].

// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<1x5x3x3xf32>) -> tensor<1x5x3x2xf32> {
  %w = graph.constant dense<[[[[1.0, 2.0]]], [[[3.0, 4.0]]], [[[5.0, 6.0]]], [[[7.0, 8.0]]], [[[9.0, 10.0]]]]> : tensor<5x1x1x2xf32>
  // CHECK: om.weight dense<
  // CHECK-SAME{LITERAL}: [[[[1.000000e+00, 3.000000e+00, 5.000000e+00, 7.000000e+00], [2.000000e+00, 4.000000e+00, 6.000000e+00, 8.000000e+00]]], [[[9.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00], [1.000000e+01, 0.000000e+00, 0.000000e+00, 0.000000e+00]]]]
  // CHECK-SAME: : tensor<2x1x2x4xf32>
  %0 = graph.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 5 : i64} : (tensor<1x5x3x3xf32>, tensor<5x1x1x2xf32>) -> tensor<1x5x3x2xf32>
  return %0 : tensor<1x5x3x2xf32>
}

// -----

// A constant operand of a map in the blocks of the map's result.

// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<1x5x2x2xf32>) -> tensor<1x5x1x1xf32> {
  %c = graph.constant dense<[[[1.0]], [[2.0]], [[3.0]], [[4.0]], [[5.0]]]> : tensor<5x1x1xf32>
  // CHECK: om.weight dense<
  // CHECK-SAME{LITERAL}: [[[[[1.000000e+00, 2.000000e+00, 3.000000e+00, 4.000000e+00]]], [[[5.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00]]]]]
  // CHECK-SAME: : tensor<1x2x1x1x4xf32>
  %0 = graph.max_pool %x {kernel = array<i64: 1, 1>, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x5x2x2xf32>) -> tensor<1x5x2x2xf32>
  %1 = graph.mul %0, %c : (tensor<1x5x2x2xf32>, tensor<5x1x1xf32>) -> tensor<1x5x2x2xf32>
  %2 = graph.max_pool %1 {kernel = array<i64: 2, 2>, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x5x2x2xf32>) -> tensor<1x5x1x1xf32>
  return %2 : tensor<1x5x1x1xf32>
}

// -----

// Matrices have blocks of 16 columns: a fully connected layer's is transposed.

// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<2x2xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>) {
  %f = graph.constant dense<[[1.0, 4.0], [2.0, 5.0], [3.0, 6.0]]> : tensor<3x2xf32>
  %m = graph.constant dense<[[7.0, 8.0, 9.0], [10.0, 11.0, 12.0]]> : tensor<2x3xf32>
  // CHECK: om.weight dense<
  // CHECK-SAME{LITERAL}: [[[1.000000e+00, 2.000000e+00, 3.000000e+00, 0.000000e+00,
  // CHECK-SAME: [4.000000e+00, 5.000000e+00, 6.000000e+00, 0.000000e+00,
  %0 = graph.fully_connected %x, %f : (tensor<2x2xf32>, tensor<3x2xf32>) -> tensor<2x3xf32>
  // CHECK: om.weight dense<
  // CHECK-SAME{LITERAL}: [[[7.000000e+00, 8.000000e+00, 9.000000e+00, 0.000000e+00,
  // CHECK-SAME: [1.000000e+01, 1.100000e+01, 1.200000e+01, 0.000000e+00,
  %1 = graph.matmul %x, %m : (tensor<2x2xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0, %1 : tensor<2x3xf32>, tensor<2x3xf32>
}

// -----

// A constant that several ops read is stored once; one that is read as it is is
// not copied.

// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>) {
  %c = graph.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  // CHECK: %[[C:.*]] = om.weight dense<[1.000000e+00, 2.000000e+00, 3.000000e+00]> : tensor<3xf32>
  // CHECK: %[[ROW:.*]] = om.view %[[C]][0] : memref<3xf32> to memref<1x3xf32>
  // CHECK-NOT: om.weight
  // CHECK: kernel.map %{{.*}}, %[[ROW]]
  // CHECK: kernel.map %{{.*}}, %[[ROW]]
  %0 = graph.add %x, %c : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %1 = graph.mul %x, %c : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  return %0, %1 : tensor<2x3xf32>, tensor<2x3xf32>
}
