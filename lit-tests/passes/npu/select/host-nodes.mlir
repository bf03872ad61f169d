// RUN: atc-opt %s --npu-set-soc=soc=Ascend310P3 --npu-partition=report=true -o - 2>%t | FileCheck %s
// RUN: FileCheck %s --check-prefix=REPORT < %t
// Nodes that the module lists stay on the CPU, except in kernels that only the NPU has code for.

// REPORT: stays on the CPU: it is placed there
// REPORT-NOT: stays

// CHECK-LABEL: func.func @main
// CHECK: kernel.map
// CHECK-NOT: npu.device
// CHECK: kernel.map {{.*}}npu.device
// CHECK: npu.matmul {{.*}}npu.device
module attributes {graph.host_nodes = ["placed", "product"]} {
  func.func @main(%x: memref<1x1x64x16xf16>, %w: memref<1x1x16x16xf16>, %out: memref<1x1x64x16xf16> {om.output}) {
    %a = om.alloc : memref<1x1x64x16xf16>
    %b = om.alloc : memref<1x1x64x16xf16>
    kernel.map %x outs %a : memref<1x1x64x16xf16>, memref<1x1x64x16xf16> {
    ^bb0(%v: f16):
      %s = arith.addf %v, %v : f16
      kernel.yield %s : f16
    } loc("a"("placed"))
    kernel.map %a outs %b : memref<1x1x64x16xf16>, memref<1x1x64x16xf16> {
    ^bb0(%v: f16):
      %s = arith.mulf %v, %v : f16
      kernel.yield %s : f16
    } loc("b"("other"))
    npu.matmul %b, %w outs %out {packed} : memref<1x1x64x16xf16>, memref<1x1x16x16xf16>, memref<1x1x64x16xf16> loc("c"("product"))
    return
  }
}
