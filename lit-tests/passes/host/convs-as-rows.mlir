// RUN: atc-opt %s -split-input-file -pass-pipeline='builtin.module(func.func(host-convs-as-rows))' | FileCheck %s
// RUN: atc-opt %s -split-input-file -pass-pipeline='builtin.module(func.func(host-convs-as-rows),host-tile-rows{sizes=8})' | FileCheck %s --check-prefix=TILES

// Nine taps of a padded image, of every second pixel, become patches; bias and activation follow the
// product, and the sum of two such images has its channels last as well. Other readers get the
// channels first.
// CHECK-LABEL: func.func @main
// CHECK: %[[L:.*]] = graph.host_call "Transpose"(%arg0) {perm = array<i64: 0, 2, 3, 1>} : (tensor<1x16x?x?xf32>) -> tensor<?x?x?x16xf32>
// CHECK: %[[PADS:.*]] = graph.constant dense<[0, 1, 1, 0, 0, 1, 1, 0]> : tensor<8xi64>
// CHECK: %[[P:.*]] = graph.host_call "Pad"(%[[L]], %[[PADS]])
// CHECK: %[[AXES:.*]] = graph.constant dense<[1, 2]>
// CHECK: %[[STEPS:.*]] = graph.constant dense<2> : tensor<2xi64>
// CHECK: %[[S0:.*]] = graph.constant dense<0> : tensor<2xi64>
// CHECK: %[[E0:.*]] = graph.constant dense<-2> : tensor<2xi64>
// CHECK: %[[T0:.*]] = graph.host_call "Slice"(%[[P]], %[[S0]], %[[E0]], %[[AXES]], %[[STEPS]])
// CHECK: graph.constant dense<[0, 1]>
// CHECK: graph.constant dense<[-2, -1]>
// CHECK-COUNT-7: graph.host_call "Slice"
// CHECK: graph.constant dense<2> : tensor<2xi64>
// CHECK: graph.constant dense<9223372036854775807> : tensor<2xi64>
// CHECK: graph.host_call "Slice"
// CHECK: %[[C:.*]] = graph.host_call "Concat"(%[[T0]], {{.*}}) {axis = array<i64: 3>} : {{.*}} -> tensor<?x?x?x144xf32>
// CHECK: %[[M:.*]] = graph.host_call "MatMul"(%[[C]], %{{.*}}) {} : (tensor<?x?x?x144xf32>, tensor<144x32xf32>) -> tensor<?x?x?x32xf32>
// CHECK: %[[B:.*]] = graph.host_call "Add"(%[[M]], %{{.*}}) {}
// CHECK-NOT: "Transpose"
// CHECK: %[[R:.*]] = graph.host_call "LeakyRelu"(%[[B]]) {alpha = array<f64: 1.000000e-01>} : (tensor<?x?x?x32xf32>) -> tensor<?x?x?x32xf32>
// CHECK-NOT: "Transpose"
// CHECK: %[[S:.*]] = graph.host_call "Mul"(%[[R]], %[[B]])
// CHECK: %[[F:.*]] = graph.host_call "Transpose"(%[[S]]) {perm = array<i64: 0, 3, 1, 2>} : (tensor<?x?x?x32xf32>) -> tensor<1x32x?x?xf32>
// CHECK: graph.host_call "GlobalAveragePool"(%[[F]])
// TILES: call @rows_0
// TILES: graph.host_call "Transpose"
// TILES: func.func private @rows_0_8(%[[X:.*]]: tensor<8x144xf32>) -> tensor<8x32xf32>
// TILES: graph.matmul %[[X]]
// TILES: graph.add
// TILES: graph.leaky_relu
// TILES: graph.mul
func.func @main(%x: tensor<1x16x?x?xf32>) -> tensor<1x32x1x1xf32> {
  %w = graph.constant dense<1.0> : tensor<32x16x3x3xf32>
  %b = graph.constant dense<1.0> : tensor<32xf32>
  %c = graph.host_call "Conv"(%x, %w, %b) {pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 2, 2>} : (tensor<1x16x?x?xf32>, tensor<32x16x3x3xf32>, tensor<32xf32>) -> tensor<1x32x?x?xf32>
  %r = graph.host_call "LeakyRelu"(%c) {alpha = array<f64: 0.1>} : (tensor<1x32x?x?xf32>) -> tensor<1x32x?x?xf32>
  %s = graph.host_call "Mul"(%r, %c) {} : (tensor<1x32x?x?xf32>, tensor<1x32x?x?xf32>) -> tensor<1x32x?x?xf32>
  %y = graph.host_call "GlobalAveragePool"(%s) {} : (tensor<1x32x?x?xf32>) -> tensor<1x32x1x1xf32>
  return %y : tensor<1x32x1x1xf32>
}

// -----

// A window of one pixel is a product of the pixels, and the next one reads them where they are.
// CHECK-LABEL: func.func @main
// CHECK: "Transpose"
// CHECK-NOT: "Slice"
// CHECK: graph.host_call "MatMul"
// CHECK-NOT: "Transpose"
// CHECK: graph.host_call "Clip"
// CHECK-NOT: "Transpose"
// CHECK: %[[M:.*]] = graph.host_call "MatMul"
// CHECK-NEXT: graph.host_call "Transpose"(%[[M]])
// TILES: graph.clip
func.func @main(%x: tensor<?x64x?x?xf32>) -> tensor<?x64x?x?xf32> {
  %w = graph.constant dense<1.0> : tensor<64x64x1x1xf32>
  %six = graph.constant dense<6.0> : tensor<f32>
  %zero = graph.constant dense<0.0> : tensor<f32>
  %c = graph.host_call "Conv"(%x, %w) {} : (tensor<?x64x?x?xf32>, tensor<64x64x1x1xf32>) -> tensor<?x64x?x?xf32>
  %r = graph.host_call "Clip"(%c, %zero, %six) {} : (tensor<?x64x?x?xf32>, tensor<f32>, tensor<f32>) -> tensor<?x64x?x?xf32>
  %y = graph.host_call "Conv"(%r, %w) {kernel_shape = array<i64: 1, 1>} : (tensor<?x64x?x?xf32>, tensor<64x64x1x1xf32>) -> tensor<?x64x?x?xf32>
  return %y : tensor<?x64x?x?xf32>
}

// -----

// The matrix of a filter of two groups has zeros between their channels. As the window is larger than
// a pixel with its pads, patches get the dims of a pool that fails for smaller images.
// CHECK-LABEL: func.func @main
// CHECK: %[[CONCAT:.*]] = graph.host_call "Concat"({{.*}}) {axis = array<i64: 3>} : {{.*}} -> tensor<?x?x?x16xf32>
// CHECK: %[[ONE:.*]] = graph.host_call "Slice"(%arg0, {{.*}}) {} : {{.*}} -> tensor<?x1x?x?xf32>
// CHECK: %[[POOL:.*]] = graph.host_call "MaxPool"(%[[ONE]]) {dilations = array<i64: 2, 1>, kernel_shape = array<i64: 2, 1>, pads = array<i64: 0, 0, 1, 0>, strides = array<i64: 1, 1>}
// CHECK: graph.host_call "Shape"(%[[POOL]])
// CHECK: %[[DIMS:.*]] = graph.host_call "Concat"({{.*}}) {axis = array<i64: 0>} : {{.*}} -> tensor<4xi64>
// CHECK: %[[PATCHES:.*]] = graph.host_call "Reshape"(%[[CONCAT]], %[[DIMS]])
// CHECK: graph.host_call "MatMul"(%[[PATCHES]], {{.*}}tensor<16x256xf32>
func.func @main(%x: tensor<?x4x?x?xf32>) -> tensor<?x256x?x?xf32> {
  %w = graph.constant dense<1.0> : tensor<256x2x2x2xf32>
  %y = graph.host_call "Conv"(%x, %w) {dilations = array<i64: 2, 1>, group = array<i64: 2>, pads = array<i64: 0, 0, 1, 1>} : (tensor<?x4x?x?xf32>, tensor<256x2x2x2xf32>) -> tensor<?x256x?x?xf32>
  return %y : tensor<?x256x?x?xf32>
}

// -----

// Where a window always fits, its pads may be larger than a pool's, and patches keep their size.
// CHECK-LABEL: func.func @main
// CHECK: %[[POOL:.*]] = graph.host_call "MaxPool"({{.*}}) {dilations = array<i64: 2, 1>, kernel_shape = array<i64: 3, 1>, pads = array<i64: 2, 0, 0, 0>, strides = array<i64: 3, 1>}
// CHECK: %[[SHAPE:.*]] = graph.host_call "Shape"(%[[POOL]])
// CHECK: %[[OWN:.*]] = graph.host_call "Shape"({{.*}}) {} : (tensor<?x?x?x180xf32>)
// CHECK: graph.host_call "Slice"(%[[SHAPE]],
// CHECK: graph.host_call "Slice"(%[[SHAPE]],
// CHECK: graph.host_call "Slice"(%[[OWN]],
// CHECK: graph.host_call "MatMul"
func.func @main(%x: tensor<2x20x?x?xf32>) -> tensor<2x32x?x?xf32> {
  %w = graph.constant dense<1.0> : tensor<32x20x3x3xf32>
  %y = graph.host_call "Conv"(%x, %w) {dilations = array<i64: 2, 1>, pads = array<i64: 2, 7, 0, 0>, strides = array<i64: 3, 3>} : (tensor<2x20x?x?xf32>, tensor<32x20x3x3xf32>) -> tensor<2x32x?x?xf32>
  return %y : tensor<2x32x?x?xf32>
}

// -----

// Small filters, those of many groups, filters that are computed and pads that depend on the size stay.
// CHECK-LABEL: func.func @main
// CHECK-COUNT-4: "Conv"
// CHECK-NOT: "MatMul"
func.func @main(%x: tensor<?x64x?x?xf32>, %z: tensor<?x1024x?x?xf32>, %f: tensor<64x64x1x1xf32>) -> (tensor<?x1024x?x?xf32>, tensor<?x63x?x?xf32>, tensor<?x64x?x?xf32>, tensor<?x64x?x?xf32>) {
  %g = graph.constant dense<1.0> : tensor<1024x1x3x3xf32>
  %s = graph.constant dense<1.0> : tensor<63x64x1x1xf32>
  %w = graph.constant dense<1.0> : tensor<64x64x3x3xf32>
  %0 = graph.host_call "Conv"(%z, %g) {group = array<i64: 1024>, pads = array<i64: 1, 1, 1, 1>} : (tensor<?x1024x?x?xf32>, tensor<1024x1x3x3xf32>) -> tensor<?x1024x?x?xf32>
  %1 = graph.host_call "Conv"(%x, %s) {} : (tensor<?x64x?x?xf32>, tensor<63x64x1x1xf32>) -> tensor<?x63x?x?xf32>
  %2 = graph.host_call "Conv"(%x, %f) {} : (tensor<?x64x?x?xf32>, tensor<64x64x1x1xf32>) -> tensor<?x64x?x?xf32>
  %3 = graph.host_call "Conv"(%x, %w) {auto_pad = "SAME_UPPER", strides = array<i64: 2, 2>} : (tensor<?x64x?x?xf32>, tensor<64x64x3x3xf32>) -> tensor<?x64x?x?xf32>
  return %0, %1, %2, %3 : tensor<?x1024x?x?xf32>, tensor<?x63x?x?xf32>, tensor<?x64x?x?xf32>, tensor<?x64x?x?xf32>
}
