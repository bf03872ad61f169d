// RUN: atc-opt %s -split-input-file --kernel-assign-layout | FileCheck %s

// A convolution reads the image in a block of its three channels and makes
// blocks of 16; the result of the function is plain.

// CHECK-LABEL: func @image
// CHECK-SAME: (%[[X:.*]]: tensor<1x3x8x8xf32>)
func.func @image(%x: tensor<1x3x8x8xf32>) -> tensor<1x32x8x8xf32> {
  %w = graph.constant dense<1.0> : tensor<32x3x1x1xf32>
  // CHECK: %[[IN:.*]] = graph.relayout %[[X]] {{.*}} -> tensor<1x3x8x8xf32, #graph.layout<block = 3, halo = [0, 0, 0, 0]>>
  // CHECK: %[[CONV:.*]] = graph.conv %[[IN]]{{.*}} -> tensor<1x32x8x8xf32, #graph.layout<block = 16, halo = [0, 0, 0, 0]>>
  %0 = graph.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x3x8x8xf32>, tensor<32x3x1x1xf32>) -> tensor<1x32x8x8xf32>
  // CHECK: %[[OUT:.*]] = graph.relayout %[[CONV]] {{.*}} -> tensor<1x32x8x8xf32>
  // CHECK: return %[[OUT]]
  return %0 : tensor<1x32x8x8xf32>
}

// -----

// More than four channels come in blocks of 16, also in front of a pool.

// CHECK-LABEL: func @pool
func.func @pool(%x: tensor<1x3x8x8xf32>) -> tensor<1x3x4x4xf32> {
  // CHECK: graph.relayout %{{.*}} -> tensor<1x3x8x8xf32, #graph.layout<block = 16, halo = [0, 0, 0, 0]>>
  // CHECK: graph.max_pool {{.*}} -> tensor<1x3x4x4xf32, #graph.layout<block = 16, halo = [0, 0, 0, 0]>>
  %0 = graph.max_pool %x {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x3x8x8xf32>) -> tensor<1x3x4x4xf32>
  return %0 : tensor<1x3x4x4xf32>
}

// -----

// What works on plain tensors only is left alone.

// CHECK-LABEL: func @plain
// CHECK-NOT: graph.relayout
// CHECK-NOT: graph.layout
func.func @plain(%x: tensor<2x16x8x8xf32>, %y: tensor<2x16x8x8xf32>) -> tensor<2x16x8x8xf32> {
  %0 = graph.matmul %x, %y : (tensor<2x16x8x8xf32>, tensor<2x16x8x8xf32>) -> tensor<2x16x8x8xf32>
  %1 = graph.relu %0 : (tensor<2x16x8x8xf32>) -> tensor<2x16x8x8xf32>
  %2 = graph.softmax %1 {axis = 3 : i64} : (tensor<2x16x8x8xf32>) -> tensor<2x16x8x8xf32>
  return %2 : tensor<2x16x8x8xf32>
}

// -----

// Elementwise ops between two convolutions stay in blocks: constants of one
// number a channel are relayouted, those of lower rank reshaped first, scalars
// have blocks of one channel.

// CHECK-LABEL: func @elementwise
func.func @elementwise(%x: tensor<1x16x8x8xf32>) -> tensor<1x16x8x8xf32> {
  %w = graph.constant dense<1.0> : tensor<16x16x1x1xf32>
  %scale = graph.constant dense<2.0> : tensor<1x16x1x1xf32>
  %shift = graph.constant dense<3.0> : tensor<16x1x1xf32>
  %half = graph.constant dense<0.5> : tensor<f32>
  // CHECK: graph.conv
  %0 = graph.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x16x8x8xf32>, tensor<16x16x1x1xf32>) -> tensor<1x16x8x8xf32>
  // CHECK: %[[SCALE:.*]] = graph.relayout {{.*}} -> tensor<1x16x1x1xf32, #graph.layout<block = 16, halo = [0, 0, 0, 0]>>
  // CHECK: graph.mul %{{.*}}, %[[SCALE]] {{.*}} -> tensor<1x16x8x8xf32, #graph.layout<block = 16, halo = [0, 0, 0, 0]>>
  %1 = graph.mul %0, %scale : (tensor<1x16x8x8xf32>, tensor<1x16x1x1xf32>) -> tensor<1x16x8x8xf32>
  // CHECK: %[[RESHAPE:.*]] = graph.reshape %{{.*}} : (tensor<16x1x1xf32>) -> tensor<1x16x1x1xf32>
  // CHECK: graph.relayout %[[RESHAPE]] {{.*}} -> tensor<1x16x1x1xf32, #graph.layout<block = 16, halo = [0, 0, 0, 0]>>
  // CHECK: graph.add
  %2 = graph.add %1, %shift : (tensor<1x16x8x8xf32>, tensor<16x1x1xf32>) -> tensor<1x16x8x8xf32>
  // CHECK: graph.relayout {{.*}} -> tensor<1x1x1x1xf32, #graph.layout<block = 1, halo = [0, 0, 0, 0]>>
  // CHECK: graph.mul
  // CHECK-NOT: graph.relayout
  // CHECK: graph.conv
  %3 = graph.mul %2, %half : (tensor<1x16x8x8xf32>, tensor<f32>) -> tensor<1x16x8x8xf32>
  %4 = graph.conv %3, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x16x8x8xf32>, tensor<16x16x1x1xf32>) -> tensor<1x16x8x8xf32>
  return %4 : tensor<1x16x8x8xf32>
}

// -----

// One channel that broadcasts over all is no block of 16.

// CHECK-LABEL: func @one_channel
func.func @one_channel(%x: tensor<1x32x8x8xf32>) -> tensor<1x32x4x4xf32> {
  %w = graph.constant dense<1.0> : tensor<1x32x1x1xf32>
  // CHECK: %[[CONV:.*]] = graph.conv
  %0 = graph.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x32x8x8xf32>, tensor<1x32x1x1xf32>) -> tensor<1x1x8x8xf32>
  // CHECK: %[[MASK:.*]] = graph.relayout %[[CONV]] {{.*}} -> tensor<1x1x8x8xf32, #graph.layout<block = 1, halo = [0, 0, 0, 0]>>
  // CHECK: graph.mul %{{.*}}, %[[MASK]] {{.*}} -> tensor<1x32x8x8xf32, #graph.layout<block = 16, halo = [0, 0, 0, 0]>>
  %1 = graph.mul %x, %0 : (tensor<1x32x8x8xf32>, tensor<1x1x8x8xf32>) -> tensor<1x32x8x8xf32>
  %2 = graph.max_pool %1 {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x32x8x8xf32>) -> tensor<1x32x4x4xf32>
  return %2 : tensor<1x32x4x4xf32>
}

// -----

// Integers are not divided in blocks that have lanes without a channel.

// CHECK-LABEL: func @trap
func.func @trap(%x: tensor<1x3x8x8xf32>, %d: tensor<1x3x1x1xi32>) -> tensor<1x3x4x4xf32> {
  %0 = graph.cast %x : (tensor<1x3x8x8xf32>) -> tensor<1x3x8x8xi32>
  // CHECK: graph.div {{.*}} -> tensor<1x3x8x8xi32>
  %1 = graph.div %0, %d : (tensor<1x3x8x8xi32>, tensor<1x3x1x1xi32>) -> tensor<1x3x8x8xi32>
  %2 = graph.cast %1 : (tensor<1x3x8x8xi32>) -> tensor<1x3x8x8xf32>
  %3 = graph.max_pool %2 {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x3x8x8xf32>) -> tensor<1x3x4x4xf32>
  return %3 : tensor<1x3x4x4xf32>
}

// -----

// Global pooling reads blocks; what follows on one pixel is plain.

// CHECK-LABEL: func @global_pool
func.func @global_pool(%x: tensor<1x32x8x8xf32>) -> tensor<1x32xf32> {
  %0 = graph.max_pool %x {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x32x8x8xf32>) -> tensor<1x32x4x4xf32>
  // CHECK: %[[POOL:.*]] = graph.max_pool
  // CHECK-NOT: graph.relayout %[[POOL]]
  // CHECK: %[[MEAN:.*]] = graph.reduce %[[POOL]] {{.*}} -> tensor<1x32x1x1xf32
  // CHECK: graph.reshape {{.*}} : (tensor<1x32x1x1xf32>) -> tensor<1x32xf32>
  %1 = graph.reduce %0 {kind = #graph<reduce_kind mean>, axes = array<i64: 2, 3>, keepdims = false} : (tensor<1x32x4x4xf32>) -> tensor<1x32xf32>
  return %1 : tensor<1x32xf32>
}

// -----

// A tensor with a plain and several blocked users has one relayout, and ops that
// take either go where fewer bytes move.

// CHECK-LABEL: func @shared
// CHECK-SAME: (%[[X:.*]]: tensor<1x32x8x8xf32>)
func.func @shared(%x: tensor<1x32x8x8xf32>) -> (tensor<1x32x4x4xf32>, tensor<1x32x4x4xf32>, tensor<1x32x8x8xf32>) {
  // CHECK: graph.relayout %[[X]]
  // CHECK-NOT: graph.relayout %[[X]]
  %0 = graph.max_pool %x {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x32x8x8xf32>) -> tensor<1x32x4x4xf32>
  %1 = graph.average_pool %x {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x32x8x8xf32>) -> tensor<1x32x4x4xf32>
  // CHECK: graph.relu %[[X]] : (tensor<1x32x8x8xf32>) -> tensor<1x32x8x8xf32>
  %2 = graph.relu %x : (tensor<1x32x8x8xf32>) -> tensor<1x32x8x8xf32>
  return %0, %1, %2 : tensor<1x32x4x4xf32>, tensor<1x32x4x4xf32>, tensor<1x32x8x8xf32>
}

// -----

// A map that brings many channels to few results is cheaper to leave plain than
// to blow up: an image of one channel is not stored in 16 lanes.

// CHECK-LABEL: func @thin
func.func @thin(%x: tensor<1x1x64x64xf32>) -> tensor<1x32x64x64xf32> {
  %w = graph.constant dense<1.0> : tensor<32x1x1x1xf32>
  // CHECK: graph.exp %{{.*}} -> tensor<1x1x64x64xf32>
  // CHECK: graph.relayout {{.*}} -> tensor<1x1x64x64xf32, #graph.layout<block = 1, halo = [0, 0, 0, 0]>>
  %0 = graph.exp %x : (tensor<1x1x64x64xf32>) -> tensor<1x1x64x64xf32>
  %1 = graph.conv %0, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x1x64x64xf32>, tensor<32x1x1x1xf32>) -> tensor<1x32x64x64xf32>
  return %1 : tensor<1x32x64x64xf32>
}

// -----

// Concats and slices of channels stay in blocks, resizes of H and W do too.

// CHECK-LABEL: func @channels
func.func @channels(%x: tensor<1x32x4x4xf32>) -> tensor<1x16x4x4xf32> {
  %0 = graph.max_pool %x {kernel = array<i64: 1, 1>, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x32x4x4xf32>) -> tensor<1x32x4x4xf32>
  // CHECK: graph.slice {{.*}} -> tensor<1x16x4x4xf32, #graph.layout<block = 16, halo = [0, 0, 0, 0]>>
  %1 = graph.slice %0 {starts = array<i64: 0, 16, 0, 0>, sizes = array<i64: 1, 16, 4, 4>, steps = array<i64: 1, 1, 1, 1>} : (tensor<1x32x4x4xf32>) -> tensor<1x16x4x4xf32>
  // CHECK: graph.concat {{.*}} -> tensor<1x48x4x4xf32, #graph.layout<block = 16, halo = [0, 0, 0, 0]>>
  %2 = graph.concat %0, %1 {axis = 1 : i64} : (tensor<1x32x4x4xf32>, tensor<1x16x4x4xf32>) -> tensor<1x48x4x4xf32>
  // CHECK: graph.resize {{.*}} -> tensor<1x48x8x8xf32, #graph.layout<block = 16, halo = [0, 0, 0, 0]>>
  %3 = graph.resize %2 {scales = array<f64: 1.0, 1.0, 2.0, 2.0>, mode = #graph<resize_mode nearest>, coordinates = #graph<coordinate_mode asymmetric>, nearest = #graph<nearest_mode floor>} : (tensor<1x48x4x4xf32>) -> tensor<1x48x8x8xf32>
  %w = graph.constant dense<1.0> : tensor<16x48x2x2xf32>
  %4 = graph.conv %3, %w {strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x48x8x8xf32>, tensor<16x48x2x2xf32>) -> tensor<1x16x4x4xf32>
  return %4 : tensor<1x16x4x4xf32>
}

// -----

// A transposition reads blocks and writes blocks itself.

// CHECK-LABEL: func @transpose
// CHECK-SAME: (%[[X:.*]]: tensor<1x8x8x32xf32>)
func.func @transpose(%x: tensor<1x8x8x32xf32>) -> tensor<1x4x4x32xf32> {
  // CHECK-NOT: graph.relayout
  // CHECK: graph.transpose %[[X]] {{.*}} -> tensor<1x32x8x8xf32, #graph.layout<block = 16, halo = [0, 0, 0, 0]>>
  %0 = graph.transpose %x {permutation = array<i64: 0, 3, 1, 2>} : (tensor<1x8x8x32xf32>) -> tensor<1x32x8x8xf32>
  // CHECK: graph.max_pool
  %1 = graph.max_pool %0 {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x32x8x8xf32>) -> tensor<1x32x4x4xf32>
  // CHECK-NOT: graph.relayout
  // CHECK: graph.transpose {{.*}}#graph.layout{{.*}} -> tensor<1x4x4x32xf32>
  %2 = graph.transpose %1 {permutation = array<i64: 0, 2, 3, 1>} : (tensor<1x32x4x4xf32>) -> tensor<1x4x4x32xf32>
  // CHECK: return
  return %2 : tensor<1x4x4x32xf32>
}

// -----

// Where both storages cost the same, blocks win and the relayout comes last.

// CHECK-LABEL: func @last
func.func @last(%x: tensor<1x32x8x8xf32>) -> tensor<1x32x4x4xf32> {
  %0 = graph.max_pool %x {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x32x8x8xf32>) -> tensor<1x32x4x4xf32>
  // CHECK: %[[EXP:.*]] = graph.exp {{.*}} -> tensor<1x32x4x4xf32, #graph.layout<block = 16, halo = [0, 0, 0, 0]>>
  // CHECK: %[[OUT:.*]] = graph.relayout %[[EXP]]
  // CHECK: return %[[OUT]]
  %1 = graph.exp %0 : (tensor<1x32x4x4xf32>) -> tensor<1x32x4x4xf32>
  return %1 : tensor<1x32x4x4xf32>
}

// -----

// The cube multiplies lanes without a channel by zero, and must find finite numbers there: a quotient
// by a constant is computed in blocks, one by numbers that may be zero is not.

// CHECK-LABEL: func @quotients
func.func @quotients(%x: tensor<1x24x8x8xf16>, %d: tensor<1x24x8x8xf16>) -> tensor<1x24x8x8xf16> {
  %w = graph.constant dense<1.0> : tensor<24x24x1x1xf16>
  %0 = graph.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x24x8x8xf16>, tensor<24x24x1x1xf16>) -> tensor<1x24x8x8xf16>
  // CHECK: graph.map {{.*}} -> tensor<1x24x8x8xf16, #graph.layout<block = 16
  %1 = graph.map %0 : (tensor<1x24x8x8xf16>) -> tensor<1x24x8x8xf16> {
  ^bb0(%a: f16):
    %c = arith.constant 3.0 : f16
    %q = arith.divf %a, %c : f16
    graph.yield %q : f16
  }
  %2 = graph.conv %1, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x24x8x8xf16>, tensor<24x24x1x1xf16>) -> tensor<1x24x8x8xf16>
  // CHECK: graph.map {{.*}} -> tensor<1x24x8x8xf16> {
  %3 = graph.map %2, %d : (tensor<1x24x8x8xf16>, tensor<1x24x8x8xf16>) -> tensor<1x24x8x8xf16> {
  ^bb0(%a: f16, %b: f16):
    %q = arith.divf %a, %b : f16
    graph.yield %q : f16
  }
  %4 = graph.conv %3, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x24x8x8xf16>, tensor<24x24x1x1xf16>) -> tensor<1x24x8x8xf16>
  return %4 : tensor<1x24x8x8xf16>
}

// -----

// What may be infinite or NaN for lanes without a channel, or becomes large there, is not computed
// in blocks: exponentials behind additions, products of two tensors, choices of infinite constants.

// CHECK-LABEL: func @infinite_lanes
func.func @infinite_lanes(%x: tensor<1x24x8x8xf16>) -> tensor<1x24x8x8xf16> {
  %w = graph.constant dense<1.0> : tensor<24x24x1x1xf16>
  %c0 = graph.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x24x8x8xf16>, tensor<24x24x1x1xf16>) -> tensor<1x24x8x8xf16>
  // CHECK: graph.map {{.*}} -> tensor<1x24x8x8xf16> {
  %m0 = graph.map %c0 : (tensor<1x24x8x8xf16>) -> tensor<1x24x8x8xf16> {
  ^bb0(%a: f16):
    %c = arith.constant 12.5 : f16
    %s = arith.addf %a, %c : f16
    %r = math.exp %s : f16
    graph.yield %r : f16
  }
  %c1 = graph.conv %m0, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x24x8x8xf16>, tensor<24x24x1x1xf16>) -> tensor<1x24x8x8xf16>
  // CHECK: graph.map {{.*}} -> tensor<1x24x8x8xf16> {
  %m1 = graph.map %c1 : (tensor<1x24x8x8xf16>) -> tensor<1x24x8x8xf16> {
  ^bb0(%a: f16):
    %r = arith.mulf %a, %a : f16
    graph.yield %r : f16
  }
  %c2 = graph.conv %m1, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x24x8x8xf16>, tensor<24x24x1x1xf16>) -> tensor<1x24x8x8xf16>
  // CHECK: graph.map {{.*}} -> tensor<1x24x8x8xf16> {
  %m2 = graph.map %c2 : (tensor<1x24x8x8xf16>) -> tensor<1x24x8x8xf16> {
  ^bb0(%a: f16):
    %c = arith.constant 300.0 : f16
    %r = arith.addf %a, %c : f16
    graph.yield %r : f16
  }
  %c3 = graph.conv %m2, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x24x8x8xf16>, tensor<24x24x1x1xf16>) -> tensor<1x24x8x8xf16>
  // CHECK: graph.map {{.*}} -> tensor<1x24x8x8xf16> {
  %m3 = graph.map %c3 : (tensor<1x24x8x8xf16>) -> tensor<1x24x8x8xf16> {
  ^bb0(%a: f16):
    %c = arith.constant 0.0 : f16
    %i = arith.constant 0xFC00 : f16
    %p = arith.cmpf ogt, %a, %c : f16
    %r = arith.select %p, %a, %i : f16
    graph.yield %r : f16
  }
  %c4 = graph.conv %m3, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x24x8x8xf16>, tensor<24x24x1x1xf16>) -> tensor<1x24x8x8xf16>
  // CHECK: graph.map {{.*}} -> tensor<1x24x8x8xf16> {
  %m4 = graph.map %c4 : (tensor<1x24x8x8xf16>) -> tensor<1x24x8x8xf16> {
  ^bb0(%a: f16):
    %c = arith.constant 5.0 : f16
    %r = arith.remf %c, %a : f16
    graph.yield %r : f16
  }
  %c5 = graph.conv %m4, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x24x8x8xf16>, tensor<24x24x1x1xf16>) -> tensor<1x24x8x8xf16>
  // CHECK: graph.map {{.*}} -> tensor<1x24x8x8xf16> {
  %m5 = graph.map %c5 : (tensor<1x24x8x8xf16>) -> tensor<1x24x8x8xf16> {
  ^bb0(%a: f16):
    %r = math.acosh %a : f16
    graph.yield %r : f16
  }
  %c6 = graph.conv %m5, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x24x8x8xf16>, tensor<24x24x1x1xf16>) -> tensor<1x24x8x8xf16>
  // CHECK: graph.map {{.*}} -> tensor<1x24x8x8xf16> {
  %m6 = graph.map %c6 : (tensor<1x24x8x8xf16>) -> tensor<1x24x8x8xf16> {
  ^bb0(%a: f16):
    %r = math.asin %a : f16
    graph.yield %r : f16
  }
  %c7 = graph.conv %m6, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x24x8x8xf16>, tensor<24x24x1x1xf16>) -> tensor<1x24x8x8xf16>
  // CHECK: graph.map {{.*}} -> tensor<1x24x8x8xf16> {
  %m7 = graph.map %c7 : (tensor<1x24x8x8xf16>) -> tensor<1x24x8x8xf16> {
  ^bb0(%a: f16):
    %r = math.acos %a : f16
    graph.yield %r : f16
  }
  %c8 = graph.conv %m7, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x24x8x8xf16>, tensor<24x24x1x1xf16>) -> tensor<1x24x8x8xf16>
  // CHECK: graph.map {{.*}} -> tensor<1x24x8x8xf16> {
  %m8 = graph.map %c8 : (tensor<1x24x8x8xf16>) -> tensor<1x24x8x8xf16> {
  ^bb0(%a: f16):
    %r = math.atanh %a : f16
    graph.yield %r : f16
  }
  %c9 = graph.conv %m8, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x24x8x8xf16>, tensor<24x24x1x1xf16>) -> tensor<1x24x8x8xf16>
  // CHECK: graph.map {{.*}} -> tensor<1x24x8x8xf16> {
  %m9 = graph.map %c9 : (tensor<1x24x8x8xf16>) -> tensor<1x24x8x8xf16> {
  ^bb0(%a: f16):
    %r = math.log %a : f16
    graph.yield %r : f16
  }
  %c10 = graph.conv %m9, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x24x8x8xf16>, tensor<24x24x1x1xf16>) -> tensor<1x24x8x8xf16>
  // CHECK: graph.map {{.*}} -> tensor<1x24x8x8xf16> {
  %m10 = graph.map %c10 : (tensor<1x24x8x8xf16>) -> tensor<1x24x8x8xf16> {
  ^bb0(%a: f16):
    %r = math.sqrt %a : f16
    graph.yield %r : f16
  }
  %y = graph.conv %m10, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x24x8x8xf16>, tensor<24x24x1x1xf16>) -> tensor<1x24x8x8xf16>
  return %y : tensor<1x24x8x8xf16>
}

// -----

// Functions with finite ranges, and products with what they make, are.

// CHECK-LABEL: func @finite_lanes
func.func @finite_lanes(%x: tensor<1x24x8x8xf16>) -> tensor<1x24x8x8xf16> {
  %w = graph.constant dense<1.0> : tensor<24x24x1x1xf16>
  %c0 = graph.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x24x8x8xf16>, tensor<24x24x1x1xf16>) -> tensor<1x24x8x8xf16>
  // CHECK: graph.map {{.*}} -> tensor<1x24x8x8xf16, #graph.layout<block = 16
  %m0 = graph.map %c0 : (tensor<1x24x8x8xf16>) -> tensor<1x24x8x8xf16> {
  ^bb0(%a: f16):
    %f = arith.extf %a : f16 to f32
    %one = arith.constant 1.0 : f32
    %n = arith.negf %f : f32
    %e = math.exp %n : f32
    %d = arith.addf %e, %one : f32
    %q = arith.divf %f, %d : f32
    %r = arith.truncf %q : f32 to f16
    graph.yield %r : f16
  }
  %c1 = graph.conv %m0, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x24x8x8xf16>, tensor<24x24x1x1xf16>) -> tensor<1x24x8x8xf16>
  // CHECK: graph.map {{.*}} -> tensor<1x24x8x8xf16, #graph.layout<block = 16
  %m1 = graph.map %c1 : (tensor<1x24x8x8xf16>) -> tensor<1x24x8x8xf16> {
  ^bb0(%a: f16):
    %f = arith.extf %a : f16 to f32
    %zero = arith.constant 0.0 : f32
    %six = arith.constant 6.0 : f32
    %three = arith.constant 3.0 : f32
    %b = arith.addf %f, %three : f32
    %l = arith.maximumf %b, %zero : f32
    %h = arith.minimumf %l, %six : f32
    %q = arith.mulf %f, %h : f32
    %r = arith.truncf %q : f32 to f16
    graph.yield %r : f16
  }
  %c2 = graph.conv %m1, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x24x8x8xf16>, tensor<24x24x1x1xf16>) -> tensor<1x24x8x8xf16>
  // CHECK: graph.map {{.*}} -> tensor<1x24x8x8xf16, #graph.layout<block = 16
  %m2 = graph.map %c2 : (tensor<1x24x8x8xf16>) -> tensor<1x24x8x8xf16> {
  ^bb0(%a: f16):
    %f = arith.extf %a : f16 to f32
    %k = arith.constant 4.471500e-02 : f32
    %s = arith.mulf %f, %f : f32
    %c = arith.mulf %s, %f : f32
    %g = arith.mulf %c, %k : f32
    %b = arith.addf %g, %f : f32
    %t = math.tanh %b : f32
    %q = arith.mulf %t, %f : f32
    %r = arith.truncf %q : f32 to f16
    graph.yield %r : f16
  }
  %c3 = graph.conv %m2, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x24x8x8xf16>, tensor<24x24x1x1xf16>) -> tensor<1x24x8x8xf16>
  // CHECK: graph.map {{.*}} -> tensor<1x24x8x8xf16, #graph.layout<block = 16
  %m3 = graph.map %c3 : (tensor<1x24x8x8xf16>) -> tensor<1x24x8x8xf16> {
  ^bb0(%a: f16):
    %f = arith.extf %a : f16 to f32
    %zero = arith.constant 0.0 : f32
    %m = arith.constant -1.0 : f32
    %e = math.exp %f : f32
    %b = arith.addf %e, %m : f32
    %p = arith.cmpf olt, %f, %zero : f32
    %q = arith.select %p, %b, %f : f32
    %r = arith.truncf %q : f32 to f16
    graph.yield %r : f16
  }
  %c = graph.conv %m3, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x24x8x8xf16>, tensor<24x24x1x1xf16>) -> tensor<1x24x8x8xf16>
  %s = graph.sigmoid %c : (tensor<1x24x8x8xf16>) -> tensor<1x24x8x8xf16>
  // CHECK: graph.mul {{.*}} -> tensor<1x24x8x8xf16, #graph.layout<block = 16
  %p = graph.mul %m3, %s : (tensor<1x24x8x8xf16>, tensor<1x24x8x8xf16>) -> tensor<1x24x8x8xf16>
  %y = graph.conv %p, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x24x8x8xf16>, tensor<24x24x1x1xf16>) -> tensor<1x24x8x8xf16>
  return %y : tensor<1x24x8x8xf16>
}

// -----

// Numbers of f32 that become f16 are no different.

// CHECK-LABEL: func @infinite_floats
func.func @infinite_floats(%x: tensor<1x24x8x8xf16>) -> tensor<1x24x8x8xf16> {
  %w = graph.constant dense<1.0> : tensor<24x24x1x1xf16>
  %0 = graph.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x24x8x8xf16>, tensor<24x24x1x1xf16>) -> tensor<1x24x8x8xf16>
  %1 = graph.cast %0 : (tensor<1x24x8x8xf16>) -> tensor<1x24x8x8xf32>
  // CHECK: graph.log {{.*}} -> tensor<1x24x8x8xf32>
  %2 = graph.log %1 : (tensor<1x24x8x8xf32>) -> tensor<1x24x8x8xf32>
  %3 = graph.cast %2 : (tensor<1x24x8x8xf32>) -> tensor<1x24x8x8xf16>
  %4 = graph.conv %3, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x24x8x8xf16>, tensor<24x24x1x1xf16>) -> tensor<1x24x8x8xf16>
  return %4 : tensor<1x24x8x8xf16>
}
