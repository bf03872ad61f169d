// RUN: atc-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(kernel-assign-layout,kernel-assign-halo),npu-lower-graph)' | FileCheck %s

// The cube multiplies lanes past the last channel by zero, so they must be
// finite: what copies of channels leave is cleared.
// CHECK-LABEL: func.func @main
// CHECK: kernel.fill %[[LANES:.*]] {value = 0.0{{.*}}} : memref<1x1x4x4x4xf16, strided<[256, 256, 64, 16, 1]>>
// CHECK: kernel.copy
// CHECK: npu.conv2d
func.func @main(%arg0: tensor<1x16x4x4xf16>) -> tensor<1x16x4x4xf16> {
  %v = graph.constant dense<0.5> : tensor<20x16x1x1xf16>
  %w = graph.constant dense<0.5> : tensor<8x16x1x1xf16>
  %a = graph.conv %arg0, %v {dilations = array<i64: 1, 1>, groups = 1 : i64, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>} : (tensor<1x16x4x4xf16>, tensor<20x16x1x1xf16>) -> tensor<1x20x4x4xf16>
  %b = graph.conv %arg0, %w {dilations = array<i64: 1, 1>, groups = 1 : i64, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>} : (tensor<1x16x4x4xf16>, tensor<8x16x1x1xf16>) -> tensor<1x8x4x4xf16>
  %c = graph.concat %a, %b {axis = 1 : i64} : (tensor<1x20x4x4xf16>, tensor<1x8x4x4xf16>) -> tensor<1x28x4x4xf16>
  %u = graph.constant dense<0.5> : tensor<16x28x1x1xf16>
  %r = graph.conv %c, %u {dilations = array<i64: 1, 1>, groups = 1 : i64, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>} : (tensor<1x28x4x4xf16>, tensor<16x28x1x1xf16>) -> tensor<1x16x4x4xf16>
  return %r : tensor<1x16x4x4xf16>
}

// -----

// A quotient of what is in spare lanes may be no number: it is computed without them.
// CHECK-LABEL: func.func @main
// CHECK: kernel.map {{.*}} : memref<1x20x4x4xf16>, memref<1x20x4x4xf16>, memref<1x20x4x4xf16>
func.func @main(%arg0: tensor<1x20x4x4xf16>, %arg1: tensor<1x20x4x4xf16>) -> tensor<1x16x4x4xf16> {
  %d = graph.div %arg0, %arg1 : (tensor<1x20x4x4xf16>, tensor<1x20x4x4xf16>) -> tensor<1x20x4x4xf16>
  %u = graph.constant dense<0.5> : tensor<16x20x1x1xf16>
  %r = graph.conv %d, %u {dilations = array<i64: 1, 1>, groups = 1 : i64, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>} : (tensor<1x20x4x4xf16>, tensor<16x20x1x1xf16>) -> tensor<1x16x4x4xf16>
  return %r : tensor<1x16x4x4xf16>
}
