// RUN: atc-opt %s -split-input-file --kernel-assign-layout --kernel-assign-halo -verify-diagnostics | FileCheck %s

// The halo is what the windows really reach: a stride of 2 on an even image
// never reads the padding behind it.

// CHECK-LABEL: func @stride
func.func @stride(%x: tensor<1x3x8x8xf32>) -> tensor<1x16x4x4xf32> {
  %w = graph.constant dense<1.0> : tensor<16x3x3x3xf32>
  // CHECK: graph.relayout {{.*}} -> tensor<1x3x8x8xf32, #graph.layout<block = 3, halo = [1, 1, 0, 0]>>
  %0 = graph.conv %x, %w {strides = array<i64: 2, 2>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x3x8x8xf32>, tensor<16x3x3x3xf32>) -> tensor<1x16x4x4xf32>
  return %0 : tensor<1x16x4x4xf32>
}

// -----

// The largest pads of all readers; pads need not be symmetric. A pool clips its
// window and needs none.

// CHECK-LABEL: func @largest
func.func @largest(%x: tensor<1x16x8x8xf32>) -> (tensor<1x16x8x8xf32>, tensor<1x16x8x8xf32>, tensor<1x16x8x8xf32>) {
  %w1 = graph.constant dense<1.0> : tensor<16x16x1x1xf32>
  %w2 = graph.constant dense<1.0> : tensor<16x16x3x3xf32>
  %w3 = graph.constant dense<1.0> : tensor<16x1x2x4xf32>
  // CHECK: graph.conv {{.*}}tensor<16x16x1x1xf32>) -> tensor<1x16x8x8xf32, #graph.layout<block = 16, halo = [1, 1, 1, 2]>>
  %0 = graph.conv %x, %w1 {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x16x8x8xf32>, tensor<16x16x1x1xf32>) -> tensor<1x16x8x8xf32>
  // CHECK: graph.conv {{.*}}tensor<16x16x3x3xf32>) -> tensor<1x16x8x8xf32, #graph.layout<block = 16, halo = [0, 0, 0, 0]>>
  %1 = graph.conv %0, %w2 {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x16x8x8xf32>, tensor<16x16x3x3xf32>) -> tensor<1x16x8x8xf32>
  %2 = graph.conv %0, %w3 {strides = array<i64: 1, 1>, pads = array<i64: 0, 1, 1, 2>, dilations = array<i64: 1, 1>, groups = 16 : i64} : (tensor<1x16x8x8xf32>, tensor<16x1x2x4xf32>) -> tensor<1x16x8x8xf32>
  %3 = graph.max_pool %1 {kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>} : (tensor<1x16x8x8xf32>) -> tensor<1x16x8x8xf32>
  return %1, %2, %3 : tensor<1x16x8x8xf32>, tensor<1x16x8x8xf32>, tensor<1x16x8x8xf32>
}

// -----

// A concat of channels has the halo for its parts and its readers; so has the
// source of a slice. A part that does not start a block is copied anyway.

// CHECK-LABEL: func @views
func.func @views(%x: tensor<1x16x8x8xf32>) -> (tensor<1x16x8x8xf32>, tensor<1x16x8x8xf32>) {
  %w1 = graph.constant dense<1.0> : tensor<20x16x1x1xf32>
  %w2 = graph.constant dense<1.0> : tensor<16x20x3x3xf32>
  %w3 = graph.constant dense<1.0> : tensor<16x16x5x5xf32>
  // CHECK: %[[A:.*]] = graph.conv {{.*}} -> tensor<1x20x8x8xf32, #graph.layout<block = 16, halo = [1, 1, 1, 1]>>
  %a = graph.conv %x, %w1 {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x16x8x8xf32>, tensor<20x16x1x1xf32>) -> tensor<1x20x8x8xf32>
  %b = graph.conv %a, %w2 {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x20x8x8xf32>, tensor<16x20x3x3xf32>) -> tensor<1x16x8x8xf32>
  // CHECK: graph.concat %[[A]]{{.*}} -> tensor<1x36x8x8xf32, #graph.layout<block = 16, halo = [2, 2, 2, 2]>>
  %0 = graph.concat %a, %b {axis = 1 : i64} : (tensor<1x20x8x8xf32>, tensor<1x16x8x8xf32>) -> tensor<1x36x8x8xf32>
  // CHECK: graph.slice {{.*}} -> tensor<1x16x8x8xf32, #graph.layout<block = 16, halo = [2, 2, 2, 2]>>
  %1 = graph.slice %0 {starts = array<i64: 0, 16, 0, 0>, sizes = array<i64: 1, 16, 8, 8>, steps = array<i64: 1, 1, 1, 1>} : (tensor<1x36x8x8xf32>) -> tensor<1x16x8x8xf32>
  %2 = graph.conv %1, %w3 {strides = array<i64: 1, 1>, pads = array<i64: 2, 2, 2, 2>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x16x8x8xf32>, tensor<16x16x5x5xf32>) -> tensor<1x16x8x8xf32>
  return %b, %2 : tensor<1x16x8x8xf32>, tensor<1x16x8x8xf32>
}

// -----

// A slice of rows has neighbours where its zeros would have to be.

// CHECK-LABEL: func @rows
func.func @rows(%x: tensor<1x16x8x8xf32>) -> tensor<1x16x4x8xf32> {
  %w1 = graph.constant dense<1.0> : tensor<16x16x1x1xf32>
  %w2 = graph.constant dense<1.0> : tensor<16x16x3x3xf32>
  // CHECK: graph.conv {{.*}} -> tensor<1x16x8x8xf32, #graph.layout<block = 16, halo = [0, 0, 0, 0]>>
  %0 = graph.conv %x, %w1 {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x16x8x8xf32>, tensor<16x16x1x1xf32>) -> tensor<1x16x8x8xf32>
  // CHECK: graph.slice {{.*}} -> tensor<1x16x4x8xf32, #graph.layout<block = 16, halo = [1, 1, 1, 1]>>
  %1 = graph.slice %0 {starts = array<i64: 0, 0, 2, 0>, sizes = array<i64: 1, 16, 4, 8>, steps = array<i64: 1, 1, 1, 1>} : (tensor<1x16x8x8xf32>) -> tensor<1x16x4x8xf32>
  %2 = graph.conv %1, %w2 {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x16x4x8xf32>, tensor<16x16x3x3xf32>) -> tensor<1x16x4x8xf32>
  return %2 : tensor<1x16x4x8xf32>
}

// -----

func.func @argument(%x: tensor<1x16x8x8xf32, #graph.layout<block = 16, halo = [0, 0, 0, 0]>>) -> tensor<1x16x8x8xf32> {
  %w = graph.constant dense<1.0> : tensor<16x16x3x3xf32>
  // expected-error @+1 {{reads a blocked argument of the function past its edge; kernel-assign-layout keeps arguments plain}}
  %0 = graph.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x16x8x8xf32, #graph.layout<block = 16, halo = [0, 0, 0, 0]>>, tensor<16x16x3x3xf32>) -> tensor<1x16x8x8xf32>
  return %0 : tensor<1x16x8x8xf32>
}
