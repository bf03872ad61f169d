// RUN: atc-opt %s --npu-decompose | FileCheck %s

// A linear resize of one dim is a product with the weights of its positions, computed in half-pixel
// coordinates and clamped at the edges.
// CHECK-LABEL: func.func @width
// CHECK: %[[W:.*]] = graph.constant dense<{{\[}}[1.000000e+00, 0.000000e+00], [7.500000e-01, 2.500000e-01], [2.500000e-01, 7.500000e-01], [0.000000e+00, 1.000000e+00]]> : tensor<4x2xf32>
// CHECK: graph.fully_connected %arg0, %[[W]] : (tensor<1x8x3x2xf32>, tensor<4x2xf32>) -> tensor<1x8x3x4xf32>
// CHECK-NOT: graph.resize
func.func @width(%x: tensor<1x8x3x2xf32>) -> tensor<1x8x3x4xf32> {
  %y = graph.resize %x {scales = array<f64: 1.0, 1.0, 1.0, 2.0>, mode = #graph<resize_mode linear>, coordinates = #graph<coordinate_mode half_pixel>, nearest = #graph<nearest_mode floor>} : (tensor<1x8x3x2xf32>) -> tensor<1x8x3x4xf32>
  return %y : tensor<1x8x3x4xf32>
}

// A dim in front is transposed to the end and back.
// CHECK-LABEL: func.func @both
// CHECK: graph.fully_connected {{.*}} -> tensor<1x8x2x4xf32>
// CHECK: graph.transpose {{.*}} -> tensor<1x8x4x2xf32>
// CHECK: graph.fully_connected {{.*}} -> tensor<1x8x4x4xf32>
// CHECK: graph.transpose {{.*}} -> tensor<1x8x4x4xf32>
// CHECK-NOT: graph.resize
func.func @both(%x: tensor<1x8x2x2xf32>) -> tensor<1x8x4x4xf32> {
  %y = graph.resize %x {scales = array<f64: 1.0, 1.0, 2.0, 2.0>, mode = #graph<resize_mode cubic>, coordinates = #graph<coordinate_mode align_corners>, nearest = #graph<nearest_mode floor>} : (tensor<1x8x2x2xf32>) -> tensor<1x8x4x4xf32>
  return %y : tensor<1x8x4x4xf32>
}

// Repeated elements have a program of the vector unit, fractional positions have not.
// CHECK-LABEL: func.func @nearest
// CHECK: graph.resize
// CHECK: graph.fully_connected
func.func @nearest(%x: tensor<1x8x2x2xf32>) -> tensor<1x8x2x6xf32> {
  %y = graph.resize %x {scales = array<f64: 1.0, 1.0, 1.0, 2.0>, mode = #graph<resize_mode nearest>, coordinates = #graph<coordinate_mode asymmetric>, nearest = #graph<nearest_mode floor>} : (tensor<1x8x2x2xf32>) -> tensor<1x8x2x4xf32>
  %z = graph.resize %y {scales = array<f64: 1.0, 1.0, 1.0, 1.5>, mode = #graph<resize_mode nearest>, coordinates = #graph<coordinate_mode asymmetric>, nearest = #graph<nearest_mode floor>} : (tensor<1x8x2x4xf32>) -> tensor<1x8x2x6xf32>
  return %z : tensor<1x8x2x6xf32>
}

// A window that is the whole image is a mean; another one stays.
// CHECK-LABEL: func.func @pool
// CHECK: graph.reduce %arg0
// CHECK: graph.average_pool
func.func @pool(%x: tensor<1x8x36x64xf32>) -> (tensor<1x8x1x1xf32>, tensor<1x8x2x2xf32>) {
  %y = graph.average_pool %x {kernel = array<i64: 36, 64>, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x8x36x64xf32>) -> tensor<1x8x1x1xf32>
  %z = graph.average_pool %x {kernel = array<i64: 18, 32>, strides = array<i64: 18, 32>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x8x36x64xf32>) -> tensor<1x8x2x2xf32>
  return %y, %z : tensor<1x8x1x1xf32>, tensor<1x8x2x2xf32>
}
