// RUN: atc-opt %s --split-input-file --graph-fuse-elementwise --kernel-assign-layout --kernel-assign-halo --cpu-lower-graph --cpu-compose-layer-norm | FileCheck %s

// CHECK-LABEL: func.func @main
// CHECK-NOT: kernel.
// CHECK: %[[G:.*]] = om.weight dense<[2.000000e+00, {{.*}}]> : tensor<6xf32>
// CHECK: %[[B:.*]] = om.weight dense<[0.000000e+00, {{.*}}]> : tensor<6xf32>
// CHECK: cpu.layer_norm %{{.*}} gamma %[[G]] beta %[[B]] outs %{{.*}} {epsilon = {{[0-9.E-]+}} : f64, om.tensor = tensor<2x3x6xf32>} : memref<6x6xf32>, memref<6xf32>, memref<6xf32>, memref<6x6xf32>
// CHECK-NOT: kernel.
func.func @main(%x: tensor<2x3x6xf32>) -> tensor<2x3x6xf32> {
  %gamma = graph.constant dense<[2.0, 3.0, 4.0, 5.0, 6.0, 7.0]> : tensor<6xf32>
  %beta = graph.constant dense<[0.0, 3.0, 4.0, 5.0, 6.0, 7.0]> : tensor<6xf32>
  %epsilon = graph.constant dense<1.0e-5> : tensor<f32>
  %m = graph.reduce %x {kind = #graph<reduce_kind mean>, axes = array<i64: 2>, keepdims = true} : (tensor<2x3x6xf32>) -> tensor<2x3x1xf32>
  %c = graph.sub %x, %m : (tensor<2x3x6xf32>, tensor<2x3x1xf32>) -> tensor<2x3x6xf32>
  %s = graph.mul %c, %c : (tensor<2x3x6xf32>, tensor<2x3x6xf32>) -> tensor<2x3x6xf32>
  %v = graph.reduce %s {kind = #graph<reduce_kind mean>, axes = array<i64: 2>, keepdims = true} : (tensor<2x3x6xf32>) -> tensor<2x3x1xf32>
  %e = graph.add %v, %epsilon : (tensor<2x3x1xf32>, tensor<f32>) -> tensor<2x3x1xf32>
  %d = graph.sqrt %e : (tensor<2x3x1xf32>) -> tensor<2x3x1xf32>
  %n = graph.div %c, %d : (tensor<2x3x6xf32>, tensor<2x3x1xf32>) -> tensor<2x3x6xf32>
  %g = graph.mul %n, %gamma : (tensor<2x3x6xf32>, tensor<6xf32>) -> tensor<2x3x6xf32>
  %y = graph.add %g, %beta : (tensor<2x3x6xf32>, tensor<6xf32>) -> tensor<2x3x6xf32>
  return %y : tensor<2x3x6xf32>
}

// -----

// The mean over rows is no layer norm of them.

// CHECK-LABEL: func.func @main
// CHECK-NOT: cpu.layer_norm
func.func @main(%x: tensor<3x6xf32>) -> tensor<3x6xf32> {
  %epsilon = graph.constant dense<1.0e-5> : tensor<f32>
  %m = graph.reduce %x {kind = #graph<reduce_kind mean>, axes = array<i64: 0>, keepdims = true} : (tensor<3x6xf32>) -> tensor<1x6xf32>
  %c = graph.sub %x, %m : (tensor<3x6xf32>, tensor<1x6xf32>) -> tensor<3x6xf32>
  %s = graph.mul %c, %c : (tensor<3x6xf32>, tensor<3x6xf32>) -> tensor<3x6xf32>
  %v = graph.reduce %s {kind = #graph<reduce_kind mean>, axes = array<i64: 0>, keepdims = true} : (tensor<3x6xf32>) -> tensor<1x6xf32>
  %e = graph.add %v, %epsilon : (tensor<1x6xf32>, tensor<f32>) -> tensor<1x6xf32>
  %d = graph.sqrt %e : (tensor<1x6xf32>) -> tensor<1x6xf32>
  %n = graph.div %c, %d : (tensor<3x6xf32>, tensor<1x6xf32>) -> tensor<3x6xf32>
  return %n : tensor<3x6xf32>
}
