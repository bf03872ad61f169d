// RUN: atc-opt %s --cpu-expand-map --canonicalize --split-input-file | FileCheck %s

// Views with halos: W and the block are one row of 112 elements; four vectors
// of a row are computed at a time, the last two behind the loop.
// CHECK-LABEL: func.func @relu
// CHECK-SAME: cpu.tasks = 24
// CHECK-NOT: kernel.map
// CHECK: scf.for %{{.*}} = %arg2 to %arg3
// CHECK: scf.for
// CHECK-COUNT-4: vector.load {{.*}} vector<8xf32>
// CHECK-COUNT-4: arith.maximumf {{.*}} vector<8xf32>
// CHECK: vector.store
func.func @relu(%in: memref<1x8x40x7x16xf32, strided<[48384, 6048, 144, 16, 1]>>,
                %out: memref<1x8x40x7x16xf32, strided<[48384, 6048, 144, 16, 1]>>,
                %begin: index, %end: index) attributes {cpu.kernel} {
  kernel.map %in outs %out : memref<1x8x40x7x16xf32, strided<[48384, 6048, 144, 16, 1]>>,
      memref<1x8x40x7x16xf32, strided<[48384, 6048, 144, 16, 1]>> {
  ^bb0(%x: f32):
    %zero = arith.constant 0.0 : f32
    %y = arith.maximumf %x, %zero : f32
    kernel.yield %y : f32
  }
  return
}

// -----

// Buffers of one layout are one long row; 13 = 8 + 5.
// CHECK-LABEL: func.func @tail
// CHECK: vector.load %{{.*}}[%{{.*}}] : memref<13xf32>, vector<8xf32>
// CHECK: vector.store {{.*}} vector<8xf32>
// CHECK: vector.load %{{.*}}[%{{.*}}] : memref<13xf32>, vector<5xf32>
// CHECK: vector.store {{.*}} vector<5xf32>
// CHECK-NOT: vector.store
func.func @tail(%in: memref<1x13xf32>, %out: memref<1x13xf32>, %begin: index, %end: index) attributes {cpu.kernel} {
  kernel.map %in outs %out : memref<1x13xf32>, memref<1x13xf32> {
  ^bb0(%x: f32):
    %y = arith.negf %x : f32
    kernel.yield %y : f32
  }
  return
}

// -----

// Where vectors have 16 lanes, tails are masked.
// CHECK-LABEL: func.func @masked_tail
// CHECK: vector.maskedload {{.*}} vector<16xf32>
// CHECK: vector.maskedstore
module attributes {cpu.level = #cpu.level<name = "x86-64-v4", lanes = 16, registers = 32, fma = true, l1 = 32768, l2 = 1048576>} {
  func.func @masked_tail(%in: memref<1x13xf32>, %out: memref<1x13xf32>, %begin: index, %end: index) attributes {cpu.kernel} {
    kernel.map %in outs %out : memref<1x13xf32>, memref<1x13xf32> {
    ^bb0(%x: f32):
      %y = arith.negf %x : f32
      kernel.yield %y : f32
    }
    return
  }
}

// -----

// A number for a whole row is read once, outside of its loop.
// CHECK-LABEL: func.func @broadcast
// CHECK: memref.load
// CHECK: vector.broadcast
// CHECK: scf.for
// CHECK-NOT: vector.broadcast
// CHECK: vector.store
func.func @broadcast(%in: memref<3x80xf32>, %bias: memref<3x1xf32>, %out: memref<3x80xf32>,
                     %begin: index, %end: index) attributes {cpu.kernel} {
  kernel.map %in, %bias outs %out : memref<3x80xf32>, memref<3x1xf32>, memref<3x80xf32> {
  ^bb0(%x: f32, %b: f32):
    %y = arith.addf %x, %b : f32
    kernel.yield %y : f32
  }
  return
}

// -----

// bool elements take a byte each: they are read as bytes, of which any but 0 is true.
// CHECK-LABEL: func.func @select
// CHECK-DAG: %[[ZERO:.*]] = arith.constant dense<0> : vector<8xi8>
// CHECK-DAG: %[[BYTES:.*]] = builtin.unrealized_conversion_cast %{{.*}} : memref<8xi1> to memref<8xi8>
// CHECK: %[[C:.*]] = vector.load %[[BYTES]]{{.*}} vector<8xi8>
// CHECK: %[[IS:.*]] = arith.cmpi ne, %[[C]], %[[ZERO]] : vector<8xi8>
// CHECK: arith.select %[[IS]], {{.*}} vector<8xi1>, vector<8xf32>
func.func @select(%c: memref<8xi1>, %a: memref<8xf32>, %b: memref<8xf32>, %out: memref<8xf32>,
                  %begin: index, %end: index) attributes {cpu.kernel} {
  kernel.map %c, %a, %b outs %out : memref<8xi1>, memref<8xf32>, memref<8xf32>, memref<8xf32> {
  ^bb0(%p: i1, %x: f32, %y: f32):
    %z = arith.select %p, %x, %y : f32
    kernel.yield %z : f32
  }
  return
}

// -----

// Results are stored as bytes, too, also a part of a vector.
// CHECK-LABEL: func.func @less
// CHECK: %[[LESS:.*]] = arith.cmpf olt, {{.*}} : vector<8xf32>
// CHECK: %[[BYTES:.*]] = arith.extui %[[LESS]] : vector<8xi1> to vector<8xi8>
// CHECK: vector.store %[[BYTES]], %{{.*}} : memref<12xi8>, vector<8xi8>
// CHECK: vector.store {{.*}} : memref<12xi8>, vector<4xi8>
func.func @less(%a: memref<12xf32>, %b: memref<12xf32>, %out: memref<12xi1>,
                %begin: index, %end: index) attributes {cpu.kernel} {
  kernel.map %a, %b outs %out : memref<12xf32>, memref<12xf32>, memref<12xi1> {
  ^bb0(%x: f32, %y: f32):
    %z = arith.cmpf olt, %x, %y : f32
    kernel.yield %z : i1
  }
  return
}
