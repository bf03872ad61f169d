// RUN: atc-opt %s --graph-simplify-slices-concats --split-input-file | FileCheck %s

// CHECK-LABEL: func @nested
// CHECK-NEXT: %[[C:.*]] = graph.concat %arg0, %arg1, %arg0 {axis = 1 : i64}
// CHECK-NEXT: %[[S:.*]] = graph.slice %arg2 {sizes = array<i64: 2, 2>, starts = array<i64: 0, 4>, steps = array<i64: 1, 4>}
// CHECK-NEXT: return %[[C]], %[[S]]
func.func @nested(%x: tensor<2x3xf32>, %y: tensor<2x4xf32>, %z: tensor<2x12xf32>) -> (tensor<2x10xf32>, tensor<2x2xf32>) {
  %0 = graph.concat %x, %y {axis = 1 : i64} : (tensor<2x3xf32>, tensor<2x4xf32>) -> tensor<2x7xf32>
  %1 = graph.concat %0, %x {axis = 1 : i64} : (tensor<2x7xf32>, tensor<2x3xf32>) -> tensor<2x10xf32>
  %2 = graph.slice %z {starts = array<i64: 0, 2>, sizes = array<i64: 2, 5>, steps = array<i64: 1, 2>} : (tensor<2x12xf32>) -> tensor<2x5xf32>
  %3 = graph.slice %2 {starts = array<i64: 0, 1>, sizes = array<i64: 2, 2>, steps = array<i64: 1, 2>} : (tensor<2x5xf32>) -> tensor<2x2xf32>
  return %1, %3 : tensor<2x10xf32>, tensor<2x2xf32>
}

// -----

// Inside one operand, backwards; a whole operand; a run of whole operands.
// CHECK-LABEL: func @slice_of_concat
// CHECK-DAG: %[[A:.*]] = graph.slice %arg1 {sizes = array<i64: 2, 2>, starts = array<i64: 0, 3>, steps = array<i64: 1, -2>}
// CHECK-DAG: %[[B:.*]] = graph.concat %arg1, %arg0 {axis = 1 : i64}
// CHECK: return %[[A]], %arg1, %[[B]]
func.func @slice_of_concat(%x: tensor<2x3xf32>, %y: tensor<2x4xf32>) -> (tensor<2x2xf32>, tensor<2x4xf32>, tensor<2x7xf32>) {
  %0 = graph.concat %x, %y, %x {axis = 1 : i64} : (tensor<2x3xf32>, tensor<2x4xf32>, tensor<2x3xf32>) -> tensor<2x10xf32>
  %1 = graph.slice %0 {starts = array<i64: 0, 6>, sizes = array<i64: 2, 2>, steps = array<i64: 1, -2>} : (tensor<2x10xf32>) -> tensor<2x2xf32>
  %2 = graph.slice %0 {starts = array<i64: 0, 3>, sizes = array<i64: 2, 4>, steps = array<i64: 1, 1>} : (tensor<2x10xf32>) -> tensor<2x4xf32>
  %3 = graph.slice %0 {starts = array<i64: 0, 3>, sizes = array<i64: 2, 7>, steps = array<i64: 1, 1>} : (tensor<2x10xf32>) -> tensor<2x7xf32>
  return %1, %2, %3 : tensor<2x2xf32>, tensor<2x4xf32>, tensor<2x7xf32>
}

// -----

// A split put together again: in whole, and in part before another tensor.
// CHECK-LABEL: func @reassemble
// CHECK: %[[S:.*]] = graph.slice %arg0 {sizes = array<i64: 2, 4>, starts = array<i64: 0, 2>
// CHECK: %[[C:.*]] = graph.concat %[[S]], %arg1 {axis = 1 : i64}
// CHECK: return %arg0, %[[C]]
func.func @reassemble(%x: tensor<2x6xf32>, %y: tensor<2x1xf32>) -> (tensor<2x6xf32>, tensor<2x5xf32>) {
  %0 = graph.slice %x {starts = array<i64: 0, 0>, sizes = array<i64: 2, 2>, steps = array<i64: 1, 1>} : (tensor<2x6xf32>) -> tensor<2x2xf32>
  %1 = graph.slice %x {starts = array<i64: 0, 2>, sizes = array<i64: 2, 2>, steps = array<i64: 1, 1>} : (tensor<2x6xf32>) -> tensor<2x2xf32>
  %2 = graph.slice %x {starts = array<i64: 0, 4>, sizes = array<i64: 2, 2>, steps = array<i64: 1, 1>} : (tensor<2x6xf32>) -> tensor<2x2xf32>
  %3 = graph.concat %0, %1, %2 {axis = 1 : i64} : (tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x6xf32>
  %4 = graph.concat %1, %2, %y {axis = 1 : i64} : (tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x1xf32>) -> tensor<2x5xf32>
  return %3, %4 : tensor<2x6xf32>, tensor<2x5xf32>
}

// -----

// The inner concat is needed too, or joins another axis; a slice cuts through
// operands; slices in another order, of another tensor.
// CHECK-LABEL: func @left_alone
// CHECK: %[[I:.*]] = graph.concat %arg0, %arg0 {axis = 1 : i64}
// CHECK: graph.concat %[[I]], %arg0 {axis = 1 : i64}
// CHECK: graph.slice %[[I]] {sizes = array<i64: 2, 2>, starts = array<i64: 0, 2>
// CHECK: %[[A:.*]] = graph.slice %arg0
// CHECK: %[[B:.*]] = graph.slice %arg0
// CHECK: %[[C:.*]] = graph.slice %arg1
// CHECK: graph.concat %[[B]], %[[A]], %[[C]]
func.func @left_alone(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>) -> (tensor<2x6xf32>, tensor<2x9xf32>, tensor<2x2xf32>, tensor<2x4xf32>) {
  %0 = graph.concat %x, %x {axis = 1 : i64} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x6xf32>
  %1 = graph.concat %0, %x {axis = 1 : i64} : (tensor<2x6xf32>, tensor<2x3xf32>) -> tensor<2x9xf32>
  %2 = graph.slice %0 {starts = array<i64: 0, 2>, sizes = array<i64: 2, 2>, steps = array<i64: 1, 1>} : (tensor<2x6xf32>) -> tensor<2x2xf32>
  %3 = graph.slice %x {starts = array<i64: 0, 0>, sizes = array<i64: 2, 1>, steps = array<i64: 1, 1>} : (tensor<2x3xf32>) -> tensor<2x1xf32>
  %4 = graph.slice %x {starts = array<i64: 0, 1>, sizes = array<i64: 2, 1>, steps = array<i64: 1, 1>} : (tensor<2x3xf32>) -> tensor<2x1xf32>
  %5 = graph.slice %y {starts = array<i64: 0, 1>, sizes = array<i64: 2, 2>, steps = array<i64: 1, 1>} : (tensor<2x3xf32>) -> tensor<2x2xf32>
  %6 = graph.concat %4, %3, %5 {axis = 1 : i64} : (tensor<2x1xf32>, tensor<2x1xf32>, tensor<2x2xf32>) -> tensor<2x4xf32>
  return %0, %1, %2, %6 : tensor<2x6xf32>, tensor<2x9xf32>, tensor<2x2xf32>, tensor<2x4xf32>
}

// -----

// A known index, also from the end, is a slice; two of them are not.
// CHECK-LABEL: func @gather_of_one
// CHECK: %[[S:.*]] = graph.slice %arg0 {sizes = array<i64: 2, 1, 8>, starts = array<i64: 0, 0, 0>, steps = array<i64: 1, 1, 1>}
// CHECK: %[[R:.*]] = graph.reshape %[[S]] : (tensor<2x1x8xf32>) -> tensor<2x8xf32>
// CHECK: %[[L:.*]] = graph.slice %arg0 {sizes = array<i64: 2, 1, 8>, starts = array<i64: 0, 4, 0>
// CHECK: %[[G:.*]] = graph.gather %arg0
// CHECK: return %[[R]], %[[L]], %[[G]]
func.func @gather_of_one(%x: tensor<2x5x8xf32>) -> (tensor<2x8xf32>, tensor<2x1x8xf32>, tensor<2x2x8xf32>) {
  %zero = graph.constant dense<0> : tensor<i64>
  %last = graph.constant dense<-1> : tensor<1xi64>
  %two = graph.constant dense<[0, 2]> : tensor<2xi64>
  %0 = graph.gather %x, %zero {axis = 1 : i64} : (tensor<2x5x8xf32>, tensor<i64>) -> tensor<2x8xf32>
  %1 = graph.gather %x, %last {axis = 1 : i64} : (tensor<2x5x8xf32>, tensor<1xi64>) -> tensor<2x1x8xf32>
  %2 = graph.gather %x, %two {axis = 1 : i64} : (tensor<2x5x8xf32>, tensor<2xi64>) -> tensor<2x2x8xf32>
  return %0, %1, %2 : tensor<2x8xf32>, tensor<2x1x8xf32>, tensor<2x2x8xf32>
}
