// RUN: atc-opt %s --split-input-file --cpu-select-tiles | FileCheck %s
// RUN: atc-opt %s --split-input-file --cpu-select-tiles --remarks-filter=cpu-select-tiles --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// REMARK-DAG: [Passed] {{.*}}Category:cpu-select-tiles{{.*}}register tile of {{[0-9]+}} pixels x {{[0-9]+}} channel blocks

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

// Sixteen lanes and 32 registers take more blocks: 10 loads for 24 products, where 14 pixels of two blocks
// take 16 for 28. Three registers stay free.
module attributes {cpu.level = #cpu.level<name = "v4", lanes = 16, registers = 32, fma = true, l1 = 49152, l2 = 2097152>} {
  // CHECK-LABEL: func.func @avx512
  // CHECK: tile = #cpu.tile<pixels = 6, blocks = 4,
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

// Rows that do not fit L2: the sum is computed in chunks of a quarter of it, and tasks have many columns. What fits beside
// the panels is not divided.
module attributes {cpu.level = #cpu.level<name = "v4", lanes = 16, registers = 32, fma = true, l1 = 32768, l2 = 1048576>} {
  // CHECK-LABEL: func.func @long_rows
  // CHECK: tile = #cpu.tile<pixels = 8, blocks = 3, rows = 1, groups = 6, depth = 12,
  func.func @long_rows(%x: memref<1x197x3072xf32>, %w: memref<48x3072x16xf32>, %out: memref<1x197x768xf32>) {
    cpu.matmul %x, %w outs %out {packed} : memref<1x197x3072xf32>, memref<48x3072x16xf32>, memref<1x197x768xf32>
    return
  }
  // CHECK-LABEL: func.func @short_rows
  // CHECK: depth = 1,
  func.func @short_rows(%x: memref<1x197x768xf32>, %w: memref<48x768x16xf32>, %out: memref<1x197x768xf32>) {
    cpu.matmul %x, %w outs %out {packed} : memref<1x197x768xf32>, memref<48x768x16xf32>, memref<1x197x768xf32>
    return
  }
}

// -----

// Of a small L2 they are half.
module attributes {cpu.level = #cpu.level<name = "v3", lanes = 8, registers = 16, fma = true, l1 = 32768, l2 = 262144>} {
  // CHECK-LABEL: func.func @small_cache
  // CHECK: depth = 3,
  func.func @small_cache(%x: memref<1x128x768xf32>, %w: memref<48x768x16xf32>, %out: memref<1x128x768xf32>) {
    cpu.matmul %x, %w outs %out {packed} : memref<1x128x768xf32>, memref<48x768x16xf32>, memref<1x128x768xf32>
    return
  }
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

// -----

// A depthwise convolution of a plane with more pixels than channels is divided by rows, even where
// its blocks are enough tasks; one with more channels is not.
module attributes {cpu.level = #cpu.level<name = "v3", lanes = 8, registers = 16, fma = true, l1 = 32768, l2 = 524288, dot = "maddubs">} {
  // CHECK-LABEL: func.func @large_plane
  // CHECK: tile = #cpu.tile<pixels = {{[0-9]+}}, blocks = 1, rows = 14, groups = 1, depth = 1, flatten = false>
  func.func @large_plane(%in: memref<1x9x58x58x16xf32>, %w: memref<9x3x3x16xf32>, %out: memref<1x9x56x56x16xf32>) {
    cpu.depthwise_conv2d %in, %w outs %out {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>}
      : memref<1x9x58x58x16xf32>, memref<9x3x3x16xf32>, memref<1x9x56x56x16xf32>
    return
  }

  // CHECK-LABEL: func.func @small_plane
  // CHECK: tile = #cpu.tile<pixels = {{[0-9]+}}, blocks = 1, rows = 14, groups = 1, depth = 1, flatten = false>
  func.func @small_plane(%in: memref<1x24x16x16x16xf32>, %w: memref<24x3x3x16xf32>, %out: memref<1x24x14x14x16xf32>) {
    cpu.depthwise_conv2d %in, %w outs %out {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>}
      : memref<1x24x16x16x16xf32>, memref<24x3x3x16xf32>, memref<1x24x14x14x16xf32>
    return
  }
}

// -----

// Integer sums, two registers a pixel: ten of them with groups of one or two steps, eight
// with four, whose bytes need more. The largest group of the runs counts.
module attributes {cpu.level = #cpu.level<name = "v3", lanes = 8, registers = 16, fma = true, l1 = 32768, l2 = 524288, dot = "maddubs">} {
  // CHECK-LABEL: func.func @integer_1(
  // CHECK: tile = #cpu.tile<pixels = 5, blocks = 1, rows = {{[0-9]+}}, groups = {{[0-9]+}}, depth = 1, flatten = false>
  func.func @integer_1(%x: memref<1x1x56x56x16xi8>, %w: memref<8x16x4xi8>, %s: memref<8xi32>, %t: memref<2xi32>, %b: memref<16xi32>, %y: memref<1x1x56x56x16xi32>) {
    cpu.integer_conv2d %x, %w, %s, %t, %b outs %y {strides = array<i64: 1, 1>, groups = array<i64: 1>, by_magnitude = array<i1: false>, products = 1000 : i64}
      : memref<1x1x56x56x16xi8>, memref<8x16x4xi8>, memref<8xi32>, memref<2xi32>, memref<16xi32>, memref<1x1x56x56x16xi32>
    return
  }

  // CHECK-LABEL: func.func @integer_2(
  // CHECK: tile = #cpu.tile<pixels = 5, blocks = 1, rows = {{[0-9]+}}, groups = {{[0-9]+}}, depth = 1, flatten = false>
  func.func @integer_2(%x: memref<1x1x56x56x16xi8>, %w: memref<8x16x4xi8>, %s: memref<8xi32>, %t: memref<2xi32>, %b: memref<16xi32>, %y: memref<1x1x56x56x16xi32>) {
    cpu.integer_conv2d %x, %w, %s, %t, %b outs %y {strides = array<i64: 1, 1>, groups = array<i64: 2>, by_magnitude = array<i1: false>, products = 1000 : i64}
      : memref<1x1x56x56x16xi8>, memref<8x16x4xi8>, memref<8xi32>, memref<2xi32>, memref<16xi32>, memref<1x1x56x56x16xi32>
    return
  }

  // CHECK-LABEL: func.func @integer_4(
  // CHECK: tile = #cpu.tile<pixels = 4, blocks = 1, rows = {{[0-9]+}}, groups = {{[0-9]+}}, depth = 1, flatten = false>
  func.func @integer_4(%x: memref<1x1x56x56x16xi8>, %w: memref<8x16x4xi8>, %s: memref<8xi32>, %t: memref<2xi32>, %b: memref<16xi32>, %y: memref<1x1x56x56x16xi32>) {
    cpu.integer_conv2d %x, %w, %s, %t, %b outs %y {strides = array<i64: 1, 1>, groups = array<i64: 4>, by_magnitude = array<i1: false>, products = 1000 : i64}
      : memref<1x1x56x56x16xi8>, memref<8x16x4xi8>, memref<8xi32>, memref<2xi32>, memref<16xi32>, memref<1x1x56x56x16xi32>
    return
  }

  // CHECK-LABEL: func.func @integer_runs(
  // CHECK: tile = #cpu.tile<pixels = 5, blocks = 1, rows = {{[0-9]+}}, groups = {{[0-9]+}}, depth = 1, flatten = false>
  func.func @integer_runs(%x: memref<1x1x56x56x16xi8>, %w: memref<8x16x4xi8>, %s: memref<8xi32>, %t: memref<3xi32>, %b: memref<16xi32>, %y: memref<1x1x56x56x16xi32>) {
    cpu.integer_conv2d %x, %w, %s, %t, %b outs %y {strides = array<i64: 1, 1>, groups = array<i64: 2, 1>, by_magnitude = array<i1: false, false>, products = 1000 : i64}
      : memref<1x1x56x56x16xi8>, memref<8x16x4xi8>, memref<8xi32>, memref<3xi32>, memref<16xi32>, memref<1x1x56x56x16xi32>
    return
  }

  // CHECK-LABEL: func.func @integer_runs_4(
  // CHECK: tile = #cpu.tile<pixels = 4, blocks = 1, rows = {{[0-9]+}}, groups = {{[0-9]+}}, depth = 1, flatten = false>
  func.func @integer_runs_4(%x: memref<1x1x56x56x16xi8>, %w: memref<8x16x4xi8>, %s: memref<8xi32>, %t: memref<4xi32>, %b: memref<16xi32>, %y: memref<1x1x56x56x16xi32>) {
    cpu.integer_conv2d %x, %w, %s, %t, %b outs %y {strides = array<i64: 1, 1>, groups = array<i64: 4, 2, 1>, by_magnitude = array<i1: false, false, false>, products = 1000 : i64}
      : memref<1x1x56x56x16xi8>, memref<8x16x4xi8>, memref<8xi32>, memref<4xi32>, memref<16xi32>, memref<1x1x56x56x16xi32>
    return
  }

  // By magnitude, and where any run is, the two take turns.
  // CHECK-LABEL: func.func @integer_magnitude(
  // CHECK: tile = #cpu.tile<pixels = 8, blocks = 1, rows = {{[0-9]+}}, groups = {{[0-9]+}}, depth = 1, flatten = false>
  func.func @integer_magnitude(%x: memref<1x1x56x56x16xi8>, %w: memref<8x16x4xi8>, %s: memref<8xi32>, %t: memref<2xi32>, %b: memref<16xi32>, %y: memref<1x1x56x56x16xi32>) {
    cpu.integer_conv2d %x, %w, %s, %t, %b outs %y {strides = array<i64: 1, 1>, groups = array<i64: 2>, by_magnitude = array<i1: true>, products = 1000 : i64}
      : memref<1x1x56x56x16xi8>, memref<8x16x4xi8>, memref<8xi32>, memref<2xi32>, memref<16xi32>, memref<1x1x56x56x16xi32>
    return
  }

  // CHECK-LABEL: func.func @integer_magnitude_4(
  // CHECK: tile = #cpu.tile<pixels = 6, blocks = 1, rows = {{[0-9]+}}, groups = {{[0-9]+}}, depth = 1, flatten = false>
  func.func @integer_magnitude_4(%x: memref<1x1x56x56x16xi8>, %w: memref<8x16x4xi8>, %s: memref<8xi32>, %t: memref<2xi32>, %b: memref<16xi32>, %y: memref<1x1x56x56x16xi32>) {
    cpu.integer_conv2d %x, %w, %s, %t, %b outs %y {strides = array<i64: 1, 1>, groups = array<i64: 4>, by_magnitude = array<i1: true>, products = 1000 : i64}
      : memref<1x1x56x56x16xi8>, memref<8x16x4xi8>, memref<8xi32>, memref<2xi32>, memref<16xi32>, memref<1x1x56x56x16xi32>
    return
  }

  // CHECK-LABEL: func.func @integer_mixed(
  // CHECK: tile = #cpu.tile<pixels = 8, blocks = 1, rows = {{[0-9]+}}, groups = {{[0-9]+}}, depth = 1, flatten = false>
  func.func @integer_mixed(%x: memref<1x1x56x56x16xi8>, %w: memref<8x16x4xi8>, %s: memref<8xi32>, %t: memref<3xi32>, %b: memref<16xi32>, %y: memref<1x1x56x56x16xi32>) {
    cpu.integer_conv2d %x, %w, %s, %t, %b outs %y {strides = array<i64: 1, 1>, groups = array<i64: 2, 1>, by_magnitude = array<i1: false, true>, products = 1000 : i64}
      : memref<1x1x56x56x16xi8>, memref<8x16x4xi8>, memref<8xi32>, memref<3xi32>, memref<16xi32>, memref<1x1x56x56x16xi32>
    return
  }

  // CHECK-LABEL: func.func @integer_mixed_4(
  // CHECK: tile = #cpu.tile<pixels = 6, blocks = 1, rows = {{[0-9]+}}, groups = {{[0-9]+}}, depth = 1, flatten = false>
  func.func @integer_mixed_4(%x: memref<1x1x56x56x16xi8>, %w: memref<8x16x4xi8>, %s: memref<8xi32>, %t: memref<3xi32>, %b: memref<16xi32>, %y: memref<1x1x56x56x16xi32>) {
    cpu.integer_conv2d %x, %w, %s, %t, %b outs %y {strides = array<i64: 1, 1>, groups = array<i64: 4, 1>, by_magnitude = array<i1: false, true>, products = 1000 : i64}
      : memref<1x1x56x56x16xi8>, memref<8x16x4xi8>, memref<8xi32>, memref<3xi32>, memref<16xi32>, memref<1x1x56x56x16xi32>
    return
  }

  // Not more than a row has.
  // CHECK-LABEL: func.func @integer_narrow(
  // CHECK: tile = #cpu.tile<pixels = 3, blocks = 1, rows = {{[0-9]+}}, groups = {{[0-9]+}}, depth = 1, flatten = false>
  func.func @integer_narrow(%x: memref<1x1x100x3x16xi8>, %w: memref<8x16x4xi8>, %s: memref<8xi32>, %t: memref<2xi32>, %b: memref<16xi32>, %y: memref<1x1x100x3x16xi32>) {
    cpu.integer_conv2d %x, %w, %s, %t, %b outs %y {strides = array<i64: 1, 1>, groups = array<i64: 1>, by_magnitude = array<i1: false>, products = 1000 : i64}
      : memref<1x1x100x3x16xi8>, memref<8x16x4xi8>, memref<8xi32>, memref<2xi32>, memref<16xi32>, memref<1x1x100x3x16xi32>
    return
  }
}

// -----

// Over row ends groups of two steps have eight sums: addresses in several rows need
// registers, too. Where that is not faster rows stay whole.
module attributes {cpu.level = #cpu.level<name = "v3", lanes = 8, registers = 16, fma = true, l1 = 32768, l2 = 524288, dot = "maddubs">} {
  // CHECK-LABEL: func.func @flat_1(
  // CHECK: tile = #cpu.tile<pixels = 5, blocks = 1, rows = {{[0-9]+}}, groups = {{[0-9]+}}, depth = 1, flatten = true>
  func.func @flat_1(%x: memref<1x1x7x7x16xi8>, %w: memref<8x16x4xi8>, %s: memref<8xi32>, %t: memref<2xi32>, %b: memref<16xi32>, %y: memref<1x1x7x7x16xi32>) {
    cpu.integer_conv2d %x, %w, %s, %t, %b outs %y {strides = array<i64: 1, 1>, groups = array<i64: 1>, by_magnitude = array<i1: false>, products = 1000 : i64}
      : memref<1x1x7x7x16xi8>, memref<8x16x4xi8>, memref<8xi32>, memref<2xi32>, memref<16xi32>, memref<1x1x7x7x16xi32>
    return
  }

  // CHECK-LABEL: func.func @flat_2(
  // CHECK: tile = #cpu.tile<pixels = 4, blocks = 1, rows = {{[0-9]+}}, groups = {{[0-9]+}}, depth = 1, flatten = true>
  func.func @flat_2(%x: memref<1x1x6x6x16xi8>, %w: memref<8x16x4xi8>, %s: memref<8xi32>, %t: memref<2xi32>, %b: memref<16xi32>, %y: memref<1x1x6x6x16xi32>) {
    cpu.integer_conv2d %x, %w, %s, %t, %b outs %y {strides = array<i64: 1, 1>, groups = array<i64: 2>, by_magnitude = array<i1: false>, products = 1000 : i64}
      : memref<1x1x6x6x16xi8>, memref<8x16x4xi8>, memref<8xi32>, memref<2xi32>, memref<16xi32>, memref<1x1x6x6x16xi32>
    return
  }

  // CHECK-LABEL: func.func @flat_4(
  // CHECK: tile = #cpu.tile<pixels = 4, blocks = 1, rows = {{[0-9]+}}, groups = {{[0-9]+}}, depth = 1, flatten = true>
  func.func @flat_4(%x: memref<1x1x6x6x16xi8>, %w: memref<8x16x4xi8>, %s: memref<8xi32>, %t: memref<2xi32>, %b: memref<16xi32>, %y: memref<1x1x6x6x16xi32>) {
    cpu.integer_conv2d %x, %w, %s, %t, %b outs %y {strides = array<i64: 1, 1>, groups = array<i64: 4>, by_magnitude = array<i1: false>, products = 1000 : i64}
      : memref<1x1x6x6x16xi8>, memref<8x16x4xi8>, memref<8xi32>, memref<2xi32>, memref<16xi32>, memref<1x1x6x6x16xi32>
    return
  }

  // CHECK-LABEL: func.func @flat_rows(
  // CHECK: tile = #cpu.tile<pixels = 5, blocks = 1, rows = {{[0-9]+}}, groups = {{[0-9]+}}, depth = 1, flatten = false>
  func.func @flat_rows(%x: memref<1x1x7x7x16xi8>, %w: memref<8x16x4xi8>, %s: memref<8xi32>, %t: memref<2xi32>, %b: memref<16xi32>, %y: memref<1x1x7x7x16xi32>) {
    cpu.integer_conv2d %x, %w, %s, %t, %b outs %y {strides = array<i64: 1, 1>, groups = array<i64: 2>, by_magnitude = array<i1: false>, products = 1000 : i64}
      : memref<1x1x7x7x16xi8>, memref<8x16x4xi8>, memref<8xi32>, memref<2xi32>, memref<16xi32>, memref<1x1x7x7x16xi32>
    return
  }

  // CHECK-LABEL: func.func @flat_magnitude(
  // CHECK: tile = #cpu.tile<pixels = 7, blocks = 1, rows = {{[0-9]+}}, groups = {{[0-9]+}}, depth = 1, flatten = false>
  func.func @flat_magnitude(%x: memref<1x1x7x7x16xi8>, %w: memref<8x16x4xi8>, %s: memref<8xi32>, %t: memref<2xi32>, %b: memref<16xi32>, %y: memref<1x1x7x7x16xi32>) {
    cpu.integer_conv2d %x, %w, %s, %t, %b outs %y {strides = array<i64: 1, 1>, groups = array<i64: 1>, by_magnitude = array<i1: true>, products = 1000 : i64}
      : memref<1x1x7x7x16xi8>, memref<8x16x4xi8>, memref<8xi32>, memref<2xi32>, memref<16xi32>, memref<1x1x7x7x16xi32>
    return
  }

  // CHECK-LABEL: func.func @flat_magnitude_5(
  // CHECK: tile = #cpu.tile<pixels = 8, blocks = 1, rows = {{[0-9]+}}, groups = {{[0-9]+}}, depth = 1, flatten = true>
  func.func @flat_magnitude_5(%x: memref<1x1x5x5x16xi8>, %w: memref<8x16x4xi8>, %s: memref<8xi32>, %t: memref<2xi32>, %b: memref<16xi32>, %y: memref<1x1x5x5x16xi32>) {
    cpu.integer_conv2d %x, %w, %s, %t, %b outs %y {strides = array<i64: 1, 1>, groups = array<i64: 1>, by_magnitude = array<i1: true>, products = 1000 : i64}
      : memref<1x1x5x5x16xi8>, memref<8x16x4xi8>, memref<8xi32>, memref<2xi32>, memref<16xi32>, memref<1x1x5x5x16xi32>
    return
  }
}

// -----

// Sixteen sums where there are more registers, of one each.
module attributes {cpu.level = #cpu.level<name = "v4", lanes = 16, registers = 32, fma = true, l1 = 49152, l2 = 2097152, dot = "maddubs">} {
  // CHECK-LABEL: func.func @wide(
  // CHECK: tile = #cpu.tile<pixels = 16, blocks = 1, rows = {{[0-9]+}}, groups = {{[0-9]+}}, depth = 1, flatten = false>
  func.func @wide(%x: memref<1x1x56x56x16xi8>, %w: memref<8x16x4xi8>, %s: memref<8xi32>, %t: memref<2xi32>, %b: memref<16xi32>, %y: memref<1x1x56x56x16xi32>) {
    cpu.integer_conv2d %x, %w, %s, %t, %b outs %y {strides = array<i64: 1, 1>, groups = array<i64: 4>, by_magnitude = array<i1: false>, products = 1000 : i64}
      : memref<1x1x56x56x16xi8>, memref<8x16x4xi8>, memref<8xi32>, memref<2xi32>, memref<16xi32>, memref<1x1x56x56x16xi32>
    return
  }

  // CHECK-LABEL: func.func @wide_magnitude(
  // CHECK: tile = #cpu.tile<pixels = 16, blocks = 1, rows = {{[0-9]+}}, groups = {{[0-9]+}}, depth = 1, flatten = false>
  func.func @wide_magnitude(%x: memref<1x1x56x56x16xi8>, %w: memref<8x16x4xi8>, %s: memref<8xi32>, %t: memref<2xi32>, %b: memref<16xi32>, %y: memref<1x1x56x56x16xi32>) {
    cpu.integer_conv2d %x, %w, %s, %t, %b outs %y {strides = array<i64: 1, 1>, groups = array<i64: 4>, by_magnitude = array<i1: true>, products = 1000 : i64}
      : memref<1x1x56x56x16xi8>, memref<8x16x4xi8>, memref<8xi32>, memref<2xi32>, memref<16xi32>, memref<1x1x56x56x16xi32>
    return
  }
}

// -----

// Eight sums of four lanes, four for a pixel.
module attributes {cpu.level = #cpu.level<name = "v2", lanes = 4, registers = 16, fma = false, l1 = 32768, l2 = 262144, dot = "maddubs">} {
  // CHECK-LABEL: func.func @v2(
  // CHECK: tile = #cpu.tile<pixels = 2, blocks = 1, rows = {{[0-9]+}}, groups = {{[0-9]+}}, depth = 1, flatten = false>
  func.func @v2(%x: memref<1x1x56x56x16xi8>, %w: memref<8x16x4xi8>, %s: memref<8xi32>, %t: memref<2xi32>, %b: memref<16xi32>, %y: memref<1x1x56x56x16xi32>) {
    cpu.integer_conv2d %x, %w, %s, %t, %b outs %y {strides = array<i64: 1, 1>, groups = array<i64: 1>, by_magnitude = array<i1: false>, products = 1000 : i64}
      : memref<1x1x56x56x16xi8>, memref<8x16x4xi8>, memref<8xi32>, memref<2xi32>, memref<16xi32>, memref<1x1x56x56x16xi32>
    return
  }
}

// -----

// Two blocks that share their steps are accumulated together where each load of bytes counts; tasks
// begin at a pair of blocks.
module attributes {cpu.level = #cpu.level<name = "vnni", lanes = 16, registers = 32, fma = true, l1 = 49152, l2 = 1048576, dot = "vnni">} {
  // CHECK-LABEL: func.func @integer_shared(
  // CHECK: tile = #cpu.tile<pixels = 14, blocks = 2, rows = {{[0-9]+}}, groups = 4, depth = 1, flatten = false>
  func.func @integer_shared(%x: memref<1x1x56x56x16xi8>, %w: memref<12x16x4xi8>, %s: memref<4xi32>, %t: memref<4xi32>, %b: memref<48xi32>, %y: memref<1x3x56x56x16xi32>) {
    cpu.integer_conv2d %x, %w, %s, %t, %b outs %y {strides = array<i64: 1, 1>, groups = array<i64: 1>, by_magnitude = array<i1: false>, products = 1000 : i64}
      : memref<1x1x56x56x16xi8>, memref<12x16x4xi8>, memref<4xi32>, memref<4xi32>, memref<48xi32>, memref<1x3x56x56x16xi32>
    return
  }

  // Each block with its own list of steps.
  // CHECK-LABEL: func.func @integer_own(
  // CHECK: tile = #cpu.tile<pixels = 16, blocks = 1
  func.func @integer_own(%x: memref<1x1x56x56x16xi8>, %w: memref<12x16x4xi8>, %s: memref<12xi32>, %t: memref<4xi32>, %b: memref<48xi32>, %y: memref<1x3x56x56x16xi32>) {
    cpu.integer_conv2d %x, %w, %s, %t, %b outs %y {strides = array<i64: 1, 1>, groups = array<i64: 1>, by_magnitude = array<i1: false>, products = 1000 : i64}
      : memref<1x1x56x56x16xi8>, memref<12x16x4xi8>, memref<12xi32>, memref<4xi32>, memref<48xi32>, memref<1x3x56x56x16xi32>
    return
  }
}

// -----

// Rows of seven pixels are one tile: two would read each vector of the filter for three or four pixels only.
// The panel of a 1x1 window may fill a quarter of L2, that of 3x3 half of L1.
module attributes {cpu.level = #cpu.level<name = "v4", lanes = 16, registers = 32, fma = true, l1 = 32768, l2 = 1048576>} {
  // CHECK-LABEL: func.func @seven_pixels
  // CHECK: tile = #cpu.tile<pixels = 7, blocks = 2,
  func.func @seven_pixels(%in: memref<1x32x7x7x16xf32>, %w: memref<128x32x1x1x16x16xf32>, %out: memref<1x128x7x7x16xf32>) {
    cpu.conv2d %in, %w outs %out {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 1, channels = 512}
      : memref<1x32x7x7x16xf32>, memref<128x32x1x1x16x16xf32>, memref<1x128x7x7x16xf32>
    return
  }
  // CHECK-LABEL: func.func @deep_1x1
  // CHECK: depth = 32, flatten
  func.func @deep_1x1(%in: memref<1x32x28x28x16xf32>, %w: memref<8x32x1x1x16x16xf32>, %out: memref<1x8x28x28x16xf32>) {
    cpu.conv2d %in, %w outs %out {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 1, channels = 512}
      : memref<1x32x28x28x16xf32>, memref<8x32x1x1x16x16xf32>, memref<1x8x28x28x16xf32>
    return
  }
  // CHECK-LABEL: func.func @deep_3x3
  // CHECK: depth = 1, flatten
  func.func @deep_3x3(%in: memref<1x32x30x30x16xf32>, %w: memref<8x32x3x3x16x16xf32>, %out: memref<1x8x28x28x16xf32>) {
    cpu.conv2d %in, %w outs %out {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 1, channels = 512}
      : memref<1x32x30x30x16xf32>, memref<8x32x3x3x16x16xf32>, memref<1x8x28x28x16xf32>
    return
  }
}
