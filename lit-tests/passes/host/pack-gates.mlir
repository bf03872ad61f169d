// RUN: atc-opt %s --host-pack-gates --split-input-file | FileCheck %s

// One row per input: the columns of the gates side by side, here i, o, f, c of 2 units.
// CHECK-LABEL: func @lstm
// CHECK-DAG: %[[W:.*]] = graph.constant dense<{{\[\[}}[0.000000e+00, 1.000000e+00], [2.000000e+00, 3.000000e+00], [4.000000e+00, 5.000000e+00], [6.000000e+00, 7.000000e+00], [8.000000e+00, 9.000000e+00], [1.000000e+01, 1.100000e+01], [1.200000e+01, 1.300000e+01], [1.400000e+01, 1.500000e+01]]]>
// CHECK-DAG: %[[R:.*]] = graph.constant dense<1.000000e+00> : tensor<1x8x2xf32>
// CHECK: %[[Y:.*]]:3 = graph.host_call "LSTM"(%arg0, %[[W]], %[[R]]) {direction = "reverse", packed = array<i64: 1>}
// CHECK-NEXT: return %[[Y]]#0
func.func @lstm(%x: tensor<*xf32>) -> tensor<*xf32> {
  %w = graph.constant dense<[[[0.0, 8.0], [1.0, 9.0], [2.0, 10.0], [3.0, 11.0], [4.0, 12.0], [5.0, 13.0], [6.0, 14.0], [7.0, 15.0]]]> : tensor<1x8x2xf32>
  %r = graph.constant dense<1.0> : tensor<1x8x2xf32>
  %y:3 = graph.host_call "LSTM"(%x, %w, %r) {direction = "reverse"} : (tensor<*xf32>, tensor<1x8x2xf32>, tensor<1x8x2xf32>) -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>)
  return %y#0 : tensor<*xf32>
}

// -----

// The last gate of a GRU is multiplied apart: the columns of the first two, then its own; here in
// both directions, with one input and one unit, where packing changes nothing. An omitted bias stays
// omitted.
// CHECK-LABEL: func @gru
// CHECK: graph.host_call "GRU"(%arg0, %{{.*}}, %{{.*}}, %arg1) at [0, 1, 2, 5] {packed = array<i64: 1>}
func.func @gru(%x: tensor<*xf32>, %h: tensor<2x1x1xf32>) -> tensor<*xf32> {
  %w = graph.constant dense<[[[1.0], [2.0], [3.0]], [[4.0], [5.0], [6.0]]]> : tensor<2x3x1xf32>
  %r = graph.constant dense<1.0> : tensor<2x3x1xf32>
  %y:2 = graph.host_call "GRU"(%x, %w, %r, %h) at [0, 1, 2, 5] {} : (tensor<*xf32>, tensor<2x3x1xf32>, tensor<2x3x1xf32>, tensor<2x1x1xf32>) -> (tensor<*xf32>, tensor<*xf32>)
  return %y#0 : tensor<*xf32>
}

// -----

// Weights that depend on the inputs, of doubles, of other dims than the cell needs, packed ones.
// CHECK-LABEL: func @stays
// CHECK: "RNN"(%arg0, %arg1, %{{.*}}) {}
// CHECK: "RNN"(%arg2, %{{.*}}, %{{.*}}) {}
// CHECK: "RNN"(%arg0, %{{.*}}, %{{.*}}) {}
// CHECK: "RNN"(%arg0, %{{.*}}, %{{.*}}) {packed = array<i64: 1>}
func.func @stays(%x: tensor<*xf32>, %v: tensor<1x2x3xf32>, %d: tensor<*xf64>) -> (tensor<*xf32>, tensor<*xf64>, tensor<*xf32>, tensor<*xf32>) {
  %r = graph.constant dense<1.0> : tensor<1x2x2xf32>
  %w = graph.constant dense<1.0> : tensor<1x3x3xf32>
  %rd = graph.constant dense<1.0> : tensor<1x2x2xf64>
  %a:2 = graph.host_call "RNN"(%x, %v, %r) {} : (tensor<*xf32>, tensor<1x2x3xf32>, tensor<1x2x2xf32>) -> (tensor<*xf32>, tensor<*xf32>)
  %b:2 = graph.host_call "RNN"(%d, %rd, %rd) {} : (tensor<*xf64>, tensor<1x2x2xf64>, tensor<1x2x2xf64>) -> (tensor<*xf64>, tensor<*xf64>)
  %c:2 = graph.host_call "RNN"(%x, %w, %r) {} : (tensor<*xf32>, tensor<1x3x3xf32>, tensor<1x2x2xf32>) -> (tensor<*xf32>, tensor<*xf32>)
  %e:2 = graph.host_call "RNN"(%x, %r, %r) {packed = array<i64: 1>} : (tensor<*xf32>, tensor<1x2x2xf32>, tensor<1x2x2xf32>) -> (tensor<*xf32>, tensor<*xf32>)
  return %a#0, %b#0, %c#0, %e#0 : tensor<*xf32>, tensor<*xf64>, tensor<*xf32>, tensor<*xf32>
}
