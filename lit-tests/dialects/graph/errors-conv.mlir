// RUN: atc-opt %s --split-input-file --verify-diagnostics

// A case for every message of the verifiers: convolutions, pools and matmuls.

func.func @conv_result(%x: tensor<1x4x8x8xf32>, %w: tensor<6x4x3x3xf32>) {
  // expected-error @+1 {{'graph.conv' op result is 'tensor<1x6x6x7xf32>', expected 'tensor<1x6x6x6xf32>'}}
  %0 = graph.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x4x8x8xf32>, tensor<6x4x3x3xf32>) -> tensor<1x6x6x7xf32>
  return
}

// -----

func.func @conv_rank(%x: tensor<1x4x8xf32>, %w: tensor<6x4x3x3xf32>) {
  // expected-error @+1 {{'graph.conv' op input and filter must have the same rank of 3 or more, but are 'tensor<1x4x8xf32>' and 'tensor<6x4x3x3xf32>'}}
  %0 = graph.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x4x8xf32>, tensor<6x4x3x3xf32>) -> tensor<1x6x6x6xf32>
  return
}

// -----

func.func @conv_types(%x: tensor<1x4x8x8xf16>, %w: tensor<6x4x3x3xf32>) {
  // expected-error @+1 {{'graph.conv' op input and filter must have one element type, but are 'tensor<1x4x8x8xf16>' and 'tensor<6x4x3x3xf32>'}}
  %0 = graph.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x4x8x8xf16>, tensor<6x4x3x3xf32>) -> tensor<1x6x6x6xf32>
  return
}

// -----

func.func @conv_strides_count(%x: tensor<1x4x8x8xf32>, %w: tensor<6x4x3x3xf32>) {
  // expected-error @+1 {{'graph.conv' op strides has 1 values, expected 2, one for each of the spatial dims}}
  %0 = graph.conv %x, %w {strides = array<i64: 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x4x8x8xf32>, tensor<6x4x3x3xf32>) -> tensor<1x6x6x6xf32>
  return
}

// -----

func.func @conv_dilations_count(%x: tensor<1x4x8x8xf32>, %w: tensor<6x4x3x3xf32>) {
  // expected-error @+1 {{'graph.conv' op dilations has 3 values, expected 2, one for each of the spatial dims}}
  %0 = graph.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1, 1>, groups = 1 : i64} : (tensor<1x4x8x8xf32>, tensor<6x4x3x3xf32>) -> tensor<1x6x6x6xf32>
  return
}

// -----

func.func @conv_pads_count(%x: tensor<1x4x8x8xf32>, %w: tensor<6x4x3x3xf32>) {
  // expected-error @+1 {{'graph.conv' op pads has 2 values, expected 4, one for each of the begins and ends of the spatial dims}}
  %0 = graph.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x4x8x8xf32>, tensor<6x4x3x3xf32>) -> tensor<1x6x6x6xf32>
  return
}

// -----

func.func @conv_strides_range(%x: tensor<1x4x8x8xf32>, %w: tensor<6x4x3x3xf32>) {
  // expected-error @+1 {{'graph.conv' op strides must be in [1, 2147483647], but are [1, 0]}}
  %0 = graph.conv %x, %w {strides = array<i64: 1, 0>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x4x8x8xf32>, tensor<6x4x3x3xf32>) -> tensor<1x6x6x6xf32>
  return
}

// -----

func.func @conv_dilations_range(%x: tensor<1x4x8x8xf32>, %w: tensor<6x4x3x3xf32>) {
  // expected-error @+1 {{'graph.conv' op dilations must be in [1, 2147483647], but are [-1, 1]}}
  %0 = graph.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: -1, 1>, groups = 1 : i64} : (tensor<1x4x8x8xf32>, tensor<6x4x3x3xf32>) -> tensor<1x6x6x6xf32>
  return
}

// -----

func.func @conv_pads_range(%x: tensor<1x4x8x8xf32>, %w: tensor<6x4x3x3xf32>) {
  // expected-error @+1 {{'graph.conv' op pads must be in [0, 2147483647], but are [0, 0, 0, 4294967296]}}
  %0 = graph.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 4294967296>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x4x8x8xf32>, tensor<6x4x3x3xf32>) -> tensor<1x6x6x6xf32>
  return
}

// -----

func.func @conv_kernel_range(%x: tensor<1x4x8x8xf32>, %w: tensor<6x4x0x3xf32>) {
  // expected-error @+1 {{'graph.conv' op kernel sizes must be in [1, 2147483647], but are [0, 3]}}
  %0 = graph.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x4x8x8xf32>, tensor<6x4x0x3xf32>) -> tensor<1x6x6x6xf32>
  return
}

// -----

func.func @conv_window(%x: tensor<1x4x8x8xf32>, %w: tensor<6x4x3x3xf32>) {
  // expected-error @+1 {{'graph.conv' op window of 9 (kernel 3, dilation 4) does not fit spatial dim 1 of 8 with pads 0 and 0}}
  %0 = graph.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 4>, groups = 1 : i64} : (tensor<1x4x8x8xf32>, tensor<6x4x3x3xf32>) -> tensor<1x6x6x6xf32>
  return
}

// -----

func.func @conv_groups(%x: tensor<1x4x8x8xf32>, %w: tensor<6x4x3x3xf32>) {
  // expected-error @+1 {{'graph.conv' op groups must be at least 1, but is 0}}
  %0 = graph.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 0 : i64} : (tensor<1x4x8x8xf32>, tensor<6x4x3x3xf32>) -> tensor<1x6x6x6xf32>
  return
}

// -----

func.func @conv_channels(%x: tensor<1x3x8x8xf32>, %w: tensor<6x4x3x3xf32>) {
  // expected-error @+1 {{'graph.conv' op filter has 4 input channels per group, but input has 3 channels in 1 groups}}
  %0 = graph.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x3x8x8xf32>, tensor<6x4x3x3xf32>) -> tensor<1x6x6x6xf32>
  return
}

// -----

func.func @conv_group_channels(%x: tensor<1x4x8x8xf32>, %w: tensor<6x4x3x3xf32>) {
  // expected-error @+1 {{'graph.conv' op filter has 4 input channels per group, but input has 4 channels in 2 groups}}
  %0 = graph.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 2 : i64} : (tensor<1x4x8x8xf32>, tensor<6x4x3x3xf32>) -> tensor<1x6x6x6xf32>
  return
}

// -----

func.func @conv_outputs(%x: tensor<1x4x8x8xf32>, %w: tensor<6x1x3x3xf32>) {
  // expected-error @+1 {{'graph.conv' op filter has 6 output channels, not a multiple of 4 groups}}
  %0 = graph.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 4 : i64} : (tensor<1x4x8x8xf32>, tensor<6x1x3x3xf32>) -> tensor<1x6x6x6xf32>
  return
}

// -----

func.func @conv_bias(%x: tensor<1x4x8x8xf32>, %w: tensor<6x4x3x3xf32>, %b: tensor<4xf32>) {
  // expected-error @+1 {{'graph.conv' op bias is 'tensor<4xf32>', expected 'tensor<6xf32>'}}
  %0 = graph.conv %x, %w bias %b {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x4x8x8xf32>, tensor<6x4x3x3xf32>, tensor<4xf32>) -> tensor<1x6x6x6xf32>
  return
}

// -----

func.func @conv_no_slope(%x: tensor<1x4x8x8xf32>, %w: tensor<6x4x3x3xf32>) {
  // expected-error @+1 {{'graph.conv' op activation prelu needs a slope operand, but there is none}}
  %0 = graph.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64, activation = #graph.activation<prelu>} : (tensor<1x4x8x8xf32>, tensor<6x4x3x3xf32>) -> tensor<1x6x6x6xf32>
  return
}

// -----

func.func @conv_needless_slope(%x: tensor<1x4x8x8xf32>, %w: tensor<6x4x3x3xf32>, %s: tensor<6xf32>) {
  // expected-error @+1 {{'graph.conv' op slope is given, but the activation is not prelu}}
  %0 = graph.conv %x, %w slope %s {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64, activation = #graph.activation<relu>} : (tensor<1x4x8x8xf32>, tensor<6x4x3x3xf32>, tensor<6xf32>) -> tensor<1x6x6x6xf32>
  return
}

// -----

func.func @conv_slope(%x: tensor<1x4x8x8xf32>, %w: tensor<6x4x3x3xf32>, %s: tensor<1xf32>) {
  // expected-error @+1 {{'graph.conv' op slope is 'tensor<1xf32>', expected 'tensor<6xf32>'}}
  %0 = graph.conv %x, %w slope %s {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64, activation = #graph.activation<prelu>} : (tensor<1x4x8x8xf32>, tensor<6x4x3x3xf32>, tensor<1xf32>) -> tensor<1x6x6x6xf32>
  return
}

// -----

func.func @conv_residual(%x: tensor<1x4x8x8xf32>, %w: tensor<6x4x3x3xf32>, %r: tensor<1x6x8x8xf32>) {
  // expected-error @+1 {{'graph.conv' op residual is 'tensor<1x6x8x8xf32>', expected the type of the result, 'tensor<1x6x6x6xf32>'}}
  %0 = graph.conv %x, %w residual %r {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x4x8x8xf32>, tensor<6x4x3x3xf32>, tensor<1x6x8x8xf32>) -> tensor<1x6x6x6xf32>
  return
}

// -----

func.func @conv_residual_last(%x: tensor<1x4x8x8xf32>, %w: tensor<6x4x3x3xf32>) {
  // expected-error @+1 {{'graph.conv' op residual_last is set, but there is no residual}}
  %0 = graph.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64, residual_last} : (tensor<1x4x8x8xf32>, tensor<6x4x3x3xf32>) -> tensor<1x6x6x6xf32>
  return
}

// -----

func.func @transpose_result(%x: tensor<1x4x8x8xf32>, %w: tensor<4x3x2x2xf32>) {
  // expected-error @+1 {{'graph.conv_transpose' op result is 'tensor<1x6x16x16xf32>', expected 'tensor<1x3x16x16xf32>'}}
  %0 = graph.conv_transpose %x, %w {strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64, output_padding = array<i64: 0, 0>} : (tensor<1x4x8x8xf32>, tensor<4x3x2x2xf32>) -> tensor<1x6x16x16xf32>
  return
}

// -----

func.func @transpose_rank(%x: tensor<1x4xf32>, %w: tensor<4x3xf32>) {
  // expected-error @+1 {{'graph.conv_transpose' op input and filter must have the same rank of 3 or more, but are 'tensor<1x4xf32>' and 'tensor<4x3xf32>'}}
  %0 = graph.conv_transpose %x, %w {strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64, output_padding = array<i64: 0, 0>} : (tensor<1x4xf32>, tensor<4x3xf32>) -> tensor<1x3x16x16xf32>
  return
}

// -----

func.func @transpose_types(%x: tensor<1x4x8x8xf32>, %w: tensor<4x3x2x2xf64>) {
  // expected-error @+1 {{'graph.conv_transpose' op input and filter must have one element type, but are 'tensor<1x4x8x8xf32>' and 'tensor<4x3x2x2xf64>'}}
  %0 = graph.conv_transpose %x, %w {strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64, output_padding = array<i64: 0, 0>} : (tensor<1x4x8x8xf32>, tensor<4x3x2x2xf64>) -> tensor<1x3x16x16xf32>
  return
}

// -----

func.func @transpose_padding_count(%x: tensor<1x4x8x8xf32>, %w: tensor<4x3x2x2xf32>) {
  // expected-error @+1 {{'graph.conv_transpose' op output_padding has 1 values, expected 2, one for each of the spatial dims}}
  %0 = graph.conv_transpose %x, %w {strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64, output_padding = array<i64: 0>} : (tensor<1x4x8x8xf32>, tensor<4x3x2x2xf32>) -> tensor<1x3x16x16xf32>
  return
}

// -----

func.func @transpose_padding_range(%x: tensor<1x4x8x8xf32>, %w: tensor<4x3x2x2xf32>) {
  // expected-error @+1 {{'graph.conv_transpose' op output_padding must be at least 0 and less than stride or dilation, but is [0, 2]}}
  %0 = graph.conv_transpose %x, %w {strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64, output_padding = array<i64: 0, 2>} : (tensor<1x4x8x8xf32>, tensor<4x3x2x2xf32>) -> tensor<1x3x16x16xf32>
  return
}

// -----

func.func @transpose_groups(%x: tensor<1x4x8x8xf32>, %w: tensor<4x3x2x2xf32>) {
  // expected-error @+1 {{'graph.conv_transpose' op groups must be at least 1, but is -1}}
  %0 = graph.conv_transpose %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = -1 : i64, output_padding = array<i64: 0, 0>} : (tensor<1x4x8x8xf32>, tensor<4x3x2x2xf32>) -> tensor<1x3x16x16xf32>
  return
}

// -----

func.func @transpose_channels(%x: tensor<1x4x8x8xf32>, %w: tensor<3x3x2x2xf32>) {
  // expected-error @+1 {{'graph.conv_transpose' op filter has 3 input channels, but input has 4 channels}}
  %0 = graph.conv_transpose %x, %w {strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64, output_padding = array<i64: 0, 0>} : (tensor<1x4x8x8xf32>, tensor<3x3x2x2xf32>) -> tensor<1x3x16x16xf32>
  return
}

// -----

func.func @transpose_group_channels(%x: tensor<1x4x8x8xf32>, %w: tensor<4x3x2x2xf32>) {
  // expected-error @+1 {{'graph.conv_transpose' op input has 4 channels, not a multiple of 3 groups}}
  %0 = graph.conv_transpose %x, %w {strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 3 : i64, output_padding = array<i64: 0, 0>} : (tensor<1x4x8x8xf32>, tensor<4x3x2x2xf32>) -> tensor<1x3x16x16xf32>
  return
}

// -----

func.func @transpose_pads(%x: tensor<1x4x8x8xf32>, %w: tensor<4x3x2x2xf32>) {
  // expected-error @+1 {{'graph.conv_transpose' op pads 9 and 9 leave nothing of the 16 elements of spatial dim 0}}
  %0 = graph.conv_transpose %x, %w {strides = array<i64: 2, 2>, pads = array<i64: 9, 0, 9, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64, output_padding = array<i64: 0, 0>} : (tensor<1x4x8x8xf32>, tensor<4x3x2x2xf32>) -> tensor<1x3x16x16xf32>
  return
}

// -----

func.func @transpose_overflow(%x: tensor<1x4x8589934592x8xf32>, %w: tensor<4x3x2x2xf32>) {
  // expected-error @+1 {{'graph.conv_transpose' op stride 2147483647 makes spatial dim 0 of 'tensor<1x4x8589934592x8xf32>' too large}}
  %0 = graph.conv_transpose %x, %w {strides = array<i64: 2147483647, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64, output_padding = array<i64: 0, 0>} : (tensor<1x4x8589934592x8xf32>, tensor<4x3x2x2xf32>) -> tensor<1x3x16x16xf32>
  return
}

// -----

func.func @transpose_bias(%x: tensor<1x4x8x8xf32>, %w: tensor<4x3x2x2xf32>, %b: tensor<4xf32>) {
  // expected-error @+1 {{'graph.conv_transpose' op bias is 'tensor<4xf32>', expected 'tensor<3xf32>'}}
  %0 = graph.conv_transpose %x, %w bias %b {strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64, output_padding = array<i64: 0, 0>} : (tensor<1x4x8x8xf32>, tensor<4x3x2x2xf32>, tensor<4xf32>) -> tensor<1x3x16x16xf32>
  return
}

// -----

func.func @pool_result(%x: tensor<1x4x8x8xf32>) {
  // expected-error @+1 {{'graph.max_pool' op result is 'tensor<1x4x4x4xf32>', expected 'tensor<1x4x3x3xf32>'}}
  %0 = graph.max_pool %x {kernel = array<i64: 3, 3>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x4x8x8xf32>) -> tensor<1x4x4x4xf32>
  return
}

// -----

func.func @pool_rank(%x: tensor<1x4xf32>) {
  // expected-error @+1 {{'graph.max_pool' op input must have rank 3 or more, but is 'tensor<1x4xf32>'}}
  %0 = graph.max_pool %x {kernel = array<i64: 3, 3>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x4xf32>) -> tensor<1x4x3x3xf32>
  return
}

// -----

func.func @pool_kernel_count(%x: tensor<1x4x8x8xf32>) {
  // expected-error @+1 {{'graph.max_pool' op kernel has 1 values, expected 2, one for each of the spatial dims}}
  %0 = graph.max_pool %x {kernel = array<i64: 3>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x4x8x8xf32>) -> tensor<1x4x3x3xf32>
  return
}

// -----

func.func @pool_pads(%x: tensor<1x4x8x8xf32>) {
  // expected-error @+1 {{'graph.max_pool' op pads 3 and 0 of spatial dim 1 must be less than the window of 3}}
  %0 = graph.max_pool %x {kernel = array<i64: 3, 3>, strides = array<i64: 2, 2>, pads = array<i64: 0, 3, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x4x8x8xf32>) -> tensor<1x4x3x3xf32>
  return
}

// -----

func.func @pool_window(%x: tensor<1x4x8x8xf32>) {
  // expected-error @+1 {{'graph.average_pool' op window of 9 (kernel 9, dilation 1) does not fit spatial dim 0 of 8 with pads 0 and 0}}
  %0 = graph.average_pool %x {kernel = array<i64: 9, 3>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x4x8x8xf32>) -> tensor<1x4x3x3xf32>
  return
}

// -----

func.func @batch_norm_input(%x: tensor<1x4xi32>, %v: tensor<4xi32>) {
  // expected-error @+1 {{'graph.batch_norm' op input must be a floating-point tensor of rank 2 or more, but is 'tensor<1x4xi32>'}}
  %0 = graph.batch_norm %x, %v, %v, %v, %v {epsilon = 0.0} : (tensor<1x4xi32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>) -> tensor<1x4xi32>
  return
}

// -----

func.func @batch_norm_scale(%x: tensor<1x4xf32>, %v: tensor<4xf32>, %w: tensor<5xf32>) {
  // expected-error @+1 {{'graph.batch_norm' op scale is 'tensor<5xf32>', expected 'tensor<4xf32>'}}
  %0 = graph.batch_norm %x, %w, %v, %v, %v {epsilon = 0.0} : (tensor<1x4xf32>, tensor<5xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<1x4xf32>
  return
}

// -----

func.func @batch_norm_bias(%x: tensor<1x4xf32>, %v: tensor<4xf32>, %w: tensor<5xf32>) {
  // expected-error @+1 {{'graph.batch_norm' op bias is 'tensor<5xf32>', expected 'tensor<4xf32>'}}
  %0 = graph.batch_norm %x, %v, %w, %v, %v {epsilon = 0.0} : (tensor<1x4xf32>, tensor<4xf32>, tensor<5xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<1x4xf32>
  return
}

// -----

func.func @batch_norm_mean(%x: tensor<1x4xf32>, %v: tensor<4xf32>, %w: tensor<5xf32>) {
  // expected-error @+1 {{'graph.batch_norm' op mean is 'tensor<5xf32>', expected 'tensor<4xf32>'}}
  %0 = graph.batch_norm %x, %v, %v, %w, %v {epsilon = 0.0} : (tensor<1x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<5xf32>, tensor<4xf32>) -> tensor<1x4xf32>
  return
}

// -----

func.func @batch_norm_variance(%x: tensor<1x4xf32>, %v: tensor<4xf32>, %w: tensor<5xf32>) {
  // expected-error @+1 {{'graph.batch_norm' op variance is 'tensor<5xf32>', expected 'tensor<4xf32>'}}
  %0 = graph.batch_norm %x, %v, %v, %v, %w {epsilon = 0.0} : (tensor<1x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<5xf32>) -> tensor<1x4xf32>
  return
}

// -----

func.func @matmul_rank(%a: tensor<f32>, %b: tensor<2xf32>) {
  // expected-error @+1 {{'graph.matmul' op operands must have rank 1 or more, but are 'tensor<f32>' and 'tensor<2xf32>'}}
  %0 = graph.matmul %a, %b : (tensor<f32>, tensor<2xf32>) -> tensor<f32>
  return
}

// -----

func.func @matmul_types(%a: tensor<2xf16>, %b: tensor<2xf32>) {
  // expected-error @+1 {{'graph.matmul' op operands must have one element type, but are 'tensor<2xf16>' and 'tensor<2xf32>'}}
  %0 = graph.matmul %a, %b : (tensor<2xf16>, tensor<2xf32>) -> tensor<f32>
  return
}

// -----

func.func @matmul_inner(%a: tensor<2x3xf32>, %b: tensor<4x2xf32>) {
  // expected-error @+1 {{'graph.matmul' op lhs has 3 columns, but rhs has 4 rows ('tensor<2x3xf32>' and 'tensor<4x2xf32>')}}
  %0 = graph.matmul %a, %b : (tensor<2x3xf32>, tensor<4x2xf32>) -> tensor<2x2xf32>
  return
}

// -----

func.func @matmul_batch(%a: tensor<2x3x4xf32>, %b: tensor<3x4x2xf32>) {
  // expected-error @+1 {{'graph.matmul' op batch dims do not broadcast: 'tensor<2x3x4xf32>' and 'tensor<3x4x2xf32>'}}
  %0 = graph.matmul %a, %b : (tensor<2x3x4xf32>, tensor<3x4x2xf32>) -> tensor<2x3x2xf32>
  return
}

// -----

func.func @fully_connected_rank(%x: tensor<2x3xf32>, %w: tensor<3xf32>) {
  // expected-error @+1 {{'graph.fully_connected' op expects input of rank 1 or more and filter of rank 2, but they are 'tensor<2x3xf32>' and 'tensor<3xf32>'}}
  %0 = graph.fully_connected %x, %w : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @fully_connected_types(%x: tensor<2x3xf32>, %w: tensor<4x3xf16>) {
  // expected-error @+1 {{'graph.fully_connected' op input and filter must have one element type, but are 'tensor<2x3xf32>' and 'tensor<4x3xf16>'}}
  %0 = graph.fully_connected %x, %w : (tensor<2x3xf32>, tensor<4x3xf16>) -> tensor<2x4xf32>
  return
}

// -----

func.func @fully_connected_inner(%x: tensor<2x3xf32>, %w: tensor<4x5xf32>) {
  // expected-error @+1 {{'graph.fully_connected' op input has 3 elements in its last dim, but filter has 5 columns}}
  %0 = graph.fully_connected %x, %w : (tensor<2x3xf32>, tensor<4x5xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @fully_connected_prelu(%x: tensor<2x3xf32>, %w: tensor<4x3xf32>) {
  // expected-error @+1 {{'graph.fully_connected' op activation prelu is not possible here: there is no slope operand}}
  %0 = graph.fully_connected %x, %w {activation = #graph.activation<prelu>} : (tensor<2x3xf32>, tensor<4x3xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @fully_connected_bias(%x: tensor<2x3xf32>, %w: tensor<4x3xf32>, %b: tensor<2xf32>) {
  // expected-error @+1 {{'graph.fully_connected' op bias is 'tensor<2xf32>', expected 'tensor<4xf32>'}}
  %0 = graph.fully_connected %x, %w bias %b : (tensor<2x3xf32>, tensor<4x3xf32>, tensor<2xf32>) -> tensor<2x4xf32>
  return
}
