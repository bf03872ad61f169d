// RUN: atc-opt --graph-eliminate-transposes %s | FileCheck %s

// Twelve blocks of a network whose convolutions are computed with the channels first, and the
// rest with the channels last. Each block is free of transposes only when the one before it is:
// the rewriter goes through the function as often as there are blocks.

// CHECK-LABEL: @deep
// CHECK-COUNT-12: graph.conv
// CHECK-NOT: graph.conv
// CHECK: graph.add
// CHECK-NEXT: %[[LAST:.*]] = graph.transpose
// CHECK-NEXT: return %[[LAST]]
func.func @deep(%a: tensor<1x3x4x4xf32>, %w: tensor<3x3x1x1xf32>) -> tensor<1x4x4x3xf32> {
  %x0 = graph.transpose %a {permutation = array<i64: 0, 2, 3, 1>} : (tensor<1x3x4x4xf32>) -> tensor<1x4x4x3xf32>
  %r0 = graph.relu %x0 : (tensor<1x4x4x3xf32>) -> tensor<1x4x4x3xf32>
  %t0 = graph.transpose %r0 {permutation = array<i64: 0, 3, 1, 2>} : (tensor<1x4x4x3xf32>) -> tensor<1x3x4x4xf32>
  %c0 = graph.conv %t0, %w {dilations = array<i64: 1, 1>, groups = 1 : i64, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>} : (tensor<1x3x4x4xf32>, tensor<3x3x1x1xf32>) -> tensor<1x3x4x4xf32>
  %u0 = graph.transpose %c0 {permutation = array<i64: 0, 2, 3, 1>} : (tensor<1x3x4x4xf32>) -> tensor<1x4x4x3xf32>
  %x1 = graph.add %u0, %x0 : (tensor<1x4x4x3xf32>, tensor<1x4x4x3xf32>) -> tensor<1x4x4x3xf32>
  %r1 = graph.relu %x1 : (tensor<1x4x4x3xf32>) -> tensor<1x4x4x3xf32>
  %t1 = graph.transpose %r1 {permutation = array<i64: 0, 3, 1, 2>} : (tensor<1x4x4x3xf32>) -> tensor<1x3x4x4xf32>
  %c1 = graph.conv %t1, %w {dilations = array<i64: 1, 1>, groups = 1 : i64, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>} : (tensor<1x3x4x4xf32>, tensor<3x3x1x1xf32>) -> tensor<1x3x4x4xf32>
  %u1 = graph.transpose %c1 {permutation = array<i64: 0, 2, 3, 1>} : (tensor<1x3x4x4xf32>) -> tensor<1x4x4x3xf32>
  %x2 = graph.add %u1, %x1 : (tensor<1x4x4x3xf32>, tensor<1x4x4x3xf32>) -> tensor<1x4x4x3xf32>
  %r2 = graph.relu %x2 : (tensor<1x4x4x3xf32>) -> tensor<1x4x4x3xf32>
  %t2 = graph.transpose %r2 {permutation = array<i64: 0, 3, 1, 2>} : (tensor<1x4x4x3xf32>) -> tensor<1x3x4x4xf32>
  %c2 = graph.conv %t2, %w {dilations = array<i64: 1, 1>, groups = 1 : i64, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>} : (tensor<1x3x4x4xf32>, tensor<3x3x1x1xf32>) -> tensor<1x3x4x4xf32>
  %u2 = graph.transpose %c2 {permutation = array<i64: 0, 2, 3, 1>} : (tensor<1x3x4x4xf32>) -> tensor<1x4x4x3xf32>
  %x3 = graph.add %u2, %x2 : (tensor<1x4x4x3xf32>, tensor<1x4x4x3xf32>) -> tensor<1x4x4x3xf32>
  %r3 = graph.relu %x3 : (tensor<1x4x4x3xf32>) -> tensor<1x4x4x3xf32>
  %t3 = graph.transpose %r3 {permutation = array<i64: 0, 3, 1, 2>} : (tensor<1x4x4x3xf32>) -> tensor<1x3x4x4xf32>
  %c3 = graph.conv %t3, %w {dilations = array<i64: 1, 1>, groups = 1 : i64, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>} : (tensor<1x3x4x4xf32>, tensor<3x3x1x1xf32>) -> tensor<1x3x4x4xf32>
  %u3 = graph.transpose %c3 {permutation = array<i64: 0, 2, 3, 1>} : (tensor<1x3x4x4xf32>) -> tensor<1x4x4x3xf32>
  %x4 = graph.add %u3, %x3 : (tensor<1x4x4x3xf32>, tensor<1x4x4x3xf32>) -> tensor<1x4x4x3xf32>
  %r4 = graph.relu %x4 : (tensor<1x4x4x3xf32>) -> tensor<1x4x4x3xf32>
  %t4 = graph.transpose %r4 {permutation = array<i64: 0, 3, 1, 2>} : (tensor<1x4x4x3xf32>) -> tensor<1x3x4x4xf32>
  %c4 = graph.conv %t4, %w {dilations = array<i64: 1, 1>, groups = 1 : i64, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>} : (tensor<1x3x4x4xf32>, tensor<3x3x1x1xf32>) -> tensor<1x3x4x4xf32>
  %u4 = graph.transpose %c4 {permutation = array<i64: 0, 2, 3, 1>} : (tensor<1x3x4x4xf32>) -> tensor<1x4x4x3xf32>
  %x5 = graph.add %u4, %x4 : (tensor<1x4x4x3xf32>, tensor<1x4x4x3xf32>) -> tensor<1x4x4x3xf32>
  %r5 = graph.relu %x5 : (tensor<1x4x4x3xf32>) -> tensor<1x4x4x3xf32>
  %t5 = graph.transpose %r5 {permutation = array<i64: 0, 3, 1, 2>} : (tensor<1x4x4x3xf32>) -> tensor<1x3x4x4xf32>
  %c5 = graph.conv %t5, %w {dilations = array<i64: 1, 1>, groups = 1 : i64, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>} : (tensor<1x3x4x4xf32>, tensor<3x3x1x1xf32>) -> tensor<1x3x4x4xf32>
  %u5 = graph.transpose %c5 {permutation = array<i64: 0, 2, 3, 1>} : (tensor<1x3x4x4xf32>) -> tensor<1x4x4x3xf32>
  %x6 = graph.add %u5, %x5 : (tensor<1x4x4x3xf32>, tensor<1x4x4x3xf32>) -> tensor<1x4x4x3xf32>
  %r6 = graph.relu %x6 : (tensor<1x4x4x3xf32>) -> tensor<1x4x4x3xf32>
  %t6 = graph.transpose %r6 {permutation = array<i64: 0, 3, 1, 2>} : (tensor<1x4x4x3xf32>) -> tensor<1x3x4x4xf32>
  %c6 = graph.conv %t6, %w {dilations = array<i64: 1, 1>, groups = 1 : i64, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>} : (tensor<1x3x4x4xf32>, tensor<3x3x1x1xf32>) -> tensor<1x3x4x4xf32>
  %u6 = graph.transpose %c6 {permutation = array<i64: 0, 2, 3, 1>} : (tensor<1x3x4x4xf32>) -> tensor<1x4x4x3xf32>
  %x7 = graph.add %u6, %x6 : (tensor<1x4x4x3xf32>, tensor<1x4x4x3xf32>) -> tensor<1x4x4x3xf32>
  %r7 = graph.relu %x7 : (tensor<1x4x4x3xf32>) -> tensor<1x4x4x3xf32>
  %t7 = graph.transpose %r7 {permutation = array<i64: 0, 3, 1, 2>} : (tensor<1x4x4x3xf32>) -> tensor<1x3x4x4xf32>
  %c7 = graph.conv %t7, %w {dilations = array<i64: 1, 1>, groups = 1 : i64, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>} : (tensor<1x3x4x4xf32>, tensor<3x3x1x1xf32>) -> tensor<1x3x4x4xf32>
  %u7 = graph.transpose %c7 {permutation = array<i64: 0, 2, 3, 1>} : (tensor<1x3x4x4xf32>) -> tensor<1x4x4x3xf32>
  %x8 = graph.add %u7, %x7 : (tensor<1x4x4x3xf32>, tensor<1x4x4x3xf32>) -> tensor<1x4x4x3xf32>
  %r8 = graph.relu %x8 : (tensor<1x4x4x3xf32>) -> tensor<1x4x4x3xf32>
  %t8 = graph.transpose %r8 {permutation = array<i64: 0, 3, 1, 2>} : (tensor<1x4x4x3xf32>) -> tensor<1x3x4x4xf32>
  %c8 = graph.conv %t8, %w {dilations = array<i64: 1, 1>, groups = 1 : i64, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>} : (tensor<1x3x4x4xf32>, tensor<3x3x1x1xf32>) -> tensor<1x3x4x4xf32>
  %u8 = graph.transpose %c8 {permutation = array<i64: 0, 2, 3, 1>} : (tensor<1x3x4x4xf32>) -> tensor<1x4x4x3xf32>
  %x9 = graph.add %u8, %x8 : (tensor<1x4x4x3xf32>, tensor<1x4x4x3xf32>) -> tensor<1x4x4x3xf32>
  %r9 = graph.relu %x9 : (tensor<1x4x4x3xf32>) -> tensor<1x4x4x3xf32>
  %t9 = graph.transpose %r9 {permutation = array<i64: 0, 3, 1, 2>} : (tensor<1x4x4x3xf32>) -> tensor<1x3x4x4xf32>
  %c9 = graph.conv %t9, %w {dilations = array<i64: 1, 1>, groups = 1 : i64, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>} : (tensor<1x3x4x4xf32>, tensor<3x3x1x1xf32>) -> tensor<1x3x4x4xf32>
  %u9 = graph.transpose %c9 {permutation = array<i64: 0, 2, 3, 1>} : (tensor<1x3x4x4xf32>) -> tensor<1x4x4x3xf32>
  %x10 = graph.add %u9, %x9 : (tensor<1x4x4x3xf32>, tensor<1x4x4x3xf32>) -> tensor<1x4x4x3xf32>
  %r10 = graph.relu %x10 : (tensor<1x4x4x3xf32>) -> tensor<1x4x4x3xf32>
  %t10 = graph.transpose %r10 {permutation = array<i64: 0, 3, 1, 2>} : (tensor<1x4x4x3xf32>) -> tensor<1x3x4x4xf32>
  %c10 = graph.conv %t10, %w {dilations = array<i64: 1, 1>, groups = 1 : i64, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>} : (tensor<1x3x4x4xf32>, tensor<3x3x1x1xf32>) -> tensor<1x3x4x4xf32>
  %u10 = graph.transpose %c10 {permutation = array<i64: 0, 2, 3, 1>} : (tensor<1x3x4x4xf32>) -> tensor<1x4x4x3xf32>
  %x11 = graph.add %u10, %x10 : (tensor<1x4x4x3xf32>, tensor<1x4x4x3xf32>) -> tensor<1x4x4x3xf32>
  %r11 = graph.relu %x11 : (tensor<1x4x4x3xf32>) -> tensor<1x4x4x3xf32>
  %t11 = graph.transpose %r11 {permutation = array<i64: 0, 3, 1, 2>} : (tensor<1x4x4x3xf32>) -> tensor<1x3x4x4xf32>
  %c11 = graph.conv %t11, %w {dilations = array<i64: 1, 1>, groups = 1 : i64, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>} : (tensor<1x3x4x4xf32>, tensor<3x3x1x1xf32>) -> tensor<1x3x4x4xf32>
  %u11 = graph.transpose %c11 {permutation = array<i64: 0, 2, 3, 1>} : (tensor<1x3x4x4xf32>) -> tensor<1x4x4x3xf32>
  %x12 = graph.add %u11, %x11 : (tensor<1x4x4x3xf32>, tensor<1x4x4x3xf32>) -> tensor<1x4x4x3xf32>
  return %x12 : tensor<1x4x4x3xf32>
}
