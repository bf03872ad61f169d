// RUN: atc-opt %s --split-input-file --verify-diagnostics

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

func.func @f(%x: memref<1x1x6x6x16xi8>, %w: memref<36x16x4xi8>, %s: memref<36xi32>, %t: memref<2xi32>, %b: memref<16xi32>, %y: memref<1x1x4x4x16xi32>) {
  // expected-error @+1 {{adjacent bytes need one list of single steps, a multiple of 1 to 16 of them, but 16 of 'memref<36xi32>' are adjacent}}
  cpu.integer_conv2d %x, %w, %s, %t, %b outs %y {strides = array<i64: 1, 1>, groups = array<i64: 1>, by_magnitude = array<i1: false>, products = 1 : i64, adjacent = 16 : i64} : memref<1x1x6x6x16xi8>, memref<36x16x4xi8>, memref<36xi32>, memref<2xi32>, memref<16xi32>, memref<1x1x4x4x16xi32>
  return
}

// -----

func.func @f(%x: memref<1x1x6x6x16xi8>, %w: memref<36x16x4xi8>, %s: memref<36xi32>, %t: memref<2xi32>, %b: memref<16xi32>, %y: memref<1x1x4x4x16xi32>) {
  // expected-error @+1 {{bias must be 2 x 16 i32, but is 'memref<16xi32>'}}
  cpu.integer_conv2d %x, %w, %s, %t, %b outs %y {strides = array<i64: 1, 1>, groups = array<i64: 1>, by_magnitude = array<i1: false>, signed_input, products = 1 : i64, adjacent = 12 : i64} : memref<1x1x6x6x16xi8>, memref<36x16x4xi8>, memref<36xi32>, memref<2xi32>, memref<16xi32>, memref<1x1x4x4x16xi32>
  return
}

// -----

func.func @f(%x: memref<1x6x6x16xi8>, %w: memref<36x16x4xi8>, %s: memref<36xi32>, %t: memref<2xi32>, %b: memref<16xi32>, %y: memref<1x1x4x4x16xi32>) {
  // expected-error @+1 {{input must have rank 5, but has rank 4}}
  cpu.integer_conv2d %x, %w, %s, %t, %b outs %y {strides = array<i64: 1, 1>, groups = array<i64: 1>, by_magnitude = array<i1: false>, products = 1 : i64} : memref<1x6x6x16xi8>, memref<36x16x4xi8>, memref<36xi32>, memref<2xi32>, memref<16xi32>, memref<1x1x4x4x16xi32>
  return
}

// -----

func.func @f(%x: memref<1x1x6x6x16xf32>, %w: memref<36x16x4xi8>, %s: memref<36xi32>, %t: memref<2xi32>, %b: memref<16xi32>, %y: memref<1x1x4x4x16xi32>) {
  // expected-error @+1 {{input must be bytes, but is 'memref<1x1x6x6x16xf32>'}}
  cpu.integer_conv2d %x, %w, %s, %t, %b outs %y {strides = array<i64: 1, 1>, groups = array<i64: 1>, by_magnitude = array<i1: false>, products = 1 : i64} : memref<1x1x6x6x16xf32>, memref<36x16x4xi8>, memref<36xi32>, memref<2xi32>, memref<16xi32>, memref<1x1x4x4x16xi32>
  return
}

// -----

func.func @f(%x: memref<1x1x6x6x16xi8>, %w: memref<36x16x4xi8>, %s: memref<36xi32>, %t: memref<2xi32>, %b: memref<16xi32>, %y: memref<1x1x4x4x16xi32>) {
  // expected-error @+1 {{strides needs 2 numbers, but has 1}}
  cpu.integer_conv2d %x, %w, %s, %t, %b outs %y {strides = array<i64: 1>, groups = array<i64: 1>, by_magnitude = array<i1: false>, products = 1 : i64} : memref<1x1x6x6x16xi8>, memref<36x16x4xi8>, memref<36xi32>, memref<2xi32>, memref<16xi32>, memref<1x1x4x4x16xi32>
  return
}

// -----

func.func @f(%x: memref<1x1x6x6x16xi8>, %w: memref<1x36x16x4xi8>, %s: memref<36xi32>, %t: memref<2xi32>, %b: memref<16xi32>, %y: memref<1x1x4x4x16xi32>) {
  // expected-error @+1 {{filter must have rank 3, but has rank 4}}
  cpu.integer_conv2d %x, %w, %s, %t, %b outs %y {strides = array<i64: 1, 1>, groups = array<i64: 1>, by_magnitude = array<i1: false>, products = 1 : i64} : memref<1x1x6x6x16xi8>, memref<1x36x16x4xi8>, memref<36xi32>, memref<2xi32>, memref<16xi32>, memref<1x1x4x4x16xi32>
  return
}

// -----

func.func @f(%x: memref<1x1x6x6x16xi8>, %w: memref<36x16x4xi8>, %s: memref<1x36xi32>, %t: memref<2xi32>, %b: memref<16xi32>, %y: memref<1x1x4x4x16xi32>) {
  // expected-error @+1 {{steps must have rank 1, but has rank 2}}
  cpu.integer_conv2d %x, %w, %s, %t, %b outs %y {strides = array<i64: 1, 1>, groups = array<i64: 1>, by_magnitude = array<i1: false>, products = 1 : i64} : memref<1x1x6x6x16xi8>, memref<36x16x4xi8>, memref<1x36xi32>, memref<2xi32>, memref<16xi32>, memref<1x1x4x4x16xi32>
  return
}

// -----

func.func @f(%x: memref<1x1x6x6x16xi8>, %w: memref<36x16x4xi8>, %s: memref<36xi32>, %t: memref<1x2xi32>, %b: memref<16xi32>, %y: memref<1x1x4x4x16xi32>) {
  // expected-error @+1 {{starts must have rank 1, but has rank 2}}
  cpu.integer_conv2d %x, %w, %s, %t, %b outs %y {strides = array<i64: 1, 1>, groups = array<i64: 1>, by_magnitude = array<i1: false>, products = 1 : i64} : memref<1x1x6x6x16xi8>, memref<36x16x4xi8>, memref<36xi32>, memref<1x2xi32>, memref<16xi32>, memref<1x1x4x4x16xi32>
  return
}

// -----

func.func @f(%x: memref<1x1x6x6x16xi8>, %w: memref<36x16x4xi16>, %s: memref<36xi32>, %t: memref<2xi32>, %b: memref<16xi32>, %y: memref<1x1x4x4x16xi32>) {
  // expected-error @+1 {{filter must be bytes in fours with one step of i32 for each}}
  cpu.integer_conv2d %x, %w, %s, %t, %b outs %y {strides = array<i64: 1, 1>, groups = array<i64: 1>, by_magnitude = array<i1: false>, products = 1 : i64} : memref<1x1x6x6x16xi8>, memref<36x16x4xi16>, memref<36xi32>, memref<2xi32>, memref<16xi32>, memref<1x1x4x4x16xi32>
  return
}

// -----

func.func @f(%x: memref<1x1x6x6x16xi8>, %w: memref<36x16x2xi8>, %s: memref<36xi32>, %t: memref<2xi32>, %b: memref<16xi32>, %y: memref<1x1x4x4x16xi32>) {
  // expected-error @+1 {{filter must be bytes in fours with one step of i32 for each}}
  cpu.integer_conv2d %x, %w, %s, %t, %b outs %y {strides = array<i64: 1, 1>, groups = array<i64: 1>, by_magnitude = array<i1: false>, products = 1 : i64} : memref<1x1x6x6x16xi8>, memref<36x16x2xi8>, memref<36xi32>, memref<2xi32>, memref<16xi32>, memref<1x1x4x4x16xi32>
  return
}

// -----

func.func @f(%x: memref<1x1x6x6x16xi8>, %w: memref<36x16x4xi8>, %s: memref<36xi64>, %t: memref<2xi32>, %b: memref<16xi32>, %y: memref<1x1x4x4x16xi32>) {
  // expected-error @+1 {{filter must be bytes in fours with one step of i32 for each}}
  cpu.integer_conv2d %x, %w, %s, %t, %b outs %y {strides = array<i64: 1, 1>, groups = array<i64: 1>, by_magnitude = array<i1: false>, products = 1 : i64} : memref<1x1x6x6x16xi8>, memref<36x16x4xi8>, memref<36xi64>, memref<2xi32>, memref<16xi32>, memref<1x1x4x4x16xi32>
  return
}

// -----

func.func @f(%x: memref<1x1x6x6x16xi8>, %w: memref<36x16x4xi8>, %s: memref<35xi32>, %t: memref<2xi32>, %b: memref<16xi32>, %y: memref<1x1x4x4x16xi32>) {
  // expected-error @+1 {{filter must be bytes in fours with one step of i32 for each, or for those of each block, but is 'memref<36x16x4xi8>' and steps are 'memref<35xi32>'}}
  cpu.integer_conv2d %x, %w, %s, %t, %b outs %y {strides = array<i64: 1, 1>, groups = array<i64: 1>, by_magnitude = array<i1: false>, products = 1 : i64} : memref<1x1x6x6x16xi8>, memref<36x16x4xi8>, memref<35xi32>, memref<2xi32>, memref<16xi32>, memref<1x1x4x4x16xi32>
  return
}

// -----

func.func @f(%x: memref<1x1x6x6x16xi8>, %w: memref<36x16x4xi8>, %s: memref<36xi32>, %t: memref<2xi32>, %b: memref<16xi32>, %y: memref<1x1x4x4x16xi32>) {
  // expected-error @+1 {{each run needs a positive group and its by_magnitude, but groups are [] and there are 0 by_magnitude}}
  cpu.integer_conv2d %x, %w, %s, %t, %b outs %y {strides = array<i64: 1, 1>, groups = array<i64>, by_magnitude = array<i1>, products = 1 : i64} : memref<1x1x6x6x16xi8>, memref<36x16x4xi8>, memref<36xi32>, memref<2xi32>, memref<16xi32>, memref<1x1x4x4x16xi32>
  return
}

// -----

func.func @f(%x: memref<1x1x6x6x16xi8>, %w: memref<36x16x4xi8>, %s: memref<36xi32>, %t: memref<2xi32>, %b: memref<16xi32>, %y: memref<1x1x4x4x16xi32>) {
  // expected-error @+1 {{each run needs a positive group and its by_magnitude, but groups are [2, 1] and there are 1 by_magnitude}}
  cpu.integer_conv2d %x, %w, %s, %t, %b outs %y {strides = array<i64: 1, 1>, groups = array<i64: 2, 1>, by_magnitude = array<i1: false>, products = 1 : i64} : memref<1x1x6x6x16xi8>, memref<36x16x4xi8>, memref<36xi32>, memref<2xi32>, memref<16xi32>, memref<1x1x4x4x16xi32>
  return
}

// -----

func.func @f(%x: memref<1x1x6x6x16xi8>, %w: memref<36x16x4xi8>, %s: memref<36xi32>, %t: memref<3xi32>, %b: memref<16xi32>, %y: memref<1x1x4x4x16xi32>) {
  // expected-error @+1 {{each run needs a positive group and its by_magnitude, but groups are [2, 0] and there are 2 by_magnitude}}
  cpu.integer_conv2d %x, %w, %s, %t, %b outs %y {strides = array<i64: 1, 1>, groups = array<i64: 2, 0>, by_magnitude = array<i1: false, true>, products = 1 : i64} : memref<1x1x6x6x16xi8>, memref<36x16x4xi8>, memref<36xi32>, memref<3xi32>, memref<16xi32>, memref<1x1x4x4x16xi32>
  return
}

// -----

func.func @f(%x: memref<1x1x6x6x16xi8>, %w: memref<36x16x4xi8>, %s: memref<36xi32>, %t: memref<2xi64>, %b: memref<16xi32>, %y: memref<1x1x4x4x16xi32>) {
  // expected-error @+1 {{starts must be i32, one for each of 1 runs of every block and one for the end, but are 'memref<2xi64>'}}
  cpu.integer_conv2d %x, %w, %s, %t, %b outs %y {strides = array<i64: 1, 1>, groups = array<i64: 1>, by_magnitude = array<i1: false>, products = 1 : i64} : memref<1x1x6x6x16xi8>, memref<36x16x4xi8>, memref<36xi32>, memref<2xi64>, memref<16xi32>, memref<1x1x4x4x16xi32>
  return
}

// -----

func.func @f(%x: memref<1x1x6x6x16xi8>, %w: memref<36x16x4xi8>, %s: memref<36xi32>, %t: memref<4xi32>, %b: memref<16xi32>, %y: memref<1x1x4x4x16xi32>) {
  // expected-error @+1 {{starts must be i32, one for each of 2 runs of every block and one for the end, but are 'memref<4xi32>'}}
  cpu.integer_conv2d %x, %w, %s, %t, %b outs %y {strides = array<i64: 1, 1>, groups = array<i64: 2, 1>, by_magnitude = array<i1: false, true>, products = 1 : i64} : memref<1x1x6x6x16xi8>, memref<36x16x4xi8>, memref<36xi32>, memref<4xi32>, memref<16xi32>, memref<1x1x4x4x16xi32>
  return
}

// -----

func.func @f(%x: memref<1x1x6x6x16xi8>, %w: memref<36x16x4xi8>, %s: memref<36xi32>, %t: memref<3xi32>, %b: memref<32xi32>, %y: memref<1x1x4x4x16xi32>) {
  // expected-error @+1 {{filter makes 2 blocks of 16 channels, but the output is}}
  cpu.integer_conv2d %x, %w, %s, %t, %b outs %y {strides = array<i64: 1, 1>, groups = array<i64: 1>, by_magnitude = array<i1: false>, products = 1 : i64} : memref<1x1x6x6x16xi8>, memref<36x16x4xi8>, memref<36xi32>, memref<3xi32>, memref<32xi32>, memref<1x1x4x4x16xi32>
  return
}

// -----

// Two runs of one block.
func.func @f(%x: memref<1x1x6x6x16xi8>, %w: memref<36x16x4xi8>, %s: memref<36xi32>, %t: memref<3xi32>, %b: memref<32xi32>, %y: memref<1x2x4x4x16xi32>) {
  // expected-error @+1 {{filter makes 1 blocks of 16 channels, but the output is}}
  cpu.integer_conv2d %x, %w, %s, %t, %b outs %y {strides = array<i64: 1, 1>, groups = array<i64: 2, 1>, by_magnitude = array<i1: false, true>, products = 1 : i64} : memref<1x1x6x6x16xi8>, memref<36x16x4xi8>, memref<36xi32>, memref<3xi32>, memref<32xi32>, memref<1x2x4x4x16xi32>
  return
}

// -----

// Not even the end.
func.func @f(%x: memref<1x1x6x6x16xi8>, %w: memref<36x16x4xi8>, %s: memref<36xi32>, %t: memref<0xi32>, %b: memref<16xi32>, %y: memref<1x1x4x4x16xi32>) {
  // expected-error @+1 {{starts must be i32, one for each of 1 runs of every block and one for the end}}
  cpu.integer_conv2d %x, %w, %s, %t, %b outs %y {strides = array<i64: 1, 1>, groups = array<i64: 1>, by_magnitude = array<i1: false>, products = 1 : i64} : memref<1x1x6x6x16xi8>, memref<36x16x4xi8>, memref<36xi32>, memref<0xi32>, memref<16xi32>, memref<1x1x4x4x16xi32>
  return
}

// -----

func.func @f(%x: memref<1x1x6x6x16xi8>, %w: memref<36x16x4xi8>, %s: memref<36xi32>, %t: memref<2xi32>, %b: memref<16xi32>, %y: memref<1x1x4x4x32xi32>) {
  // expected-error @+1 {{filter makes 1 blocks of 16 channels, but the output is}}
  cpu.integer_conv2d %x, %w, %s, %t, %b outs %y {strides = array<i64: 1, 1>, groups = array<i64: 1>, by_magnitude = array<i1: false>, products = 1 : i64} : memref<1x1x6x6x16xi8>, memref<36x16x4xi8>, memref<36xi32>, memref<2xi32>, memref<16xi32>, memref<1x1x4x4x32xi32>
  return
}

// -----

func.func @f(%x: memref<1x1x6x6x16xi8>, %w: memref<36x16x4xi8>, %s: memref<36xi32>, %t: memref<3xi32>, %b: memref<32xi32>, %y: memref<1x2x4x4x8xi32>) {
  // expected-error @+1 {{filter makes 2 blocks of 16 channels, but the output is}}
  cpu.integer_conv2d %x, %w, %s, %t, %b outs %y {strides = array<i64: 1, 1>, groups = array<i64: 1>, by_magnitude = array<i1: false>, products = 1 : i64} : memref<1x1x6x6x16xi8>, memref<36x16x4xi8>, memref<36xi32>, memref<3xi32>, memref<32xi32>, memref<1x2x4x4x8xi32>
  return
}

// -----

func.func @f(%x: memref<1x1x6x6x16xi8>, %w: memref<36x16x4xi8>, %s: memref<36xi32>, %t: memref<2xi32>, %b: memref<16xi32>, %y: memref<1x4x4x16xi32>) {
  // expected-error @+1 {{output must have rank 5, but has rank 4}}
  cpu.integer_conv2d %x, %w, %s, %t, %b outs %y {strides = array<i64: 1, 1>, groups = array<i64: 1>, by_magnitude = array<i1: false>, products = 1 : i64} : memref<1x1x6x6x16xi8>, memref<36x16x4xi8>, memref<36xi32>, memref<2xi32>, memref<16xi32>, memref<1x4x4x16xi32>
  return
}

// -----

func.func @f(%x: memref<1x1x6x6x16xi8>, %w: memref<36x16x4xi8>, %s: memref<36xi32>, %t: memref<2xi32>, %b: memref<8xi32>, %y: memref<1x1x4x4x16xi32>) {
  // expected-error @+1 {{bias must be 16 i32, but is 'memref<8xi32>'}}
  cpu.integer_conv2d %x, %w, %s, %t, %b outs %y {strides = array<i64: 1, 1>, groups = array<i64: 1>, by_magnitude = array<i1: false>, products = 1 : i64} : memref<1x1x6x6x16xi8>, memref<36x16x4xi8>, memref<36xi32>, memref<2xi32>, memref<8xi32>, memref<1x1x4x4x16xi32>
  return
}

// -----

func.func @f(%x: memref<1x1x6x6x16xi8>, %w: memref<36x16x4xi8>, %s: memref<36xi32>, %t: memref<2xi32>, %b: memref<16xi32>, %v: memref<3xf32>, %y: memref<1x1x4x4x16xi32>) {
  // expected-error @+1 {{input 'memref<3xf32>' neither is like the output nor a vector of its channels}}
  cpu.integer_conv2d %x, %w, %s, %t, %b inputs %v outs %y {strides = array<i64: 1, 1>, groups = array<i64: 1>, by_magnitude = array<i1: false>, products = 1 : i64} : memref<1x1x6x6x16xi8>, memref<36x16x4xi8>, memref<36xi32>, memref<2xi32>, memref<16xi32>, memref<3xf32>, memref<1x1x4x4x16xi32>
  return
}

// -----

func.func @f(%x: memref<1x1x6x6x16xi8>, %w: memref<36x16x4xi8>, %s: memref<36xi32>, %t: memref<2xi32>, %b: memref<16xi32>, %v: memref<16xf32>, %y: memref<1x1x4x4x16xi32>) {
  // expected-error @+1 {{has a body that does not fit its inputs}}
  cpu.integer_conv2d %x, %w, %s, %t, %b inputs %v outs %y {strides = array<i64: 1, 1>, groups = array<i64: 1>, by_magnitude = array<i1: false>, products = 1 : i64} : memref<1x1x6x6x16xi8>, memref<36x16x4xi8>, memref<36xi32>, memref<2xi32>, memref<16xi32>, memref<16xf32>, memref<1x1x4x4x16xi32> {
  ^bb0(%sum: i32):
    cpu.integer_yield %sum : i32
  }
  return
}

// -----

func.func @f(%x: memref<1x1x6x6x16xi8>, %w: memref<36x16x4xi8>, %s: memref<36xi32>, %t: memref<2xi32>, %b: memref<16xi32>, %y: memref<1x1x4x4x16xi32>) {
  // expected-error @+1 {{writes 'i8', but the output is}}
  cpu.integer_conv2d %x, %w, %s, %t, %b outs %y {strides = array<i64: 1, 1>, groups = array<i64: 1>, by_magnitude = array<i1: false>, products = 1 : i64} : memref<1x1x6x6x16xi8>, memref<36x16x4xi8>, memref<36xi32>, memref<2xi32>, memref<16xi32>, memref<1x1x4x4x16xi32> {
  ^bb0(%sum: i32):
    %0 = arith.trunci %sum : i32 to i8
    cpu.integer_yield %0 : i8
  }
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
  // expected-error @+1 {{input must be i16 for 16 points of the 6 stored tiles of the output}}
  cpu.winograd_conv2d %t, %w, %b outs %y : memref<1x16x4x32xi16>, memref<1x16x16x16x2xi16>, memref<16xi32>, memref<1x1x5x4x16xi32>
  return
}

// -----

func.func @f(%t: memref<1x16x4x32xi16>, %w: memref<1x16x8x16x2xi16>, %b: memref<16xi32>, %y: memref<1x1x4x4x16xi32>) {
  // expected-error @+1 {{filter must be i16 for 16 points of 32 channels in pairs}}
  cpu.winograd_conv2d %t, %w, %b outs %y : memref<1x16x4x32xi16>, memref<1x16x8x16x2xi16>, memref<16xi32>, memref<1x1x4x4x16xi32>
  return
}

// -----

func.func @f(%x: memref<1x2x6x6x16xi8>, %t: memref<1x25x4x32xi16>) {
  // expected-error @+1 {{output must have 16 or 36 points, but is 'memref<1x25x4x32xi16>'}}
  cpu.winograd_input %x outs %t : memref<1x2x6x6x16xi8>, memref<1x25x4x32xi16>
  return
}

// -----

func.func @f(%x: memref<1x2x7x6x16xi8>, %t: memref<1x36x6x32xi16>) {
  // expected-error @+1 {{output must be 'memref<1x36x2x32xi16>', but is 'memref<1x36x6x32xi16>'}}
  cpu.winograd_input %x outs %t : memref<1x2x7x6x16xi8>, memref<1x36x6x32xi16>
  return
}

// -----

func.func @f(%x: memref<1x2x7x6x16xi8>, %t: memref<1x36x2x32xi8>) {
  // expected-error @+1 {{output must be 'memref<1x36x2x32xi16>', but is 'memref<1x36x2x32xi8>'}}
  cpu.winograd_input %x outs %t : memref<1x2x7x6x16xi8>, memref<1x36x2x32xi8>
  return
}

// -----

func.func @f(%t: memref<1x25x4x32xi16>, %w: memref<1x25x16x16x2xi16>, %b: memref<16xi32>, %y: memref<1x1x4x4x16xi32>) {
  // expected-error @+1 {{input must have 16 or 36 points, but is 'memref<1x25x4x32xi16>'}}
  cpu.winograd_conv2d %t, %w, %b outs %y : memref<1x25x4x32xi16>, memref<1x25x16x16x2xi16>, memref<16xi32>, memref<1x1x4x4x16xi32>
  return
}

// -----

func.func @f(%t: memref<1x36x6x32xi16>, %w: memref<1x36x16x16x2xi16>, %b: memref<16xi32>, %y: memref<1x1x5x4x16xi32>) {
  // expected-error @+1 {{input must be i16 for 36 points of the 2 stored tiles of the output}}
  cpu.winograd_conv2d %t, %w, %b outs %y : memref<1x36x6x32xi16>, memref<1x36x16x16x2xi16>, memref<16xi32>, memref<1x1x5x4x16xi32>
  return
}

// -----

func.func @f(%t: memref<1x36x1x32xi16>, %w: memref<1x16x16x16x2xi16>, %b: memref<16xi32>, %y: memref<1x1x4x4x16xi32>) {
  // expected-error @+1 {{filter must be i16 for 36 points of 32 channels in pairs}}
  cpu.winograd_conv2d %t, %w, %b outs %y : memref<1x36x1x32xi16>, memref<1x16x16x16x2xi16>, memref<16xi32>, memref<1x1x4x4x16xi32>
  return
}

// -----

func.func @f(%x: memref<1x1x10x10x16xf32>, %w: memref<1x25x16x16xf32>, %y: memref<1x1x8x8x16xf32>) {
  // expected-error @+1 {{filter must have 16 or 36 positions, but is 'memref<1x25x16x16xf32>'}}
  cpu.float_winograd %x, %w outs %y : memref<1x1x10x10x16xf32>, memref<1x25x16x16xf32>, memref<1x1x8x8x16xf32>
  return
}

// -----

func.func @f(%x: memref<1x1x10x9x16xf32>, %w: memref<1x36x16x16xf32>, %y: memref<1x1x8x8x16xf32>) {
  // expected-error @+1 {{input must have batch 1 and 10 x 10 pixels, two rows and columns more than the output}}
  cpu.float_winograd %x, %w outs %y : memref<1x1x10x9x16xf32>, memref<1x36x16x16xf32>, memref<1x1x8x8x16xf32>
  return
}

// -----

func.func @f(%x: memref<1x2x10x10x16xf32>, %w: memref<1x36x16x16xf32>, %y: memref<1x1x8x8x16xf32>) {
  // expected-error @+1 {{filter must be for 32 input channels and 1 blocks of 16 output channels}}
  cpu.float_winograd %x, %w outs %y : memref<1x2x10x10x16xf32>, memref<1x36x16x16xf32>, memref<1x1x8x8x16xf32>
  return
}

// -----

func.func @f(%x: memref<1x1x10x10x16xf64>, %w: memref<1x36x16x16xf32>, %y: memref<1x1x8x8x16xf32>) {
  // expected-error @+1 {{works on f32, but has 'memref<1x1x10x10x16xf64>'}}
  cpu.float_winograd %x, %w outs %y : memref<1x1x10x10x16xf64>, memref<1x36x16x16xf32>, memref<1x1x8x8x16xf32>
  return
}

// -----

func.func @f(%x: memref<1x1x8x8x16xf32>, %w: memref<1x1x1x1x8x32xf32>, %y: memref<1x1x8x8x16xf32>) {
  // expected-error @+1 {{filter must be of f16, but is 'memref<1x1x1x1x8x32xf32>'}}
  cpu.half_conv2d %x, %w outs %y {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>} : memref<1x1x8x8x16xf32>, memref<1x1x1x1x8x32xf32>, memref<1x1x8x8x16xf32>
  return
}

// -----

func.func @f(%x: memref<1x1x8x8x16xf32>, %w: memref<1x1x1x1x7x32xf16>, %y: memref<1x1x8x8x16xf32>) {
  // expected-error @+1 {{filter must be for 1 blocks of an even number of 16 input channels, in pairs}}
  cpu.half_conv2d %x, %w outs %y {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>} : memref<1x1x8x8x16xf32>, memref<1x1x1x1x7x32xf16>, memref<1x1x8x8x16xf32>
  return
}

// -----

func.func @f(%x: memref<1x1x8x8x16xf32>, %w: memref<1x1x1x1x8x16xf16>, %y: memref<1x1x8x8x16xf32>) {
  // expected-error @+1 {{filter must be for 1 blocks of 16 output channels, two elements each}}
  cpu.half_conv2d %x, %w outs %y {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>} : memref<1x1x8x8x16xf32>, memref<1x1x1x1x8x16xf16>, memref<1x1x8x8x16xf32>
  return
}

// -----

func.func @f(%x: memref<1x1x8x8x16xf32>, %w: memref<1x1x3x3x8x32xf16>, %y: memref<1x1x8x8x16xf32>) {
  // expected-error @+1 {{reads 10 positions along H, but the input has 8}}
  cpu.half_conv2d %x, %w outs %y {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>} : memref<1x1x8x8x16xf32>, memref<1x1x3x3x8x32xf16>, memref<1x1x8x8x16xf32>
  return
}

// -----

func.func @matmul_residual(%x: memref<1x4x8xf32>, %w: memref<1x8x16xf32>, %r: memref<1x4x8xf32>, %y: memref<1x4x16xf32>) {
  // expected-error @+1 {{residual and output must have the same shape}}
  cpu.matmul %x, %w residual %r outs %y {packed} : memref<1x4x8xf32>, memref<1x8x16xf32>, memref<1x4x8xf32>, memref<1x4x16xf32>
  return
}

// -----

func.func @attention_shape(%q: memref<1x2x4x8xf32>, %k: memref<1x2x9x6xf32>, %v: memref<1x2x6x8xf32>, %y: memref<1x2x4x8xf32>) {
  // expected-error @+1 {{key must have shape 1, 2, 8, 6, but is 'memref<1x2x9x6xf32>'}}
  cpu.attention %q, %k, %v outs %y : memref<1x2x4x8xf32>, memref<1x2x9x6xf32>, memref<1x2x6x8xf32>, memref<1x2x4x8xf32>
  return
}

// -----

func.func @attention_rows(%q: memref<1x2x4x8xf32>, %k: memref<1x2x8x6xf32>, %v: memref<1x2x6x8xf32, strided<[96, 48, 1, 6]>>, %y: memref<1x2x4x8xf32>) {
  // expected-error @+1 {{needs dense rows of value and output}}
  cpu.attention %q, %k, %v outs %y : memref<1x2x4x8xf32>, memref<1x2x8x6xf32>, memref<1x2x6x8xf32, strided<[96, 48, 1, 6]>>, memref<1x2x4x8xf32>
  return
}

// -----

func.func @attention_body(%q: memref<1x2x4x8xf32>, %k: memref<1x2x8x6xf32>, %v: memref<1x2x6x8xf32>, %m: memref<1x1x1x6xf32>, %y: memref<1x2x4x8xf32>) {
  // expected-error @+1 {{has inputs, but no body}}
  cpu.attention %q, %k, %v inputs %m outs %y : memref<1x2x4x8xf32>, memref<1x2x8x6xf32>, memref<1x2x6x8xf32>, memref<1x1x1x6xf32>, memref<1x2x4x8xf32>
  return
}

// -----

func.func @layer_norm(%x: memref<4x8xf32>, %g: memref<4xf32>, %y: memref<4x8xf32>) {
  // expected-error @+1 {{gamma must be memref<8x..>, but is 'memref<4xf32>'}}
  cpu.layer_norm %x gamma %g outs %y {epsilon = 1.0e-5} : memref<4x8xf32>, memref<4xf32>, memref<4x8xf32>
  return
}

// -----

func.func @map_reduce_shape(%x: memref<4x8xf32>, %y: memref<3x8xf32>, %o: memref<1x1x8xf32>) {
  // expected-error @+1 {{input 'memref<3x8xf32>' does not broadcast to 4, 8}}
  cpu.map_reduce %x, %y outs %o {axes = array<i64: 0>} : memref<4x8xf32>, memref<3x8xf32>, memref<1x1x8xf32> {
  ^bb0(%a: f32, %b: f32):
    cpu.reduction_yield %a : f32
  }
  return
}

// -----

func.func @map_reduce_rows(%x: memref<4x8xf32>, %o: memref<2x1x8xf32>) {
  // expected-error @+1 {{the body must yield a value of f32 per row of the output 'memref<2x1x8xf32>'}}
  cpu.map_reduce %x outs %o {axes = array<i64: 0>} : memref<4x8xf32>, memref<2x1x8xf32> {
  ^bb0(%a: f32):
    cpu.reduction_yield %a : f32
  }
  return
}

// -----

func.func @map_reduce_axes(%x: memref<4x8xf32>, %o: memref<1x4x8xf32>) {
  // expected-error @+1 {{output dim 1 must be 1, but is 4}}
  cpu.map_reduce %x outs %o {axes = array<i64: 0>} : memref<4x8xf32>, memref<1x4x8xf32> {
  ^bb0(%a: f32):
    cpu.reduction_yield %a : f32
  }
  return
}

// -----

func.func @matmul_residual(%a: memref<1x4x8xf32>, %b: memref<1x8x16xf32>, %c: memref<1x4x16xf32>) {
  // expected-error @+1 {{takes a residual with packed weights only}}
  cpu.matmul %a, %b residual %c outs %c : memref<1x4x8xf32>, memref<1x8x16xf32>, memref<1x4x16xf32>, memref<1x4x16xf32>
  return
}

// -----

func.func @map_reduce_rank(%x: memref<f32>, %o: memref<1xf32>) {
  // expected-error @+1 {{needs inputs, and an output of their rank and one dim more}}
  cpu.map_reduce %x outs %o {axes = array<i64>} : memref<f32>, memref<1xf32> {
  ^bb0(%a: f32):
    cpu.reduction_yield %a : f32
  }
  return
}

// -----

func.func @map_reduce_body(%x: memref<4x8xf32>, %o: memref<1x1x8xf32>) {
  // expected-error @+1 {{needs a body with arguments of types 'f32'}}
  cpu.map_reduce %x outs %o {axes = array<i64: 0>} : memref<4x8xf32>, memref<1x1x8xf32> {
  ^bb0(%a: f32, %b: f32):
    cpu.reduction_yield %a : f32
  }
  return
}

// -----

func.func @attention_type(%q: memref<1x2x4x8xf16>, %k: memref<1x2x8x6xf32>, %v: memref<1x2x6x8xf32>, %y: memref<1x2x4x8xf32>) {
  // expected-error @+1 {{query must be of f32, but is 'memref<1x2x4x8xf16>'}}
  cpu.attention %q, %k, %v outs %y : memref<1x2x4x8xf16>, memref<1x2x8x6xf32>, memref<1x2x6x8xf32>, memref<1x2x4x8xf32>
  return
}

// -----

func.func @attention_key(%q: memref<1x2x4x8xf32>, %k: memref<1x2x8x6xf32, strided<[192, 96, 12, 2]>>, %v: memref<1x2x6x8xf32>, %y: memref<1x2x4x8xf32>) {
  // expected-error @+1 {{needs one dense dim of key}}
  cpu.attention %q, %k, %v outs %y : memref<1x2x4x8xf32>, memref<1x2x8x6xf32, strided<[192, 96, 12, 2]>>, memref<1x2x6x8xf32>, memref<1x2x4x8xf32>
  return
}

// -----

func.func @attention_body(%q: memref<1x2x4x8xf32>, %k: memref<1x2x8x6xf32>, %v: memref<1x2x6x8xf32>, %y: memref<1x2x4x8xf32>) {
  // expected-error @+1 {{needs a body with arguments of types 'f32'}}
  cpu.attention %q, %k, %v outs %y : memref<1x2x4x8xf32>, memref<1x2x8x6xf32>, memref<1x2x6x8xf32>, memref<1x2x4x8xf32> {
  ^bb0(%score: f32, %mask: f32):
    cpu.score_yield %score : f32
  }
  return
}

// -----

func.func @lookup(%x: i8) -> i8 {
  // expected-error @+1 {{table must have 256 bytes, but has 3}}
  %y = cpu.lookup %x in [1, 2, 3] : i8
  return %y : i8
}

// -----

func.func @f(%x: memref<1x1x8x8x16xf16>, %w: memref<1x1x1x1x8x32xf16>, %y: memref<1x1x8x8x16xf32>) {
  // expected-error @+1 {{reads and writes f32, but has 'memref<1x1x8x8x16xf16>'}}
  cpu.half_conv2d %x, %w outs %y {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>} : memref<1x1x8x8x16xf16>, memref<1x1x1x1x8x32xf16>, memref<1x1x8x8x16xf32>
  return
}
