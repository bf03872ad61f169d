// RUN: atc-opt %s --npu-expand-pool | FileCheck %s

// Two steps along the columns, two along the rows.
// CHECK-LABEL: npu.program @pool
// CHECK: npu.vector "fill"
// CHECK: npu.move
// CHECK-COUNT-4: npu.vector "max"
// CHECK-NOT: npu.vector "max"
// CHECK: npu.move
func.func private @pool(%x: memref<1x2x13x13x16xf16>, %y: memref<1x2x7x7x16xf16>)
    attributes {npu.kernel, npu.soc = "Ascend310P3"} {
  kernel.pool %x, %y {kind = #kernel<pool_kind max>, kernel = array<i64: 3, 3>,
      strides = array<i64: 2, 2>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>}
      : memref<1x2x13x13x16xf16>, memref<1x2x7x7x16xf16>
  return
}
