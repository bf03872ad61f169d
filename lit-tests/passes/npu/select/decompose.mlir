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

// What a border repeats is sliced; rows of the width and height are copied whole.
// CHECK-LABEL: func.func @reflect
// CHECK-DAG: %[[A:.*]] = graph.slice %arg0 {sizes = array<i64: 1, 8, 1, 4>, starts = array<i64: 0, 0, 1, 0>
// CHECK-DAG: %[[B:.*]] = graph.slice %arg0 {sizes = array<i64: 1, 8, 1, 4>, starts = array<i64: 0, 0, 2, 0>
// CHECK: %[[C:.*]] = graph.concat %[[A]], %arg0, %[[B]] {axis = 2 : i64}
// CHECK: graph.concat %{{.*}}, %[[C]], %{{.*}} {axis = 3 : i64} : {{.*}} -> tensor<1x8x6x7xf32>
// CHECK-NOT: graph.pad
func.func @reflect(%x: tensor<1x8x4x4xf32>) -> tensor<1x8x6x7xf32> {
  %y = graph.pad %x {low = array<i64: 0, 0, 1, 2>, high = array<i64: 0, 0, 1, 1>, mode = #graph<pad_mode reflect>} : (tensor<1x8x4x4xf32>) -> tensor<1x8x6x7xf32>
  return %y : tensor<1x8x6x7xf32>
}

// A wrapped border is a single slice however wide it is; a wide reflected one is gathered; zeros stay.
// CHECK-LABEL: func.func @borders
// CHECK: %[[W:.*]] = graph.slice %arg0 {sizes = array<i64: 40>, starts = array<i64: 24>
// CHECK: graph.concat %[[W]], %arg0 {axis = 0 : i64}
// CHECK: graph.gather %arg0
// CHECK: graph.pad {{.*}}mode = #graph<pad_mode constant>
func.func @borders(%x: tensor<64xf32>) -> (tensor<104xf32>, tensor<104xf32>, tensor<66xf32>) {
  %a = graph.pad %x {low = array<i64: 40>, high = array<i64: 0>, mode = #graph<pad_mode wrap>} : (tensor<64xf32>) -> tensor<104xf32>
  %b = graph.pad %x {low = array<i64: 40>, high = array<i64: 0>, mode = #graph<pad_mode reflect>} : (tensor<64xf32>) -> tensor<104xf32>
  %c = graph.pad %x {low = array<i64: 1>, high = array<i64: 1>, mode = #graph<pad_mode constant>} : (tensor<64xf32>) -> tensor<66xf32>
  return %a, %b, %c : tensor<104xf32>, tensor<104xf32>, tensor<66xf32>
}

// Indices that are known: one slice per run of consecutive ones. Others stay.
// CHECK-LABEL: func.func @gather
// CHECK: %[[A:.*]] = graph.slice %arg0 {sizes = array<i64: 2, 3>, starts = array<i64: 6, 0>
// CHECK: %[[B:.*]] = graph.slice %arg0 {sizes = array<i64: 2, 3>, starts = array<i64: 0, 0>
// CHECK: %[[C:.*]] = graph.concat %[[A]], %[[B]] {axis = 0 : i64}
// CHECK: graph.reshape %[[C]] : (tensor<4x3xf32>) -> tensor<2x2x3xf32>
// CHECK: graph.gather %arg0, %arg1
func.func @gather(%x: tensor<8x3xf32>, %i: tensor<4xi64>) -> (tensor<2x2x3xf32>, tensor<4x3xf32>) {
  %known = graph.constant dense<[[-2, 7], [0, 1]]> : tensor<2x2xi64>
  %a = graph.gather %x, %known {axis = 0 : i64} : (tensor<8x3xf32>, tensor<2x2xi64>) -> tensor<2x2x3xf32>
  %b = graph.gather %x, %i {axis = 0 : i64} : (tensor<8x3xf32>, tensor<4xi64>) -> tensor<4x3xf32>
  return %a, %b : tensor<2x2x3xf32>, tensor<4x3xf32>
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

// Wide borders are gathered; what is between them stays as it is.
// CHECK-LABEL: func.func @wide_reflect
// CHECK-DAG: %[[FRONT:.*]] = graph.constant {{.*}} : tensor<40xi64>
// CHECK-DAG: %[[LEFT:.*]] = graph.gather %arg0, %[[FRONT]] {axis = 1 : i64} : (tensor<2x100xf32>, tensor<40xi64>) -> tensor<2x40xf32>
// CHECK-DAG: %[[RIGHT:.*]] = graph.gather %arg0, %{{.*}} {axis = 1 : i64} : (tensor<2x100xf32>, tensor<2xi64>) -> tensor<2x2xf32>
// CHECK: graph.concat %[[LEFT]], %arg0, %[[RIGHT]] {axis = 1 : i64}
// CHECK-NOT: graph.pad
func.func @wide_reflect(%x: tensor<2x100xf32>) -> tensor<2x142xf32> {
  %y = graph.pad %x {low = array<i64: 0, 40>, high = array<i64: 0, 2>, mode = #graph<pad_mode reflect>} : (tensor<2x100xf32>) -> tensor<2x142xf32>
  return %y : tensor<2x142xf32>
}

// Rows that are no image have no program that repeats elements, nor has a single pixel.
// CHECK-LABEL: func.func @repeated
// CHECK: graph.fully_connected %arg0, %{{.*}} -> tensor<1x8x6xf32>
// CHECK: graph.fully_connected {{.*}} -> tensor<1x8x1x4xf32>
// CHECK-NOT: graph.resize
// CHECK: return
func.func @repeated(%x: tensor<1x8x3xf32>, %p: tensor<1x8x1x1xf32>) -> (tensor<1x8x6xf32>, tensor<1x8x1x4xf32>) {
  %y = graph.resize %x {scales = array<f64: 1.0, 1.0, 2.0>, mode = #graph<resize_mode nearest>, coordinates = #graph<coordinate_mode asymmetric>, nearest = #graph<nearest_mode floor>} : (tensor<1x8x3xf32>) -> tensor<1x8x6xf32>
  %z = graph.resize %p {scales = array<f64: 1.0, 1.0, 1.0, 4.0>, mode = #graph<resize_mode nearest>, coordinates = #graph<coordinate_mode asymmetric>, nearest = #graph<nearest_mode floor>} : (tensor<1x8x1x1xf32>) -> tensor<1x8x1x4xf32>
  return %y, %z : tensor<1x8x6xf32>, tensor<1x8x1x4xf32>
}

// CHECK-LABEL: func.func @logarithm
// CHECK: %[[MOST:.*]] = graph.reduce %arg0 {axes = array<i64: 1>, kind = #graph<reduce_kind max>}
// CHECK: %[[M:.*]] = graph.clip %[[MOST]]
// CHECK: %[[REST:.*]] = graph.sub %arg0, %[[M]]
// CHECK: graph.exp %[[REST]]
// CHECK: graph.reduce {{.*}}keepdims = false, kind = #graph<reduce_kind sum>
// CHECK: %[[FLAT:.*]] = graph.reshape %[[M]] : (tensor<3x1x9xf32>) -> tensor<3x9xf32>
// CHECK: graph.add %{{.*}}, %[[FLAT]]
func.func @logarithm(%x: tensor<3x5x9xf32>) -> tensor<3x9xf32> {
  %y = graph.reduce %x {axes = array<i64: 1>, keepdims = false, kind = #graph<reduce_kind log_sum_exp>} : (tensor<3x5x9xf32>) -> tensor<3x9xf32>
  return %y : tensor<3x9xf32>
}
