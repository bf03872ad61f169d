// RUN: atc-opt %s --split-input-file --verify-diagnostics

// A case for every message of the verifiers.

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
  // expected-error @+1 {{'graph.conv' op filter has 4 input channels a group, but input has 3 channels in 1 groups}}
  %0 = graph.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x3x8x8xf32>, tensor<6x4x3x3xf32>) -> tensor<1x6x6x6xf32>
  return
}

// -----

func.func @conv_group_channels(%x: tensor<1x4x8x8xf32>, %w: tensor<6x4x3x3xf32>) {
  // expected-error @+1 {{'graph.conv' op filter has 4 input channels a group, but input has 4 channels in 2 groups}}
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

// -----

func.func @reduce_axis(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'graph.reduce' op axis 2 is not in [0, 2), the dims of the input}}
  %0 = graph.reduce %x {kind = #graph<reduce_kind sum>, axes = array<i64: 2>} : (tensor<2x3xf32>) -> tensor<2x1xf32>
  return
}

// -----

func.func @reduce_negative_axis(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'graph.reduce' op axis -1 is not in [0, 2), the dims of the input}}
  %0 = graph.reduce %x {kind = #graph<reduce_kind sum>, axes = array<i64: -1>} : (tensor<2x3xf32>) -> tensor<2x1xf32>
  return
}

// -----

func.func @reduce_axes(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'graph.reduce' op axes must be sorted and name a dim once, but 0 follows 1}}
  %0 = graph.reduce %x {kind = #graph<reduce_kind sum>, axes = array<i64: 1, 0>} : (tensor<2x3xf32>) -> tensor<2x1xf32>
  return
}

// -----

func.func @reduce_float(%x: tensor<2x3xi32>) {
  // expected-error @+1 {{'graph.reduce' op kind l2 expects floating-point elements, but input is 'tensor<2x3xi32>'}}
  %0 = graph.reduce %x {kind = #graph<reduce_kind l2>, axes = array<i64: 1>} : (tensor<2x3xi32>) -> tensor<2x1xi32>
  return
}

// -----

func.func @reduce_number(%x: tensor<2x3xcomplex<f32>>) {
  // expected-error @+1 {{'graph.reduce' op kind sum expects integer or floating-point elements, but input is 'tensor<2x3xcomplex<f32>>'}}
  %0 = graph.reduce %x {kind = #graph<reduce_kind sum>, axes = array<i64: 1>} : (tensor<2x3xcomplex<f32>>) -> tensor<2x1xcomplex<f32>>
  return
}

// -----

func.func @reduce_result(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'graph.reduce' op result is 'tensor<2xf32>', expected 'tensor<2x1xf32>'}}
  %0 = graph.reduce %x {kind = #graph<reduce_kind sum>, axes = array<i64: 1>} : (tensor<2x3xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @arg_max_axis(%x: tensor<2xf32>) {
  // expected-error @+1 {{'graph.arg_max' op axis 1 is not in [0, 1), the dims of the input}}
  %0 = graph.arg_max %x {axis = 1 : i64} : (tensor<2xf32>) -> tensor<1xi64>
  return
}

// -----

func.func @arg_min_empty(%x: tensor<2x0xf32>) {
  // expected-error @+1 {{'graph.arg_min' op axis 1 of 'tensor<2x0xf32>' has no elements to choose from}}
  %0 = graph.arg_min %x {axis = 1 : i64} : (tensor<2x0xf32>) -> tensor<2x1xi64>
  return
}

// -----

func.func @arg_max_result(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'graph.arg_max' op result is 'tensor<2x1xi32>', expected 'tensor<2x1xi64>'}}
  %0 = graph.arg_max %x {axis = 1 : i64} : (tensor<2x3xf32>) -> tensor<2x1xi32>
  return
}

// -----

func.func @softmax_axis(%x: tensor<2xf32>) {
  // expected-error @+1 {{'graph.softmax' op axis -1 is not in [0, 1), the dims of the input}}
  %0 = graph.softmax %x {axis = -1 : i64} : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @log_softmax_elements(%x: tensor<2xi32>) {
  // expected-error @+1 {{'graph.log_softmax' op expects floating-point elements, but input is 'tensor<2xi32>'}}
  %0 = graph.log_softmax %x {axis = 0 : i64} : (tensor<2xi32>) -> tensor<2xi32>
  return
}

// -----

func.func @reshape_elements(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'graph.reshape' op input 'tensor<2x3xf32>' has 6 elements, but result 'tensor<2x4xf32>' has 8}}
  %0 = graph.reshape %x : (tensor<2x3xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @reshape_type(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'graph.reshape' op keeps the element type, but input is 'tensor<2x3xf32>' and result is 'tensor<6xf16>'}}
  %0 = graph.reshape %x : (tensor<2x3xf32>) -> tensor<6xf16>
  return
}

// -----

func.func @transpose_count(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'graph.transpose' op permutation has 3 values, expected 2, one for each of the dims}}
  %0 = graph.transpose %x {permutation = array<i64: 0, 1, 2>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @transpose_twice(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'graph.transpose' op permutation [0, 0] must name every dim of 'tensor<2x3xf32>' once}}
  %0 = graph.transpose %x {permutation = array<i64: 0, 0>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @expand_shape(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'graph.expand' op input 'tensor<2x3xf32>' does not broadcast to result 'tensor<4x3xf32>'}}
  %0 = graph.expand %x : (tensor<2x3xf32>) -> tensor<4x3xf32>
  return
}

// -----

func.func @expand_type(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'graph.expand' op input 'tensor<2x3xf32>' does not broadcast to result 'tensor<2x3xf16>'}}
  %0 = graph.expand %x : (tensor<2x3xf32>) -> tensor<2x3xf16>
  return
}

// -----

func.func @tile_count(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'graph.tile' op repeats has 1 values, expected 2, one for each of the dims}}
  %0 = graph.tile %x {repeats = array<i64: 2>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @tile_negative(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'graph.tile' op repeats must be at least 0, but are [1, -1]}}
  %0 = graph.tile %x {repeats = array<i64: 1, -1>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @tile_large(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'graph.tile' op repeats [9223372036854775807, 1] make 'tensor<2x3xf32>' too large}}
  %0 = graph.tile %x {repeats = array<i64: 9223372036854775807, 1>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @concat_none() {
  // expected-error @+1 {{'graph.concat' op needs at least one input}}
  %0 = "graph.concat"() {axis = 0 : i64} : () -> tensor<0xf32>
  return
}

// -----

func.func @concat_axis(%a: tensor<2x3xf32>, %b: tensor<2x3xf32>) {
  // expected-error @+1 {{'graph.concat' op axis 2 is not in [0, 2), the dims of the input}}
  %0 = graph.concat %a, %b {axis = 2 : i64} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @concat_rank(%a: tensor<2x3xf32>, %b: tensor<3xf32>) {
  // expected-error @+1 {{'graph.concat' op input 1 is 'tensor<3xf32>', but must have element type and rank of input 0, 'tensor<2x3xf32>'}}
  %0 = graph.concat %a, %b {axis = 0 : i64} : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<3x3xf32>
  return
}

// -----

func.func @concat_dim(%a: tensor<2x3xf32>, %b: tensor<2x4xf32>) {
  // expected-error @+1 {{'graph.concat' op input 1 has 4 elements in dim 1, but the inputs before have 3}}
  %0 = graph.concat %a, %b {axis = 0 : i64} : (tensor<2x3xf32>, tensor<2x4xf32>) -> tensor<4x3xf32>
  return
}

// -----

func.func @slice_starts(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'graph.slice' op starts has 1 values, expected 2, one for each of the dims}}
  %0 = graph.slice %x {starts = array<i64: 0>, sizes = array<i64: 2, 3>, steps = array<i64: 1, 1>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @slice_sizes(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'graph.slice' op sizes has 1 values, expected 2, one for each of the dims}}
  %0 = graph.slice %x {starts = array<i64: 0, 0>, sizes = array<i64: 2>, steps = array<i64: 1, 1>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @slice_steps(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'graph.slice' op steps has 3 values, expected 2, one for each of the dims}}
  %0 = graph.slice %x {starts = array<i64: 0, 0>, sizes = array<i64: 2, 3>, steps = array<i64: 1, 1, 1>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @slice_step(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'graph.slice' op dim 0 has size 2 and step 0; sizes must be at least 0 (or -1 for a whole dim, from 0 in steps of 1), steps must not be 0}}
  %0 = graph.slice %x {starts = array<i64: 0, 0>, sizes = array<i64: 2, 3>, steps = array<i64: 0, 1>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @slice_size(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'graph.slice' op dim 1 has size -1 and step 2; sizes must be at least 0 (or -1 for a whole dim, from 0 in steps of 1), steps must not be 0}}
  %0 = graph.slice %x {starts = array<i64: 0, 0>, sizes = array<i64: 2, -1>, steps = array<i64: 1, 2>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @slice_range(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'graph.slice' op dim 1 of 'tensor<2x3xf32>' has 3 elements; 2 elements from 1 in steps of 2 leave it}}
  %0 = graph.slice %x {starts = array<i64: 0, 1>, sizes = array<i64: 2, 2>, steps = array<i64: 1, 2>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @slice_backwards(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'graph.slice' op dim 1 of 'tensor<2x3xf32>' has 3 elements; 3 elements from 1 in steps of -1 leave it}}
  %0 = graph.slice %x {starts = array<i64: 0, 1>, sizes = array<i64: 2, 3>, steps = array<i64: 1, -1>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @pad_low(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'graph.pad' op low has 1 values, expected 2, one for each of the dims}}
  %0 = graph.pad %x {low = array<i64: 0>, high = array<i64: 0, 0>, mode = #graph<pad_mode constant>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @pad_high(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'graph.pad' op high has 3 values, expected 2, one for each of the dims}}
  %0 = graph.pad %x {low = array<i64: 0, 0>, high = array<i64: 0, 0, 0>, mode = #graph<pad_mode constant>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @pad_crop(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'graph.pad' op low -2 and high -1 do not fit dim 0 of 'tensor<2x3xf32>'}}
  %0 = graph.pad %x {low = array<i64: -2, 0>, high = array<i64: -1, 0>, mode = #graph<pad_mode constant>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @pad_reflect(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'graph.pad' op mode reflect can add at most 2 elements on a side of dim 1 of 'tensor<2x3xf32>', not 3}}
  %0 = graph.pad %x {low = array<i64: 0, 3>, high = array<i64: 0, 0>, mode = #graph<pad_mode reflect>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @pad_wrap(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'graph.pad' op mode wrap can add at most 3 elements on a side of dim 1 of 'tensor<2x3xf32>', not 4}}
  %0 = graph.pad %x {low = array<i64: 0, 0>, high = array<i64: 0, 4>, mode = #graph<pad_mode wrap>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @pad_edge(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'graph.pad' op mode edge can add at most 0 elements on a side of dim 0 of 'tensor<2x3xf32>', not 1}}
  %0 = graph.pad %x {low = array<i64: 1, 0>, high = array<i64: -2, 0>, mode = #graph<pad_mode edge>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @gather_axis(%x: tensor<2x3xf32>, %i: tensor<i64>) {
  // expected-error @+1 {{'graph.gather' op axis 2 is not in [0, 2), the dims of the input}}
  %0 = graph.gather %x, %i {axis = 2 : i64} : (tensor<2x3xf32>, tensor<i64>) -> tensor<3xf32>
  return
}

// -----

func.func @gather_indices(%x: tensor<2x3xf32>, %i: tensor<f32>) {
  // expected-error @+1 {{'graph.gather' op indices must be integers, but are 'tensor<f32>'}}
  %0 = graph.gather %x, %i {axis = 0 : i64} : (tensor<2x3xf32>, tensor<f32>) -> tensor<3xf32>
  return
}

// -----

func.func @gather_bools(%x: tensor<2x3xf32>, %i: tensor<i1>) {
  // expected-error @+1 {{'graph.gather' op indices must be integers, but are 'tensor<i1>'}}
  %0 = graph.gather %x, %i {axis = 0 : i64} : (tensor<2x3xf32>, tensor<i1>) -> tensor<3xf32>
  return
}

// -----

func.func @depth_to_space_rank(%x: tensor<4x2x2xf32>) {
  // expected-error @+1 {{'graph.depth_to_space' op input must have rank 4 (NCHW), but is 'tensor<4x2x2xf32>'}}
  %0 = graph.depth_to_space %x {block = 2 : i64, order = #graph<depth_order dcr>} : (tensor<4x2x2xf32>) -> tensor<1x4x4xf32>
  return
}

// -----

func.func @depth_to_space_block(%x: tensor<1x4x2x2xf32>) {
  // expected-error @+1 {{'graph.depth_to_space' op block must be in [1, 32767], but is 0}}
  %0 = graph.depth_to_space %x {block = 0 : i64, order = #graph<depth_order dcr>} : (tensor<1x4x2x2xf32>) -> tensor<1x1x4x4xf32>
  return
}

// -----

func.func @depth_to_space_channels(%x: tensor<1x6x2x2xf32>) {
  // expected-error @+1 {{'graph.depth_to_space' op dim 1 of 'tensor<1x6x2x2xf32>' is not a multiple of 4}}
  %0 = graph.depth_to_space %x {block = 2 : i64, order = #graph<depth_order dcr>} : (tensor<1x6x2x2xf32>) -> tensor<1x1x4x4xf32>
  return
}

// -----

func.func @space_to_depth_rank(%x: tensor<4x2x2xf32>) {
  // expected-error @+1 {{'graph.space_to_depth' op input must have rank 4 (NCHW), but is 'tensor<4x2x2xf32>'}}
  %0 = graph.space_to_depth %x {block = 2 : i64} : (tensor<4x2x2xf32>) -> tensor<1x4x4xf32>
  return
}

// -----

func.func @space_to_depth_rows(%x: tensor<1x4x3x2xf32>) {
  // expected-error @+1 {{'graph.space_to_depth' op dim 2 of 'tensor<1x4x3x2xf32>' is not a multiple of 2}}
  %0 = graph.space_to_depth %x {block = 2 : i64} : (tensor<1x4x3x2xf32>) -> tensor<1x16x1x1xf32>
  return
}

// -----

func.func @space_to_depth_columns(%x: tensor<1x4x2x3xf32>) {
  // expected-error @+1 {{'graph.space_to_depth' op dim 3 of 'tensor<1x4x2x3xf32>' is not a multiple of 2}}
  %0 = graph.space_to_depth %x {block = 2 : i64} : (tensor<1x4x2x3xf32>) -> tensor<1x16x1x1xf32>
  return
}

// -----

func.func @resize_rank(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'graph.resize' op keeps rank and element type, but input is 'tensor<2x3xf32>' and result is 'tensor<6xf32>'}}
  %0 = graph.resize %x {scales = array<f64: 1.0, 1.0>, mode = #graph<resize_mode linear>, coordinates = #graph<coordinate_mode half_pixel>, nearest = #graph<nearest_mode floor>} : (tensor<2x3xf32>) -> tensor<6xf32>
  return
}

// -----

func.func @resize_type(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'graph.resize' op keeps rank and element type, but input is 'tensor<2x3xf32>' and result is 'tensor<2x3xf16>'}}
  %0 = graph.resize %x {scales = array<f64: 1.0, 1.0>, mode = #graph<resize_mode linear>, coordinates = #graph<coordinate_mode half_pixel>, nearest = #graph<nearest_mode floor>} : (tensor<2x3xf32>) -> tensor<2x3xf16>
  return
}

// -----

func.func @resize_scales(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'graph.resize' op scales has 1 values, expected 2, one for each of the dims}}
  %0 = graph.resize %x {scales = array<f64: 1.0>, mode = #graph<resize_mode linear>, coordinates = #graph<coordinate_mode half_pixel>, nearest = #graph<nearest_mode floor>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @resize_scale(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'graph.resize' op scale 0.000000e+00 of dim 1 must be greater than 0 and finite}}
  %0 = graph.resize %x {scales = array<f64: 1.0, 0.0>, mode = #graph<resize_mode linear>, coordinates = #graph<coordinate_mode half_pixel>, nearest = #graph<nearest_mode floor>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @resize_empty(%x: tensor<2x0xf32>) {
  // expected-error @+1 {{'graph.resize' op dim 1 of 'tensor<2x0xf32>' is empty: there is nothing to sample}}
  %0 = graph.resize %x {scales = array<f64: 1.0, 1.0>, mode = #graph<resize_mode linear>, coordinates = #graph<coordinate_mode half_pixel>, nearest = #graph<nearest_mode floor>} : (tensor<2x0xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @elements_float(%x0: tensor<2xi32>) {
  // expected-error @+1 {{'graph.exp' op expects floating-point elements, but an operand is 'tensor<2xi32>'}}
  %0 = graph.exp %x0 : (tensor<2xi32>) -> tensor<2xi32>
  return
}

// -----

func.func @elements_numeric(%x0: tensor<2xi1>, %x1: tensor<2xi1>) {
  // expected-error @+1 {{'graph.add' op expects integer or floating-point elements, but an operand is 'tensor<2xi1>'}}
  %0 = graph.add %x0, %x1 : (tensor<2xi1>, tensor<2xi1>) -> tensor<2xi1>
  return
}

// -----

func.func @elements_integral(%x0: tensor<2xf32>, %x1: tensor<2xf32>) {
  // expected-error @+1 {{'graph.and' op expects bool or integer elements, but an operand is 'tensor<2xf32>'}}
  %0 = graph.and %x0, %x1 : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @elements_bool(%x0: tensor<2xi8>) {
  // expected-error @+1 {{'graph.not' op expects bool (i1) elements, but an operand is 'tensor<2xi8>'}}
  %0 = graph.not %x0 : (tensor<2xi8>) -> tensor<2xi8>
  return
}

// -----

func.func @elements_any(%x0: tensor<2xcomplex<f32>>, %x1: tensor<2xcomplex<f32>>) {
  // expected-error @+1 {{'graph.compare' op expects bool, integer or floating-point elements, but an operand is 'tensor<2xcomplex<f32>>'}}
  %0 = graph.compare %x0, %x1 {predicate = #graph<compare_predicate eq>} : (tensor<2xcomplex<f32>>, tensor<2xcomplex<f32>>) -> tensor<2xi1>
  return
}

// -----

func.func @elements_differ(%x0: tensor<2xf32>, %x1: tensor<2xf16>) {
  // expected-error @+1 {{'graph.mul' op operands must have one element type, but are 'tensor<2xf32>', 'tensor<2xf16>'}}
  %0 = graph.mul %x0, %x1 : (tensor<2xf32>, tensor<2xf16>) -> tensor<2xf32>
  return
}

// -----

func.func @broadcast(%x0: tensor<2xf32>, %x1: tensor<3xf32>) {
  // expected-error @+1 {{'graph.sub' op operand shapes do not broadcast: 'tensor<2xf32>', 'tensor<3xf32>'}}
  %0 = graph.sub %x0, %x1 : (tensor<2xf32>, tensor<3xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @condition(%x0: tensor<2xi8>, %x1: tensor<2xf32>, %x2: tensor<2xf32>) {
  // expected-error @+1 {{'graph.where' op condition must have bool (i1) elements, but is 'tensor<2xi8>'}}
  %0 = graph.where %x0, %x1, %x2 : (tensor<2xi8>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @elementwise_result(%x0: tensor<2xf32>, %x1: tensor<1xf32>) {
  // expected-error @+1 {{'graph.add' op result is 'tensor<2xf16>', expected 'tensor<2xf32>'}}
  %0 = graph.add %x0, %x1 : (tensor<2xf32>, tensor<1xf32>) -> tensor<2xf16>
  return
}

// -----

func.func @cast_shape(%x0: tensor<2xf32>) {
  // expected-error @+1 {{'graph.cast' op keeps the shape, but input is 'tensor<2xf32>' and result is 'tensor<3xi32>'}}
  %0 = graph.cast %x0 : (tensor<2xf32>) -> tensor<3xi32>
  return
}

// -----

func.func @cast_elements(%x0: tensor<2xf32>) {
  // expected-error @+1 {{'graph.cast' op expects bool, integer or floating-point elements, but has 'tensor<2xcomplex<f32>>'}}
  %0 = graph.cast %x0 : (tensor<2xf32>) -> tensor<2xcomplex<f32>>
  return
}

// -----

func.func @relayout_type(%x0: tensor<2xf32>) {
  // expected-error @+1 {{'graph.relayout' op changes the layout only, but input is 'tensor<2xf32>' and result is 'tensor<2xf16>'}}
  %0 = graph.relayout %x0 : (tensor<2xf32>) -> tensor<2xf16>
  return
}

// -----

func.func @map_broadcast(%x0: tensor<2xf32>, %x1: tensor<3xf32>) {
  // expected-error @+1 {{'graph.map' op input shapes do not broadcast: 'tensor<2xf32>', 'tensor<3xf32>'}}
  %0 = graph.map %x0, %x1 : (tensor<2xf32>, tensor<3xf32>) -> tensor<2xf32> {
  ^bb0(%a: f32, %b: f32):
    graph.yield %a : f32
  }
  return
}

// -----

func.func @map_result(%x0: tensor<2xf32>) {
  // expected-error @+1 {{'graph.map' op result is 'tensor<3xf32>', but the inputs broadcast to 'tensor<2xf32>'}}
  %0 = graph.map %x0 : (tensor<2xf32>) -> tensor<3xf32> {
  ^bb0(%a: f32):
    graph.yield %a : f32
  }
  return
}

// -----

func.func @map_arguments(%x0: tensor<2xf32>) {
  // expected-error @+1 {{'graph.map' op body has 2 arguments, expected 1, one for each input}}
  %0 = graph.map %x0 : (tensor<2xf32>) -> tensor<2xf32> {
  ^bb0(%a: f32, %b: f32):
    graph.yield %a : f32
  }
  return
}

// -----

func.func @map_argument(%x0: tensor<2xui8>) {
  // expected-error @+1 {{'graph.map' op body argument 0 is 'f32', expected 'i8', the element type of input 0}}
  %0 = graph.map %x0 : (tensor<2xui8>) -> tensor<2xf32> {
  ^bb0(%a: f32):
    graph.yield %a : f32
  }
  return
}

// -----

func.func @map_ops(%x0: tensor<2xf32>) {
  // expected-error @+1 {{'graph.map' op body may use arith and math ops only, but has 'graph.constant'}}
  %0 = graph.map %x0 : (tensor<2xf32>) -> tensor<2xf32> {
  ^bb0(%a: f32):
    %b = graph.constant dense<1.0> : tensor<f32>
    graph.yield %a : f32
  }
  return
}

// -----

func.func @map_nothing(%x0: tensor<2xf32>) {
  // expected-error @+1 {{'graph.map' op body yields nothing, expected 'f32'}}
  %0 = graph.map %x0 : (tensor<2xf32>) -> tensor<2xf32> {
  ^bb0(%a: f32):
    graph.yield
  }
  return
}

// -----

func.func @map_yield(%x0: tensor<2xf32>) {
  // expected-error @+1 {{'graph.map' op body yields 'f32', expected 'i32', the element type of the result}}
  %0 = graph.map %x0 : (tensor<2xf32>) -> tensor<2xi32> {
  ^bb0(%a: f32):
    graph.yield %a : f32
  }
  return
}

// -----

func.func @map_capture(%x: tensor<2xf32>, %outer: f32) {
  // expected-note @+1 {{required by region isolation constraints}}
  %0 = graph.map %x : (tensor<2xf32>) -> tensor<2xf32> {
  ^bb0(%a: f32):
    // expected-error @+1 {{using value defined outside the region}}
    %s = arith.addf %a, %outer : f32
    graph.yield %s : f32
  }
  return
}

// -----

// expected-error @+1 {{layout block must be at least 0, but is -1}}
func.func @layout_block(%x: tensor<1x2x3x4xf32, #graph.layout<block = -1, halo = [0, 0, 0, 0]>>)

// -----

// expected-error @+1 {{layout halo must be 4 sizes of at least 0 (top, left, bottom, right), but is [0, 0]}}
func.func @layout_halo(%x: tensor<1x2x3x4xf32, #graph.layout<block = 0, halo = [0, 0]>>)

// -----

// expected-error @+1 {{layout halo must be 4 sizes of at least 0 (top, left, bottom, right), but is [0, 0, -1, 0]}}
func.func @layout_halo_negative(%x: tensor<1x2x3x4xf32, #graph.layout<block = 0, halo = [0, 0, -1, 0]>>)
