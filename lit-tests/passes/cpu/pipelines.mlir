// RUN: atc-opt --cpu-schedule-pipeline %s | FileCheck %s --check-prefix=SCHEDULE
// RUN: atc-opt --cpu-schedule-pipeline="disable=om-reuse-in-place" %s | FileCheck %s --check-prefix=NOREUSE
// RUN: atc-opt --kernel-outline --cpu-expand-pipeline %s | FileCheck %s --check-prefix=EXPAND
// RUN: sed -n '/^.. ---- kernels/,$p' %s | atc-opt --cpu-lower-to-llvm-pipeline | FileCheck %s --check-prefix=LLVM

// SCHEDULE: module attributes {om.arena_lower_bound = 4096 : i64, om.arena_size = 4096 : i64, om.intermediate_bytes = {{[0-9]+}} : i64}
// SCHEDULE: om.launch @map_negf(%arg0, %[[A:.*]]) {
// SCHEDULE: om.launch @map_exp(%[[A]], %[[A]])
// SCHEDULE: om.launch @copy(%[[A]], %arg1)
// NOREUSE: om.arena_size = 8192
// EXPAND: func.func private @map_negf({{.*}} attributes {cpu.kernel, cpu.tasks = {{[0-9]+}} : i64}
// EXPAND: vector.load
// EXPAND: vector.store
// EXPAND-NOT: math.exp

func.func @main(%in: memref<1024xf32>, %out: memref<1024xf32> {om.output}) {
  %a = om.alloc : memref<1024xf32>
  %b = om.alloc : memref<1024xf32>
  kernel.map %in outs %a : memref<1024xf32>, memref<1024xf32> {
  ^bb0(%x: f32):
    %0 = arith.negf %x : f32
    kernel.yield %0 : f32
  }
  kernel.map %a outs %b : memref<1024xf32>, memref<1024xf32> {
  ^bb0(%x: f32):
    %0 = math.exp %x : f32
    kernel.yield %0 : f32
  }
  kernel.copy %b, %out : memref<1024xf32>, memref<1024xf32>
  return
}

// ---- kernels
// LLVM: llvm.func @k(%{{.*}}: !llvm.ptr {llvm.noalias, llvm.readonly}, %{{.*}}: !llvm.ptr {llvm.noalias}, %{{.*}}: i64, %{{.*}}: i64) attributes {cpu.kernel, cpu.tasks = 1 : i64, no_unwind}
// LLVM: llvm.func internal @k$body(
// LLVM-NOT: builtin.unrealized_conversion_cast
func.func @k(%a: memref<3x5xf32, strided<[8, 1]>>, %b: memref<3x5xf32>, %begin: index, %end: index) attributes {cpu.kernel} {
  kernel.copy %a, %b : memref<3x5xf32, strided<[8, 1]>>, memref<3x5xf32>
  return
}
