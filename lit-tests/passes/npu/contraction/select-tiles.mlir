// RUN: atc-opt %s --npu-select-tiles --verify-diagnostics | FileCheck %s
// RUN: atc-opt %s --npu-select-tiles=measure=8 --verify-diagnostics | FileCheck %s
// RUN: atc-opt %s --npu-select-tiles=fixed=64x64x64 | FileCheck %s --check-prefix=FIXED
// RUN: atc-opt %s --npu-select-tiles=report=true 2>&1 | FileCheck %s --check-prefix=REPORT
// RUN: not atc-opt %s --npu-select-tiles=fixed=64x64 2>&1 | FileCheck %s --check-prefix=FORM
// RUN: atc-opt %s --npu-select-tiles --remarks-filter=npu-select-tiles --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// REMARK-DAG: [Passed] {{.*}}Category:npu-select-tiles{{.*}}cores; most time on {{.*}}cycles

// FORM: fixed=64x64 is not of the form 64x64x64
// REPORT: remark: {{.*}}estimate: {{[0-9]+}} cycles, most on

// All eight cores work; a tile is much larger than a fixed one.
// CHECK-LABEL: func.func private @conv
// CHECK: tile = #npu.tile<m = {{[0-9]+}}, n = {{[0-9]+}}, k = {{[0-9]+}},
// FIXED-LABEL: func.func private @conv
// FIXED: tile = #npu.tile<m = 56, n = 64, k = 48, l1_m = 56, l1_n = 64, l1_k = 144,
// FIXED-SAME: order = "none">
func.func private @conv(%in: memref<8x4x56x56x16xf16>, %w: memref<1x36x4x16x16xf16>, %out: memref<8x4x56x56x16xf16>)
    attributes {npu.kernel, npu.soc = "Ascend310P3"} {
  npu.conv2d %in, %w outs %out {kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>,
    pads = array<i64: 1, 1, 1, 1>, macs = 1} : memref<8x4x56x56x16xf16>, memref<1x36x4x16x16xf16>, memref<8x4x56x56x16xf16>
  return
}

// One row: cores share the columns.
// CHECK-LABEL: func.func private @matmul
// CHECK: tile = #npu.tile<{{.*}}cores_m = 1, cores_n = 8,
func.func private @matmul(%a: memref<1x1x1x2048xf16>, %b: memref<128x63x16x16xf16>, %out: memref<1x1x1x1000xf16>)
    attributes {npu.kernel, npu.soc = "Ascend310P3"} {
  npu.matmul %a, %b outs %out {packed} : memref<1x1x1x2048xf16>, memref<128x63x16x16xf16>, memref<1x1x1x1000xf16>
  return
}

// A tile that is there stays.
// CHECK-LABEL: func.func private @chosen
// CHECK: tile = #npu.tile<m = 16, n = 32, k = 64, l1_m = 16, l1_n = 32, l1_k = 128, cores_m = 1, cores_n = 2, order = "none">
func.func private @chosen(%a: memref<1x1x16x2048xf16>, %b: memref<128x64x16x16xf16>, %out: memref<1x1x16x1024xf16>)
    attributes {npu.kernel, npu.soc = "Ascend310P3"} {
  npu.matmul %a, %b outs %out {packed, tile = #npu.tile<m = 16, n = 32, k = 64, l1_m = 16, l1_n = 32, l1_k = 128,
    cores_m = 1, cores_n = 2, order = "none">} : memref<1x1x16x2048xf16>, memref<128x64x16x16xf16>, memref<1x1x16x1024xf16>
  return
}
