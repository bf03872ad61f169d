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

// -----

// FIX stores the first bytes of an integer convolution; what its body computes of them and of the
// residual is a map of bytes.
// CHECK-LABEL: func.func @main
// CHECK: %[[T:.*]] = om.alloc : memref<1x1x4x4x32xi8>
// CHECK: npu.conv2d %arg0, %{{.*}} scales %{{.*}} outs %[[T]]
// CHECK-NOT: om.tensor
// CHECK-SAME: offset = 3 : i64{{.*}}stored = ui8
// CHECK: kernel.map %[[T]], %arg1 outs %arg2 {om.tensor = tensor<1x32x4x4xui8>}
// CHECK-NEXT: ^bb0(%[[A:.*]]: i8, %[[B:.*]]: i8):
// CHECK: %[[REAL:.*]] = arith.uitofp %[[A]] : i8 to f32
// CHECK: %[[LESS:.*]] = arith.subf %[[REAL]], %{{.*}} : f32
// CHECK: %[[X:.*]] = arith.mulf %[[LESS]], %{{.*}} : f32
// CHECK: %[[R:.*]] = arith.uitofp %[[B]] : i8 to f32
// CHECK: arith.addf %[[X]], %[[R]] : f32
// CHECK: kernel.yield %{{.*}} : i8
module attributes {npu.soc = "Ascend910B1"} {
func.func @main(%x: memref<1x1x4x4x32xi8>, %r: memref<1x1x4x4x32xi8>, %out: memref<1x1x4x4x32xi8> {om.output}) {
  %w = om.weight dense<1> : tensor<1x1x2x16x32xi8> : memref<1x1x2x16x32xi8>
  %s = om.weight dense<1.0> : tensor<32xf32> : memref<32xf32>
  npu.conv2d %x, %w residual %r scales %s outs %out {om.tensor = tensor<1x32x4x4xui8>, dilations = array<i64: 1, 1>, kernel = array<i64: 1, 1>, macs = 1 : i64, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>, stored = ui8, offset = 3, factor = 0.5 : f64} : memref<1x1x4x4x32xi8>, memref<1x1x2x16x32xi8>, memref<1x1x4x4x32xi8>, memref<32xf32>, memref<1x1x4x4x32xi8> {
  ^bb0(%a: f32, %b: i8):
    %0 = arith.uitofp %b : i8 to f32
    %1 = arith.addf %a, %0 : f32
    %2 = math.roundeven %1 : f32
    %least = arith.constant 0.0 : f32
    %most = arith.constant 255.0 : f32
    %3 = arith.maximumf %2, %least : f32
    %4 = arith.minimumf %3, %most : f32
    %5 = arith.fptoui %4 : f32 to i8
    npu.yield %5 : i8
  }
  return
}
}
