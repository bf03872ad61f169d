// RUN: atc-opt %s --graph-fold-pad --split-input-file | FileCheck %s

// CHECK-LABEL: func @conv
// CHECK-NOT: graph.pad
// CHECK: graph.conv %arg0, {{.*}} pads = array<i64: 1, 2, 4, 3>
func.func @conv(%x: tensor<1x1x4x4xf32>, %w: tensor<1x1x3x3xf32>) -> tensor<1x1x7x7xf32> {
  %0 = graph.pad %x {low = array<i64: 0, 0, 1, 2>, high = array<i64: 0, 0, 3, 2>, mode = #graph<pad_mode constant>} : (tensor<1x1x4x4xf32>) -> tensor<1x1x8x8xf32>
  %1 = graph.conv %0, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x1x8x8xf32>, tensor<1x1x3x3xf32>) -> tensor<1x1x7x7xf32>
  return %1 : tensor<1x1x7x7xf32>
}

// -----

// CHECK-LABEL: func @average_pool
// CHECK-NOT: graph.pad
// CHECK: graph.average_pool %arg0 {count_include_pad = true, {{.*}} pads = array<i64: 1, 1, 1, 1>
func.func @average_pool(%x: tensor<1x1x4x4xf32>) -> tensor<1x1x4x4xf32> {
  %0 = graph.pad %x {low = array<i64: 0, 0, 1, 1>, high = array<i64: 0, 0, 1, 1>, mode = #graph<pad_mode constant>} : (tensor<1x1x4x4xf32>) -> tensor<1x1x6x6xf32>
  %1 = graph.average_pool %0 {kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x1x6x6xf32>) -> tensor<1x1x4x4xf32>
  return %1 : tensor<1x1x4x4xf32>
}

// -----

// CHECK-LABEL: func @max_pool
// CHECK-NOT: graph.pad
// CHECK: graph.max_pool %arg0 {{.*}} pads = array<i64: 1, 1, 1, 1>
// CHECK: %[[R:.*]] = graph.relu
// CHECK-NOT: graph.pad
// CHECK: graph.max_pool %[[R]] {{.*}} pads = array<i64: 1, 1, 1, 1>
func.func @max_pool(%x: tensor<1x1x4x4xf32>) -> (tensor<1x1x4x4xf32>, tensor<1x1x4x4xf32>) {
  %0 = graph.pad %x {low = array<i64: 0, 0, 1, 1>, high = array<i64: 0, 0, 1, 1>, mode = #graph<pad_mode constant>, value = 0xFFF0000000000000 : f64} : (tensor<1x1x4x4xf32>) -> tensor<1x1x6x6xf32>
  %1 = graph.max_pool %0 {kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x1x6x6xf32>) -> tensor<1x1x4x4xf32>
  %2 = graph.relu %x : (tensor<1x1x4x4xf32>) -> tensor<1x1x4x4xf32>
  %3 = graph.pad %2 {low = array<i64: 0, 0, 1, 1>, high = array<i64: 0, 0, 1, 1>, mode = #graph<pad_mode constant>} : (tensor<1x1x4x4xf32>) -> tensor<1x1x6x6xf32>
  %4 = graph.max_pool %3 {kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x1x6x6xf32>) -> tensor<1x1x4x4xf32>
  return %1, %4 : tensor<1x1x4x4xf32>, tensor<1x1x4x4xf32>
}

// -----

// Pads channels; pads with ones; crops; reflects.
// CHECK-LABEL: func @conv_left_alone
// CHECK-COUNT-4: graph.pad
func.func @conv_left_alone(%x: tensor<1x1x4x4xf32>, %w: tensor<1x1x3x3xf32>, %w2: tensor<1x2x3x3xf32>) -> (tensor<1x1x2x2xf32>, tensor<1x1x3x3xf32>, tensor<1x1x1x1xf32>, tensor<1x1x3x3xf32>) {
  %0 = graph.pad %x {low = array<i64: 0, 1, 0, 0>, high = array<i64: 0, 0, 0, 0>, mode = #graph<pad_mode constant>} : (tensor<1x1x4x4xf32>) -> tensor<1x2x4x4xf32>
  %1 = graph.conv %0, %w2 {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x2x4x4xf32>, tensor<1x2x3x3xf32>) -> tensor<1x1x2x2xf32>
  %2 = graph.pad %x {low = array<i64: 0, 0, 1, 1>, high = array<i64: 0, 0, 0, 0>, mode = #graph<pad_mode constant>, value = 1.0 : f64} : (tensor<1x1x4x4xf32>) -> tensor<1x1x5x5xf32>
  %3 = graph.conv %2, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x1x5x5xf32>, tensor<1x1x3x3xf32>) -> tensor<1x1x3x3xf32>
  %4 = graph.pad %x {low = array<i64: 0, 0, -1, -1>, high = array<i64: 0, 0, 0, 0>, mode = #graph<pad_mode constant>} : (tensor<1x1x4x4xf32>) -> tensor<1x1x3x3xf32>
  %5 = graph.conv %4, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x1x3x3xf32>, tensor<1x1x3x3xf32>) -> tensor<1x1x1x1xf32>
  %6 = graph.pad %x {low = array<i64: 0, 0, 1, 1>, high = array<i64: 0, 0, 0, 0>, mode = #graph<pad_mode reflect>} : (tensor<1x1x4x4xf32>) -> tensor<1x1x5x5xf32>
  %7 = graph.conv %6, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x1x5x5xf32>, tensor<1x1x3x3xf32>) -> tensor<1x1x3x3xf32>
  return %1, %3, %5, %7 : tensor<1x1x2x2xf32>, tensor<1x1x3x3xf32>, tensor<1x1x1x1xf32>, tensor<1x1x3x3xf32>
}

// -----

// Zeros can win over negative elements; the pool's own padding does not count;
// a window would hold padding only.
// CHECK-LABEL: func @pools_left_alone
// CHECK-COUNT-3: graph.pad
func.func @pools_left_alone(%x: tensor<1x1x4x4xf32>) -> (tensor<1x1x4x4xf32>, tensor<1x1x6x6xf32>, tensor<1x1x6x6xf32>) {
  %0 = graph.pad %x {low = array<i64: 0, 0, 1, 1>, high = array<i64: 0, 0, 1, 1>, mode = #graph<pad_mode constant>} : (tensor<1x1x4x4xf32>) -> tensor<1x1x6x6xf32>
  %1 = graph.max_pool %0 {kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x1x6x6xf32>) -> tensor<1x1x4x4xf32>
  %2 = graph.average_pool %0 {kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>} : (tensor<1x1x6x6xf32>) -> tensor<1x1x6x6xf32>
  %3 = graph.relu %x : (tensor<1x1x4x4xf32>) -> tensor<1x1x4x4xf32>
  %4 = graph.pad %3 {low = array<i64: 0, 0, 2, 2>, high = array<i64: 0, 0, 2, 2>, mode = #graph<pad_mode constant>} : (tensor<1x1x4x4xf32>) -> tensor<1x1x8x8xf32>
  %5 = graph.pad %4 {low = array<i64: 0, 0, -1, -1>, high = array<i64: 0, 0, -1, -1>, mode = #graph<pad_mode constant>} : (tensor<1x1x8x8xf32>) -> tensor<1x1x6x6xf32>
  %6 = graph.max_pool %5 {kernel = array<i64: 1, 1>, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x1x6x6xf32>) -> tensor<1x1x6x6xf32>
  return %1, %2, %6 : tensor<1x1x4x4xf32>, tensor<1x1x6x6xf32>, tensor<1x1x6x6xf32>
}
