// RUN: atc-opt %s --npu-expand-map | FileCheck %s

// A constant becomes a scalar operand; both operands come through ub, no function is left.
// CHECK-NOT: func.func
// CHECK-LABEL: npu.program @scale_add
// CHECK: npu.move {{.*}} <ub, {{[0-9]+}}>, <gm, 2000>
// CHECK: npu.move {{.*}} <ub, {{[0-9]+}}>, <gm, 2000>
// CHECK: npu.vector "mul_scalar"
// CHECK: npu.vector "add"
// CHECK: npu.move {{.*}} <gm, 2000>, <ub, {{[0-9]+}}>
func.func private @scale_add(%x: memref<1000xf16>, %y: memref<1000xf16>, %z: memref<1000xf16>)
    attributes {npu.kernel, npu.soc = "Ascend310P3"} {
  kernel.map %x, %y outs %z : memref<1000xf16>, memref<1000xf16>, memref<1000xf16> {
  ^bb0(%a: f16, %b: f16):
    %c = arith.constant 3.0 : f16
    %p = arith.mulf %a, %c : f16
    %s = arith.addf %p, %b : f16
    kernel.yield %s : f16
  }
  return
}

// A channel's 16 values repeat over the plane: one block, stride 0.
// CHECK-LABEL: npu.program @bias
// CHECK: npu.vector "add"
// CHECK-SAME: b_block = 0
func.func private @bias(%x: memref<2x3x9x9x16xf16>, %y: memref<1x3x1x1x16xf16>,
                        %z: memref<2x3x9x9x16xf16>)
    attributes {npu.kernel, npu.soc = "Ascend310P3"} {
  kernel.map %x, %y outs %z
      : memref<2x3x9x9x16xf16>, memref<1x3x1x1x16xf16>, memref<2x3x9x9x16xf16> {
  ^bb0(%a: f16, %b: f16):
    %s = arith.addf %a, %b : f16
    kernel.yield %s : f16
  }
  return
}

// On split SoCs the program runs on vector cores.
// CHECK-LABEL: npu.program @relu
// CHECK-SAME: Ascend910B1
// CHECK-SAME: vector_core
// CHECK: npu.vector "relu"
func.func private @relu(%x: memref<1000xf16>, %z: memref<1000xf16>)
    attributes {npu.kernel, npu.soc = "Ascend910B1"} {
  kernel.map %x outs %z : memref<1000xf16>, memref<1000xf16> {
  ^bb0(%a: f16):
    %c = arith.constant 0.0 : f16
    %s = arith.maximumf %a, %c : f16
    kernel.yield %s : f16
  }
  return
}
