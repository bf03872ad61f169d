// RUN: atc-opt %s --split-input-file --verify-diagnostics | FileCheck %s

// CHECK-LABEL: func.func @sums
// CHECK: graph.scatter_add %arg0, %arg1 : (tensor<5xi64>, tensor<1x5x8xf32>) -> tensor<1x100x8xf32>
func.func @sums(%indices: tensor<5xi64>, %updates: tensor<1x5x8xf32>) -> tensor<1x100x8xf32> {
  %0 = graph.scatter_add %indices, %updates : (tensor<5xi64>, tensor<1x5x8xf32>) -> tensor<1x100x8xf32>
  return %0 : tensor<1x100x8xf32>
}

// -----

func.func @indices(%indices: tensor<5xf32>, %updates: tensor<1x5x8xf32>) -> tensor<1x9x8xf32> {
  // expected-error @+1 {{indices must be i32 or i64, but are 'tensor<5xf32>'}}
  %0 = graph.scatter_add %indices, %updates : (tensor<5xf32>, tensor<1x5x8xf32>) -> tensor<1x9x8xf32>
  return %0 : tensor<1x9x8xf32>
}

// -----

func.func @types(%indices: tensor<5xi32>, %updates: tensor<1x5x8xi32>) -> tensor<1x9x8xi32> {
  // expected-error @+1 {{updates and result must have one float type}}
  %0 = graph.scatter_add %indices, %updates : (tensor<5xi32>, tensor<1x5x8xi32>) -> tensor<1x9x8xi32>
  return %0 : tensor<1x9x8xi32>
}

// -----

func.func @ranks(%indices: tensor<5x1xi32>, %updates: tensor<1x5x8xf32>) -> tensor<1x9x8xf32> {
  // expected-error @+1 {{needs indices [I], updates [A, I, B] and a result [A, K, B]}}
  %0 = graph.scatter_add %indices, %updates : (tensor<5x1xi32>, tensor<1x5x8xf32>) -> tensor<1x9x8xf32>
  return %0 : tensor<1x9x8xf32>
}

// -----

func.func @dims(%indices: tensor<4xi32>, %updates: tensor<1x5x8xf32>) -> tensor<1x9x8xf32> {
  // expected-error @+1 {{do not agree}}
  %0 = graph.scatter_add %indices, %updates : (tensor<4xi32>, tensor<1x5x8xf32>) -> tensor<1x9x8xf32>
  return %0 : tensor<1x9x8xf32>
}

// -----

// CHECK-LABEL: func.func @running
// CHECK: graph.cumulative_sum %arg0 {axis = 1 : i64, reverse = true} : (tensor<2x5xf32>) -> tensor<2x5xf32>
func.func @running(%x: tensor<2x5xf32>) -> tensor<2x5xf32> {
  %0 = graph.cumulative_sum %x {axis = 1 : i64, reverse = true} : (tensor<2x5xf32>) -> tensor<2x5xf32>
  return %0 : tensor<2x5xf32>
}

// -----

func.func @bools(%x: tensor<2x5xi1>) -> tensor<2x5xi1> {
  // expected-error @+1 {{expects numbers, but input is 'tensor<2x5xi1>'}}
  %0 = graph.cumulative_sum %x {axis = 1 : i64} : (tensor<2x5xi1>) -> tensor<2x5xi1>
  return %0 : tensor<2x5xi1>
}
