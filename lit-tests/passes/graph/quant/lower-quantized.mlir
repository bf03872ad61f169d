// RUN: atc-opt %s --graph-lower-quantized --canonicalize | FileCheck %s

!q = !quant.uniform<u8:f32, 5.000000e-01:128>

// CHECK-LABEL: func @both
// CHECK-SAME: %[[X:.*]]: tensor<2xf32>
// CHECK: %[[D:.*]] = graph.div %[[X]]
// CHECK: %[[R:.*]] = graph.round %[[D]]
// CHECK: %[[A:.*]] = graph.add %[[R]]
// CHECK: %[[C:.*]] = graph.clip %[[A]] {max = 2.550000e+02 : f64, min = 0.000000e+00 : f64}
// CHECK: %[[Q:.*]] = graph.cast %[[C]] : (tensor<2xf32>) -> tensor<2xui8>
// CHECK-NOT: quant.uniform
// CHECK: %[[F:.*]] = graph.cast %[[Q]]
// CHECK: %[[S:.*]] = graph.sub %[[F]]
// CHECK: graph.mul %[[S]]
func.func @both(%x: tensor<2xf32>) -> (tensor<2xui8>, tensor<2xf32>) {
  %q = graph.quantize %x : (tensor<2xf32>) -> tensor<2x!q>
  %i = graph.storage_cast %q : (tensor<2x!q>) -> tensor<2xui8>
  %y = graph.dequantize %q : (tensor<2x!q>) -> tensor<2xf32>
  return %i, %y : tensor<2xui8>, tensor<2xf32>
}
