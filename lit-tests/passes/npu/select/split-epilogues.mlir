// RUN: atc-opt %s --split-input-file --npu-split-epilogues | FileCheck %s
// RUN: atc-opt %s --split-input-file --npu-split-epilogues --remarks-filter=npu-split-epilogues --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// REMARK-DAG: [Missed] {{.*}}Category:npu-split-epilogues{{.*}}activation and residual are a kernel of their own

// FIX of a split SoC has relu; residual and other activations are a map.
// CHECK-LABEL: func.func @main
// CHECK: %[[T:.*]] = om.alloc : memref<1x2x16x16x16xf16>
// CHECK: npu.conv2d %arg0, %arg1 bias %{{.*}} outs %[[T]] {dilations
// CHECK: kernel.map %[[T]], %arg2 outs %arg3 {om.tensor = tensor<1x32x16x16xf16>}
// CHECK-NEXT: ^bb0(%[[A:.*]]: f16, %[[B:.*]]: f16):
// CHECK-DAG: %[[AW:.*]] = arith.extf %[[A]]
// CHECK-DAG: %[[BW:.*]] = arith.extf %[[B]]
// CHECK: %[[SUM:.*]] = arith.addf %[[AW]], %[[BW]] : f32
// CHECK: %[[MAX:.*]] = arith.maximumf %[[SUM]]
// CHECK: arith.truncf %[[MAX]] : f32 to f16
// CHECK: npu.conv2d %arg0, %arg1 outs %arg4 {activation = #graph.activation<relu>
// CHECK-NOT: kernel.map
module attributes {npu.soc = "Ascend910B1"} {
func.func @main(%x: memref<1x1x16x16x16xf16>, %w: memref<1x1x2x16x16xf16>, %r: memref<1x2x16x16x16xf16>, %out: memref<1x2x16x16x16xf16> {om.output}, %out2: memref<1x2x16x16x16xf16> {om.output}) {
  %b = om.weight dense<1.0> : tensor<32xf32> : memref<32xf32>
  npu.conv2d %x, %w bias %b residual %r outs %out {om.tensor = tensor<1x32x16x16xf16>, activation = #graph.activation<relu>, dilations = array<i64: 1, 1>, kernel = array<i64: 1, 1>, macs = 1 : i64, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>} : memref<1x1x16x16x16xf16>, memref<1x1x2x16x16xf16>, memref<32xf32>, memref<1x2x16x16x16xf16>, memref<1x2x16x16x16xf16>
  npu.conv2d %x, %w outs %out2 {activation = #graph.activation<relu>, dilations = array<i64: 1, 1>, kernel = array<i64: 1, 1>, macs = 1 : i64, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>} : memref<1x1x16x16x16xf16>, memref<1x1x2x16x16xf16>, memref<1x2x16x16x16xf16>
  return
}
}

// -----

// The slopes of a prelu are one for each channel.
// CHECK-LABEL: func.func @main
// CHECK: %[[S:.*]] = om.view %{{.*}}[0] : memref<32xf16> to memref<1x2x1x1x16xf16>
// CHECK: npu.conv2d %arg0, %arg1 outs %[[T:.*]] {dilations
// CHECK: kernel.map %[[T]], %[[S]] outs %arg2
module attributes {npu.soc = "Ascend910B1"} {
func.func @main(%x: memref<1x1x16x16x16xf16>, %w: memref<1x1x2x16x16xf16>, %out: memref<1x2x16x16x16xf16> {om.output}) {
  %s = om.weight dense<1.0> : tensor<32xf16> : memref<32xf16>
  npu.conv2d %x, %w slope %s outs %out {activation = #graph.activation<prelu>, dilations = array<i64: 1, 1>, kernel = array<i64: 1, 1>, macs = 1 : i64, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>} : memref<1x1x16x16x16xf16>, memref<1x1x2x16x16xf16>, memref<32xf16>, memref<1x2x16x16x16xf16>
  return
}
}

// -----

// Residual and slopes leave together.
// CHECK-LABEL: func.func @main
// CHECK: npu.conv2d %arg0, %arg1 outs %[[T:.*]] {dilations
// CHECK: kernel.map %[[T]], %arg2, %{{.*}} outs %arg3
// CHECK-NEXT: ^bb0(%{{.*}}: f16, %{{.*}}: f16, %{{.*}}: f16):
module attributes {npu.soc = "Ascend910B1"} {
func.func @main(%x: memref<1x1x16x16x16xf16>, %w: memref<1x1x2x16x16xf16>, %r: memref<1x2x16x16x16xf16>, %out: memref<1x2x16x16x16xf16> {om.output}) {
  %s = om.weight dense<1.0> : tensor<32xf16> : memref<32xf16>
  npu.conv2d %x, %w residual %r slope %s outs %out {activation = #graph.activation<prelu>, dilations = array<i64: 1, 1>, kernel = array<i64: 1, 1>, macs = 1 : i64, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>} : memref<1x1x16x16x16xf16>, memref<1x1x2x16x16xf16>, memref<1x2x16x16x16xf16>, memref<32xf16>, memref<1x2x16x16x16xf16>
  return
}
}

// -----

// A coupled core adds and activates what leaves its cube.
// CHECK-LABEL: func.func @main
// CHECK: npu.matmul %arg0, %arg1 residual %arg2 outs %arg3 {activation = #graph.activation<gelu>, packed}
// CHECK-NOT: kernel.map
module attributes {npu.soc = "Ascend310P3"} {
func.func @main(%x: memref<1x1x64x16xf16>, %w: memref<1x2x16x16xf16>, %r: memref<1x1x64x32xf16>, %out: memref<1x1x64x32xf16> {om.output}) {
  npu.matmul %x, %w residual %r outs %out {activation = #graph.activation<gelu>, packed} : memref<1x1x64x16xf16>, memref<1x2x16x16xf16>, memref<1x1x64x32xf16>, memref<1x1x64x32xf16>
  return
}
}
