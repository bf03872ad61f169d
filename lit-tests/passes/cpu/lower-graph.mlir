// RUN: atc-opt %s -split-input-file --kernel-assign-layout --kernel-assign-halo --cpu-lower-graph | FileCheck %s

// The whole of a small network: buffers with halos that are zeroed once, padded
// views, packed weights, results as arguments with names.

// CHECK-LABEL: func.func @main
// CHECK-SAME: (%[[X:.*]]: memref<1x3x8x8xf32> {om.name = "x"}, %[[Y:.*]]: memref<1x10xf32> {om.name = "scores", om.output})
func.func @main(%x: tensor<1x3x8x8xf32> {om.name = "x"}) -> (tensor<1x10xf32> {om.name = "scores"}) {
  %w0 = graph.constant dense<0.5> : tensor<32x3x3x3xf32>
  %b0 = graph.constant dense<0.5> : tensor<32xf32>
  %w1 = graph.constant dense<0.5> : tensor<32x1x3x3xf32>
  %w2 = graph.constant dense<0.5> : tensor<10x32xf32>
  %b2 = graph.constant dense<0.5> : tensor<10xf32>
  // CHECK: %[[IN:.*]] = om.alloc : memref<1x1x9x9x3xf32>
  // CHECK: kernel.fill %[[IN]] {border = array<i64: 1, 1, 0, 0>, value = 0.000000e+00 : f64}
  // CHECK: %[[INSIDE:.*]] = om.view %[[IN]][120] {{.*}} to memref<1x1x8x8x3xf32, strided<[216, 216, 27, 3, 1]>>
  // CHECK: kernel.pack %[[X]], %[[INSIDE]]
  // CHECK: %[[BIAS:.*]] = om.weight dense<5.000000e-01> : tensor<32xf32>
  // CHECK: %[[FILTER:.*]] = om.weight dense_resource<{{.*}}> : tensor<2x1x3x3x3x16xf32>
  // CHECK: %[[CONV:.*]] = om.alloc : memref<1x2x6x6x16xf32>
  // CHECK: kernel.fill %[[CONV]] {border = array<i64: 1, 1, 1, 1>
  // CHECK: %[[PLANE:.*]] = om.view %[[CONV]][448] {{.*}} to memref<1x2x4x4x16xf32, strided<[1152, 576, 96, 16, 1]>>
  // CHECK: cpu.conv2d %[[IN]], %[[FILTER]] bias %[[BIAS]] outs %[[PLANE]] {channels = 3 : i64, dilations = array<i64: 1, 1>, groups = 1 : i64, image = array<i64: 1, 1, 8, 8>, om.tensor = tensor<1x32x4x4xf32, #graph.layout<block = 16, halo = [1, 1, 1, 1]>>, strides = array<i64: 2, 2>}
  %0 = graph.conv %x, %w0 bias %b0 {strides = array<i64: 2, 2>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x3x8x8xf32>, tensor<32x3x3x3xf32>, tensor<32xf32>) -> tensor<1x32x4x4xf32>
  // CHECK: om.weight dense_resource<{{.*}}> : tensor<2x3x3x16xf32>
  // CHECK: cpu.depthwise_conv2d %[[CONV]], %{{.*}} residual %[[PLANE]] outs %[[DEPTHWISE:.*]] {activation = #graph.activation<relu>
  %1 = graph.conv %0, %w1 residual %0 {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 32 : i64, activation = #graph.activation<relu>} : (tensor<1x32x4x4xf32>, tensor<32x1x3x3xf32>, tensor<1x32x4x4xf32>) -> tensor<1x32x4x4xf32>
  // CHECK: kernel.reduce %[[DEPTHWISE]], %[[MEAN:.*]] {axes = array<i64: 2, 3>, kind = #graph<reduce_kind mean>
  // CHECK: %[[ROW:.*]] = om.view %[[MEAN]][0] : memref<1x2x1x1x16xf32> to memref<1x1x32xf32>
  %2 = graph.reduce %1 {kind = #graph<reduce_kind mean>, axes = array<i64: 2, 3>, keepdims = false} : (tensor<1x32x4x4xf32>) -> tensor<1x32xf32>
  // CHECK: om.weight dense_resource<{{.*}}> : tensor<1x32x16xf32>
  // CHECK: %[[OUT:.*]] = om.view %[[Y]][0] : memref<1x10xf32> to memref<1x1x10xf32>
  // CHECK: cpu.matmul %[[ROW]], %{{.*}} bias %{{.*}} outs %[[OUT]] {activation = #graph.activation<relu>, om.tensor = tensor<1x10xf32>, packed}
  // CHECK-SAME: memref<1x32x16xf32>, memref<16xf32>, memref<1x1x10xf32>
  %3 = graph.fully_connected %2, %w2 bias %b2 {activation = #graph.activation<relu>} : (tensor<1x32xf32>, tensor<10x32xf32>, tensor<10xf32>) -> tensor<1x10xf32>
  return %3 : tensor<1x10xf32>
}

// -----

// One halo serves windows of different size: each reads its own part of it.

// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<1x16x8x8xf32>) -> (tensor<1x16x8x8xf32>, tensor<1x16x8x8xf32>) {
  %w3 = graph.constant dense<0.5> : tensor<16x16x3x3xf32>
  %w5 = graph.constant dense<0.5> : tensor<16x16x5x5xf32>
  // CHECK: %[[X:.*]] = om.alloc : memref<1x1x12x12x16xf32>
  // CHECK: %[[SMALL:.*]] = om.view %[[X]][832] {{.*}} to memref<1x1x10x10x16xf32, strided<[1920, 1920, 192, 16, 1]>>
  // CHECK: cpu.conv2d %[[SMALL]]
  // CHECK: cpu.conv2d %[[X]]
  %0 = graph.conv %x, %w3 {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x16x8x8xf32>, tensor<16x16x3x3xf32>) -> tensor<1x16x8x8xf32>
  %1 = graph.conv %x, %w5 {strides = array<i64: 1, 1>, pads = array<i64: 2, 2, 2, 2>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x16x8x8xf32>, tensor<16x16x5x5xf32>) -> tensor<1x16x8x8xf32>
  return %0, %1 : tensor<1x16x8x8xf32>, tensor<1x16x8x8xf32>
}

// -----

// Groups of whole blocks stay groups; smaller ones are merged until they fill
// blocks.

// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<1x64x4x4xf32>) -> (tensor<1x64x4x4xf32>, tensor<1x64x4x4xf32>, tensor<1x24x4x4xf32>) {
  %w2 = graph.constant dense<0.5> : tensor<64x32x1x1xf32>
  %w16 = graph.constant dense<0.5> : tensor<64x4x1x1xf32>
  %w8 = graph.constant dense<0.5> : tensor<24x8x1x1xf32>
  // CHECK: cpu.conv2d {{.*}} {channels = 32 : i64, {{.*}}groups = 2 : i64{{.*}} memref<4x2x1x1x16x16xf32>
  %0 = graph.conv %x, %w2 {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 2 : i64} : (tensor<1x64x4x4xf32>, tensor<64x32x1x1xf32>) -> tensor<1x64x4x4xf32>
  // CHECK: cpu.conv2d {{.*}} {channels = 16 : i64, {{.*}}groups = 4 : i64{{.*}} memref<4x1x1x1x16x16xf32>
  %1 = graph.conv %x, %w16 {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 16 : i64} : (tensor<1x64x4x4xf32>, tensor<64x4x1x1xf32>) -> tensor<1x64x4x4xf32>
  // CHECK: cpu.conv2d {{.*}} {channels = 64 : i64, {{.*}}groups = 1 : i64{{.*}} memref<2x4x1x1x16x16xf32>
  %2 = graph.conv %x, %w8 {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 8 : i64} : (tensor<1x64x4x4xf32>, tensor<24x8x1x1xf32>) -> tensor<1x24x4x4xf32>
  return %0, %1, %2 : tensor<1x64x4x4xf32>, tensor<1x64x4x4xf32>, tensor<1x24x4x4xf32>
}

// -----

// Pools clip at the edge of the image: no halo, pads as they are.

// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<1x16x8x8xf32>) -> (tensor<1x16x4x4xf32>, tensor<1x16x4x4xf32>) {
  // CHECK-NOT: kernel.fill
  // CHECK: kernel.pool {{.*}} {dilations = array<i64: 1, 1>, kernel = array<i64: 3, 3>, kind = #kernel<pool_kind max>, {{.*}}pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 2, 2>}
  %0 = graph.max_pool %x {kernel = array<i64: 3, 3>, strides = array<i64: 2, 2>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>} : (tensor<1x16x8x8xf32>) -> tensor<1x16x4x4xf32>
  // CHECK: kernel.pool {{.*}} {count_include_pad, {{.*}}kind = #kernel<pool_kind average>
  %1 = graph.average_pool %x {kernel = array<i64: 3, 3>, strides = array<i64: 2, 2>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, count_include_pad = true} : (tensor<1x16x8x8xf32>) -> tensor<1x16x4x4xf32>
  return %0, %1 : tensor<1x16x4x4xf32>, tensor<1x16x4x4xf32>
}

// -----

// Products of two tensors: equal batches are collapsed, one matrix takes all
// rows at once, a batch that broadcasts in one dim only is written out.

// CHECK-LABEL: func.func @main
// CHECK-SAME: (%[[A:[^:]*]]: memref<2x3x4x5xf32>{{.*}}, %[[B:[^:]*]]: memref<2x3x5x7xf32>{{.*}}, %[[C:[^:]*]]: memref<5x7xf32>{{.*}}, %[[D:[^:]*]]: memref<2x1x5x7xf32>
func.func @main(%a: tensor<2x3x4x5xf32>, %b: tensor<2x3x5x7xf32>, %c: tensor<5x7xf32>, %d: tensor<2x1x5x7xf32>) -> (tensor<2x3x4x7xf32>, tensor<2x3x4x7xf32>, tensor<2x3x4x7xf32>, tensor<2x3x4x7xf32>) {
  // CHECK: cpu.matmul {{.*}} : memref<6x4x5xf32>, memref<6x5x7xf32>, memref<6x4x7xf32>
  %0 = graph.matmul %a, %b : (tensor<2x3x4x5xf32>, tensor<2x3x5x7xf32>) -> tensor<2x3x4x7xf32>
  // CHECK: cpu.matmul {{.*}} : memref<1x24x5xf32>, memref<1x5x7xf32>, memref<1x24x7xf32>
  %1 = graph.matmul %a, %c : (tensor<2x3x4x5xf32>, tensor<5x7xf32>) -> tensor<2x3x4x7xf32>
  // CHECK: %[[MANY:.*]] = om.view %[[D]][0] {{.*}} to memref<2x3x5x7xf32, strided<[35, 0, 7, 1]>>
  // CHECK: kernel.copy %[[MANY]]
  // CHECK: cpu.matmul {{.*}} : memref<6x4x5xf32>, memref<6x5x7xf32>, memref<6x4x7xf32>
  %2 = graph.matmul %a, %d : (tensor<2x3x4x5xf32>, tensor<2x1x5x7xf32>) -> tensor<2x3x4x7xf32>
  // A constant matrix is packed.
  // CHECK: cpu.matmul {{.*}}packed} : memref<1x24x5xf32>, memref<1x5x16xf32>, memref<1x24x7xf32>
  %w = graph.constant dense<1.0> : tensor<1x5x7xf32>
  %3 = graph.matmul %a, %w : (tensor<2x3x4x5xf32>, tensor<1x5x7xf32>) -> tensor<2x3x4x7xf32>
  return %0, %1, %2, %3 : tensor<2x3x4x7xf32>, tensor<2x3x4x7xf32>, tensor<2x3x4x7xf32>, tensor<2x3x4x7xf32>
}
