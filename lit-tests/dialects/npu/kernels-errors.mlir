// RUN: atc-opt %s -split-input-file -verify-diagnostics

func.func @groups(%x: memref<1x3x4x4x16xf16>, %w: memref<2x9x1x16x16xf16>, %y: memref<1x2x4x4x16xf16>) {
  // expected-error @+1 {{block_groups = 2 must divide the blocks of input and output channels}}
  npu.conv2d %x, %w outs %y {kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>,
    pads = array<i64: 1, 1, 1, 1>, macs = 1, block_groups = 2} : memref<1x3x4x4x16xf16>, memref<2x9x1x16x16xf16>, memref<1x2x4x4x16xf16>
  return
}

// -----

func.func @yuv_gaps(%p: memref<1x1x13x8xui8>, %v: memref<1x3x1x16x16xf16>, %o: memref<1x1x8x8x16xf16>) {
  // expected-error @+1 {{has yuv, whose input must be [N][1][H * 3/2][W] without gaps}}
  npu.conv2d %p, %v outs %o {kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>,
    pads = array<i64: 1, 1, 1, 1>, macs = 1, image, pixels = #npu.pixels<means = [0.0, 0.0, 0.0], factors = [1.0, 1.0, 1.0],
    yuv = <crop = [0, 0, 8, 8], matrix = [1, 0, 0, 1, 0, 0, 1, 0, 0], bias = [0, 0, 0]>>}
    : memref<1x1x13x8xui8>, memref<1x3x1x16x16xf16>, memref<1x1x8x8x16xf16>
  return
}

// -----

func.func @yuv_matrix(%p: memref<1x1x12x8xui8>, %v: memref<1x3x1x16x16xf16>, %o: memref<1x1x8x8x16xf16>) {
  // expected-error @+1 {{has yuv of 6 factors and 3 biases for 3 channels}}
  npu.conv2d %p, %v outs %o {kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>,
    pads = array<i64: 1, 1, 1, 1>, macs = 1, image, pixels = #npu.pixels<means = [0.0, 0.0, 0.0], factors = [1.0, 1.0, 1.0],
    yuv = <crop = [0, 0, 8, 8], matrix = [1, 0, 0, 1, 0, 0], bias = [0, 0, 0]>>}
    : memref<1x1x12x8xui8>, memref<1x3x1x16x16xf16>, memref<1x1x8x8x16xf16>
  return
}

// -----

func.func @yuv_crop(%p: memref<1x1x12x8xui8>, %v: memref<1x3x1x16x16xf16>, %o: memref<1x1x8x8x16xf16>) {
  // expected-error @+1 {{has yuv with the crop [2, 0, 8, 8] of 8 x 8 pixels}}
  npu.conv2d %p, %v outs %o {kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>,
    pads = array<i64: 1, 1, 1, 1>, macs = 1, image, pixels = #npu.pixels<means = [0.0, 0.0, 0.0], factors = [1.0, 1.0, 1.0],
    yuv = <crop = [2, 0, 8, 8], matrix = [1, 0, 0, 1, 0, 0, 1, 0, 0], bias = [0, 0, 0]>>}
    : memref<1x1x12x8xui8>, memref<1x3x1x16x16xf16>, memref<1x1x8x8x16xf16>
  return
}

// -----

func.func @pixels_of_floats(%p: memref<1x3x8x8xf32>, %v: memref<1x3x1x16x16xf16>, %o: memref<1x1x8x8x16xf16>) {
  // expected-error @+1 {{has pixels, which are those of an image of ui8 without scales}}
  npu.conv2d %p, %v outs %o {kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>,
    pads = array<i64: 1, 1, 1, 1>, macs = 1, image, pixels = #npu.pixels<means = [0.0, 0.0, 0.0], factors = [1.0, 1.0, 1.0]>}
    : memref<1x3x8x8xf32>, memref<1x3x1x16x16xf16>, memref<1x1x8x8x16xf16>
  return
}

// -----

func.func @pixels_of_other_channels(%p: memref<1x3x8x8xui8>, %v: memref<1x3x1x16x16xf16>, %o: memref<1x1x8x8x16xf16>) {
  // expected-error @+1 {{has pixels of 2 means and 3 factors for 3 channels}}
  npu.conv2d %p, %v outs %o {kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>,
    pads = array<i64: 1, 1, 1, 1>, macs = 1, image, pixels = #npu.pixels<means = [0.0, 0.0], factors = [1.0, 1.0, 1.0]>}
    : memref<1x3x8x8xui8>, memref<1x3x1x16x16xf16>, memref<1x1x8x8x16xf16>
  return
}

// -----

func.func @pixels_without_factor(%p: memref<1x3x8x8xui8>, %v: memref<1x3x1x16x16xf16>, %o: memref<1x1x8x8x16xf16>) {
  // expected-error @+1 {{has pixels with a factor of 0}}
  npu.conv2d %p, %v outs %o {kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>,
    pads = array<i64: 1, 1, 1, 1>, macs = 1, image, pixels = #npu.pixels<means = [0.0, 0.0, 0.0], factors = [1.0, 0.0, 1.0]>}
    : memref<1x3x8x8xui8>, memref<1x3x1x16x16xf16>, memref<1x1x8x8x16xf16>
  return
}

// -----

func.func @filter(%x: memref<1x1x4x4x16xf16>, %w: memref<1x8x1x16x16xf16>, %y: memref<1x1x4x4x16xf16>) {
  // expected-error @+1 {{filter must have shape 1x9x1x16x16, but is 'memref<1x8x1x16x16xf16>'}}
  npu.conv2d %x, %w outs %y {kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>,
    pads = array<i64: 1, 1, 1, 1>, macs = 1} : memref<1x1x4x4x16xf16>, memref<1x8x1x16x16xf16>, memref<1x1x4x4x16xf16>
  return
}

// -----

func.func @positions(%x: memref<1x1x4x4x16xf16>, %w: memref<1x9x1x16x16xf16>, %y: memref<1x1x4x4x16xf16>) {
  // expected-error @+1 {{gives 2 positions along H, but the output has 4}}
  npu.conv2d %x, %w outs %y {kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>,
    pads = array<i64: 0, 1, 0, 1>, macs = 1} : memref<1x1x4x4x16xf16>, memref<1x9x1x16x16xf16>, memref<1x1x4x4x16xf16>
  return
}

// -----

func.func @image(%x: memref<1x5x4x4xf32>, %w: memref<1x3x1x16x16xf16>, %y: memref<1x1x4x4x16xf16>) {
  // expected-error @+1 {{an image has at most 4 channels and one group}}
  npu.conv2d %x, %w outs %y {kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>,
    pads = array<i64: 1, 1, 1, 1>, macs = 1, image} : memref<1x5x4x4xf32>, memref<1x3x1x16x16xf16>, memref<1x1x4x4x16xf16>
  return
}

// -----

func.func @bias(%x: memref<1x1x4x4x16xf16>, %w: memref<1x1x1x16x16xf16>, %b: memref<16xf16>, %y: memref<1x1x4x4x16xf16>) {
  // expected-error @+1 {{bias must be 'memref<16xf32>', but is 'memref<16xf16>'}}
  npu.conv2d %x, %w bias %b outs %y {kernel = array<i64: 1, 1>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>,
    pads = array<i64: 0, 0, 0, 0>, macs = 1} : memref<1x1x4x4x16xf16>, memref<1x1x1x16x16xf16>, memref<16xf16>, memref<1x1x4x4x16xf16>
  return
}

// -----

func.func @slope(%x: memref<1x1x4x4x16xf16>, %w: memref<1x1x1x16x16xf16>, %y: memref<1x1x4x4x16xf16>) {
  // expected-error @+1 {{a slope and a prelu activation come together}}
  npu.conv2d %x, %w outs %y {kernel = array<i64: 1, 1>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>,
    pads = array<i64: 0, 0, 0, 0>, macs = 1, activation = #graph.activation<prelu>} : memref<1x1x4x4x16xf16>, memref<1x1x1x16x16xf16>, memref<1x1x4x4x16xf16>
  return
}

// -----

func.func @steps(%x: memref<1x1x4x4x16xf16>, %w: memref<1x1x1x16x16xf16>, %y: memref<1x1x4x4x16xf16>) {
  // expected-error @+1 {{kernel, strides and dilations must be at least 1}}
  npu.conv2d %x, %w outs %y {kernel = array<i64: 1, 1>, strides = array<i64: 1, 0>, dilations = array<i64: 1, 1>,
    pads = array<i64: 0, 0, 0, 0>, macs = 1} : memref<1x1x4x4x16xf16>, memref<1x1x1x16x16xf16>, memref<1x1x4x4x16xf16>
  return
}

// -----

func.func @rows(%a: memref<1x1x8x16xf16>, %w: memref<1x1x16x16xf16>, %y: memref<1x1x9x16xf16>) {
  // expected-error @+1 {{lhs and output must have the same products and rows}}
  npu.matmul %a, %w outs %y {packed} : memref<1x1x8x16xf16>, memref<1x1x16x16xf16>, memref<1x1x9x16xf16>
  return
}

// -----

func.func @packed(%a: memref<1x1x8x40xf16>, %w: memref<2x1x16x16xf16>, %y: memref<1x1x8x16xf16>) {
  // expected-error @+1 {{rhs must have shape 3x1x16x16}}
  npu.matmul %a, %w outs %y {packed} : memref<1x1x8x40xf16>, memref<2x1x16x16xf16>, memref<1x1x8x16xf16>
  return
}

// -----

func.func @transposed_weights(%a: memref<1x1x8x16xf16>, %w: memref<1x1x16x16xf16>, %y: memref<1x1x8x16xf16>) {
  // expected-error @+1 {{packed weights have no transpose}}
  npu.matmul %a, %w outs %y {packed, transpose_rhs} : memref<1x1x8x16xf16>, memref<1x1x16x16xf16>, memref<1x1x8x16xf16>
  return
}

// -----

func.func @products(%a: memref<4x1x8x16xf16>, %w: memref<2x1x16x16xf16>, %y: memref<4x1x8x16xf16>) {
  // expected-error @+1 {{rhs must have the output's products or one}}
  npu.matmul %a, %w outs %y : memref<4x1x8x16xf16>, memref<2x1x16x16xf16>, memref<4x1x8x16xf16>
  return
}

// -----

func.func @depth(%a: memref<1x1x8x16xf16>, %w: memref<1x1x24x16xf16>, %y: memref<1x1x8x16xf16>) {
  // expected-error @+1 {{sums over 16 for 16 columns}}
  npu.matmul %a, %w outs %y : memref<1x1x8x16xf16>, memref<1x1x24x16xf16>, memref<1x1x8x16xf16>
  return
}

// -----

func.func @gamma(%x: memref<4x24xf16>, %g: memref<20xf32>) {
  // expected-error @+1 {{gamma must be 'memref<24xf32>'}}
  npu.layer_norm %x gamma %g outs %x {epsilon = 1.0e-5} : memref<4x24xf16>, memref<20xf32>, memref<4x24xf16>
  return
}

// -----

func.func @image_scale(%x: memref<1x3x4x4xi8>, %w: memref<1x1x2x16x16xf16>, %s: memref<32xf32>, %y: memref<1x1x4x4x32xi8>) {
  // expected-error @+1 {{image_scale makes bytes of an image of f32}}
  npu.conv2d %x, %w scales %s outs %y {kernel = array<i64: 1, 1>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>,
    pads = array<i64: 0, 0, 0, 0>, macs = 1, image, stored = ui8, unsigned_input, image_scale = 0.5} : memref<1x3x4x4xi8>, memref<1x1x2x16x16xf16>, memref<32xf32>, memref<1x1x4x4x32xi8>
  return
}

// -----

func.func @blocks(%x: memref<1x1x4x4x32xf16>, %w: memref<1x1x1x16x16xf16>, %y: memref<1x1x4x4x16xf16>) {
  // expected-error @+1 {{channels must stand in blocks of 16}}
  npu.conv2d %x, %w outs %y {kernel = array<i64: 1, 1>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>,
    pads = array<i64: 0, 0, 0, 0>, macs = 1} : memref<1x1x4x4x32xf16>, memref<1x1x1x16x16xf16>, memref<1x1x4x4x16xf16>
  return
}

// -----

func.func @prelu(%a: memref<1x1x4x16xf16>, %b: memref<1x1x16x16xf16>, %c: memref<1x1x4x16xf16>) {
  // expected-error @+1 {{prelu is for convolutions}}
  npu.matmul %a, %b outs %c {macs = 1, activation = #graph.activation<prelu>} : memref<1x1x4x16xf16>, memref<1x1x16x16xf16>, memref<1x1x4x16xf16>
  return
}

// -----

func.func @stored(%x: memref<1x1x4x4x16xf16>, %w: memref<1x1x1x16x16xf16>, %y: memref<1x1x4x4x16xf16>) {
  // expected-error @+1 {{scales and a stored type come together}}
  npu.conv2d %x, %w outs %y {kernel = array<i64: 1, 1>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>,
    pads = array<i64: 0, 0, 0, 0>, macs = 1, stored = ui8} : memref<1x1x4x4x16xf16>, memref<1x1x1x16x16xf16>, memref<1x1x4x4x16xf16>
  return
}

// -----

func.func @activation_of_bytes(%x: memref<1x1x4x4x32xi8>, %w: memref<1x1x2x16x32xi8>, %s: memref<32xf32>, %y: memref<1x1x4x4x32xi8>) {
  // expected-error @+1 {{of bytes has no activation, and joins a residual in its body}}
  npu.conv2d %x, %w scales %s outs %y {kernel = array<i64: 1, 1>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>,
    pads = array<i64: 0, 0, 0, 0>, macs = 1, stored = ui8, activation = #graph.activation<relu>} : memref<1x1x4x4x32xi8>, memref<1x1x2x16x32xi8>, memref<32xf32>, memref<1x1x4x4x32xi8>
  return
}

// -----

func.func @activation_and_body(%x: memref<1x1x4x4x16xf16>, %w: memref<1x1x1x16x16xf16>, %y: memref<1x1x4x4x16xf16>) {
  // expected-error @+1 {{has a body, which only a relu without the residual can come before}}
  npu.conv2d %x, %w outs %y {kernel = array<i64: 1, 1>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>,
    pads = array<i64: 0, 0, 0, 0>, macs = 1, activation = #graph.activation<sigmoid>} : memref<1x1x4x4x16xf16>, memref<1x1x1x16x16xf16>, memref<1x1x4x4x16xf16> {
  ^bb0(%sum: f32):
    kernel.yield %sum : f32
  }
  return
}

// -----

func.func @identity_type(%x: memref<1x1x4x4x16xf16>, %w: memref<1x1x1x16x16xf16>, %i: memref<16x16xf32>, %y: memref<1x1x4x4x16xf16>) {
  // expected-error @+1 {{has an identity of 'memref<16x16xf32>'; it must be 16x16xf16}}
  npu.conv2d %x, %w residual %x identity %i outs %y {kernel = array<i64: 1, 1>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>,
    pads = array<i64: 0, 0, 0, 0>, macs = 1} : memref<1x1x4x4x16xf16>, memref<1x1x1x16x16xf16>, memref<1x1x4x4x16xf16>, memref<16x16xf32>, memref<1x1x4x4x16xf16>
  return
}

// -----

func.func @identity_alone(%x: memref<1x1x4x4x16xf16>, %w: memref<1x1x1x16x16xf16>, %i: memref<16x16xf16>, %y: memref<1x1x4x4x16xf16>) {
  // expected-error @+1 {{has an identity, which adds a residual of f16 before the activation}}
  npu.conv2d %x, %w identity %i outs %y {kernel = array<i64: 1, 1>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>,
    pads = array<i64: 0, 0, 0, 0>, macs = 1} : memref<1x1x4x4x16xf16>, memref<1x1x1x16x16xf16>, memref<16x16xf16>, memref<1x1x4x4x16xf16>
  return
}

// -----

func.func @identity_behind_activation(%x: memref<1x1x4x4x16xf16>, %w: memref<1x1x1x16x16xf16>, %i: memref<16x16xf16>, %y: memref<1x1x4x4x16xf16>) {
  // expected-error @+1 {{has an identity, which adds a residual of f16 before the activation}}
  npu.conv2d %x, %w residual %x identity %i outs %y {kernel = array<i64: 1, 1>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>,
    pads = array<i64: 0, 0, 0, 0>, macs = 1, activation = #graph.activation<relu>, residual_last} : memref<1x1x4x4x16xf16>, memref<1x1x1x16x16xf16>, memref<1x1x4x4x16xf16>, memref<16x16xf16>, memref<1x1x4x4x16xf16>
  return
}
