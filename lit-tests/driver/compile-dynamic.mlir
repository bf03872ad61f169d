// RUN: atc-opt %s --compile="stop-after=graph" | FileCheck %s
// RUN: atc-opt %s --compile="stop-after=kernels" | atc-opt | FileCheck %s --check-prefix=KERNELS
// RUN: atc-opt %s --compile="stop-after=schedule" | atc-opt | FileCheck %s --check-prefix=SCHEDULE
// RUN: atc-opt %s --compile="soc=Ascend310P3" | atc-opt | FileCheck %s --check-prefix=PROGRAMS
// RUN: not atc-opt %s --compile="stop-after=graph disable=no-such-pass" 2>&1 | FileCheck %s --check-prefix=PASS

// The static region in front of the call becomes a function, which goes through the graph
// passes.
// CHECK: func.func @main
// CHECK-NEXT: call @part_0
// CHECK-NEXT: graph.host_call "NonZero"
// CHECK: func.func private @part_0({{.*}}) -> tensor<4x4xf32> attributes {host.part}
// CHECK-NEXT: graph.map
// CHECK-NOT: graph.sigmoid

// A region that works on buffers is run with tensors all the same, in a module that verifies.
// KERNELS: om.run_region @part_0(%{{.*}}) : (tensor<4x4xf32>) -> tensor<4x4xf32>
// KERNELS-NEXT: graph.host_call "NonZero"
// KERNELS: func.func private @part_0(%{{.*}}: memref<4x4xf32>
// KERNELS: kernel.map
// SCHEDULE: om.run_region @part_0
// SCHEDULE: om.launch
// PROGRAMS: om.run_region @part_0
// PROGRAMS: npu.program

// PASS: E10001: {{.*}}"no-such-pass" of --disable_passes
func.func @main(%x: tensor<4x4xf32> {om.name = "x"}) -> (tensor<2x?xi64> {om.name = "z"}) {
  %0 = graph.sigmoid %x : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = graph.add %0, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = graph.host_call "NonZero"(%1) {} : (tensor<4x4xf32>) -> tensor<2x?xi64>
  return %2 : tensor<2x?xi64>
}
