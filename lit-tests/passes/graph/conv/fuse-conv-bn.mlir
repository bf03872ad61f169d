// RUN: atc-opt %s --graph-fuse-conv-bn --split-input-file --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s
// RUN: atc-opt %s --graph-fuse-conv-bn --split-input-file --remarks-filter=graph-fuse-conv-bn --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// REMARK-DAG: [Passed] {{.*}}Category:graph-fuse-conv-bn{{.*}}the normalization becomes weights and bias

// scale / sqrt(variance + epsilon) is [2, 1], bias - mean * that is [3, 4].
// CHECK-LABEL: func @conv
func.func @conv(%x: tensor<1x1x3x3xf32>) -> tensor<1x2x3x3xf32> {
  %w = graph.constant dense<[[[[1.0]]], [[[5.0]]]]> : tensor<2x1x1x1xf32>
  %b = graph.constant dense<[10.0, 20.0]> : tensor<2xf32>
  %scale = graph.constant dense<[4.0, 3.0]> : tensor<2xf32>
  %shift = graph.constant dense<[5.0, 6.0]> : tensor<2xf32>
  %mean = graph.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %var = graph.constant dense<[3.0, 8.0]> : tensor<2xf32>
  // CHECK-DAG: %[[W:.*]] = graph.constant dense<{{\[\[\[\[}}2.000000e+00]]], {{\[\[\[}}5.000000e+00]]]]> : tensor<2x1x1x1xf32>
  // CHECK-DAG: %[[B:.*]] = graph.constant dense<[2.300000e+01, 2.400000e+01]> : tensor<2xf32>
  // CHECK: %[[Y:.*]] = graph.conv %{{.*}}, %[[W]] bias %[[B]] {{.*}} loc("bn_out")
  // CHECK-NEXT: return %[[Y]]
  %y = graph.conv %x, %w bias %b {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x1x3x3xf32>, tensor<2x1x1x1xf32>, tensor<2xf32>) -> tensor<1x2x3x3xf32>
  %z = graph.batch_norm %y, %scale, %shift, %mean, %var {epsilon = 1.0 : f64} : (tensor<1x2x3x3xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<1x2x3x3xf32> loc("bn_out")
  return %z : tensor<1x2x3x3xf32>
}

// -----

// The filter of a transposed convolution is [C, M / groups, ...]: with two groups
// channel 0 and 1 belong to row 0, channel 2 and 3 to row 1.
// CHECK-LABEL: func @conv_transpose
func.func @conv_transpose(%x: tensor<1x2x2x2xf32>) -> tensor<1x4x2x2xf32> {
  %w = graph.constant dense<1.0> : tensor<2x2x1x1xf32>
  %scale = graph.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %zero = graph.constant dense<0.0> : tensor<4xf32>
  %one = graph.constant dense<1.0> : tensor<4xf32>
  // CHECK: graph.constant dense<{{\[\[\[\[}}1.000000e+00]], {{\[\[}}2.000000e+00]]], {{\[\[\[}}3.000000e+00]], {{\[\[}}4.000000e+00]]]]> : tensor<2x2x1x1xf32>
  // CHECK: graph.conv_transpose
  // CHECK-NOT: graph.batch_norm
  %y = graph.conv_transpose %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, output_padding = array<i64: 0, 0>, groups = 2 : i64} : (tensor<1x2x2x2xf32>, tensor<2x2x1x1xf32>) -> tensor<1x4x2x2xf32>
  %z = graph.batch_norm %y, %scale, %zero, %zero, %one {epsilon = 0.0 : f64} : (tensor<1x4x2x2xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<1x4x2x2xf32>
  return %z : tensor<1x4x2x2xf32>
}

// -----

// CHECK-LABEL: func @fully_connected
func.func @fully_connected(%x: tensor<1x2xf32>) -> tensor<1x2xf32> {
  %w = graph.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %scale = graph.constant dense<[2.0, 10.0]> : tensor<2xf32>
  %zero = graph.constant dense<0.0> : tensor<2xf32>
  %one = graph.constant dense<1.0> : tensor<2xf32>
  // CHECK: graph.constant dense<{{\[\[}}2.000000e+00, 4.000000e+00], [3.000000e+01, 4.000000e+01]]>
  // CHECK-NOT: graph.batch_norm
  %y = graph.fully_connected %x, %w : (tensor<1x2xf32>, tensor<2x2xf32>) -> tensor<1x2xf32>
  %z = graph.batch_norm %y, %scale, %zero, %zero, %one {epsilon = 0.0 : f64} : (tensor<1x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<1x2xf32>
  return %z : tensor<1x2xf32>
}

// -----

// Half precision weights are rounded once.
// CHECK-LABEL: func @half
func.func @half(%x: tensor<1x1x2x2xf16>) -> tensor<1x1x2x2xf16> {
  %w = graph.constant dense<3.0> : tensor<1x1x1x1xf16>
  %scale = graph.constant dense<0.5> : tensor<1xf16>
  %zero = graph.constant dense<0.0> : tensor<1xf16>
  %one = graph.constant dense<1.0> : tensor<1xf16>
  // CHECK: graph.constant dense<1.500000e+00> : tensor<1x1x1x1xf16>
  // CHECK-NOT: graph.batch_norm
  %y = graph.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x1x2x2xf16>, tensor<1x1x1x1xf16>) -> tensor<1x1x2x2xf16>
  %z = graph.batch_norm %y, %scale, %zero, %zero, %one {epsilon = 0.0 : f64} : (tensor<1x1x2x2xf16>, tensor<1xf16>, tensor<1xf16>, tensor<1xf16>, tensor<1xf16>) -> tensor<1x1x2x2xf16>
  return %z : tensor<1x1x2x2xf16>
}

// -----

// The result before normalization is needed too.
// CHECK-LABEL: func @two_uses
func.func @two_uses(%x: tensor<1x1x2x2xf32>) -> (tensor<1x1x2x2xf32>, tensor<1x1x2x2xf32>) {
  %w = graph.constant dense<3.0> : tensor<1x1x1x1xf32>
  %one = graph.constant dense<1.0> : tensor<1xf32>
  // CHECK: graph.conv
  // CHECK: graph.batch_norm
  %y = graph.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x1x2x2xf32>, tensor<1x1x1x1xf32>) -> tensor<1x1x2x2xf32>
  %z = graph.batch_norm %y, %one, %one, %one, %one {epsilon = 0.0 : f64} : (tensor<1x1x2x2xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x2x2xf32>
  return %y, %z : tensor<1x1x2x2xf32>, tensor<1x1x2x2xf32>
}

// -----

// CHECK-LABEL: func @variable_weights
func.func @variable_weights(%x: tensor<1x1x2x2xf32>, %w: tensor<1x1x1x1xf32>) -> tensor<1x1x2x2xf32> {
  %one = graph.constant dense<1.0> : tensor<1xf32>
  // CHECK: graph.batch_norm
  %y = graph.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x1x2x2xf32>, tensor<1x1x1x1xf32>) -> tensor<1x1x2x2xf32>
  %z = graph.batch_norm %y, %one, %one, %one, %one {epsilon = 0.0 : f64} : (tensor<1x1x2x2xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x2x2xf32>
  return %z : tensor<1x1x2x2xf32>
}

// -----

// An activation or a residual stands between the sum and the normalization.
// CHECK-LABEL: func @fused_already
func.func @fused_already(%x: tensor<1x1x2x2xf32>) -> (tensor<1x1x2x2xf32>, tensor<1x1x2x2xf32>) {
  %w = graph.constant dense<3.0> : tensor<1x1x1x1xf32>
  %one = graph.constant dense<1.0> : tensor<1xf32>
  // CHECK: graph.batch_norm
  // CHECK: graph.batch_norm
  %y = graph.conv %x, %w {activation = #graph.activation<relu>, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x1x2x2xf32>, tensor<1x1x1x1xf32>) -> tensor<1x1x2x2xf32>
  %z = graph.batch_norm %y, %one, %one, %one, %one {epsilon = 0.0 : f64} : (tensor<1x1x2x2xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x2x2xf32>
  %u = graph.conv %x, %w residual %x {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x1x2x2xf32>, tensor<1x1x1x1xf32>, tensor<1x1x2x2xf32>) -> tensor<1x1x2x2xf32>
  %v = graph.batch_norm %u, %one, %one, %one, %one {epsilon = 0.0 : f64} : (tensor<1x1x2x2xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x2x2xf32>
  return %z, %v : tensor<1x1x2x2xf32>, tensor<1x1x2x2xf32>
}

// -----

// A variance of zero without epsilon has no finite factor.
// CHECK-LABEL: func @not_finite
func.func @not_finite(%x: tensor<1x1x2x2xf32>) -> tensor<1x1x2x2xf32> {
  %w = graph.constant dense<3.0> : tensor<1x1x1x1xf32>
  %zero = graph.constant dense<0.0> : tensor<1xf32>
  %one = graph.constant dense<1.0> : tensor<1xf32>
  // CHECK: graph.batch_norm
  %y = graph.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x1x2x2xf32>, tensor<1x1x1x1xf32>) -> tensor<1x1x2x2xf32>
  %z = graph.batch_norm %y, %one, %one, %one, %zero {epsilon = 0.0 : f64} : (tensor<1x1x2x2xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x2x2xf32>
  return %z : tensor<1x1x2x2xf32>
}

// -----

// The result is the tensor of the normalization. Whether the layer computes in f32 is up to its own
// node, on either side.
module attributes {graph.float32_nodes = ["norm", "exact"]} {
  // CHECK-LABEL: func @types
  // CHECK: graph.conv {{.*}} loc("n1"("conv"))
  // CHECK: graph.conv {{.*}} loc("n2"("exact"))
  // CHECK: graph.conv {{.*}} loc("n3"("norm"))
  func.func @types(%x: tensor<1x1x3x3xf32>) -> (tensor<1x1x3x3xf32>, tensor<1x1x3x3xf32>, tensor<1x1x3x3xf32>) {
    %w = graph.constant dense<1.0> : tensor<1x1x1x1xf32>
    %one = graph.constant dense<1.0> : tensor<1xf32>
    %a = graph.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x1x3x3xf32>, tensor<1x1x1x1xf32>) -> tensor<1x1x3x3xf32> loc("c1"("conv"))
    %b = graph.batch_norm %a, %one, %one, %one, %one {epsilon = 1.0 : f64} : (tensor<1x1x3x3xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x3x3xf32> loc("n1"("norm"))
    %c = graph.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x1x3x3xf32>, tensor<1x1x1x1xf32>) -> tensor<1x1x3x3xf32> loc("c2"("exact"))
    %d = graph.batch_norm %c, %one, %one, %one, %one {epsilon = 1.0 : f64} : (tensor<1x1x3x3xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x3x3xf32> loc("n2"("plain"))
    %e = graph.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x1x3x3xf32>, tensor<1x1x1x1xf32>) -> tensor<1x1x3x3xf32> loc("c3"("exact"))
    %f = graph.batch_norm %e, %one, %one, %one, %one {epsilon = 1.0 : f64} : (tensor<1x1x3x3xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x3x3xf32> loc("n3"("norm"))
    return %b, %d, %f : tensor<1x1x3x3xf32>, tensor<1x1x3x3xf32>, tensor<1x1x3x3xf32>
  }
}

// -----

// A filter without its bytes, as in a module that was printed for reading, stays as it is.
// CHECK-LABEL: func @without_bytes
// CHECK: graph.batch_norm
func.func @without_bytes(%x: tensor<1x1x3x3xf32>) -> tensor<1x2x3x3xf32> {
  %w = graph.constant dense_resource<__elided__> : tensor<2x1x1x1xf32>
  %scale = graph.constant dense<[4.0, 3.0]> : tensor<2xf32>
  %shift = graph.constant dense<[5.0, 6.0]> : tensor<2xf32>
  %mean = graph.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %var = graph.constant dense<[3.0, 8.0]> : tensor<2xf32>
  %y = graph.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x1x3x3xf32>, tensor<2x1x1x1xf32>) -> tensor<1x2x3x3xf32>
  %z = graph.batch_norm %y, %scale, %shift, %mean, %var {epsilon = 1.0 : f64} : (tensor<1x2x3x3xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<1x2x3x3xf32>
  return %z : tensor<1x2x3x3xf32>
}
