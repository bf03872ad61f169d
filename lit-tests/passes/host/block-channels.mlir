// RUN: atc-opt %s --host-block-channels --split-input-file | FileCheck %s

// Few channels are read from their planes; a depthwise convolution, a sum, a pool and a join work
// on blocks; the image is stored in planes only where something else reads it.
// CHECK-LABEL: func @chain
// CHECK: %[[A:.*]] = graph.host_call "BlockedConv"(%arg0, %{{.*}}, %{{.*}}) {activation = "Clip", activation_params = array<f64: 0.000000e+00, 6.000000e+00>, kernel_shape = array<i64: 3, 3>, pads = array<i64: 1, 1, 1, 1>} : (tensor<?x3x?x?xf32>, tensor<2x1x9x3x16xf32>, tensor<32xf32>) -> tensor<?x2x?x?x16xf32>
// CHECK: %[[B:.*]] = graph.host_call "BlockedDepthwiseConv"(%[[A]], %{{.*}}) {kernel_shape = array<i64: 3, 3>, pads = array<i64: 1, 1, 1, 1>} : (tensor<?x2x?x?x16xf32>, tensor<2x9x16xf32>) -> tensor<?x2x?x?x16xf32>
// CHECK: %[[C:.*]] = graph.host_call "BlockedConv"(%[[B]], %{{.*}}, %[[A]]) at [0, 1, 3] {kernel_shape = array<i64: 1, 1>} : (tensor<?x2x?x?x16xf32>, tensor<2x2x1x16x16xf32>, tensor<?x2x?x?x16xf32>) -> tensor<?x2x?x?x16xf32>
// CHECK: %[[D:.*]] = graph.host_call "MaxPool"(%[[C]]) {kernel_shape = array<i64: 2, 2, 1>, pads = array<i64: 1, 0, 0, 0, 1, 0>, strides = array<i64: 2, 2, 1>}
// CHECK: %[[E:.*]] = graph.host_call "Mul"(%[[D]], %[[D]])
// CHECK: %[[F:.*]] = graph.host_call "Concat"(%[[D]], %[[E]]) {axis = array<i64: 1>} : (tensor<?x2x?x?x16xf32>, tensor<?x2x?x?x16xf32>) -> tensor<?x4x?x?x16xf32>
// CHECK: %[[G:.*]] = graph.host_call "Resize"(%[[F]], %{{.*}}) at [0, 2] {mode = "nearest"} : (tensor<?x4x?x?x16xf32>, tensor<5xf32>)
// CHECK: %[[H:.*]] = graph.host_call "ReduceMean"(%[[G]], %{{.*}}) {}
// CHECK: %[[I:.*]] = graph.host_call "UnblockChannels"(%[[H]]) {channels = array<i64: 64>} : (tensor<?x4x?x?x16xf32>) -> tensor<*xf32>
// CHECK-NEXT: return %[[I]]
func.func @chain(%x: tensor<?x3x?x?xf32>) -> tensor<*xf32> {
  %w0 = graph.constant dense<1.0> : tensor<32x3x3x3xf32>
  %b0 = graph.constant dense<1.0> : tensor<32xf32>
  %w1 = graph.constant dense<1.0> : tensor<32x1x3x3xf32>
  %w2 = graph.constant dense<1.0> : tensor<32x32x1x1xf32>
  %s = graph.constant dense<[1.0, 1.0, 2.0, 2.0]> : tensor<4xf32>
  %0 = graph.host_call "FusedConv"(%x, %w0, %b0) {activation = "Clip", activation_params = array<f64: 0.0, 6.0>, pads = array<i64: 1, 1, 1, 1>} : (tensor<?x3x?x?xf32>, tensor<32x3x3x3xf32>, tensor<32xf32>) -> tensor<*xf32>
  %1 = graph.host_call "Conv"(%0, %w1) {group = array<i64: 32>, pads = array<i64: 1, 1, 1, 1>} : (tensor<*xf32>, tensor<32x1x3x3xf32>) -> tensor<*xf32>
  %2 = graph.host_call "FusedConv"(%1, %w2, %0) at [0, 1, 3] {} : (tensor<*xf32>, tensor<32x32x1x1xf32>, tensor<*xf32>) -> tensor<*xf32>
  %3 = graph.host_call "MaxPool"(%2) {kernel_shape = array<i64: 2, 2>, pads = array<i64: 1, 0, 0, 1>, strides = array<i64: 2, 2>} : (tensor<*xf32>) -> tensor<*xf32>
  %4 = graph.host_call "Mul"(%3, %3) {} : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
  %5 = graph.host_call "Concat"(%3, %4) {axis = array<i64: -3>} : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
  %6 = graph.host_call "Resize"(%5, %s) at [0, 2] {mode = "nearest"} : (tensor<*xf32>, tensor<4xf32>) -> tensor<*xf32>
  %7 = graph.host_call "GlobalAveragePool"(%6) {} : (tensor<*xf32>) -> tensor<*xf32>
  return %7 : tensor<*xf32>
}

// -----

// Weights are blocks of output channels, blocks of input channels, taps, channels, and channels of
// the output; what does not exist is 0. Biases fill whole blocks.
// CHECK-LABEL: func @packed
// CHECK: graph.constant dense<[1.0{{.*}}, 2.0{{.*}}, 3.0{{.*}}, 4.0{{.*}}, 5.0{{.*}}, 6.0{{.*}}, 7.0{{.*}}, 8.0{{.*}}, 0.0{{.*}}> : tensor<16xf32>
// CHECK: "BlockedConv"({{.*}}tensor<1x1x2x1x16xf32>, tensor<16xf32>
func.func @packed(%x: tensor<?x1x?x?xf32>) -> tensor<*xf32> {
  %w = graph.constant dense<[[[[1.0, 2.0]]], [[[3.0, 4.0]]], [[[5.0, 6.0]]], [[[7.0, 8.0]]], [[[9.0, 10.0]]], [[[11.0, 12.0]]], [[[13.0, 14.0]]], [[[15.0, 16.0]]]]> : tensor<8x1x1x2xf32>
  %b = graph.constant dense<[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]> : tensor<8xf32>
  %0 = graph.host_call "Conv"(%x, %w, %b) {} : (tensor<?x1x?x?xf32>, tensor<8x1x1x2xf32>, tensor<8xf32>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}

// -----

// Left alone: groups of which four do not fill blocks, few output channels, of images and of lines,
// weights that are computed, a sum that is not blocked, and joins of parts of blocks.
// CHECK-LABEL: func @unfit
// CHECK-NOT: "BlockedConv"
// CHECK: %[[A:.*]] = graph.host_call "BlockedConv"{{.*}} -> tensor<?x2x?x?x16xf32>
// CHECK: %[[B:.*]] = graph.host_call "UnblockChannels"(%[[A]]) {channels = array<i64: 24>}
// CHECK: graph.host_call "Concat"(%[[B]], %[[B]])
// CHECK: graph.host_call "Resize"(%[[B]],
func.func @unfit(%x: tensor<*xf32>, %w: tensor<32x3x3x3xf32>, %l: tensor<?x3x?xf32>) -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>) {
  %w0 = graph.constant dense<1.0> : tensor<32x2x3x3xf32>
  %w1 = graph.constant dense<1.0> : tensor<4x3x3x3xf32>
  %w2 = graph.constant dense<1.0> : tensor<4x3x3xf32>
  %w3 = graph.constant dense<1.0> : tensor<32x3x3x3xf32>
  %w4 = graph.constant dense<1.0> : tensor<24x3x3x3xf32>
  %s = graph.constant dense<[1.0, 2.0, 2.0, 2.0]> : tensor<4xf32>
  %0 = graph.host_call "Conv"(%x, %w0) {group = array<i64: 16>} : (tensor<*xf32>, tensor<32x2x3x3xf32>) -> tensor<*xf32>
  %1 = graph.host_call "Conv"(%x, %w1) {} : (tensor<*xf32>, tensor<4x3x3x3xf32>) -> tensor<*xf32>
  %2 = graph.host_call "Conv"(%x, %w) {} : (tensor<*xf32>, tensor<32x3x3x3xf32>) -> tensor<*xf32>
  %3 = graph.host_call "Conv"(%l, %w2) {} : (tensor<?x3x?xf32>, tensor<4x3x3xf32>) -> tensor<*xf32>
  %4 = graph.host_call "FusedConv"(%x, %w3, %2) at [0, 1, 3] {} : (tensor<*xf32>, tensor<32x3x3x3xf32>, tensor<*xf32>) -> tensor<*xf32>
  %5 = graph.host_call "Conv"(%x, %w4) {} : (tensor<*xf32>, tensor<24x3x3x3xf32>) -> tensor<*xf32>
  %6 = graph.host_call "Concat"(%5, %5) {axis = array<i64: 1>} : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
  %7 = graph.host_call "Resize"(%5, %s) at [0, 2] {} : (tensor<*xf32>, tensor<4xf32>) -> tensor<*xf32>
  return %0, %1, %2, %3, %4, %6, %7 : tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>
}

// -----

// More channels are stored in blocks once, for all convolutions that read them.
// CHECK-LABEL: func @shared
// CHECK: %[[X:.*]] = graph.host_call "BlockChannels"(%arg0) {channels = array<i64: 20>} : (tensor<?x20x?x?xf32>) -> tensor<?x2x?x?x16xf32>
// CHECK-NOT: "BlockChannels"
// CHECK: graph.host_call "BlockedConv"(%[[X]],
// CHECK: graph.host_call "BlockedConv"(%[[X]],
func.func @shared(%x: tensor<?x20x?x?xf32>) -> (tensor<*xf32>, tensor<*xf32>) {
  %w = graph.constant dense<1.0> : tensor<16x20x1x1xf32>
  %0 = graph.host_call "Conv"(%x, %w) {} : (tensor<?x20x?x?xf32>, tensor<16x20x1x1xf32>) -> tensor<*xf32>
  %1 = graph.host_call "Conv"(%x, %w) {strides = array<i64: 2, 2>} : (tensor<?x20x?x?xf32>, tensor<16x20x1x1xf32>) -> tensor<*xf32>
  return %0, %1 : tensor<*xf32>, tensor<*xf32>
}

// -----

// Groups that follow from the channels: known from the type or a blocked value, else left alone.
// CHECK-LABEL: func @groups
// CHECK: graph.host_call "BlockedDepthwiseConv"
// CHECK: graph.host_call "BlockedConv"
// CHECK: graph.host_call "Conv"(%arg1
func.func @groups(%x: tensor<?x32x?x?xf32>, %y: tensor<?x?x?x?xf32>) -> (tensor<*xf32>, tensor<*xf32>) {
  %w0 = graph.constant dense<1.0> : tensor<32x1x3x3xf32>
  %w1 = graph.constant dense<1.0> : tensor<32x32x1x1xf32>
  %0 = graph.host_call "Conv"(%x, %w0) {groups_by_channels = array<i64: 1>} : (tensor<?x32x?x?xf32>, tensor<32x1x3x3xf32>) -> tensor<*xf32>
  %1 = graph.host_call "Conv"(%0, %w1) {groups_by_channels = array<i64: 1>} : (tensor<*xf32>, tensor<32x32x1x1xf32>) -> tensor<*xf32>
  %2 = graph.host_call "Conv"(%y, %w0) {groups_by_channels = array<i64: 1>} : (tensor<?x?x?x?xf32>, tensor<32x1x3x3xf32>) -> tensor<*xf32>
  return %1, %2 : tensor<*xf32>, tensor<*xf32>
}

// -----

// Groups that fill blocks have a part of the image's blocks in the weights; of smaller ones some are
// joined. Groups of several images read one.
// CHECK-LABEL: func @grouped
// CHECK: %[[X:.*]] = graph.host_call "BlockChannels"(%arg0)
// CHECK: %[[A:.*]] = graph.host_call "BlockedConv"(%[[X]], %{{.*}}) {kernel_shape = array<i64: 3, 3>} : (tensor<?x2x?x?x16xf32>, tensor<4x1x9x16x16xf32>) -> tensor<?x4x?x?x16xf32>
// CHECK: %[[B:.*]] = graph.host_call "Concat"(%[[A]], %[[A]])
// CHECK: graph.host_call "BlockedConv"(%[[B]], %{{.*}}) {kernel_shape = array<i64: 1, 1>} : (tensor<?x8x?x?x16xf32>, tensor<8x1x1x16x16xf32>)
func.func @grouped(%x: tensor<?x32x?x?xf32>) -> tensor<*xf32> {
  %w0 = graph.constant dense<1.0> : tensor<64x16x3x3xf32>
  %w1 = graph.constant dense<1.0> : tensor<128x4x1x1xf32>
  %0 = graph.host_call "Conv"(%x, %w0) {group = array<i64: 2>} : (tensor<?x32x?x?xf32>, tensor<64x16x3x3xf32>) -> tensor<*xf32>
  %1 = graph.host_call "Concat"(%0, %0) {axis = array<i64: 1>} : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
  %2 = graph.host_call "Conv"(%1, %w1) {group = array<i64: 32>} : (tensor<*xf32>, tensor<128x4x1x1xf32>) -> tensor<*xf32>
  return %2 : tensor<*xf32>
}

// -----

// The weights of two groups of two channels, as those of one group of four.
// CHECK-LABEL: func @small_groups
// CHECK: graph.constant dense<{{\[\[\[\[\[}}1.0{{.*}}, 1.0{{.*}}, 1.0{{.*}}, 1.0{{.*}}, 0.0{{.*}}{{\], \[}}1.0{{.*}}, 0.0{{.*}}{{\], \[}}0.0{{.*}}, 0.0{{.*}}, 0.0{{.*}}, 0.0{{.*}}, 1.0{{.*}} : tensor<1x1x1x4x16xf32>
func.func @small_groups(%x: tensor<?x4x?x?xf32>) -> tensor<*xf32> {
  %w = graph.constant dense<1.0> : tensor<8x2x1x1xf32>
  %0 = graph.host_call "Conv"(%x, %w) {group = array<i64: 2>} : (tensor<?x4x?x?xf32>, tensor<8x2x1x1xf32>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}

// -----

// Convolutions over one dim are those of images of one row, with what is between them. One takes over
// a pad of zeros; a pad of other numbers ends the chain, and what is pointwise begins none.
// CHECK-LABEL: func @lines
// CHECK: %[[X:.*]] = graph.host_call "Unsqueeze"(%arg0, %{{.*}}) {} : (tensor<?x32x?xf32>, tensor<1xi64>) -> tensor<?x32x1x?xf32>
// CHECK: %[[B:.*]] = graph.host_call "BlockChannels"(%[[X]])
// CHECK: %[[C:.*]] = graph.host_call "BlockedConv"(%[[B]], %{{.*}}) {dilations = array<i64: 1, 2>, kernel_shape = array<i64: 1, 3>, pads = array<i64: 0, 5, 0, 1>, strides = array<i64: 1, 1>} : (tensor<?x2x?x?x16xf32>, tensor<1x2x3x16x16xf32>)
// CHECK: %[[D:.*]] = graph.host_call "BlockedDepthwiseConv"(%[[C]], %{{.*}}) {kernel_shape = array<i64: 1, 3>, pads = array<i64: 0, 1, 0, 1>}
// CHECK: %[[E:.*]] = graph.host_call "Add"(%[[C]], %[[D]])
// CHECK: %[[F:.*]] = graph.host_call "MaxPool"(%[[E]]) {kernel_shape = array<i64: 1, 2, 1>, strides = array<i64: 1, 2, 1>}
// CHECK: %[[G:.*]] = graph.host_call "UnblockChannels"(%[[F]]) {channels = array<i64: 16>} : (tensor<?x1x?x?x16xf32>) -> tensor<?x?x1x?xf32>
// CHECK: %[[H:.*]] = graph.host_call "Squeeze"(%[[G]], %{{.*}})
// CHECK: graph.host_call "Pad"(%[[H]],
// CHECK: graph.host_call "Conv"(%arg1,
func.func @lines(%x: tensor<?x32x?xf32>, %z: tensor<?x32x?xf32>) -> (tensor<*xf32>, tensor<*xf32>) {
  %w0 = graph.constant dense<1.0> : tensor<16x32x3xf32>
  %w1 = graph.constant dense<1.0> : tensor<16x1x3xf32>
  %w2 = graph.constant dense<1.0> : tensor<16x32x1xf32>
  %pads = graph.constant dense<[0, 0, 4, 0, 0, 0]> : tensor<6xi64>
  %one = graph.constant dense<1.0> : tensor<f32>
  %p = graph.host_call "Pad"(%x, %pads) {mode = "constant"} : (tensor<?x32x?xf32>, tensor<6xi64>) -> tensor<*xf32>
  %0 = graph.host_call "Conv"(%p, %w0) {dilations = array<i64: 2>, pads = array<i64: 1, 1>, strides = array<i64: 1>} : (tensor<*xf32>, tensor<16x32x3xf32>) -> tensor<*xf32>
  %1 = graph.host_call "Conv"(%0, %w1) {group = array<i64: 16>, pads = array<i64: 1, 1>} : (tensor<*xf32>, tensor<16x1x3xf32>) -> tensor<*xf32>
  %2 = graph.host_call "Add"(%0, %1) {} : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
  %3 = graph.host_call "MaxPool"(%2) {kernel_shape = array<i64: 2>, strides = array<i64: 2>} : (tensor<*xf32>) -> tensor<*xf32>
  %4 = graph.host_call "Pad"(%3, %pads, %one) {mode = "constant"} : (tensor<*xf32>, tensor<6xi64>, tensor<f32>) -> tensor<*xf32>
  %5 = graph.host_call "Conv"(%z, %w2) {} : (tensor<?x32x?xf32>, tensor<16x32x1xf32>) -> tensor<*xf32>
  return %4, %5 : tensor<*xf32>, tensor<*xf32>
}

// -----

// A convolution reads the images of a join in place, also those that fill no whole blocks, each of
// which begins with a block of its own in the weights. What else reads the join gets it as one image.
// CHECK-LABEL: func @joined
// CHECK: %[[A:.*]] = graph.host_call "BlockedConv"(%arg0, %{{.*}}) {{.*}} -> tensor<?x1x?x?x16xf32>
// CHECK: %[[B:.*]] = graph.host_call "BlockedConv"(%arg0, %{{.*}}) {channels = array<i64: 24>, {{.*}} -> tensor<?x2x?x?x16xf32>
// CHECK: %[[C:.*]] = graph.host_call "BlockedConv"(%[[A]], %{{.*}}, %[[B]], %[[A]]) at [0, 1, 4, 5] {kernel_shape = array<i64: 1, 1>} : (tensor<?x1x?x?x16xf32>, tensor<1x4x1x16x16xf32>, tensor<?x2x?x?x16xf32>, tensor<?x1x?x?x16xf32>)
// CHECK: %[[D:.*]] = graph.host_call "Concat"(%[[A]], %[[C]]) {axis = array<i64: 1>} {{.*}} -> tensor<?x2x?x?x16xf32>
// CHECK: graph.host_call "MaxPool"(%[[D]])
// CHECK: graph.host_call "BlockedDepthwiseConv"(%[[D]],
// CHECK-NOT: "Concat"
func.func @joined(%x: tensor<?x3x?x?xf32>) -> (tensor<*xf32>, tensor<*xf32>) {
  %w0 = graph.constant dense<1.0> : tensor<16x3x3x3xf32>
  %w1 = graph.constant dense<1.0> : tensor<24x3x3x3xf32>
  %w2 = graph.constant dense<1.0> : tensor<16x56x1x1xf32>
  %w3 = graph.constant dense<1.0> : tensor<32x1x3x3xf32>
  %0 = graph.host_call "Conv"(%x, %w0) {} : (tensor<?x3x?x?xf32>, tensor<16x3x3x3xf32>) -> tensor<*xf32>
  %1 = graph.host_call "Conv"(%x, %w1) {} : (tensor<?x3x?x?xf32>, tensor<24x3x3x3xf32>) -> tensor<*xf32>
  %2 = graph.host_call "Concat"(%0, %1) {axis = array<i64: 1>} : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
  %3 = graph.host_call "Concat"(%2, %0) {axis = array<i64: 1>} : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
  %4 = graph.host_call "Conv"(%3, %w2) {} : (tensor<*xf32>, tensor<16x56x1x1xf32>) -> tensor<*xf32>
  %5 = graph.host_call "Concat"(%0, %4) {axis = array<i64: 1>} : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
  %6 = graph.host_call "MaxPool"(%5) {kernel_shape = array<i64: 2, 2>} : (tensor<*xf32>) -> tensor<*xf32>
  %7 = graph.host_call "Conv"(%5, %w3) {group = array<i64: 32>} : (tensor<*xf32>, tensor<32x1x3x3xf32>) -> tensor<*xf32>
  return %6, %7 : tensor<*xf32>, tensor<*xf32>
}

// -----

// Of more images than a convolution reads, whole blocks are joined before it.
// CHECK-LABEL: func @many
// CHECK: %[[A:.*]] = graph.host_call "BlockedConv"(%arg0,
// CHECK: %[[B:.*]] = graph.host_call "Concat"(%[[A]], %[[A]], %[[A]], %[[A]], %[[A]], %[[A]], %[[A]], %[[A]], %[[A]])
// CHECK: graph.host_call "BlockedConv"(%[[B]],
func.func @many(%x: tensor<?x3x?x?xf32>) -> tensor<*xf32> {
  %w0 = graph.constant dense<1.0> : tensor<16x3x3x3xf32>
  %w1 = graph.constant dense<1.0> : tensor<16x144x1x1xf32>
  %0 = graph.host_call "Conv"(%x, %w0) {} : (tensor<?x3x?x?xf32>, tensor<16x3x3x3xf32>) -> tensor<*xf32>
  %1 = graph.host_call "Concat"(%0, %0, %0, %0, %0, %0, %0, %0, %0) {axis = array<i64: 1>} : (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
  %2 = graph.host_call "Conv"(%1, %w1) {} : (tensor<*xf32>, tensor<16x144x1x1xf32>) -> tensor<*xf32>
  return %2 : tensor<*xf32>
}

// -----

// Channels come last where only such an order is read: behind a transpose, or behind a Reshape that
// divides them into groups.
// CHECK-LABEL: func @last
// CHECK-SAME: %[[S:[a-z0-9]+]]: tensor<5xi64>
// CHECK: %[[A:.*]] = graph.host_call "BlockedConv"
// CHECK: %[[B:.*]] = graph.host_call "UnblockChannels"(%[[A]]) {channels = array<i64: 21>, last = array<i64: 1>} : (tensor<?x2x?x?x16xf32>) -> tensor<*xf32>
// CHECK: %[[C:.*]] = graph.host_call "UnblockChannels"(%[[A]], %[[S]]) {channels = array<i64: 21>, last = array<i64: 1>} : (tensor<?x2x?x?x16xf32>, tensor<5xi64>) -> tensor<*xf32>
// CHECK: return %[[B]], %[[C]]
func.func @last(%x: tensor<?x3x?x?xf32>, %s: tensor<5xi64>) -> (tensor<*xf32>, tensor<*xf32>) {
  %w = graph.constant dense<1.0> : tensor<21x3x1x1xf32>
  %0 = graph.host_call "Conv"(%x, %w) {} : (tensor<?x3x?x?xf32>, tensor<21x3x1x1xf32>) -> tensor<*xf32>
  %1 = graph.host_call "Transpose"(%0) {perm = array<i64: 0, 2, 3, 1>} : (tensor<*xf32>) -> tensor<*xf32>
  %2 = graph.host_call "Reshape"(%0, %s) {} : (tensor<*xf32>, tensor<5xi64>) -> tensor<*xf32>
  %3 = graph.host_call "Transpose"(%2) {perm = array<i64: 0, 1, 3, 4, 2>} : (tensor<*xf32>) -> tensor<*xf32>
  return %1, %3 : tensor<*xf32>, tensor<*xf32>
}

// -----

// What a Split along such channels takes is stored from the blocks, the widest part together with
// what a Concat joins to it. A narrow part, and a join along another dim, are calls of their own.
// CHECK-LABEL: func @split
// CHECK: %[[A:.*]] = graph.host_call "BlockedConv"
// CHECK: %[[C:.*]] = graph.host_call "UnblockChannels"(%[[A]]) {channels = array<i64: 24>, columns = array<i64: 2, 6, 24>, last = array<i64: 1>}
// CHECK: %[[B:.*]] = graph.host_call "UnblockChannels"(%[[A]]) {channels = array<i64: 24>, columns = array<i64: 0, 2, 24>, last = array<i64: 1>} : (tensor<?x2x?x?x16xf32>) -> tensor<*xf32>
// CHECK: %[[D:.*]] = graph.host_call "Exp"(%[[B]])
// CHECK: %[[E:.*]] = graph.host_call "UnblockChannels"(%[[A]], %[[D]], %[[C]]) at [0, 2, 3] {before = array<i64: 1>, channels = array<i64: 24>, columns = array<i64: 6, 24, 24>, last = array<i64: 1>}
// CHECK: %[[F:.*]] = graph.host_call "UnblockChannels"(%{{.*}}) {channels = array<i64: 24>, columns = array<i64: 0, 20, 24>, last = array<i64: 1>}
// CHECK: %[[G:.*]] = graph.host_call "Concat"(%[[F]], %[[F]]) {axis = array<i64: 1>}
// CHECK: return %[[E]], %[[G]]
func.func @split(%x: tensor<?x3x?x?xf32>) -> (tensor<*xf32>, tensor<*xf32>) {
  %w = graph.constant dense<1.0> : tensor<24x3x1x1xf32>
  %s = graph.constant dense<[2, 4, 18]> : tensor<3xi64>
  %t = graph.constant dense<[20, 4]> : tensor<2xi64>
  %0 = graph.host_call "Conv"(%x, %w) {} : (tensor<?x3x?x?xf32>, tensor<24x3x1x1xf32>) -> tensor<*xf32>
  %1 = graph.host_call "Transpose"(%0) {perm = array<i64: 0, 2, 3, 1>} : (tensor<*xf32>) -> tensor<*xf32>
  %2, %3, %4 = graph.host_call "Split"(%1, %s) {axis = array<i64: -1>} : (tensor<*xf32>, tensor<3xi64>) -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>)
  %5 = graph.host_call "Exp"(%2) {} : (tensor<*xf32>) -> tensor<*xf32>
  %6 = graph.host_call "Concat"(%5, %4, %3) {axis = array<i64: 3>} : (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
  %7 = graph.host_call "Conv"(%x, %w) {strides = array<i64: 2, 2>} : (tensor<?x3x?x?xf32>, tensor<24x3x1x1xf32>) -> tensor<*xf32>
  %8 = graph.host_call "Transpose"(%7) {perm = array<i64: 0, 2, 3, 1>} : (tensor<*xf32>) -> tensor<*xf32>
  %9, %10 = graph.host_call "Split"(%8, %t) {axis = array<i64: 3>} : (tensor<*xf32>, tensor<2xi64>) -> (tensor<*xf32>, tensor<*xf32>)
  %11 = graph.host_call "Concat"(%9, %9) {axis = array<i64: 1>} : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
  return %6, %11 : tensor<*xf32>, tensor<*xf32>
}

// -----

// Rows stay where something else reads them, and where the Split is along another dim or by sizes
// that are computed.
// CHECK-LABEL: func @rows
// CHECK-COUNT-3: graph.host_call "Split"
func.func @rows(%x: tensor<?x3x?x?xf32>, %s: tensor<2xi64>) -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>) {
  %w = graph.constant dense<1.0> : tensor<24x3x1x1xf32>
  %t = graph.constant dense<[20, 4]> : tensor<2xi64>
  %0 = graph.host_call "Conv"(%x, %w) {} : (tensor<?x3x?x?xf32>, tensor<24x3x1x1xf32>) -> tensor<*xf32>
  %1 = graph.host_call "Transpose"(%0) {perm = array<i64: 0, 2, 3, 1>} : (tensor<*xf32>) -> tensor<*xf32>
  %2, %3 = graph.host_call "Split"(%1, %t) {axis = array<i64: 3>} : (tensor<*xf32>, tensor<2xi64>) -> (tensor<*xf32>, tensor<*xf32>)
  %4 = graph.host_call "Conv"(%x, %w) {strides = array<i64: 2, 2>} : (tensor<?x3x?x?xf32>, tensor<24x3x1x1xf32>) -> tensor<*xf32>
  %5 = graph.host_call "Transpose"(%4) {perm = array<i64: 0, 2, 3, 1>} : (tensor<*xf32>) -> tensor<*xf32>
  %6, %7 = graph.host_call "Split"(%5, %t) {axis = array<i64: 2>} : (tensor<*xf32>, tensor<2xi64>) -> (tensor<*xf32>, tensor<*xf32>)
  %8 = graph.host_call "Conv"(%x, %w) {strides = array<i64: 3, 3>} : (tensor<?x3x?x?xf32>, tensor<24x3x1x1xf32>) -> tensor<*xf32>
  %9 = graph.host_call "Transpose"(%8) {perm = array<i64: 0, 2, 3, 1>} : (tensor<*xf32>) -> tensor<*xf32>
  %10, %11 = graph.host_call "Split"(%9, %s) {axis = array<i64: 3>} : (tensor<*xf32>, tensor<2xi64>) -> (tensor<*xf32>, tensor<*xf32>)
  return %1, %2, %6, %10 : tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>
}

// -----

// Planes are stored where something else reads them: another order, zeros that stand for
// themselves, and a Reshape with a second use.
// CHECK-LABEL: func @planes
// CHECK: %[[A:.*]] = graph.host_call "UnblockChannels"(%{{.*}}) {channels = array<i64: 21>} :
// CHECK-NOT: "UnblockChannels"
// CHECK: graph.host_call "Transpose"(%[[A]])
// CHECK-COUNT-2: graph.host_call "Reshape"(%[[A]],
func.func @planes(%x: tensor<?x3x?x?xf32>, %s: tensor<5xi64>) -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>) {
  %w = graph.constant dense<1.0> : tensor<21x3x1x1xf32>
  %0 = graph.host_call "Conv"(%x, %w) {} : (tensor<?x3x?x?xf32>, tensor<21x3x1x1xf32>) -> tensor<*xf32>
  %1 = graph.host_call "Transpose"(%0) {perm = array<i64: 0, 3, 2, 1>} : (tensor<*xf32>) -> tensor<*xf32>
  %2 = graph.host_call "Reshape"(%0, %s) {allowzero = array<i64: 1>} : (tensor<*xf32>, tensor<5xi64>) -> tensor<*xf32>
  %3 = graph.host_call "Transpose"(%2) {perm = array<i64: 0, 1, 3, 4, 2>} : (tensor<*xf32>) -> tensor<*xf32>
  %4 = graph.host_call "Reshape"(%0, %s) {} : (tensor<*xf32>, tensor<5xi64>) -> tensor<*xf32>
  %5 = graph.host_call "Transpose"(%4) {perm = array<i64: 0, 1, 3, 4, 2>} : (tensor<*xf32>) -> tensor<*xf32>
  return %1, %3, %4, %5 : tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>
}
