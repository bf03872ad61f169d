// RUN: atc-opt %s --host-fold-batch-norm --split-input-file | FileCheck %s

// scale / sqrt(variance + epsilon) is 2 and 0.5; the shift of the second channel is
// 3 - 4 * 0.5 + 0.5 * its bias.
// CHECK-LABEL: func @folds
// CHECK-DAG: %[[W:.*]] = graph.constant dense<{{\[\[}}[2.000000e+00]], {{\[\[}}5.000000e-01]]]> : tensor<2x1x1xf32>
// CHECK-DAG: %[[B:.*]] = graph.constant dense<[2.100000e+01, 6.000000e+00]> : tensor<2xf32>
// CHECK: %[[Y:.*]] = graph.host_call "Conv"(%arg0, %[[W]], %[[B]]) {strides = array<i64: 2>}
// CHECK-NEXT: return %[[Y]]
func.func @folds(%x: tensor<*xf32>) -> tensor<*xf32> {
  %w = graph.constant dense<1.0> : tensor<2x1x1xf32>
  %b = graph.constant dense<10.0> : tensor<2xf32>
  %scale = graph.constant dense<[2.0, 1.0]> : tensor<2xf32>
  %shift = graph.constant dense<[1.0, 3.0]> : tensor<2xf32>
  %mean = graph.constant dense<[0.0, 4.0]> : tensor<2xf32>
  %variance = graph.constant dense<[0.75, 3.75]> : tensor<2xf32>
  %c = graph.host_call "Conv"(%x, %w, %b) {strides = array<i64: 2>} : (tensor<*xf32>, tensor<2x1x1xf32>, tensor<2xf32>) -> tensor<*xf32>
  %y = graph.host_call "BatchNormalization"(%c, %scale, %shift, %mean, %variance) {epsilon = array<f64: 0.25>} : (tensor<*xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

// Another reader of the convolution, statistics of the input, numbers that are not known.
// CHECK-LABEL: func @stays
// CHECK-COUNT-3: "BatchNormalization"
func.func @stays(%x: tensor<*xf32>, %v: tensor<2xf32>) -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>) {
  %w = graph.constant dense<1.0> : tensor<2x1x1xf32>
  %one = graph.constant dense<1.0> : tensor<2xf32>
  %c = graph.host_call "Conv"(%x, %w) {} : (tensor<*xf32>, tensor<2x1x1xf32>) -> tensor<*xf32>
  %y = graph.host_call "BatchNormalization"(%c, %one, %one, %one, %one) {} : (tensor<*xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<*xf32>
  %d = graph.host_call "Conv"(%y, %w) {} : (tensor<*xf32>, tensor<2x1x1xf32>) -> tensor<*xf32>
  %z = graph.host_call "BatchNormalization"(%d, %one, %one, %one, %one) {training_mode = array<i64: 1>} : (tensor<*xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<*xf32>
  %e = graph.host_call "Conv"(%z, %w) {} : (tensor<*xf32>, tensor<2x1x1xf32>) -> tensor<*xf32>
  %u = graph.host_call "BatchNormalization"(%e, %one, %v, %one, %one) {} : (tensor<*xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<*xf32>
  return %c, %y, %z, %u : tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>
}

// -----

// Normalization written as arithmetic: 3 - (x + 10) * scale / 4 with a scale of 0.5 and 1. Numbers of another dim and
// those that are no constants stay.
// CHECK-LABEL: func @arithmetic
// CHECK-DAG: %[[W:.*]] = graph.constant dense<{{\[\[}}[-1.250000e-01]], {{\[\[}}-2.500000e-01]]]> : tensor<2x1x1xf32>
// CHECK-DAG: %[[B:.*]] = graph.constant dense<[1.750000e+00, 5.000000e-01]> : tensor<2xf32>
// CHECK: %[[Y:.*]] = graph.host_call "Conv"(%arg0, %[[W]], %[[B]]) {strides = array<i64: 2>}
// CHECK-NEXT: %[[Z:.*]] = graph.host_call "Mul"(%[[Y]]
// CHECK-NEXT: graph.host_call "Add"(%[[Z]]
func.func @arithmetic(%x: tensor<*xf32>, %v: tensor<2x1xf32>) -> tensor<*xf32> {
  %w = graph.constant dense<1.0> : tensor<2x1x1xf32>
  %b = graph.constant dense<10.0> : tensor<2xf32>
  %scale = graph.constant dense<[[[0.5], [1.0]]]> : tensor<1x2x1xf32>
  %divisor = graph.constant dense<4.0> : tensor<f32>
  %shift = graph.constant dense<3.0> : tensor<1x1xf32>
  %columns = graph.constant dense<[[1.0, 2.0]]> : tensor<1x2xf32>
  %c = graph.host_call "Conv"(%x, %w, %b) {strides = array<i64: 2>} : (tensor<*xf32>, tensor<2x1x1xf32>, tensor<2xf32>) -> tensor<*xf32>
  %0 = graph.host_call "Mul"(%scale, %c) {} : (tensor<1x2x1xf32>, tensor<*xf32>) -> tensor<*xf32>
  %1 = graph.host_call "Div"(%0, %divisor) {} : (tensor<*xf32>, tensor<f32>) -> tensor<*xf32>
  %2 = graph.host_call "Sub"(%shift, %1) {} : (tensor<1x1xf32>, tensor<*xf32>) -> tensor<*xf32>
  %3 = graph.host_call "Mul"(%2, %columns) {} : (tensor<*xf32>, tensor<1x2xf32>) -> tensor<*xf32>
  %4 = graph.host_call "Add"(%3, %v) {} : (tensor<*xf32>, tensor<2x1xf32>) -> tensor<*xf32>
  return %4 : tensor<*xf32>
}
