// RUN: atc-opt %s --cpu-expand-resize --canonicalize --split-input-file --verify-diagnostics | FileCheck %s

// Columns are divided among tasks: rows of one task do not depend on another one's.
// CHECK-LABEL: func.func @rows
// CHECK-SAME: cpu.tasks
// CHECK-NOT: kernel.scatter_add
// CHECK: scf.for
// CHECK: vector.store {{.*}} vector<8xf32>
// CHECK: arith.index_cast
// CHECK: arith.maxsi
// CHECK: arith.minsi
// CHECK: vector.load {{.*}} vector<8xf32>
// CHECK: arith.addf
// CHECK: vector.store {{.*}} vector<8xf32>
func.func @rows(%updates: memref<2x5x64xf32>, %indices: memref<5xi64>, %out: memref<2x100x64xf32>, %begin: index, %end: index) attributes {cpu.kernel} {
  kernel.scatter_add %updates, %indices, %out : memref<2x5x64xf32>, memref<5xi64>, memref<2x100x64xf32>
  return
}

// -----

func.func @shape(%updates: memref<2x4x64xf32>, %indices: memref<5xi64>, %out: memref<2x100x64xf32>, %begin: index, %end: index) attributes {cpu.kernel} {
  // expected-error @+1 {{updates must be 2 x 5 x 64, but are 'memref<2x4x64xf32>'}}
  kernel.scatter_add %updates, %indices, %out : memref<2x4x64xf32>, memref<5xi64>, memref<2x100x64xf32>
  return
}
