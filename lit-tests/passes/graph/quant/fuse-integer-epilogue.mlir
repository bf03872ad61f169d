// RUN: atc-opt %s --graph-fuse-integer-epilogue | FileCheck %s
// RUN: atc-opt %s --graph-fuse-integer-epilogue --remarks-filter=graph-fuse-integer-epilogue --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// REMARK-DAG: [Passed] {{.*}}Category:graph-fuse-integer-epilogue{{.*}}the map becomes the epilogue of the int8 contraction

// CHECK-LABEL: func @residual
// CHECK-SAME: %[[X:.*]]: tensor<1x4xui8>, %[[W:.*]]: tensor<8x4xi8>, %[[R:.*]]: tensor<1x8xui8>
// CHECK: graph.integer_fully_connected %[[X]], %[[W]] inputs %[[R]], %{{.*}} -> tensor<1x8xf32> {
// CHECK-NEXT: ^bb0(%[[S:.*]]: i32, %[[RE:.*]]: i8, %[[M:.*]]: f32):
// CHECK: arith.sitofp %[[S]]
// CHECK: arith.maximumf {{.*}} fastmath<nnan,nsz>
// CHECK-NOT: graph.map
func.func @residual(%x: tensor<1x4xui8>, %w: tensor<8x4xi8>, %r: tensor<1x8xui8>) -> tensor<1x8xf32> {
  %m = graph.constant dense<0.5> : tensor<8xf32>
  %s = graph.integer_fully_connected %x, %w {zero_point = 0 : i64, filter_zero_points = array<i64>} : (tensor<1x4xui8>, tensor<8x4xi8>) -> tensor<1x8xi32>
  %y = graph.map %r, %s, %m : (tensor<1x8xui8>, tensor<1x8xi32>, tensor<8xf32>) -> tensor<1x8xf32> {
  ^bb0(%a: i8, %b: i32, %c: f32):
    %zero = arith.constant 0.0 : f32
    %0 = arith.uitofp %a : i8 to f32
    %1 = arith.sitofp %b : i32 to f32
    %2 = arith.mulf %1, %c : f32
    %3 = arith.addf %0, %2 : f32
    %4 = arith.maximumf %3, %zero : f32
    graph.yield %4 : f32
  }
  return %y : tensor<1x8xf32>
}

// Sums that something else reads, too, stay.
// CHECK-LABEL: func @two_readers
// CHECK: graph.map
func.func @two_readers(%x: tensor<1x4xui8>, %w: tensor<8x4xi8>) -> (tensor<1x8xi32>, tensor<1x8xf32>) {
  %s = graph.integer_fully_connected %x, %w {zero_point = 0 : i64, filter_zero_points = array<i64>} : (tensor<1x4xui8>, tensor<8x4xi8>) -> tensor<1x8xi32>
  %y = graph.map %s : (tensor<1x8xi32>) -> tensor<1x8xf32> {
  ^bb0(%b: i32):
    %1 = arith.sitofp %b : i32 to f32
    graph.yield %1 : f32
  }
  return %s, %y : tensor<1x8xi32>, tensor<1x8xf32>
}

// A result that is dequantized for the body of another contraction alone stays in 8 bits: the reader dequantizes it.
// CHECK-LABEL: func @stored
// CHECK: %[[D:.*]] = graph.integer_fully_connected {{.*}} -> tensor<1x8xui8> {
// CHECK: %[[Q:.*]] = arith.minimumf
// CHECK-NEXT: %[[BYTE:.*]] = arith.fptoui %[[Q]] : f32 to i8
// CHECK-NEXT: graph.yield %[[BYTE]] : i8
// CHECK: graph.integer_fully_connected {{.*}} inputs %[[D]] {{.*}} -> tensor<1x8xf32> {
// CHECK-NEXT: ^bb0(%[[S:.*]]: i32, %[[RE:.*]]: i8):
// CHECK-NEXT: %[[F:.*]] = arith.uitofp %[[RE]]
// CHECK: %[[SHIFTED:.*]] = arith.subf %[[F]]
// CHECK: %[[REAL:.*]] = arith.mulf %[[SHIFTED]]
// CHECK: arith.addf %{{.*}}, %[[REAL]]
// CHECK-LABEL: func @stored_for_result
// CHECK: graph.integer_fully_connected {{.*}} -> tensor<1x8xf32> {
// CHECK: graph.integer_fully_connected {{.*}} -> tensor<1x8xf32> {
func.func @stored(%x: tensor<1x4xui8>, %w: tensor<8x4xi8>) -> tensor<1x8xf32> {
  %d = graph.integer_fully_connected %x, %w {zero_point = 0 : i64, filter_zero_points = array<i64>} : (tensor<1x4xui8>, tensor<8x4xi8>) -> tensor<1x8xi32>
  %r = graph.map %d : (tensor<1x8xi32>) -> tensor<1x8xf32> {
  ^bb0(%b: i32):
    %least = arith.constant 0.0 : f32
    %most = arith.constant 255.0 : f32
    %zp = arith.constant 133.0 : f32
    %scale = arith.constant 0.0625 : f32
    %0 = arith.sitofp %b : i32 to f32
    %1 = math.roundeven %0 : f32
    %2 = arith.addf %1, %zp : f32
    %3 = arith.maximumf %2, %least : f32
    %4 = arith.minimumf %3, %most : f32
    %5 = arith.subf %4, %zp : f32
    %6 = arith.mulf %5, %scale : f32
    graph.yield %6 : f32
  }
  %s = graph.integer_fully_connected %x, %w {zero_point = 1 : i64, filter_zero_points = array<i64>} : (tensor<1x4xui8>, tensor<8x4xi8>) -> tensor<1x8xi32>
  %y = graph.map %s, %r : (tensor<1x8xi32>, tensor<1x8xf32>) -> tensor<1x8xf32> {
  ^bb0(%b: i32, %a: f32):
    %0 = arith.sitofp %b : i32 to f32
    %1 = arith.addf %0, %a : f32
    graph.yield %1 : f32
  }
  return %y : tensor<1x8xf32>
}

// The result is one of the network, too.
func.func @stored_for_result(%x: tensor<1x4xui8>, %w: tensor<8x4xi8>) -> (tensor<1x8xf32>, tensor<1x8xf32>) {
  %d = graph.integer_fully_connected %x, %w {zero_point = 0 : i64, filter_zero_points = array<i64>} : (tensor<1x4xui8>, tensor<8x4xi8>) -> tensor<1x8xi32>
  %r = graph.map %d : (tensor<1x8xi32>) -> tensor<1x8xf32> {
  ^bb0(%b: i32):
    %least = arith.constant 0.0 : f32
    %most = arith.constant 255.0 : f32
    %scale = arith.constant 0.0625 : f32
    %0 = arith.sitofp %b : i32 to f32
    %1 = math.roundeven %0 : f32
    %3 = arith.maximumf %1, %least : f32
    %4 = arith.minimumf %3, %most : f32
    %6 = arith.mulf %4, %scale : f32
    graph.yield %6 : f32
  }
  %s = graph.integer_fully_connected %x, %w {zero_point = 1 : i64, filter_zero_points = array<i64>} : (tensor<1x4xui8>, tensor<8x4xi8>) -> tensor<1x8xi32>
  %y = graph.map %s, %r : (tensor<1x8xi32>, tensor<1x8xf32>) -> tensor<1x8xf32> {
  ^bb0(%b: i32, %a: f32):
    %0 = arith.sitofp %b : i32 to f32
    %1 = arith.addf %0, %a : f32
    graph.yield %1 : f32
  }
  return %y, %r : tensor<1x8xf32>, tensor<1x8xf32>
}
