// RUN: atc-opt %s --graph-trim-kernels --split-input-file | FileCheck %s
// RUN: atc-opt %s --graph-trim-kernels --split-input-file --remarks-filter=graph-trim-kernels --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// REMARK-COUNT-3: [Passed] {{.*}}Category:graph-trim-kernels{{.*}}taps that read only padding are dropped
// REMARK-NOT: Passed

// Only the tap in the middle reads the image.
// CHECK-LABEL: func @atrous
// CHECK: %[[K:.*]] = graph.constant dense<{{\[}}{{\[\[}}[2.000000e+00]], {{\[\[}}5.000000e+00]]]]> : tensor<1x2x1x1xf32>
// CHECK: graph.conv %arg0, %[[K]] {{.*}}pads = array<i64: 0, 0, 0, 0>{{.*}}(tensor<1x2x16x16xf32>, tensor<1x2x1x1xf32>)
func.func @atrous(%x: tensor<1x2x16x16xf32>) -> tensor<1x1x16x16xf32> {
  %w = graph.constant dense<[[[[1.0, 1.0, 1.0], [1.0, 2.0, 1.0], [1.0, 1.0, 1.0]], [[4.0, 4.0, 4.0], [4.0, 5.0, 4.0], [4.0, 4.0, 4.0]]]]> : tensor<1x2x3x3xf32>
  %y = graph.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 24, 16, 24, 16>, dilations = array<i64: 24, 16>, groups = 1 : i64} : (tensor<1x2x16x16xf32>, tensor<1x2x3x3xf32>) -> tensor<1x1x16x16xf32>
  return %y : tensor<1x1x16x16xf32>
}

// -----

// Rows lose the first and the last of five taps; columns keep theirs: with dilation 15 the outer ones read one pixel.
// CHECK-LABEL: func @rows
// CHECK: graph.conv {{.*}}dilations = array<i64: 3, 15>, groups = 8 : i64, pads = array<i64: 4, 15, 4, 15>, strides = array<i64: 2, 1>{{.*}}tensor<8x1x3x3xf32>)
func.func @rows(%x: tensor<1x8x3x16xf32>) -> tensor<1x8x3x16xf32> {
  %w = graph.constant dense<0.5> : tensor<8x1x5x3xf32>
  %y = graph.conv %x, %w {strides = array<i64: 2, 1>, pads = array<i64: 7, 15, 7, 15>, dilations = array<i64: 3, 15>, groups = 8 : i64} : (tensor<1x8x3x16xf32>, tensor<8x1x5x3xf32>) -> tensor<1x8x3x16xf32>
  return %y : tensor<1x8x3x16xf32>
}

// -----

// No tap reads a vector of one element at a stride of two: one of them stays.
// CHECK-LABEL: func @nothing
// CHECK: graph.conv {{.*}}(tensor<1x8x1xf32>, tensor<4x8x1xf32>)
func.func @nothing(%x: tensor<1x8x1xf32>) -> tensor<1x4x2xf32> {
  %w = graph.constant dense<0.5> : tensor<4x8x2xf32>
  %y = graph.conv %x, %w {strides = array<i64: 2>, pads = array<i64: 3, 3>, dilations = array<i64: 4>, groups = 1 : i64} : (tensor<1x8x1xf32>, tensor<4x8x2xf32>) -> tensor<1x4x2xf32>
  return %y : tensor<1x4x2xf32>
}

// -----

// CHECK-LABEL: func @kept
// CHECK-NOT: graph.slice
// CHECK-COUNT-3: graph.conv
func.func @kept(%x: tensor<1x8x16x16xf32>, %v: tensor<4x8x3x3xf32>, %d: tensor<1x8x?x16xf32>) -> (tensor<1x4x16x16xf32>, tensor<1x4x16x16xf32>, tensor<1x4x?x16xf32>) {
  %w = graph.constant dense<0.5> : tensor<4x8x3x3xf32>
  %y = graph.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 12, 12, 12, 12>, dilations = array<i64: 12, 12>, groups = 1 : i64} : (tensor<1x8x16x16xf32>, tensor<4x8x3x3xf32>) -> tensor<1x4x16x16xf32>
  %z = graph.conv %x, %v {strides = array<i64: 1, 1>, pads = array<i64: 24, 24, 24, 24>, dilations = array<i64: 24, 24>, groups = 1 : i64} : (tensor<1x8x16x16xf32>, tensor<4x8x3x3xf32>) -> tensor<1x4x16x16xf32>
  %t = graph.conv %d, %w {strides = array<i64: 1, 1>, pads = array<i64: 24, 24, 24, 24>, dilations = array<i64: 24, 24>, groups = 1 : i64} : (tensor<1x8x?x16xf32>, tensor<4x8x3x3xf32>) -> tensor<1x4x?x16xf32>
  return %y, %z, %t : tensor<1x4x16x16xf32>, tensor<1x4x16x16xf32>, tensor<1x4x?x16xf32>
}
