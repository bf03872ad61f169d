// RUN: atc-opt %s --cpu-split-pools | FileCheck %s

// CHECK-LABEL: func @large
// CHECK: %[[R:.*]] = graph.max_pool %arg0 {dilations = array<i64: 1, 1>, kernel = array<i64: 1, 13>, pads = array<i64: 0, 6, 0, 5>, strides = array<i64: 1, 1>{{.*}} -> tensor<1x4x20x19xf32>
// CHECK-NEXT: graph.max_pool %[[R]] {{.*}}kernel = array<i64: 9, 1>, pads = array<i64: 3, 0, 4, 0>{{.*}} -> tensor<1x4x19x19xf32>
func.func @large(%x: tensor<1x4x20x20xf32>) -> tensor<1x4x19x19xf32> {
  %y = graph.max_pool %x {kernel = array<i64: 9, 13>, strides = array<i64: 1, 1>, pads = array<i64: 3, 6, 4, 5>, dilations = array<i64: 1, 1>} : (tensor<1x4x20x20xf32>) -> tensor<1x4x19x19xf32>
  return %y : tensor<1x4x19x19xf32>
}

// Two steps would read hardly less.
// CHECK-LABEL: func @small
// CHECK-COUNT-1: graph.max_pool
// CHECK-NOT: graph.max_pool
func.func @small(%x: tensor<1x4x20x20xf32>) -> tensor<1x4x10x10xf32> {
  %y = graph.max_pool %x {kernel = array<i64: 3, 3>, strides = array<i64: 2, 2>, pads = array<i64: 1, 1, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x4x20x20xf32>) -> tensor<1x4x10x10xf32>
  return %y : tensor<1x4x10x10xf32>
}

// One window: the maxima along rows are all that there is.
// CHECK-LABEL: func @global
// CHECK-COUNT-1: graph.max_pool
// CHECK-NOT: graph.max_pool
func.func @global(%x: tensor<1x4x20x20xf32>) -> tensor<1x4x1x1xf32> {
  %y = graph.max_pool %x {kernel = array<i64: 20, 20>, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x4x20x20xf32>) -> tensor<1x4x1x1xf32>
  return %y : tensor<1x4x1x1xf32>
}
