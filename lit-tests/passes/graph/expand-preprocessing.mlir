// RUN: atc-opt %s --graph-expand-preprocessing | FileCheck %s --check-prefixes=CHECK,ALL
// RUN: atc-opt %s --graph-expand-preprocessing=keep-for-conv | FileCheck %s --check-prefixes=CHECK,KEEP

// Channels are swapped, and one is normalized.
// CHECK-LABEL: func @packed
// CHECK-NOT: graph.preprocess
// CHECK: %[[IMAGE:.*]] = graph.slice %arg0 {sizes = array<i64: 1, 4, 6, 3>, starts = array<i64: 0, 1, 2, 0>
// CHECK: %[[RED:.*]] = graph.slice %[[IMAGE]] {{.*}}starts = array<i64: 0, 0, 0, 2>
// CHECK: graph.reshape %[[RED]]
// CHECK: graph.map
// CHECK: arith.uitofp %{{.*}} : i8 to f32
// CHECK: arith.subf
// CHECK: arith.subf
// CHECK: arith.mulf
// CHECK: graph.concat {{.*}}axis = 1
func.func @packed(%x: tensor<1x8x8x3xui8>) -> tensor<1x3x4x6xf32> {
  %0 = graph.preprocess %x {crop = array<i64: 1, 2, 4, 6>, planes = array<i64: 2, 1, 0>, means = array<f32: 123.0, 0.0, 0.0>,
    mins = array<f32: 0.5, 0.0, 0.0>, factors = array<f32: 0.25, 1.0, 1.0>} : (tensor<1x8x8x3xui8>) -> tensor<1x3x4x6xf32>
  return %0 : tensor<1x3x4x6xf32>
}

// One channel of a conversion is made of the planes with factors; f16 is rounded to once.
// CHECK-LABEL: func @luma
// CHECK-COUNT-2: graph.expand
// CHECK: graph.map %{{.*}}, %{{.*}} : (tensor<1x1x8x8xui8>, tensor<1x1x8x8xui8>) -> tensor<1x1x8x8xf16>
// CHECK: math.floor
// CHECK: arith.truncf %{{.*}} : f32 to f16
func.func @luma(%x: tensor<1x12x8x1xui8>) -> tensor<1x1x8x8xf16> {
  %0 = graph.preprocess %x {semi_planar, crop = array<i64: 0, 0, 8, 8>, planes = array<i64: 0, 1, 2>,
    matrix = array<i64: 256, 0, 359, 256, -88, -183, 256, 454, 0>, before = array<i64: 0, 128, 128>, after = array<i64: 0, 0, 0>,
    means = array<f32: 0.0>, mins = array<f32: 0.0>, factors = array<f32: 1.0>} : (tensor<1x12x8x1xui8>) -> tensor<1x1x8x8xf16>
  return %0 : tensor<1x1x8x8xf16>
}

// Only a convolution reads it, through a pad of zeros and transposes that cancel.
// CHECK-LABEL: func @convolution
// ALL-NOT: graph.preprocess
// KEEP: graph.preprocess
func.func @convolution(%x: tensor<1x8x8x1xui8>) -> tensor<1x2x8x8xf32> {
  %w = graph.constant dense<1.0> : tensor<2x1x3x3xf32>
  %0 = graph.preprocess %x {crop = array<i64: 0, 0, 8, 8>, planes = array<i64: 0>, means = array<f32: 1.0>, mins = array<f32: 0.0>,
    factors = array<f32: 1.0>} : (tensor<1x8x8x1xui8>) -> tensor<1x1x8x8xf32>
  %1 = graph.transpose %0 {permutation = array<i64: 0, 2, 3, 1>} : (tensor<1x1x8x8xf32>) -> tensor<1x8x8x1xf32>
  %2 = graph.transpose %1 {permutation = array<i64: 0, 3, 1, 2>} : (tensor<1x8x8x1xf32>) -> tensor<1x1x8x8xf32>
  %3 = graph.pad %2 {low = array<i64: 0, 0, 1, 1>, high = array<i64: 0, 0, 1, 1>, mode = #graph<pad_mode constant>} : (tensor<1x1x8x8xf32>) -> tensor<1x1x10x10xf32>
  %4 = graph.conv %3, %w {dilations = array<i64: 1, 1>, groups = 1 : i64, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>}
    : (tensor<1x1x10x10xf32>, tensor<2x1x3x3xf32>) -> tensor<1x2x8x8xf32>
  return %4 : tensor<1x2x8x8xf32>
}

// Transposes that do not cancel move the channels, and a pad of other numbers is no padding of a convolution.
// CHECK-LABEL: func @others
// CHECK-NOT: graph.preprocess
func.func @others(%x: tensor<1x8x8x1xui8>) -> tensor<1x1x10x10xf32> {
  %0 = graph.preprocess %x {crop = array<i64: 0, 0, 8, 8>, planes = array<i64: 0>, means = array<f32: 1.0>, mins = array<f32: 0.0>,
    factors = array<f32: 1.0>} : (tensor<1x8x8x1xui8>) -> tensor<1x1x8x8xf32>
  %1 = graph.pad %0 {low = array<i64: 0, 0, 1, 1>, high = array<i64: 0, 0, 1, 1>, mode = #graph<pad_mode constant>, value = 3.0 : f64} : (tensor<1x1x8x8xf32>) -> tensor<1x1x10x10xf32>
  return %1 : tensor<1x1x10x10xf32>
}
