// RUN: atc-opt %s --cpu-select-tiles --cpu-expand-winograd --split-input-file | FileCheck %s

// Every place of a tile is a sum of 16 bits over bytes with or without a sign. Of an odd
// plane the last tile reads the last row again.
// CHECK-LABEL: func private @input
// CHECK: arith.minui
// CHECK: arith.extui {{.*}} vector<16xi8> to vector<16xi16>
// CHECK-NOT: arith.extsi
// CHECK-COUNT-16: vector.store {{.*}} vector<16xi16>
// CHECK-NOT: vector.store
func.func private @input(%x: memref<1x2x9x8x16xi8>, %t: memref<1x16x12x32xi16>, %begin: index, %end: index) attributes {cpu.kernel} {
  cpu.winograd_input %x outs %t : memref<1x2x9x8x16xi8>, memref<1x16x12x32xi16>
  return
}

// -----

// CHECK-LABEL: func private @even
// CHECK-NOT: arith.minui
// CHECK: arith.extsi {{.*}} vector<16xi8> to vector<16xi16>
func.func private @even(%x: memref<1x2x8x8x16xi8>, %t: memref<1x16x9x32xi16>, %begin: index, %end: index) attributes {cpu.kernel} {
  cpu.winograd_input %x outs %t {signed_input} : memref<1x2x8x8x16xi8>, memref<1x16x9x32xi16>
  return
}

// -----

// A product of matrices for every place, then 2x2 outputs of each tile; the row below the
// last one of an odd plane is not written. Nothing but a power of two is taken back.
// CHECK-LABEL: func private @conv
// CHECK-SAME: %[[SUMS:[a-z0-9]+]]: memref<3072xf32> {llvm.noalias}, %{{[a-z0-9]+}}: index
// CHECK: llvm.x86.avx2.pmadd.wd
// CHECK-NOT: arith.muli {{.*}} vector
// CHECK: vector.store {{.*}}%[[SUMS]]
// CHECK: arith.shrsi {{.*}} vector<8xi32>
// CHECK: vector.store {{.*}} vector<16xi32>
// CHECK: %[[EXISTS:.*]] = arith.cmpi ult
// CHECK: scf.if %[[EXISTS]]
module attributes {cpu.level = #cpu.level<name = "v3", lanes = 8, registers = 16, fma = true, l1 = 32768, l2 = 524288, dot = "maddubs">} {
  func.func private @conv(%t: memref<1x16x12x32xi16>, %w: memref<1x16x16x16x2xi16>, %b: memref<16xi32>, %y: memref<1x1x7x6x16xi32>, %begin: index, %end: index) attributes {cpu.kernel} {
    cpu.winograd_conv2d %t, %w, %b outs %y : memref<1x16x12x32xi16>, memref<1x16x16x16x2xi16>, memref<16xi32>, memref<1x1x7x6x16xi32>
    return
  }
}

// -----

// CHECK-LABEL: func private @plain
// CHECK-NOT: llvm.x86
// CHECK: arith.muli {{.*}} vector<8xi32>
module attributes {cpu.level = #cpu.level<name = "neon", lanes = 4, registers = 32, fma = true, l1 = 32768, l2 = 524288>} {
  func.func private @plain(%t: memref<1x16x9x32xi16>, %w: memref<1x16x16x16x2xi16>, %b: memref<16xi32>, %y: memref<1x1x6x6x16xi32>, %begin: index, %end: index) attributes {cpu.kernel} {
    cpu.winograd_conv2d %t, %w, %b outs %y : memref<1x16x9x32xi16>, memref<1x16x16x16x2xi16>, memref<16xi32>, memref<1x1x6x6x16xi32>
    return
  }
}

// -----

// 36 places of each of 2x2 tiles with 7x6 outputs: one row and two columns are not there.
// CHECK-LABEL: func private @input36
// CHECK-NOT: arith.minui
// CHECK: arith.minui %{{.*}}, %c8{{.*}} : index
// CHECK-NOT: arith.minui
// CHECK: arith.minui %{{.*}}, %c7{{.*}} : index
// CHECK-NOT: arith.minui
// CHECK: arith.minui %{{.*}}, %c7{{.*}} : index
// CHECK-NOT: arith.minui
// CHECK-COUNT-36: arith.extui {{.*}} vector<16xi8> to vector<16xi16>
// CHECK-NOT: arith.extui
// CHECK-COUNT-36: vector.store {{.*}} vector<16xi16>
// CHECK-NOT: vector.store
func.func private @input36(%x: memref<1x2x9x8x16xi8>, %t: memref<1x36x4x32xi16>, %begin: index, %end: index) attributes {cpu.kernel} {
  cpu.winograd_input %x outs %t : memref<1x2x9x8x16xi8>, memref<1x36x4x32xi16>
  return
}

// -----

// CHECK-LABEL: func private @even36
// CHECK-NOT: arith.minui
// CHECK-COUNT-36: arith.extsi {{.*}} vector<16xi8> to vector<16xi16>
// CHECK-COUNT-36: vector.store {{.*}} vector<16xi16>
// CHECK-NOT: vector.store
func.func private @even36(%x: memref<1x2x10x10x16xi8>, %t: memref<1x36x4x32xi16>, %begin: index, %end: index) attributes {cpu.kernel} {
  cpu.winograd_input %x outs %t {signed_input} : memref<1x2x10x10x16xi8>, memref<1x36x4x32xi16>
  return
}

// -----

// Sums of 36 places are 576 times as large as they are: 9 is taken back by its inverse modulo
// 2^32, 64 by a shift.
// CHECK-LABEL: func private @conv36
// CHECK-SAME: %[[SUMS:[a-z0-9]+]]: memref<2304xf32> {llvm.noalias}
// CHECK: %[[FILTER:.*]] = memref.reinterpret_cast %{{.*}} to memref<18432xi16>
// CHECK: scf.for {{.*}} to %c36
// Two pairs of channels at a time, and for each the next place's weights, which are 32
// channels of 16 outputs further on.
// CHECK: scf.for {{.*}} to %c8{{.*}} iter_args
// CHECK: vector.load %[[FILTER]][%[[PAIR0:[0-9]+]]]
// CHECK: vector.load %[[FILTER]]
// CHECK: %[[NEXT0:.*]] = arith.addi %[[PAIR0]], %c512
// CHECK: memref.prefetch %[[FILTER]][%[[NEXT0]]], read, locality<3>, data
// CHECK-COUNT-8: llvm.x86.avx2.pmadd.wd
// CHECK: %[[PAIR1:.*]] = arith.addi %{{.*}}, %c32
// CHECK: vector.load %[[FILTER]][%[[PAIR1]]]
// CHECK: vector.load %[[FILTER]]
// CHECK: %[[NEXT1:.*]] = arith.addi %[[PAIR1]], %c512
// CHECK: memref.prefetch %[[FILTER]][%[[NEXT1]]], read, locality<3>, data
// CHECK-COUNT-8: llvm.x86.avx2.pmadd.wd
// CHECK-NOT: memref.prefetch
// CHECK: scf.yield
// CHECK-COUNT-8: vector.store {{.*}}%[[SUMS]]
// For each of two rows of tiles four lines of a whole one, then of the two columns left over;
// a fourth line may not exist.
// CHECK: scf.for
// CHECK-COUNT-72: vector.load %[[SUMS]]
// CHECK-NOT: vector.load %[[SUMS]]
// CHECK: %[[INVERSE:.*]] = arith.constant dense<954437177> : vector<8xi32>
// CHECK: %[[SUM:.*]] = arith.muli %{{.*}}, %[[INVERSE]] : vector<8xi32>
// CHECK: %[[SHIFT:.*]] = arith.constant dense<6> : vector<8xi32>
// CHECK: arith.shrsi %[[SUM]], %[[SHIFT]] : vector<8xi32>
// CHECK-COUNT-12: vector.store {{.*}} vector<16xi32>
// CHECK: %[[EXISTS:.*]] = arith.cmpi ult, %{{.*}}, %c7
// CHECK: scf.if %[[EXISTS]] {
// CHECK-COUNT-4: vector.store {{.*}} vector<16xi32>
// CHECK: }
// CHECK-COUNT-72: vector.load %[[SUMS]]
// CHECK-COUNT-6: vector.store {{.*}} vector<16xi32>
// CHECK: %[[EXISTS:.*]] = arith.cmpi ult, %{{.*}}, %c7
// CHECK: scf.if %[[EXISTS]] {
// CHECK-COUNT-2: vector.store {{.*}} vector<16xi32>
// CHECK-NOT: vector.store
// CHECK: return
module attributes {cpu.level = #cpu.level<name = "v3", lanes = 8, registers = 16, fma = true, l1 = 32768, l2 = 524288, dot = "maddubs">} {
  func.func private @conv36(%t: memref<1x36x4x32xi16>, %w: memref<1x36x16x16x2xi16>, %b: memref<16xi32>, %y: memref<1x1x7x6x16xi32>, %begin: index, %end: index) attributes {cpu.kernel} {
    cpu.winograd_conv2d %t, %w, %b outs %y : memref<1x36x4x32xi16>, memref<1x36x16x16x2xi16>, memref<16xi32>, memref<1x1x7x6x16xi32>
    return
  }
}

// -----

// Whole tiles need neither what is left over nor a condition.
// CHECK-LABEL: func private @whole36
// CHECK-COUNT-72: vector.load {{.*}} vector<8xf32>
// CHECK-NOT: arith.cmpi
// CHECK-COUNT-16: vector.store {{.*}} vector<16xi32>
// CHECK-NOT: vector.store
// CHECK: return
module attributes {cpu.level = #cpu.level<name = "v3", lanes = 8, registers = 16, fma = true, l1 = 32768, l2 = 524288, dot = "maddubs">} {
  func.func private @whole36(%t: memref<1x36x4x32xi16>, %w: memref<1x36x16x16x2xi16>, %b: memref<16xi32>, %y: memref<1x1x8x8x16xi32>, %begin: index, %end: index) attributes {cpu.kernel} {
    cpu.winograd_conv2d %t, %w, %b outs %y : memref<1x36x4x32xi16>, memref<1x36x16x16x2xi16>, memref<16xi32>, memref<1x1x8x8x16xi32>
    return
  }
}

// -----

// With VNNI a tile has two blocks: each pair of integers is spread once for both of them. The third
// block is multiplied alone, and the scratch memory holds the accumulators of two.
// CHECK-LABEL: func private @pairs
// CHECK-SAME: memref<4608xf32>
// CHECK: vector.broadcast
// CHECK-COUNT-2: llvm.x86.avx512.vpdpwssd.512
// CHECK-NOT: pmadd
// CHECK: arith.muli {{.*}} vector<16xi32>
module attributes {cpu.level = #cpu.level<name = "vnni", lanes = 16, registers = 32, fma = true, l1 = 49152, l2 = 1048576, dot = "vnni">} {
  func.func private @pairs(%t: memref<1x36x4x32xi16>, %w: memref<3x36x16x16x2xi16>, %b: memref<48xi32>, %y: memref<1x3x8x8x16xi32>, %begin: index, %end: index) attributes {cpu.kernel} {
    cpu.winograd_conv2d %t, %w, %b outs %y : memref<1x36x4x32xi16>, memref<3x36x16x16x2xi16>, memref<48xi32>, memref<1x3x8x8x16xi32>
    return
  }
}

// -----

// Of a large plane the 2 groups of blocks change faster than the 4 rows of tiles, of a small one the rows.
// CHECK-LABEL: func private @large
// CHECK: scf.for %[[TASK:.*]] = %{{.*}} to %{{.*}} step
// CHECK: arith.remui %[[TASK]], %c2
// CHECK: arith.divui %[[TASK]], %c2
// CHECK-LABEL: func private @small
// CHECK: scf.for %[[TASK:.*]] = %{{.*}} to %{{.*}} step
// CHECK: arith.remui %[[TASK]], %c4
// CHECK: arith.divui %[[TASK]], %c4
module attributes {cpu.level = #cpu.level<name = "v3", lanes = 8, registers = 16, fma = true, l1 = 32768, l2 = 524288, dot = "maddubs">} {
  func.func private @large(%t: memref<1x36x17x32xi16>, %w: memref<2x36x16x16x2xi16>, %b: memref<32xi32>, %y: memref<1x2x16x16x16xi32>, %begin: index, %end: index) attributes {cpu.kernel} {
    cpu.winograd_conv2d %t, %w, %b outs %y {tile = #cpu.tile<pixels = 4, blocks = 1, rows = 1, groups = 1, depth = 1, flatten = false>} : memref<1x36x17x32xi16>, memref<2x36x16x16x2xi16>, memref<32xi32>, memref<1x2x16x16x16xi32>
    return
  }
  func.func private @small(%t: memref<1x36x4x32xi16>, %w: memref<8x36x16x16x2xi16>, %b: memref<128xi32>, %y: memref<1x8x16x4x16xi32>, %begin: index, %end: index) attributes {cpu.kernel} {
    cpu.winograd_conv2d %t, %w, %b outs %y {tile = #cpu.tile<pixels = 1, blocks = 1, rows = 1, groups = 1, depth = 1, flatten = false>} : memref<1x36x4x32xi16>, memref<8x36x16x16x2xi16>, memref<128xi32>, memref<1x8x16x4x16xi32>
    return
  }
}
