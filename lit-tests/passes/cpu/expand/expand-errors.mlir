// RUN: atc-opt %s --split-input-file --verify-diagnostics --cpu-expand-conv2d --cpu-expand-depthwise --cpu-expand-float-winograd --cpu-expand-matmul

// expected-error @+3 {{'cpu.conv2d' op needs a tile whose blocks divide the output's; run cpu-select-tiles first}}
func.func @no_tile(%in: memref<1x1x4x4x16xf32>, %w: memref<1x1x1x1x16x16xf32>,
                   %out: memref<1x1x4x4x16xf32>, %begin: index, %end: index) attributes {cpu.kernel} {
  cpu.conv2d %in, %w outs %out {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 1, channels = 16}
    : memref<1x1x4x4x16xf32>, memref<1x1x1x1x16x16xf32>, memref<1x1x4x4x16xf32>
  return
}

// -----

func.func @depthwise(%in: memref<1x1x8x8x16xf32>, %w: memref<1x3x3x16xf32>, %out: memref<1x1x6x6x16xf32>,
                     %begin: index, %end: index) attributes {cpu.kernel} {
  // expected-error @+1 {{'cpu.depthwise_conv2d' op needs a tile; run cpu-select-tiles first}}
  cpu.depthwise_conv2d %in, %w outs %out {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>}
    : memref<1x1x8x8x16xf32>, memref<1x3x3x16xf32>, memref<1x1x6x6x16xf32>
  return
}

// -----

func.func @matmul(%x: memref<1x1x8xf32>, %w: memref<1x8x16xf32>, %out: memref<1x1x16xf32>,
                  %begin: index, %end: index) attributes {cpu.kernel} {
  // expected-error @+1 {{'cpu.matmul' op needs a tile; run cpu-select-tiles first}}
  cpu.matmul %x, %w outs %out {packed} : memref<1x1x8xf32>, memref<1x8x16xf32>, memref<1x1x16xf32>
  return
}

// -----

func.func @winograd(%in: memref<1x1x10x10x16xf32>, %w: memref<2x36x16x16xf32>, %out: memref<1x2x8x8x16xf32>,
                    %begin: index, %end: index) attributes {cpu.kernel} {
  // expected-error @+1 {{'cpu.float_winograd' op needs a tile whose blocks divide the output's, its groups and its depth; run cpu-select-tiles first}}
  cpu.float_winograd %in, %w outs %out : memref<1x1x10x10x16xf32>, memref<2x36x16x16xf32>, memref<1x2x8x8x16xf32>
  return
}
