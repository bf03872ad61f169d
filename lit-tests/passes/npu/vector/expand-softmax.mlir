// RUN: atc-opt %s --npu-expand-softmax | FileCheck %s

// f16 stays f16; blocks of 32 bytes of all rows are reduced at a time.
// CHECK-LABEL: npu.program @softmax
// CHECK: npu.loop
// CHECK: npu.vector "max"
// CHECK: npu.vector "reduce_max"
// CHECK: npu.vector "exp"
// CHECK-SAME: type = f16
// CHECK: npu.vector "reduce_sum"
// CHECK: npu.vector "reciprocal"
func.func private @softmax(%x: memref<500x197xf16>, %y: memref<500x197xf16>)
    attributes {npu.kernel, npu.soc = "Ascend310P3"} {
  kernel.softmax %x, %y {axis = 1 : i64} : memref<500x197xf16>, memref<500x197xf16>
  return
}

// CHECK-LABEL: npu.program @wide
// CHECK: npu.vector "exp"
// CHECK-SAME: type = f32
func.func private @wide(%x: memref<50x197xf16>, %y: memref<50x197xf32>)
    attributes {npu.kernel, npu.soc = "Ascend310P3"} {
  kernel.softmax %x, %y {axis = 1 : i64} : memref<50x197xf16>, memref<50x197xf32>
  return
}
