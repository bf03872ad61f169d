// RUN: atc-opt %s --cpu-select-tiles --cpu-expand-integer-conv --canonicalize --cse --split-input-file | FileCheck %s

// Two tiles of 16 pixels by two blocks of 16 channels; the shapes are set once per call and released
// at its end. Accumulators are finished as vectors.
#joined = strided<[12544, 16, 896, 64, 1]>
// CHECK-LABEL: func private @pairs
// CHECK: arith.constant dense<[1, {{(0, )+}}64, 0, 64, 0, 64, 0, 64, 0, 64, 0, 64, 0, 64, 0, 64, 0, {{(0, )+}}16, 16, 16, 16, 16, 16, 16, 16, 0
// CHECK: llvm.x86.ldtilecfg
// CHECK: scf.for
// CHECK-COUNT-4: llvm.x86.tilezero
// CHECK-COUNT-4: llvm.x86.tileloadd64
// CHECK-COUNT-4: llvm.x86.tdpbusd
// CHECK-COUNT-4: llvm.x86.tilestored64
// CHECK: vector.load {{.*}} vector<16xi32>
// CHECK: llvm.x86.tilerelease
// CHECK-NEXT: return
module attributes {cpu.level = #cpu.level<name = "amx", lanes = 16, registers = 32, fma = true, l1 = 49152, l2 = 2097152, dot = "vnni", matrix = "amx">} {
  func.func private @pairs(%x: memref<1x4x16x14x16xi8, #joined>, %w: memref<32x16x4xi8>, %s: memref<16xi32>, %t: memref<3xi32>, %b: memref<32xi32>, %y: memref<1x2x16x14x16xi32>, %begin: index, %end: index) attributes {cpu.kernel} {
    cpu.integer_conv2d %x, %w, %s, %t, %b outs %y {strides = array<i64: 1, 1>, groups = array<i64: 1>, by_magnitude = array<i1: false>, products = 401408 : i64, adjacent = 16 : i64, tile = #cpu.tile<pixels = 16, blocks = 2, rows = 16, groups = 2, depth = 1, flatten = true, matrix = true>} : memref<1x4x16x14x16xi8, #joined>, memref<32x16x4xi8>, memref<16xi32>, memref<3xi32>, memref<32xi32>, memref<1x2x16x14x16xi32>
    return
  }
}

// -----

// Seven pixels of 48 bytes by one block: 7 rows, of 12 fours.
// CHECK-LABEL: func private @single
// CHECK: arith.constant dense<[1, {{(0, )+}}64, 0, 64, 0, 64, 0, 64, 0, 48, 0, 48, 0, 64, 0, 64, 0, {{(0, )+}}7, 7, 7, 7, 7, 7, 12, 12, 0
// CHECK-COUNT-1: llvm.x86.tilezero
// CHECK-COUNT-2: llvm.x86.tileloadd64
// CHECK-COUNT-1: llvm.x86.tdpbusd
// CHECK-COUNT-1: llvm.x86.tilestored64
// CHECK-NOT: llvm.x86.tdpbusd
module attributes {cpu.level = #cpu.level<name = "amx", lanes = 16, registers = 32, fma = true, l1 = 49152, l2 = 2097152, dot = "vnni", matrix = "amx">} {
  func.func private @single(%x: memref<1x1x1x7x48xi8>, %w: memref<12x16x4xi8>, %s: memref<12xi32>, %t: memref<2xi32>, %b: memref<16xi32>, %y: memref<1x1x1x7x16xi32>, %begin: index, %end: index) attributes {cpu.kernel} {
    cpu.integer_conv2d %x, %w, %s, %t, %b outs %y {strides = array<i64: 1, 1>, groups = array<i64: 1>, by_magnitude = array<i1: false>, products = 401408 : i64, adjacent = 12 : i64, tile = #cpu.tile<pixels = 7, blocks = 2, rows = 1, groups = 2, depth = 1, flatten = false, matrix = true>} : memref<1x1x1x7x48xi8>, memref<12x16x4xi8>, memref<12xi32>, memref<2xi32>, memref<16xi32>, memref<1x1x1x7x16xi32>
    return
  }
}

// -----

// Signed bytes are multiplied as they are, and the second row of the bias, 16 elements behind the
// first, is added.
// CHECK-LABEL: func private @signed
// CHECK: %[[BIAS:.*]] = memref.reinterpret_cast %arg4 to {{.*}} memref<32xi32>
// CHECK-NOT: llvm.x86.tdpbusd
// CHECK-COUNT-1: llvm.x86.tdpbssd
// CHECK-NOT: llvm.x86.tdpb
// CHECK: vector.load %[[BIAS]][%c16{{.*}}] : memref<32xi32>, vector<16xi32>
module attributes {cpu.level = #cpu.level<name = "amx", lanes = 16, registers = 32, fma = true, l1 = 49152, l2 = 2097152, dot = "vnni", matrix = "amx">} {
  func.func private @signed(%x: memref<1x1x1x7x48xi8>, %w: memref<12x16x4xi8>, %s: memref<12xi32>, %t: memref<2xi32>, %b: memref<2x16xi32>, %y: memref<1x1x1x7x16xi32>, %begin: index, %end: index) attributes {cpu.kernel} {
    cpu.integer_conv2d %x, %w, %s, %t, %b outs %y {strides = array<i64: 1, 1>, groups = array<i64: 1>, by_magnitude = array<i1: false>, signed_input, products = 401408 : i64, adjacent = 12 : i64, tile = #cpu.tile<pixels = 7, blocks = 2, rows = 1, groups = 2, depth = 1, flatten = false, matrix = true>} : memref<1x1x1x7x48xi8>, memref<12x16x4xi8>, memref<12xi32>, memref<2xi32>, memref<2x16xi32>, memref<1x1x1x7x16xi32>
    return
  }
}

// -----

// Positions between the rows of a padded input are no pixels.
#padded = strided<[16384, 16, 1024, 64, 1]>
// CHECK-LABEL: func private @gaps
// CHECK: llvm.x86.tilestored64
// CHECK: arith.remui
// CHECK: scf.if
module attributes {cpu.level = #cpu.level<name = "amx", lanes = 16, registers = 32, fma = true, l1 = 49152, l2 = 2097152, dot = "vnni", matrix = "amx">} {
  func.func private @gaps(%x: memref<1x4x16x16x16xi8, #padded>, %w: memref<288x16x4xi8>, %s: memref<144xi32>, %t: memref<3xi32>, %b: memref<32xi32>, %y: memref<1x2x14x14x16xi32>, %begin: index, %end: index) attributes {cpu.kernel} {
    cpu.integer_conv2d %x, %w, %s, %t, %b outs %y {strides = array<i64: 1, 1>, groups = array<i64: 1>, by_magnitude = array<i1: false>, products = 401408 : i64, adjacent = 16 : i64, tile = #cpu.tile<pixels = 16, blocks = 2, rows = 7, groups = 2, depth = 1, flatten = true, matrix = true>} : memref<1x4x16x16x16xi8, #padded>, memref<288x16x4xi8>, memref<144xi32>, memref<3xi32>, memref<32xi32>, memref<1x2x14x14x16xi32>
    return
  }
}
