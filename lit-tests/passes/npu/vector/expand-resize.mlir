// RUN: atc-opt %s --npu-expand-resize | FileCheck %s

// Pixels twice by two instructions, rows twice by two moves.
// CHECK-LABEL: npu.program @nearest
// CHECK: npu.move
// CHECK-COUNT-2: npu.vector "copy"
// CHECK-COUNT-2: npu.move
func.func private @nearest(%x: memref<1x8x13x13x16xf16>, %y: memref<1x8x26x26x16xf16>)
    attributes {npu.kernel, npu.soc = "Ascend310P3"} {
  kernel.resize %x, %y {coordinates = #graph<coordinate_mode asymmetric>,
      cubic_coefficient = -7.5e-01 : f64, mode = #graph<resize_mode nearest>,
      nearest = #graph<nearest_mode floor>, scales = array<f64: 1.0, 1.0, 2.0, 2.0, 1.0>}
      : memref<1x8x13x13x16xf16>, memref<1x8x26x26x16xf16>
  return
}

// Bytes in blocks of 32 channels are moved as integers of 32 bits.
// CHECK-LABEL: npu.program @bytes
// CHECK: npu.move
// CHECK-COUNT-2: npu.vector "copy" {{.*}} type = i32
// CHECK-COUNT-2: npu.move
func.func private @bytes(%x: memref<1x1x8x8x32xi8>, %y: memref<1x1x16x16x32xi8>)
    attributes {npu.kernel, npu.soc = "Ascend310P3"} {
  kernel.resize %x, %y {coordinates = #graph<coordinate_mode asymmetric>,
      cubic_coefficient = -7.5e-01 : f64, mode = #graph<resize_mode nearest>,
      nearest = #graph<nearest_mode floor>, scales = array<f64: 1.0, 1.0, 2.0, 2.0, 1.0>}
      : memref<1x1x8x8x32xi8>, memref<1x1x16x16x32xi8>
  return
}

// Pixels of 16 bytes have a block of 32 in ub each, and moves repeat them.
// CHECK-LABEL: npu.program @narrow
// CHECK-NOT: npu.vector
// CHECK-COUNT-5: npu.move
func.func private @narrow(%x: memref<1x1x8x8x16xi8>, %y: memref<1x1x16x16x16xi8>)
    attributes {npu.kernel, npu.soc = "Ascend310P3"} {
  kernel.resize %x, %y {coordinates = #graph<coordinate_mode asymmetric>,
      cubic_coefficient = -7.5e-01 : f64, mode = #graph<resize_mode nearest>,
      nearest = #graph<nearest_mode floor>, scales = array<f64: 1.0, 1.0, 2.0, 2.0, 1.0>}
      : memref<1x1x8x8x16xi8>, memref<1x1x16x16x16xi8>
  return
}
