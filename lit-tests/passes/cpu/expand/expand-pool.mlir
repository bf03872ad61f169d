// RUN: atc-opt %s --cpu-expand-pool --canonicalize --split-input-file --verify-diagnostics | FileCheck %s

// Four pixels of two vectors at a time, three columns unrolled, the window's
// rows by a loop with clipped bounds.
// CHECK-LABEL: func.func @max
// CHECK-SAME: cpu.tasks
// CHECK-NOT: kernel.pool
// CHECK: scf.for {{.*}} iter_args({{.*}}) -> (vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>)
// CHECK-COUNT-24: arith.maximumf {{.*}} fastmath<nsz> : vector<8xf32>
// CHECK-NOT: arith.divf
func.func @max(%in: memref<1x4x112x112x16xf32>, %out: memref<1x4x56x56x16xf32>, %begin: index, %end: index) attributes {cpu.kernel} {
  kernel.pool %in, %out {kernel = array<i64: 3, 3>, strides = array<i64: 2, 2>, pads = array<i64: 1, 1, 1, 1>,
    dilations = array<i64: 1, 1>, kind = #kernel<pool_kind max>}
    : memref<1x4x112x112x16xf32>, memref<1x4x56x56x16xf32>
  return
}

// -----

// Without padding there are no edges: only whole windows.
// CHECK-LABEL: func.func @mean
// CHECK-COUNT-16: arith.addf {{.*}} vector<8xf32>
// CHECK: arith.mulf {{.*}} vector<8xf32>
func.func @mean(%in: memref<1x1x8x8x16xf32>, %out: memref<1x1x4x4x16xf32>, %begin: index, %end: index) attributes {cpu.kernel} {
  kernel.pool %in, %out {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>,
    dilations = array<i64: 1, 1>, kind = #kernel<pool_kind average>}
    : memref<1x1x8x8x16xf32>, memref<1x1x4x4x16xf32>
  return
}

// -----

// A block of three channels is one vector of three.
// CHECK-LABEL: func.func @small_block
// CHECK: vector.load {{.*}} vector<3xf32>
func.func @small_block(%in: memref<1x1x8x8x3xf32>, %out: memref<1x1x4x4x3xf32>, %begin: index, %end: index) attributes {cpu.kernel} {
  kernel.pool %in, %out {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>,
    dilations = array<i64: 1, 1>, kind = #kernel<pool_kind max>}
    : memref<1x1x8x8x3xf32>, memref<1x1x4x4x3xf32>
  return
}

// -----

func.func @integers(%in: memref<1x1x8x8x16xi32>, %out: memref<1x1x4x4x16xi32>, %begin: index, %end: index) attributes {cpu.kernel} {
  // expected-error @+1 {{'kernel.pool' op computes means of floats only}}
  kernel.pool %in, %out {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>,
    dilations = array<i64: 1, 1>, kind = #kernel<pool_kind average>}
    : memref<1x1x8x8x16xi32>, memref<1x1x4x4x16xi32>
  return
}
