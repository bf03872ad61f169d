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

func.func @f(%x: memref<1x1x6x6x16xf32>, %w: memref<1x36x16x4xi8>, %s: memref<1x36xi32>, %b: memref<16xi32>, %y: memref<1x1x4x4x16xi32>) {
  // expected-error @+1 {{input must be bytes, but is 'memref<1x1x6x6x16xf32>'}}
  cpu.integer_conv2d %x, %w, %s, %b outs %y {strides = array<i64: 1, 1>, group = 1 : i64, products = 1 : i64} : memref<1x1x6x6x16xf32>, memref<1x36x16x4xi8>, memref<1x36xi32>, memref<16xi32>, memref<1x1x4x4x16xi32>
  return
}

// -----

func.func @f(%x: memref<1x1x6x6x16xi8>, %w: memref<1x36x16x4xi8>, %s: memref<1x35xi32>, %b: memref<16xi32>, %y: memref<1x1x4x4x16xi32>) {
  // expected-error @+1 {{filter must be bytes in fours with one step of i32 for each}}
  cpu.integer_conv2d %x, %w, %s, %b outs %y {strides = array<i64: 1, 1>, group = 1 : i64, products = 1 : i64} : memref<1x1x6x6x16xi8>, memref<1x36x16x4xi8>, memref<1x35xi32>, memref<16xi32>, memref<1x1x4x4x16xi32>
  return
}

// -----

func.func @f(%x: memref<1x1x6x6x16xi8>, %w: memref<1x36x16x4xi8>, %s: memref<1x36xi32>, %b: memref<16xi32>, %y: memref<1x1x4x4x16xi32>) {
  // expected-error @+1 {{group 5 does not divide the 36 steps}}
  cpu.integer_conv2d %x, %w, %s, %b outs %y {strides = array<i64: 1, 1>, group = 5 : i64, products = 1 : i64} : memref<1x1x6x6x16xi8>, memref<1x36x16x4xi8>, memref<1x36xi32>, memref<16xi32>, memref<1x1x4x4x16xi32>
  return
}

// -----

func.func @f(%x: memref<1x1x6x6x16xi8>, %w: memref<2x36x16x4xi8>, %s: memref<2x36xi32>, %b: memref<32xi32>, %y: memref<1x1x4x4x16xi32>) {
  // expected-error @+1 {{filter makes 2 blocks of 16 channels, but the output is}}
  cpu.integer_conv2d %x, %w, %s, %b outs %y {strides = array<i64: 1, 1>, group = 1 : i64, products = 1 : i64} : memref<1x1x6x6x16xi8>, memref<2x36x16x4xi8>, memref<2x36xi32>, memref<32xi32>, memref<1x1x4x4x16xi32>
  return
}

// -----

func.func @f(%x: memref<1x1x6x6x16xi8>, %w: memref<1x36x16x4xi8>, %s: memref<1x36xi32>, %b: memref<16xi32>, %v: memref<3xf32>, %y: memref<1x1x4x4x16xi32>) {
  // expected-error @+1 {{input 'memref<3xf32>' neither is like the output nor a vector of its channels}}
  cpu.integer_conv2d %x, %w, %s, %b inputs %v outs %y {strides = array<i64: 1, 1>, group = 1 : i64, products = 1 : i64} : memref<1x1x6x6x16xi8>, memref<1x36x16x4xi8>, memref<1x36xi32>, memref<16xi32>, memref<3xf32>, memref<1x1x4x4x16xi32>
  return
}

// -----

func.func @f(%x: memref<1x1x6x6x16xi8>, %w: memref<1x3x3x16xi8>, %b: memref<16xi32>, %y: memref<1x1x4x4x16xi32>) {
  // expected-error @+1 {{filter must be i16, but is}}
  cpu.integer_depthwise %x, %w, %b outs %y {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>} : memref<1x1x6x6x16xi8>, memref<1x3x3x16xi8>, memref<16xi32>, memref<1x1x4x4x16xi32>
  return
}

// -----

func.func @f(%x: memref<1x1x6x6x16xi8>, %w: memref<1x3x3x16xi16>, %b: memref<16xf32>, %y: memref<1x1x4x4x16xi32>) {
  // expected-error @+1 {{bias must be 16 i32, but is 'memref<16xf32>'}}
  cpu.integer_depthwise %x, %w, %b outs %y {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>} : memref<1x1x6x6x16xi8>, memref<1x3x3x16xi16>, memref<16xf32>, memref<1x1x4x4x16xi32>
  return
}

// -----

func.func @f(%x: memref<1x1x6x6x16xi8>, %w: memref<1x3x3x16xi16>, %b: memref<16xi32>, %y: memref<1x1x4x4x16xf32>) {
  // expected-error @+1 {{writes 'i32', but the output is}}
  cpu.integer_depthwise %x, %w, %b outs %y {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>} : memref<1x1x6x6x16xi8>, memref<1x3x3x16xi16>, memref<16xi32>, memref<1x1x4x4x16xf32>
  return
}

// -----

func.func @f(%x: memref<1x2x6x6x8xi8>, %t: memref<1x16x4x16xi16>) {
  // expected-error @+1 {{input must have 3x3 pixels of 16 channels at least}}
  cpu.winograd_input %x outs %t : memref<1x2x6x6x8xi8>, memref<1x16x4x16xi16>
  return
}

// -----

func.func @f(%x: memref<1x2x7x6x16xi8>, %t: memref<1x16x4x32xi16>) {
  // expected-error @+1 {{output must be 'memref<1x16x6x32xi16>', but is 'memref<1x16x4x32xi16>'}}
  cpu.winograd_input %x outs %t : memref<1x2x7x6x16xi8>, memref<1x16x4x32xi16>
  return
}

// -----

func.func @f(%t: memref<1x16x4x32xi16>, %w: memref<1x16x16x16x2xi16>, %b: memref<16xi32>, %y: memref<1x1x5x4x16xi32>) {
  // expected-error @+1 {{input must be i16 for 16 places of the 6 tiles of the output}}
  cpu.winograd_conv2d %t, %w, %b outs %y : memref<1x16x4x32xi16>, memref<1x16x16x16x2xi16>, memref<16xi32>, memref<1x1x5x4x16xi32>
  return
}

// -----

func.func @f(%t: memref<1x16x4x32xi16>, %w: memref<1x16x8x16x2xi16>, %b: memref<16xi32>, %y: memref<1x1x4x4x16xi32>) {
  // expected-error @+1 {{filter must be i16 for 16 places of 32 channels in pairs}}
  cpu.winograd_conv2d %t, %w, %b outs %y : memref<1x16x4x32xi16>, memref<1x16x8x16x2xi16>, memref<16xi32>, memref<1x1x4x4x16xi32>
  return
}
