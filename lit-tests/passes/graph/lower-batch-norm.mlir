// RUN: atc-opt %s --graph-lower-batch-norm | FileCheck %s

// CHECK-LABEL: func @constant
func.func @constant(%x: tensor<1x2x3x3xf32>) -> tensor<1x2x3x3xf32> {
  %scale = graph.constant dense<[4.0, 3.0]> : tensor<2xf32>
  %shift = graph.constant dense<[5.0, 6.0]> : tensor<2xf32>
  %mean = graph.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %var = graph.constant dense<[3.0, 8.0]> : tensor<2xf32>
  // CHECK-DAG: %[[A:.*]] = graph.constant dense<{{.*}}2.000000e+00{{.*}}1.000000e+00{{.*}}> : tensor<1x2x1x1xf32>
  // CHECK-DAG: %[[B:.*]] = graph.constant dense<{{.*}}3.000000e+00{{.*}}4.000000e+00{{.*}}> : tensor<1x2x1x1xf32>
  // CHECK: %[[M:.*]] = graph.mul %{{.*}}, %[[A]]
  // CHECK: %[[Y:.*]] = graph.add %[[M]], %[[B]]
  // CHECK: return %[[Y]]
  %z = graph.batch_norm %x, %scale, %shift, %mean, %var {epsilon = 1.0 : f64} : (tensor<1x2x3x3xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<1x2x3x3xf32>
  return %z : tensor<1x2x3x3xf32>
}

// CHECK-LABEL: func @variable
func.func @variable(%x: tensor<1x2x3xf32>, %p: tensor<2xf32>) -> tensor<1x2x3xf32> {
  // CHECK: graph.batch_norm
  %z = graph.batch_norm %x, %p, %p, %p, %p {epsilon = 1.0 : f64} : (tensor<1x2x3xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<1x2x3xf32>
  return %z : tensor<1x2x3xf32>
}
