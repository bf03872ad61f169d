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
