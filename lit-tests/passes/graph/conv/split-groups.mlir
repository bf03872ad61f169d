// RUN: atc-opt %s --graph-split-groups --split-input-file | FileCheck %s
// RUN: atc-opt %s --graph-split-groups --split-input-file --remarks-filter=graph-split-groups --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// REMARK-COUNT-2: [Passed] {{.*}}Category:graph-split-groups{{.*}}groups that fill blocks of channels are apart from the others
// REMARK-NOT: Passed

// CHECK-LABEL: func @rest
// CHECK: %[[X0:.*]] = graph.slice %arg0 {sizes = array<i64: 1, 96, 9, 9>, starts = array<i64: 0, 0, 0, 0>
// CHECK: %[[R0:.*]] = graph.slice %arg1 {sizes = array<i64: 1, 96, 5, 5>, starts = array<i64: 0, 0, 0, 0>
// CHECK: %[[A:.*]] = graph.conv %[[X0]], %{{.*}} bias %{{.*}} residual %[[R0]] {activation = #graph.activation<relu>, {{.*}}groups = 12 : i64, pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 2, 2>}{{.*}}tensor<96x8x3x3xf32>
// CHECK: %[[X1:.*]] = graph.slice %arg0 {sizes = array<i64: 1, 8, 9, 9>, starts = array<i64: 0, 96, 0, 0>
// CHECK: %[[R1:.*]] = graph.slice %arg1 {sizes = array<i64: 1, 8, 5, 5>, starts = array<i64: 0, 96, 0, 0>
// CHECK: %[[B:.*]] = graph.conv %[[X1]], %{{.*}} bias %{{.*}} residual %[[R1]] {activation = #graph.activation<relu>, {{.*}}groups = 1 : i64
// CHECK: graph.concat %[[A]], %[[B]] {axis = 1 : i64}
func.func @rest(%x: tensor<1x104x9x9xf32>, %r: tensor<1x104x5x5xf32>) -> tensor<1x104x5x5xf32> {
  %w = graph.constant dense<0.5> : tensor<104x8x3x3xf32>
  %b = graph.constant dense<0.25> : tensor<104xf32>
  %y = graph.conv %x, %w bias %b residual %r {strides = array<i64: 2, 2>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 13 : i64, activation = #graph.activation<relu>} : (tensor<1x104x9x9xf32>, tensor<104x8x3x3xf32>, tensor<104xf32>, tensor<1x104x5x5xf32>) -> tensor<1x104x5x5xf32>
  return %y : tensor<1x104x5x5xf32>
}

// -----

// Four groups of 12 channels fill blocks, and only multiples of four do.
// CHECK-LABEL: func @fours
// CHECK: graph.conv {{.*}}groups = 4 : i64{{.*}}tensor<32x12x1x1xf32>) -> tensor<1x32x9x9xf32>
// CHECK: graph.conv {{.*}}groups = 3 : i64{{.*}}tensor<24x12x1x1xf32>) -> tensor<1x24x9x9xf32>
func.func @fours(%x: tensor<1x84x9x9xf32>) -> tensor<1x56x9x9xf32> {
  %w = graph.constant dense<0.5> : tensor<56x12x1x1xf32>
  %y = graph.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 7 : i64} : (tensor<1x84x9x9xf32>, tensor<56x12x1x1xf32>) -> tensor<1x56x9x9xf32>
  return %y : tensor<1x56x9x9xf32>
}

// -----

// Groups that fill blocks, too few of them, depthwise ones, and filters that are not known.
// CHECK-LABEL: func @kept
// CHECK-NOT: graph.slice
// CHECK-COUNT-4: graph.conv
func.func @kept(%x: tensor<1x32x9x9xf32>, %z: tensor<1x20x9x9xf32>, %v: tensor<104x8x1x1xf32>, %u: tensor<1x104x9x9xf32>) -> (tensor<1x32x9x9xf32>, tensor<1x20x9x9xf32>, tensor<1x20x9x9xf32>, tensor<1x104x9x9xf32>) {
  %w = graph.constant dense<0.5> : tensor<32x8x1x1xf32>
  %a = graph.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 4 : i64} : (tensor<1x32x9x9xf32>, tensor<32x8x1x1xf32>) -> tensor<1x32x9x9xf32>
  %w1 = graph.constant dense<0.5> : tensor<20x10x1x1xf32>
  %b = graph.conv %z, %w1 {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 2 : i64} : (tensor<1x20x9x9xf32>, tensor<20x10x1x1xf32>) -> tensor<1x20x9x9xf32>
  %w2 = graph.constant dense<0.5> : tensor<20x1x1x1xf32>
  %c = graph.conv %z, %w2 {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 20 : i64} : (tensor<1x20x9x9xf32>, tensor<20x1x1x1xf32>) -> tensor<1x20x9x9xf32>
  %d = graph.conv %u, %v {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 13 : i64} : (tensor<1x104x9x9xf32>, tensor<104x8x1x1xf32>) -> tensor<1x104x9x9xf32>
  return %a, %b, %c, %d : tensor<1x32x9x9xf32>, tensor<1x20x9x9xf32>, tensor<1x20x9x9xf32>, tensor<1x104x9x9xf32>
}
