// RUN: atc-opt %s --npu-expand-reduce | FileCheck %s

// In f32; 7 = 4 + 3, 2, 1 runs.
// CHECK-LABEL: npu.program @mean
// CHECK: npu.vector "cast"
// CHECK-COUNT-3: npu.vector "add"
// CHECK: npu.vector "mul_scalar"
// CHECK: npu.vector "cast"
func.func private @mean(%x: memref<1x80x7x1x16xf16>, %y: memref<1x80x1x1x16xf16>)
    attributes {npu.kernel, npu.soc = "Ascend310P3"} {
  kernel.reduce %x, %y {kind = #graph<reduce_kind mean>, axes = array<i64: 2, 3>}
      : memref<1x80x7x1x16xf16>, memref<1x80x1x1x16xf16>
  return
}
