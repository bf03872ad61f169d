// RUN: atc-opt %s --graph-matmul-to-fully-connected --split-input-file | FileCheck %s
// RUN: atc-opt %s --graph-matmul-to-fully-connected=release-constants=true --split-input-file | FileCheck %s

// CHECK-LABEL: func @matrix
func.func @matrix(%x: tensor<4x2xf32>) -> tensor<4x3xf32> {
  %w = graph.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>
  %b = graph.constant dense<[[7.0, 8.0, 9.0]]> : tensor<1x3xf32>
  // CHECK-DAG: %[[W:.*]] = graph.constant dense<{{\[\[}}1.000000e+00, 4.000000e+00], [2.000000e+00, 5.000000e+00], [3.000000e+00, 6.000000e+00]]> : tensor<3x2xf32>
  // CHECK-DAG: %[[B:.*]] = graph.constant dense<[7.000000e+00, 8.000000e+00, 9.000000e+00]> : tensor<3xf32>
  // CHECK: %[[Y:.*]] = graph.fully_connected %arg0, %[[W]] bias %[[B]]
  // CHECK-NEXT: return %[[Y]]
  %0 = graph.matmul %x, %w : (tensor<4x2xf32>, tensor<2x3xf32>) -> tensor<4x3xf32>
  %1 = graph.add %b, %0 : (tensor<1x3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
  return %1 : tensor<4x3xf32>
}

// -----

// CHECK-LABEL: func @batches
// CHECK: graph.fully_connected {{.*}} (tensor<5x4x2xf32>, tensor<3x2xf32>) -> tensor<5x4x3xf32>
func.func @batches(%x: tensor<5x4x2xf32>) -> tensor<5x4x3xf32> {
  %w = graph.constant dense<1.0> : tensor<2x3xf32>
  %0 = graph.matmul %x, %w : (tensor<5x4x2xf32>, tensor<2x3xf32>) -> tensor<5x4x3xf32>
  return %0 : tensor<5x4x3xf32>
}

// -----

// A variable matrix; one matrix for each batch; an addition that is not by channel.
// CHECK-LABEL: func @left_alone
// CHECK: graph.matmul
// CHECK: graph.matmul
// CHECK: graph.fully_connected
// CHECK: graph.add
func.func @left_alone(%x: tensor<4x2xf32>, %w: tensor<2x3xf32>) -> (tensor<4x3xf32>, tensor<5x4x3xf32>, tensor<4x3xf32>) {
  %ws = graph.constant dense<1.0> : tensor<5x2x3xf32>
  %wc = graph.constant dense<1.0> : tensor<2x3xf32>
  %rows = graph.constant dense<[[1.0], [2.0], [3.0], [4.0]]> : tensor<4x1xf32>
  %0 = graph.matmul %x, %w : (tensor<4x2xf32>, tensor<2x3xf32>) -> tensor<4x3xf32>
  %1 = graph.matmul %x, %ws : (tensor<4x2xf32>, tensor<5x2x3xf32>) -> tensor<5x4x3xf32>
  %2 = graph.matmul %x, %wc : (tensor<4x2xf32>, tensor<2x3xf32>) -> tensor<4x3xf32>
  %3 = graph.add %2, %rows : (tensor<4x3xf32>, tensor<4x1xf32>) -> tensor<4x3xf32>
  return %0, %1, %3 : tensor<4x3xf32>, tensor<5x4x3xf32>, tensor<4x3xf32>
}
