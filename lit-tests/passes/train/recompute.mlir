// RUN: atc-opt %s --train-recompute --split-input-file | FileCheck %s

// Of a product and what is computed of it only the product is kept; other functions of it that the
// forward pass alone reads are not copied.
// CHECK-LABEL: func.func @activations
// CHECK: %[[P:.*]] = graph.matmul %arg0, %arg1
// CHECK: %[[T:.*]] = graph.tanh %[[P]] :
// CHECK: %[[S:.*]] = graph.sigmoid %[[T]] :
// CHECK: graph.exp %[[S]]
// CHECK: %[[LOSS:.*]] = graph.reduce
// CHECK: %[[G:.*]] = graph.neg %[[LOSS]]
// CHECK: %[[T2:.*]] = graph.tanh %[[P]] {train.recomputed}
// CHECK: %[[S2:.*]] = graph.sigmoid %[[T2]] {train.recomputed}
// CHECK: %[[A:.*]] = graph.mul %[[S2]], %[[G]]
// CHECK: %[[B:.*]] = graph.mul %[[T2]], %[[A]]
// CHECK-NOT: graph.exp
// CHECK: return %[[LOSS]], %[[B]]
func.func @activations(%x: tensor<8x8xf32>, %w: tensor<8x8xf32> {om.name = "w", train.parameter}) -> (tensor<f32> {om.name = "loss"}, tensor<8x8xf32> {om.name = "w.grad"}) {
  %p = graph.matmul %x, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %t = graph.tanh %p : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %s = graph.sigmoid %t : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %e = graph.exp %s : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %loss = graph.reduce %e {axes = array<i64: 0, 1>, keepdims = false, kind = #graph<reduce_kind sum>} : (tensor<8x8xf32>) -> tensor<f32>
  %g = graph.neg %loss : (tensor<f32>) -> tensor<f32>
  %a = graph.mul %s, %g : (tensor<8x8xf32>, tensor<f32>) -> tensor<8x8xf32>
  %b = graph.mul %t, %a : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %loss, %b : tensor<f32>, tensor<8x8xf32>
}

// -----

// One value in place of its root saves nothing; a sum of two products has two roots; and what is
// small beside the result, such as a mean per row, is kept.
// CHECK-LABEL: func.func @kept
// CHECK-NOT: train.recomputed
func.func @kept(%x: tensor<8x8xf32>, %w: tensor<8x8xf32> {om.name = "w", train.parameter}) -> (tensor<f32> {om.name = "loss"}, tensor<8x8xf32> {om.name = "w.grad"}) {
  %p = graph.matmul %x, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %t = graph.tanh %p : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %q = graph.matmul %t, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %r = graph.matmul %q, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %sum = graph.add %q, %r : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %mean = graph.reduce %sum {axes = array<i64: 1>, keepdims = true, kind = #graph<reduce_kind mean>} : (tensor<8x8xf32>) -> tensor<8x1xf32>
  %loss = graph.reduce %mean {axes = array<i64: 0, 1>, keepdims = false, kind = #graph<reduce_kind sum>} : (tensor<8x1xf32>) -> tensor<f32>
  %a = graph.mul %t, %sum : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %b = graph.mul %a, %mean : (tensor<8x8xf32>, tensor<8x1xf32>) -> tensor<8x8xf32>
  return %loss, %b : tensor<f32>, tensor<8x8xf32>
}

// -----

// The backward pass reads the root as well: each value of it is computed again.
// CHECK-LABEL: func.func @root
// CHECK: %[[P:.*]] = graph.matmul
// CHECK: graph.neg
// CHECK: %[[T2:.*]] = graph.tanh %[[P]] {train.recomputed}
// CHECK: graph.mul %[[T2]], %[[P]]
func.func @root(%x: tensor<8x8xf32>, %w: tensor<8x8xf32> {om.name = "w", train.parameter}) -> (tensor<f32> {om.name = "loss"}, tensor<8x8xf32> {om.name = "w.grad"}) {
  %p = graph.matmul %x, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %t = graph.tanh %p : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %loss = graph.reduce %t {axes = array<i64: 0, 1>, keepdims = false, kind = #graph<reduce_kind sum>} : (tensor<8x8xf32>) -> tensor<f32>
  %g = graph.neg %loss : (tensor<f32>) -> tensor<f32>
  %a = graph.mul %t, %p : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %b = graph.mul %a, %g : (tensor<8x8xf32>, tensor<f32>) -> tensor<8x8xf32>
  return %loss, %b : tensor<f32>, tensor<8x8xf32>
}
