// RUN: atc-opt %s --canonicalize | FileCheck %s

!blocked = tensor<1x4x8x8xf32, #graph.layout<block = 16, halo = [0, 0, 0, 0]>>
!halo = tensor<1x4x8x8xf32, #graph.layout<block = 16, halo = [1, 1, 1, 1]>>

//===----------------------------------------------------------------------===//
// Operators that change nothing
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func.func @identities(
// CHECK-SAME: %[[X:.*]]: tensor<2x3xf32>
func.func @identities(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = graph.reshape %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = graph.transpose %0 {permutation = array<i64: 0, 1>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %2 = graph.expand %1 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %3 = graph.tile %2 {repeats = array<i64: 1, 1>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %4 = graph.concat %3 {axis = 0 : i64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %5 = graph.slice %4 {starts = array<i64: 0, 0>, sizes = array<i64: 2, -1>, steps = array<i64: 1, 1>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %6 = graph.pad %5 {low = array<i64: 0, 0>, high = array<i64: 0, 0>, mode = #graph<pad_mode edge>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %7 = graph.cast %6 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %8 = graph.relayout %7 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %9 = graph.resize %8 {scales = array<f64: 1.0, 1.0>, mode = #graph<resize_mode linear>, coordinates = #graph<coordinate_mode half_pixel>, nearest = #graph<nearest_mode floor>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK-NEXT: return %[[X]]
  return %9 : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @neutral(
// CHECK-SAME: %[[X:.*]]: tensor<2x3xf32>
func.func @neutral(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %zero = graph.constant dense<0.0> : tensor<f32>
  %one = graph.constant dense<1.0> : tensor<3xf32>
  %0 = graph.add %x, %zero : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %1 = graph.add %zero, %0 : (tensor<f32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %2 = graph.sub %1, %zero : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %3 = graph.mul %2, %one : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %4 = graph.mul %one, %3 : (tensor<3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %5 = graph.div %4, %one : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  // CHECK-NEXT: return %[[X]]
  return %5 : tensor<2x3xf32>
}

// 0 - x, 1 / x and sums that broadcast x are something.
// CHECK-LABEL: func.func @not_neutral(
func.func @not_neutral(%x: tensor<3xf32>, %i: tensor<3xi32>) -> (tensor<3xf32>, tensor<3xf32>, tensor<2x3xf32>, tensor<3xi32>) {
  %zero = graph.constant dense<0.0> : tensor<f32>
  %one = graph.constant dense<1.0> : tensor<f32>
  %zeros = graph.constant dense<0.0> : tensor<2x3xf32>
  %two = graph.constant dense<2> : tensor<i32>
  // CHECK: graph.sub
  %0 = graph.sub %zero, %x : (tensor<f32>, tensor<3xf32>) -> tensor<3xf32>
  // CHECK: graph.div
  %1 = graph.div %one, %x : (tensor<f32>, tensor<3xf32>) -> tensor<3xf32>
  // CHECK: graph.add
  %2 = graph.add %x, %zeros : (tensor<3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK: graph.mul
  %3 = graph.mul %i, %two : (tensor<3xi32>, tensor<i32>) -> tensor<3xi32>
  return %0, %1, %2, %3 : tensor<3xf32>, tensor<3xf32>, tensor<2x3xf32>, tensor<3xi32>
}

// CHECK-LABEL: func.func @twice(
// CHECK-SAME: %[[X:.*]]: tensor<3xf32>, %[[B:.*]]: tensor<3xi1>
func.func @twice(%x: tensor<3xf32>, %b: tensor<3xi1>) -> (tensor<3xf32>, tensor<3xi1>, tensor<3xf32>, tensor<3xf32>) {
  // CHECK-DAG: %[[RELU:.*]] = graph.relu %[[X]]
  // CHECK-DAG: %[[ABS:.*]] = graph.abs %[[X]]
  // CHECK-NOT: graph
  // CHECK: return %[[X]], %[[B]], %[[RELU]], %[[ABS]]
  %0 = graph.neg %x : (tensor<3xf32>) -> tensor<3xf32>
  %1 = graph.neg %0 : (tensor<3xf32>) -> tensor<3xf32>
  %2 = graph.not %b : (tensor<3xi1>) -> tensor<3xi1>
  %3 = graph.not %2 : (tensor<3xi1>) -> tensor<3xi1>
  %4 = graph.relu %x : (tensor<3xf32>) -> tensor<3xf32>
  %5 = graph.relu %4 : (tensor<3xf32>) -> tensor<3xf32>
  %6 = graph.abs %x : (tensor<3xf32>) -> tensor<3xf32>
  %7 = graph.abs %6 : (tensor<3xf32>) -> tensor<3xf32>
  return %1, %3, %5, %7 : tensor<3xf32>, tensor<3xi1>, tensor<3xf32>, tensor<3xf32>
}

//===----------------------------------------------------------------------===//
// Chains
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func.func @casts(
// CHECK-SAME: %[[X:.*]]: tensor<3xf16>, %[[I:.*]]: tensor<3xi8>, %[[F:.*]]: tensor<3xf32>
func.func @casts(%x: tensor<3xf16>, %i: tensor<3xi8>, %f: tensor<3xf32>) -> (tensor<3xf16>, tensor<3xi8>, tensor<3xf32>) {
  %0 = graph.cast %x : (tensor<3xf16>) -> tensor<3xf32>
  %1 = graph.cast %0 : (tensor<3xf32>) -> tensor<3xf16>
  %2 = graph.cast %i : (tensor<3xi8>) -> tensor<3xf16>
  %3 = graph.cast %2 : (tensor<3xf16>) -> tensor<3xi8>
  // Through a type that loses digits it stays.
  // CHECK: %[[HALF:.*]] = graph.cast %[[F]]
  // CHECK: %[[BACK:.*]] = graph.cast %[[HALF]]
  %4 = graph.cast %f : (tensor<3xf32>) -> tensor<3xf16>
  %5 = graph.cast %4 : (tensor<3xf16>) -> tensor<3xf32>
  // CHECK: return %[[X]], %[[I]], %[[BACK]]
  return %1, %3, %5 : tensor<3xf16>, tensor<3xi8>, tensor<3xf32>
}

// CHECK-LABEL: func.func @reshapes(
// CHECK-SAME: %[[X:.*]]: tensor<2x3xf32>
func.func @reshapes(%x: tensor<2x3xf32>) -> (tensor<1x6xf32>, tensor<2x3xf32>) {
  // CHECK-NEXT: %[[R:.*]] = graph.reshape %[[X]] : (tensor<2x3xf32>) -> tensor<1x6xf32>
  %0 = graph.reshape %x : (tensor<2x3xf32>) -> tensor<6xf32>
  %1 = graph.reshape %0 : (tensor<6xf32>) -> tensor<1x6xf32>
  %2 = graph.reshape %1 : (tensor<1x6xf32>) -> tensor<2x3xf32>
  // CHECK-NEXT: return %[[R]], %[[X]]
  return %1, %2 : tensor<1x6xf32>, tensor<2x3xf32>
}

// CHECK-LABEL: func.func @transposes(
// CHECK-SAME: %[[X:.*]]: tensor<2x3x4xf32>
func.func @transposes(%x: tensor<2x3x4xf32>) -> (tensor<2x3x4xf32>, tensor<3x2x4xf32>) {
  %0 = graph.transpose %x {permutation = array<i64: 2, 0, 1>} : (tensor<2x3x4xf32>) -> tensor<4x2x3xf32>
  %1 = graph.transpose %0 {permutation = array<i64: 1, 2, 0>} : (tensor<4x2x3xf32>) -> tensor<2x3x4xf32>
  // CHECK-NEXT: %[[T:.*]] = graph.transpose %[[X]] {permutation = array<i64: 1, 0, 2>}
  %2 = graph.transpose %0 {permutation = array<i64: 2, 1, 0>} : (tensor<4x2x3xf32>) -> tensor<3x2x4xf32>
  // CHECK-NEXT: return %[[X]], %[[T]]
  return %1, %2 : tensor<2x3x4xf32>, tensor<3x2x4xf32>
}

// CHECK-LABEL: func.func @transpose_of_unit_dims(
func.func @transpose_of_unit_dims(%x: tensor<1x3x1x4xf32>) -> tensor<3x4x1x1xf32> {
  // CHECK-NEXT: graph.reshape
  %0 = graph.transpose %x {permutation = array<i64: 1, 3, 0, 2>} : (tensor<1x3x1x4xf32>) -> tensor<3x4x1x1xf32>
  return %0 : tensor<3x4x1x1xf32>
}

// CHECK-LABEL: func.func @concats(
// CHECK-SAME: %[[X:.*]]: tensor<2x3xf32>, %[[Y:.*]]: tensor<2x1xf32>, %[[E:.*]]: tensor<2x0xf32>
func.func @concats(%x: tensor<2x3xf32>, %y: tensor<2x1xf32>, %empty: tensor<2x0xf32>) -> (tensor<2x7xf32>, tensor<2x3xf32>) {
  // CHECK-NEXT: %[[C:.*]] = graph.concat %[[X]], %[[Y]], %[[X]] {axis = 1 : i64}
  %0 = graph.concat %x, %y {axis = 1 : i64} : (tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x4xf32>
  %1 = graph.concat %0, %empty, %x {axis = 1 : i64} : (tensor<2x4xf32>, tensor<2x0xf32>, tensor<2x3xf32>) -> tensor<2x7xf32>
  %2 = graph.concat %empty, %x {axis = 1 : i64} : (tensor<2x0xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK-NEXT: return %[[C]], %[[X]]
  return %1, %2 : tensor<2x7xf32>, tensor<2x3xf32>
}

// A tree of concats is merged into its root.
// CHECK-LABEL: func.func @concat_tree(
// CHECK-SAME: %[[A:.*]]: tensor<1xf32>, %[[B:.*]]: tensor<2xf32>, %[[C:.*]]: tensor<3xf32>
func.func @concat_tree(%a: tensor<1xf32>, %b: tensor<2xf32>, %c: tensor<3xf32>) -> tensor<12xf32> {
  // CHECK-NEXT: %[[R:.*]] = graph.concat %[[C]], %[[A]], %[[B]], %[[A]], %[[B]], %[[C]] {axis = 0 : i64}
  %0 = graph.concat %a, %b {axis = 0 : i64} : (tensor<1xf32>, tensor<2xf32>) -> tensor<3xf32>
  %1 = graph.concat %c, %0 {axis = 0 : i64} : (tensor<3xf32>, tensor<3xf32>) -> tensor<6xf32>
  %2 = graph.concat %b, %c {axis = 0 : i64} : (tensor<2xf32>, tensor<3xf32>) -> tensor<5xf32>
  %3 = graph.concat %a, %2 {axis = 0 : i64} : (tensor<1xf32>, tensor<5xf32>) -> tensor<6xf32>
  %4 = graph.concat %1, %3 {axis = 0 : i64} : (tensor<6xf32>, tensor<6xf32>) -> tensor<12xf32>
  // CHECK-NEXT: return %[[R]]
  return %4 : tensor<12xf32>
}

// Another axis, or a second use: the inner concat stays.
// CHECK-LABEL: func.func @concats_stay(
func.func @concats_stay(%x: tensor<2x3xf32>) -> (tensor<4x6xf32>, tensor<4x3xf32>, tensor<6x3xf32>) {
  // CHECK: graph.concat
  %0 = graph.concat %x, %x {axis = 1 : i64} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x6xf32>
  // CHECK: graph.concat
  %1 = graph.concat %0, %0 {axis = 0 : i64} : (tensor<2x6xf32>, tensor<2x6xf32>) -> tensor<4x6xf32>
  // CHECK: %[[C:.*]] = graph.concat
  %2 = graph.concat %x, %x {axis = 0 : i64} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<4x3xf32>
  // CHECK: graph.concat %[[C]], %{{.*}} {axis = 0 : i64}
  %3 = graph.concat %2, %x {axis = 0 : i64} : (tensor<4x3xf32>, tensor<2x3xf32>) -> tensor<6x3xf32>
  return %1, %2, %3 : tensor<4x6xf32>, tensor<4x3xf32>, tensor<6x3xf32>
}

// CHECK-LABEL: func.func @slices(
// CHECK-SAME: %[[X:.*]]: tensor<4x20xf32>
func.func @slices(%x: tensor<4x20xf32>) -> tensor<2x3xf32> {
  // CHECK-NEXT: %[[S:.*]] = graph.slice %[[X]] {sizes = array<i64: 2, 3>, starts = array<i64: 3, 7>, steps = array<i64: -1, 4>}
  %0 = graph.slice %x {starts = array<i64: 3, 1>, sizes = array<i64: 2, 9>, steps = array<i64: -1, 2>} : (tensor<4x20xf32>) -> tensor<2x9xf32>
  %1 = graph.slice %0 {starts = array<i64: 0, 3>, sizes = array<i64: -1, 3>, steps = array<i64: 1, 2>} : (tensor<2x9xf32>) -> tensor<2x3xf32>
  // CHECK-NEXT: return %[[S]]
  return %1 : tensor<2x3xf32>
}

//===----------------------------------------------------------------------===//
// Layouts
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func.func @relayouts(
// CHECK-SAME: %[[X:.*]]: tensor<1x4x8x8xf32>
func.func @relayouts(%x: tensor<1x4x8x8xf32>) -> (tensor<1x4x8x8xf32>, !halo) {
  %0 = graph.relayout %x : (tensor<1x4x8x8xf32>) -> !blocked
  %1 = graph.relayout %0 : (!blocked) -> tensor<1x4x8x8xf32>
  // CHECK-NEXT: %[[H:.*]] = graph.relayout %[[X]] : (tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32, #graph.layout<block = 16, halo = [1, 1, 1, 1]>>
  %2 = graph.relayout %0 : (!blocked) -> !halo
  // CHECK-NEXT: return %[[X]], %[[H]]
  return %1, %2 : tensor<1x4x8x8xf32>, !halo
}

// A chosen layout is never lost: what changes it is no identity.
// CHECK-LABEL: func.func @layouts_stay(
func.func @layouts_stay(%x: !blocked) -> (!halo, !halo) {
  %zero = graph.constant dense<0.0> : tensor<f32>
  // CHECK: graph.relu
  %0 = graph.relu %x : (!blocked) -> !blocked
  // CHECK: graph.relu
  %1 = graph.relu %0 : (!blocked) -> !halo
  // CHECK: graph.add
  %2 = graph.add %x, %zero : (!blocked, tensor<f32>) -> !halo
  return %1, %2 : !halo, !halo
}

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func.func @folds(
func.func @folds() -> (tensor<2xi64>, tensor<2x2xf32>, tensor<3xi1>, tensor<2xf16>, tensor<2xf32>) {
  %shape = graph.constant dense<[1, 3, 224, 112]> : tensor<4xi64>
  %last = graph.constant dense<[-2, -1]> : tensor<2xi64>
  %two = graph.constant dense<2> : tensor<i64>
  // CHECK-DAG: %[[A:.*]] = graph.constant dense<[112, 56]> : tensor<2xi64>
  %0 = graph.gather %shape, %last {axis = 0 : i64} : (tensor<4xi64>, tensor<2xi64>) -> tensor<2xi64>
  %1 = graph.div %0, %two : (tensor<2xi64>, tensor<i64>) -> tensor<2xi64>
  // CHECK-DAG: %[[B:.*]] = graph.constant dense<{{\[\[}}7.000000e+00, 1.000000e+01], [1.500000e+01, 2.200000e+01]]> : tensor<2x2xf32>
  %x = graph.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %2 = graph.matmul %x, %x : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  // CHECK-DAG: %[[C:.*]] = graph.constant dense<[true, false, true]> : tensor<3xi1>
  %p = graph.constant dense<[1, 5, 1]> : tensor<3xi32>
  %q = graph.constant dense<3> : tensor<i32>
  %3 = graph.compare %p, %q {predicate = #graph<compare_predicate lt>} : (tensor<3xi32>, tensor<i32>) -> tensor<3xi1>
  // CHECK-DAG: %[[D:.*]] = graph.constant dense<[1.000000e+00, 5.000000e-01]> : tensor<2xf16>
  %h = graph.constant dense<[1.0, 0.5]> : tensor<2xf32>
  %4 = graph.cast %h : (tensor<2xf32>) -> tensor<2xf16>
  // CHECK-DAG: %[[E:.*]] = graph.constant dense<[2.000000e+00, 1.000000e+00]> : tensor<2xf32>
  %5 = graph.map %h : (tensor<2xf32>) -> tensor<2xf32> {
  ^bb0(%a: f32):
    %s = arith.addf %a, %a : f32
    graph.yield %s : f32
  }
  // CHECK: return %[[A]], %[[B]], %[[C]], %[[D]], %[[E]]
  return %1, %2, %3, %4, %5 : tensor<2xi64>, tensor<2x2xf32>, tensor<3xi1>, tensor<2xf16>, tensor<2xf32>
}

// Results of more than 1024 elements are left to graph-fold-constants; a
// reshape of a constant needs no arithmetic.
// CHECK-LABEL: func.func @large(
func.func @large() -> (tensor<1025xf32>, tensor<25x41xf32>) {
  %one = graph.constant dense<1.0> : tensor<1025xf32>
  // CHECK-DAG: graph.constant dense<1.000000e+00> : tensor<25x41xf32>
  // CHECK-DAG: graph.exp
  %0 = graph.exp %one : (tensor<1025xf32>) -> tensor<1025xf32>
  %1 = graph.reshape %one : (tensor<1025xf32>) -> tensor<25x41xf32>
  return %0, %1 : tensor<1025xf32>, tensor<25x41xf32>
}

// What cannot be evaluated stays.
// CHECK-LABEL: func.func @no_value(
func.func @no_value() -> (tensor<i32>, tensor<f32>) {
  %one = graph.constant dense<1> : tensor<i32>
  %zero = graph.constant dense<0> : tensor<i32>
  %x = graph.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %two = graph.constant dense<2> : tensor<i64>
  // CHECK: graph.div
  %0 = graph.div %one, %zero : (tensor<i32>, tensor<i32>) -> tensor<i32>
  // CHECK: graph.gather
  %1 = graph.gather %x, %two {axis = 0 : i64} : (tensor<2xf32>, tensor<i64>) -> tensor<f32>
  return %0, %1 : tensor<i32>, tensor<f32>
}

// A constant of the body stays in the body: the region is isolated.
// CHECK-LABEL: func.func @map_constant(
func.func @map_constant(%x: tensor<2xf32>) -> tensor<2xf32> {
  // CHECK-NEXT: graph.map
  // CHECK: arith.constant 2.000000e+00 : f32
  %0 = graph.map %x : (tensor<2xf32>) -> tensor<2xf32> {
  ^bb0(%a: f32):
    %one = arith.constant 1.0 : f32
    %two = arith.addf %one, %one : f32
    %s = arith.mulf %a, %two : f32
    graph.yield %s : f32
  }
  return %0 : tensor<2xf32>
}

// Axes of size 1 hold one element each.
// CHECK-LABEL: func.func @unit_axes(
// CHECK-SAME: %[[X:.*]]: tensor<2x1x3x1xf32>, %[[Y:.*]]: tensor<1x1xf32>, %[[Z:.*]]: tensor<?x1xf32>
func.func @unit_axes(%x: tensor<2x1x3x1xf32>, %y: tensor<1x1xf32>, %z: tensor<?x1xf32>)
    -> (tensor<2x3xf32>, tensor<2x1x1x1xf32>, tensor<2x1xf32>, tensor<1x1xf32>, tensor<f32>,
        tensor<1x1xf32>, tensor<?x1xf32>, tensor<?xf32>) {
  // CHECK-DAG: %[[A:.*]] = graph.reshape %[[X]] : (tensor<2x1x3x1xf32>) -> tensor<2x3xf32>
  %0 = graph.reduce %x {axes = array<i64: 1, 3>, keepdims = false, kind = #graph<reduce_kind max>} : (tensor<2x1x3x1xf32>) -> tensor<2x3xf32>
  // CHECK-DAG: %[[B:.*]] = graph.reduce %[[X]] {axes = array<i64: 2>, kind = #graph<reduce_kind l2>} : (tensor<2x1x3x1xf32>) -> tensor<2x1x1x1xf32>
  %1 = graph.reduce %x {axes = array<i64: 1, 2, 3>, kind = #graph<reduce_kind l2>} : (tensor<2x1x3x1xf32>) -> tensor<2x1x1x1xf32>
  // CHECK-DAG: %[[C0:.*]] = graph.reduce %[[X]] {axes = array<i64: 2>, keepdims = false, kind = #graph<reduce_kind sum>} : (tensor<2x1x3x1xf32>) -> tensor<2x1x1xf32>
  // CHECK-DAG: %[[C:.*]] = graph.reshape %[[C0]] : (tensor<2x1x1xf32>) -> tensor<2x1xf32>
  %2 = graph.reduce %x {axes = array<i64: 1, 2>, keepdims = false, kind = #graph<reduce_kind sum>} : (tensor<2x1x3x1xf32>) -> tensor<2x1xf32>
  // CHECK-DAG: %[[D:.*]] = graph.abs %[[Y]]
  %3 = graph.reduce %y {axes = array<i64: 0, 1>, kind = #graph<reduce_kind l2>} : (tensor<1x1xf32>) -> tensor<1x1xf32>
  // CHECK-DAG: %[[E0:.*]] = graph.mul %[[Y]], %[[Y]]
  // CHECK-DAG: %[[E:.*]] = graph.reshape %[[E0]] : (tensor<1x1xf32>) -> tensor<f32>
  %4 = graph.reduce %y {axes = array<i64: 0, 1>, keepdims = false, kind = #graph<reduce_kind sum_square>} : (tensor<1x1xf32>) -> tensor<f32>
  // CHECK-DAG: %[[F:.*]] = graph.log %[[Y]]
  %5 = graph.reduce %y {axes = array<i64: 1>, kind = #graph<reduce_kind log_sum>} : (tensor<1x1xf32>) -> tensor<1x1xf32>
  %6 = graph.reduce %z {axes = array<i64: 1>, kind = #graph<reduce_kind prod>} : (tensor<?x1xf32>) -> tensor<?x1xf32>
  // CHECK-DAG: %[[G:.*]] = graph.reduce %[[Z]] {axes = array<i64: 1>, keepdims = false
  %7 = graph.reduce %z {axes = array<i64: 1>, keepdims = false, kind = #graph<reduce_kind prod>} : (tensor<?x1xf32>) -> tensor<?xf32>
  // CHECK: return %[[A]], %[[B]], %[[C]], %[[D]], %[[E]], %[[F]], %[[Z]], %[[G]]
  return %0, %1, %2, %3, %4, %5, %6, %7 : tensor<2x3xf32>, tensor<2x1x1x1xf32>, tensor<2x1xf32>, tensor<1x1xf32>, tensor<f32>, tensor<1x1xf32>, tensor<?x1xf32>, tensor<?xf32>
}
