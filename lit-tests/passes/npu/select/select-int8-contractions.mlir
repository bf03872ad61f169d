// RUN: atc-opt %s --npu-set-soc=soc=Ascend310P3 --npu-select-int8-contractions | FileCheck %s
// RUN: atc-opt %s --npu-set-soc=soc=Ascend910B1 --npu-select-int8-contractions | FileCheck %s
// RUN: atc-opt %s --npu-set-soc=soc=Ascend310P3 --npu-select-int8-contractions --remarks-filter=npu-select-int8-contractions --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// REMARK-DAG: [Passed] {{.*}}Category:npu-select-int8-contractions{{.*}}the cube computes the int8 contraction

// A branch whose result is the f32 of a quantized tensor is stored as bytes; the
// sums that add it read these and multiply. Cores of both kinds do.

// CHECK-LABEL: @main
// CHECK: graph.integer_conv {{.*}}npu.sums = "blocks"{{.*}} -> tensor<1x32x4x4xui8>
// CHECK: arith.fptoui
// CHECK: graph.integer_conv {{.*}}npu.sums = "blocks"{{.*}}tensor<1x32x4x4xui8>) -> tensor<1x32x4x4xui8>
// CHECK: ^bb0(%{{.*}}: i32, %{{.*}}: f32, %[[BYTE:.*]]: i8):
// CHECK: %[[REAL:.*]] = arith.uitofp %[[BYTE]] : i8 to f32
// CHECK: arith.subf %[[REAL]]
func.func @main(%x: tensor<1x32x4x4xui8>) -> tensor<1x32x4x4xui8> {
  %filter = graph.constant dense<2> : tensor<32x32x1x1xi8>
  %scale = graph.constant dense<0.01> : tensor<32x1x1xf32>
  %branch = graph.integer_conv %x, %filter inputs %scale {dilations = array<i64: 1, 1>, filter_zero_points = array<i64>, groups = 1 : i64, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>, zero_point = 3 : i64} : (tensor<1x32x4x4xui8>, tensor<32x32x1x1xi8>, tensor<32x1x1xf32>) -> tensor<1x32x4x4xf32> {
  ^bb0(%sum: i32, %s: f32):
    %zero = arith.constant 0.0 : f32
    %most = arith.constant 255.0 : f32
    %point = arith.constant 134.0 : f32
    %step = arith.constant 0.25 : f32
    %0 = arith.sitofp %sum : i32 to f32
    %1 = arith.mulf %0, %s : f32
    %2 = math.roundeven %1 : f32
    %3 = arith.addf %2, %point : f32
    %4 = arith.maximumf %3, %zero : f32
    %5 = arith.minimumf %4, %most : f32
    %6 = arith.subf %5, %point : f32
    %7 = arith.mulf %6, %step : f32
    graph.yield %7 : f32
  }
  %result = graph.integer_conv %x, %filter inputs %scale, %branch {dilations = array<i64: 1, 1>, filter_zero_points = array<i64>, groups = 1 : i64, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>, zero_point = 3 : i64} : (tensor<1x32x4x4xui8>, tensor<32x32x1x1xi8>, tensor<32x1x1xf32>, tensor<1x32x4x4xf32>) -> tensor<1x32x4x4xui8> {
  ^bb0(%sum: i32, %s: f32, %other: f32):
    %zero = arith.constant 0.0 : f32
    %most = arith.constant 255.0 : f32
    %step = arith.constant 0.5 : f32
    %factor = arith.constant 3.0 : f32
    %0 = arith.sitofp %sum : i32 to f32
    %1 = arith.mulf %0, %s : f32
    %2 = math.roundeven %1 : f32
    %3 = arith.maximumf %2, %zero : f32
    %4 = arith.minimumf %3, %most : f32
    %5 = arith.mulf %4, %step : f32
    %6 = arith.addf %5, %other : f32
    %7 = arith.mulf %6, %factor : f32
    %8 = math.roundeven %7 : f32
    %9 = arith.maximumf %8, %zero : f32
    %10 = arith.minimumf %9, %most : f32
    %11 = arith.fptoui %10 : f32 to i8
    graph.yield %11 : i8
  }
  return %result : tensor<1x32x4x4xui8>
}

// A map that rounds to a byte and goes on is divided there, so that the epilogue of the product can
// read the byte that is added.
// CHECK-LABEL: @residual
// CHECK: %[[STORED:.*]] = graph.map %{{.*}} : (tensor<4x32xf32>) -> tensor<4x32xui8>
// CHECK: arith.fptoui
// CHECK: graph.integer_fully_connected {{.*}} inputs %[[STORED]] {{.*}}npu.sums = "blocks"
// CHECK: ^bb0(%{{.*}}: i32, %[[BYTE:.*]]: i8):
// CHECK: arith.uitofp %[[BYTE]] : i8 to f32
func.func @residual(%x: tensor<4x32xui8>, %y: tensor<4x32xf32>) -> (tensor<4x32xui8>, tensor<4x32xf32>) {
  %filter = graph.constant dense<2> : tensor<32x32xi8>
  %read = graph.map %y : (tensor<4x32xf32>) -> tensor<4x32xf32> {
  ^bb0(%e: f32):
    %zero = arith.constant 0.0 : f32
    %most = arith.constant 255.0 : f32
    %step = arith.constant 0.25 : f32
    %factor = arith.constant 4.0 : f32
    %0 = arith.mulf %e, %factor : f32
    %1 = math.roundeven %0 : f32
    %2 = arith.maximumf %1, %zero : f32
    %3 = arith.minimumf %2, %most : f32
    %4 = arith.mulf %3, %step : f32
    graph.yield %4 : f32
  }
  %result = graph.integer_fully_connected %x, %filter inputs %read {filter_zero_points = array<i64>, zero_point = 3 : i64} : (tensor<4x32xui8>, tensor<32x32xi8>, tensor<4x32xf32>) -> tensor<4x32xui8> {
  ^bb0(%sum: i32, %other: f32):
    %zero = arith.constant 0.0 : f32
    %most = arith.constant 255.0 : f32
    %s = arith.constant 0.01 : f32
    %step = arith.constant 0.5 : f32
    %0 = arith.sitofp %sum : i32 to f32
    %1 = arith.mulf %0, %s : f32
    %2 = math.roundeven %1 : f32
    %3 = arith.maximumf %2, %zero : f32
    %4 = arith.minimumf %3, %most : f32
    %5 = arith.mulf %4, %step : f32
    %6 = arith.addf %5, %other : f32
    %7 = math.roundeven %6 : f32
    %8 = arith.maximumf %7, %zero : f32
    %9 = arith.minimumf %8, %most : f32
    %10 = arith.fptoui %9 : f32 to i8
    graph.yield %10 : i8
  }
  return %result, %read : tensor<4x32xui8>, tensor<4x32xf32>
}

// A body that adds two tensors and has factors per channel, which no epilogue of the cube supports,
// is divided behind its first stored value: a map does the rest. The result is stored as bytes, and
// what reads it multiplies.
// CHECK-LABEL: @divided
// CHECK: %[[FIRST:.*]] = graph.integer_conv %arg0, %{{.*}} inputs %{{.*}}npu.sums = "blocks"{{.*}}(tensor<1x32x4x4xui8>, tensor<32x32x1x1xi8>, tensor<32x1x1xf32>) -> tensor<1x32x4x4xi8>
// CHECK: %[[NUMBER:.*]] = arith.minimumf
// CHECK-NEXT: %[[BYTE:.*]] = arith.fptosi %[[NUMBER]] : f32 to i8
// CHECK-NEXT: graph.yield %[[BYTE]]
// CHECK: %[[SECOND:.*]] = graph.map %[[FIRST]], %arg0, %arg1, %{{.*}} -> tensor<1x32x4x4xui8>
// CHECK: ^bb0(%[[A:.*]]: i8, %{{.*}}: i8, %{{.*}}: i8, %{{.*}}: f32):
// CHECK: arith.sitofp %[[A]] : i8 to f32
// CHECK: arith.fptoui
// CHECK: graph.map %[[SECOND]] : (tensor<1x32x4x4xui8>) -> tensor<1x32x4x4xf32>
func.func @divided(%x: tensor<1x32x4x4xui8>, %y: tensor<1x32x4x4xui8>) -> tensor<1x32x4x4xf32> {
  %filter = graph.constant dense<2> : tensor<32x32x1x1xi8>
  %scale = graph.constant dense<0.01> : tensor<32x1x1xf32>
  %factors = graph.constant dense<1.5> : tensor<32x1x1xf32>
  %result = graph.integer_conv %x, %filter inputs %x, %scale, %y, %factors {dilations = array<i64: 1, 1>, filter_zero_points = array<i64>, groups = 1 : i64, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>, zero_point = 3 : i64} : (tensor<1x32x4x4xui8>, tensor<32x32x1x1xi8>, tensor<1x32x4x4xui8>, tensor<32x1x1xf32>, tensor<1x32x4x4xui8>, tensor<32x1x1xf32>) -> tensor<1x32x4x4xf32> {
  ^bb0(%sum: i32, %a: i8, %s: f32, %b: i8, %factor: f32):
    %zero = arith.constant 0.0 : f32
    %most = arith.constant 255.0 : f32
    %low = arith.constant -128.0 : f32
    %high = arith.constant 127.0 : f32
    %step = arith.constant 0.25 : f32
    %0 = arith.sitofp %sum : i32 to f32
    %1 = arith.mulf %0, %s : f32
    %2 = math.roundeven %1 : f32
    %3 = arith.maximumf %2, %low : f32
    %4 = arith.minimumf %3, %high : f32
    %5 = arith.mulf %4, %step : f32
    %6 = arith.uitofp %a : i8 to f32
    %7 = arith.uitofp %b : i8 to f32
    %8 = arith.addf %5, %6 : f32
    %9 = arith.addf %8, %7 : f32
    %10 = arith.mulf %9, %factor : f32
    %11 = math.roundeven %10 : f32
    %12 = arith.maximumf %11, %zero : f32
    %13 = arith.minimumf %12, %most : f32
    %14 = arith.mulf %13, %step : f32
    graph.yield %14 : f32
  }
  return %result : tensor<1x32x4x4xf32>
}

// Beside a contraction of bytes, one whose result stays a real number is computed in floats: inputs
// without the zero point and divided by a power of two, weights times their scales and that power.
// CHECK-LABEL: @beside_floats
// CHECK: %[[BYTES:.*]] = graph.integer_fully_connected {{.*}}npu.sums = "blocks"
// CHECK: %[[FILTER:.*]] = graph.constant dense<4.915200e+01> : tensor<2x32xf32>
// CHECK: %[[INPUT:.*]] = graph.map %[[BYTES]] : (tensor<4x32xui8>) -> tensor<4x32xf32>
// CHECK: %[[SHIFTED:.*]] = arith.subf
// CHECK: arith.mulf %[[SHIFTED]]
// CHECK: %[[PRODUCT:.*]] = graph.fully_connected %[[INPUT]], %[[FILTER]] bias
// CHECK-SAME: npu.in_halves = "its results are not rounded
// CHECK: graph.map %[[PRODUCT]]
// CHECK: math.tanh
func.func @beside_floats(%x: tensor<4x32xui8>) -> tensor<4x2xf32> {
  %square = graph.constant dense<2> : tensor<32x32xi8>
  %filter = graph.constant dense<3> : tensor<2x32xi8>
  %bytes = graph.integer_fully_connected %x, %square {filter_zero_points = array<i64>, zero_point = 0 : i64} : (tensor<4x32xui8>, tensor<32x32xi8>) -> tensor<4x32xui8> {
  ^bb0(%sum: i32):
    %scale = arith.constant 0.01 : f32
    %zero = arith.constant 0.0 : f32
    %most = arith.constant 255.0 : f32
    %0 = arith.sitofp %sum : i32 to f32
    %1 = arith.mulf %0, %scale : f32
    %2 = math.roundeven %1 : f32
    %3 = arith.maximumf %2, %zero : f32
    %4 = arith.minimumf %3, %most : f32
    %5 = arith.fptoui %4 : f32 to i8
    graph.yield %5 : i8
  }
  %result = graph.integer_fully_connected %bytes, %filter {filter_zero_points = array<i64>, zero_point = 7 : i64} : (tensor<4x32xui8>, tensor<2x32xi8>) -> tensor<4x2xf32> {
  ^bb0(%sum: i32):
    %scale = arith.constant 0.001 : f32
    %0 = arith.sitofp %sum : i32 to f32
    %1 = arith.mulf %0, %scale : f32
    %2 = math.tanh %1 : f32
    graph.yield %2 : f32
  }
  return %result : tensor<4x2xf32>
}
