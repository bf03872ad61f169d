// RUN: atc-opt %s --split-input-file --cpu-select-tiles --cpu-expand-float-winograd | FileCheck %s

// The transformed tiles are in scratch memory, which is the last buffer. The last column of tiles of
// a plane of 10 x 10 reads its last columns again; the last row of tiles is not written below the
// plane.

// CHECK-LABEL: func.func private @odd
// CHECK-SAME: %[[SCRATCH:[a-z0-9]+]]: memref<[[SIZE:[0-9]+]]xf32> {llvm.noalias}, %{{[a-z0-9]+}}: index, %{{[a-z0-9]+}}: index) attributes {cpu.kernel, cpu.scratch = {{[0-9]+}} : i64, cpu.tasks = 1 : i64}
// CHECK: arith.minui
// CHECK-COUNT-36: vector.load {{.*}} vector<16xf32>
// CHECK: vector.store {{.*}}%[[SCRATCH]]{{.*}} vector<16xf32>
// CHECK: memref.prefetch
// CHECK: memref.load %[[SCRATCH]]
// CHECK: vector.fma
// CHECK: vector.store {{.*}}%[[SCRATCH]]
// CHECK: vector.load %[[SCRATCH]]
// CHECK: arith.maximumf
// CHECK: %[[EXISTS:.*]] = arith.cmpi ult
// CHECK: scf.if %[[EXISTS]]
// CHECK-NOT: cpu.float_winograd
module attributes {cpu.level = #cpu.level<name = "v4", lanes = 16, registers = 32, fma = true, l1 = 32768, l2 = 1048576>} {
  func.func private @odd(%x: memref<1x1x12x12x16xf32>, %w: memref<1x36x16x16xf32>, %b: memref<16xf32>, %y: memref<1x1x10x10x16xf32>, %begin: index, %end: index) attributes {cpu.kernel} {
    cpu.float_winograd %x, %w bias %b outs %y {activation = #graph.activation<relu>} : memref<1x1x12x12x16xf32>, memref<1x36x16x16xf32>, memref<16xf32>, memref<1x1x10x10x16xf32>
    return
  }
}

// -----

// Tasks with the same tiles share the transformed input: only the first of a call transforms it.

// CHECK-LABEL: func.func private @shared
// CHECK-SAME: %[[BEGIN:[a-z0-9]+]]: index, %{{[a-z0-9]+}}: index) attributes {cpu.kernel, cpu.scratch = {{[0-9]+}} : i64, cpu.tasks = 4 : i64}
// CHECK: scf.for %[[TASK:.*]] = %[[BEGIN]]
// CHECK: %[[FIRST:.*]] = arith.cmpi eq, %[[TASK]], %[[BEGIN]]
// CHECK: %[[NEW:.*]] = arith.cmpi eq
// CHECK: %[[WORK:.*]] = arith.ori %[[FIRST]], %[[NEW]]
// CHECK: scf.if %[[WORK]]
// CHECK-NOT: arith.minui
// CHECK-COUNT-16: vector.load {{.*}} vector<8xf32>
module attributes {cpu.level = #cpu.level<name = "v3", lanes = 8, registers = 16, fma = true, l1 = 32768, l2 = 524288>} {
  func.func private @shared(%x: memref<1x1x10x10x16xf32>, %w: memref<4x16x16x16xf32>, %y: memref<1x4x8x8x16xf32>, %begin: index, %end: index) attributes {cpu.kernel} {
    cpu.float_winograd %x, %w outs %y {tile = #cpu.tile<pixels = 4, blocks = 1, rows = 4, groups = 1, depth = 1, flatten = false>} : memref<1x1x10x10x16xf32>, memref<4x16x16x16xf32>, memref<1x4x8x8x16xf32>
    return
  }
}
