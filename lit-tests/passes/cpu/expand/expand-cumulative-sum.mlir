// RUN: atc-opt %s --cpu-expand-reduce --canonicalize --split-input-file --verify-diagnostics | FileCheck %s

// Rows are added to the sums of a vector of columns, which stay in registers.
// CHECK-LABEL: func.func @columns
// CHECK-SAME: cpu.tasks
// CHECK-NOT: kernel.cumulative_sum
// CHECK: scf.for {{.*}} iter_args
// CHECK: vector.load {{.*}} vector<8xf32>
// CHECK: arith.addf
// CHECK: vector.store {{.*}} vector<8xf32>
// CHECK-NOT: vector.shuffle
func.func @columns(%x: memref<16x64xf32>, %y: memref<16x64xf32>, %begin: index, %end: index) attributes {cpu.kernel} {
  kernel.cumulative_sum %x, %y {axis = 0 : i64} : memref<16x64xf32>, memref<16x64xf32>
  return
}

// -----

// The elements of a vector are added up in three steps; from the end, lanes move to the beginning.
// CHECK-LABEL: func.func @row
// CHECK: vector.shuffle {{.*}} [1, 2, 3, 4, 5, 6, 7, 8]
// CHECK: arith.addi
// CHECK: vector.shuffle {{.*}} [2, 3, 4, 5, 6, 7, 8, 8]
// CHECK: arith.addi
// CHECK: vector.shuffle {{.*}} [4, 5, 6, 7, 8, 8, 8, 8]
// CHECK: arith.addi
// CHECK: vector.extract {{.*}}[0]
// CHECK: vector.shuffle {{.*}} [1, 2, 3, 4, 5, 6, 7, 8]
// CHECK: vector.store {{.*}} vector<8xi64>
func.func @row(%x: memref<4x64xi64>, %y: memref<4x64xi64>, %begin: index, %end: index) attributes {cpu.kernel} {
  kernel.cumulative_sum %x, %y {axis = 1 : i64, exclusive, reverse} : memref<4x64xi64>, memref<4x64xi64>
  return
}

// -----

func.func @axis(%x: memref<4x64xf32>, %y: memref<4x64xf32>, %begin: index, %end: index) attributes {cpu.kernel} {
  // expected-error @+1 {{axis 2 is none of 'memref<4x64xf32>'}}
  kernel.cumulative_sum %x, %y {axis = 2 : i64} : memref<4x64xf32>, memref<4x64xf32>
  return
}
