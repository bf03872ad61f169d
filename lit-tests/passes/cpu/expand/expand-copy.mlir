// RUN: atc-opt %s --cpu-expand-copy --canonicalize --split-input-file | FileCheck %s

// Rows into a view with a halo.
// CHECK-LABEL: func.func @rows
// CHECK-SAME: cpu.tasks = 1
// CHECK-NOT: kernel.copy
// CHECK: scf.for
// CHECK: vector.load {{.*}} vector<8xf32>
// CHECK: vector.store {{.*}} vector<8xf32>
// CHECK-NOT: vector.shuffle
func.func @rows(%in: memref<1x2x5x7x16xf32>, %out: memref<1x2x5x7x16xf32, strided<[2016, 1008, 144, 16, 1]>>,
                %begin: index, %end: index) attributes {cpu.kernel} {
  kernel.copy %in, %out : memref<1x2x5x7x16xf32>, memref<1x2x5x7x16xf32, strided<[2016, 1008, 144, 16, 1]>>
  return
}

// -----

// A transpose goes through registers: 8 rows in, 24 shuffles, 8 columns out.
// CHECK-LABEL: func.func @transpose
// CHECK-COUNT-8: vector.load {{.*}} vector<8xf32>
// CHECK-COUNT-24: vector.shuffle
// CHECK-NOT: vector.shuffle
// CHECK-COUNT-8: vector.store {{.*}} vector<8xf32>
func.func @transpose(%in: memref<64x64xf32, strided<[1, 64]>>, %out: memref<64x64xf32>,
                     %begin: index, %end: index) attributes {cpu.kernel} {
  kernel.copy %in, %out : memref<64x64xf32, strided<[1, 64]>>, memref<64x64xf32>
  return
}

// -----

// CHECK-LABEL: func.func @depth_to_space
// CHECK: %[[A:.*]] = vector.load
// CHECK: %[[B:.*]] = vector.load
// CHECK: vector.shuffle %[[A]], %[[B]] [0, 8, 1, 9, 2, 10, 3, 11]
// CHECK: vector.shuffle %[[A]], %[[B]] [4, 12, 5, 13, 6, 14, 7, 15]
func.func @depth_to_space(%in: memref<5x16x2xf32, strided<[16, 1, 80]>>, %out: memref<5x16x2xf32>,
                          %begin: index, %end: index) attributes {cpu.kernel} {
  kernel.copy %in, %out : memref<5x16x2xf32, strided<[16, 1, 80]>>, memref<5x16x2xf32>
  return
}

// -----

// The last of two blocks has 4 channels: the other lanes are written as 0.
// CHECK-LABEL: func.func @pack
// CHECK-SAME: cpu.tasks = 4
// CHECK: scf.if
// CHECK: vector.store %cst
// CHECK: else
// CHECK-COUNT-16: vector.load
func.func @pack(%in: memref<1x20x16x16xf32>, %out: memref<1x2x16x16x16xf32>, %begin: index, %end: index) attributes {cpu.kernel} {
  kernel.pack %in, %out : memref<1x20x16x16xf32>, memref<1x2x16x16x16xf32>
  return
}

// -----

// Three channels are interleaved: 3 vectors in, 3 out.
// CHECK-LABEL: func.func @pack_image
// CHECK-NOT: scf.if
// CHECK-COUNT-3: vector.load
// CHECK-COUNT-6: vector.shuffle
// CHECK-COUNT-3: vector.store
// CHECK-NOT: vector.store
func.func @pack_image(%in: memref<1x3x8x8xf32>, %out: memref<1x1x8x8x3xf32>, %begin: index, %end: index) attributes {cpu.kernel} {
  kernel.pack %in, %out : memref<1x3x8x8xf32>, memref<1x1x8x8x3xf32>
  return
}

// -----

// What the last block lacks is not stored.
// CHECK-LABEL: func.func @unpack
// CHECK: scf.if
// CHECK-COUNT-4: vector.store
// CHECK: else
// CHECK-COUNT-16: vector.store
func.func @unpack(%in: memref<1x2x4x2x16xf32>, %out: memref<1x20x4x2xf32>, %begin: index, %end: index) attributes {cpu.kernel} {
  kernel.unpack %in, %out : memref<1x2x4x2x16xf32>, memref<1x20x4x2xf32>
  return
}

// -----

// A border of one column left and right and one row below: nothing is read.
// CHECK-LABEL: func.func @border
// CHECK-NOT: kernel.fill
// CHECK-NOT: vector.load
// CHECK: vector.store
func.func @border(%out: memref<1x4x9x9x16xf32>, %begin: index, %end: index) attributes {cpu.kernel} {
  kernel.fill %out {value = 0.0 : f64, border = array<i64: 0, 1, 1, 1>} : memref<1x4x9x9x16xf32>
  return
}

// -----

// The inside of a row is copied by vectors, its ends one by one.
// CHECK-LABEL: func.func @reflect
// CHECK-NOT: kernel.pad
// CHECK: memref.load
// CHECK: vector.load {{.*}} vector<8xf32>
// CHECK: vector.store
// CHECK: memref.load
func.func @reflect(%in: memref<1x3x8x8xf32>, %out: memref<1x3x12x12xf32>, %begin: index, %end: index) attributes {cpu.kernel} {
  kernel.pad %in, %out {low = array<i64: 0, 0, 2, 2>, mode = #graph<pad_mode reflect>}
    : memref<1x3x8x8xf32>, memref<1x3x12x12xf32>
  return
}
