// RUN: atc-opt %s --train-expand-recurrent | FileCheck %s

// One product for the inputs of both steps, then a product per step.
// CHECK-LABEL: func.func @steps
// CHECK-NOT: host_call
// CHECK: graph.matmul {{.*}} : (tensor<4x3xf32>, tensor<3x5xf32>) -> tensor<4x5xf32>
// CHECK-COUNT-2: graph.matmul {{.*}} : (tensor<2x5xf32>, tensor<5x5xf32>) -> tensor<2x5xf32>
// CHECK: graph.concat {{.*}} -> tensor<2x1x2x5xf32>
func.func @steps(%x: tensor<2x2x3xf32>, %w: tensor<1x5x3xf32>, %r: tensor<1x5x5xf32>) -> (tensor<2x1x2x5xf32>, tensor<1x2x5xf32>) {
  %y:2 = graph.host_call "RNN"(%x, %w, %r) {} : (tensor<2x2x3xf32>, tensor<1x5x3xf32>, tensor<1x5x5xf32>) -> (tensor<2x1x2x5xf32>, tensor<1x2x5xf32>)
  return %y#0, %y#1 : tensor<2x1x2x5xf32>, tensor<1x2x5xf32>
}

// Other activations stay with the kernel.
// CHECK-LABEL: func.func @other
// CHECK: host_call "RNN"
func.func @other(%x: tensor<2x2x3xf32>, %w: tensor<1x5x3xf32>, %r: tensor<1x5x5xf32>) -> tensor<2x1x2x5xf32> {
  %y = graph.host_call "RNN"(%x, %w, %r) {activations = ["Relu"]} : (tensor<2x2x3xf32>, tensor<1x5x3xf32>, tensor<1x5x5xf32>) -> tensor<2x1x2x5xf32>
  return %y : tensor<2x1x2x5xf32>
}
