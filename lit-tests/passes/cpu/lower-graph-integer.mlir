// RUN: atc-opt %s --cpu-assign-layout --cpu-assign-halo --cpu-lower-graph --split-input-file | FileCheck %s

// The border of what a padded integer convolution reads holds its zero point, as the kernel
// stores it. 9 taps of 16 channels are 36 steps of four bytes.
// CHECK-LABEL: func @main
// CHECK: kernel.fill {{.*}}value = 1.310000e+02
// CHECK: kernel.pack
// CHECK: cpu.integer_conv2d {{.*}} inputs %{{.*}} outs %{{.*}} {group = {{[124]}} : i64, {{.*}}products = 36864 : i64, strides = array<i64: 1, 1>} : memref<1x1x6x6x16xi8>, memref<1x36x16x4xi8>, memref<1x36xi32>, memref<16xi32>, memref<16xf32>, memref<1x1x4x4x16xi8>
// CHECK-NEXT: ^bb0(%{{.*}}: i32, %{{.*}}: f32):
// CHECK: cpu.integer_yield
func.func @main(%x: tensor<1x16x4x4xui8>) -> tensor<1x16x4x4xui8> {
  %w = graph.constant dense<1> : tensor<16x16x3x3xi8>
  %m = graph.constant dense<[0.5, 1.0, 0.5, 1.0, 0.5, 1.0, 0.5, 1.0, 0.5, 1.0, 0.5, 1.0, 0.5, 1.0, 0.5, 1.0]> : tensor<16xf32>
  %s = graph.reshape %m : (tensor<16xf32>) -> tensor<16x1x1xf32>
  %y = graph.integer_conv %x, %w inputs %s {zero_point = 131 : i64, filter_zero_points = array<i64>, strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x16x4x4xui8>, tensor<16x16x3x3xi8>, tensor<16x1x1xf32>) -> tensor<1x16x4x4xui8> {
  ^bb0(%sum: i32, %scale: f32):
    %0 = arith.sitofp %sum : i32 to f32
    %1 = arith.mulf %0, %scale : f32
    %2 = arith.fptoui %1 : f32 to i8
    graph.yield %2 : i8
  }
  return %y : tensor<1x16x4x4xui8>
}

// -----

// Two weights of 127 side by side could leave 16 bits: their sums are by magnitude.
// Columns that do not fill a block are a kernel of their own.
// CHECK-LABEL: func @main
// CHECK: cpu.integer_conv2d {{.*}} : memref<1x1x1x3x8xi8>, memref<1x2x16x4xi8>, memref<1x2xi32>, memref<16xi32>, memref<1x1x1x3x16xi32, {{.*}}>
// CHECK: cpu.integer_conv2d {{.*}} : memref<1x1x1x3x8xi8>, memref<1x2x16x4xi8>, {{.*}}, memref<1x1x1x3x2xi32, {{.*}}>
func.func @main(%x: tensor<3x8xui8>) -> tensor<3x18xi32> {
  %w = graph.constant dense<127> : tensor<18x8xi8>
  %y = graph.integer_fully_connected %x, %w {zero_point = 0 : i64, filter_zero_points = array<i64>} : (tensor<3x8xui8>, tensor<18x8xi8>) -> tensor<3x18xi32>
  return %y : tensor<3x18xi32>
}

// -----

// 3x3 windows of many channels go through tiles of 2x2 outputs.
// CHECK-LABEL: func @main
// CHECK: %[[TILES:.*]] = om.alloc : memref<1x16x36x32xi16>
// CHECK: cpu.winograd_input %{{.*}} outs %[[TILES]] : memref<1x2x14x14x16xi8>, memref<1x16x36x32xi16>
// CHECK: cpu.winograd_conv2d %[[TILES]], {{.*}} memref<1x16x36x32xi16>, memref<1x16x16x16x2xi16>, memref<16xi32>, memref<1x1x12x12x16xi32>
func.func @main(%x: tensor<1x32x12x12xui8>) -> tensor<1x16x12x12xi32> {
  %w = graph.constant dense<1> : tensor<16x32x3x3xi8>
  %y = graph.integer_conv %x, %w {zero_point = 131 : i64, filter_zero_points = array<i64>, strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x32x12x12xui8>, tensor<16x32x3x3xi8>) -> tensor<1x16x12x12xi32>
  return %y : tensor<1x16x12x12xi32>
}

// -----

// Few tiles do not pay for it.
// CHECK-LABEL: func @main
// CHECK-NOT: winograd
// CHECK: cpu.integer_conv2d
func.func @main(%x: tensor<1x32x8x8xui8>) -> tensor<1x16x8x8xi32> {
  %w = graph.constant dense<1> : tensor<16x32x3x3xi8>
  %y = graph.integer_conv %x, %w {zero_point = 131 : i64, filter_zero_points = array<i64>, strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x32x8x8xui8>, tensor<16x32x3x3xi8>) -> tensor<1x16x8x8xi32>
  return %y : tensor<1x16x8x8xi32>
}

// -----

// Two weights of 127 side by side: one step each by magnitude.
// CHECK-LABEL: func @main
// CHECK: cpu.integer_conv2d {{.*}}by_magnitude{{.*}} memref<1x4x16x4xi8>
func.func @main(%x: tensor<3x16xui8>) -> tensor<3x16xi32> {
  %w = graph.constant dense<127> : tensor<16x16xi8>
  %y = graph.integer_fully_connected %x, %w {zero_point = 0 : i64, filter_zero_points = array<i64>} : (tensor<3x16xui8>, tensor<16x16xi8>) -> tensor<3x16xi32>
  return %y : tensor<3x16xi32>
}
