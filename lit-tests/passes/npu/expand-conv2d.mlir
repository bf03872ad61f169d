// RUN: atc-opt %s --npu-expand-conv2d --split-input-file --verify-diagnostics | FileCheck %s

// A window: weights stay in l1, rows of the image come with their edge, results leave through ub.
// CHECK-LABEL: npu.program @conv
// CHECK-SAME: grid(%{{.*}} = 1, %{{.*}} = 4, %{{.*}} = 1) soc "Ascend310P3"
// CHECK: %[[B:.*]] = npu.alloc : <l1, 73728>
// CHECK: npu.move %[[B]]
// CHECK: npu.loop %{{.*}} = 2 {
// CHECK: %[[A:.*]] = npu.alloc : <l1, 64512>
// CHECK: npu.move %[[A]], {{.*}} outer = #npu.range<4 below 4>
// CHECK: %[[C:.*]] = npu.alloc : <l0c, 102400>
// CHECK: npu.loop %{{.*}} = 18 {
// CHECK: npu.img2col {{.*}} pad_left = 1 : i64, pad_top = 1
// CHECK: npu.load2d
// CHECK: npu.mmad %[[C]], {{.*}} first = array<i64:
// CHECK: }
// CHECK: npu.move_l0c {{.*}} relu
// CHECK: npu.move %{{.*}} <gm, 401408>, <ub
func.func private @conv(%in: memref<1x4x56x56x16xf16>, %w: memref<1x36x4x16x16xf16>, %out: memref<1x4x56x56x16xf16>)
    attributes {npu.kernel, npu.soc = "Ascend310P3"} {
  npu.conv2d %in, %w outs %out {kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>,
    pads = array<i64: 1, 1, 1, 1>, macs = 1, activation = #graph.activation<relu>,
    tile = #npu.tile<m = 392, n = 64, k = 32, l1_m = 392, l1_n = 64, l1_k = 576, cores_m = 4, cores_n = 1, order = "rhs">}
    : memref<1x4x56x56x16xf16>, memref<1x36x4x16x16xf16>, memref<1x4x56x56x16xf16>
  return
}

// -----

// 1x1: no img2col; a residual is moved to ub and added there.
// CHECK-LABEL: npu.program @pointwise
// CHECK-NOT: npu.img2col
// CHECK: npu.load2d
// CHECK: %[[R:.*]] = npu.alloc : <ub,
// CHECK: npu.move %[[R]]
// CHECK: npu.move_l0c
// CHECK-NOT: relu
// CHECK: npu.vector "add"
// CHECK: npu.vector "{{relu|max_scalar}}"
func.func private @pointwise(%in: memref<2x4x14x14x16xf16>, %w: memref<1x4x4x16x16xf16>,
    %res: memref<2x4x14x14x16xf16>, %out: memref<2x4x14x14x16xf16>) attributes {npu.kernel, npu.soc = "Ascend310P3"} {
  npu.conv2d %in, %w residual %res outs %out {kernel = array<i64: 1, 1>, strides = array<i64: 1, 1>,
    dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, macs = 1, activation = #graph.activation<relu>,
    tile = #npu.tile<m = 208, n = 64, k = 64, l1_m = 208, l1_n = 64, l1_k = 64, cores_m = 2, cores_n = 1, order = "rhs">}
    : memref<2x4x14x14x16xf16>, memref<1x4x4x16x16xf16>, memref<2x4x14x14x16xf16>, memref<2x4x14x14x16xf16>
  return
}

// -----

// Split cores: fix writes to gm.
// CHECK-LABEL: npu.program @split
// CHECK: npu.move_l0c %{{.*}}, %{{.*}} relu
// CHECK-NOT: <ub,
func.func private @split(%in: memref<2x4x14x14x16xf16>, %w: memref<1x4x4x16x16xf16>, %out: memref<2x4x14x14x16xf16>)
    attributes {npu.kernel, npu.soc = "Ascend910B1"} {
  npu.conv2d %in, %w outs %out {kernel = array<i64: 1, 1>, strides = array<i64: 1, 1>,
    dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, macs = 1, activation = #graph.activation<relu>,
    tile = #npu.tile<m = 208, n = 64, k = 64, l1_m = 208, l1_n = 64, l1_k = 64, cores_m = 2, cores_n = 1, order = "rhs">}
    : memref<2x4x14x14x16xf16>, memref<1x4x4x16x16xf16>, memref<2x4x14x14x16xf16>
  return
}

// -----

func.func private @no_tile(%in: memref<2x4x14x14x16xf16>, %w: memref<1x4x4x16x16xf16>, %out: memref<2x4x14x14x16xf16>)
    attributes {npu.kernel, npu.soc = "Ascend310P3"} {
  // expected-error @below {{cannot become a program for Ascend310P3: it has no tile: npu-select-tiles has not run}}
  npu.conv2d %in, %w outs %out {kernel = array<i64: 1, 1>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>,
    pads = array<i64: 0, 0, 0, 0>, macs = 1} : memref<2x4x14x14x16xf16>, memref<1x4x4x16x16xf16>, memref<2x4x14x14x16xf16>
  return
}
