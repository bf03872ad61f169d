// RUN: atc-opt %s --host-expand-weights --split-input-file | FileCheck %s

// Fields from the low end of a byte on, less the middle or the zero point, times the scale of their
// block.
// CHECK-LABEL: func @product
// CHECK-DAG: %[[A:.*]] = graph.constant dense<{{\[\[}}-2.500000e+00, 5.000000e-01, 4.000000e+00, 0.000000e+00]]> : tensor<1x4xf32>
// CHECK-DAG: %[[B:.*]] = graph.constant dense<{{\[\[}}1.000000e+00, 4.000000e+00, 1.400000e+01, 1.000000e+01]]> : tensor<1x4xf32>
// CHECK-DAG: graph.fully_connected %arg0, %[[A]]
// CHECK-DAG: graph.fully_connected %arg0, %[[B]] bias
// CHECK-NOT: host_call
func.func @product(%x: tensor<3x4xf32>) -> (tensor<3x1xf32>, tensor<3x1xf32>) {
  %w = graph.constant dense<[[[147], [138]]]> : tensor<1x2x1xui8>
  %s = graph.constant dense<[0.5, 2.0]> : tensor<2xf32>
  %z = graph.constant dense<[49]> : tensor<1xui8>
  %b = graph.constant dense<1.0> : tensor<1xf32>
  %0 = graph.host_call "MatMulNBits"(%x, %w, %s) {K = array<i64: 4>, N = array<i64: 1>, bits = array<i64: 4>, block_size = array<i64: 2>} : (tensor<3x4xf32>, tensor<1x2x1xui8>, tensor<2xf32>) -> tensor<3x1xf32>
  %1 = graph.host_call "MatMulNBits"(%x, %w, %s, %z, %b) at [0, 1, 2, 3, 5] {K = array<i64: 4>, N = array<i64: 1>, bits = array<i64: 4>, block_size = array<i64: 2>} : (tensor<3x4xf32>, tensor<1x2x1xui8>, tensor<2xf32>, tensor<1xui8>, tensor<1xf32>) -> tensor<3x1xf32>
  return %0, %1 : tensor<3x1xf32>, tensor<3x1xf32>
}

// -----

// CHECK-LABEL: func @dequantize
// CHECK: graph.constant dense<[-1.000000e+00, 1.500000e+00]> : tensor<2xf32>
// CHECK: "DequantizeLinear"(%arg0
func.func @dequantize(%q: tensor<2xi8>) -> (tensor<2xf32>, tensor<2xf32>) {
  %w = graph.constant dense<[-2, 3]> : tensor<2xi8>
  %s = graph.constant dense<0.5> : tensor<f32>
  %0 = graph.host_call "DequantizeLinear"(%w, %s) {} : (tensor<2xi8>, tensor<f32>) -> tensor<2xf32>
  %1 = graph.host_call "DequantizeLinear"(%q, %s) {} : (tensor<2xi8>, tensor<f32>) -> tensor<2xf32>
  return %0, %1 : tensor<2xf32>, tensor<2xf32>
}

// -----

// Weights that are computed, and nodes of the CPU.
// CHECK-LABEL: func @stays
// CHECK-COUNT-2: "MatMulNBits"
module attributes {graph.host_nodes = ["pinned"]} {
func.func @stays(%x: tensor<3x4xf32>, %v: tensor<1x2x1xui8>) -> (tensor<3x1xf32>, tensor<3x1xf32>) {
  %w = graph.constant dense<[[[147], [138]]]> : tensor<1x2x1xui8>
  %s = graph.constant dense<[0.5, 2.0]> : tensor<2xf32>
  %0 = graph.host_call "MatMulNBits"(%x, %v, %s) {K = array<i64: 4>, N = array<i64: 1>, bits = array<i64: 4>, block_size = array<i64: 2>} : (tensor<3x4xf32>, tensor<1x2x1xui8>, tensor<2xf32>) -> tensor<3x1xf32>
  %1 = graph.host_call "MatMulNBits"(%x, %w, %s) {K = array<i64: 4>, N = array<i64: 1>, bits = array<i64: 4>, block_size = array<i64: 2>} : (tensor<3x4xf32>, tensor<1x2x1xui8>, tensor<2xf32>) -> tensor<3x1xf32> loc("y"("pinned"))
  return %0, %1 : tensor<3x1xf32>, tensor<3x1xf32>
}
}
