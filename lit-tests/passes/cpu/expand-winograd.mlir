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
// last one of an odd plane is not written.
// CHECK-LABEL: func private @conv
// CHECK: %[[SUMS:.*]] = memref.alloca() {alignment = 64 : i64}
// CHECK: llvm.x86.avx2.pmadd.wd
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
