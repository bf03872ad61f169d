// RUN: atc-opt %s --host-move-quantization --canonicalize --split-input-file | FileCheck %s

// What moves elements or takes the largest moves integers; equal parameters cancel, and
// copies between do not hide that.
// CHECK-LABEL: func @moves
// CHECK-NEXT: %[[P:.*]] = graph.host_call "MaxPool"(%arg0) {{.*}} -> tensor<*xui8>
// CHECK-NEXT: %[[T:.*]] = graph.host_call "Transpose"(%[[P]]) {{.*}} -> tensor<*xui8>
// CHECK-NEXT: return %[[T]]
func.func @moves(%q: tensor<*xui8>) -> tensor<*xui8> {
  %s = graph.constant dense<0.5> : tensor<f32>
  %z = graph.constant dense<7> : tensor<ui8>
  %c = graph.host_call "Cast"(%q) {to = array<i64: 2>} : (tensor<*xui8>) -> tensor<*xui8>
  %x = graph.host_call "DequantizeLinear"(%c, %s, %z) {} : (tensor<*xui8>, tensor<f32>, tensor<ui8>) -> tensor<*xf32>
  %p = graph.host_call "MaxPool"(%x) {kernel_shape = array<i64: 2, 2>} : (tensor<*xf32>) -> tensor<*xf32>
  %t = graph.host_call "Transpose"(%p) {} : (tensor<*xf32>) -> tensor<*xf32>
  %y = graph.host_call "QuantizeLinear"(%t, %s, %z) {} : (tensor<*xf32>, tensor<f32>, tensor<ui8>) -> tensor<*xui8>
  return %y : tensor<*xui8>
}

// -----

// Zeros of a pad are the zero point; all results of a split are integers.
// CHECK-LABEL: func @pads_and_splits
// CHECK: %[[Z:.*]] = graph.constant dense<-3> : tensor<i8>
// CHECK: %[[P:.*]] = graph.host_call "Pad"(%arg0, %arg1, %[[Z]]) {} : {{.*}} -> tensor<?xi8>
// CHECK: %[[S:.*]]:2 = graph.host_call "Split"(%[[P]]) {{.*}} -> (tensor<?xi8>, tensor<?xi8>)
// CHECK: graph.host_call "DequantizeLinear"(%[[S]]#0
// CHECK: graph.host_call "DequantizeLinear"(%[[S]]#1
func.func @pads_and_splits(%q: tensor<?xi8>, %pads: tensor<2xi64>) -> (tensor<?xf32>, tensor<?xf32>) {
  %s = graph.constant dense<0.5> : tensor<f32>
  %z = graph.constant dense<-3> : tensor<i8>
  %x = graph.host_call "DequantizeLinear"(%q, %s, %z) {} : (tensor<?xi8>, tensor<f32>, tensor<i8>) -> tensor<?xf32>
  %p = graph.host_call "Pad"(%x, %pads) {} : (tensor<?xf32>, tensor<2xi64>) -> tensor<?xf32>
  %a:2 = graph.host_call "Split"(%p) {num_outputs = array<i64: 2>} : (tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>)
  return %a#0, %a#1 : tensor<?xf32>, tensor<?xf32>
}

// -----

// Where the least number of the integers is 0 a relu changes nothing.
// CHECK-LABEL: func @relu
// CHECK-NOT: Relu
// CHECK: graph.host_call "QuantizeLinear"(%arg0
// CHECK-NOT: Clip
// CHECK: return
func.func @relu(%x: tensor<*xf32>) -> tensor<*xi8> {
  %s = graph.constant dense<0.5> : tensor<f32>
  %z = graph.constant dense<-128> : tensor<i8>
  %r = graph.host_call "Relu"(%x) {} : (tensor<*xf32>) -> tensor<*xf32>
  %y = graph.host_call "QuantizeLinear"(%r, %s, %z) {} : (tensor<*xf32>, tensor<f32>, tensor<i8>) -> tensor<*xi8>
  return %y : tensor<*xi8>
}

// -----

// Otherwise bounds become bounds of the integers: 6 / 0.5 + 0 is 12.
// CHECK-LABEL: func @relu6
// CHECK-DAG: %[[LOW:.*]] = graph.constant dense<0> : tensor<i8>
// CHECK-DAG: %[[HIGH:.*]] = graph.constant dense<12> : tensor<i8>
// CHECK: %[[Q:.*]] = graph.host_call "QuantizeLinear"(%arg0
// CHECK: %[[Y:.*]] = graph.host_call "Clip"(%[[Q]], %[[LOW]], %[[HIGH]]) {} : {{.*}} -> tensor<*xi8>
// CHECK: return %[[Y]]
func.func @relu6(%x: tensor<*xf32>) -> tensor<*xi8> {
  %s = graph.constant dense<0.5> : tensor<f32>
  %z = graph.constant dense<0> : tensor<i8>
  %min = graph.constant dense<0.0> : tensor<f32>
  %max = graph.constant dense<6.0> : tensor<f32>
  %r = graph.host_call "Clip"(%x, %min, %max) {} : (tensor<*xf32>, tensor<f32>, tensor<f32>) -> tensor<*xf32>
  %y = graph.host_call "QuantizeLinear"(%r, %s, %z) {} : (tensor<*xf32>, tensor<f32>, tensor<i8>) -> tensor<*xi8>
  return %y : tensor<*xi8>
}

// -----

// quantize rises above a concat; the part of the same parameters needs none.
// CHECK-LABEL: func @concat
// CHECK: %[[Q:.*]] = graph.host_call "QuantizeLinear"(%arg1
// CHECK: graph.host_call "Concat"(%arg0, %[[Q]]) {{.*}} -> tensor<*xui8>
func.func @concat(%q: tensor<*xui8>, %b: tensor<*xf32>) -> tensor<*xui8> {
  %s = graph.constant dense<0.5> : tensor<f32>
  %z = graph.constant dense<7> : tensor<ui8>
  %x = graph.host_call "DequantizeLinear"(%q, %s, %z) {} : (tensor<*xui8>, tensor<f32>, tensor<ui8>) -> tensor<*xf32>
  %c = graph.host_call "Concat"(%x, %b) {axis = array<i64: 1>} : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
  %y = graph.host_call "QuantizeLinear"(%c, %s, %z) {} : (tensor<*xf32>, tensor<f32>, tensor<ui8>) -> tensor<*xui8>
  return %y : tensor<*xui8>
}

// -----

// Left alone: sums of elements, blocks of scales, indices of a pool, a relu that others
// read, scales that nobody knows, parts that QLinearConcat will put together.
// CHECK-LABEL: func @stays
// CHECK-COUNT-2: "DequantizeLinear"
// CHECK: "ReduceSum"{{.*}} -> tensor<*xf32>
// CHECK: "Transpose"{{.*}} -> tensor<*xf32>
// CHECK: "MaxPool"{{.*}} -> (tensor<*xf32>, tensor<*xi64>)
// CHECK: "Relu"
// CHECK: "QuantizeLinear"
// CHECK: "Flatten"{{.*}} -> tensor<*xf32>
// CHECK: "QuantizeLinear"
// CHECK: "Concat"{{.*}} -> tensor<*xf32>
// CHECK: "QuantizeLinear"
func.func @stays(%q: tensor<*xui8>, %blocks: tensor<2x2xf32>, %x: tensor<*xf32>, %v: tensor<f32>) -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xi64>, tensor<*xui8>, tensor<*xf32>, tensor<*xui8>, tensor<*xui8>) {
  %s = graph.constant dense<0.5> : tensor<f32>
  %s2 = graph.constant dense<0.25> : tensor<f32>
  %z = graph.constant dense<7> : tensor<ui8>
  %a = graph.host_call "DequantizeLinear"(%q, %s, %z) {} : (tensor<*xui8>, tensor<f32>, tensor<ui8>) -> tensor<*xf32>
  %b = graph.host_call "DequantizeLinear"(%q, %blocks) {block_size = array<i64: 2>} : (tensor<*xui8>, tensor<2x2xf32>) -> tensor<*xf32>
  %sum = graph.host_call "ReduceSum"(%a) {} : (tensor<*xf32>) -> tensor<*xf32>
  %t = graph.host_call "Transpose"(%b) {} : (tensor<*xf32>) -> tensor<*xf32>
  %p:2 = graph.host_call "MaxPool"(%a) {kernel_shape = array<i64: 2, 2>} : (tensor<*xf32>) -> (tensor<*xf32>, tensor<*xi64>)
  %r = graph.host_call "Relu"(%x) {} : (tensor<*xf32>) -> tensor<*xf32>
  %y = graph.host_call "QuantizeLinear"(%r, %s, %z) {} : (tensor<*xf32>, tensor<f32>, tensor<ui8>) -> tensor<*xui8>
  %f = graph.host_call "Flatten"(%x) {} : (tensor<*xf32>) -> tensor<*xf32>
  %w = graph.host_call "QuantizeLinear"(%f, %v, %z) {} : (tensor<*xf32>, tensor<f32>, tensor<ui8>) -> tensor<*xui8>
  %a2 = graph.host_call "DequantizeLinear"(%q, %s2, %z) {} : (tensor<*xui8>, tensor<f32>, tensor<ui8>) -> tensor<*xf32>
  %c = graph.host_call "Concat"(%a, %a2) {axis = array<i64: 1>} : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
  %d = graph.host_call "QuantizeLinear"(%c, %s, %z) {} : (tensor<*xf32>, tensor<f32>, tensor<ui8>) -> tensor<*xui8>
  return %sum, %t, %p#0, %p#1, %y, %r, %w, %d : tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xi64>, tensor<*xui8>, tensor<*xf32>, tensor<*xui8>, tensor<*xui8>
}

// -----

// Rows of a table of integers are dequantized, not the table.
// CHECK-LABEL: func @table
// CHECK: %[[ROWS:.*]] = graph.host_call "Gather"(%{{.*}}, %arg0) {} : (tensor<4x2xi8>, tensor<*xi64>) -> tensor<*xi8>
// CHECK: graph.host_call "DequantizeLinear"(%[[ROWS]],
func.func @table(%at: tensor<*xi64>) -> tensor<*xf32> {
  %t = graph.constant dense<3> : tensor<4x2xi8>
  %s = graph.constant dense<0.5> : tensor<f32>
  %z = graph.constant dense<0> : tensor<i8>
  %f = graph.host_call "DequantizeLinear"(%t, %s, %z) {} : (tensor<4x2xi8>, tensor<f32>, tensor<i8>) -> tensor<4x2xf32>
  %y = graph.host_call "Gather"(%f, %at) {} : (tensor<4x2xf32>, tensor<*xi64>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}
