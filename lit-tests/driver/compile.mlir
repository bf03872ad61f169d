// RUN: atc-opt %s --compile="stop-after=graph" | FileCheck %s --check-prefix=GRAPH
// RUN: atc-opt %s --compile="stop-after=kernels" | FileCheck %s --check-prefix=KERNELS
// RUN: atc-opt %s --compile="stop-after=schedule" | FileCheck %s --check-prefix=SCHEDULE
// RUN: atc-opt %s --compile="stop-after=schedule" > %t.schedule
// RUN: atc-opt %s --compile > %t.programs
// RUN: diff %t.schedule %t.programs
// RUN: atc-opt %s --compile="stop-after=kernels soc=Ascend310P3" | FileCheck %s --check-prefix=NPU-KERNELS
// RUN: atc-opt %s --compile="stop-after=kernels soc=Ascend310P3 precision=must_keep_origin_dtype" | FileCheck %s --check-prefix=ORIGIN
// RUN: atc-opt %s --compile="soc=Ascend310P3" | FileCheck %s --check-prefix=NPU-PROGRAMS

// The elementwise ops are fused.
// GRAPH-LABEL: func.func @main(%{{.*}}: tensor<4x16xf32>
// GRAPH-NEXT: graph.map
// GRAPH: arith.addf
// GRAPH-NEXT: arith.maximumf
// GRAPH-NOT: graph.shared_constants

// KERNELS-LABEL: func.func @main(%{{.*}}: memref<4x16xf32> {om.name = "x"}, %{{.*}}: memref<4x16xf32>
// KERNELS-NEXT: kernel.map
// KERNELS-NOT: om.launch

// A CPU has no programs: its schedule is the last form.
// SCHEDULE: module attributes {{.*}}om.arena_size = 0
// SCHEDULE: om.launch @[[KERNEL:.*]](%
// SCHEDULE: func.func private @[[KERNEL]]({{.*}}) attributes {cpu.kernel}

// NPU-KERNELS: module attributes {npu.soc = "Ascend310P3"}
// NPU-KERNELS: kernel.map {{.*}}npu.device{{.*}}memref<4x16xf16>

// ORIGIN: kernel.map
// ORIGIN-NOT: f16

// NPU-PROGRAMS: om.launch @[[PROGRAM:[a-z_]*]](%
// NPU-PROGRAMS: npu.program @[[PROGRAM]](
// NPU-PROGRAMS-SAME: soc "Ascend310P3"
func.func @main(%x: tensor<4x16xf32> {om.name = "x"}) -> (tensor<4x16xf32> {om.name = "y"}) {
  %0 = graph.add %x, %x : (tensor<4x16xf32>, tensor<4x16xf32>) -> tensor<4x16xf32>
  %1 = graph.relu %0 : (tensor<4x16xf32>) -> tensor<4x16xf32>
  return %1 : tensor<4x16xf32>
}
