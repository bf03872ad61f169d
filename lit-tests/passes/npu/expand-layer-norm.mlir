// RUN: atc-opt %s --npu-expand-layer-norm | FileCheck %s

// gamma is read once, before the loops.
// CHECK-LABEL: npu.program @norm
// CHECK: npu.move {{.*}} <gm, 3072>
// CHECK: npu.loop
// CHECK: npu.vector "rsqrt"
func.func private @norm(%x: memref<3152x768xf16>, %g: memref<768xf32>, %y: memref<3152x768xf16>)
    attributes {npu.kernel, npu.soc = "Ascend310P3"} {
  npu.layer_norm %x gamma %g outs %y {epsilon = 1.0e-5 : f64}
      : memref<3152x768xf16>, memref<768xf32>, memref<3152x768xf16>
  return
}
