// RUN: atc-opt %s -split-input-file --kernel-assign-layout --kernel-assign-halo --cpu-lower-graph | FileCheck %s

// Moving data is one copy between two views.

// CHECK-LABEL: func.func @main
// CHECK-SAME: (%[[X:[^:]*]]: memref<2x3x4xf32>
func.func @main(%x: tensor<2x3x4xf32>, %r: tensor<3x1xf32>) -> (tensor<4x2x3xf32>, tensor<2x3x4xf32>, tensor<2x9x4xf32>) {
  // CHECK: %[[T:.*]] = om.view %[[X]][0] : memref<2x3x4xf32> to memref<4x2x3xf32, strided<[1, 12, 4]>>
  // CHECK: kernel.copy %[[T]]
  %0 = graph.transpose %x {permutation = array<i64: 2, 0, 1>} : (tensor<2x3x4xf32>) -> tensor<4x2x3xf32>
  // CHECK: %[[E:.*]] = om.view %{{.*}}[0] : memref<3x1xf32> to memref<2x3x4xf32, strided<[0, 1, 0]>>
  // CHECK: kernel.copy %[[E]]
  %1 = graph.expand %r : (tensor<3x1xf32>) -> tensor<2x3x4xf32>
  // CHECK: %[[TILE:.*]] = om.view %[[X]][0] : memref<2x3x4xf32> to memref<2x3x3x4xf32, strided<[12, 0, 4, 1]>>
  // CHECK: %[[TO:.*]] = om.view %{{.*}}[0] : memref<2x9x4xf32> to memref<2x3x3x4xf32>
  // CHECK: kernel.copy %[[TILE]], %[[TO]]
  %2 = graph.tile %x {repeats = array<i64: 1, 3, 1>} : (tensor<2x3x4xf32>) -> tensor<2x9x4xf32>
  return %0, %1, %2 : tensor<4x2x3xf32>, tensor<2x3x4xf32>, tensor<2x9x4xf32>
}

// -----

// Transposing blocks is unpacking or packing with other strides.

// CHECK-LABEL: func.func @main
// CHECK-SAME: (%[[X:[^:]*]]: memref<1x4x5x32xf32>{{.*}}, %[[Y:[^:]*]]: memref<1x5x4x32xf32>
func.func @main(%x: tensor<1x4x5x32xf32>) -> tensor<1x5x4x32xf32> {
  // CHECK: %[[FIRST:.*]] = om.view %[[X]][0] {{.*}} to memref<1x32x4x5xf32, strided<[32, 1, 160, 32]>>
  // CHECK: kernel.pack %[[FIRST]]
  %0 = graph.transpose %x {permutation = array<i64: 0, 3, 1, 2>} : (tensor<1x4x5x32xf32>) -> tensor<1x32x4x5xf32>
  %1 = graph.max_pool %0 {kernel = array<i64: 1, 1>, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x32x4x5xf32>) -> tensor<1x32x4x5xf32>
  // CHECK: %[[LAST:.*]] = om.view %[[Y]][0] {{.*}} to memref<1x32x4x5xf32, strided<[32, 1, 32, 128]>>
  // CHECK: kernel.unpack %{{.*}}, %[[LAST]]
  %2 = graph.transpose %1 {permutation = array<i64: 0, 3, 2, 1>} : (tensor<1x32x4x5xf32>) -> tensor<1x5x4x32xf32>
  return %2 : tensor<1x5x4x32xf32>
}

// -----

// Pixels and channels: both orders, and back.

// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<1x8x2x3xf32>) -> (tensor<1x2x4x6xf32>, tensor<1x2x4x6xf32>, tensor<1x8x1x1xf32>) {
  // CHECK: om.view %{{.*}}[0] {{.*}} to memref<1x2x2x2x3x2xf32, strided<[12, 6, 3, 24, 1, 12]>>
  // CHECK: om.view %{{.*}}[0] : memref<1x2x4x6xf32> to memref<1x2x2x2x3x2xf32>
  // CHECK: kernel.copy
  %0 = graph.depth_to_space %x {block = 2 : i64, order = #graph<depth_order dcr>} : (tensor<1x8x2x3xf32>) -> tensor<1x2x4x6xf32>
  // CHECK: om.view %{{.*}}[0] {{.*}} to memref<1x2x2x2x3x2xf32, strided<[48, 24, 3, 12, 1, 6]>>
  // CHECK: kernel.copy
  %1 = graph.depth_to_space %x {block = 2 : i64, order = #graph<depth_order crd>} : (tensor<1x8x2x3xf32>) -> tensor<1x2x4x6xf32>
  %2 = graph.slice %x {starts = array<i64: 0, 0, 0, 0>, sizes = array<i64: 1, 2, 2, 2>, steps = array<i64: 1, 1, 1, 1>} : (tensor<1x8x2x3xf32>) -> tensor<1x2x2x2xf32>
  // CHECK: om.view %{{.*}}[0] {{.*}} to memref<1x2x1x2x1x2xf32, strided<[12, 6, 6, 3, 2, 1]>>
  // CHECK: om.view %{{.*}}[0] : memref<1x8x1x1xf32> to memref<1x2x1x2x1x2xf32, strided<[2, 1, 8, 4, 4, 2]>>
  // CHECK: kernel.copy
  %3 = graph.space_to_depth %2 {block = 2 : i64} : (tensor<1x2x2x2xf32>) -> tensor<1x8x1x1xf32>
  return %0, %1, %3 : tensor<1x2x4x6xf32>, tensor<1x2x4x6xf32>, tensor<1x8x1x1xf32>
}

// -----

// Steps back take the elements by index.

// CHECK-LABEL: func.func @main
// CHECK-SAME: (%[[X:[^:]*]]: memref<6x5xf32>{{.*}}, %[[Y:[^:]*]]: memref<3x5xf32>
func.func @main(%x: tensor<6x5xf32>) -> tensor<3x5xf32> {
  // CHECK: %[[INDICES:.*]] = om.weight dense<[5, 3, 1]> : tensor<3xi64>
  // CHECK: kernel.gather %{{.*}}, %[[INDICES]], %{{.*}} : memref<1x6x5xf32>, memref<3xi64>, memref<1x3x5xf32>
  // CHECK: kernel.copy %{{.*}}, %[[Y]]
  %0 = graph.slice %x {starts = array<i64: 5, 0>, sizes = array<i64: 3, 5>, steps = array<i64: -2, 1>} : (tensor<6x5xf32>) -> tensor<3x5xf32>
  return %0 : tensor<3x5xf32>
}

// -----

// Constant pads: the border is filled, the inside copied; negative pads crop.

// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<1x2x4x4xf32>) -> (tensor<1x2x6x4xf32>, tensor<1x3x4x4xf32>, tensor<1x2x6x4xf32>) {
  // CHECK: kernel.fill %[[OUT:.*]] {border = array<i64: 1, 0, 1, 1>, value = 2.000000e+00 : f64}
  // CHECK: %[[FROM:.*]] = om.view %{{.*}}[4] {{.*}} to memref<1x2x4x3xf32, strided<[32, 16, 4, 1]>>
  // CHECK: %[[TO:.*]] = om.view %[[OUT]][16] {{.*}} to memref<1x2x4x3xf32, strided<[48, 24, 4, 1]>>
  // CHECK: kernel.copy %[[FROM]], %[[TO]]
  %0 = graph.pad %x {low = array<i64: 0, 0, 1, -1>, high = array<i64: 0, 0, 1, 1>, mode = #graph<pad_mode constant>, value = 2.0} : (tensor<1x2x4x4xf32>) -> tensor<1x2x6x4xf32>
  // CHECK: %[[PLANE:.*]] = om.view %{{.*}}[0] : memref<1x3x4x4xf32> to memref<1x1x3x4x4xf32>
  // CHECK: kernel.fill %[[PLANE]] {border = array<i64: 1, 0, 0, 0>, value = 0.000000e+00 : f64}
  // CHECK: kernel.copy
  %1 = graph.pad %x {low = array<i64: 0, 1, 0, 0>, high = array<i64: 0, 0, 0, 0>, mode = #graph<pad_mode constant>} : (tensor<1x2x4x4xf32>) -> tensor<1x3x4x4xf32>
  // CHECK: kernel.pad {{.*}} {low = array<i64: 0, 0, 1, 0>, mode = #graph<pad_mode reflect>
  %2 = graph.pad %x {low = array<i64: 0, 0, 1, 0>, high = array<i64: 0, 0, 1, 0>, mode = #graph<pad_mode reflect>} : (tensor<1x2x4x4xf32>) -> tensor<1x2x6x4xf32>
  return %0, %1, %2 : tensor<1x2x6x4xf32>, tensor<1x3x4x4xf32>, tensor<1x2x6x4xf32>
}

// -----

// Where all of the input is cropped away, nothing is copied.

// CHECK-LABEL: func.func @main
// CHECK-COUNT-2: kernel.fill {{.*}}value = 1.000000e+00
// CHECK-NOT: kernel.copy
// CHECK: return
func.func @main(%x: tensor<1x3xf32>) -> (tensor<4x3xf32>, tensor<4x3xf32>) {
  %0 = graph.pad %x {low = array<i64: 4, 0>, high = array<i64: -1, 0>, mode = #graph<pad_mode constant>, value = 1.0} : (tensor<1x3xf32>) -> tensor<4x3xf32>
  %1 = graph.pad %x {low = array<i64: -1, 0>, high = array<i64: 4, 0>, mode = #graph<pad_mode constant>, value = 1.0} : (tensor<1x3xf32>) -> tensor<4x3xf32>
  return %0, %1 : tensor<4x3xf32>, tensor<4x3xf32>
}

// -----

// Gather sees three dims and indices as they are: kernels count negative ones from
// the end.

// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<2x5x3xf32>, %i: tensor<2x2xi32>) -> (tensor<2x2x2x3xf32>, tensor<2x2x3xf32>) {
  // CHECK-NOT: kernel.map
  // CHECK: %[[FLAT:.*]] = om.view %arg1[0] : memref<2x2xi32> to memref<4xi32>
  // CHECK: kernel.gather %{{.*}}, %[[FLAT]], %{{.*}} : memref<2x5x3xf32>, memref<4xi32>, memref<2x4x3xf32>
  %0 = graph.gather %x, %i {axis = 1 : i64} : (tensor<2x5x3xf32>, tensor<2x2xi32>) -> tensor<2x2x2x3xf32>
  // CHECK: %[[INDICES:.*]] = om.weight dense<[-1, 0]> : tensor<2xi32>
  // CHECK: kernel.gather %{{.*}}, %[[INDICES]]
  %c = graph.constant dense<[-1, 0]> : tensor<2xi32>
  %1 = graph.gather %x, %c {axis = 1 : i64} : (tensor<2x5x3xf32>, tensor<2xi32>) -> tensor<2x2x3xf32>
  return %0, %1 : tensor<2x2x2x3xf32>, tensor<2x2x3xf32>
}

// -----

// Blocked images are resized in dims 2 and 3 and padded around the planes.

// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<1x16x4x4xf32>) -> tensor<1x16x4x4xf32> {
  %0 = graph.max_pool %x {kernel = array<i64: 1, 1>, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x16x4x4xf32>) -> tensor<1x16x4x4xf32>
  // CHECK: kernel.resize {{.*}} mode = #graph<resize_mode linear>, {{.*}}scales = array<f64: 1.000000e+00, 1.000000e+00, 2.000000e+00, 2.000000e+00, 1.000000e+00>} : memref<1x1x4x4x16xf32>, memref<1x1x8x8x16xf32>
  %1 = graph.resize %0 {scales = array<f64: 1.0, 1.0, 2.0, 2.0>, mode = #graph<resize_mode linear>, coordinates = #graph<coordinate_mode half_pixel>, nearest = #graph<nearest_mode floor>} : (tensor<1x16x4x4xf32>) -> tensor<1x16x8x8xf32>
  // CHECK: kernel.pad {{.*}} {low = array<i64: 0, 0, 1, 1, 0>, mode = #graph<pad_mode edge>{{.*}} memref<1x1x8x8x16xf32>, memref<1x1x10x10x16xf32>
  %2 = graph.pad %1 {low = array<i64: 0, 0, 1, 1>, high = array<i64: 0, 0, 1, 1>, mode = #graph<pad_mode edge>} : (tensor<1x16x8x8xf32>) -> tensor<1x16x10x10xf32>
  %3 = graph.max_pool %2 {kernel = array<i64: 4, 4>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x16x10x10xf32>) -> tensor<1x16x4x4xf32>
  return %3 : tensor<1x16x4x4xf32>
}

// -----

// Up to a block of channels is read lane by lane, without unpacking it first.

// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<1x9x4x4xf32>) -> tensor<1x1x12x12xf32> {
  // CHECK: kernel.pool %{{.*}}, %[[IMAGE:[^ ]*]] {
  // CHECK-NOT: kernel.unpack
  // CHECK: %[[LANES:.*]] = om.view %[[IMAGE]][0] {{.*}} to memref<1x1x4x3x4x3xf32, strided<[256, 256, 64, 3, 16, 1]>>
  // CHECK: kernel.copy %[[LANES]]
  %0 = graph.max_pool %x {kernel = array<i64: 1, 1>, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x9x4x4xf32>) -> tensor<1x9x4x4xf32>
  %1 = graph.depth_to_space %0 {block = 3 : i64, order = #graph<depth_order crd>} : (tensor<1x9x4x4xf32>) -> tensor<1x1x12x12xf32>
  return %1 : tensor<1x1x12x12xf32>
}

// -----

// Channels that are split and moved go straight from their lanes: 20 channels
// of the second part are lanes 4..15 of a block and 0..7 of the next.

// CHECK-LABEL: func.func @main
// CHECK-SAME: %[[Y:[^:]*]]: memref<1x2x4x4x20xf32>
func.func @main(%x: tensor<1x40x4x4xf32>) -> tensor<1x2x4x4x20xf32> {
  // CHECK: kernel.pool %{{.*}}, %[[IMAGE:[^ ]*]] {
  // CHECK-NOT: kernel.unpack
  %0 = graph.max_pool %x {kernel = array<i64: 1, 1>, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x40x4x4xf32>) -> tensor<1x40x4x4xf32>
  %1 = graph.reshape %0 : (tensor<1x40x4x4xf32>) -> tensor<1x2x20x4x4xf32>
  // CHECK: om.view %[[IMAGE]][0] {{.*}} to memref<1x1x4x4x16xf32
  // CHECK: kernel.copy
  // CHECK: om.view %[[IMAGE]][1024] {{.*}} to memref<1x1x4x4x4xf32
  // CHECK: om.view %[[Y]][64] {{.*}} to memref<1x1x4x4x4xf32, strided<[320, 320, 80, 20, 1]>>
  // CHECK: kernel.copy
  // CHECK: om.view %[[IMAGE]][1040] {{.*}} to memref<1x1x4x4x12xf32
  // CHECK: kernel.copy
  // CHECK: om.view %[[IMAGE]][2048] {{.*}} to memref<1x1x4x4x8xf32
  // CHECK: om.view %[[Y]][1328] {{.*}} to memref<1x1x4x4x8xf32, strided<[320, 320, 80, 20, 1]>>
  // CHECK: kernel.copy
  // CHECK-NOT: kernel.copy
  %2 = graph.transpose %1 {permutation = array<i64: 0, 1, 3, 4, 2>} : (tensor<1x2x20x4x4xf32>) -> tensor<1x2x4x4x20xf32>
  return %2 : tensor<1x2x4x4x20xf32>
}
