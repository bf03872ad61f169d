// RUN: atc-opt %s --split-input-file --cpu-narrow-weights | FileCheck %s --check-prefixes=CHECK,EXACT
// RUN: atc-opt %s --split-input-file --cpu-narrow-weights=converts-halfs=false | FileCheck %s --check-prefixes=CHECK,SHIFTS
// RUN: atc-opt %s --split-input-file --cpu-narrow-weights=storage=f16 | FileCheck %s --check-prefixes=CHECK,HALF
// RUN: atc-opt %s --split-input-file --cpu-narrow-weights=storage=bf16 | FileCheck %s --check-prefixes=CHECK,BFLOAT
// RUN: atc-opt %s --split-input-file --cpu-narrow-weights=storage=f32 | FileCheck %s --check-prefixes=CHECK,NONE
// RUN: not atc-opt %s --split-input-file --cpu-narrow-weights=storage=f8 -o /dev/null 2>&1 | FileCheck %s --check-prefix=ERROR

// ERROR: storage must be f32, exact, f16 or bf16, not f8

// 1.5 is a number of bf16, 1.0009765625 of f16, 0.1 of neither.
// CHECK-LABEL: func.func @main
// EXACT: memref<16x64x16xbf16>
// EXACT: memref<16x64x16xf16>
// EXACT: memref<16x64x16xf32>
// SHIFTS: memref<16x64x16xbf16>
// SHIFTS-COUNT-2: memref<16x64x16xf32>
// HALF-COUNT-3: memref<16x64x16xf16>
// BFLOAT-COUNT-3: memref<16x64x16xbf16>
// NONE-COUNT-3: memref<16x64x16xf32>
func.func @main(%x: memref<1x2x64xf32> {om.name = "x"}, %a: memref<1x2x256xf32> {om.name = "a", om.output}, %b: memref<1x2x256xf32> {om.name = "b", om.output}, %c: memref<1x2x256xf32> {om.name = "c", om.output}) {
  %0 = om.weight dense<1.5> : tensor<16x64x16xf32> : memref<16x64x16xf32>
  %1 = om.weight dense<1.0009765625> : tensor<16x64x16xf32> : memref<16x64x16xf32>
  %2 = om.weight dense<0.1> : tensor<16x64x16xf32> : memref<16x64x16xf32>
  cpu.matmul %x, %0 outs %a {packed} : memref<1x2x64xf32>, memref<16x64x16xf32>, memref<1x2x256xf32>
  cpu.matmul %x, %1 outs %b {packed} : memref<1x2x64xf32>, memref<16x64x16xf32>, memref<1x2x256xf32>
  cpu.matmul %x, %2 outs %c {packed} : memref<1x2x64xf32>, memref<16x64x16xf32>, memref<1x2x256xf32>
  return
}

// -----

// Filters only where that is asked for; small weights, those that another kernel reads, too, and
// matrices that are not packed stay.
// CHECK-LABEL: func.func @main
// EXACT: om.weight {{.*}} : memref<4x4x1x1x16x16xf32>
// HALF: om.weight {{.*}} : memref<4x4x1x1x16x16xf16>
// BFLOAT: om.weight {{.*}} : memref<4x4x1x1x16x16xbf16>
// CHECK: om.weight {{.*}} : memref<1x64x16xf32>
// CHECK: om.weight {{.*}} : memref<1x64x64xf32>
func.func @main(%x: memref<1x4x8x8x16xf32> {om.name = "x"}, %y: memref<1x2x64xf32> {om.name = "y"}, %a: memref<1x4x8x8x16xf32> {om.name = "a", om.output}, %b: memref<1x2x16xf32> {om.name = "b", om.output}, %c: memref<1x2x64xf32> {om.name = "c", om.output}) {
  %0 = om.weight dense<1.5> : tensor<4x4x1x1x16x16xf32> : memref<4x4x1x1x16x16xf32>
  %1 = om.weight dense<1.5> : tensor<1x64x16xf32> : memref<1x64x16xf32>
  %2 = om.weight dense<1.5> : tensor<1x64x64xf32> : memref<1x64x64xf32>
  cpu.conv2d %x, %0 outs %a {channels = 64 : i64, dilations = array<i64: 1, 1>, groups = 1 : i64, strides = array<i64: 1, 1>} : memref<1x4x8x8x16xf32>, memref<4x4x1x1x16x16xf32>, memref<1x4x8x8x16xf32>
  cpu.matmul %y, %1 outs %b {packed} : memref<1x2x64xf32>, memref<1x64x16xf32>, memref<1x2x16xf32>
  cpu.matmul %y, %2 outs %c : memref<1x2x64xf32>, memref<1x64x64xf32>, memref<1x2x64xf32>
  return
}
