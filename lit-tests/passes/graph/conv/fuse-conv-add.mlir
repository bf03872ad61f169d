// RUN: atc-opt %s --graph-fuse-conv-add --split-input-file --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s
// RUN: atc-opt %s --graph-fuse-conv-add --split-input-file --remarks-filter=graph-fuse-conv-add --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// REMARK-DAG: [Passed] {{.*}}Category:graph-fuse-conv-add{{.*}}the addition becomes the bias of the layer in front of it
// REMARK-DAG: [Passed] {{.*}}Category:graph-fuse-conv-add{{.*}}the addition becomes the residual of the convolution

// CHECK-LABEL: func @bias
func.func @bias(%x: tensor<1x1x3x3xf32>) -> tensor<1x2x3x3xf32> {
  %w = graph.constant dense<3.0> : tensor<2x1x1x1xf32>
  %b = graph.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %c = graph.constant dense<[[[10.0]], [[20.0]]]> : tensor<2x1x1xf32>
  // CHECK: %[[B:.*]] = graph.constant dense<[1.100000e+01, 2.200000e+01]> : tensor<2xf32>
  // CHECK: graph.conv %{{.*}}, %{{.*}} bias %[[B]] {{.*}} loc("sum")
  // CHECK-NOT: graph.add
  %y = graph.conv %x, %w bias %b {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x1x3x3xf32>, tensor<2x1x1x1xf32>, tensor<2xf32>) -> tensor<1x2x3x3xf32>
  %0 = graph.add %c, %y : (tensor<2x1x1xf32>, tensor<1x2x3x3xf32>) -> tensor<1x2x3x3xf32> loc("sum")
  return %0 : tensor<1x2x3x3xf32>
}

// -----

// The residual may be made behind the convolution: that moves down.
// CHECK-LABEL: func @residual
// CHECK-SAME: %[[X:[^:]*]]: tensor
func.func @residual(%x: tensor<1x1x3x3xf32>) -> tensor<1x1x3x3xf32> {
  %w = graph.constant dense<3.0> : tensor<1x1x1x1xf32>
  // CHECK: %[[E:.*]] = graph.exp %[[X]]
  // CHECK: graph.conv %[[X]], %{{.*}} residual %[[E]]
  // CHECK-NOT: residual_last
  // CHECK-SAME: loc("sum")
  // CHECK-NOT: graph.add
  %y = graph.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x1x3x3xf32>, tensor<1x1x1x1xf32>) -> tensor<1x1x3x3xf32>
  %e = graph.exp %x : (tensor<1x1x3x3xf32>) -> tensor<1x1x3x3xf32>
  %0 = graph.add %y, %e : (tensor<1x1x3x3xf32>, tensor<1x1x3x3xf32>) -> tensor<1x1x3x3xf32> loc("sum")
  return %0 : tensor<1x1x3x3xf32>
}

// -----

// CHECK-LABEL: func @residual_last
// CHECK-SAME: %[[X:[^:]*]]: tensor
func.func @residual_last(%x: tensor<1x1x3x3xf32>) -> tensor<1x1x3x3xf32> {
  %w = graph.constant dense<3.0> : tensor<1x1x1x1xf32>
  // CHECK: graph.conv %[[X]], %{{.*}} residual %[[X]] {activation = #graph.activation<silu>, {{.*}}residual_last
  // CHECK-NOT: graph.add
  %y = graph.conv %x, %w {activation = #graph.activation<silu>, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x1x3x3xf32>, tensor<1x1x1x1xf32>) -> tensor<1x1x3x3xf32>
  %0 = graph.add %x, %y : (tensor<1x1x3x3xf32>, tensor<1x1x3x3xf32>) -> tensor<1x1x3x3xf32>
  return %0 : tensor<1x1x3x3xf32>
}

// -----

// Of two convolutions the later one takes the other.
// CHECK-LABEL: func @two_convs
func.func @two_convs(%x: tensor<1x1x3x3xf32>) -> tensor<1x1x3x3xf32> {
  // CHECK-DAG: %[[A:.*]] = graph.constant dense<3.0
  // CHECK-DAG: %[[B:.*]] = graph.constant dense<4.0
  // CHECK: %[[FIRST:.*]] = graph.conv %{{.*}}, %[[A]] {
  // CHECK: graph.conv %{{.*}}, %[[B]] residual %[[FIRST]]
  // CHECK-NOT: graph.add
  %a = graph.constant dense<3.0> : tensor<1x1x1x1xf32>
  %b = graph.constant dense<4.0> : tensor<1x1x1x1xf32>
  %y = graph.conv %x, %a {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x1x3x3xf32>, tensor<1x1x1x1xf32>) -> tensor<1x1x3x3xf32>
  %z = graph.conv %x, %b {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x1x3x3xf32>, tensor<1x1x1x1xf32>) -> tensor<1x1x3x3xf32>
  %0 = graph.add %y, %z : (tensor<1x1x3x3xf32>, tensor<1x1x3x3xf32>) -> tensor<1x1x3x3xf32>
  return %0 : tensor<1x1x3x3xf32>
}

// -----

// CHECK-LABEL: func @left_alone
func.func @left_alone(%x: tensor<1x1x3x3xf32>, %row: tensor<1x1x1x3xf32>, %big: tensor<2x1x3x3xf32>) -> (tensor<1x1x3x3xf32>, tensor<1x1x3x3xf32>, tensor<2x1x3x3xf32>, tensor<1x1x3x3xf32>) {
  %w = graph.constant dense<3.0> : tensor<1x1x1x1xf32>
  // Two uses; a residual of another shape; a result of another shape; one residual already.
  // CHECK-COUNT-4: graph.add
  %y0 = graph.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x1x3x3xf32>, tensor<1x1x1x1xf32>) -> tensor<1x1x3x3xf32>
  %0 = graph.add %y0, %y0 : (tensor<1x1x3x3xf32>, tensor<1x1x3x3xf32>) -> tensor<1x1x3x3xf32>
  %y1 = graph.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x1x3x3xf32>, tensor<1x1x1x1xf32>) -> tensor<1x1x3x3xf32>
  %1 = graph.add %y1, %row : (tensor<1x1x3x3xf32>, tensor<1x1x1x3xf32>) -> tensor<1x1x3x3xf32>
  %y2 = graph.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x1x3x3xf32>, tensor<1x1x1x1xf32>) -> tensor<1x1x3x3xf32>
  %2 = graph.add %y2, %big : (tensor<1x1x3x3xf32>, tensor<2x1x3x3xf32>) -> tensor<2x1x3x3xf32>
  %y3 = graph.conv %x, %w residual %x {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x1x3x3xf32>, tensor<1x1x1x1xf32>, tensor<1x1x3x3xf32>) -> tensor<1x1x3x3xf32>
  %3 = graph.add %y3, %x : (tensor<1x1x3x3xf32>, tensor<1x1x3x3xf32>) -> tensor<1x1x3x3xf32>
  return %0, %1, %2, %3 : tensor<1x1x3x3xf32>, tensor<1x1x3x3xf32>, tensor<2x1x3x3xf32>, tensor<1x1x3x3xf32>
}
