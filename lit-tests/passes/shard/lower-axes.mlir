// RUN: atc-opt %s --shard-lower-axes | FileCheck %s

// CHECK-LABEL: @gather
// CHECK: [[R:%.*]] = graph.reshape %arg0 : (tensor<3x4xf32>) -> tensor<1x3x4xf32>
// CHECK: [[G:%.*]] = graph.all_gather [[R]] {axis = 0 : i64, {{.*}} -> tensor<2x3x4xf32>
// CHECK: [[T:%.*]] = graph.transpose [[G]] {permutation = array<i64: 1, 0, 2>} {{.*}} -> tensor<3x2x4xf32>
// CHECK: graph.reshape [[T]] : (tensor<3x2x4xf32>) -> tensor<3x8xf32>
func.func @gather(%x: tensor<3x4xf32>) -> tensor<3x8xf32> {
  %0 = graph.all_gather %x {axis = 1 : i64, ranks = array<i64: 0, 1>} : (tensor<3x4xf32>) -> tensor<3x8xf32>
  return %0 : tensor<3x8xf32>
}

// CHECK-LABEL: @first
// CHECK-NEXT: graph.all_gather
// CHECK-NEXT: return
func.func @first(%x: tensor<3x4xf32>) -> tensor<6x4xf32> {
  %0 = graph.all_gather %x {axis = 0 : i64, ranks = array<i64: 0, 1>} : (tensor<3x4xf32>) -> tensor<6x4xf32>
  return %0 : tensor<6x4xf32>
}

// CHECK-LABEL: @scatter
// CHECK: graph.reshape %arg0 : (tensor<3x8xf32>) -> tensor<3x2x4xf32>
// CHECK: [[T:%.*]] = graph.transpose {{.*}} {permutation = array<i64: 1, 0, 2>}
// CHECK: [[S:%.*]] = graph.reduce_scatter [[T]] {axis = 0 : i64, kind = #graph<reduce_kind max>, {{.*}} -> tensor<1x3x4xf32>
// CHECK: graph.reshape [[S]] : (tensor<1x3x4xf32>) -> tensor<3x4xf32>
func.func @scatter(%x: tensor<3x8xf32>) -> tensor<3x4xf32> {
  %0 = graph.reduce_scatter %x {axis = 1 : i64, kind = #graph<reduce_kind max>, ranks = array<i64: 0, 1>} : (tensor<3x8xf32>) -> tensor<3x4xf32>
  return %0 : tensor<3x4xf32>
}

// CHECK-LABEL: @exchange
// CHECK: graph.reshape %arg0 : (tensor<3x8xf32>) -> tensor<3x2x4xf32>
// CHECK: graph.transpose {{.*}} -> tensor<2x3x4xf32>
// CHECK: graph.all_to_all {{.*}} {concat_axis = 0 : i64, {{.*}} split_axis = 0 : i64} : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
// CHECK: graph.reshape {{.*}} -> tensor<6x4xf32>
func.func @exchange(%x: tensor<3x8xf32>) -> tensor<6x4xf32> {
  %0 = graph.all_to_all %x {split_axis = 1 : i64, concat_axis = 0 : i64, ranks = array<i64: 0, 1>} : (tensor<3x8xf32>) -> tensor<6x4xf32>
  return %0 : tensor<6x4xf32>
}
