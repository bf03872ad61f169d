// RUN: atc-opt %s --npu-expand-layer-norm | FileCheck %s

// gamma is read once, before the loops. The variance is that of f32, squares and
// halves at a time; scaling is done in f16.
// CHECK-LABEL: npu.program @norm
// CHECK: npu.move {{.*}} <gm, 3072>
// CHECK: npu.loop
// CHECK: npu.vector "madd"
// CHECK-SAME: type = f32
// CHECK: npu.vector "rsqrt"
// CHECK: npu.vector "mul"
// CHECK-SAME: type = f16
func.func private @norm(%x: memref<3152x768xf16>, %g: memref<768xf32>, %y: memref<3152x768xf16>)
    attributes {npu.kernel, npu.soc = "Ascend310P3"} {
  npu.layer_norm %x gamma %g outs %y {epsilon = 1.0e-5 : f64}
      : memref<3152x768xf16>, memref<768xf32>, memref<3152x768xf16>
  return
}

// An RMS norm subtracts nothing; squares, their root and the scaling are f32.
// CHECK-LABEL: npu.program @root_mean_square
// CHECK-NOT: npu.vector "sub"
// CHECK: npu.vector "madd"
// CHECK-SAME: type = f32
// CHECK: npu.vector "rsqrt"
// CHECK: npu.vector "mul"
// CHECK-SAME: dst_type = f32
// CHECK-NEXT: npu.vector "cast"
// CHECK-NEXT: npu.vector "mul"
// CHECK-SAME: dst_type = f16
// CHECK-NOT: npu.vector "sub"
// CHECK: npu.move %arg2
func.func private @root_mean_square(%x: memref<64x768xf16>, %g: memref<768xf32>, %y: memref<64x768xf16>)
    attributes {npu.kernel, npu.soc = "Ascend310P3"} {
  npu.layer_norm %x gamma %g outs %y {epsilon = 1.0e-6 : f64, uncentered}
      : memref<64x768xf16>, memref<768xf32>, memref<64x768xf16>
  return
}
