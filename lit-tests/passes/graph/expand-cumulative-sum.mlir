// RUN: atc-opt %s --graph-expand-cumulative-sum | FileCheck %s

// Five elements: shifts by 1, 2 and 4.
// CHECK-LABEL: func @forward
// CHECK: %[[P1:.*]] = graph.pad %arg0 {{.*}}high = array<i64: 0, -1>, low = array<i64: 0, 1>
// CHECK: %[[S1:.*]] = graph.add %arg0, %[[P1]]
// CHECK: %[[P2:.*]] = graph.pad %[[S1]] {{.*}}high = array<i64: 0, -2>, low = array<i64: 0, 2>
// CHECK: %[[S2:.*]] = graph.add %[[S1]], %[[P2]]
// CHECK: %[[P4:.*]] = graph.pad %[[S2]] {{.*}}high = array<i64: 0, -4>, low = array<i64: 0, 4>
// CHECK: %[[S4:.*]] = graph.add %[[S2]], %[[P4]]
// CHECK: return %[[S4]]
func.func @forward(%x: tensor<3x5xf32>) -> tensor<3x5xf32> {
  %0 = graph.cumulative_sum %x {axis = 1 : i64} : (tensor<3x5xf32>) -> tensor<3x5xf32>
  return %0 : tensor<3x5xf32>
}

// From the end, and without the element itself.
// CHECK-LABEL: func @others
// CHECK: %[[X:.*]] = graph.pad %arg0 {{.*}}high = array<i64: 1, 0>, low = array<i64: -1, 0>
// CHECK: %[[P:.*]] = graph.pad %[[X]] {{.*}}high = array<i64: 1, 0>, low = array<i64: -1, 0>
// CHECK: %[[S:.*]] = graph.add %[[X]], %[[P]]
// CHECK: return %[[S]]
func.func @others(%x: tensor<2x5xi32>) -> tensor<2x5xi32> {
  %0 = graph.cumulative_sum %x {axis = 0 : i64, exclusive = true, reverse = true} : (tensor<2x5xi32>) -> tensor<2x5xi32>
  return %0 : tensor<2x5xi32>
}
