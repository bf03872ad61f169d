// RUN: atc-opt %s -split-input-file --kernel-assign-layout --kernel-assign-halo --cpu-lower-graph | FileCheck %s

// Parts of a concat are computed where they belong; one that does not start a
// block is copied into its lanes, and only that one.

// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<1x32x4x4xf32>) -> tensor<1x16x4x4xf32> {
  %w0 = graph.constant dense<0.5> : tensor<16x32x1x1xf32>
  %w1 = graph.constant dense<0.5> : tensor<20x32x1x1xf32>
  %w2 = graph.constant dense<0.5> : tensor<24x32x1x1xf32>
  %w3 = graph.constant dense<0.5> : tensor<16x60x3x3xf32>
  // CHECK: %[[ALL:.*]] = om.alloc : memref<1x4x6x6x16xf32>
  // CHECK: kernel.fill %[[ALL]] {border = array<i64: 1, 1, 1, 1>
  // CHECK: %[[A:.*]] = om.view %[[ALL]][448] {{.*}} to memref<1x1x4x4x16xf32
  // CHECK: cpu.conv2d {{.*}} outs %[[A]]
  %a = graph.conv %x, %w0 {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x32x4x4xf32>, tensor<16x32x1x1xf32>) -> tensor<1x16x4x4xf32>
  // CHECK: %[[B:.*]] = om.view %[[ALL]][2752] {{.*}} to memref<1x2x4x4x16xf32, strided<[1152, 576, 96, 16, 1]>>
  // CHECK: cpu.conv2d {{.*}} outs %[[B]]
  %b = graph.conv %x, %w1 {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x32x4x4xf32>, tensor<20x32x1x1xf32>) -> tensor<1x20x4x4xf32>
  // CHECK: cpu.conv2d {{.*}} outs %[[C:.*]] {
  %c = graph.conv %x, %w2 {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x32x4x4xf32>, tensor<24x32x1x1xf32>) -> tensor<1x24x4x4xf32>
  // Channels 36..47 fill the block that %b began, 48..59 are in the next.
  // CHECK: %[[FROM0:.*]] = om.view %[[C]][0] {{.*}} to memref<1x1x4x4x12xf32
  // CHECK: %[[TO0:.*]] = om.view %[[ALL]][5072] {{.*}} to memref<1x1x4x4x12xf32
  // CHECK: kernel.copy %[[FROM0]], %[[TO0]]
  // CHECK: %[[FROM1:.*]] = om.view %[[C]][48] {{.*}} to memref<1x1x4x4x4xf32
  // CHECK: %[[TO1:.*]] = om.view %[[ALL]][7360] {{.*}} to memref<1x1x4x4x4xf32
  // CHECK: kernel.copy %[[FROM1]], %[[TO1]]
  // CHECK: %[[FROM2:.*]] = om.view %[[C]][1024] {{.*}} to memref<1x1x4x4x8xf32
  // CHECK: %[[TO2:.*]] = om.view %[[ALL]][7376] {{.*}} to memref<1x1x4x4x8xf32
  // CHECK: kernel.copy %[[FROM2]], %[[TO2]]
  // CHECK-NOT: kernel.copy
  %0 = graph.concat %a, %b, %c {axis = 1 : i64} : (tensor<1x16x4x4xf32>, tensor<1x20x4x4xf32>, tensor<1x24x4x4xf32>) -> tensor<1x60x4x4xf32>
  // CHECK: cpu.conv2d %[[ALL]]
  %1 = graph.conv %0, %w3 {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x60x4x4xf32>, tensor<16x60x3x3xf32>) -> tensor<1x16x4x4xf32>
  return %1 : tensor<1x16x4x4xf32>
}

// -----

// A value can be in one place only: the second concat copies it. Arguments are
// copied, too.

// CHECK-LABEL: func.func @main
// CHECK-SAME: (%[[X:[^:]*]]: memref<2x4xf32>{{.*}}, %[[Y:[^:]*]]: memref<2x8xf32>{{.*}}, %[[Z:[^:]*]]: memref<4x4xf32>
func.func @main(%x: tensor<2x4xf32>) -> (tensor<2x8xf32>, tensor<4x4xf32>) {
  // CHECK: %[[FIRST:.*]] = om.view %[[Z]][0]
  // CHECK: kernel.map %[[X]] outs %[[FIRST]]
  %0 = graph.exp %x : (tensor<2x4xf32>) -> tensor<2x4xf32>
  // CHECK: %[[LEFT:.*]] = om.view %[[Y]][0] {{.*}} strided<[8, 1]>
  // CHECK: kernel.copy %[[FIRST]], %[[LEFT]]
  // CHECK: %[[RIGHT:.*]] = om.view %[[Y]][16] {{.*}} strided<[8, 1]>
  // CHECK: kernel.copy %[[X]], %[[RIGHT]]
  %1 = graph.concat %0, %x {axis = 1 : i64} : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x8xf32>
  // CHECK: %[[LAST:.*]] = om.view %[[Z]][32]
  // CHECK: kernel.copy %[[X]], %[[LAST]]
  %2 = graph.concat %0, %x {axis = 0 : i64} : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<4x4xf32>
  return %1, %2 : tensor<2x8xf32>, tensor<4x4xf32>
}

// -----

// Reshapes and slices are views; through a reshape a value is computed in the
// buffer of the result.

// CHECK-LABEL: func.func @main
// CHECK-SAME: (%[[X:[^:]*]]: memref<2x6xf32>{{.*}}, %[[Y:[^:]*]]: memref<3x2xf32>
func.func @main(%x: tensor<2x6xf32>) -> tensor<3x2xf32> {
  // CHECK: %[[ROW:.*]] = om.view %[[X]][24] : memref<2x6xf32> to memref<1x3x2xf32>
  %0 = graph.slice %x {starts = array<i64: 1, 0>, sizes = array<i64: 1, 6>, steps = array<i64: 1, 1>} : (tensor<2x6xf32>) -> tensor<1x6xf32>
  %1 = graph.reshape %0 : (tensor<1x6xf32>) -> tensor<1x3x2xf32>
  // CHECK: %[[OUT:.*]] = om.view %[[Y]][0] : memref<3x2xf32> to memref<1x3x2xf32>
  // CHECK: kernel.map %[[ROW]] outs %[[OUT]]
  // CHECK: kernel.yield
  %2 = graph.exp %1 : (tensor<1x3x2xf32>) -> tensor<1x3x2xf32>
  %3 = graph.reshape %2 : (tensor<1x3x2xf32>) -> tensor<3x2xf32>
  // CHECK-NOT: cpu.
  // CHECK: return
  return %3 : tensor<3x2xf32>
}

// -----

// A slice in steps is a strided view, whose reshape is a copy.

// CHECK-LABEL: func.func @main
// CHECK-SAME: (%[[X:[^:]*]]: memref<4x6xf32>
func.func @main(%x: tensor<4x6xf32>) -> (tensor<2x3xf32>, tensor<6xf32>) {
  // CHECK: %[[STEPS:.*]] = om.view %[[X]][28] : memref<4x6xf32> to memref<2x3xf32, strided<[12, 2]>>
  %0 = graph.slice %x {starts = array<i64: 1, 1>, sizes = array<i64: 2, 3>, steps = array<i64: 2, 2>} : (tensor<4x6xf32>) -> tensor<2x3xf32>
  // CHECK: kernel.map %[[STEPS]]
  %1 = graph.exp %0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK: kernel.copy %[[STEPS]]
  %2 = graph.reshape %0 : (tensor<2x3xf32>) -> tensor<6xf32>
  return %1, %2 : tensor<2x3xf32>, tensor<6xf32>
}

// -----

// Slices of channels from the start of a block on are views; others are copied
// lane by lane.

// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<1x48x4x4xf32>) -> (tensor<1x32x4x4xf32>, tensor<1x8x4x4xf32>) {
  // CHECK: kernel.pool %{{.*}}, %[[ALL:.*]] {
  %0 = graph.max_pool %x {kernel = array<i64: 1, 1>, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x48x4x4xf32>) -> tensor<1x48x4x4xf32>
  %1 = graph.slice %0 {starts = array<i64: 0, 16, 0, 0>, sizes = array<i64: 1, 32, 4, 4>, steps = array<i64: 1, 1, 1, 1>} : (tensor<1x48x4x4xf32>) -> tensor<1x32x4x4xf32>
  // CHECK: %[[PART:.*]] = om.view %[[ALL]][1024] {{.*}} to memref<1x2x4x4x16xf32
  // CHECK: kernel.pool %[[PART]]
  %2 = graph.max_pool %1 {kernel = array<i64: 1, 1>, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x32x4x4xf32>) -> tensor<1x32x4x4xf32>
  // CHECK: %[[LANES:.*]] = om.view %[[ALL]][16] {{.*}} to memref<1x1x4x4x8xf32
  // CHECK: kernel.copy %[[LANES]]
  %3 = graph.slice %0 {starts = array<i64: 0, 4, 0, 0>, sizes = array<i64: 1, 8, 4, 4>, steps = array<i64: 1, 1, 1, 1>} : (tensor<1x48x4x4xf32>) -> tensor<1x8x4x4xf32>
  %4 = graph.max_pool %3 {kernel = array<i64: 1, 1>, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>
  return %2, %4 : tensor<1x32x4x4xf32>, tensor<1x8x4x4xf32>
}

// -----

// One channel or one pixel is the same memory in blocks and plain.

// CHECK-LABEL: func.func @main
// CHECK-SAME: (%[[X:[^:]*]]: memref<1x1x8x8xf32>{{.*}}, %[[S:[^:]*]]: memref<1x32xf32>
func.func @main(%x: tensor<1x1x8x8xf32>, %s: tensor<1x32xf32>) -> tensor<1x32x8x8xf32> {
  %w = graph.constant dense<0.5> : tensor<32x1x1x1xf32>
  // CHECK-NOT: kernel.pack
  // CHECK: %[[IMAGE:.*]] = om.view %[[X]][0] : memref<1x1x8x8xf32> to memref<1x1x8x8x1xf32>
  // CHECK: cpu.conv2d %[[IMAGE]]
  %0 = graph.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x1x8x8xf32>, tensor<32x1x1x1xf32>) -> tensor<1x32x8x8xf32>
  // CHECK: %[[SCALE:.*]] = om.view %[[S]][0] : memref<1x32xf32> to memref<1x2x1x1x16xf32>
  // CHECK: kernel.map %{{.*}}, %[[SCALE]]
  %1 = graph.reshape %s : (tensor<1x32xf32>) -> tensor<1x32x1x1xf32>
  %2 = graph.mul %0, %1 : (tensor<1x32x8x8xf32>, tensor<1x32x1x1xf32>) -> tensor<1x32x8x8xf32>
  // CHECK: kernel.unpack
  return %2 : tensor<1x32x8x8xf32>
}

// -----

// Results that are arguments, constants, views or other results are copied.

// CHECK-LABEL: func.func @main
// CHECK-SAME: (%[[X:[^:]*]]: memref<2x3xui8>{{.*}}, %[[A:[^:]*]]: memref<2x3xui8>{{.*}}, %[[B:[^:]*]]: memref<f32>{{.*}}, %[[C:[^:]*]]: memref<2x3xf32>{{.*}}, %[[D:[^:]*]]: memref<2x3xf32>
func.func @main(%x: tensor<2x3xui8>) -> (tensor<2x3xui8>, tensor<f32>, tensor<2x3xf32>, tensor<2x3xf32>) {
  %c = graph.constant dense<1.0> : tensor<f32>
  // CHECK: %[[BYTES:.*]] = om.view %[[X]][0] : memref<2x3xui8> to memref<2x3xi8>
  // CHECK: kernel.map %[[BYTES]] outs %[[C]]
  %0 = graph.cast %x : (tensor<2x3xui8>) -> tensor<2x3xf32>
  // CHECK: %[[TO:.*]] = om.view %[[A]][0] : memref<2x3xui8> to memref<2x3xi8>
  // CHECK: kernel.copy %[[BYTES]], %[[TO]]
  // CHECK: %[[ONE:.*]] = om.view %[[B]][0] : memref<f32> to memref<1xf32>
  // CHECK: kernel.copy %{{.*}}, %[[ONE]]
  // CHECK: kernel.copy %[[C]], %[[D]]
  return %x, %c, %0, %0 : tensor<2x3xui8>, tensor<f32>, tensor<2x3xf32>, tensor<2x3xf32>
}

// -----

// A tensor that is taken apart, changed in parts and put together again is
// changed in place.

// CHECK-LABEL: func.func @main
// CHECK-SAME: (%[[X:[^:]*]]: memref<2x5xf32>{{.*}}, %[[Y:[^:]*]]: memref<2x5xf32>
func.func @main(%x: tensor<2x5xf32>) -> tensor<2x5xf32> {
  // CHECK: kernel.map %[[X]] outs %[[Y]]
  %0 = graph.exp %x : (tensor<2x5xf32>) -> tensor<2x5xf32>
  %1 = graph.slice %0 {starts = array<i64: 0, 0>, sizes = array<i64: 2, 2>, steps = array<i64: 1, 1>} : (tensor<2x5xf32>) -> tensor<2x2xf32>
  %2 = graph.slice %0 {starts = array<i64: 0, 2>, sizes = array<i64: 2, 3>, steps = array<i64: 1, 1>} : (tensor<2x5xf32>) -> tensor<2x3xf32>
  // CHECK: %[[PART:.*]] = om.view %[[Y]][0] : memref<2x5xf32> to memref<2x2xf32, strided<[5, 1]>>
  // CHECK: kernel.map %[[PART]] outs %[[PART]]
  // CHECK-NOT: kernel.copy
  // CHECK: return
  %3 = graph.neg %1 : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %4 = graph.concat %3, %2 {axis = 1 : i64} : (tensor<2x2xf32>, tensor<2x3xf32>) -> tensor<2x5xf32>
  return %4 : tensor<2x5xf32>
}

// -----

// Not so when parts change places or the tensor is read elsewhere, too.

// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<2x4xf32>) -> (tensor<2x4xf32>, tensor<2x4xf32>) {
  // CHECK: kernel.map %{{.*}} outs %[[A:[^ ]*]] {
  %0 = graph.exp %x : (tensor<2x4xf32>) -> tensor<2x4xf32>
  // CHECK: om.view %[[A]][8]
  // CHECK: kernel.map
  // CHECK: kernel.copy
  %1 = graph.slice %0 {starts = array<i64: 0, 0>, sizes = array<i64: 2, 2>, steps = array<i64: 1, 1>} : (tensor<2x4xf32>) -> tensor<2x2xf32>
  %2 = graph.slice %0 {starts = array<i64: 0, 2>, sizes = array<i64: 2, 2>, steps = array<i64: 1, 1>} : (tensor<2x4xf32>) -> tensor<2x2xf32>
  %3 = graph.neg %2 : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %4 = graph.concat %3, %1 {axis = 1 : i64} : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x4xf32>
  // CHECK: kernel.map %{{.*}} outs %[[B:[^ ]*]] {
  %5 = graph.sqrt %x : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %6 = graph.slice %5 {starts = array<i64: 0, 0>, sizes = array<i64: 2, 2>, steps = array<i64: 1, 1>} : (tensor<2x4xf32>) -> tensor<2x2xf32>
  %7 = graph.slice %5 {starts = array<i64: 0, 2>, sizes = array<i64: 2, 2>, steps = array<i64: 1, 1>} : (tensor<2x4xf32>) -> tensor<2x2xf32>
  // CHECK: kernel.map
  // CHECK: kernel.copy
  // CHECK: kernel.map
  %8 = graph.neg %6 : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %9 = graph.concat %8, %7 {axis = 1 : i64} : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x4xf32>
  %10 = graph.add %5, %9 : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  return %4, %10 : tensor<2x4xf32>, tensor<2x4xf32>
}
