// RUN: atc-opt %s -graph-insert-quantization -split-input-file -verify-diagnostics | FileCheck %s

// CHECK-LABEL: func.func @conv(
// CHECK-SAME: %[[X:.*]]: tensor<1x1x2x2xf32>)
func.func @conv(%x: tensor<1x1x2x2xf32> {graph.quantization = !quant.uniform<i8:f32, 5.000000e-01:-3>})
    -> tensor<1x2x2x2xf32> {
  // CHECK: %[[Q:.*]] = graph.quantize %[[X]] {{.*}} -> tensor<1x1x2x2x!quant.uniform<i8:f32, 5.000000e-01:-3>>
  // CHECK: %[[D:.*]] = graph.dequantize %[[Q]]
  %w = graph.constant dense<[[[[1.0]]], [[[-2.0]]]]> : tensor<2x1x1x1xf32>
  %b = graph.constant dense<[0.25, 1.0]> : tensor<2xf32>
  // The weights over 1/64 and 1/32, the bias over 1/128 and 1/64.
  // CHECK: %[[WI:.*]] = graph.constant dense<{{\[\[\[\[}}64]]], {{\[\[\[}}-64]]]]> : tensor<2x1x1x1xi8>
  // CHECK: %[[WQ:.*]] = graph.storage_cast %[[WI]] {{.*}} -> tensor<2x1x1x1x!quant.uniform<i8:f32:0, {1.562500e-02,3.125000e-02}>>
  // CHECK: %[[W:.*]] = graph.dequantize %[[WQ]]
  // CHECK: %[[BI:.*]] = graph.constant dense<[32, 64]> : tensor<2xi32>
  // CHECK: %[[BQ:.*]] = graph.storage_cast %[[BI]] {{.*}} -> tensor<2x!quant.uniform<i32:f32:0, {7.812500e-03,1.562500e-02}>>
  // CHECK: %[[B:.*]] = graph.dequantize %[[BQ]]
  // CHECK: %[[Y:.*]] = graph.conv %[[D]], %[[W]] bias %[[B]]
  // CHECK-NOT: graph.weight_quantization
  %y = graph.conv %x, %w bias %b {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>,
      dilations = array<i64: 1, 1>, groups = 1 : i64,
      graph.weight_quantization = !quant.uniform<i8:f32:0, {1.562500e-02, 3.125000e-02}>}
      : (tensor<1x1x2x2xf32>, tensor<2x1x1x1xf32>, tensor<2xf32>) -> tensor<1x2x2x2xf32>
  // CHECK: %[[YQ:.*]] = graph.quantize %{{.*}} -> tensor<1x2x2x2x!quant.uniform<u8:f32, 2.500000e-01>>
  // CHECK: %[[YD:.*]] = graph.dequantize %[[YQ]]
  // CHECK: return %[[YD]]
  %z = graph.relu %y {graph.quantization = !quant.uniform<u8:f32, 2.500000e-01>}
      : (tensor<1x2x2x2xf32>) -> tensor<1x2x2x2xf32>
  return %z : tensor<1x2x2x2xf32>
}

// -----

// Without a scale of the input the bias stays as it is; a scale may serve all weights.
// CHECK-LABEL: func.func @float_input
func.func @float_input(%x: tensor<1x2xf32>) -> tensor<1x1xf32> {
  %w = graph.constant dense<[[1.0, 0.5]]> : tensor<1x2xf32>
  // CHECK: %[[B:.*]] = graph.constant dense<2.500000e-01> : tensor<1xf32>
  %b = graph.constant dense<0.25> : tensor<1xf32>
  // CHECK: graph.constant dense<{{\[\[}}2, 1]]> : tensor<1x2xi8>
  // CHECK: graph.fully_connected %{{.*}}, %{{.*}} bias %[[B]]
  %y = graph.fully_connected %x, %w bias %b
      {graph.weight_quantization = !quant.uniform<i8:f32, 5.000000e-01>}
      : (tensor<1x2xf32>, tensor<1x2xf32>, tensor<1xf32>) -> tensor<1x1xf32>
  return %y : tensor<1x1xf32>
}

// -----

func.func @not_a_type(%x: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error @below {{E14001: a quantization attribute must be a !quant.uniform type of 8 bits}}
  %y = graph.relu %x {graph.quantization = i8} : (tensor<2xf32>) -> tensor<2xf32>
  return %y : tensor<2xf32>
}

// -----

func.func @not_constant(%x: tensor<2x2xf32>, %w: tensor<2x2xf32>) -> tensor<2x2xf32> {
  // expected-error @below {{E14001: only constant f32 weights}}
  %y = graph.matmul %x, %w {graph.weight_quantization = !quant.uniform<i8:f32, 5.000000e-01>}
      : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  return %y : tensor<2x2xf32>
}

// -----

func.func @wrong_axis(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %w = graph.constant dense<1.0> : tensor<2x2xf32>
  // expected-error @below {{E14001: weights need symmetric i8}}
  %y = graph.matmul %x, %w
      {graph.weight_quantization = !quant.uniform<i8:f32:1, {5.000000e-01, 5.000000e-01, 1.000000e+00}>}
      : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  return %y : tensor<2x2xf32>
}

// -----

func.func @integers(%x: tensor<2xi32>) -> tensor<2xi32> {
  // expected-error @below {{E14001: only a tensor of f32 can be quantized}}
  %y = graph.relu %x {graph.quantization = !quant.uniform<i8:f32, 5.000000e-01>}
      : (tensor<2xi32>) -> tensor<2xi32>
  return %y : tensor<2xi32>
}
