// RUN: atc-opt %s --split-input-file --verify-diagnostics

func.func @rank(%x: memref<1x16x8x8xf32>, %w: memref<1x1x1x1x16x16xf32>, %y: memref<1x1x8x8x16xf32>) {
  // expected-error @+1 {{input must have rank 5, but has rank 4}}
  cpu.conv2d %x, %w outs %y {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 1, channels = 16}
    : memref<1x16x8x8xf32>, memref<1x1x1x1x16x16xf32>, memref<1x1x8x8x16xf32>
  return
}

// -----

func.func @window(%x: memref<1x1x8x8x16xf32>, %w: memref<1x1x3x3x16x16xf32>, %y: memref<1x1x8x8x16xf32>) {
  // expected-error @+1 {{reads 10 positions along H, but the input has 8}}
  cpu.conv2d %x, %w outs %y {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 1, channels = 16}
    : memref<1x1x8x8x16xf32>, memref<1x1x3x3x16x16xf32>, memref<1x1x8x8x16xf32>
  return
}

// -----

func.func @batch(%x: memref<2x1x8x8x16xf32>, %w: memref<1x1x1x1x16x16xf32>, %y: memref<1x1x8x8x16xf32>) {
  // expected-error @+1 {{input has batch 2, output 1}}
  cpu.conv2d %x, %w outs %y {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 1, channels = 16}
    : memref<2x1x8x8x16xf32>, memref<1x1x1x1x16x16xf32>, memref<1x1x8x8x16xf32>
  return
}

// -----

func.func @strides(%x: memref<1x1x8x8x16xf32>, %w: memref<1x1x1x1x16x16xf32>, %y: memref<1x1x8x8x16xf32>) {
  // expected-error @+1 {{strides needs 2 numbers, but has 1}}
  cpu.conv2d %x, %w outs %y {strides = array<i64: 1>, dilations = array<i64: 1, 1>, groups = 1, channels = 16}
    : memref<1x1x8x8x16xf32>, memref<1x1x1x1x16x16xf32>, memref<1x1x8x8x16xf32>
  return
}

// -----

func.func @groups(%x: memref<1x2x8x8x16xf32>, %w: memref<2x1x1x1x16x16xf32>, %y: memref<1x2x8x8x16xf32>) {
  // expected-error @+1 {{groups = 3 must divide the 2 channel blocks of the input and the 2 of the output}}
  cpu.conv2d %x, %w outs %y {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 3, channels = 16}
    : memref<1x2x8x8x16xf32>, memref<2x1x1x1x16x16xf32>, memref<1x2x8x8x16xf32>
  return
}

// -----

func.func @filter_out(%x: memref<1x1x8x8x16xf32>, %w: memref<2x1x1x1x16x16xf32>, %y: memref<1x1x8x8x16xf32>) {
  // expected-error @+1 {{filter makes 2 blocks of 16 channels, but the output has 1 of 16}}
  cpu.conv2d %x, %w outs %y {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 1, channels = 16}
    : memref<1x1x8x8x16xf32>, memref<2x1x1x1x16x16xf32>, memref<1x1x8x8x16xf32>
  return
}

// -----

func.func @filter_in(%x: memref<1x1x8x8x3xf32>, %w: memref<1x1x1x1x16x16xf32>, %y: memref<1x1x8x8x16xf32>) {
  // expected-error @+1 {{filter reads 1 blocks of 16 channels, but the input has 1 of 3 in a group}}
  cpu.conv2d %x, %w outs %y {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 1, channels = 3}
    : memref<1x1x8x8x3xf32>, memref<1x1x1x1x16x16xf32>, memref<1x1x8x8x16xf32>
  return
}

// -----

func.func @image(%x: memref<1x1x8x8x16xf32>, %w: memref<1x1x1x1x16x16xf32>, %y: memref<1x1x8x8x16xf32>) {
  // expected-error @+1 {{image = [1, 0, 8, 8] must be top, left, height and width of a part of the 8x8 positions of the input}}
  cpu.conv2d %x, %w outs %y {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 1, channels = 16, image = array<i64: 1, 0, 8, 8>}
    : memref<1x1x8x8x16xf32>, memref<1x1x1x1x16x16xf32>, memref<1x1x8x8x16xf32>
  return
}

// -----

func.func @channels(%x: memref<1x1x8x8x16xf32>, %w: memref<1x1x1x1x16x16xf32>, %y: memref<1x1x8x8x16xf32>) {
  // expected-error @+1 {{channels = 17 must lie in 1..16}}
  cpu.conv2d %x, %w outs %y {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 1, channels = 17}
    : memref<1x1x8x8x16xf32>, memref<1x1x1x1x16x16xf32>, memref<1x1x8x8x16xf32>
  return
}

// -----

func.func @bias(%x: memref<1x1x8x8x16xf32>, %w: memref<1x1x1x1x16x16xf32>, %b: memref<8xf32>, %y: memref<1x1x8x8x16xf32>) {
  // expected-error @+1 {{bias must be memref<16x..>, but is 'memref<8xf32>'}}
  cpu.conv2d %x, %w bias %b outs %y {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 1, channels = 16}
    : memref<1x1x8x8x16xf32>, memref<1x1x1x1x16x16xf32>, memref<8xf32>, memref<1x1x8x8x16xf32>
  return
}

// -----

func.func @residual(%x: memref<1x1x8x8x16xf32>, %w: memref<1x1x1x1x16x16xf32>, %r: memref<1x1x4x4x16xf32>, %y: memref<1x1x8x8x16xf32>) {
  // expected-error @+1 {{residual and output must have the same shape}}
  cpu.conv2d %x, %w residual %r outs %y {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 1, channels = 16}
    : memref<1x1x8x8x16xf32>, memref<1x1x1x1x16x16xf32>, memref<1x1x4x4x16xf32>, memref<1x1x8x8x16xf32>
  return
}

// -----

func.func @slope(%x: memref<1x1x8x8x16xf32>, %w: memref<1x1x1x1x16x16xf32>, %y: memref<1x1x8x8x16xf32>) {
  // expected-error @+1 {{a slope and a prelu activation come together}}
  cpu.conv2d %x, %w outs %y {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 1, channels = 16, activation = #graph.activation<prelu>}
    : memref<1x1x8x8x16xf32>, memref<1x1x1x1x16x16xf32>, memref<1x1x8x8x16xf32>
  return
}

// -----

func.func @depthwise(%x: memref<1x2x8x8x16xf32>, %w: memref<1x3x3x16xf32>, %y: memref<1x2x6x6x16xf32>) {
  // expected-error @+1 {{input, filter and output must have the same channel blocks, but have 2 x 16, 1 x 16 and 2 x 16}}
  cpu.depthwise_conv2d %x, %w outs %y {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>}
    : memref<1x2x8x8x16xf32>, memref<1x3x3x16xf32>, memref<1x2x6x6x16xf32>
  return
}
