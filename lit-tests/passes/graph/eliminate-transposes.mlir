// RUN: atc-opt %s --graph-eliminate-transposes --split-input-file --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s

// NHWC ops between a pair of transposes, constants of a smaller rank.
// CHECK-LABEL: func @through_elementwise
// CHECK-SAME: %[[X:[^:]*]]: tensor
func.func @through_elementwise(%x: tensor<1x2x3x4xf32>) -> tensor<1x2x3x4xf32> {
  %c = graph.constant dense<[1.0, 2.0]> : tensor<2xf32>
  // CHECK: %[[C:.*]] = graph.constant {{.*}} : tensor<1x2x1x1xf32>
  // CHECK: %[[A:.*]] = graph.add %[[X]], %[[C]]
  // CHECK: %[[R:.*]] = graph.relu %[[A]] {{.*}} loc("out")
  // CHECK-NEXT: return %[[R]]
  %0 = graph.transpose %x {permutation = array<i64: 0, 2, 3, 1>} : (tensor<1x2x3x4xf32>) -> tensor<1x3x4x2xf32>
  %1 = graph.add %0, %c : (tensor<1x3x4x2xf32>, tensor<2xf32>) -> tensor<1x3x4x2xf32>
  %2 = graph.relu %1 : (tensor<1x3x4x2xf32>) -> tensor<1x3x4x2xf32>
  %3 = graph.transpose %2 {permutation = array<i64: 0, 3, 1, 2>} : (tensor<1x3x4x2xf32>) -> tensor<1x2x3x4xf32> loc("out")
  return %3 : tensor<1x2x3x4xf32>
}

// -----

// Concat, slice and pad name their dims anew.
// CHECK-LABEL: func @through_moves
// CHECK-SAME: %[[X:[^:]*]]: tensor<1x2x3x4xf32>{{.*}}, %[[Y:[^:]*]]: tensor<1x5x3x4xf32>
// CHECK: %[[C:.*]] = graph.concat %[[X]], %[[Y]] {axis = 1 : i64}
// CHECK: %[[S:.*]] = graph.slice %[[C]] {sizes = array<i64: 1, 6, 3, 2>, starts = array<i64: 0, 1, 0, 2>, steps = array<i64: 1, 1, 1, 1>}
// CHECK: %[[P:.*]] = graph.pad %[[S]] {high = array<i64: 0, 0, 0, 2>, low = array<i64: 0, 1, 0, 0>
// CHECK-NEXT: return %[[P]]
func.func @through_moves(%x: tensor<1x2x3x4xf32>, %y: tensor<1x5x3x4xf32>) -> tensor<1x7x3x4xf32> {
  %0 = graph.transpose %x {permutation = array<i64: 0, 2, 3, 1>} : (tensor<1x2x3x4xf32>) -> tensor<1x3x4x2xf32>
  %1 = graph.transpose %y {permutation = array<i64: 0, 2, 3, 1>} : (tensor<1x5x3x4xf32>) -> tensor<1x3x4x5xf32>
  %2 = graph.concat %0, %1 {axis = 3 : i64} : (tensor<1x3x4x2xf32>, tensor<1x3x4x5xf32>) -> tensor<1x3x4x7xf32>
  %3 = graph.slice %2 {starts = array<i64: 0, 0, 2, 1>, sizes = array<i64: 1, 3, 2, 6>, steps = array<i64: 1, 1, 1, 1>} : (tensor<1x3x4x7xf32>) -> tensor<1x3x2x6xf32>
  %4 = graph.pad %3 {low = array<i64: 0, 0, 0, 1>, high = array<i64: 0, 0, 2, 0>, mode = #graph<pad_mode constant>} : (tensor<1x3x2x6xf32>) -> tensor<1x3x4x7xf32>
  %5 = graph.transpose %4 {permutation = array<i64: 0, 3, 1, 2>} : (tensor<1x3x4x7xf32>) -> tensor<1x7x3x4xf32>
  return %5 : tensor<1x7x3x4xf32>
}

// -----

// Two transposes become one behind the op.
// CHECK-LABEL: func @sink
// CHECK-SAME: %[[X:[^:]*]]: tensor{{.*}}, %[[Y:[^:]*]]: tensor
// CHECK: %[[S:.*]] = graph.add %[[X]], %[[Y]] {{.*}} loc("sum.transposed")
// CHECK: %[[T:.*]] = graph.transpose %[[S]] {permutation = array<i64: 1, 0>} {{.*}} loc("sum")
// CHECK-NEXT: return %[[T]]
func.func @sink(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>) -> tensor<3x2xf32> {
  %0 = graph.transpose %x {permutation = array<i64: 1, 0>} : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %1 = graph.transpose %y {permutation = array<i64: 1, 0>} : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %2 = graph.add %0, %1 : (tensor<3x2xf32>, tensor<3x2xf32>) -> tensor<3x2xf32> loc("sum")
  return %2 : tensor<3x2xf32>
}

// -----

// A reduction of a transpose names other axes.
// CHECK-LABEL: func @reduce
// CHECK-NEXT: %[[R:.*]] = graph.reduce %{{.*}} {axes = array<i64: 2, 3>, keepdims = false
// CHECK-NEXT: return %[[R]]
func.func @reduce(%x: tensor<1x2x3x4xf32>) -> tensor<1x2xf32> {
  %0 = graph.transpose %x {permutation = array<i64: 0, 2, 3, 1>} : (tensor<1x2x3x4xf32>) -> tensor<1x3x4x2xf32>
  %1 = graph.reduce %0 {kind = #graph<reduce_kind mean>, axes = array<i64: 1, 2>, keepdims = false} : (tensor<1x3x4x2xf32>) -> tensor<1x2xf32>
  return %1 : tensor<1x2xf32>
}

// -----

// CHECK-LABEL: func @unit_dims
// CHECK-NEXT: %[[R:.*]] = graph.reshape %{{.*}} : (tensor<1x2x1x4xf32>) -> tensor<2x1x1x4xf32>
// CHECK-NEXT: return %[[R]]
func.func @unit_dims(%x: tensor<1x2x1x4xf32>) -> tensor<2x1x1x4xf32> {
  %0 = graph.transpose %x {permutation = array<i64: 1, 0, 2, 3>} : (tensor<1x2x1x4xf32>) -> tensor<2x1x1x4xf32>
  return %0 : tensor<2x1x1x4xf32>
}

// -----

// CHECK-LABEL: func @constants
// CHECK: graph.constant dense<{{\[\[}}1, 4], [2, 5], [3, 6]]> : tensor<3x2xi8>
// CHECK-NOT: graph.transpose
func.func @constants() -> tensor<3x2xi8> {
  %c = graph.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi8>
  %0 = graph.transpose %c {permutation = array<i64: 1, 0>} : (tensor<2x3xi8>) -> tensor<3x2xi8>
  return %0 : tensor<3x2xi8>
}

// -----

// CHECK-LABEL: func @chains
// CHECK-SAME: %[[X:[^:]*]]: tensor
// CHECK-NEXT: return %[[X]]
func.func @chains(%x: tensor<2x3x4xf32>) -> tensor<2x3x4xf32> {
  %0 = graph.transpose %x {permutation = array<i64: 1, 2, 0>} : (tensor<2x3x4xf32>) -> tensor<3x4x2xf32>
  %1 = graph.transpose %0 {permutation = array<i64: 2, 0, 1>} : (tensor<3x4x2xf32>) -> tensor<2x3x4xf32>
  %2 = graph.reshape %1 : (tensor<2x3x4xf32>) -> tensor<6x4xf32>
  %3 = graph.reshape %2 : (tensor<6x4xf32>) -> tensor<2x3x4xf32>
  return %3 : tensor<2x3x4xf32>
}

// -----

// The other operand would need a transpose; the value is used elsewhere too; a
// single transpose stays where it is.
// CHECK-LABEL: func @left_alone
// CHECK: %[[A:.*]] = graph.transpose
// CHECK: graph.add %[[A]]
// CHECK: %[[B:.*]] = graph.relu
// CHECK: graph.transpose %[[B]]
// CHECK: graph.exp %{{.*}} : (tensor<3x2xf32>)
func.func @left_alone(%x: tensor<2x3xf32>, %y: tensor<3x2xf32>) -> (tensor<3x2xf32>, tensor<2x3xf32>, tensor<3x2xf32>, tensor<3x2xf32>) {
  %0 = graph.transpose %x {permutation = array<i64: 1, 0>} : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %1 = graph.add %0, %y : (tensor<3x2xf32>, tensor<3x2xf32>) -> tensor<3x2xf32>
  %2 = graph.relu %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %3 = graph.transpose %2 {permutation = array<i64: 1, 0>} : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %4 = graph.transpose %x {permutation = array<i64: 1, 0>} : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %5 = graph.exp %4 : (tensor<3x2xf32>) -> tensor<3x2xf32>
  return %1, %2, %3, %5 : tensor<3x2xf32>, tensor<2x3xf32>, tensor<3x2xf32>, tensor<3x2xf32>
}

// -----

// A value with two readers: the whole region is computed in permuted form.

// CHECK-LABEL: func.func @region_of_hard_swish
// CHECK-SAME: (%[[X:.*]]: tensor<1x8x4x4xf32>
// CHECK-NOT: graph.transpose
// CHECK: %[[THREE:.*]] = graph.constant
// CHECK: %[[SHIFTED:.*]] = graph.add %[[X]], %[[THREE]]
// CHECK: %[[CLIPPED:.*]] = graph.clip %[[SHIFTED]]
// CHECK: %[[RESULT:.*]] = graph.mul %[[X]], %[[CLIPPED]] : (tensor<1x8x4x4xf32>, tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>
// CHECK: return %[[RESULT]]
func.func @region_of_hard_swish(%x: tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32> {
  %three = graph.constant dense<3.0> : tensor<8xf32>
  %0 = graph.transpose %x {permutation = array<i64: 0, 2, 3, 1>} : (tensor<1x8x4x4xf32>) -> tensor<1x4x4x8xf32>
  %1 = graph.add %0, %three : (tensor<1x4x4x8xf32>, tensor<8xf32>) -> tensor<1x4x4x8xf32>
  %2 = graph.clip %1 {min = 0.0 : f64, max = 6.0 : f64} : (tensor<1x4x4x8xf32>) -> tensor<1x4x4x8xf32>
  %3 = graph.mul %0, %2 : (tensor<1x4x4x8xf32>, tensor<1x4x4x8xf32>) -> tensor<1x4x4x8xf32>
  %4 = graph.transpose %3 {permutation = array<i64: 0, 3, 1, 2>} : (tensor<1x4x4x8xf32>) -> tensor<1x8x4x4xf32>
  return %4 : tensor<1x8x4x4xf32>
}

// -----

// Two results, one of them as it was: the transpose of the smaller one is left.

// CHECK-LABEL: func.func @region_with_two_ends
// CHECK-SAME: (%[[X:.*]]: tensor<1x8x4x4xf32>
// CHECK: %[[SUM:.*]] = graph.add %[[X]], %[[X]] : (tensor<1x8x4x4xf32>, tensor<1x8x4x4xf32>)
// CHECK: %[[PART:.*]] = graph.slice %[[SUM]] {{.*}} -> tensor<1x8x1x4xf32>
// CHECK: %[[BACK:.*]] = graph.transpose %[[PART]] {{.*}} -> tensor<1x1x4x8xf32>
// CHECK: return %[[SUM]], %[[BACK]]
func.func @region_with_two_ends(%x: tensor<1x8x4x4xf32>) -> (tensor<1x8x4x4xf32>, tensor<1x1x4x8xf32>) {
  %0 = graph.transpose %x {permutation = array<i64: 0, 2, 3, 1>} : (tensor<1x8x4x4xf32>) -> tensor<1x4x4x8xf32>
  %1 = graph.add %0, %0 : (tensor<1x4x4x8xf32>, tensor<1x4x4x8xf32>) -> tensor<1x4x4x8xf32>
  %2 = graph.slice %1 {starts = array<i64: 0, 1, 0, 0>, sizes = array<i64: 1, 1, 4, 8>, steps = array<i64: 1, 1, 1, 1>} : (tensor<1x4x4x8xf32>) -> tensor<1x1x4x8xf32>
  %3 = graph.transpose %1 {permutation = array<i64: 0, 3, 1, 2>} : (tensor<1x4x4x8xf32>) -> tensor<1x8x4x4xf32>
  return %3, %2 : tensor<1x8x4x4xf32>, tensor<1x1x4x8xf32>
}

// -----

// Where that would move more elements nothing changes.

// CHECK-LABEL: func.func @region_that_does_not_pay
// CHECK: graph.transpose %arg0
// CHECK: graph.add
// CHECK-NOT: graph.transpose
func.func @region_that_does_not_pay(%x: tensor<1x8x4x4xf32>, %y: tensor<1x4x4x8xf32>) -> tensor<1x4x4x8xf32> {
  %0 = graph.transpose %x {permutation = array<i64: 0, 2, 3, 1>} : (tensor<1x8x4x4xf32>) -> tensor<1x4x4x8xf32>
  %1 = graph.add %0, %y : (tensor<1x4x4x8xf32>, tensor<1x4x4x8xf32>) -> tensor<1x4x4x8xf32>
  return %1 : tensor<1x4x4x8xf32>
}

// -----

// The transpose of what is computed of constants moves to these and folds there; both do not come back
// behind the computation, which is too large to be folded here.

// CHECK-LABEL: func.func @computed_constants
// CHECK-NOT: graph.transpose
// CHECK: graph.sub {{.*}} : (tensor<64x1x2xi64>, tensor<1x64x2xi64>) -> tensor<64x64x2xi64>
// CHECK-NOT: graph.transpose
func.func @computed_constants() -> tensor<64x64x2xi64> {
  %a = graph.constant dense<3> : tensor<2x64x1xi64>
  %b = graph.constant dense<2> : tensor<2x1x64xi64>
  %0 = graph.sub %a, %b : (tensor<2x64x1xi64>, tensor<2x1x64xi64>) -> tensor<2x64x64xi64>
  %1 = graph.transpose %0 {permutation = array<i64: 1, 2, 0>} : (tensor<2x64x64xi64>) -> tensor<64x64x2xi64>
  return %1 : tensor<64x64x2xi64>
}

// What is hoisted moves only dims of size 1 and becomes a reshape; it is not sunk again, for ever.
// CHECK-LABEL: func.func @unit_dims_end
// CHECK-NOT: graph.transpose
// CHECK: graph.concat {{.*}} {axis = 2 : i64}
// CHECK-NOT: graph.transpose
func.func @unit_dims_end(%a: tensor<8x2x1x1xf32>, %b: tensor<8x2x1x1xf32>,
                         %c: tensor<8x2x1x1xf32>) -> tensor<8x2x3x1xf32> {
  %0 = graph.transpose %a {permutation = array<i64: 1, 0, 2, 3>} : (tensor<8x2x1x1xf32>) -> tensor<2x8x1x1xf32>
  %1 = graph.transpose %b {permutation = array<i64: 1, 0, 2, 3>} : (tensor<8x2x1x1xf32>) -> tensor<2x8x1x1xf32>
  %2 = graph.transpose %c {permutation = array<i64: 1, 0, 2, 3>} : (tensor<8x2x1x1xf32>) -> tensor<2x8x1x1xf32>
  %3 = graph.concat %0, %1, %2 {axis = 3 : i64} : (tensor<2x8x1x1xf32>, tensor<2x8x1x1xf32>, tensor<2x8x1x1xf32>) -> tensor<2x8x1x3xf32>
  %4 = graph.transpose %3 {permutation = array<i64: 1, 0, 3, 2>} : (tensor<2x8x1x3xf32>) -> tensor<8x2x3x1xf32>
  return %4 : tensor<8x2x3x1xf32>
}
