// RUN: atc-opt %s --host-pipeline | FileCheck %s --check-prefixes=CHECK,ALL
// RUN: atc-opt %s --host-pipeline=disable=host-integer-calls | FileCheck %s --check-prefixes=CHECK,FLOATS
// RUN: atc-opt %s --host-pipeline=disable=host-fuse-conv,host-tile-rows,host-pack-weights | FileCheck %s --check-prefixes=CHECK,ALL,APART
// RUN: atc-opt %s --host-pipeline=disable=host-fuse-conv,host-tile-rows | FileCheck %s --check-prefixes=CHECK,PACKED
// RUN: atc-opt %s --host-pipeline=disable=host-move-quantization,host-fold-batch-norm | FileCheck %s --check-prefixes=CHECK,FEWER

// The max of a pool moves integers, a product becomes one of integers, a normalization and an
// activation join the convolution before them, and rows are tiled or matrices packed; each only
// where its pass is not disabled.
// CHECK-LABEL: func @main
// ALL: graph.host_call "MaxPool"({{.*}}tensor<*xui8>
// ALL: graph.host_call "QLinearMul"
// ALL-NOT: "BatchNormalization"
// FLOATS: graph.host_call "MaxPool"({{.*}}tensor<*xui8>
// FLOATS: graph.host_call "Mul"
// FLOATS-NOT: "BatchNormalization"
// FLOATS: "FusedConv"
// FLOATS: call @rows_0
// APART: "Conv"
// APART: "Relu"
// APART: "MatMul"
// PACKED: "PackedMatMul"
// FEWER: graph.host_call "MaxPool"({{.*}}tensor<*xf32>
// FEWER: graph.host_call "QLinearMul"
// FEWER: graph.host_call "BatchNormalization"
func.func @main(%q: tensor<*xui8>, %r: tensor<*xui8>, %f: tensor<*xf32>) -> (tensor<*xui8>, tensor<*xui8>, tensor<*xf32>, tensor<*xf32>) {
  %s = graph.constant dense<0.5> : tensor<f32>
  %z = graph.constant dense<7> : tensor<ui8>
  %s2 = graph.constant dense<0.125> : tensor<f32>
  %x = graph.host_call "DequantizeLinear"(%q, %s, %z) {} : (tensor<*xui8>, tensor<f32>, tensor<ui8>) -> tensor<*xf32>
  %p = graph.host_call "MaxPool"(%x) {kernel_shape = array<i64: 2, 2>} : (tensor<*xf32>) -> tensor<*xf32>
  %pq = graph.host_call "QuantizeLinear"(%p, %s, %z) {} : (tensor<*xf32>, tensor<f32>, tensor<ui8>) -> tensor<*xui8>
  %a = graph.host_call "DequantizeLinear"(%q, %s, %z) {} : (tensor<*xui8>, tensor<f32>, tensor<ui8>) -> tensor<*xf32>
  %b = graph.host_call "DequantizeLinear"(%r, %s, %z) {} : (tensor<*xui8>, tensor<f32>, tensor<ui8>) -> tensor<*xf32>
  %m = graph.host_call "Mul"(%a, %b) {} : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
  %mq = graph.host_call "QuantizeLinear"(%m, %s2, %z) {} : (tensor<*xf32>, tensor<f32>, tensor<ui8>) -> tensor<*xui8>
  %w = graph.constant dense<1.0> : tensor<2x1x1x1xf32>
  %c = graph.host_call "Conv"(%f, %w) {} : (tensor<*xf32>, tensor<2x1x1x1xf32>) -> tensor<*xf32>
  %one = graph.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %n = graph.host_call "BatchNormalization"(%c, %one, %one, %one, %one) {} : (tensor<*xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<*xf32>
  %relu = graph.host_call "Relu"(%n) {} : (tensor<*xf32>) -> tensor<*xf32>
  %matrix = graph.constant dense<1.0> : tensor<64x64xf32>
  %rows = graph.host_call "MatMul"(%f, %matrix) {} : (tensor<*xf32>, tensor<64x64xf32>) -> tensor<*xf32>
  return %pq, %mq, %relu, %rows : tensor<*xui8>, tensor<*xui8>, tensor<*xf32>, tensor<*xf32>
}
