// RUN: atc-opt %s --cpu-select-tiles --remarks-filter=cpu-select-tiles --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s

// The decision is said with the key by which it can be set.
// CHECK: [Analysis] {{.*}}Category:cpu-select-tiles{{.*}}the choice is "6,1,{{[0-9]+,[0-9]+}},1,0" for the key
// CHECK-SAME: "cpu-select-tiles|v3|cpu.conv2d|1x4x58x58x16xf32,4x4x3x3x16x16xf32,1x4x56x56x16xf32|{{[0-9a-f]+}}"

module attributes {cpu.level = #cpu.level<name = "v3", lanes = 8, registers = 16, fma = true, l1 = 32768, l2 = 524288>} {
  func.func @conv(%in: memref<1x4x58x58x16xf32>, %w: memref<4x4x3x3x16x16xf32>, %out: memref<1x4x56x56x16xf32>) {
    cpu.conv2d %in, %w outs %out {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 1, channels = 64}
      : memref<1x4x58x58x16xf32>, memref<4x4x3x3x16x16xf32>, memref<1x4x56x56x16xf32>
    return
  }
}
