// RUN: atc-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(kernel-assign-layout,kernel-assign-halo),npu-lower-graph)' | FileCheck %s

// The first convolution reads the f32 image; no halo, weights in fractals.
// CHECK-LABEL: func.func @main(%arg0: memref<1x3x8x8xf32>
// CHECK: npu.conv2d %arg0, %{{.*}} bias %{{.*}} outs %[[A:.*]] {{{.*}}image, kernel = array<i64: 3, 3>, macs = 6912 : i64, {{.*}}pads = array<i64: 1, 1, 1, 1>
// CHECK-SAME: memref<1x3x8x8xf32>, memref<1x3x1x16x16xf16>, memref<16xf32>, memref<1x1x4x4x16xf16>
// CHECK: npu.conv2d %[[A]], %{{.*}} outs %{{.*}} {{{.*}}macs = 46080 : i64, {{.*}}pads = array<i64: 1, 1, 1, 1>
// CHECK-SAME: memref<1x1x4x4x16xf16>, memref<1x9x2x16x16xf16>, memref<1x2x4x4x16xf16>
func.func @main(%arg0: tensor<1x3x8x8xf32>) -> tensor<1x20x4x4xf16> {
  %x = graph.cast %arg0 : (tensor<1x3x8x8xf32>) -> tensor<1x3x8x8xf16>
  %w = graph.constant dense<0.5> : tensor<16x3x3x3xf16>
  %b = graph.constant dense<1.0> : tensor<16xf32>
  %c = graph.conv %x, %w bias %b {activation = #graph.activation<relu>, dilations = array<i64: 1, 1>, groups = 1 : i64, pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 2, 2>} : (tensor<1x3x8x8xf16>, tensor<16x3x3x3xf16>, tensor<16xf32>) -> tensor<1x16x4x4xf16>
  %v = graph.constant dense<0.5> : tensor<20x16x3x3xf16>
  %d = graph.conv %c, %v {dilations = array<i64: 1, 1>, groups = 1 : i64, pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 1, 1>} : (tensor<1x16x4x4xf16>, tensor<20x16x3x3xf16>) -> tensor<1x20x4x4xf16>
  return %d : tensor<1x20x4x4xf16>
}

// -----

// A depthwise convolution has a group for each block, a part of a block at the
// end included; groups of 24 channels do not fit blocks.
// CHECK-LABEL: func.func @main
// CHECK: npu.conv2d {{.*}} {block_groups = 3 : i64
// CHECK-SAME: memref<1x3x4x4x16xf16>, memref<3x9x1x16x16xf16>, memref<1x3x4x4x16xf16>
// CHECK: npu.conv2d {{.*}} {dilations
// CHECK-SAME: memref<1x3x4x4x16xf16>, memref<1x3x3x16x16xf16>, memref<1x3x4x4x16xf16>
func.func @main(%arg0: tensor<1x40x4x4xf16>) -> (tensor<1x40x4x4xf16>, tensor<1x48x4x4xf16>) {
  %w = graph.constant dense<0.5> : tensor<40x1x3x3xf16>
  %c = graph.conv %arg0, %w {dilations = array<i64: 1, 1>, groups = 40 : i64, pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 1, 1>} : (tensor<1x40x4x4xf16>, tensor<40x1x3x3xf16>) -> tensor<1x40x4x4xf16>
  %v = graph.constant dense<0.5> : tensor<48x20x1x1xf16>
  %d = graph.conv %c, %v {dilations = array<i64: 1, 1>, groups = 2 : i64, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>} : (tensor<1x40x4x4xf16>, tensor<48x20x1x1xf16>) -> tensor<1x48x4x4xf16>
  return %c, %d : tensor<1x40x4x4xf16>, tensor<1x48x4x4xf16>
}

// -----

// Heads are strides: nothing is transposed or copied around the products.
// CHECK-LABEL: func.func @main
// CHECK-NOT: kernel.copy
// CHECK: npu.matmul {{.*}} {{{.*}}transpose_rhs} : memref<1x4x6x8xf16, strided<[32, 8, 32, 1]>>, memref<1x4x6x8xf16, strided<[32, 8, 32, 1]>>, memref<1x4x6x6xf16>
// CHECK: npu.matmul {{.*}} : memref<1x4x6x6xf16>, memref<1x4x6x8xf16, strided<[32, 8, 32, 1]>>, memref<1x4x6x8xf16, strided<[32, 8, 32, 1]>>
// CHECK: npu.matmul {{.*}} {{{.*}}packed} : memref<1x1x6x32xf16>, memref<2x2x16x16xf16>, memref<32xf32>, memref<1x1x6x20xf16>
// CHECK-NOT: kernel.copy
func.func @main(%q: tensor<1x6x32xf16>, %k: tensor<1x6x32xf16>, %v: tensor<1x6x32xf16>) -> tensor<1x6x20xf16> {
  %q4 = graph.reshape %q : (tensor<1x6x32xf16>) -> tensor<1x6x4x8xf16>
  %k4 = graph.reshape %k : (tensor<1x6x32xf16>) -> tensor<1x6x4x8xf16>
  %v4 = graph.reshape %v : (tensor<1x6x32xf16>) -> tensor<1x6x4x8xf16>
  %qt = graph.transpose %q4 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<1x6x4x8xf16>) -> tensor<1x4x6x8xf16>
  %kt = graph.transpose %k4 {permutation = array<i64: 0, 2, 3, 1>} : (tensor<1x6x4x8xf16>) -> tensor<1x4x8x6xf16>
  %vt = graph.transpose %v4 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<1x6x4x8xf16>) -> tensor<1x4x6x8xf16>
  %s = graph.matmul %qt, %kt : (tensor<1x4x6x8xf16>, tensor<1x4x8x6xf16>) -> tensor<1x4x6x6xf16>
  %o = graph.matmul %s, %vt : (tensor<1x4x6x6xf16>, tensor<1x4x6x8xf16>) -> tensor<1x4x6x8xf16>
  %ot = graph.transpose %o {permutation = array<i64: 0, 2, 1, 3>} : (tensor<1x4x6x8xf16>) -> tensor<1x6x4x8xf16>
  %o3 = graph.reshape %ot : (tensor<1x6x4x8xf16>) -> tensor<1x6x32xf16>
  %w = graph.constant dense<0.5> : tensor<20x32xf16>
  %b = graph.constant dense<1.0> : tensor<20xf32>
  %r = graph.fully_connected %o3, %w bias %b : (tensor<1x6x32xf16>, tensor<20x32xf16>, tensor<20xf32>) -> tensor<1x6x20xf16>
  return %r : tensor<1x6x20xf16>
}

// -----

// A product of what broadcasts, one of vectors' rank, one by a matrix for all.
// CHECK-LABEL: func.func @main
// CHECK: npu.matmul {{.*}} : memref<2x3x4x8xf16, strided<[32, 0, 8, 1]>>, memref<1x3x8x5xf16>, memref<2x3x4x5xf16>
// CHECK: npu.matmul {{.*}} : memref<1x1x24x5xf16>, memref<1x1x5x7xf16>, memref<1x1x24x7xf16>
func.func @main(%a: tensor<2x1x4x8xf16>, %b: tensor<3x8x5xf16>, %c: tensor<5x7xf16>) -> tensor<2x3x4x7xf16> {
  %p = graph.matmul %a, %b : (tensor<2x1x4x8xf16>, tensor<3x8x5xf16>) -> tensor<2x3x4x5xf16>
  %r = graph.matmul %p, %c : (tensor<2x3x4x5xf16>, tensor<5x7xf16>) -> tensor<2x3x4x7xf16>
  return %r : tensor<2x3x4x7xf16>
}

// -----

// A conversion that was made a map is looked through as well.
// CHECK-LABEL: func.func @main
// CHECK: npu.conv2d %arg0, {{.*}}image
// CHECK-SAME: memref<1x3x8x8xf32>
func.func @main(%arg0: tensor<1x3x8x8xf32>) -> tensor<1x16x8x8xf16> {
  %x = graph.map %arg0 : (tensor<1x3x8x8xf32>) -> tensor<1x3x8x8xf16> {
  ^bb0(%a: f32):
    %n = arith.truncf %a : f32 to f16
    graph.yield %n : f16
  }
  %w = graph.constant dense<0.5> : tensor<16x3x1x1xf16>
  %c = graph.conv %x, %w {dilations = array<i64: 1, 1>, groups = 1 : i64, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>} : (tensor<1x3x8x8xf16>, tensor<16x3x1x1xf16>) -> tensor<1x16x8x8xf16>
  return %c : tensor<1x16x8x8xf16>
}

// -----

// The cube reads rows without gaps: what a slice with steps left is copied.
// CHECK-LABEL: func.func @main
// CHECK: kernel.copy {{.*}}memref<1x2x8x4x16xf16, strided<[2048, 1024, 128, 32, 1]>>, memref<1x2x8x4x16xf16>
// CHECK: npu.conv2d {{.*}} : memref<1x2x8x4x16xf16>, memref<1x2x2x16x16xf16>
func.func @main(%arg0: tensor<1x32x8x8xf16>) -> tensor<1x32x8x4xf16> {
  %w = graph.constant dense<0.5> : tensor<32x32x1x1xf16>
  %c = graph.conv %arg0, %w {dilations = array<i64: 1, 1>, groups = 1 : i64, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>} : (tensor<1x32x8x8xf16>, tensor<32x32x1x1xf16>) -> tensor<1x32x8x8xf16>
  %s = graph.slice %c {sizes = array<i64: 1, 32, 8, 4>, starts = array<i64: 0, 0, 0, 0>, steps = array<i64: 1, 1, 1, 2>} : (tensor<1x32x8x8xf16>) -> tensor<1x32x8x4xf16>
  %d = graph.conv %s, %w {dilations = array<i64: 1, 1>, groups = 1 : i64, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>} : (tensor<1x32x8x4xf16>, tensor<32x32x1x1xf16>) -> tensor<1x32x8x4xf16>
  return %d : tensor<1x32x8x4xf16>
}

// -----

// A view of an image of bytes stays unsigned where a convolution loads the pixels.
// CHECK-LABEL: func.func @main(%arg0: memref<1x8x8x1xui8>
// CHECK: %[[IMAGE:.*]] = om.view %arg0[0] : memref<1x8x8x1xui8> to memref<1x1x8x8xui8>
// CHECK: npu.conv2d %[[IMAGE]], {{.*}}image
func.func @main(%arg0: tensor<1x8x8x1xui8>) -> tensor<1x16x8x8xf16> {
  %r = graph.reshape %arg0 : (tensor<1x8x8x1xui8>) -> tensor<1x1x8x8xui8>
  %x = graph.map %r : (tensor<1x1x8x8xui8>) -> tensor<1x1x8x8xf16> {
  ^bb0(%e: i8):
    %f = arith.uitofp %e : i8 to f16
    graph.yield %f : f16
  }
  %w = graph.constant dense<0.5> : tensor<16x1x3x3xf16>
  %c = graph.conv %x, %w {dilations = array<i64: 1, 1>, groups = 1 : i64, pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 1, 1>} : (tensor<1x1x8x8xf16>, tensor<16x1x3x3xf16>) -> tensor<1x16x8x8xf16>
  return %c : tensor<1x16x8x8xf16>
}

// -----

// Pixels whose channels are interleaved, as TensorFlow has them, are loaded as they are.
// CHECK-LABEL: func.func @main(%arg0: memref<1x8x8x3xf32>
// CHECK: %[[IMAGE:.*]] = om.view %arg0[0] : memref<1x8x8x3xf32> to memref<1x3x8x8xf32, strided<[3, 1, 24, 3]>>
// CHECK: npu.conv2d %[[IMAGE]], {{.*}}image
func.func @main(%arg0: tensor<1x8x8x3xf32>) -> tensor<1x16x8x8xf16> {
  %h = graph.cast %arg0 : (tensor<1x8x8x3xf32>) -> tensor<1x8x8x3xf16>
  %x = graph.transpose %h {permutation = array<i64: 0, 3, 1, 2>} : (tensor<1x8x8x3xf16>) -> tensor<1x3x8x8xf16>
  %w = graph.constant dense<0.5> : tensor<16x3x3x3xf16>
  %c = graph.conv %x, %w {dilations = array<i64: 1, 1>, groups = 1 : i64, pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 1, 1>} : (tensor<1x3x8x8xf16>, tensor<16x3x3x3xf16>) -> tensor<1x16x8x8xf16>
  return %c : tensor<1x16x8x8xf16>
}

// -----

// Pixels of which a slice leaves out channels have gaps between them: rows are copied.
// CHECK-LABEL: func.func @main(%arg0: memref<1x8x8x4xf16>
// CHECK: %[[ONE:.*]] = om.view %arg0[0] : memref<1x8x8x4xf16> to memref<1x1x8x8xf16, strided<[256, 256, 32, 4]>>
// CHECK: kernel.copy %[[ONE]], %[[ROWS:[0-9]+]] :
// CHECK: npu.conv2d %[[ROWS]], {{.*}}image{{.*}} : memref<1x1x8x8xf16>
// CHECK: %[[THREE:.*]] = om.view %arg0[0] : memref<1x8x8x4xf16> to memref<1x3x8x8xf16, strided<[3, 1, 32, 4]>>
// CHECK: kernel.copy %[[THREE]], %[[PLANES:[0-9]+]] : memref
// CHECK: npu.conv2d %[[PLANES]], {{.*}}image{{.*}} : memref<1x3x8x8xf16>
func.func @main(%arg0: tensor<1x8x8x4xf16>) -> (tensor<1x16x8x8xf16>, tensor<1x16x8x8xf16>) {
  %one = graph.slice %arg0 {sizes = array<i64: 1, 8, 8, 1>, starts = array<i64: 0, 0, 0, 0>, steps = array<i64: 1, 1, 1, 1>} : (tensor<1x8x8x4xf16>) -> tensor<1x8x8x1xf16>
  %x = graph.reshape %one : (tensor<1x8x8x1xf16>) -> tensor<1x1x8x8xf16>
  %w = graph.constant dense<0.5> : tensor<16x1x3x3xf16>
  %c = graph.conv %x, %w {dilations = array<i64: 1, 1>, groups = 1 : i64, pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 1, 1>} : (tensor<1x1x8x8xf16>, tensor<16x1x3x3xf16>) -> tensor<1x16x8x8xf16>
  %three = graph.slice %arg0 {sizes = array<i64: 1, 8, 8, 3>, starts = array<i64: 0, 0, 0, 0>, steps = array<i64: 1, 1, 1, 1>} : (tensor<1x8x8x4xf16>) -> tensor<1x8x8x3xf16>
  %y = graph.transpose %three {permutation = array<i64: 0, 3, 1, 2>} : (tensor<1x8x8x3xf16>) -> tensor<1x3x8x8xf16>
  %v = graph.constant dense<0.5> : tensor<16x3x3x3xf16>
  %d = graph.conv %y, %v {dilations = array<i64: 1, 1>, groups = 1 : i64, pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 1, 1>} : (tensor<1x3x8x8xf16>, tensor<16x3x3x3xf16>) -> tensor<1x16x8x8xf16>
  return %c, %d : tensor<1x16x8x8xf16>, tensor<1x16x8x8xf16>
}

// -----

// A depthwise convolution of bytes has a group for each block of 32 channels, in two columns of 16.
// Its groups of 24 channels meet inside of blocks: they are one group of blocks, with zeros.
// CHECK-LABEL: func.func @main
// CHECK: npu.conv2d {{.*}} scales {{.*}} {block_groups = 2 : i64
// CHECK-SAME: memref<1x2x4x4x32xi8>, memref<2x9x2x16x32xi8>, memref<64xi32>, memref<64xf32>, memref<1x2x4x4x32xi8>
// CHECK: npu.conv2d {{.*}} scales {{.*}} {dilations
// CHECK-SAME: memref<1x2x4x4x32xi8>, memref<1x2x4x16x32xi8>, memref<64xi32>, memref<64xf32>, memref<1x2x4x4x32xi8>
func.func @main(%x: tensor<1x48x4x4xui8>) -> tensor<1x48x4x4xui8> {
  %w = graph.constant dense<2> : tensor<48x1x3x3xi8>
  %0 = graph.integer_conv %x, %w {npu.sums = "blocks", dilations = array<i64: 1, 1>, filter_zero_points = array<i64>, groups = 48 : i64, pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 1, 1>, zero_point = 3 : i64} : (tensor<1x48x4x4xui8>, tensor<48x1x3x3xi8>) -> tensor<1x48x4x4xui8> {
  ^bb0(%sum: i32):
    %zero = arith.constant 0.0 : f32
    %most = arith.constant 255.0 : f32
    %scale = arith.constant 0.25 : f32
    %1 = arith.sitofp %sum : i32 to f32
    %2 = arith.mulf %1, %scale : f32
    %3 = math.roundeven %2 : f32
    %4 = arith.maximumf %3, %zero : f32
    %5 = arith.minimumf %4, %most : f32
    %6 = arith.fptoui %5 : f32 to i8
    graph.yield %6 : i8
  }
  %v = graph.constant dense<3> : tensor<48x24x1x1xi8>
  %1 = graph.integer_conv %0, %v {npu.sums = "blocks", dilations = array<i64: 1, 1>, filter_zero_points = array<i64>, groups = 2 : i64, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>, zero_point = 0 : i64} : (tensor<1x48x4x4xui8>, tensor<48x24x1x1xi8>) -> tensor<1x48x4x4xui8> {
  ^bb0(%sum: i32):
    %zero = arith.constant 0.0 : f32
    %most = arith.constant 255.0 : f32
    %scale = arith.constant 0.25 : f32
    %2 = arith.sitofp %sum : i32 to f32
    %3 = arith.mulf %2, %scale : f32
    %4 = math.roundeven %3 : f32
    %5 = arith.maximumf %4, %zero : f32
    %6 = arith.minimumf %5, %most : f32
    %7 = arith.fptoui %6 : f32 to i8
    graph.yield %7 : i8
  }
  return %1 : tensor<1x48x4x4xui8>
}
