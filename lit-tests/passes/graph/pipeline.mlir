// RUN: atc-opt %s --graph-pipeline | FileCheck %s
// RUN: atc-opt %s --graph-pipeline=release-constants | FileCheck %s
// RUN: atc-opt %s --graph-pipeline="disable=graph-fuse-conv-bn,graph-lower-batch-norm" | FileCheck %s --check-prefix=NOBN
// RUN: not atc-opt %s --graph-pipeline="disable=graph-fold-pads,graph-cse,graph-nothing" 2>&1 | FileCheck %s --check-prefix=UNKNOWN

// UNKNOWN: graph-pipeline has no pass named graph-fold-pads, graph-nothing

// A residual block: conv + batch_norm + relu, conv + batch_norm + add + relu.
// CHECK-LABEL: func @residual_block
// CHECK: %[[A:.*]] = graph.conv {{.*}} bias %{{.*}} {activation = #graph.activation<relu>
// CHECK-NEXT: %[[B:.*]] = graph.conv %[[A]], {{.*}} residual %arg0 {activation = #graph.activation<relu>
// CHECK-NEXT: return %[[B]]
// NOBN-LABEL: func @residual_block
// NOBN: graph.conv
// NOBN: graph.batch_norm
// NOBN: graph.map
func.func @residual_block(%x: tensor<1x1x4x4xf32>) -> tensor<1x1x4x4xf32> {
  %w = graph.constant dense<3.0> : tensor<1x1x3x3xf32>
  %one = graph.constant dense<1.0> : tensor<1xf32>
  %0 = graph.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x1x4x4xf32>, tensor<1x1x3x3xf32>) -> tensor<1x1x4x4xf32>
  %1 = graph.batch_norm %0, %one, %one, %one, %one {epsilon = 1.0 : f64} : (tensor<1x1x4x4xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x4x4xf32>
  %2 = graph.relu %1 : (tensor<1x1x4x4xf32>) -> tensor<1x1x4x4xf32>
  %3 = graph.conv %2, %w {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x1x4x4xf32>, tensor<1x1x3x3xf32>) -> tensor<1x1x4x4xf32>
  %4 = graph.batch_norm %3, %one, %one, %one, %one {epsilon = 1.0 : f64} : (tensor<1x1x4x4xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x4x4xf32>
  %5 = graph.add %4, %x : (tensor<1x1x4x4xf32>, tensor<1x1x4x4xf32>) -> tensor<1x1x4x4xf32>
  %6 = graph.relu %5 : (tensor<1x1x4x4xf32>) -> tensor<1x1x4x4xf32>
  return %6 : tensor<1x1x4x4xf32>
}

// x + silu(batch_norm(conv(x))), the silu spelled out.
// CHECK-LABEL: func @bottleneck
// CHECK: %[[A:.*]] = graph.conv {{.*}} residual %arg0 {activation = #graph.activation<silu>, {{.*}}residual_last
// CHECK-NEXT: return %[[A]]
func.func @bottleneck(%x: tensor<1x1x4x4xf32>) -> tensor<1x1x4x4xf32> {
  %w = graph.constant dense<3.0> : tensor<1x1x1x1xf32>
  %one = graph.constant dense<1.0> : tensor<1xf32>
  %0 = graph.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x1x4x4xf32>, tensor<1x1x1x1xf32>) -> tensor<1x1x4x4xf32>
  %1 = graph.batch_norm %0, %one, %one, %one, %one {epsilon = 1.0 : f64} : (tensor<1x1x4x4xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x4x4xf32>
  %2 = graph.sigmoid %1 : (tensor<1x1x4x4xf32>) -> tensor<1x1x4x4xf32>
  %3 = graph.mul %1, %2 : (tensor<1x1x4x4xf32>, tensor<1x1x4x4xf32>) -> tensor<1x1x4x4xf32>
  %4 = graph.add %x, %3 : (tensor<1x1x4x4xf32>, tensor<1x1x4x4xf32>) -> tensor<1x1x4x4xf32>
  return %4 : tensor<1x1x4x4xf32>
}
