// RUN: atc-opt %s --split-input-file --npu-add-on-cube --npu-split-epilogues | FileCheck %s
// RUN: atc-opt %s --split-input-file --npu-add-on-cube --remarks-filter=npu-add-on-cube --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// REMARK: [Passed] {{.*}}Category:npu-add-on-cube{{.*}}the cube adds the residual
// REMARK: [Missed] {{.*}}Category:npu-add-on-cube{{.*}}the cube does not add the residual: results leave the cube of a split core with relu and scales at most

// The cube adds a residual by its product with the identity, so that no map follows; relu comes
// behind that.
// CHECK-LABEL: func.func @main
// CHECK: %[[I:.*]] = om.weight dense_resource<[[NAME:.*]]> : tensor<16x16xf16> : memref<16x16xf16>
// CHECK: npu.conv2d %arg0, %arg1 residual %arg2 identity %[[I]] outs %arg3 {activation = #graph.activation<relu>
// CHECK-NOT: kernel.map
// CHECK: [[NAME]]: "0x02000000{{(003C(0000){16}){15}003C}}"
module attributes {npu.soc = "Ascend910B1"} {
func.func @main(%x: memref<1x1x16x16x16xf16>, %w: memref<1x1x2x16x16xf16>, %r: memref<1x2x16x16x16xf16>, %out: memref<1x2x16x16x16xf16> {om.output}) {
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
func.func @main(%x: memref<1x1x16x16x16xf16>, %w: memref<1x1x2x16x16xf16>, %r: memref<1x2x16x16x16xf16>, %out: memref<1x2x16x16x16xf16> {om.output}) {
  npu.conv2d %x, %w residual %r outs %out {activation = #graph.activation<silu>, dilations = array<i64: 1, 1>, kernel = array<i64: 1, 1>, macs = 1 : i64, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>} : memref<1x1x16x16x16xf16>, memref<1x1x2x16x16xf16>, memref<1x2x16x16x16xf16>, memref<1x2x16x16x16xf16>
  return
}
}

// -----

// The vector unit of a coupled core adds while results leave the cube.
// CHECK-LABEL: func.func @main
// CHECK: npu.conv2d %arg0, %arg1 residual %arg2 outs %arg3
module attributes {npu.soc = "Ascend310P3"} {
func.func @main(%x: memref<1x1x16x16x16xf16>, %w: memref<1x1x2x16x16xf16>, %r: memref<1x2x16x16x16xf16>, %out: memref<1x2x16x16x16xf16> {om.output}) {
  npu.conv2d %x, %w residual %r outs %out {dilations = array<i64: 1, 1>, kernel = array<i64: 1, 1>, macs = 1 : i64, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>} : memref<1x1x16x16x16xf16>, memref<1x1x2x16x16xf16>, memref<1x2x16x16x16xf16>, memref<1x2x16x16x16xf16>
  return
}
}
