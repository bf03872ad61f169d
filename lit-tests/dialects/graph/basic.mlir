// RUN: atc-opt %s | atc-opt | FileCheck %s
// RUN: atc-opt %s --mlir-print-op-generic | atc-opt | FileCheck %s

// Every operator, through the custom and the generic form.

// CHECK-LABEL: func.func @unary(
func.func @unary(%x: tensor<2xf32>, %c: tensor<2xi1>) {
  // CHECK: graph.abs %{{.*}} : (tensor<2xf32>) -> tensor<2xf32>
  %0 = graph.abs %x : (tensor<2xf32>) -> tensor<2xf32>
  // CHECK: graph.neg %{{.*}} : (tensor<2xf32>) -> tensor<2xf32>
  %1 = graph.neg %x : (tensor<2xf32>) -> tensor<2xf32>
  // CHECK: graph.sign %{{.*}} : (tensor<2xf32>) -> tensor<2xf32>
  %2 = graph.sign %x : (tensor<2xf32>) -> tensor<2xf32>
  // CHECK: graph.exp %{{.*}} : (tensor<2xf32>) -> tensor<2xf32>
  %3 = graph.exp %x : (tensor<2xf32>) -> tensor<2xf32>
  // CHECK: graph.log %{{.*}} : (tensor<2xf32>) -> tensor<2xf32>
  %4 = graph.log %x : (tensor<2xf32>) -> tensor<2xf32>
  // CHECK: graph.sqrt %{{.*}} : (tensor<2xf32>) -> tensor<2xf32>
  %5 = graph.sqrt %x : (tensor<2xf32>) -> tensor<2xf32>
  // CHECK: graph.rsqrt %{{.*}} : (tensor<2xf32>) -> tensor<2xf32>
  %6 = graph.rsqrt %x : (tensor<2xf32>) -> tensor<2xf32>
  // CHECK: graph.reciprocal %{{.*}} : (tensor<2xf32>) -> tensor<2xf32>
  %7 = graph.reciprocal %x : (tensor<2xf32>) -> tensor<2xf32>
  // CHECK: graph.floor %{{.*}} : (tensor<2xf32>) -> tensor<2xf32>
  %8 = graph.floor %x : (tensor<2xf32>) -> tensor<2xf32>
  // CHECK: graph.ceil %{{.*}} : (tensor<2xf32>) -> tensor<2xf32>
  %9 = graph.ceil %x : (tensor<2xf32>) -> tensor<2xf32>
  // CHECK: graph.round %{{.*}} : (tensor<2xf32>) -> tensor<2xf32>
  %10 = graph.round %x : (tensor<2xf32>) -> tensor<2xf32>
  // CHECK: graph.sin %{{.*}} : (tensor<2xf32>) -> tensor<2xf32>
  %11 = graph.sin %x : (tensor<2xf32>) -> tensor<2xf32>
  // CHECK: graph.cos %{{.*}} : (tensor<2xf32>) -> tensor<2xf32>
  %12 = graph.cos %x : (tensor<2xf32>) -> tensor<2xf32>
  // CHECK: graph.tan %{{.*}} : (tensor<2xf32>) -> tensor<2xf32>
  %13 = graph.tan %x : (tensor<2xf32>) -> tensor<2xf32>
  // CHECK: graph.asin %{{.*}} : (tensor<2xf32>) -> tensor<2xf32>
  %14 = graph.asin %x : (tensor<2xf32>) -> tensor<2xf32>
  // CHECK: graph.acos %{{.*}} : (tensor<2xf32>) -> tensor<2xf32>
  %15 = graph.acos %x : (tensor<2xf32>) -> tensor<2xf32>
  // CHECK: graph.atan %{{.*}} : (tensor<2xf32>) -> tensor<2xf32>
  %16 = graph.atan %x : (tensor<2xf32>) -> tensor<2xf32>
  // CHECK: graph.sinh %{{.*}} : (tensor<2xf32>) -> tensor<2xf32>
  %17 = graph.sinh %x : (tensor<2xf32>) -> tensor<2xf32>
  // CHECK: graph.cosh %{{.*}} : (tensor<2xf32>) -> tensor<2xf32>
  %18 = graph.cosh %x : (tensor<2xf32>) -> tensor<2xf32>
  // CHECK: graph.tanh %{{.*}} : (tensor<2xf32>) -> tensor<2xf32>
  %19 = graph.tanh %x : (tensor<2xf32>) -> tensor<2xf32>
  // CHECK: graph.asinh %{{.*}} : (tensor<2xf32>) -> tensor<2xf32>
  %20 = graph.asinh %x : (tensor<2xf32>) -> tensor<2xf32>
  // CHECK: graph.acosh %{{.*}} : (tensor<2xf32>) -> tensor<2xf32>
  %21 = graph.acosh %x : (tensor<2xf32>) -> tensor<2xf32>
  // CHECK: graph.atanh %{{.*}} : (tensor<2xf32>) -> tensor<2xf32>
  %22 = graph.atanh %x : (tensor<2xf32>) -> tensor<2xf32>
  // CHECK: graph.erf %{{.*}} : (tensor<2xf32>) -> tensor<2xf32>
  %23 = graph.erf %x : (tensor<2xf32>) -> tensor<2xf32>
  // CHECK: graph.sigmoid %{{.*}} : (tensor<2xf32>) -> tensor<2xf32>
  %24 = graph.sigmoid %x : (tensor<2xf32>) -> tensor<2xf32>
  // CHECK: graph.relu %{{.*}} : (tensor<2xf32>) -> tensor<2xf32>
  %25 = graph.relu %x : (tensor<2xf32>) -> tensor<2xf32>
  // CHECK: graph.softplus %{{.*}} : (tensor<2xf32>) -> tensor<2xf32>
  %26 = graph.softplus %x : (tensor<2xf32>) -> tensor<2xf32>
  // CHECK: graph.softsign %{{.*}} : (tensor<2xf32>) -> tensor<2xf32>
  %27 = graph.softsign %x : (tensor<2xf32>) -> tensor<2xf32>
  // CHECK: graph.silu %{{.*}} : (tensor<2xf32>) -> tensor<2xf32>
  %28 = graph.silu %x : (tensor<2xf32>) -> tensor<2xf32>
  // CHECK: graph.mish %{{.*}} : (tensor<2xf32>) -> tensor<2xf32>
  %29 = graph.mish %x : (tensor<2xf32>) -> tensor<2xf32>
  // CHECK: graph.hard_swish %{{.*}} : (tensor<2xf32>) -> tensor<2xf32>
  %30 = graph.hard_swish %x : (tensor<2xf32>) -> tensor<2xf32>
  // CHECK: graph.not %{{.*}} : (tensor<2xi1>) -> tensor<2xi1>
  %31 = graph.not %c : (tensor<2xi1>) -> tensor<2xi1>
  // CHECK: graph.is_nan %{{.*}} : (tensor<2xf32>) -> tensor<2xi1>
  %32 = graph.is_nan %x : (tensor<2xf32>) -> tensor<2xi1>
  return
}

// CHECK-LABEL: func.func @parameters(
func.func @parameters(%x: tensor<2xf32>) {
  // CHECK: graph.gelu %{{.*}} {approximate = true} : (tensor<2xf32>) -> tensor<2xf32>
  %0 = graph.gelu %x {approximate = true} : (tensor<2xf32>) -> tensor<2xf32>
  // CHECK: graph.leaky_relu %{{.*}} {alpha = 5.000000e-01 : f64} : (tensor<2xf32>) -> tensor<2xf32>
  %1 = graph.leaky_relu %x {alpha = 0.5} : (tensor<2xf32>) -> tensor<2xf32>
  // CHECK: graph.elu %{{.*}} {alpha = 1.000000e+00 : f64} : (tensor<2xf32>) -> tensor<2xf32>
  %2 = graph.elu %x {alpha = 1.0} : (tensor<2xf32>) -> tensor<2xf32>
  // CHECK: graph.selu %{{.*}} {alpha = 1.500000e+00 : f64, gamma = 1.250000e+00 : f64} : (tensor<2xf32>) -> tensor<2xf32>
  %3 = graph.selu %x {alpha = 1.5, gamma = 1.25} : (tensor<2xf32>) -> tensor<2xf32>
  // CHECK: graph.hard_sigmoid %{{.*}} {alpha = 2.500000e-01 : f64, beta = 5.000000e-01 : f64} : (tensor<2xf32>) -> tensor<2xf32>
  %4 = graph.hard_sigmoid %x {alpha = 0.25, beta = 0.5} : (tensor<2xf32>) -> tensor<2xf32>
  // CHECK: graph.thresholded_relu %{{.*}} {alpha = 1.000000e+00 : f64} : (tensor<2xf32>) -> tensor<2xf32>
  %5 = graph.thresholded_relu %x {alpha = 1.0} : (tensor<2xf32>) -> tensor<2xf32>
  // CHECK: graph.clip %{{.*}} {max = 6.000000e+00 : f64, min = 0.000000e+00 : f64} : (tensor<2xf32>) -> tensor<2xf32>
  %6 = graph.clip %x {min = 0.0, max = 6.0} : (tensor<2xf32>) -> tensor<2xf32>
  // CHECK: graph.cast %{{.*}} : (tensor<2xf32>) -> tensor<2xi8>
  %7 = graph.cast %x : (tensor<2xf32>) -> tensor<2xi8>
  return
}

// CHECK-LABEL: func.func @binary(
func.func @binary(%a: tensor<2xf32>, %b: tensor<3x1xf32>) {
  // CHECK: graph.add %{{.*}} : (tensor<2xf32>, tensor<3x1xf32>) -> tensor<3x2xf32>
  %0 = graph.add %a, %b : (tensor<2xf32>, tensor<3x1xf32>) -> tensor<3x2xf32>
  // CHECK: graph.sub %{{.*}} : (tensor<2xf32>, tensor<3x1xf32>) -> tensor<3x2xf32>
  %1 = graph.sub %a, %b : (tensor<2xf32>, tensor<3x1xf32>) -> tensor<3x2xf32>
  // CHECK: graph.mul %{{.*}} : (tensor<2xf32>, tensor<3x1xf32>) -> tensor<3x2xf32>
  %2 = graph.mul %a, %b : (tensor<2xf32>, tensor<3x1xf32>) -> tensor<3x2xf32>
  // CHECK: graph.div %{{.*}} : (tensor<2xf32>, tensor<3x1xf32>) -> tensor<3x2xf32>
  %3 = graph.div %a, %b : (tensor<2xf32>, tensor<3x1xf32>) -> tensor<3x2xf32>
  // CHECK: graph.pow %{{.*}} : (tensor<2xf32>, tensor<3x1xf32>) -> tensor<3x2xf32>
  %4 = graph.pow %a, %b : (tensor<2xf32>, tensor<3x1xf32>) -> tensor<3x2xf32>
  // CHECK: graph.max %{{.*}} : (tensor<2xf32>, tensor<3x1xf32>) -> tensor<3x2xf32>
  %5 = graph.max %a, %b : (tensor<2xf32>, tensor<3x1xf32>) -> tensor<3x2xf32>
  // CHECK: graph.min %{{.*}} : (tensor<2xf32>, tensor<3x1xf32>) -> tensor<3x2xf32>
  %6 = graph.min %a, %b : (tensor<2xf32>, tensor<3x1xf32>) -> tensor<3x2xf32>
  // CHECK: graph.prelu %{{.*}} : (tensor<2xf32>, tensor<3x1xf32>) -> tensor<3x2xf32>
  %7 = graph.prelu %a, %b : (tensor<2xf32>, tensor<3x1xf32>) -> tensor<3x2xf32>
  // CHECK: graph.mod %{{.*}} {fmod = true} : (tensor<2xf32>, tensor<3x1xf32>) -> tensor<3x2xf32>
  %8 = graph.mod %a, %b {fmod = true} : (tensor<2xf32>, tensor<3x1xf32>) -> tensor<3x2xf32>
  // CHECK: graph.compare %{{.*}} {predicate = #graph<compare_predicate le>} : (tensor<2xf32>, tensor<3x1xf32>) -> tensor<3x2xi1>
  %9 = graph.compare %a, %b {predicate = #graph<compare_predicate le>} : (tensor<2xf32>, tensor<3x1xf32>) -> tensor<3x2xi1>
  return
}

// CHECK-LABEL: func.func @logic(
func.func @logic(%a: tensor<2xi1>, %b: tensor<3x1xi1>, %x: tensor<2xf32>) {
  // CHECK: graph.and %{{.*}} : (tensor<2xi1>, tensor<3x1xi1>) -> tensor<3x2xi1>
  %0 = graph.and %a, %b : (tensor<2xi1>, tensor<3x1xi1>) -> tensor<3x2xi1>
  // CHECK: graph.or %{{.*}} : (tensor<2xi1>, tensor<3x1xi1>) -> tensor<3x2xi1>
  %1 = graph.or %a, %b : (tensor<2xi1>, tensor<3x1xi1>) -> tensor<3x2xi1>
  // CHECK: graph.xor %{{.*}} : (tensor<2xi1>, tensor<3x1xi1>) -> tensor<3x2xi1>
  %2 = graph.xor %a, %b : (tensor<2xi1>, tensor<3x1xi1>) -> tensor<3x2xi1>
  // CHECK: graph.where %{{.*}} : (tensor<3x1xi1>, tensor<2xf32>, tensor<2xf32>) -> tensor<3x2xf32>
  %3 = graph.where %b, %x, %x : (tensor<3x1xi1>, tensor<2xf32>, tensor<2xf32>) -> tensor<3x2xf32>
  return
}

// CHECK-LABEL: func.func @conv(
func.func @conv(%x: tensor<1x4x8x8xf32>, %w: tensor<6x2x3x3xf32>, %b: tensor<6xf32>, %y: tensor<1x6x8x4xf32>) {
  // CHECK: graph.conv %{{.*}}, %{{.*}} {dilations = array<i64: 1, 1>, groups = 2 : i64, pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 1, 2>} : (tensor<1x4x8x8xf32>, tensor<6x2x3x3xf32>) -> tensor<1x6x8x4xf32>
  %0 = graph.conv %x, %w {strides = array<i64: 1, 2>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 2 : i64} : (tensor<1x4x8x8xf32>, tensor<6x2x3x3xf32>) -> tensor<1x6x8x4xf32>
  // CHECK: graph.conv %{{.*}}, %{{.*}} bias %{{.*}} {activation = #graph.activation<clip, 0.000000e+00, 6.000000e+00>, dilations = array<i64: 1, 1>, groups = 2 : i64, pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 1, 2>} : (tensor<1x4x8x8xf32>, tensor<6x2x3x3xf32>, tensor<6xf32>) -> tensor<1x6x8x4xf32>
  %1 = graph.conv %x, %w bias %b {strides = array<i64: 1, 2>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 2 : i64, activation = #graph.activation<clip, 0.0, 6.0>} : (tensor<1x4x8x8xf32>, tensor<6x2x3x3xf32>, tensor<6xf32>) -> tensor<1x6x8x4xf32>
  // CHECK: graph.conv %{{.*}}, %{{.*}} bias %{{.*}} residual %{{.*}} slope %{{.*}} {activation = #graph.activation<prelu>, dilations = array<i64: 1, 1>, groups = 2 : i64, pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 1, 2>} : (tensor<1x4x8x8xf32>, tensor<6x2x3x3xf32>, tensor<6xf32>, tensor<1x6x8x4xf32>, tensor<6xf32>) -> tensor<1x6x8x4xf32>
  %2 = graph.conv %x, %w bias %b residual %y slope %b {strides = array<i64: 1, 2>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 2 : i64, activation = #graph.activation<prelu>} : (tensor<1x4x8x8xf32>, tensor<6x2x3x3xf32>, tensor<6xf32>, tensor<1x6x8x4xf32>, tensor<6xf32>) -> tensor<1x6x8x4xf32>
  // CHECK: graph.conv %{{.*}}, %{{.*}} residual %{{.*}} {activation = #graph.activation<leaky_relu, 5.000000e-01>, dilations = array<i64: 1, 1>, groups = 2 : i64, pads = array<i64: 1, 1, 1, 1>, residual_last, strides = array<i64: 1, 2>} : (tensor<1x4x8x8xf32>, tensor<6x2x3x3xf32>, tensor<1x6x8x4xf32>) -> tensor<1x6x8x4xf32>
  %3 = graph.conv %x, %w residual %y {strides = array<i64: 1, 2>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 2 : i64, activation = #graph.activation<leaky_relu, 0.5>, residual_last} : (tensor<1x4x8x8xf32>, tensor<6x2x3x3xf32>, tensor<1x6x8x4xf32>) -> tensor<1x6x8x4xf32>
  return
}

// CHECK-LABEL: func.func @conv_transpose(
func.func @conv_transpose(%x: tensor<1x4x8x8xf32>, %w: tensor<4x3x2x2xf32>, %b: tensor<6xf32>) {
  // CHECK: graph.conv_transpose %{{.*}}, %{{.*}} bias %{{.*}} {dilations = array<i64: 1, 1>, groups = 2 : i64, output_padding = array<i64: 1, 0>, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 2, 2>} : (tensor<1x4x8x8xf32>, tensor<4x3x2x2xf32>, tensor<6xf32>) -> tensor<1x6x17x16xf32>
  %0 = graph.conv_transpose %x, %w bias %b {strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, output_padding = array<i64: 1, 0>, groups = 2 : i64} : (tensor<1x4x8x8xf32>, tensor<4x3x2x2xf32>, tensor<6xf32>) -> tensor<1x6x17x16xf32>
  return
}

// CHECK-LABEL: func.func @pool(
func.func @pool(%x: tensor<1x4x8x8xf32>, %v: tensor<4xf32>) {
  // CHECK: graph.max_pool %{{.*}} {ceil_mode = true, dilations = array<i64: 1, 1>, kernel = array<i64: 3, 3>, pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 2, 2>} : (tensor<1x4x8x8xf32>) -> tensor<1x4x5x5xf32>
  %0 = graph.max_pool %x {kernel = array<i64: 3, 3>, strides = array<i64: 2, 2>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, ceil_mode = true} : (tensor<1x4x8x8xf32>) -> tensor<1x4x5x5xf32>
  // CHECK: graph.average_pool %{{.*}} {ceil_mode = true, count_include_pad = true, dilations = array<i64: 1, 1>, kernel = array<i64: 3, 3>, pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 2, 2>} : (tensor<1x4x8x8xf32>) -> tensor<1x4x5x5xf32>
  %1 = graph.average_pool %x {kernel = array<i64: 3, 3>, strides = array<i64: 2, 2>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, ceil_mode = true, count_include_pad = true} : (tensor<1x4x8x8xf32>) -> tensor<1x4x5x5xf32>
  // CHECK: graph.batch_norm %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} {epsilon = 2.500000e-01 : f64} : (tensor<1x4x8x8xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<1x4x8x8xf32>
  %2 = graph.batch_norm %x, %v, %v, %v, %v {epsilon = 0.25} : (tensor<1x4x8x8xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<1x4x8x8xf32>
  return
}

// CHECK-LABEL: func.func @matmul(
func.func @matmul(%a: tensor<5x2x3xf32>, %b: tensor<3x4xf32>, %w: tensor<4x3xf32>, %v: tensor<4xf32>) {
  // CHECK: graph.matmul %{{.*}}, %{{.*}} : (tensor<5x2x3xf32>, tensor<3x4xf32>) -> tensor<5x2x4xf32>
  %0 = graph.matmul %a, %b : (tensor<5x2x3xf32>, tensor<3x4xf32>) -> tensor<5x2x4xf32>
  // CHECK: graph.fully_connected %{{.*}}, %{{.*}} bias %{{.*}} {activation = #graph.activation<gelu>} : (tensor<5x2x3xf32>, tensor<4x3xf32>, tensor<4xf32>) -> tensor<5x2x4xf32>
  %1 = graph.fully_connected %a, %w bias %v {activation = #graph.activation<gelu>} : (tensor<5x2x3xf32>, tensor<4x3xf32>, tensor<4xf32>) -> tensor<5x2x4xf32>
  return
}

// CHECK-LABEL: func.func @reduce(
func.func @reduce(%x: tensor<2x3x4xf32>) {
  // CHECK: graph.reduce %{{.*}} {axes = array<i64: 0, 2>, keepdims = false, kind = #graph<reduce_kind sum>} : (tensor<2x3x4xf32>) -> tensor<3xf32>
  %0 = graph.reduce %x {kind = #graph<reduce_kind sum>, axes = array<i64: 0, 2>, keepdims = false} : (tensor<2x3x4xf32>) -> tensor<3xf32>
  // CHECK: graph.reduce %{{.*}} {axes = array<i64: 0, 2>, keepdims = false, kind = #graph<reduce_kind mean>} : (tensor<2x3x4xf32>) -> tensor<3xf32>
  %1 = graph.reduce %x {kind = #graph<reduce_kind mean>, axes = array<i64: 0, 2>, keepdims = false} : (tensor<2x3x4xf32>) -> tensor<3xf32>
  // CHECK: graph.reduce %{{.*}} {axes = array<i64: 0, 2>, keepdims = false, kind = #graph<reduce_kind max>} : (tensor<2x3x4xf32>) -> tensor<3xf32>
  %2 = graph.reduce %x {kind = #graph<reduce_kind max>, axes = array<i64: 0, 2>, keepdims = false} : (tensor<2x3x4xf32>) -> tensor<3xf32>
  // CHECK: graph.reduce %{{.*}} {axes = array<i64: 0, 2>, keepdims = false, kind = #graph<reduce_kind min>} : (tensor<2x3x4xf32>) -> tensor<3xf32>
  %3 = graph.reduce %x {kind = #graph<reduce_kind min>, axes = array<i64: 0, 2>, keepdims = false} : (tensor<2x3x4xf32>) -> tensor<3xf32>
  // CHECK: graph.reduce %{{.*}} {axes = array<i64: 0, 2>, keepdims = false, kind = #graph<reduce_kind prod>} : (tensor<2x3x4xf32>) -> tensor<3xf32>
  %4 = graph.reduce %x {kind = #graph<reduce_kind prod>, axes = array<i64: 0, 2>, keepdims = false} : (tensor<2x3x4xf32>) -> tensor<3xf32>
  // CHECK: graph.reduce %{{.*}} {axes = array<i64: 0, 2>, keepdims = false, kind = #graph<reduce_kind l1>} : (tensor<2x3x4xf32>) -> tensor<3xf32>
  %5 = graph.reduce %x {kind = #graph<reduce_kind l1>, axes = array<i64: 0, 2>, keepdims = false} : (tensor<2x3x4xf32>) -> tensor<3xf32>
  // CHECK: graph.reduce %{{.*}} {axes = array<i64: 0, 2>, keepdims = false, kind = #graph<reduce_kind l2>} : (tensor<2x3x4xf32>) -> tensor<3xf32>
  %6 = graph.reduce %x {kind = #graph<reduce_kind l2>, axes = array<i64: 0, 2>, keepdims = false} : (tensor<2x3x4xf32>) -> tensor<3xf32>
  // CHECK: graph.reduce %{{.*}} {axes = array<i64: 0, 2>, keepdims = false, kind = #graph<reduce_kind log_sum>} : (tensor<2x3x4xf32>) -> tensor<3xf32>
  %7 = graph.reduce %x {kind = #graph<reduce_kind log_sum>, axes = array<i64: 0, 2>, keepdims = false} : (tensor<2x3x4xf32>) -> tensor<3xf32>
  // CHECK: graph.reduce %{{.*}} {axes = array<i64: 0, 2>, keepdims = false, kind = #graph<reduce_kind log_sum_exp>} : (tensor<2x3x4xf32>) -> tensor<3xf32>
  %8 = graph.reduce %x {kind = #graph<reduce_kind log_sum_exp>, axes = array<i64: 0, 2>, keepdims = false} : (tensor<2x3x4xf32>) -> tensor<3xf32>
  // CHECK: graph.reduce %{{.*}} {axes = array<i64: 0, 2>, keepdims = false, kind = #graph<reduce_kind sum_square>} : (tensor<2x3x4xf32>) -> tensor<3xf32>
  %9 = graph.reduce %x {kind = #graph<reduce_kind sum_square>, axes = array<i64: 0, 2>, keepdims = false} : (tensor<2x3x4xf32>) -> tensor<3xf32>
  // CHECK: graph.arg_max %{{.*}} {axis = 1 : i64, select_last = true} : (tensor<2x3x4xf32>) -> tensor<2x1x4xi64>
  %10 = graph.arg_max %x {axis = 1 : i64, select_last = true} : (tensor<2x3x4xf32>) -> tensor<2x1x4xi64>
  // CHECK: graph.arg_min %{{.*}} {axis = 1 : i64, select_last = true} : (tensor<2x3x4xf32>) -> tensor<2x1x4xi64>
  %11 = graph.arg_min %x {axis = 1 : i64, select_last = true} : (tensor<2x3x4xf32>) -> tensor<2x1x4xi64>
  // CHECK: graph.softmax %{{.*}} {axis = 2 : i64} : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  %12 = graph.softmax %x {axis = 2 : i64} : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  // CHECK: graph.log_softmax %{{.*}} {axis = 2 : i64} : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  %13 = graph.log_softmax %x {axis = 2 : i64} : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  return
}

// CHECK-LABEL: func.func @move(
func.func @move(%x: tensor<2x3xf32>, %i: tensor<4xi64>, %c: tensor<1x8x2x2xf32>) {
  // CHECK: graph.reshape %{{.*}} : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %0 = graph.reshape %x : (tensor<2x3xf32>) -> tensor<3x2xf32>
  // CHECK: graph.transpose %{{.*}} {permutation = array<i64: 1, 0>} : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %1 = graph.transpose %x {permutation = array<i64: 1, 0>} : (tensor<2x3xf32>) -> tensor<3x2xf32>
  // CHECK: graph.expand %{{.*}} : (tensor<2x3xf32>) -> tensor<5x2x3xf32>
  %2 = graph.expand %x : (tensor<2x3xf32>) -> tensor<5x2x3xf32>
  // CHECK: graph.tile %{{.*}} {repeats = array<i64: 2, 1>} : (tensor<2x3xf32>) -> tensor<4x3xf32>
  %3 = graph.tile %x {repeats = array<i64: 2, 1>} : (tensor<2x3xf32>) -> tensor<4x3xf32>
  // CHECK: graph.concat %{{.*}}, %{{.*}} {axis = 1 : i64} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x6xf32>
  %4 = graph.concat %x, %x {axis = 1 : i64} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x6xf32>
  // CHECK: graph.slice %{{.*}} {sizes = array<i64: 1, 2>, starts = array<i64: 1, 0>, steps = array<i64: 1, 2>} : (tensor<2x3xf32>) -> tensor<1x2xf32>
  %5 = graph.slice %x {starts = array<i64: 1, 0>, sizes = array<i64: 1, 2>, steps = array<i64: 1, 2>} : (tensor<2x3xf32>) -> tensor<1x2xf32>
  // CHECK: graph.pad %{{.*}} {high = array<i64: 0, 0>, low = array<i64: 0, 1>, mode = #graph<pad_mode constant>, value = 2.000000e+00 : f64} : (tensor<2x3xf32>) -> tensor<2x4xf32>
  %6 = graph.pad %x {low = array<i64: 0, 1>, high = array<i64: 0, 0>, mode = #graph<pad_mode constant>, value = 2.0} : (tensor<2x3xf32>) -> tensor<2x4xf32>
  // CHECK: graph.pad %{{.*}} {high = array<i64: 0, 0>, low = array<i64: 0, 1>, mode = #graph<pad_mode edge>, value = 2.000000e+00 : f64} : (tensor<2x3xf32>) -> tensor<2x4xf32>
  %7 = graph.pad %x {low = array<i64: 0, 1>, high = array<i64: 0, 0>, mode = #graph<pad_mode edge>, value = 2.0} : (tensor<2x3xf32>) -> tensor<2x4xf32>
  // CHECK: graph.pad %{{.*}} {high = array<i64: 0, 0>, low = array<i64: 0, 1>, mode = #graph<pad_mode reflect>, value = 2.000000e+00 : f64} : (tensor<2x3xf32>) -> tensor<2x4xf32>
  %8 = graph.pad %x {low = array<i64: 0, 1>, high = array<i64: 0, 0>, mode = #graph<pad_mode reflect>, value = 2.0} : (tensor<2x3xf32>) -> tensor<2x4xf32>
  // CHECK: graph.pad %{{.*}} {high = array<i64: 0, 0>, low = array<i64: 0, 1>, mode = #graph<pad_mode wrap>, value = 2.000000e+00 : f64} : (tensor<2x3xf32>) -> tensor<2x4xf32>
  %9 = graph.pad %x {low = array<i64: 0, 1>, high = array<i64: 0, 0>, mode = #graph<pad_mode wrap>, value = 2.0} : (tensor<2x3xf32>) -> tensor<2x4xf32>
  // CHECK: graph.gather %{{.*}}, %{{.*}} {axis = 1 : i64} : (tensor<2x3xf32>, tensor<4xi64>) -> tensor<2x4xf32>
  %10 = graph.gather %x, %i {axis = 1 : i64} : (tensor<2x3xf32>, tensor<4xi64>) -> tensor<2x4xf32>
  // CHECK: graph.depth_to_space %{{.*}} {block = 2 : i64, order = #graph<depth_order dcr>} : (tensor<1x8x2x2xf32>) -> tensor<1x2x4x4xf32>
  %11 = graph.depth_to_space %c {block = 2 : i64, order = #graph<depth_order dcr>} : (tensor<1x8x2x2xf32>) -> tensor<1x2x4x4xf32>
  // CHECK: graph.depth_to_space %{{.*}} {block = 2 : i64, order = #graph<depth_order crd>} : (tensor<1x8x2x2xf32>) -> tensor<1x2x4x4xf32>
  %12 = graph.depth_to_space %c {block = 2 : i64, order = #graph<depth_order crd>} : (tensor<1x8x2x2xf32>) -> tensor<1x2x4x4xf32>
  // CHECK: graph.space_to_depth %{{.*}} {block = 2 : i64} : (tensor<1x8x2x2xf32>) -> tensor<1x32x1x1xf32>
  %13 = graph.space_to_depth %c {block = 2 : i64} : (tensor<1x8x2x2xf32>) -> tensor<1x32x1x1xf32>
  // CHECK: graph.resize %{{.*}} {coordinates = #graph<coordinate_mode asymmetric>, mode = #graph<resize_mode nearest>, nearest = #graph<nearest_mode floor>, scales = array<f64: 1.000000e+00, 2.000000e+00>} : (tensor<2x3xf32>) -> tensor<2x6xf32>
  %14 = graph.resize %x {scales = array<f64: 1.0, 2.0>, mode = #graph<resize_mode nearest>, coordinates = #graph<coordinate_mode asymmetric>, nearest = #graph<nearest_mode floor>} : (tensor<2x3xf32>) -> tensor<2x6xf32>
  // CHECK: graph.resize %{{.*}} {coordinates = #graph<coordinate_mode half_pixel>, mode = #graph<resize_mode linear>, nearest = #graph<nearest_mode ceil>, scales = array<f64: 1.000000e+00, 2.000000e+00>} : (tensor<2x3xf32>) -> tensor<2x6xf32>
  %15 = graph.resize %x {scales = array<f64: 1.0, 2.0>, mode = #graph<resize_mode linear>, coordinates = #graph<coordinate_mode half_pixel>, nearest = #graph<nearest_mode ceil>} : (tensor<2x3xf32>) -> tensor<2x6xf32>
  // CHECK: graph.resize %{{.*}} {coordinates = #graph<coordinate_mode align_corners>, mode = #graph<resize_mode cubic>, nearest = #graph<nearest_mode round_prefer_floor>, scales = array<f64: 1.000000e+00, 2.000000e+00>} : (tensor<2x3xf32>) -> tensor<2x6xf32>
  %16 = graph.resize %x {scales = array<f64: 1.0, 2.0>, mode = #graph<resize_mode cubic>, coordinates = #graph<coordinate_mode align_corners>, nearest = #graph<nearest_mode round_prefer_floor>} : (tensor<2x3xf32>) -> tensor<2x6xf32>
  // CHECK: graph.resize %{{.*}} {coordinates = #graph<coordinate_mode pytorch_half_pixel>, mode = #graph<resize_mode nearest>, nearest = #graph<nearest_mode round_prefer_ceil>, scales = array<f64: 1.000000e+00, 2.000000e+00>} : (tensor<2x3xf32>) -> tensor<2x6xf32>
  %17 = graph.resize %x {scales = array<f64: 1.0, 2.0>, mode = #graph<resize_mode nearest>, coordinates = #graph<coordinate_mode pytorch_half_pixel>, nearest = #graph<nearest_mode round_prefer_ceil>} : (tensor<2x3xf32>) -> tensor<2x6xf32>
  return
}

// CHECK-LABEL: func.func @constants(
func.func @constants() {
  // CHECK: graph.constant dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>
  %0 = graph.constant dense<[1.0, 2.0]> : tensor<2xf32>
  // CHECK: graph.constant dense_resource<weights> : tensor<2xf32>
  %1 = graph.constant dense_resource<weights> : tensor<2xf32>
  return
}

// CHECK-LABEL: func.func @layout(
func.func @layout(%x: tensor<1x4x8x8xf32>) {
  // CHECK: graph.relayout %{{.*}} : (tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32, #graph.layout<block = 16, halo = [1, 1, 2, 2]>>
  %0 = graph.relayout %x : (tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32, #graph.layout<block = 16, halo = [1, 1, 2, 2]>>
  return
}

// CHECK-LABEL: func.func @map(
func.func @map(%x: tensor<2xui8>, %y: tensor<3x1xf32>) {
  // CHECK: graph.map %{{.*}}, %{{.*}} : (tensor<2xui8>, tensor<3x1xf32>) -> tensor<3x2xf32> {
  // CHECK: ^bb0(%[[A:.*]]: i8, %[[B:.*]]: f32):
  // CHECK: %[[F:.*]] = arith.uitofp %[[A]] : i8 to f32
  // CHECK: %[[S:.*]] = arith.addf %[[F]], %[[B]] : f32
  // CHECK: graph.yield %[[S]] : f32
  %0 = graph.map %x, %y : (tensor<2xui8>, tensor<3x1xf32>) -> tensor<3x2xf32> {
  ^bb0(%a: i8, %b: f32):
    %f = arith.uitofp %a : i8 to f32
    %s = arith.addf %f, %b : f32
    graph.yield %s : f32
  }
  return
}

{-#
  dialect_resources: {
    builtin: {
      weights: "0x040000000000803F00000040"
    }
  }
#-}
