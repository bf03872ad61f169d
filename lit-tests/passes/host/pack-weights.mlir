// RUN: atc-opt %s --host-pack-weights=storage=f32 --split-input-file | FileCheck %s
// RUN: atc-opt %s --host-pack-weights --split-input-file | FileCheck %s --check-prefix=EXACT
// RUN: atc-opt %s --host-pack-weights=converts-halfs=false --split-input-file | FileCheck %s --check-prefix=SHIFTS
// RUN: atc-opt %s --host-pack-weights=storage=f16 --split-input-file | FileCheck %s --check-prefix=HALF
// RUN: atc-opt %s --host-pack-weights=storage=bf16 --split-input-file | FileCheck %s --check-prefix=BFLOAT
// RUN: atc-opt %s --host-pack-weights=only-narrow --split-input-file | FileCheck %s --check-prefix=NARROW
// RUN: not atc-opt %s --host-pack-weights=storage=f8 -o /dev/null 2>&1 | FileCheck %s --check-prefix=ERROR

// ERROR: storage must be f32, exact, f16 or bf16, not f8

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

// Small weights, weights that are not known, a scaled product, a bias per row.
// CHECK-LABEL: func @stays
// CHECK-NOT: PackedMatMul
func.func @stays(%x: tensor<?x64xf32>, %w: tensor<64x64xf32>) -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>) {
  %small = graph.constant dense<1.0> : tensor<64x8xf32>
  %large = graph.constant dense<1.0> : tensor<64x64xf32>
  %rows = graph.constant dense<1.0> : tensor<64x1xf32>
  %a = graph.host_call "MatMul"(%x, %small) {} : (tensor<?x64xf32>, tensor<64x8xf32>) -> tensor<*xf32>
  %b = graph.host_call "MatMul"(%x, %w) {} : (tensor<?x64xf32>, tensor<64x64xf32>) -> tensor<*xf32>
  %d = graph.host_call "Gemm"(%x, %large) {alpha = array<f64: 2.0>} : (tensor<?x64xf32>, tensor<64x64xf32>) -> tensor<*xf32>
  %e = graph.host_call "Gemm"(%x, %large, %rows) {} : (tensor<?x64xf32>, tensor<64x64xf32>, tensor<64x1xf32>) -> tensor<*xf32>
  return %a, %b, %d, %e : tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>
}

// -----

// Weights of 16 bits stay so. Of those of f32, 1.5 is a number of bf16, 1.0009765625 one of f16 only,
// 0.1 none of both, and 1e30 none of f16's range.
// CHECK-LABEL: func @types
// CHECK: tensor<4x64x16xf16>) -> tensor<*xf16>
// CHECK-COUNT-4: tensor<4x64x16xf32>) -> tensor<*xf32>
// EXACT-LABEL: func @types
// EXACT: tensor<4x64x16xf16>) -> tensor<*xf16>
// EXACT: tensor<4x64x16xbf16>) -> tensor<*xf32>
// EXACT: tensor<4x64x16xf16>) -> tensor<*xf32>
// EXACT-COUNT-2: tensor<4x64x16xf32>) -> tensor<*xf32>
// SHIFTS-LABEL: func @types
// SHIFTS: tensor<4x64x16xf16>) -> tensor<*xf16>
// SHIFTS: tensor<4x64x16xbf16>) -> tensor<*xf32>
// SHIFTS-COUNT-3: tensor<4x64x16xf32>) -> tensor<*xf32>
// HALF-LABEL: func @types
// HALF: tensor<4x64x16xf16>) -> tensor<*xf16>
// HALF-COUNT-3: tensor<4x64x16xf16>) -> tensor<*xf32>
// HALF: tensor<4x64x16xf32>) -> tensor<*xf32>
// BFLOAT-LABEL: func @types
// BFLOAT: tensor<4x64x16xf16>) -> tensor<*xf16>
// BFLOAT-COUNT-4: tensor<4x64x16xbf16>) -> tensor<*xf32>
// NARROW-LABEL: func @types
// NARROW: "PackedMatMul"({{.*}}tensor<4x64x16xf16>) -> tensor<*xf16>
// NARROW-COUNT-4: "MatMul"({{.*}}tensor<64x64xf32>) -> tensor<*xf32>
func.func @types(%x: tensor<?x64xf32>, %h: tensor<?x64xf16>) -> (tensor<*xf16>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>) {
  %0 = graph.constant dense<1.0> : tensor<64x64xf16>
  %1 = graph.constant dense<1.5> : tensor<64x64xf32>
  %2 = graph.constant dense<1.0009765625> : tensor<64x64xf32>
  %3 = graph.constant dense<0.1> : tensor<64x64xf32>
  %4 = graph.constant dense<1.0e30> : tensor<64x64xf32>
  %a = graph.host_call "MatMul"(%h, %0) {} : (tensor<?x64xf16>, tensor<64x64xf16>) -> tensor<*xf16>
  %b = graph.host_call "MatMul"(%x, %1) {} : (tensor<?x64xf32>, tensor<64x64xf32>) -> tensor<*xf32>
  %c = graph.host_call "MatMul"(%x, %2) {} : (tensor<?x64xf32>, tensor<64x64xf32>) -> tensor<*xf32>
  %d = graph.host_call "MatMul"(%x, %3) {} : (tensor<?x64xf32>, tensor<64x64xf32>) -> tensor<*xf32>
  %e = graph.host_call "MatMul"(%x, %4) {} : (tensor<?x64xf32>, tensor<64x64xf32>) -> tensor<*xf32>
  return %a, %b, %c, %d, %e : tensor<*xf16>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>
}
