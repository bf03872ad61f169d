// RUN: not atc-opt %s -split-input-file --cpu-lower-graph 2>&1 | FileCheck %s

// Everything that has no lowering is listed at once, with the name of the node.

// CHECK: E10055: the CPU backend does not support 4 operators:
// CHECK-NEXT: conv_f16 (graph.conv of float16 [1,16,4,4], float16 [16,16,1,1]): it computes on float32 only, not on float16
// CHECK-NEXT: up (graph.conv_transpose of float32 [1,16,4,4], float32 [16,16,2,2]): there is no kernel for it
// CHECK-NEXT: filter (graph.conv of {{.*}}): the filter must be a constant
// CHECK-NEXT: computed (graph.conv of {{.*}}): the filter is computed of constants, but with more work or elements than max-work or max-elements of graph-fold-constants allow at compile time; store the computed filter in the model
#blocked = #graph.layout<block = 16, halo = [0, 0, 0, 0]>
func.func @main(%x: tensor<1x16x4x4xf16, #blocked>, %y: tensor<1x16x4x4xf32>, %z: tensor<1x16x4x4xf32, #blocked>, %f: tensor<16x16x1x1xf32>) {
  %w = graph.constant dense<1.0> : tensor<16x16x1x1xf16>
  %v = graph.constant dense<1.0> : tensor<16x16x2x2xf32>
  %0 = graph.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x16x4x4xf16, #blocked>, tensor<16x16x1x1xf16>) -> tensor<1x16x4x4xf16, #blocked> loc("conv_f16")
  %1 = graph.conv_transpose %y, %v {strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, output_padding = array<i64: 0, 0>, groups = 1 : i64} : (tensor<1x16x4x4xf32>, tensor<16x16x2x2xf32>) -> tensor<1x16x8x8xf32> loc("up")
  %2 = graph.conv %z, %f {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x16x4x4xf32, #blocked>, tensor<16x16x1x1xf32>) -> tensor<1x16x4x4xf32, #blocked> loc("filter")
  %a = graph.constant dense<1.0> : tensor<16x16xf32>
  %product = graph.matmul %a, %a : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  %computed = graph.reshape %product : (tensor<16x16xf32>) -> tensor<16x16x1x1xf32>
  %3 = graph.conv %z, %computed {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x16x4x4xf32, #blocked>, tensor<16x16x1x1xf32>) -> tensor<1x16x4x4xf32, #blocked> loc("computed")
  return
}

// -----

// CHECK: E10055: the CPU backend does not support 4 operators:
// CHECK-NEXT: dynamic ({{.*}}): the shape of float32 [?] is not known; state input shapes with --input_shape
// CHECK-NEXT: empty ({{.*}}): float32 [0] has no elements
// CHECK-NEXT: four_bits ({{.*}}): elements of type int4 cannot be stored
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
// CHECK-NEXT: plain_conv ({{.*}}): its images are not in blocks; run kernel-assign-layout first
// CHECK-NEXT: no_halo ({{.*}}): its input has no halo for its pads; run kernel-assign-halo first
// CHECK-NEXT: pool_1d ({{.*}}): its input has rank 3, but only images (rank 4) are supported
// CHECK-NEXT: crop ({{.*}}): negative pads are supported in constant mode only
// CHECK-NEXT: matmul ({{.*}}): it computes on float32 only, not on int32
// CHECK-NEXT: gather ({{.*}}): its indices must be int32 or int64, not int8
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

// -----

// Functions of doubles, alone and in a formula that was fused.

// CHECK: E10055: the CPU backend does not support 4 operators:
// CHECK-NEXT: alone (graph.tanh of float64 [2,3]): tanh of float64 has no kernel
// CHECK-NEXT: inverse (graph.acosh of float64 [2,3]): acosh of float64 has no kernel
// CHECK-NEXT: inside (graph.gelu of float64 [2,3]): erf of float64 has no kernel
// CHECK-NEXT: fused (graph.map of float64 [2,3]): cos of float64 has no kernel
func.func @main(%x: tensor<2x3xf64>, %y: tensor<2x3xf32>) -> tensor<2x3xf64> {
  %0 = graph.tanh %x : (tensor<2x3xf64>) -> tensor<2x3xf64> loc("alone")
  %6 = graph.acosh %x : (tensor<2x3xf64>) -> tensor<2x3xf64> loc("inverse")
  %1 = graph.gelu %x : (tensor<2x3xf64>) -> tensor<2x3xf64> loc("inside")
  %2 = graph.map %x : (tensor<2x3xf64>) -> tensor<2x3xf64> {
  ^bb0(%a: f64):
    %c = math.cos %a : f64
    graph.yield %c : f64
  } loc("fused")
  %3 = graph.exp %x : (tensor<2x3xf64>) -> tensor<2x3xf64> loc("exp")
  %4 = graph.sigmoid %x : (tensor<2x3xf64>) -> tensor<2x3xf64> loc("sigmoid")
  %5 = graph.tanh %y : (tensor<2x3xf32>) -> tensor<2x3xf32> loc("tanh_f32")
  return %2 : tensor<2x3xf64>
}
