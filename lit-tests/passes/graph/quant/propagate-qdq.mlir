// RUN: atc-opt %s --graph-propagate-qdq --canonicalize --split-input-file | FileCheck %s

!q = !quant.uniform<u8:f32, 5.000000e-01:128>
!other = !quant.uniform<u8:f32, 2.500000e-01:10>

// What moves elements or takes the largest moves integers; equal parameters cancel.
// CHECK-LABEL: func @moves
// CHECK-NOT: f32
// CHECK: graph.max_pool {{.*}} -> tensor<1x2x2x2xui8>
// CHECK: graph.transpose {{.*}} -> tensor<1x2x2x2xui8>
// CHECK-NOT: graph.quantize
func.func @moves(%i: tensor<1x2x4x4xui8>) -> tensor<1x2x2x2xui8> {
  %q = graph.storage_cast %i : (tensor<1x2x4x4xui8>) -> tensor<1x2x4x4x!q>
  %x = graph.dequantize %q : (tensor<1x2x4x4x!q>) -> tensor<1x2x4x4xf32>
  %p = graph.max_pool %x {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x2x4x4xf32>) -> tensor<1x2x2x2xf32>
  %t = graph.transpose %p {permutation = array<i64: 0, 2, 3, 1>} : (tensor<1x2x2x2xf32>) -> tensor<1x2x2x2xf32>
  %y = graph.quantize %t : (tensor<1x2x2x2xf32>) -> tensor<1x2x2x2x!q>
  %r = graph.storage_cast %y : (tensor<1x2x2x2x!q>) -> tensor<1x2x2x2xui8>
  return %r : tensor<1x2x2x2xui8>
}

// -----

!q = !quant.uniform<u8:f32, 5.000000e-01:128>
!other = !quant.uniform<u8:f32, 2.500000e-01:10>

// Zeros of a pad are the zero point. Parts of other parameters are quantized anew.
// CHECK-LABEL: func @pad_and_concat
// CHECK: %[[P:.*]] = graph.pad {{.*}}value = 1.280000e+02 {{.*}} -> tensor<4xui8>
// CHECK: %[[R:.*]] = graph.quantize
// CHECK: %[[S:.*]] = graph.storage_cast %[[R]]
// CHECK: graph.concat %[[P]], %[[S]] {{.*}} -> tensor<6xui8>
func.func @pad_and_concat(%a: tensor<2x!q>, %b: tensor<2x!other>) -> tensor<6x!q> {
  %x = graph.dequantize %a : (tensor<2x!q>) -> tensor<2xf32>
  %p = graph.pad %x {low = array<i64: 1>, high = array<i64: 1>, mode = #graph<pad_mode constant>} : (tensor<2xf32>) -> tensor<4xf32>
  %z = graph.dequantize %b : (tensor<2x!other>) -> tensor<2xf32>
  %c = graph.concat %p, %z {axis = 0 : i64} : (tensor<4xf32>, tensor<2xf32>) -> tensor<6xf32>
  %y = graph.quantize %c : (tensor<6xf32>) -> tensor<6x!q>
  return %y : tensor<6x!q>
}

// -----

// Signed integers that only dequantize reads become unsigned.
// CHECK-LABEL: func @signed
// CHECK: graph.quantize {{.*}} -> tensor<2x!quant.uniform<u8:f32, 5.000000e-01:131>>
func.func @signed(%x: tensor<2xf32>) -> tensor<2xf32> {
  %q = graph.quantize %x : (tensor<2xf32>) -> tensor<2x!quant.uniform<i8:f32, 5.000000e-01:3>>
  %y = graph.dequantize %q : (tensor<2x!quant.uniform<i8:f32, 5.000000e-01:3>>) -> tensor<2xf32>
  return %y : tensor<2xf32>
}
