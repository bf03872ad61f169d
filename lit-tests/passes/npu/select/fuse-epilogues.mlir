// RUN: atc-opt %s --split-input-file --npu-fuse-epilogues | FileCheck %s
// RUN: atc-opt %s --split-input-file --npu-fuse-epilogues --remarks-filter=npu-fuse-epilogues --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// REMARK-DAG: [Passed] {{.*}}Category:npu-fuse-epilogues{{.*}}the map becomes the epilogue of the product

// Scale and a mask that broadcasts along heads and rows.
// CHECK-LABEL: func.func @main
// CHECK: %[[MASK:.*]] = om.view %arg2[0] : memref<1x1x1x16xf16> to memref<1x4x64x16xf16, strided<[0, 0, 0, 1]>>
// CHECK: npu.matmul %arg0, %arg1 residual %[[MASK]] outs %arg3 {om.tensor = tensor<4x64x16xf16>, scale = 1.250000e-01 : f64, transpose_rhs}
// CHECK-NOT: kernel.map
module attributes {npu.soc = "Ascend310P3"} {
func.func @main(%a: memref<1x4x64x32xf16>, %b: memref<1x4x16x32xf16>, %m: memref<1x1x1x16xf16>, %out: memref<1x4x64x16xf16> {om.output}) {
  %t = om.alloc : memref<1x4x64x16xf16>
  npu.matmul %a, %b outs %t {transpose_rhs} : memref<1x4x64x32xf16>, memref<1x4x16x32xf16>, memref<1x4x64x16xf16>
  kernel.map %t, %m outs %out {om.tensor = tensor<4x64x16xf16>} : memref<1x4x64x16xf16>, memref<1x1x1x16xf16>, memref<1x4x64x16xf16> {
  ^bb0(%x: f16, %y: f16):
    %xw = arith.extf %x : f16 to f32
    %yw = arith.extf %y : f16 to f32
    %c = arith.constant 8.0 : f32
    %d = arith.divf %xw, %c : f32
    %s = arith.addf %yw, %d : f32
    %n = arith.truncf %s : f32 to f16
    kernel.yield %n : f16
  }
  return
}
}

// -----

// A residual behind an activation, seen through views of another rank.
// CHECK-LABEL: func.func @main
// CHECK: %[[R:.*]] = om.view %arg2[0] : memref<1x64x32xf16> to memref<1x1x64x32xf16>
// CHECK: %[[O:.*]] = om.view %arg3[0] : memref<1x64x32xf16> to memref<1x1x64x32xf16>
// CHECK: npu.matmul %arg0, %{{.*}} bias %{{.*}} residual %[[R]] outs %[[O]] {activation = #graph.activation<gelu>, packed, residual_last}
// CHECK-NOT: kernel.map
module attributes {npu.soc = "Ascend310P3"} {
func.func @main(%a: memref<1x1x64x16xf16>, %w: memref<1x2x16x16xf16>, %r: memref<1x64x32xf16>, %out: memref<1x64x32xf16> {om.output}) {
  %b = om.weight dense<1.0> : tensor<32xf32> : memref<32xf32>
  %t = om.alloc : memref<1x64x32xf16>
  %v = om.view %t[0] : memref<1x64x32xf16> to memref<1x1x64x32xf16>
  npu.matmul %a, %w bias %b outs %v {activation = #graph.activation<gelu>, packed} : memref<1x1x64x16xf16>, memref<1x2x16x16xf16>, memref<32xf32>, memref<1x1x64x32xf16>
  kernel.map %t, %r outs %out : memref<1x64x32xf16>, memref<1x64x32xf16>, memref<1x64x32xf16> {
  ^bb0(%x: f16, %y: f16):
    %s = arith.addf %x, %y : f16
    kernel.yield %s : f16
  }
  return
}
}

// -----

// A result that another kernel reads too stays in memory; a scale cannot follow a bias.
// CHECK-LABEL: func.func @main
// CHECK: npu.matmul
// CHECK: kernel.map
// CHECK: npu.matmul
// CHECK: kernel.map
// CHECK-NOT: npu.matmul
module attributes {npu.soc = "Ascend310P3"} {
func.func @main(%a: memref<1x1x64x16xf16>, %w: memref<1x2x16x16xf16>, %out: memref<1x1x64x32xf16> {om.output}, %out2: memref<1x1x64x32xf16> {om.output}, %out3: memref<1x1x64x32xf16> {om.output}) {
  %b = om.weight dense<1.0> : tensor<32xf32> : memref<32xf32>
  %t = om.alloc : memref<1x1x64x32xf16>
  npu.matmul %a, %w outs %t {packed} : memref<1x1x64x16xf16>, memref<1x2x16x16xf16>, memref<1x1x64x32xf16>
  kernel.map %t, %t outs %out : memref<1x1x64x32xf16>, memref<1x1x64x32xf16>, memref<1x1x64x32xf16> {
  ^bb0(%x: f16, %y: f16):
    %s = arith.addf %x, %y : f16
    kernel.yield %s : f16
  }
  kernel.copy %t, %out2 : memref<1x1x64x32xf16>, memref<1x1x64x32xf16>
  %u = om.alloc : memref<1x1x64x32xf16>
  npu.matmul %a, %w bias %b outs %u {packed} : memref<1x1x64x16xf16>, memref<1x2x16x16xf16>, memref<32xf32>, memref<1x1x64x32xf16>
  kernel.map %u outs %out3 : memref<1x1x64x32xf16>, memref<1x1x64x32xf16> {
  ^bb0(%x: f16):
    %c = arith.constant 2.0 : f16
    %s = arith.mulf %x, %c : f16
    kernel.yield %s : f16
  }
  return
}
}

// -----

// FIX converts and has relu, but adds nothing; a result may leave as f32.
// CHECK-LABEL: func.func @main
// CHECK: npu.matmul %arg0, %arg1 outs %{{.*}} {packed}
// CHECK: kernel.map
module attributes {npu.soc = "Ascend910B1"} {
func.func @main(%a: memref<1x1x64x16xf16>, %w: memref<1x2x16x16xf16>, %r: memref<1x1x64x32xf16>, %out: memref<1x1x64x32xf16> {om.output}) {
  %t = om.alloc : memref<1x1x64x32xf16>
  npu.matmul %a, %w outs %t {packed} : memref<1x1x64x16xf16>, memref<1x2x16x16xf16>, memref<1x1x64x32xf16>
  kernel.map %t, %r outs %out : memref<1x1x64x32xf16>, memref<1x1x64x32xf16>, memref<1x1x64x32xf16> {
  ^bb0(%x: f16, %y: f16):
    %s = arith.addf %x, %y : f16
    kernel.yield %s : f16
  }
  return
}
}

// -----

// Code that is no activation becomes the body of a convolution, behind its relu: of its result
// alone, and of the result (here the second operand) and another tensor.
// CHECK-LABEL: func.func @main
// CHECK: npu.conv2d %arg0, %[[W:.*]] outs %[[FIRST:[a-z0-9]+]] {activation = #graph.activation<relu>, {{.*}}om.tensor = tensor<1x16x8x8xf16>
// CHECK-NEXT: ^bb0(%[[X:.*]]: f16):
// CHECK: math.roundeven
// CHECK: npu.yield %{{.*}} : f16
// CHECK: npu.conv2d %[[FIRST]], %[[W]] residual %arg1 outs %arg2 {{.*}}residual_last
// CHECK-NEXT: ^bb0(%[[X:.*]]: f16, %[[R:.*]]: f16):
// CHECK: %[[RW:.*]] = arith.extf %[[R]]
// CHECK: %[[XW:.*]] = arith.extf %[[X]]
// CHECK: arith.subf %[[RW]], %[[XW]]
// CHECK: npu.yield
// CHECK-NOT: kernel.map
module attributes {npu.soc = "Ascend310P3"} {
func.func @main(%x: memref<1x1x8x8x16xf16>, %r: memref<1x1x8x8x16xf16>, %out: memref<1x1x8x8x16xf16> {om.output}) {
  %w = om.weight dense<1.0> : tensor<1x1x1x16x16xf16> : memref<1x1x1x16x16xf16>
  %t = om.alloc : memref<1x1x8x8x16xf16>
  npu.conv2d %x, %w outs %t {activation = #graph.activation<relu>, dilations = array<i64: 1, 1>, kernel = array<i64: 1, 1>, macs = 16384 : i64, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>} : memref<1x1x8x8x16xf16>, memref<1x1x1x16x16xf16>, memref<1x1x8x8x16xf16>
  %u = om.alloc : memref<1x1x8x8x16xf16>
  kernel.map %t outs %u {om.tensor = tensor<1x16x8x8xf16>} : memref<1x1x8x8x16xf16>, memref<1x1x8x8x16xf16> {
  ^bb0(%a: f16):
    %c = arith.extf %a : f16 to f32
    %d = math.roundeven %c : f32
    %e = arith.truncf %d : f32 to f16
    kernel.yield %e : f16
  }
  %v = om.alloc : memref<1x1x8x8x16xf16>
  npu.conv2d %u, %w outs %v {dilations = array<i64: 1, 1>, kernel = array<i64: 1, 1>, macs = 16384 : i64, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>} : memref<1x1x8x8x16xf16>, memref<1x1x1x16x16xf16>, memref<1x1x8x8x16xf16>
  kernel.map %r, %v outs %out {om.tensor = tensor<1x16x8x8xf16>} : memref<1x1x8x8x16xf16>, memref<1x1x8x8x16xf16>, memref<1x1x8x8x16xf16> {
  ^bb0(%a: f16, %b: f16):
    %c = arith.extf %a : f16 to f32
    %d = arith.extf %b : f16 to f32
    %e = arith.subf %c, %d : f32
    %f = arith.truncf %e : f32 to f16
    kernel.yield %f : f16
  }
  return
}
}

// -----

// What leaves the cube of split cores can be no code.
// CHECK-LABEL: func.func @main
// CHECK: npu.conv2d {{.*}} outs %[[T:[a-z0-9]+]] {
// CHECK: kernel.map %[[T]] outs
module attributes {npu.soc = "Ascend910B1"} {
func.func @main(%x: memref<1x1x8x8x16xf16>, %out: memref<1x1x8x8x16xf16> {om.output}) {
  %w = om.weight dense<1.0> : tensor<1x1x1x16x16xf16> : memref<1x1x1x16x16xf16>
  %t = om.alloc : memref<1x1x8x8x16xf16>
  npu.conv2d %x, %w outs %t {dilations = array<i64: 1, 1>, kernel = array<i64: 1, 1>, macs = 16384 : i64, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>} : memref<1x1x8x8x16xf16>, memref<1x1x1x16x16xf16>, memref<1x1x8x8x16xf16>
  kernel.map %t outs %out : memref<1x1x8x8x16xf16>, memref<1x1x8x8x16xf16> {
  ^bb0(%a: f16):
    %c = arith.extf %a : f16 to f32
    %d = math.roundeven %c : f32
    %e = arith.truncf %d : f32 to f16
    kernel.yield %e : f16
  }
  return
}
}
