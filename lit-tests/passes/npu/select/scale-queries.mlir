// RUN: atc-opt %s --pass-pipeline='builtin.module(func.func(npu-scale-queries))' | FileCheck %s

// Channels 0 and 1 of the layer are queries: their weights and biases take the scale of the scores.
// CHECK-LABEL: func.func @queries
// CHECK-DAG: %[[W:.*]] = graph.constant dense<{{\[}}[2.500000e-01], [5.000000e-01], [3.000000e+00], [4.000000e+00]]> : tensor<4x1xf32>
// CHECK-DAG: %[[B:.*]] = graph.constant dense<[2.000000e+00, 4.000000e+00, 2.400000e+01, 3.200000e+01]> : tensor<4xf32>
// CHECK: graph.fully_connected %arg0, %[[W]] bias %[[B]]
// CHECK: %[[S:.*]] = graph.matmul
// CHECK-NOT: graph.map
// CHECK: graph.softmax %[[S]]
func.func @queries(%x: tensor<3x1xf32>) -> tensor<3x3xf32> {
  %w = graph.constant dense<[[1.0], [2.0], [3.0], [4.0]]> : tensor<4x1xf32>
  %b = graph.constant dense<[8.0, 16.0, 24.0, 32.0]> : tensor<4xf32>
  %qk = graph.fully_connected %x, %w bias %b : (tensor<3x1xf32>, tensor<4x1xf32>, tensor<4xf32>) -> tensor<3x4xf32>
  %parts = graph.reshape %qk : (tensor<3x4xf32>) -> tensor<3x2x2xf32>
  %t = graph.transpose %parts {permutation = array<i64: 1, 0, 2>} : (tensor<3x2x2xf32>) -> tensor<2x3x2xf32>
  %q0 = graph.slice %t {starts = array<i64: 0, 0, 0>, sizes = array<i64: 1, 3, 2>, steps = array<i64: 1, 1, 1>} : (tensor<2x3x2xf32>) -> tensor<1x3x2xf32>
  %k0 = graph.slice %t {starts = array<i64: 1, 0, 0>, sizes = array<i64: 1, 3, 2>, steps = array<i64: 1, 1, 1>} : (tensor<2x3x2xf32>) -> tensor<1x3x2xf32>
  %q = graph.reshape %q0 : (tensor<1x3x2xf32>) -> tensor<3x2xf32>
  %k1 = graph.reshape %k0 : (tensor<1x3x2xf32>) -> tensor<3x2xf32>
  %k = graph.transpose %k1 {permutation = array<i64: 1, 0>} : (tensor<3x2xf32>) -> tensor<2x3xf32>
  %s = graph.matmul %q, %k : (tensor<3x2xf32>, tensor<2x3xf32>) -> tensor<3x3xf32>
  %r = graph.map %s : (tensor<3x3xf32>) -> tensor<3x3xf32> {
  ^bb0(%e: f32):
    %c = arith.constant 0.25 : f32
    %p = arith.mulf %e, %c : f32
    graph.yield %p : f32
  }
  %y = graph.softmax %r {axis = 1 : i64} : (tensor<3x3xf32>) -> tensor<3x3xf32>
  return %y : tensor<3x3xf32>
}

// A mask that the map adds as well is not scaled. The left operand is an input: the right one takes
// the scale.
// CHECK-LABEL: func.func @mask
// CHECK: graph.constant dense<{{\[}}[5.000000e-01], [1.000000e+00]]> : tensor<2x1xf32>
// CHECK: graph.map
// CHECK-NOT: arith.divf
// CHECK: arith.addf
func.func @mask(%x: tensor<2x1xf32>, %q: tensor<3x2xf32>, %m: tensor<2xf32>) -> tensor<3x2xf32> {
  %w = graph.constant dense<[[1.0], [2.0]]> : tensor<2x1xf32>
  %k = graph.fully_connected %x, %w : (tensor<2x1xf32>, tensor<2x1xf32>) -> tensor<2x2xf32>
  %s = graph.matmul %q, %k : (tensor<3x2xf32>, tensor<2x2xf32>) -> tensor<3x2xf32>
  %r = graph.map %s, %m : (tensor<3x2xf32>, tensor<2xf32>) -> tensor<3x2xf32> {
  ^bb0(%e: f32, %n: f32):
    %c = arith.constant 2.0 : f32
    %d = arith.divf %e, %c : f32
    %p = arith.addf %d, %n : f32
    graph.yield %p : f32
  }
  return %r : tensor<3x2xf32>
}

// What also others read keeps its weights, also where these read other rows of the same channels.
// CHECK-LABEL: func.func @shared
// CHECK: graph.constant dense<{{\[}}[1.000000e+00], [2.000000e+00]]> : tensor<2x1xf32>
// CHECK: arith.mulf
func.func @shared(%x: tensor<4x1xf32>, %q: tensor<2x2xf32>) -> (tensor<2x2xf32>, tensor<2x2xf32>) {
  %w = graph.constant dense<[[1.0], [2.0]]> : tensor<2x1xf32>
  %k = graph.fully_connected %x, %w : (tensor<4x1xf32>, tensor<2x1xf32>) -> tensor<4x2xf32>
  %a = graph.slice %k {starts = array<i64: 0, 0>, sizes = array<i64: 2, 2>, steps = array<i64: 1, 1>} : (tensor<4x2xf32>) -> tensor<2x2xf32>
  %b = graph.slice %k {starts = array<i64: 2, 0>, sizes = array<i64: 2, 2>, steps = array<i64: 1, 1>} : (tensor<4x2xf32>) -> tensor<2x2xf32>
  %s = graph.matmul %q, %a : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %r = graph.map %s : (tensor<2x2xf32>) -> tensor<2x2xf32> {
  ^bb0(%e: f32):
    %c = arith.constant 0.5 : f32
    %p = arith.mulf %e, %c : f32
    graph.yield %p : f32
  }
  return %r, %b : tensor<2x2xf32>, tensor<2x2xf32>
}

// A factor that makes scores larger stays behind the product.
// CHECK-LABEL: func.func @larger
// CHECK: arith.mulf
func.func @larger(%x: tensor<2x1xf32>, %q: tensor<3x2xf32>) -> tensor<3x2xf32> {
  %w = graph.constant dense<[[1.0], [2.0]]> : tensor<2x1xf32>
  %k = graph.fully_connected %x, %w : (tensor<2x1xf32>, tensor<2x1xf32>) -> tensor<2x2xf32>
  %s = graph.matmul %q, %k : (tensor<3x2xf32>, tensor<2x2xf32>) -> tensor<3x2xf32>
  %r = graph.map %s : (tensor<3x2xf32>) -> tensor<3x2xf32> {
  ^bb0(%e: f32):
    %c = arith.constant 2.0 : f32
    %p = arith.mulf %e, %c : f32
    graph.yield %p : f32
  }
  return %r : tensor<3x2xf32>
}
