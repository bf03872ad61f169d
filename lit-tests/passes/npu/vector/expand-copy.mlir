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

// Bytes are f16 while they are transposed. 13 channels fill a part of a block of 32.
// CHECK-LABEL: npu.program @pack_bytes
// CHECK: npu.vector "fill"
// CHECK: npu.move
// CHECK: npu.vector "cast"{{.*}}dst_type = f16{{.*}} type = i8
// CHECK: npu.transpose
// CHECK: npu.vector "cast"{{.*}}dst_type = i8{{.*}} type = f16
// CHECK: npu.move
func.func private @pack_bytes(%x: memref<3x13x9x15xi8>, %y: memref<3x1x9x15x32xi8>)
    attributes {npu.kernel, npu.soc = "Ascend310P3"} {
  kernel.pack %x, %y : memref<3x13x9x15xi8>, memref<3x1x9x15x32xi8>
  return
}

// Only the 13 channels of the block are stored, in one move for each tile of pixels.
// CHECK-LABEL: npu.program @unpack_bytes
// CHECK: npu.transpose
// CHECK: npu.move {{.*}}outer = #npu.range<32{{.*}}13>
func.func private @unpack_bytes(%x: memref<3x1x9x15x32xi8>, %y: memref<3x13x9x15xi8>)
    attributes {npu.kernel, npu.soc = "Ascend310P3"} {
  kernel.unpack %x, %y : memref<3x1x9x15x32xi8>, memref<3x13x9x15xi8>
  return
}

// CHECK-LABEL: npu.program @transposed_bytes
// CHECK: npu.transpose
func.func private @transposed_bytes(%x: memref<40x50xi8, strided<[1, 40]>>, %y: memref<40x50xi8>)
    attributes {npu.kernel, npu.soc = "Ascend310P3"} {
  kernel.copy %x, %y : memref<40x50xi8, strided<[1, 40]>>, memref<40x50xi8>
  return
}

// Channels that are runs need no transposition; a block of 16 bytes has 32 bytes of ub.
// CHECK-LABEL: npu.program @pack_runs
// CHECK-NOT: npu.transpose
// CHECK: npu.move
// CHECK: npu.move {{.*}}bytes = #npu.range<16>
func.func private @pack_runs(%x: memref<2x32x1x1xi8>, %y: memref<2x2x1x1x16xi8>)
    attributes {npu.kernel, npu.soc = "Ascend910B1"} {
  kernel.pack %x, %y : memref<2x32x1x1xi8>, memref<2x2x1x1x16xi8>
  return
}

// What a padded tensor of uint8 is filled with has the bits of a negative number: the vector unit
// would saturate 232.
// CHECK-LABEL: npu.program @fill_unsigned
// CHECK: npu.vector "fill"{{.*}}scalar = -2.400000e+01{{.*}}type = i8
func.func private @fill_unsigned(%x: memref<1x4x7xi8>)
    attributes {npu.kernel, npu.soc = "Ascend310P3"} {
  kernel.fill %x {value = 2.320000e+02 : f64} : memref<1x4x7xi8>
  return
}
