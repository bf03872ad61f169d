// RUN: atc-opt %s --cpu-select-winograd | FileCheck %s
// RUN: atc-opt %s --cpu-select-winograd --remarks-filter=cpu-select-winograd --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=KEY
// RUN: atc-opt %s --cpu-select-winograd=max-error=0 | FileCheck %s --check-prefix=EXACT

// A second reader keeps the direct weights; an error of zero is more than the form can keep.

// KEY: [Analysis] {{.*}}the choice is "4x4" for the key "cpu-select-winograd|cpu|cpu.conv2d|1x1x34x34x16xf32,1x1x3x3x16x16xf32,1x1x32x32x16xf32|

// CHECK-LABEL: func.func @main
// CHECK: om.weight dense<9.000000e+00> : tensor<1x1x3x3x16x16xf32>
// CHECK: cpu.float_winograd
// CHECK: cpu.conv2d
// EXACT-LABEL: func.func @main
// EXACT-NOT: cpu.float_winograd
func.func @main(%x: memref<1x1x34x34x16xf32>, %y: memref<1x1x32x32x16xf32>, %z: memref<1x1x16x16x16xf32>) {
  %w = om.weight dense<9.0> : tensor<1x1x3x3x16x16xf32> : memref<1x1x3x3x16x16xf32>
  cpu.conv2d %x, %w outs %y {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 1, channels = 16} : memref<1x1x34x34x16xf32>, memref<1x1x3x3x16x16xf32>, memref<1x1x32x32x16xf32>
  cpu.conv2d %x, %w outs %z {strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, groups = 1, channels = 16} : memref<1x1x34x34x16xf32>, memref<1x1x3x3x16x16xf32>, memref<1x1x16x16x16xf32>
  return
}
