// RUN: atc-opt %s --host-block-channels --split-input-file | FileCheck %s

// A convolution of few channels reads planes, one of more reads blocks; sums, pools and conversions
// work on blocks. The sum of weights times the zero point is in the biases: 5 - 2 * 3 * 1.
// CHECK-LABEL: func @network
// CHECK-DAG: graph.constant dense<{{\[?}}-1{{.*}}> : tensor<16xi32>
// CHECK: %[[A:.*]] = graph.host_call "BlockedQLinearConv"(%arg0, {{.*}}) {channels = array<i64: 3>, kernel_shape = array<i64: 1, 1>} : (tensor<?x3x?x?xui8>, tensor<1x1x1x16x4xi8>, tensor<16xi32>, tensor<16xf32>, tensor<ui8>, tensor<ui8>) -> tensor<?x1x?x?x16xui8>
// CHECK: %[[B:.*]] = graph.host_call "BlockedQLinearConv"(%[[A]], {{.*}}) {kernel_shape = array<i64: 1, 1>} : (tensor<?x1x?x?x16xui8>, tensor<1x1x4x16x4xi8>
// CHECK: %[[C:.*]] = graph.host_call "QLinearAdd"(%[[A]], %{{.*}}, %{{.*}}, %[[B]]
// CHECK: %[[D:.*]] = graph.host_call "MaxPool"(%[[C]]) {kernel_shape = array<i64: 2, 2, 1>}
// CHECK: %[[E:.*]] = graph.host_call "QLinearGlobalAveragePool"(%[[D]], {{.*}}) {blocks = array<i64: 1>}
// CHECK: %[[F:.*]] = graph.host_call "DequantizeLinear"(%[[E]], {{.*}}) {} : {{.*}} -> tensor<?x1x?x?x16xf32>
// CHECK: graph.host_call "UnblockChannels"(%[[F]]) {channels = array<i64: 16>}
func.func @network(%x: tensor<?x3x?x?xui8>) -> tensor<*xf32> {
  %w = graph.constant dense<1> : tensor<16x3x1x1xi8>
  %v = graph.constant dense<1> : tensor<16x16x1x1xi8>
  %b = graph.constant dense<5> : tensor<16xi32>
  %s = graph.constant dense<0.5> : tensor<f32>
  %z = graph.constant dense<2> : tensor<ui8>
  %0 = graph.constant dense<0> : tensor<i8>
  %1 = graph.host_call "QLinearConv"(%x, %s, %z, %w, %s, %0, %s, %z, %b) {group = array<i64: 1>} : (tensor<?x3x?x?xui8>, tensor<f32>, tensor<ui8>, tensor<16x3x1x1xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<ui8>, tensor<16xi32>) -> tensor<*xui8>
  %2 = graph.host_call "QLinearConv"(%1, %s, %z, %v, %s, %0, %s, %z) {} : (tensor<*xui8>, tensor<f32>, tensor<ui8>, tensor<16x16x1x1xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<ui8>) -> tensor<*xui8>
  %3 = graph.host_call "QLinearAdd"(%1, %s, %z, %2, %s, %z, %s, %z) {} : (tensor<*xui8>, tensor<f32>, tensor<ui8>, tensor<*xui8>, tensor<f32>, tensor<ui8>, tensor<f32>, tensor<ui8>) -> tensor<*xui8>
  %4 = graph.host_call "MaxPool"(%3) {kernel_shape = array<i64: 2, 2>} : (tensor<*xui8>) -> tensor<*xui8>
  %5 = graph.host_call "QLinearGlobalAveragePool"(%4, %s, %z, %s, %z) {} : (tensor<*xui8>, tensor<f32>, tensor<ui8>, tensor<f32>, tensor<ui8>) -> tensor<*xui8>
  %6 = graph.host_call "DequantizeLinear"(%5, %s, %z) {} : (tensor<*xui8>, tensor<f32>, tensor<ui8>) -> tensor<*xf32>
  return %6 : tensor<*xf32>
}

// -----

// Depthwise: words of four taps of a row. Unsigned weights of zero point 128 become signed. Groups of
// 8 channels are joined to two that fill blocks.
// CHECK-LABEL: func @groups
// CHECK: %[[X:.*]] = graph.host_call "BlockChannels"(%arg0) {channels = array<i64: 32>}
// CHECK: %[[A:.*]] = graph.host_call "BlockedQLinearDepthwiseConv"(%[[X]], {{.*}}) {kernel_shape = array<i64: 3, 5>} : (tensor<?x2x?x?x16xi8>, tensor<2x3x2x16x4xi8>
// CHECK: graph.host_call "BlockedQLinearConv"(%[[A]], {{.*}}) {group = array<i64: 2>, kernel_shape = array<i64: 1, 1>} : (tensor<?x2x?x?x16xi8>, tensor<2x1x4x16x4xi8>
func.func @groups(%x: tensor<?x32x?x?xi8>) -> tensor<*xi8> {
  %w = graph.constant dense<129> : tensor<32x1x3x5xui8>
  %v = graph.constant dense<1> : tensor<32x8x1x1xi8>
  %s = graph.constant dense<0.5> : tensor<f32>
  %z = graph.constant dense<2> : tensor<i8>
  %0 = graph.constant dense<0> : tensor<i8>
  %128 = graph.constant dense<128> : tensor<ui8>
  %1 = graph.host_call "QLinearConv"(%x, %s, %z, %w, %s, %128, %s, %z) {group = array<i64: 32>} : (tensor<?x32x?x?xi8>, tensor<f32>, tensor<i8>, tensor<32x1x3x5xui8>, tensor<f32>, tensor<ui8>, tensor<f32>, tensor<i8>) -> tensor<*xi8>
  %2 = graph.host_call "QLinearConv"(%1, %s, %z, %v, %s, %0, %s, %z) {group = array<i64: 4>} : (tensor<*xi8>, tensor<f32>, tensor<i8>, tensor<32x8x1x1xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<i8>) -> tensor<*xi8>
  return %2 : tensor<*xi8>
}

// -----

// Weights with another zero point, few outputs, lines instead of images, a scale that is not known.
// CHECK-LABEL: func @stays
// CHECK-NOT: Block
// CHECK: return
func.func @stays(%x: tensor<*xui8>, %t: tensor<f32>) -> (tensor<*xui8>, tensor<*xui8>, tensor<*xui8>, tensor<*xui8>) {
  %w = graph.constant dense<1> : tensor<16x16x1x1xi8>
  %v = graph.constant dense<1> : tensor<4x16x1x1xi8>
  %l = graph.constant dense<1> : tensor<16x16x1xi8>
  %s = graph.constant dense<0.5> : tensor<f32>
  %z = graph.constant dense<2> : tensor<ui8>
  %0 = graph.constant dense<0> : tensor<i8>
  %3 = graph.constant dense<3> : tensor<i8>
  %4 = graph.host_call "QLinearConv"(%x, %s, %z, %w, %s, %3, %s, %z) {} : (tensor<*xui8>, tensor<f32>, tensor<ui8>, tensor<16x16x1x1xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<ui8>) -> tensor<*xui8>
  %5 = graph.host_call "QLinearConv"(%x, %s, %z, %v, %s, %0, %s, %z) {} : (tensor<*xui8>, tensor<f32>, tensor<ui8>, tensor<4x16x1x1xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<ui8>) -> tensor<*xui8>
  %6 = graph.host_call "QLinearConv"(%x, %s, %z, %l, %s, %0, %s, %z) {} : (tensor<*xui8>, tensor<f32>, tensor<ui8>, tensor<16x16x1xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<ui8>) -> tensor<*xui8>
  %7 = graph.host_call "QLinearConv"(%x, %t, %z, %w, %s, %0, %s, %z) {} : (tensor<*xui8>, tensor<f32>, tensor<ui8>, tensor<16x16x1x1xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<ui8>) -> tensor<*xui8>
  return %4, %5, %6, %7 : tensor<*xui8>, tensor<*xui8>, tensor<*xui8>, tensor<*xui8>
}
