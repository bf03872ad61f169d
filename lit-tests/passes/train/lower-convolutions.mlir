// RUN: atc-opt %s --train-lower-convolutions | FileCheck %s

// CHECK-LABEL: func.func @computed
// CHECK-NOT: graph.conv
// CHECK: graph.pad
// CHECK-COUNT-9: graph.slice
// CHECK: graph.concat
// CHECK: graph.matmul {{.*}} : (tensor<2x36x27xf32>, tensor<27x4xf32>) -> tensor<2x36x4xf32>
func.func @computed(%x: tensor<2x3x6x6xf32>, %w: tensor<4x3x3x3xf32>) -> tensor<2x4x6x6xf32> {
  %y = graph.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<2x3x6x6xf32>, tensor<4x3x3x3xf32>) -> tensor<2x4x6x6xf32>
  return %y : tensor<2x4x6x6xf32>
}

// CHECK-LABEL: func.func @depthwise
// CHECK-NOT: graph.matmul
// CHECK-COUNT-4: graph.mul
// CHECK: return
func.func @depthwise(%x: tensor<2x3x4x4xf32>, %w: tensor<3x1x2x2xf32>) -> tensor<2x3x3x3xf32> {
  %y = graph.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 3 : i64} : (tensor<2x3x4x4xf32>, tensor<3x1x2x2xf32>) -> tensor<2x3x3x3xf32>
  return %y : tensor<2x3x3x3xf32>
}

// A constant filter keeps its kernel; a computed bias becomes an addition.
// CHECK-LABEL: func.func @constant
// CHECK: %[[C:.*]] = graph.conv %{{.*}}, %{{[^ ]*}} {dilations
// CHECK: graph.add %[[C]]
func.func @constant(%x: tensor<1x1x4x4xf32>, %b: tensor<1xf32>) -> tensor<1x1x4x4xf32> {
  %w = graph.constant dense<2.0> : tensor<1x1x1x1xf32>
  %y = graph.conv %x, %w bias %b {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x1x4x4xf32>, tensor<1x1x1x1xf32>, tensor<1xf32>) -> tensor<1x1x4x4xf32>
  return %y : tensor<1x1x4x4xf32>
}

// CHECK-LABEL: func.func @fully_connected
// CHECK: %[[T:.*]] = graph.transpose
// CHECK: graph.matmul %{{.*}}, %[[T]]
func.func @fully_connected(%x: tensor<2x3xf32>, %w: tensor<4x3xf32>) -> tensor<2x4xf32> {
  %y = graph.fully_connected %x, %w : (tensor<2x3xf32>, tensor<4x3xf32>) -> tensor<2x4xf32>
  return %y : tensor<2x4xf32>
}

// A pool over three dims is the maximum of slices; one over two keeps its kernel.
// CHECK-LABEL: func.func @pools
// CHECK: graph.max_pool {{.*}}tensor<1x1x4x4xf32>
// CHECK-NOT: graph.max_pool
// CHECK-COUNT-8: graph.slice
// CHECK-COUNT-7: graph.max
// CHECK-NOT: graph.average_pool
// CHECK: graph.div
func.func @pools(%x: tensor<1x1x4x4xf32>, %v: tensor<1x1x4x4x4xf32>) -> (tensor<1x1x2x2xf32>, tensor<1x1x2x2x2xf32>, tensor<1x1x2x2x2xf32>) {
  %0 = graph.max_pool %x {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, ceil_mode = false} : (tensor<1x1x4x4xf32>) -> tensor<1x1x2x2xf32>
  %1 = graph.max_pool %v {kernel = array<i64: 2, 2, 2>, strides = array<i64: 2, 2, 2>, pads = array<i64: 0, 0, 0, 0, 0, 0>, dilations = array<i64: 1, 1, 1>, ceil_mode = false} : (tensor<1x1x4x4x4xf32>) -> tensor<1x1x2x2x2xf32>
  %2 = graph.average_pool %v {kernel = array<i64: 2, 2, 2>, strides = array<i64: 2, 2, 2>, pads = array<i64: 0, 0, 0, 0, 0, 0>, dilations = array<i64: 1, 1, 1>, ceil_mode = false, count_include_pad = false} : (tensor<1x1x4x4x4xf32>) -> tensor<1x1x2x2x2xf32>
  return %0, %1, %2 : tensor<1x1x2x2xf32>, tensor<1x1x2x2x2xf32>, tensor<1x1x2x2x2xf32>
}
