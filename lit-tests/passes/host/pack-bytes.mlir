// RUN: atc-opt %s --host-pack-bytes --split-input-file | FileCheck %s

// Four rows of a column side by side; the parameter has the sums of the columns.
// CHECK-LABEL: func @signed
// CHECK: %[[W:.*]] = graph.constant dense<{{\[\[}}1, 2, 3, 4, 0, 0, 0, 0, {{.*}}> : tensor<4x16xi8>
// CHECK: graph.host_call "MatMulInteger"(%arg0, %[[W]]) {packed = array<i64: 10, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, -5>}
func.func @signed(%x: tensor<*xui8>) -> tensor<*xi32> {
  %w = graph.constant dense<[[1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, -5], [2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], [3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], [4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]]> : tensor<4x16xi8>
  %y = graph.host_call "MatMulInteger"(%x, %w) {} : (tensor<*xui8>, tensor<4x16xi8>) -> tensor<*xi32>
  return %y : tensor<*xi32>
}

// -----

// Unsigned elements are stored less 128; omitted operands stay omitted.
// CHECK-LABEL: func @unsigned
// CHECK: %[[W:.*]] = graph.constant dense<129> : tensor<4x16xui8>
// CHECK: graph.host_call "MatMulIntegerToFloat"(%arg0, %[[W]], %arg1, %arg1, %arg2) at [0, 1, 2, 3, 6] {packed = array<i64: -508, -508, -508, -508, -508, -508, -508, -508, -508, -508, -508, -508, -508, -508, -508, -508>}
func.func @unsigned(%x: tensor<*xui8>, %s: tensor<f32>, %b: tensor<16xf32>) -> tensor<*xf32> {
  %w = graph.constant dense<1> : tensor<4x16xui8>
  %y = graph.host_call "MatMulIntegerToFloat"(%x, %w, %s, %s, %b) at [0, 1, 2, 3, 6] {} : (tensor<*xui8>, tensor<4x16xui8>, tensor<f32>, tensor<f32>, tensor<16xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

// Weights that are stored transposed are packed as if they were not, with the dims that they have.
// CHECK-LABEL: func @transposed
// CHECK: %[[W:.*]] = graph.constant dense_resource<{{.*}}> : tensor<16x8xi8>
// CHECK: graph.host_call "QGemm"(%arg0, %arg1, %arg2, %[[W]], %arg1, %arg2) {packed = array<i64: 36, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>, transB = array<i64: 1>}
func.func @transposed(%x: tensor<*xui8>, %s: tensor<f32>, %z: tensor<ui8>) -> tensor<*xf32> {
  %w = graph.constant dense<[[1, 2, 3, 4, 5, 6, 7, 8], [0, 0, 0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0, 0, 0]]> : tensor<16x8xi8>
  %y = graph.host_call "QGemm"(%x, %s, %z, %w, %s, %z) {transB = array<i64: 1>} : (tensor<*xui8>, tensor<f32>, tensor<ui8>, tensor<16x8xi8>, tensor<f32>, tensor<ui8>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

// No panels: k or n that does not fill them, several matrices, weights that are no constant.
// CHECK-LABEL: func @stays
// CHECK-NOT: packed
func.func @stays(%x: tensor<*xui8>, %v: tensor<4x16xi8>) -> (tensor<*xi32>, tensor<*xi32>, tensor<*xi32>, tensor<*xi32>) {
  %k = graph.constant dense<1> : tensor<6x16xi8>
  %n = graph.constant dense<1> : tensor<4x15xi8>
  %m = graph.constant dense<1> : tensor<2x4x16xi8>
  %0 = graph.host_call "MatMulInteger"(%x, %k) {} : (tensor<*xui8>, tensor<6x16xi8>) -> tensor<*xi32>
  %1 = graph.host_call "MatMulInteger"(%x, %n) {} : (tensor<*xui8>, tensor<4x15xi8>) -> tensor<*xi32>
  %2 = graph.host_call "MatMulInteger"(%x, %m) {} : (tensor<*xui8>, tensor<2x4x16xi8>) -> tensor<*xi32>
  %3 = graph.host_call "MatMulInteger"(%x, %v) {} : (tensor<*xui8>, tensor<4x16xi8>) -> tensor<*xi32>
  return %0, %1, %2, %3 : tensor<*xi32>, tensor<*xi32>, tensor<*xi32>, tensor<*xi32>
}

// -----

// Four input channels side by side, plus 128 where they are signed; the sums of output channels.
// CHECK-LABEL: func @filters
// CHECK: %[[W:.*]] = graph.constant dense<{{\[\[\[}}-127, -125], [-128, -128], [-126, -128], [-128, -128]], {{.*}}> : tensor<3x4x2xi8>
// CHECK: graph.host_call "ConvInteger"(%arg0, %[[W]]) {packed = array<i64: 1030, 1024, 1024>}
// CHECK: graph.host_call "QLinearConv"({{.*}}) {group = array<i64: 2>}
func.func @filters(%x: tensor<*xui8>, %s: tensor<f32>, %z: tensor<ui8>) -> (tensor<*xi32>, tensor<*xui8>) {
  %w = graph.constant dense<[[[1, 2], [3, 0], [0, 0], [0, 0]], [[0, 0], [0, 0], [0, 0], [0, 0]], [[0, 0], [0, 0], [0, 0], [0, 0]]]> : tensor<3x4x2xi8>
  // Two output channels of each group: rows are added.
  %f = graph.constant dense<1> : tensor<4x4x2xi8>
  %0 = graph.host_call "ConvInteger"(%x, %w) {} : (tensor<*xui8>, tensor<3x4x2xi8>) -> tensor<*xi32>
  %1 = graph.host_call "QLinearConv"(%x, %s, %z, %f, %s, %z, %s, %z) {group = array<i64: 2>} : (tensor<*xui8>, tensor<f32>, tensor<ui8>, tensor<4x4x2xi8>, tensor<f32>, tensor<ui8>, tensor<f32>, tensor<ui8>) -> tensor<*xui8>
  return %0, %1 : tensor<*xi32>, tensor<*xui8>
}

// -----

// A result of small floats is computed with floats, which read weights as they are.
// CHECK-LABEL: func @floats
// CHECK-NOT: packed
func.func @floats(%x: tensor<*xui8>, %s: tensor<f32>, %z: tensor<ui8>, %f: tensor<f8E4M3FN>) -> tensor<*xf8E4M3FN> {
  %w = graph.constant dense<1> : tensor<4x16xui8>
  %y = graph.host_call "QLinearMatMul"(%x, %s, %z, %w, %s, %z, %s, %f) {} : (tensor<*xui8>, tensor<f32>, tensor<ui8>, tensor<4x16xui8>, tensor<f32>, tensor<ui8>, tensor<f32>, tensor<f8E4M3FN>) -> tensor<*xf8E4M3FN>
  return %y : tensor<*xf8E4M3FN>
}
