// RUN: atc-opt %s --graph-infer-shapes --split-input-file | FileCheck %s

// CHECK-LABEL: func @chain
// CHECK-SAME: -> (tensor<1x2x4x4xf32>, tensor<32xf32>, tensor<1x2x4x4xi8>)
func.func @chain(%x: tensor<1x1x4x4xf32>, %w: tensor<2x1x3x3xf32>) -> (tensor<?x?x?x?xf32>, tensor<?xf32>, tensor<?x?x?x?xi8>) {
  // CHECK: graph.conv {{.*}} -> tensor<1x2x4x4xf32>
  %0 = graph.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x1x4x4xf32>, tensor<2x1x3x3xf32>) -> tensor<?x?x?x?xf32>
  // CHECK: graph.relu {{.*}} -> tensor<1x2x4x4xf32>
  %1 = graph.relu %0 : (tensor<?x?x?x?xf32>) -> tensor<?x?x?x?xf32>
  // CHECK: graph.reshape {{.*}} -> tensor<32xf32>
  %2 = graph.reshape %1 : (tensor<?x?x?x?xf32>) -> tensor<?xf32>
  // CHECK: graph.cast {{.*}} -> tensor<1x2x4x4xi8>
  %3 = graph.cast %1 : (tensor<?x?x?x?xf32>) -> tensor<?x?x?x?xi8>
  return %1, %2, %3 : tensor<?x?x?x?xf32>, tensor<?xf32>, tensor<?x?x?x?xi8>
}

// -----

// What only the result says stays, and so does an encoding.
// CHECK-LABEL: func @partly_known
// CHECK: graph.relu {{.*}} -> tensor<?x2x3x4xf32, #graph.layout<block = 4, halo = [0, 0, 0, 0]>>
func.func @partly_known(%x: tensor<?x2x?x4xf32>) -> tensor<?x2x3x4xf32, #graph.layout<block = 4, halo = [0, 0, 0, 0]>> {
  %0 = graph.relu %x : (tensor<?x2x?x4xf32>) -> tensor<?x?x3x?xf32, #graph.layout<block = 4, halo = [0, 0, 0, 0]>>
  %1 = graph.relu %0 : (tensor<?x?x3x?xf32, #graph.layout<block = 4, halo = [0, 0, 0, 0]>>) -> tensor<?x2x3x4xf32, #graph.layout<block = 4, halo = [0, 0, 0, 0]>>
  return %1 : tensor<?x2x3x4xf32, #graph.layout<block = 4, halo = [0, 0, 0, 0]>>
}

// -----

// Callers of a private function and ops of other dialects rely on the types.
// CHECK-LABEL: func private @called
// CHECK-SAME: -> tensor<?xf32>
// CHECK: graph.relu {{.*}} -> tensor<?xf32>
func.func private @called(%x: tensor<4xf32>) -> tensor<?xf32> {
  %0 = graph.relu %x : (tensor<4xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// CHECK-LABEL: func @caller
// CHECK: graph.relu {{.*}} -> tensor<?xf32>
func.func @caller(%x: tensor<4xf32>, %c: i1) -> tensor<?xf32> {
  %0 = graph.relu %x : (tensor<4xf32>) -> tensor<?xf32>
  %1 = func.call @called(%x) : (tensor<4xf32>) -> tensor<?xf32>
  %2 = arith.select %c, %0, %1 : tensor<?xf32>
  return %2 : tensor<?xf32>
}
