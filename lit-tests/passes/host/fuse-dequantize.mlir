// RUN: atc-opt %s --host-fuse-dequantize --split-input-file | FileCheck %s
// RUN: atc-opt %s --host-fuse-dequantize=graph-products=false --split-input-file | FileCheck %s --check-prefix=CALLS

// Two blocks of two rows: fields are stored by columns, signed levels and zero points become
// unsigned ones.
// CHECK-LABEL: func @blocks
// CHECK-DAG: %[[W:.*]] = graph.constant dense<{{\[\[\[}}41], [169{{.*}} : tensor<2x2x1xui8>
// CHECK-DAG: %[[S:.*]] = graph.constant dense<[5.000000e-01, 2.000000e+00, 1.000000e+00, 4.000000e+00]> : tensor<4xf32>
// CHECK-DAG: %[[Z:.*]] = graph.constant dense<[168, 121]> : tensor<2xui8>
// CHECK: %[[Y:.*]] = graph.host_call "MatMulNBits"(%arg0, %[[W]], %[[S]], %[[Z]]) {K = array<i64: 4>, N = array<i64: 2>, bits = array<i64: 4>, block_size = array<i64: 2>}
// CHECK-NEXT: return %[[Y]]
func.func @blocks(%x: tensor<?x4xf32>) -> tensor<*xf32> {
  %w = graph.constant dense<[[1, -8], [-6, 7], [1, 0], [2, -1]]> : tensor<4x2xi4>
  %s = graph.constant dense<[[0.5, 1.0], [2.0, 4.0]]> : tensor<2x2xf32>
  %z = graph.constant dense<[[0, 1], [2, -1]]> : tensor<2x2xi4>
  %0 = graph.host_call "DequantizeLinear"(%w, %s, %z) {axis = array<i64: 0>, block_size = array<i64: 2>} : (tensor<4x2xi4>, tensor<2x2xf32>, tensor<2x2xi4>) -> tensor<4x2xf32>
  %1 = graph.host_call "MatMul"(%x, %0) {} : (tensor<?x4xf32>, tensor<4x2xf32>) -> tensor<*xf32>
  return %1 : tensor<*xf32>
}

// -----

// Unsigned levels without a zero point, a transposed matrix with one scale per column, a bias.
// CHECK-LABEL: func @columns
// CHECK-DAG: %[[S:.*]] = graph.constant dense<[5.000000e-01, 2.000000e+00]> : tensor<2xf32>
// CHECK-DAG: %[[Z:.*]] = graph.constant dense<0> : tensor<2xui8>
// CHECK: graph.host_call "MatMulNBits"(%arg0, %{{.*}}, %[[S]], %[[Z]], %arg1) at [0, 1, 2, 3, 5] {K = array<i64: 3>, N = array<i64: 2>, bits = array<i64: 4>, block_size = array<i64: 32>}
func.func @columns(%x: tensor<?x3xf32>, %b: tensor<2xf32>) -> tensor<*xf32> {
  %w = graph.constant dense<[[1, 2, 3], [4, 5, 15]]> : tensor<2x3xui4>
  %s = graph.constant dense<[0.5, 2.0]> : tensor<2xf32>
  %0 = graph.host_call "DequantizeLinear"(%w, %s) {axis = array<i64: 0>} : (tensor<2x3xui4>, tensor<2xf32>) -> tensor<2x3xf32>
  %1 = graph.host_call "Gemm"(%x, %0, %b) {transB = array<i64: 1>} : (tensor<?x3xf32>, tensor<2x3xf32>, tensor<2xf32>) -> tensor<*xf32>
  return %1 : tensor<*xf32>
}

// -----

// A product of static shapes behind a transpose; it stays where the target has products of its own.
// CHECK-LABEL: func @static
// CHECK: graph.host_call "MatMulNBits"(%arg0, {{.*}} -> tensor<5x2xf32>
// CALLS-LABEL: func @static
// CALLS: graph.matmul
func.func @static(%x: tensor<5x4xf32>) -> tensor<5x2xf32> {
  %w = graph.constant dense<[[1, -8, 2, 3], [-6, 7, 0, 1]]> : tensor<2x4xi8>
  %s = graph.constant dense<[[0.5, 1.0], [2.0, 4.0]]> : tensor<2x2xf32>
  %0 = graph.host_call "DequantizeLinear"(%w, %s) {axis = array<i64: 1>, block_size = array<i64: 2>} : (tensor<2x4xi8>, tensor<2x2xf32>) -> tensor<2x4xf32>
  %1 = graph.transpose %0 {permutation = array<i64: 1, 0>} : (tensor<2x4xf32>) -> tensor<4x2xf32>
  %2 = graph.matmul %x, %1 : (tensor<5x4xf32>, tensor<4x2xf32>) -> tensor<5x2xf32>
  return %2 : tensor<5x2xf32>
}

// -----

// Left alone: weights that are computed, blocks along the columns, 8 bits per column, a first
// factor of another type, a bias per row, and a scaled product.
// CHECK-LABEL: func @stays
// CHECK-NOT: MatMulNBits
func.func @stays(%x: tensor<?x2xf32>, %h: tensor<?x2xf16>, %q: tensor<2x2xi4>, %b: tensor<2x1xf32>) -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf16>, tensor<*xf32>, tensor<*xf32>) {
  %w = graph.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi4>
  %w8 = graph.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi8>
  %s = graph.constant dense<[[0.5, 1.0]]> : tensor<1x2xf32>
  %s1 = graph.constant dense<[[0.5], [1.0]]> : tensor<2x1xf32>
  %s2 = graph.constant dense<[0.5, 1.0]> : tensor<2xf32>
  %0 = graph.host_call "DequantizeLinear"(%q, %s) {axis = array<i64: 0>, block_size = array<i64: 2>} : (tensor<2x2xi4>, tensor<1x2xf32>) -> tensor<2x2xf32>
  %1 = graph.host_call "MatMul"(%x, %0) {} : (tensor<?x2xf32>, tensor<2x2xf32>) -> tensor<*xf32>
  %2 = graph.host_call "DequantizeLinear"(%w, %s1) {axis = array<i64: 1>, block_size = array<i64: 2>} : (tensor<2x2xi4>, tensor<2x1xf32>) -> tensor<2x2xf32>
  %3 = graph.host_call "MatMul"(%x, %2) {} : (tensor<?x2xf32>, tensor<2x2xf32>) -> tensor<*xf32>
  %4 = graph.host_call "DequantizeLinear"(%w8, %s2) {axis = array<i64: 1>} : (tensor<2x2xi8>, tensor<2xf32>) -> tensor<2x2xf32>
  %5 = graph.host_call "MatMul"(%x, %4) {} : (tensor<?x2xf32>, tensor<2x2xf32>) -> tensor<*xf32>
  %6 = graph.host_call "DequantizeLinear"(%w, %s) {axis = array<i64: 0>, block_size = array<i64: 2>} : (tensor<2x2xi4>, tensor<1x2xf32>) -> tensor<2x2xf32>
  %7 = graph.host_call "MatMul"(%h, %6) {} : (tensor<?x2xf16>, tensor<2x2xf32>) -> tensor<*xf16>
  %8 = graph.host_call "Gemm"(%x, %6, %b) {} : (tensor<?x2xf32>, tensor<2x2xf32>, tensor<2x1xf32>) -> tensor<*xf32>
  %9 = graph.host_call "Gemm"(%x, %6) {alpha = array<f64: 2.0>} : (tensor<?x2xf32>, tensor<2x2xf32>) -> tensor<*xf32>
  return %1, %3, %5, %7, %8, %9 : tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf16>, tensor<*xf32>, tensor<*xf32>
}
