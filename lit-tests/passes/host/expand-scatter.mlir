// RUN: atc-opt %s --host-expand-scatter --split-input-file | FileCheck %s
// RUN: atc-opt %s --host-expand-scatter --split-input-file --remarks-filter=host-expand-scatter --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// REMARK-DAG: [Passed] {{.*}}Category:host-expand-scatter{{.*}}the updates are put between slices of the data
// REMARK-DAG: [Missed] {{.*}}Category:host-expand-scatter{{.*}}its indices are not known
// REMARK-DAG: [Missed] {{.*}}Category:host-expand-scatter{{.*}}its positions are no grid in its order
// REMARK-DAG: [Missed] {{.*}}Category:host-expand-scatter{{.*}}its positions are no grid
// REMARK-DAG: [Missed] {{.*}}Category:host-expand-scatter{{.*}}its indices are out of range
// REMARK-DAG: [Missed] {{.*}}Category:host-expand-scatter{{.*}}it combines elements
// REMARK-DAG: [Missed] {{.*}}Category:host-expand-scatter{{.*}}its positions are too far apart
// REMARK-DAG: [Missed] {{.*}}Category:host-expand-scatter{{.*}}its shapes are not known

// x[0:2, 1:3] = y: rows of the data around rows that are put together.
// CHECK-LABEL: func @grid
// CHECK-SAME: %[[X:.*]]: tensor<3x4xf32>, %[[Y:.*]]: tensor<2x2xf32>
// CHECK: %[[TOP:.*]] = graph.slice %[[X]] {{.*}} -> tensor<2x4xf32>
// CHECK: %[[LEFT:.*]] = graph.slice %[[TOP]] {{.*}} -> tensor<2x1xf32>
// CHECK: %[[RIGHT:.*]] = graph.slice %[[TOP]] {{.*}} -> tensor<2x1xf32>
// CHECK: %[[ROWS:.*]] = graph.concat %[[LEFT]], %[[Y]], %[[RIGHT]] {axis = 1 : i64}
// CHECK: %[[BOTTOM:.*]] = graph.slice %[[X]] {{.*}} -> tensor<1x4xf32>
// CHECK: %[[ALL:.*]] = graph.concat %[[ROWS]], %[[BOTTOM]] {axis = 0 : i64}
// CHECK: return %[[ALL]]
func.func @grid(%x: tensor<3x4xf32>, %y: tensor<2x2xf32>) -> tensor<3x4xf32> {
  %i = graph.constant dense<[[[0, 1], [0, 2]], [[1, 1], [1, 2]]]> : tensor<2x2x2xi64>
  %r = graph.host_call "ScatterND"(%x, %i, %y) {reduction = "none"} : (tensor<3x4xf32>, tensor<2x2x2xi64>, tensor<2x2xf32>) -> tensor<3x4xf32>
  return %r : tensor<3x4xf32>
}

// -----

// Whole rows, the last of them counted from the end: every second one of the data remains.
// CHECK-LABEL: func @rows
// CHECK-SAME: %[[X:.*]]: tensor<4x5xf16>, %[[Y:.*]]: tensor<2x5xf16>
// CHECK-NOT: host_call
// CHECK: graph.concat %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} {axis = 0 : i64} : (tensor<1x5xf16>, tensor<1x5xf16>, tensor<1x5xf16>, tensor<1x5xf16>)
func.func @rows(%x: tensor<4x5xf16>, %y: tensor<2x5xf16>) -> tensor<4x5xf16> {
  %i = graph.constant dense<[[1], [-1]]> : tensor<2x1xi32>
  %r = graph.host_call "ScatterND"(%x, %i, %y) {} : (tensor<4x5xf16>, tensor<2x1xi32>, tensor<2x5xf16>) -> tensor<4x5xf16>
  return %r : tensor<4x5xf16>
}

// -----

// Everything is replaced: the updates in another shape.
// CHECK-LABEL: func @all
// CHECK-SAME: %[[X:.*]]: tensor<2x3xi64>, %[[Y:.*]]: tensor<6xi64>
// CHECK: %[[R:.*]] = graph.reshape %[[Y]]
// CHECK: return %[[R]]
func.func @all(%x: tensor<2x3xi64>, %y: tensor<6xi64>) -> tensor<2x3xi64> {
  %i = graph.constant dense<[[0, 0], [0, 1], [0, 2], [1, 0], [1, 1], [1, 2]]> : tensor<6x2xi64>
  %r = graph.host_call "ScatterND"(%x, %i, %y) {} : (tensor<2x3xi64>, tensor<6x2xi64>, tensor<6xi64>) -> tensor<2x3xi64>
  return %r : tensor<2x3xi64>
}

// -----

// Along the second dim, in the first row only.
// CHECK-LABEL: func @elements
// CHECK-SAME: %[[X:.*]]: tensor<2x4xf32>, %[[Y:.*]]: tensor<1x2xf32>
// CHECK-NOT: host_call
// CHECK: %[[ROW:.*]] = graph.concat %{{.*}}, %[[Y]] {axis = 1 : i64} : (tensor<1x2xf32>, tensor<1x2xf32>)
// CHECK: graph.concat %[[ROW]], %{{.*}} {axis = 0 : i64}
func.func @elements(%x: tensor<2x4xf32>, %y: tensor<1x2xf32>) -> tensor<2x4xf32> {
  %i = graph.constant dense<[[2, 3]]> : tensor<1x2xi64>
  %r = graph.host_call "ScatterElements"(%x, %i, %y) {axis = array<i64: 1>} : (tensor<2x4xf32>, tensor<1x2xi64>, tensor<1x2xf32>) -> tensor<2x4xf32>
  return %r : tensor<2x4xf32>
}

// -----

// What stays a call: unknown indices, other orders, twice the same row, what is no grid, out of range, sums, positions that
// are far apart, unknown shapes.
// CHECK-LABEL: func @calls
// CHECK-COUNT-9: graph.host_call
// CHECK-NOT: graph.concat
func.func @calls(%x: tensor<3x4xf32>, %y: tensor<2x4xf32>, %n: tensor<2x1xi64>, %e: tensor<2x2xf32>, %l: tensor<80xf32>,
                 %u: tensor<40xf32>, %d: tensor<?x4xf32>) -> (tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>,
                 tensor<3x4xf32>, tensor<3x4xf32>, tensor<80xf32>, tensor<?x4xf32>, tensor<3x4xf32>) {
  %unknown = graph.host_call "ScatterND"(%x, %n, %y) {} : (tensor<3x4xf32>, tensor<2x1xi64>, tensor<2x4xf32>) -> tensor<3x4xf32>
  %i = graph.constant dense<[[2], [0]]> : tensor<2x1xi64>
  %order = graph.host_call "ScatterND"(%x, %i, %y) {} : (tensor<3x4xf32>, tensor<2x1xi64>, tensor<2x4xf32>) -> tensor<3x4xf32>
  %j = graph.constant dense<[[1], [1]]> : tensor<2x1xi64>
  %twice = graph.host_call "ScatterND"(%x, %j, %y) {} : (tensor<3x4xf32>, tensor<2x1xi64>, tensor<2x4xf32>) -> tensor<3x4xf32>
  %k = graph.constant dense<[[[0, 0], [0, 1]], [[1, 1], [1, 2]]]> : tensor<2x2x2xi64>
  %uneven = graph.host_call "ScatterND"(%x, %k, %e) {} : (tensor<3x4xf32>, tensor<2x2x2xi64>, tensor<2x2xf32>) -> tensor<3x4xf32>
  %m = graph.constant dense<[[0], [3]]> : tensor<2x1xi64>
  %outside = graph.host_call "ScatterND"(%x, %m, %y) {} : (tensor<3x4xf32>, tensor<2x1xi64>, tensor<2x4xf32>) -> tensor<3x4xf32>
  %o = graph.constant dense<[[0], [1]]> : tensor<2x1xi64>
  %sum = graph.host_call "ScatterND"(%x, %o, %y) {reduction = "add"} : (tensor<3x4xf32>, tensor<2x1xi64>, tensor<2x4xf32>) -> tensor<3x4xf32>
  %p = graph.constant dense<[0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30, 32, 34, 36, 38, 40, 42, 44, 46, 48, 50, 52, 54,
                             56, 58, 60, 62, 64, 66, 68, 70, 72, 74, 76, 78]> : tensor<40xi64>
  %far = graph.host_call "ScatterElements"(%l, %p, %u) {axis = array<i64: 0>} : (tensor<80xf32>, tensor<40xi64>, tensor<40xf32>) -> tensor<80xf32>
  %dynamic = graph.host_call "ScatterND"(%d, %o, %y) {} : (tensor<?x4xf32>, tensor<2x1xi64>, tensor<2x4xf32>) -> tensor<?x4xf32>
  %q = graph.constant dense<[[0, 1], [1, 0]]> : tensor<2x2xi64>
  %mixed = graph.host_call "ScatterElements"(%x, %q, %e) {axis = array<i64: 0>} : (tensor<3x4xf32>, tensor<2x2xi64>, tensor<2x2xf32>) -> tensor<3x4xf32>
  return %unknown, %order, %twice, %uneven, %outside, %sum, %far, %dynamic, %mixed : tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>,
      tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<80xf32>, tensor<?x4xf32>, tensor<3x4xf32>
}
