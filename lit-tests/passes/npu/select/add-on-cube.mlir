// RUN: atc-opt %s --split-input-file --npu-add-on-cube --npu-split-epilogues | FileCheck %s
// RUN: atc-opt %s --split-input-file --npu-add-on-cube --remarks-filter=npu-add-on-cube --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// REMARK: [Passed] {{.*}}Category:npu-add-on-cube{{.*}}the cube adds the residual
// REMARK: [Missed] {{.*}}Category:npu-add-on-cube{{.*}}the cube does not add the residual: results leave the cube of a split core with relu and scales at most
// REMARK-COUNT-6: [Missed] {{.*}}the cube does not add the residual: the residual may be infinite, and is NaN in other channels then
// REMARK: [Missed] {{.*}}the cube does not add the residual: the activation is in front of the sum
// REMARK: [Passed] {{.*}}the cube adds the residual
// REMARK: [Passed] {{.*}}the cube adds the residual

// The cube adds a residual by its product with the identity, so that no map follows; relu comes
// behind that.
// CHECK-LABEL: func.func @main
// CHECK: %[[I:.*]] = om.weight dense_resource<[[NAME:.*]]> : tensor<16x16xf16> : memref<16x16xf16>
// CHECK: npu.conv2d %arg0, %arg1 residual %{{.*}} identity %[[I]] outs %arg2 {activation = #graph.activation<relu>
// CHECK-NOT: kernel.map
// CHECK: [[NAME]]: "0x02000000{{(003C(0000){16}){15}003C}}"
module attributes {npu.soc = "Ascend910B1"} {
func.func @main(%x: memref<1x1x16x16x16xf16>, %w: memref<1x1x2x16x16xf16>, %out: memref<1x2x16x16x16xf16> {om.output}) {
  %r = om.alloc : memref<1x2x16x16x16xf16>
  npu.conv2d %x, %w outs %r {dilations = array<i64: 1, 1>, kernel = array<i64: 1, 1>, macs = 1 : i64, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>} : memref<1x1x16x16x16xf16>, memref<1x1x2x16x16xf16>, memref<1x2x16x16x16xf16>
  npu.conv2d %x, %w residual %r outs %out {activation = #graph.activation<relu>, dilations = array<i64: 1, 1>, kernel = array<i64: 1, 1>, macs = 1 : i64, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>} : memref<1x1x16x16x16xf16>, memref<1x1x2x16x16xf16>, memref<1x2x16x16x16xf16>, memref<1x2x16x16x16xf16>
  return
}
}

// -----

// A silu behind the sum is the vector cores' work, and so is the sum.
// CHECK-LABEL: func.func @main
// CHECK-NOT: identity
// CHECK: kernel.map
module attributes {npu.soc = "Ascend910B1"} {
func.func @main(%x: memref<1x1x16x16x16xf16>, %w: memref<1x1x2x16x16xf16>, %out: memref<1x2x16x16x16xf16> {om.output}) {
  %r = om.alloc : memref<1x2x16x16x16xf16>
  npu.conv2d %x, %w outs %r {dilations = array<i64: 1, 1>, kernel = array<i64: 1, 1>, macs = 1 : i64, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>} : memref<1x1x16x16x16xf16>, memref<1x1x2x16x16xf16>, memref<1x2x16x16x16xf16>
  npu.conv2d %x, %w residual %r outs %out {activation = #graph.activation<silu>, dilations = array<i64: 1, 1>, kernel = array<i64: 1, 1>, macs = 1 : i64, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>} : memref<1x1x16x16x16xf16>, memref<1x1x2x16x16xf16>, memref<1x2x16x16x16xf16>, memref<1x2x16x16x16xf16>
  return
}
}

// -----

// The vector unit of a coupled core adds while results leave the cube.
// CHECK-LABEL: func.func @main
// CHECK: npu.conv2d %arg0, %arg1 residual %{{[0-9]+}} outs %arg2
module attributes {npu.soc = "Ascend310P3"} {
func.func @main(%x: memref<1x1x16x16x16xf16>, %w: memref<1x1x2x16x16xf16>, %out: memref<1x2x16x16x16xf16> {om.output}) {
  %r = om.alloc : memref<1x2x16x16x16xf16>
  npu.conv2d %x, %w outs %r {dilations = array<i64: 1, 1>, kernel = array<i64: 1, 1>, macs = 1 : i64, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>} : memref<1x1x16x16x16xf16>, memref<1x1x2x16x16xf16>, memref<1x2x16x16x16xf16>
  npu.conv2d %x, %w residual %r outs %out {dilations = array<i64: 1, 1>, kernel = array<i64: 1, 1>, macs = 1 : i64, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>} : memref<1x1x16x16x16xf16>, memref<1x1x2x16x16xf16>, memref<1x2x16x16x16xf16>, memref<1x2x16x16x16xf16>
  return
}
}

// -----

// A model's input may be infinite.
// CHECK-LABEL: func.func @main
// CHECK-NOT: identity
// CHECK: return
module attributes {npu.soc = "Ascend910B1"} {
func.func @main(%x: memref<1x1x16x16x16xf16>, %w: memref<1x1x2x16x16xf16>, %r: memref<1x2x16x16x16xf16>, %out: memref<1x2x16x16x16xf16> {om.output}) {
  npu.conv2d %x, %w residual %r outs %out {dilations = array<i64: 1, 1>, kernel = array<i64: 1, 1>, macs = 1 : i64, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>} : memref<1x1x16x16x16xf16>, memref<1x1x2x16x16xf16>, memref<1x2x16x16x16xf16>, memref<1x2x16x16x16xf16>
  return
}
}

// -----

// A mask of minus infinity.
// CHECK-LABEL: func.func @main
// CHECK-NOT: identity
// CHECK: return
module attributes {npu.soc = "Ascend910B1"} {
func.func @main(%x: memref<1x1x16x16x16xf16>, %w: memref<1x1x2x16x16xf16>, %out: memref<1x2x16x16x16xf16> {om.output}) {
  %r = om.alloc : memref<1x2x16x16x16xf16>
  npu.conv2d %x, %w outs %r {dilations = array<i64: 1, 1>, kernel = array<i64: 1, 1>, macs = 1 : i64, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>} : memref<1x1x16x16x16xf16>, memref<1x1x2x16x16xf16>, memref<1x2x16x16x16xf16>
  %m = om.alloc : memref<1x2x16x16x16xf16>
  kernel.map %r outs %m : memref<1x2x16x16x16xf16>, memref<1x2x16x16x16xf16> {
  ^bb0(%a: f16):
    %zero = arith.constant 0.0 : f16
    %low = arith.constant 0xFC00 : f16
    %c = arith.cmpf ogt, %a, %zero : f16
    %s = arith.select %c, %a, %low : f16
    kernel.yield %s : f16
  }
  npu.conv2d %x, %w residual %m outs %out {dilations = array<i64: 1, 1>, kernel = array<i64: 1, 1>, macs = 1 : i64, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>} : memref<1x1x16x16x16xf16>, memref<1x1x2x16x16xf16>, memref<1x2x16x16x16xf16>, memref<1x2x16x16x16xf16>
  return
}
}

// -----

// An infinite constant.
// CHECK-LABEL: func.func @main
// CHECK-NOT: identity
// CHECK: return
module attributes {npu.soc = "Ascend910B1"} {
func.func @main(%x: memref<1x1x16x16x16xf16>, %w: memref<1x1x2x16x16xf16>, %out: memref<1x2x16x16x16xf16> {om.output}) {
  %k = om.weight dense<0xFC00> : tensor<1x1x1x1x1xf16> : memref<1x1x1x1x1xf16>
  %r = om.alloc : memref<1x2x16x16x16xf16>
  npu.conv2d %x, %w outs %r {dilations = array<i64: 1, 1>, kernel = array<i64: 1, 1>, macs = 1 : i64, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>} : memref<1x1x16x16x16xf16>, memref<1x1x2x16x16xf16>, memref<1x2x16x16x16xf16>
  %m = om.alloc : memref<1x2x16x16x16xf16>
  kernel.map %r, %k outs %m : memref<1x2x16x16x16xf16>, memref<1x1x1x1x1xf16>, memref<1x2x16x16x16xf16> {
  ^bb0(%a: f16, %b: f16):
    %s = arith.addf %a, %b : f16
    kernel.yield %s : f16
  }
  npu.conv2d %x, %w residual %m outs %out {dilations = array<i64: 1, 1>, kernel = array<i64: 1, 1>, macs = 1 : i64, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>} : memref<1x1x16x16x16xf16>, memref<1x1x2x16x16xf16>, memref<1x2x16x16x16xf16>, memref<1x2x16x16x16xf16>
  return
}
}

// -----

// Products of two tensors leave the range of f16.
// CHECK-LABEL: func.func @main
// CHECK-NOT: identity
// CHECK: return
module attributes {npu.soc = "Ascend910B1"} {
func.func @main(%x: memref<1x1x16x16x16xf16>, %w: memref<1x1x2x16x16xf16>, %out: memref<1x2x16x16x16xf16> {om.output}) {
  %r = om.alloc : memref<1x2x16x16x16xf16>
  npu.conv2d %x, %w outs %r {dilations = array<i64: 1, 1>, kernel = array<i64: 1, 1>, macs = 1 : i64, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>} : memref<1x1x16x16x16xf16>, memref<1x1x2x16x16xf16>, memref<1x2x16x16x16xf16>
  %m = om.alloc : memref<1x2x16x16x16xf16>
  kernel.map %r, %r outs %m : memref<1x2x16x16x16xf16>, memref<1x2x16x16x16xf16>, memref<1x2x16x16x16xf16> {
  ^bb0(%a: f16, %b: f16):
    %s = arith.mulf %a, %b : f16
    kernel.yield %s : f16
  }
  npu.conv2d %x, %w residual %m outs %out {dilations = array<i64: 1, 1>, kernel = array<i64: 1, 1>, macs = 1 : i64, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>} : memref<1x1x16x16x16xf16>, memref<1x1x2x16x16xf16>, memref<1x2x16x16x16xf16>, memref<1x2x16x16x16xf16>
  return
}
}

// -----

// Lanes behind the last channel of a slice are other channels.
// CHECK-LABEL: func.func @main
// CHECK-NOT: identity
// CHECK: return
module attributes {npu.soc = "Ascend910B1"} {
func.func @main(%x: memref<1x1x16x16x16xf16>, %w: memref<1x1x2x16x16xf16>, %out: memref<1x2x16x16x16xf16> {om.output}) {
  %v = om.alloc : memref<1x4x16x16x16xf16>
  %w4 = om.alloc : memref<1x1x4x16x16xf16>
  npu.conv2d %x, %w4 outs %v {dilations = array<i64: 1, 1>, kernel = array<i64: 1, 1>, macs = 1 : i64, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>} : memref<1x1x16x16x16xf16>, memref<1x1x4x16x16xf16>, memref<1x4x16x16x16xf16>
  %s = om.view %v[0] : memref<1x4x16x16x16xf16> to memref<1x2x16x16x16xf16>
  npu.conv2d %x, %w residual %s outs %out {dilations = array<i64: 1, 1>, kernel = array<i64: 1, 1>, macs = 1 : i64, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>} : memref<1x1x16x16x16xf16>, memref<1x1x2x16x16xf16>, memref<1x2x16x16x16xf16>, memref<1x2x16x16x16xf16>
  return
}
}

// -----

// A sum of something infinite, and what a pool makes of it, may be infinite.
// CHECK-LABEL: func.func @main
// CHECK-NOT: identity
// CHECK: return
module attributes {npu.soc = "Ascend910B1"} {
func.func @main(%x: memref<1x1x16x16x16xf16>, %w: memref<1x1x2x16x16xf16>, %i: memref<1x2x16x16x16xf16>, %out: memref<1x2x16x16x16xf16> {om.output}) {
  %e = om.alloc : memref<1x2x16x16x16xf16>
  kernel.pool %i, %e {dilations = array<i64: 1, 1>, kernel = array<i64: 3, 3>, kind = #kernel<pool_kind max>, pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 1, 1>} : memref<1x2x16x16x16xf16>, memref<1x2x16x16x16xf16>
  npu.conv2d %x, %w residual %e outs %out {dilations = array<i64: 1, 1>, kernel = array<i64: 1, 1>, macs = 1 : i64, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>} : memref<1x1x16x16x16xf16>, memref<1x1x2x16x16xf16>, memref<1x2x16x16x16xf16>, memref<1x2x16x16x16xf16>
  return
}
}

// -----

// The sum is behind the activation.
// CHECK-LABEL: func.func @main
// CHECK-NOT: identity
// CHECK: return
module attributes {npu.soc = "Ascend910B1"} {
func.func @main(%x: memref<1x1x16x16x16xf16>, %w: memref<1x1x2x16x16xf16>, %out: memref<1x2x16x16x16xf16> {om.output}) {
  %r = om.alloc : memref<1x2x16x16x16xf16>
  npu.conv2d %x, %w outs %r {dilations = array<i64: 1, 1>, kernel = array<i64: 1, 1>, macs = 1 : i64, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>} : memref<1x1x16x16x16xf16>, memref<1x1x2x16x16xf16>, memref<1x2x16x16x16xf16>
  npu.conv2d %x, %w residual %r outs %out {activation = #graph.activation<relu>, residual_last, dilations = array<i64: 1, 1>, kernel = array<i64: 1, 1>, macs = 1 : i64, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>} : memref<1x1x16x16x16xf16>, memref<1x1x2x16x16xf16>, memref<1x2x16x16x16xf16>, memref<1x2x16x16x16xf16>
  return
}
}

// -----

// A silu, whose exponential may be infinite in f32, is finite.
// CHECK-LABEL: func.func @main
// CHECK: identity
module attributes {npu.soc = "Ascend910B1"} {
func.func @main(%x: memref<1x1x16x16x16xf16>, %w: memref<1x1x2x16x16xf16>, %out: memref<1x2x16x16x16xf16> {om.output}) {
  %r = om.alloc : memref<1x2x16x16x16xf16>
  npu.conv2d %x, %w outs %r {dilations = array<i64: 1, 1>, kernel = array<i64: 1, 1>, macs = 1 : i64, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>} : memref<1x1x16x16x16xf16>, memref<1x1x2x16x16xf16>, memref<1x2x16x16x16xf16>
  %m = om.alloc : memref<1x2x16x16x16xf16>
  kernel.map %r outs %m : memref<1x2x16x16x16xf16>, memref<1x2x16x16x16xf16> {
  ^bb0(%a: f16):
    %x32 = arith.extf %a : f16 to f32
    %n = arith.negf %x32 : f32
    %e = math.exp %n : f32
    %one = arith.constant 1.0 : f32
    %d = arith.addf %e, %one : f32
    %q = arith.divf %x32, %d : f32
    %s = arith.truncf %q : f32 to f16
    kernel.yield %s : f16
  }
  npu.conv2d %x, %w residual %m outs %out {dilations = array<i64: 1, 1>, kernel = array<i64: 1, 1>, macs = 1 : i64, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>} : memref<1x1x16x16x16xf16>, memref<1x1x2x16x16xf16>, memref<1x2x16x16x16xf16>, memref<1x2x16x16x16xf16>
  return
}
}

// -----

// A pool of finite numbers is finite.
// CHECK-LABEL: func.func @main
// CHECK: identity
module attributes {npu.soc = "Ascend910B1"} {
func.func @main(%x: memref<1x1x16x16x16xf16>, %w: memref<1x1x2x16x16xf16>, %out: memref<1x2x16x16x16xf16> {om.output}) {
  %r = om.alloc : memref<1x2x16x16x16xf16>
  npu.conv2d %x, %w outs %r {dilations = array<i64: 1, 1>, kernel = array<i64: 1, 1>, macs = 1 : i64, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>} : memref<1x1x16x16x16xf16>, memref<1x1x2x16x16xf16>, memref<1x2x16x16x16xf16>
  %e = om.alloc : memref<1x2x16x16x16xf16>
  kernel.pool %r, %e {dilations = array<i64: 1, 1>, kernel = array<i64: 3, 3>, kind = #kernel<pool_kind max>, pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 1, 1>} : memref<1x2x16x16x16xf16>, memref<1x2x16x16x16xf16>
  npu.conv2d %x, %w residual %e outs %out {dilations = array<i64: 1, 1>, kernel = array<i64: 1, 1>, macs = 1 : i64, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>} : memref<1x1x16x16x16xf16>, memref<1x1x2x16x16xf16>, memref<1x2x16x16x16xf16>, memref<1x2x16x16x16xf16>
  return
}
}
