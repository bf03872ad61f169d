// RUN: atc-opt %s --host-expand-volumes --split-input-file | FileCheck %s
// RUN: atc-opt %s --host-expand-volumes --split-input-file --remarks-filter=host-expand-volumes --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// REMARK-DAG: [Passed] {{.*}}Category:host-expand-volumes{{.*}}the planes that a window covers are channels of images
// REMARK-DAG: [Passed] {{.*}}Category:host-expand-volumes{{.*}}planes and depth are pooled one after the other
// REMARK-DAG: [Missed] {{.*}}Category:host-expand-volumes{{.*}}its filter is no constant of five dims
// REMARK-DAG: [Missed] {{.*}}Category:host-expand-volumes{{.*}}its bias is no constant
// REMARK-DAG: [Passed] {{.*}}Category:host-expand-volumes{{.*}}the planes that the taps of a phase read are channels of images
// REMARK-DAG: [Missed] {{.*}}Category:host-expand-volumes{{.*}}its taps are apart in depth
// REMARK-DAG: [Missed] {{.*}}Category:host-expand-volumes{{.*}}its taps do not reach every plane
// REMARK-DAG: [Missed] {{.*}}Category:host-expand-volumes{{.*}}its pads follow from the shape of its result
// REMARK-DAG: [Missed] {{.*}}Category:host-expand-volumes{{.*}}its indices are read
// REMARK-DAG: [Missed] {{.*}}Category:host-expand-volumes{{.*}}its shapes are not known

// A window covers two planes, three apart, and moves by two; the pad in front of the planes is zero.
// CHECK-LABEL: func @conv
// CHECK: graph.transpose %{{.*}} {permutation = array<i64: 0, 2, 1, 3, 4>}
// CHECK: graph.pad {{.*}}high = array<i64: 0, 0, 0, 0>, low = array<i64: 0, 1, 0, 0>
// CHECK: graph.slice {{.*}}sizes = array<i64: 1, 3, 2, 252>, starts = array<i64: 0, 0, 0, 0>, steps = array<i64: 1, 2, 1, 1>
// CHECK: graph.slice {{.*}}starts = array<i64: 0, 3, 0, 0>, steps = array<i64: 1, 2, 1, 1>
// CHECK: graph.concat {{.*}}{axis = 3 : i64}
// CHECK: graph.reshape {{.*}} -> tensor<3x12x12x7xf32>
// CHECK: graph.conv {{.*}}groups = 2 : i64, pads = array<i64: 1, 0, 1, 2>, strides = array<i64: 2, 1>{{.*}}(tensor<3x12x12x7xf32>, tensor<10x6x3x3xf32>, tensor<10xf32>) -> tensor<3x10x6x7xf32>
// CHECK: graph.reshape {{.*}} -> tensor<1x3x10x6x7xf32>
// CHECK: graph.transpose %{{.*}} {permutation = array<i64: 0, 2, 1, 3, 4>} : {{.*}} -> tensor<1x10x3x6x7xf32>
// CHECK-NOT: host_call
func.func @conv(%x: tensor<1x6x7x12x7xf32>) -> tensor<1x10x3x6x7xf32> {
  %b = graph.constant dense<0.25> : tensor<10xf32>
  %w = graph.constant dense<0.5> : tensor<10x3x2x3x3xf32>
  %y = graph.host_call "Conv"(%x, %w, %b) {auto_pad = "NOTSET", dilations = array<i64: 3, 1, 1>, group = array<i64: 2>, kernel_shape = array<i64: 2, 3, 3>, pads = array<i64: 1, 1, 0, 0, 1, 2>, strides = array<i64: 2, 2, 1>} : (tensor<1x6x7x12x7xf32>, tensor<10x3x2x3x3xf32>, tensor<10xf32>) -> tensor<1x10x3x6x7xf32>
  return %y : tensor<1x10x3x6x7xf32>
}

// -----

// CHECK-LABEL: func @same
// CHECK: graph.pad {{.*}}high = array<i64: 0, 1, 0, 0>, low = array<i64: 0, 0, 0, 0>
// CHECK: graph.conv {{.*}}pads = array<i64: 0, 0, 1, 1>
func.func @same(%x: tensor<1x6x4x8x8xf32>) -> tensor<1x10x4x8x8xf32> {
  %w = graph.constant dense<0.5> : tensor<10x6x2x2x2xf32>
  %y = graph.host_call "Conv"(%x, %w) {auto_pad = "SAME_UPPER"} : (tensor<1x6x4x8x8xf32>, tensor<10x6x2x2x2xf32>) -> tensor<1x10x4x8x8xf32>
  return %y : tensor<1x10x4x8x8xf32>
}

// -----

// CHECK-LABEL: func @pools
// CHECK: graph.reshape {{.*}} -> tensor<1x60x12x12xf32>
// CHECK: graph.max_pool {{.*}}ceil_mode = true{{.*}}kernel = array<i64: 3, 2>{{.*}}pads = array<i64: 0, 0, 1, 0>
// CHECK: graph.max_pool {{.*}}kernel = array<i64: 2, 1>, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 2, 1>{{.*}} -> tensor<1x10x3x36xf32>
// Without depth one pool suffices.
// CHECK: graph.average_pool {{.*}}count_include_pad = true
// CHECK-NOT: graph.average_pool
// CHECK: return
func.func @pools(%x: tensor<1x10x6x12x12xf32>) -> (tensor<1x10x3x6x6xf32>, tensor<1x10x6x6x6xf32>) {
  %y = graph.host_call "MaxPool"(%x) {ceil_mode = array<i64: 1>, kernel_shape = array<i64: 2, 3, 2>, pads = array<i64: 0, 0, 0, 0, 1, 0>, strides = array<i64: 2, 2, 2>} : (tensor<1x10x6x12x12xf32>) -> tensor<1x10x3x6x6xf32>
  %z = graph.host_call "AveragePool"(%x) {count_include_pad = array<i64: 1>, kernel_shape = array<i64: 1, 2, 2>, strides = array<i64: 1, 2, 2>} : (tensor<1x10x6x12x12xf32>) -> tensor<1x10x6x6x6xf32>
  return %y, %z : tensor<1x10x3x6x6xf32>, tensor<1x10x6x6x6xf32>
}

// -----

// Channels that fill vectors: planes are images, as convolutions leave them, and what a window has in
// depth is combined elementwise.
// CHECK-LABEL: func @planes
// CHECK: %[[X:.*]] = graph.transpose %arg0 {permutation = array<i64: 0, 2, 1, 3, 4>}
// CHECK-NEXT: %[[IMAGES:.*]] = graph.reshape %[[X]] {{.*}} -> tensor<4x16x6x6xf32>
// CHECK-NEXT: %[[POOLED:.*]] = graph.max_pool %[[IMAGES]] {{.*}}kernel = array<i64: 2, 2>{{.*}} -> tensor<4x16x3x3xf32>
// CHECK-NEXT: %[[A:.*]] = graph.slice %[[POOLED]] {{.*}}starts = array<i64: 0, 0, 0, 0>, steps = array<i64: 2, 1, 1, 1>
// CHECK-NEXT: %[[B:.*]] = graph.slice %[[POOLED]] {{.*}}starts = array<i64: 1, 0, 0, 0>, steps = array<i64: 2, 1, 1, 1>
// CHECK-NEXT: graph.max %[[A]], %[[B]]
// CHECK: graph.transpose
// CHECK: graph.average_pool {{.*}} -> tensor<4x16x3x3xf32>
// CHECK: graph.constant dense<5.000000e-01>
// CHECK-COUNT-2: graph.mul
// CHECK: graph.add
func.func @planes(%x: tensor<1x16x4x6x6xf32>) -> (tensor<1x16x2x3x3xf32>, tensor<1x16x2x3x3xf32>) {
  %y = graph.host_call "MaxPool"(%x) {kernel_shape = array<i64: 2, 2, 2>, strides = array<i64: 2, 2, 2>} : (tensor<1x16x4x6x6xf32>) -> tensor<1x16x2x3x3xf32>
  %z = graph.host_call "AveragePool"(%x) {kernel_shape = array<i64: 2, 2, 2>, strides = array<i64: 2, 2, 2>} : (tensor<1x16x4x6x6xf32>) -> tensor<1x16x2x3x3xf32>
  return %y, %z : tensor<1x16x2x3x3xf32>, tensor<1x16x2x3x3xf32>
}

// -----

// Pads in depth, and two volumes: the channels of an image are those of all planes.
// CHECK-LABEL: func @padded
// CHECK: graph.max_pool {{.*}} -> tensor<1x64x
// CHECK: graph.max_pool {{.*}} -> tensor<2x64x
func.func @padded(%x: tensor<1x16x4x6x6xf32>, %two: tensor<2x16x4x6x6xf32>) -> (tensor<1x16x3x3x3xf32>, tensor<2x16x2x3x3xf32>) {
  %y = graph.host_call "MaxPool"(%x) {kernel_shape = array<i64: 2, 2, 2>, strides = array<i64: 2, 2, 2>, pads = array<i64: 1, 0, 0, 1, 0, 0>} : (tensor<1x16x4x6x6xf32>) -> tensor<1x16x3x3x3xf32>
  %z = graph.host_call "MaxPool"(%two) {kernel_shape = array<i64: 2, 2, 2>, strides = array<i64: 2, 2, 2>} : (tensor<2x16x4x6x6xf32>) -> tensor<2x16x2x3x3xf32>
  return %y, %z : tensor<1x16x3x3x3xf32>, tensor<2x16x2x3x3xf32>
}

// -----

// One convolution per plane of the window, whose sums are added.
// CHECK-LABEL: func @depthwise
// CHECK-COUNT-2: graph.conv {{.*}}groups = 6 : i64{{.*}}(tensor<4x6x8x8xf32>, tensor<6x1x2x2xf32>
// CHECK: graph.add
func.func @depthwise(%x: tensor<1x6x5x8x8xf32>) -> tensor<1x6x4x7x7xf32> {
  %w = graph.constant dense<0.5> : tensor<6x1x2x2x2xf32>
  %y = graph.host_call "Conv"(%x, %w) {group = array<i64: 6>} : (tensor<1x6x5x8x8xf32>, tensor<6x1x2x2x2xf32>) -> tensor<1x6x4x7x7xf32>
  return %y : tensor<1x6x4x7x7xf32>
}

// -----

// Even planes read one plane of the input through tap 1, odd ones two through taps 0 and 2; the last plane is cut off.
// CHECK-LABEL: func @transposed
// CHECK: graph.slice {{.*}}sizes = array<i64: 1, 1, 6, 5, 9>, starts = array<i64: 0, 1, 0, 0, 0>, steps = array<i64: 1, 2, 1, 1, 1>
// CHECK: graph.conv_transpose {{.*}}(tensor<4x6x8x8xf32>, tensor<6x5x3x3xf32>) -> tensor<4x5x15x15xf32>
// CHECK: graph.slice {{.*}}sizes = array<i64: 1, 2, 6, 5, 9>, starts = array<i64: 0, 0, 0, 0, 0>
// CHECK: graph.conv_transpose {{.*}}(tensor<4x12x8x8xf32>, tensor<12x5x3x3xf32>) -> tensor<4x5x15x15xf32>
// CHECK: graph.slice {{.*}} -> tensor<1x7x1125xf32>
func.func @transposed(%x: tensor<1x6x4x8x8xf32>) -> tensor<1x5x7x15x15xf32> {
  %w = graph.constant dense<0.5> : tensor<6x5x3x3x3xf32>
  %y = graph.host_call "ConvTranspose"(%x, %w) {pads = array<i64: 1, 1, 1, 1, 1, 1>, strides = array<i64: 2, 2, 2>} : (tensor<1x6x4x8x8xf32>, tensor<6x5x3x3x3xf32>) -> tensor<1x5x7x15x15xf32>
  return %y : tensor<1x5x7x15x15xf32>
}

// -----

// Ops of the graph, as tiles of a dynamic dim have them.
// CHECK-LABEL: func @graph_ops
// CHECK: graph.conv {{.*}}groups = 2 : i64, pads = array<i64: 0, 1, 0, 1>, strides = array<i64: 1, 2>{{.*}}(tensor<4x12x8x8xf32>, tensor<4x6x3x3xf32>, tensor<4xf32>) -> tensor<4x4x6x4xf32>
// CHECK: graph.max_pool {{.*}}ceil_mode = true{{.*}}kernel = array<i64: 2, 3>
// CHECK: graph.max_pool {{.*}}kernel = array<i64: 2, 1>
// CHECK: graph.average_pool {{.*}}count_include_pad = true
// CHECK-NOT: tensor<1x6x5x8x8xf32>) -> tensor<1x4
// CHECK: return
func.func @graph_ops(%x: tensor<1x6x5x8x8xf32>, %b: tensor<4xf32>) -> (tensor<1x4x4x6x4xf32>, tensor<1x6x4x4x3xf32>, tensor<1x6x5x8x8xf32>) {
  %w = graph.constant dense<0.5> : tensor<4x3x2x3x3xf32>
  %y = graph.conv %x, %w bias %b {strides = array<i64: 1, 1, 2>, pads = array<i64: 0, 0, 1, 0, 0, 1>, dilations = array<i64: 1, 1, 1>, groups = 2 : i64} : (tensor<1x6x5x8x8xf32>, tensor<4x3x2x3x3xf32>, tensor<4xf32>) -> tensor<1x4x4x6x4xf32>
  %z = graph.max_pool %x {kernel = array<i64: 2, 2, 3>, strides = array<i64: 1, 2, 3>, pads = array<i64: 0, 0, 0, 0, 0, 0>, dilations = array<i64: 1, 1, 1>, ceil_mode = true} : (tensor<1x6x5x8x8xf32>) -> tensor<1x6x4x4x3xf32>
  %m = graph.average_pool %x {kernel = array<i64: 1, 3, 3>, strides = array<i64: 1, 1, 1>, pads = array<i64: 0, 1, 1, 0, 1, 1>, dilations = array<i64: 1, 1, 1>, count_include_pad = true} : (tensor<1x6x5x8x8xf32>) -> tensor<1x6x5x8x8xf32>
  return %y, %z, %m : tensor<1x4x4x6x4xf32>, tensor<1x6x4x4x3xf32>, tensor<1x6x5x8x8xf32>
}

// -----

// A filter of the run stays, as does what has an activation already.
// CHECK-LABEL: func @kept_ops
// CHECK-COUNT-2: graph.conv {{.*}}(tensor<1x6x5x8x8xf32>
func.func @kept_ops(%x: tensor<1x6x5x8x8xf32>, %v: tensor<4x6x1x1x1xf32>) -> (tensor<1x4x5x8x8xf32>, tensor<1x4x5x8x8xf32>) {
  %w = graph.constant dense<0.5> : tensor<4x6x1x1x1xf32>
  %y = graph.conv %x, %v {strides = array<i64: 1, 1, 1>, pads = array<i64: 0, 0, 0, 0, 0, 0>, dilations = array<i64: 1, 1, 1>, groups = 1 : i64} : (tensor<1x6x5x8x8xf32>, tensor<4x6x1x1x1xf32>) -> tensor<1x4x5x8x8xf32>
  %z = graph.conv %x, %w {strides = array<i64: 1, 1, 1>, pads = array<i64: 0, 0, 0, 0, 0, 0>, dilations = array<i64: 1, 1, 1>, groups = 1 : i64, activation = #graph.activation<relu>} : (tensor<1x6x5x8x8xf32>, tensor<4x6x1x1x1xf32>) -> tensor<1x4x5x8x8xf32>
  return %y, %z : tensor<1x4x5x8x8xf32>, tensor<1x4x5x8x8xf32>
}

// -----

// CHECK-LABEL: func @kept_transposed
// CHECK-COUNT-3: graph.host_call "ConvTranspose"
func.func @kept_transposed(%x: tensor<1x6x4x8x8xf32>) -> (tensor<1x5x6x8x8xf32>, tensor<1x5x7x8x8xf32>, tensor<1x5x4x8x8xf32>) {
  %w = graph.constant dense<0.5> : tensor<6x5x2x1x1xf32>
  %y = graph.host_call "ConvTranspose"(%x, %w) {dilations = array<i64: 2, 1, 1>} : (tensor<1x6x4x8x8xf32>, tensor<6x5x2x1x1xf32>) -> tensor<1x5x6x8x8xf32>
  %one = graph.constant dense<0.5> : tensor<6x5x1x1x1xf32>
  %z = graph.host_call "ConvTranspose"(%x, %one) {strides = array<i64: 2, 1, 1>} : (tensor<1x6x4x8x8xf32>, tensor<6x5x1x1x1xf32>) -> tensor<1x5x7x8x8xf32>
  %same = graph.host_call "ConvTranspose"(%x, %w) {auto_pad = "SAME_UPPER"} : (tensor<1x6x4x8x8xf32>, tensor<6x5x2x1x1xf32>) -> tensor<1x5x4x8x8xf32>
  return %y, %z, %same : tensor<1x5x6x8x8xf32>, tensor<1x5x7x8x8xf32>, tensor<1x5x4x8x8xf32>
}

// -----

// CHECK-LABEL: func @kept_bias
// CHECK: graph.host_call "Conv"
func.func @kept_bias(%x: tensor<1x6x4x8x8xf32>, %b: tensor<10xf32>) -> tensor<1x10x4x8x8xf32> {
  %w = graph.constant dense<0.5> : tensor<10x6x1x1x1xf32>
  %y = graph.host_call "Conv"(%x, %w, %b) {} : (tensor<1x6x4x8x8xf32>, tensor<10x6x1x1x1xf32>, tensor<10xf32>) -> tensor<1x10x4x8x8xf32>
  return %y : tensor<1x10x4x8x8xf32>
}

// -----

// CHECK-LABEL: func @kept(
// CHECK: graph.host_call "Conv"
// CHECK: graph.host_call "MaxPool"
// CHECK: graph.host_call "AveragePool"
func.func @kept(%x: tensor<1x6x4x8x8xf32>, %w: tensor<10x6x1x1x1xf32>, %d: tensor<1x6x?x8x8xf32>) -> (tensor<1x10x4x8x8xf32>, tensor<1x6x2x4x4xi64>, tensor<1x6x?x4x4xf32>) {
  %y = graph.host_call "Conv"(%x, %w) {} : (tensor<1x6x4x8x8xf32>, tensor<10x6x1x1x1xf32>) -> tensor<1x10x4x8x8xf32>
  %m, %i = graph.host_call "MaxPool"(%x) {kernel_shape = array<i64: 2, 2, 2>, strides = array<i64: 2, 2, 2>} : (tensor<1x6x4x8x8xf32>) -> (tensor<1x6x2x4x4xf32>, tensor<1x6x2x4x4xi64>)
  %a = graph.host_call "AveragePool"(%d) {kernel_shape = array<i64: 2, 2, 2>, strides = array<i64: 2, 2, 2>} : (tensor<1x6x?x8x8xf32>) -> tensor<1x6x?x4x4xf32>
  return %y, %i, %a : tensor<1x10x4x8x8xf32>, tensor<1x6x2x4x4xi64>, tensor<1x6x?x4x4xf32>
}
