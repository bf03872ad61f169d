// RUN: atc-opt %s --split-input-file --graph-fuse-elementwise --kernel-assign-layout --kernel-assign-halo --cpu-lower-graph --cpu-fuse-attention | FileCheck %s
// RUN: atc-opt %s --split-input-file --graph-fuse-elementwise --kernel-assign-layout --kernel-assign-halo --cpu-lower-graph --cpu-fuse-attention --remarks-filter=cpu-fuse-attention --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

// Two heads of 8 in rows of 48: queries, keys and values are read where the product has written
// them, and the result goes to its rows. Nothing is copied, and no scores are in memory.

// CHECK-LABEL: func.func @main
// CHECK-NOT: kernel.copy
// CHECK-NOT: kernel.softmax
// CHECK: cpu.attention %{{.*}}, %{{.*}}, %{{.*}} inputs %{{.*}} outs %{{.*}} {om.tensor = tensor<1x5x2x8xf32>} : memref<1x2x5x8xf32, strided<[16, 8, 48, 1]>>, memref<1x2x8x5xf32, strided<[16, 8, 1, 48]>>, memref<1x2x5x8xf32, strided<[16, 8, 48, 1]>>, memref<1x1x1x5xf32>, memref<1x2x5x8xf32, strided<[16, 8, 16, 1]>>
// CHECK-SAME: {
// CHECK: ^bb0(%[[S:.*]]: f32, %[[M:.*]]: f32):
// CHECK: %[[D:.*]] = arith.divf %[[S]]
// CHECK: %[[A:.*]] = arith.addf %[[D]], %[[M]]
// CHECK: cpu.score_yield %[[A]]
// CHECK-NOT: kernel.copy
// CHECK-NOT: cpu.matmul
// REMARK: [Passed] {{.*}}products and softmax become one kernel; 3 copies disappear
func.func @main(%qkv: tensor<1x5x48xf32>, %mask: tensor<1x1x1x5xf32>) -> tensor<1x5x16xf32> {
  %eight = graph.constant dense<8.0> : tensor<f32>
  %q = graph.slice %qkv {starts = array<i64: 0, 0, 0>, sizes = array<i64: 1, 5, 16>, steps = array<i64: 1, 1, 1>} : (tensor<1x5x48xf32>) -> tensor<1x5x16xf32>
  %k = graph.slice %qkv {starts = array<i64: 0, 0, 16>, sizes = array<i64: 1, 5, 16>, steps = array<i64: 1, 1, 1>} : (tensor<1x5x48xf32>) -> tensor<1x5x16xf32>
  %v = graph.slice %qkv {starts = array<i64: 0, 0, 32>, sizes = array<i64: 1, 5, 16>, steps = array<i64: 1, 1, 1>} : (tensor<1x5x48xf32>) -> tensor<1x5x16xf32>
  %0 = graph.reshape %q : (tensor<1x5x16xf32>) -> tensor<1x5x2x8xf32>
  %1 = graph.reshape %k : (tensor<1x5x16xf32>) -> tensor<1x5x2x8xf32>
  %2 = graph.reshape %v : (tensor<1x5x16xf32>) -> tensor<1x5x2x8xf32>
  %3 = graph.transpose %0 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<1x5x2x8xf32>) -> tensor<1x2x5x8xf32>
  %4 = graph.transpose %1 {permutation = array<i64: 0, 2, 3, 1>} : (tensor<1x5x2x8xf32>) -> tensor<1x2x8x5xf32>
  %5 = graph.transpose %2 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<1x5x2x8xf32>) -> tensor<1x2x5x8xf32>
  %6 = graph.matmul %3, %4 : (tensor<1x2x5x8xf32>, tensor<1x2x8x5xf32>) -> tensor<1x2x5x5xf32>
  %7 = graph.div %6, %eight : (tensor<1x2x5x5xf32>, tensor<f32>) -> tensor<1x2x5x5xf32>
  %8 = graph.add %7, %mask : (tensor<1x2x5x5xf32>, tensor<1x1x1x5xf32>) -> tensor<1x2x5x5xf32>
  %9 = graph.softmax %8 {axis = 3} : (tensor<1x2x5x5xf32>) -> tensor<1x2x5x5xf32>
  %10 = graph.matmul %9, %5 : (tensor<1x2x5x5xf32>, tensor<1x2x5x8xf32>) -> tensor<1x2x5x8xf32>
  %11 = graph.transpose %10 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<1x2x5x8xf32>) -> tensor<1x5x2x8xf32>
  %12 = graph.reshape %11 : (tensor<1x5x2x8xf32>) -> tensor<1x5x16xf32>
  return %12 : tensor<1x5x16xf32>
}

// -----

// One head without copies: keys that are already transposed, and a batch of three.

// CHECK-LABEL: func.func @main
// CHECK: cpu.attention %{{.*}} : memref<1x3x4x8xf32>, memref<1x3x8x6xf32>, memref<1x3x6x2xf32>, memref<1x3x4x2xf32>{{$}}
// REMARK: [Passed] {{.*}}products and softmax become one kernel; 0 copies disappear
func.func @main(%q: tensor<3x4x8xf32>, %k: tensor<3x8x6xf32>, %v: tensor<3x6x2xf32>) -> tensor<3x4x2xf32> {
  %0 = graph.matmul %q, %k : (tensor<3x4x8xf32>, tensor<3x8x6xf32>) -> tensor<3x4x6xf32>
  %1 = graph.softmax %0 {axis = 2} : (tensor<3x4x6xf32>) -> tensor<3x4x6xf32>
  %2 = graph.matmul %1, %v : (tensor<3x4x6xf32>, tensor<3x6x2xf32>) -> tensor<3x4x2xf32>
  return %2 : tensor<3x4x2xf32>
}

// -----

// The probabilities are a result of the model; a softmax over the queries is not attention.

// CHECK-LABEL: func.func @main
// CHECK-NOT: cpu.attention
// REMARK: [Missed] {{.*}}products and softmax stay kernels: its softmax does not run along the last dim
func.func @main(%q: tensor<3x4x8xf32>, %k: tensor<3x8x6xf32>, %v: tensor<3x6x2xf32>) -> (tensor<3x4x6xf32>, tensor<3x4x2xf32>, tensor<3x4x2xf32>) {
  %0 = graph.matmul %q, %k : (tensor<3x4x8xf32>, tensor<3x8x6xf32>) -> tensor<3x4x6xf32>
  %1 = graph.softmax %0 {axis = 2} : (tensor<3x4x6xf32>) -> tensor<3x4x6xf32>
  %2 = graph.matmul %1, %v : (tensor<3x4x6xf32>, tensor<3x6x2xf32>) -> tensor<3x4x2xf32>
  %3 = graph.softmax %0 {axis = 1} : (tensor<3x4x6xf32>) -> tensor<3x4x6xf32>
  %4 = graph.matmul %3, %v : (tensor<3x4x6xf32>, tensor<3x6x2xf32>) -> tensor<3x4x2xf32>
  return %1, %2, %4 : tensor<3x4x6xf32>, tensor<3x4x2xf32>, tensor<3x4x2xf32>
}

// -----

// XGLM adds a mask per batch to [batch][heads] and softens [batch * heads]: the heads of a batch
// share the mask.

// CHECK-LABEL: func.func @main
// CHECK-NOT: kernel.softmax
// CHECK: cpu.attention {{.*}} : memref<2x3x4x8xf32>, memref<2x3x8x6xf32>, memref<2x3x6x2xf32>, memref<2x1x4x6xf32>, memref<2x3x4x2xf32>
// REMARK: [Passed] {{.*}}products and softmax become one kernel; 0 copies disappear
func.func @main(%q: tensor<6x4x8xf32>, %k: tensor<6x8x6xf32>, %v: tensor<6x6x2xf32>, %mask: tensor<2x1x4x6xf32>) -> tensor<6x4x2xf32> {
  %0 = graph.matmul %q, %k : (tensor<6x4x8xf32>, tensor<6x8x6xf32>) -> tensor<6x4x6xf32>
  %1 = graph.reshape %0 : (tensor<6x4x6xf32>) -> tensor<2x3x4x6xf32>
  %2 = graph.add %1, %mask : (tensor<2x3x4x6xf32>, tensor<2x1x4x6xf32>) -> tensor<2x3x4x6xf32>
  %3 = graph.reshape %2 : (tensor<2x3x4x6xf32>) -> tensor<6x4x6xf32>
  %4 = graph.softmax %3 {axis = 2} : (tensor<6x4x6xf32>) -> tensor<6x4x6xf32>
  %5 = graph.matmul %4, %v : (tensor<6x4x6xf32>, tensor<6x6x2xf32>) -> tensor<6x4x2xf32>
  return %5 : tensor<6x4x2xf32>
}

// -----

// A mask of rows that are queries of all heads has no dims of heads.

// CHECK-LABEL: func.func @main
// CHECK-NOT: cpu.attention
// REMARK: [Missed] {{.*}}products and softmax stay kernels: a mask of the scores has other dims than batch, heads, rows and keys
func.func @main(%q: tensor<6x4x8xf32>, %k: tensor<6x8x6xf32>, %v: tensor<6x6x2xf32>, %mask: tensor<24x1xf32>) -> tensor<6x4x2xf32> {
  %0 = graph.matmul %q, %k : (tensor<6x4x8xf32>, tensor<6x8x6xf32>) -> tensor<6x4x6xf32>
  %1 = graph.reshape %0 : (tensor<6x4x6xf32>) -> tensor<24x6xf32>
  %2 = graph.mul %1, %mask : (tensor<24x6xf32>, tensor<24x1xf32>) -> tensor<24x6xf32>
  %3 = graph.reshape %2 : (tensor<24x6xf32>) -> tensor<6x4x6xf32>
  %4 = graph.softmax %3 {axis = 2} : (tensor<6x4x6xf32>) -> tensor<6x4x6xf32>
  %5 = graph.matmul %4, %v : (tensor<6x4x6xf32>, tensor<6x6x2xf32>) -> tensor<6x4x2xf32>
  return %5 : tensor<6x4x2xf32>
}
