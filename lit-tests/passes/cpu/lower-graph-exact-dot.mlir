// RUN: atc-opt %s --kernel-assign-layout --kernel-assign-halo --cpu-lower-graph=exact-dot --split-input-file | FileCheck %s

// With an exact dot product of bytes the direct form is the faster one.
// CHECK-LABEL: func @main
// CHECK-NOT: winograd
// CHECK: cpu.integer_conv2d {{.*}} memref<72x16x4xi8>
func.func @main(%x: tensor<1x32x12x12xui8>) -> tensor<1x16x12x12xi32> {
  %w = graph.constant dense<1> : tensor<16x32x3x3xi8>
  %y = graph.integer_conv %x, %w {zero_point = 131 : i64, filter_zero_points = array<i64>, strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x32x12x12xui8>, tensor<16x32x3x3xi8>) -> tensor<1x16x12x12xi32>
  return %y : tensor<1x16x12x12xi32>
}

// -----

// Nothing is cut, so every four weights are one step, and no sum is by magnitude.
// CHECK-LABEL: func @main
// CHECK: om.weight dense<[0, 4]> : tensor<2xi32>
// CHECK: cpu.integer_conv2d {{.*}}by_magnitude = array<i1: false>, groups = array<i64: 1>{{.*}} memref<4x16x4xi8>
func.func @main(%x: tensor<3x16xui8>) -> tensor<3x16xi32> {
  %w = graph.constant dense<127> : tensor<16x16xi8>
  %y = graph.integer_fully_connected %x, %w {zero_point = 0 : i64, filter_zero_points = array<i64>} : (tensor<3x16xui8>, tensor<16x16xi8>) -> tensor<3x16xi32>
  return %y : tensor<3x16xi32>
}

// -----

// But for weights that are no bytes without their zero point: 255 is 127, 127 and 1.
// CHECK-LABEL: func @main
// CHECK: om.weight dense<[0, 3]> : tensor<2xi32>
// CHECK: om.weight dense<0> : tensor<3xi32>
// CHECK: cpu.integer_conv2d {{.*}}by_magnitude = array<i1: false>, groups = array<i64: 1>{{.*}} memref<3x16x4xi8>
// CHECK: atc_packed_{{[0-9]+}}: "0x01000000{{((7F){64}(7F){64}(01){64})}}"
func.func @main(%x: tensor<3x4xui8>) -> tensor<3x16xi32> {
  %w = graph.constant dense<255> : tensor<16x4xui8>
  %y = graph.integer_fully_connected %x, %w {zero_point = 0 : i64, filter_zero_points = array<i64>} : (tensor<3x4xui8>, tensor<16x4xui8>) -> tensor<3x16xi32>
  return %y : tensor<3x16xi32>
}

// -----

// All blocks have the same list of steps, which is stored once, also where the weights of a block
// are zero; columns that do not fill a block are a kernel with the weights of its own block.
// CHECK-LABEL: func @main
// CHECK: %[[ALL:.*]] = om.weight {{.*}} : memref<6x16x4xi8>
// CHECK: %[[W:.*]] = om.view %[[ALL]][0] : memref<6x16x4xi8> to memref<4x16x4xi8>
// CHECK: %[[S:.*]] = om.weight dense<[0, 4]> : tensor<2xi32>
// CHECK: cpu.integer_conv2d %{{.*}}, %[[W]], %[[S]], {{.*}} memref<4x16x4xi8>, memref<2xi32>, memref<3xi32>
// CHECK: %[[LAST:.*]] = om.view %[[ALL]][256] : memref<6x16x4xi8> to memref<2x16x4xi8>
// CHECK: cpu.integer_conv2d %{{.*}}, %[[LAST]], %[[S]], {{.*}} memref<2x16x4xi8>, memref<2xi32>, memref<2xi32>
func.func @main(%x: tensor<3x8xui8>) -> tensor<3x34xi32> {
  %w = graph.constant dense<0> : tensor<34x8xi8>
  %y = graph.integer_fully_connected %x, %w {zero_point = 0 : i64, filter_zero_points = array<i64>} : (tensor<3x8xui8>, tensor<34x8xi8>) -> tensor<3x34xi32>
  return %y : tensor<3x34xi32>
}

// -----

// Enough pixels and channels pay for transforms, and few enough channels for weights of eight times the size.
// CHECK-LABEL: func @main
// CHECK: cpu.winograd_input {{.*}} memref<1x36x49x64xi16>
// CHECK: cpu.winograd_conv2d {{.*}} memref<4x36x32x16x2xi16>
func.func @main(%x: tensor<1x64x28x28xui8>) -> tensor<1x64x28x28xi32> {
  %w = graph.constant dense<1> : tensor<64x64x3x3xi8>
  %y = graph.integer_conv %x, %w {zero_point = 131 : i64, filter_zero_points = array<i64>, strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x64x28x28xui8>, tensor<64x64x3x3xi8>) -> tensor<1x64x28x28xi32>
  return %y : tensor<1x64x28x28xi32>
}

// -----

// CHECK-LABEL: func @main
// CHECK-NOT: winograd
// CHECK: cpu.integer_conv2d
func.func @main(%x: tensor<1x256x14x14xui8>) -> tensor<1x256x14x14xi32> {
  %w = graph.constant dense<1> : tensor<256x256x3x3xi8>
  %y = graph.integer_conv %x, %w {zero_point = 131 : i64, filter_zero_points = array<i64>, strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x256x14x14xui8>, tensor<256x256x3x3xi8>) -> tensor<1x256x14x14xi32>
  return %y : tensor<1x256x14x14xi32>
}
