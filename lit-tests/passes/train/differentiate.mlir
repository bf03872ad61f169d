// RUN: atc-opt %s --train-differentiate | FileCheck %s

// Only the marked argument has a gradient, and what the loss does not depend on has none.
// CHECK-LABEL: func.func @product
// CHECK-SAME: (%[[X:.*]]: tensor<3xf32>, %[[W:.*]]: tensor<3xf32> {om.name = "w", train.parameter}, %{{.*}}: tensor<2xf32> {om.name = "unused", train.parameter})
// CHECK-SAME: -> (tensor<f32>, tensor<3xf32> {om.name = "w.grad"}, tensor<2xf32> {om.name = "unused.grad"})
func.func @product(%x: tensor<3xf32>, %w: tensor<3xf32> {om.name = "w", train.parameter},
                   %u: tensor<2xf32> {om.name = "unused", train.parameter}) -> tensor<f32> {
  // CHECK: %[[L:.*]] = graph.reduce
  // CHECK: %[[ONE:.*]] = graph.constant dense<1.000000e+00> : tensor<f32>
  // CHECK: %[[G:.*]] = graph.reshape %[[ONE]]
  // CHECK: %[[E:.*]] = graph.expand %[[G]] : (tensor<1xf32>) -> tensor<3xf32>
  // CHECK: %[[DW:.*]] = graph.mul %[[E]], %[[X]]
  // CHECK: %[[ZERO:.*]] = graph.constant dense<0.000000e+00> : tensor<2xf32>
  // CHECK: return %[[L]], %[[DW]], %[[ZERO]]
  %p = graph.mul %x, %w : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %l = graph.reduce %p {kind = #graph<reduce_kind sum>, axes = array<i64: 0>, keepdims = false} : (tensor<3xf32>) -> tensor<f32>
  return %l : tensor<f32>
}

// A value that is read twice has the sum of both gradients.
// CHECK-LABEL: func.func @twice
func.func @twice(%w: tensor<1xf32> {om.name = "w", train.parameter}) -> tensor<1xf32> {
  // CHECK: %[[E:.*]] = graph.exp
  // CHECK: %[[L:.*]] = graph.add
  // CHECK: %[[P:.*]] = graph.mul %[[ONE:.*]], %[[E]]
  // CHECK: %[[S:.*]] = graph.add %[[ONE]], %[[P]]
  // CHECK: return %[[L]], %[[S]]
  %e = graph.exp %w : (tensor<1xf32>) -> tensor<1xf32>
  %l = graph.add %w, %e : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
  return %l : tensor<1xf32>
}

// The gradient of a normalization has two sums, from which those of scale and bias follow.
// CHECK-LABEL: func.func @norm
// CHECK-COUNT-2: graph.reduce {{.*}}kind = #graph<reduce_kind mean>
// CHECK: graph.reduce {{.*}}tensor<4x3xf32>) -> tensor<f32>
// CHECK-COUNT-3: graph.reduce {{.*}}axes = array<i64: 0>
// CHECK-NOT: graph.reduce
// CHECK: return
func.func @norm(%x: tensor<4x3xf32> {om.name = "x", train.parameter}, %w: tensor<1x3xf32> {om.name = "w", train.parameter}) -> tensor<f32> {
  %epsilon = graph.constant dense<1.0e-5> : tensor<f32>
  %m = graph.reduce %x {kind = #graph<reduce_kind mean>, axes = array<i64: 0>, keepdims = true} : (tensor<4x3xf32>) -> tensor<1x3xf32>
  %c = graph.sub %x, %m : (tensor<4x3xf32>, tensor<1x3xf32>) -> tensor<4x3xf32>
  %s = graph.mul %c, %c : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
  %v = graph.reduce %s {kind = #graph<reduce_kind mean>, axes = array<i64: 0>, keepdims = true} : (tensor<4x3xf32>) -> tensor<1x3xf32>
  %e = graph.add %v, %epsilon : (tensor<1x3xf32>, tensor<f32>) -> tensor<1x3xf32>
  %i = graph.rsqrt %e : (tensor<1x3xf32>) -> tensor<1x3xf32>
  %n = graph.mul %c, %i : (tensor<4x3xf32>, tensor<1x3xf32>) -> tensor<4x3xf32>
  %y = graph.mul %n, %w : (tensor<4x3xf32>, tensor<1x3xf32>) -> tensor<4x3xf32>
  %q = graph.exp %y : (tensor<4x3xf32>) -> tensor<4x3xf32>
  %l = graph.reduce %q {kind = #graph<reduce_kind sum>, axes = array<i64: 0, 1>, keepdims = false} : (tensor<4x3xf32>) -> tensor<f32>
  return %l : tensor<f32>
}
