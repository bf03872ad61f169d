// RUN: atc-opt %s --host-fold-byte-tables --split-input-file | FileCheck %s

// x * sigmoid(x) of bytes is one table.
// CHECK-LABEL: func @silu
// CHECK: %[[TABLE:.*]] = graph.constant {{.*}} : tensor<256xui8>
// CHECK-NEXT: %[[Y:.*]] = graph.host_call "ByteTable"(%arg0, %[[TABLE]]) {} : (tensor<*xui8>, tensor<256xui8>) -> tensor<*xui8>
// CHECK-NEXT: return %[[Y]]
func.func @silu(%x: tensor<*xui8>) -> tensor<*xui8> {
  %a = graph.constant dense<0.5> : tensor<f32>
  %b = graph.constant dense<0.00390625> : tensor<f32>
  %z = graph.constant dense<128> : tensor<ui8>
  %0 = graph.constant dense<0> : tensor<ui8>
  %s = graph.host_call "QLinearSigmoid"(%x, %a, %z, %b, %0) {} : (tensor<*xui8>, tensor<f32>, tensor<ui8>, tensor<f32>, tensor<ui8>) -> tensor<*xui8>
  %y = graph.host_call "QLinearMul"(%x, %a, %z, %s, %b, %0, %a, %z) {} : (tensor<*xui8>, tensor<f32>, tensor<ui8>, tensor<*xui8>, tensor<f32>, tensor<ui8>, tensor<f32>, tensor<ui8>) -> tensor<*xui8>
  return %y : tensor<*xui8>
}

// -----

// Floats between bytes, here with a type of their own behind them.
// CHECK-LABEL: func @floats
// CHECK: %[[TABLE:.*]] = graph.constant {{.*}} : tensor<256xi8>
// CHECK: graph.host_call "ByteTable"(%arg0, %[[TABLE]]) {} : (tensor<?x4xui8>, tensor<256xi8>) -> tensor<?x4xi8>
// CHECK-NOT: HardSwish
func.func @floats(%x: tensor<?x4xui8>) -> tensor<?x4xi8> {
  %a = graph.constant dense<0.5> : tensor<f32>
  %z = graph.constant dense<128> : tensor<ui8>
  %0 = graph.constant dense<3> : tensor<i8>
  %f = graph.host_call "DequantizeLinear"(%x, %a, %z) {} : (tensor<?x4xui8>, tensor<f32>, tensor<ui8>) -> tensor<?x4xf32>
  %h = graph.host_call "HardSwish"(%f) {} : (tensor<?x4xf32>) -> tensor<?x4xf32>
  %m = graph.host_call "Mul"(%h, %a) {} : (tensor<?x4xf32>, tensor<f32>) -> tensor<?x4xf32>
  %y = graph.host_call "QuantizeLinear"(%m, %a, %0) {} : (tensor<?x4xf32>, tensor<f32>, tensor<i8>) -> tensor<?x4xi8>
  return %y : tensor<?x4xi8>
}

// -----

// Two sources, what works on more than one element, a scale per channel, one that is not known.
// CHECK-LABEL: func @stays
// CHECK-NOT: ByteTable
// CHECK: return
func.func @stays(%x: tensor<*xui8>, %y: tensor<*xui8>, %s: tensor<f32>) -> (tensor<*xui8>, tensor<*xui8>, tensor<*xui8>, tensor<*xui8>) {
  %a = graph.constant dense<0.5> : tensor<f32>
  %c = graph.constant dense<[0.5, 1.0]> : tensor<2xf32>
  %z = graph.constant dense<128> : tensor<ui8>
  %zs = graph.constant dense<128> : tensor<2xui8>
  %1 = graph.host_call "QLinearMul"(%x, %a, %z, %y, %a, %z, %a, %z) {} : (tensor<*xui8>, tensor<f32>, tensor<ui8>, tensor<*xui8>, tensor<f32>, tensor<ui8>, tensor<f32>, tensor<ui8>) -> tensor<*xui8>
  %2 = graph.host_call "QLinearSoftmax"(%x, %a, %z, %a, %z) {} : (tensor<*xui8>, tensor<f32>, tensor<ui8>, tensor<f32>, tensor<ui8>) -> tensor<*xui8>
  %f = graph.host_call "DequantizeLinear"(%x, %c, %zs) {} : (tensor<*xui8>, tensor<2xf32>, tensor<2xui8>) -> tensor<*xf32>
  %3 = graph.host_call "QuantizeLinear"(%f, %a, %z) {} : (tensor<*xf32>, tensor<f32>, tensor<ui8>) -> tensor<*xui8>
  %4 = graph.host_call "QLinearSigmoid"(%x, %s, %z, %a, %z) {} : (tensor<*xui8>, tensor<f32>, tensor<ui8>, tensor<f32>, tensor<ui8>) -> tensor<*xui8>
  return %1, %2, %3, %4 : tensor<*xui8>, tensor<*xui8>, tensor<*xui8>, tensor<*xui8>
}
