// RUN: atc-opt %s --host-scale-sums --split-input-file | FileCheck %s

// As onnxruntime.quantization writes a layer: one scale of the rows, one per column of the weights,
// and a bias.
// CHECK-LABEL: func @layer
// CHECK: %[[Q:.*]]:3 = graph.host_call "DynamicQuantizeLinear"
// CHECK-NEXT: %[[Y:.*]] = graph.host_call "MatMulIntegerToFloat"(%[[Q]]#0, %{{.*}}, %[[Q]]#1, %{{.*}}, %[[Q]]#2, %{{.*}}, %arg1) {}
// CHECK-NEXT: return %[[Y]]
func.func @layer(%x: tensor<*xf32>, %b: tensor<2xf32>) -> tensor<*xf32> {
  %w = graph.constant dense<1> : tensor<4x2xi8>
  %z = graph.constant dense<0> : tensor<2xi8>
  %sw = graph.constant dense<[0.5, 2.0]> : tensor<2xf32>
  %q:3 = graph.host_call "DynamicQuantizeLinear"(%x) {} : (tensor<*xf32>) -> (tensor<*xui8>, tensor<*xf32>, tensor<*xui8>)
  %s = graph.host_call "Mul"(%sw, %q#1) {} : (tensor<2xf32>, tensor<*xf32>) -> tensor<*xf32>
  %i = graph.host_call "MatMulInteger"(%q#0, %w, %q#2, %z) {} : (tensor<*xui8>, tensor<4x2xi8>, tensor<*xui8>, tensor<2xi8>) -> tensor<*xi32>
  %f = graph.host_call "Cast"(%i) {to = array<i64: 1>} : (tensor<*xi32>) -> tensor<*xf32>
  %m = graph.host_call "Mul"(%f, %s) {} : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
  %y = graph.host_call "Add"(%b, %m) {} : (tensor<2xf32>, tensor<*xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

// Without zero points and bias. What is added to single elements stays.
// CHECK-LABEL: func @plain
// CHECK: %[[P:.*]] = graph.host_call "MatMulIntegerToFloat"(%arg0, %{{.*}}, %arg1, %{{.*}}) {}
// CHECK: graph.host_call "Add"(%[[P]], %arg2)
func.func @plain(%x: tensor<?x4xui8>, %s: tensor<f32>, %b: tensor<?x2xf32>) -> tensor<*xf32> {
  %w = graph.constant dense<1> : tensor<4x2xi8>
  %sw = graph.constant dense<0.5> : tensor<f32>
  %i = graph.host_call "MatMulInteger"(%x, %w) {} : (tensor<?x4xui8>, tensor<4x2xi8>) -> tensor<*xi32>
  %f = graph.host_call "Cast"(%i) {to = array<i64: 1>} : (tensor<*xi32>) -> tensor<*xf32>
  %t = graph.host_call "Mul"(%s, %sw) {} : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %m = graph.host_call "Mul"(%t, %f) {} : (tensor<f32>, tensor<*xf32>) -> tensor<*xf32>
  %y = graph.host_call "Add"(%m, %b) {} : (tensor<*xf32>, tensor<?x2xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

// Sums that something else reads, zero points or scales that may be one per row, and several
// matrices stay.
// CHECK-LABEL: func @unchanged
// CHECK-NOT: MatMulIntegerToFloat
func.func @unchanged(%x: tensor<?x4xui8>, %z: tensor<?xui8>, %s: tensor<f32>, %r: tensor<?xf32>, %ws: tensor<3x4x2xi8>) -> (tensor<*xf32>, tensor<*xi32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>) {
  %w = graph.constant dense<1> : tensor<4x2xi8>
  %t = graph.host_call "Mul"(%s, %s) {} : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %i = graph.host_call "MatMulInteger"(%x, %w) {} : (tensor<?x4xui8>, tensor<4x2xi8>) -> tensor<*xi32>
  %f = graph.host_call "Cast"(%i) {to = array<i64: 1>} : (tensor<*xi32>) -> tensor<*xf32>
  %m = graph.host_call "Mul"(%f, %t) {} : (tensor<*xf32>, tensor<f32>) -> tensor<*xf32>
  %i1 = graph.host_call "MatMulInteger"(%x, %w, %z) {} : (tensor<?x4xui8>, tensor<4x2xi8>, tensor<?xui8>) -> tensor<*xi32>
  %f1 = graph.host_call "Cast"(%i1) {to = array<i64: 1>} : (tensor<*xi32>) -> tensor<*xf32>
  %m1 = graph.host_call "Mul"(%f1, %t) {} : (tensor<*xf32>, tensor<f32>) -> tensor<*xf32>
  %u = graph.host_call "Mul"(%r, %s) {} : (tensor<?xf32>, tensor<f32>) -> tensor<*xf32>
  %i2 = graph.host_call "MatMulInteger"(%x, %w) {} : (tensor<?x4xui8>, tensor<4x2xi8>) -> tensor<*xi32>
  %f2 = graph.host_call "Cast"(%i2) {to = array<i64: 1>} : (tensor<*xi32>) -> tensor<*xf32>
  %m2 = graph.host_call "Mul"(%f2, %u) {} : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
  %i3 = graph.host_call "MatMulInteger"(%x, %ws) {} : (tensor<?x4xui8>, tensor<3x4x2xi8>) -> tensor<*xi32>
  %f3 = graph.host_call "Cast"(%i3) {to = array<i64: 1>} : (tensor<*xi32>) -> tensor<*xf32>
  %m3 = graph.host_call "Mul"(%f3, %t) {} : (tensor<*xf32>, tensor<f32>) -> tensor<*xf32>
  return %m, %i, %m1, %m2, %m3 : tensor<*xf32>, tensor<*xi32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>
}
