// RUN: atc-opt %s --host-pack-weights --split-input-file | FileCheck %s

// Two calls read one packed constant; the last panel of 20 columns has 4 of them.
// CHECK-LABEL: func @matmul
// CHECK-DAG: %[[A:.*]] = graph.constant dense_resource<{{.*}}> : tensor<2x256x16xf32>
// CHECK: graph.host_call "PackedMatMul"(%arg0, %{{.*}}) {n = array<i64: 20>} : (tensor<*xf32>, tensor<2x256x16xf32>) -> tensor<*xf32>
// CHECK: graph.host_call "PackedMatMul"(%arg1, %{{.*}}) {n = array<i64: 20>}
func.func @matmul(%x: tensor<*xf32>, %y: tensor<?x256xf32>) -> (tensor<*xf32>, tensor<*xf32>) {
  %w = graph.constant dense<1.0> : tensor<256x20xf32>
  %a = graph.host_call "MatMul"(%x, %w) {} : (tensor<*xf32>, tensor<256x20xf32>) -> tensor<*xf32>
  %b = graph.host_call "MatMul"(%y, %w) {} : (tensor<?x256xf32>, tensor<256x20xf32>) -> tensor<*xf32>
  return %a, %b : tensor<*xf32>, tensor<*xf32>
}

// -----

// CHECK-LABEL: func @gemm
// CHECK: graph.host_call "PackedMatMul"(%arg0, %{{.*}}, %{{.*}}) {n = array<i64: 64>} : (tensor<?x64xf32>, tensor<4x64x16xf32>, tensor<64xf32>) -> tensor<*xf32>
// CHECK: graph.host_call "PackedMatMul"(%arg0, %{{.*}}) {n = array<i64: 64>} : (tensor<?x64xf32>, tensor<4x64x16xf32>) -> tensor<*xf32>
func.func @gemm(%x: tensor<?x64xf32>) -> (tensor<*xf32>, tensor<*xf32>) {
  %w = graph.constant dense<1.0> : tensor<64x64xf32>
  %b = graph.constant dense<3.0> : tensor<64xf32>
  %y = graph.host_call "Gemm"(%x, %w, %b) {transB = array<i64: 1>} : (tensor<?x64xf32>, tensor<64x64xf32>, tensor<64xf32>) -> tensor<*xf32>
  %z = graph.host_call "Gemm"(%x, %w) {} : (tensor<?x64xf32>, tensor<64x64xf32>) -> tensor<*xf32>
  return %y, %z : tensor<*xf32>, tensor<*xf32>
}

// -----

// Small weights, weights that are not known, f16, a scaled product, a bias per row.
// CHECK-LABEL: func @stays
// CHECK-NOT: PackedMatMul
func.func @stays(%x: tensor<?x64xf32>, %w: tensor<64x64xf32>, %h: tensor<?x64xf16>) -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf16>, tensor<*xf32>, tensor<*xf32>) {
  %small = graph.constant dense<1.0> : tensor<64x8xf32>
  %large = graph.constant dense<1.0> : tensor<64x64xf32>
  %half = graph.constant dense<1.0> : tensor<64x64xf16>
  %rows = graph.constant dense<1.0> : tensor<64x1xf32>
  %a = graph.host_call "MatMul"(%x, %small) {} : (tensor<?x64xf32>, tensor<64x8xf32>) -> tensor<*xf32>
  %b = graph.host_call "MatMul"(%x, %w) {} : (tensor<?x64xf32>, tensor<64x64xf32>) -> tensor<*xf32>
  %c = graph.host_call "MatMul"(%h, %half) {} : (tensor<?x64xf16>, tensor<64x64xf16>) -> tensor<*xf16>
  %d = graph.host_call "Gemm"(%x, %large) {alpha = array<f64: 2.0>} : (tensor<?x64xf32>, tensor<64x64xf32>) -> tensor<*xf32>
  %e = graph.host_call "Gemm"(%x, %large, %rows) {} : (tensor<?x64xf32>, tensor<64x64xf32>, tensor<64x1xf32>) -> tensor<*xf32>
  return %a, %b, %c, %d, %e : tensor<*xf32>, tensor<*xf32>, tensor<*xf16>, tensor<*xf32>, tensor<*xf32>
}
