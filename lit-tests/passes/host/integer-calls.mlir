// RUN: atc-opt %s --host-integer-calls --canonicalize --split-input-file | FileCheck %s

!w = !quant.uniform<i8:f32:0, {5.000000e-01, 2.500000e-01}>
!b = !quant.uniform<i32:f32:0, {2.500000e-01, 1.250000e-01}>

// Weights by channel, a bias in units of the sums.
// CHECK-LABEL: func @conv
// CHECK-DAG: %[[S:.*]] = graph.constant dense<5.000000e-01> : tensor<f32>
// CHECK-DAG: %[[W:.*]] = graph.constant dense<[{{.*}}-3{{.*}}]> : tensor<2x1x1x1xi8>
// CHECK-DAG: %[[B:.*]] = graph.constant dense<[100, -7]> : tensor<2xi32>
// CHECK-DAG: %[[SW:.*]] = graph.constant dense<[5.000000e-01, 2.500000e-01]> : tensor<2xf32>
// CHECK-DAG: %[[ZW:.*]] = graph.constant dense<0> : tensor<2xi8>
// CHECK: %[[Y:.*]] = graph.host_call "QLinearConv"(%arg0, %[[S]], %{{.*}}, %[[W]], %[[SW]], %[[ZW]], %{{.*}}, %{{.*}}, %[[B]]) {group = array<i64: 1>}
// CHECK-SAME: -> tensor<*xi8>
// CHECK-NEXT: return %[[Y]]
func.func @conv(%q: tensor<*xui8>) -> tensor<*xi8> {
  %s = graph.constant dense<0.5> : tensor<f32>
  %z = graph.constant dense<7> : tensor<ui8>
  %s2 = graph.constant dense<0.125> : tensor<f32>
  %z2 = graph.constant dense<-1> : tensor<i8>
  %x = graph.host_call "DequantizeLinear"(%q, %s, %z) {} : (tensor<*xui8>, tensor<f32>, tensor<ui8>) -> tensor<*xf32>
  %wi = graph.constant dense<[[[[-3]]], [[[4]]]]> : tensor<2x1x1x1xi8>
  %wq = graph.storage_cast %wi : (tensor<2x1x1x1xi8>) -> tensor<2x1x1x1x!w>
  %w = graph.dequantize %wq : (tensor<2x1x1x1x!w>) -> tensor<2x1x1x1xf32>
  %bi = graph.constant dense<[100, -7]> : tensor<2xi32>
  %bq = graph.storage_cast %bi : (tensor<2xi32>) -> tensor<2x!b>
  %b = graph.dequantize %bq : (tensor<2x!b>) -> tensor<2xf32>
  %c = graph.host_call "Conv"(%x, %w, %b) {group = array<i64: 1>} : (tensor<*xf32>, tensor<2x1x1x1xf32>, tensor<2xf32>) -> tensor<*xf32>
  %y = graph.host_call "QuantizeLinear"(%c, %s2, %z2) {} : (tensor<*xf32>, tensor<f32>, tensor<i8>) -> tensor<*xi8>
  return %y : tensor<*xi8>
}

// -----

!w = !quant.uniform<i8:f32, 2.500000e-01>

// A real bias is rounded to units of the sums, 0.001, where these are far below a step of
// the result. Otherwise it is added to real numbers.
// CHECK-LABEL: func @real_bias
// CHECK-DAG: %[[B:.*]] = graph.constant dense<750> : tensor<1xi32>
// CHECK-DAG: %[[R:.*]] = graph.constant dense<7.504000e-01> : tensor<1x1x1xf32>
// CHECK: graph.host_call "QLinearConv"({{.*}}, %[[B]])
// CHECK: %[[I:.*]] = graph.host_call "ConvInteger"(%arg0, %{{.*}}, %{{.*}}, %{{.*}}) {{.*}} -> tensor<*xi32>
// CHECK: %[[F:.*]] = graph.host_call "Cast"(%[[I]]) {to = array<i64: 1>}
// CHECK: %[[M:.*]] = graph.host_call "Mul"(%[[F]], %{{.*}})
// CHECK: %[[A:.*]] = graph.host_call "Add"(%[[M]], %[[R]])
// CHECK: graph.host_call "QuantizeLinear"(%[[A]]
func.func @real_bias(%q: tensor<*xui8>) -> (tensor<*xui8>, tensor<*xui8>) {
  %s = graph.constant dense<0.004> : tensor<f32>
  %z = graph.constant dense<7> : tensor<ui8>
  %one = graph.constant dense<1.0> : tensor<f32>
  %small = graph.constant dense<0.01> : tensor<f32>
  %x = graph.host_call "DequantizeLinear"(%q, %s, %z) {} : (tensor<*xui8>, tensor<f32>, tensor<ui8>) -> tensor<*xf32>
  %wi = graph.constant dense<3> : tensor<1x1x1x1xi8>
  %wq = graph.storage_cast %wi : (tensor<1x1x1x1xi8>) -> tensor<1x1x1x1x!w>
  %w = graph.dequantize %wq : (tensor<1x1x1x1x!w>) -> tensor<1x1x1x1xf32>
  %b = graph.constant dense<0.7502> : tensor<1xf32>
  %b2 = graph.constant dense<0.7504> : tensor<1xf32>
  %c = graph.host_call "Conv"(%x, %w, %b) {} : (tensor<*xf32>, tensor<1x1x1x1xf32>, tensor<1xf32>) -> tensor<*xf32>
  %y = graph.host_call "QuantizeLinear"(%c, %one, %z) {} : (tensor<*xf32>, tensor<f32>, tensor<ui8>) -> tensor<*xui8>
  %d = graph.host_call "Conv"(%x, %w, %b2) {} : (tensor<*xf32>, tensor<1x1x1x1xf32>, tensor<1xf32>) -> tensor<*xf32>
  %v = graph.host_call "QuantizeLinear"(%d, %small, %z) {} : (tensor<*xf32>, tensor<f32>, tensor<ui8>) -> tensor<*xui8>
  return %y, %v : tensor<*xui8>, tensor<*xui8>
}

// -----

!w = !quant.uniform<i8:f32:0, {5.000000e-01, 2.500000e-01}>

// A Gemm, with a quantize behind it and without.
// CHECK-LABEL: func @gemm
// CHECK-DAG: %[[B:.*]] = graph.constant dense<[4, 8]> : tensor<2xi32>
// CHECK: graph.host_call "QGemm"(%arg0, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %[[B]], %{{.*}}, %{{.*}}) {transB = array<i64: 1>} : {{.*}} -> tensor<*xui8>
// CHECK: graph.host_call "QGemm"(%arg0, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %[[B]]) {transB = array<i64: 1>} : {{.*}} -> tensor<*xf32>
func.func @gemm(%q: tensor<*xui8>) -> (tensor<*xui8>, tensor<*xf32>) {
  %s = graph.constant dense<0.5> : tensor<f32>
  %z = graph.constant dense<7> : tensor<ui8>
  %x = graph.host_call "DequantizeLinear"(%q, %s, %z) {} : (tensor<*xui8>, tensor<f32>, tensor<ui8>) -> tensor<*xf32>
  %wi = graph.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi8>
  %wq = graph.storage_cast %wi : (tensor<2x3xi8>) -> tensor<2x3x!w>
  %w = graph.dequantize %wq : (tensor<2x3x!w>) -> tensor<2x3xf32>
  %b = graph.constant dense<1.0> : tensor<2xf32>
  %c = graph.host_call "Gemm"(%x, %w, %b) {beta = array<f64: 1.0>, transB = array<i64: 1>} : (tensor<*xf32>, tensor<2x3xf32>, tensor<2xf32>) -> tensor<*xf32>
  %y = graph.host_call "QuantizeLinear"(%c, %s, %z) {} : (tensor<*xf32>, tensor<f32>, tensor<ui8>) -> tensor<*xui8>
  %d = graph.host_call "Gemm"(%x, %w, %b) {transB = array<i64: 1>} : (tensor<*xf32>, tensor<2x3xf32>, tensor<2xf32>) -> tensor<*xf32>
  return %y, %d : tensor<*xui8>, tensor<*xf32>
}

// -----

!w = !quant.uniform<i8:f32:1, {5.000000e-01, 2.500000e-01}>

// Products by a matrix: with a quantize behind, with an addition, alone. The scale of
// a DynamicQuantizeLinear is one number.
// CHECK-LABEL: func @matmul
// CHECK-DAG: %[[B:.*]] = graph.constant dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>
// CHECK: graph.host_call "QLinearMatMul"(%arg0, {{.*}} -> tensor<*xui8>
// CHECK: graph.host_call "MatMulIntegerToFloat"(%arg0, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %[[B]])
// CHECK: %[[D:.*]]:3 = graph.host_call "DynamicQuantizeLinear"
// CHECK: graph.host_call "MatMulIntegerToFloat"(%[[D]]#0, %{{.*}}, %[[D]]#1, %{{.*}}, %[[D]]#2, %{{.*}})
// CHECK-NOT: "MatMul"
func.func @matmul(%q: tensor<*xui8>, %r: tensor<*xf32>) -> (tensor<*xui8>, tensor<*xf32>, tensor<*xf32>) {
  %s = graph.constant dense<0.5> : tensor<f32>
  %z = graph.constant dense<7> : tensor<ui8>
  %x = graph.host_call "DequantizeLinear"(%q, %s, %z) {} : (tensor<*xui8>, tensor<f32>, tensor<ui8>) -> tensor<*xf32>
  %wi = graph.constant dense<[[1, 2], [3, 4], [5, 6]]> : tensor<3x2xi8>
  %wq = graph.storage_cast %wi : (tensor<3x2xi8>) -> tensor<3x2x!w>
  %w = graph.dequantize %wq : (tensor<3x2x!w>) -> tensor<3x2xf32>
  %b = graph.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %c = graph.host_call "MatMul"(%x, %w) {} : (tensor<*xf32>, tensor<3x2xf32>) -> tensor<*xf32>
  %y = graph.host_call "QuantizeLinear"(%c, %s, %z) {} : (tensor<*xf32>, tensor<f32>, tensor<ui8>) -> tensor<*xui8>
  %d = graph.host_call "MatMul"(%x, %w) {} : (tensor<*xf32>, tensor<3x2xf32>) -> tensor<*xf32>
  %e = graph.host_call "Add"(%d, %b) {} : (tensor<*xf32>, tensor<2xf32>) -> tensor<*xf32>
  %dyn:3 = graph.host_call "DynamicQuantizeLinear"(%r) {} : (tensor<*xf32>) -> (tensor<*xui8>, tensor<*xf32>, tensor<*xui8>)
  %dx = graph.host_call "DequantizeLinear"(%dyn#0, %dyn#1, %dyn#2) {} : (tensor<*xui8>, tensor<*xf32>, tensor<*xui8>) -> tensor<*xf32>
  %f = graph.host_call "MatMul"(%dx, %w) {} : (tensor<*xf32>, tensor<3x2xf32>) -> tensor<*xf32>
  return %y, %e, %f : tensor<*xui8>, tensor<*xf32>, tensor<*xf32>
}

// -----

// Two activations: a factor behind the sums.
// CHECK-LABEL: func @activations
// CHECK: %[[F:.*]] = graph.constant dense<1.250000e-01> : tensor<f32>
// CHECK: %[[I:.*]] = graph.host_call "MatMulInteger"(%arg0, %arg1, %{{.*}}, %{{.*}}) {} : {{.*}} -> tensor<*xi32>
// CHECK: %[[C:.*]] = graph.host_call "Cast"(%[[I]])
// CHECK: graph.host_call "Mul"(%[[C]], %[[F]])
func.func @activations(%a: tensor<*xui8>, %b: tensor<*xi8>) -> tensor<*xf32> {
  %s = graph.constant dense<0.5> : tensor<f32>
  %z = graph.constant dense<7> : tensor<ui8>
  %s2 = graph.constant dense<0.25> : tensor<f32>
  %x = graph.host_call "DequantizeLinear"(%a, %s, %z) {} : (tensor<*xui8>, tensor<f32>, tensor<ui8>) -> tensor<*xf32>
  %w = graph.host_call "DequantizeLinear"(%b, %s2) {} : (tensor<*xi8>, tensor<f32>) -> tensor<*xf32>
  %y = graph.host_call "MatMul"(%x, %w) {} : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

// Arithmetic between quantized tensors.
// CHECK-LABEL: func @arithmetic
// CHECK: %[[A:.*]] = graph.host_call "QLinearAdd"(%arg0, %[[S:.*]], %[[Z:.*]], %arg1, %[[S]], %[[Z]], %[[S]], %[[Z]])
// CHECK: %[[P:.*]] = graph.host_call "QLinearGlobalAveragePool"(%[[A]], %[[S]], %[[Z]], %[[S]], %[[Z]])
// CHECK: %[[M:.*]] = graph.host_call "QLinearSoftmax"(%[[P]], {{.*}}) {axis = array<i64: -1>, keep_scale = array<i64: 1>, opset = array<i64: 13>}
// CHECK: graph.host_call "QLinearConcat"(%[[S2:.*]], %[[Z]], %[[M]], %[[S]], %[[Z]], %arg0, %[[S]], %[[Z]]) {axis = array<i64: 1>}
// CHECK-NOT: f32>) -> tensor<*xf32>
func.func @arithmetic(%a: tensor<*xui8>, %b: tensor<*xui8>) -> tensor<*xui8> {
  %s = graph.constant dense<0.5> : tensor<f32>
  %z = graph.constant dense<7> : tensor<ui8>
  %s2 = graph.constant dense<0.25> : tensor<f32>
  %x = graph.host_call "DequantizeLinear"(%a, %s, %z) {} : (tensor<*xui8>, tensor<f32>, tensor<ui8>) -> tensor<*xf32>
  %y = graph.host_call "DequantizeLinear"(%b, %s, %z) {} : (tensor<*xui8>, tensor<f32>, tensor<ui8>) -> tensor<*xf32>
  %1 = graph.host_call "Add"(%x, %y) {} : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
  %2 = graph.host_call "QuantizeLinear"(%1, %s, %z) {} : (tensor<*xf32>, tensor<f32>, tensor<ui8>) -> tensor<*xui8>
  %3 = graph.host_call "DequantizeLinear"(%2, %s, %z) {} : (tensor<*xui8>, tensor<f32>, tensor<ui8>) -> tensor<*xf32>
  %4 = graph.host_call "GlobalAveragePool"(%3) {} : (tensor<*xf32>) -> tensor<*xf32>
  %5 = graph.host_call "QuantizeLinear"(%4, %s, %z) {} : (tensor<*xf32>, tensor<f32>, tensor<ui8>) -> tensor<*xui8>
  %6 = graph.host_call "DequantizeLinear"(%5, %s, %z) {} : (tensor<*xui8>, tensor<f32>, tensor<ui8>) -> tensor<*xf32>
  %7 = graph.host_call "Softmax"(%6) {} : (tensor<*xf32>) -> tensor<*xf32>
  %8 = graph.host_call "QuantizeLinear"(%7, %s, %z) {} : (tensor<*xf32>, tensor<f32>, tensor<ui8>) -> tensor<*xui8>
  %9 = graph.host_call "DequantizeLinear"(%8, %s, %z) {} : (tensor<*xui8>, tensor<f32>, tensor<ui8>) -> tensor<*xf32>
  %10 = graph.host_call "Concat"(%9, %x) {axis = array<i64: 1>} : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
  %11 = graph.host_call "QuantizeLinear"(%10, %s2, %z) {} : (tensor<*xf32>, tensor<f32>, tensor<ui8>) -> tensor<*xui8>
  return %11 : tensor<*xui8>
}

// -----

// Other parameters for the same numbers are a table.
// CHECK-LABEL: func @requantize
// CHECK: %[[Y:.*]] = graph.host_call "QLinearLeakyRelu"(%arg0, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) {alpha = array<f64: 1.000000e+00>}
// CHECK-NEXT: return %[[Y]]
func.func @requantize(%q: tensor<*xi8>) -> tensor<*xi8> {
  %s = graph.constant dense<0.5> : tensor<f32>
  %s2 = graph.constant dense<0.25> : tensor<f32>
  %x = graph.host_call "DequantizeLinear"(%q, %s) {} : (tensor<*xi8>, tensor<f32>) -> tensor<*xf32>
  %z = graph.constant dense<7> : tensor<i8>
  %y = graph.host_call "QuantizeLinear"(%x, %s2, %z) {} : (tensor<*xf32>, tensor<f32>, tensor<i8>) -> tensor<*xi8>
  return %y : tensor<*xi8>
}

// -----

!rows = !quant.uniform<i8:f32:0, {5.000000e-01, 2.500000e-01}>

// Left alone: scales along what is summed, real weights, 16 bits, operands of two kinds,
// factors of a Gemm's bias, a sum that others read.
// CHECK-LABEL: func @stays
// CHECK: "MatMul"
// CHECK: "Conv"
// CHECK: "Add"
// CHECK: "QuantizeLinear"
// CHECK: "Mul"
// CHECK: "QuantizeLinear"
// CHECK: "Gemm"
// CHECK: "Add"
// CHECK: "QuantizeLinear"
func.func @stays(%q: tensor<*xui8>, %i: tensor<*xi8>, %real: tensor<*xf32>, %long: tensor<*xui16>) -> (tensor<*xf32>, tensor<*xf32>, tensor<*xui16>, tensor<*xui8>, tensor<*xf32>, tensor<*xf32>, tensor<*xui8>) {
  %s = graph.constant dense<0.5> : tensor<f32>
  %z = graph.constant dense<7> : tensor<ui8>
  %z16 = graph.constant dense<7> : tensor<ui16>
  %x = graph.host_call "DequantizeLinear"(%q, %s, %z) {} : (tensor<*xui8>, tensor<f32>, tensor<ui8>) -> tensor<*xf32>
  %other = graph.host_call "DequantizeLinear"(%i, %s) {} : (tensor<*xi8>, tensor<f32>) -> tensor<*xf32>
  %wide = graph.host_call "DequantizeLinear"(%long, %s, %z16) {} : (tensor<*xui16>, tensor<f32>, tensor<ui16>) -> tensor<*xf32>
  %wi = graph.constant dense<[[1, 2, 5], [3, 4, 6]]> : tensor<2x3xi8>
  %wq = graph.storage_cast %wi : (tensor<2x3xi8>) -> tensor<2x3x!rows>
  %w = graph.dequantize %wq : (tensor<2x3x!rows>) -> tensor<2x3xf32>
  %b = graph.constant dense<1.0> : tensor<2xf32>
  %1 = graph.host_call "MatMul"(%x, %w) {} : (tensor<*xf32>, tensor<2x3xf32>) -> tensor<*xf32>
  %2 = graph.host_call "Conv"(%x, %real) {} : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
  %3 = graph.host_call "Add"(%wide, %wide) {} : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
  %4 = graph.host_call "QuantizeLinear"(%3, %s, %z16) {} : (tensor<*xf32>, tensor<f32>, tensor<ui16>) -> tensor<*xui16>
  %5 = graph.host_call "Mul"(%x, %other) {} : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
  %6 = graph.host_call "QuantizeLinear"(%5, %s, %z) {} : (tensor<*xf32>, tensor<f32>, tensor<ui8>) -> tensor<*xui8>
  %7 = graph.host_call "Gemm"(%x, %w, %b) {beta = array<f64: 2.0>, transB = array<i64: 1>} : (tensor<*xf32>, tensor<2x3xf32>, tensor<2xf32>) -> tensor<*xf32>
  %8 = graph.host_call "Add"(%x, %x) {} : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
  %9 = graph.host_call "QuantizeLinear"(%8, %s, %z) {} : (tensor<*xf32>, tensor<f32>, tensor<ui8>) -> tensor<*xui8>
  return %1, %2, %4, %6, %7, %8, %9 : tensor<*xf32>, tensor<*xf32>, tensor<*xui16>, tensor<*xui8>, tensor<*xf32>, tensor<*xf32>, tensor<*xui8>
}
