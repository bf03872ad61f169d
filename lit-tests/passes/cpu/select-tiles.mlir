// RUN: atc-opt %s --split-input-file --cpu-select-tiles | FileCheck %s

// Eight lanes and sixteen registers: six pixels of one block of 16 channels
// fill the registers, and 56 pixels are cut without a small rest.
module attributes {cpu.level = #cpu.level<name = "v3", lanes = 8, registers = 16, fma = true, l1 = 32768, l2 = 524288>} {
  // CHECK-LABEL: func.func @avx2
  // CHECK: tile = #cpu.tile<pixels = 6, blocks = 1, rows = {{[0-9]+}}, groups = {{[0-9]+}}, depth = 1, flatten = false>
  func.func @avx2(%in: memref<1x4x58x58x16xf32>, %w: memref<4x4x3x3x16x16xf32>, %out: memref<1x4x56x56x16xf32>) {
    cpu.conv2d %in, %w outs %out {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 1, channels = 64}
      : memref<1x4x58x58x16xf32>, memref<4x4x3x3x16x16xf32>, memref<1x4x56x56x16xf32>
    return
  }
}

// -----

// Sixteen lanes and 32 registers take more pixels or blocks.
module attributes {cpu.level = #cpu.level<name = "v4", lanes = 16, registers = 32, fma = true, l1 = 49152, l2 = 2097152>} {
  // CHECK-LABEL: func.func @avx512
  // CHECK: tile = #cpu.tile<pixels = {{(14|7), blocks = (2|4)}},
  func.func @avx512(%in: memref<1x4x58x58x16xf32>, %w: memref<4x4x3x3x16x16xf32>, %out: memref<1x4x56x56x16xf32>) {
    cpu.conv2d %in, %w outs %out {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 1, channels = 64}
      : memref<1x4x58x58x16xf32>, memref<4x4x3x3x16x16xf32>, memref<1x4x56x56x16xf32>
    return
  }
}

// -----

// Rows of seven pixels waste registers: tiles run over row ends.
// CHECK-LABEL: func.func @small_plane
// CHECK: flatten = true
func.func @small_plane(%in: memref<1x32x7x7x16xf32>, %w: memref<32x32x1x1x16x16xf32>, %out: memref<1x32x7x7x16xf32>) {
  cpu.conv2d %in, %w outs %out {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 1, channels = 512}
    : memref<1x32x7x7x16xf32>, memref<32x32x1x1x16x16xf32>, memref<1x32x7x7x16xf32>
  return
}

// -----

// A vector by a matrix: one row, several blocks.
// CHECK-LABEL: func.func @row
// CHECK: tile = #cpu.tile<pixels = 1, blocks = {{[46]}},
func.func @row(%x: memref<1x1x2048xf32>, %w: memref<63x2048x16xf32>, %out: memref<1x1x1000xf32>) {
  cpu.matmul %x, %w outs %out {packed} : memref<1x1x2048xf32>, memref<63x2048x16xf32>, memref<1x1x1000xf32>
  return
}

// -----

// What is chosen already stays.
// CHECK-LABEL: func.func @chosen
// CHECK: tile = #cpu.tile<pixels = 2, blocks = 1, rows = 3, groups = 1, depth = 1, flatten = false>
func.func @chosen(%in: memref<1x1x8x8x16xf32>, %w: memref<1x3x3x16xf32>, %out: memref<1x1x6x6x16xf32>) {
  cpu.depthwise_conv2d %in, %w outs %out {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>,
    tile = #cpu.tile<pixels = 2, blocks = 1, rows = 3, groups = 1, depth = 1, flatten = false>}
    : memref<1x1x8x8x16xf32>, memref<1x3x3x16xf32>, memref<1x1x6x6x16xf32>
  return
}
