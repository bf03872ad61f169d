// RUN: atc-opt %s --graph-compose-depth-to-space --split-input-file | FileCheck %s

// CHECK-LABEL: func @crd
// CHECK: %[[Y:.*]] = graph.depth_to_space %arg0 {block = 3 : i64, order = {{.*}}crd
// CHECK-NEXT: return %[[Y]]
func.func @crd(%x: tensor<1x18x4x5xf32>) -> tensor<1x2x12x15xf32> {
  %0 = graph.reshape %x : (tensor<1x18x4x5xf32>) -> tensor<1x2x3x3x4x5xf32>
  %1 = graph.transpose %0 {permutation = array<i64: 0, 1, 4, 2, 5, 3>} : (tensor<1x2x3x3x4x5xf32>) -> tensor<1x2x4x3x5x3xf32>
  %2 = graph.reshape %1 : (tensor<1x2x4x3x5x3xf32>) -> tensor<1x2x12x15xf32>
  return %2 : tensor<1x2x12x15xf32>
}

// -----

// CHECK-LABEL: func @dcr
// CHECK: %[[Y:.*]] = graph.depth_to_space %arg0 {block = 2 : i64, order = {{.*}}dcr
// CHECK-NEXT: return %[[Y]]
func.func @dcr(%x: tensor<1x12x4x5xf32>) -> tensor<1x3x8x10xf32> {
  %0 = graph.reshape %x : (tensor<1x12x4x5xf32>) -> tensor<1x2x2x3x4x5xf32>
  %1 = graph.transpose %0 {permutation = array<i64: 0, 3, 4, 1, 5, 2>} : (tensor<1x2x2x3x4x5xf32>) -> tensor<1x3x4x2x5x2xf32>
  %2 = graph.reshape %1 : (tensor<1x3x4x2x5x2xf32>) -> tensor<1x3x8x10xf32>
  return %2 : tensor<1x3x8x10xf32>
}

// -----

// CHECK-LABEL: func @space_to_depth
// CHECK: %[[Y:.*]] = graph.space_to_depth %arg0 {block = 2 : i64}
// CHECK-NEXT: return %[[Y]]
func.func @space_to_depth(%x: tensor<1x3x8x10xf32>) -> tensor<1x12x4x5xf32> {
  %0 = graph.reshape %x : (tensor<1x3x8x10xf32>) -> tensor<1x3x4x2x5x2xf32>
  %1 = graph.transpose %0 {permutation = array<i64: 0, 3, 5, 1, 2, 4>} : (tensor<1x3x4x2x5x2xf32>) -> tensor<1x2x2x3x4x5xf32>
  %2 = graph.reshape %1 : (tensor<1x2x2x3x4x5xf32>) -> tensor<1x12x4x5xf32>
  return %2 : tensor<1x12x4x5xf32>
}

// -----

// Width before height; the last reshape makes another shape.
// CHECK-LABEL: func @left_alone
// CHECK-NOT: graph.depth_to_space
// CHECK-NOT: graph.space_to_depth
// CHECK: return
func.func @left_alone(%x: tensor<1x12x4x4xf32>) -> (tensor<1x3x8x8xf32>, tensor<1x3x4x16xf32>) {
  %0 = graph.reshape %x : (tensor<1x12x4x4xf32>) -> tensor<1x3x2x2x4x4xf32>
  %1 = graph.transpose %0 {permutation = array<i64: 0, 1, 5, 2, 4, 3>} : (tensor<1x3x2x2x4x4xf32>) -> tensor<1x3x4x2x4x2xf32>
  %2 = graph.reshape %1 : (tensor<1x3x4x2x4x2xf32>) -> tensor<1x3x8x8xf32>
  %3 = graph.transpose %0 {permutation = array<i64: 0, 1, 4, 2, 5, 3>} : (tensor<1x3x2x2x4x4xf32>) -> tensor<1x3x4x2x4x2xf32>
  %4 = graph.reshape %3 : (tensor<1x3x4x2x4x2xf32>) -> tensor<1x3x4x16xf32>
  return %2, %4 : tensor<1x3x8x8xf32>, tensor<1x3x4x16xf32>
}
