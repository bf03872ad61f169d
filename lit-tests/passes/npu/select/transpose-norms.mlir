// RUN: atc-opt %s --npu-transpose-norms | FileCheck %s
// RUN: atc-opt %s --npu-transpose-norms --remarks-filter=npu-transpose-norms --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// REMARK-COUNT-2: [Passed] {{.*}}Category:npu-transpose-norms{{.*}}the norm over channels is computed on rows of them
// REMARK-NOT: Passed

// A layer norm over channels is computed on rows of them; its parameters are transposed, and what
// reshapes its deviation is gone.
// CHECK-LABEL: func.func @channels
// CHECK: %[[X:.*]] = graph.transpose %arg0 {permutation = array<i64: 0, 2, 3, 1>}
// CHECK: %[[MEAN:.*]] = graph.reduce %[[X]] {axes = array<i64: 3>, {{.*}} -> tensor<2x4x5x1xf32>
// CHECK: %[[SQUARES:.*]] = graph.map %[[X]], %[[MEAN]] : {{.*}} -> tensor<2x4x5x3xf32>
// CHECK: %[[VARIANCE:.*]] = graph.reduce %[[SQUARES]] {axes = array<i64: 3>
// CHECK-NOT: graph.reshape
// CHECK: %[[DEVIATION:.*]] = graph.map %[[VARIANCE]] : {{.*}} -> tensor<2x4x5x1xf32>
// CHECK: %[[GAMMA:.*]] = graph.constant {{.*}} : tensor<1x1x1x3xf32>
// CHECK: %[[RESULT:.*]] = graph.map %[[X]], %[[MEAN]], %[[DEVIATION]], %[[GAMMA]] : {{.*}} -> tensor<2x4x5x3xf32>
// CHECK: %[[BACK:.*]] = graph.transpose %[[RESULT]] {permutation = array<i64: 0, 3, 1, 2>}
// CHECK: return %[[BACK]]
func.func @channels(%x: tensor<2x3x4x5xf32>) -> tensor<2x3x4x5xf32> {
  %gamma = graph.constant dense<[[[[1.0]], [[2.0]], [[3.0]]]]> : tensor<1x3x1x1xf32>
  %mean = graph.reduce %x {axes = array<i64: 1>, kind = #graph<reduce_kind mean>} : (tensor<2x3x4x5xf32>) -> tensor<2x1x4x5xf32>
  %squares = graph.map %x, %mean : (tensor<2x3x4x5xf32>, tensor<2x1x4x5xf32>) -> tensor<2x3x4x5xf32> {
  ^bb0(%a: f32, %m: f32):
    %d = arith.subf %a, %m : f32
    %s = arith.mulf %d, %d : f32
    graph.yield %s : f32
  }
  %variance = graph.reduce %squares {axes = array<i64: 1>, kind = #graph<reduce_kind mean>} : (tensor<2x3x4x5xf32>) -> tensor<2x1x4x5xf32>
  %flat = graph.reshape %variance : (tensor<2x1x4x5xf32>) -> tensor<2x4x5x1xf32>
  %root = graph.map %flat : (tensor<2x4x5x1xf32>) -> tensor<2x4x5x1xf32> {
  ^bb0(%v: f32):
    %e = arith.constant 1.0e-5 : f32
    %t = arith.addf %v, %e : f32
    %r = math.rsqrt %t : f32
    graph.yield %r : f32
  }
  %deviation = graph.reshape %root : (tensor<2x4x5x1xf32>) -> tensor<2x1x4x5xf32>
  %y = graph.map %x, %mean, %deviation, %gamma : (tensor<2x3x4x5xf32>, tensor<2x1x4x5xf32>, tensor<2x1x4x5xf32>, tensor<1x3x1x1xf32>) -> tensor<2x3x4x5xf32> {
  ^bb0(%a: f32, %m: f32, %r: f32, %g: f32):
    %d = arith.subf %a, %m : f32
    %s = arith.mulf %d, %r : f32
    %p = arith.mulf %s, %g : f32
    graph.yield %p : f32
  }
  return %y : tensor<2x3x4x5xf32>
}

// An RMS norm has no mean of its own.
// CHECK-LABEL: func.func @rms
// CHECK: %[[X:.*]] = graph.transpose %arg0 {permutation = array<i64: 0, 2, 1>}
// CHECK: %[[SQUARES:.*]] = graph.map %[[X]] :
// CHECK: graph.reduce %[[SQUARES]] {axes = array<i64: 2>
// CHECK: graph.transpose
func.func @rms(%x: tensor<2x8x5xf32>) -> tensor<2x8x5xf32> {
  %squares = graph.map %x : (tensor<2x8x5xf32>) -> tensor<2x8x5xf32> {
  ^bb0(%a: f32):
    %s = arith.mulf %a, %a : f32
    graph.yield %s : f32
  }
  %mean = graph.reduce %squares {axes = array<i64: 1>, kind = #graph<reduce_kind mean>} : (tensor<2x8x5xf32>) -> tensor<2x1x5xf32>
  %y = graph.map %x, %mean : (tensor<2x8x5xf32>, tensor<2x1x5xf32>) -> tensor<2x8x5xf32> {
  ^bb0(%a: f32, %v: f32):
    %e = arith.constant 1.0e-5 : f32
    %t = arith.addf %v, %e : f32
    %r = math.rsqrt %t : f32
    %s = arith.mulf %a, %r : f32
    graph.yield %s : f32
  }
  return %y : tensor<2x8x5xf32>
}

// A norm of rows stays, as does one whose variance others read, and a scale per pixel.
// CHECK-LABEL: func.func @kept
// CHECK-NOT: graph.transpose
func.func @kept(%x: tensor<2x8x5xf32>, %other: tensor<2x8x5xf32>) -> (tensor<2x8x5xf32>, tensor<2x8x5xf32>, tensor<2x1x5xf32>, tensor<2x8x5xf32>) {
  %squares = graph.map %x : (tensor<2x8x5xf32>) -> tensor<2x8x5xf32> {
  ^bb0(%a: f32):
    %s = arith.mulf %a, %a : f32
    graph.yield %s : f32
  }
  %rows = graph.reduce %squares {axes = array<i64: 2>, kind = #graph<reduce_kind mean>} : (tensor<2x8x5xf32>) -> tensor<2x8x1xf32>
  %y = graph.map %x, %rows : (tensor<2x8x5xf32>, tensor<2x8x1xf32>) -> tensor<2x8x5xf32> {
  ^bb0(%a: f32, %v: f32):
    %r = math.rsqrt %v : f32
    %s = arith.mulf %a, %r : f32
    graph.yield %s : f32
  }
  %again = graph.map %x : (tensor<2x8x5xf32>) -> tensor<2x8x5xf32> {
  ^bb0(%a: f32):
    %s = arith.mulf %a, %a : f32
    graph.yield %s : f32
  }
  %read = graph.reduce %again {axes = array<i64: 1>, kind = #graph<reduce_kind mean>} : (tensor<2x8x5xf32>) -> tensor<2x1x5xf32>
  %z = graph.map %x, %read : (tensor<2x8x5xf32>, tensor<2x1x5xf32>) -> tensor<2x8x5xf32> {
  ^bb0(%a: f32, %v: f32):
    %r = math.rsqrt %v : f32
    %s = arith.mulf %a, %r : f32
    graph.yield %s : f32
  }
  %third = graph.map %x : (tensor<2x8x5xf32>) -> tensor<2x8x5xf32> {
  ^bb0(%a: f32):
    %s = arith.mulf %a, %a : f32
    graph.yield %s : f32
  }
  %own = graph.reduce %third {axes = array<i64: 1>, kind = #graph<reduce_kind mean>} : (tensor<2x8x5xf32>) -> tensor<2x1x5xf32>
  %w = graph.map %x, %own, %other : (tensor<2x8x5xf32>, tensor<2x1x5xf32>, tensor<2x8x5xf32>) -> tensor<2x8x5xf32> {
  ^bb0(%a: f32, %v: f32, %o: f32):
    %r = math.rsqrt %v : f32
    %s = arith.mulf %a, %r : f32
    %p = arith.mulf %s, %o : f32
    graph.yield %p : f32
  }
  return %y, %z, %read, %w : tensor<2x8x5xf32>, tensor<2x8x5xf32>, tensor<2x1x5xf32>, tensor<2x8x5xf32>
}
