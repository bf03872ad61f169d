// RUN: atc-opt %s --npu-expand-softmax | FileCheck %s

// CHECK-LABEL: npu.program @softmax
// CHECK: npu.vector "reduce_max"
// CHECK: npu.vector "exp"
// CHECK-SAME: type = f32
// CHECK: npu.vector "reduce_sum"
// CHECK: npu.vector "reciprocal"
func.func private @softmax(%x: memref<50x197xf16>, %y: memref<50x197xf16>)
    attributes {npu.kernel, npu.soc = "Ascend310P3"} {
  kernel.softmax %x, %y {axis = 1 : i64} : memref<50x197xf16>, memref<50x197xf16>
  return
}
