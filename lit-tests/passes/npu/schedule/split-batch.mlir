// RUN: atc-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(npu-split-batch{parts=2}))' | FileCheck %s
// RUN: atc-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(npu-split-batch{share=1.0}))' | FileCheck %s --check-prefix=MODEL
// RUN: atc-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(npu-split-batch{parts=2}))' --remarks-filter=npu-split-batch --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// REMARK-DAG: [Passed] {{.*}}Category:npu-split-batch{{.*}}run in 2 parts of the batch

// What lies between two kernels of a group holds one part; inputs and outputs
// are read and written part by part.

module attributes {npu.soc = "Ascend310P3"} {
// CHECK-LABEL: func.func @main
// CHECK-SAME: (%[[X:[^:]*]]: memref<4x1x8x8x16xf16>, %[[Y:[^:]*]]: memref<4x1x4x4x16xf16>
// MODEL-LABEL: func.func @main
func.func @main(%x: memref<4x1x8x8x16xf16>, %y: memref<4x1x4x4x16xf16> {om.output}) {
  // CHECK: %[[W:.*]] = om.weight
  %w = om.weight dense<1.0> : tensor<1x1x1x16x16xf16> : memref<1x1x1x16x16xf16>
  %t = om.alloc : memref<4x1x8x8x16xf16>
  // CHECK: %[[T0:.*]] = om.alloc : memref<2048xf16>
  // CHECK: %[[X0:.*]] = om.view %[[X]][0] : {{.*}} to memref<2x1x8x8x16xf16>
  // CHECK: %[[TV0:.*]] = om.view %[[T0]][0] : memref<2048xf16> to memref<2x1x8x8x16xf16>
  // CHECK: npu.conv2d %[[X0]], %[[W]] outs %[[TV0]] {{.*}} macs = 65536
  // CHECK-SAME: om.tensor = tensor<2x16x8x8xf16>
  // CHECK: %[[TV1:.*]] = om.view %[[T0]][0]
  // CHECK: %[[Y0:.*]] = om.view %[[Y]][0] : {{.*}} to memref<2x1x4x4x16xf16>
  // CHECK: kernel.pool %[[TV1]], %[[Y0]]
  // CHECK: %[[T1:.*]] = om.alloc : memref<2048xf16>
  // CHECK: om.view %[[X]][4096]
  // CHECK: npu.conv2d
  // CHECK: om.view %[[Y]][1024]
  // CHECK: kernel.pool
  // CHECK-NOT: npu.conv2d
  // All of it fits L2: a launch costs more than parts gain.
  // MODEL: om.alloc : memref<4x1x8x8x16xf16>
  // MODEL: npu.conv2d
  // MODEL-NOT: npu.conv2d
  npu.conv2d %x, %w outs %t {kernel = array<i64: 1, 1>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>,
    pads = array<i64: 0, 0, 0, 0>, macs = 131072, om.tensor = tensor<4x16x8x8xf16>}
    : memref<4x1x8x8x16xf16>, memref<1x1x1x16x16xf16>, memref<4x1x8x8x16xf16>
  kernel.pool %t, %y {kind = #kernel<pool_kind max>, kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>,
    pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : memref<4x1x8x8x16xf16>, memref<4x1x4x4x16xf16>
  return
}
}

// -----

// Intermediates that do not fit L2: the model finds parts that do.
module attributes {npu.soc = "Ascend310P3"} {
// MODEL-LABEL: func.func @main
func.func @main(%x: memref<64x4x56x56x16xf16>, %y: memref<64x4x56x56x16xf16> {om.output}) {
  // MODEL-NOT: om.alloc : memref<64x16x56x56x16xf16>
  // MODEL: om.alloc : memref<{{[0-9]+}}xf16>
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

// Results that depend on all images, or that are needed as a whole, stay whole.
module attributes {npu.soc = "Ascend310P3"} {
// CHECK-LABEL: func.func @main
func.func @main(%x: memref<4x32xf16>, %y: memref<1x32xf16> {om.output}, %z: memref<4x32xf16> {om.output}) {
  // CHECK: kernel.reduce %{{.*}}, %{{.*}} : memref<4x32xf16>, memref<1x32xf16>
  // CHECK-NOT: kernel.reduce
  kernel.reduce %x, %y {kind = #graph<reduce_kind sum>, axes = array<i64: 0>} : memref<4x32xf16>, memref<1x32xf16>
  // The sum is of all: parts of the map may follow it, not go with it.
  // CHECK: kernel.map %{{.*}}, %arg1 outs %{{.*}} : memref<2x32xf16>, memref<1x32xf16>, memref<2x32xf16>
  // CHECK: kernel.map %{{.*}}, %arg1 outs %{{.*}} : memref<2x32xf16>, memref<1x32xf16>, memref<2x32xf16>
  kernel.map %x, %y outs %z : memref<4x32xf16>, memref<1x32xf16>, memref<4x32xf16> {
  ^bb0(%a: f16, %b: f16):
    %s = arith.subf %a, %b : f16
    kernel.yield %s : f16
  }
  return
}
}

// -----

// A tensor that is multiplied with itself: parts of its rows by all of them.

module attributes {npu.soc = "Ascend310P3"} {
// CHECK-LABEL: func.func @main(%{{.*}}: memref<1x1x32x16xf16>
func.func @main(%x: memref<1x1x32x16xf16>, %y: memref<1x1x32x32xf16> {om.output}) {
  %t = om.alloc : memref<1x1x32x32xf16>
  // CHECK: %[[X0:.*]] = om.view %[[X:.*]][0] : {{.*}} to memref<1x1x16x16xf16>
  // CHECK: npu.matmul %[[X0]], %[[X]] outs {{.*}} memref<1x1x16x16xf16>, memref<1x1x32x16xf16>, memref<1x1x16x32xf16>
  // CHECK: %[[X1:.*]] = om.view %[[X]][512]
  // CHECK: npu.matmul %[[X1]], %[[X]] outs
  npu.matmul %x, %x outs %t {transpose_rhs} : memref<1x1x32x16xf16>, memref<1x1x32x16xf16>, memref<1x1x32x32xf16>
  kernel.map %t outs %y : memref<1x1x32x32xf16>, memref<1x1x32x32xf16> {
  ^bb0(%a: f16):
    %b = arith.negf %a : f16
    kernel.yield %b : f16
  }
  return
}
}
