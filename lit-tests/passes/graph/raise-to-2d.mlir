// RUN: atc-opt %s --graph-raise-to-2d --split-input-file --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s

// CHECK-LABEL: func @conv
func.func @conv(%x: tensor<1x2x8xf32>, %r: tensor<1x2x4xf32>) -> tensor<1x2x4xf32> {
  %w = graph.constant dense<1.0> : tensor<2x2x3xf32>
  %b = graph.constant dense<1.0> : tensor<2xf32>
  // CHECK-DAG: %[[W:.*]] = graph.constant dense<1.000000e+00> : tensor<2x2x1x3xf32>
  // CHECK-DAG: %[[X:.*]] = graph.reshape %{{.*}} : (tensor<1x2x8xf32>) -> tensor<1x2x1x8xf32>
  // CHECK-DAG: %[[R:.*]] = graph.reshape %{{.*}} : (tensor<1x2x4xf32>) -> tensor<1x2x1x4xf32>
  // CHECK: %[[Y:.*]] = graph.conv %[[X]], %[[W]] bias %{{.*}} residual %[[R]]
  // CHECK-SAME: dilations = array<i64: 1, 1>
  // CHECK-SAME: pads = array<i64: 0, 1, 0, 0>
  // CHECK-SAME: strides = array<i64: 1, 2>
  // CHECK-SAME: loc("out.raised")
  // CHECK: %[[Z:.*]] = graph.reshape %[[Y]] : (tensor<1x2x1x4xf32>) -> tensor<1x2x4xf32> loc("out")
  // CHECK-NEXT: return %[[Z]]
  %0 = graph.conv %x, %w bias %b residual %r {strides = array<i64: 2>, pads = array<i64: 1, 0>, dilations = array<i64: 1>, groups = 1 : i64} : (tensor<1x2x8xf32>, tensor<2x2x3xf32>, tensor<2xf32>, tensor<1x2x4xf32>) -> tensor<1x2x4xf32> loc("out")
  return %0 : tensor<1x2x4xf32>
}

// -----

// The reshapes between neighbours cancel.
// CHECK-LABEL: func @pools
// CHECK: graph.reshape
// CHECK-NEXT: graph.max_pool {{.*}}kernel = array<i64: 1, 2>{{.*}} -> tensor<1x2x1x4xf32>
// CHECK-NEXT: graph.average_pool {{.*}}kernel = array<i64: 1, 3>, pads = array<i64: 0, 1, 0, 1>{{.*}} -> tensor<1x2x1x4xf32>
// CHECK-NEXT: graph.reshape
// CHECK-NEXT: return
func.func @pools(%x: tensor<1x2x8xf32>) -> tensor<1x2x4xf32> {
  %0 = graph.max_pool %x {kernel = array<i64: 2>, strides = array<i64: 2>, pads = array<i64: 0, 0>, dilations = array<i64: 1>} : (tensor<1x2x8xf32>) -> tensor<1x2x4xf32>
  %1 = graph.average_pool %0 {kernel = array<i64: 3>, strides = array<i64: 1>, pads = array<i64: 1, 1>, dilations = array<i64: 1>} : (tensor<1x2x4xf32>) -> tensor<1x2x4xf32>
  return %1 : tensor<1x2x4xf32>
}

// -----

// CHECK-LABEL: func @conv_transpose
// CHECK: graph.conv_transpose {{.*}}output_padding = array<i64: 0, 1>, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 2>
func.func @conv_transpose(%x: tensor<1x1x3xf32>, %w: tensor<1x1x2xf32>) -> tensor<1x1x7xf32> {
  %0 = graph.conv_transpose %x, %w {strides = array<i64: 2>, pads = array<i64: 0, 0>, dilations = array<i64: 1>, output_padding = array<i64: 1>, groups = 1 : i64} : (tensor<1x1x3xf32>, tensor<1x1x2xf32>) -> tensor<1x1x7xf32>
  return %0 : tensor<1x1x7xf32>
}

// -----

// CHECK-LABEL: func @left_alone
// CHECK-NOT: graph.reshape
// CHECK: graph.max_pool
// CHECK-NOT: graph.reshape
// CHECK: return
func.func @left_alone(%x: tensor<1x2x8x8xf32>, %unknown: tensor<?x2x?xf32>) -> (tensor<1x2x4x4xf32>, tensor<?x2x?xf32>) {
  %1 = graph.max_pool %unknown {kernel = array<i64: 2>, strides = array<i64: 2>, pads = array<i64: 0, 0>, dilations = array<i64: 1>} : (tensor<?x2x?xf32>) -> tensor<?x2x?xf32>
  %0 = graph.max_pool %x {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x2x8x8xf32>) -> tensor<1x2x4x4xf32>
  return %0, %1 : tensor<1x2x4x4xf32>, tensor<?x2x?xf32>
}
