// RUN: atc-opt %s --split-input-file --cpu-expand-attention --canonicalize | FileCheck %s

// 40 keys of depth 20 become panels of scratch memory, 48 x 20 elements; behind them 13 rows of 64
// scores and a factor per row. Keys, scores and values are read in one task per head and half of
// the rows.

// CHECK-LABEL: func.func @packed
// CHECK-SAME: %[[SCRATCH:[a-z0-9]+]]: memref<1805xf32>
// CHECK-SAME: cpu.scratch = 7220 : i64, cpu.tasks = 4 : i64
// CHECK-NOT: cpu.attention
// CHECK: vector.maskedload
// CHECK: vector.store {{.*}}, %[[SCRATCH]]
// CHECK: vector.fma
// CHECK: arith.mulf
// CHECK: math.exp
// CHECK: vector.fma
// CHECK: vector.maskedstore
module attributes {cpu.level = #cpu.level<name = "v4", lanes = 16, registers = 32, fma = true, l1 = 32768, l2 = 1048576>} {
  func.func @packed(%q: memref<1x2x52x20xf32>, %k: memref<1x2x20x40xf32, strided<[1600, 20, 1, 40]>>, %v: memref<1x2x40x20xf32>,
                    %out: memref<1x2x52x20xf32>, %begin: index, %end: index) attributes {cpu.kernel} {
    cpu.attention %q, %k, %v outs %out : memref<1x2x52x20xf32>, memref<1x2x20x40xf32, strided<[1600, 20, 1, 40]>>, memref<1x2x40x20xf32>, memref<1x2x52x20xf32> {
    ^bb0(%score: f32):
      %scale = arith.constant 0.25 : f32
      %scaled = arith.mulf %score, %scale : f32
      cpu.score_yield %scaled : f32
    }
    return
  }

  // Keys that are transposed already are read in place.
  // CHECK-LABEL: func.func @direct
  // CHECK-SAME: memref<{{[0-9]+}}xf32> {llvm.noalias}
  // CHECK-NOT: vector.shuffle
  // CHECK: return
  func.func @direct(%q: memref<1x1x4x8xf32>, %k: memref<1x1x8x16xf32>, %v: memref<1x1x16x16xf32>,
                    %out: memref<1x1x4x16xf32>, %begin: index, %end: index) attributes {cpu.kernel} {
    cpu.attention %q, %k, %v outs %out : memref<1x1x4x8xf32>, memref<1x1x8x16xf32>, memref<1x1x16x16xf32>, memref<1x1x4x16xf32>
    return
  }
}
