// RUN: atc-opt %s --npu-bytes-as-halves | FileCheck %s

// Positions stay integers.
// CHECK-LABEL: func.func @positions
// CHECK: %[[H:.*]] = graph.cast %arg0 : (tensor<2x9xi8>) -> tensor<2x9xf16>
// CHECK: %[[Y:.*]] = graph.arg_max %[[H]] {axis = 1 : i64} : (tensor<2x9xf16>) -> tensor<2x1xi64>
// CHECK: return %[[Y]]
func.func @positions(%x: tensor<2x9xi8>) -> tensor<2x1xi64> {
  %y = graph.arg_max %x {axis = 1 : i64} : (tensor<2x9xi8>) -> tensor<2x1xi64>
  return %y : tensor<2x1xi64>
}

// So are those of unsigned bytes, for which no kernel compares integers.
// CHECK-LABEL: func.func @unsigned_positions
// CHECK: %[[H:.*]] = graph.cast %arg0 : (tensor<2x9xui8>) -> tensor<2x9xf16>
// CHECK: graph.arg_min %[[H]] {axis = 1 : i64} : (tensor<2x9xf16>) -> tensor<2x1xi64>
func.func @unsigned_positions(%x: tensor<2x9xui8>) -> tensor<2x1xi64> {
  %y = graph.arg_min %x {axis = 1 : i64} : (tensor<2x9xui8>) -> tensor<2x1xi64>
  return %y : tensor<2x1xi64>
}

// Elements that are repeated along the last dim, not those along others, nor floats.
// CHECK-LABEL: func.func @repeated
// CHECK: graph.expand %{{.*}} : (tensor<4x1xf16>) -> tensor<4x8xf16>
// CHECK: graph.map {{.*}} : (tensor<4x8xf16>) -> tensor<4x8xui8>
// CHECK: math.roundeven
// CHECK: arith.fptoui
// CHECK: graph.expand %{{.*}} : (tensor<4x1xf16>) -> tensor<4x8xf16>
// CHECK: graph.cast %{{.*}} : (tensor<4x8xf16>) -> tensor<4x8xi1>
// CHECK: graph.expand %arg2 : (tensor<1x8xi8>) -> tensor<4x8xi8>
// CHECK: graph.expand %arg3 : (tensor<4x1xf32>) -> tensor<4x8xf32>
func.func @repeated(%a: tensor<4x1xui8>, %b: tensor<4x1xi1>, %c: tensor<1x8xi8>, %d: tensor<4x1xf32>)
    -> (tensor<4x8xui8>, tensor<4x8xi1>, tensor<4x8xi8>, tensor<4x8xf32>) {
  %p = graph.expand %a : (tensor<4x1xui8>) -> tensor<4x8xui8>
  %q = graph.expand %b : (tensor<4x1xi1>) -> tensor<4x8xi1>
  %r = graph.expand %c : (tensor<1x8xi8>) -> tensor<4x8xi8>
  %s = graph.expand %d : (tensor<4x1xf32>) -> tensor<4x8xf32>
  return %p, %q, %r, %s : tensor<4x8xui8>, tensor<4x8xi1>, tensor<4x8xi8>, tensor<4x8xf32>
}

// A resize by a whole factor has a program on bytes; others become products.
// CHECK-LABEL: func.func @resizes
// CHECK: graph.resize {{.*}} -> tensor<1x8x4x4xi8>
// CHECK: graph.resize {{.*}} : (tensor<1x8x4x4xf16>) -> tensor<1x8x6x6xf16>
func.func @resizes(%x: tensor<1x8x2x2xi8>) -> tensor<1x8x6x6xi8> {
  %y = graph.resize %x {scales = array<f64: 1.0, 1.0, 2.0, 2.0>, mode = #graph<resize_mode nearest>, coordinates = #graph<coordinate_mode asymmetric>, nearest = #graph<nearest_mode floor>} : (tensor<1x8x2x2xi8>) -> tensor<1x8x4x4xi8>
  %z = graph.resize %y {scales = array<f64: 1.0, 1.0, 1.5, 1.5>, mode = #graph<resize_mode nearest>, coordinates = #graph<coordinate_mode asymmetric>, nearest = #graph<nearest_mode floor>} : (tensor<1x8x4x4xi8>) -> tensor<1x8x6x6xi8>
  return %z : tensor<1x8x6x6xi8>
}
