// RUN: atc-opt %s --graph-widen-floats --split-input-file | FileCheck %s

// Between the ends everything is f32; the cast that the model has still rounds.
// CHECK-LABEL: func @conv
// CHECK-SAME: (%[[X:.*]]: tensor<1x1x4x4xf16>, %[[W:.*]]: tensor<2x1x3x3xf16>, %[[B:.*]]: tensor<1x2x1x1xf32>) -> (tensor<1x2x2x2xf16>, tensor<1x2x2x2xf32>)
func.func @conv(%x: tensor<1x1x4x4xf16>, %w: tensor<2x1x3x3xf16>, %b: tensor<1x2x1x1xf32>) -> (tensor<1x2x2x2xf16>, tensor<1x2x2x2xf32>) {
  // CHECK-DAG: %[[WX:.*]] = graph.cast %[[X]] {{.*}} -> tensor<1x1x4x4xf32>
  // CHECK-DAG: %[[WW:.*]] = graph.cast %[[W]] {{.*}} -> tensor<2x1x3x3xf32>
  // CHECK: %[[CONV:.*]] = graph.conv %[[WX]], %[[WW]] {{.*}} -> tensor<1x2x2x2xf32>
  %0 = graph.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x1x4x4xf16>, tensor<2x1x3x3xf16>) -> tensor<1x2x2x2xf16>
  // CHECK: %[[RELU:.*]] = graph.relu %[[CONV]] {{.*}} -> tensor<1x2x2x2xf32>
  // CHECK-NEXT: %[[RESULT:.*]] = graph.cast %[[RELU]] {{.*}} -> tensor<1x2x2x2xf16>
  %1 = graph.relu %0 : (tensor<1x2x2x2xf16>) -> tensor<1x2x2x2xf16>
  // CHECK: %[[OWN:.*]] = graph.cast %[[RESULT]] {{.*}} -> tensor<1x2x2x2xf32>
  %2 = graph.cast %1 : (tensor<1x2x2x2xf16>) -> tensor<1x2x2x2xf32>
  // CHECK: %[[SUM:.*]] = graph.add %[[OWN]], %[[B]]
  %3 = graph.add %2, %b : (tensor<1x2x2x2xf32>, tensor<1x2x1x1xf32>) -> tensor<1x2x2x2xf32>
  // CHECK: return %[[RESULT]], %[[SUM]]
  return %1, %3 : tensor<1x2x2x2xf16>, tensor<1x2x2x2xf32>
}

// -----

// Without a contraction nothing changes.
// CHECK-LABEL: func @no_product
func.func @no_product(%x: tensor<4xbf16>) -> tensor<4xbf16> {
  // CHECK: graph.relu {{.*}} -> tensor<4xbf16>
  // CHECK-NOT: graph.cast
  %0 = graph.relu %x : (tensor<4xbf16>) -> tensor<4xbf16>
  return %0 : tensor<4xbf16>
}
