// RUN: atc-opt %s --graph-fold-scale-into-conv --split-input-file | FileCheck %s

// (3 x + 4) * 2 / [4, 8] - 1 + [1, 2].
// CHECK-LABEL: func @chain
func.func @chain(%x: tensor<1x1x3x3xf32>) -> tensor<1x2x3x3xf32> {
  %w = graph.constant dense<3.0> : tensor<2x1x1x1xf32>
  %b = graph.constant dense<4.0> : tensor<2xf32>
  %two = graph.constant dense<2.0> : tensor<f32>
  %div = graph.constant dense<[[[[4.0]], [[8.0]]]]> : tensor<1x2x1x1xf32>
  %one = graph.constant dense<1.0> : tensor<1xf32>
  %add = graph.constant dense<[[[1.0]], [[2.0]]]> : tensor<2x1x1xf32>
  // CHECK-DAG: %[[W:.*]] = graph.constant dense<{{\[\[\[\[}}1.500000e+00]]], {{\[\[\[}}7.500000e-01]]]]> : tensor<2x1x1x1xf32>
  // CHECK-DAG: %[[B:.*]] = graph.constant dense<2.000000e+00> : tensor<2xf32>
  // CHECK: %[[Y:.*]] = graph.conv %{{.*}}, %[[W]] bias %[[B]]
  // CHECK-NEXT: return %[[Y]]
  %y = graph.conv %x, %w bias %b {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x1x3x3xf32>, tensor<2x1x1x1xf32>, tensor<2xf32>) -> tensor<1x2x3x3xf32>
  %0 = graph.mul %two, %y : (tensor<f32>, tensor<1x2x3x3xf32>) -> tensor<1x2x3x3xf32>
  %1 = graph.div %0, %div : (tensor<1x2x3x3xf32>, tensor<1x2x1x1xf32>) -> tensor<1x2x3x3xf32>
  %2 = graph.sub %1, %one : (tensor<1x2x3x3xf32>, tensor<1xf32>) -> tensor<1x2x3x3xf32>
  %3 = graph.add %2, %add : (tensor<1x2x3x3xf32>, tensor<2x1x1xf32>) -> tensor<1x2x3x3xf32>
  return %3 : tensor<1x2x3x3xf32>
}

// -----

// CHECK-LABEL: func @constant_minus
func.func @constant_minus(%x: tensor<1x1x3x3xf32>) -> tensor<1x1x3x3xf32> {
  %w = graph.constant dense<3.0> : tensor<1x1x1x1xf32>
  %c = graph.constant dense<5.0> : tensor<f32>
  // CHECK-DAG: %[[W:.*]] = graph.constant dense<-3.000000e+00> : tensor<1x1x1x1xf32>
  // CHECK-DAG: %[[B:.*]] = graph.constant dense<5.000000e+00> : tensor<1xf32>
  // CHECK: %[[Y:.*]] = graph.conv %{{.*}}, %[[W]] bias %[[B]]
  // CHECK-NEXT: return %[[Y]]
  %y = graph.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x1x3x3xf32>, tensor<1x1x1x1xf32>) -> tensor<1x1x3x3xf32>
  %0 = graph.sub %c, %y : (tensor<f32>, tensor<1x1x3x3xf32>) -> tensor<1x1x3x3xf32>
  return %0 : tensor<1x1x3x3xf32>
}

// -----

// The channels of fully_connected are the last dim.
// CHECK-LABEL: func @fully_connected
func.func @fully_connected(%x: tensor<4x3x1xf32>) -> tensor<4x3x2xf32> {
  %w = graph.constant dense<[[1.0], [2.0]]> : tensor<2x1xf32>
  %c = graph.constant dense<[5.0, 7.0]> : tensor<2xf32>
  // CHECK: graph.constant dense<{{\[\[}}5.000000e+00], [1.400000e+01]]>
  // CHECK-NOT: graph.mul
  %y = graph.fully_connected %x, %w : (tensor<4x3x1xf32>, tensor<2x1xf32>) -> tensor<4x3x2xf32>
  %0 = graph.mul %y, %c : (tensor<4x3x2xf32>, tensor<2xf32>) -> tensor<4x3x2xf32>
  return %0 : tensor<4x3x2xf32>
}

// -----

// CHECK-LABEL: func @left_alone
func.func @left_alone(%x: tensor<1x1x2x2xf32>, %v: tensor<1x2x1x1xf32>) -> (tensor<1x2x2x2xf32>, tensor<1x2x2x2xf32>, tensor<1x2x2x2xf32>, tensor<3x2x2x2xf32>, tensor<1x2x2x2xf32>) {
  %w = graph.constant dense<3.0> : tensor<2x1x1x1xf32>
  %c = graph.constant dense<5.0> : tensor<f32>
  %zero = graph.constant dense<[[[[0.0]], [[1.0]]]]> : tensor<1x2x1x1xf32>
  %columns = graph.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %batch = graph.constant dense<1.0> : tensor<3x1x1x1xf32>
  // Not linear; not constant; one value a column; makes the result larger; divides by zero.
  // CHECK: graph.div
  // CHECK: graph.mul
  // CHECK: graph.mul
  // CHECK: graph.mul
  // CHECK: graph.div
  %y0 = graph.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x1x2x2xf32>, tensor<2x1x1x1xf32>) -> tensor<1x2x2x2xf32>
  %0 = graph.div %c, %y0 : (tensor<f32>, tensor<1x2x2x2xf32>) -> tensor<1x2x2x2xf32>
  %y1 = graph.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x1x2x2xf32>, tensor<2x1x1x1xf32>) -> tensor<1x2x2x2xf32>
  %1 = graph.mul %y1, %v : (tensor<1x2x2x2xf32>, tensor<1x2x1x1xf32>) -> tensor<1x2x2x2xf32>
  %y2 = graph.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x1x2x2xf32>, tensor<2x1x1x1xf32>) -> tensor<1x2x2x2xf32>
  %2 = graph.mul %y2, %columns : (tensor<1x2x2x2xf32>, tensor<2xf32>) -> tensor<1x2x2x2xf32>
  %y3 = graph.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x1x2x2xf32>, tensor<2x1x1x1xf32>) -> tensor<1x2x2x2xf32>
  %3 = graph.mul %y3, %batch : (tensor<1x2x2x2xf32>, tensor<3x1x1x1xf32>) -> tensor<3x2x2x2xf32>
  %y4 = graph.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x1x2x2xf32>, tensor<2x1x1x1xf32>) -> tensor<1x2x2x2xf32>
  %4 = graph.div %y4, %zero : (tensor<1x2x2x2xf32>, tensor<1x2x1x1xf32>) -> tensor<1x2x2x2xf32>
  return %0, %1, %2, %3, %4 : tensor<1x2x2x2xf32>, tensor<1x2x2x2xf32>, tensor<1x2x2x2xf32>, tensor<3x2x2x2xf32>, tensor<1x2x2x2xf32>
}
