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

// Positions between the rows of a padded input are no pixels. Parts of the pixels of a pair of tiles
// are finished between the chunks of the next pair, before whose accumulators are stored to another
// buffer.
// CHECK-LABEL: func private @gaps
// CHECK: %[[SUMS:.*]] = memref.alloca() {alignment = 64 : i64} : memref<2048xi32>
// CHECK: llvm.x86.tilestored64
// CHECK: %[[ROW:.*]] = memref.load %{{.*}}[%c0] : memref<1xindex>
// CHECK: scf.for %{{.*}} = %c0 to %c8
// CHECK: llvm.x86.tdpbusd
// CHECK: arith.remui
// CHECK: scf.if
// CHECK: arith.addi %[[ROW]]
// CHECK: vector.load %[[SUMS]]
// CHECK: llvm.x86.tdpbusd
// CHECK: %[[NEXT:.*]] = arith.subi %c32, %[[ROW]]
// CHECK: llvm.x86.tilestored64
// CHECK: memref.store %[[NEXT]]
// CHECK: scf.if
// CHECK-NOT: memref.prefetch
module attributes {cpu.level = #cpu.level<name = "amx", lanes = 16, registers = 32, fma = true, l1 = 49152, l2 = 2097152, dot = "vnni", matrix = "amx">} {
  func.func private @gaps(%x: memref<1x4x9x9x16xi8, strided<[5184, 16, 576, 64, 1]>>, %w: memref<288x16x4xi8>, %s: memref<144xi32>, %t: memref<3xi32>, %b: memref<32xi32>, %y: memref<1x2x7x7x16xi32>, %begin: index, %end: index) attributes {cpu.kernel} {
    cpu.integer_conv2d %x, %w, %s, %t, %b outs %y {strides = array<i64: 1, 1>, groups = array<i64: 1>, by_magnitude = array<i1: false>, products = 401408 : i64, adjacent = 16 : i64, tile = #cpu.tile<pixels = 16, blocks = 2, rows = 7, groups = 2, depth = 1, flatten = true, matrix = true>} : memref<1x4x9x9x16xi8, strided<[5184, 16, 576, 64, 1]>>, memref<288x16x4xi8>, memref<144xi32>, memref<3xi32>, memref<32xi32>, memref<1x2x7x7x16xi32>
    return
  }
}

// -----

// Where rows as tiles are as many as tiles that continue across their ends, each row is a tile: all
// of its positions are pixels, which are finished four at a time.
// CHECK-LABEL: func private @rows
// CHECK: arith.constant dense<[1, {{(0, )+}}64, 0, 64, 0, 64, 0, 64, 0, 64, 0, 64, 0, 64, 0, 64, 0, {{(0, )+}}14, 14, 14, 14, 14, 14, 16, 16, 0
// CHECK: llvm.x86.tdpbusd
// CHECK-NOT: arith.remui
// CHECK-NOT: scf.if
// CHECK: llvm.x86.tilerelease
module attributes {cpu.level = #cpu.level<name = "amx", lanes = 16, registers = 32, fma = true, l1 = 49152, l2 = 2097152, dot = "vnni", matrix = "amx">} {
  func.func private @rows(%x: memref<1x4x16x16x16xi8, strided<[16384, 16, 1024, 64, 1]>>, %w: memref<288x16x4xi8>, %s: memref<144xi32>, %t: memref<3xi32>, %b: memref<32xi32>, %y: memref<1x2x14x14x16xi32>, %begin: index, %end: index) attributes {cpu.kernel} {
    cpu.integer_conv2d %x, %w, %s, %t, %b outs %y {strides = array<i64: 1, 1>, groups = array<i64: 1>, by_magnitude = array<i1: false>, products = 401408 : i64, adjacent = 16 : i64, tile = #cpu.tile<pixels = 16, blocks = 2, rows = 7, groups = 2, depth = 1, flatten = true, matrix = true>} : memref<1x4x16x16x16xi8, strided<[16384, 16, 1024, 64, 1]>>, memref<288x16x4xi8>, memref<144xi32>, memref<3xi32>, memref<32xi32>, memref<1x2x14x14x16xi32>
    return
  }
}

// -----

// Weights that are expected beyond L2: the loop over blocks is the outer one, and each of four pairs
// of tiles prefetches a quarter of the next two blocks' weights, eight lines per chunk.
// CHECK-LABEL: func private @streams
// CHECK: llvm.x86.tdpbusd
// CHECK-COUNT-8: memref.prefetch %{{.*}}, read, locality<2>, data
// CHECK-NOT: memref.prefetch
// CHECK: llvm.x86.tilestored64
// CHECK: scf.for %{{.*}} = %c1 to %c5
module attributes {cpu.level = #cpu.level<name = "amx", lanes = 16, registers = 32, fma = true, l1 = 49152, l2 = 131072, dot = "vnni", matrix = "amx">} {
  func.func private @streams(%x: memref<1x4x9x16x16xi8, strided<[9216, 16, 1024, 64, 1]>>, %w: memref<1440x16x4xi8>, %s: memref<144xi32>, %t: memref<11xi32>, %b: memref<160xi32>, %y: memref<1x10x7x14x16xi32>, %begin: index, %end: index) attributes {cpu.kernel} {
    cpu.integer_conv2d %x, %w, %s, %t, %b outs %y {strides = array<i64: 1, 1>, groups = array<i64: 1>, by_magnitude = array<i1: false>, products = 401408 : i64, adjacent = 16 : i64, tile = #cpu.tile<pixels = 16, blocks = 2, rows = 7, groups = 10, depth = 1, flatten = true, matrix = true>} : memref<1x4x9x16x16xi8, strided<[9216, 16, 1024, 64, 1]>>, memref<1440x16x4xi8>, memref<144xi32>, memref<11xi32>, memref<160xi32>, memref<1x10x7x14x16xi32>
    return
  }
}
