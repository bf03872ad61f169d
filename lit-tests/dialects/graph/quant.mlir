// RUN: atc-opt %s --split-input-file --verify-diagnostics | FileCheck %s

!q = !quant.uniform<u8:f32, 5.000000e-01:128>
!w = !quant.uniform<i8:f32:0, {2.500000e-01,5.000000e-01}>

// CHECK-LABEL: func @ops
func.func @ops(%x: tensor<2x3xf32>) -> (tensor<2x3xui8>, tensor<2x3xf32>) {
  // CHECK: graph.quantize {{.*}} -> tensor<2x3x!quant.uniform<u8:f32, 5.000000e-01:128>>
  %q = graph.quantize %x : (tensor<2x3xf32>) -> tensor<2x3x!q>
  // CHECK: graph.storage_cast {{.*}} -> tensor<2x3xui8>
  %i = graph.storage_cast %q : (tensor<2x3x!q>) -> tensor<2x3xui8>
  %c = graph.constant dense<3> : tensor<2x3xi8>
  %s = graph.storage_cast %c : (tensor<2x3xi8>) -> tensor<2x3x!w>
  // CHECK: graph.dequantize {{.*}}{2.500000e-01,5.000000e-01}>>) -> tensor<2x3xf32>
  %d = graph.dequantize %s : (tensor<2x3x!w>) -> tensor<2x3xf32>
  return %i, %d : tensor<2x3xui8>, tensor<2x3xf32>
}

// -----

// CHECK-LABEL: func @sums
func.func @sums(%x: tensor<1x4x5x5xui8>, %w: tensor<8x4x3x3xi8>, %b: tensor<8xi32>) -> tensor<1x8x5x5xui8> {
  // CHECK: graph.integer_conv %{{.*}}, %{{.*}} bias %{{.*}} {{.*}}zero_point = 7 {{.*}}-> tensor<1x8x5x5xui8> {
  // CHECK-NEXT: ^bb0(%{{.*}}: i32):
  %y = graph.integer_conv %x, %w bias %b {zero_point = 7 : i64, filter_zero_points = array<i64>, strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x4x5x5xui8>, tensor<8x4x3x3xi8>, tensor<8xi32>) -> tensor<1x8x5x5xui8> {
  ^bb0(%s: i32):
    %0 = arith.trunci %s : i32 to i8
    graph.yield %0 : i8
  }
  return %y : tensor<1x8x5x5xui8>
}

// -----

func.func @quantize_integers(%x: tensor<4xi32>) {
  // expected-error @+1 {{needs real numbers of f32, but they are 'tensor<4xi32>'}}
  %0 = graph.quantize %x : (tensor<4xi32>) -> tensor<4x!quant.uniform<i8:f32, 1.0>>
  return
}

// -----

func.func @scales_of_no_dim(%x: tensor<4x3xf32>) {
  // expected-error @+1 {{has 2 scales along dim 1 of}}
  %0 = graph.quantize %x : (tensor<4x3xf32>) -> tensor<4x3x!quant.uniform<i8:f32:1, {1.0, 2.0}>>
  return
}

// -----

func.func @other_integers(%x: tensor<4xi8>) {
  // expected-error @+1 {{keeps the integers, but they are 'i8' in the input and 'ui8' in the result}}
  %0 = graph.storage_cast %x : (tensor<4xi8>) -> tensor<4x!quant.uniform<u8:f32, 1.0>>
  return
}

// -----

func.func @shape_of_sums(%x: tensor<3x4xui8>, %w: tensor<8x4xi8>) {
  // expected-error @+1 {{but the sums have shape [3, 8]}}
  %0 = graph.integer_fully_connected %x, %w {zero_point = 0 : i64, filter_zero_points = array<i64>} : (tensor<3x4xui8>, tensor<8x4xi8>) -> tensor<3x7xi32>
  return
}

// -----

func.func @no_body(%x: tensor<3x4xui8>, %w: tensor<8x4xi8>) {
  // expected-error @+1 {{without a body gives sums of i32}}
  %0 = graph.integer_fully_connected %x, %w {zero_point = 0 : i64, filter_zero_points = array<i64>} : (tensor<3x4xui8>, tensor<8x4xi8>) -> tensor<3x8xf32>
  return
}

// -----

func.func @quantize_shape(%x: tensor<4xf32>) {
  // expected-error @+1 {{changes elements, not the shape, but input is 'tensor<4xf32>'}}
  %0 = graph.quantize %x : (tensor<4xf32>) -> tensor<5x!quant.uniform<i8:f32, 1.0>>
  return
}

// -----

func.func @quantize_elements(%x: tensor<4xf32>) {
  // expected-error @+1 {{needs elements of a !quant.uniform type, per tensor or per axis, but they are 'tensor<4xi8>'}}
  %0 = graph.quantize %x : (tensor<4xf32>) -> tensor<4xi8>
  return
}

// -----

func.func @products(%x: tensor<3x4xi32>, %w: tensor<8x4xi8>) {
  // expected-error @+1 {{sums products of i8 or ui8, but an operand is 'tensor<3x4xi32>'}}
  %0 = graph.integer_fully_connected %x, %w {zero_point = 0 : i64, filter_zero_points = array<i64>} : (tensor<3x4xi32>, tensor<8x4xi8>) -> tensor<3x8xi32>
  return
}

// -----

func.func @bias(%x: tensor<3x4xui8>, %w: tensor<8x4xi8>, %b: tensor<7xi32>) {
  // expected-error @+1 {{bias must be one i32 for each of the 8 channels, but is 'tensor<7xi32>'}}
  %0 = graph.integer_fully_connected %x, %w bias %b {zero_point = 0 : i64, filter_zero_points = array<i64>} : (tensor<3x4xui8>, tensor<8x4xi8>, tensor<7xi32>) -> tensor<3x8xi32>
  return
}

// -----

func.func @body_arguments(%x: tensor<3x4xui8>, %w: tensor<8x4xi8>) {
  // expected-error @+1 {{body has arguments 'f32', expected 'i32'}}
  %0 = graph.integer_fully_connected %x, %w {zero_point = 0 : i64, filter_zero_points = array<i64>} : (tensor<3x4xui8>, tensor<8x4xi8>) -> tensor<3x8xf32> {
  ^bb0(%s: f32):
    graph.yield %s : f32
  }
  return
}

// -----

func.func @body_yield(%x: tensor<3x4xui8>, %w: tensor<8x4xi8>) {
  // expected-error @+1 {{body must end with a yield of 'f32'}}
  %0 = graph.integer_fully_connected %x, %w {zero_point = 0 : i64, filter_zero_points = array<i64>} : (tensor<3x4xui8>, tensor<8x4xi8>) -> tensor<3x8xf32> {
  ^bb0(%s: i32):
    graph.yield %s : i32
  }
  return
}

// -----

func.func @image(%x: tensor<1x4x5xui8>, %w: tensor<8x4x3xi8>) {
  // expected-error @+1 {{works on images: input and filter must have rank 4}}
  %0 = graph.integer_conv %x, %w {zero_point = 0 : i64, filter_zero_points = array<i64>, strides = array<i64: 1>, pads = array<i64: 1, 1>, dilations = array<i64: 1>, groups = 1 : i64} : (tensor<1x4x5xui8>, tensor<8x4x3xi8>) -> tensor<1x8x5xi32>
  return
}

// -----

func.func @window(%x: tensor<1x4x2x5xui8>, %w: tensor<8x4x3x3xi8>) {
  // expected-error @+1 {{has a window that does not fit its input along spatial dim 0}}
  %0 = graph.integer_conv %x, %w {zero_point = 0 : i64, filter_zero_points = array<i64>, strides = array<i64: 1, 1>, pads = array<i64: 0, 1, 0, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x4x2x5xui8>, tensor<8x4x3x3xi8>) -> tensor<1x8x1x5xi32>
  return
}

// -----

func.func @depths(%x: tensor<3x4xui8>, %w: tensor<8x5xi8>) {
  // expected-error @+1 {{expects input [..., K] and filter [N, K], but they are 'tensor<3x4xui8>' and 'tensor<8x5xi8>'}}
  %0 = graph.integer_fully_connected %x, %w {zero_point = 0 : i64, filter_zero_points = array<i64>} : (tensor<3x4xui8>, tensor<8x5xi8>) -> tensor<3x8xi32>
  return
}

// -----

func.func @groups(%x: tensor<1x4x5x5xui8>, %w: tensor<8x4x1x1xi8>) {
  // expected-error @+1 {{input 'tensor<1x4x5x5xui8>' and filter 'tensor<8x4x1x1xi8>' do not fit with 2 groups}}
  %0 = graph.integer_conv %x, %w {zero_point = 0 : i64, filter_zero_points = array<i64>, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 2 : i64} : (tensor<1x4x5x5xui8>, tensor<8x4x1x1xi8>) -> tensor<1x8x5x5xi32>
  return
}
