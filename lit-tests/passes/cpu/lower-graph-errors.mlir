// RUN: not atc-opt %s -split-input-file --cpu-lower-graph 2>&1 | FileCheck %s

// Everything that has no lowering is listed at once, with the name of the node.

// CHECK: E10055: the CPU backend does not support 3 operators:
// CHECK-NEXT: conv_f16 (graph.conv of tensor<1x16x4x4xf16, #graph.layout<block = 16, halo = [0, 0, 0, 0]>>, tensor<16x16x1x1xf16>): it computes on f32 only, not on f16
// CHECK-NEXT: up (graph.conv_transpose of tensor<1x16x4x4xf32>, tensor<16x16x2x2xf32>): there is no kernel for it
// CHECK-NEXT: filter (graph.conv of {{.*}}): the filter must be a constant
#blocked = #graph.layout<block = 16, halo = [0, 0, 0, 0]>
func.func @main(%x: tensor<1x16x4x4xf16, #blocked>, %y: tensor<1x16x4x4xf32>, %z: tensor<1x16x4x4xf32, #blocked>, %f: tensor<16x16x1x1xf32>) {
  %w = graph.constant dense<1.0> : tensor<16x16x1x1xf16>
  %v = graph.constant dense<1.0> : tensor<16x16x2x2xf32>
  %0 = graph.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x16x4x4xf16, #blocked>, tensor<16x16x1x1xf16>) -> tensor<1x16x4x4xf16, #blocked> loc("conv_f16")
  %1 = graph.conv_transpose %y, %v {strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, output_padding = array<i64: 0, 0>, groups = 1 : i64} : (tensor<1x16x4x4xf32>, tensor<16x16x2x2xf32>) -> tensor<1x16x8x8xf32> loc("up")
  %2 = graph.conv %z, %f {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x16x4x4xf32, #blocked>, tensor<16x16x1x1xf32>) -> tensor<1x16x4x4xf32, #blocked> loc("filter")
  return
}

// -----

// CHECK: E10055: the CPU backend does not support 4 operators:
// CHECK-NEXT: dynamic ({{.*}}): the shape of tensor<?xf32> is not known; state input shapes with --input_shape
// CHECK-NEXT: empty ({{.*}}): tensor<0xf32> has no elements
// CHECK-NEXT: four_bits ({{.*}}): elements of type i4 cannot be stored
// CHECK-NEXT: missing ({{.*}}): the data of a constant it reads is missing
func.func @main(%x: tensor<?xf32>, %y: tensor<0xf32>, %z: tensor<2xi4>, %u: tensor<2xf32>) {
  %0 = graph.exp %x : (tensor<?xf32>) -> tensor<?xf32> loc("dynamic")
  %1 = graph.exp %y : (tensor<0xf32>) -> tensor<0xf32> loc("empty")
  %2 = graph.neg %z : (tensor<2xi4>) -> tensor<2xi4> loc("four_bits")
  %c = graph.constant dense_resource<__elided__> : tensor<2xf32>
  %3 = graph.add %u, %c : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32> loc("missing")
  return
}

// -----

// Passes that must run before are named.

// CHECK: E10055: the CPU backend does not support 6 operators:
// CHECK-NEXT: plain_conv ({{.*}}): its images are not in blocks; run cpu-assign-layout first
// CHECK-NEXT: no_halo ({{.*}}): its input has no halo for its pads; run cpu-assign-halo first
// CHECK-NEXT: pool_1d ({{.*}}): its input has rank 3, but only images (rank 4) are supported
// CHECK-NEXT: crop ({{.*}}): negative pads are supported in constant mode only
// CHECK-NEXT: matmul ({{.*}}): it computes on f32 only, not on i32
// CHECK-NEXT: gather ({{.*}}): its indices must be i32 or i64, not i8
#blocked = #graph.layout<block = 16, halo = [0, 0, 0, 0]>
func.func @main(%x: tensor<1x16x4x4xf32>, %y: tensor<1x16x4x4xf32, #blocked>, %z: tensor<1x16x4xf32>, %i: tensor<4x4xi32>, %j: tensor<2xi8>) {
  %w = graph.constant dense<1.0> : tensor<16x16x3x3xf32>
  %0 = graph.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x16x4x4xf32>, tensor<16x16x3x3xf32>) -> tensor<1x16x2x2xf32> loc("plain_conv")
  %1 = graph.conv %y, %w {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x16x4x4xf32, #blocked>, tensor<16x16x3x3xf32>) -> tensor<1x16x4x4xf32, #blocked> loc("no_halo")
  %2 = graph.max_pool %z {kernel = array<i64: 2>, strides = array<i64: 2>, pads = array<i64: 0, 0>, dilations = array<i64: 1>} : (tensor<1x16x4xf32>) -> tensor<1x16x2xf32> loc("pool_1d")
  %3 = graph.pad %x {low = array<i64: 0, 0, -1, 0>, high = array<i64: 0, 0, 1, 0>, mode = #graph<pad_mode edge>} : (tensor<1x16x4x4xf32>) -> tensor<1x16x4x4xf32> loc("crop")
  %4 = graph.matmul %i, %i : (tensor<4x4xi32>, tensor<4x4xi32>) -> tensor<4x4xi32> loc("matmul")
  %5 = graph.gather %x, %j {axis = 1 : i64} : (tensor<1x16x4x4xf32>, tensor<2xi8>) -> tensor<1x2x4x4xf32> loc("gather")
  return
}
