// RUN: atc-opt %s --split-input-file --cpu-select-winograd | FileCheck %s
// RUN: atc-opt %s --split-input-file --cpu-select-winograd --remarks-filter=cpu-select-winograd --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

// Epilogue and marks stay, the direct weights go.

// CHECK-LABEL: func.func @whole
// CHECK-NOT: memref<4x4x3x3x16x16xf32>
// CHECK: %[[W:.*]] = om.weight {{.*}} : memref<4x36x64x16xf32>
// CHECK: cpu.float_winograd %{{.*}}, %[[W]] bias %{{.*}} residual %{{.*}} outs %{{.*}} {activation = #graph.activation<relu>, om.tensor = tensor<1x64x56x56xf32>} : memref<1x4x58x58x16xf32>, memref<4x36x64x16xf32>, memref<64xf32>
// REMARK: [Passed] {{.*}}tiles of 4x4 outputs: {{[0-9]+}} vector operations instead of {{[0-9]+}}; the estimated error is 0
func.func @whole(%x: memref<1x4x58x58x16xf32>, %r: memref<1x4x56x56x16xf32>, %y: memref<1x4x56x56x16xf32>) {
  %w = om.weight dense<0.0> : tensor<4x4x3x3x16x16xf32> : memref<4x4x3x3x16x16xf32>
  %b = om.weight dense<1.0> : tensor<64xf32> : memref<64xf32>
  cpu.conv2d %x, %w bias %b residual %r outs %y {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 1, channels = 64, activation = #graph.activation<relu>, om.tensor = tensor<1x64x56x56xf32>} : memref<1x4x58x58x16xf32>, memref<4x4x3x3x16x16xf32>, memref<64xf32>, memref<1x4x56x56x16xf32>, memref<1x4x56x56x16xf32>
  return
}

// -----

// Of a 2x2 plane a tile of 4x4 outputs would compute twelve for nothing.

// CHECK-LABEL: func.func @small
// CHECK: cpu.float_winograd {{.*}} memref<2x16x32x16xf32>
func.func @small(%x: memref<64x2x4x4x16xf32>, %y: memref<64x2x2x2x16xf32>) {
  %w = om.weight dense<0.0> : tensor<2x2x3x3x16x16xf32> : memref<2x2x3x3x16x16xf32>
  cpu.conv2d %x, %w outs %y {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 1, channels = 32} : memref<64x2x4x4x16xf32>, memref<2x2x3x3x16x16xf32>, memref<64x2x2x2x16xf32>
  return
}

// -----

// Four times the weights would take longer to read than their products save.

// CHECK-LABEL: func.func @weights
// CHECK: cpu.conv2d
func.func @weights(%x: memref<1x32x4x4x16xf32>, %y: memref<1x32x2x2x16xf32>) {
  %w = om.weight dense<0.0> : tensor<32x32x3x3x16x16xf32> : memref<32x32x3x3x16x16xf32>
  cpu.conv2d %x, %w outs %y {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 1, channels = 512} : memref<1x32x4x4x16xf32>, memref<32x32x3x3x16x16xf32>, memref<1x32x2x2x16xf32>
  return
}

// -----

// Tiles of 4x4 would make the weights 60 MB larger, more than a small model's may grow: those that
// save the least per byte have tiles of 2x2.

// CHECK-LABEL: func.func @growth
// CHECK: cpu.float_winograd {{.*}} memref<16x36x256x16xf32>
// CHECK-COUNT-2: cpu.float_winograd {{.*}} memref<32x16x512x16xf32>
// REMARK-COUNT-2: [Passed] {{.*}}tiles of 2x2 outputs: {{.*}}a faster form would make the model's weights too large
func.func @growth(%a: memref<1x16x58x58x16xf32>, %b: memref<1x16x56x56x16xf32>, %x: memref<1x32x30x30x16xf32>, %y: memref<1x32x28x28x16xf32>, %z: memref<1x32x28x28x16xf32>) {
  %u = om.weight dense<0.0> : tensor<16x16x3x3x16x16xf32> : memref<16x16x3x3x16x16xf32>
  %v = om.weight dense<0.0> : tensor<32x32x3x3x16x16xf32> : memref<32x32x3x3x16x16xf32>
  %w = om.weight dense<0.0> : tensor<32x32x3x3x16x16xf32> : memref<32x32x3x3x16x16xf32>
  cpu.conv2d %a, %u outs %b {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 1, channels = 256} : memref<1x16x58x58x16xf32>, memref<16x16x3x3x16x16xf32>, memref<1x16x56x56x16xf32>
  cpu.conv2d %x, %v outs %y {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 1, channels = 512} : memref<1x32x30x30x16xf32>, memref<32x32x3x3x16x16xf32>, memref<1x32x28x28x16xf32>
  cpu.conv2d %x, %w outs %z {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 1, channels = 512} : memref<1x32x30x30x16xf32>, memref<32x32x3x3x16x16xf32>, memref<1x32x28x28x16xf32>
  return
}

// -----

// A weight that is no number: no form is exact enough.

// CHECK-LABEL: func.func @inexact
// CHECK: cpu.conv2d
// REMARK: [Missed] {{.*}}the estimated error of tiles of 2x2 is INF of the range; the estimated error of tiles of 4x4 is INF
func.func @inexact(%x: memref<1x4x58x58x16xf32>, %y: memref<1x4x56x56x16xf32>) {
  %w = om.weight dense<0x7FC00000> : tensor<4x4x3x3x16x16xf32> : memref<4x4x3x3x16x16xf32>
  cpu.conv2d %x, %w outs %y {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 1, channels = 64} : memref<1x4x58x58x16xf32>, memref<4x4x3x3x16x16xf32>, memref<1x4x56x56x16xf32>
  return
}

// -----

// Strides, dilations, other windows, groups, a tail of channels and weights that are not constant.

// CHECK-LABEL: func.func @others
// CHECK-COUNT-6: cpu.conv2d
// REMARK: [Missed] {{.*}}the stride or the dilation is not 1
// REMARK: [Missed] {{.*}}the stride or the dilation is not 1
// REMARK: [Missed] {{.*}}the window is not 3x3
// REMARK: [Missed] {{.*}}it has groups
// REMARK: [Missed] {{.*}}its channels are no whole blocks of 16
// REMARK: [Missed] {{.*}}its weights are not constant
func.func @others(%x: memref<1x4x58x58x16xf32>, %y: memref<1x4x28x28x16xf32>, %v: memref<4x4x3x3x16x16xf32>) {
  %w = om.weight dense<0.0> : tensor<4x4x3x3x16x16xf32> : memref<4x4x3x3x16x16xf32>
  %five = om.weight dense<0.0> : tensor<4x4x5x5x16x16xf32> : memref<4x4x5x5x16x16xf32>
  %two = om.weight dense<0.0> : tensor<4x2x3x3x16x16xf32> : memref<4x2x3x3x16x16xf32>
  cpu.conv2d %x, %w outs %y {strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, groups = 1, channels = 64} : memref<1x4x58x58x16xf32>, memref<4x4x3x3x16x16xf32>, memref<1x4x28x28x16xf32>
  cpu.conv2d %x, %w outs %y {strides = array<i64: 1, 1>, dilations = array<i64: 2, 2>, groups = 1, channels = 64} : memref<1x4x58x58x16xf32>, memref<4x4x3x3x16x16xf32>, memref<1x4x28x28x16xf32>
  cpu.conv2d %x, %five outs %y {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 1, channels = 64} : memref<1x4x58x58x16xf32>, memref<4x4x5x5x16x16xf32>, memref<1x4x28x28x16xf32>
  cpu.conv2d %x, %two outs %y {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 2, channels = 32} : memref<1x4x58x58x16xf32>, memref<4x2x3x3x16x16xf32>, memref<1x4x28x28x16xf32>
  cpu.conv2d %x, %w outs %y {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 1, channels = 63} : memref<1x4x58x58x16xf32>, memref<4x4x3x3x16x16xf32>, memref<1x4x28x28x16xf32>
  cpu.conv2d %x, %v outs %y {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 1, channels = 64} : memref<1x4x58x58x16xf32>, memref<4x4x3x3x16x16xf32>, memref<1x4x28x28x16xf32>
  return
}
