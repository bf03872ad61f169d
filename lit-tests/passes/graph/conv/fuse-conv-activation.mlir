// RUN: atc-opt %s --graph-fuse-conv-activation --split-input-file --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s
// RUN: atc-opt %s --graph-fuse-conv-activation --split-input-file --remarks-filter=graph-fuse-conv-activation --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// REMARK-DAG: [Passed] {{.*}}Category:graph-fuse-conv-activation{{.*}}the activation is computed by the layer in front of it

// CHECK-LABEL: func @kinds
func.func @kinds(%x: tensor<1x1x2x2xf32>) -> tensor<1x2x2x2xf32> {
  %w = graph.constant dense<3.0> : tensor<1x1x1x1xf32>
  %w2 = graph.constant dense<3.0> : tensor<2x1x1x1xf32>
  %p = graph.constant dense<[[[1.0]], [[2.0]]]> : tensor<2x1x1xf32>
  // CHECK: %[[S:.*]] = graph.constant dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>
  // CHECK: graph.conv {{.*}}#graph.activation<relu>{{.*}} loc("relu")
  %0 = graph.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x1x2x2xf32>, tensor<1x1x1x1xf32>) -> tensor<1x1x2x2xf32>
  %1 = graph.relu %0 : (tensor<1x1x2x2xf32>) -> tensor<1x1x2x2xf32> loc("relu")
  // CHECK-NEXT: graph.conv {{.*}}#graph.activation<clip, 0.000000e+00, 6.000000e+00>
  %2 = graph.conv %1, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x1x2x2xf32>, tensor<1x1x1x1xf32>) -> tensor<1x1x2x2xf32>
  %3 = graph.clip %2 {min = 0.0 : f64, max = 6.0 : f64} : (tensor<1x1x2x2xf32>) -> tensor<1x1x2x2xf32>
  // CHECK-NEXT: graph.conv {{.*}}#graph.activation<leaky_relu, 1.250000e-01>
  %4 = graph.conv %3, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x1x2x2xf32>, tensor<1x1x1x1xf32>) -> tensor<1x1x2x2xf32>
  %5 = graph.leaky_relu %4 {alpha = 0.125 : f64} : (tensor<1x1x2x2xf32>) -> tensor<1x1x2x2xf32>
  // CHECK-NEXT: graph.conv {{.*}}#graph.activation<hard_swish>
  %6 = graph.conv %5, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x1x2x2xf32>, tensor<1x1x1x1xf32>) -> tensor<1x1x2x2xf32>
  %7 = graph.hard_swish %6 : (tensor<1x1x2x2xf32>) -> tensor<1x1x2x2xf32>
  // CHECK-NEXT: graph.conv {{.*}}#graph.activation<hard_sigmoid, 2.500000e-01, 5.000000e-01>
  %8 = graph.conv %7, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x1x2x2xf32>, tensor<1x1x1x1xf32>) -> tensor<1x1x2x2xf32>
  %9 = graph.hard_sigmoid %8 {alpha = 0.25 : f64, beta = 0.5 : f64} : (tensor<1x1x2x2xf32>) -> tensor<1x1x2x2xf32>
  // CHECK-NEXT: graph.conv {{.*}}#graph.activation<sigmoid>
  %10 = graph.conv %9, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x1x2x2xf32>, tensor<1x1x1x1xf32>) -> tensor<1x1x2x2xf32>
  %11 = graph.sigmoid %10 : (tensor<1x1x2x2xf32>) -> tensor<1x1x2x2xf32>
  // CHECK-NEXT: graph.conv {{.*}}#graph.activation<silu>
  %12 = graph.conv %11, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x1x2x2xf32>, tensor<1x1x1x1xf32>) -> tensor<1x1x2x2xf32>
  %13 = graph.silu %12 : (tensor<1x1x2x2xf32>) -> tensor<1x1x2x2xf32>
  // CHECK-NEXT: graph.conv {{.*}}#graph.activation<mish>
  %14 = graph.conv %13, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x1x2x2xf32>, tensor<1x1x1x1xf32>) -> tensor<1x1x2x2xf32>
  %15 = graph.mish %14 : (tensor<1x1x2x2xf32>) -> tensor<1x1x2x2xf32>
  // CHECK-NEXT: graph.conv {{.*}}#graph.activation<tanh>
  %16 = graph.conv %15, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x1x2x2xf32>, tensor<1x1x1x1xf32>) -> tensor<1x1x2x2xf32>
  %17 = graph.tanh %16 : (tensor<1x1x2x2xf32>) -> tensor<1x1x2x2xf32>
  // CHECK-NEXT: graph.conv {{.*}}#graph.activation<gelu, 1.000000e+00>
  %18 = graph.conv %17, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x1x2x2xf32>, tensor<1x1x1x1xf32>) -> tensor<1x1x2x2xf32>
  %19 = graph.gelu %18 {approximate = true} : (tensor<1x1x2x2xf32>) -> tensor<1x1x2x2xf32>
  // CHECK-NEXT: graph.conv {{.*}} slope %[[S]] {activation = #graph.activation<prelu>
  // CHECK-NEXT: return
  %20 = graph.conv %19, %w2 {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x1x2x2xf32>, tensor<2x1x1x1xf32>) -> tensor<1x2x2x2xf32>
  %21 = graph.prelu %20, %p : (tensor<1x2x2x2xf32>, tensor<2x1x1xf32>) -> tensor<1x2x2x2xf32>
  return %21 : tensor<1x2x2x2xf32>
}

// -----

// The residual of a sum without activation comes before the new one.
// CHECK-LABEL: func @residual
// CHECK: graph.conv {{.*}} residual %{{.*}} {activation = #graph.activation<relu>
// CHECK-NOT: residual_last
// CHECK-NOT: graph.relu
func.func @residual(%x: tensor<1x1x2x2xf32>) -> tensor<1x1x2x2xf32> {
  %w = graph.constant dense<3.0> : tensor<1x1x1x1xf32>
  %0 = graph.conv %x, %w residual %x {residual_last, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x1x2x2xf32>, tensor<1x1x1x1xf32>, tensor<1x1x2x2xf32>) -> tensor<1x1x2x2xf32>
  %1 = graph.relu %0 : (tensor<1x1x2x2xf32>) -> tensor<1x1x2x2xf32>
  return %1 : tensor<1x1x2x2xf32>
}

// -----

// CHECK-LABEL: func @fully_connected
// CHECK: graph.fully_connected {{.*}} {activation = #graph.activation<relu>}
// CHECK-NOT: graph.relu
func.func @fully_connected(%x: tensor<1x2xf32>, %w: tensor<3x2xf32>) -> tensor<1x3xf32> {
  %0 = graph.fully_connected %x, %w : (tensor<1x2xf32>, tensor<3x2xf32>) -> tensor<1x3xf32>
  %1 = graph.relu %0 : (tensor<1x3xf32>) -> tensor<1x3xf32>
  return %1 : tensor<1x3xf32>
}

// -----

// A decomposed conv_transpose: phase p of channel m is channel p * M + m, so every
// phase has the slopes [1, 2]. The last op takes the name.
// CHECK-LABEL: func @behind_depth_to_space
// CHECK: %[[S:.*]] = graph.constant dense<[1.000000e+00, 2.000000e+00, 1.000000e+00, 2.000000e+00, 1.000000e+00, 2.000000e+00, 1.000000e+00, 2.000000e+00]>
// CHECK: %[[Y:.*]] = graph.conv {{.*}} slope %[[S]]
// CHECK-NEXT: %[[D:.*]] = graph.depth_to_space %[[Y]]
// CHECK-NEXT: %[[C:.*]] = graph.slice %[[D]] {{.*}} loc("out")
// CHECK-NEXT: return %[[C]]
func.func @behind_depth_to_space(%x: tensor<1x1x2x2xf32>) -> tensor<1x2x3x4xf32> {
  %w = graph.constant dense<3.0> : tensor<8x1x1x1xf32>
  %p = graph.constant dense<[[[1.0]], [[2.0]]]> : tensor<2x1x1xf32>
  %0 = graph.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x1x2x2xf32>, tensor<8x1x1x1xf32>) -> tensor<1x8x2x2xf32>
  %1 = graph.depth_to_space %0 {block = 2 : i64, order = #graph<depth_order dcr>} : (tensor<1x8x2x2xf32>) -> tensor<1x2x4x4xf32>
  %2 = graph.slice %1 {starts = array<i64: 0, 0, 1, 0>, sizes = array<i64: 1, 2, 3, 4>, steps = array<i64: 1, 1, 1, 1>} : (tensor<1x2x4x4xf32>) -> tensor<1x2x3x4xf32>
  %3 = graph.prelu %2, %p : (tensor<1x2x3x4xf32>, tensor<2x1x1xf32>) -> tensor<1x2x3x4xf32> loc("out")
  return %3 : tensor<1x2x3x4xf32>
}

// -----

// In the other order the phases of a channel stand together.
// CHECK-LABEL: func @channels_first
// CHECK: graph.constant dense<[1.000000e+00, 1.000000e+00, 1.000000e+00, 1.000000e+00, 2.000000e+00, 2.000000e+00, 2.000000e+00, 2.000000e+00]>
// CHECK: graph.conv {{.*}} slope
func.func @channels_first(%x: tensor<1x1x2x2xf32>) -> tensor<1x2x4x4xf32> {
  %w = graph.constant dense<3.0> : tensor<8x1x1x1xf32>
  %p = graph.constant dense<[[[1.0]], [[2.0]]]> : tensor<2x1x1xf32>
  %0 = graph.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x1x2x2xf32>, tensor<8x1x1x1xf32>) -> tensor<1x8x2x2xf32>
  %1 = graph.depth_to_space %0 {block = 2 : i64, order = #graph<depth_order crd>} : (tensor<1x8x2x2xf32>) -> tensor<1x2x4x4xf32>
  %2 = graph.prelu %1, %p : (tensor<1x2x4x4xf32>, tensor<2x1x1xf32>) -> tensor<1x2x4x4xf32>
  return %2 : tensor<1x2x4x4xf32>
}

// -----

// CHECK-LABEL: func @behind_reshape
// CHECK: graph.conv {{.*}}#graph.activation<relu>
// CHECK-NEXT: graph.reshape
// CHECK-NEXT: return
func.func @behind_reshape(%x: tensor<1x1x2x2xf32>, %w: tensor<1x1x1x1xf32>) -> tensor<1x4xf32> {
  %0 = graph.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x1x2x2xf32>, tensor<1x1x1x1xf32>) -> tensor<1x1x2x2xf32>
  %1 = graph.reshape %0 : (tensor<1x1x2x2xf32>) -> tensor<1x4xf32>
  %2 = graph.relu %1 : (tensor<1x4xf32>) -> tensor<1x4xf32>
  return %2 : tensor<1x4xf32>
}

// -----

// Two uses; an activation already; variable slopes; slopes that are not by channel.
// CHECK-LABEL: func @left_alone
// CHECK: graph.relu
// CHECK: graph.relu
// CHECK: graph.prelu
// CHECK: graph.prelu
func.func @left_alone(%x: tensor<1x1x2x2xf32>, %w: tensor<1x1x1x1xf32>, %p: tensor<1x1x1xf32>) -> (tensor<1x1x2x2xf32>, tensor<1x1x2x2xf32>, tensor<1x1x2x2xf32>, tensor<1x1x2x2xf32>, tensor<1x1x2x2xf32>) {
  %columns = graph.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %0 = graph.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x1x2x2xf32>, tensor<1x1x1x1xf32>) -> tensor<1x1x2x2xf32>
  %1 = graph.relu %0 : (tensor<1x1x2x2xf32>) -> tensor<1x1x2x2xf32>
  %2 = graph.conv %x, %w residual %x {activation = #graph.activation<tanh>, residual_last, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x1x2x2xf32>, tensor<1x1x1x1xf32>, tensor<1x1x2x2xf32>) -> tensor<1x1x2x2xf32>
  %3 = graph.relu %2 : (tensor<1x1x2x2xf32>) -> tensor<1x1x2x2xf32>
  %4 = graph.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x1x2x2xf32>, tensor<1x1x1x1xf32>) -> tensor<1x1x2x2xf32>
  %5 = graph.prelu %4, %p : (tensor<1x1x2x2xf32>, tensor<1x1x1xf32>) -> tensor<1x1x2x2xf32>
  %6 = graph.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x1x2x2xf32>, tensor<1x1x1x1xf32>) -> tensor<1x1x2x2xf32>
  %7 = graph.prelu %6, %columns : (tensor<1x1x2x2xf32>, tensor<2xf32>) -> tensor<1x1x2x2xf32>
  return %0, %1, %3, %5, %7 : tensor<1x1x2x2xf32>, tensor<1x1x2x2xf32>, tensor<1x1x2x2xf32>, tensor<1x1x2x2xf32>, tensor<1x1x2x2xf32>
}
