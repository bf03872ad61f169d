// RUN: atc-opt %s --host-fuse-conv --split-input-file | FileCheck %s

// A sum and the activation behind it become inputs and attributes; Relu is a Clip, which keeps a
// NaN.
// CHECK-LABEL: func @residual
// CHECK: %[[A:.*]] = graph.host_call "FusedConv"(%arg0, %{{.*}}) {activation = "Clip", activation_params = array<f64: 0.000000e+00, 0x7FF0000000000000>, strides = array<i64: 2, 2>}
// CHECK-NEXT: %[[B:.*]] = graph.host_call "FusedConv"(%[[A]], %{{.*}}, %{{.*}}, %arg0) {activation = "Clip", activation_params = array<f64: 0.000000e+00, 6.000000e+00>}
// CHECK-NEXT: return %[[B]]
func.func @residual(%x: tensor<?x2x?x?xf32>) -> tensor<*xf32> {
  %w = graph.constant dense<1.0> : tensor<2x2x1x1xf32>
  %b = graph.constant dense<1.0> : tensor<2xf32>
  %zero = graph.constant dense<0.0> : tensor<f32>
  %six = graph.constant dense<6.0> : tensor<f32>
  %0 = graph.host_call "Conv"(%x, %w) {strides = array<i64: 2, 2>} : (tensor<?x2x?x?xf32>, tensor<2x2x1x1xf32>) -> tensor<*xf32>
  %1 = graph.host_call "Relu"(%0) {} : (tensor<*xf32>) -> tensor<*xf32>
  %2 = graph.host_call "Conv"(%1, %w, %b) {} : (tensor<*xf32>, tensor<2x2x1x1xf32>, tensor<2xf32>) -> tensor<*xf32>
  %3 = graph.host_call "Add"(%x, %2) {} : (tensor<?x2x?x?xf32>, tensor<*xf32>) -> tensor<*xf32>
  %4 = graph.host_call "Clip"(%3, %zero, %six) {} : (tensor<*xf32>, tensor<f32>, tensor<f32>) -> tensor<*xf32>
  return %4 : tensor<*xf32>
}

// -----

// A convolution without a bias leaves its position empty.
// CHECK-LABEL: func @activations
// CHECK: graph.host_call "FusedConv"(%arg0, %{{.*}}, %arg1) at [0, 1, 3] {activation = "LeakyRelu", activation_params = array<f64: 2.500000e-01>}
// CHECK: graph.host_call "FusedConv"{{.*}} {activation = "Sigmoid"}
// CHECK: graph.host_call "FusedConv"{{.*}} {activation = "Silu"}
// CHECK-NOT: "Sigmoid"(
// CHECK: return
func.func @activations(%x: tensor<*xf32>, %y: tensor<*xf32>) -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>) {
  %w = graph.constant dense<1.0> : tensor<2x2x1x1xf32>
  %0 = graph.host_call "Conv"(%x, %w) {} : (tensor<*xf32>, tensor<2x2x1x1xf32>) -> tensor<*xf32>
  %1 = graph.host_call "Add"(%0, %y) {} : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
  %2 = graph.host_call "LeakyRelu"(%1) {alpha = array<f64: 0.25>} : (tensor<*xf32>) -> tensor<*xf32>
  %3 = graph.host_call "Conv"(%x, %w) {} : (tensor<*xf32>, tensor<2x2x1x1xf32>) -> tensor<*xf32>
  %4 = graph.host_call "Sigmoid"(%3) {} : (tensor<*xf32>) -> tensor<*xf32>
  %5 = graph.host_call "Conv"(%x, %w) {} : (tensor<*xf32>, tensor<2x2x1x1xf32>) -> tensor<*xf32>
  %6 = graph.host_call "Sigmoid"(%5) {} : (tensor<*xf32>) -> tensor<*xf32>
  %7 = graph.host_call "Mul"(%6, %5) {} : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
  return %2, %4, %7 : tensor<*xf32>, tensor<*xf32>, tensor<*xf32>
}

// -----

// Another reader, other element types, bounds that are not known, an activation before the sum.
// CHECK-LABEL: func @stays
// CHECK: graph.host_call "Conv"(%arg0
// CHECK: graph.host_call "Relu"
// CHECK: graph.host_call "Conv"(%arg1
// CHECK: graph.host_call "Relu"
// CHECK: graph.host_call "Conv"(%arg0
// CHECK: graph.host_call "Clip"
// CHECK: graph.host_call "FusedConv"
// CHECK: graph.host_call "Add"
func.func @stays(%x: tensor<*xf32>, %h: tensor<*xf16>, %low: tensor<f32>) -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf16>, tensor<*xf32>, tensor<*xf32>) {
  %w = graph.constant dense<1.0> : tensor<2x2x1x1xf32>
  %v = graph.constant dense<1.0> : tensor<2x2x1x1xf16>
  %0 = graph.host_call "Conv"(%x, %w) {} : (tensor<*xf32>, tensor<2x2x1x1xf32>) -> tensor<*xf32>
  %1 = graph.host_call "Relu"(%0) {} : (tensor<*xf32>) -> tensor<*xf32>
  %2 = graph.host_call "Conv"(%h, %v) {} : (tensor<*xf16>, tensor<2x2x1x1xf16>) -> tensor<*xf16>
  %3 = graph.host_call "Relu"(%2) {} : (tensor<*xf16>) -> tensor<*xf16>
  %4 = graph.host_call "Conv"(%x, %w) {} : (tensor<*xf32>, tensor<2x2x1x1xf32>) -> tensor<*xf32>
  %5 = graph.host_call "Clip"(%4, %low) {} : (tensor<*xf32>, tensor<f32>) -> tensor<*xf32>
  %6 = graph.host_call "Conv"(%x, %w) {} : (tensor<*xf32>, tensor<2x2x1x1xf32>) -> tensor<*xf32>
  %7 = graph.host_call "Tanh"(%6) {} : (tensor<*xf32>) -> tensor<*xf32>
  %8 = graph.host_call "Add"(%7, %x) {} : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
  return %0, %1, %3, %5, %8 : tensor<*xf32>, tensor<*xf32>, tensor<*xf16>, tensor<*xf32>, tensor<*xf32>
}

// -----

// What only moves the results is behind the activation; with a second use it is not.
// CHECK-LABEL: func @moved
// CHECK: %[[A:.*]] = graph.host_call "FusedConv"(%arg0, %{{.*}}) {activation = "Sigmoid"}
// CHECK-NEXT: %[[B:.*]] = graph.host_call "Reshape"(%[[A]], %arg1)
// CHECK-NEXT: %[[C:.*]] = graph.host_call "Transpose"(%[[B]])
// CHECK-NEXT: %[[D:.*]] = graph.host_call "Conv"
// CHECK-NEXT: %[[E:.*]] = graph.host_call "Transpose"(%[[D]])
// CHECK-NEXT: %[[F:.*]] = graph.host_call "Sigmoid"(%[[E]])
// CHECK-NEXT: return %[[C]], %[[E]], %[[F]]
func.func @moved(%x: tensor<*xf32>, %s: tensor<5xi64>) -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>) {
  %w = graph.constant dense<1.0> : tensor<2x2x1x1xf32>
  %0 = graph.host_call "Conv"(%x, %w) {} : (tensor<*xf32>, tensor<2x2x1x1xf32>) -> tensor<*xf32>
  %1 = graph.host_call "Reshape"(%0, %s) {} : (tensor<*xf32>, tensor<5xi64>) -> tensor<*xf32>
  %2 = graph.host_call "Transpose"(%1) {perm = array<i64: 0, 1, 3, 4, 2>} : (tensor<*xf32>) -> tensor<*xf32>
  %3 = graph.host_call "Sigmoid"(%2) {} : (tensor<*xf32>) -> tensor<*xf32>
  %4 = graph.host_call "Conv"(%x, %w) {} : (tensor<*xf32>, tensor<2x2x1x1xf32>) -> tensor<*xf32>
  %5 = graph.host_call "Transpose"(%4) {perm = array<i64: 0, 2, 3, 1>} : (tensor<*xf32>) -> tensor<*xf32>
  %6 = graph.host_call "Sigmoid"(%5) {} : (tensor<*xf32>) -> tensor<*xf32>
  return %3, %5, %6 : tensor<*xf32>, tensor<*xf32>, tensor<*xf32>
}

// -----

// Behind an activation only images in blocks are added, once, and where nothing else reads what is
// in front of the sum.
// CHECK-LABEL: func @blocked
// CHECK: %[[A:.*]] = graph.host_call "BlockedConv"(%arg0, %{{[a-z0-9_]*}}, %arg0) at [0, 1, 3] {activation = "Silu", kernel_shape = array<i64: 1, 1>, sum_last = array<i64: 1>}
// CHECK-NEXT: %[[B:.*]] = graph.host_call "Add"(%[[A]], %arg0)
// CHECK-NEXT: %[[C:.*]] = graph.host_call "BlockedConv"(%[[B]], %{{[a-z0-9_]*}}) {activation = "Silu", kernel_shape = array<i64: 1, 1>}
// CHECK-NEXT: %[[D:.*]] = graph.host_call "Add"(%[[C]], %arg0)
// CHECK-NEXT: return %[[C]], %[[D]]
func.func @blocked(%x: tensor<?x1x?x?x16xf32>) -> (tensor<?x1x?x?x16xf32>, tensor<?x1x?x?x16xf32>) {
  %w = graph.constant dense<1.0> : tensor<1x1x1x16x16xf32>
  %0 = graph.host_call "BlockedConv"(%x, %w) {activation = "Silu", kernel_shape = array<i64: 1, 1>} : (tensor<?x1x?x?x16xf32>, tensor<1x1x1x16x16xf32>) -> tensor<?x1x?x?x16xf32>
  %1 = graph.host_call "Add"(%x, %0) {} : (tensor<?x1x?x?x16xf32>, tensor<?x1x?x?x16xf32>) -> tensor<?x1x?x?x16xf32>
  %2 = graph.host_call "Add"(%1, %x) {} : (tensor<?x1x?x?x16xf32>, tensor<?x1x?x?x16xf32>) -> tensor<?x1x?x?x16xf32>
  %3 = graph.host_call "BlockedConv"(%2, %w) {activation = "Silu", kernel_shape = array<i64: 1, 1>} : (tensor<?x1x?x?x16xf32>, tensor<1x1x1x16x16xf32>) -> tensor<?x1x?x?x16xf32>
  %4 = graph.host_call "Add"(%3, %x) {} : (tensor<?x1x?x?x16xf32>, tensor<?x1x?x?x16xf32>) -> tensor<?x1x?x?x16xf32>
  return %3, %4 : tensor<?x1x?x?x16xf32>, tensor<?x1x?x?x16xf32>
}
