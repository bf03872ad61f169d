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

// What others read of the sum is not shifted.
// CHECK-LABEL: func.func @read
// CHECK-NOT: reduce_kind max
// CHECK: graph.softmax
func.func @read(%x: tensor<2x4xf32>, %mask: tensor<4xf32>) -> (tensor<2x4xf32>, tensor<2x4xf32>) {
  %0 = graph.map %x, %mask : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32> {
  ^bb0(%s: f32, %m: f32):
    %sum = arith.addf %s, %m : f32
    graph.yield %sum : f32
  }
  %1 = graph.softmax %0 {axis = 1 : i64} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  return %0, %1 : tensor<2x4xf32>, tensor<2x4xf32>
}

// A number that is read twice is looked at once: squares of squares took a time of two to the power
// of their number.
// CHECK-LABEL: func.func @squares
// CHECK: graph.softmax
func.func @squares(%x: tensor<2x4xf32>, %mask: tensor<4xf32>) -> tensor<2x4xf32> {
  %0 = graph.map %x, %mask : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32> {
  ^bb0(%s: f32, %p0: f32):
    %p1 = arith.mulf %p0, %p0 : f32
    %p2 = arith.mulf %p1, %p1 : f32
    %p3 = arith.mulf %p2, %p2 : f32
    %p4 = arith.mulf %p3, %p3 : f32
    %p5 = arith.mulf %p4, %p4 : f32
    %p6 = arith.mulf %p5, %p5 : f32
    %p7 = arith.mulf %p6, %p6 : f32
    %p8 = arith.mulf %p7, %p7 : f32
    %p9 = arith.mulf %p8, %p8 : f32
    %p10 = arith.mulf %p9, %p9 : f32
    %p11 = arith.mulf %p10, %p10 : f32
    %p12 = arith.mulf %p11, %p11 : f32
    %p13 = arith.mulf %p12, %p12 : f32
    %p14 = arith.mulf %p13, %p13 : f32
    %p15 = arith.mulf %p14, %p14 : f32
    %p16 = arith.mulf %p15, %p15 : f32
    %p17 = arith.mulf %p16, %p16 : f32
    %p18 = arith.mulf %p17, %p17 : f32
    %p19 = arith.mulf %p18, %p18 : f32
    %p20 = arith.mulf %p19, %p19 : f32
    %p21 = arith.mulf %p20, %p20 : f32
    %p22 = arith.mulf %p21, %p21 : f32
    %p23 = arith.mulf %p22, %p22 : f32
    %p24 = arith.mulf %p23, %p23 : f32
    %p25 = arith.mulf %p24, %p24 : f32
    %p26 = arith.mulf %p25, %p25 : f32
    %p27 = arith.mulf %p26, %p26 : f32
    %p28 = arith.mulf %p27, %p27 : f32
    %p29 = arith.mulf %p28, %p28 : f32
    %p30 = arith.mulf %p29, %p29 : f32
    %p31 = arith.mulf %p30, %p30 : f32
    %p32 = arith.mulf %p31, %p31 : f32
    %p33 = arith.mulf %p32, %p32 : f32
    %p34 = arith.mulf %p33, %p33 : f32
    %p35 = arith.mulf %p34, %p34 : f32
    %p36 = arith.mulf %p35, %p35 : f32
    %p37 = arith.mulf %p36, %p36 : f32
    %p38 = arith.mulf %p37, %p37 : f32
    %p39 = arith.mulf %p38, %p38 : f32
    %p40 = arith.mulf %p39, %p39 : f32
    %p41 = arith.mulf %p40, %p40 : f32
    %p42 = arith.mulf %p41, %p41 : f32
    %p43 = arith.mulf %p42, %p42 : f32
    %p44 = arith.mulf %p43, %p43 : f32
    %p45 = arith.mulf %p44, %p44 : f32
    %p46 = arith.mulf %p45, %p45 : f32
    %p47 = arith.mulf %p46, %p46 : f32
    %p48 = arith.mulf %p47, %p47 : f32
    %p49 = arith.mulf %p48, %p48 : f32
    %p50 = arith.mulf %p49, %p49 : f32
    %p51 = arith.mulf %p50, %p50 : f32
    %p52 = arith.mulf %p51, %p51 : f32
    %p53 = arith.mulf %p52, %p52 : f32
    %p54 = arith.mulf %p53, %p53 : f32
    %p55 = arith.mulf %p54, %p54 : f32
    %p56 = arith.mulf %p55, %p55 : f32
    %p57 = arith.mulf %p56, %p56 : f32
    %p58 = arith.mulf %p57, %p57 : f32
    %p59 = arith.mulf %p58, %p58 : f32
    %p60 = arith.mulf %p59, %p59 : f32
    %sum = arith.addf %s, %p60 : f32
    graph.yield %sum : f32
  }
  %1 = graph.softmax %0 {axis = 1 : i64} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  return %1 : tensor<2x4xf32>
}
