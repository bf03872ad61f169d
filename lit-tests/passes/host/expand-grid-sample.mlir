// RUN: atc-opt %s --host-expand-grid-sample --split-input-file | FileCheck %s
// RUN: atc-opt %s --host-expand-grid-sample --split-input-file --remarks-filter=host-expand-grid-sample --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// REMARK-DAG: [Passed] {{.*}}Category:host-expand-grid-sample{{.*}}GridSample becomes gathers and maps
// REMARK-DAG: [Missed] {{.*}}Category:host-expand-grid-sample{{.*}}GridSample stays a call of a host kernel: it is cubic
// REMARK-DAG: [Missed] {{.*}}Category:host-expand-grid-sample{{.*}}GridSample stays a call of a host kernel: it reflects points
// REMARK-DAG: [Missed] {{.*}}Category:host-expand-grid-sample{{.*}}GridSample stays a call of a host kernel: it has no two spatial dims

// CHECK-LABEL: func.func @linear
// CHECK: %[[T:.*]] = graph.transpose %arg0 {permutation = array<i64: 0, 2, 3, 1>}
// CHECK: %[[PIXELS:.*]] = graph.reshape %[[T]] : (tensor<1x20x16x8xf32>) -> tensor<320x8xf32>
// CHECK: graph.map {{.*}} -> tensor<1x4x6xi64>
// CHECK: math.floor
// CHECK: arith.fptosi
// CHECK: graph.map {{.*}} -> tensor<1x4x6xf32>
// CHECK: math.absf
// CHECK: graph.gather %[[PIXELS]], %{{.*}} {axis = 0 : i64} : (tensor<320x8xf32>, tensor<24xi64>) -> tensor<24x8xf32>
// CHECK-COUNT-4: graph.mul
// CHECK: graph.transpose {{.*}} -> tensor<1x8x3x2xf32>
// CHECK-NOT: host_call
func.func @linear(%x: tensor<1x8x20x16xf32>, %grid: tensor<1x3x2x2xf32>) -> tensor<1x8x3x2xf32> {
  %y = graph.host_call "GridSample"(%x, %grid) {mode = "bilinear", padding_mode = "zeros"} : (tensor<1x8x20x16xf32>, tensor<1x3x2x2xf32>) -> tensor<1x8x3x2xf32>
  return %y : tensor<1x8x3x2xf32>
}

// -----

// CHECK-LABEL: func.func @nearest
// CHECK: math.roundeven
// CHECK: graph.gather {{.*}} -> tensor<6x8xf32>
// CHECK-NOT: host_call
func.func @nearest(%x: tensor<1x8x20x16xf32>, %grid: tensor<1x3x2x2xf32>) -> tensor<1x8x3x2xf32> {
  %y = graph.host_call "GridSample"(%x, %grid) {mode = "nearest", padding_mode = "border"} : (tensor<1x8x20x16xf32>, tensor<1x3x2x2xf32>) -> tensor<1x8x3x2xf32>
  return %y : tensor<1x8x3x2xf32>
}

// -----

// CHECK-LABEL: func.func @kept
// CHECK-COUNT-3: graph.host_call "GridSample"
func.func @kept(%x: tensor<1x8x20x16xf32>, %grid: tensor<1x3x2x2xf32>, %volume: tensor<1x8x5x4x4xf32>, %points: tensor<1x1x3x2x3xf32>) -> (tensor<1x8x3x2xf32>, tensor<1x8x3x2xf32>, tensor<1x8x1x3x2xf32>) {
  %0 = graph.host_call "GridSample"(%x, %grid) {mode = "bicubic"} : (tensor<1x8x20x16xf32>, tensor<1x3x2x2xf32>) -> tensor<1x8x3x2xf32>
  %1 = graph.host_call "GridSample"(%x, %grid) {padding_mode = "reflection"} : (tensor<1x8x20x16xf32>, tensor<1x3x2x2xf32>) -> tensor<1x8x3x2xf32>
  %2 = graph.host_call "GridSample"(%volume, %points) {} : (tensor<1x8x5x4x4xf32>, tensor<1x1x3x2x3xf32>) -> tensor<1x8x1x3x2xf32>
  return %0, %1, %2 : tensor<1x8x3x2xf32>, tensor<1x8x3x2xf32>, tensor<1x8x1x3x2xf32>
}
