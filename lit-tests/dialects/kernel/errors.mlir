// RUN: atc-opt %s --split-input-file --verify-diagnostics


func.func @pool(%x: memref<1x2x8x8x16xf32>, %y: memref<1x1x4x4x16xf32>) {
  // expected-error @+1 {{input and output must differ in H and W only}}
  kernel.pool %x, %y {kind = #kernel<pool_kind max>, kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>}
    : memref<1x2x8x8x16xf32>, memref<1x1x4x4x16xf32>
  return
}

// -----

func.func @map_count(%x: memref<4xf32>, %y: memref<4xf32>) {
  // expected-error @+1 {{the body takes 2 elements, but there are 1 inputs}}
  kernel.map %x outs %y : memref<4xf32>, memref<4xf32> {
  ^bb0(%a: f32, %b: f32):
    kernel.yield %a : f32
  }
  return
}

// -----

func.func @map_broadcast(%x: memref<3xf32>, %y: memref<4xf32>) {
  // expected-error @+1 {{does not broadcast to}}
  kernel.map %x outs %y : memref<3xf32>, memref<4xf32> {
  ^bb0(%a: f32):
    kernel.yield %a : f32
  }
  return
}

// -----

func.func @map_type(%x: memref<4xf32>, %y: memref<4xi32>) {
  // expected-error @+1 {{the body must yield 'i32'}}
  kernel.map %x outs %y : memref<4xf32>, memref<4xi32> {
  ^bb0(%a: f32):
    kernel.yield %a : f32
  }
  return
}

// -----

func.func @reduce(%x: memref<4x8xf32>, %y: memref<4x8xf32>) {
  // expected-error @+1 {{output dim 1 must be 1, but is 8}}
  kernel.reduce %x, %y {kind = #graph<reduce_kind sum>, axes = array<i64: 1>} : memref<4x8xf32>, memref<4x8xf32>
  return
}

// -----

func.func @softmax(%x: memref<4x8xf32>, %y: memref<4x8xf32>) {
  // expected-error @+1 {{axis 2 is not a dim of}}
  kernel.softmax %x, %y {axis = 2} : memref<4x8xf32>, memref<4x8xf32>
  return
}

// -----

func.func @copy(%x: memref<4x8xf32>, %y: memref<8x4xf32>) {
  // expected-error @+1 {{input and output must have the same shape}}
  kernel.copy %x, %y : memref<4x8xf32>, memref<8x4xf32>
  return
}

// -----

func.func @pack(%x: memref<1x20x4x4xf32>, %y: memref<1x1x4x4x16xf32>) {
  // expected-error @+1 {{is not the blocked form of}}
  kernel.pack %x, %y : memref<1x20x4x4xf32>, memref<1x1x4x4x16xf32>
  return
}

// -----

func.func @fill_border(%y: memref<1x1x4x4x16xf32>) {
  // expected-error @+1 {{border is larger than the buffer}}
  kernel.fill %y {value = 0.0, border = array<i64: 3, 0, 3, 0>} : memref<1x1x4x4x16xf32>
  return
}

// -----

func.func @pad(%x: memref<4xf32>, %y: memref<6xf32>) {
  // expected-error @+1 {{constant padding is kernel.fill and kernel.copy}}
  kernel.pad %x, %y {low = array<i64: 1>, mode = #graph<pad_mode constant>} : memref<4xf32>, memref<6xf32>
  return
}

// -----

func.func @gather(%x: memref<1x4x8xf32>, %i: memref<2xi64>, %y: memref<1x3x8xf32>) {
  // expected-error @+1 {{output must be 1 x 2 x 8}}
  kernel.gather %x, %i, %y : memref<1x4x8xf32>, memref<2xi64>, memref<1x3x8xf32>
  return
}

// -----

func.func @border_rank(%x: memref<4x4x16xf32>) {
  // expected-error @+1 {{a border needs dims 2 and 3, but the buffer is 'memref<4x4x16xf32>'}}
  kernel.fill %x {value = 0.0, border = array<i64: 1, 1, 1, 1>} : memref<4x4x16xf32>
  return
}

// -----

func.func @scales(%x: memref<1x2x2x2x16xf32>, %y: memref<1x2x4x4x16xf32>) {
  // expected-error @+1 {{scales needs 5 numbers, but has 2}}
  kernel.resize %x, %y {scales = array<f64: 2.0, 2.0>, mode = #graph<resize_mode nearest>,
    coordinates = #graph<coordinate_mode asymmetric>, nearest = #graph<nearest_mode floor>, cubic_coefficient = -0.75}
    : memref<1x2x2x2x16xf32>, memref<1x2x4x4x16xf32>
  return
}
