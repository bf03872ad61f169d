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
