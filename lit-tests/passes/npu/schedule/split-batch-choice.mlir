// RUN: atc-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(npu-split-batch))' | FileCheck %s

// The decision is noted with its key and the alternatives that were asked for, the first of them
// one launch per layer.

module attributes {npu.soc = "Ascend310P3", tuning.proposals = 4 : i64} {
// CHECK-LABEL: func.func @main
// CHECK-SAME: tuning.chosen = [{choice = "2/{{[0-9]+}}",
// CHECK-SAME: key = "npu-split-batch|Ascend310P3|main|64x4x56x56x16xf16,64x4x56x56x16xf16|{{[0-9a-f]+}}"
// CHECK-SAME: proposals = ["2/1"
// The kernels of all parts say which one they are.
// CHECK: npu.conv2d {{.*}}tuning.kernel_number = 0
// CHECK: npu.conv2d {{.*}}tuning.kernel_number = 1
// CHECK: npu.conv2d {{.*}}tuning.kernel_number = 0
func.func @main(%x: memref<64x4x56x56x16xf16>, %y: memref<64x4x56x56x16xf16> {om.output}) {
  %w = om.weight dense<1.0> : tensor<1x4x16x16x16xf16> : memref<1x4x16x16x16xf16>
  %v = om.weight dense<1.0> : tensor<1x16x4x16x16xf16> : memref<1x16x4x16x16xf16>
  %t = om.alloc : memref<64x16x56x56x16xf16>
  npu.conv2d %x, %w outs %t {kernel = array<i64: 1, 1>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>,
    pads = array<i64: 0, 0, 0, 0>, macs = 3288334336} : memref<64x4x56x56x16xf16>, memref<1x4x16x16x16xf16>, memref<64x16x56x56x16xf16>
  npu.conv2d %t, %v outs %y {kernel = array<i64: 1, 1>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>,
    pads = array<i64: 0, 0, 0, 0>, macs = 3288334336} : memref<64x16x56x56x16xf16>, memref<1x16x4x16x16xf16>, memref<64x4x56x56x16xf16>
  return
}
}

// -----

// Beside a large product the same gain is less than 3 %, which the cost model cannot tell: all
// kernels run on the whole batch, and the groups are the first alternative.
module attributes {npu.soc = "Ascend310P3", tuning.proposals = 4 : i64} {
// CHECK-LABEL: func.func @main
// CHECK-SAME: tuning.chosen = [{choice = "3/1",
// CHECK-SAME: proposals = ["3/1", "2/2 1/1"
func.func @main(%x: memref<8x4x56x56x16xf16>, %a: memref<1x1x8191x8192xf16>, %b: memref<1x1x8192x8192xf16>,
                %y: memref<8x4x56x56x16xf16> {om.output}, %c: memref<1x1x8191x8192xf16> {om.output}) {
  %w = om.weight dense<1.0> : tensor<1x4x16x16x16xf16> : memref<1x4x16x16x16xf16>
  %v = om.weight dense<1.0> : tensor<1x16x4x16x16xf16> : memref<1x16x4x16x16xf16>
  %t = om.alloc : memref<8x16x56x56x16xf16>
  npu.conv2d %x, %w outs %t {kernel = array<i64: 1, 1>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>,
    pads = array<i64: 0, 0, 0, 0>, macs = 3288334336} : memref<8x4x56x56x16xf16>, memref<1x4x16x16x16xf16>, memref<8x16x56x56x16xf16>
  npu.conv2d %t, %v outs %y {kernel = array<i64: 1, 1>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>,
    pads = array<i64: 0, 0, 0, 0>, macs = 3288334336} : memref<8x16x56x56x16xf16>, memref<1x16x4x16x16xf16>, memref<8x4x56x56x16xf16>
  npu.matmul %a, %b outs %c : memref<1x1x8191x8192xf16>, memref<1x1x8192x8192xf16>, memref<1x1x8191x8192xf16>
  return
}
}

// -----

// Where cube and vector cores can work at once, groups whose parts are interleaved are proposed.
module attributes {npu.soc = "Ascend910B1", tuning.proposals = 4 : i64} {
// CHECK-LABEL: func.func @main
// CHECK-SAME: proposals = ["2/1", "2/2i", "2/4i"
func.func @main(%x: memref<64x4x56x56x16xf16>, %y: memref<64x4x56x56x16xf16> {om.output}) {
  %w = om.weight dense<1.0> : tensor<1x4x16x16x16xf16> : memref<1x4x16x16x16xf16>
  %v = om.weight dense<1.0> : tensor<1x16x4x16x16xf16> : memref<1x16x4x16x16xf16>
  %t = om.alloc : memref<64x16x56x56x16xf16>
  npu.conv2d %x, %w outs %t {kernel = array<i64: 1, 1>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>,
    pads = array<i64: 0, 0, 0, 0>, macs = 3288334336} : memref<64x4x56x56x16xf16>, memref<1x4x16x16x16xf16>, memref<64x16x56x56x16xf16>
  npu.conv2d %t, %v outs %y {kernel = array<i64: 1, 1>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>,
    pads = array<i64: 0, 0, 0, 0>, macs = 3288334336} : memref<64x16x56x56x16xf16>, memref<1x16x4x16x16xf16>, memref<64x4x56x56x16xf16>
  return
}
}
