// RUN: atc-opt %s --graph-decompose-conv-transpose --split-input-file --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s
// RUN: atc-opt %s --graph-decompose-conv-transpose=only-quantized=true --split-input-file | FileCheck %s --check-prefix=ONLY

// Each of the 4 phases has one tap of the kernel; phase p of channel m is channel
// p * M + m of the convolution.
// CHECK-LABEL: func @kernel_is_stride
func.func @kernel_is_stride(%x: tensor<1x1x3x3xf32>) -> tensor<1x2x6x6xf32> {
  %w = graph.constant dense<[[[[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0], [7.0, 8.0]]]]> : tensor<1x2x2x2xf32>
  %b = graph.constant dense<[10.0, 20.0]> : tensor<2xf32>
  // CHECK-DAG: %[[W:.*]] = graph.constant dense<{{\[\[\[\[}}1.000000e+00]]], {{\[\[\[}}5.000000e+00]]], {{\[\[\[}}2.000000e+00]]], {{\[\[\[}}6.000000e+00]]], {{\[\[\[}}3.000000e+00]]], {{\[\[\[}}7.000000e+00]]], {{\[\[\[}}4.000000e+00]]], {{\[\[\[}}8.000000e+00]]]]> : tensor<8x1x1x1xf32>
  // CHECK-DAG: %[[B:.*]] = graph.constant dense<[1.000000e+01, 2.000000e+01, 1.000000e+01, 2.000000e+01, 1.000000e+01, 2.000000e+01, 1.000000e+01, 2.000000e+01]> : tensor<8xf32>
  // CHECK: %[[C:.*]] = graph.conv %{{[^,]*}}, %[[W]] bias %[[B]] {{.*}}pads = array<i64: 0, 0, 0, 0>{{.*}} -> tensor<1x8x3x3xf32> loc("up.phases")
  // CHECK-NEXT: %[[D:.*]] = graph.depth_to_space %[[C]] {block = 2 : i64, order = {{.*}}dcr{{.*}} -> tensor<1x2x6x6xf32> loc("up")
  // CHECK-NEXT: return %[[D]]
  %y = graph.conv_transpose %x, %w bias %b {strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, output_padding = array<i64: 0, 0>, groups = 1 : i64} : (tensor<1x1x3x3xf32>, tensor<1x2x2x2xf32>, tensor<2xf32>) -> tensor<1x2x6x6xf32> loc("up")
  return %y : tensor<1x2x6x6xf32>
}

// -----

// Stride 1: the same kernel turned round, pads from the other side.
// CHECK-LABEL: func @stride_1
func.func @stride_1(%x: tensor<1x1x1x4xf32>) -> tensor<1x1x1x5xf32> {
  %w = graph.constant dense<[[[[1.0, 2.0, 3.0]]]]> : tensor<1x1x1x3xf32>
  // CHECK: %[[W:.*]] = graph.constant dense<{{\[\[\[\[}}3.000000e+00, 2.000000e+00, 1.000000e+00]]]]>
  // CHECK: graph.conv %{{[^,]*}}, %[[W]] {{.*}}pads = array<i64: 0, 1, 0, 2>{{.*}} loc("out")
  // CHECK-NEXT: return
  %y = graph.conv_transpose %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 1, 0, 0>, dilations = array<i64: 1, 1>, output_padding = array<i64: 0, 0>, groups = 1 : i64} : (tensor<1x1x1x4xf32>, tensor<1x1x1x3xf32>) -> tensor<1x1x1x5xf32> loc("out")
  return %y : tensor<1x1x1x5xf32>
}

// -----

// Kernel 3, stride 2, pad 1: the phases are aligned to the pad, nothing is
// cropped. The even outputs take tap 1 at q; the odd ones tap 2 at q and tap 0 at q + 1.
// CHECK-LABEL: func @aligned_to_pad
func.func @aligned_to_pad(%x: tensor<1x1x3x3xf32>) -> tensor<1x1x6x6xf32> {
  %w = graph.constant dense<[[[[1.0, 2.0, 3.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]]]> : tensor<1x1x3x3xf32>
  // Row 0 of the kernel is tap 0 of odd rows: the second row of phases 2 and 3.
  // CHECK: graph.constant dense<{{\[\[\[\[}}0.000000e+00, 0.000000e+00], [0.000000e+00, 0.000000e+00]]], {{\[\[\[}}0.000000e+00, 0.000000e+00], [0.000000e+00, 0.000000e+00]]], {{\[\[\[}}0.000000e+00, 0.000000e+00], [2.000000e+00, 0.000000e+00]]], {{\[\[\[}}0.000000e+00, 0.000000e+00], [3.000000e+00, 1.000000e+00]]]]> : tensor<4x1x2x2xf32>
  // CHECK: graph.conv {{.*}}pads = array<i64: 0, 0, 1, 1>{{.*}} -> tensor<1x4x3x3xf32>
  // CHECK-NEXT: graph.depth_to_space
  // CHECK-NEXT: return
  %y = graph.conv_transpose %x, %w {strides = array<i64: 2, 2>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, output_padding = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x1x3x3xf32>, tensor<1x1x3x3xf32>) -> tensor<1x1x6x6xf32>
  return %y : tensor<1x1x6x6xf32>
}

// -----

// Kernel 4, stride 2, pad 1: a kernel of 2 with a crop beats one of 3 without.
// CHECK-LABEL: func @cropped
// CHECK: graph.conv {{.*}}(tensor<1x1x3x3xf32>, tensor<4x1x2x2xf32>) -> tensor<1x4x4x4xf32>
// CHECK-NEXT: graph.depth_to_space {{.*}} -> tensor<1x1x8x8xf32> loc("out.uncropped")
// CHECK-NEXT: graph.slice {{.*}}starts = array<i64: 0, 0, 1, 1>{{.*}} loc("out")
func.func @cropped(%x: tensor<1x1x3x3xf32>) -> tensor<1x1x6x6xf32> {
  %w = graph.constant dense<1.0> : tensor<1x1x4x4xf32>
  %y = graph.conv_transpose %x, %w {strides = array<i64: 2, 2>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, output_padding = array<i64: 0, 0>, groups = 1 : i64} : (tensor<1x1x3x3xf32>, tensor<1x1x4x4xf32>) -> tensor<1x1x6x6xf32> loc("out")
  return %y : tensor<1x1x6x6xf32>
}

// -----

// With groups the phases of a channel stand together (CRD).
// CHECK-LABEL: func @depthwise
func.func @depthwise(%x: tensor<1x2x2x2xf32>) -> tensor<1x2x4x4xf32> {
  %w = graph.constant dense<[[[[1.0, 2.0], [3.0, 4.0]]], [[[5.0, 6.0], [7.0, 8.0]]]]> : tensor<2x1x2x2xf32>
  // CHECK: graph.constant dense<{{\[\[\[\[}}1.000000e+00]]], {{\[\[\[}}2.000000e+00]]], {{\[\[\[}}3.000000e+00]]], {{\[\[\[}}4.000000e+00]]], {{\[\[\[}}5.000000e+00]]], {{\[\[\[}}6.000000e+00]]], {{\[\[\[}}7.000000e+00]]], {{\[\[\[}}8.000000e+00]]]]>
  // CHECK: graph.conv {{.*}}groups = 2
  // CHECK-NEXT: graph.depth_to_space {{.*}}crd
  %y = graph.conv_transpose %x, %w {strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, output_padding = array<i64: 0, 0>, groups = 2 : i64} : (tensor<1x2x2x2xf32>, tensor<2x1x2x2xf32>) -> tensor<1x2x4x4xf32>
  return %y : tensor<1x2x4x4xf32>
}

// -----

// Strides that differ interleave by reshape and transpose.
// CHECK-LABEL: func @strides_differ
// CHECK: graph.conv {{.*}} -> tensor<1x3x2x2xf32> loc("out.phases")
// CHECK-NEXT: graph.reshape {{.*}} -> tensor<1x1x1x3x2x2xf32> loc("out.split")
// CHECK-NEXT: graph.transpose {{.*}}permutation = array<i64: 0, 1, 4, 2, 5, 3>{{.*}} loc("out.interleaved")
// CHECK-NEXT: graph.reshape {{.*}} -> tensor<1x1x2x6xf32> loc("out")
func.func @strides_differ(%x: tensor<1x1x2x2xf32>) -> tensor<1x1x2x6xf32> {
  %w = graph.constant dense<1.0> : tensor<1x1x1x3xf32>
  %y = graph.conv_transpose %x, %w {strides = array<i64: 1, 3>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, output_padding = array<i64: 0, 0>, groups = 1 : i64} : (tensor<1x1x2x2xf32>, tensor<1x1x1x3xf32>) -> tensor<1x1x2x6xf32> loc("out")
  return %y : tensor<1x1x2x6xf32>
}

// -----

// CHECK-LABEL: func @variable_weights
// CHECK: graph.conv_transpose
func.func @variable_weights(%x: tensor<1x1x2x2xf32>, %w: tensor<1x1x2x2xf32>) -> tensor<1x1x4x4xf32> {
  %y = graph.conv_transpose %x, %w {strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, output_padding = array<i64: 0, 0>, groups = 1 : i64} : (tensor<1x1x2x2xf32>, tensor<1x1x2x2xf32>) -> tensor<1x1x4x4xf32>
  return %y : tensor<1x1x4x4xf32>
}

// -----

!x = !quant.uniform<u8:f32, 5.000000e-01:128>
!w = !quant.uniform<i8:f32:1, {2.500000e-01,1.000000e+00}>
!b = !quant.uniform<i32:f32:0, {1.250000e-01,5.000000e-01}>

// Quantized weights keep their integers; both columns of phases of a channel have its scale.
// CHECK-LABEL: func @quantized
// CHECK-DAG: graph.constant dense<{{\[\[\[\[}}1]]], {{\[\[\[}}3]]], {{\[\[\[}}2]]], {{\[\[\[}}4]]]]> : tensor<4x1x1x1xi8>
// CHECK-DAG: graph.constant dense<[7, 7, -9, -9]> : tensor<4xi32>
// CHECK-DAG: graph.storage_cast {{.*}} -> tensor<4x1x1x1x!quant.uniform<i8:f32:0, {2.500000e-01,2.500000e-01,1.000000e+00,1.000000e+00}>>
// CHECK-DAG: graph.storage_cast {{.*}} -> tensor<4x!quant.uniform<i32:f32:0, {1.250000e-01,1.250000e-01,5.000000e-01,5.000000e-01}>>
// CHECK: graph.conv {{.*}} -> tensor<1x4x2x2xf32>
func.func @quantized(%q: tensor<1x1x2x2x!x>) -> tensor<1x2x2x4xf32> {
  %x = graph.dequantize %q : (tensor<1x1x2x2x!x>) -> tensor<1x1x2x2xf32>
  %wi = graph.constant dense<[[[[1, 3]], [[2, 4]]]]> : tensor<1x2x1x2xi8>
  %wq = graph.storage_cast %wi : (tensor<1x2x1x2xi8>) -> tensor<1x2x1x2x!w>
  %w = graph.dequantize %wq : (tensor<1x2x1x2x!w>) -> tensor<1x2x1x2xf32>
  %bi = graph.constant dense<[7, -9]> : tensor<2xi32>
  %bq = graph.storage_cast %bi : (tensor<2xi32>) -> tensor<2x!b>
  %b = graph.dequantize %bq : (tensor<2x!b>) -> tensor<2xf32>
  %y = graph.conv_transpose %x, %w bias %b {strides = array<i64: 1, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, output_padding = array<i64: 0, 0>, groups = 1 : i64} : (tensor<1x1x2x2xf32>, tensor<1x2x1x2xf32>, tensor<2xf32>) -> tensor<1x2x2x4xf32>
  return %y : tensor<1x2x2x4xf32>
}

// -----

// With only-quantized, those of floats stay.
// ONLY-LABEL: func @of_floats
// ONLY: graph.conv_transpose
func.func @of_floats(%x: tensor<1x1x2x2xf32>) -> tensor<1x1x4x4xf32> {
  %w = graph.constant dense<1.0> : tensor<1x1x2x2xf32>
  %y = graph.conv_transpose %x, %w {strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, output_padding = array<i64: 0, 0>, groups = 1 : i64} : (tensor<1x1x2x2xf32>, tensor<1x1x2x2xf32>) -> tensor<1x1x4x4xf32>
  return %y : tensor<1x1x4x4xf32>
}

// -----

!x = !quant.uniform<u8:f32, 5.000000e-01:128>
!w = !quant.uniform<u8:f32, 2.500000e-01:128>

// Scattered integers leave gaps of 0, which would not be real zeros.
// CHECK-LABEL: func @other_zero
// CHECK: graph.conv_transpose
func.func @other_zero(%q: tensor<1x1x2x2x!x>) -> tensor<1x1x4x4xf32> {
  %x = graph.dequantize %q : (tensor<1x1x2x2x!x>) -> tensor<1x1x2x2xf32>
  %wi = graph.constant dense<5> : tensor<1x1x2x2xui8>
  %wq = graph.storage_cast %wi : (tensor<1x1x2x2xui8>) -> tensor<1x1x2x2x!w>
  %w = graph.dequantize %wq : (tensor<1x1x2x2x!w>) -> tensor<1x1x2x2xf32>
  %y = graph.conv_transpose %x, %w {strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, output_padding = array<i64: 0, 0>, groups = 1 : i64} : (tensor<1x1x2x2xf32>, tensor<1x1x2x2xf32>) -> tensor<1x1x4x4xf32>
  return %y : tensor<1x1x4x4xf32>
}
