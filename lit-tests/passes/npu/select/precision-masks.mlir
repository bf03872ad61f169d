// RUN: atc-opt %s --pass-pipeline='builtin.module(func.func(npu-precision{mode=force_fp16}))' | FileCheck %s

// Masks that are added in front of a softmax leave room for the scores: where all of a row is
// masked the sums are finite, or its softmax would be NaN. What is infinite stays so. A row that f32
// would not hide is centred: its largest number is taken off.
// CHECK-LABEL: func.func @input
// CHECK: %[[ROW:.*]] = graph.reshape %arg1
// CHECK: %[[MOST:.*]] = graph.reduce %[[ROW]] {axes = array<i64: 0>, kind = #graph<reduce_kind max>} : (tensor<4xf32>) -> tensor<1xf32>
// CHECK: %[[MASK:.*]] = graph.map %[[ROW]], %[[MOST]] : (tensor<4xf32>, tensor<1xf32>) -> tensor<4xf16>
// CHECK: %[[LOW:.*]] = arith.constant -4.915200e+04 : f32
// CHECK: %[[CLAMPED:.*]] = arith.maximumf %{{.*}}, %[[LOW]]
// CHECK: arith.select %{{.*}}, %{{.*}}, %[[CLAMPED]]
// CHECK: graph.map %{{.*}}, %[[MASK]] : (tensor<2x4xf16>, tensor<4xf16>) -> tensor<2x4xf16>
func.func @input(%x: tensor<2x4xf32>, %mask: tensor<1x4xf32>) -> tensor<2x4xf32> {
  %row = graph.reshape %mask : (tensor<1x4xf32>) -> tensor<4xf32>
  %0 = graph.map %x, %row : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32> {
  ^bb0(%s: f32, %m: f32):
    %sum = arith.addf %s, %m : f32
    graph.yield %sum : f32
  }
  %1 = graph.softmax %0 {axis = 1 : i64} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  return %1 : tensor<2x4xf32>
}

// CHECK-LABEL: func.func @constant
// CHECK: graph.constant dense<[0.000000e+00, -4.915200e+04, 0xFC00, -1.000000e+04]> : tensor<4xf16>
func.func @constant(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %row = graph.constant dense<[0.0, -1.0e9, 0xFF800000, -1.0e4]> : tensor<4xf32>
  %0 = graph.map %x, %row : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32> {
  ^bb0(%s: f32, %m: f32):
    %sum = arith.addf %s, %m : f32
    graph.yield %sum : f32
  }
  %1 = graph.softmax %0 {axis = 1 : i64} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  return %1 : tensor<2x4xf32>
}

// CHECK-LABEL: func.func @computed
// CHECK: graph.map %arg1 : (tensor<4xi1>) -> tensor<4xf16>
// CHECK: arith.constant -4.915200e+04 : f32
func.func @computed(%x: tensor<2x4xf32>, %keep: tensor<4xi1>) -> tensor<2x4xf32> {
  %row = graph.map %keep : (tensor<4xi1>) -> tensor<4xf32> {
  ^bb0(%k: i1):
    %zero = arith.constant 0.0 : f32
    %low = arith.constant -3.40282347E+38 : f32
    %m = arith.select %k, %zero, %low : f32
    graph.yield %m : f32
  }
  %0 = graph.map %x, %row : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32> {
  ^bb0(%s: f32, %m: f32):
    %sum = arith.addf %s, %m : f32
    graph.yield %sum : f32
  }
  %1 = graph.softmax %0 {axis = 1 : i64} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  return %1 : tensor<2x4xf32>
}

// An input that is no mask of a softmax is converted as it is.
// CHECK-LABEL: func.func @no_mask
// CHECK: graph.cast %arg1
// CHECK-NOT: -4.915200e+04
func.func @no_mask(%x: tensor<2x4xf32>, %row: tensor<4xf32>) -> tensor<2x4xf32> {
  %0 = graph.map %x, %row : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32> {
  ^bb0(%s: f32, %m: f32):
    %sum = arith.addf %s, %m : f32
    graph.yield %sum : f32
  }
  return %0 : tensor<2x4xf32>
}

// Sums of many elements are f32 for maps and for the function's results; of few they are f16.
// CHECK-LABEL: func.func @sums
// CHECK: %[[X:.*]] = graph.reduce %arg0 {{.*}} : (tensor<2x128xf32>) -> tensor<2xf32>
// CHECK: graph.reduce %{{.*}} : (tensor<2x32xf16>) -> tensor<2xf16>
// CHECK: return %[[X]]
func.func @sums(%x: tensor<2x128xf32>, %y: tensor<2x32xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  %0 = graph.reduce %x {axes = array<i64: 1>, keepdims = false, kind = #graph<reduce_kind sum>} : (tensor<2x128xf32>) -> tensor<2xf32>
  %1 = graph.reduce %y {axes = array<i64: 1>, keepdims = false, kind = #graph<reduce_kind sum>} : (tensor<2x32xf32>) -> tensor<2xf32>
  return %0, %1 : tensor<2xf32>, tensor<2xf32>
}

// Where a constant masks all of a row, sum and softmax are f32.
// CHECK-LABEL: func.func @masked_row
// CHECK: %[[MASK:.*]] = graph.constant {{.*}} : tensor<2x2xf32>
// CHECK: %[[SUM:.*]] = graph.map %arg0, %[[MASK]] : (tensor<3x2x2xf32>, tensor<2x2xf32>) -> tensor<3x2x2xf32>
// CHECK: graph.softmax %[[SUM]] {{.*}} -> tensor<3x2x2xf32>
func.func @masked_row(%x: tensor<3x2x2xf32>) -> tensor<3x2x2xf32> {
  %mask = graph.constant dense<[[0.0, -1.0e9], [-1.0e9, -1.0e9]]> : tensor<2x2xf32>
  %0 = graph.map %x, %mask : (tensor<3x2x2xf32>, tensor<2x2xf32>) -> tensor<3x2x2xf32> {
  ^bb0(%s: f32, %m: f32):
    %sum = arith.addf %s, %m : f32
    graph.yield %sum : f32
  }
  %1 = graph.softmax %0 {axis = 2 : i64} : (tensor<3x2x2xf32>) -> tensor<3x2x2xf32>
  return %1 : tensor<3x2x2xf32>
}

// So they are where some of it is infinite.
// CHECK-LABEL: func.func @mixed_row
// CHECK: %[[MASK:.*]] = graph.constant {{.*}} : tensor<2x2xf32>
// CHECK: %[[SUM:.*]] = graph.map %arg0, %[[MASK]] : (tensor<3x2x2xf32>, tensor<2x2xf32>) -> tensor<3x2x2xf32>
// CHECK: graph.softmax %[[SUM]] {{.*}} -> tensor<3x2x2xf32>
func.func @mixed_row(%x: tensor<3x2x2xf32>) -> tensor<3x2x2xf32> {
  %mask = graph.constant dense<[[0.0, -1.0e9], [0xFF800000, -1.0e9]]> : tensor<2x2xf32>
  %0 = graph.map %x, %mask : (tensor<3x2x2xf32>, tensor<2x2xf32>) -> tensor<3x2x2xf32> {
  ^bb0(%s: f32, %m: f32):
    %sum = arith.addf %s, %m : f32
    graph.yield %sum : f32
  }
  %1 = graph.softmax %0 {axis = 2 : i64} : (tensor<3x2x2xf32>) -> tensor<3x2x2xf32>
  return %1 : tensor<3x2x2xf32>
}

// A mask that was fused into the addition to the scores is computed apart, and centred. Numbers that
// hide scores in f32 as well, such as the smallest one (above), are not.
// CHECK-LABEL: func.func @fused
// CHECK: %[[HIDDEN:.*]] = graph.map %{{.*}} : (tensor<4xf16>) -> tensor<4xf32>
// CHECK: %[[MOST:.*]] = graph.reduce %[[HIDDEN]] {{.*}}kind = #graph<reduce_kind max>
// CHECK: %[[MASK:.*]] = graph.map %[[HIDDEN]], %[[MOST]] : (tensor<4xf32>, tensor<1xf32>) -> tensor<4xf16>
// CHECK: graph.map %{{.*}}, %[[MASK]] : (tensor<2x4xf16>, tensor<4xf16>) -> tensor<2x4xf16>
func.func @fused(%x: tensor<2x4xf32>, %keep: tensor<4xf32>) -> tensor<2x4xf32> {
  %0 = graph.map %x, %keep : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32> {
  ^bb0(%s: f32, %k: f32):
    %one = arith.constant 1.0 : f32
    %low = arith.constant -1.0e4 : f32
    %hide = arith.subf %one, %k : f32
    %m = arith.mulf %hide, %low : f32
    %sum = arith.addf %s, %m : f32
    graph.yield %sum : f32
  }
  %1 = graph.softmax %0 {axis = 1 : i64} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  return %1 : tensor<2x4xf32>
}

// All layers read one mask, centred once.
// CHECK-LABEL: func.func @shared
// CHECK-COUNT-1: graph.reduce %arg2
// CHECK: %[[MASK:.*]] = graph.map %arg2, %{{.*}} : (tensor<4xf32>, tensor<1xf32>) -> tensor<4xf16>
// CHECK: graph.map %{{.*}}, %[[MASK]] :
// CHECK: graph.map %{{.*}}, %[[MASK]] :
func.func @shared(%x: tensor<2x4xf32>, %y: tensor<2x4xf32>, %mask: tensor<4xf32>) -> (tensor<2x4xf32>, tensor<2x4xf32>) {
  %0 = graph.map %x, %mask : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32> {
  ^bb0(%s: f32, %m: f32):
    %sum = arith.addf %s, %m : f32
    graph.yield %sum : f32
  }
  %1 = graph.softmax %0 {axis = 1 : i64} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %2 = graph.map %y, %mask : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32> {
  ^bb0(%s: f32, %m: f32):
    %sum = arith.addf %s, %m : f32
    graph.yield %sum : f32
  }
  %3 = graph.softmax %2 {axis = 1 : i64} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  return %1, %3 : tensor<2x4xf32>, tensor<2x4xf32>
}
