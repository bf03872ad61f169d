// RUN: atc-opt %s --host-select-winograd --split-input-file | FileCheck %s
// RUN: atc-opt %s --host-select-winograd=max-error=1e-9 --split-input-file | FileCheck %s --check-prefix=EXACT

// Few channels have large images: tiles of 4x4. All inputs but the weights stay, and the weights
// that nothing reads any more go.
// CHECK-LABEL: func @few_channels
// CHECK-NOT: tensor<2x2x9x16x16xf32>
// CHECK: %[[W:.*]] = graph.constant {{.*}}tensor<2x36x32x16xf32>
// CHECK: graph.host_call "WinogradConv"(%arg0, %[[W]], %arg1) at [0, 1, 3] {activation = "Relu", kernel_shape = array<i64: 3, 3>, pads = array<i64: 1, 1, 1, 1>} : (tensor<?x2x?x?x16xf32>, tensor<2x36x32x16xf32>, tensor<?x2x?x?x16xf32>) -> tensor<?x2x?x?x16xf32>
// CHECK-NOT: tensor<2x2x9x16x16xf32>
// A form is used only where its error is small.
// EXACT-LABEL: func @few_channels
// EXACT: "BlockedConv"
func.func @few_channels(%x: tensor<?x2x?x?x16xf32>, %sum: tensor<?x2x?x?x16xf32>) -> tensor<?x2x?x?x16xf32> {
  %w = graph.constant dense<0.3> : tensor<2x2x9x16x16xf32>
  %y = graph.host_call "BlockedConv"(%x, %w, %sum) at [0, 1, 3] {activation = "Relu", kernel_shape = array<i64: 3, 3>, pads = array<i64: 1, 1, 1, 1>} : (tensor<?x2x?x?x16xf32>, tensor<2x2x9x16x16xf32>, tensor<?x2x?x?x16xf32>) -> tensor<?x2x?x?x16xf32>
  return %y : tensor<?x2x?x?x16xf32>
}

// -----

// More channels have smaller images, and weights that take longer to read than they save: the direct form.
// CHECK-LABEL: func @many_channels
// CHECK: "WinogradConv"({{.*}}tensor<16x36x256x16xf32>
// CHECK: "BlockedConv"({{.*}}tensor<32x32x9x16x16xf32>
func.func @many_channels(%x: tensor<?x16x?x?x16xf32>, %x2: tensor<?x32x?x?x16xf32>) -> (tensor<?x16x?x?x16xf32>, tensor<?x32x?x?x16xf32>) {
  %w = graph.constant dense<0.3> : tensor<16x16x9x16x16xf32>
  %w2 = graph.constant dense<0.3> : tensor<32x32x9x16x16xf32>
  %y = graph.host_call "BlockedConv"(%x, %w) {kernel_shape = array<i64: 3, 3>} : (tensor<?x16x?x?x16xf32>, tensor<16x16x9x16x16xf32>) -> tensor<?x16x?x?x16xf32>
  %y2 = graph.host_call "BlockedConv"(%x2, %w2) {kernel_shape = array<i64: 3, 3>} : (tensor<?x32x?x?x16xf32>, tensor<32x32x9x16x16xf32>) -> tensor<?x32x?x?x16xf32>
  return %y, %y2 : tensor<?x16x?x?x16xf32>, tensor<?x32x?x?x16xf32>
}

// -----

// Other strides, dilations and windows, images in planes, groups and weights that are computed stay.
// CHECK-LABEL: func @others
// CHECK-NOT: "WinogradConv"
// CHECK-COUNT-6: "BlockedConv"
// CHECK-NOT: "WinogradConv"
func.func @others(%x: tensor<?x2x?x?x16xf32>, %p: tensor<?x3x?x?xf32>, %v: tensor<2x2x9x16x16xf32>, %g: tensor<?x4x?x?x16xf32>) -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>) {
  %w = graph.constant dense<0.3> : tensor<2x2x9x16x16xf32>
  %wp = graph.constant dense<0.3> : tensor<2x1x9x3x16xf32>
  %a = graph.host_call "BlockedConv"(%x, %w) {kernel_shape = array<i64: 3, 3>, strides = array<i64: 2, 2>} : (tensor<?x2x?x?x16xf32>, tensor<2x2x9x16x16xf32>) -> tensor<*xf32>
  %b = graph.host_call "BlockedConv"(%x, %w) {kernel_shape = array<i64: 3, 3>, dilations = array<i64: 1, 2>} : (tensor<?x2x?x?x16xf32>, tensor<2x2x9x16x16xf32>) -> tensor<*xf32>
  %c = graph.host_call "BlockedConv"(%x, %w) {kernel_shape = array<i64: 1, 9>} : (tensor<?x2x?x?x16xf32>, tensor<2x2x9x16x16xf32>) -> tensor<*xf32>
  %d = graph.host_call "BlockedConv"(%p, %wp) {kernel_shape = array<i64: 3, 3>} : (tensor<?x3x?x?xf32>, tensor<2x1x9x3x16xf32>) -> tensor<*xf32>
  %e = graph.host_call "BlockedConv"(%x, %v) {kernel_shape = array<i64: 3, 3>} : (tensor<?x2x?x?x16xf32>, tensor<2x2x9x16x16xf32>) -> tensor<*xf32>
  %f = graph.host_call "BlockedConv"(%g, %w) {kernel_shape = array<i64: 3, 3>} : (tensor<?x4x?x?x16xf32>, tensor<2x2x9x16x16xf32>) -> tensor<*xf32>
  return %a, %b, %c, %d, %e, %f : tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>
}

// -----

// Weights may grow by 32 MB. Four of these convolutions are of the largest form, which adds 7.1 MB
// each; the fifth one takes the form that adds 1.8 MB instead of none.
// CHECK-LABEL: func @limited
// CHECK-NOT: "BlockedConv"
// CHECK: "WinogradConv"({{.*}}tensor<16x16x256x16xf32>
// CHECK-COUNT-4: "WinogradConv"({{.*}}tensor<16x36x256x16xf32>
// CHECK-NOT: "BlockedConv"
func.func @limited(%x: tensor<?x16x?x?x16xf32>) -> tensor<?x16x?x?x16xf32> {
  %w = graph.constant dense<0.3> : tensor<16x16x9x16x16xf32>
  %0 = graph.host_call "BlockedConv"(%x, %w) {kernel_shape = array<i64: 3, 3>, pads = array<i64: 1, 1, 1, 1>} : (tensor<?x16x?x?x16xf32>, tensor<16x16x9x16x16xf32>) -> tensor<?x16x?x?x16xf32>
  %1 = graph.host_call "BlockedConv"(%0, %w) {kernel_shape = array<i64: 3, 3>, pads = array<i64: 1, 1, 1, 1>} : (tensor<?x16x?x?x16xf32>, tensor<16x16x9x16x16xf32>) -> tensor<?x16x?x?x16xf32>
  %2 = graph.host_call "BlockedConv"(%1, %w) {kernel_shape = array<i64: 3, 3>, pads = array<i64: 1, 1, 1, 1>} : (tensor<?x16x?x?x16xf32>, tensor<16x16x9x16x16xf32>) -> tensor<?x16x?x?x16xf32>
  %3 = graph.host_call "BlockedConv"(%2, %w) {kernel_shape = array<i64: 3, 3>, pads = array<i64: 1, 1, 1, 1>} : (tensor<?x16x?x?x16xf32>, tensor<16x16x9x16x16xf32>) -> tensor<?x16x?x?x16xf32>
  %4 = graph.host_call "BlockedConv"(%3, %w) {kernel_shape = array<i64: 3, 3>, pads = array<i64: 1, 1, 1, 1>} : (tensor<?x16x?x?x16xf32>, tensor<16x16x9x16x16xf32>) -> tensor<?x16x?x?x16xf32>
  return %4 : tensor<?x16x?x?x16xf32>
}
