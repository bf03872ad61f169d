// RUN: atc-opt %s -split-input-file --kernel-assign-layout --kernel-assign-halo --cpu-lower-graph | FileCheck %s

// A map keeps its body; operands get the result's rank by dims of one element.

// CHECK-LABEL: func.func @main
// CHECK-SAME: (%[[X:[^:]*]]: memref<2x3x4xf32>{{.*}}, %[[Y:[^:]*]]: memref<3x1xf32>{{.*}}, %[[S:[^:]*]]: memref<f32>
func.func @main(%x: tensor<2x3x4xf32>, %y: tensor<3x1xf32>, %s: tensor<f32>) -> tensor<2x3x4xf32> {
  // CHECK: %[[Y3:.*]] = om.view %[[Y]][0] : memref<3x1xf32> to memref<1x3x1xf32>
  // CHECK: %[[S3:.*]] = om.view %[[S]][0] : memref<f32> to memref<1x1x1xf32>
  // CHECK: kernel.map %[[X]], %[[Y3]], %[[S3]] outs %{{.*}} {om.tensor = tensor<2x3x4xf32>}
  // CHECK-NEXT: ^bb0(%[[A:.*]]: f32, %[[B:.*]]: f32, %[[C:.*]]: f32):
  // CHECK-NEXT: %[[SUM:.*]] = arith.addf %[[A]], %[[B]] : f32
  // CHECK-NEXT: %[[PRODUCT:.*]] = arith.mulf %[[SUM]], %[[C]] : f32
  // CHECK-NEXT: kernel.yield %[[PRODUCT]] : f32
  %0 = graph.map %x, %y, %s : (tensor<2x3x4xf32>, tensor<3x1xf32>, tensor<f32>) -> tensor<2x3x4xf32> {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %1 = arith.addf %a, %b : f32
    %2 = arith.mulf %1, %c : f32
    graph.yield %2 : f32
  }
  return %0 : tensor<2x3x4xf32>
}

// -----

// Elementwise ops that are in no map yet become one; scalars have one dim.

// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<f32>, %y: tensor<3xui8>) -> (tensor<f32>, tensor<3xi1>) {
  // CHECK: kernel.map %{{.*}} outs %{{.*}} : memref<1xf32>, memref<1xf32>
  // CHECK: math.sqrt
  %0 = graph.sqrt %x : (tensor<f32>) -> tensor<f32>
  // CHECK: kernel.map %{{.*}} outs %{{.*}} : memref<3xi8>, memref<3xi8>, memref<3xi1>
  // CHECK: arith.cmpi ult
  %c = graph.constant dense<[1, 2, 3]> : tensor<3xui8>
  %1 = graph.compare %y, %c {predicate = #graph<compare_predicate lt>} : (tensor<3xui8>, tensor<3xui8>) -> tensor<3xi1>
  return %0, %1 : tensor<f32>, tensor<3xi1>
}

// -----

// Blocked operands keep their blocks; one channel broadcasts over all lanes.

// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<1x32x4x4xf32>) -> tensor<1x32x4x4xf32> {
  %w = graph.constant dense<0.5> : tensor<1x32x1x1xf32>
  // CHECK: cpu.conv2d {{.*}} outs %[[MASK:.*]] {
  %0 = graph.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x32x4x4xf32>, tensor<1x32x1x1xf32>) -> tensor<1x1x4x4xf32>
  // CHECK: %[[ONE:.*]] = om.view %[[MASK]][0] {{.*}} to memref<1x1x4x4x1xf32, strided<[256, 256, 64, 16, 1]>>
  // CHECK: kernel.map %{{.*}}, %[[ONE]] outs {{.*}} : memref<1x2x4x4x16xf32>, memref<1x1x4x4x1xf32, strided<[256, 256, 64, 16, 1]>>, memref<1x2x4x4x16xf32>
  %1 = graph.mul %x, %0 : (tensor<1x32x4x4xf32>, tensor<1x1x4x4xf32>) -> tensor<1x32x4x4xf32>
  %2 = graph.max_pool %1 {kernel = array<i64: 1, 1>, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x32x4x4xf32>) -> tensor<1x32x4x4xf32>
  return %2 : tensor<1x32x4x4xf32>
}

// -----

// Reduced dims that are dropped stay dims of one element for the kernel.

// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<2x3x4xf32>) -> (tensor<2x4xf32>, tensor<2x3xi64>, tensor<2x1x4xi64>, tensor<2x3x4xf32>, tensor<2x3x4xf32>, tensor<f32>) {
  // CHECK: %[[KEPT:.*]] = om.view %{{.*}}[0] : memref<2x4xf32> to memref<2x1x4xf32>
  // CHECK: kernel.reduce %{{.*}}, %[[KEPT]] {axes = array<i64: 1>, kind = #graph<reduce_kind sum>
  %0 = graph.reduce %x {kind = #graph<reduce_kind sum>, axes = array<i64: 1>, keepdims = false} : (tensor<2x3x4xf32>) -> tensor<2x4xf32>
  // CHECK: kernel.arg_reduce {{.*}} {axis = 2 : i64{{.*}}, smallest} : memref<2x3x4xf32>, memref<2x3x1xi64>
  %1 = graph.arg_min %x {axis = 2 : i64, keepdims = false} : (tensor<2x3x4xf32>) -> tensor<2x3xi64>
  // CHECK: kernel.arg_reduce {{.*}} {axis = 1 : i64, {{.*}}select_last} : memref<2x3x4xf32>, memref<2x1x4xi64>
  %2 = graph.arg_max %x {axis = 1 : i64, select_last = true} : (tensor<2x3x4xf32>) -> tensor<2x1x4xi64>
  // CHECK: kernel.softmax {{.*}} {axis = 1 : i64, om.tensor
  %3 = graph.softmax %x {axis = 1 : i64} : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  // CHECK: kernel.softmax {{.*}} {axis = 2 : i64, log, om.tensor
  %4 = graph.log_softmax %x {axis = 2 : i64} : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  // CHECK: kernel.reduce {{.*}} {axes = array<i64: 0, 1, 2>{{.*}} memref<1x1x1xf32>
  %5 = graph.reduce %x {kind = #graph<reduce_kind max>, axes = array<i64: 0, 1, 2>, keepdims = false} : (tensor<2x3x4xf32>) -> tensor<f32>
  return %0, %1, %2, %3, %4, %5 : tensor<2x4xf32>, tensor<2x3xi64>, tensor<2x1x4xi64>, tensor<2x3x4xf32>, tensor<2x3x4xf32>, tensor<f32>
}
