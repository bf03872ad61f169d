// RUN: atc-opt %s --split-input-file --npu-select-preprocessing | FileCheck %s
// RUN: atc-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(npu-select-preprocessing,kernel-assign-layout{block=16}),npu-lower-graph)' | FileCheck %s --check-prefix=LOWER
// RUN: atc-opt %s --split-input-file --npu-select-preprocessing --remarks-filter=npu-select-preprocessing --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// REMARK-DAG: [Passed] {{.*}}the image is preprocessed while the convolution loads it
// REMARK-DAG: [Missed] {{.*}}kernels of their own preprocess the image: colours are converted to luma and chroma
// REMARK-DAG: [Missed] {{.*}}kernels of their own preprocess the image: the offsets of a channel do not join into one, or its factor is 0

// Swapped channels stay in the order of the image: means and factors, and the filter, follow. 7 and 0.25 are one offset.
// CHECK-LABEL: func.func @main
// CHECK: graph.preprocess
// LOWER-LABEL: func.func @main
// LOWER-NOT: kernel
// LOWER: %[[IMAGE:.*]] = om.view %arg0[{{[0-9]+}}] : memref<1x9x8x4xui8> to memref<1x3x8x8xui8, strided<[3, 1, 32, 4]>>
// LOWER: npu.conv2d %[[IMAGE]]{{.*}}pixels = #npu.pixels<means = [3.000000e+00, 7.250000e+00, 1.000000e+00], factors = [8.000000e+00, 4.000000e+00, 2.000000e+00]>
module attributes {npu.soc = "Ascend310P3"} {
func.func @main(%x: tensor<1x9x8x4xui8>) -> tensor<1x16x8x8xf16> {
  %w = graph.constant dense<1.0> : tensor<16x3x3x3xf16>
  %0 = graph.preprocess %x {crop = array<i64: 1, 0, 8, 8>, planes = array<i64: 3, 2, 1>, means = array<f32: 1.0, 7.0, 3.0>,
    mins = array<f32: 0.0, 0.25, 0.0>, factors = array<f32: 2.0, 4.0, 8.0>} : (tensor<1x9x8x4xui8>) -> tensor<1x3x8x8xf16>
  %1 = graph.conv %0, %w {dilations = array<i64: 1, 1>, groups = 1 : i64, pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 1, 1>}
    : (tensor<1x3x8x8xf16>, tensor<16x3x3x3xf16>) -> tensor<1x16x8x8xf16>
  return %1 : tensor<1x16x8x8xf16>
}
}

// -----

// CHECK-LABEL: func.func @colours
// CHECK-NOT: graph.preprocess
module attributes {npu.soc = "Ascend310P3"} {
func.func @colours(%x: tensor<1x8x8x3xui8>) -> tensor<1x16x8x8xf16> {
  %w = graph.constant dense<1.0> : tensor<16x1x3x3xf16>
  %0 = graph.preprocess %x {crop = array<i64: 0, 0, 8, 8>, planes = array<i64: 0, 1, 2>, matrix = array<i64: 66, 129, 25, 0, 0, 0, 0, 0, 0>,
    before = array<i64: 0, 0, 0>, after = array<i64: 16, 0, 0>, means = array<f32: 0.0>, mins = array<f32: 0.0>, factors = array<f32: 1.0>}
    : (tensor<1x8x8x3xui8>) -> tensor<1x1x8x8xf16>
  %1 = graph.conv %0, %w {dilations = array<i64: 1, 1>, groups = 1 : i64, pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 1, 1>}
    : (tensor<1x1x8x8xf16>, tensor<16x1x3x3xf16>) -> tensor<1x16x8x8xf16>
  return %1 : tensor<1x16x8x8xf16>
}
}

// -----

// 0.1 and 7.3 are rounded one after the other.
// CHECK-LABEL: func.func @offsets
// CHECK-NOT: graph.preprocess
module attributes {npu.soc = "Ascend310P3"} {
func.func @offsets(%x: tensor<1x8x8x1xui8>) -> tensor<1x16x8x8xf16> {
  %w = graph.constant dense<1.0> : tensor<16x1x3x3xf16>
  %0 = graph.preprocess %x {crop = array<i64: 0, 0, 8, 8>, planes = array<i64: 0>, means = array<f32: 0.1>, mins = array<f32: 7.3>,
    factors = array<f32: 1.0>} : (tensor<1x8x8x1xui8>) -> tensor<1x1x8x8xf16>
  %1 = graph.conv %0, %w {dilations = array<i64: 1, 1>, groups = 1 : i64, pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 1, 1>}
    : (tensor<1x1x8x8xf16>, tensor<16x1x3x3xf16>) -> tensor<1x16x8x8xf16>
  return %1 : tensor<1x16x8x8xf16>
}
}

// -----

// Swapped chroma, and what is added before and after, are part of the matrix and the bias: 256 * 16 - (66 * 1 + 129 * 2 + 25 * 3).
// CHECK-LABEL: func.func @main
// CHECK: graph.preprocess
// LOWER-LABEL: func.func @main
// LOWER: npu.conv2d{{.*}}yuv = <crop = [2, 0, 8, 8], matrix = [66, 25, 129], bias = [3697]>>
module attributes {npu.soc = "Ascend310P3"} {
func.func @main(%x: tensor<1x18x8x1xui8>) -> tensor<1x16x8x8xf16> {
  %w = graph.constant dense<1.0> : tensor<16x1x3x3xf16>
  %0 = graph.preprocess %x {semi_planar, crop = array<i64: 2, 0, 8, 8>, planes = array<i64: 0, 2, 1>, matrix = array<i64: 66, 129, 25, 0, 0, 0, 0, 0, 0>,
    before = array<i64: 1, 2, 3>, after = array<i64: 16, 0, 0>, means = array<f32: 0.0>, mins = array<f32: 0.0>, factors = array<f32: 1.0>}
    : (tensor<1x18x8x1xui8>) -> tensor<1x1x8x8xf16>
  %1 = graph.conv %0, %w {dilations = array<i64: 1, 1>, groups = 1 : i64, pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 1, 1>}
    : (tensor<1x1x8x8xf16>, tensor<16x1x3x3xf16>) -> tensor<1x16x8x8xf16>
  return %1 : tensor<1x16x8x8xf16>
}
}
