// RUN: atc-opt %s --npu-set-soc=soc=Ascend310P3 --npu-partition=report=true --kernel-outline 2>%t | FileCheck %s
// RUN: FileCheck %s --check-prefix=REPORT < %t
// RUN: not atc-opt %s --npu-set-soc=soc=Ascend1 2>&1 | FileCheck %s --check-prefix=SOC
// RUN: atc-opt %s --npu-set-soc=soc=Ascend310P3 --npu-partition --remarks-filter=npu-partition --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// REMARK-DAG: [Missed] {{.*}}Category:npu-partition{{.*}}gather stays on the CPU:
// REMARK-DAG: [Analysis] {{.*}}Category:npu-partition{{.*}}1 on the CPU
// SOC: E10001: there is no SoC named 'Ascend1'
// REPORT: gather stays on the CPU: indices without sign
// REPORT-NOT: stays

// CHECK: module attributes {npu.soc = "Ascend310P3"}
// CHECK: om.launch @gather(
// CHECK: om.launch @matmul_packed(
// CHECK: om.launch @matmul_packed(
// CHECK: func.func private @gather({{.*}}, %{{.*}}: index, %{{.*}}: index) attributes {cpu.kernel}
// One program for both, with buffers for arguments and nothing else.
// CHECK: func.func private @matmul_packed(%arg0: memref<1x1x64x16xf16>, %arg1: memref<1x1x16x16xf16>, %arg2: memref<1x1x64x16xf16>) attributes {npu.kernel, npu.soc = "Ascend310P3"} {
// CHECK-NEXT: npu.matmul
// CHECK-NEXT: return
// CHECK-NOT: func.func
func.func @main(%table: memref<1x100x16xf16>, %i: memref<64xui64>, %w: memref<1x1x16x16xf16>, %out: memref<1x1x64x16xf16> {om.output}) {
  %rows = om.alloc : memref<1x64x16xf16>
  kernel.gather %table, %i, %rows : memref<1x100x16xf16>, memref<64xui64>, memref<1x64x16xf16>
  %view = om.view %rows[0] : memref<1x64x16xf16> to memref<1x1x64x16xf16>
  %t = om.alloc : memref<1x1x64x16xf16>
  npu.matmul %view, %w outs %t {packed} : memref<1x1x64x16xf16>, memref<1x1x16x16xf16>, memref<1x1x64x16xf16>
  npu.matmul %t, %w outs %out {packed} : memref<1x1x64x16xf16>, memref<1x1x16x16xf16>, memref<1x1x64x16xf16>
  return
}
