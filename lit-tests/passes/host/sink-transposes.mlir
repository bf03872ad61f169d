// RUN: atc-opt %s --host-sink-transposes --split-input-file | FileCheck %s

// A normalization, an activation and a padding between two convolutions: no Transpose is left.
// CHECK-LABEL: func @between
// CHECK-DAG: %[[S:.*]] = graph.constant dense<{{\[\[\[\[}}2.000000e+00]], {{\[\[}}3.000000e+00]]]]> : tensor<1x2x1x1xf32>
// CHECK-DAG: %[[P:.*]] = graph.constant dense<[0, 0, 1, 3, 0, 0, 2, 4]> : tensor<8xi64>
// CHECK: %[[C:.*]] = graph.host_call "Conv"
// CHECK-NEXT: %[[M:.*]] = graph.host_call "Mul"(%[[C]], %[[S]]) {} : (tensor<?x2x?x?xf32>, tensor<1x2x1x1xf32>) -> tensor<?x2x?x?xf32>
// CHECK-NEXT: %[[R:.*]] = graph.host_call "Clip"(%[[M]], %{{.*}}, %{{.*}})
// CHECK: %[[D:.*]] = graph.host_call "Pad"(%[[R]], %[[P]], %{{.*}}) {mode = "constant"}
// CHECK-NEXT: graph.host_call "Conv"(%[[D]],
func.func @between(%x: tensor<?x3x?x?xf32>) -> tensor<?x2x?x?xf32> {
  %w = graph.constant dense<1.0> : tensor<2x3x1x1xf32>
  %v = graph.constant dense<1.0> : tensor<2x2x1x1xf32>
  %scale = graph.constant dense<[2.0, 3.0]> : tensor<2xf32>
  %zero = graph.constant dense<0.0> : tensor<f32>
  %six = graph.constant dense<6.0> : tensor<f32>
  %pads = graph.constant dense<[0, 1, 3, 0, 0, 2, 4, 0]> : tensor<8xi64>
  %c = graph.host_call "Conv"(%x, %w) {} : (tensor<?x3x?x?xf32>, tensor<2x3x1x1xf32>) -> tensor<?x2x?x?xf32>
  %t = graph.host_call "Transpose"(%c) {perm = array<i64: 0, 2, 3, 1>} : (tensor<?x2x?x?xf32>) -> tensor<?x?x?x2xf32>
  %m = graph.host_call "Mul"(%t, %scale) {} : (tensor<?x?x?x2xf32>, tensor<2xf32>) -> tensor<?x?x?x2xf32>
  %r = graph.host_call "Clip"(%m, %zero, %six) {} : (tensor<?x?x?x2xf32>, tensor<f32>, tensor<f32>) -> tensor<?x?x?x2xf32>
  %p = graph.host_call "Pad"(%r, %pads, %zero) {mode = "constant"} : (tensor<?x?x?x2xf32>, tensor<8xi64>, tensor<f32>) -> tensor<?x?x?x2xf32>
  %b = graph.host_call "Transpose"(%p) {perm = array<i64: 0, 3, 1, 2>} : (tensor<?x?x?x2xf32>) -> tensor<?x2x?x?xf32>
  %y = graph.host_call "Conv"(%b, %v) {} : (tensor<?x2x?x?xf32>, tensor<2x2x1x1xf32>) -> tensor<?x2x?x?xf32>
  return %y : tensor<?x2x?x?xf32>
}

// -----

// Images are joined along their channels, and means are taken of their heights and widths.
// CHECK-LABEL: func @joined
// CHECK-DAG: %[[A:.*]] = graph.constant dense<[2, 3]> : tensor<2xi64>
// CHECK: %[[J:.*]] = graph.host_call "Concat"(%{{.*}}, %{{.*}}) {axis = array<i64: 1>}
// CHECK: graph.host_call "ReduceMean"(%[[J]], %[[A]]) {keepdims = array<i64: 0>} : (tensor<?x4x?x?xf32>, tensor<2xi64>) -> tensor<?x4xf32>
// CHECK-NOT: "Transpose"
func.func @joined(%x: tensor<?x3x?x?xf32>) -> tensor<?x4xf32> {
  %w = graph.constant dense<1.0> : tensor<2x3x1x1xf32>
  %axes = graph.constant dense<[1, -2]> : tensor<2xi64>
  %c = graph.host_call "Conv"(%x, %w) {} : (tensor<?x3x?x?xf32>, tensor<2x3x1x1xf32>) -> tensor<?x2x?x?xf32>
  %t = graph.host_call "Transpose"(%c) {perm = array<i64: 0, 2, 3, 1>} : (tensor<?x2x?x?xf32>) -> tensor<?x?x?x2xf32>
  %s = graph.host_call "Sigmoid"(%t) {} : (tensor<?x?x?x2xf32>) -> tensor<?x?x?x2xf32>
  %j = graph.host_call "Concat"(%t, %s) {axis = array<i64: -1>} : (tensor<?x?x?x2xf32>, tensor<?x?x?x2xf32>) -> tensor<?x?x?x4xf32>
  %y = graph.host_call "ReduceMean"(%j, %axes) {keepdims = array<i64: 0>} : (tensor<?x?x?x4xf32>, tensor<2xi64>) -> tensor<?x4xf32>
  return %y : tensor<?x4xf32>
}

// -----

// The keys of attention, an operand in another order, a constant of two axes, a mean that leaves
// axes in another order, a mean of the channels.
// CHECK-LABEL: func @stays
// CHECK: "Transpose"(%arg0)
// CHECK-NEXT: "Mul"
// CHECK: "Transpose"
// CHECK-NEXT: "Add"
// CHECK-NEXT: "Mul"
// CHECK-NEXT: "ReduceMean"
// CHECK-NEXT: "ReduceMean"
func.func @stays(%k: tensor<?x?x4x8xf32>, %x: tensor<?x3x2x2xf32>, %o: tensor<?x2x2x2xf32>) -> (tensor<?x4x8x?xf32>, tensor<?x2x2x2xf32>, tensor<?x2x2x2xf32>, tensor<?x2x2xf32>, tensor<?x2x2x1xf32>) {
  %half = graph.constant dense<0.5> : tensor<f32>
  %w = graph.constant dense<1.0> : tensor<2x3x1x1xf32>
  %table = graph.constant dense<[[2.0, 3.0], [4.0, 5.0]]> : tensor<2x2xf32>
  %axis = graph.constant dense<1> : tensor<1xi64>
  %last = graph.constant dense<-1> : tensor<1xi64>
  %a = graph.host_call "Transpose"(%k) {perm = array<i64: 0, 2, 3, 1>} : (tensor<?x?x4x8xf32>) -> tensor<?x4x8x?xf32>
  %y0 = graph.host_call "Mul"(%a, %half) {} : (tensor<?x4x8x?xf32>, tensor<f32>) -> tensor<?x4x8x?xf32>
  %c = graph.host_call "Conv"(%x, %w) {} : (tensor<?x3x2x2xf32>, tensor<2x3x1x1xf32>) -> tensor<?x2x2x2xf32>
  %t = graph.host_call "Transpose"(%c) {perm = array<i64: 0, 2, 3, 1>} : (tensor<?x2x2x2xf32>) -> tensor<?x2x2x2xf32>
  %y1 = graph.host_call "Add"(%t, %o) {} : (tensor<?x2x2x2xf32>, tensor<?x2x2x2xf32>) -> tensor<?x2x2x2xf32>
  %y2 = graph.host_call "Mul"(%t, %table) {} : (tensor<?x2x2x2xf32>, tensor<2x2xf32>) -> tensor<?x2x2x2xf32>
  %y3 = graph.host_call "ReduceMean"(%t, %axis) {keepdims = array<i64: 0>} : (tensor<?x2x2x2xf32>, tensor<1xi64>) -> tensor<?x2x2xf32>
  %y4 = graph.host_call "ReduceMean"(%t, %last) {} : (tensor<?x2x2x2xf32>, tensor<1xi64>) -> tensor<?x2x2x1xf32>
  return %y0, %y1, %y2, %y3, %y4 : tensor<?x4x8x?xf32>, tensor<?x2x2x2xf32>, tensor<?x2x2x2xf32>, tensor<?x2x2xf32>, tensor<?x2x2x1xf32>
}
