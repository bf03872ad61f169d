// RUN: atc-opt %s --npu-expand-copy | FileCheck %s

// CHECK-LABEL: npu.program @transposed
// CHECK: npu.move
// CHECK-NEXT: npu.transpose
// CHECK-NEXT: npu.move
func.func private @transposed(%x: memref<40x50xf16, strided<[1, 40]>>, %y: memref<40x50xf16>)
    attributes {npu.kernel, npu.soc = "Ascend310P3"} {
  kernel.copy %x, %y : memref<40x50xf16, strided<[1, 40]>>, memref<40x50xf16>
  return
}

// Missing channels are zero.
// CHECK-LABEL: npu.program @pack
// CHECK: npu.vector "fill"
// CHECK: npu.move
// CHECK: npu.transpose
func.func private @pack(%x: memref<1x3x8x8xf16>, %y: memref<1x1x8x8x16xf16>)
    attributes {npu.kernel, npu.soc = "Ascend310P3"} {
  kernel.pack %x, %y : memref<1x3x8x8xf16>, memref<1x1x8x8x16xf16>
  return
}

// A slice needs no vector instruction.
// CHECK-LABEL: npu.program @slice
// CHECK-NOT: npu.vector
// CHECK-NOT: npu.transpose
// CHECK: npu.move
func.func private @slice(%x: memref<4x100xf16, strided<[300, 1]>>, %y: memref<4x100xf16>)
    attributes {npu.kernel, npu.soc = "Ascend310P3"} {
  kernel.copy %x, %y : memref<4x100xf16, strided<[300, 1]>>, memref<4x100xf16>
  return
}
