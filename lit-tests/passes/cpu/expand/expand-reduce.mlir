// RUN: atc-opt %s --cpu-expand-reduce --canonicalize --split-input-file --verify-diagnostics | FileCheck %s

// The 16 channels of a block stay in two vectors; two pixels at a time make
// four sums.
// CHECK-LABEL: func.func @mean
// CHECK-SAME: cpu.tasks
// CHECK-NOT: kernel.reduce
// CHECK: scf.for {{.*}} iter_args({{.*}}) -> (vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>)
// CHECK: arith.divf {{.*}} vector<8xf32>
// CHECK-NOT: vector.reduction
func.func @mean(%in: memref<1x128x7x7x16xf32>, %out: memref<1x128x1x1x16xf32>, %begin: index, %end: index) attributes {cpu.kernel} {
  kernel.reduce %in, %out {kind = #graph<reduce_kind mean>, axes = array<i64: 2, 3>}
    : memref<1x128x7x7x16xf32>, memref<1x128x1x1x16xf32>
  return
}

// -----

// Along the contiguous dim the lanes are summed up at the end; a tail of 3 is
// filled with what changes nothing.
// CHECK-LABEL: func.func @largest
// CHECK: %[[PAD:.*]] = arith.constant dense<0xFF800000> : vector<8xf32>
// CHECK: vector.load {{.*}} vector<3xf32>
// CHECK: vector.insert_strided_slice {{.*}}, %[[PAD]]
// CHECK: arith.maximumf {{.*}} : vector<4xf32>
// CHECK: arith.maximumf {{.*}} : vector<2xf32>
// CHECK: arith.maximumf {{.*}} : vector<1xf32>
// CHECK-NOT: vector.reduction
func.func @largest(%in: memref<5x19xf32>, %out: memref<5x1xf32>, %begin: index, %end: index) attributes {cpu.kernel} {
  kernel.reduce %in, %out {kind = #graph<reduce_kind max>, axes = array<i64: 1>} : memref<5x19xf32>, memref<5x1xf32>
  return
}

// -----

// CHECK-LABEL: func.func @arg_max
// CHECK: scf.for {{.*}} iter_args({{.*}}) -> (vector<8xf32>, vector<8xi32>)
// CHECK: arith.cmpf ogt
// CHECK: arith.extui {{.*}} vector<8xi64>
func.func @arg_max(%in: memref<1x20x8x8xf32>, %out: memref<1x1x8x8xi64>, %begin: index, %end: index) attributes {cpu.kernel} {
  kernel.arg_reduce %in, %out {axis = 1 : i64} : memref<1x20x8x8xf32>, memref<1x1x8x8xi64>
  return
}

// -----

// Exponentials are computed on vectors only, each once.
// CHECK-LABEL: func.func @softmax
// CHECK: math.exp {{.*}} vector<8xf32>
// CHECK: vector.reduction <add>
// CHECK-NOT: math.exp
// CHECK: arith.mulf {{.*}} vector<8xf32>
func.func @softmax(%in: memref<4x8xf32>, %out: memref<4x8xf32>, %begin: index, %end: index) attributes {cpu.kernel} {
  kernel.softmax %in, %out {axis = 1 : i64} : memref<4x8xf32>, memref<4x8xf32>
  return
}

// -----

// CHECK-LABEL: func.func @across
// CHECK-NOT: vector.reduction
// CHECK: math.exp {{.*}} vector<8xf32>
// CHECK-NOT: vector.reduction
func.func @across(%in: memref<4x8xf32>, %out: memref<4x8xf32>, %begin: index, %end: index) attributes {cpu.kernel} {
  kernel.softmax %in, %out {axis = 0 : i64} : memref<4x8xf32>, memref<4x8xf32>
  return
}

// -----

func.func @integers(%in: memref<4x8xi32>, %out: memref<4x1xi32>, %begin: index, %end: index) attributes {cpu.kernel} {
  // expected-error @+1 {{'kernel.reduce' op computes log_sum of floats only, but the input is 'memref<4x8xi32>'}}
  kernel.reduce %in, %out {kind = #graph<reduce_kind log_sum>, axes = array<i64: 1>} : memref<4x8xi32>, memref<4x1xi32>
  return
}

// -----

func.func @integer_softmax(%in: memref<4x8xi32>, %out: memref<4x8xi32>, %begin: index, %end: index) attributes {cpu.kernel} {
  // expected-error @+1 {{'kernel.softmax' op works on floats only, but the input is 'memref<4x8xi32>'}}
  kernel.softmax %in, %out {axis = 1 : i64} : memref<4x8xi32>, memref<4x8xi32>
  return
}
