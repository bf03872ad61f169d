// RUN: atc-opt %s --split-input-file --cpu-select-tiles | FileCheck %s
// RUN: atc-opt %s --split-input-file --cpu-select-tiles --remarks-filter=cpu-select-tiles --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// REMARK-DAG: [Passed] {{.*}}across row ends, in tile registers

#joined = strided<[12544, 16, 896, 64, 1]>
#planes = strided<[200704, 16, 3584, 64, 1]>
module attributes {cpu.level = #cpu.level<name = "amx", lanes = 16, registers = 32, fma = true, l1 = 49152, l2 = 2097152, dot = "vnni", matrix = "amx">} {
  // Pixels of a window of one are one run.
  // CHECK-LABEL: func.func @joined_pixels(
  // CHECK: tile = #cpu.tile<pixels = 16, blocks = 2, rows = 14, groups = 2, depth = 1, flatten = true, matrix = true>
  func.func @joined_pixels(%x: memref<1x4x14x14x16xi8, #joined>, %w: memref<32x16x4xi8>, %s: memref<16xi32>, %t: memref<3xi32>, %b: memref<32xi32>, %y: memref<1x2x14x14x16xi32>) {
    cpu.integer_conv2d %x, %w, %s, %t, %b outs %y {strides = array<i64: 1, 1>, groups = array<i64: 1>, by_magnitude = array<i1: false>, products = 401408 : i64, adjacent = 16 : i64}
      : memref<1x4x14x14x16xi8, #joined>, memref<32x16x4xi8>, memref<16xi32>, memref<3xi32>, memref<32xi32>, memref<1x2x14x14x16xi32>
    return
  }

  // An input that is larger than the weights: tasks of some rows and all channels, so that a core
  // reads what it has written in the layer before.
  // CHECK-LABEL: func.func @large_planes(
  // CHECK: tile = #cpu.tile<pixels = 16, blocks = 2, rows = 4, groups = 16, depth = 1, flatten = true, matrix = true>
  func.func @large_planes(%x: memref<1x4x56x56x16xi8, #planes>, %w: memref<256x16x4xi8>, %s: memref<16xi32>, %t: memref<17xi32>, %b: memref<256xi32>, %y: memref<1x16x56x56x16xi32>) {
    cpu.integer_conv2d %x, %w, %s, %t, %b outs %y {strides = array<i64: 1, 1>, groups = array<i64: 1>, by_magnitude = array<i1: false>, products = 51380224 : i64, adjacent = 16 : i64}
      : memref<1x4x56x56x16xi8, #planes>, memref<256x16x4xi8>, memref<16xi32>, memref<17xi32>, memref<256xi32>, memref<1x16x56x56x16xi32>
    return
  }

  // Chunks of steps that are not known to have adjacent bytes.
  // CHECK-LABEL: func.func @scattered(
  // CHECK: tile = #cpu.tile<pixels = 14, blocks = 2, {{.*}}, flatten = false>
  func.func @scattered(%x: memref<1x4x14x14x16xi8, #joined>, %w: memref<32x16x4xi8>, %s: memref<16xi32>, %t: memref<3xi32>, %b: memref<32xi32>, %y: memref<1x2x14x14x16xi32>) {
    cpu.integer_conv2d %x, %w, %s, %t, %b outs %y {strides = array<i64: 1, 1>, groups = array<i64: 1>, by_magnitude = array<i1: false>, products = 401408 : i64}
      : memref<1x4x14x14x16xi8, #joined>, memref<32x16x4xi8>, memref<16xi32>, memref<3xi32>, memref<32xi32>, memref<1x2x14x14x16xi32>
    return
  }

  // One row fills a sixteenth of a tile: dot products are faster.
  // CHECK-LABEL: func.func @one_row(
  // CHECK: tile = #cpu.tile<pixels = 1, {{.*}}, flatten = false>
  func.func @one_row(%x: memref<1x1x1x1x64xi8>, %w: memref<32x16x4xi8>, %s: memref<16xi32>, %t: memref<3xi32>, %b: memref<32xi32>, %y: memref<1x2x1x1x16xi32>) {
    cpu.integer_conv2d %x, %w, %s, %t, %b outs %y {strides = array<i64: 1, 1>, groups = array<i64: 1>, by_magnitude = array<i1: false>, products = 2048 : i64, adjacent = 16 : i64}
      : memref<1x1x1x1x64xi8>, memref<32x16x4xi8>, memref<16xi32>, memref<3xi32>, memref<32xi32>, memref<1x2x1x1x16xi32>
    return
  }
}

// -----

// No tile registers.
#joined = strided<[12544, 16, 896, 64, 1]>
module attributes {cpu.level = #cpu.level<name = "vnni", lanes = 16, registers = 32, fma = true, l1 = 49152, l2 = 2097152, dot = "vnni">} {
  // CHECK-LABEL: func.func @no_registers(
  // CHECK: tile = #cpu.tile<pixels = 14, blocks = 2, {{.*}}, flatten = false>
  func.func @no_registers(%x: memref<1x4x14x14x16xi8, #joined>, %w: memref<32x16x4xi8>, %s: memref<16xi32>, %t: memref<3xi32>, %b: memref<32xi32>, %y: memref<1x2x14x14x16xi32>) {
    cpu.integer_conv2d %x, %w, %s, %t, %b outs %y {strides = array<i64: 1, 1>, groups = array<i64: 1>, by_magnitude = array<i1: false>, products = 401408 : i64, adjacent = 16 : i64}
      : memref<1x4x14x14x16xi8, #joined>, memref<32x16x4xi8>, memref<16xi32>, memref<3xi32>, memref<32xi32>, memref<1x2x14x14x16xi32>
    return
  }
}
