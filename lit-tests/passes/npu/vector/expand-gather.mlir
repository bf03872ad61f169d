// RUN: atc-opt %s --npu-expand-gather | FileCheck %s
// RUN: atc-opt %s --npu-expand-gather --npu-program-pipeline -o /dev/null

// An embedding: indices of 64 bits are loaded, copied by another queue, and name the rows.
// CHECK-LABEL: npu.program @embedding
// CHECK:         npu.move %[[LOADED:.*]], %arg1
// CHECK-NEXT:    npu.vector "copy" %[[IDS:.*]], %[[LOADED]]
// CHECK:         npu.gather_rows %[[ROWS:.*]], %arg0, %[[IDS]]
// CHECK-SAME:      index_step = 8 : i64
// CHECK-SAME:      src_row = 1536 : i64, table_rows = 30522 : i64
// CHECK-NEXT:    npu.move %arg2, %[[ROWS]]
func.func private @embedding(%table: memref<1x30522x768xf16>, %ids: memref<128xi64>, %out: memref<1x128x768xf16>)
    attributes {npu.kernel, npu.soc = "Ascend310P3"} {
  kernel.gather %table, %ids, %out : memref<1x30522x768xf16>, memref<128xi64>, memref<1x128x768xf16>
  return
}

// Integers, by indices of 32 bits, from each of three tables.
// CHECK-LABEL: npu.program @integers
// CHECK:         npu.gather_rows
// CHECK-NOT:       index_step
// CHECK-SAME:      src_row = 8 : i64, table_rows = 20 : i64
func.func private @integers(%table: memref<3x20x1xi64>, %ids: memref<7xi32>, %out: memref<3x7x1xi64>)
    attributes {npu.kernel, npu.soc = "Ascend910B1"} {
  kernel.gather %table, %ids, %out : memref<3x20x1xi64>, memref<7xi32>, memref<3x7x1xi64>
  return
}

// Rows that do not fit into ub are copied in parts.
// CHECK-LABEL: npu.program @long_rows
// CHECK:         npu.loop
// CHECK:         npu.gather_rows
func.func private @long_rows(%table: memref<1x10x4000000xf16>, %ids: memref<2xi64>, %out: memref<1x2x4000000xf16>)
    attributes {npu.kernel, npu.soc = "Ascend310P3"} {
  kernel.gather %table, %ids, %out : memref<1x10x4000000xf16>, memref<2xi64>, memref<1x2x4000000xf16>
  return
}

// What is no kernel of the NPU stays.
// CHECK-LABEL: func.func private @other
// CHECK: kernel.gather
func.func private @other(%table: memref<1x10x16xf16>, %ids: memref<2xi64>, %out: memref<1x2x16xf16>) {
  kernel.gather %table, %ids, %out : memref<1x10x16xf16>, memref<2xi64>, memref<1x2x16xf16>
  return
}
