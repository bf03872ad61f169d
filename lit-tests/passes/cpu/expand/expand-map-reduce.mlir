// RUN: atc-opt %s --cpu-expand-map-reduce --canonicalize --split-input-file | FileCheck %s

// Channels are the lanes; two sums of two vectors at two positions, and the factor per channel is loaded before the loops.
// CHECK-LABEL: func.func @channels
// CHECK-SAME: cpu.tasks
// CHECK-NOT: cpu.map_reduce
// CHECK: vector.load {{.*}} vector<8xf32>
// CHECK: %{{.*}}:8 = scf.for {{.*}} iter_args({{.*}}) -> (vector<8xf32>
// CHECK-NOT: vector.reduction
func.func @channels(%x: memref<4x6x16xf32>, %y: memref<1x1x16xf32>, %out: memref<2x1x1x16xf32>, %begin: index, %end: index) attributes {cpu.kernel} {
  cpu.map_reduce %x, %y outs %out {axes = array<i64: 0, 1>} : memref<4x6x16xf32>, memref<1x1x16xf32>, memref<2x1x1x16xf32> {
  ^bb0(%a: f32, %b: f32):
    %p = arith.mulf %a, %b : f32
    cpu.reduction_yield %a, %p : f32, f32
  }
  return
}

// -----

// Along the contiguous dim the lanes are summed at the end; those past a row of 19 count nothing.
// CHECK-LABEL: func.func @rows
// CHECK: vector.constant_mask [3] : vector<8xi1>
// CHECK: arith.select
// CHECK: vector.reduction <add>
// CHECK: arith.mulf {{.*}} : f32
func.func @rows(%x: memref<5x19xf32>, %out: memref<1x5x1xf32>, %begin: index, %end: index) attributes {cpu.kernel} {
  cpu.map_reduce %x outs %out {axes = array<i64: 1>, mean} : memref<5x19xf32>, memref<1x5x1xf32> {
  ^bb0(%a: f32):
    %p = arith.mulf %a, %a : f32
    cpu.reduction_yield %p : f32
  }
  return
}
