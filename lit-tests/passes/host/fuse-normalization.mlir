// RUN: atc-opt %s --host-fuse-normalization --split-input-file | FileCheck %s

// The forms of both PyTorch exporters: 1 / sqrt and Reciprocal(Sqrt).
// CHECK-LABEL: func @rms_norm
// CHECK: %[[W:.*]] = graph.constant dense<2.000000e+00> : tensor<8xf32>
// CHECK: %[[A:.*]] = graph.host_call "RMSNormalization"(%arg0, %[[W]]) {axis = array<i64: -1>, epsilon = array<f64: 9.9999997473787516E-6>}
// CHECK: %[[B:.*]] = graph.host_call "RMSNormalization"(%[[A]], %[[W]])
// CHECK: return %[[B]]
func.func @rms_norm(%x: tensor<*xf32>) -> tensor<*xf32> {
  %w = graph.constant dense<2.0> : tensor<8xf32>
  %one = graph.constant dense<1.0> : tensor<f32>
  %two = graph.constant dense<2.0> : tensor<f32>
  %eps = graph.constant dense<1.0e-5> : tensor<f32>
  %axis = graph.constant dense<-1> : tensor<1xi64>
  %p = graph.host_call "Pow"(%x, %two) {} : (tensor<*xf32>, tensor<f32>) -> tensor<*xf32>
  %m = graph.host_call "ReduceMean"(%p, %axis) {keepdims = array<i64: 1>} : (tensor<*xf32>, tensor<1xi64>) -> tensor<*xf32>
  %s = graph.host_call "Add"(%m, %eps) {} : (tensor<*xf32>, tensor<f32>) -> tensor<*xf32>
  %r = graph.host_call "Sqrt"(%s) {} : (tensor<*xf32>) -> tensor<*xf32>
  %d = graph.host_call "Div"(%one, %r) {} : (tensor<f32>, tensor<*xf32>) -> tensor<*xf32>
  %n = graph.host_call "Mul"(%x, %d) {} : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
  %a = graph.host_call "Mul"(%w, %n) {} : (tensor<8xf32>, tensor<*xf32>) -> tensor<*xf32>
  %p1 = graph.host_call "Mul"(%a, %a) {} : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
  %m1 = graph.host_call "ReduceMean"(%p1, %axis) {keepdims = array<i64: 1>} : (tensor<*xf32>, tensor<1xi64>) -> tensor<*xf32>
  %s1 = graph.host_call "Add"(%eps, %m1) {} : (tensor<f32>, tensor<*xf32>) -> tensor<*xf32>
  %r1 = graph.host_call "Sqrt"(%s1) {} : (tensor<*xf32>) -> tensor<*xf32>
  %d1 = graph.host_call "Reciprocal"(%r1) {} : (tensor<*xf32>) -> tensor<*xf32>
  %n1 = graph.host_call "Mul"(%d1, %a) {} : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
  %b = graph.host_call "Mul"(%n1, %w) {} : (tensor<*xf32>, tensor<8xf32>) -> tensor<*xf32>
  return %b : tensor<*xf32>
}

// -----

// A mean along another axis, the norm of another value, a scale that is not known.
// CHECK-LABEL: func @no_rms_norm
// CHECK-NOT: RMSNormalization
func.func @no_rms_norm(%x: tensor<*xf32>, %y: tensor<*xf32>, %scale: tensor<8xf32>) -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>) {
  %w = graph.constant dense<2.0> : tensor<8xf32>
  %two = graph.constant dense<2.0> : tensor<f32>
  %eps = graph.constant dense<1.0e-5> : tensor<f32>
  %axis = graph.constant dense<-1> : tensor<1xi64>
  %other = graph.constant dense<1> : tensor<1xi64>
  %p = graph.host_call "Pow"(%x, %two) {} : (tensor<*xf32>, tensor<f32>) -> tensor<*xf32>
  %m = graph.host_call "ReduceMean"(%p, %other) {keepdims = array<i64: 1>} : (tensor<*xf32>, tensor<1xi64>) -> tensor<*xf32>
  %s = graph.host_call "Add"(%m, %eps) {} : (tensor<*xf32>, tensor<f32>) -> tensor<*xf32>
  %r = graph.host_call "Sqrt"(%s) {} : (tensor<*xf32>) -> tensor<*xf32>
  %n = graph.host_call "Div"(%x, %r) {} : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
  %a = graph.host_call "Mul"(%w, %n) {} : (tensor<8xf32>, tensor<*xf32>) -> tensor<*xf32>
  %m1 = graph.host_call "ReduceMean"(%p, %axis) {keepdims = array<i64: 1>} : (tensor<*xf32>, tensor<1xi64>) -> tensor<*xf32>
  %s1 = graph.host_call "Add"(%m1, %eps) {} : (tensor<*xf32>, tensor<f32>) -> tensor<*xf32>
  %r1 = graph.host_call "Sqrt"(%s1) {} : (tensor<*xf32>) -> tensor<*xf32>
  %n1 = graph.host_call "Div"(%y, %r1) {} : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
  %b = graph.host_call "Mul"(%w, %n1) {} : (tensor<8xf32>, tensor<*xf32>) -> tensor<*xf32>
  %n2 = graph.host_call "Div"(%x, %r1) {} : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
  %c = graph.host_call "Mul"(%scale, %n2) {} : (tensor<8xf32>, tensor<*xf32>) -> tensor<*xf32>
  return %a, %b, %c : tensor<*xf32>, tensor<*xf32>, tensor<*xf32>
}

// -----

// CHECK-LABEL: func @activations
// CHECK-NEXT: %[[S:.*]] = graph.host_call "Swish"(%arg0) {}
// CHECK-NEXT: %[[G:.*]] = graph.host_call "Gelu"(%[[S]]) {approximate = "tanh"}
// CHECK-NEXT: return %[[G]]
func.func @activations(%x: tensor<*xf32>) -> tensor<*xf32> {
  %one = graph.constant dense<1.0> : tensor<f32>
  %three = graph.constant dense<3.0> : tensor<f32>
  %half = graph.constant dense<0.5> : tensor<f32>
  %root = graph.constant dense<0.797884583> : tensor<f32>
  %cubic = graph.constant dense<4.471500e-02> : tensor<f32>
  %g = graph.host_call "Sigmoid"(%x) {} : (tensor<*xf32>) -> tensor<*xf32>
  %s = graph.host_call "Mul"(%x, %g) {} : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
  %h = graph.host_call "Mul"(%s, %half) {} : (tensor<*xf32>, tensor<f32>) -> tensor<*xf32>
  %p = graph.host_call "Pow"(%s, %three) {} : (tensor<*xf32>, tensor<f32>) -> tensor<*xf32>
  %c = graph.host_call "Mul"(%p, %cubic) {} : (tensor<*xf32>, tensor<f32>) -> tensor<*xf32>
  %a = graph.host_call "Add"(%s, %c) {} : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
  %r = graph.host_call "Mul"(%a, %root) {} : (tensor<*xf32>, tensor<f32>) -> tensor<*xf32>
  %t = graph.host_call "Tanh"(%r) {} : (tensor<*xf32>) -> tensor<*xf32>
  %u = graph.host_call "Add"(%t, %one) {} : (tensor<*xf32>, tensor<f32>) -> tensor<*xf32>
  %y = graph.host_call "Mul"(%h, %u) {} : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}
