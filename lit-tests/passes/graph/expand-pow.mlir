// RUN: atc-opt %s --graph-expand-pow | FileCheck %s

// CHECK-LABEL: func @exponents
// CHECK-DAG: %[[SQUARE:.*]] = graph.mul %arg0, %arg0
// CHECK-DAG: %[[SQUARE3:.*]] = graph.mul %arg0, %arg0
// CHECK-DAG: %[[CUBE:.*]] = graph.mul %{{[0-9]+}}, %arg0
// CHECK-DAG: %[[SQRT:.*]] = graph.sqrt %arg0
// CHECK-DAG: %[[RSQRT:.*]] = graph.rsqrt %arg0
// CHECK-DAG: %[[RECIPROCAL:.*]] = graph.reciprocal %arg0
// CHECK: return %arg0, %[[SQUARE]], %[[CUBE]], %[[SQRT]], %[[RSQRT]], %[[RECIPROCAL]]
func.func @exponents(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %c1 = graph.constant dense<1.0> : tensor<f32>
  %c2 = graph.constant dense<2.0> : tensor<f32>
  %c3 = graph.constant dense<3.0> : tensor<f32>
  %half = graph.constant dense<0.5> : tensor<f32>
  %minusHalf = graph.constant dense<-0.5> : tensor<f32>
  %minusOne = graph.constant dense<-1.0> : tensor<f32>
  %0 = graph.pow %x, %c1 : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %1 = graph.pow %x, %c2 : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %2 = graph.pow %x, %c3 : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %3 = graph.pow %x, %half : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %4 = graph.pow %x, %minusHalf : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %5 = graph.pow %x, %minusOne : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return %0, %1, %2, %3, %4, %5 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// Another exponent, a variable one, one that makes the result larger, an integer root.
// CHECK-LABEL: func @left_alone
// CHECK-COUNT-4: graph.pow
func.func @left_alone(%x: tensor<4xf32>, %y: tensor<f32>, %i: tensor<4xi32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<2x4xf32>, tensor<4xi32>) {
  %c = graph.constant dense<2.5> : tensor<f32>
  %c2 = graph.constant dense<2.0> : tensor<2x4xf32>
  %minusOne = graph.constant dense<-1> : tensor<i32>
  %0 = graph.pow %x, %c : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %1 = graph.pow %x, %y : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %2 = graph.pow %x, %c2 : (tensor<4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %3 = graph.pow %i, %minusOne : (tensor<4xi32>, tensor<i32>) -> tensor<4xi32>
  return %0, %1, %2, %3 : tensor<4xf32>, tensor<4xf32>, tensor<2x4xf32>, tensor<4xi32>
}
