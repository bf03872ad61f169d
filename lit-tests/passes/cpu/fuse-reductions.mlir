// RUN: atc-opt %s --split-input-file --graph-fuse-elementwise --kernel-assign-layout --kernel-assign-halo --cpu-lower-graph --cpu-fuse-reductions | FileCheck %s

// A map that only a sum reads is computed inside of it.
// CHECK-LABEL: func.func @main
// CHECK-NOT: kernel.
// CHECK: cpu.map_reduce %{{.*}}, %{{.*}} outs %{{.*}} {axes = array<i64: 0, 1>} : memref<4x6x16xf32{{.*}}>, memref<4x6x16xf32{{.*}}>, memref<1x1x1x16xf32{{.*}}> {
// CHECK-NEXT: ^bb0(%[[A:.*]]: f32, %[[B:.*]]: f32):
// CHECK-NEXT: %[[P:.*]] = arith.mulf %[[A]], %[[B]]
// CHECK-NEXT: cpu.reduction_yield %[[P]]
// CHECK-NOT: kernel.
func.func @main(%x: tensor<4x6x16xf32>, %y: tensor<4x6x16xf32>) -> tensor<1x1x16xf32> {
  %p = graph.mul %x, %y : (tensor<4x6x16xf32>, tensor<4x6x16xf32>) -> tensor<4x6x16xf32>
  %s = graph.reduce %p {kind = #graph<reduce_kind sum>, axes = array<i64: 0, 1>, keepdims = true} : (tensor<4x6x16xf32>) -> tensor<1x1x16xf32>
  return %s : tensor<1x1x16xf32>
}

// -----

// Two sums that read a common tensor become one kernel with two rows.
// CHECK-LABEL: func.func @main
// CHECK: cpu.map_reduce {{.*}} memref<2x1x1x16xf32{{.*}}> {
// CHECK: cpu.reduction_yield %{{.*}}, %{{.*}} : f32, f32
// CHECK-NOT: cpu.map_reduce
// CHECK-NOT: kernel.reduce
func.func @main(%x: tensor<4x6x16xf32>, %y: tensor<4x6x16xf32>) -> tensor<1x1x16xf32> {
  %p = graph.mul %x, %y : (tensor<4x6x16xf32>, tensor<4x6x16xf32>) -> tensor<4x6x16xf32>
  %s = graph.reduce %p {kind = #graph<reduce_kind sum>, axes = array<i64: 0, 1>, keepdims = true} : (tensor<4x6x16xf32>) -> tensor<1x1x16xf32>
  %t = graph.reduce %x {kind = #graph<reduce_kind sum>, axes = array<i64: 0, 1>, keepdims = true} : (tensor<4x6x16xf32>) -> tensor<1x1x16xf32>
  %r = graph.div %s, %t : (tensor<1x1x16xf32>, tensor<1x1x16xf32>) -> tensor<1x1x16xf32>
  return %r : tensor<1x1x16xf32>
}

// -----

// The second sum reads the first one: they stay two kernels. A maximum is no sum.
// CHECK-LABEL: func.func @main
// CHECK: kernel.reduce {{.*}} kind = #graph<reduce_kind mean>
// CHECK: cpu.map_reduce {{.*}} memref<1x1x16xf32{{.*}}> {
// CHECK: kernel.reduce {{.*}} kind = #graph<reduce_kind max>
func.func @main(%x: tensor<6x16xf32>) -> (tensor<1x16xf32>, tensor<1x16xf32>) {
  %m = graph.reduce %x {kind = #graph<reduce_kind mean>, axes = array<i64: 0>, keepdims = true} : (tensor<6x16xf32>) -> tensor<1x16xf32>
  %c = graph.sub %x, %m : (tensor<6x16xf32>, tensor<1x16xf32>) -> tensor<6x16xf32>
  %q = graph.mul %c, %c : (tensor<6x16xf32>, tensor<6x16xf32>) -> tensor<6x16xf32>
  %v = graph.reduce %q {kind = #graph<reduce_kind mean>, axes = array<i64: 0>, keepdims = true} : (tensor<6x16xf32>) -> tensor<1x16xf32>
  %n = graph.neg %x : (tensor<6x16xf32>) -> tensor<6x16xf32>
  %h = graph.reduce %n {kind = #graph<reduce_kind max>, axes = array<i64: 0>, keepdims = true} : (tensor<6x16xf32>) -> tensor<1x16xf32>
  return %v, %h : tensor<1x16xf32>, tensor<1x16xf32>
}

// -----

// The view that the second sum reads is defined between the sums: it moves in front of both, as the
// first one's result is read before the second. (The normalizations of FalconMamba's projections.)
// CHECK-LABEL: func.func @main
// CHECK: %[[B:.*]] = om.view %arg0[16]
// CHECK: cpu.map_reduce %{{.*}}, %[[B]] outs %{{.*}} memref<2x2x1xf32> {
// CHECK-NOT: cpu.map_reduce
// CHECK: kernel.map
// CHECK: kernel.map %[[B]]
func.func @main(%x: tensor<2x12xf32>) -> (tensor<2x4xf32>, tensor<2x4xf32>) {
  %a = graph.slice %x {starts = array<i64: 0, 0>, sizes = array<i64: 2, 4>, steps = array<i64: 1, 1>} : (tensor<2x12xf32>) -> tensor<2x4xf32>
  %0 = graph.reduce %a {kind = #graph<reduce_kind sum>, axes = array<i64: 1>, keepdims = true} : (tensor<2x4xf32>) -> tensor<2x1xf32>
  %1 = graph.mul %a, %0 : (tensor<2x4xf32>, tensor<2x1xf32>) -> tensor<2x4xf32>
  %b = graph.slice %x {starts = array<i64: 0, 4>, sizes = array<i64: 2, 4>, steps = array<i64: 1, 1>} : (tensor<2x12xf32>) -> tensor<2x4xf32>
  %2 = graph.reduce %b {kind = #graph<reduce_kind sum>, axes = array<i64: 1>, keepdims = true} : (tensor<2x4xf32>) -> tensor<2x1xf32>
  %3 = graph.mul %b, %2 : (tensor<2x4xf32>, tensor<2x1xf32>) -> tensor<2x4xf32>
  return %1, %3 : tensor<2x4xf32>, tensor<2x4xf32>
}
