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

// -----

func.func @matmul(%a: memref<1x4x8xf32>, %b: memref<1x7x16xf32>, %c: memref<1x4x16xf32>) {
  // expected-error @+1 {{shapes do not fit}}
  cpu.matmul %a, %b outs %c : memref<1x4x8xf32>, memref<1x7x16xf32>, memref<1x4x16xf32>
  return
}

// -----

func.func @matmul_batch(%a: memref<2x4x8xf32>, %b: memref<3x8x16xf32>, %c: memref<2x4x16xf32>) {
  // expected-error @+1 {{batch 3 neither is 1 nor the output's 2}}
  cpu.matmul %a, %b outs %c : memref<2x4x8xf32>, memref<3x8x16xf32>, memref<2x4x16xf32>
  return
}

// -----

func.func @matmul_bias(%a: memref<1x4x8xf32>, %b: memref<1x8x16xf32>, %bias: memref<16xf32>, %c: memref<1x4x16xf32>) {
  // expected-error @+1 {{takes a bias with packed weights only}}
  cpu.matmul %a, %b bias %bias outs %c : memref<1x4x8xf32>, memref<1x8x16xf32>, memref<16xf32>, memref<1x4x16xf32>
  return
}

// -----

func.func @pool(%x: memref<1x2x8x8x16xf32>, %y: memref<1x1x4x4x16xf32>) {
  // expected-error @+1 {{input and output must differ in H and W only}}
  cpu.pool %x, %y {kind = #cpu<pool_kind max>, kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>}
    : memref<1x2x8x8x16xf32>, memref<1x1x4x4x16xf32>
  return
}

// -----

func.func @map_count(%x: memref<4xf32>, %y: memref<4xf32>) {
  // expected-error @+1 {{the body takes 2 elements, but there are 1 inputs}}
  cpu.map %x outs %y : memref<4xf32>, memref<4xf32> {
  ^bb0(%a: f32, %b: f32):
    cpu.yield %a : f32
  }
  return
}

// -----

func.func @map_broadcast(%x: memref<3xf32>, %y: memref<4xf32>) {
  // expected-error @+1 {{does not broadcast to}}
  cpu.map %x outs %y : memref<3xf32>, memref<4xf32> {
  ^bb0(%a: f32):
    cpu.yield %a : f32
  }
  return
}

// -----

func.func @map_type(%x: memref<4xf32>, %y: memref<4xi32>) {
  // expected-error @+1 {{the body must yield 'i32'}}
  cpu.map %x outs %y : memref<4xf32>, memref<4xi32> {
  ^bb0(%a: f32):
    cpu.yield %a : f32
  }
  return
}

// -----

func.func @reduce(%x: memref<4x8xf32>, %y: memref<4x8xf32>) {
  // expected-error @+1 {{output dim 1 must be 1, but is 8}}
  cpu.reduce %x, %y {kind = #graph<reduce_kind sum>, axes = array<i64: 1>} : memref<4x8xf32>, memref<4x8xf32>
  return
}

// -----

func.func @softmax(%x: memref<4x8xf32>, %y: memref<4x8xf32>) {
  // expected-error @+1 {{axis 2 is not a dim of}}
  cpu.softmax %x, %y {axis = 2} : memref<4x8xf32>, memref<4x8xf32>
  return
}

// -----

func.func @copy(%x: memref<4x8xf32>, %y: memref<8x4xf32>) {
  // expected-error @+1 {{input and output must have the same shape}}
  cpu.copy %x, %y : memref<4x8xf32>, memref<8x4xf32>
  return
}

// -----

func.func @pack(%x: memref<1x20x4x4xf32>, %y: memref<1x1x4x4x16xf32>) {
  // expected-error @+1 {{is not the blocked form of}}
  cpu.pack %x, %y : memref<1x20x4x4xf32>, memref<1x1x4x4x16xf32>
  return
}

// -----

func.func @fill_border(%y: memref<1x1x4x4x16xf32>) {
  // expected-error @+1 {{border is larger than the buffer}}
  cpu.fill %y {value = 0.0, border = array<i64: 3, 0, 3, 0>} : memref<1x1x4x4x16xf32>
  return
}

// -----

func.func @pad(%x: memref<4xf32>, %y: memref<6xf32>) {
  // expected-error @+1 {{constant padding is cpu.fill and cpu.copy}}
  cpu.pad %x, %y {low = array<i64: 1>, mode = #graph<pad_mode constant>} : memref<4xf32>, memref<6xf32>
  return
}

// -----

func.func @gather(%x: memref<1x4x8xf32>, %i: memref<2xi64>, %y: memref<1x3x8xf32>) {
  // expected-error @+1 {{output must be 1 x 2 x 8}}
  cpu.gather %x, %i, %y : memref<1x4x8xf32>, memref<2xi64>, memref<1x3x8xf32>
  return
}
